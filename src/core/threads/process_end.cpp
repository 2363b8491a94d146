#include "core/threads/process_end.h"

#include <unistd.h>

#include <array>
#include <cstddef>

#include "core/threads/fork.h"
#include "core/threads/thread_start.h"
#include "weft/errors.h"

namespace weft {
namespace {

// Filled while the library is loaded, by one thread; only read afterwards.
constexpr size_t kMostClosers = 8;
constinit std::array<void (*)(), kMostClosers> closers{};
constinit size_t closer_count = 0;

bool is_main_thread() { return gettid() == getpid(); }

// What LLVM makes static while it compiles is destroyed before whatever was registered when that began, so
// that atexit() would be too late.
struct EndOfMainThread {
    ~EndOfMainThread() {
        if (!is_main_thread()) return;
        for (size_t k = 0; k < closer_count; ++k) closers[k]();
        end_exclusions();
    }
};

}  // namespace

bool on_process_end(void (*close)()) {
    WEFT_CHECK(closer_count < kMostClosers, "more is closed at the end of the process than was thought of");
    closers[closer_count++] = close;
    return true;
}

void watch_end_of_process() {
    static thread_local constinit bool is_watched = false;
    if (is_watched || !is_main_thread()) return;
    // libc ends the process where it has no memory to register a destructor.
    is_watched = with_room([] {
        static thread_local const EndOfMainThread end;
        (void)&end;
    });
}

}  // namespace weft
