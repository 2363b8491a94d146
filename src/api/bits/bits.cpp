#include "weft/bits.h"

#include <algorithm>
#include <utility>

#include "api/recording/host_row.h"
#include "core/shape.h"
#include "device/devices.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "library/bits/bit_loops.h"
#include "weft/assembly.h"
#include "weft/creation.h"
#include "weft/indexing.h"
#include "weft/operations.h"

namespace weft {

namespace {

// The array with the axis in question: C order, or Fortran's of what lies in no other, turned round.
struct Laid {
    array rows;
    int axis;
    bool turned;  // the result is to be turned, too

    Laid(const array& a, std::optional<int64_t> given) : rows(a), axis(0), turned(false) {
        if (!given) {
            rows = ravel(a, 'C');
            return;
        }
        if (a.ndim() == 0) rows = reshape(a, Dims{1});
        axis = normalize_axis(*given, rows.ndim());
        turned = a.ndim() > 1 && a.f_contiguous() && !a.c_contiguous();
        if (!turned) return;
        rows = transpose(a);
        axis = rows.ndim() - 1 - axis;
    }

    BitRows bits() const {
        BitRows found{1, rows.shape()[static_cast<size_t>(axis)], 1};
        for (int d = 0; d < rows.ndim(); ++d) {
            if (d != axis) (d < axis ? found.outer : found.inner) *= rows.shape()[static_cast<size_t>(d)];
        }
        return found;
    }
    Dims shape_with(int64_t extent) const {
        Dims shape = rows.shape();
        shape[static_cast<size_t>(axis)] = extent;
        return shape;
    }
    array finish(const array& result) const { return turned ? transpose(result) : result; }
    // Of what has the axis last.
    array finish_last(const array& result) const {
        Dims order;
        for (int d = 0; d + 1 < rows.ndim(); ++d) order.push_back(d);
        order.insert(static_cast<size_t>(axis), rows.ndim() - 1);
        return finish(copy(transpose(result, order), 'C'));
    }
    array with_axis_last() const {
        Dims order;
        for (int d = 0; d < rows.ndim(); ++d) {
            if (d != axis) order.push_back(d);
        }
        order.push_back(axis);
        return transpose(rows, order);
    }
};

array bytes_of(BufferPtr buffer, const Dims& shape) {
    return array_of(std::move(buffer), ScalarType::kUInt8, shape, c_strides(shape, 1));
}

// ---- on other devices: composed of operations on words of eight bytes (library/bits/bit_loops.cpp) ----

array word(uint64_t value) { return full(Shape{}, Integer(value), DType(ScalarType::kUInt64)); }

constexpr uint64_t kOnes = 0x0101010101010101, kBelowTop = 0x7F7F7F7F7F7F7F7F;
constexpr uint64_t kGather[] = {0x8040201008040201, 0x0102040810204080};
constexpr uint64_t kPlaces[] = {0x0102040810204080, 0x8040201008040201};

array ones_where_not_zero(const array& words) {
    const array below = word(kBelowTop);
    const array carried = bitwise_or(add(bitwise_and(words, below), below), words);
    return bitwise_and(right_shift(carried, word(7)), word(kOnes));
}

array pack_on_device(const Laid& laid, BitOrder order) {
    array rows = laid.with_axis_last();
    rows = rows.itemsize() == 1 ? view(rows, ScalarType::kUInt8) : not_equal(rows, 0);
    Dims shape = rows.shape();
    if (const int64_t missing = (8 - shape.back() % 8) % 8; missing != 0) {
        shape.back() = missing;
        const array none = zeros(shape, rows.dtype());
        rows = concatenate({rows, none}, rows.ndim() - 1);
    }
    const array words = ones_where_not_zero(view(copy(rows, 'C'), ScalarType::kUInt64));
    const array gathered = right_shift(multiply(words, word(kGather[static_cast<size_t>(order)])), word(56));
    return laid.finish_last(astype(gathered, ScalarType::kUInt8));
}

array unpack_on_device(const Laid& laid, int64_t count, BitOrder order) {
    const array rows = astype(laid.with_axis_last(), ScalarType::kUInt64, 'C');
    const array spread = multiply(rows, word(kOnes));
    const array chosen = bitwise_and(spread, word(kPlaces[static_cast<size_t>(order)]));
    array bits = view(copy(ones_where_not_zero(chosen), 'C'), ScalarType::kUInt8);
    Dims shape = bits.shape();
    const int64_t there = shape.back();
    if (count > there) {
        shape.back() = count - there;
        bits = concatenate({bits, zeros(shape, ScalarType::kUInt8)}, bits.ndim() - 1);
    } else if (count < there) {
        const Index first[] = {Ellipsis(), Slice{{}, count, {}}};
        bits = index(bits, first);
    }
    return laid.finish_last(bits);
}

}  // namespace

array packbits(const array& a, std::optional<int64_t> axis, BitOrder order) {
    if (!a.dtype().is_integer() && !a.dtype().is_bool())
        throw TypeError("Expected an input array of integer or boolean data type");
    const DeviceScope scope(device_of(a));
    const Laid laid(a, axis);
    const BitRows bits = laid.bits();
    const Dims shape = laid.shape_with((bits.length + 7) / 8);
    if (element_count(shape) == 0) return laid.finish(zeros(shape, ScalarType::kUInt8));
    if (!device_of(a).is_cpu()) return pack_on_device(laid, order);
    const HostRow elements(laid.rows);
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(checked_bytes(shape, ScalarType::kUInt8)));
    pack_bits(elements.data(), a.itemsize(), bits, order == BitOrder::kLittle,
              reinterpret_cast<uint8_t*>(buffer->data()));
    return laid.finish(bytes_of(std::move(buffer), shape));
}

array unpackbits(const array& a, std::optional<int64_t> axis, std::optional<int64_t> count, BitOrder order) {
    if (!(a.dtype() == DType(ScalarType::kUInt8)))
        throw TypeError("Expected an input array of unsigned byte data type");
    const DeviceScope scope(device_of(a));
    const Laid laid(a, axis);
    const BitRows bits = laid.bits();
    int64_t kept = bits.length * 8;
    if (count && *count < 0) {
        if (*count < -kept) throw ValueError("-count larger than number of elements");
        kept += *count;
    } else if (count) {
        kept = *count;
    }
    const Dims shape = laid.shape_with(kept);
    if (a.size() == 0 || element_count(shape) == 0) return laid.finish(zeros(shape, ScalarType::kUInt8));
    if (!device_of(a).is_cpu()) return unpack_on_device(laid, kept, order);
    const HostRow elements(laid.rows);
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(checked_bytes(shape, ScalarType::kUInt8)));
    unpack_bits(elements.as<uint8_t>(), bits, kept, order == BitOrder::kLittle,
                reinterpret_cast<uint8_t*>(buffer->data()));
    return laid.finish(bytes_of(std::move(buffer), shape));
}

}  // namespace weft
