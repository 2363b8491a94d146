#include "library/loops/strided_loops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "library/loops/reduction_order.h"
#include "weft/dtype.h"

namespace weft {

namespace {

constexpr int64_t kChunk =
    512;  // elements converted at a time, so that temporaries stay in the first-level cache
constexpr int64_t kMaxItemsize = 16;

// The iteration space with as few dimensions as the operands' strides allow, outermost first.
struct Space {
    int dimensions = 0;
    std::array<int64_t, kMaxDimensions> extent;
    std::array<std::array<int64_t, kMaxOperands>, kMaxDimensions> stride;
};

// Drops extents of one, orders dimensions by the strides of the last operand (the output), and merges
// neighbours.
void build_space(const Dims& shape, std::span<const StridedData> operands, Space& space) {
    const size_t count = operands.size();
    space.dimensions = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 1) continue;
        auto& stride = space.stride[static_cast<size_t>(space.dimensions)];
        for (size_t k = 0; k < count; ++k) stride[k] = (*operands[k].strides)[d];
        space.extent[static_cast<size_t>(space.dimensions++)] = shape[d];
    }
    const auto dimensions = static_cast<size_t>(space.dimensions);
    for (size_t i = 1; i < dimensions; ++i) {  // insertion sort: larger output strides outside
        for (size_t j = i; j > 0; --j) {
            const int64_t inner = std::abs(space.stride[j][count - 1]),
                          outer = std::abs(space.stride[j - 1][count - 1]);
            if (inner <= outer) break;
            std::swap(space.stride[j], space.stride[j - 1]);
            std::swap(space.extent[j], space.extent[j - 1]);
        }
    }
    size_t kept = 0;
    for (size_t d = 1; d < dimensions; ++d) {
        bool merge = true;
        for (size_t k = 0; k < count; ++k)
            merge &= space.stride[kept][k] == space.stride[d][k] * space.extent[d];
        if (merge) {
            space.extent[kept] *= space.extent[d];
            space.stride[kept] = space.stride[d];
        } else {
            ++kept;
            space.extent[kept] = space.extent[d];
            space.stride[kept] = space.stride[d];
        }
    }
    if (dimensions != 0) space.dimensions = static_cast<int>(kept) + 1;
}

// Calls row(pointers, strides of the innermost dimension, count) for each innermost row.
template <class Row>
void for_each_row(const Dims& shape, std::span<const StridedData> operands, const Row& row) {
    const size_t count = operands.size();
    char* pointers[kMaxOperands];
    for (size_t k = 0; k < count; ++k) pointers[k] = operands[k].data;
    if (shape.size() == 1) {  // the common case, without the general machinery
        int64_t strides[kMaxOperands];
        for (size_t k = 0; k < count; ++k) strides[k] = (*operands[k].strides)[0];
        if (shape[0] != 0) row(pointers, strides, shape[0]);
        return;
    }
    for (const int64_t extent : shape) {
        if (extent == 0) return;
    }
    Space space;
    build_space(shape, operands, space);
    if (space.dimensions == 0) {
        const int64_t strides[kMaxOperands] = {};
        row(pointers, strides, 1);
        return;
    }
    const auto inner = static_cast<size_t>(space.dimensions - 1);
    std::array<int64_t, kMaxDimensions> position{};
    while (true) {
        row(pointers, space.stride[inner].data(), space.extent[inner]);
        size_t d = inner;
        while (d-- > 0) {
            for (size_t k = 0; k < count; ++k) pointers[k] += space.stride[d][k];
            if (++position[d] < space.extent[d]) break;
            for (size_t k = 0; k < count; ++k) pointers[k] -= space.stride[d][k] * space.extent[d];
            position[d] = 0;
        }
        if (d == SIZE_MAX) return;
    }
}

int64_t itemsize_of(ScalarType type) { return DType::of(type).itemsize(); }

}  // namespace

void run_strided_loop(const OpInfo& op, const LoopInfo& loop, const Dims& shape,
                      std::span<const StridedData> operands) {
    const size_t count = operands.size();
    bool convert = false;
    for (size_t k = 0; k < count; ++k) convert |= operands[k].type != loop.types[k];
    if (!convert) {
        for_each_row(shape, operands, [&](char* const* pointers, const int64_t* strides, int64_t n) {
            loop.loop(pointers, strides, n);
        });
        return;
    }
    alignas(64) char scratch[kMaxOperands][kChunk * kMaxItemsize];
    for_each_row(shape, operands, [&](char* const* pointers, const int64_t* strides, int64_t n) {
        for (int64_t begin = 0; begin < n; begin += kChunk) {
            const int64_t length = std::min(kChunk, n - begin);
            char* data[kMaxOperands];
            int64_t steps[kMaxOperands];
            for (size_t k = 0; k < count; ++k) {
                data[k] = pointers[k] + begin * strides[k];
                steps[k] = strides[k];
                if (operands[k].type == loop.types[k]) continue;
                char* chunk = scratch[k];
                const int64_t itemsize = itemsize_of(loop.types[k]);
                if (k < op.nin) {
                    char* const pair[2] = {data[k], chunk};
                    const int64_t pair_steps[2] = {steps[k], itemsize};
                    const bool constant = steps[k] == 0;
                    cast_loop(operands[k].type, loop.types[k]).loop(pair, pair_steps, constant ? 1 : length);
                    steps[k] = constant ? 0 : itemsize;
                } else {
                    steps[k] = itemsize;
                }
                data[k] = chunk;
            }
            loop.loop(data, steps, length);
            for (size_t k = op.nin; k < count; ++k) {
                if (operands[k].type == loop.types[k]) continue;
                char* const pair[2] = {scratch[k], pointers[k] + begin * strides[k]};
                const int64_t pair_steps[2] = {itemsize_of(loop.types[k]), strides[k]};
                cast_loop(loop.types[k], operands[k].type).loop(pair, pair_steps, length);
            }
        }
    });
}

void arange_eagerly(ScalarType type, const void* first, const void* delta, int64_t count, char* out) {
    const ScalarType wide =
        type == ScalarType::kBool ? ScalarType::kInt64 : DType(type).accumulator().scalar_type();
    const int64_t itemsize = itemsize_of(wide), out_itemsize = itemsize_of(type);
    // The constants in the wide type, and the loops over one chunk of positions after the other.
    alignas(16) char constants[2][kMaxItemsize];
    const void* const given[2] = {first, delta};
    for (size_t k = 0; k < 2; ++k) {
        char* const pair[2] = {static_cast<char*>(const_cast<void*>(given[k])), constants[k]};
        const int64_t steps[2] = {0, 0};
        cast_loop(type, wide).loop(pair, steps, 1);
    }
    const ScalarType types[2] = {wide, wide};
    const StridedLoop multiply = find_loop(op_info(OpId::kMultiply), types)->loop;
    const StridedLoop add = find_loop(op_info(OpId::kAdd), types)->loop;
    alignas(64) int64_t positions[kChunk];
    alignas(64) char values[kChunk * kMaxItemsize];
    for (int64_t begin = 0; begin < count; begin += kChunk) {
        const int64_t length = std::min(kChunk, count - begin);
        for (int64_t k = 0; k < length; ++k) positions[k] = begin + k;
        const auto step = [&](StridedLoop loop, char* a, int64_t a_step, char* b, int64_t b_step, char* to,
                              int64_t to_step) {
            char* const data[3] = {a, b, to};
            const int64_t steps[3] = {a_step, b_step, to_step};
            loop(data, steps, length);
        };
        char* const to_wide[2] = {reinterpret_cast<char*>(positions), values};
        const int64_t to_wide_steps[2] = {8, itemsize};
        cast_loop(ScalarType::kInt64, wide).loop(to_wide, to_wide_steps, length);
        step(multiply, values, itemsize, constants[1], 0, values, itemsize);
        step(add, constants[0], 0, values, itemsize, values, itemsize);
        char* const finish[2] = {values, out + begin * out_itemsize};
        const int64_t finish_steps[2] = {itemsize, out_itemsize};
        cast_loop(wide, type).loop(finish, finish_steps, length);
    }
}

void copy_eagerly(const Dims& shape, const StridedData& from, const StridedData& to) {
    const StridedLoop loop = cast_loop(from.type, to.type).loop;
    const StridedData operands[2] = {from, to};
    const int64_t itemsize = itemsize_of(to.type);
    const bool same = from.type == to.type;
    for_each_row(shape, operands, [&](char* const* pointers, const int64_t* strides, int64_t n) {
        if (same && strides[0] == itemsize && strides[1] == itemsize) {
            std::memcpy(pointers[1], pointers[0], static_cast<size_t>(n * itemsize));
        } else {
            loop(pointers, strides, n);
        }
    });
}

namespace {

// Neighbouring kept dimensions that input and output walk as one become one.
void merge_kept_dimensions(ReductionSpace& space) {
    Dims shape, input, output;
    for (size_t d = 0; d < space.kept_shape.size(); ++d) {
        const int64_t extent = space.kept_shape[d];
        const int64_t in = space.kept_input_strides[d], out = space.kept_output_strides[d];
        if (!shape.empty() && input.back() == in * extent && output.back() == out * extent) {
            shape.back() *= extent;
            input.back() = in;
            output.back() = out;
        } else {
            shape.push_back(extent);
            input.push_back(in);
            output.push_back(out);
        }
    }
    space.kept_shape = std::move(shape);
    space.kept_input_strides = std::move(input);
    space.kept_output_strides = std::move(output);
}

}  // namespace

void reduce_eagerly(const ReductionInfo& reduction, ScalarType compute, const Dims& shape,
                    const std::vector<bool>& reduced, const StridedData& input, const StridedData& output) {
    ReductionSpace space =
        reduction_space(reduction, compute, shape, reduced, *input.strides, *output.strides);
    if (space.kept_shape.size() > 1) merge_kept_dimensions(space);
    const Dims& kept = space.kept_shape;
    Dims position(kept.size());
    int64_t points = 1;
    for (const int64_t extent : kept) points *= extent;
    TreeReducer reducer(reduction, compute, input.type, space);
    if (reducer.run_rows(input.data, output.data, output.type)) return;
    for (int64_t point = 0; point < points; ++point) {
        const char* from = input.data;
        char* to = output.data;
        for (size_t d = 0; d < kept.size(); ++d) {
            from += position[d] * space.kept_input_strides[d];
            to += position[d] * space.kept_output_strides[d];
        }
        reducer.run(from, to, output.type);
        for (size_t d = kept.size(); d-- > 0;) {
            if (++position[d] < kept[d]) break;
            position[d] = 0;
        }
    }
}

}  // namespace weft
