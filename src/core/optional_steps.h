// Steps between a call and its kernel that change how something is computed and no bit of what: each can be
// left out, to find a fault or to test the others (WEFT_WITHOUT, weft.config.without: names with commas).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft {

enum class OptionalStep : uint8_t {
#define WEFT_OPTIONAL_STEP(step, name) step,
#include "core/optional_steps.def"
#undef WEFT_OPTIONAL_STEP
};

bool is_on(OptionalStep step);
uint32_t steps_left_out();  // a bit for each, for keys

std::string without();                     // the names of the steps that are left out
void set_without(std::string_view names);  // throws ValueError that lists the names there are

}  // namespace weft
