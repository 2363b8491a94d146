#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <vector>

#include "api/random/filled.h"
#include "api/random/random.h"
#include "api/recording/host_row.h"
#include "core/threads/interrupt.h"
#include "library/ordering/search_loops.h"
#include "random/bit_stream.h"
#include "weft/errors.h"

namespace weft {

namespace {

// By Kahan's compensated sum, as NumPy's check adds them up.
double sum_of(std::span<const double> odds) {
    double sum = odds.empty() ? 0.0 : odds[0], lost = 0.0;
    for (size_t i = 1; i < odds.size(); ++i) {
        const double next = odds[i] - lost, total = sum + next;
        lost = (total - sum) - next;
        sum = total;
    }
    return sum;
}

void check_odds(std::span<const double> odds, double tolerance) {
    const double sum = sum_of(odds);
    if (std::isnan(sum)) throw ValueError("Probabilities contain NaN");
    if (std::ranges::any_of(odds, [](double each) { return each < 0; }))
        throw ValueError("Probabilities are not non-negative");
    if (std::fabs(sum - 1.0) > tolerance)
        throw ValueError(
            "Probabilities do not sum to 1. See Notes section of docstring for more information.");
}

// Where uniform numbers fall among the running sums of the odds.
class RunningSums {
public:
    explicit RunningSums(std::span<const double> odds) : sums_(odds.size()) {
        double sum = 0;
        PausePoints pauses;
        for (size_t i = 0; i < odds.size(); ++i) {
            pauses.next_iteration();
            sums_[i] = sum += odds[i];
        }
        for (double& each : sums_) each /= sum;
    }

    void find(std::span<const double> numbers, int64_t* positions) const {
        search_sorted(ScalarType::kFloat64, reinterpret_cast<const char*>(sums_.data()), sizeof(double),
                      static_cast<int64_t>(sums_.size()), reinterpret_cast<const char*>(numbers.data()),
                      static_cast<int64_t>(numbers.size()), true, positions);
    }

private:
    std::vector<double> sums_;
};

std::vector<double> uniform_numbers(const BitSource& source, size_t count) {
    std::vector<double> numbers(count);
    for (double& each : numbers) each = source.next_double(source.state);
    return numbers;
}

// Draws again for those that were chosen before, with their odds at zero.
std::vector<int64_t> draw_different(const BitSource& source, std::span<const double> given, size_t wanted) {
    std::vector<double> odds(given.begin(), given.end());
    if (static_cast<size_t>(std::ranges::count_if(odds, [](double each) { return each > 0; })) < wanted)
        throw ValueError("Fewer non-zero entries in p than size");
    std::vector<int64_t> chosen;
    std::unordered_set<int64_t> known;
    while (chosen.size() < wanted) {
        pause_point();
        const std::vector<double> numbers = uniform_numbers(source, wanted - chosen.size());
        for (const int64_t position : chosen) odds[static_cast<size_t>(position)] = 0.0;
        std::vector<int64_t> found(numbers.size());
        RunningSums(odds).find(numbers, found.data());
        for (const int64_t position : found) {
            if (known.insert(position).second) chosen.push_back(position);
        }
    }
    return chosen;
}

}  // namespace

array draw_by_odds(const BitSource& source, const array& given, const Dims& shape, bool replace,
                   double tolerance) {
    if (given.ndim() != 1) throw ValueError("p must be 1-dimensional");
    const array on_host = move_to(given, cpu_device());
    const HostRow row(astype(on_host, ScalarType::kFloat64, 'K', Casting::kUnsafe, false));
    const std::span<const double> odds(row.as<double>(), static_cast<size_t>(row.count()));
    check_odds(odds, tolerance);
    const int64_t count = element_count(shape);
    if (!replace && count > row.count())
        throw ValueError("Cannot take a larger sample than population when replace is False");
    Rewind rewind(source);
    array result = filled(shape, ScalarType::kInt64, [&](char* data, int64_t) {
        auto* positions = reinterpret_cast<int64_t*>(data);
        if (count == 0) return;
        if (replace) {
            const std::vector<double> numbers = uniform_numbers(source, static_cast<size_t>(count));
            RunningSums(odds).find(numbers, positions);
        } else {
            std::ranges::copy(draw_different(source, odds, static_cast<size_t>(count)), positions);
        }
    });
    rewind.keep();
    return result;
}

array draw_permuted(const BitSource& source, const array& x, std::optional<int64_t> axis) {
    array mixed;
    if (!axis) {
        const bool columns_first = x.ndim() > 1 && x.f_contiguous() && !x.c_contiguous();
        const char order = columns_first ? 'F' : 'C';
        const array positions = draw_permutation(source, x.size());
        const array flat = take(ravel(x, order), positions, 0, TakeMode::kRaise);
        if (x.ndim() == 1) return flat;
        mixed = reshape(flat, x.shape(), order);
    } else {
        const auto along = static_cast<int64_t>(normalize_axis(*axis, x.ndim()));
        const int64_t length = x.shape()[static_cast<size_t>(along)];
        if (x.size() == 0) return copy(x);
        // Rows are drawn in the order that they have with the axis as the last.
        Dims rows, back;
        for (int64_t d = 0; d < x.ndim(); ++d) {
            if (d != along) rows.push_back(x.shape()[static_cast<size_t>(d)]);
            back.push_back(d < along ? d : d == along ? x.ndim() - 1 : d - 1);
        }
        rows.push_back(length);
        const array orders = draw_permutation(source, length, x.size() / length);
        mixed = take_along_axis(x, transpose(reshape(orders, rows), back), along);
        if (x.c_contiguous()) return mixed;
    }
    array result = copy(x);  // in its layout
    assign(result, mixed);
    return result;
}

}  // namespace weft
