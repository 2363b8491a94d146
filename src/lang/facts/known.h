// What is known of integers where the walk is, so that checks of indices can be left out or done once before
// a loop: bounds, what they are less than, and what conditions tell.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
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
    struct Side {
        int64_t most;
        std::vector<Upper> uppers;
    };
    int64_t least = INT64_MAX, most = INT64_MIN;
    std::vector<Side> sides;
};

// A condition that is one of two, as a condition before it decides.
struct Choice {
    ir::ValueId condition, yes, no;
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
    // How many elements an array of two axes has, which these are the sizes of: their product is exact.
    std::unordered_map<uint32_t, std::pair<ir::ValueId, ir::ValueId>> counts;
    std::unordered_map<uint32_t, uint32_t> arrays;  // sizes of such arrays, and which array's they are
    // How conditions came about.
    std::unordered_map<uint32_t, Comparison> comparisons;
    std::unordered_map<uint32_t, Junction> junctions;
    std::unordered_map<uint32_t, ir::ValueId> negations;
    std::unordered_map<uint32_t, Choice> choices;
    std::unordered_map<uint32_t, bool> truths;  // conditions that are constants
    // Values that are computed alike have one number, the first one's. What conditions tell holds for all of
    // them. (Facts do not: they may hang on where a value is computed.)
    std::unordered_map<uint32_t, uint32_t> numbers;
    std::map<std::array<int64_t, 3>, uint32_t> first;  // an operation on numbers, or on a constant

    struct Bounds {
        int64_t least = INT64_MIN, most = INT64_MAX;
    };
    // What conditions have told, by numbers, and the bounds as they were before.
    std::vector<Upper> uppers;
    std::unordered_map<uint32_t, Bounds> learned;
    std::vector<std::pair<uint32_t, Bounds>> before;

    uint32_t number_of(ir::ValueId value) const {
        const auto found = numbers.find(value.index);
        return found == numbers.end() ? value.index : found->second;
    }
    Fact fact(ir::ValueId value) const {
        const auto found = facts.find(value.index);
        Fact known = found == facts.end() ? Fact{} : found->second;
        if (learned.empty()) return known;
        const auto told = learned.find(number_of(value));
        if (told == learned.end()) return known;
        known.least = std::max(known.least, told->second.least);
        known.most = std::min(known.most, told->second.most);
        return known;
    }
    bool is_same(ir::ValueId one, ir::ValueId other) const {
        return one == other || (one.valid() && other.valid() && number_of(one) == number_of(other));
    }
};

// What is learned while it lives is forgotten then: it holds in a branch, or in an iteration.
class Learned {
public:
    explicit Learned(Known& known)
        : known_(known), uppers_(known.uppers.size()), before_(known.before.size()) {}
    ~Learned() {
        known_.uppers.resize(uppers_);
        while (known_.before.size() > before_) {
            known_.learned[known_.before.back().first] = known_.before.back().second;
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
