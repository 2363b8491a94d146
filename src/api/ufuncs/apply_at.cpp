#include "api/ufuncs/apply_at.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "api/elementwise/float_errors.h"
#include "api/recording/transfer.h"
#include "api/ufuncs/apply_at_on_gpu.h"
#include "core/shape.h"
#include "core/threads/thread_pool.h"
#include "execution/evaluate.h"
#include "execution/fallback.h"
#include "graph/indexed_view.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "library/counting/count_loops.h"
#include "library/loops/identities.h"
#include "library/loops/reduction_order.h"
#include "ops/lane_fold.h"
#include "ops/resolve.h"
#include "weft/ops.h"

namespace weft {

namespace {

using Element = std::array<char, 16>;

void call_once(StridedLoop loop, std::span<char* const> operands) {
    static constexpr std::array<int64_t, kMaxOperands> kNoStrides{};
    loop(operands.data(), kNoStrides.data(), 1);
}

// Converts one element.
class Conversion {
public:
    Conversion(ScalarType from, ScalarType to)
        : loop_(from == to ? nullptr : cast_loop(from, to).loop), size_(DType(to).itemsize()) {}

    void run(const char* from, char* to) const {
        if (loop_ == nullptr) {
            std::memcpy(to, from, static_cast<size_t>(size_));
            return;
        }
        const std::array<char*, 2> operands = {const_cast<char*>(from), to};
        call_once(loop_, operands);
    }

private:
    StridedLoop loop_;
    int64_t size_;
};

// Where the elements of a view lie, by their numbers in C order.
class Places {
public:
    explicit Places(const array& view) : shape_(view.shape()), strides_(view.strides()) {
        step_ = view.c_contiguous() ? view.itemsize() : 0;
    }
    // Bytes from one element to the next; 0 where they have no one distance.
    int64_t step() const { return step_; }
    int64_t of(int64_t number) const {
        if (step_ != 0) return number * step_;
        int64_t offset = 0;
        for (size_t d = shape_.size(); d-- > 0; number /= shape_[d])
            offset += number % shape_[d] * strides_[d];
        return offset;
    }

private:
    const Dims& shape_;
    const Dims& strides_;
    int64_t step_ = 0;
};

// In C order without gaps, of the type; in memory that nobody changes.
array stable_dense(const array& input, DType dtype) {
    if (input.dtype() == dtype && input.c_contiguous() && !is_exported(input)) return input;
    return astype(input, dtype, 'C');
}

// The elements named, one after another, by the arithmetic of the ahead-of-time loops; integers wrap.
struct NamedElements {
    char* elements;
    std::span<const int64_t> positions;
    const char* values;
};

template <class T, class Function>
void apply_to_each(const NamedElements& named, const Function& function) {
    auto* const elements = reinterpret_cast<T*>(named.elements);
    const auto* value = reinterpret_cast<const T*>(named.values);
    for (const int64_t position : named.positions)
        elements[position] = function(elements[position], *value++);
}

template <class T>
bool apply_arithmetic(OpId id, const NamedElements& named) {
    switch (id) {
        case OpId::kAdd: apply_to_each<T>(named, [](T a, T b) { return static_cast<T>(a + b); }); break;
        case OpId::kSubtract: apply_to_each<T>(named, [](T a, T b) { return static_cast<T>(a - b); }); break;
        case OpId::kMultiply: apply_to_each<T>(named, [](T a, T b) { return static_cast<T>(a * b); }); break;
        default: return false;
    }
    return true;
}

// False, with nothing changed, for other operations and types than most programs have.
bool apply_arithmetic(OpId id, ScalarType type, const NamedElements& named) {
    switch (type) {
        case ScalarType::kFloat64: return apply_arithmetic<double>(id, named);
        case ScalarType::kFloat32: return apply_arithmetic<float>(id, named);
        case ScalarType::kInt64:
        case ScalarType::kUInt64: return apply_arithmetic<uint64_t>(id, named);
        case ScalarType::kInt32:
        case ScalarType::kUInt32: return apply_arithmetic<uint32_t>(id, named);
        default: return false;
    }
}

void check_bounds(const int64_t* positions, int64_t count, int64_t end) {
    const CountedRange range = range_of_positions({positions, static_cast<size_t>(count)});
    if (count != 0 && (range.low < 0 || range.high >= end))
        throw_out_of_bounds(range.low < 0 ? range.low : range.high, 0, end);
}

}  // namespace

void apply_at(const OpInfo& op, const array& target, const array& positions,
              const std::optional<array>& operand) {
    if (FloatWatch watch; watch) {
        const auto named = [&] { return take(ravel(target), positions, {}, TakeMode::kRaise); };
        const array before = copy(named());
        apply_at(op, target, positions, operand);
        if (positions.size() != 0) inspect_changes(watch, op, before, operand, named());
        watch.report("at", {&target, 1});
        return;
    }
    if (!target.writeable()) throw ValueError("assignment destination is read-only");
    if (op.nout != 1) throw ValueError("only single output ufuncs supported for at");
    if (operand.has_value() != (op.nin == 2))
        throw ValueError(op.nin == 2 ? "second operand needed for ufunc" : "only one operand for this ufunc");
    DeviceBackend& device = device_of(target);
    if (!device.is_cpu()) {
        if (apply_at_on_gpu(op, target, positions, operand)) return;
        record_fallback(device, "ufunc.at of elements that are named often", target.nbytes());
        const array own = move_to(copy(target, 'C'), cpu_device());
        std::optional<array> moved;
        if (operand) moved = move_to(*operand, cpu_device());
        apply_at(op, own, move_to(positions, cpu_device()), moved);
        assign(target, move_to(own, device));
        return;
    }
    std::vector<OperandType> types = {target.dtype()};
    if (operand) types.emplace_back(operand->dtype());
    const LoopInfo& loop = find_loop_cached(op, types);
    // What is written must not change what is still to be read.
    const auto read_before = [&](const array& input, DType dtype) {
        return input.storage() == target.storage() ? astype(input, dtype, 'C') : stable_dense(input, dtype);
    };
    const array numbers = read_before(positions, ScalarType::kInt64);
    std::optional<array> values;
    if (operand) values = read_before(*operand, loop.types[1]);
    const BufferPtr numbers_held = evaluate_storage(*numbers.storage());
    BufferPtr values_held;
    if (values) values_held = evaluate_storage(*values->storage());
    const auto* places = reinterpret_cast<const int64_t*>(numbers_held->data() + numbers.offset());
    const HostView memory(target, true);
    const Places where(target);
    check_bounds(places, numbers.size(), target.size());
    if (values && values->size() != numbers.size())
        throw ValueError("each position needs an operand of its own");
    const int64_t count = numbers.size(), step = values ? values->itemsize() : 0;
    char* value = values ? values_held->data() + values->offset() : nullptr;
    const ScalarType own = target.dtype().scalar_type();
    if (loop.types[0] == own && loop.types[op.nin] == own) {
        const bool is_row = op.nin == 2 && where.step() == target.itemsize() && loop.types[1] == own;
        if (is_row &&
            apply_arithmetic(op.id, own, {memory.data(), {places, static_cast<size_t>(count)}, value}))
            return;
        for (int64_t i = 0; i < count; ++i, value += step) {
            char* const element = memory.data() + where.of(places[i]);
            const std::array<char*, 3> operands = {element, op.nin == 2 ? value : element, element};
            call_once(loop.loop, operands);
        }
        return;
    }
    const Conversion in(own, loop.types[0]), out(loop.types[op.nin], own);
    alignas(16) Element argument{}, result{};
    for (int64_t i = 0; i < count; ++i, value += step) {
        char* const element = memory.data() + where.of(places[i]);
        in.run(element, argument.data());
        const std::array<char*, 3> operands = {argument.data(), op.nin == 2 ? value : result.data(),
                                               result.data()};
        call_once(loop.loop, operands);
        out.run(result.data(), element);
    }
}

namespace {

// A block in lanes, by one call, for operations with an element that changes no other.
struct BlockFold {
    LaneFold run = nullptr;
    Constant initial;
};

BlockFold block_fold(const OpInfo& op, const LoopInfo& loop) {
    const ScalarType type = loop.types[0];
    const Neutral neutral = op.facts.neutral;
    if (!op.flags.associative || neutral == Neutral::kNone) return {};
    if (neutral == Neutral::kZero) return {find_lane_fold(loop), negative_zero(type)};
    if (DType(type).is_complex()) return {};
    return {find_lane_fold(loop), neutral_element(neutral, type)};
}

// Elements of a row combined: in the tree of sums (library/loops/reduction_order.h) where that is allowed, so
// that many go eagerly; else one after another.
class Fold {
public:
    Fold(StridedLoop loop, const BlockFold& block, bool in_pairs, const char* row, int64_t itemsize)
        : loop_(loop),
          block_(block),
          in_pairs_(in_pairs),
          row_(const_cast<char*>(row)),
          itemsize_(itemsize) {}

    // Of the elements [begin, end), at least one.
    void run(int64_t begin, int64_t end, char* to) const {
        if (block_.run != nullptr && end - begin <= kReduceBlock) {
            block_.run(row_ + begin * itemsize_, end - begin,
                       reinterpret_cast<const char*>(block_.initial.bytes.data()), to);
            return;
        }
        alignas(64) Lanes lanes;
        if (!in_pairs_) {
            copy_in(lanes, begin, 1);
            for (int64_t i = begin + 1; i < end; ++i) combine(lanes.data(), row_ + i * itemsize_, 1);
        } else {
            run_in_pairs(begin, end, lanes);
        }
        std::memcpy(to, lanes.data(), static_cast<size_t>(itemsize_));
    }

private:
    using Lanes = std::array<char, sizeof(Element) * kReduceLanes>;

    void run_in_pairs(int64_t begin, int64_t end, Lanes& lanes) const {
        if (const int64_t blocks = (end - begin + kReduceBlock - 1) / kReduceBlock; blocks > 1) {
            const int64_t middle = begin + (blocks + 1) / 2 * kReduceBlock;
            run_in_pairs(begin, middle, lanes);
            alignas(64) Lanes right;
            run_in_pairs(middle, end, right);
            combine(lanes.data(), right.data(), 1);
            return;
        }
        int64_t width = std::min(end - begin, kReduceLanes);
        copy_in(lanes, begin, width);
        for (int64_t i = begin + width; i < end; i += width)
            combine(lanes.data(), row_ + i * itemsize_, std::min(width, end - i));
        for (int64_t half = kReduceLanes / 2; half >= 1; half /= 2) {
            if (width <= half) continue;
            combine(lanes.data(), lanes.data() + half * itemsize_, width - half);
            width = half;
        }
    }

    void copy_in(Lanes& lanes, int64_t begin, int64_t count) const {
        std::memcpy(lanes.data(), row_ + begin * itemsize_, static_cast<size_t>(count * itemsize_));
    }
    void combine(char* left, char* right, int64_t count) const {
        const std::array<char*, 3> operands = {left, right, left};
        const std::array<int64_t, 3> strides = {itemsize_, itemsize_, itemsize_};
        loop_(operands.data(), strides.data(), count);
    }

    StridedLoop loop_;
    const BlockFold& block_;
    bool in_pairs_;
    char* row_;
    int64_t itemsize_;
};

}  // namespace

array reduce_between(const OpInfo& op, const array& input, const array& starts, std::optional<DType> dtype) {
    if (FloatWatch watch; watch) {
        const array result = reduce_between(op, input, starts, dtype);
        inspect_whole(watch, {&input, 1}, result);
        watch.report("reduceat", {&result, 1});
        return result;
    }
    const DType compute = dtype.value_or(input.dtype());
    const std::array<OperandType, 2> types = {compute, compute};
    const LoopInfo& loop = find_loop_cached(op, types);
    const DType own(loop.types[0]);
    if (loop.types[2] != loop.types[0]) {
        throw TypeError("the resolved dtypes are not compatible with " + std::string(op.numpy_name) +
                        ".reduceat");
    }
    const array values = stable_dense(input, own), numbers = stable_dense(starts, ScalarType::kInt64);
    if (DeviceBackend& device = device_of(input); !device.is_cpu()) {
        if (const auto result = reduce_between_on_gpu(op, values, numbers)) return *result;
        record_fallback(device, "ufunc.reduceat", input.nbytes());
        return move_to(reduce_between(op, move_to(input, cpu_device()), move_to(starts, cpu_device()), dtype),
                       device);
    }
    const BufferPtr held = evaluate_storage(*values.storage()),
                    numbers_held = evaluate_storage(*numbers.storage());
    const auto* first = reinterpret_cast<const int64_t*>(numbers_held->data() + numbers.offset());
    check_bounds(first, numbers.size(), values.shape().back());
    const int64_t count = numbers.size(), length = values.shape().back(), itemsize = own.itemsize();
    const int64_t rows = length == 0 ? 0 : values.size() / length;
    Dims shape = values.shape();
    shape[shape.size() - 1] = count;
    BufferPtr out = cpu_device().allocate(static_cast<size_t>(checked_bytes(shape, own)));
    if (rows * count != 0) {
        // Of each row, so many results at a time that some 64 thousand elements are behind them.
        const int64_t together = std::clamp<int64_t>(count * 65536 / length, 1, count);
        const int64_t parts = (count + together - 1) / together;
        const BlockFold block = op.flags.associative ? block_fold(op, loop) : BlockFold();
        parallel_for(rows * parts, [&](int64_t task) {
            const int64_t row = task / parts, begin = task % parts * together;
            const Fold fold(loop.loop, block, op.flags.associative,
                            held->data() + values.offset() + row * length * itemsize, itemsize);
            for (int64_t k = begin; k < std::min(begin + together, count); ++k) {
                const int64_t next = k + 1 < count ? first[k + 1] : length;
                fold.run(first[k], std::max(next, first[k] + 1), out->data() + (row * count + k) * itemsize);
            }
        });
    }
    return array_of(std::move(out), own, shape, c_strides(shape, itemsize));
}

}  // namespace weft
