#include "library/random/odds.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <vector>

#include "core/threads/interrupt.h"
#include "library/ordering/search_loops.h"
#include "weft/errors.h"

namespace weft {

double sum_of_odds(std::span<const double> odds) {
    double sum = odds.empty() ? 0.0 : odds[0], lost = 0.0;
    for (size_t i = 1; i < odds.size(); ++i) {
        const double next = odds[i] - lost, total = sum + next;
        lost = (total - sum) - next;
        sum = total;
    }
    return sum;
}

namespace {

void check_odds(std::span<const double> odds, double tolerance) {
    const double sum = sum_of_odds(odds);
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

void draw_by_odds(const BitSource& source, std::span<const double> odds, bool replace, double tolerance,
                  std::span<int64_t> positions) {
    check_odds(odds, tolerance);
    if (!replace && positions.size() > odds.size())
        throw ValueError("Cannot take a larger sample than population when replace is False");
    if (positions.empty()) return;
    if (replace) {
        const std::vector<double> numbers = uniform_numbers(source, positions.size());
        RunningSums(odds).find(numbers, positions.data());
    } else {
        std::ranges::copy(draw_different(source, odds, positions.size()), positions.data());
    }
}

}  // namespace weft
