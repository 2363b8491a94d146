#include "library/products/cpu/product_axes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "core/threads/thread_pool.h"
#include "device/device.h"

namespace weft::cpu_product {

namespace {

bool joins(const Axis& outer, const Axis& inner, std::span<const Walker> walkers) {
    return std::all_of(walkers.begin(), walkers.end(), [&](Walker walker) {
        return outer.stride[walker] == inner.stride[walker] * inner.extent;
    });
}

bool all_join(const Axes& axes, Walker walker) {
    for (size_t k = 0; k + 1 < axes.size(); ++k) {
        if (!joins(axes[k], axes[k + 1], std::array{walker})) return false;
    }
    return true;
}

template <size_t size>
void copy_row(char* to, const char* from, int64_t stride, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
        std::memcpy(to + i * static_cast<int64_t>(size), from + i * stride, size);
}

void copy_row(char* to, const char* from, int64_t stride, int64_t count, int64_t itemsize) {
    if (stride == itemsize) {
        std::memcpy(to, from, static_cast<size_t>(count * itemsize));
        return;
    }
    switch (itemsize) {
        case 1: copy_row<1>(to, from, stride, count); break;
        case 2: copy_row<2>(to, from, stride, count); break;
        case 4: copy_row<4>(to, from, stride, count); break;
        case 8: copy_row<8>(to, from, stride, count); break;
        default: copy_row<16>(to, from, stride, count); break;
    }
}

// Copies the operand into dense memory: its batch axes, then its own, then k. Changes its strides
// accordingly.
BufferPtr packed(Problem& problem, Walker walker) {
    std::vector<Axis*> axes;
    for (Axis& axis : problem.batch) {
        if (axis.stride[walker] != 0) axes.push_back(&axis);
    }
    for (Axis& axis : problem.own(walker)) axes.push_back(&axis);
    for (Axis& axis : problem.k) axes.push_back(&axis);
    const int64_t itemsize = problem.itemsize;
    int64_t rows = 1;
    for (size_t d = 0; d + 1 < axes.size(); ++d) rows *= axes[d]->extent;
    const int64_t count = axes.empty() ? 1 : axes.back()->extent;
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(rows * count * itemsize));
    const char* from = problem.operand[walker];
    const int64_t stride = axes.empty() ? 0 : axes.back()->stride[walker];
    constexpr int64_t kElementsPerTask = 1 << 16;
    const int64_t rows_per_task = std::max<int64_t>(1, kElementsPerTask / count);
    parallel_for((rows + rows_per_task - 1) / rows_per_task, [&](int64_t task) {
        for (int64_t row = task * rows_per_task; row < std::min(rows, (task + 1) * rows_per_task); ++row) {
            const char* start = from;
            int64_t rest = row;
            for (size_t d = axes.size(); d-- > 1;) {
                start += rest % axes[d - 1]->extent * axes[d - 1]->stride[walker];
                rest /= axes[d - 1]->extent;
            }
            copy_row(buffer->data() + row * count * itemsize, start, stride, count, itemsize);
        }
    });
    int64_t dense = itemsize;
    for (size_t d = axes.size(); d-- > 0;) {
        axes[d]->stride[walker] = dense;
        dense *= axes[d]->extent;
    }
    problem.operand[walker] = buffer->data();
    return buffer;
}

}  // namespace

void sort_by(Axes& axes, Walker walker) {
    std::stable_sort(axes.begin(), axes.end(), [&](const Axis& a, const Axis& b) {
        return std::abs(a.stride[walker]) > std::abs(b.stride[walker]);
    });
}

void join_axes(Axes& axes) {
    Axes joined;
    for (const Axis& axis : axes) {
        if (!joined.empty() && joins(joined.back(), axis, std::array{kLeft, kRight, kOut})) {
            joined.back().extent *= axis.extent;
            joined.back().stride = axis.stride;
        } else {
            joined.push_back(axis);
        }
    }
    axes = std::move(joined);
}

int64_t extent_of(const Axes& axes) {
    int64_t extent = 1;
    for (const Axis& axis : axes) extent *= axis.extent;
    return extent;
}

void Packer::pack(Walker walker) {
    if (held_[walker] != nullptr) return;
    held_[walker] = packed(problem_, walker);
    ++report_.packed_operands;
    report_.packed_bytes += static_cast<int64_t>(held_[walker]->size());
}

void join_reduced(Problem& problem, Packer& packer) {
    sort_by(problem.k, kRight);
    Axes by_right = problem.k;
    sort_by(problem.k, kLeft);
    const int64_t m = extent_of(problem.m), n = extent_of(problem.n);
    const auto cost = [&](const Axes& axes) {
        return (all_join(axes, kLeft) ? 0 : m) + (all_join(axes, kRight) ? 0 : n);
    };
    if (cost(by_right) < cost(problem.k)) problem.k = std::move(by_right);
    for (const Walker walker : {kLeft, kRight}) {
        if (!all_join(problem.k, walker)) packer.pack(walker);
    }
    join_axes(problem.k);
}

void join_own(Problem& problem, Walker walker, Packer& packer) {
    Axes& axes = problem.own(walker);
    if (axes.size() > 1 && all_join(axes, kOut) && !all_join(axes, walker)) {
        constexpr int64_t kWorthACall = 64 * 64 * 64;
        const int64_t others =
            extent_of(problem.own(walker == kLeft ? kRight : kLeft)) * extent_of(problem.k);
        Axes joined = axes;
        join_axes(joined);
        int64_t longest = 1;
        for (const Axis& axis : joined) longest = std::max(longest, axis.extent);
        if (longest * others < kWorthACall) packer.pack(walker);
    }
    join_axes(axes);
    while (axes.size() > 1) {
        const auto shortest = std::min_element(
            axes.begin(), axes.end(), [](const Axis& a, const Axis& b) { return a.extent < b.extent; });
        problem.batch.push_back(*shortest);
        axes.erase(shortest);
    }
}

Offsets batch_offsets(const Axes& batch, int64_t index) {
    Offsets offsets;
    for (size_t d = batch.size(); d-- > 0;) {
        const int64_t position = index % batch[d].extent;
        index /= batch[d].extent;
        offsets.left += position * batch[d].stride[kLeft];
        offsets.right += position * batch[d].stride[kRight];
        offsets.out += position * batch[d].stride[kOut];
    }
    return offsets;
}

MatrixProduct matrix_product(const Problem& problem) {
    const auto only = [](const Axes& axes) { return axes.empty() ? Axis{} : axes[0]; };
    const Axis m = only(problem.m), n = only(problem.n), k = only(problem.k);
    return {m.extent,
            n.extent,
            k.extent,
            problem.operand[kLeft],
            m.stride[kLeft],
            k.stride[kLeft],
            problem.operand[kRight],
            k.stride[kRight],
            n.stride[kRight],
            problem.out,
            m.stride[kOut],
            n.stride[kOut]};
}

void swap_operands(Problem& problem) {
    std::swap(problem.m, problem.n);
    std::swap(problem.operand[kLeft], problem.operand[kRight]);
    for (Axes* axes : {&problem.batch, &problem.m, &problem.n, &problem.k}) {
        for (Axis& axis : *axes) std::swap(axis.stride[kLeft], axis.stride[kRight]);
    }
}

}  // namespace weft::cpu_product
