// The pool of worker threads that CPU kernels run on.
//
// Launches come every few microseconds, so workers spin briefly for the next one before they sleep, and the
// caller works too. Each thread has a share of neighbouring tasks, the same from launch to launch, so that it
// finds what it used last in its cache; who is done takes from the others'. Results must not depend on which
// thread runs a task.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace weft {

// A non-owning reference to something callable with a task's index.
class TaskFunction {
public:
    template <class F>
        requires(!std::is_same_v<std::remove_cvref_t<F>, TaskFunction>)
    TaskFunction(F&& function)  // NOLINT(google-explicit-constructor): a parameter type, like string_view
        : object_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
          call_([](void* object, int64_t task) {
              (*static_cast<std::remove_reference_t<F>*>(object))(task);
          }) {}
    void operator()(int64_t task) const { call_(object_, task); }

private:
    void* object_;
    void (*call_)(void*, int64_t);
};

// How many CPUs this process may use: its affinity mask and its cgroup's quota, at least 1.
int available_cpus();

// Threads that take part in parallel_for, the caller included: set_num_threads, else WEFT_NUM_THREADS, else
// available_cpus().
int num_threads();
void set_num_threads(int count);  // 0: back to the default; throws ValueError when negative

// Runs function(0) ... function(tasks - 1) on the pool and the calling thread; returns when all are done.
//
// The first exception of a task is thrown again here, when no task runs any more; tasks not begun by then are
// left out. So is the host's answer to an interrupt: between tasks there are pause points
// (core/threads/interrupt.h). A call from within a task, and a call while another thread uses the pool, runs
// on the calling thread alone. After fork() the child starts its own workers at its first call.
void parallel_for(int64_t tasks, TaskFunction function);

// A pause point in the middle of a long task, on whichever thread: ends the task, by an exception, where its
// job ends.
void pause_task();

// Whether the calling thread is running a task.
bool in_parallel_task();

}  // namespace weft
