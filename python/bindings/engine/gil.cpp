// Giving up and taking the GIL, up to the end of the interpreter.
#include <dlfcn.h>
#include <unistd.h>

#include "graph/evaluation_lock.h"
#include "objects/objects.h"

namespace weft::python {
namespace {

// Runs what takes the GIL.
template <typename Take>
auto take_gil(Take&& take) {
    try {
        return take();
    } catch (const abi::__forced_unwind&) {
        stop_for_ever();
    }
}

bool python_ends() {
    // Public from 3.13 on, and not part of the stable ABI.
    static const auto finalizing = [] {
        void* found = dlsym(RTLD_DEFAULT, "Py_IsFinalizing");
        if (found == nullptr) found = dlsym(RTLD_DEFAULT, "_Py_IsFinalizing");
        return reinterpret_cast<int (*)()>(found);
    }();
    return finalizing != nullptr && finalizing() != 0;
}

}  // namespace

void stop_for_ever() noexcept {
    abandon_evaluation();
    for (;;) pause();
}

bool is_main_thread() { return gettid() == getpid(); }

bool may_take_gil() { return Py_IsInitialized() != 0 && (!python_ends() || is_main_thread()); }

GilRelease::GilRelease() {
    ++gil_released;
    state_ = PyEval_SaveThread();
    exclusion_.emplace();
}
GilRelease::~GilRelease() {
    exclusion_.reset();
    const ForkWindow window;
    take_gil([this] { PyEval_RestoreThread(state_); });
    --gil_released;
}

GilAcquire::GilAcquire() {
    state_ = take_gil([] { return PyGILState_Ensure(); });
    std::swap(before_, gil_released);
}
GilAcquire::~GilAcquire() {
    std::swap(before_, gil_released);
    PyGILState_Release(state_);
}

}  // namespace weft::python
