// The arguments of one launch as the bytes that the driver reads: each converted to what its parameter is, or
// refused with the parameter's number and type.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "api/recording/kernel_launch.h"
#include "weft/cuda/raw_kernel.h"

namespace weft {

class PackedArguments {
public:
    // Nothing is evaluated yet. Throws TypeError, OverflowError, ValueError. `parameters`: those of the
    // kernel, or null where nothing is known of them.
    PackedArguments(const std::string& kernel, const std::vector<KernelParameter>* parameters,
                    std::span<const KernelArgument> arguments);
    PackedArguments(const PackedArguments&) = delete;
    PackedArguments& operator=(const PackedArguments&) = delete;

    // The GPU of the arrays; null where there is none. Throws ValueError for arrays elsewhere.
    static DeviceBackend* device_of(const std::string& kernel, std::span<const KernelArgument> arguments);

    // Evaluates the arrays, which stay as they are until the object goes, and fills in their addresses.
    void take_arrays();
    // One for each parameter.
    void** pointers() { return pointers_.data(); }
    std::pmr::vector<const Buffer*> read();
    std::pmr::vector<Buffer*> written();
    int64_t bytes_of_arrays() const;

private:
    static constexpr size_t kSlotBytes = 16;
    struct alignas(kSlotBytes) Slot {
        std::array<char, kSlotBytes> bytes;
    };
    struct Array {
        const array* value;
        size_t argument;
        bool is_written;
    };

    void put(size_t number, const void* bytes, size_t count);
    void add_array(size_t number, const KernelParameter& parameter, const array& value);
    void add_number(size_t number, const KernelParameter& parameter, const KernelArgument::Value& value);
    void add_bytes(size_t number, const KernelParameter& parameter, const KernelArgument::Bytes& value);
    [[noreturn]] void refuse(size_t number, const KernelParameter& parameter, const std::string& given) const;
    std::string place(size_t number, const KernelParameter& parameter) const;

    const std::string& kernel_;
    // Few arguments need no memory but the call's own: a launch takes about a microsecond.
    std::array<std::byte, 2048> room_;
    std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
    std::pmr::vector<Slot> slots_;
    std::vector<std::unique_ptr<char[]>> large_;  // what does not fit a slot
    std::pmr::vector<void*> pointers_;
    std::pmr::vector<Array> arrays_;
    std::pmr::vector<LaunchArgument> taken_;
};

}  // namespace weft
