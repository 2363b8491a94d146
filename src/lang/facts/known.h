// What is known of integers where the walk is, so that checks of indices can be left out or done once before
// a loop: bounds, what they are less than, and what conditions tell.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/ir.h"
#include "ops/op.h"

namespace weft::lang {

using Wide = __int128;

// As far as offsets are followed: sums of some of them do not overflow.
constexpr int64_t kFar = int64_t{1} << 40;

constexpr bool fits(Wide value) { return value >= INT64_MIN && value <= INT64_MAX; }
constexpr bool is_near(Wide value) { return value >= -kFar && value <= kFar; }

// What is known of an integer besides its type: bounds, and that it is less than `below` + `offset`.
struct Fact {
    int64_t least = INT64_MIN, most = INT64_MAX;
    ir::ValueId below{};
    int64_t offset = 0;
};

// A value as another and something between two constants, for which it stands modulo 2**64.
struct Sum {
    ir::ValueId base;
    int64_t least = 0, most = 0;
    ir::ValueId other{};      // added, too, if valid
    bool subtracts = false;   // the base is subtracted from it
    bool less_other = false;  // the other one is subtracted
};

// value < below + offset
struct Upper {
    ir::ValueId value, below;
    int64_t offset = 0;
};

// What values have in common of which one is taken, as at the end of branches and loops.
struct Outcome {
    bool is_any = false;
    int64_t least = INT64_MAX, most = INT64_MIN;
    std::vector<Upper> uppers;
};

struct Comparison {
    OpId op;
    ir::ValueId left, right;
};
struct Junction {
    bool is_and;
    ir::ValueId left, right;
};

struct Operation {
    OpId op;
    ir::ValueId left, right;
};

struct Known {
    std::unordered_map<uint32_t, Fact> facts;
    std::unordered_map<uint32_t, Operation> operations;  // how integers came about
    std::unordered_map<uint32_t, Sum> sums;
    std::unordered_set<uint32_t> positive_unless_wrapped;  // sums and products of what is not negative
    std::unordered_map<uint32_t, ir::ValueId> not_below;   // a value that is at least another
    // How conditions came about.
    std::unordered_map<uint32_t, Comparison> comparisons;
    std::unordered_map<uint32_t, Junction> junctions;
    std::unordered_map<uint32_t, ir::ValueId> negations;
    // What conditions have told, and the facts as they were before.
    std::vector<Upper> uppers;
    std::vector<std::pair<uint32_t, Fact>> before;
};

// What is learned while it lives is forgotten then: it holds in a branch, or in an iteration.
class Learned {
public:
    explicit Learned(Known& known)
        : known_(known), uppers_(known.uppers.size()), before_(known.before.size()) {}
    ~Learned() {
        known_.uppers.resize(uppers_);
        while (known_.before.size() > before_) {
            known_.facts[known_.before.back().first] = known_.before.back().second;
            known_.before.pop_back();
        }
    }
    Learned(const Learned&) = delete;
    Learned& operator=(const Learned&) = delete;

private:
    Known& known_;
    const size_t uppers_, before_;
};

}  // namespace weft::lang
