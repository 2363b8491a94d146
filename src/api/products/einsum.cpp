// einsum for C++: its text, the order of its products, and their steps, as python/weft/_functions/einsum.py
// has them for Python, with its further options.
#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"
#include "graph/placement.h"
#include "ops/resolve.h"
#include "weft/operations.h"
#include "weft/ops.h"
#include "weft/products.h"

namespace weft {

namespace {

// ---- the text: labels are letters; axes of '...' are -1, -2, ... from the last on ----

using Term = std::vector<int>;

constexpr int kEllipsis = 0;
constexpr size_t kMostForOptimal = 8;  // a search among all orders of more takes longer than most products

bool has(const Term& term, int label) { return std::find(term.begin(), term.end(), label) != term.end(); }

Term without_repeats(const Term& term) {
    Term unique;
    for (const int label : term) {
        if (!has(unique, label)) unique.push_back(label);
    }
    return unique;
}

Term read_term(std::string_view text, const std::string& where) {
    const std::string misplaced =
        "einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...') " + where;
    Term labels;
    for (size_t k = 0; k < text.size(); ++k) {
        if (text.substr(k, 3) == "...") {
            if (has(labels, kEllipsis)) throw ValueError(misplaced);
            labels.push_back(kEllipsis);
            k += 2;
            continue;
        }
        const char letter = text[k];
        if (letter == '.') throw ValueError(misplaced);
        if (!((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'))) {
            throw ValueError(std::string("invalid subscript '") + letter +
                             "' in einstein sum subscripts string, subscripts must be letters");
        }
        labels.push_back(letter);
    }
    return labels;
}

struct Terms {
    std::vector<Term> inputs;
    std::optional<Term> output;
};

Terms read_terms(std::string_view given, size_t count) {
    std::string text(given);
    std::erase(text, ' ');
    const size_t arrow = text.find("->");
    std::string_view rest = std::string_view(text).substr(0, arrow);
    std::vector<std::string_view> words;
    for (size_t comma = rest.find(','); comma != rest.npos; comma = rest.find(',')) {
        words.push_back(rest.substr(0, comma));
        rest.remove_prefix(comma + 1);
    }
    words.push_back(rest);
    if (count > words.size())  // NumPy counts the other way round
        throw ValueError(
            "fewer operands provided to einstein sum function than specified in the subscripts string");
    if (count < words.size())
        throw ValueError(
            "more operands provided to einstein sum function than specified in the subscripts string");
    Terms terms;
    for (size_t k = 0; k < count; ++k)
        terms.inputs.push_back(read_term(words[k], "in operand " + std::to_string(k)));
    if (arrow != text.npos)
        terms.output = read_term(std::string_view(text).substr(arrow + 2), "in the output");
    return terms;
}

Term spelled_out(const Term& term, size_t count) {
    Term labels;
    for (const int label : term) {
        if (label != kEllipsis) {
            labels.push_back(label);
            continue;
        }
        for (size_t k = count; k > 0; --k) labels.push_back(-static_cast<int>(k));
    }
    return labels;
}

// The terms without ellipsis, and that of the result.
std::pair<std::vector<Term>, Term> spell_out(const Terms& terms, std::span<const array> operands) {
    size_t broadcast = 0;
    std::vector<Term> inputs;
    for (size_t k = 0; k < operands.size(); ++k) {
        const Term& term = terms.inputs[k];
        const bool open = has(term, kEllipsis);
        const size_t named = term.size() - (open ? 1 : 0), ndim = operands[k].shape().size();
        if (named > ndim) {
            throw ValueError("einstein sum subscripts string contains too many subscripts for operand " +
                             std::to_string(k));
        }
        if (!open && named < ndim) {
            throw ValueError(
                "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis "
                "provided "
                "to broadcast the extra dimensions.");
        }
        broadcast = std::max(broadcast, ndim - named);
        inputs.push_back(spelled_out(term, ndim - named));
    }
    std::map<int, int> used;
    for (const Term& term : inputs) {
        for (const int label : term) ++used[label];
    }
    Term result;
    if (!terms.output) {
        result = spelled_out({kEllipsis}, broadcast);
        for (const auto& [label, times] : used) {
            if (label > 0 && times == 1) result.push_back(label);
        }
        return {std::move(inputs), std::move(result)};
    }
    if (broadcast > 0 && !has(*terms.output, kEllipsis)) {
        throw ValueError(
            "output has more dimensions than subscripts given in einstein sum, but no '...' ellipsis "
            "provided to "
            "broadcast the extra dimensions.");
    }
    result = spelled_out(*terms.output, broadcast);
    for (const int label : result) {
        const std::string name(1, static_cast<char>(label));
        if (std::count(result.begin(), result.end(), label) > 1) {
            throw ValueError("einstein sum subscripts string includes output subscript '" + name +
                             "' multiple times");
        }
        if (!used.contains(label)) {
            throw ValueError("einstein sum subscripts string included output subscript '" + name +
                             "' which never appeared in an input");
        }
    }
    return {std::move(inputs), std::move(result)};
}

using Extents = std::map<int, int64_t>;

// The words of NumPy's error for axes that do not fit.
std::string remapped(const std::vector<Term>& terms, const Term& result, std::span<const array> operands) {
    Term axes = result;
    for (const Term& term : terms) {
        for (const int label : term) {
            if (!has(axes, label)) axes.push_back(label);
        }
    }
    std::string text = "operands could not be broadcast together with remapped shapes [original->remapped]: ";
    for (size_t k = 0; k < terms.size(); ++k) {
        text += shape_text(operands[k].shape()) + "->(";
        bool begun = false;
        for (size_t axis = 0; axis < axes.size(); ++axis) {
            const auto place = std::find(terms[k].begin(), terms[k].end(), axes[axis]);
            const bool named = place != terms[k].end();
            if (!named && !begun) continue;
            const auto position = static_cast<size_t>(place - terms[k].begin());
            text += (begun ? "," : "") + (named ? std::to_string(operands[k].shape()[position]) : "newaxis");
            begun = true;
        }
        text += axes.size() == 1 ? ",) " : ") ";
    }
    return text;
}

Extents extents_of(const std::vector<Term>& terms, const Term& result, std::span<const array> operands) {
    Extents extents;
    for (size_t k = 0; k < terms.size(); ++k) {
        Extents own;
        for (size_t axis = 0; axis < terms[k].size(); ++axis) {
            const int label = terms[k][axis];
            const int64_t extent = operands[k].shape()[axis];
            if (const int64_t before = own.emplace(label, extent).first->second; before != extent) {
                throw ValueError("dimensions in operand " + std::to_string(k) + " for collapsing index '" +
                                 static_cast<char>(label) + "' don't match (" + std::to_string(before) +
                                 " != " + std::to_string(extent) + ")");
            }
        }
        for (const auto& [label, extent] : own) {
            int64_t& known = extents.emplace(label, extent).first->second;
            if (known != extent && known != 1 && extent != 1)
                throw ValueError(remapped(terms, result, operands));
            if (known == 1) known = extent;
        }
    }
    return extents;
}

// ---- the order of the products ----

double size_of(const Term& labels, const Extents& extents) {
    double size = 1;
    for (const int label : labels) size *= static_cast<double>(extents.at(label));
    return size;
}

Term union_of(const Term& left, const Term& right) {
    Term both = left;
    both.insert(both.end(), right.begin(), right.end());
    return without_repeats(both);
}

struct Join {
    Term kept;
    double cost;
};

// The product of two operands without what is not wanted afterwards.
Join join(const Term& left, const Term& right, const Term& wanted, const Extents& extents) {
    Join result{{}, 0};
    Term shared;
    for (const int label : union_of(left, right)) {
        const bool kept = has(wanted, label);
        if (kept) result.kept.push_back(label);
        if (kept || (has(left, label) && has(right, label))) shared.push_back(label);
    }
    result.cost = size_of(shared, extents);
    for (const Term* operand : {&left, &right}) {  // sums that are taken before
        const bool inside =
            std::all_of(operand->begin(), operand->end(), [&](int label) { return has(shared, label); });
        if (!inside) result.cost += size_of(*operand, extents);
    }
    return result;
}

using Pair =
    std::pair<size_t, size_t>;  // positions among the operands that are left; the product is the last

Term wanted_without(const std::vector<Term>& sets, const Term& result, size_t i, size_t j) {
    Term wanted = result;
    for (size_t k = 0; k < sets.size(); ++k) {
        if (k != i && k != j) wanted = union_of(wanted, sets[k]);
    }
    return wanted;
}

// The pair is taken next which leaves least in memory; outer products come last.
std::vector<Pair> greedy(std::vector<Term> sets, const Term& result, const Extents& extents) {
    std::vector<Pair> path;
    while (sets.size() > 1) {
        std::optional<std::tuple<bool, double, double, size_t, size_t>> best;
        Term kept;
        for (size_t i = 0; i < sets.size(); ++i) {
            for (size_t j = i + 1; j < sets.size(); ++j) {
                Join found = join(sets[i], sets[j], wanted_without(sets, result, i, j), extents);
                const double grows =
                    size_of(found.kept, extents) - size_of(sets[i], extents) - size_of(sets[j], extents);
                const bool apart = std::none_of(sets[i].begin(), sets[i].end(),
                                                [&](int label) { return has(sets[j], label); });
                const std::tuple key(apart, grows, found.cost, i, j);
                if (!best || key < *best) {
                    best = key;
                    kept = std::move(found.kept);
                }
            }
        }
        const size_t i = std::get<3>(*best), j = std::get<4>(*best);
        path.emplace_back(i, j);
        sets.erase(sets.begin() + static_cast<ptrdiff_t>(j));
        sets.erase(sets.begin() + static_cast<ptrdiff_t>(i));
        sets.push_back(std::move(kept));
    }
    return path;
}

// The cheapest order of all, found for all subsets of the operands.
class Cheapest {
public:
    Cheapest(const std::vector<Term>& sets, const Term& result, const Extents& extents)
        : count_(sets.size()), best_(size_t{1} << count_) {
        for (size_t k = 0; k < count_; ++k) best_[size_t{1} << k] = {0, sets[k], 0, 0};
        for (size_t subset = 1; subset < best_.size(); ++subset) {  // its parts are smaller numbers
            if (std::popcount(subset) == 1) continue;
            Term wanted = result;
            for (size_t k = 0; k < count_; ++k) {
                if ((subset >> k & 1) == 0) wanted = union_of(wanted, sets[k]);
            }
            best_[subset].cost = -1;
            const size_t lowest = subset & (0 - subset);
            for (size_t part = (subset - 1) & subset; part != 0; part = (part - 1) & subset) {
                if ((part & lowest) == 0) continue;
                const size_t rest = subset ^ part;
                Join found = join(best_[part].kept, best_[rest].kept, wanted, extents);
                const double cost = found.cost + best_[part].cost + best_[rest].cost;
                if (best_[subset].cost < 0 || cost < best_[subset].cost)
                    best_[subset] = {cost, std::move(found.kept), part, rest};
            }
        }
    }

    std::vector<Pair> path() {
        for (size_t k = 0; k < count_; ++k) current_.push_back(size_t{1} << k);
        walk(best_.size() - 1);
        return std::move(path_);
    }

private:
    struct Best {
        double cost;
        Term kept;
        size_t left, right;
    };

    void walk(size_t subset) {
        const Best& best = best_[subset];
        if (best.left == 0) return;
        walk(best.left);
        walk(best.right);
        const auto place = [&](size_t part) {
            return static_cast<size_t>(std::find(current_.begin(), current_.end(), part) - current_.begin());
        };
        const auto [i, j] = std::minmax({place(best.left), place(best.right)});
        path_.emplace_back(i, j);
        current_.erase(current_.begin() + static_cast<ptrdiff_t>(j));
        current_.erase(current_.begin() + static_cast<ptrdiff_t>(i));
        current_.push_back(subset);
    }

    size_t count_;
    std::vector<Best> best_;
    std::vector<size_t> current_;
    std::vector<Pair> path_;
};

// ---- the steps ----

// The view of the elements whose indices agree where labels are repeated, with the axes of `out_labels`.
array label_view(const array& input, const Term& labels, const Term& out_labels) {
    Dims shape, strides;
    for (const int label : out_labels) {
        int64_t extent = 1, stride = 0;
        for (size_t axis = 0; axis < labels.size(); ++axis) {
            if (labels[axis] != label) continue;
            extent = input.shape()[axis];
            stride += input.strides()[axis];
        }
        shape.push_back(extent);
        strides.push_back(stride);
    }
    return input.with_view(input.dtype(), shape, strides, input.offset());
}

// One operand without repeated labels, summed over those that `result` has not.
array alone(const array& input, const Term& labels, const Term& result) {
    Term order;
    for (const int label : result) {
        if (has(labels, label)) order.push_back(label);
    }
    Dims summed;
    for (const int label : without_repeats(labels)) {
        if (has(result, label)) continue;
        summed.push_back(static_cast<int64_t>(order.size()));
        order.push_back(label);
    }
    array view = label_view(input, labels, order);
    if (summed.empty()) return view;
    return view.dtype().is_bool() ? any(view, summed) : sum(view, summed, {.dtype = view.dtype()});
}

struct Factor {
    array value;
    Term term;
};

array contract_all(std::vector<Factor> operands, const Term& result, const Extents& extents) {
    if (operands.size() == 1) return alone(operands[0].value, operands[0].term, result);
    std::vector<Term> sets;
    for (Factor& operand : operands) {
        Term unique = without_repeats(operand.term);
        if (unique != operand.term) operand.value = label_view(operand.value, operand.term, unique);
        operand.term = unique;
        sets.push_back(std::move(unique));
    }
    const std::vector<Pair> path = sets.size() > kMostForOptimal ? greedy(sets, result, extents)
                                                                 : Cheapest(sets, result, extents).path();
    for (const auto& [i, j] : path) {
        const Factor left = std::move(operands[i]), right = std::move(operands[j]);
        operands.erase(operands.begin() + static_cast<ptrdiff_t>(j));
        operands.erase(operands.begin() + static_cast<ptrdiff_t>(i));
        Term kept;
        if (operands.empty()) {
            for (const int label : result) {
                if (has(left.term, label) || has(right.term, label)) kept.push_back(label);
            }
        } else {
            Term wanted = result;
            for (const Factor& other : operands) wanted = union_of(wanted, other.term);
            const auto keep = [&](const Term& term, bool in_left, bool in_right) {
                for (const int label : term) {
                    if (has(wanted, label) && has(left.term, label) == in_left &&
                        has(right.term, label) == in_right)
                        kept.push_back(label);
                }
            };
            keep(left.term, true, true);
            keep(left.term, true, false);
            keep(right.term, false, true);
        }
        array product = contract(left.value, left.term, right.value, right.term, kept);
        operands.push_back({std::move(product), std::move(kept)});
    }
    return operands[0].value;
}

}  // namespace

array einsum(std::string_view subscripts, std::span<const array> operands) {
    if (operands.empty()) {
        throw ValueError(
            "must specify the einstein sum subscripts string and at least one operand, or at least one "
            "operand and "
            "its corresponding subscripts list");
    }
    const auto [terms, result] = spell_out(read_terms(subscripts, operands.size()), operands);
    const Extents extents = extents_of(terms, result, operands);
    DType common = operands[0].dtype();
    for (const array& operand : operands) common = promote_types(common, operand.dtype());
    const bool is_view = operands.size() == 1 && without_repeats(terms[0]).size() == result.size();
    // Of short floats float32, rounded once; GPUs multiply two of them so by themselves.
    const bool by_library = operands.size() == 2 && !device_of(operands[0]).is_cpu();
    const DType compute = is_view || by_library ? common : common.accumulator();
    std::vector<Factor> converted;
    for (size_t k = 0; k < operands.size(); ++k)
        converted.push_back(
            {operands[k].dtype() == compute ? operands[k] : astype(operands[k], compute), terms[k]});
    array value = contract_all(std::move(converted), result, extents);
    Dims shape;
    for (const int label : result) shape.push_back(extents.at(label));
    if (value.shape() != shape) value = broadcast_to(value, shape);
    return common == compute ? value : astype(value, common);
}

}  // namespace weft
