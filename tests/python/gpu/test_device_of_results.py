"""What a function makes besides its arguments is where these are, whatever device is the current one."""

import os
import zlib

import numpy
import pytest
import weft as np
from every_function import TABLE
from on_gpu import needs_gpu
from random_calls import Array, Call, Draw, made

pytestmark = needs_gpu

PLACES = [("cpu", "cuda"), ("cuda", "cpu")]
CALLS = int(os.environ.get("WEFT_CALLS", "1"))  # of each function


def other_places(function, arguments, options, where, current):
    """What is wrong with a call whose arrays are `where` while `current` is the current device, or ""."""
    with np.device(where):
        arguments, options = made(arguments, np), made(options, np)
    with np.device(current):
        result, _ = Call._outcome(function, arguments, options)
    if isinstance(result, Exception):
        return str(result) if "cannot take part" in str(result) else ""
    results = result if isinstance(result, tuple) else (result,)
    wrong = [x.device for x in results if isinstance(x, np.ndarray) and x.ndim and x.device.type != where]
    return f"results on {wrong}" if wrong else ""


@pytest.mark.parametrize("where, current", PLACES)
@pytest.mark.parametrize("name", sorted(TABLE))
def test_random_calls(name, where, current):
    for turn in range(CALLS):
        call = TABLE[name](Draw(1, zlib.crc32(name.encode()), turn))
        if "device" in call.options or not any(isinstance(x, Array) for x in call.arguments):
            continue
        wrong = other_places(getattr(np, name), call.arguments, call.options, where, current)
        assert not wrong, f"call {turn} of {name}{call!r}: {wrong}"


VALUES = numpy.random.default_rng(0).standard_normal((4, 4))
POSITIVE = VALUES @ VALUES.T + 4 * numpy.eye(4)
TALL = VALUES[:, :2].copy()
LINALG = {
    "lstsq": [(TALL, TALL[:, :0]), (VALUES, TALL)],
    "pinv": [(TALL,)],
    "cond": [(VALUES,), (VALUES, 1)],
    "matrix_power": [(VALUES, 0), (VALUES, -3)],
    "matrix_rank": [(TALL,)],
    "norm": [(VALUES, 2), (VALUES, "nuc")],
    "tensorinv": [(VALUES.reshape(2, 2, 2, 2),)],
}
SCIPY = {
    **{
        name: [(POSITIVE,)]
        for name in "lu expm logm sqrtm schur hessenberg ldl polar null_space orth svd qr eigh eig pinv det inv".split()
    },
    "toeplitz": [(POSITIVE[0],)],
    "circulant": [(POSITIVE[0],)],
    "block_diag": [(VALUES, TALL)],
    "eigh": [(POSITIVE, POSITIVE), (POSITIVE,)],
    "solve": [(VALUES, TALL)],
    "solve_triangular": [(VALUES, TALL)],
    "solve_toeplitz": [(POSITIVE[0], VALUES[0])],
    "lstsq": [(TALL, TALL)],
}


@pytest.mark.parametrize("where, current", PLACES)
@pytest.mark.parametrize(
    "module, name", [("linalg", name) for name in LINALG] + [("scipy.linalg", name) for name in SCIPY]
)
def test_linear_algebra(module, name, where, current):
    function = getattr(np.linalg if module == "linalg" else np.scipy.linalg, name)
    for arguments in (LINALG if module == "linalg" else SCIPY)[name]:
        with np.device(where):
            moved = [np.asarray(x) if isinstance(x, numpy.ndarray) else x for x in arguments]
        assert not other_places(function, moved, {}, where, current)


def test_scalars_stay_where_their_array_is(device):
    x = np.asarray([3.0, 4.0])
    for scalar in (x[0], x[-2], x[:1].reshape(())[()], x.sum() - 4, x.reshape(1, 2)[0, 0]):
        assert scalar.device == device
        assert np.asarray(scalar).device == np.array(scalar).device == device
        assert type(scalar) is np.float64 and float(scalar) == 3.0
    kept = x[1]
    x[1] = 9.0
    assert float(kept) == 4.0
    assert np.asarray(x.max()).device == np.asarray(kept).device == device
    assert np.float64(1).device == "cpu" and bool((x > 5)[1])
