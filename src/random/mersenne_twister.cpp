#include "random/mersenne_twister.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

namespace weft {

namespace {

constexpr uint32_t kTopBit = 0x80000000;

// A new word from an old one, the one behind it, and the one kShift words on.
constexpr uint32_t twisted(uint32_t here, uint32_t next, uint32_t far) {
    const uint32_t mixed = (here & kTopBit) | (next & ~kTopBit);
    return far ^ mixed >> 1 ^ ((mixed & 1) != 0 ? 0x9908b0df : 0);
}

constexpr uint32_t spread(uint32_t word) { return word ^ word >> 30; }

}  // namespace

void Mt19937::seed(uint32_t number) {
    for (uint32_t i = 0; i < kWords; ++i) {
        key[i] = number;
        number = 1812433253U * spread(number) + i + 1;
    }
    pos = kWords;
}

void Mt19937::seed(std::span<const uint32_t> numbers) {
    seed(19650218U);
    size_t place = 1, given = 0;
    const auto next_place = [&] {
        if (++place < kWords) return;
        key[0] = key[kWords - 1];
        place = 1;
    };
    for (size_t i = std::max<size_t>(kWords, numbers.size()); i > 0; --i) {
        key[place] =
            (key[place] ^ spread(key[place - 1]) * 1664525U) + numbers[given] + static_cast<uint32_t>(given);
        next_place();
        if (++given == numbers.size()) given = 0;
    }
    for (size_t i = kWords - 1; i > 0; --i) {
        key[place] = (key[place] ^ spread(key[place - 1]) * 1566083941U) - static_cast<uint32_t>(place);
        next_place();
    }
    key[0] = kTopBit;
}

void Mt19937::start(std::span<const uint32_t, kWords> words) {
    std::copy(words.begin(), words.end(), key.begin());
    key[0] = kTopBit;
    pos = kWords - 1;
}

void Mt19937::refill() {
    constexpr size_t kAll = kWords, kLater = kWords - kShift;
    for (size_t i = 0; i < kLater; ++i) key[i] = twisted(key[i], key[i + 1], key[i + kShift]);
    for (size_t i = kLater; i < kAll - 1; ++i) key[i] = twisted(key[i], key[i + 1], key[i - kLater]);
    key[kAll - 1] = twisted(key[kAll - 1], key[0], key[kShift - 1]);
    pos = 0;
}

void Mt19937::fill(std::span<double> out) {
    size_t i = 0;
    while (i < out.size()) {
        if (pos >= kWords - 1) {  // a number may begin in one block and end in the next
            out[i++] = next_double();
            continue;
        }
        const size_t count = std::min(out.size() - i, static_cast<size_t>(kWords - pos) / 2);
        const uint32_t* words = key.data() + pos;
        for (size_t k = 0; k < count; ++k) {
            const auto high = static_cast<int32_t>(tempered(words[2 * k]) >> 5);
            const auto low = static_cast<int32_t>(tempered(words[2 * k + 1]) >> 6);
            out[i + k] = (high * 67108864.0 + low) / 9007199254740992.0;
        }
        pos += static_cast<int32_t>(2 * count);
        i += count;
    }
}

// ---- the jump ----
//
// Haramoto, Matsumoto, Nishimura, Panneton and L'Ecuyer, "Efficient jump ahead for F2-linear random number
// generators", 2008: steps are products with x modulo the characteristic polynomial of the recurrence, so a
// jump is the polynomial x**(2**128), applied to the state.

namespace {

constexpr size_t kDegree = 19937;
constexpr size_t kPolynomialWords = kDegree / 64 + 1;
using Polynomial = std::vector<uint64_t>;  // bit k is the coefficient of x**k

bool has_term(const Polynomial& p, size_t k) { return (p[k / 64] >> k % 64 & 1) != 0; }

// target ^= source * x**shift
void add_shifted(Polynomial& target, const Polynomial& source, size_t words, size_t shift) {
    const size_t by = shift / 64;
    const auto bits = static_cast<unsigned>(shift % 64);
    for (size_t i = 0; i < words && i + by < target.size(); ++i) {
        target[i + by] ^= source[i] << bits;
        if (bits != 0 && i + by + 1 < target.size()) target[i + by + 1] ^= source[i] >> (64 - bits);
    }
}

// The characteristic polynomial, from twice as many top bits of words as its degree (Massey, "Shift-register
// synthesis and BCH decoding", 1969).
Polynomial characteristic_polynomial() {
    const auto twister = std::make_unique<Mt19937>();
    twister->seed(1);
    constexpr size_t kWordsOfAll = 2 * kPolynomialWords + 1;
    Polynomial current(kWordsOfAll), before(kWordsOfAll), last_bits(kPolynomialWords + 1);
    current[0] = before[0] = 1;
    size_t length = 0, since = 1;
    for (size_t n = 0; n < 2 * kDegree; ++n) {
        for (size_t i = last_bits.size() - 1; i > 0; --i)
            last_bits[i] = last_bits[i] << 1 | last_bits[i - 1] >> 63;
        last_bits[0] = last_bits[0] << 1 | (twister->next32() & 1);
        uint64_t product = 0;
        const size_t words = length / 64 + 1;
        for (size_t i = 0; i < words; ++i) product ^= current[i] & last_bits[i];
        if (std::popcount(product) % 2 == 0) {
            ++since;
        } else if (2 * length <= n) {
            const Polynomial kept = current;
            add_shifted(current, before, kPolynomialWords, since);
            length = n + 1 - length;
            before = kept;
            since = 1;
        } else {
            add_shifted(current, before, kPolynomialWords, since);
            ++since;
        }
    }
    Polynomial reversed(kPolynomialWords);  // what is found counts powers from the other end
    for (size_t k = 0; k <= kDegree; ++k) {
        if (has_term(current, k)) reversed[(kDegree - k) / 64] |= uint64_t{1} << (kDegree - k) % 64;
    }
    return reversed;
}

// p**2 modulo the polynomial of these terms and x**kDegree. The next term below that is more than 64 powers
// lower, so a word of terms is replaced at once.
Polynomial squared(const Polynomial& p, const std::vector<size_t>& lower_terms) {
    Polynomial square(2 * kPolynomialWords);
    for (size_t k = 0; k < kDegree; ++k) {
        if (has_term(p, k)) square[2 * k / 64] |= uint64_t{1} << 2 * k % 64;
    }
    constexpr size_t kLastWord = kDegree / 64;
    for (size_t word = square.size() - 1; word >= kLastWord; --word) {
        const size_t kept = word == kLastWord ? kDegree % 64 : 0;
        const uint64_t terms = square[word] >> kept;
        square[word] ^= terms << kept;
        for (const size_t term : lower_terms) {
            const size_t place = word * 64 + kept - kDegree + term;
            square[place / 64] ^= terms << place % 64;
            if (place % 64 != 0) square[place / 64 + 1] ^= terms >> (64 - place % 64);
        }
    }
    square.resize(kPolynomialWords);
    return square;
}

const Polynomial& jump_polynomial() {
    static const Polynomial polynomial = [] {
        const Polynomial modulus = characteristic_polynomial();
        std::vector<size_t> lower_terms;
        for (size_t k = 0; k < kDegree; ++k) {
            if (has_term(modulus, k)) lower_terms.push_back(k);
        }
        Polynomial power(kPolynomialWords);
        power[0] = 2;
        for (int i = 0; i < 128; ++i) power = squared(power, lower_terms);
        return power;
    }();
    return polynomial;
}

}  // namespace

// One word in place.
void Mt19937::step() {
    const auto at = static_cast<size_t>(pos);
    const auto on = [&](size_t steps) { return key[(at + steps) % kWords]; };
    key[at] = twisted(key[at], on(1), on(kShift));
    pos = (pos + 1) % kWords;
}

void Mt19937::jump() {
    const Polynomial& polynomial = jump_polynomial();
    if (pos >= kWords) pos = 0;
    size_t k = kDegree - 1;
    while (!has_term(polynomial, k)) --k;
    Mt19937 sum = *this;
    while (k-- > 0) {  // by Horner's rule
        sum.step();
        if (!has_term(polynomial, k)) continue;
        for (int i = 0, to = sum.pos, from = pos; i < kWords; ++i) {
            sum.key[static_cast<size_t>(to)] ^= key[static_cast<size_t>(from)];
            if (++to == kWords) to = 0;
            if (++from == kWords) from = 0;
        }
    }
    *this = sum;
}

}  // namespace weft
