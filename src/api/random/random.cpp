#include "api/random/random.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "api/random/draw_on_gpu.h"
#include "api/random/filled.h"
#include "api/recording/record.h"
#include "core/optimisation_switches.h"
#include "core/shape.h"
#include "device/cpu/streamed_bytes.h"
#include "graph/operand.h"
#include "ops/op.h"
#include "random/bit_stream.h"
#include "random/draw.h"
#include "weft/errors.h"
#include "weft/ops.h"

namespace weft {

namespace {

// As of kernels' results (plan.h).
Stores stores_of(int64_t count, DType dtype) {
    const bool streams =
        is_on(OptimisationSwitch::kNontemporalStores) && count * dtype.itemsize() > streamed_bytes();
    return streams ? Stores::kNonTemporal : Stores::kCached;
}

// `stores` is for streams that all threads draw from.
template <class T, class Source, class... Stored>
void fill_real(Source& from, Distribution distribution, std::span<T> out, Stored... stores) {
    switch (distribution) {
        case Distribution::kUniform: draw_uniform(from, out); return;
        case Distribution::kNormal: draw_normal(from, out, stores...); return;
        case Distribution::kExponential: draw_exponential(from, out, stores...); return;
        case Distribution::kExponentialByLog: draw_exponential_by_log(from, out); return;
        case Distribution::kWords: break;
    }
    throw InternalError("words are no real numbers");
}

OpId word_op(BitAlgorithm algorithm, bool halves) {
    switch (algorithm) {
        case BitAlgorithm::kPcg64: return halves ? OpId::kPcg64Half : OpId::kPcg64Word;
        case BitAlgorithm::kPcg64Dxsm: return halves ? OpId::kPcg64dxsmHalf : OpId::kPcg64dxsmWord;
        case BitAlgorithm::kPhilox: break;
    }
    return halves ? OpId::kPhiloxHalf : OpId::kPhiloxWord;
}

Operand constant_of(uint64_t value, DType dtype, const Dims& shape) {
    ScalarBytes bytes{};
    std::memcpy(bytes.data(), &value, sizeof value);
    return constant_operand(bytes, dtype, shape);
}

// The stream's next words, or halves of words, as a node: each is computed from its position where it is
// needed. Nothing if the stream's state is not of the kind that can be.
std::optional<array> recorded_words(BitGenerator& generator, const Dims& shape, bool halves) {
    const int64_t count = element_count(shape);
    const std::optional<BitGenerator> before = halves ? generator.before_half() : std::nullopt;
    if (halves && generator.has_half && !before) return std::nullopt;
    BitGenerator start = before.value_or(generator);
    const std::optional<BitGenerator::Origin> origin = start.origin();
    if (!origin) return std::nullopt;
    const DType dtype = halves ? ScalarType::kUInt32 : ScalarType::kUInt64;
    auto node = new_node();
    node->become(NodeKind::kDraw);
    node->device = &current_device();
    node->op = &op_info(word_op(generator.algorithm, halves));
    node->shape = shape;
    const int64_t first = halves ? 2 * origin->first + (before ? 1 : 0) : origin->first;
    node->inputs.push_back(constant_of(static_cast<uint64_t>(first), ScalarType::kInt64, shape));
    for (const uint64_t word : origin->words)
        node->inputs.push_back(constant_of(word, ScalarType::kUInt64, shape));
    NodeResult result;
    result.dtype = dtype;
    result.strides = c_strides(shape, dtype.itemsize());
    result.bytes = checked_bytes(shape, dtype);
    node->results.push_back(std::move(result));
    array words = array_of(node, 0, shape);
    recorded(node);
    if (halves) {
        start.advance_halves(static_cast<uint64_t>(count) + (before ? 1 : 0));
    } else {
        start.advance(static_cast<uint64_t>(count));
    }
    generator = start;
    return words;
}

// Few numbers are drawn eagerly, where the program is: a kernel would cost more.
bool is_drawn_later(Distribution distribution, const Dims& shape) {
    if (distribution != Distribution::kWords && distribution != Distribution::kUniform) return false;
    if (shape.empty() || element_count(shape) == 0) return false;
    return !current_device().is_cpu() || !is_small(element_count(shape));
}

}  // namespace

array draw(const BitSource& source, Distribution distribution, const Dims& shape, DType dtype) {
    checked_bytes(shape, dtype);
    BitGenerator* generator = generator_of(source);
    if (generator != nullptr && is_drawn_later(distribution, shape)) {
        const bool halves = dtype.scalar_type() == ScalarType::kFloat32;
        if (const std::optional<array> words = recorded_words(*generator, shape, halves)) {
            return distribution == Distribution::kWords ? *words
                                                        : call_unary(op_info(OpId::kUnitInterval), *words);
        }
    }
    Rewind rewind(source);
    if (generator != nullptr) {
        if (std::optional<array> numbers = draw_on_gpu(*generator, distribution, shape, dtype)) {
            rewind.keep();
            return std::move(*numbers);
        }
    }
    array result = filled(shape, dtype, [&](char* data, int64_t count) {
        const auto size = static_cast<size_t>(count);
        const auto fill = [&](auto& from, auto... stores) {
            if (distribution == Distribution::kWords) {
                draw_words(from, {reinterpret_cast<uint64_t*>(data), size});
            } else if (dtype.scalar_type() == ScalarType::kFloat32) {
                fill_real<float>(from, distribution, {reinterpret_cast<float*>(data), size}, stores...);
            } else {
                fill_real<double>(from, distribution, {reinterpret_cast<double*>(data), size}, stores...);
            }
        };
        if (generator != nullptr) {
            fill(*generator, stores_of(count, dtype));
        } else {
            Bits bits(source);
            fill(bits);
        }
    });
    rewind.keep();
    return result;
}

array draw_integers(const BitSource& source, const Dims& shape, DType dtype, uint64_t low, uint64_t range,
                    Within within) {
    BitGenerator* generator = within == Within::kByProducts ? generator_of(source) : nullptr;
    Rewind rewind(source);
    if (generator != nullptr) {
        if (std::optional<array> numbers = draw_integers_on_gpu(*generator, shape, dtype, low, range)) {
            rewind.keep();
            return std::move(*numbers);
        }
    }
    array result = filled(shape, dtype, [&](char* data, int64_t count) {
        if (generator != nullptr) {
            draw_integers(*generator, dtype.scalar_type(), low, range, count, data, stores_of(count, dtype));
        } else {
            Bits bits(source);
            draw_integers(bits, dtype.scalar_type(), within, low, range, count, data);
        }
    });
    rewind.keep();
    return result;
}

array draw_integers_between(const BitSource& source, const Dims& shape, DType dtype,
                            std::span<const uint64_t> low, std::span<const uint64_t> range, Within within) {
    const auto count = static_cast<size_t>(element_count(shape));
    if (low.size() != count || range.size() != count) throw InternalError("each number has its bounds");
    Rewind rewind(source);
    array result = filled(shape, dtype, [&](char* data, int64_t) {
        Bits bits(source);
        draw_integers_between(bits, dtype.scalar_type(), within, low, range, data);
    });
    rewind.keep();
    return result;
}

array draw_permutation(const BitSource& source, int64_t extent, std::optional<int64_t> rows) {
    const int64_t count = std::max<int64_t>(extent, 0);  // as of arange
    const Dims shape = rows ? Dims{*rows, count} : Dims{count};
    Rewind rewind(source);
    array result = filled(shape, ScalarType::kInt64, [&](char* data, int64_t) {
        Bits bits(source);
        for (int64_t row = 0; row < rows.value_or(1); ++row, data += count * int64_t{sizeof(int64_t)}) {
            const std::span<int64_t> positions(reinterpret_cast<int64_t*>(data), static_cast<size_t>(count));
            count_up(positions);
            shuffle(bits, data, count, sizeof(int64_t));
        }
    });
    rewind.keep();
    return result;
}

array draw_sample(const BitSource& source, int64_t population, int64_t count, bool shuffled) {
    Rewind rewind(source);
    array result = filled(Dims{count}, ScalarType::kInt64, [&](char* data, int64_t) {
        Bits bits(source);
        draw_sample(bits, population, {reinterpret_cast<int64_t*>(data), static_cast<size_t>(count)},
                    shuffled);
    });
    rewind.keep();
    return result;
}

}  // namespace weft
