#include "core/cgroup.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/small_file.h"
#include "core/threads/made_once.h"

namespace weft {
namespace {

// A group's directory, and its ancestors' up to where the hierarchy is mounted.
std::vector<std::string> directories(const std::string& mount, const std::string& group) {
    std::vector<std::string> result;
    std::string path = group == "/" ? "" : group;
    for (;;) {
        result.push_back(mount + path);
        if (path.empty()) return result;
        path.resize(path.rfind('/'));
    }
}

struct Hierarchies {
    std::vector<std::string> unified;  // version 2
    std::vector<std::string> cpu;      // version 1
    std::vector<std::string> memory;   // version 1
};

Hierarchies find_hierarchies() {
    Hierarchies result;
    char buffer[8192];
    std::string_view text = read_small_file("/proc/self/cgroup", buffer);
    while (!text.empty()) {  // id:controllers:path
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const size_t first = line.find(':');
        const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        const std::string path(line.substr(second + 1));
        if (second == first + 1) result.unified = directories("/sys/fs/cgroup", path);
        std::string_view controllers = line.substr(first + 1, second - first - 1);
        while (!controllers.empty()) {
            const std::string_view controller = controllers.substr(0, controllers.find(','));
            controllers.remove_prefix(std::min(controller.size() + 1, controllers.size()));
            if (controller == "cpu") result.cpu = directories("/sys/fs/cgroup/cpu", path);
            if (controller == "memory") result.memory = directories("/sys/fs/cgroup/memory", path);
        }
    }
    return result;
}

const Hierarchies& hierarchies() {
    static constinit std::atomic<Hierarchies*> found{nullptr};
    return made_once(found, [] { return std::make_unique<Hierarchies>(find_hierarchies()); });
}

// The first number of a file; `otherwise` when there is none ("max", or no such file).
int64_t read_number(const std::string& path, int64_t otherwise) {
    char buffer[64];
    std::string_view text = read_small_file(path.c_str(), buffer);
    return take_number(text).value_or(otherwise);
}

// The number after `key` in a file of lines "key number".
int64_t read_field(const std::string& path, const std::string& key) {
    char buffer[4096];
    return number_after(read_small_file(path.c_str(), buffer), key + " ").value_or(0);
}

void take_tighter(CgroupMemory& best, int64_t limit, int64_t used) {
    if (limit < 0) return;
    if (best.limit < 0 || limit - used < best.limit - best.used) best = {limit, used};
}

}  // namespace

double cgroup_cpu_quota() {
    double least = 0;
    const auto take = [&least](double quota, double period) {
        if (quota > 0 && period > 0 && (least == 0 || quota / period < least)) least = quota / period;
    };
    for (const std::string& directory : hierarchies().unified) {
        char buffer[64];
        std::string_view text = read_small_file((directory + "/cpu.max").c_str(), buffer);
        const std::optional<int64_t> quota = take_number(text), period = take_number(text);
        if (quota && period) take(static_cast<double>(*quota), static_cast<double>(*period));
    }
    for (const std::string& directory : hierarchies().cpu) {
        take(static_cast<double>(read_number(directory + "/cpu.cfs_quota_us", -1)),
             static_cast<double>(read_number(directory + "/cpu.cfs_period_us", -1)));
    }
    return least;
}

CgroupMemory cgroup_memory() {
    CgroupMemory result;
    for (const std::string& directory : hierarchies().unified) {
        const int64_t limit = read_number(directory + "/memory.max", -1);
        if (limit < 0) continue;
        take_tighter(result, limit,
                     read_number(directory + "/memory.current", 0) -
                         read_field(directory + "/memory.stat", "inactive_file"));
    }
    for (const std::string& directory : hierarchies().memory) {
        const int64_t limit = read_number(directory + "/memory.limit_in_bytes", -1);
        if (limit < 0 || limit >= (int64_t{1} << 60)) continue;  // version 1 says "none" by a huge number
        take_tighter(result, limit,
                     read_number(directory + "/memory.usage_in_bytes", 0) -
                         read_field(directory + "/memory.stat", "total_inactive_file"));
    }
    return result;
}

}  // namespace weft
