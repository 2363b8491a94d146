#include "api/products/contraction_path.h"

#include <bit>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "core/threads/thread_owned.h"

namespace weft {

namespace {

constexpr size_t kMostForOptimal = 8;  // a search among all orders of more takes longer than most products

struct Join {
    Labels kept;
    double cost;
};

// The product of two operands without what is not wanted afterwards.
Join join(const Labels& left, const Labels& right, const Labels& wanted, const Extents& extents) {
    Join result{{}, 0};
    Labels shared;
    for (const int label : union_of(left, right)) {
        const bool kept = has(wanted, label);
        if (kept) result.kept.push_back(label);
        if (kept || (has(left, label) && has(right, label))) shared.push_back(label);
    }
    result.cost = size_of(shared, extents);
    for (const Labels* operand : {&left, &right}) {  // sums that are taken before
        const bool inside =
            std::all_of(operand->begin(), operand->end(), [&](int label) { return has(shared, label); });
        if (!inside) result.cost += size_of(*operand, extents);
    }
    return result;
}

Labels wanted_without(const std::vector<Labels>& sets, const Labels& result, size_t i, size_t j) {
    Labels wanted = result;
    for (size_t k = 0; k < sets.size(); ++k) {
        if (k != i && k != j) wanted = union_of(wanted, sets[k]);
    }
    return wanted;
}

// The pair is taken next which leaves least in memory; outer products come last.
std::vector<Pair> greedy(std::span<const Labels> operands, const Labels& result, const Extents& extents) {
    std::vector<Labels> sets(operands.begin(), operands.end());
    std::vector<Pair> path;
    while (sets.size() > 1) {
        std::optional<std::tuple<bool, double, double, size_t, size_t>> best;
        Labels kept;
        for (size_t i = 0; i < sets.size(); ++i) {
            for (size_t j = i + 1; j < sets.size(); ++j) {
                Join found = join(sets[i], sets[j], wanted_without(sets, result, i, j), extents);
                const double grows =
                    size_of(found.kept, extents) - size_of(sets[i], extents) - size_of(sets[j], extents);
                const bool apart = std::none_of(sets[i].begin(), sets[i].end(),
                                                [&](int label) { return has(sets[j], label); });
                const std::tuple key(apart, grows, found.cost, i, j);
                if (!best || key < *best) {
                    best = key;
                    kept = std::move(found.kept);
                }
            }
        }
        const size_t i = std::get<3>(*best), j = std::get<4>(*best);
        path.emplace_back(i, j);
        sets.erase(sets.begin() + static_cast<ptrdiff_t>(j));
        sets.erase(sets.begin() + static_cast<ptrdiff_t>(i));
        sets.push_back(std::move(kept));
    }
    return path;
}

// The cheapest order of all, found for all subsets of the operands.
class Cheapest {
public:
    Cheapest(std::span<const Labels> sets, const Labels& result, const Extents& extents)
        : count_(sets.size()), best_(size_t{1} << count_) {
        for (size_t k = 0; k < count_; ++k) best_[size_t{1} << k] = {0, sets[k], 0, 0};
        for (size_t subset = 1; subset < best_.size(); ++subset) {  // its parts are smaller numbers
            if (std::popcount(subset) == 1) continue;
            Labels wanted = result;
            for (size_t k = 0; k < count_; ++k) {
                if ((subset >> k & 1) == 0) wanted = union_of(wanted, sets[k]);
            }
            best_[subset].cost = -1;
            const size_t lowest = subset & (0 - subset);
            for (size_t part = (subset - 1) & subset; part != 0; part = (part - 1) & subset) {
                if ((part & lowest) == 0) continue;
                const size_t rest = subset ^ part;
                Join found = join(best_[part].kept, best_[rest].kept, wanted, extents);
                const double cost = found.cost + best_[part].cost + best_[rest].cost;
                if (best_[subset].cost < 0 || cost < best_[subset].cost)
                    best_[subset] = {cost, std::move(found.kept), part, rest};
            }
        }
    }

    std::vector<Pair> path() {
        for (size_t k = 0; k < count_; ++k) current_.push_back(size_t{1} << k);
        walk(best_.size() - 1);
        return std::move(path_);
    }

private:
    struct Best {
        double cost;
        Labels kept;
        size_t left, right;
    };

    void walk(size_t subset) {
        const Best& best = best_[subset];
        if (best.left == 0) return;
        walk(best.left);
        walk(best.right);
        const auto place = [&](size_t part) {
            return static_cast<size_t>(std::find(current_.begin(), current_.end(), part) - current_.begin());
        };
        const auto [i, j] = std::minmax({place(best.left), place(best.right)});
        path_.emplace_back(i, j);
        current_.erase(current_.begin() + static_cast<ptrdiff_t>(j));
        current_.erase(current_.begin() + static_cast<ptrdiff_t>(i));
        current_.push_back(subset);
    }

    size_t count_;
    std::vector<Best> best_;
    std::vector<size_t> current_;
    std::vector<Pair> path_;
};

// Searches that a thread has made, since a search takes longer than many products.
struct KnownPairs {
    static constexpr size_t kMost = 256;
    using Key = std::vector<int64_t>;

    static Key key_of(std::span<const Labels> operands, const Labels& result, const Extents& extents,
                      PathSearch search) {
        Key key{static_cast<int64_t>(search)};
        const auto add = [&](const Labels& labels) {
            key.push_back(static_cast<int64_t>(labels.size()));
            for (const int label : labels) {
                key.push_back(label);
                key.push_back(extents[label]);
            }
        };
        add(result);
        for (const Labels& labels : operands) add(labels);
        return key;
    }

    std::map<Key, std::vector<Pair>> by_key;
};

void check_path(const ContractionPath& path, size_t count) {
    auto left = static_cast<int64_t>(count);
    for (const std::vector<int64_t>& step : path) {
        bool fits = !step.empty();
        for (auto position = step.begin(); position != step.end(); ++position)
            fits &= *position >= 0 && *position < left &&
                    std::find(step.begin(), position, *position) == position;
        if (!fits) {
            std::string text;
            for (const int64_t position : step) text += (text.empty() ? "" : ", ") + std::to_string(position);
            throw ValueError("einsum_path: the step (" + text + (step.size() == 1 ? ",)" : ")") +
                             " does not fit " + std::to_string(left) + " operands");
        }
        left -= static_cast<int64_t>(step.size()) - 1;
    }
}

}  // namespace

double size_of(const Labels& labels, const Extents& extents) {
    double size = 1;
    for (const int label : labels) size *= static_cast<double>(extents[label]);
    return size;
}

std::vector<Pair> find_pairs(std::span<const Labels> operands, const Labels& result, const Extents& extents,
                             PathSearch search) {
    if (operands.size() < 2) return {};
    if (operands.size() == 2) return {{0, 1}};
    auto& known = ThreadOwned<KnownPairs>::get().by_key;
    KnownPairs::Key key = KnownPairs::key_of(operands, result, extents, search);
    if (const auto found = known.find(key); found != known.end()) return found->second;
    std::vector<Pair> pairs = search == PathSearch::kGreedy || operands.size() > kMostForOptimal
                                  ? greedy(operands, result, extents)
                                  : Cheapest(operands, result, extents).path();
    if (known.size() == KnownPairs::kMost) known.clear();
    known.emplace(std::move(key), pairs);
    return pairs;
}

ContractionPath path_of(const Subscripts& subscripts, const PathChoice& choice) {
    const size_t count = subscripts.inputs.size();
    ContractionPath path;
    if (const auto* given = std::get_if<ContractionPath>(&choice)) {
        check_path(*given, count);
        path = *given;
    } else {
        std::vector<Labels> sets;
        for (const Labels& term : subscripts.inputs) sets.push_back(without_repeats(term));
        for (const auto& [i, j] :
             find_pairs(sets, subscripts.result, subscripts.extents, std::get<PathSearch>(choice)))
            path.push_back({static_cast<int64_t>(i), static_cast<int64_t>(j)});
    }
    size_t left = count;
    for (const std::vector<int64_t>& step : path) left -= step.size() - 1;
    if (left > 1 || path.empty()) {  // what a path leaves is one step more
        std::vector<int64_t> rest(left);
        for (size_t k = 0; k < left; ++k) rest[k] = static_cast<int64_t>(k);
        path.push_back(std::move(rest));
    }
    return path;
}

}  // namespace weft
