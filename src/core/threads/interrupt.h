// Stopping long work half way, because the user of the host asks for it (Ctrl-C).
//
// Long loops call pause_point() now and then. On the thread that the host would stop it asks the host, some
// times a second: in an evaluation it then throws Interrupted, since the host's answer may run any code, and
// nothing may be half way under that; the evaluation lets the host answer, and begins again where that lets
// it go on. Elsewhere the host answers at once, by throwing or by going on.
#pragma once

#include <cstdint>

namespace weft {

struct InterruptHooks {
    bool (*is_asked)() = nullptr;  // whether the calling thread is to stop
    void (*answer)() = nullptr;    // runs what the host does then; throws to stop
};
void set_interrupt_hooks(InterruptHooks hooks);
void answer_interrupt();

// Not of std::exception: who catches errors is not meant.
struct Interrupted {};

void pause_point();

// The same in a loop of short iterations: at some of them.
class PausePoints {
public:
    void next_iteration() {
        if ((++iterations_ & 0xffff) == 0) pause_point();
    }

private:
    uint32_t iterations_ = 0;
};

// While this lives, Interrupted may be thrown at the pause points of the calling thread: by whoever catches
// it.
class InterruptibleEvaluation {
public:
    InterruptibleEvaluation();
    InterruptibleEvaluation(const InterruptibleEvaluation&) = delete;
    InterruptibleEvaluation& operator=(const InterruptibleEvaluation&) = delete;
    ~InterruptibleEvaluation();
};

// While this lives, the calling thread does not stop: what is half way could not be begun again, such as a
// kernel that reads what it overwrites.
class WholeWork {
public:
    explicit WholeWork(bool whole = true);
    WholeWork(const WholeWork&) = delete;
    WholeWork& operator=(const WholeWork&) = delete;
    ~WholeWork();

private:
    bool whole_;
};

// While this lives, code of the host runs on the calling thread, whatever called it: calls of its own pause
// as if there was nothing around them.
class HostCode {
public:
    HostCode();
    HostCode(const HostCode&) = delete;
    HostCode& operator=(const HostCode&) = delete;
    ~HostCode();

private:
    int evaluations_, whole_;
};

}  // namespace weft
