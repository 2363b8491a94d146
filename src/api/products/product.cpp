#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "api/elementwise/float_errors.h"
#include "api/fast/fast_call.h"
#include "api/recording/record.h"
#include "api/recording/write.h"
#include "core/shape.h"
#include "execution/evaluate.h"
#include "graph/operand.h"
#include "graph/placement.h"
#include "graph/storage_locks.h"
#include "library/products/contraction.h"
#include "library/products/cuda/contraction.h"
#include "ops/resolve.h"
#include "weft/products.h"

namespace weft {

namespace {

// ---- recording ----

// A product whose operands have been cast: the axes of the result first, then those that are summed over.
struct Product {
    DType dtype;
    Dims shape;
    size_t result_axes = 0;
    Dims left_strides, right_strides;  // over `shape`
    Dims result_shape, result_strides;
};

Dims out_strides_of(const Product& product) {
    Dims strides = product.result_strides;
    strides.resize(product.shape.size(), 0);
    return strides;
}

constexpr int64_t kSmallWork = 1 << 20;  // multiplications that are worth no node

bool run_eagerly(const Product& product, const array& left, const array& right, array& result) {
    if (!is_small(left.size()) || !is_small(right.size()) || !is_small(element_count(product.result_shape)) ||
        element_count(product.shape) > kSmallWork)
        return false;
    const int64_t bytes = checked_bytes(product.result_shape, product.dtype);
    if (!device_of(left).is_cpu() || !device_of(right).is_cpu()) return false;
    BufferPtr buffer = cpu_device().allocate(static_cast<size_t>(bytes));
    {
        StorageLocks locks;
        locks.add(*left.storage());
        locks.add(*right.storage());
        locks.lock();
        if (!locks.all_host_resident()) return false;
        Contraction contraction{product.dtype.scalar_type(),
                                product.shape,
                                std::vector<bool>(product.shape.size()),
                                left.storage()->current.buffer->data() + left.offset(),
                                right.storage()->current.buffer->data() + right.offset(),
                                buffer->data(),
                                product.left_strides,
                                product.right_strides,
                                out_strides_of(product)};
        for (size_t d = product.result_axes; d < product.shape.size(); ++d) contraction.reduced[d] = true;
        contract(contraction);
    }
    result = array_of(std::move(buffer), product.dtype, product.result_shape, product.result_strides);
    return true;
}

Operand operand_of(const array& input, const Dims& strides) {
    Operand operand;
    operand.source = current_version(*input.storage());
    operand.dtype = input.dtype();
    operand.strides = strides;
    operand.offset = input.offset();
    return operand;
}

NodePtr make_node(const Product& product, const array& left, const array& right) {
    check_same_device(left, right);
    element_count(product.shape);  // which is multiplied by element: throws where that are too many to count
    Operand first = operand_of(left, product.left_strides), second = operand_of(right, product.right_strides);
    auto node = new_node();
    node->become(NodeKind::kProduct);
    node->device = &device_of(left);
    node->shape = product.shape;
    std::vector<bool>& reduced = node->product().axes;
    reduced.assign(product.shape.size(), false);
    std::fill(reduced.begin() + static_cast<std::ptrdiff_t>(product.result_axes), reduced.end(), true);
    node->product().compute = product.dtype;
    node->inputs.push_back(std::move(first));
    node->inputs.push_back(std::move(second));
    NodeResult result;
    result.dtype = product.dtype;
    result.strides = product.result_strides;
    result.bytes = checked_bytes(product.result_shape, product.dtype);
    node->results.push_back(std::move(result));
    return node;
}

Contraction without_data(const Product& product) {
    Contraction contraction;
    contraction.type = product.dtype.scalar_type();
    contraction.shape = product.shape;
    contraction.reduced.assign(product.shape.size(), false);
    std::fill(contraction.reduced.begin() + static_cast<std::ptrdiff_t>(product.result_axes),
              contraction.reduced.end(), true);
    contraction.left_strides = product.left_strides;
    contraction.right_strides = product.right_strides;
    contraction.out_strides = out_strides_of(product);
    return contraction;
}

bool runs_on_gpu_as_it_lies(const Product& product) {
    const Contraction contraction = without_data(product);
    if (has_cublas_type(contraction.type)) return static_cast<bool>(fit_cublas(contraction));
    return product_axes(contraction).has_value();
}

// Strides without gaps over `axes` of a space, the last one fastest; 0 for the others.
Dims dense_over(const Dims& shape, const std::vector<size_t>& axes, int64_t itemsize) {
    Dims strides(shape.size(), 0);
    for (size_t i = axes.size(); i-- > 0;) {
        strides[axes[i]] = itemsize;
        itemsize *= shape[axes[i]];
    }
    return strides;
}

// What of a product is copied, or written elsewhere first, because a GPU's library cannot take it as it lies.
struct Packing {
    bool left = false, right = false, out = false;
    std::vector<size_t> left_axes, right_axes, out_axes;  // in which order then
};

// What `packing` makes of the product.
Product packed_product(const Product& product, const Packing& packing) {
    Product packed = product;
    const int64_t itemsize = product.dtype.itemsize();
    if (packing.left) packed.left_strides = dense_over(product.shape, packing.left_axes, itemsize);
    if (packing.right) packed.right_strides = dense_over(product.shape, packing.right_axes, itemsize);
    if (packing.out) {
        packed.result_strides = dense_over(product.shape, packing.out_axes, itemsize);
        packed.result_strides.resize(product.result_axes);
    }
    return packed;
}

// As little as possible, so that the product runs; nothing where it does as it is.
std::optional<Packing> packing_for_gpu(const Product& product) {
    if (runs_on_gpu_as_it_lies(product)) return std::nullopt;
    std::vector<size_t> batch, m, n, k;
    for (size_t d = 0; d < product.shape.size(); ++d) {
        if (product.shape[d] == 1) continue;
        const bool left = product.left_strides[d] != 0, right = product.right_strides[d] != 0;
        (d >= product.result_axes ? k : left == right ? batch : left ? m : n).push_back(d);
    }
    const auto joined = [](std::initializer_list<const std::vector<size_t>*> parts) {
        std::vector<size_t> axes;
        for (const std::vector<size_t>* part : parts) axes.insert(axes.end(), part->begin(), part->end());
        return axes;
    };
    Packing packing{
        false, false, false, joined({&batch, &m, &k}), joined({&batch, &k, &n}), joined({&batch, &m, &n})};
    for (const auto& [left, right, out] : {std::array{false, true, false},
                                           {true, false, false},
                                           {true, true, false},
                                           {false, false, true},
                                           {false, true, true},
                                           {true, false, true}}) {
        packing.left = left;
        packing.right = right;
        packing.out = out;
        if (runs_on_gpu_as_it_lies(packed_product(product, packing))) return packing;
    }
    packing.left = packing.right = packing.out = true;
    return packing;
}

// `input` over `axes` of the product's space, without gaps. Axes that it does not walk are repeated.
array packed(const array& input, const Dims& strides, const Dims& space, const std::vector<size_t>& axes) {
    Dims shape, own;
    for (const size_t axis : axes) {
        shape.push_back(space[axis]);
        own.push_back(strides[axis]);
    }
    return copy(input.with_view(input.dtype(), std::move(shape), std::move(own), input.offset()), 'C');
}

array record(const Product& product, const array& left, const array& right);

array record_packed(const Product& product, const Packing& packing, const array& left, const array& right) {
    const Product plain = packed_product(product, packing);
    const array result = record(
        plain, packing.left ? packed(left, product.left_strides, product.shape, packing.left_axes) : left,
        packing.right ? packed(right, product.right_strides, product.shape, packing.right_axes) : right);
    if (!packing.out) return result;
    // To where it belongs: in the order of its strides it lies without gaps.
    std::vector<int64_t> order(product.result_axes), back(product.result_axes);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return product.result_strides[static_cast<size_t>(a)] >
               product.result_strides[static_cast<size_t>(b)];
    });
    for (size_t d = 0; d < order.size(); ++d) back[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
    return transpose(copy(transpose(result, order), 'C'), back);
}

array record(const Product& product, const array& left, const array& right) {
    array result;
    if (run_eagerly(product, left, right, result)) return result;
    if (!device_of(left).is_cpu()) {
        if (element_count(product.result_shape) == 0)
            return array_of(device_of(left).allocate(0), product.dtype, product.result_shape,
                            product.result_strides);
        if (element_count(product.shape) == 0) {
            const DeviceScope scope(device_of(left));
            return full(product.result_shape, Argument(false), product.dtype);
        }
        if (const auto steps = packing_for_gpu(product)) return record_packed(product, *steps, left, right);
    }
    const NodePtr node = make_node(product, left, right);
    result = array_of(node, 0, product.result_shape);
    recorded(node);
    if (is_exported(left) || is_exported(right)) evaluate({&node, 1});
    return result;
}

// Into `out`, which has the product's shape and dtype.
void record_into(const Product& product, const array& left, const array& right, const array& out) {
    if (!device_of(left).is_cpu() && packing_for_gpu(product)) {
        assign(out, record(product, left, right), Casting::kUnsafe);
        return;
    }
    const NodePtr node = make_node(product, left, right);
    Operand value;
    value.source.node = node;
    value.dtype = product.dtype;
    value.strides = product.result_strides;
    check_same_device(left, out);
    write(out, std::move(value));
    recorded(node);
    if (is_exported(left) || is_exported(right)) evaluate({&node, 1});
}

// Products of 16-bit floats are float32's, rounded once; on GPUs the library does that.
DType product_dtype(DType dtype, const array& left) {
    return device_of(left).is_cpu() ? dtype.accumulator() : dtype;
}

array cast_to(const array& input, DType dtype) {
    return input.dtype() == dtype ? input : astype(input, dtype);
}

// ---- matmul ----

constexpr const char* kMatmulSignature = "(n?,k),(k,m?)->(n?,m?)";

[[noreturn]] void throw_core_mismatch(const std::string& operand, int dimension, int64_t size,
                                      int64_t expected) {
    throw ValueError("matmul: " + operand + " has a mismatch in its core dimension " +
                     std::to_string(dimension) + ", with gufunc signature " + kMatmulSignature + " (size " +
                     std::to_string(size) + " is different from " + std::to_string(expected) + ")");
}

struct MatmulShapes {
    bool row = false, column = false;  // a one-dimensional operand
    int64_t m = 1, n = 1, k = 1;
    Dims left_batch, right_batch, batch;
};

std::string remapped_text(const array& operand, const Dims& batch, int core) {
    std::string text = shape_text(operand.shape()) + "->(";
    for (size_t d = 0; d < batch.size(); ++d) text += (d == 0 ? "" : ",") + std::to_string(batch[d]);
    for (int d = 0; d < core; ++d) text += (batch.empty() && d == 0 ? "" : ",") + std::string("newaxis");
    return text + ")";
}

MatmulShapes matmul_shapes(const array& left, const array& right) {
    for (int k = 0; k < 2; ++k) {
        if ((k == 0 ? left : right).ndim() == 0) {
            throw ValueError("matmul: Input operand " + std::to_string(k) +
                             " does not have enough dimensions (has 0, gufunc core with signature " +
                             kMatmulSignature + " requires 1)");
        }
    }
    MatmulShapes shapes;
    const Dims &a = left.shape(), &b = right.shape();
    shapes.row = a.size() == 1;
    shapes.column = b.size() == 1;
    shapes.k = a.back();
    if (!shapes.row) shapes.m = a[a.size() - 2];
    if (!shapes.column) shapes.n = b.back();
    const int64_t other = shapes.column ? b[0] : b[b.size() - 2];
    if (other != shapes.k) throw_core_mismatch("Input operand 1", 0, other, shapes.k);
    if (a.size() > 2) shapes.left_batch = Dims(std::span(a.begin(), a.size() - 2));
    if (b.size() > 2) shapes.right_batch = Dims(std::span(b.begin(), b.size() - 2));
    const size_t count = std::max(shapes.left_batch.size(), shapes.right_batch.size());
    shapes.batch = Dims(count, 1);
    for (size_t d = 0; d < count; ++d) {  // from the last axis
        const auto extent = [&](const Dims& batch) {
            return d < batch.size() ? batch[batch.size() - 1 - d] : 1;
        };
        const int64_t x = extent(shapes.left_batch), y = extent(shapes.right_batch);
        if (x != y && x != 1 && y != 1) {
            const int core = (shapes.row ? 0 : 1) + (shapes.column ? 0 : 1);
            Dims requested;
            if (!shapes.row) requested.push_back(shapes.m);
            if (!shapes.column) requested.push_back(shapes.n);
            throw ValueError(
                "operands could not be broadcast together with remapped shapes [original->remapped]: " +
                remapped_text(left, shapes.left_batch, shapes.left_batch.empty() ? 0 : core) + " " +
                remapped_text(right, shapes.right_batch, shapes.right_batch.empty() ? 0 : core) +
                "  and requested shape " + shape_text(requested));
        }
        shapes.batch[count - 1 - d] = x == 1 ? y : x;
    }
    return shapes;
}

// Over [batch, m, n, k]; an axis that an operand has not is of stride 0, and m and n are left out where they
// do not exist.
Product matmul_product(const MatmulShapes& shapes, const array& left, const array& right, DType dtype) {
    Product product;
    product.dtype = dtype;
    product.shape = shapes.batch;
    const size_t count = shapes.batch.size();
    const auto batch_strides = [&](const array& operand, const Dims& batch) {
        Dims strides(count, 0);
        for (size_t d = 0; d < batch.size(); ++d) {
            if (batch[d] != 1) strides[count - batch.size() + d] = operand.strides()[d];
        }
        return strides;
    };
    product.left_strides = batch_strides(left, shapes.left_batch);
    product.right_strides = batch_strides(right, shapes.right_batch);
    const Dims &a = left.strides(), &b = right.strides();
    const auto add = [&](int64_t extent, int64_t left_stride, int64_t right_stride) {
        product.shape.push_back(extent);
        product.left_strides.push_back(left_stride);
        product.right_strides.push_back(right_stride);
    };
    if (!shapes.row) add(shapes.m, a[a.size() - 2], 0);
    if (!shapes.column) add(shapes.n, 0, b.back());
    product.result_shape = product.shape;
    product.result_axes = product.shape.size();
    add(shapes.k, a.back(), shapes.column ? b[0] : b[b.size() - 2]);
    check_shape(product.result_shape, dtype.itemsize());
    product.result_strides = c_strides(product.result_shape, dtype.itemsize());
    return product;
}

void check_casts(const array& left, const array& right, DType dtype, Casting casting) {
    const array* const operands[2] = {&left, &right};
    for (int k = 0; k < 2; ++k) {
        const DType from = operands[k]->dtype();
        if (can_cast(from, dtype, casting)) continue;
        throw UFuncTypeError("Cannot cast ufunc 'matmul' input " + std::to_string(k) + " from dtype('" +
                             std::string(from.name()) + "') to dtype('" + std::string(dtype.name()) +
                             "') with casting rule '" + std::string(casting_name(casting)) + "'");
    }
}

void check_out(const array& out, const MatmulShapes& shapes, DType dtype, Casting casting) {
    if (!out.writeable()) throw ValueError("output array is read-only");
    if (!can_cast(dtype, out.dtype(), casting)) {
        throw UFuncTypeError("Cannot cast ufunc 'matmul' output from dtype('" + std::string(dtype.name()) +
                             "') to dtype('" + std::string(out.dtype().name()) + "') with casting rule '" +
                             std::string(casting_name(casting)) + "'");
    }
    Dims core;
    if (!shapes.row) core.push_back(shapes.m);
    if (!shapes.column) core.push_back(shapes.n);
    const Dims& shape = out.shape();
    if (shape.size() < core.size()) {
        throw ValueError("matmul: Output operand 0 does not have enough dimensions (has " +
                         std::to_string(shape.size()) + ", gufunc core with signature " + kMatmulSignature +
                         " requires " + std::to_string(core.size()) + ")");
    }
    const size_t loop = shape.size() - core.size();
    for (size_t d = 0; d < core.size(); ++d) {
        if (shape[loop + d] != core[d])
            throw_core_mismatch("Output operand 0", static_cast<int>(d), shape[loop + d], core[d]);
    }
    const Dims out_batch(std::span(shape.begin(), loop));
    if (!can_broadcast(shapes.batch, out_batch)) {
        throw ValueError("non-broadcastable output operand with shape " + shape_text(out_batch) +
                         " doesn't match the broadcast shape " + shape_text(shapes.batch));
    }
}

array reordered(const array& result, char order) {
    if (order != 'F' || result.ndim() < 2) return result;
    return copy(result, 'F');
}

}  // namespace

array matmul(const array& left, const array& right) {
    if (float_errors_watched()) return matmul(left, right, ProductOptions{});
    array result;
    if (try_multiply(left, right, result)) return result;
    return matmul(left, right, ProductOptions{});
}

array matmul(const array& left, const array& right, const ProductOptions& options) {
    if (FloatWatch watch; watch) {
        const bool in_place = options.out.valid();
        const array a = in_place ? copy(left) : left, b = in_place ? copy(right) : right;
        const array result = matmul(left, right, options);
        inspect_product(watch, a, b, result);
        watch.report("matmul", {&result, 1});
        return result;
    }
    const DType common =
        options.dtype
            ? *options.dtype
            : (left.dtype() == right.dtype() ? left.dtype() : promote_types(left.dtype(), right.dtype()));
    check_casts(left, right, common, options.casting);
    const MatmulShapes shapes = matmul_shapes(left, right);
    if (options.out.valid()) check_out(options.out, shapes, common, options.casting);
    const DType compute = product_dtype(common, left);
    const array a = cast_to(left, compute), b = cast_to(right, compute);
    const Product product = matmul_product(shapes, a, b, compute);
    if (!options.out.valid()) return reordered(cast_to(record(product, a, b), common), options.order);
    const array& out = options.out;
    const bool direct = out.dtype() == compute && common == compute && out.shape() == product.result_shape &&
                        !is_small(out.size());
    if (direct) {
        record_into(product, a, b, out);
    } else {
        assign(out, cast_to(record(product, a, b), common), Casting::kUnsafe);
    }
    return out;
}

// ---- one step of einsum, and dot ----

namespace {

struct Labelled {
    array value;
    std::vector<int> labels;

    size_t find(int label) const {
        return static_cast<size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
    }
    bool has(int label) const { return find(label) != labels.size(); }
    int64_t stride(int label) const {
        const size_t axis = find(label);
        return axis == labels.size() ? 0 : value.strides()[axis];
    }
    void drop(size_t axis) {
        labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(axis));
        Dims shape = value.shape(), strides = value.strides();
        shape.erase(axis);
        strides.erase(axis);
        value = value.with_view(value.dtype(), std::move(shape), std::move(strides), value.offset());
    }
};

array sum_over(const array& input, const Dims& axes, DType dtype) {
    ReduceOptions options;
    options.axes = axes;
    if (dtype.is_bool()) return reduce("any", input, options);
    options.dtype = dtype;
    return reduce("sum", input, options);
}

// Sums over the labels that neither the other operand nor the result has.
void sum_alone(Labelled& operand, const Labelled& other, std::span<const int> out_labels, DType dtype) {
    Dims axes;
    std::vector<int> kept;
    for (size_t d = 0; d < operand.labels.size(); ++d) {
        const int label = operand.labels[d];
        const bool wanted =
            other.has(label) || std::find(out_labels.begin(), out_labels.end(), label) != out_labels.end();
        if (wanted) {
            kept.push_back(label);
        } else {
            axes.push_back(static_cast<int64_t>(d));
        }
    }
    if (axes.empty()) return;
    operand.value = sum_over(operand.value, axes, dtype);
    operand.labels = std::move(kept);
}

// Whether the operands are multiplied as they are, by what multiplies matrices.
bool is_one_product(const Labelled& left, const Labelled& right, std::span<const int> out_labels) {
    const auto in_result = [&](int label) {
        return std::find(out_labels.begin(), out_labels.end(), label) != out_labels.end();
    };
    bool sums = false, only_left = false, only_right = false;
    for (const int label : left.labels) {
        if (!right.has(label) && !in_result(label)) return false;
        sums |= !in_result(label);
        only_left |= !right.has(label);
    }
    for (const int label : right.labels) {
        if (!left.has(label) && !in_result(label)) return false;
        only_right |= !left.has(label);
    }
    return sums && (out_labels.empty() || only_left || only_right);
}

// A view with the axes of `labels`, of extent one where the operand has none.
array spread(const Labelled& operand, std::span<const int> labels) {
    Dims shape, strides;
    for (const int label : labels) {
        const size_t axis = operand.find(label);
        shape.push_back(axis == operand.labels.size() ? 1 : operand.value.shape()[axis]);
        strides.push_back(operand.stride(label));
    }
    return operand.value.with_view(operand.value.dtype(), std::move(shape), std::move(strides),
                                   operand.value.offset());
}

// Dense strides of the first `count` axes of a space, in the order in which NumPy's iterator would walk them.
Dims walked_strides(const Product& product, size_t count, int64_t itemsize) {
    const Dims* const operands[2] = {&product.left_strides, &product.right_strides};
    Dims extents = product.shape;  // so that no axis counts as none
    for (int64_t& extent : extents) extent = 2;
    const Dims walked = k_order_strides(extents, operands, 1);
    std::vector<int> order(count);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return walked[static_cast<size_t>(a)] < walked[static_cast<size_t>(b)]; });
    return strides_by_order(Dims(std::span(product.shape.begin(), count)), order, itemsize);
}

}  // namespace

array contract(const array& left, std::span<const int> left_labels, const array& right,
               std::span<const int> right_labels, std::span<const int> out_labels, char order) {
    const DType common = promote_types(left.dtype(), right.dtype());
    Labelled a{left, {left_labels.begin(), left_labels.end()}};
    Labelled b{right, {right_labels.begin(), right_labels.end()}};
    WEFT_CHECK(a.labels.size() == left.shape().size() && b.labels.size() == right.shape().size(), "labels");
    // An axis of one that meets a longer one has nothing to walk.
    for (size_t d = a.labels.size(); d-- > 0;) {
        const int label = a.labels[d];
        const size_t other = b.find(label);
        if (other == b.labels.size()) continue;
        const int64_t x = a.value.shape()[d], y = b.value.shape()[other];
        if (x == y) continue;
        if (x != 1 && y != 1) {
            throw ValueError("operands could not be broadcast together: an axis of " + std::to_string(x) +
                             " meets one of " + std::to_string(y));
        }
        if (x == 1) {
            a.drop(d);
        } else {
            b.drop(other);
        }
    }
    const DType compute =
        is_one_product(a, b, out_labels) ? product_dtype(common, left) : common.accumulator();
    a.value = cast_to(a.value, compute);
    b.value = cast_to(b.value, compute);
    sum_alone(a, b, out_labels, compute);
    sum_alone(b, a, out_labels, compute);

    std::vector<int> labels(out_labels.begin(), out_labels.end());
    for (const int label : a.labels) {
        if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
    }
    const bool sums = labels.size() != out_labels.size();
    bool only_left = false, only_right = false;
    for (const int label : out_labels) {
        only_left |= a.has(label) && !b.has(label);
        only_right |= b.has(label) && !a.has(label);
    }
    if (!sums || (!out_labels.empty() && !only_left && !only_right)) {
        // Element by element, so that it fuses with what comes before and after.
        const array product = call_binary(op_info(compute.is_bool() ? OpId::kLogicalAnd : OpId::kMultiply),
                                          spread(a, labels), spread(b, labels));
        if (!sums) return cast_to(product, common);
        Dims axes;
        for (size_t d = out_labels.size(); d < labels.size(); ++d) axes.push_back(static_cast<int64_t>(d));
        return cast_to(sum_over(product, axes, compute), common);
    }
    Product product;
    product.dtype = compute;
    for (const int label : labels) {
        const Labelled& owner = a.has(label) ? a : b;
        product.shape.push_back(owner.value.shape()[owner.find(label)]);
        product.left_strides.push_back(a.stride(label));
        product.right_strides.push_back(b.stride(label));
    }
    product.result_axes = out_labels.size();
    product.result_shape = Dims(std::span(product.shape.begin(), out_labels.size()));
    check_shape(product.result_shape, compute.itemsize());
    product.result_strides = order == 'C' ? c_strides(product.result_shape, compute.itemsize())
                                          : walked_strides(product, out_labels.size(), compute.itemsize());
    return cast_to(record(product, a.value, b.value), common);
}

array dot(const array& left, const array& right, const array& out) {
    if (FloatWatch watch; watch) {
        const array result = dot(left, right, out);
        const array operands[] = {left, right};
        const bool are_matrices = std::ranges::all_of(
            operands, [](const array& operand) { return operand.ndim() == 1 || operand.ndim() == 2; });
        if (are_matrices) {
            inspect_product(watch, left, right, result);
        } else {
            inspect_whole(watch, operands, result);
        }
        watch.report("dot", {&result, 1});
        return result;
    }
    if (array result; !out.valid() && try_multiply(left, right, result)) return result;
    const DType common = promote_types(left.dtype(), right.dtype());
    const int64_t left_axis = left.ndim() - 1, right_axis = right.ndim() == 1 ? 0 : right.ndim() - 2;
    const bool scales = left.ndim() == 0 || right.ndim() == 0;
    Dims shape;
    if (scales) {
        shape = left.ndim() == 0 ? right.shape() : left.shape();
    } else {
        const int64_t x = left.shape().back(), y = right.shape()[static_cast<size_t>(right_axis)];
        if (x != y) {
            throw ValueError("shapes " + shape_text(left.shape()) + " and " + shape_text(right.shape()) +
                             " not aligned: " + std::to_string(x) + " (dim " + std::to_string(left_axis) +
                             ") != " + std::to_string(y) + " (dim " + std::to_string(right_axis) + ")");
        }
        for (int64_t d = 0; d < left_axis; ++d) shape.push_back(left.shape()[static_cast<size_t>(d)]);
        for (int64_t d = 0; d < right.ndim(); ++d) {
            if (d != right_axis) shape.push_back(right.shape()[static_cast<size_t>(d)]);
        }
    }
    if (out.valid()) {
        if (out.shape() != shape && out.ndim() == static_cast<int>(shape.size()) && out.dtype() == common &&
            out.c_contiguous())
            throw ValueError("output array has wrong dimensions");
        if (out.shape() != shape || !(out.dtype() == common) || !out.c_contiguous()) {
            throw ValueError(
                "output array is not acceptable (must have the right datatype, number of dimensions, and be "
                "a "
                "C-Array)");
        }
        if (!out.writeable()) throw ValueError("output array is read-only");
    }
    array result;
    if (scales) {
        const OpInfo& multiply = op_info(common.is_bool() ? OpId::kLogicalAnd : OpId::kMultiply);
        const array product = call_binary(multiply, left, right);
        result = product.c_contiguous() ? product : copy(product, 'C');
    } else {
        const DType compute = product_dtype(common, left);
        const array a = cast_to(left, compute), b = cast_to(right, compute);
        Product product;
        product.dtype = compute;
        const auto add = [&](int64_t extent, int64_t left_stride, int64_t right_stride) {
            product.shape.push_back(extent);
            product.left_strides.push_back(left_stride);
            product.right_strides.push_back(right_stride);
        };
        for (size_t d = 0; d + 1 < a.shape().size(); ++d) add(a.shape()[d], a.strides()[d], 0);
        for (size_t d = 0; d < b.shape().size(); ++d) {
            if (static_cast<int64_t>(d) != right_axis) add(b.shape()[d], 0, b.strides()[d]);
        }
        product.result_axes = product.shape.size();
        product.result_shape = product.shape;
        check_shape(product.result_shape, compute.itemsize());
        product.result_strides = c_strides(product.result_shape, compute.itemsize());
        add(a.shape().back(), a.strides().back(), b.strides()[static_cast<size_t>(right_axis)]);
        result = cast_to(record(product, a, b), common);
    }
    if (!out.valid()) return result;
    assign(out, result, Casting::kUnsafe);
    return out;
}

}  // namespace weft
