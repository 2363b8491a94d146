#include "codegen/service/process_end.h"

#include <unistd.h>

#include "codegen/service/background_compiler.h"
#include "core/threads/fork.h"

namespace weft::codegen {
namespace {

// What LLVM makes static while it compiles is destroyed before whatever was registered when that began, so
// that atexit() would be too late.
struct EndOfMainThread {
    ~EndOfMainThread() {
        if (gettid() != getpid()) return;
        close_compilations();
        end_exclusions();
    }
};

}  // namespace

void watch_end_of_process() {
    static thread_local const EndOfMainThread end;
    (void)&end;
}

}  // namespace weft::codegen
