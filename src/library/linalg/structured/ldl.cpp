#include "library/linalg/structured/ldl.h"

#include <numeric>
#include <vector>

namespace weft::lapack {

namespace {

double operations_of(const Matrices& a) {
    const auto n = static_cast<double>(a.rows);
    return n * n * n / 3 + 1000;
}

// A block on the diagonal, in the order in which sytrf eliminates: its first row, how many it has, and the
// rows that were swapped before.
struct Block {
    int64_t at, size, swapped, with;
};

std::vector<Block> blocks_of(const int64_t* pivots, int64_t n, bool lower) {
    std::vector<Block> blocks;
    if (lower) {
        for (int64_t k = 0; k < n; k += blocks.back().size) {
            const bool pair = pivots[k] < 0;
            blocks.push_back({k, pair ? 2 : 1, pair ? k + 1 : k, std::abs(pivots[k]) - 1});
        }
    } else {
        for (int64_t k = n - 1; k >= 0; k -= blocks.back().size) {
            const bool pair = pivots[k] < 0;
            blocks.push_back({pair ? k - 1 : k, pair ? 2 : 1, pair ? k - 1 : k, std::abs(pivots[k]) - 1});
        }
    }
    return blocks;
}

template <class T>
T mirrored(T value, bool hermitian) {
    if constexpr (is_complex<T>) return hermitian ? std::conj(value) : value;
    return value;
}

// What sytrf leaves is a product of swaps and of columns, first to last.
template <class T>
void unpack(const T* packed, const int64_t* pivots, int64_t n, const LdlKind& kind, T* factor, T* middle,
            int64_t* order) {
    std::fill(factor, factor + n * n, T(0));
    std::fill(middle, middle + n * n, T(0));
    std::iota(order, order + n, 0);
    const std::vector<Block> blocks = blocks_of(pivots, n, kind.lower);
    for (const Block& block : blocks) std::swap(order[block.swapped], order[block.with]);
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
        const int64_t end = block->at + block->size;
        for (int64_t j = block->at; j < end; ++j) {
            factor[j * n + j] = T(1);
            middle[j * n + j] = packed[j * n + j];
            if (kind.lower) {
                std::copy(packed + j * n + end, packed + (j + 1) * n, factor + j * n + end);
            } else {
                std::copy(packed + j * n, packed + j * n + block->at, factor + j * n);
            }
        }
        if (block->size == 2) {
            const int64_t i = block->at, below = i * n + i + 1, beside = (i + 1) * n + i;
            const T value = packed[kind.lower ? below : beside];
            middle[kind.lower ? below : beside] = value;
            middle[kind.lower ? beside : below] = mirrored(value, kind.hermitian);
        }
        if (block->swapped == block->with) continue;
        for (int64_t j = 0; j < n; ++j)
            std::swap(factor[j * n + block->swapped], factor[j * n + block->with]);
    }
}

template <class T>
void factor_all(const Matrices& a, const LdlKind& kind, const Matrices& factor, const Matrices& middle,
                int64_t* order) {
    const int64_t n = a.rows, lead = leading(n);
    const auto& f = functions<T>();
    auto routine = f.sytrf;
    if constexpr (is_complex<T>) {
        if (kind.hermitian) routine = f.hetrf;
    }
    const char triangle = kind.lower ? 'L' : 'U';
    share_matrices(a.count(), operations_of(a), [&](int64_t first, int64_t last) {
        Room<T> packed(n * n), outer(n * n), inner(n * n);
        Room<int64_t> pivots(n);
        T answer{};
        int64_t size = -1, info = 0;
        routine(&triangle, &n, packed, &lead, pivots, &answer, &size, &info, 1);
        size = asked_size(answer);
        Room<T> work(size);
        for (int64_t index = first; index < last; ++index) {
            take(a, index, packed.data(), lead);
            routine(&triangle, &n, packed, &lead, pivots, work, &size, &info, 1);
            unpack<T>(packed, pivots, n, kind, outer, inner, order + index * n);
            give(outer.data(), lead, factor, index);
            give(inner.data(), lead, middle, index);
        }
    });
}

}  // namespace

void factor_ldl(ScalarType type, const Matrices& a, const LdlKind& kind, const Matrices& factor,
                const Matrices& middle, int64_t* order) {
    visit_type(type, [&]<class T>(TypeTag<T>) { factor_all<T>(a, kind, factor, middle, order); });
}

}  // namespace weft::lapack
