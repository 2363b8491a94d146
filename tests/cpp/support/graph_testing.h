// Pending graphs in tests, written with arrays, and what planning makes of them.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "core/config.h"
#include "core/optimisation_switches.h"
#include "core/shape.h"
#include "graph/pending_graph.h"
#include "graph/storage.h"
#include "planning/planner.h"
#include "weft/weft.h"

namespace weft::testing_graph {

inline NodePtr node_of(const array& pending) { return current_version(*pending.storage()).node; }

inline std::string name_of(const Node& node) {
    switch (node.kind()) {
        case NodeKind::kElementwise: return node.op != nullptr ? std::string(node.op->name) : "cast";
        case NodeKind::kReduce: return std::string(node.reduction()->name);
        case NodeKind::kUpdate: return "write";
        case NodeKind::kArange: return "arange";
        case NodeKind::kScan: return "scan";
        case NodeKind::kProduct: return "product";
        case NodeKind::kGather: return "gather";
        case NodeKind::kDraw: return "draw";
        case NodeKind::kCompress: return "compress";
        case NodeKind::kTransfer: return "transfer";
    }
    return "";
}

// Records everything, however small; nothing is computed but what a test evaluates.
class GraphTest : public ::testing::Test {
protected:
    void SetUp() override {
        small_limit_ = config().small_limit.exchange(0);
        leave_out("");
    }
    void TearDown() override {
        set_without("");
        config().small_limit = small_limit_;
    }

    // Optimisation switches; and the one that would compute what a test records in a loop.
    static void leave_out(const std::string& steps) {
        set_without("loop_detection" + (steps.empty() ? "" : "," + steps));
    }

    // An array whose elements are in memory.
    static array in_memory(const Dims& shape, DType dtype = float64) {
        const array made = full(Shape(shape), 1.0, dtype);
        eval({&made, 1});
        return made;
    }

    // The pending nodes that the arrays need, in order of recording.
    std::span<Node* const> collect(const std::vector<array>& results) {
        roots_.clear();
        for (const array& result : results) roots_.push_back(node_of(result));
        graph_.collect(roots_);
        return graph_.nodes();
    }

    std::vector<Group> plan(const std::vector<array>& results, bool fuse = true) {
        collect(results);
        return make_plan(graph_.nodes(), roots_, fuse);
    }

    // What each group computes, a line each, as "multiply add*": a star for each value that is stored.
    std::string planned(const std::vector<array>& results, bool fuse = true) {
        std::string text;
        for (const Group& group : plan(results, fuse)) {
            for (size_t k = 0; k < group.nodes.size(); ++k) {
                text += (k == 0 ? "" : " ") + name_of(*group.nodes[k]) + (group.stored[k] ? "*" : "");
            }
            text += "\n";
        }
        return text;
    }

    // The names of the pending nodes, in order of recording.
    std::string pending(const std::vector<array>& results) {
        std::string text;
        for (const Node* node : collect(results)) text += (text.empty() ? "" : " ") + name_of(*node);
        return text;
    }

private:
    PendingGraph graph_;
    std::vector<NodePtr> roots_;
    int64_t small_limit_ = 0;
};

}  // namespace weft::testing_graph
