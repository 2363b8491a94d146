#include "lang/parallel/elements.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "lang/parallel/updates.h"

namespace weft::lang {

namespace {

constexpr int kDeepest = 16;  // of expressions and of variables that stand for others

// An index as a sum of products: factor * factor * ... * counter, with at most one counter each.
struct Term {
    int sign = 1;
    int64_t number = 1;                // the product of its literal factors
    std::vector<std::string> factors;  // the others, which no iteration changes, in order
    std::optional<size_t> counter{};   // of a loop
};

class Elements {
public:
    Elements(const FunctionSource& source, NodeId loop, const VariableSet& assigned)
        : source_(source), loop_(loop), body_(source.tree[loop].children[2]), assigned_(assigned) {}

    std::vector<CarriedVariable> find() {
        const Node& target = node(node(loop_).children[0]);
        if (target.kind == NodeKind::kName) counter_ = static_cast<size_t>(target.number);
        gather_assignments(body_);
        gather_stores(body_, false);
        std::vector<CarriedVariable> result;
        for (const Store& store : stores_) {
            if (is_own(store.element) && !(store.is_update && meets_other(store))) continue;
            if (!store.is_update) {
                refuse_one_element(store);
                continue;
            }
            if (store.through != store.element.variable)
                throw Refusal{store.where,
                              "'" + name(store.through) + "' is a part of '" + name(store.element.variable) +
                                  "', with elements that several iterations of prange may update",
                              "Write the element with all of its indices: " + name(store.element.variable) +
                                  "[i, j] += x."};
            const size_t v = store.element.variable;
            if (is_among(result, v)) continue;
            result.push_back(Updates(source_, v, Updates::Of::kElements).find(body_));
        }
        for (const Store& store : stores_) {
            if (!is_among(result, store.element.variable)) refuse_neighbours(store);
        }
        return result;
    }

private:
    struct Store {
        NodeId where;
        ElementOf element;  // of an array from before the loop
        size_t through;     // the variable that is indexed: the array, or a view of it
        NodeId value = 0;   // what is stored, if it is no update
        bool is_update = false;
        bool conditional = false;
    };

    static bool is_among(const std::vector<CarriedVariable>& arrays, size_t variable) {
        return std::any_of(arrays.begin(), arrays.end(),
                           [&](const CarriedVariable& each) { return each.variable == variable; });
    }

    const Node& node(NodeId id) const { return source_.tree[id]; }
    const std::string& name(size_t variable) const { return source_.tree.variables()[variable]; }
    bool is_from_before(size_t variable) const { return !assigned_[variable]; }

    // --- what the body assigns and stores -------------------------------------------------------------

    void gather_assignments(NodeId id) {
        const Node& given = node(id);
        if (given.kind == NodeKind::kContinue) continues_ = true;
        if (given.kind == NodeKind::kWalrus) ++assignments_[static_cast<size_t>(given.number)];
        if (given.kind == NodeKind::kAssign || given.kind == NodeKind::kAugment ||
            given.kind == NodeKind::kFor) {
            note_targets(given.children[0]);
            const Node& target = node(given.children[0]);
            if (target.kind == NodeKind::kName) {
                const auto v = static_cast<size_t>(target.number);
                if (given.kind == NodeKind::kAssign) values_[v] = given.children[1];
                if (given.kind == NodeKind::kFor) sequences_[v] = given.children[1];
            }
        }
        for (NodeId child : given.children) gather_assignments(child);
    }

    void note_targets(NodeId id) {
        const Node& given = node(id);
        if (given.kind == NodeKind::kName) ++assignments_[static_cast<size_t>(given.number)];
        if (given.kind != NodeKind::kTuple && given.kind != NodeKind::kStarred) return;
        for (NodeId child : given.children) note_targets(child);
    }

    // What a variable stands for that is assigned once in the body.
    std::optional<NodeId> value_of(size_t variable) const {
        const auto found = values_.find(variable);
        if (found == values_.end() || assignments_.at(variable) != 1) return std::nullopt;
        return found->second;
    }

    void gather_stores(NodeId id, bool conditional) {
        const Node& given = node(id);
        if (given.kind == NodeKind::kIf) {
            for (NodeId inner : node(given.children[1]).children) {
                if (node(inner).kind != NodeKind::kAssign) continue;
                const std::optional<ElementOf> element =
                    element_of_variable(source_.tree, node(inner).children[0]);
                if (element && Updates::is_update_of_element(source_, element->variable, id)) {
                    add_store(node(inner).children[0], id, true, true);
                    return;
                }
            }
        }
        if (given.kind == NodeKind::kAssign) {
            const NodeId target = given.children[0], value = given.children[1];
            const bool pairs = node(target).kind == NodeKind::kTuple &&
                               node(value).kind == NodeKind::kTuple &&
                               node(target).children.size() == node(value).children.size();
            if (node(target).kind == NodeKind::kTuple) {
                for (size_t i = 0; i < node(target).children.size(); ++i)
                    add_store(node(target).children[i], pairs ? node(value).children[i] : value, false,
                              conditional);
            } else {
                add_store(target, value, false, conditional);
            }
        }
        if (given.kind == NodeKind::kAugment) add_store(given.children[0], id, true, conditional);
        const bool inside =
            conditional || given.kind == NodeKind::kIf || given.kind == NodeKind::kWhile || continues_;
        for (NodeId child : given.children) gather_stores(child, inside);
    }

    void add_store(NodeId target, NodeId value, bool is_update, bool conditional) {
        std::optional<ElementOf> element = element_of_variable(source_.tree, target);
        if (!element) return;
        const size_t through = element->variable;
        // A view of an array from before the loop.
        for (int depth = 0; depth < kDeepest && !is_from_before(element->variable); ++depth) {
            const std::optional<NodeId> of = value_of(element->variable);
            if (!of) return;
            if (node(*of).kind == NodeKind::kName) {
                element->variable = static_cast<size_t>(node(*of).number);
                continue;
            }
            std::optional<ElementOf> around = element_of_variable(source_.tree, *of);
            if (!around) return;
            around->items.insert(around->items.end(), element->items.begin(), element->items.end());
            around->fields.insert(around->fields.end(), element->fields.begin(), element->fields.end());
            element = around;
        }
        if (!is_from_before(element->variable)) return;
        if (!is_update && through == element->variable && reads(value, target)) is_update = true;
        stores_.push_back({target, *element, through, value, is_update, conditional});
    }

    // Whether the element that is stored is in what is stored.
    bool reads(NodeId value, NodeId target) const {
        return same(value, target) || std::any_of(node(value).children.begin(), node(value).children.end(),
                                                  [&](NodeId child) { return reads(child, target); });
    }

    bool same(NodeId one, NodeId other) const {
        const Node &a = node(one), &b = node(other);
        return a.kind == b.kind && a.number == b.number && a.atoms == b.atoms &&
               std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                          [&](NodeId x, NodeId y) { return same(x, y); });
    }

    // --- indices --------------------------------------------------------------------------------------

    // Whether it has one value for all iterations.
    bool is_invariant(NodeId id, int depth = 0) const {
        if (depth > kDeepest) return false;
        const Node& given = node(id);
        switch (given.kind) {
            case NodeKind::kInt:
            case NodeKind::kBool:
            case NodeKind::kFloat:
            case NodeKind::kComplex:
            case NodeKind::kNone:
            case NodeKind::kEllipsis:
            case NodeKind::kGlobal: return true;
            case NodeKind::kName: {
                const auto v = static_cast<size_t>(given.number);
                if (counter_ == v) return false;
                if (is_from_before(v)) return true;
                const std::optional<NodeId> value = value_of(v);
                return value && is_invariant(*value, depth + 1);
            }
            case NodeKind::kIndex:  // of a shape only: elements may change
                return node(given.children[0]).kind == NodeKind::kAttribute &&
                       node(given.children[0]).atoms[0] == "shape" && all_invariant(given.children, depth);
            case NodeKind::kAttribute:
            case NodeKind::kBinary:
            case NodeKind::kUnary:
            case NodeKind::kTuple:
            case NodeKind::kSlice: return all_invariant(given.children, depth);
            case NodeKind::kCall: {
                const Node& callee = node(given.children[0]);
                return callee.kind == NodeKind::kGlobal &&
                       source_.symbol(callee.number).path == "builtins.len" &&
                       all_invariant(given.children, depth);
            }
            default: return false;
        }
    }
    bool all_invariant(const std::vector<NodeId>& children, int depth) const {
        return std::all_of(children.begin(), children.end(),
                           [&](NodeId child) { return is_invariant(child, depth + 1); });
    }

    // A text that two expressions have where they are the same value in all iterations.
    std::string text_of(NodeId id, int depth = 0) const {
        const Node& given = node(id);
        if (given.kind == NodeKind::kName && depth < kDeepest) {
            const std::optional<NodeId> value = value_of(static_cast<size_t>(given.number));
            if (value && !is_from_before(static_cast<size_t>(given.number)))
                return text_of(*value, depth + 1);
        }
        std::string text = "(" + std::string(node_name(given.kind)) + std::to_string(given.number);
        for (const std::string& atom : given.atoms) text += " " + atom;
        for (NodeId child : given.children) text += text_of(child, depth);
        return text + ")";
    }

    std::optional<int64_t> literal(NodeId id) const {
        const Node& given = node(id);
        if (given.kind == NodeKind::kUnary && given.atoms[0] == "neg") {
            const std::optional<int64_t> value = literal(given.children[0]);
            return value ? std::optional(-*value) : std::nullopt;
        }
        constexpr size_t kDigits = 9;
        if (given.kind != NodeKind::kInt || given.atoms[0].size() > kDigits) return std::nullopt;
        return std::strtoll(given.atoms[0].c_str(), nullptr, 10);
    }

    bool is_counter(size_t variable) const {
        return variable == counter_ || (sequences_.contains(variable) && assignments_.at(variable) == 1);
    }

    // Nothing where it is no sum of products with a counter each.
    std::optional<std::vector<Term>> terms_of(NodeId id, int depth = 0) const {
        if (depth > kDeepest) return std::nullopt;
        const Node& given = node(id);
        if (const std::optional<int64_t> number = literal(id)) {
            Term term;
            term.number = *number;
            return std::vector{term};
        }
        if (given.kind == NodeKind::kName) {
            const auto v = static_cast<size_t>(given.number);
            if (is_counter(v)) {
                Term term;
                term.counter = v;
                return std::vector{term};
            }
            const std::optional<NodeId> value = value_of(v);
            if (value && !is_from_before(v)) return terms_of(*value, depth + 1);
        }
        const bool adds =
            given.kind == NodeKind::kBinary && (given.atoms[0] == "add" || given.atoms[0] == "sub");
        if (adds || (given.kind == NodeKind::kBinary && given.atoms[0] == "mul")) {
            const auto left = terms_of(given.children[0], depth + 1);
            const auto right = terms_of(given.children[1], depth + 1);
            if (!left || !right) return std::nullopt;
            return adds ? sum_of(*left, *right, given.atoms[0] == "sub" ? -1 : 1) : product_of(*left, *right);
        }
        if (given.kind == NodeKind::kUnary && given.atoms[0] == "neg") {
            const auto operand = terms_of(given.children[0], depth + 1);
            if (!operand) return std::nullopt;
            return sum_of({}, *operand, -1);
        }
        if (!is_invariant(id)) return std::nullopt;
        Term term;
        term.factors.push_back(text_of(id));
        return std::vector{term};
    }

    static std::vector<Term> sum_of(std::vector<Term> terms, const std::vector<Term>& others, int sign) {
        for (Term term : others) {
            term.sign *= sign;
            terms.push_back(std::move(term));
        }
        return terms;
    }

    static std::optional<std::vector<Term>> product_of(const std::vector<Term>& left,
                                                       const std::vector<Term>& right) {
        std::vector<Term> terms;
        for (const Term& one : left) {
            for (const Term& other : right) {
                if (one.counter && other.counter) return std::nullopt;
                Term term = one;
                term.sign *= other.sign;
                if (__builtin_mul_overflow(one.number, other.number, &term.number)) return std::nullopt;
                term.factors.insert(term.factors.end(), other.factors.begin(), other.factors.end());
                std::sort(term.factors.begin(), term.factors.end());
                if (other.counter) term.counter = other.counter;
                terms.push_back(std::move(term));
            }
        }
        return terms;
    }

    // The number of elements of range(n), or of range(0, n), as a factor.
    std::optional<Term> extent_of(size_t counter) const {
        const Node& call = node(sequences_.at(counter));
        if (call.kind != NodeKind::kCall || node(call.children[0]).kind != NodeKind::kGlobal)
            return std::nullopt;
        const std::string& path = source_.symbol(node(call.children[0]).number).path;
        if (path != "builtins.range" && path != "weft.prange") return std::nullopt;
        if (call.children.size() > 3) return std::nullopt;
        const NodeId stop = call.children.back();
        if (call.children.size() == 3) {
            const std::optional<int64_t> start = literal(call.children[1]);
            if (!start || *start < 0) return std::nullopt;
        }
        const auto terms = terms_of(stop);
        if (!terms || terms->size() != 1 || (*terms)[0].counter || (*terms)[0].sign < 0) return std::nullopt;
        return (*terms)[0];
    }

    // Whether an index has different values in different iterations, for whatever counters inside: as digits
    // of a number, each below what the next is multiplied with.
    bool is_own(NodeId item) const {
        auto terms = terms_of(item);
        if (!terms || !counter_) return false;
        std::erase_if(*terms, [](const Term& term) { return !term.counter; });
        const auto of_loop = std::find_if(terms->begin(), terms->end(),
                                          [&](const Term& term) { return term.counter == counter_; });
        if (of_loop == terms->end()) return false;
        const Term own = *of_loop;
        terms->erase(of_loop);
        Term size;  // of the digits so far
        while (!terms->empty()) {
            const auto digit = std::find_if(terms->begin(), terms->end(), [&](const Term& term) {
                return term.sign > 0 && term.number == size.number && term.factors == size.factors &&
                       term.counter != counter_;
            });
            if (digit == terms->end()) return false;
            const std::optional<Term> extent = extent_of(*digit->counter);
            if (!extent || extent->number <= 0) return false;
            const auto next = product_of({size}, {*extent});
            if (!next) return false;
            size = (*next)[0];
            terms->erase(digit);
        }
        return own.factors == size.factors && own.number != 0 && own.number % size.number == 0;
    }

    bool is_own(const ElementOf& element) const {
        return std::any_of(element.items.begin(), element.items.end(),
                           [&](NodeId item) { return is_own(item); });
    }

    // --- iterations in each other's way ---------------------------------------------------------------

    void refuse_one_element(const Store& store) const {
        const auto invariant = [&](NodeId id) { return is_invariant(id); };
        if (!std::all_of(store.element.items.begin(), store.element.items.end(), invariant)) return;
        if (is_invariant(store.value)) return;
        throw Refusal{
            store.where,
            "every iteration of prange writes the same element of '" + name(store.element.variable) + "'",
            "Give each iteration its own element, or a variable that is a reduction."};
    }

    // The counter's factor and what is added to it.
    std::optional<std::pair<int64_t, int64_t>> line_of(NodeId item) const {
        const auto terms = terms_of(item);
        if (!terms) return std::nullopt;
        std::pair<int64_t, int64_t> line{0, 0};
        for (const Term& term : *terms) {
            if (!term.factors.empty() || (term.counter && term.counter != counter_)) return std::nullopt;
            (term.counter ? line.first : line.second) += term.sign * term.number;
        }
        return line;
    }

    std::optional<int64_t> step() const {
        const Node& range = node(node(loop_).children[1]);
        const std::optional<int64_t> given =
            range.children.size() == 4 ? literal(range.children[3]) : std::optional<int64_t>(1);
        return given && *given != 0 ? given : std::nullopt;
    }

    // Whether two elements are one in iterations that are not the same: a[i] and a[i - 1].
    bool are_neighbours(const ElementOf& one, const ElementOf& other, int64_t step) const {
        if (one.variable != other.variable || one.items.size() != other.items.size() ||
            one.fields != other.fields)
            return false;
        int apart = 0;
        for (size_t d = 0; d < one.items.size(); ++d) {
            if (text_of(one.items[d]) == text_of(other.items[d])) continue;
            const auto first = line_of(one.items[d]), second = line_of(other.items[d]);
            if (!first || !second || first->first != second->first || first->first == 0 ||
                (first->second - second->second) % (first->first * step) != 0)
                return false;
            ++apart;
        }
        return apart == 1;
    }

    bool meets_other(const Store& store) const {
        const std::optional<int64_t> by = step();
        return by && std::any_of(stores_.begin(), stores_.end(), [&](const Store& other) {
                   return are_neighbours(store.element, other.element, *by);
               });
    }

    // a[i] = a[i - 1]: what one iteration reads another has written, or not yet.
    void refuse_neighbours(const Store& store) const {
        if (store.conditional || continues_ || store.through != store.element.variable) return;
        if (const std::optional<int64_t> by = step()) visit_neighbours(body_, store, *by);
    }

    void visit_neighbours(NodeId id, const Store& store, int64_t step) const {
        const Node& given = node(id);
        if (given.kind == NodeKind::kIf || given.kind == NodeKind::kIfExpression ||
            given.kind == NodeKind::kWhile || given.kind == NodeKind::kAnd || given.kind == NodeKind::kOr)
            return;
        const std::optional<ElementOf> element = element_of_variable(source_.tree, id);
        if (element && are_neighbours(*element, store.element, step))
            throw Refusal{id,
                          "an iteration of prange uses an element of '" + name(store.element.variable) +
                              "' here that another one writes",
                          "Read from one array and write into another."};
        for (NodeId child : given.children) visit_neighbours(child, store, step);
    }

    const FunctionSource& source_;
    NodeId loop_, body_;
    const VariableSet& assigned_;
    std::optional<size_t> counter_{};
    bool continues_ = false;
    std::map<size_t, int> assignments_;
    std::map<size_t, NodeId> values_, sequences_;
    std::vector<Store> stores_;
};

}  // namespace

std::vector<CarriedVariable> find_accumulated(const FunctionSource& source, NodeId loop,
                                              const VariableSet& assigned) {
    return Elements(source, loop, assigned).find();
}

}  // namespace weft::lang
