// A set of nodes, in an order, with what planning asks of each: its position, and whether anybody else holds
// it. A node knows its position in the set that took it last (Node::position), which makes finding it quick.
// So one set is asked at a time, under the evaluation lock.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/node.h"

namespace weft {

class NodeSet {
public:
    void clear() { nodes_.clear(); }
    void add(Node& node) {  // unless it is there
        if (contains(node)) return;
        node.position = static_cast<uint32_t>(nodes_.size());
        nodes_.push_back(&node);
    }
    // In order of recording.
    void sort();
    // Finds out for all nodes at once who is held: another thread may let go of a value at any moment, and a
    // plan must agree with its key.
    void find_held();

    bool contains(const Node& node) const {
        return node.position < nodes_.size() && nodes_[node.position] == &node;
    }
    // Of a node of the set: by the program, or by nodes that are not in it.
    bool is_held(const Node& node) const { return uses_[node.position].held; }

    bool empty() const { return nodes_.empty(); }
    size_t size() const { return nodes_.size(); }
    Node* operator[](size_t position) const { return nodes_[position]; }
    Node* const* begin() const { return nodes_.data(); }
    Node* const* end() const { return nodes_.data() + nodes_.size(); }

private:
    struct Use {
        uint32_t readers = 0;  // operands of the set's nodes
        bool held = false;
    };
    std::vector<Node*> nodes_;
    std::vector<Use> uses_;  // by position
};

}  // namespace weft
