#include "core/shape.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "weft/errors.h"

namespace weft {

int64_t element_count(const Dims& shape) {
    int64_t count = 1;
    bool overflow = false;
    for (const int64_t extent : shape) {
        if (extent == 0) return 0;
        overflow |= __builtin_mul_overflow(count, extent, &count);
    }
    if (overflow) throw ValueError("array is too big; its number of elements does not fit in 64 bits");
    return count;
}

void throw_impossible_shape(const Dims& shape) {
    for (const int64_t extent : shape) {
        if (extent < 0) throw ValueError("negative dimensions are not allowed");
    }
    if (shape.size() > kMaxDimensions) {
        throw ValueError("maximum supported dimension for an ndarray is currently " +
                         std::to_string(kMaxDimensions) + ", found " + std::to_string(shape.size()));
    }
    throw ValueError(
        "array is too big; `arr.size * arr.dtype.itemsize` is larger than the maximum possible size.");
}

void check_large_shape(const Dims& shape, int64_t itemsize) {
    int64_t bytes = itemsize;
    bool impossible = shape.size() > kMaxDimensions;
    for (const int64_t extent : shape)
        impossible |= extent < 0 || __builtin_mul_overflow(bytes, extent == 0 ? 1 : extent, &bytes);
    if (impossible) throw_impossible_shape(shape);
}

int64_t checked_bytes(const Dims& shape, int64_t itemsize) {
    check_shape(shape, itemsize);
    return element_count(shape) * itemsize;
}

namespace {

// An array that is made without elements has strides of zero, as in NumPy.
bool is_empty(const Dims& shape) { return std::find(shape.begin(), shape.end(), 0) != shape.end(); }

}  // namespace

Dims c_strides(const Dims& shape, int64_t itemsize) {
    return is_empty(shape) ? Dims(shape.size()) : reshaped_strides(shape, itemsize, false);
}

Dims f_strides(const Dims& shape, int64_t itemsize) {
    return is_empty(shape) ? Dims(shape.size()) : reshaped_strides(shape, itemsize, true);
}

Dims reshaped_strides(const Dims& shape, int64_t itemsize, bool fortran) {
    Dims strides(shape.size());
    int64_t stride = itemsize;
    for (size_t k = 0; k < shape.size(); ++k) {
        const size_t d = fortran ? k : shape.size() - 1 - k;
        strides[d] = stride;
        if (__builtin_mul_overflow(stride, std::max<int64_t>(shape[d], 1), &stride))
            throw_impossible_shape(shape);
    }
    return strides;
}

bool is_c_contiguous(const Dims& shape, const Dims& strides, int64_t itemsize) {
    int64_t expected = itemsize;
    bool contiguous = true;
    for (size_t d = shape.size(); d-- > 0;) {
        if (shape[d] == 0) return true;
        if (shape[d] != 1) {
            contiguous &= strides[d] == expected;
            expected *= shape[d];
        }
    }
    return contiguous;
}

bool is_f_contiguous(const Dims& shape, const Dims& strides, int64_t itemsize) {
    int64_t expected = itemsize;
    bool contiguous = true;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 0) return true;
        if (shape[d] != 1) {
            contiguous &= strides[d] == expected;
            expected *= shape[d];
        }
    }
    return contiguous;
}

std::string shape_text(const Dims& shape) {
    std::string text = "(";
    for (size_t d = 0; d < shape.size(); ++d) {
        if (d != 0) text += ",";
        text += std::to_string(shape[d]);
    }
    if (shape.size() == 1) text += ",";
    return text + ")";
}

Dims broadcast_shapes(std::span<const Dims* const> shapes) {
    size_t ndim = 0;
    for (const Dims* shape : shapes) ndim = std::max(ndim, shape->size());
    Dims result(ndim, 1);
    for (const Dims* shape : shapes) {
        const size_t lead = ndim - shape->size();
        for (size_t d = 0; d < shape->size(); ++d) {
            const int64_t extent = (*shape)[d];
            if (extent == 1) continue;
            if (result[lead + d] == 1) {
                result[lead + d] = extent;
            } else if (result[lead + d] != extent) {
                std::string message = "operands could not be broadcast together with shapes ";
                for (const Dims* each : shapes) message += shape_text(*each) + " ";
                throw ValueError(message);
            }
        }
    }
    check_shape(result, 1);
    return result;
}

bool can_broadcast(const Dims& from, const Dims& to) {
    if (from.size() > to.size()) return false;
    const size_t lead = to.size() - from.size();
    for (size_t d = 0; d < from.size(); ++d) {
        if (from[d] != 1 && from[d] != to[lead + d]) return false;
    }
    return true;
}

Dims broadcast_strides(const Dims& from, const Dims& strides, const Dims& to) {
    Dims result(to.size());
    const size_t lead = to.size() - from.size();
    for (size_t d = 0; d < from.size(); ++d) result[lead + d] = from[d] == 1 ? 0 : strides[d];
    return result;
}

Dims strides_by_order(const Dims& shape, std::span<const int> innermost_first, int64_t itemsize) {
    Dims result(shape.size());
    if (is_empty(shape)) return result;
    int64_t stride = itemsize;
    for (const int axis : innermost_first) {
        result[static_cast<size_t>(axis)] = stride;
        stride *= std::max<int64_t>(shape[static_cast<size_t>(axis)], 1);
    }
    return result;
}

Dims k_order_strides(const Dims& shape, std::span<const Dims* const> operand_strides, int64_t itemsize) {
    if (shape.size() > kMaxDimensions) throw_impossible_shape(shape);
    const int ndim = static_cast<int>(shape.size());
    int order[kMaxDimensions];  // innermost first; NumPy starts from C order and inserts each axis in turn
    for (int i = 0; i < ndim; ++i) order[i] = ndim - 1 - i;
    const auto stride_of = [&](const Dims& strides, int axis) {
        const auto d = static_cast<size_t>(axis);
        return shape[d] == 1 ? 0 : std::abs(strides[d]);
    };
    for (int i = 1; i < ndim; ++i) {
        const int axis = order[i];
        int position = i;
        for (int j = i - 1; j >= 0; --j) {
            bool decided = false, swap = false;
            for (const Dims* strides : operand_strides) {
                const int64_t outer = stride_of(*strides, axis), inner = stride_of(*strides, order[j]);
                if (outer == 0 || inner == 0) continue;
                if (inner <= outer) {
                    swap = false;  // between operands that disagree, C order wins
                } else if (!decided) {
                    swap = true;
                }
                decided = true;
            }
            if (!decided) continue;
            if (!swap) break;
            position = j;
        }
        std::rotate(order + position, order + i, order + i + 1);
    }
    return strides_by_order(shape, {order, static_cast<size_t>(ndim)}, itemsize);
}

Dims copy_strides(const Dims& shape, const Dims& strides, int64_t itemsize, char order) {
    const bool c = is_c_contiguous(shape, strides, itemsize);
    const bool f = is_f_contiguous(shape, strides, itemsize);
    if (order == 'F' || (order == 'A' && f && !c)) return f_strides(shape, itemsize);
    if (order != 'K' || c || shape.size() <= 1) return c_strides(shape, itemsize);
    if (f) return f_strides(shape, itemsize);
    const int ndim = static_cast<int>(shape.size());
    std::vector<int> axes(shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) {
        return std::abs(strides[static_cast<size_t>(a)]) > std::abs(strides[static_cast<size_t>(b)]);
    });
    std::reverse(axes.begin(), axes.end());
    return strides_by_order(shape, {axes.data(), static_cast<size_t>(ndim)}, itemsize);
}

ByteRange byte_range(const Dims& shape, const Dims& strides, int64_t offset, int64_t itemsize) {
    ByteRange range{offset, offset + itemsize};
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 0) return {offset, offset};
        const int64_t reach = (shape[d] - 1) * strides[d];
        (reach < 0 ? range.low : range.high) += reach;
    }
    return range;
}

namespace {

// Does sum(coefficient[i] * x[i]) with 0 <= x[i] <= limit[i] hit [low, high]? Depth first over the largest
// coefficients with interval and divisibility bounds; gives up (true) after a fixed number of steps.
struct BoundedSum {
    std::vector<std::pair<int64_t, int64_t>> terms;  // coefficient > 0, limit > 0; largest coefficient first
    std::vector<int64_t> reach, divisor;             // of the terms from i on
    int steps = 20000;

    bool hits(size_t i, int64_t low, int64_t high) {
        if (low <= 0 && 0 <= high) return true;
        if (i == terms.size() || high < 0 || low > reach[i]) return false;
        // some multiple of the divisor must lie in the interval
        const int64_t g = divisor[i];
        const int64_t first = low <= 0 ? 0 : (low + g - 1) / g * g;
        if (first > high) return false;
        if (--steps < 0) return true;
        const auto [coefficient, limit] = terms[i];
        const int64_t rest = i + 1 < terms.size() ? reach[i + 1] : 0;
        const int64_t lowest = std::max<int64_t>(0, (low - rest + coefficient - 1) / coefficient);
        const int64_t highest = std::min(limit, high / coefficient);
        for (int64_t x = lowest; x <= highest; ++x) {
            if (hits(i + 1, low - coefficient * x, high - coefficient * x)) return true;
            if (steps < 0) return true;
        }
        return false;
    }

    bool solve(int64_t low, int64_t high) {
        std::sort(terms.rbegin(), terms.rend());
        reach.assign(terms.size(), 0);
        divisor.assign(terms.size(), 0);
        int64_t sum = 0, g = 0;
        for (size_t i = terms.size(); i-- > 0;) {
            sum += terms[i].first * terms[i].second;
            g = std::gcd(g, terms[i].first);
            reach[i] = sum;
            divisor[i] = g;
        }
        return hits(0, low, high);
    }
};

}  // namespace

bool views_overlap(const StridedView& first, const StridedView& second) {
    const ByteRange a = byte_range(*first.shape, *first.strides, first.offset, first.itemsize);
    const ByteRange b = byte_range(*second.shape, *second.strides, second.offset, second.itemsize);
    if (a.empty() || b.empty() || a.high <= b.low || b.high <= a.low) return false;
    // Element addresses are low + sum of |stride| * x. They share a byte when, for some x and y,
    // -itemsize_a < (a.low + A(x)) - (b.low + B(y)) < itemsize_b; with y mirrored all coefficients are
    // positive.
    BoundedSum sum;
    for (size_t d = 0; d < first.shape->size(); ++d) {
        const int64_t stride = std::abs((*first.strides)[d]), limit = (*first.shape)[d] - 1;
        if (stride != 0 && limit > 0) sum.terms.emplace_back(stride, limit);
    }
    int64_t mirrored = 0;
    for (size_t d = 0; d < second.shape->size(); ++d) {
        const int64_t stride = std::abs((*second.strides)[d]), limit = (*second.shape)[d] - 1;
        if (stride != 0 && limit > 0) {
            sum.terms.emplace_back(stride, limit);
            mirrored += stride * limit;
        }
    }
    const int64_t base = b.low - a.low + mirrored;
    return sum.solve(base - first.itemsize + 1, base + second.itemsize - 1);
}

bool overlaps_itself(const Dims& shape, const Dims& strides, int64_t itemsize) {
    std::vector<std::pair<int64_t, int64_t>> terms;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 0) return false;
        if (shape[d] > 1) terms.emplace_back(std::abs(strides[d]), shape[d]);
    }
    std::sort(terms.begin(), terms.end());
    int64_t reach = itemsize;
    for (const auto& [stride, extent] : terms) {
        if (stride < reach) return true;
        reach += stride * (extent - 1);
    }
    return false;
}

int normalize_axis(int64_t axis, int ndim) {
    if (axis < -ndim || axis >= ndim) {
        throw AxisError("axis " + std::to_string(axis) + " is out of bounds for array of dimension " +
                        std::to_string(ndim));
    }
    return static_cast<int>(axis < 0 ? axis + ndim : axis);
}

}  // namespace weft
