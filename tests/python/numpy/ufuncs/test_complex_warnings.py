"""ComplexWarning wherever imaginary parts are lost, once for each cast that NumPy has."""

import warnings

import numpy
import pytest
import weft

CASES = {
    "sum": lambda xp, z: z.sum(dtype="f"),
    "mean": lambda xp, z: z.mean(dtype="f"),
    "cumsum": lambda xp, z: xp.cumsum(z, dtype="f"),
    "cumsum into": lambda xp, z: xp.cumsum(z, out=xp.zeros(8, "f")),
    "nansum": lambda xp, z: xp.nansum(z, dtype="f"),
    "nanmean": lambda xp, z: xp.nanmean(z, dtype="f"),
    "std": lambda xp, z: xp.std(z, dtype="f"),
    "nanvar": lambda xp, z: xp.nanvar(z, dtype="f"),
    "std into": lambda xp, z: xp.std(z, out=xp.zeros((), "f")),
    "all": lambda xp, z: xp.all(z, out=xp.zeros((), "f")),
    "argmax": lambda xp, z: xp.argmax(z, out=xp.zeros((), int)),
    "trace": lambda xp, z: xp.trace(z.reshape(2, 4), dtype="f"),
    "reduce": lambda xp, z: xp.add.reduce(z, dtype="f"),
    "accumulate": lambda xp, z: xp.add.accumulate(z, dtype="f"),
    "reduceat": lambda xp, z: xp.add.reduceat(z, [0, 3], dtype="f"),
    "unsafe dtype": lambda xp, z: xp.add(z, 1, dtype="f", casting="unsafe"),
    "unsafe out": lambda xp, z: xp.add(z, 1, out=xp.zeros(8, "f"), casting="unsafe"),
    "real result": lambda xp, z: xp.abs(z, out=xp.zeros(8, "f"), casting="unsafe"),
    "matmul": lambda xp, z: xp.matmul(z, z, dtype="f", casting="unsafe"),
    "concatenate": lambda xp, z: xp.concatenate([z, z], dtype="f", casting="unsafe"),
    "stack": lambda xp, z: xp.stack([z, xp.zeros(8)], dtype="f", casting="unsafe"),
    "take": lambda xp, z: xp.take(z, [1], out=xp.zeros(1, "f"), mode="clip"),
    "element": lambda xp, z: xp.zeros(8, "f").__setitem__(0, z[0]),
    "integer element": lambda xp, z: xp.zeros(8, "i").__setitem__(0, z[0]),
    "all elements": lambda xp, z: xp.zeros(8, "f").__setitem__(slice(None), z[0]),
    "by a mask": lambda xp, z: xp.zeros(8, "f").__setitem__(xp.ones(8, bool), z[0]),
    "by positions": lambda xp, z: xp.zeros(8, "f").__setitem__([1, 2], z[0]),
    "fill": lambda xp, z: xp.zeros(8, "f").fill(z[0]),
    "put": lambda xp, z: xp.put(xp.zeros(8, "f"), [1], z[0]),
    "insert": lambda xp, z: xp.insert(xp.zeros(8, "f"), [1], z[0]),
    "copyto": lambda xp, z: xp.copyto(xp.zeros(8, "f"), z[0], casting="unsafe"),
    "full": lambda xp, z: xp.full(8, 1j, dtype="f"),
    "full of an array": lambda xp, z: xp.full(8, z, dtype="f"),
    "full of bools": lambda xp, z: xp.full(8, 1j, dtype=bool),
    "list of scalars": lambda xp, z: xp.array([z[0], 1], dtype="f"),
    "scalar": lambda xp, z: xp.float32(z[0]),
    "integer scalar": lambda xp, z: xp.int64(z[0]),
    "scalar of an array": lambda xp, z: xp.float64(z),
    "real": lambda xp, z: setattr(z, "real", z),
    "imag": lambda xp, z: setattr(z, "imag", 1j),
}


@pytest.mark.parametrize("case", CASES)
def test_as_numpy(case):
    told = []
    for xp in (numpy, weft):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            CASES[case](xp, xp.ones(8, "F"))
        told.append([(each.category.__name__, str(each.message)) for each in caught])
    assert told[0] == told[1]
