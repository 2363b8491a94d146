// The text of einsum_path: what each step multiplies, and what all of them cost.
#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "api/products/contraction_path.h"

namespace weft {

namespace {

double operations(const Labels& labels, bool sums, size_t operands, const Extents& extents) {
    const size_t each = (operands > 2 ? operands - 1 : 1) + (sums ? 1 : 0);
    return size_of(labels, extents) * static_cast<double>(each);
}

// In UTF-8; the axes of '...' are Greek letters.
std::string text_of(const Labels& labels) {
    std::string text;
    for (const int label : labels) {
        if (label > 0) {
            text += static_cast<char>(label);
            continue;
        }
        const int code = 0x3B1 - 1 - label;
        text += static_cast<char>(0xC0 | code >> 6);
        text += static_cast<char>(0x80 | (code & 0x3F));
    }
    return text;
}

std::string text_of(const std::vector<Labels>& operands, const Labels& result) {
    std::string text;
    for (const Labels& labels : operands) text += (&labels == operands.data() ? "" : ",") + text_of(labels);
    return text + "->" + text_of(result);
}

std::string to_the_right(const std::string& text, size_t width) {
    const auto letters = static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](char byte) { return (byte & 0xC0) != 0x80; }));
    return std::string(letters < width ? width - letters : 0, ' ') + text;
}

std::string rounded(double value, std::chars_format form = std::chars_format::scientific) {
    char text[400];
    return {text, std::to_chars(text, text + sizeof text, value, form, 3).ptr};
}

}  // namespace

EinsumPath einsum_path(std::string_view text, std::span<const array> operands, const PathChoice& choice) {
    const Subscripts subscripts = read_subscripts(text, operands);
    const auto& [inputs, result, extents] = subscripts;
    ContractionPath path = path_of(subscripts, choice);

    Labels everything;
    for (const Labels& labels : inputs) everything = union_of(everything, labels);
    const double naive = operations(everything, everything.size() > result.size(), inputs.size(), extents);
    double total = 1, largest = 0;
    size_t most_labels = 0;
    std::string rows;
    std::vector<Labels> current = inputs;
    for (size_t k = 0; k < path.size(); ++k) {
        std::vector<int64_t> step = path[k];
        std::sort(step.rbegin(), step.rend());
        std::vector<Labels> chosen;
        for (const int64_t position : step) {
            chosen.push_back(current[static_cast<size_t>(position)]);
            current.erase(current.begin() + position);
        }
        Labels labels, wanted = result;
        for (const Labels& operand : chosen) labels = union_of(labels, operand);
        for (const Labels& operand : current) wanted = union_of(wanted, operand);
        Labels kept;
        for (const int label : labels) {
            if (has(wanted, label)) kept.push_back(label);
        }
        total += operations(labels, labels.size() > kept.size(), chosen.size(), extents);
        largest = std::max(largest, size_of(kept, extents));
        most_labels = std::max(most_labels, labels.size());
        std::ranges::sort(kept, {}, [&](int label) { return std::pair(extents[label], label); });
        const Labels made = k + 1 == path.size() ? result : kept;
        current.push_back(made);
        const std::string scale = std::to_string(labels.size());
        rows += "\n" + to_the_right(scale, 4) + "    " + to_the_right(text_of(chosen, made), 24) + " " +
                to_the_right(text_of(current, result), 40);
    }
    const std::string line(74, '-');
    std::string report =
        "  Complete contraction:  " + text_of(inputs, result) +
        "\n         Naive scaling:  " + std::to_string(everything.size()) +
        "\n     Optimized scaling:  " + std::to_string(most_labels) +
        "\n      Naive FLOP count:  " + rounded(naive) + "\n  Optimized FLOP count:  " + rounded(total) +
        "\n   Theoretical speedup:  " + rounded(naive / total, std::chars_format::fixed) +
        "\n  Largest intermediate:  " + rounded(largest) + " elements\n" + line + "\nscaling" +
        to_the_right("current", 25) + to_the_right("remaining", 41) + "\n" + line + rows;
    return {std::move(path), std::move(report)};
}

}  // namespace weft
