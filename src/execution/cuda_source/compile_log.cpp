#include "execution/cuda_source/compile_log.h"

#include <algorithm>
#include <vector>

namespace weft {

namespace {

constexpr size_t kMostErrors = 3;
constexpr size_t kMostLines = 8;  // of an error, and of a log without any that can be found

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    for (size_t begin = 0; begin < text.size();) {
        const size_t end = std::min(text.find('\n', begin), text.size());
        lines.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return lines;
}

bool has(std::string_view line, std::string_view word) { return line.find(word) != std::string_view::npos; }

bool is_error(std::string_view line) {
    return has(line, "error:") || has(line, "error #") || has(line, "error   :") || has(line, "fatal   :");
}

// The line a message begins with: "kernel.cu(3): error: …", "warning: …", "Remark: …", "2 errors detected …".
bool begins_message(std::string_view line) {
    return is_error(line) || has(line, "warning:") || has(line, "warning #") || has(line, "note:") ||
           has(line, "note #") || line.starts_with("Remark:") || has(line, "detected in the compilation") ||
           line.starts_with("Compilation terminated");
}

}  // namespace

std::string first_errors(std::string_view log) {
    const std::vector<std::string_view> lines = lines_of(log);
    std::string text;
    size_t errors = 0;
    for (size_t at = 0; at < lines.size(); ++at) {
        if (!is_error(lines[at]) || has(lines[at], "detected in the compilation")) continue;
        if (++errors > kMostErrors) continue;
        text += std::string(lines[at]) + "\n";
        for (size_t more = 1; more < kMostLines && at + more < lines.size(); ++more) {
            const std::string_view line = lines[at + more];
            if (line.empty() || begins_message(line)) break;
            text += std::string(line) + "\n";
        }
    }
    if (errors == 0) {
        for (size_t at = 0; at < std::min(lines.size(), kMostLines); ++at)
            text += std::string(lines[at]) + "\n";
    }
    if (errors > kMostErrors) text += "and " + std::to_string(errors - kMostErrors) + " more errors\n";
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

}  // namespace weft
