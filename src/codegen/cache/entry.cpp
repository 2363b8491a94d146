#include "codegen/cache/entry.h"

#include <cstdint>
#include <cstring>

#include "codegen/cache/digest.h"

namespace weft::codegen {
namespace {

// A file is this header, the key and the bytes. The digest is over all but itself.
struct Header {
    char mark[8];
    uint64_t size;      // of the file
    uint64_t key_size;  // of the key after the header
    Digest digest;
};
constexpr size_t kDigested = offsetof(Header, digest);  // bytes of the header that the digest covers
static_assert(sizeof(Header) == kDigested + sizeof(Digest));

constexpr char kMark[sizeof Header::mark] = {'w', 'e', 'f', 't', 'k', 'c', '0', '1'};

}  // namespace

size_t entry_size(size_t key_size, size_t bytes_size) { return sizeof(Header) + key_size + bytes_size; }

std::string make_entry(std::string_view key, std::string_view bytes) {
    Header header{};
    std::memcpy(header.mark, kMark, sizeof kMark);
    header.size = entry_size(key.size(), bytes.size());
    header.key_size = key.size();
    const auto* start = reinterpret_cast<const char*>(&header);
    header.digest = digest_of({{start, kDigested}, key, bytes});
    std::string entry;
    entry.reserve(header.size);
    entry.append(start, sizeof header);
    entry.append(key);
    entry.append(bytes);
    return entry;
}

std::optional<std::string_view> read_entry(std::string_view entry, std::string_view key) {
    Header header;
    if (entry.size() < sizeof header) return {};
    std::memcpy(&header, entry.data(), sizeof header);
    const std::string_view rest = entry.substr(sizeof header);
    if (std::memcmp(header.mark, kMark, sizeof kMark) != 0 || header.size != entry.size()) return {};
    if (header.key_size != key.size() || !rest.starts_with(key)) return {};
    if (digest_of({entry.substr(0, kDigested), rest}) != header.digest) return {};
    return rest.substr(key.size());
}

}  // namespace weft::codegen
