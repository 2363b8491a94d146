#include "codegen/runtime/stopping/pause.h"

#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/ModRef.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "codegen/runtime/heap.h"
#include "core/threads/interrupt.h"

namespace weft::codegen {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds, std::chrono::microseconds;
constexpr int64_t kLongest = int64_t{1} << 30;

thread_local constinit Clock::time_point last{};
thread_local constinit const StopScope* scope = nullptr;

}  // namespace

StopScope::StopScope(const std::atomic<bool>& stops, const StopScope* around, bool soon)
    : stops_(stops), around_(around), before_(std::exchange(scope, this)), soon_(soon) {}

StopScope::~StopScope() { scope = before_; }

const StopScope* StopScope::current() { return scope; }

bool StopScope::stops() {
    for (const StopScope* each = scope; each != nullptr; each = each->around_) {
        if (each->stops_.load(std::memory_order_relaxed)) return true;
    }
    return false;
}

bool StopScope::is_soon() { return scope != nullptr && scope->soon_; }

namespace {

// The host may run code of its own meanwhile, whose calls are none of those that the scopes are for.
void pause_without_scopes() {
    struct Hidden {
        const StopScope* before = std::exchange(scope, nullptr);
        ~Hidden() { scope = before; }
    };
    const Hidden hidden;
    pause_point();
}

}  // namespace

int64_t pause(int64_t period) {
    if (StopScope::stops()) return 0;
    try {
        pause_without_scopes();
    } catch (...) {
        HeapFrame::stop(std::current_exception());
        return 0;
    }
    const auto now = Clock::now();
    const auto passed = now - std::exchange(last, now);
    const bool soon = StopScope::is_soon();
    if (passed < (soon ? microseconds(500) : milliseconds(5))) return std::min(2 * period, kLongest);
    return passed > (soon ? milliseconds(4) : milliseconds(40)) ? std::max<int64_t>(period / 2, 1) : period;
}

llvm::Function* declare_pause(llvm::Module& module) {
    if (llvm::Function* found = module.getFunction(kPause)) return found;
    llvm::Type* word = llvm::Type::getInt64Ty(module.getContext());
    auto* function = llvm::Function::Create(llvm::FunctionType::get(word, {word}, false),
                                            llvm::GlobalValue::ExternalLinkage, kPause, module);
    function->setDoesNotThrow();
    function->setCallingConv(llvm::CallingConv::PreserveMost);
    function->addFnAttr(llvm::Attribute::WillReturn);
    function->addFnAttr(llvm::Attribute::Cold);
    // The program's memory is none of its business: loads may be moved across it.
    function->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
    return function;
}

}  // namespace weft::codegen
