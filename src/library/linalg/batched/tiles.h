// Matrices as they lie in memory to tiles of lanes, and back. Full vectors are transposed in registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "library/linalg/batched/batched.h"
#include "library/linalg/batched/lanes.h"

namespace weft::batched {
namespace {

template <class T>
inline T load_from(const char* from) {
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
}

template <class T>
inline void store_to(char* to, const T& value) {
    __builtin_memcpy(to, &value, sizeof value);
}

template <class L>
struct Tiles {
    using T = typename L::Element;
    using Value = typename L::Value;
    using Index = typename L::Index;
    static constexpr int kCount = L::kCount;
    static constexpr int64_t kSize = sizeof(T);

    // Square blocks are transposed by exchanging halves of halves.
    template <int kHalf, size_t... kIndex>
    static Value lower(Value a, Value b, std::index_sequence<kIndex...>) {
        return __builtin_shufflevector(
            a, b, (kIndex & kHalf ? static_cast<int>(kIndex) - kHalf + kCount : static_cast<int>(kIndex))...);
    }
    template <int kHalf, size_t... kIndex>
    static Value upper(Value a, Value b, std::index_sequence<kIndex...>) {
        return __builtin_shufflevector(
            a, b, (kIndex & kHalf ? static_cast<int>(kIndex) + kCount : static_cast<int>(kIndex) + kHalf)...);
    }
    template <int kHalf>
    static inline void transpose(Value (&rows)[kCount]) {
        constexpr std::make_index_sequence<kCount> kAll;
#pragma clang loop unroll(full)
        for (int i = 0; i < kCount; ++i) {
            if ((i & kHalf) != 0) continue;
            const Value a = rows[i], b = rows[i + kHalf];
            rows[i] = lower<kHalf>(a, b, kAll);
            rows[i + kHalf] = upper<kHalf>(a, b, kAll);
        }
        if constexpr (kHalf > 1) transpose<kHalf / 2>(rows);
    }

    // The matrices of the lanes. Lanes beyond the last matrix have it too.
    struct Place {
        Place(const Stack& stack, int64_t begin, int64_t end)
            : lanes(end - begin < kCount ? static_cast<int>(end - begin) : kCount) {
            for (int lane = 0; lane < kCount; ++lane)
                at[lane] = stack.data + (begin + (lane < lanes ? lane : lanes - 1)) * stack.matrix;
        }
        char* at[kCount];
        int lanes;
    };

    // Elements that are `stride` bytes apart, to vectors that are `step` apart. What lies `ahead` of them is
    // wanted next.
    static inline void load_run(char* const* from, int64_t stride, int length, Value* to, int step,
                                int64_t ahead = 0) {
        if (stride == kSize && length >= kCount) {
            for (int e = 0; e < length; e += kCount) {
                if (e > length - kCount) e = length - kCount;
                Value block[kCount];
                for (int lane = 0; lane < kCount; ++lane) {
                    block[lane] = load_from<Value>(from[lane] + e * kSize);
                    __builtin_prefetch(from[lane] + e * kSize + ahead, 0, 2);
                }
                transpose<kCount / 2>(block);
                for (int k = 0; k < kCount; ++k) to[(e + k) * step] = block[k];
            }
            return;
        }
        for (int e = 0; e < length; ++e) {
            Value value;
            for (int lane = 0; lane < kCount; ++lane) value[lane] = load_from<T>(from[lane] + e * stride);
            to[e * step] = value;
        }
    }

    static inline void store_run(const Value* from, int step, int length, char* const* to, int lanes,
                                 int64_t stride) {
        if (stride == kSize && length >= kCount) {
            for (int e = 0; e < length; e += kCount) {
                if (e > length - kCount) e = length - kCount;
                Value block[kCount];
                for (int k = 0; k < kCount; ++k) block[k] = from[(e + k) * step];
                transpose<kCount / 2>(block);
                if (lanes == kCount) {
                    for (int lane = 0; lane < kCount; ++lane) store_to(to[lane] + e * kSize, block[lane]);
                } else {
                    for (int lane = 0; lane < lanes; ++lane) store_to(to[lane] + e * kSize, block[lane]);
                }
            }
            return;
        }
        for (int e = 0; e < length; ++e) {
            const Value value = from[e * step];
            for (int lane = 0; lane < lanes; ++lane) store_to<T>(to[lane] + e * stride, value[lane]);
        }
    }

    // A matrix is one run, or a run for each row or column. The tile's rows are `width` apart.
    static inline void load(const Stack& stack, int64_t begin, int64_t end, int rows, int columns,
                            Value* tile, int width) {
        Place place(stack, begin, end);
        const int64_t ahead = kCount * stack.matrix;
        if (stack.row == columns * kSize && stack.column == kSize && width == columns) {
            load_run(place.at, kSize, rows * columns, tile, 1, ahead);
        } else if (stack.row == kSize) {
            for (int j = 0; j < columns; ++j, move(place, stack.column))
                load_run(place.at, kSize, rows, tile + j, width, ahead);
        } else {
            for (int i = 0; i < rows; ++i, move(place, stack.row))
                load_run(place.at, stack.column, columns, tile + i * width, 1, ahead);
        }
    }

    static inline void store(const Value* tile, int width, int rows, int columns, const Stack& stack,
                             int64_t begin, int64_t end) {
        Place place(stack, begin, end);
        if (stack.row == columns * kSize && stack.column == kSize && width == columns) {
            store_run(tile, 1, rows * columns, place.at, place.lanes, kSize);
        } else if (stack.row == kSize) {
            for (int j = 0; j < columns; ++j, move(place, stack.column))
                store_run(tile + j, width, rows, place.at, place.lanes, kSize);
        } else {
            for (int i = 0; i < rows; ++i, move(place, stack.row))
                store_run(tile + i * width, 1, columns, place.at, place.lanes, stack.column);
        }
    }

    // Rows in another order for each lane: row i is row order[i] of what is in memory.
    static inline void load_rows(const Stack& stack, int64_t begin, int64_t end, const Index* order, int rows,
                                 int columns, Value* tile) {
        const Place place(stack, begin, end);
        for (int i = 0; i < rows; ++i) {
            char* from[kCount];
            for (int lane = 0; lane < kCount; ++lane)
                from[lane] = place.at[lane] + order[i][lane] * stack.row;
            load_run(from, stack.column, columns, tile + i * columns, 1);
        }
    }

    // The other way: row i of the tile goes to row order[i] of what is in memory.
    static inline void store_rows(const Value* tile, int rows, int columns, const Index* order,
                                  const Stack& stack, int64_t begin, int64_t end) {
        const Place place(stack, begin, end);
        for (int i = 0; i < rows; ++i) {
            char* to[kCount];
            for (int lane = 0; lane < kCount; ++lane) to[lane] = place.at[lane] + order[i][lane] * stack.row;
            store_run(tile + i * columns, 1, columns, to, place.lanes, stack.column);
        }
    }

    // The first elements of each row go to other places for each lane: element j to order[j]. Rows are
    // `width` apart; `row` holds one.
    static inline void scatter_columns(Value* tile, int rows, int columns, int width, const Index* order,
                                       Value* row) {
        T* const to = reinterpret_cast<T*>(row);
        for (int i = 0; i < rows; ++i) {
            for (int j = 0; j < columns; ++j) {
                const Value value = tile[i * width + j];
                const Index place = order[j] * Index(kCount);
                for (int lane = 0; lane < kCount; ++lane) to[place[lane] + lane] = value[lane];
            }
            for (int j = 0; j < columns; ++j) tile[i * width + j] = row[j];
        }
    }

    static inline int64_t report(Index info, const Batch& batch, int64_t begin, int64_t end) {
        int64_t wrong = 0;
        for (int64_t i = begin; i < end; ++i) {
            const auto own = static_cast<int32_t>(info[static_cast<int>(i - begin)]);
            if (batch.info != nullptr) batch.info[i] = own;
            wrong += own != 0;
        }
        return wrong;
    }

private:
    static void move(Place& place, int64_t bytes) {
        for (char*& at : place.at) at += bytes;
    }
};

}  // namespace
}  // namespace weft::batched
