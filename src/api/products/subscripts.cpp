#include "api/products/subscripts.h"

#include <optional>

#include "core/shape.h"

namespace weft {

namespace {

constexpr int kEllipsis = 0;

std::string name_of(int label) { return std::string(1, static_cast<char>(label)); }

[[noreturn]] void throw_misplaced_point(const std::string& where) {
    throw ValueError(
        "einstein sum subscripts string contains a '.' that is not part of an ellipsis ('...') " + where);
}

// `operand` is negative for the output.
Labels read_term(std::string_view text, int operand) {
    const auto misplaced = [&] {
        throw_misplaced_point(operand < 0 ? "in the output" : "in operand " + std::to_string(operand));
    };
    Labels labels;
    labels.reserve(text.size());
    for (size_t k = 0; k < text.size(); ++k) {
        const char letter = text[k];
        if (letter == '.') {
            if (text.substr(k, 3) != "..." || has(labels, kEllipsis)) misplaced();
            labels.push_back(kEllipsis);
            k += 2;
            continue;
        }
        if (!((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z'))) {
            size_t end = k + 1;  // of the letter's UTF-8
            while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
            throw ValueError("invalid subscript '" + std::string(text.substr(k, end - k)) +
                             "' in einstein sum subscripts string, subscripts must be letters");
        }
        labels.push_back(letter);
    }
    return labels;
}

struct Terms {
    std::vector<Labels> inputs;
    std::optional<Labels> output;
};

Terms read_terms(std::string_view given, size_t count) {
    std::string text(given);
    std::erase(text, ' ');
    const size_t arrow = text.find("->");
    const std::string_view inputs = std::string_view(text).substr(0, arrow);
    const auto words = static_cast<size_t>(std::count(inputs.begin(), inputs.end(), ',')) + 1;
    if (count != words) {
        throw ValueError(
            std::string(count > words ? "fewer" : "more") +  // NumPy counts the other way round
            " operands provided to einstein sum function than specified in the subscripts string");
    }
    Terms terms;
    terms.inputs.reserve(count);
    size_t begin = 0;
    for (size_t k = 0; k < count; ++k) {
        const size_t comma = std::min(inputs.find(',', begin), inputs.size());
        terms.inputs.push_back(read_term(inputs.substr(begin, comma - begin), static_cast<int>(k)));
        begin = comma + 1;
    }
    if (arrow != text.npos) terms.output = read_term(std::string_view(text).substr(arrow + 2), -1);
    return terms;
}

// The term with `count` labels in place of its ellipsis.
Labels spelled_out(Labels&& term, size_t count) {
    const auto place = std::find(term.begin(), term.end(), kEllipsis);
    if (place == term.end()) return std::move(term);
    Labels labels(term.begin(), place);
    for (size_t k = count; k > 0; --k) labels.push_back(-static_cast<int>(k));
    labels.insert(labels.end(), place + 1, term.end());
    return labels;
}

Subscripts spell_out(Terms&& terms, std::span<const array> operands) {
    Subscripts subscripts;
    subscripts.inputs.reserve(operands.size());
    size_t broadcast = 0;
    ByLabel<int> used;
    for (size_t k = 0; k < operands.size(); ++k) {
        Labels& term = terms.inputs[k];
        const bool open = has(term, kEllipsis);
        const size_t named = term.size() - (open ? 1 : 0), ndim = operands[k].shape().size();
        if (named > ndim) {
            throw ValueError("einstein sum subscripts string contains too many subscripts for operand " +
                             std::to_string(k));
        }
        if (!open && named < ndim) {
            throw ValueError(
                "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis "
                "provided to broadcast the extra dimensions.");
        }
        broadcast = std::max(broadcast, ndim - named);
        subscripts.inputs.push_back(spelled_out(std::move(term), ndim - named));
        for (const int label : subscripts.inputs.back()) ++used[label];
    }
    if (!terms.output) {
        for (size_t k = broadcast; k > 0; --k) subscripts.result.push_back(-static_cast<int>(k));
        for (int label = 'A'; label <= 'z'; ++label) {
            if (used[label] == 1) subscripts.result.push_back(label);
        }
        return subscripts;
    }
    if (broadcast > 0 && !has(*terms.output, kEllipsis)) {
        throw ValueError(
            "output has more dimensions than subscripts given in einstein sum, but no '...' ellipsis "
            "provided "
            "to broadcast the extra dimensions.");
    }
    subscripts.result = spelled_out(std::move(*terms.output), broadcast);
    for (const int label : subscripts.result) {
        if (std::count(subscripts.result.begin(), subscripts.result.end(), label) > 1) {
            throw ValueError("einstein sum subscripts string includes output subscript '" + name_of(label) +
                             "' multiple times");
        }
        if (used[label] == 0) {
            throw ValueError("einstein sum subscripts string included output subscript '" + name_of(label) +
                             "' which never appeared in an input");
        }
    }
    return subscripts;
}

// The words of NumPy's error for axes that do not fit.
std::string remapped(const Subscripts& subscripts, std::span<const array> operands) {
    Labels axes = subscripts.result;
    for (const Labels& term : subscripts.inputs) axes = union_of(axes, term);
    std::string text = "operands could not be broadcast together with remapped shapes [original->remapped]: ";
    for (size_t k = 0; k < operands.size(); ++k) {
        const Labels& term = subscripts.inputs[k];
        text += shape_text(operands[k].shape()) + "->(";
        bool begun = false;
        for (const int label : axes) {
            const auto place = std::find(term.begin(), term.end(), label);
            const bool named = place != term.end();
            if (!named && !begun) continue;
            const auto axis = static_cast<size_t>(place - term.begin());
            text += (begun ? "," : "") + (named ? std::to_string(operands[k].shape()[axis]) : "newaxis");
            begun = true;
        }
        text += axes.size() == 1 ? ",) " : ") ";
    }
    return text;
}

void find_extents(Subscripts& subscripts, std::span<const array> operands) {
    ByLabel<bool> known;
    for (size_t k = 0; k < operands.size(); ++k) {
        const Labels& term = subscripts.inputs[k];
        const Dims& shape = operands[k].shape();
        for (size_t axis = 1; axis < term.size(); ++axis) {
            const auto first =
                static_cast<size_t>(std::find(term.begin(), term.end(), term[axis]) - term.begin());
            if (shape[first] == shape[axis]) continue;
            throw ValueError("dimensions in operand " + std::to_string(k) + " for collapsing index '" +
                             name_of(term[axis]) + "' don't match (" + std::to_string(shape[first]) +
                             " != " + std::to_string(shape[axis]) + ")");
        }
        for (size_t axis = 0; axis < term.size(); ++axis) {
            int64_t& extent = subscripts.extents[term[axis]];
            const int64_t own = shape[axis];
            if (!known[term[axis]] || extent == 1) {
                extent = own;
            } else if (extent != own && own != 1) {
                throw ValueError(remapped(subscripts, operands));
            }
            known[term[axis]] = true;
        }
    }
}

}  // namespace

Labels without_repeats(const Labels& labels) {
    Labels unique;
    unique.reserve(labels.size());
    for (const int label : labels) {
        if (!has(unique, label)) unique.push_back(label);
    }
    return unique;
}

Labels union_of(const Labels& left, const Labels& right) {
    Labels both = left;
    both.reserve(left.size() + right.size());
    for (const int label : right) {
        if (!has(both, label)) both.push_back(label);
    }
    return both;
}

Subscripts read_subscripts(std::string_view text, std::span<const array> operands) {
    if (operands.empty()) {
        throw ValueError(
            "must specify the einstein sum subscripts string and at least one operand, or at least one "
            "operand "
            "and its corresponding subscripts list");
    }
    Subscripts subscripts = spell_out(read_terms(text, operands.size()), operands);
    find_extents(subscripts, operands);
    return subscripts;
}

}  // namespace weft
