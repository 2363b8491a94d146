// How a reduction walks its elements: the dimensions it reduces, in the order of memory, and the tree in
// which they are combined. One place decides it, for kernels (lowering/lower.cpp) and for eager work alike,
// from shapes and strides only, so that every way gives the same bits.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/lane_fold.h"
#include "ops/op.h"
#include "weft/dims.h"

namespace weft {

// Elements of the innermost reduced dimension are cut into blocks; within one, `lanes` accumulators take
// iterations. Blocks, and outer reduced dimensions, are combined pairwise; see kReduce in
// docs/reference/kernel-ir.md. A row's block has 16 iterations of 32 lanes: no more additions one after
// another than NumPy's pairwise sum has. Across rows a block is one chain of additions: as long as partial
// results cost little, and short, since on a GPU the blocks of all columns are what runs side by side.
constexpr int64_t kReduceLanes = 32;
constexpr int64_t kReduceBlock = 512;
constexpr int64_t kReduceBlockAcrossRows = 256;

// Of a reduction to squared deviations, a chunk is one unit: its elements less a shift, the mean of its first
// few, are added up, and their squares; chunks are combined by count, mean and sum of squares (Chan, Golub
// and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979). Since the
// shift is at most sqrt(sum of squares / elements it is the mean of) from the mean, a chunk of n elements
// loses at most 1 + n / kShiftElements roundings to cancellation.
constexpr int64_t kBlocksPerChunk = 64;
constexpr int64_t kShiftElements = kReduceBlock;
constexpr int64_t kShiftElementsAcrossRows = 16;
static_assert(kShiftElements <= kReduceBlock && kShiftElementsAcrossRows <= kReduceBlockAcrossRows);

// Lists of axes one behind the other.
class AxisGroups {
public:
    size_t size() const { return ends_.size(); }
    size_t size_of(size_t group) const { return end_of(group) - begin_of(group); }
    size_t axis(size_t group, size_t k) const { return static_cast<size_t>(axes_[begin_of(group) + k]); }
    size_t last_axis(size_t group) const { return axis(group, size_of(group) - 1); }
    void begin_group() { ends_.push_back(static_cast<int64_t>(axes_.size())); }
    void add(size_t axis) {  // to the last group
        axes_.push_back(static_cast<int64_t>(axis));
        ++ends_.back();
    }
    friend bool operator==(const AxisGroups&, const AxisGroups&) = default;

private:
    size_t begin_of(size_t group) const { return group == 0 ? 0 : end_of(group - 1); }
    size_t end_of(size_t group) const { return static_cast<size_t>(ends_[group]); }

    Dims axes_, ends_;
};

struct ReductionSpace {
    Dims kept_shape, kept_input_strides, kept_output_strides;
    Dims reduced_shape,
        reduced_strides;           // outermost first; never empty: one dimension of 1 when nothing is reduced
    AxisGroups reduced_axes;       // which axes each of them stands for
    int64_t block = kReduceBlock;  // of the innermost reduced dimension, as are the lanes
    int64_t lanes = 1;
    int64_t chunk = kReduceBlock;  // of the innermost reduced dimension: a whole power of two of blocks, so a
                                   // subtree of the pairwise tree
    int64_t shift_elements = kShiftElements;
};

// Combining starts from an element that changes nothing. There is none for complex products, which are
// combined one after another from the first element.
bool has_neutral_element(const ReductionInfo& reduction, ScalarType compute);

// argmin and argmax keep C order, since their result counts in it; the others walk memory from large to small
// strides.
ReductionSpace reduction_space(const ReductionInfo& reduction, ScalarType compute, const Dims& shape,
                               const std::vector<bool>& reduced, const Dims& input_strides,
                               const Dims& output_strides);

// Reduces one point of the kept dimensions with ahead-of-time loops.
class TreeReducer {
public:
    TreeReducer(const ReductionInfo& reduction, ScalarType compute, ScalarType input,
                const ReductionSpace& space);
    void run(const char* from, char* to, ScalarType to_type);
    // All points of the one kept dimension together, with the same bits; false where the tree is not that
    // simple: a single block over a single dimension.
    bool run_rows(const char* from, char* to, ScalarType to_type);

private:
    struct Partial {
        alignas(16) char value[32];
    };
    void fold_short_rows(const char* from, std::vector<char>& folded);
    void fold_across(const char* from, std::vector<char>& folded);
    Partial reduce_dimension(const char* from, size_t dimension);
    Partial reduce_block(const char* from, int64_t stride, int64_t count);
    template <class Next>
    Partial pairwise(int64_t count, const Next& next);
    void combine(char* left, const char* right, int64_t count);  // left = combine(left, right)
    // What a program defines may begin with what is no neutral element to the bit.
    void start(char* lanes, int64_t count);
    int64_t arg_extreme(const char* from);
    Partial deviations(const char* from, int64_t stride, int64_t count);
    double block_sum(const double* values, int64_t count) const;

    const ReductionInfo& reduction_;
    ScalarType compute_, input_;
    const ReductionSpace& space_;
    const LoopInfo* combine_loop_ = nullptr;
    bool starts_from_neutral_ = false;
    LaneFold fold_ = nullptr;  // of a block in lanes; may be null
    const char* neutral_ = nullptr;
    StridedLoop convert_ = nullptr;
    int64_t itemsize_;
    std::vector<char> converted_;
};

}  // namespace weft
