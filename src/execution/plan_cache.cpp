#include "execution/plan_cache.h"

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>

#include "core/config.h"
#include "core/optimisation_switches.h"
#include "device/cpu/streamed_bytes.h"
#include "execution/kernels/kernel_arguments.h"
#include "execution/kernels/kernel_store.h"
#include "execution/kernels/launch_replay.h"

namespace weft {

using Words = std::vector<uint64_t>;

struct PlanLease::Entry {
    Words key;
    std::vector<Group> groups;
    std::vector<std::vector<uint32_t>> positions;  // of each group's nodes among the evaluation's
    bool in_use = false;  // by an evaluation further up, when a signal handler evaluates
    bool was_met_before = false;
};

namespace {

constexpr size_t kMaxPlans = 512;
constexpr size_t kMaxWords = size_t{1} << 21;  // of all keys: 16 MiB
constexpr size_t kMaxNodes = 1024;             // larger graphs are planned anew

// Four words at a time, which do not wait for each other's products.
uint64_t hash_of(std::span<const uint64_t> words) {
    constexpr size_t kLanes = 4;
    std::array<uint64_t, kLanes> lanes{1, 2, 3, 4};
    const auto mix = [](uint64_t hash, uint64_t word) {
        return (hash ^ word) * 0x9E3779B97F4A7C15u + (hash >> 31);
    };
    size_t k = 0;
    for (; k + kLanes <= words.size(); k += kLanes) {
        for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = mix(lanes[lane], words[k + lane]);
    }
    uint64_t hash = words.size();
    for (; k < words.size(); ++k) hash = mix(hash, words[k]);
    for (const uint64_t lane : lanes) hash = mix(hash, lane);
    return hash;
}

// Numbers from 0 for the buffers of a graph, in the order in which they appear: an open hash table whose
// memory stays for the next graph.
class BufferNumbers {
public:
    void clear() {
        ++generation_;
        count_ = 0;
    }
    uint32_t number_of(const Buffer* buffer) {
        if (2 * (count_ + 1) > slots_.size()) grow();
        Slot& slot = find(buffer);
        if (slot.generation != generation_) slot = {buffer, generation_, count_++};
        return slot.number;
    }

private:
    struct Slot {
        const Buffer* buffer = nullptr;
        uint64_t generation = 0;  // the graph that it is of
        uint32_t number = 0;
    };

    Slot& find(const Buffer* buffer) {
        size_t k = (reinterpret_cast<uintptr_t>(buffer) >> 4) * 0x9E3779B97F4A7C15u >> 32;
        while (true) {
            Slot& slot = slots_[k & (slots_.size() - 1)];
            if (slot.generation != generation_ || slot.buffer == buffer) return slot;
            ++k;
        }
    }

    void grow() {
        std::vector<Slot> old(std::max<size_t>(64, slots_.size() * 2));
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.generation == generation_) find(slot.buffer) = slot;
        }
    }

    std::vector<Slot> slots_;  // a power of two
    uint64_t generation_ = 1;
    uint32_t count_ = 0;
};

class KeyWriter {
public:
    KeyWriter(const NodeSet& nodes, Words& words, BufferNumbers& buffers)
        : nodes_(nodes), words_(words), buffers_(buffers) {
        buffers_.clear();
    }

    std::span<const uint64_t> write(std::span<const NodePtr> roots, bool fuse) {
        const bool fast = config().fast_math.load(std::memory_order_relaxed);
        word(static_cast<uint64_t>(fuse) | static_cast<uint64_t>(fast) << 1 |
             static_cast<uint64_t>(nodes_.size()) << 2);
        word(std::hash<std::string>{}(config().cpu()) ^ switches_left_out());
        word(kernel_generation() << 2 | static_cast<uint64_t>(config().tier.load(std::memory_order_relaxed)));
        word(static_cast<uint64_t>(config().small_limit.load(std::memory_order_relaxed)));
        word(static_cast<uint64_t>(streamed_bytes()));
        for (const Node* node : nodes_) write_node(*node);
        for (const NodePtr& root : roots) word(root->position);
        return std::span(words_).first(count_);
    }

private:
    void word(uint64_t value) {
        reserve(1);
        quick(value);
    }
    void reserve(size_t words) {
        if (count_ + words > words_.size()) [[unlikely]]
            words_.resize(std::max(count_ + words, 2 * words_.size()));
    }
    // Memory for the words was reserved.
    void quick(uint64_t value) { words_[count_++] = value; }
    void quick(const Dims& values) {
        quick(values.size());
        for (const int64_t value : values) quick(static_cast<uint64_t>(value));
    }
    void dims(const Dims& values) {
        reserve(values.size() + 1);
        quick(values);
    }

    void write_node(const Node& node) {
        reserve(node.shape.size() + 4);
        quick(static_cast<uint64_t>(node.kind()) | static_cast<uint64_t>(nodes_.is_held(node)) << 8 |
              static_cast<uint64_t>(node.is_mask_of_one()) << 9 |
              static_cast<uint64_t>(node.inputs.size()) << 16 |
              static_cast<uint64_t>(node.results.size()) << 32 | static_cast<uint64_t>(node.loop) << 40);
        quick(reinterpret_cast<uintptr_t>(node.device));
        quick(reinterpret_cast<uintptr_t>(node.op) ^ reinterpret_cast<uintptr_t>(node.reduction()) << 1);
        quick(node.shape);
        for (const NodeResult& result : node.results) {
            reserve(result.strides.size() + 2);
            quick(static_cast<uint64_t>(result.dtype.scalar_type()) | static_cast<uint64_t>(result.bytes)
                                                                          << 8);
            quick(result.strides);
        }
        if (node.kind() == NodeKind::kReduce) {
            word(static_cast<uint64_t>(node.compute_dtype().scalar_type()));
        }
        if (node.kind() == NodeKind::kProduct)
            word(static_cast<uint64_t>(node.product().adds_bias) |
                 static_cast<uint64_t>(node.product().takes_relu) << 1);
        if (node.kind() == NodeKind::kReduce || node.kind() == NodeKind::kProduct) {
            for (size_t d = 0; d < node.reduced_axes().size(); ++d) word(node.reduced_axes()[d]);
        }
        if (node.kind() == NodeKind::kScan) {
            word(static_cast<uint64_t>(node.compute_dtype().scalar_type()) |
                 static_cast<uint64_t>(node.scan().axis) << 8);
        }
        if (node.kind() == NodeKind::kGather || node.kind() == NodeKind::kUpdate) {
            for (const GatheredAxis& axis : node.gathered()) {
                word(static_cast<uint64_t>(axis.extent));
                word(static_cast<uint64_t>(axis.stride) << 1 | static_cast<uint64_t>(axis.wraps));
            }
        }
        if (node.kind() == NodeKind::kUpdate) {
            word(static_cast<uint64_t>(node.update().target.dtype.scalar_type()) |
                 static_cast<uint64_t>(node.gathered().size()) << 8 |
                 static_cast<uint64_t>(node.update().repeats_positions) << 16);
            word(static_cast<uint64_t>(node.update().target.offset));
            dims(node.update().target.strides);
        }
        for (size_t k = 0; k < node.inputs.size(); ++k) write_operand(node, k);
    }

    void write_operand(const Node& node, size_t k) {
        const Operand& input = node.inputs[k];
        const uint64_t type = static_cast<uint64_t>(input.dtype.scalar_type());
        if (input.is_constant()) {
            word(1 | type << 8);
            if (is_integer_divisor(node, k)) {
                for (const uint8_t byte : input.constant) word(byte);
            }
            return;
        }
        reserve(input.strides.size() + 3);
        if (input.source.node) {
            quick(2 | type << 8 | static_cast<uint64_t>(input.source.result) << 16 |
                  static_cast<uint64_t>(input.source.node->position) << 32);
        } else {
            // Equal buffers get equal numbers, in the order in which they appear.
            quick(3 | type << 8 | uint64_t{buffers_.number_of(input.source.buffer.get())} << 32);
        }
        quick(static_cast<uint64_t>(input.offset));
        quick(input.strides);
    }

    const NodeSet& nodes_;
    Words& words_;      // as long as the longest key so far
    size_t count_ = 0;  // of the words that are written
    BufferNumbers& buffers_;
};

}  // namespace

// Global as kernels are: plans serve all arrays of the process. Used under the evaluation lock only.
class PlanCache {
public:
    std::shared_ptr<PlanLease::Entry> find_or_make(const NodeSet& nodes, std::span<const NodePtr> roots,
                                                   bool fuse) {
        if (nodes.size() > kMaxNodes || !is_on(OptimisationSwitch::kPlanCache))
            return make(nodes, roots, fuse);
        const std::span<const uint64_t> written = KeyWriter(nodes, key_, numbers_).write(roots, fuse);
        const uint64_t hash = hash_of(written);
        const auto found = entries_.find(hash);
        if (found != entries_.end() && std::ranges::equal(found->second->key, written) &&
            !found->second->in_use) {
            fill(*found->second, nodes);
            found->second->was_met_before = true;
            return found->second;
        }
        Words key(written.begin(), written.end());
        std::shared_ptr<PlanLease::Entry> entry = make(nodes, roots, fuse);
        for (Group& group : entry->groups) group.memo = std::make_shared<LaunchMemo>();
        if (entries_.size() >= kMaxPlans || words_ + key.size() > kMaxWords) {
            entries_.clear();
            words_ = 0;
        }
        words_ += key.size();
        entry->key = std::move(key);
        for (const Group& group : entry->groups) {
            std::vector<uint32_t>& positions = entry->positions.emplace_back();
            for (const Node* node : group.nodes) positions.push_back(node->position);
        }
        entries_.insert_or_assign(hash, entry);
        return entry;
    }

private:
    static std::shared_ptr<PlanLease::Entry> make(const NodeSet& nodes, std::span<const NodePtr> roots,
                                                  bool fuse) {
        auto entry = std::make_shared<PlanLease::Entry>();
        entry->groups = make_plan(nodes, roots, fuse);
        return entry;
    }

    static void fill(PlanLease::Entry& entry, const NodeSet& nodes) {
        for (size_t k = 0; k < entry.groups.size(); ++k) {
            std::vector<Node*>& members = entry.groups[k].nodes;
            members.clear();
            for (const uint32_t position : entry.positions[k]) members.push_back(nodes[position]);
        }
    }

    Words key_;
    BufferNumbers numbers_;
    std::unordered_map<uint64_t, std::shared_ptr<PlanLease::Entry>> entries_;
    size_t words_ = 0;
};

namespace {

PlanCache& plan_cache() {
    static auto* cache = new PlanCache;  // arrays may be evaluated while the process exits
    return *cache;
}

}  // namespace

PlanLease::PlanLease(const NodeSet& nodes, std::span<const NodePtr> roots, bool fuse)
    : entry_(plan_cache().find_or_make(nodes, roots, fuse)) {
    entry_->in_use = true;
}

PlanLease::~PlanLease() {
    for (Group& group : entry_->groups) {
        group.keep.clear();
        group.nodes.clear();
        for (std::vector<BufferPtr>& buffers : group.buffers) buffers.clear();
        group.released.clear();
    }
    entry_->in_use = false;
}

bool PlanLease::was_met_before() const { return entry_->was_met_before; }

std::vector<Group>& PlanLease::groups() { return entry_->groups; }

}  // namespace weft
