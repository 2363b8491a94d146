// The form of an entry of the kernel cache: its bytes with their key, size and digest, so that nothing is
// taken for an entry that was not written as one, whole, under this key.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weft::codegen {

std::string make_entry(std::string_view key, std::string_view bytes);

// The bytes of an entry of that key; nothing when the entry is anything else. The view is into `entry`.
std::optional<std::string_view> read_entry(std::string_view entry, std::string_view key);

size_t entry_size(size_t key_size, size_t bytes_size);
constexpr size_t kMostEntryBytes = size_t{1} << 28;  // no kernel is larger

}  // namespace weft::codegen
