// What compiled functions tell the host while they run: a number of the frontend's and values, 16 bytes each.
#pragma once

#include <cstdint>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace weft::codegen {

inline constexpr const char* kTell = "weft_tell";

// Answers whether the function goes on; otherwise it ends with the error of that number. Must not throw.
using Listener = bool (*)(void* context, uint32_t site, const char* payload);

// What the host makes around a call whose function tells something. Scopes of one thread nest; what is told
// outside of any is not heard.
class ListenerScope {
public:
    ListenerScope(Listener listener, void* context);
    ~ListenerScope();
    ListenerScope(const ListenerScope&) = delete;
    ListenerScope& operator=(const ListenerScope&) = delete;

    // Of this thread; null outside. Another thread that works for the call makes a scope of the same.
    static const ListenerScope* current();
    Listener listener() const { return listener_; }
    void* context() const { return context_; }

private:
    Listener listener_;
    void* context_;
    const ListenerScope* outer_;
};

// What machine code calls; 0 to go on.
int64_t tell(int64_t site, const char* payload);
llvm::Function* declare_tell(llvm::Module& module);

}  // namespace weft::codegen
