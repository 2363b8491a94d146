// Finds races between the threads of a CUDA-style kernel, which tell of each access to memory
// (lang::ThreadEvent) while they run one after another on a CPU. Two accesses to an element race where one of
// them writes, not both are atomic, and nothing orders them: no barrier of their block or warp between them,
// and no hand-over by a fence and an atomic operation before another atomic operation on the same element.
// Writes of equal values do not race.
//
// Which accesses are ordered is what vector clocks tell (Lamport 1978; Fidge 1988). A block's threads have a
// common clock, its barriers; the lanes of a warp know of each other by times. An element remembers an access
// only until one of its kind comes that is ordered behind it (Flanagan and Freund 2009).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
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
    static constexpr size_t kWarp = 32;
    static constexpr size_t kRecent = 64;
    // Of each lane, the time before which its accesses are known.
    using Lanes = std::array<uint64_t, kWarp>;

    struct Access {
        const lang::Site* site = nullptr;  // null: none
        uint64_t time = 0;
        int64_t block = 0;
        uint32_t thread = 0;
        uint32_t epoch = 0;  // barriers of the block before it
    };
    struct Accesses {
        Access last{};
        std::unique_ptr<std::vector<Access>> others{};  // that are not ordered before it; a few
    };
    struct Cell {
        Accesses reads{}, writes{}, updates{};
        std::array<char, 16> value{};  // of all writes
    };
    // Elements of some bytes of memory. They begin at multiples of 1 << shift.
    struct Page {
        std::vector<Cell> cells{};
        uint32_t shift = 0;
    };
    struct Pages {
        std::unordered_map<uint64_t, Page> all{};
        std::array<std::pair<uint64_t, Page*>, kRecent> recent{};

        void clear();
        Cell& cell(uint64_t address, uint64_t bytes);
    };
    struct Fence {
        uint64_t time = 0;
        uint32_t epoch = 0;
    };
    // Of a block's threads: the last fence in each epoch.
    struct Fences {
        std::vector<std::vector<Fence>> threads{};
        uint32_t first_epoch = 0;
    };
    struct Meeting {
        uint32_t number = 0;
        std::array<uint32_t, kWarp> numbers{};  // of the last one that each lane came out of
        Lanes known{};
    };
    // What an atomic operation tells those that come after it.
    struct Release {
        int64_t block = 0;
        uint32_t thread = 0;
        uint32_t epoch = 0;
        uint64_t time = 0;
        Fence fence{};                         // the thread's last one before it; time 0: none
        std::shared_ptr<const Lanes> lanes{};  // what it knew of its warp at that
    };
    struct Place;
    // The first releases of a place.
    struct Part {
        const Place* place = nullptr;
        size_t count = 0;
    };
    // An element with atomic operations. Blocks run one after another, so a block's releases are together.
    struct Place {
        std::vector<Release> releases{};
        std::unordered_map<int64_t, std::pair<size_t, size_t>> of_block{};
        std::vector<std::pair<size_t, Part>> links{};  // what the release of that index knew of others
    };
    struct Acquired {
        Part part{};
        uint32_t thread = 0;
        uint32_t epoch = 0;
        uint64_t time = 0;
    };

    void enter_block(int64_t block);
    void meet_warp(uint32_t thread, uint32_t mask);
    void fence(uint32_t thread);
    bool access(const lang::Site& site, const char* payload, uint32_t thread);
    bool is_ordered(const Access& before, const Access& now) const;
    bool is_handed_over(const Access& before, const Access& now) const;
    bool is_released(const Access& before, const Release& release) const;
    bool knows(const Acquired& acquired, uint32_t thread, uint32_t epoch) const;
    const Access* racing(const Accesses& before, const Access& now) const;
    void keep(Accesses& accesses, const Access& now) const;
    void hand_over(uint64_t address, const Access& now);
    bool report(const Access& before, const Access& now);
    std::string place_of(const Access& access) const;

    std::array<int64_t, 3> grid_, block_;
    int64_t current_ = -1;
    std::vector<uint32_t> epochs_;  // of the current block's threads
    std::vector<Lanes> lanes_;      // the same
    std::vector<std::shared_ptr<const Lanes>> lanes_at_fences_;
    std::map<std::pair<uint32_t, uint32_t>, Meeting> meetings_;  // of the current block, by warp and mask
    Pages global_, of_block_;
    std::unordered_map<int64_t, Fences> fences_;  // by block
    std::unordered_map<uint64_t, Place> places_;  // by address
    std::vector<Acquired> acquired_;              // by the current block
    uint64_t time_ = 0;
    std::string race_;
};

}  // namespace weft::jit
