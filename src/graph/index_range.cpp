#include "graph/index_range.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include "core/shape.h"
#include "graph/evaluation_lock.h"
#include "ops/interval.h"

namespace weft {

namespace {

// How far pending work is followed; an index array is seldom the end of a long computation.
constexpr int kMostSteps = 32;

using Wide = __int128;

Interval range_of_type(DType dtype) { return *interval_of(dtype); }

bool is_whole(DType dtype) { return dtype.is_bool() || dtype.is_integer(); }

class Analysis {
public:
    // Nothing for values that are no integers.
    std::optional<Interval> of(const Operand& operand) {
        if (!is_whole(operand.dtype)) return std::nullopt;
        const Interval all = range_of_type(operand.dtype);
        if (operand.is_constant()) {
            const Wide value = integer_of(operand.constant, operand.dtype);
            return Interval{value, value};
        }
        const Node* node = operand.source.node.get();
        if (node == nullptr || node->done.load(std::memory_order_acquire) || ++steps_ > kMostSteps)
            return all;
        if (node->results[operand.source.result].dtype != operand.dtype) return all;  // other bytes
        const std::optional<Interval> found = of(*node);
        // What does not fit the type has wrapped around.
        if (!found || found->low < all.low || found->high > all.high) return all;
        return found;
    }

private:
    static Wide integer_of(const ScalarBytes& bytes, DType dtype) {
        char* const data[2] = {const_cast<char*>(reinterpret_cast<const char*>(bytes.data())), nullptr};
        const int64_t steps[2] = {0, 0};
        const bool is_unsigned = !dtype.is_signed_integer();
        uint64_t value = 0;
        char* const pair[2] = {data[0], reinterpret_cast<char*>(&value)};
        cast_loop(dtype.scalar_type(), is_unsigned ? ScalarType::kUInt64 : ScalarType::kInt64)
            .loop(pair, steps, 1);
        return is_unsigned ? Wide{value} : Wide{static_cast<int64_t>(value)};
    }

    std::optional<Interval> of(const Node& node) {
        switch (node.kind()) {
            case NodeKind::kElementwise: return elementwise(node);
            case NodeKind::kArange: return arange(node);
            case NodeKind::kGather: return of(node.inputs[0]);
            case NodeKind::kReduce: return reduction(node);
            default: return std::nullopt;
        }
    }

    std::optional<Interval> arange(const Node& node) {
        const std::optional<Interval> start = of(node.inputs[0]), step = of(node.inputs[1]);
        if (!start || !step || node.shape[0] == 0) return std::nullopt;
        const Wide last = start->low + step->low * (node.shape[0] - 1);
        return Interval{std::min(start->low, last), std::max(start->low, last)};
    }

    std::optional<Interval> reduction(const Node& node) {
        if (node.reduction()->gives_index) {
            Wide count = 1;
            for (size_t d = 0; d < node.shape.size(); ++d) {
                if (node.reduced_axes()[d]) count *= node.shape[d];
            }
            return Interval{0, std::max(count, Wide{1}) - 1};
        }
        const ReductionId id = node.reduction()->id;
        if (id == ReductionId::kMin || id == ReductionId::kMax) return of(node.inputs[0]);
        return std::nullopt;
    }

    // Operands are cast to the loop's types first, which may wrap.
    std::optional<Interval> input(const Node& node, size_t number) {
        const DType type = node.op->loops[static_cast<size_t>(node.loop)].types[number];
        std::optional<Interval> range = of(node.inputs[number]);
        if (!range || !is_whole(type)) return std::nullopt;
        const Interval all = range_of_type(type);
        if (range->low < all.low || range->high > all.high) return all;
        return range;
    }

    std::optional<Interval> elementwise(const Node& node) {
        if (node.op == nullptr) return of(node.inputs[0]);
        if (node.op->nout != 1 || node.op->nin > 3 || node.op->facts.range == RangeRule::kUnknown)
            return std::nullopt;
        std::array<Interval, 3> operands{};
        // What chooses between values has no part in their interval.
        for (size_t k = node.op->facts.range == RangeRule::kSelect ? 1 : 0; k < node.op->nin; ++k) {
            const std::optional<Interval> operand = input(node, k);
            if (!operand) return std::nullopt;
            operands[k] = *operand;
        }
        return interval_of(*node.op, {operands.data(), node.op->nin});
    }

    int steps_ = 0;
};

int64_t clamped(Wide value) {
    return static_cast<int64_t>(std::clamp(value, Wide{INT64_MIN}, Wide{INT64_MAX}));
}

bool is_dense(const array& view, const Storage& storage) {
    return view.offset() == 0 && view.nbytes() == storage.bytes &&
           (view.c_contiguous() || view.f_contiguous());
}

bool same_view(const array& view, const KnownRange& known) {
    return view.offset() == known.offset && view.shape() == known.shape && view.strides() == known.strides;
}

// Elements that lie where elements of the dense whole lie.
bool is_aligned(const array& view) {
    const int64_t itemsize = view.itemsize();
    return view.offset() % itemsize == 0 &&
           std::all_of(view.strides().begin(), view.strides().end(),
                       [&](int64_t stride) { return stride % itemsize == 0; });
}

}  // namespace

IndexRange range_of(const Operand& operand) {
    std::optional<Interval> found;
    const auto analyse = [&] { found = Analysis().of(operand); };
    if (operand.source.node == nullptr) {
        analyse();
    } else {
        inspect(analyse);
    }
    if (!found) return {};
    return {clamped(found->low), clamped(found->high)};
}

void remember_range(const array& view, const Source& source, IndexRange range) {
    Storage& storage = *view.storage();
    const std::lock_guard lock(storage.mutex);
    storage.current.resolve();
    Source seen = source;
    seen.resolve();
    if (storage.exported() || !(storage.current == seen)) return;
    storage.known =
        std::make_unique<KnownRange>(KnownRange{view.dtype(), range.low, range.high, is_dense(view, storage),
                                                view.shape(), view.strides(), view.offset()});
}

Operand read_with_range(const array& view, const Dims& shape, IndexRange& range, bool& exported) {
    Operand operand;
    operand.dtype = view.dtype();
    operand.strides = broadcast_strides(view.shape(), view.strides(), shape);
    operand.offset = view.offset();
    Storage& storage = *view.storage();
    {
        const std::lock_guard lock(storage.mutex);
        storage.current.resolve();
        operand.source = storage.current;
        exported = storage.exported();
        const KnownRange* known = storage.known.get();
        if (known != nullptr && !exported && known->dtype == view.dtype() &&
            (same_view(view, *known) || (known->whole && is_aligned(view)))) {
            range = {known->low, known->high};
            return operand;
        }
    }
    range = range_of(operand);
    return operand;
}

}  // namespace weft
