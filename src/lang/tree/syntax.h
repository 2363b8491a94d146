// A function as it was written, before any type is known: a tree of statements and expressions.
//
// A frontend (the Python package's `_jit/_syntax.py`) sends it as text, an S-expression, without places, so
// that the text is a key for caches; places come beside it, one a node. docs/internals/lang.md lists the
// nodes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::lang {

enum class NodeKind : uint8_t {
#define WEFT_NODE(enumerator, text) enumerator,
#include "lang/tree/nodes.def"
#undef WEFT_NODE
};

std::string_view node_name(NodeKind kind);

// An index into Tree::nodes, which are in the order of their opening parentheses.
using NodeId = uint32_t;

struct Node {
    NodeKind kind = NodeKind::kPass;
    int32_t number = -1;               // a variable of kName, parameters, inner kDef; a symbol of kGlobal
    std::vector<std::string> atoms{};  // names, numbers, operators, texts, in the order of the text
    std::vector<NodeId> children{};
};

// A node as the text of a tree has it, without its children: "binary add".
std::string head_of(const Node& node);

// Where a node stands in its file. Columns count bytes of UTF-8 from 0.
struct Place {
    int32_t line = 0, column = 0, end_line = 0, end_column = 0;
};

class Tree {
public:
    // Throws ValueError where the text is none.
    static Tree parse(std::string_view text, std::span<const Place> places = {});

    const Node& operator[](NodeId id) const { return nodes_[id]; }
    Place place(NodeId id) const { return id < places_.size() ? places_[id] : Place{}; }
    NodeId child(NodeId id, size_t k) const { return nodes_[id].children[k]; }
    size_t size() const { return nodes_.size(); }
    const std::string& text() const { return text_; }

    // Node 0 is a kDef. Parameters are its first variables, in order.
    const std::string& name() const { return nodes_[0].atoms[0]; }
    std::span<const NodeId> parameters() const { return nodes_[child(0, 0)].children; }
    NodeId body() const { return child(0, 1); }
    const std::vector<std::string>& variables() const { return variables_; }

private:
    friend class TreeParser;
    void number_variables();

    std::string text_;
    std::vector<Node> nodes_;
    std::vector<Place> places_;
    std::vector<std::string> variables_;
};

}  // namespace weft::lang
