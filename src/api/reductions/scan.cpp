// Running results: axis, dtypes and errors now; eager work when small, else a node.
#include <algorithm>

#include "api/elementwise/float_errors.h"
#include "api/recording/record.h"
#include "core/shape.h"
#include "execution/evaluate.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "graph/storage_locks.h"
#include "library/loops/scan_order.h"
#include "ops/defined.h"
#include "ops/resolve.h"
#include "weft/ops.h"

namespace weft {

namespace {

const LoopInfo* uniform_loop(const OpInfo& op, DType dtype) {
    const ScalarType types[2] = {dtype.scalar_type(), dtype.scalar_type()};
    const LoopInfo* loop = find_loop(op, types);
    if (loop == nullptr || loop->types[2] != loop->types[0]) return nullptr;
    prepare_loop(op, *loop);
    return loop;
}

bool widens_integers(const OpInfo& op) { return op.id == OpId::kAdd || op.id == OpId::kMultiply; }

// The loop that NumPy would run: all of its operands have one type. `out` counts as an operand.
const LoopInfo& loop_for(const OpInfo& op, DType input, std::optional<DType> dtype, const array& out) {
    const std::string name(op.numpy_name);
    if (!dtype && op.kind == OpKind::kLogical) dtype = ScalarType::kBool;
    if (!dtype && op.kind == OpKind::kComparison && input.is_bool()) dtype = input;
    if (!dtype && out.valid()) input = promote_types(input, out.dtype());
    if (!dtype && !out.valid() && widens_integers(op)) {
        dtype = input;
        if (input.is_bool() || input.is_signed_integer()) dtype = ScalarType::kInt64;
        if (input.is_unsigned_integer()) dtype = ScalarType::kUInt64;
    }
    const LoopInfo* loop = uniform_loop(op, dtype.value_or(input));
    if (loop == nullptr && !dtype && op.kind != OpKind::kComparison) {
        const OperandType operands[] = {input, input};
        const LoopInfo& resolved = resolve_loop(op, operands);
        if (resolved.types[1] != resolved.types[0] || resolved.types[2] != resolved.types[0]) {
            std::string types;
            for (size_t k = 0; k < 3; ++k)
                types +=
                    (k == 0 ? "dtype('" : ", dtype('") + std::string(DType(resolved.types[k]).name()) + "')";
            throw TypeError("the resolved dtypes are not compatible with " + name +
                            ".accumulate. Resolved (" + types + ")");
        }
        loop = &resolved;
    }
    if (loop == nullptr)
        throw TypeError("No loop matching the specified signature and casting was found for ufunc " + name);
    return *loop;
}

void check_out(const array& out, const array& input) {
    if (out.shape() != input.shape()) {
        throw ValueError("operands could not be broadcast together with shapes " + shape_text(out.shape()) +
                         " " + shape_text(input.shape()));
    }
    if (!out.writeable()) throw ValueError("output array is read-only");
}

void check_exponents(const OpInfo& op, const LoopInfo& loop, const array& input, size_t axis) {
    if (!op.flags.checks_negative_exponent || !DType(loop.types[0]).is_signed_integer()) return;
    if (input.size() == 0 || input.shape()[axis] < 2) return;
    std::vector<Index> later(input.shape().size(), Slice{});
    later[axis] = Slice{1, std::nullopt, std::nullopt};
    const array least = reduce("min", index(input, later));
    int64_t value = 0;
    read_element(astype(least, ScalarType::kInt64), {}, &value);
    if (value < 0) throw ValueError("Integers to negative integer powers are not allowed.");
}

}  // namespace

array accumulate(const OpInfo& op, const array& input, int64_t axis, const AccumulateOptions& options) {
    if (FloatWatch watch; watch) return watched_accumulate(watch, op, input, axis, options);
    if (op.nin != 2) throw ValueError("accumulate only supported for binary functions");
    if (op.nout != 1) throw ValueError("accumulate only supported for functions returning a single value");
    if (input.ndim() == 0) throw TypeError("cannot accumulate on a scalar");
    const auto along = static_cast<size_t>(normalize_axis(axis, input.ndim()));
    const LoopInfo* loop = &loop_for(op, input.dtype(), options.dtype, options.out);
    const DType result_dtype = loop->types[2];
    // Running sums and products of 16-bit floats are float32's, each rounded once.
    if (widens_integers(op) && result_dtype.is_half_float())
        loop = uniform_loop(op, result_dtype.accumulator());
    if (options.out.valid()) check_out(options.out, input);
    check_exponents(op, *loop, input, along);

    const Dims* const operand_strides[1] = {&input.strides()};
    NodeResult info;
    info.dtype = result_dtype;
    info.bytes = checked_bytes(input.shape(), result_dtype);
    info.strides = k_order_strides(input.shape(), operand_strides, result_dtype.itemsize());
    array result;
    if (input.size() == 0) {
        const DeviceScope scope(device_of(input));
        result = empty(input.shape(), result_dtype);
    } else if (is_small(input.size())) {
        StorageLocks locks;
        locks.add(*input.storage());
        locks.lock();
        if (locks.all_host_resident()) {
            BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(info.bytes));
            const StridedData from{input.storage()->current.buffer->data() + input.offset(), &input.strides(),
                                   input.dtype().scalar_type()};
            scan_eagerly(op, *loop, input.shape(), along, from,
                         {buffer->data(), &info.strides, result_dtype.scalar_type()});
            result = array_of(std::move(buffer), result_dtype, input.shape(), info.strides);
        }
    }
    NodePtr node;
    if (!result.valid()) {
        Operand operand = read_operand(input, input.shape());
        node = new_node();
        node->become(NodeKind::kScan);
        node->device = &device_of(input);
        node->op = &op;
        node->loop = static_cast<int>(loop - op.loops.data());
        node->shape = input.shape();
        node->inputs.push_back(std::move(operand));
        node->scan().compute = loop->types[0];
        node->scan().axis = along;
        node->results.push_back(std::move(info));
        result = array_of(node, 0, input.shape());
    }
    if (options.out.valid()) {
        assign(options.out, result, Casting::kUnsafe);
        if (node && is_exported(input)) evaluate({&node, 1});
        return options.out;
    }
    if (node) {
        recorded(node);
        if (is_exported(input)) evaluate({&node, 1});
    }
    return result;
}

}  // namespace weft
