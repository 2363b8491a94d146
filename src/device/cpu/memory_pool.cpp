#include "device/cpu/memory_pool.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/config.h"
#include "core/memory/allocation_failure.h"
#include "core/memory/bytes_text.h"
#include "core/memory/reserved_memory.h"
#include "core/threads/fork.h"
#include "core/threads/thread_start.h"
#include "core/without_failing.h"
#include "device/cpu/available_memory.h"
#include "device/cpu/kept_work.h"
#include "weft/errors.h"

namespace weft {
namespace {

// --- size classes
// --------------------------------------------------------------------------------------------

constexpr size_t kMappedBytes = size_t{2} << 20;  // from here on a block is a mapping: a huge page at least
constexpr int kStepBits = 3;                      // eight classes a doubling: at most an eighth is lost
constexpr int kClasses = 48 << kStepBits;

struct SizeClass {
    int index;
    size_t bytes;
};

// Classes are 64, 128, ... 1024 in steps of 64, then eight a doubling.
constexpr SizeClass size_class(size_t bytes) {
    const size_t units = std::max<size_t>((bytes + kBufferAlignment - 1) / kBufferAlignment, 1) - 1;
    if (units < 16) return {static_cast<int>(units), (units + 1) * kBufferAlignment};
    const int shift = std::bit_width(units) - kStepBits - 1;
    const size_t step = (units >> shift) + 1;  // 9 ... 16, of 1 << shift units
    return {((shift + 1) << kStepBits) + static_cast<int>(step) - 1, (step << shift) * kBufferAlignment};
}

size_t class_bytes(int index) {
    if (index < 16) return static_cast<size_t>(index + 1) * kBufferAlignment;
    const int shift = (index >> kStepBits) - 2;
    const auto step = static_cast<size_t>(index & ((1 << kStepBits) - 1)) + (size_t{1} << kStepBits) + 1;
    return (step << shift) * kBufferAlignment;
}

struct FreeBlock {
    FreeBlock* next;
};

// --- the common pool
// -----------------------------------------------------------------------------------------

constexpr size_t kCheckedBytes = size_t{64}
                                 << 20;       // fresh memory handed out between two looks at what is left
constexpr size_t kMargin = size_t{32} << 20;  // left to the rest of the process
constexpr size_t kSampledBytes = size_t{16}
                                 << 20;  // blocks from this size on are looked at for untouched pages

// How much of a mapped block lies in huge pages when so many of its bytes are used: the last page is one only
// if nearly all of it is needed. As small pages it is slower to touch for the first time, by half a
// millisecond at most, but an array takes no more memory than it has bytes.
constexpr size_t huge_part(size_t used) {
    constexpr size_t kMostUnused = kMappedBytes / 8;
    return (used + kMostUnused) / kMappedBytes * kMappedBytes;
}

std::atomic<size_t> bytes_held{0};  // in free blocks of the common pool

class CommonPool {
public:
    CommonPool() { marked_.reserve(kMostMarked); }

    // A block of the class, of which `used` bytes are asked for, from the pool or fresh; null when the system
    // has none. With a mark: one that has it, if there is one, and `found` is then the mark.
    void* take(SizeClass size, size_t used, KnownBorderMark& found, const KnownBorder* mark) {
        std::lock_guard lock(mutex_);
        void* block = take_any(size, found, mark);
        if (block != nullptr && size.bytes >= kMappedBytes) wish_for_huge_pages(block, used);
        return block;
    }

    void give_back(void* block, SizeClass size, KnownBorderMark mark) {
        std::lock_guard lock(mutex_);
        if (bytes_held.load(std::memory_order_relaxed) + size.bytes > most_held_) {
            unmake(block, size);
            return;
        }
        bytes_held.fetch_add(size.bytes, std::memory_order_relaxed);
        if (mark == nullptr) {
            list(block, size.index);
            return;
        }
        if (marked_.size() == kMostMarked) {
            list(marked_.front().block, marked_.front().size.index);
            marked_.erase(marked_.begin());
        }
        marked_.push_back({block, size, std::move(mark)});
    }

    void empty() {
        std::lock_guard lock(mutex_);
        empty_locked();
    }

    // Whether so many bytes could be had, free blocks of the pool counted in.
    bool could_have(size_t bytes) {
        std::lock_guard lock(mutex_);
        const auto limit = static_cast<size_t>(config().memory_limit.load(std::memory_order_relaxed));
        if (limit != 0 && pool_bytes_in_use() + bytes > limit) return false;
        return bytes <= held() || bytes - held() <= left();
    }

    static size_t held() { return bytes_held.load(std::memory_order_relaxed); }

    // For fork(), see core/threads/fork.h.
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

private:
    // A free block that is known to hold something: nothing may be written into it, not even a link.
    struct MarkedBlock {
        void* block;
        SizeClass size;
        KnownBorderMark mark;
    };
    static constexpr size_t kMostMarked = 8;

    struct Mapping {
        size_t bytes;
        size_t huge;  // at its start, in huge pages where the system has them
    };

    void* take_any(SizeClass size, KnownBorderMark& found, const KnownBorder* mark) {
        if (mark != nullptr) {
            if (void* block = take_marked(size, mark, found)) return block;
        }
        if (FreeBlock* block = free_[static_cast<size_t>(size.index)]) {
            free_[static_cast<size_t>(size.index)] = block->next;
            bytes_held.fetch_sub(size.bytes, std::memory_order_relaxed);
            return block;
        }
        if (void* block = take_marked(size, nullptr, found)) return block;
        if (void* block = make(size)) return block;
        empty_locked();
        return make(size);
    }

    void list(void* block, int index) {
        auto* freed = static_cast<FreeBlock*>(block);
        freed->next = free_[static_cast<size_t>(index)];
        free_[static_cast<size_t>(index)] = freed;
    }

    // The latest one with the mark, and `found` is it; of any mark, without it, if none is asked for.
    void* take_marked(SizeClass size, const KnownBorder* mark, KnownBorderMark& found) {
        const auto right = std::find_if(marked_.rbegin(), marked_.rend(), [&](const MarkedBlock& marked) {
            return marked.size.index == size.index && (mark == nullptr || marked.mark.get() == mark);
        });
        if (right == marked_.rend()) return nullptr;
        void* block = right->block;
        if (mark != nullptr) found = std::move(right->mark);
        marked_.erase(std::next(right).base());
        bytes_held.fetch_sub(size.bytes, std::memory_order_relaxed);
        return block;
    }

    void* make(SizeClass size) {
        if (!may_have(size.bytes)) return nullptr;
        if (size.bytes < kMappedBytes) return std::aligned_alloc(kBufferAlignment, size.bytes);
        // A mapping is aligned to a page; cut from a larger one, it starts with a huge page.
        const size_t whole = size.bytes + kMappedBytes;
        if (whole < size.bytes) return nullptr;
        void* mapped =
            mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped == MAP_FAILED) return nullptr;
        const auto begin = reinterpret_cast<uintptr_t>(mapped);
        const uintptr_t start = (begin + kMappedBytes - 1) / kMappedBytes * kMappedBytes;
        if (start > begin) munmap(mapped, start - begin);
        const uintptr_t end = start + size.bytes;
        const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
        const uintptr_t used_end = (end + page - 1) / page * page;
        if (begin + whole > used_end) munmap(reinterpret_cast<void*>(used_end), begin + whole - used_end);
        mappings_.emplace(start, Mapping{size.bytes, 0});
        return reinterpret_cast<void*>(start);
    }

    // For what is used now or was before; pages that are there stay as they are. Without huge pages all works
    // the same.
    void wish_for_huge_pages(void* block, size_t used) {
        Mapping& mapping = mappings_.find(reinterpret_cast<uintptr_t>(block))->second;
        const size_t huge = std::min(huge_part(used), mapping.bytes);
        if (huge <= mapping.huge && mapping.huge != 0) return;
        madvise(block, huge, MADV_HUGEPAGE);
        if (huge < mapping.bytes)
            madvise(static_cast<char*>(block) + huge, mapping.bytes - huge, MADV_NOHUGEPAGE);
        mapping.huge = huge;
    }

    void unmake(void* block, SizeClass size) {
        if (size.bytes < kMappedBytes) {
            std::free(block);
            return;
        }
        mappings_.erase(reinterpret_cast<uintptr_t>(block));
        munmap(block, size.bytes);
    }

    // What the system can still give: what it counts as available, without what it has promised already.
    size_t left() const {
        const size_t available = available_memory();
        const size_t promised = untouched_bytes() + kMargin;
        return available < promised ? 0 : available - promised;
    }

    // Looks at the system only now and then: what was handed out since is bounded by kCheckedBytes.
    bool may_have(size_t bytes) {
        const auto limit = static_cast<size_t>(config().memory_limit.load(std::memory_order_relaxed));
        if (limit != 0 && pool_bytes_in_use() + held() + bytes > limit) return false;
        if (bytes < kCheckedBytes && unchecked_ + bytes < kCheckedBytes) {
            unchecked_ += bytes;
            return true;
        }
        if (left() < bytes) return false;
        unchecked_ = 0;
        return true;
    }

    // Pages of large blocks that were handed out but never written: the system still counts them as
    // available.
    size_t untouched_bytes() const {
        constexpr size_t kSamples = 32;
        const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
        size_t result = 0;
        for (const auto& [start, mapping] : mappings_) {
            const size_t bytes = mapping.bytes;
            if (bytes < kSampledBytes) continue;
            size_t absent = 0;
            for (size_t i = 0; i < kSamples; ++i) {
                const uintptr_t address = start + bytes / kSamples * i / page * page;
                unsigned char resident = 1;
                if (mincore(reinterpret_cast<void*>(address), page, &resident) == 0 && (resident & 1) == 0)
                    ++absent;
            }
            result += bytes / kSamples * absent;
        }
        return result;
    }

    void empty_locked() {
        for (const MarkedBlock& marked : marked_) list(marked.block, marked.size.index);
        marked_.clear();
        for (int index = 0; index < kClasses; ++index) {
            FreeBlock* block = std::exchange(free_[static_cast<size_t>(index)], nullptr);
            while (block != nullptr) {
                FreeBlock* next = block->next;
                const size_t bytes = class_bytes(index);
                bytes_held.fetch_sub(bytes, std::memory_order_relaxed);
                unmake(block, {index, bytes});
                block = next;
            }
        }
    }

    // Asked for here: what gives a block back must not fail.
    const size_t most_held_ = std::max(available_memory() / 4, size_t{256} << 20);

    std::mutex mutex_;
    std::array<FreeBlock*, kClasses> free_{};
    std::vector<MarkedBlock> marked_;  // the latest last
    size_t unchecked_ = 0;
    std::unordered_map<uintptr_t, Mapping> mappings_;  // of blocks from kMappedBytes on, by address
};

CommonPool& common_pool() {
    static CommonPool* const pool =
        new CommonPool;  // never destroyed: buffers may outlive static destruction
    return *pool;
}

[[maybe_unused]] const bool at_fork =
    on_fork(ForkRank::kMemory,
            {[] { common_pool().lock(); }, [] { common_pool().unlock(); }, [] { common_pool().unlock(); }});

std::atomic<size_t> bytes_in_use{0};

// For errors (core/memory/allocation_failure.h): what weft holds, what is left, and the limit. Whoever asks
// may hold any lock.
size_t report_memory(char* text, size_t size) {
    size_t length = 0;
    const auto add = [&](const char* format, auto... values) {
        const int written = std::snprintf(text + length, size - length, format, values...);
        length = std::min(length + static_cast<size_t>(std::max(written, 0)), size - 1);
    };
    add("weft holds %s in arrays and %s in its pool", BytesText(pool_bytes_in_use()).text,
        BytesText(bytes_held.load(std::memory_order_relaxed)).text);
    thread_local constinit bool asking = false;  // asking wants some memory itself
    if (std::exchange(asking, true)) return length;
    (void)prepare_reserve();
    const LastResort last_resort;
    without_failing([&] {
        const MemoryLimit limit = memory_limit();
        add(", the system has %s left, and the limit is %s (%s)", BytesText(available_memory()).text,
            BytesText(limit.bytes).text, limit.whose);
    });
    asking = false;
    return length;
}
[[maybe_unused]] const bool told = report_memory_by(&report_memory);

[[noreturn]] void throw_out_of_memory(size_t bytes) {
    char text[320];
    describe_memory_failure(text, sizeof text, bytes);
    throw OutOfMemoryError(text);
}

constinit std::atomic<bool (*)()> drop_kept_work{nullptr};

bool drop_some_work() {
    bool (*const drop)() = drop_kept_work.load(std::memory_order_relaxed);
    return drop != nullptr && drop();
}

void* take_block(SizeClass size, size_t asked, KnownBorderMark& found, const KnownBorder* mark) {
    void* block = common_pool().take(size, asked, found, mark);
    while (block == nullptr && drop_some_work()) block = common_pool().take(size, asked, found, mark);
    if (block == nullptr) throw_out_of_memory(asked);
    return block;
}

// --- small blocks: lists of the calling thread
// -----------------------------------------------------------------

constexpr size_t kSmallBytes = (size_t{32} << 10) + 2 * kBufferAlignment;  // with the reference counts
constexpr int kSmallClasses = 65;
constexpr size_t kUnpooledBytes = 4096 + 2 * kBufferAlignment;  // up to these, blocks come from malloc
constexpr size_t kBytesPerList = size_t{128} << 10;
constexpr uint32_t kBlocksPerList = 64;  // and of large blocks only as many as these bytes hold
static_assert(size_class(kSmallBytes).index < kSmallClasses);

struct ThreadLists {
    struct List {
        FreeBlock* first = nullptr;
        uint32_t count = 0;
    };
    std::array<List, kSmallClasses> lists;
    bool owned = false;   // they are emptied when the thread ends
    bool closed = false;  // it ends: blocks go to the common pool
};
thread_local constinit ThreadLists own_lists;
// Their address: a word that is reached without a call.
[[gnu::tls_model("initial-exec")]] thread_local constinit ThreadLists* thread_lists = nullptr;
[[gnu::noinline]] ThreadLists& first_lists() {
    (void)prepare_thread();  // whoever comes here first may be refused memory later
    return *(thread_lists = &own_lists);
}
ThreadLists& lists_of_thread() { return thread_lists != nullptr ? *thread_lists : first_lists(); }

void free_small(void* block, SizeClass size) {
    if (size.bytes <= kUnpooledBytes) {
        std::free(block);
    } else {
        common_pool().give_back(block, size, nullptr);
    }
}

// When the thread ends: the lists can still be asked after it.
void close_lists(void*) {
    own_lists.closed = true;
    for (int index = 0; index < kSmallClasses; ++index) {
        FreeBlock* block = std::exchange(own_lists.lists[static_cast<size_t>(index)].first, nullptr);
        while (block != nullptr) {
            FreeBlock* next = block->next;
            free_small(block, {index, class_bytes(index)});
            block = next;
        }
    }
}
// False where that cannot be said: then they stay empty.
[[gnu::noinline]] bool empty_lists_at_thread_end() {
    // Not a thread_local object with a destructor: see core/threads/thread_owned.h.
    static const auto key = [] {
        pthread_key_t made = 0;
        return pthread_key_create(&made, &close_lists) == 0 ? std::optional(made) : std::nullopt;
    }();
    own_lists.owned = key && pthread_setspecific(*key, &own_lists) == 0;
    return own_lists.owned;
}

void* take_listed(SizeClass size) {
    ThreadLists::List& list = lists_of_thread().lists[static_cast<size_t>(size.index)];
    if (FreeBlock* block = list.first) {
        list.first = block->next;
        --list.count;
        return block;
    }
    if (size.bytes > kUnpooledBytes) {
        KnownBorderMark none;
        return take_block(size, size.bytes, none, nullptr);
    }
    void* block = std::aligned_alloc(kBufferAlignment, size.bytes);
    if (block == nullptr) throw_out_of_memory(size.bytes);
    return block;
}

void give_back_listed(void* block, SizeClass size) {
    ThreadLists& lists = lists_of_thread();
    ThreadLists::List& list = lists.lists[static_cast<size_t>(size.index)];
    if (lists.closed || list.count >= kBlocksPerList ||
        (list.count >= 2 && list.count * size.bytes >= kBytesPerList)) {
        free_small(block, size);
        return;
    }
    if (!lists.owned && !empty_lists_at_thread_end()) [[unlikely]] {
        free_small(block, size);
        return;
    }
    auto* freed = static_cast<FreeBlock*>(block);
    freed->next = list.first;
    list.first = freed;
    ++list.count;
}

void* take_small(SizeClass size) {
    void* block = take_listed(size);
    bytes_in_use.fetch_add(size.bytes, std::memory_order_relaxed);
    return block;
}

void give_back_small(void* block, SizeClass size) {
    bytes_in_use.fetch_sub(size.bytes, std::memory_order_relaxed);
    give_back_listed(block, size);
}

// --- buffers
// -----------------------------------------------------------------------------------------------------

constexpr size_t kHeaderBytes = 2 * kBufferAlignment;  // reference counts and the buffer object come first

// Where a small buffer's bytes are: known when allocate_shared has its memory, before the buffer is made in
// it. Read one by one: what two stores wrote is not to be loaded as one vector.
struct SmallRequest {
    size_t bytes;
    SizeClass size;
    char* data = nullptr;
};

class SmallBuffer final : public Buffer {
public:
    explicit SmallBuffer(const SmallRequest& request) : Buffer(request.data, request.bytes) {}
};

// Gives allocate_shared one block for its counts, the buffer object and, from kHeaderBytes on, the buffer's
// bytes. The block's class is the last that is in the header: an allocator of one word is copied in a
// register.
template <class T>
struct SmallAllocator {
    using value_type = T;
    SmallRequest* request;  // of use only while allocating

    explicit SmallAllocator(SmallRequest& asked) : request(&asked) {}
    template <class U>
    SmallAllocator(const SmallAllocator<U>& other) : request(other.request) {}

    T* allocate(size_t) {
        static_assert(sizeof(T) <= kHeaderBytes - sizeof(int));
        char* block = static_cast<char*>(take_small(request->size));
        request->data = block + kHeaderBytes;
        std::memcpy(place_of_class(block), &request->size.index, sizeof(int));
        return reinterpret_cast<T*>(block);
    }
    void deallocate(T* block, size_t) {
        SizeClass size{};
        std::memcpy(&size.index, place_of_class(reinterpret_cast<char*>(block)), sizeof(int));
        size.bytes = class_bytes(size.index);
        give_back_small(block, size);
    }
    template <class U>
    bool operator==(const SmallAllocator<U>&) const {
        return true;
    }

private:
    static char* place_of_class(char* block) { return block + kHeaderBytes - sizeof(int); }
};

class PooledBuffer final : public Buffer {
public:
    PooledBuffer(SizeClass size, size_t bytes, const KnownBorder* mark)
        : Buffer(nullptr, bytes), size_class_(size) {
        data_ = static_cast<char*>(take_block(size, bytes, known_border_, mark));
        bytes_in_use.fetch_add(size.bytes, std::memory_order_relaxed);
    }
    ~PooledBuffer() override {
        bytes_in_use.fetch_sub(size_class_.bytes, std::memory_order_relaxed);
        common_pool().give_back(data_, size_class_, std::move(known_border_));
    }
    PooledBuffer(const PooledBuffer&) = delete;
    PooledBuffer& operator=(const PooledBuffer&) = delete;

private:
    SizeClass size_class_;
};

class GuardedBuffer final : public Buffer {
public:
    explicit GuardedBuffer(size_t bytes) : Buffer(nullptr, bytes) {
        static std::atomic<unsigned> turn{0};
        const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        const size_t inner = std::max((bytes + page - 1) / page, size_t{1}) * page;
        mapped_bytes_ = inner + 2 * page;
        void* mapped = mapped_bytes_ < bytes ? MAP_FAILED
                                             : mmap(nullptr, mapped_bytes_, PROT_NONE,
                                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (mapped == MAP_FAILED) throw_out_of_memory(bytes);
        mapped_ = static_cast<char*>(mapped);
        if ((inner > kCheckedBytes && available_memory() < inner) ||
            mprotect(mapped_ + page, inner, PROT_READ | PROT_WRITE) != 0) {
            munmap(mapped_, mapped_bytes_);
            throw_out_of_memory(bytes);
        }
        data_ = turn.fetch_add(1, std::memory_order_relaxed) % 2 == 0 ? mapped_ + page + inner - bytes
                                                                      : mapped_ + page;
        std::memset(mapped_ + page, 0xcb, inner);
        bytes_in_use.fetch_add(inner, std::memory_order_relaxed);
    }
    ~GuardedBuffer() override {
        bytes_in_use.fetch_sub(mapped_bytes_ - 2 * static_cast<size_t>(sysconf(_SC_PAGESIZE)),
                               std::memory_order_relaxed);
        munmap(mapped_, mapped_bytes_);
    }
    GuardedBuffer(const GuardedBuffer&) = delete;
    GuardedBuffer& operator=(const GuardedBuffer&) = delete;

private:
    char* mapped_ = nullptr;
    size_t mapped_bytes_ = 0;
};

}  // namespace

void* take_object(size_t bytes) { return take_listed(size_class(bytes)); }
void give_back_object(void* object, size_t bytes) { give_back_listed(object, size_class(bytes)); }

BufferPtr allocate_pooled(size_t bytes, const KnownBorder* mark) {
    if (bytes <= kSmallBytes - kHeaderBytes) {
        SmallRequest request{bytes, size_class(bytes + kHeaderBytes)};
        return std::allocate_shared<SmallBuffer>(SmallAllocator<SmallBuffer>(request), request);
    }
    if (bytes > (size_t{1} << 46)) throw_out_of_memory(bytes);  // beyond what x86-64 can address
    return std::make_shared<PooledBuffer>(size_class(bytes), bytes, mark);
}

BufferPtr allocate_guarded(size_t bytes) { return std::make_shared<GuardedBuffer>(bytes); }

void require_pool_bytes(size_t bytes) {
    if (!common_pool().could_have(bytes)) throw_out_of_memory(bytes);
}

size_t pool_bytes_in_use() { return bytes_in_use.load(std::memory_order_relaxed); }
size_t pool_bytes_held() { return CommonPool::held(); }
void empty_memory_pool() {
    while (drop_some_work()) {
    }
    common_pool().empty();
}

bool drop_kept_work_by(bool (*drop)()) {
    drop_kept_work.store(drop, std::memory_order_relaxed);
    return true;
}

}  // namespace weft
