// The common part of ziggurat.h: how many of the next units of a stream are draws each, and which; in lanes
// where the processor has AVX-512.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace weft {

// Writes the draws before the first unit that is none, and says how many; up to `count` what is written
// behind them has no meaning.
template <class Unit, class Value>
using ZigguratRun = size_t (*)(const Unit* units, size_t count, Value* out);

struct ZigguratRuns {
    ZigguratRun<uint64_t, double> normal, exponential;
    ZigguratRun<uint32_t, float> normal32, exponential32;
};

// The quickest ones that the processor has.
const ZigguratRuns& ziggurat_runs();
// All that it has, which give the same draws.
std::span<const ZigguratRuns> all_ziggurat_runs();

const ZigguratRuns& ziggurat_runs_in_lanes();

}  // namespace weft
