"""Code for newer instruction sets stays out of what every machine runs.

The loops are compiled once for each instruction set. An inline function that such an object shares with the rest of
the engine would be merged by the linker, which may keep the copy that an older machine cannot run. So whatever an
object for AVX2 or AVX-512 offers to others must carry the name of its instruction set.
"""

import pathlib
import subprocess

import pytest
import weft

BUILD = pathlib.Path(weft.__file__).absolute().parents[2]


@pytest.mark.measures
@pytest.mark.parametrize("isa", ["x86_64_v3", "x86_64_v4"])
def test_objects_share_nothing_unnamed(isa):
    objects = sorted((BUILD / "CMakeFiles" / f"weft_loops_{isa}.dir").rglob("*.o"))
    assert objects, f"no objects for {isa} under {BUILD}"
    listing = subprocess.run(
        ["nm", "--defined-only", "--extern-only", "--format=just-symbols", *objects],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    symbols = {line for line in listing.split("\n") if line and not line.endswith(":")}
    assert len(symbols) >= len(objects)
    assert {name for name in symbols if isa not in name} == set()
