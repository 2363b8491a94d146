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
#include "random/parallel_draw.h"
#include "random/ziggurat.h"

namespace weft {

namespace {

template <class Method>
typename Method::Value draw_one(BitGenerator& generator, const Method& method) {
    typename Method::Value value{};
    while (!attempt(method, generator, value)) {
    }
    return value;
}

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

// ---- integers ----

// low and a number of [0, range], which is not all numbers; Product: an integer of twice the unit's bits.
template <class Draw, class Product, class Result = Draw>
struct Bounded {
    using Unit = Draw;
    using Value = Result;
    static constexpr bool kHasWedges = false;

    Bounded(Result from, Draw range)
        : low(from),
          count(static_cast<Draw>(range + 1)),
          least(static_cast<Draw>((static_cast<Draw>(-1) - range) % (Product{range} + 1))) {}

    bool takes(Draw unit, Result& value) const {
        const auto product = static_cast<Product>(static_cast<Product>(unit) * count);
        value = static_cast<Result>(low + static_cast<Result>(product >> (8 * sizeof(Draw))));
        return static_cast<Draw>(product) >= least;
    }

    size_t run(const Draw* units, size_t number, Result* out) const {
        size_t i = 0;
        while (i < number && takes(units[i], out[i])) ++i;
        return i;
    }

    Result low;
    Draw count, least;
};

// As many bits as the range has, again and again until they are in it.
uint64_t masked(BitGenerator& generator, uint64_t range) {
    const uint64_t mask = UINT64_MAX >> std::countl_zero(range);
    while (true) {
        const uint64_t drawn = (range <= UINT32_MAX ? generator.next32() : generator.next64()) & mask;
        if (drawn <= range) return drawn;
    }
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

// The logarithm is libm's, as NumPy's.
void draw_exponential_by_log(BitGenerator& generator, std::span<double> out) {
    draw_apart<uint64_t>(generator, out,
                         [](uint64_t word, double* to) { *to = -std::log1p(-to_double(word)); });
}

void draw_exponential_by_log(BitGenerator& generator, std::span<float> out) {
    draw_halves<1>(generator, out, [](uint32_t half, float* to) { *to = -std::log1p(-to_float(half)); });
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

namespace {

// In [0, range], by a product of which too low ones are refused, not by bits.
uint64_t bounded(BitGenerator& generator, uint64_t range) {
    if (range == 0) return 0;
    if (range == UINT32_MAX) return generator.next32();
    if (range == UINT64_MAX) return generator.next64();
    if (range < UINT32_MAX) {
        const auto count = static_cast<uint32_t>(range + 1);
        uint64_t product = uint64_t{generator.next32()} * count;
        if (static_cast<uint32_t>(product) < count) {
            const uint32_t least = (UINT32_MAX - static_cast<uint32_t>(range)) % count;
            while (static_cast<uint32_t>(product) < least) product = uint64_t{generator.next32()} * count;
        }
        return product >> 32;
    }
    return draw_one(generator, Bounded<uint64_t, unsigned __int128>(0, range));
}

// Cuts halves of a stream into parts, of which some may wait for the next draw.
template <class Small>
class Parts {
public:
    explicit Parts(BitGenerator& generator) : generator_(generator) {}
    Small next() {
        if (left_ == 0) {
            half_ = generator_.next32();
            left_ = sizeof half_ / sizeof(Small);
        } else {
            half_ >>= 8 * sizeof(Small);
        }
        --left_;
        return static_cast<Small>(half_);
    }

private:
    BitGenerator& generator_;
    uint32_t half_ = 0;
    size_t left_ = 0;
};

template <class Small>
void draw_small_between(BitGenerator& generator, std::span<const uint64_t> low,
                        std::span<const uint64_t> range, Small* out) {
    Parts<Small> parts(generator);
    for (size_t i = 0; i < low.size(); ++i) {
        const auto from = static_cast<Small>(low[i]), span = static_cast<Small>(range[i]);
        if (span == 0) {
            out[i] = from;
        } else if (span == static_cast<Small>(-1)) {
            out[i] = static_cast<Small>(from + parts.next());
        } else {
            const Bounded<Small, uint32_t> method(from, span);
            while (!method.takes(parts.next(), out[i])) {
            }
        }
    }
}

}  // namespace

void draw_integers_between(BitGenerator& generator, ScalarType type, std::span<const uint64_t> low,
                           std::span<const uint64_t> range, char* out) {
    if (type == ScalarType::kBool) {
        uint32_t half = 0, left = 0;
        for (size_t i = 0; i < low.size(); ++i) {
            if (range[i] == 0) {
                out[i] = static_cast<char>(low[i]);
                continue;
            }
            half = left == 0 ? generator.next32() : half >> 1;
            left = left == 0 ? 31 : left - 1;
            out[i] = static_cast<char>(half & 1);
        }
        return;
    }
    switch (DType(type).itemsize()) {
        case 1: draw_small_between(generator, low, range, reinterpret_cast<uint8_t*>(out)); return;
        case 2: draw_small_between(generator, low, range, reinterpret_cast<uint16_t*>(out)); return;
        case 4:
            for (size_t i = 0; i < low.size(); ++i)
                reinterpret_cast<uint32_t*>(out)[i] =
                    static_cast<uint32_t>(low[i] + bounded(generator, range[i]));
            return;
        default:
            for (size_t i = 0; i < low.size(); ++i)
                reinterpret_cast<uint64_t*>(out)[i] = low[i] + bounded(generator, range[i]);
    }
}

void draw_sample(BitGenerator& generator, int64_t population, std::span<int64_t> out, bool shuffled) {
    const auto count = static_cast<int64_t>(out.size());
    PausePoints pauses;
    const auto shuffle_from = [&](std::span<int64_t> items, int64_t first) {
        for (auto i = static_cast<int64_t>(items.size()) - 1; i >= first; --i, pauses.next_iteration())
            std::swap(items[static_cast<size_t>(i)], items[bounded(generator, static_cast<uint64_t>(i))]);
    };
    if (population > 10000 && count > population / (shuffled ? 50 : 20)) {
        const auto memory = std::make_unique_for_overwrite<int64_t[]>(static_cast<size_t>(population));
        const std::span<int64_t> all(memory.get(), static_cast<size_t>(population));
        count_up(all);
        shuffle_from(all, std::max<int64_t>(population - count, 1));
        std::copy(all.end() - count, all.end(), out.begin());
        return;
    }
    std::unordered_set<int64_t> found;
    found.reserve(out.size());
    for (int64_t i = 0, last = population - count; i < count; ++i, ++last, pauses.next_iteration()) {
        const auto drawn = static_cast<int64_t>(bounded(generator, static_cast<uint64_t>(last)));
        const int64_t taken = found.insert(drawn).second ? drawn : last;
        if (taken == last) found.insert(last);
        out[static_cast<size_t>(i)] = taken;
    }
    if (shuffled) shuffle_from(out, 1);
}

void count_up(std::span<int64_t> numbers) {
    constexpr size_t kTogether = size_t{1} << 20;
    for (size_t i = 0; i < numbers.size(); i += kTogether) {
        const std::span<int64_t> part = numbers.subspan(i, std::min(kTogether, numbers.size() - i));
        std::iota(part.begin(), part.end(), static_cast<int64_t>(i));
        pause_point();
    }
}

void shuffle(BitGenerator& generator, char* items, int64_t count, int64_t itemsize) {
    const auto size = static_cast<size_t>(itemsize);
    PausePoints pauses;
    for (int64_t i = count - 1; i > 0; --i, pauses.next_iteration()) {
        const uint64_t other = masked(generator, static_cast<uint64_t>(i));
        char *first = items + i * itemsize, *second = items + static_cast<int64_t>(other) * itemsize;
        if (first != second) std::swap_ranges(first, first + size, second);
    }
}

}  // namespace weft
