#include "api/elementwise/call.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "api/elementwise/float_errors.h"
#include "api/fast/fast_call.h"
#include "api/fast/power_shortcuts.h"
#include "api/fast/serial_work.h"
#include "api/recording/deferred_checks.h"
#include "api/recording/record.h"
#include "api/recording/record_fast.h"
#include "api/recording/transfer.h"
#include "api/recording/write.h"
#include "core/config.h"
#include "core/shape.h"
#include "execution/evaluate.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "graph/storage_locks.h"
#include "library/loops/strided_loops.h"
#include "ops/resolve.h"

namespace weft {

namespace {

// What a call has of its own, and what the steps of call_general find out about it, in this order.
struct Call {
    const OpInfo& op;
    std::span<const Argument> inputs;
    const CallOptions& options;
    std::span<const array> out;  // none for the values that where= chooses from
    const LoopInfo* loop = nullptr;
    char order = 'K';
    std::array<ScalarBytes, kMaxOperands> constants =
        {};  // of inputs that are Python scalars, in the loop's type
    Dims shape = {};
    DeviceBackend* device = nullptr;
    PoisonPtr poison = nullptr;  // of what was not checked
};
using Results = std::optional<std::vector<array>>;  // nothing: the next step has its turn

const array* array_input(const Argument& argument) { return std::get_if<array>(&argument); }

bool has_out(const Call& call, size_t index) { return index < call.out.size() && call.out[index].valid(); }

void decide_device(Call& call) {
    const array* arrays[2 * kMaxOperands];
    size_t count = 0;
    for (const Argument& input : call.inputs) {
        if (const array* operand = array_input(input)) arrays[count++] = operand;
    }
    for (size_t k = 0; k < call.op.nout; ++k) {
        if (has_out(call, k)) arrays[count++] = &call.out[k];
    }
    call.device = &common_device({arrays, count});
    for (size_t k = 0; k < call.op.nout; ++k) {  // without dimensions they stay where they are
        if (has_out(call, k) && &device_of(call.out[k]) != call.device)
            throw ValueError("the output is on " + device_of(call.out[k]).name() +
                             ", but the operation runs on " + call.device->name());
    }
}

void decide_shape(Call& call) {
    const Dims* shapes[kMaxOperands];
    size_t count = 0;
    for (const Argument& input : call.inputs) {
        if (const array* operand = array_input(input)) shapes[count++] = &operand->shape();
    }
    bool same = count != 0;
    for (size_t k = 1; k < count; ++k) same &= *shapes[k] == *shapes[0];
    if (same) {
        call.shape = *shapes[0];
    } else {
        call.shape = broadcast_shapes({shapes, count});
    }
    if (call.out.empty()) return;
    // With outputs, scalars take part: messages name their shapes.
    const Dims none{};
    count = 0;
    for (const Argument& input : call.inputs) {
        const array* operand = array_input(input);
        shapes[count++] = operand != nullptr ? &operand->shape() : &none;
    }
    const size_t input_count = count;
    for (size_t k = 0; k < call.op.nout; ++k) {
        if (has_out(call, k)) shapes[count++] = &call.out[k].shape();
    }
    if (count == input_count) return;
    const Dims full = broadcast_shapes({shapes, count});
    for (size_t k = input_count; k < count; ++k) {
        if (*shapes[k] == full) continue;
        throw ValueError("non-broadcastable output operand with shape " + shape_text(*shapes[k]) +
                         " doesn't match the broadcast shape " + shape_text(full));
    }
    call.shape = full;
}

// Integer powers by negative exponents are errors that depend on values: inspect them now.
void check_exponents(Call& call) {
    const DType type = call.loop->types[1];
    if (!type.is_signed_integer()) return;
    bool negative = false;
    if (const auto* integer = std::get_if<Integer>(&call.inputs[1])) {
        negative = integer->negative && integer->magnitude != 0 && element_count(call.shape) != 0;
    } else if (const array* exponents = array_input(call.inputs[1])) {
        if (!exponents->dtype().is_signed_integer() || exponents->size() == 0) return;
        const array smallest = reduce("min", *exponents);
        if (defers_checks(device_of(*exponents)) && element_count(call.shape) != 0) {
            call.poison = defer({.least = smallest,
                                 .largest = array(),
                                 .low = 0,
                                 .kind = ErrorKind::kValueError,
                                 .message = "Integers to negative integer powers are not allowed."});
            return;
        }
        int64_t value = 0;
        const array wide = astype(smallest, ScalarType::kInt64);
        read_element(wide, {}, &value);
        negative = value < 0 && element_count(call.shape) != 0;
    }
    if (negative) throw ValueError("Integers to negative integer powers are not allowed.");
}

// order='A': Fortran's where all arrays are in it, of one dimension or in C's, too, or not.
bool all_in_fortran_order(const Call& call) {
    return std::ranges::all_of(call.inputs, [](const Argument& input) {
        const array* operand = array_input(input);
        return operand == nullptr || operand->f_contiguous();
    });
}

// Loops are found by safe casts: a rule that is narrower yet is asked here.
void check_input_casts(const Call& call, Casting casting) {
    if (casting != Casting::kNo && casting != Casting::kEquiv) return;
    if (call.op.kind == OpKind::kLogical) return;  // they ask for truth, which is no cast
    for (size_t k = 0; k < call.inputs.size(); ++k) {
        const array* operand = array_input(call.inputs[k]);
        const DType wanted(call.loop->types[k]);
        if (operand == nullptr || can_cast(operand->dtype(), wanted, casting)) continue;
        throw UFuncTypeError("Cannot cast ufunc '" + std::string(call.op.numpy_name) + "' input " +
                             (call.op.nin > 1 ? std::to_string(k) + " " : "") + "from dtype('" +
                             std::string(operand->dtype().name()) + "') to dtype('" +
                             std::string(wanted.name()) + "') with casting rule '" +
                             std::string(casting_name(casting)) + "'");
    }
}

// With dtype=, NumPy converts Python's integers before it asks whether the other operands may be cast.
void check_integers_fit(const OpInfo& op, std::span<const Argument> inputs, DType output) {
    const auto loop = std::ranges::find_if(op.loops, [&](const LoopInfo& candidate) {
        return op.output_types(candidate)[0] == output.scalar_type();
    });
    if (loop == op.loops.end()) return;
    for (size_t k = 0; k < inputs.size(); ++k) {
        if (std::holds_alternative<Integer>(inputs[k])) constant_bytes(inputs[k], loop->types[k]);
    }
}

void decide_loop(Call& call) {
    const OpInfo& op = call.op;
    std::array<OperandType, kMaxOperands> types = filled_types<kMaxOperands>();
    for (size_t k = 0; k < call.inputs.size(); ++k) types[k] = operand_type(call.inputs[k]);
    for (const array& out : call.out) {
        if (out.valid() && !out.writeable()) throw ValueError("output array is read-only");
    }
    const std::span<const OperandType> operand_types{types.data(), op.nin};
    const std::optional<DType>& dtype = call.options.dtype;
    if (dtype && op.nin > 1) check_integers_fit(op, call.inputs, *dtype);
    call.loop = dtype ? &resolve_loop(op, operand_types, dtype, call.options.casting)
                      : &find_loop_cached(op, operand_types);
    check_input_casts(call, call.options.casting);
}

void decide_order(Call& call) {
    call.order = call.options.order;
    if (call.order == 'A') call.order = all_in_fortran_order(call) ? 'F' : 'C';
}

// array < 300 compares by value even where 300 does not fit the array's dtype.
Results compare_beyond_range(const Call& call) {
    if (call.op.kind != OpKind::kComparison || call.op.nin != 2) return std::nullopt;
    for (size_t k = 0; k < 2; ++k) {
        const auto* integer = std::get_if<Integer>(&call.inputs[k]);
        const array* other = array_input(call.inputs[1 - k]);
        if (integer == nullptr || other == nullptr || !other->dtype().is_integer()) continue;
        const std::optional<bool> answer =
            compare_with_out_of_range(call.op.id, wide_integer(*integer), other->dtype(), k == 0);
        if (!answer) continue;
        const array constant = call_binary(op_info(OpId::kEqual), *other, *other);  // for its memory order
        assign(constant, Argument(*answer));
        if (call.out.empty() && !call.options.where) return std::vector{constant};
        const Argument replaced[2] = {Argument(constant), Argument(true)};
        return weft::call(op_info(OpId::kEqual), replaced, call.options);
    }
    return std::nullopt;
}

void convert_constants(Call& call) {
    for (size_t k = 0; k < call.inputs.size(); ++k) {
        if (array_input(call.inputs[k]) == nullptr)
            call.constants[k] = constant_bytes(call.inputs[k], call.loop->types[k]);
    }
}

void check_output_casts(const Call& call) {
    for (size_t k = 0; k < call.op.nout; ++k) {
        if (has_out(call, k)) {
            check_output_cast(call.op, static_cast<int>(k), call.loop->types[call.op.nin + k],
                              call.out[k].dtype(), call.options.casting);
        }
    }
}

// The mask of where= takes part in broadcasting, after the operands.
void widen_to_mask(Call& call) {
    Dims mask_shape;
    if (const array* mask = array_input(*call.options.where)) mask_shape = mask->shape();
    const Dims* shapes[2] = {&call.shape, &mask_shape};
    const Dims full_shape = broadcast_shapes(shapes);
    for (size_t k = 0; k < call.op.nout; ++k) {
        if (has_out(call, k) && call.out[k].shape() != full_shape) {
            throw ValueError("non-broadcastable output operand with shape " +
                             shape_text(call.out[k].shape()) + " doesn't match the broadcast shape " +
                             shape_text(full_shape));
        }
    }
    call.shape = full_shape;
}

// Powers by some exponents are other operations (api/fast/power_shortcuts.h).
Results call_short_power(const Call& call) {
    if (call.op.id != OpId::kPower) return std::nullopt;
    const std::optional<StrengthReducedPower> shorter =
        strength_reduced_power(call.op, call.loop->types[0], call.inputs[0], call.inputs[1]);
    if (!shorter) return std::nullopt;
    CallOptions as_power = call.options;
    as_power.dtype = call.loop->types[0];
    const array* base = array_input(call.inputs[0]);
    const bool widens = base != nullptr && static_cast<size_t>(base->ndim()) < call.shape.size();
    const Argument operand = widens ? Argument(broadcast_to(*base, call.shape)) : call.inputs[0];
    if (!shorter->times_base) return weft::call(*shorter->op, {&operand, 1}, as_power);
    CallOptions between;
    between.dtype = as_power.dtype;
    between.casting = call.options.casting;
    const Argument both[2] = {weft::call(*shorter->op, {&operand, 1}, between).front(), operand};
    return weft::call(op_info(OpId::kMultiply), both, as_power);
}

StridedData strided(char* base, const array& input, const Dims& strides) {
    return {base + input.offset(), &strides, input.dtype().scalar_type()};
}

bool uses_exported(const Call& call) {
    return std::any_of(call.inputs.begin(), call.inputs.end(), [&](const Argument& input) {
        const array* operand = array_input(input);
        return operand != nullptr && is_exported(*operand);
    });
}

// Whether it is one row for all operands, and new memory takes the result.
bool is_one_row(const Call& call) {
    const array* layout_operand = nullptr;
    for (const Argument& input : call.inputs) {
        const array* operand = array_input(input);
        if (operand == nullptr || operand->ndim() == 0) continue;
        if (layout_operand == nullptr) layout_operand = operand;
        if (!lies_as(*operand, *layout_operand)) return false;
    }
    return layout_operand != nullptr && call.out.empty() && layout_operand->shape() == call.shape &&
           (layout_operand->c_contiguous() || layout_operand->f_contiguous());
}

// A call that runs now, with its storages locked: where its operands are, and where its results go.
class SmallCall {
public:
    explicit SmallCall(const Call& call) : call_(call) {}

    // False where something is not host-resident, or an output cannot be written in place.
    bool lock() {
        for (const Argument& input : call_.inputs) {
            if (const array* operand = array_input(input)) locks_.add(*operand->storage());
        }
        for (size_t k = 0; k < call_.op.nout; ++k) {
            if (has_out(call_, k)) locks_.add(*call_.out[k].storage());
        }
        locks_.lock();
        if (!locks_.all_host_resident()) return false;
        for (size_t k = 0; k < call_.op.nout; ++k) {
            if (!has_out(call_, k)) continue;
            Storage& storage = *call_.out[k].storage();
            if (!storage.exported() && !has_references(storage.current.buffer, 1)) return false;
            storage.forget();
            for (size_t j = 0; j < k; ++j) {
                if (has_out(call_, j) && call_.out[j].storage() == call_.out[k].storage()) return false;
            }
        }
        return true;
    }

    void find_inputs() {
        for (size_t k = 0; k < call_.op.nin; ++k) {
            const array* operand = array_input(call_.inputs[k]);
            if (operand == nullptr) {
                strides_[k] = Dims(call_.shape.size());
                operands_[k] = {const_cast<char*>(reinterpret_cast<const char*>(call_.constants[k].data())),
                                &strides_[k], call_.loop->types[k]};
                continue;
            }
            const bool same_shape = operand->shape() == call_.shape;
            if (!same_shape)
                strides_[k] = broadcast_strides(operand->shape(), operand->strides(), call_.shape);
            const Dims* used = same_shape ? &operand->strides() : &strides_[k];
            operands_[k] = strided(operand->storage()->current.buffer->data(), *operand, *used);
            array_strides_[array_count_++] = used;
        }
    }

    void find_outputs() {
        for (size_t k = 0; k < call_.op.nout; ++k) {
            if (has_out(call_, k)) {
                const array& out = call_.out[k];
                out.storage()->current.buffer->set_known_border(nullptr);
                operands_[call_.op.nin + k] =
                    strided(out.storage()->current.buffer->data(), out, out.strides());
                through_copy_[k] = overwrites_inputs(out);
                if (!through_copy_[k]) continue;
            }
            make_result(k);
        }
    }

    void run() {
        run_strided_loop(call_.op, *call_.loop, call_.shape,
                         {operands_.data(), size_t{call_.op.nin} + call_.op.nout});
    }

    std::vector<array> finish() {
        std::vector<array> finished;
        size_t fresh = 0;
        for (size_t k = 0; k < call_.op.nout; ++k) {
            if (!has_out(call_, k)) {
                finished.push_back(std::move(fresh_[fresh++]));
                continue;
            }
            const array& out = call_.out[k];
            if (through_copy_[k]) {
                copy_eagerly(call_.shape, operands_[call_.op.nin + k],
                             strided(out.storage()->current.buffer->data(), out, out.strides()));
                ++fresh;
            }
            finished.push_back(out);
        }
        return finished;
    }

private:
    // Whether an input would not be read any more as it is now.
    bool overwrites_inputs(const array& out) const {
        bool overwrites = false;
        for (size_t j = 0; j < call_.op.nin; ++j) {
            const array* input = array_input(call_.inputs[j]);
            if (input == nullptr || input->storage() != out.storage()) continue;
            const bool identical = input->offset() == out.offset() &&
                                   *operands_[j].strides == out.strides() && input->dtype() == out.dtype();
            overwrites |=
                !identical &&
                views_overlap({&call_.shape, &out.strides(), out.offset(), out.itemsize()},
                              {&call_.shape, operands_[j].strides, input->offset(), input->itemsize()});
            // Two results are computed together: the first must not overwrite what the second reads.
            overwrites |= call_.op.nout > 1;
        }
        return overwrites;
    }

    void make_result(size_t k) {
        const size_t position = call_.op.nin + k;
        const DType dtype = call_.loop->types[position];
        const int64_t bytes = checked_bytes(call_.shape, dtype);
        if (call_.order == 'F') {
            strides_[position] = f_strides(call_.shape, dtype.itemsize());
        } else if (call_.order == 'C') {
            strides_[position] = c_strides(call_.shape, dtype.itemsize());
        } else {
            strides_[position] =
                k_order_strides(call_.shape, {array_strides_.data(), array_count_}, dtype.itemsize());
        }
        BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(bytes));
        operands_[position] = {buffer->data(), &strides_[position], dtype.scalar_type()};
        fresh_.push_back(array_of(std::move(buffer), dtype, call_.shape, strides_[position]));
    }

    const Call& call_;
    StorageLocks locks_;
    std::array<StridedData, kMaxOperands> operands_;
    std::array<Dims, kMaxOperands> strides_;
    std::array<const Dims*, kMaxOperands> array_strides_;
    size_t array_count_ = 0;
    std::array<bool, kMaxOperands> through_copy_{};  // results
    std::vector<array> fresh_;  // results without an output, or that come to theirs by a copy
};

// Runs the call now when all values are host-resident and few; nothing when it must be recorded.
Results run_small(const Call& call) {
    const int64_t count = element_count(call.shape);
    if (!call.device->is_cpu() ||
        !(is_small(count) ||
          (uses_exported(call) && is_below_serial_cutoff(&call.op, count) && is_one_row(call))))
        return std::nullopt;
    SmallCall small(call);
    if (!small.lock()) return std::nullopt;
    small.find_inputs();
    small.find_outputs();
    if (count != 0) small.run();
    return small.finish();
}

Operand operand_of(const Call& call, size_t index) {
    if (const array* operand = array_input(call.inputs[index])) {
        if (&device_of(*operand) == call.device) [[likely]]
            return read_operand(*operand, call.shape);
        return moved_operand(*operand, *call.device, call.loop->types[index], call.shape);
    }
    return constant_operand(call.constants[index], call.loop->types[index], call.shape);
}

NodePtr make_node(const Call& call) {
    Operands operands;
    for (size_t k = 0; k < call.op.nin; ++k) operands.push_back(operand_of(call, k));
    DType dtypes[kMaxOperands];
    for (size_t k = 0; k < call.op.nout; ++k) dtypes[k] = call.loop->types[call.op.nin + k];
    NodePtr node =
        make_elementwise(&call.op, static_cast<int>(call.loop - call.op.loops.data()), std::move(operands),
                         call.shape, {dtypes, call.op.nout}, nullptr, call.device);
    node->poison = call.poison;
    if (call.order == 'C' || call.order == 'F') {
        for (NodeResult& result : node->results) {
            const int64_t itemsize = result.dtype.itemsize();
            result.strides =
                call.order == 'C' ? c_strides(call.shape, itemsize) : f_strides(call.shape, itemsize);
        }
    }
    return node;
}

Operand result_operand(const NodePtr& node, uint32_t index) {
    Operand operand;
    operand.source.node = node;
    operand.source.result = index;
    operand.dtype = node->results[index].dtype;
    operand.strides = node->results[index].strides;
    return operand;
}

// Elements where `mask` is false keep what `out` (or a new array of zeros) holds.
array call_where(const Argument& mask, const array& value, const array& out) {
    const DeviceScope scope(device_of(value));
    const array target = out.valid() ? out : full(value.shape(), Integer(0), value.dtype());
    assign_where(target, value, mask, Casting::kUnsafe);
    return target;
}

std::vector<array> run_or_record_where(Call& call) {
    const std::span<const array> out = std::exchange(call.out, {});
    std::vector<array> results;
    if (Results now = run_small(call)) {
        results = *std::move(now);
    } else {
        const NodePtr node = make_node(call);
        for (uint32_t k = 0; k < call.op.nout; ++k) results.push_back(array_of(node, k, call.shape));
        recorded(node);
        if (uses_exported(call)) evaluate({&node, 1});
    }
    for (size_t k = 0; k < call.op.nout; ++k)
        results[k] = call_where(*call.options.where, results[k], k < out.size() ? out[k] : array());
    return results;
}

std::vector<array> run_or_record(const Call& call) {
    if (Results results = run_small(call)) return *std::move(results);
    std::vector<array> results;
    const NodePtr node = make_node(call);
    const bool now = uses_exported(call);
    const bool may_fail = now || call.op.nout > 1 || config().eager.load(std::memory_order_relaxed);
    WriteUndo undo(call.op.nout > 1);  // all results are written or none
    for (uint32_t k = 0; k < call.op.nout; ++k) {
        if (has_out(call, k)) {
            write(call.out[k], result_operand(node, k), may_fail ? &undo : nullptr);
            results.push_back(call.out[k]);
        } else {
            results.push_back(array_of(node, k, call.shape));
        }
    }
    recorded(node);
    if (now) evaluate({&node, 1});
    undo.succeeded();
    return results;
}

bool convert_operand(const Argument& argument, GivenOperand& operand) {
    if (const array* value = array_input(argument)) {
        operand.set(*value);
    } else if (const auto* integer = std::get_if<Integer>(&argument)) {
        if (integer->huge || integer->magnitude > INT64_MAX) return false;
        const auto magnitude = static_cast<int64_t>(integer->magnitude);
        operand.set(WeakKind::kInt, integer->negative ? -magnitude : magnitude);
    } else if (const auto* real = std::get_if<double>(&argument)) {
        operand.set(WeakKind::kFloat, *real);
    } else if (const auto* truth = std::get_if<bool>(&argument)) {
        operand.set(ScalarType::kBool, *truth);
    } else {
        operand.set(WeakKind::kComplex, std::get<std::complex<double>>(argument));
    }
    return true;
}

// A call with default options, or one with out= alone, by the fast path.
bool try_fast_paths(const OpInfo& op, std::span<const Argument> inputs, const array* out, array& result) {
    constexpr size_t kMost = 3;
    if (op.nout != 1 || inputs.size() > kMost) return false;
    GivenOperand operands[kMost];
    for (size_t k = 0; k < inputs.size(); ++k) {
        if (!convert_operand(inputs[k], operands[k])) return false;
    }
    const std::span<GivenOperand> given(operands, inputs.size());
    if (out == nullptr) return record_call(op, given, result) || try_call(op, given, result);
    if (!out->valid() || !try_call_into(op, given, *out)) return false;
    result = *out;
    return true;
}

}  // namespace

std::vector<array> call(const OpInfo& op, std::span<const Argument> inputs, const CallOptions& options) {
    WEFT_CHECK(inputs.size() == op.nin, std::string(op.name));
    if (FloatWatch watch; watch) return watched_call(watch, op, inputs, options);
    if (const auto* integer = op.nin == 1 ? std::get_if<Integer>(&inputs[0]) : nullptr) {
        // Among itself a Python integer is the array that it would make: of int64, or of uint64.
        if (integer->huge)
            throw TypeError("ufunc '" + std::string(op.numpy_name) +
                            "' does not support Python integers of more than 64 bits");
        const bool fits = python_int_fits(wide_integer(*integer), ScalarType::kInt64);
        const Argument converted = from_argument(*integer, fits ? ScalarType::kInt64 : ScalarType::kUInt64);
        return weft::call(op, {&converted, 1}, options);
    }
    if (!options.where && !options.dtype && options.order == 'K' && options.casting == Casting::kSameKind &&
        options.out.size() <= 1) {
        array result;
        if (try_fast_paths(op, inputs, options.out.empty() ? nullptr : options.out.data(), result))
            return {std::move(result)};
    }
    return call_general(op, inputs, options);
}

std::vector<array> call_general(const OpInfo& op, std::span<const Argument> inputs,
                                const CallOptions& options) {
    Call call{op, inputs, options, options.out};
    decide_loop(call);
    decide_order(call);
    if (Results compared = compare_beyond_range(call)) return *std::move(compared);
    convert_constants(call);
    check_output_casts(call);  // before the shapes are checked, as in NumPy
    decide_shape(call);
    decide_device(call);
    if (options.where) widen_to_mask(call);
    if (op.flags.checks_negative_exponent) check_exponents(call);
    if (Results power = call_short_power(call)) return *std::move(power);
    return options.where ? run_or_record_where(call) : run_or_record(call);
}

array call_unary(const OpInfo& op, const Argument& input) { return call(op, {&input, 1})[0]; }

array call_binary(const OpInfo& op, const Argument& left, const Argument& right) {
    const Argument inputs[2] = {left, right};
    return call(op, inputs)[0];
}

void call_in_place(const OpInfo& op, const array& target, const Argument& right) {
    const Argument inputs[2] = {target, right};
    CallOptions options;
    options.out = {&target, 1};
    call(op, inputs, options);
}

}  // namespace weft
