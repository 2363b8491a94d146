// Evaluation: plans the pending nodes that some roots need, and runs the plan.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/node.h"

namespace weft {

class Storage;

// Computes the roots; afterwards each is done and holds its buffers. When it throws, what was not computed is
// still pending and nothing is lost.
void evaluate(std::span<const NodePtr> roots);

// By a thread that never goes on, in a place where fork() may happen too (core/threads/fork.h): what it did
// not come to is still pending, and others may evaluate.
void abandon_evaluation();

// The latest node, by sequence, that the calling thread has evaluated as a root.
uint64_t latest_evaluated();

// Computes what was recorded before node number `sequence`: the values that later nodes or the program refer
// to.
void evaluate_before(uint64_t sequence);

// The depth of a recorded node after some of what it reads was evaluated.
void measure_depth(Node& node);
// Computes all that is pending and that the program refers to.
void evaluate_held();
// Computes all that is pending.
void evaluate_pending();

// Runs `look` while nobody evaluates, so that pending nodes keep their inputs meanwhile; false, without
// having run it, when another thread evaluates.
bool inspect(const std::function<void()>& look);

// The storage's bytes in memory.
BufferPtr evaluate_storage(Storage& storage);

// Pins the storage, whose version `buffer` was, when every pending node that reads or rewrites the buffer has
// run: from here on nothing is taken for granted of what it holds. False where it was written, or read by
// what another thread recorded, meanwhile. Who records a node asks afterwards whether what it reads is shown,
// and evaluates it then: one of the two sees the other.
bool pin_unread(Storage& storage, const BufferPtr& buffer);

// What evaluate would do: one paragraph a kernel, with the reason for each boundary.
std::string explain_plan(std::span<const NodePtr> roots);

// What the engine needs of a host language; set once, by the bindings.
struct HostHooks {
    // Called now and then between kernels: runs what the host has to do, such as signal handlers, which may
    // evaluate; throws to stop an evaluation (Ctrl-C). Kernels can be stopped as well:
    // core/threads/interrupt.h.
    void (*check_interrupt)() = nullptr;
    // Runs wait(state) without the host's global lock. Whoever evaluates may need that lock for a moment, so
    // nobody may hold it while waiting for an evaluation.
    void (*wait_unlocked)(void (*wait)(void* state), void* state) = nullptr;
};
void set_host_hooks(HostHooks hooks);

// Where in the host's program a call comes from, as numbers that its language makes: 0 is nowhere.
struct CallSiteHooks {
    uint32_t (*call_site)() = nullptr;  // of the calling thread, now
    std::string (*text)(uint32_t site) = nullptr;
};
void set_call_site_hooks(CallSiteHooks hooks);
uint32_t current_call_site();
std::string text_of_call_site(uint32_t site);

// Runs `work` without the host's global lock, whether the calling thread holds it or not.
void without_host_lock(const std::function<void()>& work);

}  // namespace weft
