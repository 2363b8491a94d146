// Factorisations of the fake driver's libraries: plain ones, on matrices in column-major order.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft::fake_driver {

template <class T>
struct RealOf {
    using Type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
    using Type = T;
};
template <class T>
using Real = typename RealOf<T>::Type;

template <class T>
T conjugate(T value) {
    if constexpr (std::is_same_v<T, Real<T>>) {
        return value;
    } else {
        return std::conj(value);
    }
}

template <class T>
struct Matrix {
    T* data;
    int64_t rows, columns, leading;

    T& operator()(int64_t i, int64_t j) const { return data[i + j * leading]; }
};

// The position from 1 on of the first pivot that is zero or nan (with keeps_nan, as cuBLAS: zero), or 0;
// pivots from 1 on.
template <class T, class Pivot>
int factor_lu(const Matrix<T>& a, Pivot* pivots, bool keeps_nan = false) {
    int info = 0;
    const int64_t least = std::min(a.rows, a.columns);
    for (int64_t k = 0; k < least; ++k) {
        int64_t best = k;
        for (int64_t i = k + 1; i < a.rows; ++i) {
            if (std::abs(a(i, k)) > std::abs(a(best, k))) best = i;
        }
        pivots[k] = static_cast<Pivot>(best + 1);
        const bool is_nothing = keeps_nan ? a(best, k) == T(0) : !(std::abs(a(best, k)) > 0);
        if (is_nothing) {
            if (info == 0) info = static_cast<int>(k + 1);
            continue;
        }
        for (int64_t j = 0; j < a.columns; ++j) std::swap(a(k, j), a(best, j));
        for (int64_t i = k + 1; i < a.rows; ++i) {
            a(i, k) /= a(k, k);
            for (int64_t j = k + 1; j < a.columns; ++j) a(i, j) -= a(i, k) * a(k, j);
        }
    }
    return info;
}

template <class T, class Pivot>
void solve_lu(const Matrix<T>& lu, const Pivot* pivots, bool transposed, const Matrix<T>& b) {
    const int64_t n = b.rows;
    for (int64_t c = 0; c < b.columns; ++c) {
        if (!transposed) {
            for (int64_t k = 0; k < n; ++k) std::swap(b(k, c), b(static_cast<int64_t>(pivots[k]) - 1, c));
            for (int64_t i = 0; i < n; ++i) {
                for (int64_t j = 0; j < i; ++j) b(i, c) -= lu(i, j) * b(j, c);
            }
            for (int64_t i = n; i-- > 0;) {
                for (int64_t j = i + 1; j < n; ++j) b(i, c) -= lu(i, j) * b(j, c);
                b(i, c) /= lu(i, i);
            }
            continue;
        }
        for (int64_t i = 0; i < n; ++i) {
            for (int64_t j = 0; j < i; ++j) b(i, c) -= lu(j, i) * b(j, c);
            b(i, c) /= lu(i, i);
        }
        for (int64_t i = n; i-- > 0;) {
            for (int64_t j = i + 1; j < n; ++j) b(i, c) -= lu(j, i) * b(j, c);
        }
        for (int64_t k = n; k-- > 0;) std::swap(b(k, c), b(static_cast<int64_t>(pivots[k]) - 1, c));
    }
}

template <class T>
int factor_cholesky(const Matrix<T>& a) {
    for (int64_t j = 0; j < a.columns; ++j) {
        Real<T> rest = std::real(a(j, j));
        for (int64_t k = 0; k < j; ++k) rest -= std::norm(a(j, k));
        if (!(rest > 0)) return static_cast<int>(j + 1);
        a(j, j) = std::sqrt(rest);
        for (int64_t i = j + 1; i < a.rows; ++i) {
            for (int64_t k = 0; k < j; ++k) a(i, j) -= a(i, k) * conjugate(a(j, k));
            a(i, j) /= a(j, j);
        }
    }
    return 0;
}

// One reflector, 1 - tau v vᴴ, to columns from `first` on.
template <class T>
void reflect(const Matrix<T>& a, int64_t k, const std::vector<T>& v, T tau, int64_t first) {
    for (int64_t j = first; j < a.columns; ++j) {
        T sum = 0;
        for (int64_t i = k; i < a.rows; ++i) sum += conjugate(v[static_cast<size_t>(i)]) * a(i, j);
        for (int64_t i = k; i < a.rows; ++i) a(i, j) -= tau * v[static_cast<size_t>(i)] * sum;
    }
}

template <class T>
void factor_qr(const Matrix<T>& a, T* tau) {
    const int64_t least = std::min(a.rows, a.columns);
    for (int64_t k = 0; k < least; ++k) {
        Real<T> below = 0;
        for (int64_t i = k + 1; i < a.rows; ++i) below += std::norm(a(i, k));
        const T alpha = a(k, k);
        if (below == 0 && std::imag(alpha) == 0) {
            tau[k] = 0;
            continue;
        }
        const Real<T> size = std::sqrt(std::norm(alpha) + below), beta = std::real(alpha) > 0 ? -size : size;
        tau[k] = (T(beta) - alpha) / T(beta);
        std::vector<T> v(static_cast<size_t>(a.rows));
        v[static_cast<size_t>(k)] = 1;
        for (int64_t i = k + 1; i < a.rows; ++i) v[static_cast<size_t>(i)] = a(i, k) / (alpha - T(beta));
        reflect(a, k, v, conjugate(tau[k]), k + 1);
        a(k, k) = beta;
        for (int64_t i = k + 1; i < a.rows; ++i) a(i, k) = v[static_cast<size_t>(i)];
    }
}

template <class T>
void form_q(const Matrix<T>& q, int64_t reflectors, const T* tau) {
    std::vector<T> made(static_cast<size_t>(q.rows * q.columns));
    const Matrix<T> result{made.data(), q.rows, q.columns, q.rows};
    for (int64_t j = 0; j < q.columns; ++j) result(j, j) = 1;
    for (int64_t k = reflectors; k-- > 0;) {
        std::vector<T> v(static_cast<size_t>(q.rows));
        v[static_cast<size_t>(k)] = 1;
        for (int64_t i = k + 1; i < q.rows; ++i) v[static_cast<size_t>(i)] = q(i, k);
        reflect(result, k, v, tau[k], 0);
    }
    for (int64_t j = 0; j < q.columns; ++j) {
        for (int64_t i = 0; i < q.rows; ++i) q(i, j) = result(i, j);
    }
}

// One-sided Jacobi rotations: the columns of `a` become orthogonal, `v` has what was done to them.
template <class T>
void orthogonalise(const Matrix<T>& a, const Matrix<T>& v) {
    for (int sweep = 0; sweep < 60; ++sweep) {
        bool done = true;
        for (int64_t p = 0; p < a.columns; ++p) {
            for (int64_t q = p + 1; q < a.columns; ++q) {
                Real<T> pp = 0, qq = 0;
                T pq = 0;
                for (int64_t i = 0; i < a.rows; ++i) {
                    pp += std::norm(a(i, p));
                    qq += std::norm(a(i, q));
                    pq += conjugate(a(i, p)) * a(i, q);
                }
                const Real<T> size = std::abs(pq);
                if (size <= std::numeric_limits<Real<T>>::epsilon() * std::sqrt(pp * qq) || size == 0)
                    continue;
                done = false;
                const Real<T> zeta = (qq - pp) / (2 * size);
                const Real<T> t = (zeta >= 0 ? 1 : -1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
                const Real<T> c = 1 / std::sqrt(1 + t * t), s = c * t;
                const T phase = pq / size;
                for (const Matrix<T>* m : {&a, &v}) {
                    for (int64_t i = 0; i < m->rows; ++i) {
                        const T left = (*m)(i, p), right = conjugate(phase) * (*m)(i, q);
                        (*m)(i, p) = c * left - s * right;
                        (*m)(i, q) = s * left + c * right;
                    }
                }
            }
        }
        if (done) return;
    }
}

// Of a matrix with no more columns than rows: s from the largest on, u (rows × u_columns) and v where they
// are there.
template <class T>
void factor_singular(const Matrix<T>& a, Real<T>* s, T* u, int64_t u_columns, T* v) {
    const int64_t m = a.rows, n = a.columns;
    std::vector<T> work(static_cast<size_t>(m * n)), right(static_cast<size_t>(n * n));
    const Matrix<T> w{work.data(), m, n, m}, x{right.data(), n, n, n};
    for (int64_t j = 0; j < n; ++j) {
        x(j, j) = 1;
        for (int64_t i = 0; i < m; ++i) w(i, j) = a(i, j);
    }
    orthogonalise(w, x);
    std::vector<std::pair<Real<T>, int64_t>> order;
    for (int64_t j = 0; j < n; ++j) {
        Real<T> size = 0;
        for (int64_t i = 0; i < m; ++i) size += std::norm(w(i, j));
        order.push_back({-std::sqrt(size), j});
    }
    std::sort(order.begin(), order.end());
    for (int64_t j = 0; j < n; ++j) s[j] = -order[static_cast<size_t>(j)].first;
    if (u == nullptr) return;
    const Matrix<T> left{u, m, u_columns, m}, made{v, n, n, n};
    for (int64_t j = 0; j < n; ++j) {
        for (int64_t i = 0; i < n; ++i) made(i, j) = x(i, order[static_cast<size_t>(j)].second);
    }
    // Columns that have no direction of their own get one that the others leave.
    for (int64_t j = 0; j < u_columns; ++j) {
        const bool has =
            j < n && s[j] > s[0] * std::numeric_limits<Real<T>>::epsilon() * static_cast<Real<T>>(m);
        for (int64_t unit = -1; unit < m; ++unit) {
            if (unit < 0 && !has) continue;
            for (int64_t i = 0; i < m; ++i)
                left(i, j) =
                    unit < 0 ? w(i, order[static_cast<size_t>(j)].second) / s[j] : T(i == unit ? 1 : 0);
            for (int again = 0; again < 2 && unit >= 0; ++again) {
                for (int64_t k = 0; k < j; ++k) {
                    T sum = 0;
                    for (int64_t i = 0; i < m; ++i) sum += conjugate(left(i, k)) * left(i, j);
                    for (int64_t i = 0; i < m; ++i) left(i, j) -= sum * left(i, k);
                }
            }
            Real<T> size = 0;
            for (int64_t i = 0; i < m; ++i) size += std::norm(left(i, j));
            if (!(std::sqrt(size) > Real<T>(0.1) / static_cast<Real<T>>(m))) continue;
            for (int64_t i = 0; i < m; ++i) left(i, j) /= std::sqrt(size);
            break;
        }
    }
}

// Of a Hermitian matrix of which one triangle is read: ascending values, vectors in its place.
template <class T>
void factor_symmetric(const Matrix<T>& a, bool upper, bool vectors, Real<T>* values) {
    const int64_t n = a.rows;
    std::vector<T> work(static_cast<size_t>(n * n)), turned(static_cast<size_t>(n * n));
    const Matrix<T> w{work.data(), n, n, n}, x{turned.data(), n, n, n};
    for (int64_t j = 0; j < n; ++j) {
        x(j, j) = 1;
        for (int64_t i = 0; i < n; ++i) {
            const bool is_there = i == j || (i < j) == upper;
            w(i, j) = is_there ? a(i, j) : conjugate(a(j, i));
        }
        w(j, j) = std::real(w(j, j));
    }
    for (int sweep = 0; sweep < 60; ++sweep) {
        Real<T> off = 0, all = 0;
        for (int64_t j = 0; j < n; ++j) {
            for (int64_t i = 0; i < n; ++i) (i == j ? all : off) += std::norm(w(i, j));
        }
        if (off <= all * std::numeric_limits<Real<T>>::epsilon() * std::numeric_limits<Real<T>>::epsilon())
            break;
        for (int64_t p = 0; p < n; ++p) {
            for (int64_t q = p + 1; q < n; ++q) {
                const Real<T> size = std::abs(w(p, q));
                if (size == 0) continue;
                const T phase = w(p, q) / size;
                const Real<T> zeta = (std::real(w(q, q)) - std::real(w(p, p))) / (2 * size);
                const Real<T> t = (zeta >= 0 ? 1 : -1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
                const Real<T> c = 1 / std::sqrt(1 + t * t), s = c * t;
                for (const Matrix<T>* m : {&w, &x}) {
                    for (int64_t i = 0; i < n; ++i) {
                        const T left = (*m)(i, p), right = conjugate(phase) * (*m)(i, q);
                        (*m)(i, p) = c * left - s * right;
                        (*m)(i, q) = s * left + c * right;
                    }
                }
                for (int64_t i = 0; i < n; ++i) {
                    const T left = w(p, i), right = phase * w(q, i);
                    w(p, i) = c * left - s * right;
                    w(q, i) = s * left + c * right;
                }
            }
        }
    }
    std::vector<std::pair<Real<T>, int64_t>> order;
    for (int64_t j = 0; j < n; ++j) order.push_back({std::real(w(j, j)), j});
    std::sort(order.begin(), order.end());
    for (int64_t j = 0; j < n; ++j) values[j] = order[static_cast<size_t>(j)].first;
    for (int64_t j = 0; j < n && vectors; ++j) {
        for (int64_t i = 0; i < n; ++i) a(i, j) = x(i, order[static_cast<size_t>(j)].second);
    }
}

}  // namespace weft::fake_driver
