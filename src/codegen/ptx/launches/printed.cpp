#include "codegen/ptx/launches/printed.h"

#include <algorithm>
#include <sstream>

#include "weft/errors.h"

namespace weft::codegen {

namespace {

// As hexadecimal digits, behind a letter that is none.
std::string word_of(const std::string& text) {
    constexpr const char* kDigits = "0123456789abcdef";
    std::string word = "x";
    for (const char c : text) {
        word += kDigits[static_cast<unsigned char>(c) >> 4];
        word += kDigits[static_cast<unsigned char>(c) & 15];
    }
    return word;
}

std::string text_in(const std::string& word) {
    std::string text;
    for (size_t at = 1; at + 1 < word.size(); at += 2)
        text += static_cast<char>(std::stoi(word.substr(at, 2), nullptr, 16));
    return text;
}

}  // namespace

size_t printed_values(const Printed& printed) {
    return static_cast<size_t>(std::ranges::count_if(
        printed, [](const PrintedPart& part) { return part.kind != PrintedPart::Kind::kText; }));
}

std::string text_of(const PrintedBySite& printed) {
    std::string text;
    for (const auto& [site, parts] : printed) {
        text += std::to_string(site);
        for (const PrintedPart& part : parts) {
            text += " " + std::to_string(static_cast<int>(part.kind)) + " " + word_of(part.text) + " " +
                    std::to_string(part.value) + " " + std::to_string(static_cast<int>(part.type)) + " " +
                    std::to_string(part.choices.size());
            for (const std::string& choice : part.choices) text += " " + word_of(choice);
        }
        text += "\n";
    }
    return text;
}

PrintedBySite parse_printed(const std::string& text) {
    PrintedBySite printed;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        uint32_t site = 0;
        if (!(words >> site)) continue;
        Printed& parts = printed[site];
        int kind = 0, type = 0;
        size_t value = 0, choices = 0;
        for (std::string word; words >> kind >> word >> value >> type >> choices;) {
            PrintedPart& part = parts.emplace_back();
            part.kind = static_cast<PrintedPart::Kind>(kind);
            part.text = text_in(word);
            part.value = value;
            part.type = static_cast<ScalarType>(type);
            for (size_t i = 0; i < choices && words >> word; ++i) part.choices.push_back(text_in(word));
        }
    }
    return printed;
}

}  // namespace weft::codegen
