#include "core/config.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <memory>
#include <string_view>

#include "core/threads/made_once.h"
#include "weft/errors.h"

namespace weft {
namespace {

[[noreturn]] void reject(const char* name, const char* text, const std::string& expected) {
    throw ValueError(std::string(name) + " must be " + expected + ", not '" + text + "'");
}

int64_t read_integer(const char* name, int64_t otherwise, int64_t low, int64_t high) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') return otherwise;
    char* end = nullptr;
    errno = 0;
    const long long value = std::strtoll(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < low || value > high) {
        const bool bounded = high != std::numeric_limits<int64_t>::max();
        reject(name, text,
               bounded ? "an integer from " + std::to_string(low) + " to " + std::to_string(high)
                       : "an integer of at least " + std::to_string(low));
    }
    return value;
}

bool read_flag(const char* name, bool otherwise) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0') return otherwise;
    const std::string_view value = text;
    if (value == "1" || value == "true" || value == "on" || value == "yes") return true;
    if (value == "0" || value == "false" || value == "off" || value == "no") return false;
    reject(name, text, "0 or 1");
}

constexpr std::string_view kTiers[] = {"auto", "block", "jit"};

std::string read_text(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? std::string() : std::string(text);
}

}  // namespace

std::string_view tier_name(Tier tier) { return kTiers[static_cast<size_t>(tier)]; }

Tier parse_tier(std::string_view name) {
    for (size_t k = 0; k < std::size(kTiers); ++k) {
        if (name == kTiers[k]) return static_cast<Tier>(k);
    }
    throw ValueError("a tier is auto, block or jit, not '" + std::string(name) + "'");
}

std::string Config::cpu() const {
    std::lock_guard lock(mutex_);
    return cpu_;
}

void Config::set_cpu(std::string name) {
    std::lock_guard lock(mutex_);
    cpu_ = std::move(name);
}

std::string Config::device() const {
    std::lock_guard lock(mutex_);
    return device_;
}

void Config::set_device(std::string name) {
    std::lock_guard lock(mutex_);
    device_ = std::move(name);
    other_device_ = !device_.empty() && device_ != "cpu";
}

std::string Config::debug_filter() const {
    std::lock_guard lock(mutex_);
    return debug_filter_;
}

void Config::set_debug_filter(std::string text) {
    std::lock_guard lock(mutex_);
    debug_filter_ = std::move(text);
}

std::optional<std::string> Config::cache_dir() const {
    std::lock_guard lock(mutex_);
    return cache_dir_;
}

void Config::set_cache_dir(std::optional<std::string> path) {
    std::lock_guard lock(mutex_);
    cache_dir_ = std::move(path);
}

void Config::load_environment() {
#ifdef NDEBUG
    constexpr bool kVerifyByDefault = false;
#else
    constexpr bool kVerifyByDefault = true;
#endif
    fuse = read_flag("WEFT_FUSE", true);
    rewrite = read_flag("WEFT_REWRITE", true);
    eager = read_flag("WEFT_EAGER", false);
    deferred_checks = read_flag("WEFT_DEFERRED_CHECKS", false);
    small_limit = read_integer("WEFT_SMALL", 4096, 0, kMostSmall);
    stream = read_integer("WEFT_STREAM", -1, -1, std::numeric_limits<int64_t>::max());
    const std::string named_tier = read_text("WEFT_TIER");
    tier = named_tier.empty() ? Tier::kAuto : parse_tier(named_tier);
    tier_delay = static_cast<int>(read_integer("WEFT_TIER_DELAY", 0, -1, 60000));
    num_threads = static_cast<int>(read_integer("WEFT_NUM_THREADS", 0, 0, 4096));
    debug = static_cast<int>(read_integer("WEFT_DEBUG", 0, 0, 5));
    guard = read_flag("WEFT_GUARD", false);
    verify = read_flag("WEFT_VERIFY", kVerifyByDefault);
    memory_limit = read_integer("WEFT_MEMORY_LIMIT", 0, 0, std::numeric_limits<int64_t>::max());
    device_memory_limit = read_integer("WEFT_DEVICE_MEMORY_LIMIT", 0, 0, std::numeric_limits<int64_t>::max());
    allow_tf32 = read_flag("WEFT_ALLOW_TF32", false);
    fast_math = read_flag("WEFT_FAST_MATH", false);
    cache = read_flag("WEFT_CACHE", true);
    cache_size = read_integer("WEFT_CACHE_SIZE", int64_t{1} << 30, 0, std::numeric_limits<int64_t>::max());
    set_cache_dir(std::getenv("WEFT_CACHE_DIR") == nullptr ? std::optional<std::string>()
                                                           : read_text("WEFT_CACHE_DIR"));
    set_cpu(read_text("WEFT_CPU"));
    set_device(read_text("WEFT_DEVICE"));
    set_debug_filter(read_text("WEFT_DEBUG_FILTER"));
}

Config& config() {
    static constinit std::atomic<Config*> instance{nullptr};
    return made_once(instance, [] {
        auto made = std::make_unique<Config>();
        made->load_environment();
        return made;
    });
}

}  // namespace weft
