// Which values of a row's elements a kernel for GPUs keeps in shared memory. Walks over a row (reductions,
// then what is written along it) often load and compute the same things again, as the exponentials of a
// softmax: what an earlier walk has computed from loads is kept for the later one, and the row is read once.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "ir/ir.h"

namespace weft::codegen {

struct RowCache {
    enum class Use {
        kCached,   // computed, and written to shared memory
        kRead,     // not computed but read from there
        kSkipped,  // nobody needs it
    };
    struct Value {
        Use use;
        int64_t offset;  // of its array, in bytes for each element of the row
    };

    int64_t bytes = 0;  // for each element of the row; 0: nothing is kept
    ir::ValueId size;   // how many elements the row has
    int64_t block = 0;  // of the reductions, which say which thread has an element
    std::map<const ir::Instruction*, Value> values;  // of the walks' bodies; what is not here is computed
};

// `grid` is the body of the kernel's grid; only what is loaded from scopes in `unwritten` stays the same.
RowCache find_row_cache(const ir::Function& kernel, const ir::Region& grid,
                        const std::set<uint16_t>& unwritten);

}  // namespace weft::codegen
