// Every allocation of libweft.so, LLVM's included: the linker turns calls of `malloc` into calls of
// `__wrap_malloc`, and the one behind is `__real_malloc` (--wrap in cmake/WeftAllocation.cmake). What the
// system gives is as before; what it refuses is described in core/memory/allocation_failure.h. Memory of the
// reserve is known by its address when it comes back.
#include <malloc.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "core/memory/allocation_failure.h"
#include "core/memory/reserved_memory.h"
#include "core/threads/thread_start.h"

namespace {

using weft::LastResort;

constexpr size_t kAlignment = alignof(std::max_align_t);

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names
extern "C" {

void* __real_malloc(size_t);
void* __real_calloc(size_t, size_t);
void* __real_realloc(void*, size_t);
void* __real_aligned_alloc(size_t, size_t);
void __real_free(void*);

void* __wrap_malloc(size_t bytes) {
    weft::leave_room();
    void* const block = __real_malloc(bytes);
    return block != nullptr ? block : LastResort::take(bytes, kAlignment);
}

void* __wrap_calloc(size_t count, size_t size) {
    weft::leave_room();
    void* const block = __real_calloc(count, size);
    size_t bytes = 0;
    if (block != nullptr || __builtin_mul_overflow(count, size, &bytes)) return block;
    void* const reserved = LastResort::take(bytes, kAlignment);
    return reserved == nullptr ? nullptr : std::memset(reserved, 0, bytes);
}

void __wrap_free(void* block) {
    if (weft::is_reserved(block)) [[unlikely]]
        return weft::give_back_reserved(block);
    __real_free(block);
}

void* __wrap_realloc(void* block, size_t bytes) {
    weft::leave_room();
    const bool reserved = weft::is_reserved(block);
    if (!reserved) {
        void* const moved = __real_realloc(block, bytes);
        if (moved != nullptr || bytes == 0) return moved;
    }
    void* const moved = reserved ? __wrap_malloc(bytes) : LastResort::take(bytes, kAlignment);
    if (moved == nullptr || block == nullptr) return moved;
    const size_t held = reserved ? weft::reserved_size(block) : malloc_usable_size(block);
    std::memcpy(moved, block, std::min(held, bytes));
    __wrap_free(block);
    return moved;
}

void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
    weft::leave_room();
    void* const block = __real_aligned_alloc(alignment, bytes);
    return block != nullptr ? block : LastResort::take(bytes, alignment);
}

// operator new, by its mangled names.

void* __real__Znwm(size_t);
void* __real__Znam(size_t);
void* __real__ZnwmRKSt9nothrow_t(size_t, const std::nothrow_t&);
void* __real__ZnwmSt11align_val_tRKSt9nothrow_t(size_t, std::align_val_t, const std::nothrow_t&);
void* __real__ZnwmSt11align_val_t(size_t, std::align_val_t);
void* __real__ZnamSt11align_val_t(size_t, std::align_val_t);
void __real__ZdlPv(void*);
void __real__ZdaPv(void*);
void __real__ZdlPvm(void*, size_t);
void __real__ZdaPvm(void*, size_t);
void __real__ZdlPvSt11align_val_t(void*, std::align_val_t);
void __real__ZdaPvSt11align_val_t(void*, std::align_val_t);
void __real__ZdlPvmSt11align_val_t(void*, size_t, std::align_val_t);

#define WEFT_NEW(name, parameters, alignment, ...)                                    \
    void* __wrap_##name parameters {                                                  \
        weft::leave_room();                                                           \
        try {                                                                         \
            return __real_##name(__VA_ARGS__);                                        \
        } catch (const std::bad_alloc&) {                                             \
            if (void* const block = LastResort::take(bytes, alignment)) return block; \
            weft::throw_allocation_failure(bytes);                                    \
        }                                                                             \
    }
WEFT_NEW(_Znwm, (size_t bytes), kAlignment, bytes)
WEFT_NEW(_Znam, (size_t bytes), kAlignment, bytes)
WEFT_NEW(_ZnwmSt11align_val_t, (size_t bytes, std::align_val_t align), static_cast<size_t>(align), bytes,
         align)
WEFT_NEW(_ZnamSt11align_val_t, (size_t bytes, std::align_val_t align), static_cast<size_t>(align), bytes,
         align)
#undef WEFT_NEW

void* __wrap__ZnwmRKSt9nothrow_t(size_t bytes, const std::nothrow_t& tag) {
    weft::leave_room();
    void* const block = __real__ZnwmRKSt9nothrow_t(bytes, tag);
    return block != nullptr ? block : LastResort::take(bytes, kAlignment);
}
void* __wrap__ZnwmSt11align_val_tRKSt9nothrow_t(size_t bytes, std::align_val_t align,
                                                const std::nothrow_t& tag) {
    weft::leave_room();
    void* const block = __real__ZnwmSt11align_val_tRKSt9nothrow_t(bytes, align, tag);
    return block != nullptr ? block : LastResort::take(bytes, static_cast<size_t>(align));
}

#define WEFT_DELETE(name, parameters, ...)          \
    void __wrap_##name parameters {                 \
        if (weft::is_reserved(block)) [[unlikely]]  \
            return weft::give_back_reserved(block); \
        __real_##name(__VA_ARGS__);                 \
    }
WEFT_DELETE(_ZdlPv, (void* block), block)
WEFT_DELETE(_ZdaPv, (void* block), block)
WEFT_DELETE(_ZdlPvm, (void* block, size_t bytes), block, bytes)
WEFT_DELETE(_ZdaPvm, (void* block, size_t bytes), block, bytes)
WEFT_DELETE(_ZdlPvSt11align_val_t, (void* block, std::align_val_t align), block, align)
WEFT_DELETE(_ZdaPvSt11align_val_t, (void* block, std::align_val_t align), block, align)
WEFT_DELETE(_ZdlPvmSt11align_val_t, (void* block, size_t bytes, std::align_val_t align), block, bytes, align)
#undef WEFT_DELETE

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
