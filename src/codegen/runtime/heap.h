// Heap memory of compiled functions: blocks that count their users. A call's frame keeps a list of them and
// gives back, on every way out, what the function has not released and the host has not taken.
//
// Counting is not atomic: a call's memory is counted on its thread alone. Chunks that run at the same time
// (runtime/spread.h) count what they allocate themselves.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace weft::codegen {

inline constexpr const char* kHeapAllocate = "weft_heap_allocate";
inline constexpr const char* kHeapGrow = "weft_heap_grow";
inline constexpr const char* kHeapRetain = "weft_heap_retain";
inline constexpr const char* kHeapRelease = "weft_heap_release";

struct HeapMemory {
    char* data = nullptr;            // from a multiple of 64 on
    std::shared_ptr<void> holder{};  // gives it back
    int64_t bytes = 0;
};
// Where the memory comes from. May throw; then there is none.
using HeapAllocator = HeapMemory (*)(size_t bytes);
HeapMemory allocate_heap_memory(size_t bytes);  // of the process

struct HeapLink {
    HeapLink* previous = this;
    HeapLink* next = this;
};

// What the host makes around a call of a compiled function. Frames of one thread nest.
class HeapFrame {
public:
    explicit HeapFrame(HeapAllocator allocate = allocate_heap_memory);
    ~HeapFrame();
    HeapFrame(const HeapFrame&) = delete;
    HeapFrame& operator=(const HeapFrame&) = delete;

    // The memory of an owner that the function returned, which its holder now keeps; nothing where it is 0.
    // Several results may have one owner.
    HeapMemory take(int64_t owner) const;
    int64_t block_count() const;  // how many there are now

    // A frame that outlives the call is none of any thread until a call enters it again, on whatever thread.
    void leave();
    void enter();

    // What the calling thread's frame allocates with.
    static HeapAllocator allocator();

    // Why compiled code in the calling thread's frame ended with kStopped (spread.h), for the host to throw
    // again.
    static void stop(std::exception_ptr reason);
    static std::exception_ptr take_stopped();

private:
    friend char* heap_allocate(int64_t bytes, int64_t* owner);
    friend char* heap_grow(int64_t bytes, int64_t* owner, int64_t old, int64_t from, int64_t stride,
                           int64_t count);
    friend void heap_release(int64_t owner);
    static void give_back(void* block);

    HeapLink blocks_;
    // A few released blocks, the last first, for a loop that allocates what it has just released.
    HeapLink kept_;
    int kept_count_ = 0;
    HeapAllocator allocate_;
    HeapFrame* outer_ = nullptr;
    bool entered_ = false;
    std::exception_ptr stopped_{};
};

// What machine code calls. Outside of any frame a block lives until it is released.
char* heap_allocate(int64_t bytes, int64_t* owner);  // null without memory
// The same for memory that has owners in it: `count` of them beside each other, from byte `from` on, every
// `stride` bytes. They are 0 at first, and count as users until the memory is gone. It begins with what the
// memory of `old` has, which is gone then.
char* heap_grow(int64_t bytes, int64_t* owner, int64_t old, int64_t from, int64_t stride, int64_t count);
void heap_retain(int64_t owner);
void heap_release(int64_t owner);

llvm::Function* declare_heap_allocate(llvm::Module& module);
llvm::Function* declare_heap_grow(llvm::Module& module);
llvm::Function* declare_heap_count(llvm::Module& module, const char* name);  // kHeapRetain, kHeapRelease

}  // namespace weft::codegen
