// Parts of compiled functions that are compiled when they are first reached
// (passes/calls/outline_unlikely.h), and functions that programs share (functions/shared_functions.h).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "device/kernel.h"

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace weft::codegen {

inline constexpr const char* kLazyPart = "weft_lazy_part";
inline constexpr const char* kLazyTable = "lazy_parts";
inline constexpr const char* kLazyCall = "weft-lazy-call";  // an attribute of functions that call a part

// Makes part `number` of a function. Any thread may call it.
using PartMaker = std::function<std::shared_ptr<const CompiledFunction>(int number)>;

// The parts that there are by now, with their machine code. Threads that reach one wait for the first.
class LazyParts {
public:
    explicit LazyParts(PartMaker make) : make_(std::move(make)) {}

    // Throws what the maker throws; a later call tries again.
    const void* find(size_t number);
    size_t count(size_t from) const;  // of those with this number or a higher one
    double seconds() const;           // that making them took

private:
    PartMaker make_;
    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<const CompiledFunction>> known_;
    double seconds_ = 0;
};

// What the object file of a function with parts has as kLazyTable; the loader enters `parts`.
struct LazyTable {
    LazyParts* parts;
    int64_t count;
    const void* functions[];  // the machine code of each, or null
};

// For compiled code: the machine code of a part, which the table has from then on. Null: the function returns
// kStopped (spread.h), and HeapFrame::take_stopped() has the exception.
const void* lazy_part(LazyTable* table, int64_t number);

// Gives `function`, which is only declared, a body that calls part `number` of `count`. Where there are
// `sites`, the part numbers its errors by its own, and these are what they are here.
void define_lazy_call(llvm::Function& function, int64_t number, int64_t count,
                      std::span<const uint32_t> sites = {});

}  // namespace weft::codegen
