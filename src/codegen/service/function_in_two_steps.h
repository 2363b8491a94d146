// Functions that run at once by code that is quickly made, while good code is compiled in the background. A
// call that still runs when that is there stops at its next pause and begins again in the good code: it takes
// about as long as if it had waited. What it has written into memory of its caller and may read there is
// undone first (runtime/stopping/write_log.h). So only functions are made in two steps that do nothing else
// which a second call would do again: they tell nothing, and call nothing but each other.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "codegen/cpu/compiler.h"
#include "device/kernel.h"
#include "ir/ir.h"

namespace weft::codegen {

class FunctionInTwoSteps {
public:
    explicit FunctionInTwoSteps(std::shared_ptr<const CompiledFunction> quick) : quick_(std::move(quick)) {}

    // Thread safe.
    int64_t run(const ArgumentWord* words, char* results) const {
        const CpuFunction good = good_.load(std::memory_order_acquire);
        return good != nullptr ? good(words, results) : begin_quickly(words, results);
    }
    const CompiledFunction& code() const;  // that calls run by now
    bool is_quick() const { return good_.load(std::memory_order_relaxed) == nullptr; }

    // Once, by the thread that compiles.
    void go_on_with(std::shared_ptr<const CompiledFunction> good) const;

private:
    int64_t begin_quickly(const ArgumentWord* words, char* results) const;

    std::shared_ptr<const CompiledFunction> quick_;
    mutable std::shared_ptr<const CompiledFunction> good_code_{};
    mutable std::atomic<CpuFunction> good_ = nullptr;
    mutable std::atomic<bool> is_there_ = false;  // stops calls of the quick code
};

// Whether the function `entry` of the module can be made so, and is by the settings.
bool may_run_in_two_steps(const ir::Module& module, const std::string& entry, const CompileOptions& options);

// The good code is compiled in the background, and kept by `key`, unless that is empty.
std::shared_ptr<const FunctionInTwoSteps> make_in_two_steps(const std::string& key, ir::Module module,
                                                            const std::string& entry,
                                                            const CompileOptions& options);

}  // namespace weft::codegen
