#include "library/loops/reduction_order.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <numeric>

#include "library/loops/identities.h"
#include "ops/defined.h"
#include "ops/extreme_search.h"
#include "weft/errors.h"

namespace weft {

bool has_neutral_element(const ReductionInfo& reduction, ScalarType compute) {
    return reduction.id != ReductionId::kProd || !DType::of(compute).is_complex();
}

ReductionSpace reduction_space(const ReductionInfo& reduction, ScalarType compute, const Dims& shape,
                               const std::vector<bool>& reduced, const Dims& input_strides,
                               const Dims& output_strides) {
    ReductionSpace space;
    size_t kept = 0;
    Dims axes;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (reduced[d]) {
            if (shape[d] != 1) axes.push_back(static_cast<int64_t>(d));
        } else {
            space.kept_shape.push_back(shape[d]);
            space.kept_input_strides.push_back(input_strides[d]);
            space.kept_output_strides.push_back(output_strides[kept++]);
        }
    }
    if (!reduction.gives_index) {
        // By insertion: they are few, and small calls wait for it.
        const auto stride = [&](size_t k) { return std::abs(input_strides[static_cast<size_t>(axes[k])]); };
        for (size_t i = 1; i < axes.size(); ++i) {
            for (size_t j = i; j > 0 && stride(j) > stride(j - 1); --j) std::swap(axes[j], axes[j - 1]);
        }
    }
    for (const int64_t axis : axes) {
        const auto d = static_cast<size_t>(axis);
        if (!space.reduced_shape.empty() && space.reduced_strides.back() == input_strides[d] * shape[d]) {
            space.reduced_shape.back() *= shape[d];
            space.reduced_strides.back() = input_strides[d];
            space.reduced_axes.add(d);
        } else {
            space.reduced_shape.push_back(shape[d]);
            space.reduced_strides.push_back(input_strides[d]);
            space.reduced_axes.begin_group();
            space.reduced_axes.add(d);
        }
    }
    if (axes.empty()) {
        space.reduced_shape.push_back(1);
        space.reduced_strides.push_back(0);
        space.reduced_axes.begin_group();
    }
    // Many lanes pay where memory is walked along the row; across rows, columns are the vector lanes.
    int64_t smallest_kept = INT64_MAX;
    for (size_t d = 0; d < space.kept_shape.size(); ++d) {
        if (space.kept_shape[d] > 1 && space.kept_input_strides[d] != 0) {
            smallest_kept = std::min(smallest_kept, std::abs(space.kept_input_strides[d]));
        }
    }
    const bool along_rows = std::abs(space.reduced_strides.back()) <= smallest_kept;
    space.lanes = along_rows && has_neutral_element(reduction, compute) ? kReduceLanes : 1;
    space.block = along_rows ? kReduceBlock : kReduceBlockAcrossRows;
    space.chunk = space.lanes > 1 ? space.block * kBlocksPerChunk : space.block;
    space.shift_elements = along_rows ? kShiftElements : kShiftElementsAcrossRows;
    return space;
}

namespace {

// What a reduction's elements are combined by, found once.
struct Combining {
    const LoopInfo* loop = nullptr;
    LaneFold fold = nullptr;
    alignas(16) std::array<uint8_t, 16> neutral{};
};

using CombiningTable = std::array<std::array<Combining, kScalarTypeCount>, kReductionCount>;

CombiningTable combining_table() {
    CombiningTable result;
    for (const ReductionInfo& reduction : reduction_table()) {
        if (reduction.gives_index) continue;
        for (size_t k = 0; k < kScalarTypeCount; ++k) {
            const auto type = static_cast<ScalarType>(k);
            const ScalarType types[2] = {type, type};
            Combining& each = result[static_cast<size_t>(reduction.id)][k];
            each.loop = find_loop(op_info(reduction.combine), types);
            if (each.loop == nullptr || reduction.deviations || !has_neutral_element(reduction, type))
                continue;
            each.fold = find_lane_fold(*each.loop);
            each.neutral = neutral_element(reduction, type).bytes;
        }
    }
    return result;
}

const Combining& combining(const ReductionInfo& reduction, ScalarType compute) {
    static const CombiningTable table = combining_table();
    return table[static_cast<size_t>(reduction.id)][static_cast<size_t>(compute)];
}

}  // namespace

TreeReducer::TreeReducer(const ReductionInfo& reduction, ScalarType compute, ScalarType input,
                         const ReductionSpace& space)
    : reduction_(reduction),
      compute_(compute),
      input_(input),
      space_(space),
      itemsize_(DType::of(compute).itemsize()) {
    if (reduction.gives_index) return;
    convert_ = cast_loop(input, compute).loop;
    if (const DefinedReduction* defined = defined_reduction(reduction)) {
        combine_loop_ = &defined->by->loops[0];
        prepare_loop(*defined->by, *combine_loop_);
        neutral_ = reinterpret_cast<const char*>(defined->start.bytes.data());
        starts_from_neutral_ = true;
        return;
    }
    const Combining& by = combining(reduction, compute);
    WEFT_CHECK(by.loop != nullptr, std::string(reduction.name));
    combine_loop_ = by.loop;
    neutral_ = reinterpret_cast<const char*>(by.neutral.data());
    if (space.lanes == kFoldLanes) fold_ = by.fold;
}

namespace {

struct Deviations {
    double count, mean, squares;
};

}  // namespace

void TreeReducer::combine(char* left, const char* right, int64_t count) {
    if (reduction_.deviations) {
        Deviations a, b;
        std::memcpy(&a, left, sizeof a);
        std::memcpy(&b, right, sizeof b);
        const double both = a.count + b.count, delta = b.mean - a.mean, part = b.count / both;
        const Deviations joined{both, a.mean + delta * part,
                                a.squares + b.squares + delta * delta * (a.count * part)};
        std::memcpy(left, &joined, sizeof joined);
        return;
    }
    char* const data[3] = {left, const_cast<char*>(right), left};
    const int64_t strides[3] = {itemsize_, itemsize_, itemsize_};
    combine_loop_->loop(data, strides, count);
}

void TreeReducer::start(char* lanes, int64_t count) {
    if (!starts_from_neutral_) return;
    char* const data[3] = {const_cast<char*>(neutral_), lanes, lanes};
    const int64_t strides[3] = {0, itemsize_, itemsize_};
    combine_loop_->loop(data, strides, count);
}

TreeReducer::Partial TreeReducer::reduce_block(const char* from, int64_t stride, int64_t count) {
    Partial result;
    const bool as_it_is = fold_ != nullptr && input_ == compute_ && stride == itemsize_ &&
                          compute_ != ScalarType::kBool;  // any byte may stand for true
    if (!as_it_is) {
        const auto bytes = static_cast<size_t>(count * itemsize_);
        if (converted_.size() < bytes) converted_.resize(bytes);
        char* const data[2] = {const_cast<char*>(from), converted_.data()};
        const int64_t strides[2] = {stride, itemsize_};
        convert_(data, strides, count);
    }
    if (fold_ != nullptr) {
        fold_(as_it_is ? from : converted_.data(), count, neutral_, result.value);
        return result;
    }
    char* lanes = converted_.data();
    int64_t width = std::min(space_.lanes, count);
    start(lanes, width);
    for (int64_t k = width; k < count; k += width) {
        combine(lanes, lanes + k * itemsize_, std::min(width, count - k));
    }
    for (int64_t half = space_.lanes / 2; half >= 1; half /= 2) {
        if (width <= half) continue;
        combine(lanes, lanes + half * itemsize_, width - half);
        width = half;
    }
    std::memcpy(result.value, lanes, static_cast<size_t>(itemsize_));
    return result;
}

// A binary counter: partials of equal weight are merged as they appear, the rest from the latest backwards.
template <class Next>
TreeReducer::Partial TreeReducer::pairwise(int64_t count, const Next& next) {
    Partial stack[64];
    int depth = 0;
    for (int64_t k = 0; k < count; ++k) {
        stack[depth++] = next(k);
        for (int64_t bits = k + 1; (bits & 1) == 0; bits >>= 1) {
            combine(stack[depth - 2].value, stack[depth - 1].value, 1);
            --depth;
        }
    }
    while (depth > 1) {
        combine(stack[depth - 2].value, stack[depth - 1].value, 1);
        --depth;
    }
    return stack[0];
}

TreeReducer::Partial TreeReducer::reduce_dimension(const char* from, size_t dimension) {
    const int64_t extent = space_.reduced_shape[dimension], stride = space_.reduced_strides[dimension];
    if (dimension + 1 < space_.reduced_shape.size()) {
        return pairwise(extent,
                        [&](int64_t k) { return reduce_dimension(from + k * stride, dimension + 1); });
    }
    if (reduction_.deviations) {
        return pairwise((extent + space_.chunk - 1) / space_.chunk, [&](int64_t k) {
            const int64_t begin = k * space_.chunk;
            return deviations(from + begin * stride, stride, std::min(space_.chunk, extent - begin));
        });
    }
    const int64_t blocks = (extent + space_.block - 1) / space_.block;
    return pairwise(blocks, [&](int64_t k) {
        const int64_t begin = k * space_.block;
        return reduce_block(from + begin * stride, stride, std::min(space_.block, extent - begin));
    });
}

// Row after row in C order; of two elements the better one, or the first of equals, is where a search finds
// it.
int64_t TreeReducer::arg_extreme(const char* from) {
    const ExtremeSearch search = find_extreme_search(input_, reduction_.id == ReductionId::kArgmax);
    const size_t inner = space_.reduced_shape.size() - 1;
    const int64_t length = space_.reduced_shape[inner], stride = space_.reduced_strides[inner];
    const int64_t rows = element_count(space_.reduced_shape) / length;
    Dims position(inner);
    const char* row = from;
    const char* best = nullptr;
    int64_t index = 0;
    for (int64_t k = 0; k < rows; ++k) {
        const int64_t own = search(row, stride, length);
        const char* const candidate = row + own * stride;
        if (best == nullptr || search(best, candidate - best, 2) == 1) {
            best = candidate;
            index = k * length + own;
        }
        for (size_t d = inner; d-- > 0;) {
            row += space_.reduced_strides[d];
            if (++position[d] < space_.reduced_shape[d]) break;
            row -= space_.reduced_strides[d] * space_.reduced_shape[d];
            position[d] = 0;
        }
    }
    return index;
}

double TreeReducer::block_sum(const double* values, int64_t count) const {
    if (space_.lanes == 1) {
        double sum = values[0];
        for (int64_t i = 1; i < count; ++i) sum += values[i];
        return sum;
    }
    static const Combining& by = combining(reduction_info(ReductionId::kSum), ScalarType::kFloat64);
    double sum = 0;
    by.fold(reinterpret_cast<const char*>(values), count, reinterpret_cast<const char*>(by.neutral.data()),
            reinterpret_cast<char*>(&sum));
    return sum;
}

namespace {

// Sums of blocks, joined as partials of `pairwise` are.
class JoinedSums {
public:
    void add(double sum) {
        stack_[depth_++] = sum;
        for (int64_t bits = ++count_; (bits & 1) == 0; bits >>= 1) join();
    }
    double total() {
        while (depth_ > 1) join();
        return stack_[0];
    }

private:
    void join() {
        --depth_;
        stack_[depth_ - 1] += stack_[depth_];
    }
    std::array<double, 64> stack_;  // the first depth_
    size_t depth_ = 0;
    int64_t count_ = 0;
};

}  // namespace

TreeReducer::Partial TreeReducer::deviations(const char* from, int64_t stride, int64_t count) {
    const auto block_at = [&](int64_t begin, int64_t length, double* to) {
        char* const data[2] = {const_cast<char*>(from + begin * stride), reinterpret_cast<char*>(to)};
        const int64_t strides[2] = {stride, itemsize_};
        convert_(data, strides, length);
    };
    std::array<double, kReduceBlock> values, squares;
    const int64_t first = std::min(count, space_.shift_elements);
    block_at(0, first, values.data());
    const double shift = block_sum(values.data(), first) * (1.0 / static_cast<double>(first));
    JoinedSums sums, sums_of_squares;
    for (int64_t begin = 0; begin < count; begin += space_.block) {
        const int64_t length = std::min(space_.block, count - begin);
        block_at(begin, length, values.data());
        for (size_t i = 0; i < static_cast<size_t>(length); ++i) {
            values[i] -= shift;
            squares[i] = values[i] * values[i];
        }
        sums.add(block_sum(values.data(), length));
        sums_of_squares.add(block_sum(squares.data(), length));
    }
    const double n = static_cast<double>(count), sum = sums.total(), square = sums_of_squares.total();
    const double left = square - sum * (sum / n);
    const Deviations result{n, shift + sum / n, left > 0 || left != left ? left : 0.0};
    Partial partial;
    std::memcpy(partial.value, &result, sizeof result);
    return partial;
}

namespace {

constexpr int64_t kLongestFoldedRow = 16;  // elements
constexpr int64_t kManyShortRows = 8;

}  // namespace

bool TreeReducer::run_rows(const char* from, char* to, ScalarType to_type) {
    if (reduction_.gives_index || reduction_.deviations || (space_.lanes != 1 && fold_ == nullptr) ||
        space_.kept_shape.size() != 1 || space_.reduced_shape.size() != 1 ||
        space_.reduced_shape[0] > space_.block)
        return false;
    const int64_t points = space_.kept_shape[0];
    std::vector<char> folded(static_cast<size_t>(points * itemsize_));
    if (fold_ != nullptr && space_.reduced_shape[0] <= kLongestFoldedRow && points >= kManyShortRows) {
        fold_short_rows(from, folded);
    } else if (fold_ != nullptr) {
        for (int64_t point = 0; point < points; ++point) {
            const Partial own = reduce_block(from + point * space_.kept_input_strides[0],
                                             space_.reduced_strides[0], space_.reduced_shape[0]);
            std::memcpy(folded.data() + point * itemsize_, own.value, static_cast<size_t>(itemsize_));
        }
    } else {
        fold_across(from, folded);
    }
    if (reduction_.id == ReductionId::kSum) {  // as in run
        alignas(16) const char zero[16] = {};
        char* const data[3] = {folded.data(), const_cast<char*>(zero), folded.data()};
        const int64_t strides[3] = {itemsize_, 0, itemsize_};
        combine_loop_->loop(data, strides, points);
    }
    char* const data[2] = {folded.data(), to};
    const int64_t strides[2] = {itemsize_, space_.kept_output_strides[0]};
    cast_loop(compute_, to_type).loop(data, strides, points);
    return true;
}

// Rows of a few elements: element k of all of them is a column, and columns are combined in the order of
// lanes.
void TreeReducer::fold_short_rows(const char* from, std::vector<char>& folded) {
    const int64_t points = space_.kept_shape[0], count = space_.reduced_shape[0];
    const int64_t bytes = points * itemsize_;
    converted_.resize(static_cast<size_t>(count * bytes));
    const auto column = [&](int64_t k) { return converted_.data() + k * bytes; };
    for (int64_t k = 0; k < count; ++k) {
        char* const data[2] = {const_cast<char*>(from) + k * space_.reduced_strides[0], column(k)};
        const int64_t strides[2] = {space_.kept_input_strides[0], itemsize_};
        convert_(data, strides, points);
        start(column(k), points);
    }
    int64_t width = count;
    for (int64_t half = kReduceLanes / 2; half >= 1; half /= 2) {
        for (int64_t k = 0; k < width - half; ++k) {
            char* const data[3] = {column(k), column(k + half), column(k)};
            const int64_t strides[3] = {itemsize_, itemsize_, itemsize_};
            combine_loop_->loop(data, strides, points);
        }
        width = std::min(width, half);
    }
    std::memcpy(folded.data(), column(0), static_cast<size_t>(bytes));
}

// Row after row into `folded`, a column each.
void TreeReducer::fold_across(const char* from, std::vector<char>& folded) {
    const int64_t points = space_.kept_shape[0], rows = space_.reduced_shape[0];
    const int64_t stride = space_.kept_input_strides[0];
    if (input_ != compute_) converted_.resize(folded.size());
    const auto convert = [&](const char* row, char* target) {
        char* const data[2] = {const_cast<char*>(row), target};
        const int64_t strides[2] = {stride, itemsize_};
        convert_(data, strides, points);
    };
    convert(from, folded.data());
    start(folded.data(), points);
    for (int64_t k = 1; k < rows; ++k) {
        const char* row = from + k * space_.reduced_strides[0];
        int64_t row_stride = stride;
        if (input_ != compute_) {
            convert(row, converted_.data());
            row = converted_.data();
            row_stride = itemsize_;
        }
        char* const data[3] = {folded.data(), const_cast<char*>(row), folded.data()};
        const int64_t strides[3] = {itemsize_, row_stride, itemsize_};
        combine_loop_->loop(data, strides, points);
    }
}

void TreeReducer::run(const char* from, char* to, ScalarType to_type) {
    if (reduction_.gives_index) {
        const int64_t index = arg_extreme(from);
        std::memcpy(to, &index, sizeof index);
        return;
    }
    Partial result = reduce_dimension(from, 0);
    if (reduction_.id == ReductionId::kSum) {  // starts from +0: a sum of -0 is +0, as in NumPy
        alignas(16) const char zero[16] = {};
        combine(result.value, zero, 1);
    }
    const size_t at = reduction_.deviations ? offsetof(Deviations, squares) : 0;
    char* const data[2] = {const_cast<char*>(result.value) + at, to};
    const int64_t strides[2] = {0, 0};
    cast_loop(compute_, to_type).loop(data, strides, 1);
}

}  // namespace weft
