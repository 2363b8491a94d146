// Launches entries of the programs that weft brings for GPUs (library/gpu/programs.h): machine code from
// this process, from the cache on disk, or made now by the driver's assembler.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <type_traits>

#include "device/cuda/launch_shape.h"
#include "device/device.h"
#include "device/kernel.h"
#include "weft/array.h"

namespace weft {

// Queues an entry of a program on the device, a GPU. Throws DeviceError.
void launch_program(DeviceBackend& device, const std::string& program, const std::string& entry,
                    std::span<const ArgumentWord> words, const CudaLaunchShape& shape);

template <class Words>
void launch_program(DeviceBackend& device, const std::string& program, const std::string& entry,
                    const Words& words, const CudaLaunchShape& shape) {
    static_assert(std::is_trivially_copyable_v<Words> && sizeof(Words) % sizeof(ArgumentWord) == 0);
    launch_program(
        device, program, entry,
        std::span(reinterpret_cast<const ArgumentWord*>(&words), sizeof(Words) / sizeof(ArgumentWord)),
        shape);
}

// How many blocks take `count`, so many each.
inline uint32_t blocks_of(int64_t count, int64_t each = 1) {
    return static_cast<uint32_t>(std::clamp<int64_t>((count + each - 1) / each, 1, INT32_MAX));
}

// An array's elements as a program reads them: evaluated, and after what others do with their memory.
class ProgramInput {
public:
    explicit ProgramInput(const array& input);  // in C order without gaps
    uint64_t address() const { return address_; }
    const BufferPtr& buffer() const { return buffer_; }

private:
    BufferPtr buffer_;
    uint64_t address_;
};

// Zeros, where others of the device's work have left something.
void clear_on_gpu(const Buffer& buffer, size_t offset, size_t bytes);

// How many of the device's multiprocessors there are.
int64_t multiprocessors(DeviceBackend& device);

// Writes into the history of kernels what has been queued while it lives, as one launch.
class ProgramRecord {
public:
    ProgramRecord(DeviceBackend& device, std::string name, int64_t bytes_read, int64_t bytes_written,
                  int64_t elements);
    ProgramRecord(const ProgramRecord&) = delete;
    ProgramRecord& operator=(const ProgramRecord&) = delete;
    void finish();

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace weft
