#include "codegen/cache/function_pack.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>

namespace weft::codegen {

// Sorted by their keys. The bytes begin at `offset` of the file.
struct FunctionPack::Row {
    Digest key, content;
    uint64_t offset, size;
};

namespace {

constexpr char kMark[8] = {'w', 'e', 'f', 't', 'f', 'p', '0', '1'};
struct Header {
    char mark[8];
    uint64_t size, count;  // of the file, and of its entries
};

const char kInside = 0;  // an address of this library

std::string path_of_shipped() {
    Dl_info info{};
    if (dladdr(&kInside, &info) == 0 || info.dli_fname == nullptr) return {};
    const std::string library = info.dli_fname;
    return library.substr(0, library.rfind('/') + 1) + kFunctionPack;
}

}  // namespace

const FunctionPack& FunctionPack::shipped() {
    static const auto* const pack = new FunctionPack(path_of_shipped());
    return *pack;
}

FunctionPack::FunctionPack(const std::string& path) {
    const int file = path.empty() ? -1 : open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    struct stat status{};
    if (fstat(file, &status) == 0 && static_cast<size_t>(status.st_size) >= sizeof(Header)) {
        size_ = static_cast<size_t>(status.st_size);
        void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
        if (mapped != MAP_FAILED) bytes_ = static_cast<const char*>(mapped);
    }
    close(file);
    if (bytes_ == nullptr) return;
    Header header;
    std::memcpy(&header, bytes_, sizeof header);
    const size_t room = (size_ - sizeof(Header)) / sizeof(Row);
    if (std::memcmp(header.mark, kMark, sizeof kMark) != 0 || header.size != size_ || header.count > room)
        return;
    const auto* rows = reinterpret_cast<const Row*>(bytes_ + sizeof(Header));
    const bool is_whole = std::all_of(rows, rows + header.count, [&](const Row& row) {
        return row.offset <= size_ && row.size <= size_ - row.offset;
    });
    if (!is_whole) return;
    rows_ = rows;
    count_ = header.count;
}

FunctionPack::~FunctionPack() {
    if (bytes_ != nullptr) munmap(const_cast<char*>(bytes_), size_);
}

std::optional<std::string_view> FunctionPack::find(const Digest& key) const {
    const std::span rows(rows_, count_);
    const auto found = std::ranges::lower_bound(rows, key, {}, &Row::key);
    if (found == rows.end() || found->key != key) return {};
    const std::string_view entry(bytes_ + found->offset, found->size);
    if (digest_of({entry}) != found->content) return {};
    return entry;
}

std::string function_pack(const std::map<Digest, std::string>& entries) {
    uint64_t at = sizeof(Header) + entries.size() * (2 * sizeof(Digest) + 2 * sizeof(uint64_t));
    std::string rows, bytes;
    const auto append = [&](const auto& value) {
        rows.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    for (const auto& [key, entry] : entries) {
        append(key);
        append(digest_of({entry}));
        append(at);
        append(uint64_t{entry.size()});
        bytes += entry;
        at += entry.size();
    }
    Header header{};
    std::memcpy(header.mark, kMark, sizeof kMark);
    header.size = at;
    header.count = entries.size();
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) + rows + bytes;
}

}  // namespace weft::codegen
