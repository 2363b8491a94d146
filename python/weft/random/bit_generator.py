"""What streams start from, and the base of bit generators, where NumPy has them."""

from weft.random._bit_generators import BitGenerator
from weft.random._seed_sequence import (
    ISeedSequence,
    ISpawnableSeedSequence,
    SeedlessSeedSequence,
    SeedSequence,
)

__all__ = ["BitGenerator", "ISeedSequence", "ISpawnableSeedSequence", "SeedSequence", "SeedlessSeedSequence"]
