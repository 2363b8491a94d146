// A library to be preloaded: the k-th allocation that the engine asks for fails, once or from then on.
// Allocations are counted from weft_fail_allocations on, on all threads.
//
// `operator new` is everybody's, so it is the process's; malloc and its kin, mappings and threads are counted
// only where libweft.so or the binding ask for them, since Python and libc have rules of their own.
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace {

enum Kind : unsigned { kNew = 1, kMalloc = 2, kMap = 4, kThread = 8 };

constinit std::atomic<unsigned> armed{0};
constinit std::atomic<uint64_t> counted{0}, first_failure{0}, last_failure{0}, failed{0};

struct Range {
    uintptr_t begin, end;
};
constexpr int kMostRanges = 8;
Range ranges[kMostRanges];
int range_count = 0;

bool fails(unsigned kind) {
    if ((armed.load(std::memory_order_relaxed) & kind) == 0) return false;
    const uint64_t number = counted.fetch_add(1) + 1;
    if (number < first_failure.load() || number > last_failure.load()) return false;
    failed.fetch_add(1);
    return true;
}

bool is_weft(const void* address) {
    const auto place = reinterpret_cast<uintptr_t>(address);
    for (int i = 0; i < range_count; ++i) {
        if (place >= ranges[i].begin && place < ranges[i].end) return true;
    }
    return false;
}

// The kind if the caller is weft's, else nothing that can be armed.
#define OF_WEFT(kind) (is_weft(__builtin_return_address(0)) ? (kind) : 0U)

int add_range(dl_phdr_info* info, size_t, void*) {
    const char* slash = strrchr(info->dlpi_name, '/');
    const char* name = slash == nullptr ? info->dlpi_name : slash + 1;
    if (strncmp(name, "libweft.so", 10) != 0 && strncmp(name, "_core.", 6) != 0) return 0;
    for (int i = 0; i < info->dlpi_phnum && range_count < kMostRanges; ++i) {
        const auto& header = info->dlpi_phdr[i];
        if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
        const uintptr_t begin = info->dlpi_addr + header.p_vaddr;
        ranges[range_count++] = {begin, begin + header.p_memsz};
    }
    return 0;
}

// Whoever comes next in the process: libc, or a sanitizer.
template <class Function>
Function* next(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
struct Next {
    void* (*malloc)(size_t) = next<void*(size_t)>("malloc");
    void* (*calloc)(size_t, size_t) = next<void*(size_t, size_t)>("calloc");
    void* (*realloc)(void*, size_t) = next<void*(void*, size_t)>("realloc");
    void* (*memalign)(size_t, size_t) = next<void*(size_t, size_t)>("aligned_alloc");
    void (*free)(void*) = next<void(void*)>("free");
};

// dlsym may allocate itself: what it gets meanwhile stays.
alignas(16) constinit char of_search[1 << 16];
constinit std::atomic<size_t> search_used{0};
bool is_of_search(const void* block) { return block >= of_search && block < of_search + sizeof of_search; }
void* take_for_search(size_t size) { return of_search + search_used.fetch_add((size + 15) / 16 * 16); }

constinit bool searching = false;
const Next* others() {
    static const Next* known = nullptr;
    if (known != nullptr) return known;
    if (searching) return nullptr;
    searching = true;
    static const Next found;
    searching = false;
    return known = &found;
}

void* take(size_t size) {
    const Next* const other = others();
    return other != nullptr ? other->malloc(size) : take_for_search(size);
}

void give_back(void* block) {
    if (const Next* const other = others(); other != nullptr && !is_of_search(block)) other->free(block);
}

void* allocate(size_t size) { return fails(kNew) ? nullptr : take(size == 0 ? 1 : size); }

void* allocate_aligned(size_t size, std::align_val_t alignment) {
    const auto unit = static_cast<size_t>(alignment);
    return fails(kNew) ? nullptr : others()->memalign(unit, (size + unit - 1) / unit * unit);
}

void* or_throw(void* block) {
    if (block == nullptr) throw std::bad_alloc();
    return block;
}

// WEFT_FAIL_ALLOCATIONS=kinds:first:last counts from the load of this library on; for imports.
[[gnu::constructor]] void read_environment() {
    const char* text = getenv("WEFT_FAIL_ALLOCATIONS");
    if (text == nullptr) return;
    char* end = nullptr;
    const auto kinds = static_cast<unsigned>(strtoul(text, &end, 10));
    first_failure = strtoull(end + 1, &end, 10);
    last_failure = strtoull(end + 1, &end, 10);
    armed = kinds;
}

}  // namespace

extern "C" {

// kinds: 1 operator new, 2 malloc, 4 mappings, 8 threads. Those numbered `first` to `last` from now on fail.
void weft_fail_allocations(unsigned kinds, uint64_t first, uint64_t last) {
    armed = 0;
    if (range_count == 0) dl_iterate_phdr(&add_range, nullptr);
    counted = 0;
    failed = 0;
    first_failure = first;
    last_failure = last;
    armed = kinds;
}
void weft_allow_allocations() { armed = 0; }
uint64_t weft_counted_allocations() { return counted; }
uint64_t weft_failed_allocations() { return failed; }

void* malloc(size_t size) {
    if (fails(OF_WEFT(kMalloc))) {
        errno = ENOMEM;
        return nullptr;
    }
    return take(size);
}
void free(void* block) { give_back(block); }
void* calloc(size_t count, size_t size) {
    if (fails(OF_WEFT(kMalloc))) {
        errno = ENOMEM;
        return nullptr;
    }
    const Next* const other = others();
    return other != nullptr ? other->calloc(count, size) : take_for_search(count * size);
}
void* realloc(void* block, size_t size) {
    if (fails(OF_WEFT(kMalloc))) {
        errno = ENOMEM;
        return nullptr;
    }
    return others()->realloc(block, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
    if (fails(OF_WEFT(kMalloc))) {
        errno = ENOMEM;
        return nullptr;
    }
    return others()->memalign(alignment, size);
}
void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
    static auto* const real = next<void*(void*, size_t, int, int, int, off_t)>("mmap");
    if (fails(OF_WEFT(kMap))) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return real(address, size, protection, flags, file, offset);
}
int mprotect(void* address, size_t size, int protection) noexcept {
    static auto* const real = next<int(void*, size_t, int)>("mprotect");
    if (fails(OF_WEFT(kMap))) {
        errno = ENOMEM;
        return -1;
    }
    return real(address, size, protection);
}
// Of libstdc++'s std::thread, which asks for weft.
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                   void* argument) {
    static auto* const real =
        next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>("pthread_create");
    if (fails(kThread)) return EAGAIN;
    return real(thread, attributes, start, argument);
}

}  // extern "C"

void* operator new(size_t size) { return or_throw(allocate(size)); }
void* operator new[](size_t size) { return or_throw(allocate(size)); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new(size_t size, std::align_val_t alignment) {
    return or_throw(allocate_aligned(size, alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
    return or_throw(allocate_aligned(size, alignment));
}
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocate_aligned(size, alignment);
}
void* operator new[](size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
    return allocate_aligned(size, alignment);
}
void operator delete(void* block) noexcept { give_back(block); }
void operator delete[](void* block) noexcept { give_back(block); }
void operator delete(void* block, size_t) noexcept { give_back(block); }
void operator delete[](void* block, size_t) noexcept { give_back(block); }
void operator delete(void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete[](void* block, std::align_val_t) noexcept { give_back(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { give_back(block); }
void operator delete[](void* block, size_t, std::align_val_t) noexcept { give_back(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { give_back(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { give_back(block); }
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept { give_back(block); }
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept { give_back(block); }
