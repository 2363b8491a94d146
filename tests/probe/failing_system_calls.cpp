// A library to be preloaded: the k-th call of the system about files, of those that the engine makes, fails,
// does half of what was asked, ends the process, or finds that somebody has changed the folder meanwhile.
// Calls are counted from weft_fail_calls on, on all threads.
//
// A call is the engine's when it returns into libweft.so, or when libstdc++ opens a file, which the engine's
// streams do.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace {

// The calls by their bit in the mask of weft_fail_calls.
constexpr const char* kNames[] = {
    "open",     "openat", "fopen",   "opendir",  "fdopendir",  "readdir",  "closedir", "close",
    "read",     "pread",  "write",   "pwrite",   "lseek",      "stat",     "lstat",    "fstat",
    "fstatat",  "statfs", "access",  "readlink", "readlinkat", "flock",    "fchmod",   "fchmodat",
    "futimens", "mkdir",  "mkdirat", "renameat", "unlink",     "unlinkat",
};
constexpr int kCount = sizeof kNames / sizeof *kNames;

constexpr uint64_t bit_of(const char* name) {
    for (int i = 0; i < kCount; ++i) {
        const char *a = kNames[i], *b = name;
        while (*a != 0 && *a == *b) ++a, ++b;
        if (*a == *b) return uint64_t{1} << i;
    }
    return 0;
}

enum Effect : int {
    kFails,         // nothing is done, errno is set
    kShort,         // reads and writes do half, others fail
    kEmpty,         // reads and writes do nothing and say so, others fail
    kDoneButFails,  // it is done, and reported as failed
    kKilledBefore,
    kKilledAfter,  // of a write: after half of it
    kDisturbed,    // weft_disturb's change is made before it
};

constinit std::atomic<uint64_t> armed{0};
constinit std::atomic<uint64_t> counted{0}, first_failure{0}, last_failure{0}, failed{0};
constinit std::atomic<uint64_t> counted_of[kCount]{};
constinit std::atomic<int> effect{kFails}, error_number{EIO};

enum Disturbance : int { kMovedAway, kReplacedByLink, kReplacedByNew, kEmptied, kCutShort };
int disturbance = kMovedAway;
char folder_path[4096], other_path[4096];

struct Range {
    uintptr_t begin = 0, end = 0;
};
constexpr int kMostRanges = 8;
struct Ranges {
    Range parts[kMostRanges]{};
    int count = 0;

    bool has(const void* address) const {
        const auto place = reinterpret_cast<uintptr_t>(address);
        return std::any_of(parts, parts + count,
                           [&](const Range& part) { return place >= part.begin && place < part.end; });
    }
};
constinit Ranges engine, streams;

int add_range(dl_phdr_info* info, size_t, void*) {
    const char* slash = strrchr(info->dlpi_name, '/');
    const char* name = slash == nullptr ? info->dlpi_name : slash + 1;
    Ranges* ranges = strncmp(name, "libweft.so", 10) == 0     ? &engine
                     : strncmp(name, "libstdc++.so", 12) == 0 ? &streams
                                                              : nullptr;
    for (int i = 0; ranges != nullptr && i < info->dlpi_phnum && ranges->count < kMostRanges; ++i) {
        const auto& header = info->dlpi_phdr[i];
        if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
        const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
        ranges->parts[ranges->count++] = {begin, begin + header.p_memsz};
    }
    return 0;
}

template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
// The C library's own.
#define REAL(name) static auto* const real = next<decltype(name)>(#name)

void of_each_file(void (*change)(int folder, const char* name)) {
    DIR* const listing = next<decltype(opendir)>("opendir")(folder_path);
    if (listing == nullptr) return;
    while (const dirent* found = next<decltype(readdir)>("readdir")(listing)) {
        if (found->d_name[0] != '.') change(dirfd(listing), found->d_name);
    }
    next<decltype(closedir)>("closedir")(listing);
}

void remove_file(int folder, const char* name) { next<decltype(unlinkat)>("unlinkat")(folder, name, 0); }

void cut_short(int folder, const char* name) {
    const int file = next<decltype(openat)>("openat")(folder, name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) return;
    struct stat status;
    if (next<decltype(fstat)>("fstat")(file, &status) == 0 && ftruncate(file, status.st_size / 2) != 0) {
    }
    next<decltype(close)>("close")(file);
}

void disturb() {
    switch (disturbance) {
        case kMovedAway: rename(folder_path, other_path); break;
        case kReplacedByLink:
            if (rename(folder_path, other_path) == 0 && symlink(other_path, folder_path) != 0) {
            }
            break;
        case kReplacedByNew:
            if (rename(folder_path, other_path) == 0) next<decltype(mkdir)>("mkdir")(folder_path, 0700);
            break;
        case kEmptied: of_each_file(remove_file); break;
        case kCutShort: of_each_file(cut_short); break;
        default: break;
    }
}

// What is to become of a call: -1 where it goes on as ever.
int fate(uint64_t bit, const void* caller, const Ranges& of = engine) {
    if ((armed.load(std::memory_order_relaxed) & bit) == 0 || !of.has(caller)) return -1;
    const uint64_t number = counted.fetch_add(1) + 1;
    counted_of[std::countr_zero(bit)].fetch_add(1, std::memory_order_relaxed);
    if (number < first_failure.load() || number > last_failure.load()) return -1;
    failed.fetch_add(1);
    return effect.load();
}

// Nobody hears of what was opened although a failure is reported.
template <class Result>
void undo(Result) {}
void undo(FILE* file) {
    if (file != nullptr) fclose(file);
}
void undo(DIR* listing) {
    if (listing != nullptr) next<decltype(closedir)>("closedir")(listing);
}
struct Descriptor {
    int number;
    operator int() const { return number; }  // NOLINT(google-explicit-constructor)
};
void undo(Descriptor file) {
    if (file >= 0) next<decltype(close)>("close")(file);
}

// `call` does it; `half` does half of it, where that has a meaning.
template <class Result, class Call, class Half>
Result answer(int what, Result failure, Call call, Half half) {
    Result result = failure;
    switch (what) {
        case kFails: break;
        case kShort: return half(false);
        case kEmpty: return half(true);
        case kDoneButFails: undo(call()); break;
        case kKilledBefore: kill(getpid(), SIGKILL); break;
        case kKilledAfter:
            half(false);
            kill(getpid(), SIGKILL);
            break;
        case kDisturbed: {
            const int before = errno;
            disturb();
            errno = before;
            return call();
        }
        default: return call();
    }
    errno = error_number.load();
    return result;
}

template <class Result, class Call>
Result answer(int what, Result failure, Call call) {
    return answer(what, failure, call, [&](bool) {
        if (what == kKilledAfter) return call();
        errno = error_number.load();
        return failure;
    });
}

}  // namespace

extern "C" {

int weft_count_of_calls() { return kCount; }
const char* weft_name_of_call(int number) { return kNames[number]; }

// Those numbered `first` to `last` from now on, of the calls in the mask.
void weft_fail_calls(uint64_t mask, uint64_t first, uint64_t last, int what, int error) {
    armed = 0;
    if (engine.count == 0) dl_iterate_phdr(&add_range, nullptr);
    counted = 0;
    for (auto& count : counted_of) count = 0;
    failed = 0;
    first_failure = first;
    last_failure = last;
    effect = what;
    error_number = error;
    armed = mask;
}
void weft_disturb(int what, const char* folder, const char* other) {
    disturbance = what;
    strncpy(folder_path, folder, sizeof folder_path - 1);
    strncpy(other_path, other, sizeof other_path - 1);
}
void weft_allow_calls() { armed = 0; }
uint64_t weft_counted_calls() { return counted; }
uint64_t weft_counted_calls_of(int number) { return counted_of[number]; }
uint64_t weft_failed_calls() { return failed; }

#define FATE(name) const int what = fate(bit_of(#name), __builtin_return_address(0))

#define MODE_OF(flags)                                 \
    mode_t mode = 0;                                   \
    if (((flags) & (O_CREAT | O_TMPFILE)) != 0) {      \
        va_list rest;                                  \
        va_start(rest, flags);                         \
        mode = static_cast<mode_t>(va_arg(rest, int)); \
        va_end(rest);                                  \
    }

int open(const char* path, int flags, ...) {
    REAL(open);
    MODE_OF(flags)
    FATE(open);
    return answer<Descriptor>(what, {-1}, [&] { return Descriptor{real(path, flags, mode)}; });
}
int openat(int folder, const char* path, int flags, ...) {
    REAL(openat);
    MODE_OF(flags)
    FATE(openat);
    return answer<Descriptor>(what, {-1}, [&] { return Descriptor{real(folder, path, flags, mode)}; });
}
FILE* fopen(const char* path, const char* mode) {
    REAL(fopen);
    const int what = fate(bit_of("fopen"), __builtin_return_address(0), streams);
    return answer<FILE*>(what, nullptr, [&] { return real(path, mode); });
}
FILE* fopen64(const char* path, const char* mode) {
    static auto* const real = next<decltype(fopen)>("fopen64");
    const int what = fate(bit_of("fopen"), __builtin_return_address(0), streams);
    return answer<FILE*>(what, nullptr, [&] { return real(path, mode); });
}
DIR* opendir(const char* path) {
    REAL(opendir);
    FATE(opendir);
    return answer<DIR*>(what, nullptr, [&] { return real(path); });
}
DIR* fdopendir(int file) {
    REAL(fdopendir);
    FATE(fdopendir);
    // A listing that nobody knows of would close a descriptor that its owner closes, too.
    return answer<DIR*>(what == kDoneButFails ? kFails : what, nullptr, [&] { return real(file); });
}
dirent* readdir(DIR* listing) {
    REAL(readdir);
    FATE(readdir);
    return answer<dirent*>(what, nullptr, [&] { return real(listing); });
}
// What is closed is gone whatever is reported.
static int of_closing(int what) {
    return what == kFails || what == kShort || what == kEmpty ? kDoneButFails : what;
}
int closedir(DIR* listing) {
    REAL(closedir);
    FATE(closedir);
    return answer(of_closing(what), -1, [&] { return real(listing); });
}
int close(int file) {
    REAL(close);
    FATE(close);
    return answer(of_closing(what), -1, [&] { return real(file); });
}
#define HALF(size) (nothing ? 0 : std::max<size_t>((size) / 2, (size) != 0))
ssize_t read(int file, void* to, size_t size) {
    REAL(read);
    FATE(read);
    return answer<ssize_t>(
        what, -1, [&] { return real(file, to, size); },
        [&](bool nothing) { return real(file, to, HALF(size)); });
}
ssize_t pread(int file, void* to, size_t size, off_t at) {
    REAL(pread);
    FATE(pread);
    return answer<ssize_t>(
        what, -1, [&] { return real(file, to, size, at); },
        [&](bool nothing) { return real(file, to, HALF(size), at); });
}
ssize_t write(int file, const void* from, size_t size) {
    REAL(write);
    FATE(write);
    return answer<ssize_t>(
        what, -1, [&] { return real(file, from, size); },
        [&](bool nothing) { return real(file, from, HALF(size)); });
}
ssize_t pwrite(int file, const void* from, size_t size, off_t at) {
    REAL(pwrite);
    FATE(pwrite);
    return answer<ssize_t>(
        what, -1, [&] { return real(file, from, size, at); },
        [&](bool nothing) { return real(file, from, HALF(size), at); });
}
off_t lseek(int file, off_t at, int whence) noexcept {
    REAL(lseek);
    FATE(lseek);
    return answer<off_t>(what, -1, [&] { return real(file, at, whence); });
}
int stat(const char* path, struct stat* status) noexcept {
    static auto* const real = next<int(const char*, struct stat*)>("stat");
    FATE(stat);
    return answer(what, -1, [&] { return real(path, status); });
}
int lstat(const char* path, struct stat* status) noexcept {
    static auto* const real = next<int(const char*, struct stat*)>("lstat");
    FATE(lstat);
    return answer(what, -1, [&] { return real(path, status); });
}
int fstat(int file, struct stat* status) noexcept {
    static auto* const real = next<int(int, struct stat*)>("fstat");
    FATE(fstat);
    return answer(what, -1, [&] { return real(file, status); });
}
int fstatat(int folder, const char* path, struct stat* status, int flags) noexcept {
    static auto* const real = next<int(int, const char*, struct stat*, int)>("fstatat");
    FATE(fstatat);
    return answer(what, -1, [&] { return real(folder, path, status, flags); });
}
int statfs(const char* path, struct statfs* status) noexcept {
    static auto* const real = next<int(const char*, struct statfs*)>("statfs");
    FATE(statfs);
    return answer(what, -1, [&] { return real(path, status); });
}
int access(const char* path, int mode) noexcept {
    REAL(access);
    FATE(access);
    return answer(what, -1, [&] { return real(path, mode); });
}
ssize_t readlink(const char* path, char* to, size_t size) noexcept {
    REAL(readlink);
    FATE(readlink);
    return answer<ssize_t>(what, -1, [&] { return real(path, to, size); });
}
ssize_t readlinkat(int folder, const char* path, char* to, size_t size) noexcept {
    REAL(readlinkat);
    FATE(readlinkat);
    return answer<ssize_t>(what, -1, [&] { return real(folder, path, to, size); });
}
int flock(int file, int operation) noexcept {
    REAL(flock);
    FATE(flock);
    return answer(what, -1, [&] { return real(file, operation); });
}
int fchmod(int file, mode_t mode) noexcept {
    REAL(fchmod);
    FATE(fchmod);
    return answer(what, -1, [&] { return real(file, mode); });
}
int fchmodat(int folder, const char* path, mode_t mode, int flags) noexcept {
    REAL(fchmodat);
    FATE(fchmodat);
    return answer(what, -1, [&] { return real(folder, path, mode, flags); });
}
int futimens(int file, const timespec times[2]) noexcept {
    REAL(futimens);
    FATE(futimens);
    return answer(what, -1, [&] { return real(file, times); });
}
int mkdir(const char* path, mode_t mode) noexcept {
    REAL(mkdir);
    FATE(mkdir);
    return answer(what, -1, [&] { return real(path, mode); });
}
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
    REAL(mkdirat);
    FATE(mkdirat);
    return answer(what, -1, [&] { return real(folder, path, mode); });
}
int renameat(int from, const char* old, int to, const char* fresh) noexcept {
    REAL(renameat);
    FATE(renameat);
    return answer(what, -1, [&] { return real(from, old, to, fresh); });
}
int unlink(const char* path) noexcept {
    REAL(unlink);
    FATE(unlink);
    return answer(what, -1, [&] { return real(path); });
}
int unlinkat(int folder, const char* path, int flags) noexcept {
    REAL(unlinkat);
    FATE(unlinkat);
    return answer(what, -1, [&] { return real(folder, path, flags); });
}

}  // extern "C"
