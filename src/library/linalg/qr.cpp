#include "library/linalg/qr.h"

#include "library/linalg/factor.h"
#include "library/linalg/small_batches.h"

namespace weft::lapack {

namespace {

double operations_of(const Matrices& a) {
    const auto m = static_cast<double>(a.rows), n = static_cast<double>(a.columns);
    return 2 * m * n * std::min(m, n);
}

// The upper triangle of `rows` rows; zeros below.
template <class T>
void give_upper(T* factored, int64_t lead, const Matrices& r, int64_t index) {
    for (int64_t j = 0; j < r.columns; ++j) {
        T* const column = factored + j * lead;
        std::fill(column + std::min(j + 1, r.rows), column + r.rows, T(0));
    }
    give(factored, lead, r, index);
}

template <class T>
void clear_below_diagonal(const Matrices& r, int64_t index) {
    char* const address = r.at(index);
    for (int64_t i = 1; i < r.rows; ++i) {
        char* const row = address + i * r.row_stride;
        for (int64_t j = 0; j < std::min(i, r.columns); ++j)
            *reinterpret_cast<T*>(row + j * r.column_stride) = T(0);
    }
}

template <class T>
void write_reflectors(const Matrices& a, const Matrices& factored, T* tau) {
    const int64_t m = a.rows, n = a.columns, each = std::min(m, n), lead = leading(m);
    share_matrices(a.count(), operations_of(a), [&](int64_t first, int64_t last) {
        Room<T> room(m * n);
        for (int64_t index = first; index < last; ++index) {
            take(a, index, room.data(), lead);
            qr_in_place(m, n, room.data(), lead, tau + index * each);
            give(room.data(), lead, factored, index);
        }
    });
}

template <class T>
void write_r(const Matrices& a, const Matrices& r) {
    const int64_t m = a.rows, n = a.columns, lead = leading(m);
    share_matrices(a.count(), operations_of(a), [&](int64_t first, int64_t last) {
        Room<T> room(m * n), tau(std::min(m, n));
        for (int64_t index = first; index < last; ++index) {
            take(a, index, room.data(), lead);
            qr_in_place(m, n, room.data(), lead, tau.data());
            give_upper(room.data(), lead, r, index);
        }
    });
}

template <class T>
void write_qr(const Matrices& a, const Matrices& q, const Matrices& r) {
    const int64_t m = a.rows, n = a.columns, each = std::min(m, n), lead = leading(m);
    share_matrices(a.count(), 2 * operations_of(a), [&](int64_t first, int64_t last) {
        Room<T> room(m * std::max(n, q.columns)), tau(each);
        for (int64_t index = first; index < last; ++index) {
            take(a, index, room.data(), lead);
            qr_in_place(m, n, room.data(), lead, tau.data());
            give(room.data(), lead, r, index);
            clear_below_diagonal<T>(r, index);
            q_in_place(m, q.columns, each, room.data(), lead, tau.data());
            give(room.data(), lead, q, index);
        }
    });
}

// geqp3 of each matrix, and what `use` does with its factored form, the factors of the reflectors and its
// place.
template <class T, class Use>
void factor_pivoted(const Matrices& a, int64_t most_columns, int64_t* pivots, const Use& use) {
    const int64_t m = a.rows, n = a.columns, each = std::min(m, n), lead = leading(m);
    const auto& f = functions<T>();
    share_matrices(a.count(), 2 * operations_of(a), [&](int64_t first, int64_t last) {
        Room<T> room(m * most_columns), tau(each);
        Room<Real<T>> real_work(2 * n);
        int64_t size = -1, info = 0;
        T answer{};
        const auto factor = [&](T* work, int64_t* own) {
            if constexpr (is_complex<T>) {
                f.geqp3(&m, &n, room, &lead, own, tau, work, &size, real_work, &info);
            } else {
                f.geqp3(&m, &n, room, &lead, own, tau, work, &size, &info);
            }
        };
        factor(&answer, pivots + first * n);
        size = asked_size(answer);
        Room<T> work(size);
        for (int64_t index = first; index < last; ++index) {
            int64_t* const own = pivots + index * n;
            take(a, index, room.data(), lead);
            std::fill(own, own + n, 0);  // every column may move
            factor(work, own);
            for (int64_t j = 0; j < n; ++j) --own[j];
            use(room.data(), tau.data(), index);
        }
    });
}

template <class T>
void write_pivoted(const Matrices& a, const Matrices& q, const Matrices& r, int64_t* pivots) {
    const int64_t m = a.rows, n = a.columns, each = std::min(m, n), lead = leading(m);
    factor_pivoted<T>(a, std::max(n, q.columns), pivots, [&](T* factored, const T* tau, int64_t index) {
        Room<T> upper(r.rows * r.columns);
        for (int64_t j = 0; j < n; ++j) {
            const T* const column = factored + j * lead;
            T* const to = upper.data() + j * r.rows;
            const int64_t end = std::min(j + 1, r.rows);
            std::copy(column, column + end, to);
            std::fill(to + end, to + r.rows, T(0));
        }
        give(upper.data(), leading(r.rows), r, index);
        if (q.columns == 0) return;
        q_in_place(m, q.columns, each, factored, lead, tau);
        give(factored, lead, q, index);
    });
}

template <class T>
void write_pivoted_reflectors(const Matrices& a, const Matrices& factored, T* tau, int64_t* pivots) {
    const int64_t each = std::min(a.rows, a.columns), lead = leading(a.rows);
    factor_pivoted<T>(a, a.columns, pivots, [&](const T* found, const T* factors, int64_t index) {
        give(found, lead, factored, index);
        std::copy(factors, factors + each, tau + index * each);
    });
}

}  // namespace

void reflectors(ScalarType type, const Matrices& a, const Matrices& factored, char* tau) {
    if (small::reflectors(type, a, factored, tau)) return;
    visit_type(type, [&]<class T>(TypeTag<T>) { write_reflectors(a, factored, reinterpret_cast<T*>(tau)); });
}

void qr(ScalarType type, const Matrices& a, const Matrices& q, const Matrices& r) {
    if (small::qr(type, a, &q, r)) return;
    visit_type(type, [&]<class T>(TypeTag<T>) { write_qr<T>(a, q, r); });
}

void qr_r(ScalarType type, const Matrices& a, const Matrices& r) {
    if (small::qr(type, a, nullptr, r)) return;
    visit_type(type, [&]<class T>(TypeTag<T>) { write_r<T>(a, r); });
}

void pivoted_qr(ScalarType type, const Matrices& a, const Matrices& q, const Matrices& r, int64_t* pivots) {
    visit_type(type, [&]<class T>(TypeTag<T>) { write_pivoted<T>(a, q, r, pivots); });
}

void pivoted_reflectors(ScalarType type, const Matrices& a, const Matrices& factored, char* tau,
                        int64_t* pivots) {
    visit_type(type, [&]<class T>(TypeTag<T>) {
        write_pivoted_reflectors<T>(a, factored, reinterpret_cast<T*>(tau), pivots);
    });
}

}  // namespace weft::lapack
