// What functions of texts share: views that are checked, together, and along an axis.
#pragma once

#include <cstdint>
#include <utility>

#include "api/recording/host_row.h"
#include "api/recording/transfer.h"
#include "core/shape.h"
#include "device/devices.h"
#include "weft/assembly.h"
#include "weft/texts.h"

namespace weft::texts {

void check(const View& view);
// Throws as well where the characters differ.
void check_pair(const View& first, const View& second);
// Views of the shape that both broadcast to.
std::pair<View, View> broadcast(const View& first, const View& second);
// The axis becomes the last one.
Dims with_last(const Dims& of, size_t axis);

// Results are made on the host, and go where new arrays are made.
inline array where_arrays_are_made(array result) {
    DeviceBackend& device = current_device();
    return device.is_cpu() ? result : move_to(result, device);
}

// Room for results of a type, in C order.
template <class T>
class Results {
public:
    explicit Results(Dims shape)
        : shape_(std::move(shape)),
          buffer_(cpu_device().allocate(static_cast<size_t>(element_count(shape_)) * sizeof(T))) {}

    T* data() const { return reinterpret_cast<T*>(buffer_->data()); }
    array finish() {
        constexpr ScalarType kType = sizeof(T) == 1 ? ScalarType::kBool : ScalarType::kInt64;
        Dims strides = c_strides(shape_, int64_t{sizeof(T)});
        return where_arrays_are_made(array_of(std::move(buffer_), kType, shape_, std::move(strides)));
    }

private:
    Dims shape_;
    BufferPtr buffer_;
};

}  // namespace weft::texts
