#include "library/indexing/gather_loops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <vector>

#include "core/shape.h"
#include "device/device.h"
#include "ops/lane_fold.h"
#include "weft/dtype.h"

namespace weft {

namespace {

constexpr int64_t kOnStack = 512;

// The dimensions of the result along which an index moves, and the others: at each place of the former, the
// latter are one piece of the data.
struct Split {
    Dims shape, from, to;                    // with indices
    Dims piece_shape, piece_from, piece_to;  // without
    std::vector<Dims> index;                 // strides over `shape`
};

Split split(const Dims& shape, const StridedData& data, std::span<const IndexData> indices,
            const StridedData& out) {
    Split parts;
    parts.index.resize(indices.size());
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 1) continue;
        bool moves = false;
        for (const IndexData& each : indices) moves |= (*each.index.strides)[d] != 0;
        if (!moves) {
            parts.piece_shape.push_back(shape[d]);
            parts.piece_from.push_back((*data.strides)[d]);
            parts.piece_to.push_back((*out.strides)[d]);
            continue;
        }
        parts.shape.push_back(shape[d]);
        parts.from.push_back((*data.strides)[d]);
        parts.to.push_back((*out.strides)[d]);
        for (size_t k = 0; k < indices.size(); ++k) parts.index[k].push_back((*indices[k].index.strides)[d]);
    }
    return parts;
}

// Calls place(k, from, to) for each place of `shape` in C order, with the offsets that the strides give.
template <class Place>
void for_each_place(const Dims& shape, const Dims& from_strides, const Dims& to_strides, const Place& place) {
    const size_t rank = shape.size();
    std::array<int64_t, kMaxDimensions> position{};
    int64_t from = 0, to = 0;
    const int64_t inner = rank == 0 ? 1 : shape[rank - 1];
    const int64_t from_inner = rank == 0 ? 0 : from_strides[rank - 1];
    const int64_t to_inner = rank == 0 ? 0 : to_strides[rank - 1];
    int64_t k = 0;
    while (true) {
        for (int64_t i = 0; i < inner; ++i) place(k++, from + i * from_inner, to + i * to_inner);
        if (rank < 2) return;
        size_t d = rank - 1;
        while (d-- > 0) {
            from += from_strides[d];
            to += to_strides[d];
            if (++position[d] < shape[d]) break;
            from -= from_strides[d] * shape[d];
            to -= to_strides[d] * shape[d];
            position[d] = 0;
        }
        if (d == SIZE_MAX) return;
    }
}

enum class Direction : uint8_t { kRead, kWrite };

// Elements between the data, at `offsets`, and `dense`, in C order of the places.
template <Direction kDirection, size_t kItemsize>
void move_elements(const Split& parts, char* data, const int64_t* offsets, char* dense) {
    const auto move = [](char* of_data, char* of_dense, size_t bytes) {
        if constexpr (kDirection == Direction::kRead) {
            std::memcpy(of_dense, of_data, bytes);
        } else {
            std::memcpy(of_data, of_dense, bytes);
        }
    };
    if (parts.piece_shape.size() == 0) {
        for_each_place(parts.shape, parts.from, parts.to, [&](int64_t k, int64_t from, int64_t to) {
            move(data + from + offsets[k], dense + to, kItemsize);
        });
        return;
    }
    const bool row = parts.piece_shape.size() == 1;
    const int64_t length = parts.piece_shape[0], step = parts.piece_from[0], out_step = parts.piece_to[0];
    const bool whole = row && step == int64_t{kItemsize} && out_step == int64_t{kItemsize};
    for_each_place(parts.shape, parts.from, parts.to, [&](int64_t k, int64_t from, int64_t to) {
        char* const source = data + from + offsets[k];
        char* const target = dense + to;
        if (whole) {
            move(source, target, static_cast<size_t>(length) * kItemsize);
        } else if (row) {
            for (int64_t i = 0; i < length; ++i) move(source + i * step, target + i * out_step, kItemsize);
        } else {
            for_each_place(parts.piece_shape, parts.piece_from, parts.piece_to,
                           [&](int64_t, int64_t piece_from, int64_t piece_to) {
                               move(source + piece_from, target + piece_to, kItemsize);
                           });
        }
    });
}

// ---- one row ----

constexpr int64_t kChunk = kOnStack;

LaneFold fold_of(OpId id) {
    const ScalarType types[2] = {ScalarType::kInt64, ScalarType::kInt64};
    return find_lane_fold(*find_loop(op_info(id), types));
}

IndexRange range_of_chunk(const int64_t* positions, int64_t count) {
    constexpr int64_t kFew = 64;
    IndexRange range{positions[0], positions[0]};
    if (count < kFew) {
        for (int64_t i = 1; i < count; ++i) {
            range.low = std::min(range.low, positions[i]);
            range.high = std::max(range.high, positions[i]);
        }
        return range;
    }
    static const LaneFold least = fold_of(OpId::kMinimum), largest = fold_of(OpId::kMaximum);
    const char* const elements = reinterpret_cast<const char*>(positions);
    least(elements, count, elements, reinterpret_cast<char*>(&range.low));
    largest(elements, count, elements, reinterpret_cast<char*>(&range.high));
    return range;
}

// Some of a row's indices in memory of their own, which nobody changes once they are looked at, and then
// counted from the start of the axis.
class Positions {
public:
    // Answers with the first one that is out of bounds.
    std::optional<int64_t> read(const IndexRow& row, int64_t begin, int64_t count, int64_t* to) {
        const char* const from = row.data + begin * row.stride;
        char* const pair[2] = {const_cast<char*>(from), reinterpret_cast<char*>(to)};
        const int64_t steps[2] = {row.stride, sizeof(int64_t)};
        cast_loop(row.type, ScalarType::kInt64).loop(pair, steps, count);
        const IndexRange own = range_of_chunk(to, count);
        if (!own.within(-row.extent, row.extent - 1)) {
            return *std::find_if(to, to + count, [&](int64_t position) {
                return position < -row.extent || position >= row.extent;
            });
        }
        if (own.low < 0) {
            for (int64_t i = 0; i < count; ++i) to[i] += to[i] < 0 ? row.extent : 0;
        }
        range_ =
            begin == 0 ? own : IndexRange{std::min(range_.low, own.low), std::max(range_.high, own.high)};
        return std::nullopt;
    }
    const IndexRange& range() const { return range_; }

private:
    IndexRange range_;
};

// Calls move(size, step) with constants where elements have a usual size, and lie side by side.
template <class Move>
void with_sizes(int64_t bytes, int64_t step, const Move& move) {
    const auto sized = [&](auto size) {
        if (step == decltype(size)::value) {
            move(size, size);
        } else {
            move(size, step);
        }
    };
    switch (bytes) {
        case 1: sized(std::integral_constant<int64_t, 1>()); break;
        case 2: sized(std::integral_constant<int64_t, 2>()); break;
        case 4: sized(std::integral_constant<int64_t, 4>()); break;
        case 8: sized(std::integral_constant<int64_t, 8>()); break;
        case 16: sized(std::integral_constant<int64_t, 16>()); break;
        default: move(bytes, step); break;
    }
}

template <Direction kDirection>
std::optional<OutOfBounds> move_eagerly(const Dims& shape, const StridedData& data,
                                        std::span<const IndexData> indices, const StridedData& dense) {
    if (shape.size() == 1 && indices.size() == 1 && (*data.strides)[0] == 0 && shape[0] != 0) {
        const IndexData& each = indices[0];
        const IndexRow row{each.index.data, (*each.index.strides)[0], each.index.type, shape[0], each.extent,
                           each.stride};
        const int64_t bytes = DType(data.type).itemsize(), stride = (*dense.strides)[0];
        std::optional<int64_t> wrong;
        if constexpr (kDirection == Direction::kRead) {
            IndexRange range;
            if (stride == bytes) {
                wrong = gather_row(data.data, row, bytes, dense.data, range);
                return wrong ? std::optional(OutOfBounds{0, *wrong}) : std::nullopt;
            }
        } else {
            wrong = scatter_row(data.data, row, bytes, dense.data, stride);
            return wrong ? std::optional(OutOfBounds{0, *wrong}) : std::nullopt;
        }
    }
    const Split parts = split(shape, data, indices, dense);
    const int64_t count = element_count(parts.shape);
    std::array<int64_t, kOnStack> near_offsets, near_index;
    std::vector<int64_t> far;
    int64_t* offsets = near_offsets.data();
    int64_t* index = near_index.data();
    if (count > kOnStack) {
        far.resize(static_cast<size_t>(2 * count));
        offsets = far.data();
        index = far.data() + count;
    }
    const Dims dense_strides = c_strides(parts.shape, sizeof(int64_t));
    for (size_t k = 0; k < indices.size(); ++k) {
        const IndexData& each = indices[k];
        copy_eagerly(parts.shape, {each.index.data, &parts.index[k], each.index.type},
                     {reinterpret_cast<char*>(index), &dense_strides, ScalarType::kInt64});
        for (int64_t i = 0; i < count; ++i) {
            const int64_t position = index[i] < 0 ? index[i] + each.extent : index[i];
            if (position < 0 || position >= each.extent) return OutOfBounds{k, index[i]};
            offsets[i] = position * each.stride + (k == 0 ? 0 : offsets[i]);
        }
    }
    for (const int64_t extent : shape) {
        if (extent == 0) return std::nullopt;
    }
    switch (DType(data.type).itemsize()) {
        case 1: move_elements<kDirection, 1>(parts, data.data, offsets, dense.data); break;
        case 2: move_elements<kDirection, 2>(parts, data.data, offsets, dense.data); break;
        case 4: move_elements<kDirection, 4>(parts, data.data, offsets, dense.data); break;
        case 8: move_elements<kDirection, 8>(parts, data.data, offsets, dense.data); break;
        default: move_elements<kDirection, 16>(parts, data.data, offsets, dense.data); break;
    }
    return std::nullopt;
}

}  // namespace

bool share_bytes(const Buffer& a, const Buffer& b) {
    return a.on_host() && b.on_host() && a.address() < b.address() + b.size() &&
           b.address() < a.address() + a.size();
}

std::optional<OutOfBounds> gather_eagerly(const Dims& shape, const StridedData& data,
                                          std::span<const IndexData> indices, const StridedData& out) {
    return move_eagerly<Direction::kRead>(shape, data, indices, out);
}

std::optional<OutOfBounds> scatter_eagerly(const Dims& shape, const StridedData& data,
                                           std::span<const IndexData> indices, const StridedData& value) {
    return move_eagerly<Direction::kWrite>(shape, data, indices, value);
}

std::optional<int64_t> gather_row(const char* data, const IndexRow& row, int64_t bytes, char* out,
                                  IndexRange& range) {
    int64_t own[kChunk];
    Positions positions;
    for (int64_t begin = 0; begin < row.count; begin += kChunk) {
        const int64_t count = std::min(kChunk, row.count - begin);
        if (const auto wrong = positions.read(row, begin, count, own)) return wrong;
        char* const to = out + begin * bytes;
        with_sizes(bytes, row.step, [&](auto size, auto step) {
            for (int64_t i = 0; i < count; ++i)
                std::memcpy(to + i * size, data + own[i] * step, static_cast<size_t>(size));
        });
    }
    range = positions.range();
    return std::nullopt;
}

std::optional<int64_t> gather_few(const char* data, const IndexRow& row, int64_t bytes, char* out) {
    if (row.type != ScalarType::kInt64) {
        IndexRange range;
        return gather_row(data, row, bytes, out, range);
    }
    std::optional<int64_t> wrong;
    const auto gather = [&](auto stride) {
        with_sizes(bytes, row.step, [&](auto size, auto step) {
            for (int64_t i = 0; i < row.count; ++i) {
                int64_t given;
                std::memcpy(&given, row.data + i * stride, sizeof given);
                const int64_t position = given + (given < 0 ? row.extent : 0);
                if (static_cast<uint64_t>(position) >= static_cast<uint64_t>(row.extent)) {
                    wrong = given;
                    return;
                }
                std::memcpy(out + i * size, data + position * step, static_cast<size_t>(size));
            }
        });
    };
    if (row.stride == int64_t{sizeof(int64_t)}) {
        gather(std::integral_constant<int64_t, sizeof(int64_t)>());
    } else {
        gather(row.stride);
    }
    return wrong;
}

std::optional<int64_t> scatter_row(char* data, const IndexRow& row, int64_t bytes, const char* values,
                                   int64_t value_stride) {
    int64_t near[kChunk];
    BufferPtr far;
    int64_t* all = near;
    if (row.count > kChunk) {
        far = cpu_device().allocate(static_cast<size_t>(row.count) * sizeof(int64_t));
        all = reinterpret_cast<int64_t*>(far->data());
    }
    Positions positions;
    for (int64_t begin = 0; begin < row.count; begin += kChunk) {
        if (const auto wrong = positions.read(row, begin, std::min(kChunk, row.count - begin), all + begin))
            return wrong;
    }
    with_sizes(bytes, row.step, [&](auto size, auto step) {
        for (int64_t i = 0; i < row.count; ++i)
            std::memcpy(data + all[i] * step, values + i * value_stride, static_cast<size_t>(size));
    });
    return std::nullopt;
}

std::optional<int64_t> first_out_of_bounds(const Dims& shape, const StridedData& index, int64_t extent) {
    std::optional<int64_t> found;
    if (element_count(shape) == 0) return found;
    const StridedLoop convert = cast_loop(index.type, ScalarType::kInt64).loop;
    for_each_place(shape, *index.strides, *index.strides, [&](int64_t, int64_t from, int64_t) {
        if (found) return;
        int64_t position = 0;
        char* const pair[2] = {index.data + from, reinterpret_cast<char*>(&position)};
        const int64_t steps[2] = {0, 0};
        convert(pair, steps, 1);
        if (position < -extent || position >= extent) found = position;
    });
    return found;
}

}  // namespace weft
