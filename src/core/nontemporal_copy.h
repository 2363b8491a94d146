// Copies into memory that nobody reads soon: the lines that are written are not read before, nor kept in
// caches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft {

// Whole lines are written by non-temporal stores. Before other threads may read them the thread that copied
// has to call finish_copies.
inline void copy_nontemporal(void* to, const void* from, size_t bytes) {
    if (bytes == 0) return;  // perhaps from and to nowhere
    constexpr size_t kLine = 64;
    typedef uint64_t Part __attribute__((vector_size(16)));
    auto* out = static_cast<char*>(to);
    const auto* in = static_cast<const char*>(from);
    const size_t head = std::min((0 - reinterpret_cast<uintptr_t>(out)) % kLine, bytes);
    std::memcpy(out, in, head);
    size_t i = head;
    for (; i + kLine <= bytes; i += kLine) {
        Part line[kLine / sizeof(Part)];
        std::memcpy(line, in + i, kLine);
        auto* parts = reinterpret_cast<Part*>(out + i);
        for (size_t k = 0; k < std::size(line); ++k) __builtin_nontemporal_store(line[k], parts + k);
    }
    std::memcpy(out + i, in + i, bytes - i);
}

inline void finish_copies() {
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

}  // namespace weft
