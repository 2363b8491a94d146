// A number of bytes as text for messages, "46.9 KiB", that needs no memory.
#pragma once

#include <cstddef>
#include <cstdio>

namespace weft {

struct BytesText {
    explicit BytesText(size_t bytes) {
        static const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
        int unit = 0;
        auto value = static_cast<double>(bytes);
        for (; value >= 1024 && unit < 6; value /= 1024) ++unit;
        std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.3g %s", value, units[unit]);
    }
    char text[32];
};

}  // namespace weft
