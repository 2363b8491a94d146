"""Code for newer instruction sets stays out of what every machine runs.

The loops are compiled once for each instruction set. An inline function that such an object shares with the rest of
the engine would be merged by the linker, which may keep the copy that an older machine cannot run. So whatever an
object for AVX2 or AVX-512 offers to others must carry the name of its instruction set.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest
import weft

BUILD = pathlib.Path(weft.__file__).absolute().parents[2]
TESTS = pathlib.Path(__file__).absolute().parents[1]


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


RESULTS = """
import hashlib, json, sys
sys.path.insert(0, {folder!r})
import test_tiers, weft, numpy
digests = {{}}
for name, program in test_tiers.PROGRAMS.items():
    with weft.config(small=0):
        digests[name] = hashlib.sha256(numpy.asarray(program(weft)).tobytes()).hexdigest()
print(json.dumps(digests))
"""


def run(command, **environment):
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "WEFT_CACHE": "0", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.host
def test_kernels_for_other_processors_give_the_same_bits():
    program = RESULTS.format(folder=str(TESTS / "engine"))
    here, older, oldest = (
        json.loads(run(["-c", program], WEFT_CPU=cpu)) for cpu in ("", "haswell", "x86-64-v2")
    )
    assert len(here) > 30
    assert here == older
    assert here == oldest


@pytest.mark.host
def test_a_part_of_the_suite_for_another_processor():
    chosen = [str(TESTS / name) for name in ("numpy/test_scans.py", "engine/test_stencil_loops.py")]
    output = run(["-m", "pytest", "-v", "-x", "-p", "no:cacheprovider", *chosen], WEFT_CPU="haswell")
    assert " passed" in output
