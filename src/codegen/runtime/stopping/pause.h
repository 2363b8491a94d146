// How loops of compiled functions let the host stop them (Ctrl-C): now and then they call pause().
#pragma once

#include <atomic>
#include <cstdint>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace weft::codegen {

inline constexpr const char* kPause = "weft_pause";

// After how many iterations the loop is to call again; 0: the function returns kStopped (spread.h), and
// HeapFrame::take_stopped() has the host's exception. `period` is what the last call said: it becomes such
// that calls are some ten milliseconds apart.
[[clang::preserve_most]] int64_t pause(int64_t period);  // the loop keeps what it has in registers

// What threads that work on one spread stop by: the host asks only one of them. While it lives, the calling
// thread's pauses look at `stops`, and at those of the scopes around it.
class StopScope {
public:
    // With `soon` pauses of the calling thread are about a millisecond apart.
    explicit StopScope(const std::atomic<bool>& stops, const StopScope* around = current(),
                       bool soon = false);
    ~StopScope();
    StopScope(const StopScope&) = delete;
    StopScope& operator=(const StopScope&) = delete;

    static const StopScope* current();
    static bool stops();
    static bool is_soon();

private:
    const std::atomic<bool>& stops_;
    const StopScope* around_;
    const StopScope* before_;
    bool soon_;
};

llvm::Function* declare_pause(llvm::Module& module);

}  // namespace weft::codegen
