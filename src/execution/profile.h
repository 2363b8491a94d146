// What weft.profile() collects: every kernel, product and copy that runs while somebody profiles, with its
// time on its device and the lines of the program that recorded it. docs/guide/profiling.md
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "execution/kernels/kernel_store.h"

namespace weft {

struct Group;

// Times are in seconds from the profile's beginning.
struct ProfiledWork {
    std::string name, device, fallback;
    double start = 0, seconds = 0;            // on the device
    double host_start = 0, host_seconds = 0;  // on the host: of a GPU's work, queueing it
    uint64_t thread = 0;                      // of the host, which began it
    int64_t bytes_read = 0, bytes_written = 0, elements = 0;
    int operations = 0;
    double compile_seconds = 0;   // before it, if it was compiled for this launch
    bool by_blocks = false;       // it began in the vectorised interpreter
    bool is_copy = false;         // between devices
    std::vector<uint32_t> sites;  // calls that recorded what it computes, as CallSiteHooks number them
};

// Whether anybody profiles. Costs a load.
bool profiling();

// Profiles may overlap; each sees all work from its beginning to its end.
uint64_t begin_profile();
// Waits until what was queued is done, so that its time is known.
std::vector<ProfiledWork> end_profile(uint64_t profile);

// A launch, for whoever profiles; takes its stopwatch.
void profile_launch(LaunchRecord& record);

// Work that is no kernel, from here to the end of the scope.
class ProfiledCopy {
public:
    ProfiledCopy(DeviceBackend& from, DeviceBackend& to, int64_t bytes);
    ProfiledCopy(const ProfiledCopy&) = delete;
    ProfiledCopy& operator=(const ProfiledCopy&) = delete;
    ~ProfiledCopy();

private:
    bool on_;
    double host_start_ = 0;
    ProfiledWork work_;
    std::shared_ptr<Stopwatch> stopwatch_;
};

// What is added in this scope belongs to the line of the program that calls now.
class ProfiledCall {
public:
    ProfiledCall();
    ProfiledCall(const ProfiledCall&) = delete;
    ProfiledCall& operator=(const ProfiledCall&) = delete;
    ~ProfiledCall();

private:
    bool on_;
};

// The group whose work the calling thread launches in this scope: says whose lines it is, and makes an NVTX
// range of it.
class ProfiledGroup {
public:
    explicit ProfiledGroup(const Group& group);
    ProfiledGroup(const ProfiledGroup&) = delete;
    ProfiledGroup& operator=(const ProfiledGroup&) = delete;
    ~ProfiledGroup();

private:
    bool on_;
};

}  // namespace weft
