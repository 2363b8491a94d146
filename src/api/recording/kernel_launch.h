// Launches of CUDA-style kernels among weft's own work on a GPU: how their arrays are pinned while a launch
// is queued, and how what their threads raise comes to light.
//
// A kernel's errors are known when the device is done with it. Until then what it writes is poisoned
// (deferred_checks.h): who observes that, or anything computed from it, gets the error.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <span>

#include "device/cuda/launch_error.h"
#include "device/device.h"
#include "weft/array.h"

namespace weft {

// An array of a GPU as an argument of a launch: evaluated, no work recorded before reads it later than the
// launch, and others' work on its memory comes before.
class LaunchArgument {
public:
    explicit LaunchArgument(const array& value);
    LaunchArgument(LaunchArgument&&) noexcept;
    LaunchArgument& operator=(LaunchArgument&&) = delete;
    ~LaunchArgument();

    uint64_t address() const { return buffer_->address() + static_cast<uint64_t>(array_.offset()); }
    const BufferPtr& buffer() const { return buffer_; }
    const array& value() const { return array_; }

private:
    array array_;
    BufferPtr buffer_;
    bool pinned_ = false;
};

// Throws the error that a thread has raised; may be asked several times, on any thread.
using LaunchErrorThrower = std::function<void(const LaunchError&)>;

// A launch's number, while it is being queued and noted: one at a time on a device.
class LaunchTurn {
public:
    explicit LaunchTurn(DeviceBackend& device);
    int64_t number() const { return number_; }

private:
    int64_t number_ = 0;
    std::unique_lock<std::mutex> lock_;
};
// In its turn, behind a launch: what it has read and written, and who throws, where its threads may raise.
void note_launch(DeviceBackend& device, int64_t number, std::span<const Buffer* const> read,
                 std::span<Buffer* const> written, LaunchErrorThrower thrower);
// Waits for all devices with launches, and throws an error that nobody has been told of.
void finish_launches();

}  // namespace weft
