// Memory that functions allocate while the scalar oracle runs them. Owners are numbers from 1 on; 0 is none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "ir/ir.h"

namespace weft::ir {

class OracleHeap {
public:
    struct Block {
        std::vector<char> bytes{};
        int64_t users = 1;
        bool is_gone = false;
        Instruction::Owners owners{};
    };

    // The new owner; 0 where there is not so much memory. `grown` ends, and its bytes are the first ones.
    int64_t allocate(int64_t bytes, const Instruction::Owners& owners, int64_t grown = 0);
    bool has_one_user(int64_t owner) const;
    // One user more or less; with the last one what the block owns loses one, too. False: no such owner.
    bool retain(int64_t owner);
    bool release(int64_t owner);
    // What an address is in, or nothing.
    std::shared_ptr<Block> block_at(uintptr_t address) const;

    std::map<int64_t, std::shared_ptr<Block>> blocks{};  // that have not been released, by owner

private:
    int64_t last_owner_ = 0;
};

}  // namespace weft::ir
