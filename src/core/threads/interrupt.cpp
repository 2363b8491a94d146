#include "core/threads/interrupt.h"

#include <chrono>
#include <utility>

namespace weft {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kInterval = std::chrono::milliseconds(50);

InterruptHooks hooks;  // set before there is work, then only read

struct State {
    int evaluations = 0, whole = 0;
    Clock::time_point last{};
};
thread_local constinit State state;

}  // namespace

void set_interrupt_hooks(InterruptHooks host) { hooks = host; }

void answer_interrupt() {
    if (hooks.answer != nullptr) hooks.answer();
}

void pause_point() {
    if (hooks.is_asked == nullptr || state.whole != 0) return;
    const auto now = Clock::now();
    if (now - state.last < kInterval) return;
    state.last = now;
    if (!hooks.is_asked()) return;
    if (state.evaluations != 0) throw Interrupted();
    answer_interrupt();
}

InterruptibleEvaluation::InterruptibleEvaluation() {
    ++state.evaluations;
    state.last = Clock::now();
}
InterruptibleEvaluation::~InterruptibleEvaluation() { --state.evaluations; }

WholeWork::WholeWork(bool whole) : whole_(whole) { state.whole += whole_ ? 1 : 0; }
WholeWork::~WholeWork() { state.whole -= whole_ ? 1 : 0; }

HostCode::HostCode()
    : evaluations_(std::exchange(state.evaluations, 0)), whole_(std::exchange(state.whole, 0)) {}
HostCode::~HostCode() {
    state.evaluations = evaluations_;
    state.whole = whole_;
}

}  // namespace weft
