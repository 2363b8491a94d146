#include "graph/index_map.h"

#include <algorithm>
#include <cstdlib>

namespace weft {

IndexMap identity_map(const Dims& shape) {
    IndexMap map{Dims(shape.size(), -1), Dims(shape.size()), Dims(shape.size())};
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 1) continue;
        map.dimension[d] = static_cast<int64_t>(d);
        map.factor[d] = 1;
    }
    return map;
}

std::optional<IndexMap> read_map(const Operand& operand, const Dims& shape, const NodeResult& result,
                                 const Dims& producer_shape) {
    if (operand.dtype != result.dtype || operand.offset < 0) return std::nullopt;
    const size_t rank = producer_shape.size();
    IndexMap map{Dims(rank, -1), Dims(rank), Dims(rank)};
    // Strides of a dense result are the weights of a mixed-radix number, from the largest to the smallest.
    Dims order;
    for (size_t e = 0; e < rank; ++e) {
        if (producer_shape[e] == 0) return std::nullopt;
        if (producer_shape[e] != 1) order.push_back(static_cast<int64_t>(e));
    }
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return result.strides[static_cast<size_t>(a)] > result.strides[static_cast<size_t>(b)];
    });
    int64_t rest = operand.offset;
    for (const int64_t e : order) {
        const auto at = static_cast<size_t>(e);
        map.start[at] = rest / result.strides[at];
        if (map.start[at] >= producer_shape[at]) return std::nullopt;
        rest %= result.strides[at];
    }
    if (rest != 0) return std::nullopt;
    for (size_t d = 0; d < shape.size(); ++d) {
        const int64_t stride = operand.strides[d];
        if (shape[d] == 1 || stride == 0) continue;
        const auto found = std::find_if(order.begin(), order.end(), [&](int64_t e) {
            return result.strides[static_cast<size_t>(e)] <= std::abs(stride);
        });
        if (found == order.end()) return std::nullopt;
        const auto e = static_cast<size_t>(*found);
        if (stride % result.strides[e] != 0 || map.dimension[e] >= 0) return std::nullopt;
        const int64_t factor = stride / result.strides[e];
        const int64_t last = map.start[e] + factor * (shape[d] - 1);
        if (last < 0 || last >= producer_shape[e]) return std::nullopt;
        map.dimension[e] = static_cast<int64_t>(d);
        map.factor[e] = factor;
    }
    return map;
}

IndexMap compose(const IndexMap& inner, const IndexMap& outer) {
    IndexMap map = inner;
    for (size_t e = 0; e < map.dimension.size(); ++e) {
        if (inner.dimension[e] < 0) continue;
        const auto d = static_cast<size_t>(inner.dimension[e]);
        map.dimension[e] = outer.dimension[d];
        map.factor[e] = outer.dimension[d] < 0 ? 0 : inner.factor[e] * outer.factor[d];
        map.start[e] = inner.start[e] + inner.factor[e] * outer.start[d];
    }
    return map;
}

Dims strides_over_space(const Dims& strides, const IndexMap& map, size_t rank) {
    Dims result(rank);
    for (size_t d = 0; d < strides.size(); ++d) {
        if (map.dimension[d] >= 0)
            result[static_cast<size_t>(map.dimension[d])] += strides[d] * map.factor[d];
    }
    return result;
}

int64_t offset_over_space(const Dims& strides, int64_t offset, const IndexMap& map) {
    for (size_t d = 0; d < strides.size(); ++d) offset += strides[d] * map.start[d];
    return offset;
}

bool is_plain(const IndexMap& map, const Dims& shape) {
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == 1) continue;
        if (map.dimension[d] < 0 || map.factor[d] != 1 || map.start[d] != 0) return false;
    }
    return true;
}

}  // namespace weft
