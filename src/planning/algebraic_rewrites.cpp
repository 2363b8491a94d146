#include "planning/algebraic_rewrites.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/config.h"
#include "core/optimisation_switches.h"
#include "core/shape.h"
#include "library/products/cuda/contraction.h"
#include "library/products/cuda/program_choice.h"

namespace weft {

namespace {

constexpr const char* kSumOfProduct =
    "sum_of_product: the sum of a product is the product of its operands' sums";
constexpr const char* kProductChain =
    "product_chain: a chain of products is multiplied in the cheapest order";

constexpr const char* kEpilogue =
    "product_epilogue: what follows a product is done before its result is in memory";

bool may_round_otherwise(DType dtype) { return dtype.is_inexact() && !dtype.is_half_float(); }

// A pending product that nobody but one reader can see: the reader may do without it.
Node* only_read_here(const Operand& operand) {
    Node* node = operand.source.node.get();
    if (node == nullptr || node->kind() != NodeKind::kProduct || node->done.load(std::memory_order_acquire))
        return nullptr;
    if (operand.source.node.use_count() != 1 || operand.offset != 0) return nullptr;
    if (node->product().adds_bias || node->product().takes_relu) return nullptr;
    const DType dtype = node->results[0].dtype;
    return operand.dtype == dtype && may_round_otherwise(dtype) ? node : nullptr;
}

Operand whole_result(const NodePtr& node) {
    Operand operand;
    operand.source.node = node;
    operand.dtype = node->results[0].dtype;
    return operand;
}

// ---- (A @ B).sum(axis) ----

// Which axis of the product's result each axis of the reader is; axes of one are none. Empty when the reader
// does not walk each of them once.
std::optional<std::vector<size_t>> match_axes(const Node& product, const Operand& operand,
                                              const Dims& shape) {
    const Dims result = product.result_shape();
    const Dims& strides = product.results[0].strides;
    std::vector<bool> taken(result.size());
    std::vector<size_t> axes;
    for (size_t d = 0; d < shape.size(); ++d) {
        size_t found = result.size();
        for (size_t k = 0; k < result.size() && shape[d] != 1; ++k) {
            if (!taken[k] && result[k] == shape[d] && strides[k] == operand.strides[d]) found = k;
        }
        if (shape[d] != 1 && found == result.size()) return std::nullopt;
        if (found != result.size()) taken[found] = true;
        axes.push_back(found);
    }
    for (size_t k = 0; k < result.size(); ++k) {
        if (!taken[k] && result[k] != 1) return std::nullopt;
    }
    return axes;
}

// The sum of one operand of `product` over the result's axes that are marked: a new node. `strides` become
// those of its result, one for each axis of the product's shape.
Operand summed(const Node& product, const Operand& operand, const std::vector<bool>& marked,
               const ReductionInfo& sum, Dims& strides) {
    auto node = new_node();
    node->become(NodeKind::kReduce);
    node->device = product.device;
    node->reduce().reduction = &sum;
    node->reduce().compute = operand.dtype;
    Operand input = operand;
    input.strides.clear();
    Dims kept, kept_strides;
    std::vector<size_t> kept_axes;
    for (size_t d = 0; d < product.shape.size(); ++d) {
        if (operand.strides[d] == 0 || product.shape[d] == 1) continue;
        node->shape.push_back(product.shape[d]);
        input.strides.push_back(operand.strides[d]);
        node->reduce().axes.push_back(marked[d]);
        if (marked[d]) continue;
        kept.push_back(product.shape[d]);
        kept_strides.push_back(operand.strides[d]);
        kept_axes.push_back(d);
    }
    node->inputs.push_back(std::move(input));
    const Dims* const order[1] = {&kept_strides};
    NodeResult result;
    result.dtype = operand.dtype;
    result.strides = k_order_strides(kept, order, operand.dtype.itemsize());
    result.bytes = checked_bytes(kept, operand.dtype);
    strides = Dims(product.shape.size(), 0);
    for (size_t k = 0; k < kept_axes.size(); ++k) strides[kept_axes[k]] = result.strides[k];
    node->results.push_back(std::move(result));
    node->rewritten = kSumOfProduct;
    enter_pending(node);
    return whole_result(node);
}

bool sum_of_product(Node& node, std::vector<std::weak_ptr<Node>>& fresh) {
    if (node.kind() != NodeKind::kReduce || node.reduction()->id != ReductionId::kSum) return false;
    const Operand& read = node.inputs[0];
    const Node* product = only_read_here(read);
    if (product == nullptr || node.compute_dtype() != read.dtype || node.results[0].dtype != read.dtype)
        return false;
    const auto axes = match_axes(*product, read, node.shape);
    if (!axes) return false;
    // The axes of the result are the first of the product's shape.
    std::vector<bool> marked(product->shape.size());
    bool sums_left = false, sums_right = false;
    const size_t none = product->result_shape().size();
    for (size_t d = 0; d < node.shape.size(); ++d) {
        const size_t axis = (*axes)[d];
        if (!node.reduced_axes()[d] || axis == none) continue;
        const bool left = product->inputs[0].strides[axis] != 0,
                   right = product->inputs[1].strides[axis] != 0;
        if (left == right) return false;  // of a batch: nothing to sum before
        marked[axis] = true;
        sums_left |= left;
        sums_right |= right;
    }
    if (!sums_left && !sums_right) return false;

    Operand left = product->inputs[0], right = product->inputs[1];
    Dims left_strides = left.strides, right_strides = right.strides;
    if (sums_left) left = summed(*product, product->inputs[0], marked, *node.reduction(), left_strides);
    if (sums_right) right = summed(*product, product->inputs[1], marked, *node.reduction(), right_strides);
    if (sums_left) fresh.push_back(left.source.node);
    if (sums_right) fresh.push_back(right.source.node);
    Dims shape, new_left, new_right;
    std::vector<bool> reduced;
    const auto add = [&](int64_t extent, int64_t left_stride, int64_t right_stride, bool is_reduced) {
        shape.push_back(extent);
        new_left.push_back(left_stride);
        new_right.push_back(right_stride);
        reduced.push_back(is_reduced);
    };
    for (size_t d = 0; d < node.shape.size(); ++d) {
        if (node.reduced_axes()[d]) continue;
        const size_t axis = (*axes)[d];
        if (axis == none) {
            add(node.shape[d], 0, 0, false);
        } else {
            add(node.shape[d], left_strides[axis], right_strides[axis], false);
        }
    }
    for (size_t d = 0; d < product->shape.size(); ++d) {
        if (product->reduced_axes()[d]) add(product->shape[d], left_strides[d], right_strides[d], true);
    }
    left.strides = std::move(new_left);
    right.strides = std::move(new_right);
    Operands inputs;
    inputs.push_back(std::move(left));
    inputs.push_back(std::move(right));
    const DType compute = node.compute_dtype();
    node.become(NodeKind::kProduct);
    node.shape = std::move(shape);
    node.product().compute = compute;
    node.product().axes = std::move(reduced);
    node.rewritten = kSumOfProduct;
    node.inputs.swap(inputs);  // the product is freed with the old ones
    return true;
}

// ---- A @ B @ C ----

// A matrix as a product reads it. By address, since a copy of the operand would count as another reader.
struct MatrixRead {
    const Operand* operand;
    int64_t rows, columns, row_stride, column_stride;
};

struct Factor {
    Operand operand;
    int64_t rows, columns, row_stride, column_stride;
};

// The axes of a product of two matrices: m and n may be missing (a vector), there is no batch.
struct MatrixAxes {
    std::optional<size_t> m, n, k;
};

std::optional<MatrixAxes> matrix_axes(const Node& product) {
    MatrixAxes axes;
    for (size_t d = 0; d < product.shape.size(); ++d) {
        if (product.shape[d] == 1) continue;
        const bool left = product.inputs[0].strides[d] != 0, right = product.inputs[1].strides[d] != 0;
        if (!product.reduced_axes()[d] && left == right) return std::nullopt;
        std::optional<size_t>& axis = product.reduced_axes()[d] ? axes.k : left ? axes.m : axes.n;
        if (axis) return std::nullopt;
        axis = d;
    }
    return axes;
}

int64_t extent_of(const Node& product, const std::optional<size_t>& axis) {
    return axis ? product.shape[*axis] : 1;
}

int64_t stride_of(const Dims& strides, const std::optional<size_t>& axis) {
    return axis ? strides[*axis] : 0;
}

constexpr size_t kMostFactors = 64;

// The factors of what `factor` reads, if that is a product which only this reader sees, else itself. `cost`
// counts the multiplications of the products that are taken apart.
void take_apart(const MatrixRead& read, bool transposed, std::vector<Factor>& factors, double& cost);

void take_apart_product(const Node& product, const MatrixAxes& axes, bool transposed,
                        std::vector<Factor>& factors, double& cost) {
    const int64_t m = extent_of(product, axes.m), n = extent_of(product, axes.n),
                  k = extent_of(product, axes.k);
    const Operand &left = product.inputs[0], &right = product.inputs[1];
    const MatrixRead a{&left, m, k, stride_of(left.strides, axes.m), stride_of(left.strides, axes.k)};
    const MatrixRead b{&right, k, n, stride_of(right.strides, axes.k), stride_of(right.strides, axes.n)};
    cost += static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    take_apart(transposed ? b : a, transposed, factors, cost);
    take_apart(transposed ? a : b, transposed, factors, cost);
}

void take_apart(const MatrixRead& read, bool transposed, std::vector<Factor>& factors, double& cost) {
    const Node* inner = factors.size() < kMostFactors ? only_read_here(*read.operand) : nullptr;
    const std::optional<MatrixAxes> axes = inner != nullptr ? matrix_axes(*inner) : std::nullopt;
    if (axes) {
        const Dims& strides = inner->results[0].strides;
        const int64_t m = extent_of(*inner, axes->m), n = extent_of(*inner, axes->n);
        const auto reads = [](int64_t extent, int64_t stride, int64_t own) {
            return extent == 1 || stride == own;
        };
        const int64_t m_stride = stride_of(strides, axes->m), n_stride = stride_of(strides, axes->n);
        const bool straight = read.rows == m && read.columns == n && reads(m, read.row_stride, m_stride) &&
                              reads(n, read.column_stride, n_stride);
        const bool across = read.rows == n && read.columns == m && reads(n, read.row_stride, n_stride) &&
                            reads(m, read.column_stride, m_stride);
        if (straight || across) {
            take_apart_product(*inner, *axes, transposed != !straight, factors, cost);
            return;
        }
    }
    factors.push_back({*read.operand, read.rows, read.columns, read.row_stride, read.column_stride});
    if (transposed) {
        std::swap(factors.back().rows, factors.back().columns);
        std::swap(factors.back().row_stride, factors.back().column_stride);
    }
}

struct Order {
    std::vector<std::vector<double>> cost;
    std::vector<std::vector<size_t>> cut;  // [first][last]: the left part ends here
};

Order cheapest_order(const std::vector<Factor>& factors) {
    const size_t count = factors.size();
    Order order{std::vector(count, std::vector<double>(count)),
                std::vector(count, std::vector<size_t>(count))};
    for (size_t length = 1; length < count; ++length) {
        for (size_t first = 0; first + length < count; ++first) {
            const size_t last = first + length;
            double best = -1;
            for (size_t cut = first; cut < last; ++cut) {
                const double cost = order.cost[first][cut] + order.cost[cut + 1][last] +
                                    static_cast<double>(factors[first].rows) *
                                        static_cast<double>(factors[cut].columns) *
                                        static_cast<double>(factors[last].columns);
                if (best < 0 || cost < best) {
                    best = cost;
                    order.cut[first][last] = cut;
                }
            }
            order.cost[first][last] = best;
        }
    }
    return order;
}

Factor build(const std::vector<Factor>& factors, const Order& order, size_t first, size_t last) {
    if (first == last) return factors[first];
    const size_t cut = order.cut[first][last];
    const Factor a = build(factors, order, first, cut), b = build(factors, order, cut + 1, last);
    auto node = new_node();
    node->become(NodeKind::kProduct);
    node->device = &a.operand.source.device();
    node->shape = Dims{a.rows, b.columns, a.columns};
    node->product().axes = {false, false, true};
    Operand left = a.operand, right = b.operand;
    node->product().compute = left.dtype;
    left.strides = Dims{a.row_stride, 0, a.column_stride};
    right.strides = Dims{0, b.column_stride, b.row_stride};
    NodeResult result;
    result.dtype = left.dtype;
    const int64_t itemsize = result.dtype.itemsize();
    result.strides = Dims{b.columns * itemsize, itemsize};
    result.bytes = checked_bytes(Dims{a.rows, b.columns}, result.dtype);
    node->results.push_back(std::move(result));
    node->inputs.push_back(std::move(left));
    node->inputs.push_back(std::move(right));
    node->rewritten = kProductChain;
    enter_pending(node);
    return {whole_result(node), a.rows, b.columns, b.columns * itemsize, itemsize};
}

// Only when the multiplications are halved at least: then the time is, too.
constexpr double kClearlyCheaper = 0.5;

bool product_chain(Node& node) {
    if (node.kind() != NodeKind::kProduct || !may_round_otherwise(node.results[0].dtype)) return false;
    if (only_read_here(node.inputs[0]) == nullptr && only_read_here(node.inputs[1]) == nullptr) return false;
    const std::optional<MatrixAxes> axes = matrix_axes(node);
    if (!axes) return false;
    std::vector<Factor> factors;
    double recorded = 0;
    take_apart_product(node, *axes, false, factors, recorded);
    if (factors.size() < 3) return false;
    for (const Factor& factor : factors) {
        if (factor.rows == 0 || factor.columns == 0) return false;
    }
    const Order order = cheapest_order(factors);
    const size_t last = factors.size() - 1;
    if (order.cost[0][last] > kClearlyCheaper * recorded) return false;
    const size_t cut = order.cut[0][last];
    const Factor a = build(factors, order, 0, cut), b = build(factors, order, cut + 1, last);
    Operands inputs{a.operand, b.operand};
    Dims shape, left, right;
    std::vector<bool> reduced;
    for (size_t d = 0; d < node.shape.size(); ++d) {
        if (node.reduced_axes()[d]) continue;
        shape.push_back(node.shape[d]);
        left.push_back(axes->m == d ? a.row_stride : 0);
        right.push_back(axes->n == d ? b.column_stride : 0);
        reduced.push_back(false);
    }
    shape.push_back(a.columns);
    left.push_back(a.column_stride);
    right.push_back(b.row_stride);
    reduced.push_back(true);
    inputs[0].strides = std::move(left);
    inputs[1].strides = std::move(right);
    node.shape = std::move(shape);
    node.product().axes = std::move(reduced);
    node.rewritten = kProductChain;
    node.inputs.swap(inputs);
    return true;
}

// ---- maximum(A @ B + c, 0) on GPUs ----

// The operand of `node` that is a product which nobody but this element-wise node sees, read as it lies; null
// where there is none. `other` is the other operand.
Node* product_before(const Node& node, Operand const** other) {
    if (node.kind() != NodeKind::kElementwise || node.op == nullptr || node.inputs.size() != 2 ||
        node.results.size() != 1)
        return nullptr;
    for (size_t i = 0; i < 2; ++i) {
        const Operand& operand = node.inputs[i];
        Node* product = operand.source.node.get();
        if (product == nullptr || product->kind() != NodeKind::kProduct ||
            product->done.load(std::memory_order_acquire) || operand.source.node.use_count() != 1)
            continue;
        const NodeResult& result = product->results[0];
        const LoopInfo& loop = node.op->loops[static_cast<size_t>(node.loop)];
        const bool one_type = std::all_of(loop.types.begin(), loop.types.begin() + 3,
                                          [&](ScalarType type) { return result.dtype == DType(type); }) &&
                              node.results[0].dtype == result.dtype &&
                              node.inputs[1 - i].dtype == result.dtype;
        if (!one_type || operand.dtype != result.dtype || !product->read_elementwise(operand, node.shape) ||
            node.results[0].strides != result.strides)
            continue;
        *other = &node.inputs[1 - i];
        return product;
    }
    return nullptr;
}

// The axis of a matrix product's result along which its rows run.
std::optional<size_t> column_axis(const Node& product) {
    std::optional<size_t> found;
    for (size_t d = 0; d < product.shape.size(); ++d) {
        if (product.reduced_axes()[d] || product.shape[d] == 1) continue;
        if (product.inputs[0].strides[d] != 0 || product.inputs[1].strides[d] == 0) continue;
        if (found) return std::nullopt;
        found = d;
    }
    return found;
}

bool is_positive_zero(const Operand& operand) {
    return operand.is_constant() && std::all_of(operand.constant.begin(), operand.constant.end(),
                                                [](uint8_t byte) { return byte == 0; });
}

Contraction without_data(const Node& product) {
    Contraction contraction;
    contraction.type = product.results[0].dtype.scalar_type();
    contraction.shape = product.shape;
    contraction.reduced = product.reduced_axes();
    contraction.left_strides = product.inputs[0].strides;
    contraction.right_strides = product.inputs[1].strides;
    contraction.out_strides = Dims(product.shape.size(), 0);
    for (size_t d = 0, k = 0; d < product.shape.size(); ++d) {
        if (!product.reduced_axes()[d]) contraction.out_strides[d] = product.results[0].strides[k++];
    }
    return contraction;
}

bool product_epilogue(Node& node) {
    if (node.device->is_cpu() || !is_on(OptimisationSwitch::kGpuKernels)) return false;
    const Operand* other = nullptr;
    Node* product = product_before(node, &other);
    if (product == nullptr || product->product().takes_relu ||
        !has_epilogues(product->results[0].dtype.scalar_type()) || element_count(product->shape) == 0 ||
        !fit_cublas(without_data(*product)) || is_for_warpgroups(without_data(*product), *node.device))
        return false;
    Operands inputs = product->inputs;
    // The library does not say that nan stays.
    const bool relu = node.op->id == OpId::kMaximum && is_positive_zero(*other) &&
                      config().fast_math.load(std::memory_order_relaxed);
    if (!relu) {
        const std::optional<size_t> columns = column_axis(*product);
        if (node.op->id != OpId::kAdd || product->product().adds_bias || other->is_constant() || !columns)
            return false;
        // A vector along the rows: one number for each column, the same for all rows.
        Operand bias = *other;
        bias.strides = Dims(product->shape.size(), 0);
        for (size_t d = 0, k = 0; d < product->shape.size(); ++d) {
            if (product->reduced_axes()[d]) continue;
            const int64_t stride = other->strides[k++];
            if (product->shape[d] == 1) continue;
            if (stride != (d == *columns ? bias.dtype.itemsize() : 0)) return false;
            bias.strides[d] = stride;
        }
        inputs.push_back(std::move(bias));
    }
    node.become(NodeKind::kProduct);
    node.shape = product->shape;
    node.product().axes = product->reduced_axes();
    node.product().compute = product->compute_dtype();
    node.product().adds_bias = product->product().adds_bias || !relu;
    node.product().takes_relu = relu;
    node.op = nullptr;
    node.rewritten = kEpilogue;
    node.inputs.swap(inputs);  // the product is freed with the old ones
    return true;
}

}  // namespace

void enter_pending(const NodePtr& node) {
    uint64_t latest = 0;
    uint32_t depth = 0;
    for (const Operand& input : node->inputs) {
        if (const Node* producer = input.source.node.get()) {
            latest = std::max(latest, producer->sequence);
            depth = std::max(depth, producer->depth.load(std::memory_order_relaxed));
        }
    }
    node->sequence = latest + 1;
    node->depth = depth + 1;
    register_pending(node);
}

bool rewrite(std::span<Node* const> nodes) {
    const bool any = std::any_of(nodes.begin(), nodes.end(),
                                 [](const Node* node) { return node->kind() == NodeKind::kProduct; });
    if (!any) return false;
    // Weak references: a node that is rewritten frees what it no longer reads.
    std::vector<std::weak_ptr<Node>> work;
    for (Node* node : nodes) work.push_back(node->weak_from_this());
    const std::vector<std::weak_ptr<Node>> in_order = work;
    bool changed = false;
    while (!work.empty()) {  // from the last reader on
        const NodePtr node = work.back().lock();
        work.pop_back();
        if (node == nullptr) continue;
        changed |= sum_of_product(*node, work);
        changed |= product_chain(*node);
    }
    for (const std::weak_ptr<Node>& each : in_order) {
        if (const NodePtr node = each.lock()) changed |= product_epilogue(*node);
    }
    return changed;
}

}  // namespace weft
