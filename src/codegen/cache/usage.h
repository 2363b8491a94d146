// How much the cache's folder holds, and what leaves it when that is too much. A file of the folder counts
// the bytes, so that a writer need not list the folder; listing it now and then puts the count right.
#pragma once

#include <cstdint>

#include "codegen/cache/file.h"

namespace weft::codegen {

// The names of files in the folder.
constexpr char kUsageName[] = "usage";
constexpr char kTemporaryPrefix[] = "tmp-";
bool is_entry_name(const char* name);  // 64 hexadecimal digits

struct FolderContents {
    int64_t entries = 0, bytes = 0;  // without what was removed
    int64_t removed = 0;
    bool whole = false;  // the system told of every file: there are not more bytes than these
};

// Lists the folder. Removes what killed writers left and, from the least recently used on, entries until they
// have at most `keep` bytes, where they have more than `limit`.
FolderContents tidy_folder(int folder, int64_t limit, int64_t keep);

// The counting file, locked while this lives.
class UsageFile {
public:
    enum class State {
        kCurrent,   // it has a count
        kOutdated,  // it is new, damaged, or the folder was not listed for a day
        kBusy,      // another process has locked it; nobody waits, since that one may be stopped
        kUnusable,  // the system refuses
    };
    explicit UsageFile(int folder);  // which stays open

    State state() const { return state_; }
    int64_t bytes() const { return bytes_; }
    // False where that cannot be written; there is no count then. `listed`: the bytes were counted anew.
    bool set(int64_t bytes, bool listed);

private:
    int folder_;
    FileDescriptor file_;
    State state_ = State::kUnusable;
    int64_t bytes_ = 0;
    int64_t listed_at_ = 0;  // seconds since 1970
};

}  // namespace weft::codegen
