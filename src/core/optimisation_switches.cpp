#include "core/optimisation_switches.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "core/log.h"
#include "weft/errors.h"

namespace weft {

namespace {

constexpr std::string_view kNames[] = {
#define WEFT_OPTIMISATION_SWITCH(enumerator, name) name,
#include "core/optimisation_switches.def"
#undef WEFT_OPTIMISATION_SWITCH
};

// Former names and today's; the last entry, which no text equals, is there because an array has elements.
constexpr std::pair<std::string_view, std::string_view> kFormerNames[] = {
#define WEFT_FORMER_SWITCH(former, name) {former, name},
#include "core/former_switches.def"
#undef WEFT_FORMER_SWITCH
    {",", ""},
};

uint64_t parse(std::string_view names, std::vector<std::string>& notes) {
    uint64_t mask = 0;
    while (!names.empty()) {
        const size_t comma = std::min(names.find(','), names.size());
        std::string_view name = names.substr(0, comma);
        names.remove_prefix(std::min(comma + 1, names.size()));
        while (name.starts_with(' ')) name.remove_prefix(1);
        while (name.ends_with(' ')) name.remove_suffix(1);
        if (name.empty()) continue;
        for (const auto& [former, today] : kFormerNames) {
            if (name != former) continue;
            notes.push_back("the optimisation switch '" + std::string(former) + "' is called '" +
                            std::string(today) + "' now");
            name = today;
            break;
        }
        const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
        if (found == std::end(kNames)) {
            std::string known;
            for (const std::string_view each : kNames)
                known += (known.empty() ? "" : ", ") + std::string(each);
            throw ValueError("weft can be run without " + known + ", but does not know '" +
                             std::string(name) + "'");
        }
        mask |= uint64_t{1} << (found - std::begin(kNames));
    }
    return mask;
}

std::atomic<uint64_t>& left_out() {
    static std::atomic<uint64_t> mask = [] {
        const char* text = std::getenv("WEFT_WITHOUT");
        if (text == nullptr) return uint64_t{0};
        std::vector<std::string> notes;
        const uint64_t parsed = parse(text, notes);
        for (const std::string& note : notes) log_line("WEFT_WITHOUT: " + note);
        return parsed;
    }();
    return mask;
}

}  // namespace

bool is_on(OptimisationSwitch which) { return (switches_left_out() >> static_cast<int>(which) & 1) == 0; }

uint64_t switches_left_out() { return left_out().load(std::memory_order_relaxed); }

std::string without() {
    std::string names;
    for (size_t k = 0; k < std::size(kNames); ++k) {
        if ((switches_left_out() >> k & 1) != 0) names += (names.empty() ? "" : ",") + std::string(kNames[k]);
    }
    return names;
}

std::vector<std::string> set_without(std::string_view names) {
    std::vector<std::string> notes;
    left_out().store(parse(names, notes), std::memory_order_relaxed);
    return notes;
}

}  // namespace weft
