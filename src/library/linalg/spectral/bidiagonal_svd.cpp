#include "library/linalg/spectral/bidiagonal_svd.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>

#include "library/linalg/dense/packed.h"
#include "library/linalg/spectral/divide_and_conquer.h"
#include "library/linalg/spectral/large.h"

namespace weft::lapack {

namespace {

// Rows of the bidiagonal matrix: `extra` is 1 where they have one more column, which all but the last have.
struct Part {
    int64_t first = 0, rows = 0, extra = 0;
    int64_t upper() const { return rows / 2; }  // rows above the one that joins
    int64_t lower() const { return rows - upper() - 1; }
};

// What deflation leaves of a joint: `count` roots; how many of the vectors are of the upper half alone, of
// the lower one alone, and of both; in which order the vectors are (from 1 on).
template <class R>
struct Joint {
    Part part;
    int64_t count = 0;
    const R* poles = nullptr;
    const R* z = nullptr;
    const int64_t* to_group = nullptr;
    int64_t of_upper = 0, of_lower = 0, of_both = 0;
    const R* left = nullptr;  // packed by groups: the first vector is that of the row that joins
    R* right = nullptr;
};

template <class R>
class DivideAndConquer {
public:
    DivideAndConquer(int64_t n, R* diagonal, R* above, R* u, int64_t ldu, R* vh, int64_t ldvh)
        : n_(n),
          diagonal_(diagonal),
          above_(above),
          u_(u),
          ldu_(ldu),
          vh_(vh),
          ldvh_(ldvh),
          order_(static_cast<size_t>(n)) {}

    std::vector<int64_t> run() {
        for_pieces(n_, kColumns, [&](int64_t first, int64_t last) {
            for (int64_t j = first; j < last; ++j) {
                std::fill(u(0, j), u(n_, j), R(0));
                std::fill(vh(0, j), vh(n_, j), R(0));
                *u(j, j) = *vh(j, j) = R(1);
            }
        });
        // A zero above the diagonal lets the matrix fall apart. Deflation has errors of the largest value of
        // a part, so small parts are better solved alone.
        std::vector<Part> small, large;
        for (int64_t first = 0, end = 0; first < n_; first = end) {
            end = first + 1;
            while (end < n_ && above_[end - 1] != 0) ++end;
            (end - first <= kAlone ? small : large).push_back({first, end - first, 0});
        }
        parallel_for(static_cast<int64_t>(small.size()),
                     [&](int64_t i) { solve(small[static_cast<size_t>(i)]); });
        for (const Part& part : large) solve(part);
        if (failed_) return {};
        std::iota(order_.begin(), order_.end(), int64_t{0});
        std::stable_sort(order_.begin(), order_.end(),
                         [&](int64_t a, int64_t b) { return diagonal_[a] > diagonal_[b]; });
        return std::move(order_);
    }

private:
    R* u(int64_t row, int64_t column) const { return u_ + row + column * ldu_; }
    R* vh(int64_t row, int64_t column) const { return vh_ + row + column * ldvh_; }
    int64_t* order(const Part& part) { return &order_[static_cast<size_t>(part.first)]; }

    void solve(const Part& whole) {
        std::vector<std::vector<Part>> levels{{whole}};
        const auto rows_of = [](const Part& a, const Part& b) { return a.rows < b.rows; };
        while (std::max_element(levels.back().begin(), levels.back().end(), rows_of)->rows > kLeaf) {
            std::vector<Part> halves;
            for (const Part& part : levels.back()) {
                halves.push_back({part.first, part.upper(), 1});
                halves.push_back({part.first + part.upper() + 1, part.lower(), part.extra});
            }
            levels.push_back(std::move(halves));
        }
        solve_leaves(levels.back());
        for (size_t level = levels.size() - 1; level-- > 0 && !failed_;) {
            const std::vector<Part>& parts = levels[level];
            const auto join_one = [&](int64_t i) {
                if (!failed_) join(parts[static_cast<size_t>(i)]);
            };
            const auto joints = static_cast<int64_t>(parts.size());
            if (parts[0].rows <= kAlone) {
                parallel_for(joints, join_one);
            } else {
                for (int64_t i = 0; i < joints; ++i) join_one(i);
            }
        }
    }

    void solve_leaves(const std::vector<Part>& leaves) {
        parallel_for(static_cast<int64_t>(leaves.size()), [&](int64_t leaf) {
            const Part& part = leaves[static_cast<size_t>(leaf)];
            const int64_t columns = part.rows + part.extra, none = 0, one = 1;
            std::array<R, 4 * kLeaf> work{};
            std::array<R, kLeaf> above{};
            std::copy(above_ + part.first, above_ + part.first + columns - 1, above.data());
            R unused{};
            int64_t info = 0;
            functions<R>().lasdq("U", &part.extra, &part.rows, &columns, &part.rows, &none,
                                 diagonal_ + part.first, above.data(), vh(part.first, part.first), &ldvh_,
                                 u(part.first, part.first), &ldu_, &unused, &one, work.data(), &info, 1);
            if (info != 0) failed_ = true;
            std::iota(order(part), order(part) + part.rows, int64_t{1});
        });
    }

    void join(const Part& part) {
        const int64_t upper = part.upper(), lower = part.lower(), rows = part.rows,
                      columns = rows + part.extra;
        R* const d = diagonal_ + part.first;
        R alpha = d[upper], beta = above_[part.first + upper];
        d[upper] = 0;
        // Deflation compares with elements of unit vectors, so the matrix must be of about one.
        R scale = std::max(std::abs(alpha), std::abs(beta));
        for (int64_t i = 0; i < rows; ++i) scale = std::max(scale, std::abs(d[i]));
        if (scale == 0) scale = 1;
        for (int64_t i = 0; i < rows; ++i) d[i] /= scale;
        alpha /= scale;
        beta /= scale;

        const Room<R> z(columns), poles(rows), left(rows * rows), right(columns * columns);
        const Room<int64_t> integers(4 * rows);
        int64_t* const groups = integers + 2 * rows;  // first the kind of each vector, then how many of each
        Joint<R> joint{.part = part, .poles = poles, .z = z, .to_group = integers + rows, .left = left};
        joint.right = right;
        int64_t info = 0;
        functions<R>().lasd2(&upper, &lower, &part.extra, &joint.count, d, z, &alpha, &beta,
                             u(part.first, part.first), &ldu_, vh(part.first, part.first), &ldvh_, poles,
                             left, &rows, right, &columns, integers + 3 * rows, integers, integers + rows,
                             order(part), groups, &info);
        joint.of_upper = groups[0];
        joint.of_lower = groups[1];
        joint.of_both = groups[2];
        if (info != 0 || !solve_secular(joint, d)) {
            failed_ = true;
            return;
        }
        for (int64_t i = 0; i < rows; ++i) d[i] *= scale;
        const int64_t deflated = rows - joint.count, up = 1, down = -1;
        functions<R>().lamrg(&joint.count, &deflated, d, &up, &down, order(part));
    }

    bool solve_secular(const Joint<R>& joint, R* d) {
        const int64_t count = joint.count, first = joint.part.first;
        const int64_t columns = joint.part.rows + joint.part.extra;
        if (count == 1) {
            d[0] = std::abs(joint.z[0]);
            for (int64_t j = 0; j < columns; ++j) *vh(first, first + j) = joint.right[j * columns];
            const R sign = joint.z[0] > 0 ? R(1) : R(-1);
            for (int64_t i = 0; i < joint.part.rows; ++i) *u(first + i, first) = sign * joint.left[i];
            return true;
        }
        const Room<R> lefts(count * count), rights(count * count);
        std::vector<R> z(joint.z, joint.z + count);
        R rho = 0;
        for (const R element : z) rho += element * element;
        const R length = std::sqrt(rho);
        for (R& element : z) element /= length;
        rho = length * length;
        std::atomic<bool> good = true;
        // Column j: differences and sums of the poles and root j.
        for_pieces(count, kRoots, [&](int64_t begin, int64_t end) {
            for (int64_t j = begin; j < end; ++j) {
                const int64_t number = j + 1;
                int64_t info = 0;
                functions<R>().lasd4(&count, &number, joint.poles, z.data(), lefts + j * count, &rho, d + j,
                                     rights + j * count, &info);
                if (info != 0) good = false;
            }
        });
        if (!good) return false;
        correct(joint, lefts, rights, z);
        write_vectors(joint, z, lefts, rights);
        multiply_left(joint, lefts);
        multiply_right(joint, rights);
        return true;
    }

    // The vector whose secular equation has these roots exactly, so that the singular vectors are orthogonal.
    void correct(const Joint<R>& joint, const R* differences, const R* sums, std::vector<R>& z) {
        const int64_t count = joint.count;
        for_pieces(count, kRows, [&](int64_t begin, int64_t end) {
            std::array<R, kRows> products{};
            const auto product = [&](int64_t i) -> R& { return products[static_cast<size_t>(i - begin)]; };
            const R* const last = differences + (count - 1) * count;
            const R* const last_sums = sums + (count - 1) * count;
            for (int64_t i = begin; i < end; ++i) product(i) = last[i] * last_sums[i];
            // Root j belongs to the pole at j where the row is below it, and to the next one above.
            for (int64_t j = 0; j + 1 < count; ++j) {
                const R* const difference = differences + j * count;
                const R* const sum = sums + j * count;
                const auto divide = [&](int64_t from, int64_t to, R pole) {
                    for (int64_t i = from; i < to; ++i)
                        product(i) *=
                            difference[i] * sum[i] / (joint.poles[i] - pole) / (joint.poles[i] + pole);
                };
                const int64_t border = std::clamp(j + 1, begin, end);
                divide(begin, border, joint.poles[j + 1]);
                divide(border, end, joint.poles[j]);
            }
            for (int64_t i = begin; i < end; ++i)
                z[static_cast<size_t>(i)] = std::copysign(std::sqrt(std::abs(product(i))), joint.z[i]);
        });
    }

    // In place of differences and sums, column j: the left and the right singular vector of root j, in the
    // order of the groups.
    void write_vectors(const Joint<R>& joint, const std::vector<R>& z, R* lefts, R* rights) {
        const int64_t count = joint.count;
        for_pieces(count, kRoots, [&](int64_t begin, int64_t end) {
            std::vector<R> left(static_cast<size_t>(count)), right(static_cast<size_t>(count));
            const auto put = [&](const std::vector<R>& vector, R* to) {
                R sum = 0;
                for (const R element : vector) sum += element * element;
                const R length = std::sqrt(sum);
                to[0] = vector[0] / length;
                for (int64_t i = 1; i < count; ++i)
                    to[i] = vector[static_cast<size_t>(joint.to_group[i] - 1)] / length;
            };
            for (int64_t j = begin; j < end; ++j) {
                R* const differences = lefts + j * count;
                R* const sums = rights + j * count;
                for (int64_t i = 0; i < count; ++i) {
                    const auto at = static_cast<size_t>(i);
                    right[at] = z[at] / differences[i] / sums[i];
                    left[at] = i == 0 ? R(-1) : joint.poles[i] * right[at];
                }
                put(left, differences);
                put(right, sums);
            }
        });
    }

    // u = packed left vectors times the vectors of the roots. The packed ones are that of the joining row,
    // those of the upper half, of the lower half, of both.
    void multiply_left(const Joint<R>& joint, const R* vectors) {
        const Part& part = joint.part;
        const int64_t upper = part.upper(), lower = part.lower(), first = part.first, count = joint.count;
        const int64_t both = 1 + joint.of_upper + joint.of_lower;
        const auto packed = [&](int64_t row, int64_t column) {
            return joint.left + row + column * part.rows;
        };
        Packed<R> of_upper(Form::kPlain, upper, joint.of_upper, packed(0, 1), part.rows);
        Packed<R> of_both(Form::kPlain, upper, joint.of_both, packed(0, both), part.rows);
        Packed<R> of_lower(Form::kPlain, lower, joint.of_lower + joint.of_both,
                           packed(upper + 1, 1 + joint.of_upper), part.rows);
        pack_together<R>({&of_upper, &of_both, &of_lower});
        const int64_t strips = (count + kColumns - 1) / kColumns;
        parallel_for(2 * strips, [&](int64_t task) {
            const int64_t begin = task % strips * kColumns, width = std::min(count - begin, kColumns);
            const auto product = [&](const Packed<R>& vectors_of, int64_t row, int64_t from, bool adds) {
                R* const to = u(first + row, first + begin);
                if (vectors_of.depth() != 0)
                    vectors_of.multiply(adds ? Update::kAdd : Update::kSet, width,
                                        vectors + from + begin * count, count, to, ldu_);
                else if (!adds)
                    clear(to, vectors_of.rows(), width, ldu_);
            };
            if (task < strips) {
                product(of_upper, 0, 1, false);
                product(of_both, 0, both, true);
                for (int64_t j = begin; j < begin + width; ++j)
                    *u(first + upper, first + j) = vectors[j * count];
            } else {
                product(of_lower, upper + 1, 1 + joint.of_upper, false);
            }
        });
    }

    // vh = the vectors of the roots, transposed, times the packed right vectors: the first one lies in both
    // halves.
    void multiply_right(const Joint<R>& joint, const R* vectors) {
        const Part& part = joint.part;
        const int64_t first = part.first, count = joint.count, columns = part.rows + part.extra;
        const int64_t left_columns = part.upper() + 1, both = 1 + joint.of_upper + joint.of_lower;
        const auto packed = [&](int64_t row, int64_t column) { return joint.right + row + column * columns; };
        Packed<R> of_upper(Form::kTransposed, count, 1 + joint.of_upper, vectors, count);
        Packed<R> of_both(Form::kTransposed, count, joint.of_both, vectors + both, count);
        Packed<R> of_lower(Form::kTransposed, count, joint.of_lower + joint.of_both,
                           vectors + 1 + joint.of_upper, count);
        pack_together<R>({&of_upper, &of_both, &of_lower});
        for_pieces(columns, kColumns, [&](int64_t begin, int64_t end) {
            const auto product = [&](const Packed<R>& of_roots, int64_t from, int64_t to, int64_t row,
                                     bool adds) {
                if (from >= to) return;
                R* const result = vh(first, first + from);
                if (of_roots.depth() != 0)
                    of_roots.multiply(adds ? Update::kAdd : Update::kSet, to - from, packed(row, from),
                                      columns, result, ldvh_);
                else if (!adds)
                    clear(result, count, to - from, ldvh_);
            };
            const int64_t middle = std::clamp(left_columns, begin, end);
            product(of_upper, begin, middle, 0, false);
            product(of_both, begin, middle, both, true);
            // The first vector, in the place of the last one that the lower half does not have.
            product(of_lower, middle, end, 1 + joint.of_upper, false);
            add_first(joint, vectors, middle, end);
        });
    }

    void add_first(const Joint<R>& joint, const R* vectors, int64_t begin, int64_t end) {
        const int64_t columns = joint.part.rows + joint.part.extra, first = joint.part.first;
        for (int64_t j = begin; j < end; ++j) {
            const R factor = joint.right[j * columns];
            R* const to = vh(first, first + j);
            for (int64_t i = 0; i < joint.count; ++i) to[i] += vectors[i * joint.count] * factor;
        }
    }

    static void clear(R* to, int64_t height, int64_t width, int64_t ld) {
        for (int64_t j = 0; j < width; ++j) std::fill(to + j * ld, to + j * ld + height, R(0));
    }

    int64_t n_;
    R* diagonal_;
    R* above_;
    R* u_;
    int64_t ldu_;
    R* vh_;
    int64_t ldvh_;
    std::vector<int64_t> order_;  // of each part, from 1 on: its values in ascending order
    std::atomic<bool> failed_ = false;
};

}  // namespace

template <class R>
std::vector<int64_t> bidiagonal_svd(int64_t n, R* diagonal, R* above, R* u, int64_t ldu, R* vh,
                                    int64_t ldvh) {
    // Deflation compares with elements of unit vectors, so the matrix must be of about one. Elements below
    // its rounding lie so close to zero that the secular equations could not tell poles from roots.
    R most = 0;
    for (int64_t i = 0; i < n; ++i) most = std::max(most, std::abs(diagonal[i]));
    for (int64_t i = 0; i + 1 < n; ++i) most = std::max(most, std::abs(above[i]));
    const R scale = most == 0 ? R(1) : most;
    constexpr R kEpsilon = std::numeric_limits<R>::epsilon() / 2;
    for (int64_t i = 0; i < n; ++i) {
        diagonal[i] /= scale;
        if (most != 0 && std::abs(diagonal[i]) < kEpsilon) diagonal[i] = std::copysign(kEpsilon, diagonal[i]);
    }
    for (int64_t i = 0; i + 1 < n; ++i) {
        above[i] /= scale;
        if (std::abs(above[i]) < kEpsilon) above[i] = 0;
    }
    const BlasThreads inside(library(), num_threads());
    std::vector<int64_t> order = DivideAndConquer<R>(n, diagonal, above, u, ldu, vh, ldvh).run();
    for (int64_t i = 0; i < n; ++i) diagonal[i] *= scale;
    return order;
}

template std::vector<int64_t> bidiagonal_svd(int64_t, float*, float*, float*, int64_t, float*, int64_t);
template std::vector<int64_t> bidiagonal_svd(int64_t, double*, double*, double*, int64_t, double*, int64_t);

}  // namespace weft::lapack
