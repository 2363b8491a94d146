#include "random/bit_source.h"

namespace weft {

namespace {

template <class Stream>
uint64_t next64(void* state) {
    return static_cast<Stream*>(state)->next64();
}

template <class Stream>
uint32_t next32(void* state) {
    return static_cast<Stream*>(state)->next32();
}

template <class Stream>
double next_double(void* state) {
    return static_cast<Stream*>(state)->next_double();
}

uint64_t next_word_of_twister(void* state) { return static_cast<Mt19937*>(state)->next32(); }

}  // namespace

BitSource source_of(BitGenerator& generator) {
    return {&generator, next64<BitGenerator>, next32<BitGenerator>, next_double<BitGenerator>,
            next64<BitGenerator>};
}

BitSource source_of(Mt19937& twister) {
    return {&twister, next64<Mt19937>, next32<Mt19937>, next_double<Mt19937>, next_word_of_twister};
}

BitSource source_of(Sfc64& stream) {
    return {&stream, next64<Sfc64>, next32<Sfc64>, next_double<Sfc64>, next64<Sfc64>};
}

BitGenerator* generator_of(const BitSource& source) {
    return source.next_uint64 == next64<BitGenerator> ? static_cast<BitGenerator*>(source.state) : nullptr;
}

Mt19937* twister_of(const BitSource& source) {
    return source.next_uint64 == next64<Mt19937> ? static_cast<Mt19937*>(source.state) : nullptr;
}

Sfc64* sfc64_of(const BitSource& source) {
    return source.next_uint64 == next64<Sfc64> ? static_cast<Sfc64*>(source.state) : nullptr;
}

}  // namespace weft
