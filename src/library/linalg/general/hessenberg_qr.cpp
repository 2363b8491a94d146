#include "library/linalg/general/hessenberg_qr.h"

#include <cmath>
#include <vector>

#include "library/linalg/dense/packed.h"
#include "library/linalg/general/bulges.h"
#include "library/linalg/general/deflation.h"
#include "library/linalg/general/outside.h"

namespace weft::lapack {

namespace {

constexpr int64_t kSmall = 75;           // rows of a block that is LAPACK's
constexpr int64_t kTurnsForEach = 30;    // as LAPACK's
constexpr int64_t kExceptional = 6;      // turns without a deflation after which shifts are others
constexpr int64_t kEnoughDeflated = 20;  // per cent of a window after which no chase is needed
constexpr int64_t kFurther = 12;         // rows that a chain moves at once beyond its length

struct Sizes {
    int64_t shifts, window;
};
// By the number of rows, as measured. LAPACK has more shifts, whose products are larger here than what they
// save.
Sizes sizes_for(int64_t rows) {
    if (rows < 590) return {24, 36};
    if (rows < 1500) return {40, 60};
    if (rows < 3000) return {64, 96};
    return {96, 144};
}

template <class T>
class Iteration {
public:
    Iteration(int64_t n, T* h, int64_t ldh, T* z, int64_t ldz, ChaseBulges<T> chase)
        : n_(n), h_(h), ldh_(ldh), chase_(chase), outside_{n, h, ldh, z, ldz} {}

    bool run(int64_t low, int64_t high) {
        int64_t bottom = high - 1, idle = 0;
        const int64_t most = kTurnsForEach * std::max<int64_t>(10, high - low);
        const Sizes sizes = sizes_for(high - low);
        int64_t window = sizes.window;
        for (int64_t turn = 0; turn < most; ++turn) {
            const int64_t top = top_of_block(low, bottom);
            const int64_t rows = bottom - top + 1;
            if (rows <= kSmall) {
                if (rows > 1 && !solve_block(top, rows)) return false;
                if (top == low) return true;
                bottom = top - 1;
                idle = 0;
                continue;
            }
            // Larger windows where smaller ones found nothing.
            window = idle < kExceptional - 1 ? sizes.window : std::min(2 * window, n_ / 3);
            const int64_t most_rows = std::min({window, rows, (n_ - 1) / 3});
            Deflation<T> deflation(outside_, top, bottom, std::max<int64_t>(most_rows, 4));
            if (!deflation.run()) return false;
            bottom -= deflation.deflated();
            const int64_t rest = bottom - top + 1;
            idle = deflation.deflated() > 0 ? 0 : idle + 1;
            if (bottom < low) return true;
            if (rest <= kSmall || 100 * deflation.deflated() > kEnoughDeflated * deflation.rows()) continue;
            std::vector<Shift<T>> shifts = deflation.shifts();
            const int64_t wanted = std::min(sizes.shifts, rest - 2) / 2 * 2;
            if (idle > 0 && idle % kExceptional == 0) {
                shifts = exceptional_shifts(bottom, wanted);
            } else if (static_cast<int64_t>(shifts.size()) <= wanted / 2) {
                if (!shifts_of_corner(bottom, wanted, shifts)) return false;
            }
            sweep(top, bottom, in_pairs(std::move(shifts), wanted));
        }
        return false;
    }

private:
    T* at(int64_t row, int64_t column) const { return h_ + row + column * ldh_; }

    // The first row of the last block whose subdiagonal elements are not negligible (Ahues and Tisseur,
    // LAPACK working note 122). Those that are become zero.
    int64_t top_of_block(int64_t low, int64_t bottom) const {
        using Limits = std::numeric_limits<T>;
        const T least = Limits::min() / Limits::epsilon() * T(n_), precision = Limits::epsilon();
        int64_t top = bottom;
        for (; top > low; --top) {
            T& below = *at(top, top - 1);
            if (below == 0) break;
            const T own = *at(top, top), before = *at(top - 1, top - 1), above = *at(top - 1, top);
            T size = std::abs(own) + std::abs(before);
            if (size == 0) {
                if (top - 2 >= low) size += std::abs(*at(top - 1, top - 2));
                if (top + 1 <= bottom) size += std::abs(*at(top + 1, top));
            }
            bool negligible = std::abs(below) <= least;
            if (!negligible && std::abs(below) <= precision * size) {
                const T distance = std::abs(before - own), own_size = std::abs(own);
                const T larger = std::max(std::abs(below), std::abs(above));
                const T smaller = std::min(std::abs(below), std::abs(above));
                const T far = std::max(own_size, distance), near = std::min(own_size, distance);
                const T sum = far + larger;
                negligible = smaller * (larger / sum) <= std::max(least, precision * (near * (far / sum)));
            }
            if (negligible) {
                below = 0;
                break;
            }
        }
        return top;
    }

    bool solve_block(int64_t top, int64_t rows) {
        SmallSchur<T> block(rows);
        if (!block.run(at(top, top), ldh_)) return false;
        block.give(at(top, top), ldh_);
        outside_.multiply(top, rows, block.vectors(), rows, top, top + rows, top, top + rows);
        return true;
    }

    bool shifts_of_corner(int64_t bottom, int64_t count, std::vector<Shift<T>>& shifts) const {
        SmallSchur<T> corner(count);
        if (!corner.run(at(bottom - count + 1, bottom - count + 1), ldh_)) return false;
        shifts = corner.eigenvalues(count);
        return true;
    }

    // LAPACK's, after turns without progress.
    std::vector<Shift<T>> exceptional_shifts(int64_t bottom, int64_t count) const {
        std::vector<Shift<T>> shifts;
        for (int64_t i = bottom; static_cast<int64_t>(shifts.size()) < count; i -= 2) {
            const T size = std::abs(*at(i, i - 1)) + std::abs(*at(i - 1, i - 2));
            const T middle = T(0.75) * size + *at(i, i), product = T(-0.4375) * size * size;
            // The eigenvalues of [[middle, product / size], [size, middle]].
            const T root = std::sqrt(std::abs(product));
            shifts.push_back({middle, root});
            shifts.push_back({middle, -root});
        }
        return shifts;
    }

    // The smallest ones: conjugate ones together, and real ones in twos.
    std::vector<ShiftPair<T>> in_pairs(std::vector<Shift<T>> shifts, int64_t wanted) const {
        std::stable_sort(shifts.begin(), shifts.end(), [](const Shift<T>& a, const Shift<T>& b) {
            return std::abs(a.real) + std::abs(a.imaginary) < std::abs(b.real) + std::abs(b.imaginary);
        });
        std::vector<ShiftPair<T>> pairs;
        std::vector<T> reals;
        for (size_t i = 0; i < shifts.size() && static_cast<int64_t>(2 * pairs.size()) < wanted; ++i) {
            const Shift<T>& s = shifts[i];
            if (s.imaginary > 0) {
                pairs.push_back({{s.real, s.real}, {s.imaginary, -s.imaginary}});
            } else if (s.imaginary == 0) {
                reals.push_back(s.real);
                if (reals.size() < 2) continue;
                pairs.push_back({{reals[0], reals[1]}, {0, 0}});
                reals.clear();
            }
        }
        if (pairs.empty() && !reals.empty()) pairs.push_back({{reals[0], reals[0]}, {0, 0}});
        return pairs;
    }

    // Chases all bulges from the block's first rows to its last ones, window by window.
    void sweep(int64_t top, int64_t bottom, const std::vector<ShiftPair<T>>& shifts) {
        using Window = BulgeWindow<T>;
        const auto bulges = std::min<int64_t>(static_cast<int64_t>(shifts.size()), Window::kMostBulges);
        if (bulges == 0) return;
        const int64_t length = 3 * bulges, steps = length + kFurther;
        // Bulge j stands at row top - 1 - 3 (bulges - 1 - j) + step.
        const int64_t start = top - 1 - 3 * (bulges - 1), all = bottom - top + length - 3;
        for (int64_t step = 0; step < all; step += steps) {
            const int64_t now = std::min(steps, all - step);
            const int64_t first = std::max(start + step, top);
            const int64_t last = std::min(bottom, start + step + now + 3 * (bulges - 1) + 3);
            chase(Window{.size = last - first + 1,
                         .segment = 0,
                         .lead = 0,
                         .elements = nullptr,
                         .first = start + step - first,
                         .top = top - first,
                         .bottom = bottom - first,
                         .bulges = bulges,
                         .steps = now,
                         .shifts = shifts.data()},
                  first, top, bottom);
        }
    }

    void chase(BulgeWindow<T> w, int64_t first, int64_t top, int64_t bottom) {
        constexpr int64_t kRound = 16;
        w.segment = ((w.size + 2) / 3 + 2 * kRound + kRound - 1) / kRound * kRound;
        const int64_t u_rows = (w.size + 2 * kRound) / kRound * kRound;
        w.lead = 3 * w.segment + u_rows;
        const Room<T> room(w.lead * (w.size + 4));
        std::fill(room.data(), room + w.lead * (w.size + 4), T(0));
        w.elements = room;
        for (int64_t j = 0; j < w.size; ++j) {
            const T* const from = at(first, first + j);
            for (int64_t i = 0; i < std::min(w.size, j + 5); ++i) *w.at(i, j) = from[i];
            w.accumulated(j)[j] = 1;
        }
        chase_(w);
        for (int64_t j = 0; j < w.size; ++j) {
            T* const to = at(first, first + j);
            for (int64_t i = 0; i < std::min(w.size, j + 5); ++i) to[i] = *w.at(i, j);
        }
        // The window's first row and column are in no reflector, but where bulges begin.
        const int64_t inside = first > top ? 1 : 0;
        const int64_t size = w.size - inside;
        outside_.multiply(first + inside, size, w.accumulated(inside) + inside, w.lead, first, first + w.size,
                          top, bottom + 1);
    }

    int64_t n_;
    T* h_;
    int64_t ldh_;
    ChaseBulges<T> chase_;
    Outside<T> outside_;
};

}  // namespace

template <class T>
bool has_windows() {
    return chase_bulges<T>() != nullptr && own_products<T>() != nullptr;
}

template <class T>
bool schur_of_hessenberg(int64_t n, int64_t low, int64_t high, T* h, int64_t ldh, T* z, int64_t ldz) {
    return has_windows<T>() && Iteration<T>(n, h, ldh, z, ldz, chase_bulges<T>()).run(low, high);
}

template bool has_windows<float>();
template bool has_windows<double>();

template bool schur_of_hessenberg(int64_t, int64_t, int64_t, float*, int64_t, float*, int64_t);
template bool schur_of_hessenberg(int64_t, int64_t, int64_t, double*, int64_t, double*, int64_t);

}  // namespace weft::lapack
