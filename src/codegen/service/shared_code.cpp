#include "codegen/service/shared_code.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "codegen/cache/digest.h"
#include "codegen/cache/function_pack.h"
#include "codegen/functions/shared_functions.h"
#include "codegen/llvm/host_cpu.h"
#include "codegen/service/kernel_cache.h"
#include "core/config.h"
#include "core/threads/fork.h"
#include "ir/parser.h"
#include "weft/errors.h"

namespace weft::codegen {

namespace {

std::string key_of(const std::string& text, const CompileOptions& options) {
    return cache_key("shared function\n" + text, options);
}

// The CPUs that code is shipped for and this process may run, best first.
const std::vector<std::string>& shipped_cpus() {
    static const auto* const cpus = [] {
        auto* found = new std::vector<std::string>;
        for (const char* const cpu : kShippedCpus) {
            if (runs_on_host(cpu)) found->emplace_back(cpu);
        }
        return found;
    }();
    return *cpus;
}

std::optional<std::string_view> find_shipped(const std::string& text, const CompileOptions& options) {
    const FunctionPack& pack = FunctionPack::shipped();
    if (pack.count() == 0 || !options.cpu.empty()) return {};
    CompileOptions of_cpu = options;
    const std::string asked = config().cpu();
    for (const std::string& cpu : shipped_cpus()) {
        if (!asked.empty() && asked != cpu) continue;
        of_cpu.cpu = cpu;
        if (const auto found = pack.find(digest_of({key_of(text, of_cpu)}))) return found;
    }
    return {};
}

// Functions that programs of this process share: those that one of them has, and the last ones that any had.
// No fork finds the lock taken: what asks is in a ForkExclusion.
struct Known {
    static constexpr size_t kLast = 256;
    std::mutex mutex;
    std::map<std::string, std::weak_ptr<const CompiledFunction>> all;
    std::deque<std::shared_ptr<const CompiledFunction>> last;

    std::shared_ptr<const CompiledFunction> find(const std::string& key) {
        const std::lock_guard lock(mutex);
        const auto found = all.find(key);
        return found == all.end() ? nullptr : found->second.lock();
    }

    void add(const std::string& key, const std::shared_ptr<const CompiledFunction>& function) {
        const std::lock_guard lock(mutex);
        std::erase_if(all, [](const auto& each) { return each.second.expired(); });
        all[key] = function;
        last.push_back(function);
        if (last.size() > kLast) last.pop_front();
    }
};

}  // namespace

std::shared_ptr<const CompiledFunction> shared_function(const std::string& text, bool is_kept,
                                                        const CompileOptions& options) {
    static auto* const known = new Known;  // threads may still compile while the process exits
    const std::string key = key_of(text, options);
    std::shared_ptr<const CompiledFunction> function = known->find(key);
    if (function != nullptr) return function;
    const std::string kept = is_kept ? key : std::string();
    if (const std::optional<std::string_view> shipped = find_shipped(text, options)) {
        if (const std::optional<KernelObject> object = decode_object(*shipped)) {
            try {
                function = load_function(kept, *object, options);
            } catch (const InternalError&) {  // a function of mathematics is missing; compiling tells
            }
        }
    }
    if (function == nullptr)
        function = found_or_made(kept, options, [&] { return compile_shared_for_cpu(text, options); });
    known->add(key, function);
    return function;
}

void settle_lazy_calls(ir::Module& module, const CompileOptions& options) {
    std::map<std::string, bool> shipped;
    for (const SharedFunction& each : shared_functions(module, module.functions))
        shipped[each.function.name] = find_shipped(each.text, options).has_value();
    const auto settle = [&](auto& self, ir::Region& region) -> void {
        for (ir::Instruction& each : region.body) {
            each.lazy = each.lazy && shipped[each.callee];
            for (ir::Region& inner : each.regions) self(self, inner);
        }
    };
    for (ir::Function& function : module.functions) settle(settle, function.body);
}

void collect_shared(const ir::Module& module, std::set<std::string>& texts) {
    for (SharedFunction& each : shared_functions(module, module.functions))
        texts.insert(std::move(each.text));
}

std::string pack_shared(const std::set<std::string>& texts, bool of_host) {
    std::vector<std::string> cpus(std::begin(kShippedCpus), std::end(kShippedCpus));
    if (of_host) cpus = shipped_cpus();
    if (of_host && cpus.size() > 1) cpus.resize(1);
    std::vector<std::pair<std::string, std::string>> work;  // text, CPU
    for (const std::string& text : texts) {
        for (const std::string& cpu : cpus) work.emplace_back(text, cpu);
    }
    std::map<Digest, std::string> entries;
    std::mutex mutex;
    std::exception_ptr failure;
    std::atomic<size_t> next = 0;
    const auto run = [&] {
        try {
            for (size_t at = next++; at < work.size(); at = next++) {
                const auto& [text, cpu] = work[at];
                CompileOptions options;
                options.cpu = cpu;
                const std::string bytes = encode_object(compile_shared_for_cpu(text, options));
                const Digest key = digest_of({key_of(text, options)});
                const std::lock_guard lock(mutex);
                entries[key] = bytes;
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            failure = std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i)
        threads.emplace_back(run);
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
    return function_pack(entries);
}

}  // namespace weft::codegen
