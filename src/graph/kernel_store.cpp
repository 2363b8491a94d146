#include "graph/kernel_store.h"

#include <deque>
#include <list>
#include <mutex>
#include <unordered_map>

#include "codegen/compiler.h"
#include "core/config.h"
#include "core/log.h"
#include "ir/printer.h"
#include "ir/verifier.h"

namespace weft {

namespace {

constexpr size_t kMaxKernels = 4096;
constexpr size_t kMaxHistory = 10000;

// Global because kernels are shared by all arrays of the process; guarded by its lock.
struct Store {
    std::mutex mutex;
    std::unordered_map<std::string, std::shared_ptr<const StoredKernel>> kernels;
    std::list<std::string> order;  // oldest first
    std::deque<LaunchRecord> history;
};

Store& store() {
    static auto* instance = new Store;  // lives as long as the process: threads may still run kernels at exit
    return *instance;
}

}  // namespace

std::shared_ptr<const StoredKernel> find_or_compile(const KernelForm& form, bool& fresh) {
    fresh = false;
    const std::string key = form.key() + "@" + config().cpu();
    {
        const std::lock_guard lock(store().mutex);
        const auto found = store().kernels.find(key);
        if (found != store().kernels.end()) return found->second;
    }
    const ir::Module module = lower(form);
    auto kernel = std::make_shared<StoredKernel>();
    kernel->name = form.name();
    kernel->ir = ir::print(module);
    if (config().verify.load(std::memory_order_relaxed)) ir::check(module.functions[0], &module);
    if (debug_enabled(DebugLevel::kIr, kernel->name)) log_line("kernel IR\n" + kernel->ir);
    kernel->compiled = codegen::compile_for_cpu(module, module.functions[0].name);
    kernel->compile_seconds = kernel->compiled->compile_seconds;
    fresh = true;
    const std::lock_guard lock(store().mutex);
    const auto [position, inserted] = store().kernels.emplace(key, kernel);
    if (inserted) {
        store().order.push_back(key);
        if (store().order.size() > kMaxKernels) {
            store().kernels.erase(store().order.front());
            store().order.pop_front();
        }
    }
    return kernel;
}

void record_launch(LaunchRecord record) {
    const std::lock_guard lock(store().mutex);
    store().history.push_back(std::move(record));
    if (store().history.size() > kMaxHistory) store().history.pop_front();
}

std::vector<KernelRecord> kernel_history() {
    const std::lock_guard lock(store().mutex);
    std::vector<KernelRecord> records;
    for (const LaunchRecord& launch : store().history) {
        KernelRecord& record = records.emplace_back();
        record.name = launch.kernel->name;
        record.ir = launch.kernel->ir;
        record.seconds = launch.seconds;
        record.compile_seconds = launch.fresh ? launch.kernel->compile_seconds : 0;
        record.bytes_read = launch.bytes_read;
        record.bytes_written = launch.bytes_written;
        record.elements = launch.elements;
        record.operations = launch.operations;
    }
    return records;
}

void clear_kernel_history() {
    const std::lock_guard lock(store().mutex);
    store().history.clear();
}

}  // namespace weft
