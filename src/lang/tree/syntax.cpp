#include "lang/tree/syntax.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "weft/errors.h"

namespace weft::lang {

namespace {

constexpr std::string_view kNames[] = {
#define WEFT_NODE(enumerator, text) text,
#include "lang/tree/nodes.def"
#undef WEFT_NODE
};

constexpr size_t kDeepest = 1000;  // nodes within nodes

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

}  // namespace

std::string_view node_name(NodeKind kind) { return kNames[static_cast<size_t>(kind)]; }

class TreeParser {
public:
    TreeParser(Tree& tree, std::string_view text) : tree_(tree), text_(text) {}

    void run() {
        skip();
        if (at_ >= text_.size() || text_[at_] != '(') fail("a tree begins with (");
        node(0);
        skip();
        if (at_ != text_.size()) fail("something follows the tree");
        if (tree_.nodes_[0].kind != NodeKind::kDef) fail("a tree is a def");
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw ValueError("tree of a function, byte " + std::to_string(at_) + ": " + what);
    }

    void skip() {
        while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    }

    std::string_view word() {
        const size_t begin = at_;
        while (at_ < text_.size() && !is_space(text_[at_]) && text_[at_] != '(' && text_[at_] != ')' &&
               text_[at_] != '"')
            ++at_;
        return text_.substr(begin, at_ - begin);
    }

    std::string quoted() {
        std::string result;
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
            if (text_[at_] != '\\') {
                result += text_[at_];
                continue;
            }
            if (++at_ >= text_.size()) break;
            if (text_[at_] == 'n') {
                result += '\n';
            } else if (text_[at_] == 'x') {
                unsigned value = 0;
                const char* begin = text_.data() + at_ + 1;
                if (at_ + 3 > text_.size() || std::from_chars(begin, begin + 2, value, 16).ptr != begin + 2)
                    fail("\\x needs two hexadecimal digits");
                result += static_cast<char>(value);
                at_ += 2;
            } else {
                result += text_[at_];
            }
        }
        if (at_ >= text_.size()) fail("a text has no end");
        ++at_;
        return result;
    }

    NodeId node(size_t depth) {
        if (depth > kDeepest) fail("the function is nested too deeply");
        ++at_;
        skip();
        const std::string_view name = word();
        const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
        if (found == std::end(kNames)) fail("there is no node called '" + std::string(name) + "'");
        const auto id = static_cast<NodeId>(tree_.nodes_.size());
        tree_.nodes_.emplace_back().kind = static_cast<NodeKind>(found - std::begin(kNames));
        std::vector<std::string> atoms;
        std::vector<NodeId> children;
        for (;;) {
            skip();
            if (at_ >= text_.size()) fail("a node has no end");
            const char c = text_[at_];
            if (c == ')') break;
            if (c == '(') {
                children.push_back(node(depth + 1));
            } else if (c == '"') {
                atoms.push_back(quoted());
            } else {
                atoms.emplace_back(word());
            }
        }
        ++at_;
        tree_.nodes_[id].atoms = std::move(atoms);
        tree_.nodes_[id].children = std::move(children);
        check(id);
        return id;
    }

    // As many atoms and children as whoever reads the node relies on.
    void check(NodeId id) const {
        struct Least {
            size_t atoms, children;
        };
        const Node& node = tree_.nodes_[id];
        const Least least = [&]() -> Least {
            switch (node.kind) {
                case NodeKind::kDef: return {1, 2};
                case NodeKind::kParam:
                case NodeKind::kDefault:
                case NodeKind::kRest:
                case NodeKind::kKeywordDefault:
                case NodeKind::kInt:
                case NodeKind::kFloat:
                case NodeKind::kBool:
                case NodeKind::kString:
                case NodeKind::kFormat:
                case NodeKind::kName:
                case NodeKind::kGlobal: return {1, 0};
                case NodeKind::kComplex: return {2, 0};
                case NodeKind::kAssign:
                case NodeKind::kLambda: return {0, 2};
                case NodeKind::kExpression:
                case NodeKind::kYield:
                case NodeKind::kIterator:
                case NodeKind::kAssert:
                case NodeKind::kCall:
                case NodeKind::kStarred: return {0, 1};
                case NodeKind::kAdvance:
                case NodeKind::kCurrent:
                case NodeKind::kIndex: return {0, 2};
                case NodeKind::kSuspend: return {1, 1};
                case NodeKind::kIf:
                case NodeKind::kWhile:
                case NodeKind::kIfExpression:
                case NodeKind::kSlice: return {0, 3};
                case NodeKind::kFor: return {0, 4};
                case NodeKind::kAttribute:
                case NodeKind::kUnary:
                case NodeKind::kWalrus: return {1, 1};
                case NodeKind::kAugment:
                case NodeKind::kBinary:
                case NodeKind::kCompare: return {1, 2};
                case NodeKind::kAnd:
                case NodeKind::kOr: return {0, 2};
                default: return {0, 0};
            }
        }();
        if (node.atoms.size() < least.atoms || node.children.size() < least.children)
            fail("'" + std::string(node_name(node.kind)) + "' lacks a part");
        if (node.kind == NodeKind::kCompare && node.atoms.size() + 1 != node.children.size())
            fail("'compare' needs an operator between each two expressions");
    }

    Tree& tree_;
    std::string_view text_;
    size_t at_ = 0;
};

void Tree::number_variables() {
    const auto number = [&](const std::string& name) {
        const auto found = std::find(variables_.begin(), variables_.end(), name);
        if (found != variables_.end()) return static_cast<int32_t>(found - variables_.begin());
        variables_.push_back(name);
        return static_cast<int32_t>(variables_.size() - 1);
    };
    for (Node& node : nodes_) {
        switch (node.kind) {
            case NodeKind::kParam:
            case NodeKind::kDefault:
            case NodeKind::kRest:
            case NodeKind::kKeywordDefault:
            case NodeKind::kName:
            case NodeKind::kWalrus: node.number = number(node.atoms[0]); break;
            case NodeKind::kDef:
                if (&node != nodes_.data()) node.number = number(node.atoms[0]);
                break;
            case NodeKind::kKeyword:
                if (node.children.empty()) node.number = number(node.atoms[0]);
                break;
            case NodeKind::kGlobal: {
                const std::string& text = node.atoms[0];
                if (std::from_chars(text.data(), text.data() + text.size(), node.number).ptr !=
                    text.data() + text.size())
                    throw ValueError("tree of a function: '" + text + "' is no number of a symbol");
                break;
            }
            default: break;
        }
    }
}

std::string head_of(const Node& node) {
    std::string text(node_name(node.kind));
    const bool is_text = node.kind == NodeKind::kString || node.kind == NodeKind::kFormat;
    for (const std::string& atom : node.atoms) {
        text += is_text ? " \"" : " ";
        for (const char c : atom) {
            if (is_text && (c == '"' || c == '\\')) text += '\\';
            text += c;
        }
        if (is_text) text += '"';
    }
    return text;
}

Tree Tree::parse(std::string_view text, std::span<const Place> places) {
    Tree tree;
    tree.text_ = text;
    tree.places_.assign(places.begin(), places.end());
    TreeParser(tree, tree.text_).run();
    tree.number_variables();
    return tree;
}

}  // namespace weft::lang
