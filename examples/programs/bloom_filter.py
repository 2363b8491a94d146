"""Hashes of 64 bits: a mixing function, a Bloom filter, a count of distinct keys, random bits of xorshift.

python examples/programs/bloom_filter.py [keys]
"""

import sys

import numpy as np

SIZE = 500_000


def mix(x):
    """A finaliser in the manner of splitmix64: products wrap around at 64 bits."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def positions(keys, hashes, bits):
    first, second = mix(keys), mix(keys ^ np.uint64(0x9E3779B97F4A7C15)) | np.uint64(1)
    return (first[:, None] + np.arange(hashes, dtype=np.uint64) * second[:, None]) % np.uint64(bits)


def distinct(keys, registers=1024):
    """HyperLogLog: the most zeros in front, by register."""
    hashed = mix(keys)
    register = (hashed >> np.uint64(54)).astype(np.intp)
    rest = (hashed << np.uint64(10) | np.uint64(1 << 9)).astype(np.float64)
    zeros = 64 - np.frexp(rest)[1]
    most = np.zeros(registers, dtype=np.int64)
    np.maximum.at(most, register, zeros + 1)
    return 0.7213 / (1 + 1.079 / registers) * registers**2 / np.sum(2.0**-most)


def main(size=SIZE, hashes=4):
    keys = np.random.default_rng(27).integers(0, 2**63, size, dtype=np.uint64)
    bits = 10 * size // 8 * 8
    field = np.zeros(bits, dtype=bool)
    field[positions(keys, hashes, bits)] = True
    packed = np.packbits(field)
    others = keys + np.uint64(2**63)
    spots = positions(others, hashes, bits)
    byte = packed[spots // np.uint64(8)]
    present = (byte >> (7 - spots % np.uint64(8)).astype(np.uint8)) & 1
    state = mix(np.arange(1, 65, dtype=np.uint64))
    ones = np.zeros(64, dtype=np.int64)
    for _ in range(50):
        state ^= state << np.uint64(13)
        state ^= state >> np.uint64(7)
        state ^= state << np.uint64(17)
        ones += np.bitwise_count(state)
    return {
        "full": np.bitwise_count(packed).sum() / bits,
        "false": present.all(axis=1).mean(),
        "found": field[positions(keys[:1000], hashes, bits)].all(),
        "distinct": distinct(np.concatenate([keys, keys[: size // 2]])),
        "ones": ones,
        "check": np.bitwise_xor.reduce(state),
        "low words": state.view(np.uint32)[:8],
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"{result['full']:.3%} full, {result['false']:.4%} found by mistake, {result['distinct']:.0f} keys")
