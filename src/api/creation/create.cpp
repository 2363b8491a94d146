// New arrays: constants, ranges, copies, joins.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "api/elementwise/float_error_rules.h"
#include "api/elementwise/float_errors.h"
#include "api/fast/serial_work.h"
#include "api/recording/record.h"
#include "api/recording/write.h"
#include "core/config.h"
#include "core/shape.h"
#include "execution/evaluate.h"
#include "graph/foreign_memory.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "graph/storage_locks.h"
#include "library/loops/strided_loops.h"
#include "ops/resolve.h"
#include "weft/ops.h"

namespace weft {

namespace {

Dims ordered_strides(const Dims& shape, DType dtype, char order) {
    return order == 'F' ? f_strides(shape, dtype.itemsize()) : c_strides(shape, dtype.itemsize());
}

// `value` everywhere, converted: eagerly when small, else a node without inputs from memory.
array filled(const Dims& shape, const ScalarBytes& bytes, DType dtype, Dims strides) {
    const int64_t total = checked_bytes(shape, dtype);
    if (is_small(element_count(shape)) && current_device().is_cpu()) {
        BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(total));
        if (bytes == ScalarBytes{}) {
            std::memset(buffer->data(), 0, static_cast<size_t>(total));
            return array_of(std::move(buffer), dtype, shape, std::move(strides));
        }
        const Dims zero(shape.size());
        const StridedData from{const_cast<char*>(reinterpret_cast<const char*>(bytes.data())), &zero,
                               dtype.scalar_type()};
        copy_eagerly(shape, from, {buffer->data(), &strides, dtype.scalar_type()});
        return array_of(std::move(buffer), dtype, shape, std::move(strides));
    }
    Operands inputs;
    inputs.push_back(constant_operand(bytes, dtype, shape));
    const NodePtr node = make_elementwise(nullptr, 0, std::move(inputs), shape, {&dtype, 1}, &strides);
    array result = array_of(node, 0, shape);
    recorded(node);
    return result;
}

}  // namespace

array empty(const Shape& shape, DType dtype, char order) {
    const int64_t bytes = checked_bytes(shape, dtype);
    return array_of(current_device().allocate(static_cast<size_t>(bytes)), dtype, shape,
                    ordered_strides(shape, dtype, order));
}

array full(const Shape& shape, const Argument& value, std::optional<DType> dtype, char order) {
    const OperandType type = operand_type(value);
    const DType result = dtype.value_or(type.dtype);
    if (const auto* element = std::get_if<array>(&value)) {
        array target = empty(shape, result, order);
        assign(target, *element);
        return target;
    }
    if (FloatWatch watch; watch && std::holds_alternative<double>(value)) {
        inspect_cast(watch, from_argument(value), from_argument(value, result));
        watch.report("cast", {});
    }
    return filled(shape, constant_bytes(value, result), result, ordered_strides(shape, result, order));
}

array empty_like(const array& prototype, std::optional<DType> dtype, char order, std::optional<Dims> shape,
                 std::string_view device) {
    const DeviceScope scope(device.empty() ? device_of(prototype) : device_named(device));
    const DType type = dtype.value_or(prototype.dtype());
    if (shape && shape->size() != prototype.shape().size())
        return empty(*shape, type, order == 'F' ? 'F' : 'C');
    const Dims& extents = shape ? *shape : prototype.shape();
    const int64_t bytes = checked_bytes(extents, type);
    if (shape && order != 'F' && order != 'C') {  // another shape in the prototype's order of axes
        if (prototype.c_contiguous() || order == 'A') {
            order = order == 'A' && prototype.f_contiguous() && !prototype.c_contiguous() ? 'F' : 'C';
        } else if (prototype.f_contiguous()) {
            order = 'F';
        } else {
            std::vector<int> axes(extents.size());  // outermost first
            std::iota(axes.begin(), axes.end(), 0);
            std::stable_sort(axes.begin(), axes.end(), [&](int a, int b) {
                return std::abs(prototype.strides()[static_cast<size_t>(a)]) >
                       std::abs(prototype.strides()[static_cast<size_t>(b)]);
            });
            std::reverse(axes.begin(), axes.end());
            return array_of(current_device().allocate(static_cast<size_t>(bytes)), type, extents,
                            strides_by_order(extents, axes, type.itemsize()));
        }
    }
    Dims strides = copy_strides(prototype.shape(), prototype.strides(), type.itemsize(), order);
    if (order != 'C' && order != 'F' && prototype.itemsize() != type.itemsize()) {
        // contiguity is judged in the prototype's item size, the result's strides are in the new one
        strides = copy_strides(prototype.shape(), prototype.strides(), prototype.itemsize(), order);
        for (int64_t& stride : strides) stride = stride / prototype.itemsize() * type.itemsize();
    }
    if (shape)
        strides = order == 'F' ? f_strides(extents, type.itemsize()) : c_strides(extents, type.itemsize());
    return array_of(current_device().allocate(static_cast<size_t>(bytes)), type, extents, std::move(strides));
}

array scalar(DType dtype, const void* bytes) {
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(dtype.itemsize()));
    std::memcpy(buffer->data(), bytes, static_cast<size_t>(dtype.itemsize()));
    return array_of(std::move(buffer), dtype, {}, {});
}

array from_argument(const Argument& value, std::optional<DType> dtype) {
    if (const auto* input = std::get_if<array>(&value)) {
        return dtype && *dtype != input->dtype() ? astype(*input, *dtype) : *input;
    }
    const DType type = dtype.value_or(operand_type(value).dtype);
    return scalar(type, constant_bytes(value, type).data());
}

namespace {

bool is_beyond_int64(const Argument* value) {
    const auto* integer = std::get_if<Integer>(value);
    return integer != nullptr && !integer->huge && !integer->negative && integer->magnitude > INT64_MAX;
}

Integer narrow_integer(WideInteger value) {
    Integer result;
    result.negative = value < 0;
    const WideInteger magnitude = result.negative ? -value : value;
    result.huge = magnitude > UINT64_MAX;
    result.magnitude = result.huge ? 0 : static_cast<uint64_t>(magnitude);
    result.approximation = static_cast<double>(value);
    return result;
}

/// How many numbers arange() of integers has, where doubles may not tell.
std::optional<int64_t> exact_length(const Argument& start, const Argument& stop, const Argument& step) {
    __int128 values[3];
    const Argument* const arguments[3] = {&start, &stop, &step};
    for (int i = 0; i < 3; ++i) {
        const auto* integer = std::get_if<Integer>(arguments[i]);
        if (integer == nullptr || integer->huge) return std::nullopt;
        values[i] = static_cast<__int128>(integer->magnitude) * (integer->negative ? -1 : 1);
    }
    const auto [first, last, stride] = values;
    const __int128 distance = stride > 0 ? last - first : first - last;
    const __int128 size = stride > 0 ? stride : -stride;
    if (size == 0 || distance <= 0) return size == 0 ? std::nullopt : std::optional<int64_t>(0);
    const __int128 count = (distance + size - 1) / size;
    if (count > INT64_MAX) return std::nullopt;
    return static_cast<int64_t>(count);
}

}  // namespace

array arange(const Argument& start, const Argument& stop, const Argument& step, std::optional<DType> dtype) {
    OperandType types[3] = {operand_type(start), operand_type(stop), operand_type(step)};
    const Argument* const bounds[3] = {&start, &stop, &step};
    if (std::any_of(bounds, bounds + 3,
                    is_beyond_int64)) {  // each is of the type that NumPy's array of it has
        for (int i = 0; i < 3; ++i) {
            if (types[i].weak == WeakKind::kInt)
                types[i] = DType(is_beyond_int64(bounds[i]) ? ScalarType::kUInt64 : ScalarType::kInt64);
        }
    }
    DType type = dtype.value_or(result_type(types));
    for (const OperandType& argument : types) {
        if (argument.dtype.is_complex())
            throw NotImplementedError("weft has no arange() from complex numbers yet; meanwhile multiply");
    }
    if (!dtype && type.is_bool()) type = ScalarType::kInt64;
    const auto number = [](const Argument& value) {
        double result = 0;
        const ScalarBytes bytes = [&] {
            if (const auto* input = std::get_if<array>(&value)) {
                ScalarBytes element{};
                read_element(astype(*input, ScalarType::kFloat64), {}, element.data());
                return element;
            }
            return constant_bytes(value, ScalarType::kFloat64);
        }();
        std::memcpy(&result, bytes.data(), sizeof result);
        return result;
    };
    const double first = number(start), last = number(stop), stride = number(step);
    if (stride == 0) throw ZeroDivisionError("division by zero");
    double length = std::ceil((last - first) / stride);
    if (const auto exact = exact_length(start, stop, step)) length = static_cast<double>(*exact);
    if (std::isnan(length)) throw ValueError("arange: cannot compute length");
    if (length > 9.2e18) throw ValueError("Maximum allowed size exceeded");
    const auto count = static_cast<int64_t>(std::max(0.0, length));
    // NumPy computes start and start + step in the result's type and continues from their difference.
    const auto* first_integer = std::get_if<Integer>(&start);
    const auto* step_integer = std::get_if<Integer>(&step);
    const bool integral =
        type.is_integer() && first_integer && step_integer && !first_integer->huge && !step_integer->huge;
    const Dims shape{count};
    if (type.is_bool() && count > 2) throw TypeError("no fill-function for data-type.");
    ScalarBytes first_bytes, second_bytes;
    if (count > 0 && type.is_integer() && first_integer && !first_integer->huge)
        constant_bytes(*first_integer, type);  // whether it fits, whatever the step is
    if (integral) {
        const WideInteger begin = wide_integer(*first_integer), delta = wide_integer(*step_integer);
        first_bytes = count > 0 ? constant_bytes(narrow_integer(begin), type) : ScalarBytes{};
        second_bytes = count > 1 ? constant_bytes(narrow_integer(begin + delta), type) : first_bytes;
    } else {
        first_bytes = constant_bytes(first, type);
        second_bytes = constant_bytes(first + stride, type);
    }
    if (type.is_bool()) {  // two at most, which have no distance
        const array values = full(shape, Integer(0), type);
        for (int64_t k = 0; k < count; ++k) {
            const Index position[1] = {Index(k)};
            assign(index(values, position), scalar(type, (k == 0 ? first_bytes : second_bytes).data()));
        }
        return values;
    }
    const OpInfo& subtract = op_info(OpId::kSubtract);
    const ScalarType types_of_loop[2] = {type.scalar_type(), type.scalar_type()};
    const LoopInfo* subtract_loop = find_loop(subtract, types_of_loop);
    WEFT_CHECK(subtract_loop != nullptr, std::string(type.name()));
    ScalarBytes delta_bytes{};
    char* const data[3] = {reinterpret_cast<char*>(second_bytes.data()),
                           reinterpret_cast<char*>(first_bytes.data()),
                           reinterpret_cast<char*>(delta_bytes.data())};
    const int64_t no_strides[3] = {};
    subtract_loop->loop(data, no_strides, 1);
    DeviceBackend& device = current_device();
    if (is_small(count) && device.is_cpu()) {
        BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(checked_bytes(shape, type)));
        arange_eagerly(type.scalar_type(), first_bytes.data(), delta_bytes.data(), count, buffer->data());
        return array_of(std::move(buffer), type, shape, c_strides(shape, type.itemsize()));
    }
    auto node = new_node();
    node->become(NodeKind::kArange);
    node->device = &device;
    node->shape = shape;
    node->inputs.push_back(constant_operand(first_bytes, type, shape));
    node->inputs.push_back(constant_operand(delta_bytes, type, shape));
    NodeResult result;
    result.dtype = type;
    result.strides = c_strides(shape, type.itemsize());
    result.bytes = checked_bytes(shape, type);
    node->results.push_back(std::move(result));
    array values = array_of(node, 0, shape);
    recorded(node);
    return values;
}

array eye(int64_t rows, int64_t columns, int64_t diagonal, DType dtype, char order) {
    array result = full({rows, columns}, Integer(0), dtype, order);
    if (diagonal >= columns || diagonal <= -rows) return result;
    const array ones = weft::diagonal(result, diagonal, 0, 1);  // read-only, as NumPy's
    assign(array(result.storage(), dtype, ones.shape(), ones.strides(), ones.offset(), true), Integer(1));
    return result;
}

array copy_in(const void* data, DType dtype, const Dims& shape, const Dims& strides) {
    const int64_t bytes = checked_bytes(shape, dtype);
    Dims own = copy_strides(shape, strides, dtype.itemsize(), 'K');
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(bytes));
    if (bytes != 0) {
        const StridedData from{static_cast<char*>(const_cast<void*>(data)), &strides, dtype.scalar_type()};
        copy_eagerly(shape, from, {buffer->data(), &own, dtype.scalar_type()});
    }
    DeviceBackend& device = current_device();
    if (!device.is_cpu()) {
        const BufferPtr there = device.allocate(buffer->size());
        device.copy_in(*there, 0, buffer->data(), buffer->size());
        buffer = there;
    }
    return array_of(std::move(buffer), dtype, shape, std::move(own));
}

array share(void* data, DType dtype, const Dims& shape, const Dims& strides, bool writeable,
            std::function<void()> release) {
    std::shared_ptr<void> owner(nullptr, [release = std::move(release)](void*) { release(); });
    return array_over(cpu_device(), reinterpret_cast<uint64_t>(data), dtype, shape, strides, writeable,
                      std::move(owner));
}

// ---- moving and converting ----

namespace {

array copy_as(const array& input, DType dtype, char order) {
    const int64_t bytes = checked_bytes(input.shape(), dtype);
    Dims strides = copy_strides(input.shape(), input.strides(), input.itemsize(), order);
    if (dtype.itemsize() != input.itemsize()) {
        for (int64_t& stride : strides) stride = stride / input.itemsize() * dtype.itemsize();
    }
    const bool serial = is_exported(input) && is_below_serial_cutoff(nullptr, input.size()) &&
                        (order == 'C' || order == 'K') && input.c_contiguous();
    if (is_small(input.size()) || serial) {
        StorageLocks locks;
        locks.add(*input.storage());
        locks.lock();
        if (locks.all_host_resident()) {
            BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(bytes));
            const StridedData from{input.storage()->current.buffer->data() + input.offset(), &input.strides(),
                                   input.dtype().scalar_type()};
            if (bytes != 0)
                copy_eagerly(input.shape(), from, {buffer->data(), &strides, dtype.scalar_type()});
            return array_of(std::move(buffer), dtype, input.shape(), std::move(strides));
        }
    }
    Operands inputs;
    inputs.push_back(read_operand(input, input.shape()));
    const NodePtr node =
        make_elementwise(nullptr, 0, std::move(inputs), input.shape(), {&dtype, 1}, &strides);
    array result = array_of(node, 0, input.shape());
    recorded(node);
    if (is_exported(input)) evaluate({&node, 1});
    return result;
}

void check_cast(const array& input, DType to, Casting casting) {
    if (!can_cast(input.dtype(), to, casting)) throw_cast_error("array data", input.dtype(), to, casting);
}

// Storing a view into itself, which NumPy lets pass even where it may not be written.
bool is_itself(const array& target, const Argument& value) {
    const auto* source = std::get_if<array>(&value);
    return source != nullptr && source->storage() == target.storage() && target.ndim() != 0 &&
           source->offset() == target.offset() && source->shape() == target.shape() &&
           source->strides() == target.strides() && source->dtype() == target.dtype();
}

}  // namespace

array copy(const array& input, char order) { return copy_as(input, input.dtype(), order); }

array astype(const array& input, DType dtype, char order, Casting casting, bool copy) {
    if (FloatWatch watch; watch) return watched_astype(watch, input, dtype, order, casting, copy);
    check_cast(input, dtype, casting);
    const bool layout_fits = order == 'K' || order == 'A' || (order == 'C' && input.c_contiguous()) ||
                             (order == 'F' && input.f_contiguous());
    if (!copy && dtype == input.dtype() && layout_fits) return input;
    return copy_as(input, dtype, order);
}

void assign(const array& target, const Argument& value, Casting casting) {
    if (FloatWatch watch; watch) {
        watched_assign(watch, target, value, {}, casting);
        return;
    }
    if (is_itself(target, value)) return;
    if (!target.writeable()) throw ValueError("assignment destination is read-only");
    write_and_compute(target, value_operand(value, target, casting),
                      is_exported(value) || config().eager.load(std::memory_order_relaxed));
}

void assign_where(const array& target, const Argument& value, const Argument& where, Casting casting) {
    if (FloatWatch watch; watch) {
        watched_assign(watch, target, value, where, casting);
        return;
    }
    const bool itself = is_itself(target, value);
    if (!target.writeable() && !itself) throw ValueError("assignment destination is read-only");
    Argument mask = where;
    if (const auto* given = std::get_if<array>(&where)) {
        if (!given->dtype().is_bool()) {
            throw TypeError("Cannot cast array data from dtype('" + std::string(given->dtype().name()) +
                            "') to dtype('bool') according to the rule 'safe'");
        }
        check_stored_cast(value, target.dtype(), casting);
        if (!can_broadcast(given->shape(), target.shape())) {
            throw ValueError("could not broadcast where mask from shape " + shape_text(given->shape()) +
                             " into shape " + shape_text(target.shape()));
        }
    } else {
        mask = std::holds_alternative<bool>(where) ? where : Argument(true);
        if (const auto* truth = std::get_if<bool>(&mask); truth != nullptr && *truth) {
            assign(target, value, casting);
            return;
        }
        check_stored_cast(value, target.dtype(), casting);
    }
    if (itself) return;
    array converted;
    if (const auto* given = std::get_if<array>(&value)) {
        const array input = without_leading_ones(*given, target.ndim());
        if (!can_broadcast(input.shape(), target.shape())) {
            throw ValueError("could not broadcast input array from shape " + shape_text(given->shape()) +
                             " into shape " + shape_text(target.shape()));
        }
        converted = input.dtype() == target.dtype() ? input : astype(input, target.dtype());
    } else {
        converted = scalar(target.dtype(), constant_bytes(value, target.dtype()).data());
    }
    const DeviceScope scope(device_of(target));
    const Argument inputs[3] = {mask, converted, target};
    assign(target, call(op_info(OpId::kSelect), inputs)[0], Casting::kUnsafe);
}

// The memory order of joined arrays: as k_order_strides, but an axis that repeats counts as the smallest
// stride.
Dims joined_strides(const Dims& shape, std::span<const array> parts, int64_t itemsize) {
    std::vector<size_t> axes(shape.size());  // outermost first
    std::iota(axes.begin(), axes.end(), size_t{0});
    for (size_t i = 1; i < axes.size(); ++i) {
        const size_t axis = axes[i];
        size_t position = i;
        for (size_t j = i; j-- > 0;) {
            bool decided = false, swap = false;
            for (const array& part : parts) {
                if (part.shape()[axis] == 1 || part.shape()[axes[j]] == 1) continue;
                if (std::abs(part.strides()[axis]) <= std::abs(part.strides()[axes[j]])) {
                    swap = false;  // between parts that disagree, C order wins
                } else if (!decided) {
                    swap = true;
                }
                decided = true;
            }
            if (!decided) continue;
            if (!swap) break;
            position = j;
        }
        axes.erase(axes.begin() + static_cast<std::ptrdiff_t>(i));
        axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(position), axis);
    }
    const std::vector<int> innermost_first(axes.rbegin(), axes.rend());
    return strides_by_order(shape, innermost_first, itemsize);
}

namespace {

// Copies few host-resident elements one part after the other, which is what joins them where all parts and
// the result lie in C order and no axis comes before. False: nothing was done.
bool try_join(std::span<const array> parts, size_t along, const array& result) {
    if (parts.size() > StorageLocks::kMost || !is_small(result.size()) || !result.c_contiguous())
        return false;
    for (size_t d = 0; d < along; ++d) {
        if (result.shape()[d] != 1) return false;
    }
    StorageLocks locks;
    for (const array& part : parts) {
        if (!(part.dtype() == result.dtype()) || !part.c_contiguous()) return false;
        locks.add(*part.storage());
    }
    locks.lock();
    if (!locks.all_host_resident()) return false;
    char* to = result.storage()->current.buffer->data();
    for (const array& part : parts) {
        const auto bytes = static_cast<size_t>(part.nbytes());
        if (bytes == 0) continue;
        std::memcpy(to, part.storage()->current.buffer->data() + part.offset(), bytes);
        to += bytes;
    }
    return true;
}

}  // namespace

array concatenate(std::span<const array> inputs, std::optional<int64_t> axis, std::optional<DType> dtype,
                  Casting casting, const array& out) {
    if (inputs.empty()) throw ValueError("need at least one array to concatenate");
    if (out.valid() && dtype) {
        throw TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.");
    }
    std::vector<array> parts(inputs.begin(), inputs.end());
    if (!axis) {
        for (array& part : parts) part = ravel(part, 'C');
    }
    const int ndim = parts[0].ndim();
    if (ndim == 0) throw ValueError("zero-dimensional arrays cannot be concatenated");
    const auto along = static_cast<size_t>(normalize_axis(axis.value_or(0), ndim));
    Dims shape = parts[0].shape();
    std::vector<OperandType> types;
    for (size_t k = 0; k < parts.size(); ++k) {
        types.emplace_back(parts[k].dtype());
        if (k == 0) continue;
        if (parts[k].ndim() != ndim) {
            throw ValueError(
                "all the input arrays must have same number of dimensions, but the array at index 0 has " +
                std::to_string(ndim) + " dimension(s) and the array at index " + std::to_string(k) + " has " +
                std::to_string(parts[k].ndim()) + " dimension(s)");
        }
        for (size_t d = 0; d < shape.size(); ++d) {
            if (d == along) continue;
            if (parts[k].shape()[d] != shape[d]) {
                throw ValueError(
                    "all the input array dimensions except for the concatenation axis must match "
                    "exactly, but along dimension " +
                    std::to_string(d) + ", the array at index 0 has size " + std::to_string(shape[d]) +
                    " and the array at index " + std::to_string(k) + " has size " +
                    std::to_string(parts[k].shape()[d]));
            }
        }
        if (__builtin_add_overflow(shape[along], parts[k].shape()[along], &shape[along]))
            throw_impossible_shape(shape);
    }
    const DType type = dtype.value_or(out.valid() ? out.dtype() : result_type(types));
    for (const array& part : parts) check_cast(part, type, casting);
    array result = out;
    if (out.valid()) {
        if (out.shape() != shape) throw ValueError("Output array is the wrong shape");
        if (!out.writeable()) throw ValueError("output array is read-only");
    } else {
        const int64_t bytes = checked_bytes(shape, type);
        for (const array& part : parts) check_same_device(parts[0], part);
        result = array_of(device_of(parts[0]).allocate(static_cast<size_t>(bytes)), type, shape,
                          joined_strides(shape, parts, type.itemsize()));
        if (!float_errors_watched() && try_join(parts, along, result)) return result;
    }
    int64_t begin = 0;
    std::vector<Index> position(shape.size(), Slice{});
    for (const array& part : parts) {
        const int64_t length = part.shape()[along];
        position[along] = Slice{begin, begin + length, {}};
        assign(index(result, position), part, casting);
        begin += length;
    }
    return result;
}

array stack(std::span<const array> inputs, int64_t axis, std::optional<DType> dtype, Casting casting,
            const array& out) {
    if (inputs.empty()) throw ValueError("need at least one array to stack");
    std::vector<array> parts;
    const int where = normalize_axis(axis, inputs[0].ndim() + 1);
    for (const array& input : inputs) {
        if (input.shape() != inputs[0].shape()) throw ValueError("all input arrays must have the same shape");
        parts.push_back(expand_dims(input, Dims{where}));
    }
    return concatenate(parts, where, dtype, casting, out);
}

}  // namespace weft
