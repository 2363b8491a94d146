#include "core/host.h"

namespace weft {

namespace {

HostHooks hooks;  // both are set before the first evaluation, then only read
CallSiteHooks call_site_hooks;

}  // namespace

void set_host_hooks(HostHooks host) { hooks = host; }
const HostHooks& host_hooks() { return hooks; }

void set_call_site_hooks(CallSiteHooks host) { call_site_hooks = host; }
uint32_t current_call_site() {
    return call_site_hooks.call_site != nullptr ? call_site_hooks.call_site() : 0;
}
std::string text_of_call_site(uint32_t site) {
    return call_site_hooks.text != nullptr ? call_site_hooks.text(site) : "";
}

void without_host_lock(const std::function<void()>& work) {
    if (hooks.wait_unlocked == nullptr) {
        work();
        return;
    }
    const auto run = [](void* state) { (*static_cast<const std::function<void()>*>(state))(); };
    hooks.wait_unlocked(run, const_cast<std::function<void()>*>(&work));
}

}  // namespace weft
