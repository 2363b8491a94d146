#include "codegen/runtime/spread.h"

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "codegen/runtime/grid_blocks.h"
#include "codegen/runtime/heap.h"
#include "codegen/runtime/stopping/pause.h"
#include "codegen/runtime/tell.h"
#include "core/threads/thread_pool.h"

namespace weft::codegen {

namespace {

// Operations that take about as long as other threads need to begin.
constexpr int64_t kLittle = 20'000;
constexpr int64_t kFewErrorBytes = 256;

}  // namespace

int64_t spread(SpreadBody body, const void* captures, int64_t size, int64_t chunk, char* error,
               int64_t error_bytes, int64_t cost) {
    if (size <= 0) return 0;
    if (GridScope::take()) {
        try {
            return spread_blocks(body, captures, size, error, error_bytes);
        } catch (...) {  // compiled code has no way for exceptions
            HeapFrame::stop(std::current_exception());
            return kStopped;
        }
    }
    chunk = std::max<int64_t>(chunk, 1);
    const int64_t chunks = (size - 1) / chunk + 1;
    const HeapAllocator allocate = HeapFrame::allocator();
    const ListenerScope* const listener = ListenerScope::current();
    std::atomic<int64_t> failed = chunks;  // the lowest one
    int64_t status = 0;
    std::exception_ptr stopped;
    std::atomic<bool> stops = false;
    const StopScope* const around = StopScope::current();
    std::mutex mutex;
    const auto run = [&](int64_t number) {
        if (number > failed.load(std::memory_order_relaxed)) return;
        char few[kFewErrorBytes];
        std::vector<char> many(error_bytes > kFewErrorBytes ? static_cast<size_t>(error_bytes) : 0);
        char* const told = many.empty() ? few : many.data();
        const int64_t from = number * chunk;
        int64_t result = 0;
        {
            const HeapFrame frame(allocate);
            const StopScope stop_scope(stops, around);
            std::optional<ListenerScope> scope;
            if (listener != nullptr) scope.emplace(listener->listener(), listener->context());
            result = body(captures, number, from, from + std::min(chunk, size - from), told);
            if (result == kStopped) {
                const std::lock_guard lock(mutex);
                stops.store(true, std::memory_order_relaxed);
                failed.store(-1, std::memory_order_relaxed);
                if (std::exception_ptr reason = HeapFrame::take_stopped()) stopped = std::move(reason);
                return;
            }
        }
        if (result == 0) return;
        const std::lock_guard lock(mutex);
        if (number > failed.load(std::memory_order_relaxed)) return;
        failed.store(number, std::memory_order_relaxed);
        status = result;
        std::memcpy(error, told, static_cast<size_t>(error_bytes));
    };
    try {
        if (cost > 0 && size <= kLittle / cost) {
            for (int64_t number = 0; number < chunks && status == 0; ++number) run(number);
        } else {
            parallel_for(chunks, run);
        }
    } catch (...) {  // of a pause point: compiled code has no way for exceptions
        HeapFrame::stop(std::current_exception());
        return kStopped;
    }
    if (stops) {
        if (stopped) HeapFrame::stop(std::move(stopped));
        return kStopped;
    }
    return status;
}

llvm::Function* declare_spread(llvm::Module& module) {
    if (llvm::Function* found = module.getFunction(kSpread)) return found;
    llvm::LLVMContext& context = module.getContext();
    llvm::Type *word = llvm::Type::getInt64Ty(context), *pointer = llvm::PointerType::get(context, 0);
    auto* type = llvm::FunctionType::get(word, {pointer, pointer, word, word, pointer, word, word}, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kSpread, module);
    function->setDoesNotThrow();
    return function;
}

}  // namespace weft::codegen
