// Settings: the WEFT_* environment, read once at first use, and what weft.config changes at run time.
//
// Read by every room. Plain settings are atomics, so that reading one costs a load; texts are behind a lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace weft {

// What WEFT_DEBUG prints from which level on; each level includes those below.
enum class DebugLevel : int {
    kNone = 0,
    kLaunches = 1,  // every launch with its time and bytes
    kFusion = 2,    // what shares a kernel, and why
    kIr = 3,        // kernel IR after each pass
    kLlvm = 4,      // LLVM IR before and after optimisation
    kAssembly = 5,  // machine code
};

// What a kernel that neither the process nor the disk has runs on (docs/internals/tiers.md).
enum class Tier : uint8_t {
    kAuto,   // the vectorised interpreter at once, machine code as soon as that is compiled
    kBlock,  // the vectorised interpreter, compiling only what that cannot run
    kJit,    // machine code, for which it waits
};
std::string_view tier_name(Tier tier);
Tier parse_tier(std::string_view name);  // throws ValueError that lists the names there are

class Config {
public:
    std::atomic<bool> fuse{true};                            // WEFT_FUSE
    std::atomic<bool> rewrite{true};                         // WEFT_REWRITE: see docs/reference/rewrites.md
    std::atomic<bool> eager{false};                          // WEFT_EAGER
    std::atomic<bool> deferred_checks{false};                // WEFT_DEFERRED_CHECKS
    static constexpr int64_t kMostSmall = int64_t{1} << 40;  // so that their bytes are no large number
    std::atomic<int64_t> small_limit{4096};  // WEFT_SMALL: elements up to which work runs eagerly; 0: never
    // WEFT_STREAM: results of more bytes are stored non-temporally; -1: of more than stays in the caches
    std::atomic<int64_t> stream{-1};
    std::atomic<Tier> tier{Tier::kAuto};  // WEFT_TIER
    // WEFT_TIER_DELAY, for tests: milliseconds before a kernel is compiled in the background; -1: that fails
    std::atomic<int> tier_delay{0};
    std::atomic<int> num_threads{0};  // WEFT_NUM_THREADS; 0: as many as the process may use
    std::atomic<int> debug{0};        // WEFT_DEBUG: 0 to 5, see DebugLevel
    std::atomic<bool> guard{false};   // WEFT_GUARD: every buffer touches an inaccessible page
    std::atomic<bool> verify{false};  // WEFT_VERIFY: check IR after each pass and LLVM's modules
    std::atomic<int64_t> memory_limit{
        0};  // WEFT_MEMORY_LIMIT: most bytes that arrays and pool may hold; 0: none

    std::atomic<int64_t> device_memory_limit{0};  // WEFT_DEVICE_MEMORY_LIMIT: the same of each GPU; 0: none

    // WEFT_ALLOW_TF32: products of float32 on GPUs may round their factors to 11 bits
    std::atomic<bool> allow_tf32{false};
    // WEFT_FAST_MATH: products and sums may be one rounding (fma), and GPUs divide and take roots within 2
    // ULP
    std::atomic<bool> fast_math{false};

    std::atomic<bool> cache{true};                      // WEFT_CACHE: keep compiled kernels on disk
    std::atomic<int64_t> cache_size{int64_t{1} << 30};  // WEFT_CACHE_SIZE: most bytes of them; 0: keep none

    std::string cpu() const;  // WEFT_CPU: LLVM's name of the CPU to compile for; empty: the host
    void set_cpu(std::string name);
    // WEFT_DEVICE: where new arrays are made, "cpu" or "cuda:0"; empty: on the CPU
    std::string device() const;
    void set_device(std::string name);
    bool default_device_is_cpu() const { return !other_device_.load(std::memory_order_relaxed); }
    std::string debug_filter() const;  // WEFT_DEBUG_FILTER: only kernels whose name contains this
    void set_debug_filter(std::string text);
    // WEFT_CACHE_DIR: the folder of compiled kernels; absent: the user's cache folder; empty: none
    std::optional<std::string> cache_dir() const;
    void set_cache_dir(std::optional<std::string> path);

    // Reads the environment again. Throws ValueError naming the variable when a value cannot be read.
    void load_environment();

private:
    mutable std::mutex mutex_;
    std::string cpu_;
    std::string debug_filter_;
    std::string device_;
    std::atomic<bool> other_device_{false};
    std::optional<std::string> cache_dir_;
};

Config& config();

}  // namespace weft
