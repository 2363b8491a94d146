#include "codegen/service/kernel_cache.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <utility>

#include "codegen/cache/disk_cache.h"
#include "codegen/cache/engine_identity.h"
#include "codegen/llvm/target.h"
#include "codegen/service/background_compiler.h"
#include "codegen/service/shared_code.h"
#include "core/config.h"
#include "core/log.h"
#include "core/optimisation_switches.h"
#include "core/threads/fork.h"
#include "weft/cache.h"
#include "weft/errors.h"

namespace weft {
namespace codegen {
namespace {

// Global because the folder is the process's; guarded by its lock.
struct State {
    std::mutex mutex;
    std::optional<std::string> setting;
    std::string reason;
    std::shared_ptr<DiskCache> cache;
    DiskCacheCounts counts;
};

State& state() {
    static auto* instance = new State;  // threads may still compile while the process exits
    return *instance;
}

void lock_before_fork() {
    state().mutex.lock();
    if (state().cache) state().cache->mutex().lock();
}

void unlock_after_fork() {
    if (state().cache) state().cache->mutex().unlock();
    state().mutex.unlock();
}

[[maybe_unused]] const bool at_fork =
    on_fork(ForkRank::kKernelCache, {&lock_before_fork, &unlock_after_fork, &unlock_after_fork});

struct Current {
    std::shared_ptr<DiskCache> cache;
    std::string reason;
};

// The cache of the settings as they are now.
Current current_cache() {
    if (!config().cache.load(std::memory_order_relaxed)) return {nullptr, "WEFT_CACHE is 0"};
    const int64_t limit = config().cache_size.load(std::memory_order_relaxed);
    if (limit <= 0) return {nullptr, "WEFT_CACHE_SIZE is 0"};
    if (engine_build_id().empty()) return {nullptr, "the engine was linked without a build ID"};
    std::optional<std::string> setting = config().cache_dir();
    State& all = state();
    const std::lock_guard lock(all.mutex);
    if (!all.cache || all.setting != setting || all.cache->limit() != limit) {
        CacheLocation location = locate_cache(setting);
        all.setting = std::move(setting);
        all.cache = location.reason.empty()
                        ? std::make_shared<DiskCache>(std::move(location.path), limit, all.counts)
                        : nullptr;
        if (all.reason != location.reason && debug_enabled(DebugLevel::kLaunches))
            log_line("no kernel cache on disk: " + location.reason);
        all.reason = std::move(location.reason);
    }
    return {all.cache, all.reason};
}

// ---- a kernel as bytes: its texts and its object with their sizes before them, and its grid dimensions ----

void append_number(std::string& bytes, uint64_t number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void append_text(std::string& bytes, std::string_view text) {
    append_number(bytes, text.size());
    bytes.append(text);
}

// The bytes were written by this very engine and their digest was right; the bounds are checked all the same.
class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    uint64_t number() {
        uint64_t value = 0;
        const std::string_view bytes = take(sizeof value);
        if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
    std::string text() { return std::string(take(number())); }
    bool whole() const { return good_ && rest_.empty(); }

private:
    std::string_view take(uint64_t size) {
        good_ = good_ && size <= rest_.size();
        if (!good_) return {};
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    std::string_view rest_;
    bool good_ = true;
};

std::string encode(const KernelObject& object, std::string_view ir) {
    std::string bytes;
    append_text(bytes, object.name);
    append_text(bytes, object.symbol);
    append_number(bytes, static_cast<uint64_t>(object.grid_dimensions));
    append_text(bytes, ir);
    append_text(bytes, object.parts);
    append_number(bytes, object.shared.size());
    for (const std::string& text : object.shared) append_text(bytes, text);
    append_text(bytes, object.bytes);
    return bytes;
}

bool decode(std::string_view bytes, KernelObject& object, std::string& ir) {
    Reader reader(bytes);
    object.name = reader.text();
    object.symbol = reader.text();
    object.grid_dimensions = static_cast<int>(reader.number());
    ir = reader.text();
    object.parts = reader.text();
    const uint64_t shared = reader.number();
    constexpr uint64_t kMost = 65536;
    if (shared > kMost) return false;
    object.shared.resize(shared);
    for (std::string& text : object.shared) text = reader.text();
    object.bytes = reader.text();
    return reader.whole();
}

std::string encode(const CachedGpuKernel& kernel) {
    const CudaKernelImage& image = kernel.image;
    std::string bytes;
    append_text(bytes, image.name);
    append_text(bytes, image.symbol);
    for (const int number :
         {image.sm, image.words, image.grid_dimensions, image.points_per_thread, image.run_dimension,
          static_cast<int>(image.shifted_runs), image.tile_dimension, image.rows_per_thread,
          image.run_distance, static_cast<int>(image.teams), image.team_threads, image.row_word,
          static_cast<int>(image.wide), image.shared_dimensions}) {
        append_number(bytes, static_cast<uint64_t>(number));
    }
    append_number(bytes, static_cast<uint64_t>(image.row_elements));
    append_number(bytes, static_cast<uint64_t>(image.elements_per_warp));
    append_number(bytes, static_cast<uint64_t>(image.row_cache_bytes));
    append_number(bytes, image.team_words.size());
    for (const int word : image.team_words) append_number(bytes, static_cast<uint64_t>(word));
    append_number(bytes, image.buffers.size());
    for (const CudaBufferFacts& buffer : image.buffers) {
        append_number(bytes, static_cast<uint64_t>(buffer.base_word));
        append_number(bytes, static_cast<uint64_t>(buffer.alignment));
        append_number(bytes, buffer.stride_words.size());
        for (const int word : buffer.stride_words) append_number(bytes, static_cast<uint64_t>(word));
    }
    append_text(bytes, kernel.ir);
    append_text(bytes, kernel.machine_code);
    return bytes;
}

bool decode(std::string_view bytes, CachedGpuKernel& kernel) {
    constexpr uint64_t kMost = 4096;  // of anything that is counted
    Reader reader(bytes);
    CudaKernelImage& image = kernel.image;
    image.name = reader.text();
    image.symbol = reader.text();
    const auto number = [&] { return static_cast<int>(reader.number()); };
    image.sm = number();
    image.words = number();
    image.grid_dimensions = number();
    image.points_per_thread = number();
    image.run_dimension = number();
    image.shifted_runs = number() != 0;
    image.tile_dimension = number();
    image.rows_per_thread = number();
    image.run_distance = number();
    image.teams = number() != 0;
    image.team_threads = number();
    image.row_word = number();
    image.wide = number() != 0;
    image.shared_dimensions = number();
    image.row_elements = static_cast<int64_t>(reader.number());
    image.elements_per_warp = static_cast<int64_t>(reader.number());
    image.row_cache_bytes = static_cast<int64_t>(reader.number());
    const uint64_t factors = reader.number();
    if (factors > kMost) return false;
    image.team_words.resize(factors);
    for (int& word : image.team_words) word = number();
    const uint64_t buffers = reader.number();
    if (buffers > kMost) return false;
    image.buffers.resize(buffers);
    for (CudaBufferFacts& buffer : image.buffers) {
        buffer.base_word = number();
        buffer.alignment = number();
        const uint64_t strides = reader.number();
        if (strides > kMost) return false;
        buffer.stride_words.resize(strides);
        for (int& word : buffer.stride_words) word = number();
    }
    kernel.ir = reader.text();
    kernel.machine_code = reader.text();
    return reader.whole();
}

const std::string& engine_text() {
    static const std::string* const text = new std::string("form 1\n" + engine_identity());
    return *text;
}

}  // namespace

std::string encode_object(const KernelObject& object) { return encode(object, {}); }

std::optional<KernelObject> decode_object(std::string_view bytes) {
    KernelObject object;
    std::string ir;
    return decode(bytes, object, ir) ? std::optional(std::move(object)) : std::nullopt;
}

std::string cache_key(std::string_view form, const CompileOptions& options) {
    const TargetName target = resolve_target(options.cpu);
    std::string key = engine_text();
    key += "cpu " + target.cpu + "\nfeatures " + target.features + "\n";
    if (options.fast_math) key += "fast math\n";
    key += options.vector_math ? "vector math\n" : "no vector math\n";
    // A kernel that was compiled with checks is not answered by one that was not.
    if (config().verify.load(std::memory_order_relaxed)) key += "verified\n";
    if (const std::string left_out = without(); !left_out.empty()) key += "without " + left_out + "\n";
    key += "\n";
    key += form;
    return key;
}

bool keeps_kernels() { return current_cache().cache != nullptr; }

namespace {

// What `load` makes of an entry; nothing where there is none of use. A math library without one of the
// object's functions, or memory that may not be executed, are InternalErrors: compiling tells.
template <class Load>
auto load_entry(const std::string& key, const Load& load) -> decltype(load(KernelObject(), std::string())) {
    const std::shared_ptr<DiskCache> cache = current_cache().cache;
    if (!cache) return {};
    const std::optional<std::string> bytes = cache->find(key);
    if (!bytes) return {};
    KernelObject object;
    std::string ir;
    if (decode(*bytes, object, ir)) {
        try {
            auto found = load(object, std::move(ir));
            if (debug_enabled(DebugLevel::kLaunches, object.name)) log_line("loaded " + object.name);
            return found;
        } catch (const InternalError&) {
        }
    }
    cache->drop(key);
    return {};
}

}  // namespace

std::optional<CachedKernel> find_in_cache(const std::string& key) {
    return load_entry(key, [](const KernelObject& object, std::string ir) -> std::optional<CachedKernel> {
        return CachedKernel{load_for_cpu(object), std::move(ir)};
    });
}

StridedLoop find_strided_loop_in_cache(const std::string& key) {
    return load_entry(key, [](const KernelObject& object, const std::string&) {
        return load_strided_loop_for_cpu(object);
    });
}

std::shared_ptr<const CompiledFunction> find_function_in_cache(const std::string& key,
                                                               const CompileOptions& options) {
    return load_entry(key, [&](const KernelObject& object, const std::string&) {
        return load_function(key, object, options);
    });
}

std::shared_ptr<const CompiledFunction> found_or_made(const std::string& key, const CompileOptions& options,
                                                      const std::function<KernelObject()>& make) {
    if (!key.empty()) {
        std::shared_ptr<const CompiledFunction> found = find_function_in_cache(key, options);
        if (found != nullptr) return found;
    }
    const KernelObject made = make();
    if (!key.empty()) keep_in_cache(key, made, {});
    return load_function(key, made, options);
}

std::shared_ptr<const CompiledFunction> load_function(const std::string& key, const KernelObject& object,
                                                      const CompileOptions& options) {
    return load_function_for_cpu(object, [key, parts = object.parts, shared = object.shared,
                                          options](int number) {
        if (static_cast<size_t>(number) < shared.size())
            return shared_function(shared[static_cast<size_t>(number)], !key.empty(), options);
        const int of_parts = number - static_cast<int>(shared.size());
        const std::string key_of_part = key.empty() ? key : key + "\npart " + std::to_string(of_parts) + "\n";
        return found_or_made(key_of_part, options,
                             [&] { return compile_part_for_cpu(parts, of_parts, options); });
    });
}

void keep_in_cache(const std::string& key, const KernelObject& object, std::string_view ir) {
    if (const std::shared_ptr<DiskCache> cache = current_cache().cache) cache->store(key, encode(object, ir));
}

std::string gpu_cache_key(std::string_view form, std::string_view target) {
    std::string key = engine_text();
    key += "gpu ";
    key += target;
    key += "\n";
    if (config().verify.load(std::memory_order_relaxed)) key += "verified\n";
    if (const std::string left_out = without(); !left_out.empty()) key += "without " + left_out + "\n";
    key += "\n";
    key += form;
    return key;
}

std::optional<CachedGpuKernel> find_gpu_kernel_in_cache(const std::string& key) {
    const std::shared_ptr<DiskCache> cache = current_cache().cache;
    if (!cache) return {};
    const std::optional<std::string> bytes = cache->find(key);
    if (!bytes) return {};
    CachedGpuKernel kernel;
    if (decode(*bytes, kernel)) {
        if (debug_enabled(DebugLevel::kLaunches, kernel.image.name)) log_line("loaded " + kernel.image.name);
        return kernel;
    }
    cache->drop(key);
    return {};
}

void keep_gpu_kernel_in_cache(const std::string& key, const CachedGpuKernel& kernel) {
    if (const std::shared_ptr<DiskCache> cache = current_cache().cache) cache->store(key, encode(kernel));
}

std::optional<std::string> find_bytes_in_cache(const std::string& key) {
    const std::shared_ptr<DiskCache> cache = current_cache().cache;
    return cache ? cache->find(key) : std::nullopt;
}

void keep_bytes_in_cache(const std::string& key, std::string_view bytes) {
    if (const std::shared_ptr<DiskCache> cache = current_cache().cache) cache->store(key, bytes);
}

void drop_from_cache(const std::string& key) {
    if (const std::shared_ptr<DiskCache> cache = current_cache().cache) cache->drop(key);
}

}  // namespace codegen

CacheInfo cache_info() {
    using namespace codegen;
    finish_compilations();
    const Current current = current_cache();
    CacheInfo info;
    info.reason = current.reason;
    info.limit = config().cache_size.load(std::memory_order_relaxed);
    if (current.cache) {
        current.cache->look_again();
        info.folder = current.cache->path();
        info.reason = current.cache->reason();
        const DiskCacheContents contents = current.cache->contents();
        info.entries = contents.entries;
        info.bytes = contents.bytes;
    }
    info.enabled = info.reason.empty();
    const DiskCacheCounts& counts = state().counts;
    info.hits = counts.hits;
    info.misses = counts.misses;
    info.dropped = counts.dropped;
    info.written = counts.written;
    info.evicted = counts.evicted;
    info.failed = counts.failed;
    info.compiled = kernels_compiled();
    return info;
}

int64_t cache_clear() {
    const std::shared_ptr<codegen::DiskCache> cache = codegen::current_cache().cache;
    return cache ? cache->clear() : 0;
}

}  // namespace weft
