#include "library/linalg/lu.h"

#include <atomic>

#include "library/linalg/factor.h"
#include "library/linalg/factored.h"
#include "library/linalg/lu_values.h"
#include "library/linalg/small_batches.h"

namespace weft::lapack {

namespace {

// A matrix, or its transposed one where that is as it lies: an LU factorisation serves both.
template <class T>
class Factors {
public:
    explicit Factors(const Matrices& from)
        : transposed_(from.by_rows(sizeof(T))),
          from_(transposed_ ? from.transposed() : from),
          factors_(from.rows * from.columns),
          pivots_(from.rows) {}

    // What getrf says.
    int64_t factor(int64_t index) {
        take(from_, index, factors_.data(), leading(n()));
        return lu_in_place(n(), n(), factors_.data(), leading(n()), pivots_.data());
    }

    int64_t n() const { return from_.rows; }
    bool transposed() const { return transposed_; }
    T* factors() const { return factors_; }
    int64_t* pivots() const { return pivots_; }

private:
    bool transposed_;
    Matrices from_;
    Room<T> factors_;
    Room<int64_t> pivots_;
};

double cube(int64_t n) { return static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n); }

template <class T>
bool solve_all(const Matrices& a, const Matrices& b, const Matrices& x) {
    std::atomic<bool> regular = true;
    const int64_t n = a.rows, columns = b.columns;
    share_matrices(
        x.count(), cube(n) + static_cast<double>(2 * n * n * columns), [&](int64_t first, int64_t last) {
            Factors<T> lu(a);
            Room<T> right(n * columns);
            for (int64_t index = first; index < last; ++index) {
                if (lu.factor(index) != 0) {
                    fill(x, index, kNan<T>);
                    regular = false;
                    continue;
                }
                take(b, index, right.data(), leading(n));
                solve_with_lu<T>(lu.transposed() ? "T" : "N", n, columns, lu.factors(), lu.pivots(), right);
                give(right.data(), leading(n), x, index);
            }
        });
    return regular;
}

template <class T>
bool invert_all(const Matrices& a, const Matrices& inverse) {
    std::atomic<bool> regular = true;
    const int64_t n = a.rows;
    share_matrices(inverse.count(), 2 * cube(n), [&](int64_t first, int64_t last) {
        Factors<T> lu(a);
        const Matrices to = lu.transposed() ? inverse.transposed() : inverse;
        const Room<T> room(n * n);
        for (int64_t index = first; index < last; ++index) {
            if (lu.factor(index) == 0) {
                invert_lu<T>(n, lu.factors(), lu.pivots(), room);
                give(room.data(), leading(n), to, index);
            } else {
                fill(inverse, index, kNan<T>);
                regular = false;
            }
        }
    });
    return regular;
}

// Calls result(index, factors, whether they are singular) for each matrix.
template <class T, class Result>
void factor_all(const Matrices& a, const Result& result) {
    share_matrices(a.count(), cube(a.rows), [&](int64_t first, int64_t last) {
        Factors<T> lu(a);
        for (int64_t index = first; index < last; ++index) result(index, lu, lu.factor(index) != 0);
    });
}

template <class T>
void write_determinants(const Matrices& a, T* result) {
    factor_all<T>(a, [&](int64_t index, const Factors<T>& lu, bool singular) {
        result[index] = singular ? T(0) : determinant_of(lu.n(), lu.factors(), lu.pivots());
    });
}

template <class T>
void write_log_determinants(const Matrices& a, T* signs, Real<T>* logarithms) {
    factor_all<T>(a, [&](int64_t index, const Factors<T>& lu, bool singular) {
        const LogDeterminant<T> found =
            singular ? LogDeterminant<T>{} : log_determinant_of(lu.n(), lu.factors(), lu.pivots());
        signs[index] = found.sign;
        logarithms[index] = found.logarithm;
    });
}

template <class T>
void factor_rectangles(const Matrices& a, const Matrices& factors, int64_t* pivots, int64_t* singular) {
    const int64_t each = std::min(a.rows, a.columns), lead = leading(a.rows);
    share_matrices(factors.count(), cube(each), [&](int64_t first, int64_t last) {
        const bool in_place = is_by_columns<T>(factors);
        Room<T> room(in_place ? 0 : a.rows * a.columns);
        for (int64_t index = first; index < last; ++index) {
            T* const to = in_place ? reinterpret_cast<T*>(factors.at(index)) : room.data();
            take(a, index, to, lead);
            int64_t* const own = pivots + index * each;
            singular[index] = lu_in_place(a.rows, a.columns, to, lead, own) - 1;
            for (int64_t i = 0; i < each; ++i) --own[i];
            if (!in_place) give(to, lead, factors, index);
        }
    });
}

}  // namespace

bool solve(ScalarType type, const Matrices& a, const Matrices& b, const Matrices& x) {
    if (const auto done = small::solve(type, a, b, x)) return *done;
    return visit_type(type, [&]<class T>(TypeTag<T>) { return solve_all<T>(a, b, x); });
}

bool invert(ScalarType type, const Matrices& a, const Matrices& inverse) {
    if (const auto done = small::invert(type, a, inverse)) return *done;
    return visit_type(type, [&]<class T>(TypeTag<T>) { return invert_all<T>(a, inverse); });
}

void determinants(ScalarType type, const Matrices& a, char* result) {
    if (small::determinants(type, a, result)) return;
    visit_type(type, [&]<class T>(TypeTag<T>) { write_determinants(a, reinterpret_cast<T*>(result)); });
}

void log_determinants(ScalarType type, const Matrices& a, char* signs, char* logarithms) {
    if (small::log_determinants(type, a, signs, logarithms)) return;
    visit_type(type, [&]<class T>(TypeTag<T>) {
        write_log_determinants(a, reinterpret_cast<T*>(signs), reinterpret_cast<Real<T>*>(logarithms));
    });
}

void factor_lu(ScalarType type, const Matrices& a, const Matrices& factors, int64_t* pivots,
               int64_t* singular) {
    visit_type(type, [&]<class T>(TypeTag<T>) { factor_rectangles<T>(a, factors, pivots, singular); });
}

}  // namespace weft::lapack
