#include "random/draw_in_order.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "core/threads/interrupt.h"
#include "random/bounded.h"
#include "random/distributions/standard.h"
#include "random/distributions/whole.h"

namespace weft {

namespace {

using distributions::draw_by_ziggurat;

template <class T, class Draw>
void fill(std::span<T> out, const Draw& draw) {
    PausePoints pauses;
    for (T& each : out) {
        each = draw();
        pauses.next_iteration();
    }
}

// In [0, range], by a product of which too low ones are refused, not by bits.
uint64_t bounded(Bits& bits, uint64_t range) {
    if (range == 0) return 0;
    if (range == UINT32_MAX) return bits.next32();
    if (range == UINT64_MAX) return bits.next64();
    if (range < UINT32_MAX) {
        const auto count = static_cast<uint32_t>(range + 1);
        uint64_t product = uint64_t{bits.next32()} * count;
        if (static_cast<uint32_t>(product) < count) {
            const uint32_t least = (UINT32_MAX - static_cast<uint32_t>(range)) % count;
            while (static_cast<uint32_t>(product) < least) product = uint64_t{bits.next32()} * count;
        }
        return product >> 32;
    }
    return draw_one(bits, Bounded<uint64_t, unsigned __int128>(0, range));
}

uint64_t number_within(Bits& bits, Within within, uint64_t range) {
    return within == Within::kByMasks ? distributions::masked(bits, range) : bounded(bits, range);
}

// Cuts halves of a stream into parts, of which some may wait for the next draw.
template <class Small>
class Parts {
public:
    explicit Parts(Bits& bits) : bits_(bits) {}
    Small next() {
        if (left_ == 0) {
            half_ = bits_.next32();
            left_ = sizeof half_ / sizeof(Small);
        } else {
            half_ >>= 8 * sizeof(Small);
        }
        --left_;
        return static_cast<Small>(half_);
    }

private:
    Bits& bits_;
    uint32_t half_ = 0;
    size_t left_ = 0;
};

// Bits of a half, one after another.
class Flags {
public:
    explicit Flags(Bits& bits) : bits_(bits) {}
    bool next() {
        half_ = left_ == 0 ? bits_.next32() : half_ >> 1;
        left_ = left_ == 0 ? 31 : left_ - 1;
        return (half_ & 1) != 0;
    }

private:
    Bits& bits_;
    uint32_t half_ = 0, left_ = 0;
};

template <class Small>
Small small_within(Parts<Small>& parts, Within within, Small low, Small range) {
    constexpr auto kAll = static_cast<Small>(-1);
    if (range == 0) return low;
    if (range == kAll) return static_cast<Small>(low + parts.next());
    if (within == Within::kByMasks) {
        const auto mask = static_cast<Small>(kAll >> std::countl_zero(range));
        while (true) {
            const auto drawn = static_cast<Small>(parts.next() & mask);
            if (drawn <= range) return static_cast<Small>(low + drawn);
        }
    }
    const Bounded<Small, uint32_t> method(low, range);
    Small value = 0;
    while (!method.takes(parts.next(), value)) {
    }
    return value;
}

// `bounds(i)` gives the lowest number and the range of element i.
template <class Bounds>
void draw_within(Bits& bits, ScalarType type, Within within, size_t count, char* out, const Bounds& bounds) {
    PausePoints pauses;
    const auto small = [&]<class Small>(Small* numbers) {
        Parts<Small> parts(bits);
        for (size_t i = 0; i < count; ++i, pauses.next_iteration()) {
            const auto [low, range] = bounds(i);
            numbers[i] = small_within(parts, within, static_cast<Small>(low), static_cast<Small>(range));
        }
    };
    const auto large = [&]<class Large>(Large* numbers) {
        for (size_t i = 0; i < count; ++i, pauses.next_iteration()) {
            const auto [low, range] = bounds(i);
            numbers[i] = static_cast<Large>(low + number_within(bits, within, range));
        }
    };
    if (type == ScalarType::kBool) {
        Flags flags(bits);
        for (size_t i = 0; i < count; ++i, pauses.next_iteration()) {
            const auto [low, range] = bounds(i);
            out[i] = range == 0 ? low != 0 : flags.next();
        }
        return;
    }
    switch (DType(type).itemsize()) {
        case 1: small(reinterpret_cast<uint8_t*>(out)); return;
        case 2: small(reinterpret_cast<uint16_t*>(out)); return;
        case 4: large(reinterpret_cast<uint32_t*>(out)); return;
        default: large(reinterpret_cast<uint64_t*>(out));
    }
}

}  // namespace

void draw_words(Bits& bits, std::span<uint64_t> out) {
    fill(out, [&] { return bits.next_raw(); });
}

void draw_uniform(Bits& bits, std::span<double> out) {
    if (Mt19937* twister = bits.twister()) return twister->fill(out);
    fill(out, [&] { return bits.next_double(); });
}
void draw_uniform(Bits& bits, std::span<float> out) {
    fill(out, [&] { return bits.next_float(); });
}
void draw_normal(Bits& bits, std::span<double> out) {
    fill(out, [&] { return draw_by_ziggurat<Normal>(bits); });
}
void draw_normal(Bits& bits, std::span<float> out) {
    fill(out, [&] { return draw_by_ziggurat<Normal32>(bits); });
}
void draw_exponential(Bits& bits, std::span<double> out) {
    fill(out, [&] { return draw_by_ziggurat<Exponential>(bits); });
}
void draw_exponential(Bits& bits, std::span<float> out) {
    fill(out, [&] { return draw_by_ziggurat<Exponential32>(bits); });
}
void draw_exponential_by_log(Bits& bits, std::span<double> out) {
    fill(out, [&] { return -std::log1p(-bits.next_double()); });
}
void draw_exponential_by_log(Bits& bits, std::span<float> out) {
    fill(out, [&] { return static_cast<float>(-std::log1p(-static_cast<double>(bits.next_float()))); });
}

namespace {

// A range of fewer numbers than 32 bits have: what is known of it is computed once.
template <class Source, class T>
void fill_within(Source& source, Within within, T low, uint32_t range, std::span<T> out) {
    PausePoints pauses;
    if (within == Within::kByMasks) {
        const uint32_t mask = UINT32_MAX >> std::countl_zero(range);
        for (T& each : out) {
            uint32_t drawn = source.next32() & mask;
            while (drawn > range) drawn = source.next32() & mask;
            each = static_cast<T>(low + drawn);
            pauses.next_iteration();
        }
        return;
    }
    const Bounded<uint32_t, uint64_t, T> method(low, range);
    for (T& each : out) {
        while (!method.takes(source.next32(), each)) {
        }
        pauses.next_iteration();
    }
}

template <class T>
void fill_within(Bits& bits, Within within, uint64_t low, uint64_t range, std::span<T> out) {
    const auto from = static_cast<T>(low);
    const auto span = static_cast<uint32_t>(range);
    if (Mt19937* twister = bits.twister()) {
        fill_within(*twister, within, from, span, out);
    } else {
        fill_within<Bits, T>(bits, within, from, span, out);
    }
}

}  // namespace

void draw_integers(Bits& bits, ScalarType type, Within within, uint64_t low, uint64_t range, int64_t count,
                   char* out) {
    const auto size = static_cast<size_t>(count);
    const int64_t itemsize = DType(type).itemsize();
    if (type != ScalarType::kBool && itemsize >= 4 && range != 0 && range < UINT32_MAX) {
        if (itemsize == 4) {
            fill_within<uint32_t>(bits, within, low, range, {reinterpret_cast<uint32_t*>(out), size});
        } else {
            fill_within<uint64_t>(bits, within, low, range, {reinterpret_cast<uint64_t*>(out), size});
        }
        return;
    }
    draw_within(bits, type, within, size, out, [low, range](size_t) { return std::pair(low, range); });
}

void draw_integers_between(Bits& bits, ScalarType type, Within within, std::span<const uint64_t> low,
                           std::span<const uint64_t> range, char* out) {
    draw_within(bits, type, within, low.size(), out, [&](size_t i) { return std::pair(low[i], range[i]); });
}

void draw_sample(Bits& bits, int64_t population, std::span<int64_t> out, bool shuffled) {
    const auto count = static_cast<int64_t>(out.size());
    PausePoints pauses;
    const auto shuffle_from = [&](std::span<int64_t> items, int64_t first) {
        for (auto i = static_cast<int64_t>(items.size()) - 1; i >= first; --i, pauses.next_iteration())
            std::swap(items[static_cast<size_t>(i)], items[bounded(bits, static_cast<uint64_t>(i))]);
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
        const auto drawn = static_cast<int64_t>(bounded(bits, static_cast<uint64_t>(last)));
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

namespace {

template <class Source, class Swap>
void shuffle_by(Source& source, int64_t count, const Swap& swap) {
    PausePoints pauses;
    for (int64_t i = count - 1; i > 0; --i, pauses.next_iteration())
        swap(i, static_cast<int64_t>(distributions::masked(source, static_cast<uint64_t>(i))));
}

template <class Swap>
void shuffle_any(Bits& bits, int64_t count, const Swap& swap) {
    if (Mt19937* twister = bits.twister()) {
        shuffle_by(*twister, count, swap);
    } else {
        shuffle_by(bits, count, swap);
    }
}

}  // namespace

void shuffle(Bits& bits, char* items, int64_t count, int64_t itemsize) {
    if (itemsize == sizeof(uint64_t)) {
        auto* words = reinterpret_cast<uint64_t*>(items);
        shuffle_any(bits, count, [words](int64_t i, int64_t other) { std::swap(words[i], words[other]); });
        return;
    }
    const auto size = static_cast<size_t>(itemsize);
    shuffle_any(bits, count, [&](int64_t i, int64_t other) {
        char *first = items + i * itemsize, *second = items + other * itemsize;
        if (first != second) std::swap_ranges(first, first + size, second);
    });
}

}  // namespace weft
