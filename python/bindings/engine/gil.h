// Giving up and taking the GIL, and when it pays.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "core/threads/fork.h"
#include "core/threads/interrupt.h"
#include "weft/array.h"
#include "weft/ops.h"

namespace weft::python {

namespace nb = nanobind;

/// The GIL is given up and taken back by these two alone, so that a thread knows whether it holds it: the
/// stable ABI has no way to ask. os.fork holds the GIL: it waits for threads that work without it, and none
/// of those waits for the GIL without letting the fork happen.
inline thread_local constinit int gil_released = 0;
class GilRelease {
public:
    GilRelease();
    ~GilRelease();
    GilRelease(const GilRelease&) = delete;
    GilRelease& operator=(const GilRelease&) = delete;

private:
    PyThreadState* state_;
    std::optional<ForkExclusion> exclusion_;
};
class GilAcquire {
public:
    GilAcquire();
    ~GilAcquire();
    GilAcquire(const GilAcquire&) = delete;
    GilAcquire& operator=(const GilAcquire&) = delete;

private:
    ForkWindow window_;
    HostCode host_;
    PyGILState_STATE state_{};
    int before_ = 0;
};
/// Whether this thread may still take the GIL: once Python ends, only the thread that ends it.
bool may_take_gil();
/// Where Python's signal handlers run.
bool is_main_thread();
/// Of a thread that Python ends by force (pthread_exit, when it asks for the GIL while the interpreter is
/// finalized; from 3.14 on it hangs). Frames of C++ cannot be unwound so: it stays where it is until the
/// process is gone, and keeps nothing that others wait for.
[[noreturn]] void stop_for_ever() noexcept;
inline bool holds_gil() { return gil_released == 0 && PyGILState_GetThisThreadState() != nullptr; }

/// Gives up the GIL while more than a little work may be done.
class ReleaseGil {
public:
    explicit ReleaseGil(bool release) {
        if (release) released_.emplace();
    }

private:
    std::optional<GilRelease> released_;
};
constexpr int64_t kLargeWork = 1 << 15;  // elements
inline bool is_large(const array& value) { return value.size() > kLargeWork; }
inline bool is_large(const Argument& value) {
    const auto* operand = std::get_if<array>(&value);
    return operand != nullptr && is_large(*operand);
}

}  // namespace weft::python
