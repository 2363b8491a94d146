// The one way into LLVM. It is built without exceptions: where it cannot have memory, or meets what it takes
// for impossible, it ends the process. Inside of run_llvm its allocations come from the reserve when the
// system gives nothing (core/memory/reserved_memory.h), and what it cannot bear ends the call instead.
#pragma once

#include <exception>
#include <memory>
#include <type_traits>

namespace weft::codegen {

// LLVM gave up in the middle of the call: whatever of LLVM's took part is in disorder and must not be touched
// again, not even destroyed.
class LlvmGaveUp final : public std::exception {
public:
    explicit LlvmGaveUp(bool out_of_memory, const char* reason) noexcept;
    const char* what() const noexcept override { return text_; }
    // Throws what users are told: OutOfMemoryError, or InternalError.
    [[noreturn]] void throw_as_error() const;

private:
    bool out_of_memory_;
    char text_[512];
};

namespace detail {
bool run_llvm(void (*work)(void*), void* state);
}

// Runs `work`. True if some of the memory that LLVM now holds is the reserve's: what of it stays has to be
// given back soon, and strings that go elsewhere have to be copied. Throws LlvmGaveUp, what `work` throws,
// and OutOfMemoryError where it cannot be run: there is no reserve, or LLVM has given up for want of memory
// before, when it may have held locks of its own.
template <class Work>
bool run_llvm(Work&& work) {
    using Function = std::remove_reference_t<Work>;
    return detail::run_llvm([](void* state) { (*static_cast<Function*>(state))(); },
                            const_cast<void*>(static_cast<const void*>(std::addressof(work))));
}

}  // namespace weft::codegen
