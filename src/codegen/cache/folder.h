// The folder of the kernel cache: where it is, whether it can be trusted, and a descriptor of it, from which
// everything in it is reached. Machine code from this folder is run, so nobody but this user and root may be
// able to put something there.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "codegen/cache/file.h"

namespace weft::codegen {

// A path, or the reason why there is none.
struct CacheLocation {
    std::string path, reason;
};

// The setting WEFT_CACHE_DIR; absent: weft's folder in the user's cache folder, as the environment names it.
CacheLocation locate_cache(const std::optional<std::string>& setting);

// An open folder, or the reason why it is not used; neither where it does not exist yet.
struct CacheFolder {
    CacheFolder() = default;
    CacheFolder(CacheFolder&&) = default;
    ~CacheFolder();

    FileDescriptor descriptor;
    std::string reason;
    dev_t device = 0;
    ino_t inode = 0;
    uid_t user = 0;

    // Whether the descriptor is still this folder and the process still this user: programs close descriptors
    // that they do not know, remove caches and give up rights.
    bool still_there() const;
};

// Opens `path`/kernels-<user>. Walks down from the root and checks every folder on the way, links of parents
// included. With `create` makes what is missing, for this user alone.
CacheFolder open_cache_folder(const std::string& path, bool create);

}  // namespace weft::codegen
