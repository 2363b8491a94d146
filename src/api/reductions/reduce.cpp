// Reductions: axes, dtypes, identities and errors now; eager work when small, else a node.
#include <algorithm>

#include "api/elementwise/float_errors.h"
#include "api/recording/record.h"
#include "api/reductions/output_check.h"
#include "core/shape.h"
#include "execution/evaluate.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "graph/storage_locks.h"
#include "library/loops/strided_loops.h"
#include "ops/defined.h"
#include "ops/resolve.h"
#include "weft/ops.h"

namespace weft {

namespace {

struct Reduction {
    const ReductionInfo& info;
    DType compute, result;
    std::vector<bool> reduced;
    Dims kept;          // shape of the result without the reduced axes
    Dims kept_strides;  // of the input
    int64_t count = 1;  // elements combined into one
};

std::vector<bool> reduced_axes(const array& input, const std::optional<Dims>& axes) {
    std::vector<bool> reduced(input.shape().size(), !axes);
    if (!axes) return reduced;
    for (const int64_t axis : *axes) {
        if (input.ndim() == 0 && (axis == 0 || axis == -1)) continue;  // NumPy lets a 0-d array have one axis
        const auto d = static_cast<size_t>(normalize_axis(axis, input.ndim()));
        if (reduced[d]) throw ValueError("duplicate value in 'axis'");
        reduced[d] = true;
    }
    return reduced;
}

std::optional<ScalarBytes> identity_bytes(const ReductionInfo& reduction, DType compute) {
    if (const DefinedReduction* defined = defined_reduction(reduction))
        return defined->allows_empty ? std::optional(defined->start.bytes) : std::nullopt;
    switch (op_info(reduction.combine).identity) {
        case Identity::kZero: return constant_bytes(Integer(0), compute);
        case Identity::kOne: return constant_bytes(Integer(1), compute);
        case Identity::kMinusOne:
            if (!compute.is_unsigned_integer()) return constant_bytes(Integer(-1), compute);
            ScalarBytes all_bits;
            all_bits.fill(0xff);
            return all_bits;
        default: return std::nullopt;
    }
}

Dims result_strides(const Reduction& reduction) {
    const Dims* const operand_strides[1] = {&reduction.kept_strides};
    return reduction.info.gives_index
               ? c_strides(reduction.kept, reduction.result.itemsize())
               : k_order_strides(reduction.kept, operand_strides, reduction.result.itemsize());
}

// The reduction of a non-empty input, without initial and where.
array reduce_plain(const Reduction& reduction, const array& input) {
    const int64_t bytes = checked_bytes(reduction.kept, reduction.result);
    Dims strides = result_strides(reduction);
    if (is_small(input.size())) {
        StorageLocks locks;
        locks.add(*input.storage());
        locks.lock();
        if (locks.all_host_resident()) {
            BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(bytes));
            const StridedData from{input.storage()->current.buffer->data() + input.offset(), &input.strides(),
                                   input.dtype().scalar_type()};
            reduce_eagerly(reduction.info, reduction.compute.scalar_type(), input.shape(), reduction.reduced,
                           from, {buffer->data(), &strides, reduction.result.scalar_type()});
            return array_of(std::move(buffer), reduction.result, reduction.kept, std::move(strides));
        }
    }
    Operand operand = read_operand(input, input.shape());
    auto node = new_node();
    node->become(NodeKind::kReduce);
    node->device = &device_of(input);
    node->shape = input.shape();
    node->inputs.push_back(std::move(operand));
    node->reduce().reduction = &reduction.info;
    node->reduce().compute = reduction.compute;
    node->reduce().axes = reduction.reduced;
    NodeResult result;
    result.dtype = reduction.result;
    result.bytes = bytes;
    result.strides = std::move(strides);
    node->results.push_back(std::move(result));
    array values = array_of(node, 0, reduction.kept);
    recorded(node);
    if (is_exported(input)) evaluate({&node, 1});
    return values;
}

array with_kept_axes(const array& result, const std::vector<bool>& reduced) {
    Dims axes;
    for (size_t d = 0; d < reduced.size(); ++d) {
        if (reduced[d]) axes.push_back(static_cast<int64_t>(d));
    }
    const array expanded = expand_dims(result, axes);
    array kept = result;  // an owner, as every result
    kept.set_layout(expanded.shape(), expanded.strides());
    return kept;
}

// `out` is an operand of the fold: what it can hold and the elements cannot is computed so.
std::optional<DType> fold_dtype(const ReductionInfo& info, DType input, const ReduceOptions& options) {
    const bool folds = info.kind == ReductionKind::kWide || info.kind == ReductionKind::kSame;
    if (options.dtype || !options.out.valid() || !folds || options.out.dtype() == input) return options.dtype;
    return promote_types(input, options.out.dtype());
}

ReductionTypes types_of(const ReductionInfo& info, DType input, const ReduceOptions& options) {
    const DefinedReduction* const defined = defined_reduction(info);
    if (defined == nullptr) return resolve_reduction(info.id, input, fold_dtype(info, input, options));
    const LoopInfo& loop = defined->by->loops[0];
    return {loop.types[0], loop.types[0], &loop};
}

}  // namespace

void check_reduction_output(std::string_view operation, const array& out, const Dims& shape) {
    if (out.ndim() != static_cast<int>(shape.size())) {
        throw ValueError("output parameter for reduction operation " + std::string(operation) +
                         " has the wrong number of dimensions: Found " + std::to_string(out.ndim()) +
                         " but expected " + std::to_string(shape.size()));
    }
    if (out.shape() != shape) {
        throw ValueError("non-broadcastable output operand with shape " + shape_text(out.shape()) +
                         " doesn't match the broadcast shape " + shape_text(shape));
    }
    if (!out.writeable()) throw ValueError("output array is read-only");
}

array reduce(const ReductionInfo& info, const array& input, const ReduceOptions& options) {
    if (FloatWatch watch; watch) return watched_reduce(watch, info, input, options);
    const ReductionTypes types = types_of(info, input.dtype(), options);
    Reduction reduction{info, types.compute, types.result, reduced_axes(input, options.axes), {}, {}, 1};
    for (size_t d = 0; d < reduction.reduced.size(); ++d) {
        if (reduction.reduced[d]) {
            reduction.count *= input.shape()[d];
        } else {
            reduction.kept.push_back(input.shape()[d]);
            reduction.kept_strides.push_back(input.strides()[d]);
        }
    }
    if (std::find(input.strides().begin(), input.strides().end(), 0) != input.strides().end()) {
        // Axes that repeat have no place of their own: where sorting all axes leaves them, as NumPy's
        // iterator does.
        const Dims* const strides[1] = {&input.strides()};
        Dims extents = input.shape();  // of which none is 0: all strides would be
        for (int64_t& extent : extents) extent = std::max<int64_t>(extent, 1);
        const Dims ordered = k_order_strides(extents, strides, 1);
        for (size_t d = 0, k = 0; d < reduction.reduced.size(); ++d) {
            if (!reduction.reduced[d]) reduction.kept_strides[k++] = ordered[d];
        }
    }
    const std::string name(info.numpy_name);
    const int64_t results = element_count(reduction.kept);
    if (reduction.count == 0 && info.gives_index) {
        throw ValueError("attempt to get " + std::string(info.name) + " of an empty sequence");
    }
    if (options.out.valid()) {
        const array& out = options.out;
        Dims out_shape;
        for (size_t d = 0; d < reduction.reduced.size(); ++d) {
            if (!reduction.reduced[d]) out_shape.push_back(input.shape()[d]);
            if (reduction.reduced[d] && options.keepdims) out_shape.push_back(1);
        }
        if (info.gives_index && out.ndim() != static_cast<int>(out_shape.size()))
            throw ValueError("output array does not match result of np." + std::string(info.name) + ".");
        check_reduction_output(name, out, out_shape);
    }

    const bool accumulates = info.kind == ReductionKind::kWide;
    if (accumulates && reduction.compute.is_half_float()) {
        // The fold is float32's, rounded once.
        ReduceOptions wide = options;
        wide.dtype = reduction.compute.accumulator();
        wide.out = array();
        const array rounded = astype(reduce(info, input, wide), reduction.compute);
        if (!options.out.valid()) return rounded;
        assign(options.out, rounded, Casting::kUnsafe);
        return options.out;
    }
    const std::optional<ScalarBytes> identity = identity_bytes(info, reduction.compute);
    std::optional<array> initial;
    if (options.initial) {
        initial = from_argument(*options.initial, reduction.compute);
        if (initial->ndim() != 0) throw ValueError("initial must be a scalar");
    }
    array source = input;
    // Where there is nothing to combine, the cast makes 0 or 1 of a bool's byte.
    if (input.dtype().is_bool() && reduction.compute.is_bool() && reduction.count == 1)
        source = view(input, ScalarType::kUInt8);
    if (options.where) {
        const auto* mask = std::get_if<array>(&*options.where);
        const auto* truth = std::get_if<bool>(&*options.where);
        const bool everywhere = truth != nullptr && *truth;
        if (!everywhere) {
            if (!identity && !initial) {
                throw ValueError(
                    "reduction operation '" + name +
                    "' does not have an identity, so to use a where mask one has to specify 'initial'");
            }
            const array filler =
                initial && !identity ? *initial : scalar(reduction.compute, identity->data());
            const array elements = input.dtype() == reduction.compute
                                       ? input
                                       : astype(input, reduction.compute, 'K', Casting::kUnsafe);
            const Argument inputs[3] = {mask != nullptr ? Argument(*mask) : Argument(false), elements,
                                        filler};
            source = call(op_info(OpId::kSelect), inputs)[0];
            if (source.shape() != input.shape()) {
                throw ValueError("non-broadcastable operand with shape " + shape_text(input.shape()) +
                                 " doesn't match the broadcast shape " + shape_text(source.shape()));
            }
            // In the order of the operands, not of a converted copy, where axes that repeat lie innermost.
            const Dims none(input.shape().size(), 0);
            const array seen = mask != nullptr ? broadcast_to(*mask, input.shape()) : array();
            const Dims* const operands[2] = {&input.strides(), mask != nullptr ? &seen.strides() : &none};
            const Dims ordered = k_order_strides(input.shape(), operands, reduction.compute.itemsize());
            for (size_t d = 0, k = 0; d < reduction.reduced.size(); ++d) {
                if (!reduction.reduced[d]) reduction.kept_strides[k++] = ordered[d];
            }
        }
    }

    array result;
    if (results == 0 || reduction.count == 0) {
        if (reduction.count == 0 && !identity && !initial) {
            throw ValueError("zero-size array to reduction operation " + name + " which has no identity");
        }
        const array value =
            initial ? *initial
                    : scalar(reduction.compute, identity ? identity->data() : ScalarBytes{}.data());
        const DeviceScope scope(device_of(input));
        result = empty(reduction.kept, reduction.result);
        result.set_layout(reduction.kept, result_strides(reduction));
        assign(result, value, Casting::kUnsafe);
    } else {
        result = reduce_plain(reduction, source);
        if (initial) {
            const OpInfo& combine = combining_operation(info);
            const array folded = call_binary(combine, *initial, result);
            result = folded.dtype() == reduction.result ? folded : astype(folded, reduction.result);
        }
    }
    if (options.keepdims) result = with_kept_axes(result, reduction.reduced);
    if (options.out.valid()) {
        assign(options.out, result, Casting::kUnsafe);
        return options.out;
    }
    return result;
}

array reduce(std::string_view name, const array& input, const ReduceOptions& options) {
    const ReductionInfo* info = find_reduction(name);
    if (info == nullptr) throw ValueError("no reduction is called '" + std::string(name) + "'");
    return reduce(*info, input, options);
}

}  // namespace weft
