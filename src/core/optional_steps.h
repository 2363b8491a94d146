// Steps between a call and its kernel that change how something is computed and no bit of what: each can be
// left out, to find a fault or to test the others (WEFT_WITHOUT, weft.config.without: names with commas).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

enum class OptionalStep : uint8_t {
    kSimplify,               // pass: constants, known branches, identical and unused instructions
    kInterchangeReductions,  // pass: columns are summed row by row
    kSimplifyLowered,        // pass: simplify again
    kViews,                  // planning: values read through slices and broadcasts join their readers
    kRepeats,                // planning: cheap work is computed in several kernels
    kNeighbours,             // planning: independent work over one space shares a kernel
    kProductTiles,           // planning: element-wise work runs on the tiles of the product before it
    kPhases,                 // planning: rows are walked again by the kernel that reduced them
    kTurns,                  // recording: the graph is cut where the turns of a loop meet
    kPlanCache,              // evaluation: plans are kept
    kGatherFirst,            // planning: f(x)[idx] computes f(x[idx]) where that is less
    kStreams,                // planning: large results that nobody reads soon are written past the caches
    kPrefetch,               // lowering: stencils ask memory for what they come to next
};

bool is_on(OptionalStep step);
uint32_t steps_left_out();  // a bit for each, for keys

std::string without();                     // the names of the steps that are left out
void set_without(std::string_view names);  // throws ValueError that lists the names there are

}  // namespace weft
