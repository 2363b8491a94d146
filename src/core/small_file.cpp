#include "core/small_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace weft {

std::string_view read_small_file(const char* path, std::span<char> buffer) noexcept {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    size_t size = 0;
    while (size < buffer.size()) {
        const ssize_t got = read(file, buffer.data() + size, buffer.size() - size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        size += static_cast<size_t>(got);
    }
    close(file);
    return {buffer.data(), size};
}

std::optional<int64_t> take_number(std::string_view& text) noexcept {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return {};
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    return value;
}

std::optional<int64_t> number_after(std::string_view text, std::string_view key) noexcept {
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        if (!line.starts_with(key)) continue;
        line.remove_prefix(key.size());
        return take_number(line);
    }
    return {};
}

}  // namespace weft
