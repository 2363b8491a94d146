// Debug output on stderr, in whole lines, as WEFT_DEBUG and its filter ask for it.
#pragma once

#include <string_view>

#include "core/config.h"

namespace weft {

inline bool debug_enabled(DebugLevel level) {
    return config().debug.load(std::memory_order_relaxed) >= static_cast<int>(level);
}

// The same for what belongs to one kernel, whose name the filter must be part of.
bool debug_enabled(DebugLevel level, std::string_view kernel);

// Writes `[weft] text` to stderr; text of several lines stays together.
void log_line(std::string_view text);

}  // namespace weft
