// Checks that depend on values on a GPU and that a program lets weft leave for later
// (weft.config.deferred_checks): the call goes on without looking, in a way that is safe whatever the values
// are, and its results are poisoned. So is all that is computed from them. Whoever observes a poisoned array
// decides its checks first; where one fails, that is the error, with the line that recorded the operation, at
// each observation.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "graph/node.h"
#include "weft/array.h"
#include "weft/errors.h"

namespace weft {

// Every value of an array of integers has to lie in [low, high].
struct Requirement {
    array least, largest;  // 0-d, of the values; `largest` may be none where only the least one counts
    int64_t low = 0, high = INT64_MAX;
    ErrorKind kind = ErrorKind::kIndexError;
    // What the error says, with "{}" for the value that is wrong.
    std::string message;
};

// Whether a call on this device may leave a check for later.
bool defers_checks(const DeviceBackend& device);

// Notes the requirement, recorded where the program is now.
PoisonPtr defer(Requirement requirement);
// What is poisoned by both; either may be null.
PoisonPtr join(const PoisonPtr& first, const PoisonPtr& second);

// Of a node that is recorded: what its inputs bring. Costs a load where nothing is deferred.
void inherit_poison(Node& node);

// Decides all that poisons these, together, and throws the error of the first that failed.
void decide(const PoisonPtr& poison);
void decide(const Source& source);

// The value of an array of one integer, of any type. Waits for it.
int64_t integer_at(const array& value);

}  // namespace weft
