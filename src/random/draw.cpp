#include "random/draw.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/threads/interrupt.h"
#include "random/bounded.h"
#include "random/parallel_draw.h"
#include "random/ziggurat.h"

namespace weft {

namespace {

// One after another until a whole word begins, the rest by all threads.
template <class Method>
void draw_any(BitGenerator& generator, std::span<typename Method::Value> out, const Method& method,
              Stores stores) {
    constexpr size_t kFew = 1024;
    size_t i = 0;
    constexpr bool kHalves = sizeof(typename Method::Unit) == sizeof(uint32_t);
    while (i < out.size() && (out.size() - i < kFew || (kHalves && generator.has_half)))
        out[i++] = draw_one(generator, method);
    if (i < out.size()) draw_by_pieces(generator, out.subspan(i), method, stores == Stores::kNonTemporal);
}

// Elements of a half each, or several of a half; one half may wait from earlier.
template <size_t kEach, class Value, class Write>
void draw_halves(BitGenerator& generator, std::span<Value> out, const Write& write) {
    if (generator.has_half && !out.empty()) {
        Value first[kEach];
        write(generator.next32(), first);
        const size_t count = std::min(kEach, out.size());
        std::copy_n(first, count, out.begin());
        out = out.subspan(count);
    }
    if (!out.empty()) draw_apart<uint32_t, kEach>(generator, out, write);
}

// Small numbers are cut from halves, from the low bits on; what is left of the last one is dropped.
template <class Small>
void draw_small(BitGenerator& generator, Small low, Small range, std::span<Small> out, Stores stores) {
    constexpr size_t kCuts = sizeof(uint32_t) / sizeof(Small);
    const auto cut = [](uint32_t half, size_t k) {
        return static_cast<Small>(half >> (8 * sizeof(Small) * k));
    };
    if (range == static_cast<Small>(-1)) {
        draw_halves<kCuts>(generator, out, [&](uint32_t half, Small* to) {
            for (size_t k = 0; k < kCuts; ++k) to[k] = static_cast<Small>(low + cut(half, k));
        });
        return;
    }
    constexpr size_t kFew = 1024;
    const Bounded<Small, uint32_t> method(low, range);
    size_t i = 0;
    while (i < out.size() && (out.size() - i < kFew || generator.has_half)) {
        const uint32_t half = generator.next32();
        for (size_t k = 0; k < kCuts && i < out.size(); ++k) i += method.takes(cut(half, k), out[i]) ? 1 : 0;
    }
    if (i < out.size()) draw_by_pieces(generator, out.subspan(i), method, stores == Stores::kNonTemporal);
}

template <class T>
std::span<T> elements(char* out, int64_t count) {
    return {reinterpret_cast<T*>(out), static_cast<size_t>(count)};
}

}  // namespace

void draw_words(BitGenerator& generator, std::span<uint64_t> out) {
    draw_apart<uint64_t>(generator, out, [](uint64_t word, uint64_t* to) { *to = word; });
}

void draw_uniform(BitGenerator& generator, std::span<double> out) {
    draw_apart<uint64_t>(generator, out, [](uint64_t word, double* to) { *to = to_double(word); });
}

void draw_uniform(BitGenerator& generator, std::span<float> out) {
    draw_halves<1>(generator, out, [](uint32_t half, float* to) { *to = to_float(half); });
}

void draw_normal(BitGenerator& generator, std::span<double> out, Stores stores) {
    draw_any(generator, out, Normal{}, stores);
}

void draw_normal(BitGenerator& generator, std::span<float> out, Stores stores) {
    draw_any(generator, out, Normal32{}, stores);
}

void draw_exponential(BitGenerator& generator, std::span<double> out, Stores stores) {
    draw_any(generator, out, Exponential{}, stores);
}

void draw_exponential(BitGenerator& generator, std::span<float> out, Stores stores) {
    draw_any(generator, out, Exponential32{}, stores);
}

// The logarithm is libm's, as NumPy's; that of short floats is computed in double, as there.
void draw_exponential_by_log(BitGenerator& generator, std::span<double> out) {
    draw_apart<uint64_t>(generator, out,
                         [](uint64_t word, double* to) { *to = -std::log1p(-to_double(word)); });
}

void draw_exponential_by_log(BitGenerator& generator, std::span<float> out) {
    draw_halves<1>(generator, out, [](uint32_t half, float* to) {
        *to = static_cast<float>(-std::log1p(-static_cast<double>(to_float(half))));
    });
}

void draw_integers(BitGenerator& generator, ScalarType type, uint64_t low, uint64_t range, int64_t count,
                   char* out, Stores stores) {
    const int64_t itemsize = DType(type).itemsize();
    if (range == 0) {
        for (int64_t i = 0; i < count; ++i)
            std::memcpy(out + i * itemsize, &low, static_cast<size_t>(itemsize));
        return;
    }
    if (type == ScalarType::kBool) {
        draw_halves<32>(generator, elements<uint8_t>(out, count), [&](uint32_t half, uint8_t* to) {
            for (size_t k = 0; k < 32; ++k) to[k] = static_cast<uint8_t>(low != 0 || (half >> k & 1) != 0);
        });
        return;
    }
    switch (itemsize) {
        case 1:
            draw_small(generator, static_cast<uint8_t>(low), static_cast<uint8_t>(range),
                       elements<uint8_t>(out, count), stores);
            return;
        case 2:
            draw_small(generator, static_cast<uint16_t>(low), static_cast<uint16_t>(range),
                       elements<uint16_t>(out, count), stores);
            return;
        case 4: {
            const std::span<uint32_t> all = elements<uint32_t>(out, count);
            const auto from = static_cast<uint32_t>(low);
            if (range == UINT32_MAX) {
                draw_halves<1>(generator, all, [&](uint32_t half, uint32_t* to) { *to = from + half; });
            } else {
                draw_any(generator, all, Bounded<uint32_t, uint64_t>(from, static_cast<uint32_t>(range)),
                         stores);
            }
            return;
        }
        default: break;
    }
    const std::span<uint64_t> all = elements<uint64_t>(out, count);
    if (range < UINT32_MAX) {
        draw_any(generator, all, Bounded<uint32_t, uint64_t, uint64_t>(low, static_cast<uint32_t>(range)),
                 stores);
    } else if (range == UINT32_MAX) {
        draw_halves<1>(generator, all, [&](uint32_t half, uint64_t* to) { *to = low + half; });
    } else if (range == UINT64_MAX) {
        draw_apart<uint64_t>(generator, all, [&](uint64_t word, uint64_t* to) { *to = low + word; });
    } else {
        draw_any(generator, all, Bounded<uint64_t, unsigned __int128>(low, range), stores);
    }
}

}  // namespace weft
