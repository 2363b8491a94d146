"""What mpmath says of a function, and how far a result may be from it (docs/reference/accuracy.md)."""

import os
import tomllib
from pathlib import Path

import numpy
import pytest

mpmath = pytest.importorskip("mpmath")

mp = mpmath.mp
ROOT = Path(__file__).parents[3]
TABLE = {row["name"]: row for row in tomllib.loads((ROOT / "src/ops/op_table.toml").read_text())["op"]}
LIMIT = 4.0
ON_GPU = os.environ.get("WEFT_DEVICE", "cpu") not in ("", "cpu")


def bound(name, kind="ulp"):
    """What a function may be off by; on a GPU, where it may be NVIDIA's, all that is allowed to any."""
    stated = TABLE[name].get(kind, 0.5)
    return LIMIT if ON_GPU and stated > 0.5 else stated


def unit_in_last_place(exact, info):
    exponent = max(mp.frexp(exact)[1], info.minexp + 1)
    return mp.mpf(2) ** (exponent - info.nmant - 1)


def error(got, exact, info):
    if exact == 0:
        return 0.0 if got == 0 else float("inf")
    if numpy.isinf(got):
        overflow = mp.mpf(float(info.max)) + mp.mpf(2) ** (info.maxexp - info.nmant - 2)
        return 0.0 if abs(exact) >= overflow else float("inf")
    if numpy.isnan(got):
        return float("inf")
    return float(abs(mp.mpf(float(got)) - exact) / unit_in_last_place(exact, info))
