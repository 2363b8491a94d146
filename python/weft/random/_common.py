"""What bit generators tell other libraries about themselves, where NumPy has it."""

import collections

interface = collections.namedtuple(
    "interface", ["state_address", "state", "next_uint64", "next_uint32", "next_double", "bit_generator"]
)
