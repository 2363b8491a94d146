// What happens when the engine cannot have memory. `operator new` and malloc of the engine go through
// core/memory/wrapped_allocation.cpp, which first tries what everybody uses. Where that gives nothing, an
// exception that says what was asked for, what weft holds and what the limit is; but inside of a LastResort,
// memory of the reserve.
#pragma once

#include <cstddef>
#include <new>

namespace weft {

/// What `operator new` of the engine throws. what() tells how many bytes were asked for, what is held and the
/// limit.
class AllocationFailure final : public std::bad_alloc {
public:
    explicit AllocationFailure(size_t bytes) noexcept;
    const char* what() const noexcept override { return text_; }

private:
    char text_[320];
};
[[noreturn]] void throw_allocation_failure(size_t bytes);

// Writes the same line, without allocating: `size` bytes of text at most, with a zero at its end.
void describe_memory_failure(char* text, size_t size, size_t bytes) noexcept;

// Who knows what weft holds: called by the above, on any thread; it must not allocate either. Returns how
// long the text is that it wrote. Set while the library is loaded. Always true, to initialise a variable
// with.
using MemoryReport = size_t (*)(char* text, size_t size);
bool report_memory_by(MemoryReport report);

// While it lives, no allocation that the engine makes on this thread fails as long as the reserve lasts
// (core/memory/reserved_memory.h, which has to be prepared before). When that is used up, allocations fail as
// usual; but `exhausted`, if there is one, is called first, and does not return. They nest: the innermost
// counts.
class LastResort {
public:
    explicit LastResort(void (*exhausted)() = nullptr) noexcept;
    ~LastResort();
    LastResort(const LastResort&) = delete;
    LastResort& operator=(const LastResort&) = delete;

    bool was_needed() const { return needed_; }  // memory came from the reserve

    // For core/memory/wrapped_allocation.cpp: memory where the system had none; null outside of a last
    // resort.
    static void* take(size_t bytes, size_t alignment) noexcept;

private:
    void (*exhausted_)();
    LastResort* outer_;
    bool needed_ = false;
};

}  // namespace weft
