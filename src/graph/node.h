// The lazy graph: nodes that are recorded, and what they read. A node never changes its meaning; once
// computed it holds its results' buffers and lets go of its inputs.
//
// An operand names a source (another node's result, a buffer, or a constant) and how the consumer's iteration
// space reads it: byte strides (0 where it broadcasts), a byte offset and a dtype. Views are therefore part
// of the edge.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "device/cpu/memory_pool.h"
#include "device/device.h"
#include "ops/op.h"
#include "weft/array.h"

namespace weft {

class Node;
using NodePtr = std::shared_ptr<Node>;

// One version of a storage, or one result of a node: pending (node) or in memory (buffer).
struct Source {
    NodePtr node;
    uint32_t result = 0;
    BufferPtr buffer;

    bool in_memory() const { return buffer != nullptr; }  // of whichever device
    bool is_host_resident() const { return buffer != nullptr && buffer->on_host(); }
    DeviceBackend& device() const;
    void resolve() {  // a computed node is replaced by its buffer
        if (node) resolve_node();
    }
    friend bool operator==(const Source&, const Source&) = default;

private:
    void resolve_node();
};

using ScalarBytes = std::array<uint8_t, 16>;

struct Operand {
    Source source;           // empty for a constant
    ScalarBytes constant{};  // the element, when the source is empty
    DType dtype;
    Dims strides;  // bytes, one for each dimension of the consumer's iteration shape
    int64_t offset = 0;

    bool is_constant() const { return !source.node && !source.buffer; }
};

// What the kinds of graph/node_kinds.def compute:
//   kElementwise  op over inputs, each cast to its loop's type; op null: a cast to the result's dtype
//   kReduce       inputs[0] over `shape`, reduced over some axes
//   kUpdate       inputs[0]: the old version, whole; inputs[1]: the value; writes `target` and keeps the
//   rest; at
//                 positions that inputs[2...] say, if any, and where one more says true:
//                 api/indexing/scatter.h
//   kArange       start + i * step over one dimension: inputs are the two constants
//   kScan         inputs[0] over `shape`: running results of `op` along an axis
//   kProduct      inputs[0] * inputs[1] over `shape`, summed over some axes: see execution/run_product.h
//   kGather       elements of inputs[0] at positions that inputs[1...] say; see api/indexing/gather.h
//   kDraw         words of a random stream, one after another in C order, by `op` (ops/scalar/random_bits.h):
//   inputs
//                 are constants, the position of the first one and what the op takes after a position
//   kCompress     inputs[1] where inputs[0], of bool, is true over `shape`, or without it the positions in C
//   order; on
//                 GPUs, evaluated eagerly: api/indexing/compress_on_gpu.h
//   kTransfer     inputs[0], which lies without gaps as the result does, from another device
enum class NodeKind : uint8_t {
#define WEFT_NODE_KIND(enumerator, ...) enumerator,
#include "graph/node_kinds.def"
#undef WEFT_NODE_KIND
};

constexpr uint64_t kSequenceStep = 1 << 16;  // rewrites enter nodes between those that were recorded

struct NodeResult {
    DType dtype;
    Dims strides;  // dense in some order of axes, offset 0
    int64_t bytes = 0;
    BufferPtr buffer;  // once computed
};

using Operands = std::vector<Operand, ShortListAllocator<Operand>>;
using NodeResults = std::vector<NodeResult, ShortListAllocator<NodeResult>>;

struct Access {
    DType dtype;
    Dims strides;
    int64_t offset = 0;
};

// One computed position of a kGather or kUpdate node: the axis that an index operand counts along.
struct GatheredAxis {
    int64_t extent = 0, stride = 0;  // elements; bytes
    bool wraps = false;              // indices may be negative and then count from the end

    friend bool operator==(const GatheredAxis&, const GatheredAxis&) = default;
};

struct NoPayload {};
struct ReducePayload {
    const ReductionInfo* reduction = nullptr;
    DType compute;           // what elements are cast to first
    std::vector<bool> axes;  // that are reduced: one for each dimension of the node's shape
};
struct UpdatePayload {
    Access target;
    bool in_place = false;               // others see the memory, which stays where it is
    bool repeats_positions = false;      // several points may write one element; the last one stays
    std::vector<GatheredAxis> gathered;  // one for each of inputs[2...]
};
struct ScanPayload {
    DType compute;
    size_t axis = 0;
};
struct ProductPayload {
    DType compute;
    std::vector<bool> axes;   // that are summed over
    bool adds_bias = false;   // on a GPU: inputs[2], of the result's columns, is added to each row
    bool takes_relu = false;  // and then the larger of it and 0
};
struct GatherPayload {
    std::vector<GatheredAxis> gathered;  // one for each of inputs[1...]
};
struct CompressPayload {
    int64_t chosen = 0;  // once computed: how many elements
};
using NodePayload = std::variant<NoPayload, ReducePayload, UpdatePayload, ScanPayload, ProductPayload,
                                 GatherPayload, CompressPayload>;

// Columns of graph/node_kinds.def.
bool is_pointwise(NodeKind kind);
bool takes_layout(NodeKind kind);

class Node {
public:
    NodePtr shared_from_this() { return NodePtr(self_); }
    const std::weak_ptr<Node>& weak_from_this() const { return self_; }  // no copy: counted many times

    NodeKind kind() const { return kind_; }
    // With an empty payload of that kind.
    void become(NodeKind kind);

    DeviceBackend* device =
        &cpu_device();  // where it runs and its results are: of its inputs, but for transfers
    const OpInfo* op = nullptr;
    int loop = 0;
    Dims shape;  // iteration space: of the results, of the input (kReduce), of the target (kUpdate)
    Operands inputs;
    NodeResults results;

    // The payload; for its own kind only.
    ReducePayload& reduce() { return std::get<ReducePayload>(payload_); }
    const ReducePayload& reduce() const { return std::get<ReducePayload>(payload_); }
    UpdatePayload& update() { return std::get<UpdatePayload>(payload_); }
    const UpdatePayload& update() const { return std::get<UpdatePayload>(payload_); }
    ScanPayload& scan() { return std::get<ScanPayload>(payload_); }
    const ScanPayload& scan() const { return std::get<ScanPayload>(payload_); }
    ProductPayload& product() { return std::get<ProductPayload>(payload_); }
    const ProductPayload& product() const { return std::get<ProductPayload>(payload_); }
    CompressPayload& compress() { return std::get<CompressPayload>(payload_); }

    // What several kinds have.
    const ReductionInfo* reduction() const;         // null for other kinds than kReduce
    DType compute_dtype() const;                    // kReduce, kScan, kProduct
    const std::vector<bool>& reduced_axes() const;  // kReduce, kProduct
    // Computed positions: of kGather, and of kUpdate; other kinds have none.
    std::span<const GatheredAxis> gathered() const;
    void add_gathered(const GatheredAxis& axis);  // kGather, kUpdate

    std::atomic<uint32_t> compressions = 0;  // how many kCompress nodes have had it for their mask
    const char* rewritten =
        nullptr;  // which rewrite made it what it is, and why (planning/algebraic_rewrites.h)

    uint64_t sequence = 0;  // order of recording, in steps of kSequenceStep; inputs have smaller ones
    // The longest chain of pending nodes up to this one; 0: not recorded yet, nobody has seen it.
    std::atomic<uint32_t> depth = 0;
    std::atomic<bool> done = false;
    uint32_t position = 0;  // in the last set that took it (graph/node_set.h)
    uint32_t site = 0;      // where the program recorded it, while somebody profiles
    PoisonPtr poison;  // what its results' observers have to decide first (api/recording/deferred_checks.h)
    // Its place among the pending nodes, and what its inputs hold of memory; under their lock.
    Node *pending_before = nullptr, *pending_after = nullptr;
    int64_t pending_bytes = 0;
    bool is_listed = false;
    bool makes_version = false;  // a kUpdate when it was recorded; the kind is for those who evaluate
    NodePtr dropped_next;        // while nodes are freed: see ~Node

    Node() = default;
    ~Node();  // iterative: a chain of a million nodes is freed without recursion
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    // The shape of the results (kReduce, kProduct: without the reduced axes; kUpdate: results are whole
    // storages).
    Dims result_shape() const;
    // Whether it was a mask once: most are the program's for the length of a call only.
    bool is_mask_of_one() const { return compressions.load(std::memory_order_relaxed) == 1; }
    // Whether `operand` reads result `result` of this node element by element over the node's own shape.
    bool read_elementwise(const Operand& operand, const Dims& consumer_shape) const;

private:
    friend NodePtr unnumbered_node();
    NodeKind kind_ = NodeKind::kElementwise;
    NodePayload payload_;
    std::weak_ptr<Node> self_;
};

// Makes a node, numbered: after its inputs were read, since another thread may record between the two, and a
// node has a larger number than what it reads.
NodePtr new_node();
// To be numbered when its inputs are in it.
NodePtr unnumbered_node();
void assign_number(Node& node);

// Whether there are just so many references to the buffer, all of them the caller's: what others did through
// theirs is over then, and the memory may be written.
inline bool has_references(const BufferPtr& buffer, long count) {
    if (buffer.use_count() != count) return false;
#if __has_feature(thread_sanitizer)
    const BufferPtr counted =
        buffer;  // NOLINT(performance-unnecessary-copy-initialization): it knows no fences
#else
    std::atomic_thread_fence(std::memory_order_acquire);
#endif
    return true;
}

inline DeviceBackend& Source::device() const { return buffer != nullptr ? buffer->device() : *node->device; }

// Every node that waits for evaluation; see pending_nodes.
size_t pending_node_count();
int64_t pending_bytes();
// Pending nodes that read or rewrite `buffer`, oldest first; whether there are any. Under the evaluation
// lock.
std::vector<NodePtr> pending_users(const Buffer* buffer);
bool has_pending_users(const Buffer* buffer);
void register_pending(const NodePtr& node);
void unregister_pending(Node& node);  // once computed
std::vector<NodePtr> all_pending();   // under the evaluation lock
// Those with smaller sequences that the program or later nodes refer to, oldest first; under the evaluation
// lock.
std::vector<NodePtr> pending_held(uint64_t sequence, bool with_products = false);
// Where others were computed, chains became shorter: counts them again. Under the evaluation lock.
void measure_pending_depths();

}  // namespace weft
