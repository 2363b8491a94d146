#include "graph/kernel_store.h"

#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/compiler.h"
#include "codegen/kernel_cache.h"
#include "core/config.h"
#include "core/fork.h"
#include "core/log.h"
#include "core/optional_steps.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "weft/errors.h"

namespace weft {

namespace {

constexpr size_t kMaxKernels = 4096;
constexpr size_t kMaxHistory = 10000;

// The last launches, oldest first; at its bound it writes over the oldest.
class History {
public:
    void add(LaunchRecord record) {
        if (records_.empty()) records_.reserve(kMaxHistory);  // pages that are not written to cost nothing
        if (records_.size() < kMaxHistory) {
            records_.push_back(std::move(record));
        } else {
            records_[oldest_] = std::move(record);
            oldest_ = (oldest_ + 1) % kMaxHistory;
        }
    }
    void clear() {
        records_.clear();
        oldest_ = 0;
    }
    size_t size() const { return records_.size(); }
    const LaunchRecord& operator[](size_t k) const { return records_[(oldest_ + k) % records_.size()]; }

private:
    std::vector<LaunchRecord> records_;
    size_t oldest_ = 0;
};

// Global because kernels are shared by all arrays of the process; guarded by its lock.
struct Store {
    std::mutex mutex;
    std::unordered_map<std::string, std::shared_ptr<const StoredKernel>> kernels;
    std::list<std::string> order;  // oldest first
    History history;
    std::atomic<uint64_t> generation{0};
};

Store& store() {
    static auto* instance = new Store;  // lives as long as the process: threads may still run kernels at exit
    return *instance;
}

[[maybe_unused]] const bool at_fork =
    on_fork(ForkRank::kKernelStore,
            {[] { store().mutex.lock(); }, [] { store().mutex.unlock(); }, [] { store().mutex.unlock(); }});

}  // namespace

std::shared_ptr<const StoredKernel> find_or_compile(const KernelForm& form, bool& fresh) {
    fresh = false;
    // Fixed here: the setting may change while the kernel is compiled.
    const std::string cpu = config().cpu();
    const std::string form_key = form.key() + "-" + std::to_string(steps_left_out());
    const std::string key = form_key + "@" + cpu;
    {
        const std::lock_guard lock(store().mutex);
        const auto found = store().kernels.find(key);
        if (found != store().kernels.end()) return found->second;
    }
    auto kernel = std::make_shared<StoredKernel>();
    kernel->name = form.name();
    const codegen::CompileOptions options{.cpu = cpu.empty() ? "host" : cpu};
    const std::string disk_key = codegen::cache_key(form_key, options);
    // What is printed arises while compiling.
    const bool printed = debug_enabled(DebugLevel::kIr, kernel->name);
    std::optional<codegen::CachedKernel> cached;
    if (!printed) cached = codegen::find_in_cache(disk_key);
    if (cached) {
        if (config().verify.load(std::memory_order_relaxed) && ir::print(lower(form)) != cached->ir)
            throw InternalError("two kernels share the form " + form_key + "\nkernel IR on disk:\n" +
                                cached->ir);
        kernel->compiled = std::move(cached->kernel);
        kernel->ir = std::move(cached->ir);
    } else {
        const ir::Module module = lower(form);
        kernel->ir = ir::print(module);
        if (config().verify.load(std::memory_order_relaxed)) ir::check(module.functions[0], &module);
        if (printed) log_line("kernel IR\n" + kernel->ir);
        const codegen::KernelObject object =
            codegen::compile_object_for_cpu(module, module.functions[0].name, options);
        kernel->compiled = codegen::load_for_cpu(object);
        kernel->compile_seconds = object.compile_seconds;
        codegen::keep_in_cache(disk_key, object, kernel->ir);
        fresh = true;
    }
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

void forget_kernels() {
    const std::lock_guard lock(store().mutex);
    store().kernels.clear();
    store().order.clear();
    ++store().generation;
}

uint64_t kernel_generation() { return store().generation.load(std::memory_order_relaxed); }

void record_launch(LaunchRecord record) {
    const std::lock_guard lock(store().mutex);
    store().history.add(std::move(record));
}

std::vector<KernelRecord> kernel_history() {
    const std::lock_guard lock(store().mutex);
    std::vector<KernelRecord> records;
    const History& history = store().history;
    for (size_t k = 0; k < history.size(); ++k) {
        const LaunchRecord& launch = history[k];
        KernelRecord& record = records.emplace_back();
        record.name = launch.kernel->name;
        record.ir = launch.kernel->ir;
        record.seconds = launch.seconds;
        record.compile_seconds = launch.fresh ? launch.kernel->compile_seconds : 0;
        record.bytes_read = launch.bytes_read;
        record.bytes_written = launch.bytes_written;
        record.bytes_streamed = launch.bytes_streamed;
        record.elements = launch.elements;
        record.operations = launch.operations;
        record.device = launch.device != nullptr ? launch.device->name() : "cpu";
        record.fallback = launch.fallback;
        record.compiled = launch.kernel->compiled != nullptr;
    }
    return records;
}

void clear_kernel_history() {
    const std::lock_guard lock(store().mutex);
    store().history.clear();
}

}  // namespace weft
