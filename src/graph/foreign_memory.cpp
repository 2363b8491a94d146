#include "graph/foreign_memory.h"

#include <cstdlib>

#include "core/shape.h"
#include "graph/storage.h"
#include "weft/errors.h"

namespace weft {

bool is_addressable(std::span<const int64_t> shape, std::span<const int64_t> strides, int64_t itemsize) {
    int64_t bytes = 2 * itemsize, reach = itemsize;
    bool fits = true;
    for (size_t d = 0; d < shape.size(); ++d) {
        fits &= !__builtin_mul_overflow(bytes, shape[d], &bytes);
        fits &= strides.empty() || strides[d] != INT64_MIN;
        if (strides.empty() || shape[d] < 2) continue;
        int64_t span = 0;
        fits = fits && !__builtin_mul_overflow(std::abs(strides[d]), int64_t{2}, &span) &&
               !__builtin_mul_overflow(span, shape[d] - 1, &span) &&
               !__builtin_add_overflow(reach, span, &reach);
    }
    return fits;
}

namespace {
constexpr uint64_t kFirstAddress = 4096;              // systems leave the first page out
constexpr uint64_t kLastAddress = uint64_t{1} << 57;  // of x86-64's with five levels of pages
}  // namespace

std::string fault_of_memory(uint64_t first_element, std::span<const int64_t> shape,
                            std::span<const int64_t> strides, int64_t itemsize) {
    if (shape.size() > static_cast<size_t>(kMaxDimensions))
        return "has " + std::to_string(shape.size()) + " dimensions";
    if (!strides.empty() && strides.size() != shape.size())
        return "has another number of strides than of dimensions";
    for (const int64_t extent : shape) {
        if (extent < 0) return "has a dimension of " + std::to_string(extent);
    }
    const char* const too_far = "has a shape and strides that reach further than memory does";
    if (!is_addressable(shape, strides, itemsize)) return too_far;
    const Dims extents(shape);
    const ByteRange range =
        byte_range(extents, strides.empty() ? c_strides(extents, itemsize) : Dims(strides), 0, itemsize);
    if (range.empty()) return {};
    if (first_element == 0) return "has elements, but no address";
    uint64_t end = 0;
    if (first_element < static_cast<uint64_t>(-range.low) ||
        __builtin_add_overflow(first_element, static_cast<uint64_t>(range.high), &end) || end > kLastAddress)
        return too_far;
    if (first_element < kFirstAddress)
        return "is at address " + std::to_string(first_element) + ", where no memory is";
    return {};
}

void check_memory(std::string_view name, uint64_t first_element, std::span<const int64_t> shape,
                  std::span<const int64_t> strides, int64_t itemsize) {
    const std::string fault = fault_of_memory(first_element, shape, strides, itemsize);
    if (!fault.empty()) throw ValueError(std::string(name) + " " + fault);
}

array array_over(DeviceBackend& device, uint64_t first_element, DType dtype, const Dims& shape,
                 const Dims& strides, bool writeable, std::shared_ptr<void> owner) {
    check_memory("the memory", first_element, shape, strides, dtype.itemsize());
    const ByteRange range = byte_range(shape, strides, 0, dtype.itemsize());
    const int64_t low = range.empty() ? 0 : range.low;
    const auto bytes = static_cast<size_t>(range.empty() ? 0 : range.high - range.low);
    char* const lowest = reinterpret_cast<char*>(first_element + static_cast<uint64_t>(low));
    BufferPtr buffer = device.wrap(lowest, bytes, std::move(owner));
    buffer->begin_sharing();  // for as long as it lives
    auto storage = std::make_shared<Storage>(std::move(buffer));
    storage->foreign = true;
    storage->readonly = !writeable;
    return array(std::move(storage), dtype, shape, strides, -low, writeable)
        .with_view(dtype, shape, strides, -low);  // others own the memory
}

}  // namespace weft
