// How a team walks along a row: what each of its threads computes for an element, and the row's values that
// are kept in shared memory for later walks (row_cache.h).
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>

#include <set>
#include <span>
#include <utility>
#include <vector>

#include "codegen/ptx/row_cache.h"
#include "codegen/ptx/team.h"

namespace weft::codegen {

class PtxRowWalk : public PtxTeam {
public:
    using PtxTeam::PtxTeam;

protected:
    // A row that is short enough for the values that are needed again is walked with these in shared memory.
    void lower_point(const ir::Region& region);
    // The body of a walk, for one element and one thread.
    Values lower_element(const ir::Region& region, llvm::Value* number_of_element);
    // A thread's part of a whole block of `length` elements: `each` for every iteration, the reads of several
    // iterations before.
    void whole_block(const ir::Region& region, llvm::Value* start, int64_t length,
                     llvm::function_ref<void(const Values&)> each);

    RowCache row_cache_;
    bool caching_ = false;        // what is lowered keeps values
    llvm::Value* row_ = nullptr;  // how many elements it has, where it is kept
    bool of_thread_ = false;      // what is lowered is for one thread

private:
    // An element, and the values that are its own.
    struct Iteration {
        llvm::Value* number;
        std::vector<Scalar> scalars;
    };

    llvm::GlobalVariable* row_cache_array();
    llvm::Value* cached_element(const RowCache::Value& value, int64_t itemsize,
                                llvm::Value* number_of_element);
    void lower_reads(const ir::Region& region, llvm::Value* number_of_element,
                     const std::set<const ir::Instruction*>& early);
    Values lower_rest(const ir::Region& region, llvm::Value* number_of_element,
                      const std::set<const ir::Instruction*>& early);
    std::vector<Values> lower_rest_of(const ir::Region& region, std::span<Iteration> iterations,
                                      const std::set<const ir::Instruction*>& early);
    const RowCache::Value* cached_value(const ir::Instruction& instruction) const;
    static bool is_computed(const RowCache::Value* value);
    std::pair<llvm::Type*, llvm::Value*> cached_place(const ir::Instruction& instruction,
                                                      const RowCache::Value& value,
                                                      llvm::Value* number_of_element);
    llvm::Value* first_of_block(llvm::Value* start);
    bool may_read_early(const ir::Region& region) const;
    static int64_t iterations_at_once(const ir::Region& region);

    llvm::Value* row_cache_memory_ = nullptr;
};

}  // namespace weft::codegen
