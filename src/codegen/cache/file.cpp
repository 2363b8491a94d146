#include "codegen/cache/file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

namespace weft::codegen {
namespace {

// A write beyond RLIMIT_FSIZE sends a signal that would end the process. Held back, the write fails as any
// other.
class FileSizeSignalHeld {
public:
    FileSizeSignalHeld() {
        sigset_t pending;
        sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGXFSZ) != 0;
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGXFSZ);
        pthread_sigmask(SIG_BLOCK, &signals_, &before_);
    }
    ~FileSizeSignalHeld() {
        const int error = errno;
        const timespec at_once{};
        if (!was_pending_) {
            while (sigtimedwait(&signals_, nullptr, &at_once) < 0 && errno == EINTR) {
            }
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = error;
    }
    FileSizeSignalHeld(const FileSizeSignalHeld&) = delete;
    FileSizeSignalHeld& operator=(const FileSizeSignalHeld&) = delete;

private:
    sigset_t signals_, before_;
    bool was_pending_ = false;
};

}  // namespace

FileDescriptor open_plain(int folder, const char* name, int flags, FileStatus* status) {
    // Without waiting: a pipe could be here.
    FileDescriptor file(
        openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file.valid()) return file;
    struct stat found;
    if (fstat(file.get(), &found) != 0) return {};
    if (!S_ISREG(found.st_mode) || (found.st_uid != 0 && found.st_uid != geteuid())) {
        errno = ELOOP;
        return {};
    }
    if (status != nullptr) *status = {found.st_size, found.st_mtim.tv_sec};
    return file;
}

// Not through a mapping: when somebody cuts the file short, reading one raises SIGBUS.
bool read_all(int file, std::string& bytes) {
    size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t got = pread(file, bytes.data() + have, bytes.size() - have, static_cast<off_t>(have));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        if (got == 0) break;
        have += static_cast<size_t>(got);
    }
    bytes.resize(have);
    return true;
}

bool write_all(int file, std::string_view bytes) {
    const FileSizeSignalHeld held;
    off_t position = 0;
    while (!bytes.empty()) {
        const ssize_t written = pwrite(file, bytes.data(), bytes.size(), position);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        if (written == 0) {
            errno = EIO;
            return false;
        }
        position += written;
        bytes.remove_prefix(static_cast<size_t>(written));
    }
    return true;
}

std::string error_text(int error) {
    char text[256];
    return strerror_r(error, text, sizeof text);  // GNU's form returns the text
}

}  // namespace weft::codegen
