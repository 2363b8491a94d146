#include "codegen/process_end.h"

#include <unistd.h>

#include <atomic>

#include "codegen/background_compiler.h"

namespace weft::codegen {
namespace {

constinit std::atomic<bool> ended{false};
constinit std::atomic<int> uses{0};

// What LLVM makes static while it compiles is destroyed before whatever was registered when that began, so
// that atexit() would be too late.
struct EndOfMainThread {
    ~EndOfMainThread() {
        if (gettid() == getpid()) close_compilations();
    }
};

}  // namespace

LlvmUse::Gate::Gate() {
    uses.fetch_add(1);
    if (!ended.load() || gettid() == getpid()) return;
    uses.fetch_sub(1);
    uses.notify_all();
    for (;;) pause();
}
LlvmUse::Gate::~Gate() {
    uses.fetch_sub(1);
    if (ended.load()) uses.notify_all();
}

LlvmUse::LlvmUse() { watch_end_of_process(); }
LlvmUse::~LlvmUse() = default;

void end_llvm_uses() {
    ended.store(true);
    for (int count = uses.load(); count > 0; count = uses.load()) uses.wait(count);
}

void watch_end_of_process() {
    static thread_local const EndOfMainThread end;
    (void)&end;
}

}  // namespace weft::codegen
