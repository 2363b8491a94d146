// fork() beside threads that compute: the child has only the thread that forked, so what the others were
// changing must be whole at that moment, and the locks that they held must be free again. One handler
// (fork.cpp) does that for the whole engine: it lets running kernels and compilations come to their end, then
// takes every lock in the order of ForkRank.
#pragma once

namespace weft {

// The order in which locks are taken before a fork. None of them is held while one of a lower rank is taken.
enum class ForkRank {
    kEvaluation,
    kKernelStore,
    kCompilations,
    kKernelCache,
    kPendingNodes,
    kKeptWork,
    kMemory,
    kReservedMemory,
    kCuda,
    kRandomStreams,
    kThreads,
    kThreadRecords
};

struct ForkHandler {
    void (*prepare)() = nullptr;  // before the fork, in the order of ranks
    void (*parent)() = nullptr;   // after it, in the opposite order
    void (*child)() = nullptr;
};

// Once for each rank, while the library is loaded. Always true, to initialise a variable with.
bool on_fork(ForkRank rank, ForkHandler handler);

// While it lives, fork() in other threads waits. Whoever changes what threads share, and holds nothing that
// the forking thread may hold (Python's GIL), does so inside an exclusion. They nest. The locks of storages
// are held only so or with the GIL; a C++ program that records in one thread and forks in another has no GIL,
// and its child must leave alone the arrays that the other thread was working on.
class ForkExclusion {
public:
    ForkExclusion();
    ~ForkExclusion();
    ForkExclusion(const ForkExclusion&) = delete;
    ForkExclusion& operator=(const ForkExclusion&) = delete;
};

// Within an exclusion a place where fork() may happen: around a wait for something that the forking thread
// may hold. Ending it waits until the fork is over.
class ForkWindow {
public:
    ForkWindow();
    ~ForkWindow();
    ForkWindow(const ForkWindow&) = delete;
    ForkWindow& operator=(const ForkWindow&) = delete;

private:
    int exclusions_;
};

// By the main thread when the process ends, before what is static is destroyed: as if a fork were about to
// happen that never does. Threads that come to an exclusion later stay there until the process is gone; the
// main thread goes on.
void end_exclusions();

}  // namespace weft
