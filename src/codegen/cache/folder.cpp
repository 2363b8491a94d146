#include "codegen/cache/folder.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <string_view>

namespace weft::codegen {
namespace {

constexpr mode_t kPrivate = 0700;
constexpr mode_t kOthersWrite = 022;
constexpr int kMostLinks = 40;  // as the kernel's own limit

std::string octal(mode_t mode) {
    char text[16];
    std::snprintf(text, sizeof text, "%04o", static_cast<unsigned>(mode & 07777));
    return text;
}

std::deque<std::string> components(std::string_view path) {
    std::deque<std::string> names;
    while (!path.empty()) {
        const size_t end = path.find('/');
        const std::string_view name = path.substr(0, end);
        if (!name.empty() && name != ".") names.emplace_back(name);
        if (end == std::string_view::npos) break;
        path.remove_prefix(end + 1);
    }
    return names;
}

// Goes from one folder to the next, by descriptors, so that nobody can exchange what was checked.
class Walk {
public:
    explicit Walk(bool create) : create_(create) { start(); }

    // Down to the folder `path`, which must not be a link itself.
    bool to(std::string_view path) {
        std::deque<std::string> names = components(path);
        while (ok() && !names.empty()) {
            const std::string name = names.front();
            names.pop_front();
            step(name, names, names.empty() ? Link::kRefused : Link::kFollowed, Sticky::kAccepted);
        }
        return ok();
    }

    // Down to what is weft's alone.
    bool to_private(const std::string& name) {
        std::deque<std::string> none;
        step(name, none, Link::kRefused, Sticky::kRefused);
        return ok();
    }

    bool ok() const { return at_.valid() && reason_.empty() && !missing_; }
    const std::string& reason() const { return reason_; }
    int descriptor() const { return at_.get(); }
    const std::string& shown() const { return shown_; }
    void refuse(const std::string& what, const std::string& why) { reason_ = what + " " + why; }

private:
    enum class Link { kFollowed, kRefused };
    enum class Sticky { kAccepted, kRefused };

    void start() {
        at_ = FileDescriptor(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
        shown_.clear();
        struct stat status;
        if (!at_.valid() || fstat(at_.get(), &status) != 0) {
            refuse("/", "cannot be opened: " + error_text(errno));
        } else {
            check(status, "/", Sticky::kAccepted);
        }
    }

    bool check_owner(const struct stat& status, const std::string& path) {
        if (status.st_uid == 0 || status.st_uid == geteuid()) return true;
        refuse(path, "belongs to user " + std::to_string(status.st_uid) + ", neither to this one (" +
                         std::to_string(geteuid()) + ") nor to root");
        return false;
    }

    void check(const struct stat& status, const std::string& path, Sticky sticky) {
        if (!check_owner(status, path)) return;
        if ((status.st_mode & kOthersWrite) == 0) return;
        if (sticky == Sticky::kAccepted && (status.st_mode & S_ISVTX) != 0) return;
        refuse(path, "is writable by others (mode " + octal(status.st_mode) + ")");
    }

    // Makes the folder for this user alone, whatever the umask.
    void make(const std::string& name) {
        if (mkdirat(at_.get(), name.c_str(), kPrivate) != 0) return;  // opening it will tell why
        struct stat status;
        if (fstatat(at_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode) &&
            status.st_uid == geteuid() && (status.st_mode & 0777) != kPrivate) {
            // The parent was checked: nobody else can have put a link here.
            (void)fchmodat(at_.get(), name.c_str(), kPrivate, 0);
        }
    }

    FileDescriptor open_entry(const std::string& name) const {
        return FileDescriptor(openat(at_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    }

    void step(const std::string& name, std::deque<std::string>& rest, Link link, Sticky sticky) {
        const std::string path = name == ".." ? shown_ + "/.." : shown_ + "/" + name;
        FileDescriptor next = open_entry(name);
        if (!next.valid() && errno == ENOENT) {
            if (!create_) {
                missing_ = true;
                return;
            }
            errno = 0;
            make(name);
            const int error = errno;
            next = open_entry(name);
            if (!next.valid()) {
                refuse(path, "cannot be created: " + error_text(error != 0 ? error : errno));
                return;
            }
        }
        struct stat status;
        if (!next.valid() || fstat(next.get(), &status) != 0) {
            refuse(path, "cannot be opened: " + error_text(errno));
            return;
        }
        if (S_ISLNK(status.st_mode)) {
            follow(next.get(), status, path, rest, link);
            return;
        }
        if (!S_ISDIR(status.st_mode)) {
            refuse(path, "is not a folder");
            return;
        }
        check(status, path, sticky);
        at_ = std::move(next);
        shown_ = path;
    }

    void follow(int descriptor, const struct stat& status, const std::string& path,
                std::deque<std::string>& rest, Link link) {
        if (link == Link::kRefused) {
            refuse(path, "is a symbolic link");
            return;
        }
        if (!check_owner(status, path)) return;
        if (++links_ > kMostLinks) {
            refuse(path, "is one of too many symbolic links");
            return;
        }
        char target[PATH_MAX];
        const ssize_t size = readlinkat(descriptor, "", target, sizeof target);
        if (size <= 0 || size == sizeof target) {
            refuse(path, "is a symbolic link that cannot be read");
            return;
        }
        const std::string_view text(target, static_cast<size_t>(size));
        const std::deque<std::string> names = components(text);
        rest.insert(rest.begin(), names.begin(), names.end());
        if (text.front() == '/') start();
    }

    bool create_;
    bool missing_ = false;
    int links_ = 0;
    FileDescriptor at_;
    std::string shown_;  // the path of `at_`; empty for the root
    std::string reason_;
};

std::string environment(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? std::string() : std::string(text);
}

}  // namespace

CacheLocation locate_cache(const std::optional<std::string>& setting) {
    if (getauxval(AT_SECURE) != 0) return {{}, "the process has raised privileges"};
    if (setting) {
        if (setting->empty()) return {{}, "WEFT_CACHE_DIR is empty"};
        if (setting->front() != '/') return {{}, "WEFT_CACHE_DIR is not an absolute path: " + *setting};
        return {*setting, {}};
    }
    // A relative path is to be ignored, as the XDG base directory specification says.
    const std::string caches = environment("XDG_CACHE_HOME");
    if (caches.starts_with('/')) return {caches + "/weft", {}};
    const std::string home = environment("HOME");
    if (home.starts_with('/')) return {home + "/.cache/weft", {}};
    return {{}, home.empty() ? "neither WEFT_CACHE_DIR nor HOME is set" : "HOME is not an absolute path"};
}

CacheFolder::~CacheFolder() {
    // A number that the program has closed and used again is not ours to close.
    struct stat status;
    if (descriptor.valid() &&
        (fstat(descriptor.get(), &status) != 0 || status.st_dev != device || status.st_ino != inode))
        descriptor.release();
}

bool CacheFolder::still_there() const {
    struct stat status;
    return descriptor.valid() && user == geteuid() && fstat(descriptor.get(), &status) == 0 &&
           status.st_dev == device && status.st_ino == inode && status.st_nlink != 0;
}

CacheFolder open_cache_folder(const std::string& path, bool create) {
    CacheFolder folder;
    folder.user = geteuid();
    Walk walk(create);
    if (walk.to(path) && walk.to_private("kernels-" + std::to_string(folder.user))) {
        folder.descriptor =
            FileDescriptor(openat(walk.descriptor(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        struct stat status;
        if (!folder.descriptor.valid() || fstat(folder.descriptor.get(), &status) != 0) {
            walk.refuse(walk.shown(), "cannot be opened: " + error_text(errno));
            folder.descriptor = FileDescriptor();
        } else {
            folder.device = status.st_dev;
            folder.inode = status.st_ino;
        }
    }
    folder.reason = walk.reason();
    return folder;
}

}  // namespace weft::codegen
