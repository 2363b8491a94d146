#include "execution/profile.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "core/host.h"
#include "core/threads/thread_owned.h"
#include "core/without_failing.h"
#include "device/cuda/nvtx.h"
#include "planning/planner.h"

namespace weft {

namespace {

using Clock = std::chrono::steady_clock;

double now() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

struct Entry {
    ProfiledWork work;                     // times by the host's clock
    std::shared_ptr<Stopwatch> stopwatch;  // until its times are read
};

struct Profile {
    uint64_t id = 0;
    double begin = 0;
    std::vector<std::shared_ptr<Entry>> entries;
    size_t read = 0;  // so many entries' stopwatches have been
};

// Stopwatches are kept no longer than needed: each holds two events.
constexpr size_t kMostStopwatches = 8192;

// Global, as launches are of the whole process; guarded by its lock.
struct Profiles {
    std::mutex mutex;
    std::vector<Profile> active;
    uint64_t last_id = 0;
    std::atomic<int> count{0};
};

Profiles& profiles() {
    static auto* instance = new Profiles;
    return *instance;
}

struct SitesOfGroup : std::vector<uint32_t> {};
std::vector<uint32_t>& sites_of_group() { return ThreadOwned<SitesOfGroup>::get(); }

void read_stopwatches(Profile& profile) {
    for (; profile.read < profile.entries.size(); ++profile.read) {
        Entry& entry = *profile.entries[profile.read];
        if (entry.stopwatch == nullptr) continue;
        if (const std::optional<Stopwatch::Times> times = entry.stopwatch->read()) {
            entry.work.start = times->start;
            entry.work.seconds = times->seconds;
        }
        entry.stopwatch.reset();
    }
}

void add(Entry entry) {
    entry.work.thread = std::hash<std::thread::id>()(std::this_thread::get_id());
    entry.work.sites = sites_of_group();
    const auto shared = std::make_shared<Entry>(std::move(entry));
    Profiles& all = profiles();
    const std::lock_guard lock(all.mutex);
    for (Profile& profile : all.active) {
        profile.entries.push_back(shared);
        if (profile.entries.size() - profile.read > kMostStopwatches) read_stopwatches(profile);
    }
}

}  // namespace

bool profiling() { return profiles().count.load(std::memory_order_relaxed) != 0; }

uint64_t begin_profile() {
    Profiles& all = profiles();
    const std::lock_guard lock(all.mutex);
    all.active.push_back({++all.last_id, now(), {}, 0});
    ++all.count;
    return all.last_id;
}

std::vector<ProfiledWork> end_profile(uint64_t id) {
    Profiles& all = profiles();
    const std::lock_guard lock(all.mutex);
    const auto found = std::find_if(all.active.begin(), all.active.end(),
                                    [id](const Profile& profile) { return profile.id == id; });
    if (found == all.active.end()) return {};
    Profile profile = std::move(*found);
    all.active.erase(found);
    --all.count;
    read_stopwatches(profile);
    std::vector<ProfiledWork> works;
    for (const std::shared_ptr<Entry>& entry : profile.entries) {
        ProfiledWork& work = works.emplace_back(entry->work);
        work.start -= profile.begin;
        work.host_start -= profile.begin;
    }
    return works;
}

void profile_launch(LaunchRecord& record) {
    Entry entry;
    ProfiledWork& work = entry.work;
    work.name = record.kernel->name;
    work.device = record.device != nullptr ? record.device->name() : "cpu";
    work.fallback = record.fallback;
    work.seconds = work.host_seconds = record.seconds;
    work.start = work.host_start = now() - record.seconds;
    work.bytes_read = record.bytes_read;
    work.bytes_written = record.bytes_written;
    work.elements = record.elements;
    work.operations = record.operations;
    work.compile_seconds = record.fresh ? record.kernel->compile_seconds : 0;
    work.by_blocks = record.by_blocks;
    entry.stopwatch = std::move(record.stopwatch);
    add(std::move(entry));
}

ProfiledCopy::ProfiledCopy(DeviceBackend& from, DeviceBackend& to, int64_t bytes) : on_(profiling()) {
    if (!on_) [[likely]]
        return;
    work_.name = "copy from " + from.name() + " to " + to.name();
    DeviceBackend& device = to.is_cpu() ? from : to;
    work_.device = device.name();
    work_.bytes_read = work_.bytes_written = bytes;
    work_.is_copy = true;
    work_.host_start = now();
    stopwatch_ = device.start_stopwatch();
}

ProfiledCopy::~ProfiledCopy() {
    if (!on_) [[likely]]
        return;
    work_.host_seconds = work_.seconds = now() - work_.host_start;
    work_.start = work_.host_start;
    if (stopwatch_ != nullptr) stopwatch_->stop();
    // A copy that nobody hears of is no reason to fail.
    without_failing([this] { add({std::move(work_), std::move(stopwatch_)}); });
}

ProfiledCall::ProfiledCall() : on_(profiling()) {
    if (!on_) [[likely]]
        return;
    const uint32_t site = current_call_site();
    sites_of_group().clear();
    if (site != 0) sites_of_group().push_back(site);
}

ProfiledCall::~ProfiledCall() {
    if (on_) sites_of_group().clear();
}

ProfiledGroup::ProfiledGroup(const Group& group) : on_(profiling()) {
    if (!on_) [[likely]]
        return;
    sites_of_group().clear();
    for (auto node = group.nodes.rbegin(); node != group.nodes.rend(); ++node) {
        const uint32_t site = (*node)->site;
        if (site == 0 ||
            std::find(sites_of_group().begin(), sites_of_group().end(), site) != sites_of_group().end())
            continue;
        sites_of_group().push_back(site);
    }
    if (!cuda::has_nvtx()) return;
    std::string text = "weft";
    for (const uint32_t site : sites_of_group()) text += " " + text_of_call_site(site);
    cuda::begin_nvtx_range(text.c_str());
}

ProfiledGroup::~ProfiledGroup() {
    if (!on_) [[likely]]
        return;
    sites_of_group().clear();
    if (cuda::has_nvtx()) cuda::end_nvtx_range();
}

}  // namespace weft
