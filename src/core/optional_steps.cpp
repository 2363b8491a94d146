#include "core/optional_steps.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>

#include "weft/errors.h"

namespace weft {

namespace {

constexpr std::string_view kNames[] = {
#define WEFT_OPTIONAL_STEP(step, name) name,
#include "core/optional_steps.def"
#undef WEFT_OPTIONAL_STEP
};

uint32_t parse(std::string_view names) {
    uint32_t mask = 0;
    while (!names.empty()) {
        const size_t comma = std::min(names.find(','), names.size());
        std::string_view name = names.substr(0, comma);
        names.remove_prefix(std::min(comma + 1, names.size()));
        while (name.starts_with(' ')) name.remove_prefix(1);
        while (name.ends_with(' ')) name.remove_suffix(1);
        if (name.empty()) continue;
        const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
        if (found == std::end(kNames)) {
            std::string known;
            for (const std::string_view each : kNames)
                known += (known.empty() ? "" : ", ") + std::string(each);
            throw ValueError("weft can be run without " + known + ", but does not know '" +
                             std::string(name) + "'");
        }
        mask |= uint32_t{1} << (found - std::begin(kNames));
    }
    return mask;
}

std::atomic<uint32_t>& left_out() {
    static std::atomic<uint32_t> mask = [] {
        const char* text = std::getenv("WEFT_WITHOUT");
        return text == nullptr ? 0 : parse(text);
    }();
    return mask;
}

}  // namespace

bool is_on(OptionalStep step) { return (steps_left_out() >> static_cast<int>(step) & 1) == 0; }

uint32_t steps_left_out() { return left_out().load(std::memory_order_relaxed); }

std::string without() {
    std::string names;
    for (size_t k = 0; k < std::size(kNames); ++k) {
        if ((steps_left_out() >> k & 1) != 0) names += (names.empty() ? "" : ",") + std::string(kNames[k]);
    }
    return names;
}

void set_without(std::string_view names) { left_out().store(parse(names), std::memory_order_relaxed); }

}  // namespace weft
