// Small files in which the system tells numbers (/proc, /sys): read at once, without allocating anything, so
// that they can be asked when memory or file descriptors are short.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weft {

// The beginning of the file, as much as `buffer` holds; empty where it cannot be read.
std::string_view read_small_file(const char* path, std::span<char> buffer) noexcept;

// The next number of `text`, which is behind it then; nothing where the next word is none ("max").
std::optional<int64_t> take_number(std::string_view& text) noexcept;

// The number in the line of `text` that begins with `key`.
std::optional<int64_t> number_after(std::string_view text, std::string_view key) noexcept;

}  // namespace weft
