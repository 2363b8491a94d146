// A stream's numbers by all threads, for core/draw.cpp. The stream is cut into pieces, which are decoded side
// by side. Where a draw takes as many units of the stream as it happens to refuse, a piece does not know
// where its first draw begins: it tries its first unit. When the pieces are joined, that guess is right or
// the true draws are made until they meet the guessed ones, which is soon: nearly every draw takes one unit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "core/bit_generator.h"
#include "core/thread_pool.h"

namespace weft {

constexpr size_t kPieceWords = 4096;

// The numbers of a piece as a source of draws, which may run on into what follows it. Units are what the
// draws take: whole words, or halves of them.
template <class Unit>
class PieceSource {
public:
    PieceSource(const BitGenerator& start, size_t words) : rest_(start), words_(words) { rest_.fill(words_); }

    size_t size() const { return words_.size() * (sizeof(uint64_t) / sizeof(Unit)); }
    Unit unit(size_t at) const {
        Unit value;
        std::memcpy(&value, reinterpret_cast<const char*>(words_.data()) + at * sizeof value, sizeof value);
        return value;
    }
    size_t at() const { return at_; }
    void go_to(size_t at) { at_ = at; }

    uint64_t next64() { return at_ < size() ? unit(at_++) : (++at_, rest_.next64()); }
    uint32_t next32() { return at_ < size() ? static_cast<uint32_t>(unit(at_++)) : (++at_, rest_.next32()); }
    double next_double() { return to_double(next64()); }
    float next_float() { return to_float(next32()); }

private:
    BitGenerator rest_;
    std::vector<uint64_t> words_;
    size_t at_ = 0;
};

// A stream that counts the units that are taken of it.
template <class Unit>
class CountedSource {
public:
    CountedSource(BitGenerator generator, size_t at) : generator_(generator), at_(at) {
        constexpr size_t kUnits = sizeof(uint64_t) / sizeof(Unit);
        generator_.advance(at / kUnits);
        if (at % kUnits != 0) generator_.next32();
    }
    size_t at() const { return at_; }
    uint64_t next64() { return ++at_, generator_.next64(); }
    uint32_t next32() { return ++at_, generator_.next32(); }
    double next_double() { return to_double(next64()); }
    float next_float() { return to_float(next32()); }

private:
    BitGenerator generator_;
    size_t at_;
};

// As if so many units had been taken of a stream that begins with a whole word.
template <class Unit>
void advance_units(BitGenerator& generator, size_t units) {
    if constexpr (sizeof(Unit) == sizeof(uint64_t)) {
        generator.advance(units);
    } else {
        constexpr size_t kUnits = sizeof(uint32_t) / sizeof(Unit);
        generator.advance_halves((units + kUnits - 1) / kUnits);
    }
}

// The draws of a piece. Those of more than one unit are listed, the others take the units between them.
template <class Method>
class DecodedPiece {
public:
    using Unit = typename Method::Unit;
    using Value = typename Method::Value;

    void decode(const BitGenerator& start, const Method& method) {
        PieceSource<Unit> source(start, kPieceWords);
        size_ = source.size();
        values_.resize(size_);
        long_.clear();
        before_.clear();
        first_ = count_ = 0;
        size_t at = 0;
        while (at < size_) {
            if constexpr (Method::kUnitsStandAlone) {
                if (method.takes(source.unit(at), values_[count_])) {
                    ++count_;
                } else {
                    long_.push_back({at, count_, 2});
                }
                ++at;
            } else {
                if (method.takes(source.unit(at), values_[count_])) {
                    ++at;
                } else {
                    source.go_to(at);
                    values_[count_] = method.draw(source);
                    long_.push_back({at, count_, source.at() - at});
                    at = source.at();
                }
                ++count_;
            }
        }
        end_ = at;
    }

    // Mends the draws if the first one begins at unit `begin`; says how many units of the next piece they
    // take.
    size_t join(const BitGenerator& start, const Method& method, size_t begin) {
        if (begin != 0) {
            CountedSource<Unit> source(start, begin);
            size_t next = 0, more = 0;  // of long_; units that the draws passed over take beyond one each
            while (source.at() < size_) {
                for (; next < long_.size() && long_[next].at + long_[next].units <= source.at(); ++next)
                    more += long_[next].units - 1;
                if (next == long_.size() || long_[next].at >= source.at()) break;
                before_.push_back({method.draw(source), source.at()});
            }
            first_ = source.at() < size_ ? source.at() - more : count_;
            if (source.at() >= size_) end_ = source.at();
        }
        return end_ - size_;
    }

    size_t count() const { return before_.size() + count_ - first_; }

    void write(Value* out, size_t count) const {
        const size_t early = std::min(count, before_.size());
        for (size_t i = 0; i < early; ++i) out[i] = before_[i].first;
        std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(first_), count - early, out + early);
    }

    // How many units lie before the end of draw `count - 1`.
    size_t units(size_t count) const {
        if (count <= before_.size()) return before_[count - 1].second;
        const size_t last = first_ + count - before_.size() - 1;
        size_t units = last + 1;
        for (const Long& each : long_) {
            if (each.draw > last) break;
            units += each.units - 1;
        }
        return units;
    }

private:
    struct Long {
        size_t at, draw, units;
    };
    std::vector<Value> values_;
    std::vector<Long> long_;
    std::vector<std::pair<Value, size_t>> before_;  // the true draws and where they end, up to draw first_
    size_t size_ = 0, count_ = 0, first_ = 0, end_ = 0;
};

// Draws by `method`:
//   Unit, Value       what is taken of the stream, and what is drawn
//   takes(unit, value)  whether that unit is a whole draw, and which
//   draw(source)      a whole draw of any number of units
//   kUnitsStandAlone  a unit that is no whole draw is refused, whatever was before it
// The stream begins with a whole word.
template <class Method>
void draw_by_pieces(BitGenerator& generator, std::span<typename Method::Value> out, const Method& method) {
    using Unit = typename Method::Unit;
    constexpr size_t kUnits = kPieceWords * (sizeof(uint64_t) / sizeof(Unit));
    const auto most = static_cast<size_t>(std::max(16, 4 * num_threads()));
    std::vector<DecodedPiece<Method>> pieces;
    std::vector<size_t> places;
    size_t begin = 0;  // of the first piece's first draw
    while (!out.empty()) {
        const size_t wave = std::min(most, (out.size() + out.size() / 64) / kUnits + 1);
        pieces.resize(wave);
        const auto start_of = [&](size_t piece) {
            BitGenerator start = generator;
            start.advance(piece * kPieceWords);
            return start;
        };
        parallel_for(static_cast<int64_t>(wave), [&](int64_t piece) {
            const auto k = static_cast<size_t>(piece);
            pieces[k].decode(start_of(k), method);
        });
        places.clear();
        size_t drawn = 0, used = 0;
        for (; used < wave && drawn < out.size(); ++used) {
            places.push_back(drawn);
            begin = pieces[used].join(begin == 0 ? generator : start_of(used), method, begin);
            drawn += pieces[used].count();
        }
        const size_t count = std::min(drawn, out.size());
        parallel_for(static_cast<int64_t>(used), [&](int64_t piece) {
            const auto k = static_cast<size_t>(piece);
            pieces[k].write(out.data() + places[k], std::min(pieces[k].count(), count - places[k]));
        });
        if (count == out.size()) {
            generator.advance((used - 1) * kPieceWords);
            advance_units<Unit>(generator, pieces[used - 1].units(count - places.back()));
        } else {
            generator.advance(used * kPieceWords);
        }
        out = out.subspan(count);
    }
}

// Draws of one unit each: `write` makes kEach values of a unit. The stream begins with a whole word.
template <class Unit, size_t kEach = 1, class Value, class Write>
void draw_apart(BitGenerator& generator, std::span<Value> out, const Write& write) {
    constexpr size_t kUnits = sizeof(uint64_t) / sizeof(Unit), kTogether = 256;
    const size_t units = (out.size() + kEach - 1) / kEach, words = (units + kUnits - 1) / kUnits;
    const size_t pieces = (words + kPieceWords - 1) / kPieceWords;
    const auto draw_piece = [&](int64_t piece) {
        BitGenerator own = generator;
        const size_t first = static_cast<size_t>(piece) * kPieceWords;
        own.advance(first);
        uint64_t buffer[kTogether];
        for (size_t word = first; word < std::min(words, first + kPieceWords); word += kTogether) {
            own.fill({buffer, std::min(kTogether, words - word)});
            const size_t base = word * kUnits;
            const size_t here = std::min(units - base, kTogether * kUnits);
            for (size_t k = 0; k < here; ++k) {
                Unit unit;
                std::memcpy(&unit, reinterpret_cast<const char*>(buffer) + k * sizeof unit, sizeof unit);
                Value* to = out.data() + (base + k) * kEach;
                if constexpr (kEach == 1) {
                    write(unit, to);
                } else if ((base + k + 1) * kEach <= out.size()) {
                    write(unit, to);
                } else {
                    Value last[kEach];
                    write(unit, last);
                    std::copy(last, last + (out.size() - (base + k) * kEach), to);
                }
            }
        }
    };
    if (pieces == 1) {
        draw_piece(0);
    } else {
        parallel_for(static_cast<int64_t>(pieces), draw_piece);
    }
    advance_units<Unit>(generator, units);
}

}  // namespace weft
