#include "graph/index_range.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>

#include "core/shape.h"
#include "graph/evaluation_lock.h"

namespace weft {

namespace {

// How far pending work is followed; an index array is seldom the end of a long computation.
constexpr int kMostSteps = 32;

using Wide = __int128;

struct WideRange {
    Wide low, high;
};

WideRange range_of_type(DType dtype) {
    if (dtype.is_bool()) return {0, 1};
    const int bits = static_cast<int>(dtype.itemsize()) * 8;
    if (dtype.is_unsigned_integer()) return {0, (Wide{1} << bits) - 1};
    return {-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1};
}

bool is_whole(DType dtype) { return dtype.is_bool() || dtype.is_integer(); }

class Analysis {
public:
    // Nothing for values that are no integers.
    std::optional<WideRange> of(const Operand& operand) {
        if (!is_whole(operand.dtype)) return std::nullopt;
        const WideRange all = range_of_type(operand.dtype);
        if (operand.is_constant()) {
            const Wide value = integer_of(operand.constant, operand.dtype);
            return WideRange{value, value};
        }
        const Node* node = operand.source.node.get();
        if (node == nullptr || node->done.load(std::memory_order_acquire) || ++steps_ > kMostSteps)
            return all;
        if (node->results[operand.source.result].dtype != operand.dtype) return all;  // other bytes
        const std::optional<WideRange> found = of(*node);
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

    std::optional<WideRange> of(const Node& node) {
        switch (node.kind()) {
            case NodeKind::kElementwise: return elementwise(node);
            case NodeKind::kArange: return arange(node);
            case NodeKind::kGather: return of(node.inputs[0]);
            case NodeKind::kReduce: return reduction(node);
            default: return std::nullopt;
        }
    }

    std::optional<WideRange> arange(const Node& node) {
        const std::optional<WideRange> start = of(node.inputs[0]), step = of(node.inputs[1]);
        if (!start || !step || node.shape[0] == 0) return std::nullopt;
        const Wide last = start->low + step->low * (node.shape[0] - 1);
        return WideRange{std::min(start->low, last), std::max(start->low, last)};
    }

    std::optional<WideRange> reduction(const Node& node) {
        if (node.reduction()->gives_index) {
            Wide count = 1;
            for (size_t d = 0; d < node.shape.size(); ++d) {
                if (node.reduced_axes()[d]) count *= node.shape[d];
            }
            return WideRange{0, std::max(count, Wide{1}) - 1};
        }
        const ReductionId id = node.reduction()->id;
        if (id == ReductionId::kMin || id == ReductionId::kMax) return of(node.inputs[0]);
        return std::nullopt;
    }

    // Operands are cast to the loop's types first, which may wrap.
    std::optional<WideRange> input(const Node& node, size_t number) {
        const DType type = node.op->loops[static_cast<size_t>(node.loop)].types[number];
        std::optional<WideRange> range = of(node.inputs[number]);
        if (!range || !is_whole(type)) return std::nullopt;
        const WideRange all = range_of_type(type);
        if (range->low < all.low || range->high > all.high) return all;
        return range;
    }

    std::optional<WideRange> elementwise(const Node& node) {
        if (node.op == nullptr) return of(node.inputs[0]);
        if (node.op->nout != 1 || node.op->nin > 3) return std::nullopt;
        if (node.op->facts.range == RangeRule::kSelect) {
            const std::optional<WideRange> b = input(node, 1), c = input(node, 2);
            if (!b || !c) return std::nullopt;
            return WideRange{std::min(b->low, c->low), std::max(b->high, c->high)};
        }
        const std::optional<WideRange> a = input(node, 0);
        if (!a) return std::nullopt;
        if (node.op->nin == 1) return of_one(node.op->facts.range, *a);
        const std::optional<WideRange> b = input(node, 1);
        if (!b) return std::nullopt;
        if (node.op->nin == 2) return of_two(node.op->facts.range, *a, *b);
        const std::optional<WideRange> c = input(node, 2);
        if (!c || node.op->facts.range != RangeRule::kClip) return std::nullopt;
        return WideRange{std::min(std::max(a->low, b->low), c->low),
                         std::min(std::max(a->high, b->high), c->high)};
    }

    static std::optional<WideRange> of_one(RangeRule range, WideRange a) {
        switch (range) {
            case RangeRule::kSame: return a;
            case RangeRule::kNegated: return WideRange{-a.high, -a.low};
            case RangeRule::kAbsolute:
                return WideRange{a.low > 0 ? a.low : a.high < 0 ? -a.high : 0, std::max(a.high, -a.low)};
            default: return std::nullopt;
        }
    }

    static std::optional<WideRange> of_two(RangeRule range, WideRange a, WideRange b) {
        switch (range) {
            case RangeRule::kSum: return WideRange{a.low + b.low, a.high + b.high};
            case RangeRule::kDifference: return WideRange{a.low - b.high, a.high - b.low};
            case RangeRule::kProduct: {
                const Wide most = Wide{1} << 62;  // products of these fit
                if (a.low < -most || a.high > most || b.low < -most || b.high > most) return std::nullopt;
                const Wide corners[4] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
                return WideRange{*std::min_element(corners, corners + 4),
                                 *std::max_element(corners, corners + 4)};
            }
            case RangeRule::kMinimum: return WideRange{std::min(a.low, b.low), std::min(a.high, b.high)};
            case RangeRule::kMaximum: return WideRange{std::max(a.low, b.low), std::max(a.high, b.high)};
            case RangeRule::kRemainder:
                if (b.low <= 0) return std::nullopt;
                if (a.low >= 0 && a.high < b.low) return a;
                return WideRange{0, b.high - 1};
            case RangeRule::kQuotient:
                if (b.low <= 0 || a.low < 0) return std::nullopt;
                return WideRange{a.low / b.high, a.high / b.low};
            case RangeRule::kBitsAnd:
                if (a.low < 0 && b.low < 0) return std::nullopt;
                return WideRange{0, a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high)};
            default: return std::nullopt;
        }
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
    std::optional<WideRange> found;
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
