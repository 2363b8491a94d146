#include "lang/errors/diagnostics.h"

#include <algorithm>
#include <numeric>

namespace weft::lang {

namespace {

size_t distance(const std::string& a, const std::string& b) {
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 0; i < a.size(); ++i) {
        size_t diagonal = row[0]++;
        for (size_t j = 0; j < b.size(); ++j) {
            const size_t above = row[j + 1];
            row[j + 1] = a[i] == b[j] ? diagonal : 1 + std::min({diagonal, above, row[j]});
            diagonal = above;
        }
    }
    return row.back();
}

// The line of a place without its indentation, and how much was taken away.
std::pair<std::string, size_t> line_of(const FunctionSource& function, int line) {
    const int index = line - function.first_line;
    if (index < 0 || static_cast<size_t>(index) >= function.lines.size()) return {};
    const std::string& text = function.lines[static_cast<size_t>(index)];
    const size_t indent = std::min(text.find_first_not_of(" \t"), text.size());
    return {text.substr(indent), indent};
}

// How many characters are in so many bytes of UTF-8.
size_t characters(const std::string& text, size_t bytes) {
    return static_cast<size_t>(
        std::count_if(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(std::min(bytes, text.size())),
                      [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

}  // namespace

std::string render(const Spot& spot, const std::string& what,
                   const std::vector<std::pair<Spot, std::string>>& others, const std::string& help) {
    const FunctionSource& function = *spot.function;
    const Place place = function.tree.place(spot.node);
    std::string text =
        function.file + ", line " + std::to_string(place.line) + ", in " + function.name + ": " + what;
    const auto [line, indent] = line_of(function, place.line);
    if (!line.empty()) {
        text += "\n    " + line;
        const auto column = static_cast<size_t>(std::max(place.column, 0));
        const size_t begin = column < indent ? 0 : column - indent;
        const size_t end = place.end_line == place.line && place.end_column > place.column
                               ? static_cast<size_t>(place.end_column) - indent
                               : line.size();
        const size_t from = characters(line, begin), to = std::max(characters(line, end), from + 1);
        text += "\n    " + std::string(from, ' ') + std::string(to - from, '^');
    }
    for (const auto& [other, note] : others) {
        const Place at = other.function->tree.place(other.node);
        const bool is_here = other.function->file == function.file;
        text += "\n" + note + (is_here ? " at line " : " in " + other.function->file + ", line ") +
                std::to_string(at.line) + ": " + line_of(*other.function, at.line).first;
    }
    if (!help.empty()) text += "\n" + help;
    return text;
}

std::string meant(const std::string& name, const std::vector<std::string>& names,
                  const std::string& otherwise) {
    std::string best;
    size_t least = name.size() / 2 + 1;
    for (const std::string& candidate : names) {
        const size_t far = distance(name, candidate);
        if (far < least) {
            least = far;
            best = candidate;
        }
    }
    return best.empty() ? otherwise : "Is '" + best + "' meant?";
}

}  // namespace weft::lang
