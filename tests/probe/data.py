"""Files, texts, pickles and memory of others that are damaged or lie.

Each case makes some data, changes them, and gives them to weft and to NumPy. Nothing may end the process; memory is not
asked for because a header says so; and where both read something, it is the same.
"""

import random

import cases
import data_of_dlpack
import data_of_files
import data_of_lenders
import data_of_owners
import data_of_pickles
import forked

FULL = 100_000
BATCH = 4_000
SAMPLE = 600

ROOM = 3 << 30  # bytes of addresses that a process may have: whoever believes a header asks for more

FAMILIES = {
    **data_of_files.FAMILIES,
    **data_of_pickles.FAMILIES,
    **data_of_lenders.FAMILIES,
    **data_of_dlpack.FAMILIES,
    **data_of_owners.FAMILIES,
}


def environment():
    return {
        "WEFT_CACHE": "0", "WEFT_TIER": "block", "WEFT_NUM_THREADS": "2", "WEFT_GUARD": "1",
        "WEFT_CUDA_DRIVER": str(forked.library("fake_driver")),
    }  # fmt: skip


def prepare():
    import numpy  # noqa: F401
    import weft

    weft.eval(weft.arange(10_000.0) + 1)  # threads have begun
    cases.limit_addresses(ROOM)


def case(seed, number):
    draw = random.Random(seed * 1_000_003 + number)
    return FAMILIES[draw.choice(list(FAMILIES))](draw)
