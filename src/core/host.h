// What the engine needs of the language that it is used from, such as Python: set once, by the bindings,
// before the first evaluation.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace weft {

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
const HostHooks& host_hooks();

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
