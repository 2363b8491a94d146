// What a call has written into memory of its caller, so that it can be undone and the call begin again
// (service/function_in_two_steps.h).
#pragma once

#include <cstdint>
#include <vector>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace weft::codegen {

inline constexpr const char* kNoteWrite = "weft_note_write";

// Of the calls on the thread that makes it. Logs nest.
class WriteLog {
public:
    WriteLog();
    ~WriteLog();
    WriteLog(const WriteLog&) = delete;
    WriteLog& operator=(const WriteLog&) = delete;

    void close() { is_open_ = false; }         // notes nothing more
    bool is_full() const { return is_full_; }  // a write was not noted, and the call stopped before it
    void undo();

private:
    friend int64_t note_write(char* at, int64_t bytes);
    struct Entry {
        char* at;
        int64_t bytes;
        char before[16];
    };
    std::vector<Entry> entries_{};
    bool is_full_ = false, is_open_ = true;
    WriteLog* around_;
};

// For compiled code, before it writes: 0 where it has to return kStopped (spread.h). `bytes` are 16 at most.
int64_t note_write(char* at, int64_t bytes);

llvm::Function* declare_note_write(llvm::Module& module);

}  // namespace weft::codegen
