// Bytes by key in a folder: whole, checked before anybody sees them, bounded in size, shared by any number of
// processes. What goes wrong here costs time and never a result: nothing throws.
//
// One file an entry, named by the digest of its key. A file is written beside its place and then renamed, so
// that an entry is there whole or not at all; it is not synced, since its digest tells what a power cut left.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "codegen/cache/folder.h"

namespace weft::codegen {

// Of the process, whichever folder was in use.
struct DiskCacheCounts {
    std::atomic<int64_t> hits{0}, misses{0}, dropped{0}, written{0}, evicted{0}, failed{0};
};

struct DiskCacheContents {
    int64_t entries = 0, bytes = 0;
};

class DiskCache {
public:
    // `limit`: most bytes of all entries together. Touches nothing yet.
    DiskCache(std::string path, int64_t limit, DiskCacheCounts& counts);

    // The bytes stored under the key. What is not a whole entry of this key is removed.
    std::optional<std::string> find(std::string_view key);
    void store(std::string_view key, std::string_view bytes);
    // Of an entry that was whole, but of no use.
    void drop(std::string_view key);

    DiskCacheContents contents();
    int64_t clear();

    // Why the folder is not used; empty where it is, or does not exist yet.
    std::string reason();
    // Looks again at a folder that was refused.
    void look_again();

    const std::string& path() const { return path_; }
    int64_t limit() const { return limit_; }
    std::mutex& mutex() { return mutex_; }  // for who forks; held for moments, never while files are read

private:
    // The open folder; null where it is refused, or missing and not to be created.
    std::shared_ptr<const CacheFolder> folder(bool create);
    // What the work gives, or `otherwise` where memory is short, which counts as failed.
    template <class Result, class Work>
    Result or_failed(Result otherwise, const Work& work);
    std::optional<std::string> find_entry(std::string_view key);
    void store_entry(std::string_view key, std::string_view bytes);
    void drop_entry(std::string_view key);
    void account(const CacheFolder& folder, int64_t bytes);
    bool write_entry(const CacheFolder& folder, const std::string& name, std::string_view entry);

    const std::string path_;
    const int64_t limit_;
    DiskCacheCounts& counts_;
    std::mutex mutex_;  // of what follows
    std::shared_ptr<const CacheFolder> folder_;
    std::string reason_;
    uid_t refused_user_ = 0;
    std::atomic<bool> wanted_{false};          // something was to be stored
    std::atomic<int64_t> pending_{0};          // bytes written that the usage file lacks
    std::atomic<int64_t> listed_{-1};          // without a usage file: bytes when listed, and written since
    std::atomic<bool> usage_unusable_{false};  // it could not be written
};

}  // namespace weft::codegen
