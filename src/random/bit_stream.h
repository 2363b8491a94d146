// The owner of a stream that stays where it is, so that others may draw from it through its source
// (random/bit_source.h).
#pragma once

#include <optional>
#include <variant>

#include "random/bit_source.h"

namespace weft {

class BitStream {
public:
    using State = std::variant<BitGenerator, Mt19937, Sfc64>;

    explicit BitStream(const State& state)
        : state_(state), source_(std::visit([](auto& each) { return source_of(each); }, state_)) {}
    BitStream(const BitStream&) = delete;
    BitStream& operator=(const BitStream&) = delete;
    ~BitStream() = default;

    BitSource& source() { return source_; }

private:
    State state_;
    BitSource source_;
};

// A copy of weft's own stream behind a source; nothing of the streams of others.
inline std::optional<BitStream::State> state_of(const BitSource& source) {
    if (const BitGenerator* generator = generator_of(source)) return *generator;
    if (const Mt19937* twister = twister_of(source)) return *twister;
    if (const Sfc64* stream = sfc64_of(source)) return *stream;
    return std::nullopt;
}

// Whether the state is one of the source's kind, which it then has.
inline bool set_state(const BitSource& source, const BitStream::State& state) {
    if (BitGenerator* generator = generator_of(source)) {
        const auto* given = std::get_if<BitGenerator>(&state);
        if (given == nullptr || given->algorithm != generator->algorithm) return false;
        *generator = *given;
    } else if (Mt19937* twister = twister_of(source)) {
        const auto* given = std::get_if<Mt19937>(&state);
        if (given == nullptr) return false;
        *twister = *given;
    } else if (Sfc64* stream = sfc64_of(source)) {
        const auto* given = std::get_if<Sfc64>(&state);
        if (given == nullptr) return false;
        *stream = *given;
    } else {
        return false;
    }
    return true;
}

// Takes back what was drawn while it lived, unless kept: draws that fail leave the stream as it was.
class Rewind {
public:
    explicit Rewind(const BitSource& source, SpareNormal* spare = nullptr)
        : source_(source), state_(state_of(source)), spare_(spare) {
        if (spare != nullptr) kept_spare_ = *spare;
    }
    Rewind(const Rewind&) = delete;
    Rewind& operator=(const Rewind&) = delete;
    ~Rewind() {
        if (kept_) return;
        if (state_) set_state(source_, *state_);
        if (spare_ != nullptr) *spare_ = kept_spare_;
    }
    void keep() { kept_ = true; }

private:
    const BitSource& source_;
    std::optional<BitStream::State> state_;
    SpareNormal* spare_;
    SpareNormal kept_spare_;
    bool kept_ = false;
};

}  // namespace weft
