#include "ir/oracle_heap.h"

#include <algorithm>
#include <cstring>
#include <exception>

namespace weft::ir {

namespace {

// Memory is not initialised; a pattern makes reading it show.
constexpr auto kPattern = static_cast<char>(0xa5);

template <class Visit>
void for_each_owner(const OracleHeap::Block& block, const Visit& visit) {
    const auto& [from, stride, count] = block.owners;
    const auto size = static_cast<int64_t>(block.bytes.size());
    constexpr auto kWord = static_cast<int64_t>(sizeof(int64_t));
    if (count == 0) return;
    for (int64_t at = from; at + count * kWord <= size; at += stride) {
        for (int64_t k = 0; k < count; ++k) visit(static_cast<size_t>(at + k * kWord));
    }
}

}  // namespace

int64_t OracleHeap::allocate(int64_t bytes, const Instruction::Owners& owners, int64_t grown) {
    auto block = std::make_shared<Block>();
    block->owners = owners;
    if (bytes < 0) return 0;
    try {
        block->bytes.resize(static_cast<size_t>(bytes), kPattern);
    } catch (const std::exception&) {  // more than there can be, or than there is
        return 0;
    }
    size_t filled = 0;
    if (grown != 0) {
        Block& before = *blocks.at(grown);
        filled = std::min(before.bytes.size(), block->bytes.size());
        std::copy_n(before.bytes.begin(), filled, block->bytes.begin());
        before.is_gone = true;
        blocks.erase(grown);
    }
    for_each_owner(*block, [&](size_t at) {
        if (at >= filled) std::memset(block->bytes.data() + at, 0, sizeof(int64_t));
    });
    blocks.emplace(++last_owner_, std::move(block));
    return last_owner_;
}

bool OracleHeap::has_one_user(int64_t owner) const {
    const auto found = blocks.find(owner);
    return found != blocks.end() && found->second->users == 1;
}

bool OracleHeap::retain(int64_t owner) {
    if (owner == 0) return true;
    const auto found = blocks.find(owner);
    if (found == blocks.end()) return false;
    ++found->second->users;
    return true;
}

bool OracleHeap::release(int64_t owner) {
    if (owner == 0) return true;
    const auto found = blocks.find(owner);
    if (found == blocks.end()) return false;
    if (--found->second->users > 0) return true;
    const std::shared_ptr<Block> block = found->second;
    block->is_gone = true;
    blocks.erase(found);
    bool all = true;
    for_each_owner(*block, [&](size_t at) {
        int64_t owned = 0;
        std::memcpy(&owned, block->bytes.data() + at, sizeof(owned));
        all &= release(owned);
    });
    return all;
}

std::shared_ptr<OracleHeap::Block> OracleHeap::block_at(uintptr_t address) const {
    for (const auto& [owner, block] : blocks) {
        const auto low = reinterpret_cast<uintptr_t>(block->bytes.data());
        if (address >= low && address < low + block->bytes.size()) return block;
    }
    return nullptr;
}

}  // namespace weft::ir
