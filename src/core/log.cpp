#include "core/log.h"

#include <cstdio>
#include <string>

namespace weft {

bool debug_enabled(DebugLevel level, std::string_view kernel) {
    if (!debug_enabled(level)) return false;
    const std::string filter = config().debug_filter();
    return filter.empty() || kernel.find(filter) != std::string_view::npos;
}

void log_line(std::string_view text) {
    // One fwrite a message: stdio locks the stream, so that lines of several threads do not mix.
    std::string line = "[weft] ";
    line += text;
    if (line.back() != '\n') line += '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace weft
