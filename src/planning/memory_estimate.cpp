#include "planning/memory_estimate.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace weft {

namespace {

// Plans that ask for less are not worth a look at the system, which takes longer than they do.
constexpr int64_t kLookedAtBytes = int64_t{64} << 20;

bool stores_fresh(const Group& group, size_t k) {
    return group.stored[k] && group.nodes[k]->kind() != NodeKind::kUpdate;
}

int64_t stored_bytes(const Group& group) {
    int64_t bytes = 0;
    for (size_t k = 0; k < group.nodes.size(); ++k) {
        if (!stores_fresh(group, k)) continue;
        for (const NodeResult& result : group.nodes[k]->results) bytes += result.bytes;
    }
    return bytes;
}

// What can be given back after each group: it was the last to read it, and the program does not hold it.
class LastReaders {
public:
    LastReaders(std::span<const Group> groups, const NodeSet& nodes) {
        for (size_t g = 0; g < groups.size(); ++g) {
            for (size_t k = 0; k < groups[g].nodes.size(); ++k) {
                const Node& node = *groups[g].nodes[k];
                read(node, g);
                if (stores_fresh(groups[g], k) && !nodes.is_held(node)) last_reader_[&node] = g;
            }
        }
        freed_.resize(groups.size());
        for (const auto& [node, group] : last_reader_) {
            for (const NodeResult& result : node->results) freed_[group] += result.bytes;
        }
        for (const auto& [buffer, use] : buffers_) {
            if (use.references == use.all_references)
                freed_[use.group] += static_cast<int64_t>(buffer->size());
        }
    }

    int64_t freed_after(size_t group) const { return freed_[group]; }

private:
    struct Use {
        size_t group = 0;
        long references = 0, all_references = 0;
    };

    void read(const Node& node, size_t group) {
        const bool first = seen_.insert(&node).second;
        for (const Operand& operand : node.inputs) {
            const Source& source = operand.source;
            if (source.buffer) {
                Use& use = buffers_[source.buffer.get()];
                use.group = group;
                use.all_references = source.buffer.use_count();
                if (first) ++use.references;
            } else if (const auto stored = last_reader_.find(source.node.get());
                       stored != last_reader_.end()) {
                stored->second = group;
            }
        }
    }

    std::unordered_set<const Node*> seen_;
    std::unordered_map<const Node*, size_t> last_reader_;  // of stored results that the program does not hold
    std::unordered_map<const Buffer*, Use> buffers_;
    std::vector<int64_t> freed_;
};

}  // namespace

int64_t least_fresh_bytes(std::span<const Group> groups, const NodeSet& nodes) {
    const LastReaders readers(groups, nodes);
    int64_t now = 0, most = 0;
    for (size_t g = 0; g < groups.size(); ++g) {
        now += stored_bytes(groups[g]);
        most = std::max(most, now);
        now -= readers.freed_after(g);
    }
    return most;
}

void require_memory(std::span<const Group> groups, const NodeSet& nodes) {
    if (groups.size() < 2) return;  // one group alone looks when it reserves
    int64_t all = 0;
    for (const Group& group : groups) {
        all += stored_bytes(group);
        if (group.device != groups[0].device) return;  // plans over several devices look at each buffer
    }
    if (all < kLookedAtBytes) return;
    groups[0].device->require(static_cast<size_t>(least_fresh_bytes(groups, nodes)));
}

}  // namespace weft
