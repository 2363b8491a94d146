#include "lowering/collapsed_rows.h"

#include <array>
#include <string>
#include <utility>

namespace weft {

using ir::Builder;
using ir::ValueId;

namespace {

constexpr int64_t kLocalBytes = int64_t{64} << 10;
constexpr int64_t kMostLocalBytes = int64_t{512} << 10;  // on the stack of a thread
constexpr int64_t kMostBlocks = 8;

}  // namespace

std::optional<size_t> collapse_of(const Dims& strides, const ReductionSpace& walk, const Dims& shape) {
    size_t collapse = 0;
    const AxisGroups& groups = walk.reduced_axes;
    for (size_t g = 0; g < groups.size(); ++g) {
        for (size_t k = 0; k + 1 < groups.size_of(g); ++k) {
            const size_t axis = groups.axis(g, k), next = groups.axis(g, k + 1);
            if (strides[axis] == strides[next] * shape[next]) continue;
            if (g + 1 != groups.size() || collapse != 0) return std::nullopt;
            collapse = k + 1;
        }
    }
    return collapse;
}

std::optional<size_t> joined_collapses(std::optional<size_t> a, std::optional<size_t> b) {
    if (!a || !b || (*a != 0 && *b != 0 && *a != *b)) return std::nullopt;
    return *a != 0 ? a : b;
}

int64_t inner_extent(size_t collapse, const ReductionSpace& walk, const Dims& shape) {
    const size_t last = walk.reduced_axes.size() - 1;
    int64_t extent = 1;
    for (size_t k = collapse; k < walk.reduced_axes.size_of(last); ++k)
        extent *= shape[walk.reduced_axes.axis(last, k)];
    return extent;
}

int64_t collapsed_chunk(const ReductionSpace& walk, size_t reductions, bool deviations) {
    if (deviations) return walk.chunk;
    const int64_t bytes = walk.block * static_cast<int64_t>(sizeof(double) * reductions);
    int64_t blocks = kMostBlocks;
    while (blocks > 1 && blocks * bytes > kLocalBytes) blocks /= 2;
    return blocks * walk.block;
}

bool can_collapse(const ReductionSpace& walk, size_t reductions, bool deviations) {
    return !deviations || walk.chunk * static_cast<int64_t>(sizeof(double) * reductions) <= kMostLocalBytes;
}

std::vector<ValueId> compute_rows(
    Builder& b, ValueId begin, ValueId count, ValueId inner, int64_t chunk, std::span<const ScalarType> types,
    uint16_t scope, const std::function<std::vector<ValueId>(ValueId row, ValueId column)>& elements) {
    std::vector<ValueId> locals;
    for (const ScalarType type : types) {
        ir::BufferType local;
        local.element = type;
        local.space = ir::AddressSpace::kLocal;
        local.alias_scope = scope++;
        local.strides = {DType::of(type).itemsize()};
        local.sizes = {chunk};
        locals.push_back(b.allocate(std::move(local), "elements"));
    }
    const ValueId zero = b.index(0), one = b.index(1);
    const ValueId first_row = b.apply(OpId::kFloorDivide, {begin, inner});
    const ValueId first_column =
        b.apply(OpId::kSubtract, {begin, b.apply(OpId::kMultiply, {first_row, inner})});
    const ValueId end = b.apply(OpId::kAdd, {first_column, count});  // from the first row's start
    const ValueId rows = b.apply(OpId::kFloorDivide,
                                 {b.apply(OpId::kAdd, {end, b.apply(OpId::kSubtract, {inner, one})}), inner});
    b.for_loop(zero, rows, one, {}, [&](Builder&, std::span<const ValueId> row_number) {
        const ValueId row = b.apply(OpId::kAdd, {first_row, row_number[0]});
        // Where the row's first column would be in local memory.
        const ValueId start =
            b.apply(OpId::kSubtract, {b.apply(OpId::kMultiply, {row_number[0], inner}), first_column});
        const ValueId from = b.apply(OpId::kMaximum, {start, zero});
        const ValueId to = b.apply(OpId::kMinimum, {b.apply(OpId::kAdd, {start, inner}), count});
        b.for_loop(from, to, one, {}, [&](Builder&, std::span<const ValueId> position) {
            const ValueId column = b.apply(OpId::kSubtract, {position[0], start});
            const std::vector<ValueId> values = elements(row, column);
            for (size_t k = 0; k < values.size(); ++k) b.store(locals[k], values[k], std::array{position[0]});
            return std::vector<ValueId>{};
        });
        return std::vector<ValueId>{};
    });
    return locals;
}

}  // namespace weft
