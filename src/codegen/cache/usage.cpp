#include "codegen/cache/usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/cache/digest.h"

namespace weft::codegen {
namespace {

constexpr int64_t kSecondsPerDay = 86400;
constexpr char kMark[8] = {'w', 'e', 'f', 't', 'k', 'u', '0', '1'};

struct Record {
    char mark[8];
    int64_t bytes, listed_at;
    Digest digest;  // of what stands before
};
constexpr size_t kDigested = offsetof(Record, digest);

Digest digest_of_record(const Record& record) {
    return digest_of({{reinterpret_cast<const char*>(&record), kDigested}});
}

struct Found {
    timespec used;
    int64_t size;
    std::string name;
};

class Listing {
public:
    explicit Listing(int folder) {
        FileDescriptor listed(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        if (listed.valid()) listing_ = fdopendir(listed.get());
        if (listing_ != nullptr) listed.release();
    }
    ~Listing() {
        if (valid()) closedir(listing_);
    }
    Listing(const Listing&) = delete;
    Listing& operator=(const Listing&) = delete;

    bool valid() const { return listing_ != nullptr; }
    // Null at the end, and where the system refuses: then `whole` becomes false.
    const dirent* next(bool& whole) const {
        errno = 0;
        const dirent* found = readdir(listing_);
        if (found == nullptr && errno != 0) whole = false;
        return found;
    }

private:
    DIR* listing_ = nullptr;
};

// A writer holds a lock on its temporary file; where nobody does, the writer is dead. Where the file system
// knows no locks, its age tells.
bool remove_abandoned(int folder, const char* name) {
    FileStatus status;
    const FileDescriptor file = open_plain(folder, name, O_RDONLY, &status);
    if (file.valid() && flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK || std::time(nullptr) - status.used_at < kSecondsPerDay) return false;
    }
    return unlinkat(folder, name, 0) == 0;
}

}  // namespace

bool is_entry_name(const char* name) {
    const std::string_view text = name;
    return text.size() == 2 * sizeof(Digest) &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

FolderContents tidy_folder(int folder, int64_t limit, int64_t keep) {
    FolderContents contents;
    const Listing listing(folder);
    if (!listing.valid()) return contents;
    std::vector<Found> entries;
    contents.whole = true;
    while (const dirent* found = listing.next(contents.whole)) {
        const bool entry = is_entry_name(found->d_name);
        const bool temporary =
            std::strncmp(found->d_name, kTemporaryPrefix, sizeof kTemporaryPrefix - 1) == 0;
        struct stat status;
        if (!entry && !(temporary && !remove_abandoned(folder, found->d_name))) continue;
        if (fstatat(folder, found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
            contents.whole = contents.whole && errno == ENOENT;
            continue;
        }
        contents.bytes += status.st_size;
        if (entry) entries.push_back({status.st_mtim, status.st_size, found->d_name});
    }
    contents.entries = static_cast<int64_t>(entries.size());
    if (contents.bytes <= limit) return contents;
    std::sort(entries.begin(), entries.end(), [](const Found& a, const Found& b) {
        return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
    });
    for (const Found& entry : entries) {
        if (contents.bytes <= keep) break;
        if (unlinkat(folder, entry.name.c_str(), 0) != 0 && errno != ENOENT) continue;
        contents.bytes -= entry.size;
        --contents.entries;
        ++contents.removed;
    }
    return contents;
}

UsageFile::UsageFile(int folder) : folder_(folder) {
    FileDescriptor file = open_plain(folder, kUsageName, O_RDWR | O_CREAT);
    if (!file.valid() && errno == ELOOP && unlinkat(folder, kUsageName, 0) == 0)
        file = open_plain(folder, kUsageName, O_RDWR | O_CREAT);
    if (!file.valid()) return;
    // Where the file system knows no locks, goes on without.
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        state_ = State::kBusy;
        return;
    }
    file_ = std::move(file);
    state_ = State::kOutdated;
    Record record;
    if (pread(file_.get(), &record, sizeof record, 0) != sizeof record) return;
    if (std::memcmp(record.mark, kMark, sizeof kMark) != 0 || record.digest != digest_of_record(record))
        return;
    bytes_ = record.bytes;
    listed_at_ = record.listed_at;
    const auto now = static_cast<int64_t>(std::time(nullptr));
    if (listed_at_ <= now && now - listed_at_ < kSecondsPerDay) state_ = State::kCurrent;
}

bool UsageFile::set(int64_t bytes, bool listed) {
    if (listed) listed_at_ = static_cast<int64_t>(std::time(nullptr));
    Record record{};
    std::memcpy(record.mark, kMark, sizeof kMark);
    record.bytes = bytes;
    record.listed_at = listed_at_;
    record.digest = digest_of_record(record);
    if (file_.valid() && write_all(file_.get(), {reinterpret_cast<const char*>(&record), sizeof record}))
        return true;
    (void)unlinkat(folder_, kUsageName, 0);  // nobody is to go on from a count that lacks something
    return false;
}

}  // namespace weft::codegen
