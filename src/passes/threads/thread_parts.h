// The parts of a block whose threads are loops (passes/threads/thread_fission.h), one after another: what a
// part needs of others is brought into it, and what others need of it is stored.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "passes/conditions_at_ends.h"
#include "passes/rewrite.h"
#include "passes/threads/thread_levels.h"

namespace weft::passes {

// Which part each value is defined in, and which are needed in another. Walked in the order of the parts.
class ThreadHomes {
public:
    explicit ThreadHomes(const ir::Function& function, const ThreadLevels& levels)
        : function_(function), levels_(levels) {}

    void next_part() { ++part_; }
    void define(const ir::Instruction& definition);
    void define_in_array(ir::ValueId value) { homes_[value.index] = {true, 0, nullptr}; }
    void use(ir::ValueId value);
    void use_in(const ir::Instruction& instruction);

    // What defines a value in a part, and is copied to others; null for what waits in an array. Nothing for
    // values that are the same in all parts.
    std::optional<const ir::Instruction*> definition(ir::ValueId value) const;
    bool crosses(ir::ValueId value) const { return crossing_.contains(value.index); }
    // Whether memory that a thread has made itself would have to cross, which it cannot.
    bool is_stuck() const { return is_stuck_; }

private:
    struct Home {
        bool in_array = false;
        int part = 0;
        const ir::Instruction* definition = nullptr;
    };
    int cost_of_repeating(ir::ValueId value) const;

    const ir::Function& function_;
    const ThreadLevels& levels_;
    int part_ = 0;
    std::unordered_map<uint32_t, Home> homes_;
    std::unordered_set<uint32_t> crossing_;
    bool is_stuck_ = false;
};

class ThreadParts {
public:
    struct Shape {
        ir::ValueId threads, row_length;
    };

    ThreadParts(ir::Function& function, const ThreadLevels& levels, const ThreadHomes& homes,
                Constants constants, const ThreadLevels::Place& place, const Shape& shape,
                std::vector<ir::Instruction>& into);

    // What has been allocated for all parts, to stand before them.
    std::vector<ir::Instruction> take_allocations() { return std::move(allocations_); }

    // Ends the part: it is appended to what is around parts.
    void end();
    // Appends what `write` writes to another region, which ends with a yield then.
    ir::Region around(const std::function<ir::Instruction()>& write);
    ir::Builder outside() { return {function_, *out_}; }
    // The values as they are outside of the parts.
    std::vector<ir::ValueId> outside(std::vector<ir::ValueId> values) const {
        return outside_.mapped(std::move(values));
    }
    Copier& common() { return outside_; }
    // A value of the block that is defined anew, once in each copy of what defines it.
    ir::ValueId rename_common(ir::ValueId value);
    void append_outside(ir::Instruction instruction) { out_->push_back(std::move(instruction)); }

    // The part that is being written.
    ir::Builder inside() {
        is_empty_ = false;
        return {function_, threads_};
    }
    ir::ValueId number() const { return number_; }
    ThreadLevel level_of(ir::ValueId value) const { return levels_.of(value); }
    // What an integer of the function is, where it is a constant.
    std::optional<int64_t> known(ir::ValueId value) const;
    ir::ValueId bring(ir::ValueId value);
    // What only computes comes into the part with its first use.
    void append_when_needed(const ir::Instruction& instruction);
    void append_copy_of_region(const ir::Region& from, ir::Region& to,
                               const std::vector<ir::ValueId>& places);
    void store(const std::vector<ir::ValueId>& places, const std::vector<ir::ValueId>& values);
    // What a value is in this part; stored where other parts need it.
    void define_kept(ir::ValueId value, ir::ValueId local);

    ir::ValueId array(ir::ValueId value);
    void share_array(ir::ValueId value, ir::ValueId with) { arrays_[value.index] = array(with); }
    // `more`: elements than there are threads.
    ir::ValueId make_array(ScalarType element, const char* name, int64_t more = 0);

    // Which threads take part; an invalid value for all.
    ir::ValueId mask() const { return mask_; }
    ir::ValueId exchange_mask(ir::ValueId mask) { return std::exchange(mask_, mask); }
    // Appends a loop over all threads outside of the parts; gives what it carries at the end.
    ir::ValueId fold(
        ir::ValueId initial,
        const std::function<ir::ValueId(ir::Builder&, ir::ValueId number, ir::ValueId sum)>& step);
    ir::ValueId threads() const { return shape_.threads; }

private:
    void begin();
    bool is_there(ir::ValueId place, ir::ValueId value);
    void define(ir::ValueId value, ir::ValueId local);
    void copy_here(const ir::Instruction& definition, std::vector<ir::Instruction>& into);
    void keep(const std::vector<ir::ValueId>& values);

    ir::Function& function_;
    const ThreadLevels& levels_;
    const ThreadHomes& homes_;
    const Constants constants_;
    const ThreadLevels::Place place_;
    const Shape shape_;
    ir::ValueId rows_, zero_, one_, mask_;
    uint16_t next_scope_;
    std::vector<ir::Instruction> allocations_;
    std::vector<ir::Instruction>* out_;
    Copier outside_;  // of what is common to all threads

    bool is_empty_ = true;
    ir::ValueId row_, column_, number_;
    std::vector<ir::Instruction> in_row_, threads_;
    std::optional<Copier> copier_;
    std::unordered_map<uint32_t, ir::ValueId> here_;
    std::unordered_map<uint32_t, ir::ValueId> arrays_;
};

}  // namespace weft::passes
