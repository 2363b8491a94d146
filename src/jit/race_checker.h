// Finds races between the threads of a CUDA-style kernel, which tell of each access to memory
// (lang::ThreadEvent) while they run one after another on a CPU. Two accesses to an element race where one of
// them writes, not both are atomic, and nothing orders them: no barrier of their block or warp between them,
// and no hand-over by a fence and an atomic operation before another atomic operation on the same element.
// Writes of equal values do not race.
//
// Which accesses are ordered is what vector clocks tell (Lamport 1978; Fidge 1988). A block's threads have a
// common clock, its barriers; what a block has been handed over is a list of the others that it knows of.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/lower.h"

namespace weft::jit {

class RaceChecker {
public:
    RaceChecker(std::array<int64_t, 3> grid, std::array<int64_t, 3> block) : grid_(grid), block_(block) {}

    // False where the access races with one before it.
    bool hear(const lang::Site& site, const char* payload);
    // The first race, for people; empty where there is none.
    const std::string& race() const { return race_; }

private:
    struct Thread {
        int64_t block = 0, thread = 0;
    };
    struct Access {
        Thread by{};
        uint32_t epoch = 0, warp_epoch = 0;  // barriers of the block, meetings of the warp before it
        uint64_t time = 0;
        const lang::Site* site = nullptr;
        bool is_atomic = false;
    };
    struct Cell {
        std::optional<Access> write{};
        std::vector<Access> reads{};  // since that, of different threads; a few
        std::array<char, 16> value{};
    };
    // What a thread has released by a fence: what it and its block had done by then.
    struct Release {
        Thread by{};
        uint32_t epoch = 0;
        uint64_t time = 0;
    };
    struct Acquired {
        Release release;
        int64_t thread = 0;
        uint32_t epoch = 0;
    };

    void enter_block(int64_t block);
    bool access(const lang::Site& site, const char* payload, const Thread& by);
    bool is_ordered(const Access& before, const Access& now) const;
    void hand_over(uint64_t address, const Access& now);
    bool report(const Access& before, const Access& now);
    std::string place_of(const Thread& thread) const;

    std::array<int64_t, 3> grid_, block_;
    int64_t current_ = -1;
    std::vector<uint32_t> epochs_, warp_epochs_;  // of the current block's threads
    std::vector<std::optional<Release>> fences_;  // the same
    std::unordered_map<uint64_t, Cell> global_, of_block_;
    std::unordered_map<uint64_t, std::map<std::pair<int64_t, int64_t>, Release>> released_;  // by address
    std::vector<Acquired> acquired_;  // by the current block
    uint64_t time_ = 0;
    std::string race_;
};

}  // namespace weft::jit
