#include "library/linalg/spectral/tridiagonal_eigen.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>

#include "library/linalg/dense/packed.h"
#include "library/linalg/spectral/divide_and_conquer.h"
#include "library/linalg/spectral/large.h"

namespace weft::lapack {

namespace {

template <class R>
class DivideAndConquer {
public:
    DivideAndConquer(int64_t n, R* diagonal, R* below, R* q, int64_t ldq)
        : n_(n), diagonal_(diagonal), below_(below), q_(q), ldq_(ldq), order_(static_cast<size_t>(n)) {}

    std::vector<int64_t> run() {
        cut(n_);
        starts_.push_back(n_);
        solve_leaves();
        while (starts_.size() > 2 && !failed_) join_neighbours();
        if (failed_) return {};
        for (int64_t& index : order_) --index;
        // Neighbours may have changed places by a rounding.
        std::stable_sort(order_.begin(), order_.end(),
                         [&](int64_t a, int64_t b) { return diagonal_[a] < diagonal_[b]; });
        return std::move(order_);
    }

private:
    R* at(int64_t row, int64_t column) const { return q_ + row + column * ldq_; }

    // The rows in halves, until all are leaves of one level: then joints of one level are of about one size.
    void cut(int64_t rows) {
        std::vector<int64_t> sizes{rows};
        while (*std::max_element(sizes.begin(), sizes.end()) > kLeaf) {
            std::vector<int64_t> halves;
            for (const int64_t size : sizes) {
                halves.push_back(size / 2);
                halves.push_back(size - size / 2);
            }
            sizes = std::move(halves);
        }
        int64_t start = 0;
        for (const int64_t size : sizes) {
            starts_.push_back(start);
            start += size;
        }
        for (size_t i = 1; i < starts_.size(); ++i) {
            const int64_t first = starts_[i];
            const R weight = std::abs(below_[first - 1]);
            diagonal_[first - 1] -= weight;
            diagonal_[first] -= weight;
        }
    }

    void solve_leaves() {
        for_pieces(n_, kColumns, [&](int64_t first, int64_t last) {
            for (int64_t j = first; j < last; ++j) std::fill(at(0, j), at(n_, j), R(0));
        });
        parallel_for(static_cast<int64_t>(starts_.size()) - 1, [&](int64_t leaf) {
            const int64_t first = starts_[static_cast<size_t>(leaf)];
            const int64_t rows = starts_[static_cast<size_t>(leaf) + 1] - first;
            std::array<R, 2 * kLeaf> work{};
            std::array<R, kLeaf> below{};
            std::copy(below_ + first, below_ + first + rows - 1, below.data());
            int64_t info = 0;
            functions<R>().steqr("I", &rows, diagonal_ + first, below.data(), at(first, first), &ldq_,
                                 work.data(), &info, 1);
            if (info != 0) failed_ = true;
            std::iota(&order_[static_cast<size_t>(first)], &order_[static_cast<size_t>(first)] + rows,
                      int64_t{1});
        });
    }

    void join_neighbours() {
        const auto joints = static_cast<int64_t>(starts_.size()) / 2;
        const auto start = [&](int64_t i) { return starts_[static_cast<size_t>(i)]; };
        const auto join_one = [&](int64_t i) {
            if (!failed_)
                join(start(2 * i), start(2 * i + 1) - start(2 * i), start(2 * i + 2) - start(2 * i));
        };
        if (start(2) - start(0) <= kAlone) {
            parallel_for(joints, join_one);
        } else {
            for (int64_t i = 0; i < joints; ++i) join_one(i);
        }
        std::vector<int64_t> next;
        for (size_t i = 0; i < starts_.size(); i += 2) next.push_back(starts_[i]);
        starts_ = std::move(next);
    }

    // The solved halves of `rows` rows from `first` on, of which `upper` are the first half's.
    void join(int64_t first, int64_t upper, int64_t rows) {
        R rho = below_[first + upper - 1];
        int64_t* const order = &order_[static_cast<size_t>(first)];
        R* const d = diagonal_ + first;
        Room<R> z(rows), poles(rows), w(rows), packed(rows * rows);
        Room<int64_t> integers(4 * rows);
        int64_t* const to_group = integers + rows;
        for (int64_t j = 0; j < upper; ++j) z[j] = *at(first + upper - 1, first + j);
        for (int64_t j = upper; j < rows; ++j) z[j] = *at(first + upper, first + j);
        int64_t count = 0, info = 0;
        // In `integers`: the sorted order, the order by groups of columns, deflated columns, the columns'
        // kinds.
        functions<R>().laed2(&count, &rows, &upper, d, at(first, first), &ldq_, order, &rho, z, poles, w,
                             packed, integers, to_group, integers + 2 * rows, integers + 3 * rows, &info);
        if (info != 0) {
            failed_ = true;
            return;
        }
        if (count == 0) {
            std::iota(order, order + rows, int64_t{1});
            return;
        }
        const int64_t* const kinds =
            integers + 3 * rows;  // columns of the first half alone, of both, of the second
        solve_secular(count, poles, w, rho, d, to_group, first, upper, rows, kinds, packed);
        const int64_t deflated = rows - count, up = 1, down = -1;
        functions<R>().lamrg(&count, &deflated, d, &up, &down, order);
    }

    void solve_secular(int64_t count, const R* poles, const R* w, R rho, R* d, const int64_t* to_group,
                       int64_t first, int64_t upper, int64_t rows, const int64_t* kinds, const R* packed) {
        const Room<R> vectors(count * count);
        // Column j: the distances of root j to all poles.
        for_pieces(count, kRoots, [&](int64_t begin, int64_t end) {
            for (int64_t j = begin; j < end; ++j) {
                const int64_t number = j + 1;
                int64_t info = 0;
                functions<R>().laed4(&count, &number, poles, w, vectors + j * count, &rho, d + j, &info);
                if (info != 0) failed_ = true;
            }
        });
        if (failed_) return;
        if (count > 2) {
            // The vector whose secular equation has these roots exactly, so that the eigenvectors are
            // orthogonal.
            const Room<R> exact(count);
            for_pieces(count, kRows, [&](int64_t begin, int64_t end) {
                std::array<R, kRows> products{};
                const int64_t height = end - begin;
                for (int64_t i = 0; i < height; ++i)
                    products[static_cast<size_t>(i)] = vectors[(begin + i) * (count + 1)];
                for (int64_t j = 0; j < count; ++j) {
                    const R* const distances = vectors + j * count + begin;
                    const R pole = poles[j];
                    const int64_t skipped = j - begin;
                    const int64_t before = std::clamp(skipped, int64_t{0}, height);
                    const int64_t behind = std::clamp(skipped + 1, int64_t{0}, height);
                    for (int64_t i = 0; i < before; ++i)
                        products[static_cast<size_t>(i)] *= distances[i] / (poles[begin + i] - pole);
                    for (int64_t i = behind; i < height; ++i)
                        products[static_cast<size_t>(i)] *= distances[i] / (poles[begin + i] - pole);
                }
                for (int64_t i = 0; i < height; ++i)
                    exact[begin + i] =
                        std::copysign(std::sqrt(-products[static_cast<size_t>(i)]), w[begin + i]);
            });
            for_pieces(count, kRoots, [&](int64_t begin, int64_t end) {
                std::vector<R> column(static_cast<size_t>(count));
                for (int64_t j = begin; j < end; ++j) {
                    R* const own = vectors + j * count;
                    R sum = 0;
                    for (int64_t i = 0; i < count; ++i) {
                        const R element = exact[i] / own[i];
                        column[static_cast<size_t>(i)] = element;
                        sum += element * element;
                    }
                    const R length = std::sqrt(sum);
                    for (int64_t i = 0; i < count; ++i)
                        own[i] = column[static_cast<size_t>(to_group[i] - 1)] / length;
                }
            });
        } else if (count == 2) {
            for (int64_t j = 0; j < 2; ++j) {
                R* const own = vectors + j * 2;
                const std::array<R, 2> column{own[0], own[1]};
                for (int64_t i = 0; i < 2; ++i) own[i] = column[static_cast<size_t>(to_group[i] - 1)];
            }
        }
        const int64_t lower = rows - upper, above = kinds[0] + kinds[1], below = kinds[1] + kinds[2];
        Packed<R> halves[] = {{Form::kPlain, upper, above, packed, upper},
                              {Form::kPlain, lower, below, packed + upper * above, lower}};
        pack_together<R>({&halves[0], &halves[1]});
        const int64_t strips = (count + kColumns - 1) / kColumns;
        parallel_for(2 * strips, [&](int64_t task) {
            const bool is_lower = task >= strips;
            const int64_t begin = task % strips * kColumns, end = std::min(count, begin + kColumns);
            const int64_t row = is_lower ? first + upper : first, height = is_lower ? lower : upper;
            if ((is_lower ? below : above) == 0) {
                for (int64_t j = begin; j < end; ++j)
                    std::fill(at(row, first + j), at(row + height, first + j), R(0));
                return;
            }
            halves[is_lower].multiply(Update::kSet, end - begin,
                                      vectors + (is_lower ? kinds[0] : 0) + begin * count, count,
                                      at(row, first + begin), ldq_);
        });
    }

    int64_t n_;
    R* diagonal_;
    R* below_;
    R* q_;
    int64_t ldq_;
    std::vector<int64_t> order_;   // of each part, from 1 on: its values in ascending order
    std::vector<int64_t> starts_;  // of the parts, and the end
    std::atomic<bool> failed_ = false;
};

}  // namespace

template <class R>
std::vector<int64_t> tridiagonal_eigen(int64_t n, R* diagonal, R* below, R* q, int64_t ldq) {
    // Deflation compares with elements of unit vectors, so the matrix must be of about one.
    R most = 0;
    for (int64_t i = 0; i < n; ++i) most = std::max(most, std::abs(diagonal[i]));
    for (int64_t i = 0; i + 1 < n; ++i) most = std::max(most, std::abs(below[i]));
    const R scale = most == 0 ? R(1) : most;
    for (int64_t i = 0; i < n; ++i) diagonal[i] /= scale;
    for (int64_t i = 0; i + 1 < n; ++i) below[i] /= scale;
    const BlasThreads inside(library(), num_threads());
    std::vector<int64_t> order = DivideAndConquer<R>(n, diagonal, below, q, ldq).run();
    for (int64_t i = 0; i < n; ++i) diagonal[i] *= scale;
    return order;
}

template std::vector<int64_t> tridiagonal_eigen(int64_t, float*, float*, float*, int64_t);
template std::vector<int64_t> tridiagonal_eigen(int64_t, double*, double*, double*, int64_t);

}  // namespace weft::lapack
