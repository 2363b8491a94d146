// A stream's numbers by all threads, for random/draw.cpp. The stream is cut into pieces, which the threads
// take one after another. Where a draw takes as many units of the stream as it happens to refuse, a piece
// does not know where its first draw begins: it tries its first unit. When it is joined to the pieces before,
// that guess is right or the true draws are made until they meet the guessed ones, which is soon: nearly
// every draw takes one unit. Where its draws belong is known then too, and they are copied there.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/nontemporal_copy.h"
#include "core/threads/thread_pool.h"
#include "random/bit_generator.h"

namespace weft {

constexpr size_t kPieceWords = 4096;
constexpr size_t kLastPieceWords = 512;

template <class Unit, class Source>
Unit next_unit(Source& source) {
    if constexpr (sizeof(Unit) == sizeof(uint64_t)) {
        return source.next64();
    } else {
        return static_cast<Unit>(source.next32());
    }
}

// What a method draws of the next units: a number, or nothing.
template <class Method, class Source>
bool attempt(const Method& method, Source& source, typename Method::Value& value) {
    using Unit = typename Method::Unit;
    const Unit unit = next_unit<Unit>(source);
    if (method.takes(unit, value)) return true;
    if constexpr (Method::kHasWedges) {
        if (method.in_wedge(unit)) return method.accepts(value, unit, next_unit<Unit>(source));
        value = method.tail(unit, source);
        return true;
    }
    return false;
}

// The numbers of a piece as a source of draws, which may run on into what follows it. Units are what the
// draws take: whole words, or halves of them.
template <class Unit>
class PieceSource {
public:
    void begin(const BitGenerator& start, size_t words) {
        behind_ = start;
        behind_.fill({words_.get(), words});
        size_ = words * (sizeof(uint64_t) / sizeof(Unit));
        go_back(0);
    }

    size_t size() const { return size_; }
    const Unit* units() const { return reinterpret_cast<const Unit*>(words_.get()); }
    size_t at() const { return at_; }
    // Within the piece, from a place in it.
    void go_to(size_t at) { at_ = at; }
    void go_back(size_t at) {
        at_ = at;
        rest_ = behind_;
    }

    uint64_t next64() { return at_ < size_ ? units()[at_++] : (++at_, rest_.next64()); }
    uint32_t next32() {
        return at_ < size_ ? static_cast<uint32_t>(units()[at_++]) : (++at_, rest_.next32());
    }
    double next_double() { return to_double(next64()); }
    float next_float() { return to_float(next32()); }

private:
    std::unique_ptr<uint64_t[]> words_ = std::make_unique_for_overwrite<uint64_t[]>(kPieceWords);
    BitGenerator behind_, rest_;
    size_t size_ = 0, at_ = 0;
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

// The draws of a piece. What takes other than one unit for one number is listed.
template <class Method>
class DecodedPiece {
public:
    using Unit = typename Method::Unit;
    using Value = typename Method::Value;

    void decode(const BitGenerator& start, size_t words, const Method& method) {
        source_.begin(start, words);
        size_ = source_.size();
        odd_.clear();
        wedges_.clear();
        before_.clear();
        first_ = count_ = 0;
        size_t at = 0;
        while (at < size_) {
            const size_t run = method.run(source_.units() + at, size_ - at, values_.get() + count_);
            at += run;
            count_ += run;
            if (at == size_) break;
            add_odd(at, method);
            at = source_.at();
        }
        end_ = at;
        if constexpr (Method::kHasWedges) decide_wedges(method);
    }

    // Mends the draws if the first one begins at unit `begin`; says how many units of the next piece they
    // take.
    size_t join(const Method& method, size_t begin) {
        if (begin >= size_) {
            first_ = count_;
            end_ = begin;
        } else if (begin != 0) {
            source_.go_back(begin);
            size_t next = 0, more = 0;  // of odd_; units that what is passed over takes beyond its numbers
            while (source_.at() < size_) {
                for (; next < odd_.size() && odd_[next].at + odd_[next].units <= source_.at(); ++next)
                    more += odd_[next].units - odd_[next].numbers;
                if (next == odd_.size() || odd_[next].at >= source_.at()) break;
                Value value{};
                if (attempt(method, source_, value)) before_.push_back({value, source_.at()});
            }
            first_ = source_.at() < size_ ? source_.at() - more : count_;
            if (source_.at() >= size_) end_ = source_.at();
        }
        return end_ - size_;
    }

    size_t count() const { return before_.size() + count_ - first_; }

    void write(Value* out, size_t count, bool nontemporal) const {
        const size_t early = std::min(count, before_.size());
        for (size_t i = 0; i < early; ++i) out[i] = before_[i].first;
        const Value* from = values_.get() + first_;
        if (nontemporal) {
            copy_nontemporal(out + early, from, (count - early) * sizeof(Value));
        } else {
            std::copy_n(from, count - early, out + early);
        }
    }

    // How many units lie before the end of draw `count - 1`.
    size_t units(size_t count) const {
        if (count <= before_.size()) return before_[count - 1].second;
        const size_t last = first_ + count - before_.size() - 1;
        size_t units = last + 1;
        for (const Odd& each : odd_) {
            if (each.draw > last) break;
            units += each.units - each.numbers;
        }
        return units;
    }

private:
    // An attempt that takes other than one unit, or makes no number; `draw` numbers are before it.
    struct Odd {
        size_t at, draw;
        uint32_t units, numbers;
    };
    struct Wedge {
        size_t odd;
        Unit unit, next;
    };

    void add_odd(size_t at, const Method& method) {
        source_.go_to(at + 1);
        if constexpr (Method::kHasWedges) {
            const Unit unit = source_.units()[at];
            if (method.in_wedge(unit)) {
                wedges_.push_back({odd_.size(), unit, next_unit<Unit>(source_)});
            } else {
                values_[count_] = method.tail(unit, source_);
            }
            odd_.push_back({at, count_, static_cast<uint32_t>(source_.at() - at), 1});
            ++count_;
        } else {
            odd_.push_back({at, count_, 1, 0});
        }
    }

    // What a wedge makes does not change where the next draw begins: so all of a piece are decided together,
    // and what they do not accept is taken out.
    void decide_wedges(const Method& method) {
        for (const Wedge& wedge : wedges_) {
            Odd& odd = odd_[wedge.odd];
            odd.numbers = method.accepts(values_[odd.draw], wedge.unit, wedge.next) ? 1 : 0;
        }
        size_t gone = 0, begin = 0;  // values that are, and the first one behind them
        const auto close_gap = [&](size_t end) {
            if (gone != 0) std::copy(&values_[begin], &values_[end], &values_[begin - gone]);
        };
        for (Odd& odd : odd_) {
            const size_t draw = odd.draw;
            odd.draw -= gone;
            if (odd.numbers != 0) continue;
            close_gap(draw);
            begin = draw + 1;
            ++gone;
        }
        close_gap(count_);
        count_ -= gone;
    }

    static constexpr size_t kMostValues = kPieceWords * (sizeof(uint64_t) / sizeof(Unit));
    PieceSource<Unit> source_;
    std::unique_ptr<Value[]> values_ = std::make_unique_for_overwrite<Value[]>(kMostValues);
    std::vector<Odd> odd_;
    std::vector<Wedge> wedges_;
    std::vector<std::pair<Value, size_t>> before_;  // the true draws and where they end, up to draw first_
    size_t size_ = 0, count_ = 0, first_ = 0, end_ = 0;
};

// Draws by `method`:
//   Unit, Value         what is taken of the stream, and what is drawn
//   takes(unit, value)  whether that unit is a number, and which; if not, what a wedge would accept
//   run(units, count, out)  the numbers before the first unit that is none, and what takes() makes of that;
//                       says how many
//   kHasWedges          other units are none; or see ziggurat.h
// The stream begins with a whole word.
template <class Method>
class PieceDrawing {
public:
    using Unit = typename Method::Unit;
    using Value = typename Method::Value;

    PieceDrawing(const BitGenerator& generator, std::span<Value> out, const Method& method, bool nontemporal)
        : generator_(generator), out_(out), method_(method), nontemporal_(nontemporal) {}

    // Gives the generator behind the last draw.
    BitGenerator run() {
        // Memory is taken before threads wait for each other.
        std::vector<Pieces> pieces(std::min<size_t>(static_cast<size_t>(num_threads()), whole_ + 1));
        if (pieces.size() == 1) {
            work(pieces[0]);
        } else {
            parallel_for(static_cast<int64_t>(pieces.size()),
                         [&](int64_t thread) { work(pieces[static_cast<size_t>(thread)]); });
        }
        BitGenerator behind = generator_;
        behind.advance(first_word(last_piece_));
        advance_units<Unit>(behind, last_units_);
        return behind;
    }

private:
    struct Pieces {
        DecodedPiece<Method> own, others;
    };

    // Whole pieces as long as all of their numbers are needed, then shorter ones.
    size_t first_word(size_t piece) const {
        const size_t whole = std::min(piece, whole_);
        return whole * kPieceWords + (piece - whole) * kLastPieceWords;
    }

    void work(Pieces& pieces) {
        const struct Finish {
            bool nontemporal;
            ~Finish() {
                if (nontemporal) finish_copies();
            }
        } finish{nontemporal_};
        while (true) {
            pause_task();
            const size_t k = claimed_.fetch_add(1, std::memory_order_relaxed);
            size_t joined = joined_.load(std::memory_order_acquire);
            if (joined == kAll) break;
            if (joined > k) continue;
            decode(pieces.own, k);
            for (joined = wait_for(k); joined < k; joined = wait_for(k)) {
                decode(pieces.others, joined);
                join(pieces.others, joined);
            }
            join(pieces.own, k);
        }
    }

    // Waits until the pieces before `piece` are joined; not for long, since who decodes one of them may not
    // be running. Says how many are.
    size_t wait_for(size_t piece) const {
        constexpr auto kPatience = std::chrono::microseconds(20);  // a piece takes a third of it
        size_t joined = joined_.load(std::memory_order_acquire);
        if (joined >= piece) return joined;
        const auto end = std::chrono::steady_clock::now() + kPatience;
        do {
            for (int turn = 0; turn < 16; ++turn) {
                joined = joined_.load(std::memory_order_acquire);
                if (joined >= piece) return joined;
#if defined(__x86_64__)
                __builtin_ia32_pause();
#endif
            }
        } while (std::chrono::steady_clock::now() < end);
        return joined;
    }

    void decode(DecodedPiece<Method>& piece, size_t k) {
        BitGenerator start = generator_;
        start.advance(first_word(k));
        piece.decode(start, first_word(k + 1) - first_word(k), method_);
    }

    // Joins piece k, which is the next, and writes its numbers; unless another thread did.
    void join(DecodedPiece<Method>& piece, size_t k) {
        size_t place = 0, count = 0;
        {
            const std::lock_guard lock(mutex_);
            if (joined_.load(std::memory_order_relaxed) != k) return;
            place = drawn_;
            begin_ = piece.join(method_, begin_);
            count = std::min(piece.count(), out_.size() - place);
            drawn_ += count;
            if (drawn_ == out_.size()) {
                last_piece_ = k;
                last_units_ = piece.units(count);
            }
            joined_.store(drawn_ == out_.size() ? kAll : k + 1, std::memory_order_release);
        }
        piece.write(out_.data() + place, count, nontemporal_);
    }

    static constexpr size_t kAll = SIZE_MAX;
    const BitGenerator& generator_;
    const std::span<Value> out_;
    const Method& method_;
    const bool nontemporal_;
    const size_t whole_ = out_.size() / (kPieceWords * (sizeof(uint64_t) / sizeof(Unit)));

    alignas(64) std::atomic<size_t> claimed_{0};
    alignas(64) std::atomic<size_t> joined_{0};  // pieces
    std::mutex mutex_;                           // of what follows
    size_t begin_ = 0;                           // of the next piece's first draw
    size_t drawn_ = 0;
    size_t last_piece_ = 0, last_units_ = 0;
};

template <class Method>
void draw_by_pieces(BitGenerator& generator, std::span<typename Method::Value> out, const Method& method,
                    bool nontemporal) {
    generator = PieceDrawing<Method>(generator, out, method, nontemporal).run();
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
