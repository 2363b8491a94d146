// What threads of a block have in common (`spread together` of kernel IR), so that they can be loops which
// are cut where the threads meet (passes/threads/thread_fission.h).
//
// A value is of the block where it can be computed once for all threads, of a row where it hangs on the row's
// number besides, and of a thread otherwise. What has come from memory is a thread's, but for loads that
// decide which meetings the threads come to: where all read one element and nothing races, all read the same.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/ir.h"

namespace weft::passes {

enum class ThreadLevel : uint8_t { kBlock, kRow, kThread };

// Where threads wait for each other: a barrier of the block, or what a warp does together.
bool is_thread_meeting(const ir::Instruction& instruction);
bool has_thread_meeting(const ir::Instruction& instruction);
bool has_block_meeting(const ir::Instruction& instruction);
// Whether it is a loop or branch that stands around parts of the threads: with meetings in it, or with an
// exit that leaves a loop around it, which all threads then leave.
bool is_around(const ir::Instruction& instruction);

class ThreadLevels {
public:
    // The parameters of what a thread runs: its number, its place in its row, and the row's number.
    struct Place {
        ir::ValueId number, column, row;
    };

    ThreadLevels(const ir::Module& module, const ir::Function& function, const ir::Region& body,
                 const Place& place);

    // Why the threads cannot be cut where they meet; empty where they can.
    const std::string& reason() const { return reason_; }

    // Of values that stand in the body, or in loops and branches around meetings.
    ThreadLevel of(ir::ValueId value) const;
    // Whether it is computed once for all threads.
    bool is_common(const ir::Instruction& instruction) const;

    // How threads take a branch with meetings in it.
    enum class Branch : uint8_t {
        kAlike,
        kLikely,  // the second side does what the first does, too: it is taken where one thread has to
        kMasked,  // on one side no thread waits for others
    };
    Branch branch_of(const ir::Instruction& branch) const;

private:
    void find_deciding(const ir::Region& body);
    void note_definitions(const ir::Region& region);
    void note_deciding(const ir::Region& region);
    void sweep(const ir::Region& region);
    void sweep_around(const ir::Instruction& instruction);
    void raise_to(ir::ValueId value, ThreadLevel level);
    ThreadLevel highest(const ir::Instruction& instruction) const;
    bool is_deciding_load(const ir::Instruction& instruction) const;
    void judge(const ir::Region& region, bool is_end);
    void judge_branch(const ir::Instruction& branch, bool is_end);
    void refuse(const std::string& reason);

    const ir::Module& module_;
    const ir::Function& function_;
    std::unordered_map<uint32_t, ThreadLevel> levels_;  // above kBlock
    std::unordered_map<uint32_t, std::vector<ir::ValueId>> made_of_;
    std::unordered_set<uint32_t> deciding_;
    std::string reason_;
    bool changed_ = false;
};

}  // namespace weft::passes
