// How the iterations of a parallel loop update one variable, or the elements of one array: by one operation
// whose order does not matter, or the loop is refused.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lang/parallel/carried.h"

namespace weft::lang {

// Why a loop cannot be parallel: the place, what is wrong and what to write.
struct Refusal {
    NodeId where;
    std::string why, help;
};

inline constexpr const char* kReductionHelp =
    "Write it as a reduction (s += x, s = min(s, x)), or give each iteration an element of an array.";

// Looks at every occurrence in a loop's body: each is in an update.
class Updates {
public:
    enum class Of : uint8_t { kVariable, kElements };

    Updates(const FunctionSource& source, size_t variable, Of of = Of::kVariable)
        : source_(source), variable_(variable), of_(of) {}

    // Throws Refusal.
    CarriedVariable find(NodeId body);
    // Where the variables stand that are assigned beside a minimum or maximum.
    const std::vector<std::pair<size_t, NodeId>>& beside() const { return beside_; }

    // Of elements: whether the statement is an update of one of them, as it stands there.
    static bool is_update_of_element(const FunctionSource& source, size_t variable, NodeId statement);

private:
    const Node& node(NodeId id) const { return source_.tree[id]; }
    bool is_place(NodeId id) const;
    bool is_shape(NodeId id) const;
    bool mentions(NodeId id) const;
    bool same(NodeId one, NodeId other) const;
    [[noreturn]] void refuse(NodeId where, const std::string& why) const;
    [[noreturn]] void refuse_read(NodeId where) const;
    void take(NodeId where, std::string operation);

    void statement(NodeId id);
    void assign(NodeId id);
    void augment(NodeId id);
    void enter(NodeId target);
    std::string operation_of(NodeId where, const std::string& name, bool left) const;
    std::string update(NodeId id);
    void combine(NodeId id, std::string& operation, std::string next) const;
    void add_update(NodeId id, std::string& operation) const;
    void add_update_of_one(NodeId id, std::span<const NodeId> items, std::string& operation) const;
    std::optional<std::string> extreme_of(NodeId callee) const;
    bool is_extreme(NodeId id);

    const FunctionSource& source_;
    size_t variable_;
    Of of_;
    NodeId target_ = 0;  // of elements: the one that is updated
    CarriedVariable found_;
    std::vector<std::pair<size_t, NodeId>> beside_;
};

// The variable whose element `a[i][j].x` is, with all of its indices and names; nothing where it is no
// variable's.
struct ElementOf {
    size_t variable = 0;
    std::vector<NodeId> items{};
    std::vector<std::string> fields{};  // a[i].x, a.x[i]
};
std::optional<ElementOf> element_of_variable(const Tree& tree, NodeId id);

}  // namespace weft::lang
