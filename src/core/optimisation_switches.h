// Switches of steps between a call and its kernel that change how something is computed and no bit of what:
// each can be left out, to find a fault or to test the others (WEFT_WITHOUT, weft.config.without: names with
// commas).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

enum class OptimisationSwitch : uint8_t {
#define WEFT_OPTIMISATION_SWITCH(enumerator, name) enumerator,
#include "core/optimisation_switches.def"
#undef WEFT_OPTIMISATION_SWITCH
};

bool is_on(OptimisationSwitch which);
uint64_t switches_left_out();  // a bit for each, for keys

std::string without();  // the names of the steps that are left out

// Throws ValueError that lists the names there are. Names of the release before work too: what is returned
// tells of each how the switch is called now.
std::vector<std::string> set_without(std::string_view names);

}  // namespace weft
