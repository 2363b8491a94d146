// NumPy's further names of operations ("abs" for absolute), as the table lists them: for whoever shows the
// operations under all their names. `find_op` knows them too.
#pragma once

#include <span>
#include <string_view>

#include "ops/op.h"

namespace weft {

struct OpAlias {
    std::string_view name;
    OpId id;
};

std::span<const OpAlias> op_aliases();

}  // namespace weft
