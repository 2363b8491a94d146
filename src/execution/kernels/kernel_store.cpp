#include "execution/kernels/kernel_store.h"

#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/cpu/compiler.h"
#include "codegen/service/background_compiler.h"
#include "codegen/service/kernel_cache.h"
#include "core/config.h"
#include "core/log.h"
#include "core/optimisation_switches.h"
#include "core/threads/fork.h"
#include "core/without_failing.h"
#include "execution/kernels/search_kernel.h"
#include "execution/profile.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "weft/errors.h"

namespace weft {

namespace {

// A kernel takes some 10 kB: its code, the block program before it, its texts.
constexpr size_t kMaxKernels = 1024;
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
    // Launches of a kernel that is no longer kept keep what is told of it, and not its code.
    void forget_code(const std::shared_ptr<const StoredKernel>& kernel) {
        static const auto no_code = std::make_shared<const CompiledKernel>();
        std::shared_ptr<const StoredKernel> told;
        for (LaunchRecord& record : records_) {
            if (record.kernel != kernel) continue;
            if (told == nullptr)
                told = std::make_shared<StoredKernel>(
                    StoredKernel{no_code, kernel->name, kernel->ir, kernel->compile_seconds});
            record.kernel = told;
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
    using Order =
        std::list<const std::string*>;  // of the map's keys, the one that was asked for last at the end
    struct Kept {
        std::shared_ptr<const StoredKernel> kernel;
        Order::iterator place;
    };

    std::mutex mutex;
    std::unordered_map<std::string, Kept> kernels;
    Order order;
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

namespace {

// Everything that decides a kernel, as it was when the kernel was asked for.
struct Request {
    KernelForm form;
    std::string form_key, disk_key;
    codegen::CompileOptions options;
};

codegen::KernelObject compile(const Request& request, const ir::Module& module, const StoredKernel& kernel) {
    codegen::KernelObject object =
        codegen::compile_object_for_cpu(module, module.functions[0].name, request.options);
    try {
        codegen::keep_in_cache(request.disk_key, object, kernel.ir);
    } catch (const std::bad_alloc&) {  // the next process compiles it again
    }
    return object;
}

// A kernel that is interpreted until it is compiled.
struct Replacement {
    Request request;
    ir::Module module;
    std::shared_ptr<const StoredKernel> kernel;
    int attempts = 0;

    void compile() const {
        if (config().tier_delay.load(std::memory_order_relaxed) < 0)
            throw InternalError("WEFT_TIER_DELAY is -1");
        const codegen::KernelObject object = weft::compile(request, module, *kernel);
        kernel->blocks->replace(std::static_pointer_cast<const CpuKernel>(codegen::load_for_cpu(object)));
        if (debug_enabled(DebugLevel::kLaunches, kernel->name)) {
            log_line(kernel->name + " compiled in " + std::to_string(object.compile_seconds * 1e3) +
                     " ms while it was interpreted");
        }
    }
};

// Where memory is short it is tried again after what else waits. The kernel goes on interpreted meanwhile,
// or for good: its results are right. Any other fault is told once.
void compile_in_background(std::shared_ptr<Replacement> replacement) {
    constexpr int kMostAttempts = 3;
    codegen::compile_in_background([replacement = std::move(replacement)] {
        const std::string& name = replacement->kernel->name;
        const auto out_of_memory = [&](const char* why) {
            if (debug_enabled(DebugLevel::kLaunches, name)) log_line(name + " goes on interpreted: " + why);
            if (++replacement->attempts < kMostAttempts) compile_in_background(replacement);
        };
        try {
            replacement->compile();
        } catch (const OutOfMemoryError& error) {
            out_of_memory(error.what());
        } catch (const std::bad_alloc& error) {
            out_of_memory(error.what());
        } catch (const std::exception& error) {
            log_line("internal error: " + name +
                     " could not be compiled and goes on interpreted: " + error.what());
        }
    });
}

// Machine code for a kernel that nobody has, or blocks that it replaces later.
void make(Request request, Tier tier, StoredKernel& kernel, std::optional<ir::Module>& in_background,
          bool& fresh) {
    const bool verified = config().verify.load(std::memory_order_relaxed);
    const bool printed = debug_enabled(DebugLevel::kIr, kernel.name);  // arises while compiling
    ir::Module module = lower(request.form);
    kernel.ir = ir::print(module);
    if (verified) ir::check(module.functions[0], &module);
    if (printed) log_line("kernel IR\n" + kernel.ir);
    if (tier == Tier::kBlock || (tier == Tier::kAuto && !printed)) {
        std::string why;
        kernel.blocks = make_search_kernel(request.form);
        if (kernel.blocks == nullptr)
            kernel.blocks = codegen::make_block_kernel(module, module.functions[0], why);
        kernel.compiled = kernel.blocks;
        if (kernel.blocks != nullptr) {
            if (tier == Tier::kAuto) in_background = std::move(module);
            return;
        }
        if (debug_enabled(DebugLevel::kLaunches, kernel.name))
            log_line(kernel.name + " is compiled before it runs: " + why);
    }
    const codegen::KernelObject object = compile(request, module, kernel);
    kernel.compiled = codegen::load_for_cpu(object);
    kernel.compile_seconds = object.compile_seconds;
    fresh = true;
}

// Where there is no memory to load it, as if it were not there.
std::optional<codegen::CachedKernel> find_on_disk(const std::string& key) {
    try {
        return codegen::find_in_cache(key);
    } catch (const OutOfMemoryError&) {
        return {};
    } catch (const std::bad_alloc&) {
        return {};
    }
}

std::shared_ptr<const StoredKernel> find(const std::string& key) {
    const std::lock_guard lock(store().mutex);
    const auto found = store().kernels.find(key);
    if (found == store().kernels.end()) return nullptr;
    store().order.splice(store().order.end(), store().order, found->second.place);
    return found->second.kernel;
}

void keep(const std::string& key, const std::shared_ptr<const StoredKernel>& kernel) {
    Store::Order one{nullptr};  // here, so that both have it or none
    std::shared_ptr<const StoredKernel> dropped;
    const std::lock_guard lock(store().mutex);
    const auto [place, inserted] = store().kernels.try_emplace(key, Store::Kept{kernel, one.begin()});
    if (!inserted) {
        place->second.kernel = kernel;
        return;
    }
    one.front() = &place->first;
    store().order.splice(store().order.end(), one);
    if (store().order.size() <= kMaxKernels) return;
    const auto last = store().kernels.find(*store().order.front());
    dropped = last->second.kernel;
    store().order.pop_front();
    store().kernels.erase(last);
    store().history.forget_code(dropped);
}

}  // namespace

std::string settings_key() {
    return std::to_string(switches_left_out()) +
           (config().fast_math.load(std::memory_order_relaxed) ? " fast" : "");
}

std::shared_ptr<const StoredKernel> find_or_compile(const KernelForm& form, bool& fresh, bool for_few) {
    fresh = false;
    // Fixed here: settings may change while the kernel is compiled.
    const std::string cpu = config().cpu();
    Tier tier = config().tier.load(std::memory_order_relaxed);
    Request request{
        form,
        form.key() + "-" + settings_key(),
        {},
        {.cpu = cpu.empty() ? "host" : cpu, .fast_math = config().fast_math.load(std::memory_order_relaxed)}};
    std::string key = request.form_key + "@" + cpu + (tier == Tier::kBlock ? "@blocks" : "");
    std::shared_ptr<const StoredKernel> known = find(key);
    if (for_few && tier == Tier::kAuto && known == nullptr) {
        tier = Tier::kBlock;
        key += "@blocks";
        known = find(key);
    }
    if (known != nullptr && tier == Tier::kJit && known->runs_by_blocks()) {
        codegen::finish_compilations();
        if (known->runs_by_blocks()) known = nullptr;  // that failed, which shall be known
    }
    if (known != nullptr) return known;
    auto kernel = std::make_shared<StoredKernel>();
    kernel->name = form.name();
    request.disk_key = codegen::cache_key(request.form_key, request.options);
    std::optional<codegen::CachedKernel> cached;
    if (tier != Tier::kBlock && !debug_enabled(DebugLevel::kIr, kernel->name))
        cached = find_on_disk(request.disk_key);
    std::optional<ir::Module> in_background;
    if (cached) {
        if (config().verify.load(std::memory_order_relaxed) && ir::print(lower(form)) != cached->ir)
            throw InternalError("two kernels share the form " + request.form_key + "\nkernel IR on disk:\n" +
                                cached->ir);
        kernel->compiled = std::move(cached->kernel);
        kernel->ir = std::move(cached->ir);
    } else {
        make(request, tier, *kernel, in_background, fresh);
    }
    if (in_background)
        compile_in_background(
            std::make_shared<Replacement>(std::move(request), std::move(*in_background), kernel));
    keep(key, kernel);
    return kernel;
}

void forget_kernels() {
    const std::lock_guard lock(store().mutex);
    store().kernels.clear();
    store().order.clear();
    ++store().generation;
}

uint64_t kernel_generation() { return store().generation.load(std::memory_order_relaxed); }

void record_launch(LaunchRecord record) noexcept {
    without_failing([&] {
        if (profiling()) [[unlikely]]
            profile_launch(record);
        const std::lock_guard lock(store().mutex);
        store().history.add(std::move(record));
    });
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
        record.compiled =
            launch.kernel->is_function || (launch.kernel->compiled != nullptr && !launch.by_blocks);
    }
    return records;
}

void clear_kernel_history() {
    const std::lock_guard lock(store().mutex);
    store().history.clear();
}

}  // namespace weft
