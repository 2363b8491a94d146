"""Where NumPy 2.4 and 2.5 differ, the installed one decides. Here each is no more than its version, which is all that
weft looks at: nothing below asks NumPy itself."""

import os
import pathlib
import subprocess
import sys

import pytest
import weft

BUILT = pathlib.Path(weft.__file__).parents[1]

BEGIN = """
import sys, warnings
import weft as np

def told(work):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        work()
    assert all(each.filename == __file__ for each in found), [each.filename for each in found]
    return [each.category.__name__ for each in found]

def error(work):
    try:
        work()
    except Exception as found:
        return type(found).__name__

def of_new(*names):
    return list(names) if NEW else []

NEW = sys.argv[1] == "2.5"
x = np.arange(4.0)
"""

CASES = {
    "shape": """
assert told(lambda: setattr(x, "shape", (2, 2))) == of_new("DeprecationWarning")
assert x.shape == (2, 2)
x._set_shape((4,))
assert x.shape == (4,)
""",
    "dtype": """
assert told(lambda: setattr(x, "dtype", "i8")) == of_new("DeprecationWarning")
assert x.dtype == "int64"
x._set_dtype("f8")
assert x.dtype == "float64"
""",
    "fix and typename": """
assert told(lambda: np.fix(1.5)) == told(lambda: np.typename("d")) == of_new("DeprecationWarning")
""",
    "triangles": """
assert told(lambda: np.tri(3, M=2.5)) == of_new("DeprecationWarning")
assert told(lambda: np.tril_indices_from(np.ones((3, 3)), k=1.5)) == of_new("DeprecationWarning")
assert told(lambda: np.triu_indices(3, np.bool(0))) == of_new("DeprecationWarning")
assert told(lambda: np.triu_indices(np.uint8(3), 1)) == []
""",
    "errors": """
assert error(lambda: np.cross([1, 2], [3, 4])) == ("ValueError" if NEW else None)
assert error(lambda: np.finfo(None)) == ("TypeError" if NEW else None)
assert (error(lambda: np.bincount([1.0, 2.0])) is None) != NEW
assert (error(lambda: np.where([True], 300, np.array([1], "i1"))) is None) != NEW
""",
    "meshgrid": """
assert type(np.meshgrid([1], [2], sparse=True, copy=False)) is (tuple if NEW else list)
""",
    "take": """
out = np.zeros(2, "u4")
found = error(lambda: np.take(np.arange(3, dtype="i4"), [1, 2], out=out))
assert (found is None) == NEW
assert out.tolist() == ([1, 2] if NEW else [0, 0])
out = np.zeros(2, "i4")
assert told(lambda: np.compress([0, 1, 1], np.arange(3.0), out=out)) == of_new("DeprecationWarning")
assert out.tolist() == [1, 2]
""",
    "patterns": """
match np.arange(2):
    case [a, b]:
        found = [a, b]
    case _:
        found = None
assert found == ([0, 1] if NEW else None)
""",
    "binomial": """
assert np.random.default_rng(3).binomial(1000, 0.4, size=200000).sum() == (79997797 if NEW else 79997660)
assert np.random.RandomState(3).multinomial(1000, [0, 0.4, 0.6], size=5)[:, 1].tolist() == (
    [374, 399, 419, 421, 426] if NEW else [403, 397, 399, 388, 387]
)
""",
    "rot90": """
for k in (2.0, -2.0):
    assert told(lambda: np.rot90(x.reshape(2, 2), k=k)) == of_new("DeprecationWarning")
    assert np.rot90(np.arange(4).reshape(2, 2), k=k).tolist() == [[3, 2], [1, 0]]
""",
    "modes of errors": """
assert error(lambda: np.seterr(all=1)) == ("TypeError" if NEW else "ValueError")
""",
    "seeds": """
assert error(lambda: np.random.SeedSequence([[1, 2], [3, 4]])) == ("TypeError" if NEW else None)
assert error(lambda: np.random.SeedSequence(1).spawn(-1)) == ("ValueError" if NEW else "OverflowError")
bits, other = np.random.PCG64(1), np.random.PCG64(1)
bits.random_raw((3, 5), output=False)
other.random_raw(15 if NEW else 8)
assert bits.random_raw() == other.random_raw()
""",
    "lines between no points": """
assert (error(lambda: np.interp([], [], [])) is None) == NEW
""",
    "cond": """
values = np.array([[[np.nan, 1.0], [1.0, 2.0]], [[4.0, 0.0], [0.0, 2.0]]])
if NEW:
    found = np.linalg.cond(values)
    assert np.isnan(found[0]) and found[1] == 2
else:
    assert error(lambda: np.linalg.cond(values)) == "LinAlgError"
""",
}


@pytest.mark.parametrize("version", ["2.4", "2.5"])
@pytest.mark.parametrize("case", CASES)
def test_the_installed_numpy_decides(tmp_path, case, version):
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy" / "__init__.py").write_text("raise ImportError('not to be loaded')\n")
    lines = ['"""A version."""', f'version = "{version}.7"', "__version__ = version", ""]
    (tmp_path / "numpy" / "version.py").write_text("\n".join(lines))
    program = tmp_path / "program.py"
    program.write_text(BEGIN + CASES[case])
    search = os.pathsep.join(map(str, (tmp_path, BUILT)))
    done = subprocess.run(
        [sys.executable, program, version],
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
