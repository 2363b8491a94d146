#include "codegen/cache/disk_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <new>
#include <utility>

#include "codegen/cache/digest.h"
#include "codegen/cache/entry.h"
#include "codegen/cache/usage.h"
#include "core/log.h"

namespace weft::codegen {
namespace {

constexpr int64_t kUseResolution = 60;  // seconds between two marks that an entry was used

std::string name_of(std::string_view key) { return hexadecimal(digest_of({key})); }

// A file of its own, locked by its writer, so that others can tell whether the writer still lives.
FileDescriptor make_temporary(int folder, std::string& name) {
    static std::atomic<uint64_t> serial{0};
    for (int attempt = 0; attempt < 8; ++attempt) {
        timespec now{};
        clock_gettime(CLOCK_REALTIME, &now);
        name = kTemporaryPrefix + std::to_string(getpid()) + "-" + std::to_string(serial.fetch_add(1)) + "-" +
               std::to_string(now.tv_nsec);
        FileDescriptor file = open_plain(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL);
        if (file.valid()) {
            // Who tidies the folder may have taken it for a leftover before it was locked.
            struct stat status;
            if (flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) continue;
            if (fstat(file.get(), &status) != 0 || status.st_nlink == 0) continue;
            (void)fchmod(file.get(), S_IRUSR | S_IWUSR);  // whatever the umask
            return file;
        }
        if (errno != EEXIST) break;
    }
    return {};
}

}  // namespace

DiskCache::DiskCache(std::string path, int64_t limit, DiskCacheCounts& counts)
    : path_(std::move(path)), limit_(limit), counts_(counts) {}

template <class Result, class Work>
Result DiskCache::or_failed(Result otherwise, const Work& work) {
    try {
        return work();
    } catch (const std::bad_alloc&) {
        ++counts_.failed;
        return otherwise;
    }
}

std::shared_ptr<const CacheFolder> DiskCache::folder(bool create) {
    {
        const std::lock_guard lock(mutex_);
        if (folder_ && folder_->still_there()) return folder_;
        if (!reason_.empty() && refused_user_ == geteuid()) return nullptr;
        folder_.reset();
        reason_.clear();
    }
    auto opened = std::make_shared<CacheFolder>(open_cache_folder(path_, create));
    const std::lock_guard lock(mutex_);
    reason_ = opened->reason;
    refused_user_ = opened->user;
    if (!reason_.empty() && debug_enabled(DebugLevel::kLaunches))
        log_line("no kernel cache on disk: " + reason_);
    if (!opened->descriptor.valid()) return nullptr;
    folder_ = opened;
    return opened;
}

std::string DiskCache::reason() {
    return or_failed(std::string("memory is short"), [&] {
        (void)folder(wanted_);
        const std::lock_guard lock(mutex_);
        return reason_;
    });
}

void DiskCache::look_again() {
    const std::lock_guard lock(mutex_);
    reason_.clear();
}

std::optional<std::string> DiskCache::find(std::string_view key) {
    return or_failed(std::optional<std::string>(), [&] { return find_entry(key); });
}

std::optional<std::string> DiskCache::find_entry(std::string_view key) {
    const auto folder = this->folder(false);
    if (!folder) {
        const std::lock_guard lock(mutex_);
        if (reason_.empty()) ++counts_.misses;
        return {};
    }
    const std::string name = name_of(key);
    FileStatus status;
    const FileDescriptor file = open_plain(folder->descriptor.get(), name.c_str(), O_RDONLY, &status);
    if (!file.valid()) {
        ++counts_.misses;
        if (errno == ENOENT) return {};
        // A link, something else than a file, or not readable: not what was stored here.
        if (errno == ELOOP || errno == EACCES || errno == ENXIO) {
            drop_entry(key);
        } else {
            ++counts_.failed;
        }
        return {};
    }
    if (static_cast<uint64_t>(status.size) > kMostEntryBytes) {
        ++counts_.misses;
        drop_entry(key);
        return {};
    }
    std::string entry(static_cast<size_t>(status.size), '\0');
    if (!read_all(file.get(), entry)) {
        ++counts_.misses;
        ++counts_.failed;
        return {};
    }
    const std::optional<std::string_view> bytes = read_entry(entry, key);
    if (!bytes) {
        ++counts_.misses;
        drop_entry(key);
        return {};
    }
    const auto now = static_cast<int64_t>(std::time(nullptr));
    if (status.used_at > now || now - status.used_at >= kUseResolution) (void)futimens(file.get(), nullptr);
    ++counts_.hits;
    entry.erase(0, entry.size() - bytes->size());
    return entry;
}

void DiskCache::drop(std::string_view key) {
    or_failed(0, [&] {
        drop_entry(key);
        return 0;
    });
}

void DiskCache::drop_entry(std::string_view key) {
    const auto folder = this->folder(false);
    if (!folder) return;
    const std::string name = name_of(key);
    const int descriptor = folder->descriptor.get();
    if (unlinkat(descriptor, name.c_str(), 0) != 0 &&
        (errno != EISDIR || unlinkat(descriptor, name.c_str(), AT_REMOVEDIR) != 0)) {
        if (errno != ENOENT) ++counts_.failed;
        return;
    }
    ++counts_.dropped;
    if (debug_enabled(DebugLevel::kLaunches)) log_line("dropped " + name + " from the kernel cache");
}

bool DiskCache::write_entry(const CacheFolder& folder, const std::string& name, std::string_view entry) {
    std::string temporary;
    const int descriptor = folder.descriptor.get();
    const FileDescriptor file = make_temporary(descriptor, temporary);
    if (!file.valid()) return false;
    if (write_all(file.get(), entry) &&
        renameat(descriptor, temporary.c_str(), descriptor, name.c_str()) == 0)
        return true;
    const int error = errno;
    (void)unlinkat(descriptor, temporary.c_str(), 0);
    errno = error;
    return false;
}

void DiskCache::store(std::string_view key, std::string_view bytes) {
    or_failed(0, [&] {
        store_entry(key, bytes);
        return 0;
    });
}

void DiskCache::store_entry(std::string_view key, std::string_view bytes) {
    const size_t size = entry_size(key.size(), bytes.size());
    if (size > kMostEntryBytes || size > static_cast<uint64_t>(limit_)) return;
    wanted_ = true;
    const auto folder = this->folder(true);
    if (!folder) return;
    const std::string name = name_of(key), entry = make_entry(key, bytes);
    // Before it is written, so that what killed writers leave counts as well. It stays counted where that
    // fails: a system that reports a failure may have done it, and a count too high costs no more than a
    // list.
    account(*folder, static_cast<int64_t>(size));
    if (write_entry(*folder, name, entry)) {
        ++counts_.written;
        return;
    }
    const int error = errno;
    ++counts_.failed;
    if (debug_enabled(DebugLevel::kLaunches))
        log_line("a kernel could not be kept in " + path_ + ": " + error_text(error));
}

void DiskCache::account(const CacheFolder& folder, int64_t bytes) {
    const int64_t added = pending_.exchange(0) + bytes;  // what the file lacks
    UsageFile usage(folder.descriptor.get());
    UsageFile::State state = usage.state();
    if (state == UsageFile::State::kOutdated && usage_unusable_) state = UsageFile::State::kUnusable;
    int64_t total = 0;
    bool list = false;
    switch (state) {
        case UsageFile::State::kBusy: pending_ += added; return;
        case UsageFile::State::kOutdated: list = true; break;
        case UsageFile::State::kCurrent:
            total = usage.bytes() + added;
            list = total > limit_;
            break;
        case UsageFile::State::kUnusable:
            total = listed_ + bytes;
            list = listed_ < 0 || total > limit_;
            break;
    }
    bool whole = false;
    if (list) {
        const int64_t room = std::max<int64_t>(0, limit_ - bytes);
        const FolderContents found =
            tidy_folder(folder.descriptor.get(), room, std::min(room, limit_ / 4 * 3));
        counts_.evicted += found.removed;
        whole = found.whole;
        // Of a folder that cannot be listed nobody can say that it has less than was counted.
        total = whole ? found.bytes + bytes : std::max(total, found.bytes + bytes);
    }
    if (whole || listed_ >= 0) listed_ = total;
    usage_unusable_ = !usage.set(total, whole);
    if (usage_unusable_) pending_ += added;
}

DiskCacheContents DiskCache::contents() {
    return or_failed(DiskCacheContents(), [&]() -> DiskCacheContents {
        const auto folder = this->folder(false);
        if (!folder) return {};
        const FolderContents found = tidy_folder(folder->descriptor.get(), INT64_MAX, INT64_MAX);
        return {found.entries, found.bytes};
    });
}

int64_t DiskCache::clear() {
    return or_failed(int64_t{0}, [&]() -> int64_t {
        const auto folder = this->folder(false);
        if (!folder) return 0;
        // Locked before, so that what is stored meanwhile is counted.
        UsageFile usage(folder->descriptor.get());
        const FolderContents found = tidy_folder(folder->descriptor.get(), -1, -1);
        if (found.whole) (void)usage.set(found.bytes, true);
        return found.removed;
    });
}

}  // namespace weft::codegen
