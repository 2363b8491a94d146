#include "graph/apply_at.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/shape.h"
#include "core/thread_pool.h"
#include "graph/apply_at_on_gpu.h"
#include "graph/detour.h"
#include "graph/evaluate.h"
#include "graph/float_watch.h"
#include "graph/placement.h"
#include "graph/record.h"
#include "ops/resolve.h"
#include "weft/ops.h"

namespace weft {

namespace {

using Element = std::array<char, 16>;

void call_once(StridedLoop loop, std::span<char* const> operands) {
    const std::array<int64_t, kMaxOperands> strides{};
    loop(operands.data(), strides.data(), 1);
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
array settled(const array& input, DType dtype) {
    if (input.dtype() == dtype && input.c_contiguous() && !is_shown(input)) return input;
    return astype(input, dtype, 'C');
}

}  // namespace

void apply_at(const OpInfo& op, const array& target, const array& positions,
              const std::optional<array>& operand) {
    if (FloatWatch watch; watch) {
        const auto named = [&] { return take(ravel(target), positions, {}, TakeMode::kRaise); };
        const array before = copy(named());
        apply_at(op, target, positions, operand);
        if (positions.size() != 0) look_at_changes(watch, op, before, operand, named());
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
        record_detour(device, "ufunc.at of elements that are named often", target.nbytes());
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
    const array numbers = copy(positions, 'C');
    std::optional<array> values;
    if (operand) values = astype(*operand, loop.types[1], 'C');
    const BufferPtr numbers_held = evaluate_storage(*numbers.storage());
    BufferPtr values_held;
    if (values) values_held = evaluate_storage(*values->storage());
    const auto* places = reinterpret_cast<const int64_t*>(numbers_held->data() + numbers.offset());
    const HostView memory(target, true);
    const Places where(target);
    const ScalarType own = target.dtype().scalar_type();
    const Conversion in(own, loop.types[0]), out(loop.types[op.nin], own);
    const int64_t step = values ? values->itemsize() : 0;
    char* value = values ? values_held->data() + values->offset() : nullptr;
    alignas(16) Element argument{}, result{};
    for (int64_t i = 0; i < numbers.size(); ++i, value += step) {
        char* const element = memory.data() + where.of(places[i]);
        in.run(element, argument.data());
        const std::array<char*, 3> operands = {argument.data(), op.nin == 2 ? value : result.data(),
                                               result.data()};
        call_once(loop.loop, operands);
        out.run(result.data(), element);
    }
}

namespace {

// Elements [begin, end) combined in pairs, as sums are, where that is allowed; else one after another.
class Fold {
public:
    Fold(StridedLoop loop, bool in_pairs, const char* row, int64_t itemsize)
        : loop_(loop), in_pairs_(in_pairs), row_(row), itemsize_(itemsize) {}

    Element run(int64_t begin, int64_t end) const {
        constexpr int64_t kInOrder = 64;
        alignas(16) Element left{};
        if (in_pairs_ && end - begin > kInOrder) {
            const int64_t middle = begin + (end - begin) / 2;
            left = run(begin, middle);
            alignas(16) Element right = run(middle, end);
            return combined(left, right.data());
        }
        std::memcpy(left.data(), row_ + begin * itemsize_, static_cast<size_t>(itemsize_));
        for (int64_t i = begin + 1; i < end; ++i)
            left = combined(left, const_cast<char*>(row_) + i * itemsize_);
        return left;
    }

private:
    Element combined(Element left, char* right) const {
        alignas(16) Element first = left, result{};
        const std::array<char*, 3> operands = {first.data(), right, result.data()};
        call_once(loop_, operands);
        return result;
    }

    StridedLoop loop_;
    bool in_pairs_;
    const char* row_;
    int64_t itemsize_;
};

}  // namespace

array reduce_between(const OpInfo& op, const array& input, const array& starts, std::optional<DType> dtype) {
    if (FloatWatch watch; watch) {
        const array result = reduce_between(op, input, starts, dtype);
        look_at_whole(watch, {&input, 1}, result);
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
    const array values = settled(input, own), numbers = settled(starts, ScalarType::kInt64);
    if (DeviceBackend& device = device_of(input); !device.is_cpu()) {
        if (const auto result = reduce_between_on_gpu(op, values, numbers)) return *result;
        record_detour(device, "ufunc.reduceat", input.nbytes());
        return move_to(reduce_between(op, move_to(input, cpu_device()), move_to(starts, cpu_device()), dtype),
                       device);
    }
    const BufferPtr held = evaluate_storage(*values.storage()),
                    numbers_held = evaluate_storage(*numbers.storage());
    const auto* first = reinterpret_cast<const int64_t*>(numbers_held->data() + numbers.offset());
    const int64_t count = numbers.size(), length = values.shape().back(), itemsize = own.itemsize();
    const int64_t rows = length == 0 ? 0 : values.size() / length;
    Dims shape = values.shape();
    shape[shape.size() - 1] = count;
    BufferPtr out = cpu_device().allocate(static_cast<size_t>(element_count(shape) * itemsize));
    parallel_for(rows, [&](int64_t row) {
        const Fold fold(loop.loop, op.flags.associative,
                        held->data() + values.offset() + row * length * itemsize, itemsize);
        for (int64_t k = 0; k < count; ++k) {
            const int64_t next = k + 1 < count ? first[k + 1] : length;
            const Element result = fold.run(first[k], std::max(next, first[k] + 1));
            std::memcpy(out->data() + (row * count + k) * itemsize, result.data(),
                        static_cast<size_t>(itemsize));
        }
    });
    return array_of(std::move(out), own, shape, c_strides(shape, itemsize));
}

}  // namespace weft
