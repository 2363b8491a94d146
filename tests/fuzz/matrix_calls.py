"""Random calls of numpy.linalg, numpy.fft, scipy.linalg and scipy.fft, each made of a seed alone, as text.

Arguments follow from the names of the functions' parameters in NumPy and SciPy, so that a function which weft gets is
called without a word here, if its parameters are of known names.
"""

import dataclasses
import functools
import importlib
import inspect
import itertools
import random

import numpy

SPACES = {
    "linalg": "numpy.linalg",
    "fft": "numpy.fft",
    "scipy.linalg": "scipy.linalg",
    "scipy.fft": "scipy.fft",
}
# What takes no arrays, or settings of the process.
LEFT_OUT = {"set_workers", "get_workers", "LinAlgError", "LinAlgWarning"}


def given(dtype, shape, kind="tame", layout="C", seed=0):
    """An array of NumPy's: "tame" and "positive" matrices are well conditioned, "ints" small integers."""
    generator = numpy.random.default_rng(seed)
    size = int(numpy.prod(shape))
    values = (
        generator.integers(-3, 4, shape).astype(float) if kind == "ints" else generator.normal(0, 1, shape)
    )
    if numpy.dtype(dtype).kind == "c":
        values = values + 1j * generator.normal(0, 1, shape)
    if kind == "zeros":
        values = values * 0
    if kind in ("tame", "positive") and len(shape) > 1:
        least = min(shape[-2:])
        values[..., range(least), range(least)] += 4 * max(shape[-2:])
        if kind == "positive" and shape[-1] == shape[-2]:
            values = (values + values.mT.conj()) / 2
    if kind == "special" and size:
        values.reshape(-1)[generator.integers(size)] = generator.choice([numpy.nan, numpy.inf, -numpy.inf])
    if numpy.dtype(dtype).kind in "biu":
        values = numpy.nan_to_num(numpy.trunc(values), posinf=1, neginf=1)
        values = abs(values) if numpy.dtype(dtype).kind == "u" else values
    with numpy.errstate(all="ignore"):
        x = numpy.asarray(values).astype(dtype)
    if layout == "F":
        return numpy.asfortranarray(x)
    if layout == "list":
        return x.tolist()
    if layout == "read":
        x.flags.writeable = False
    if layout == "strided":
        wide = numpy.zeros(tuple(2 * extent for extent in shape), dtype)
        wide[(slice(None, None, 2),) * len(shape)] = x
        return wide[(slice(None, None, 2),) * len(shape)]
    if layout == "reversed":
        return x[(slice(None, None, -1),) * len(shape)].copy()[(slice(None, None, -1),) * len(shape)]
    if layout == "swapped" and len(shape) > 2:
        return x.swapaxes(0, 1).copy().swapaxes(0, 1)
    return x


@dataclasses.dataclass
class Call:
    space: str
    name: str
    arguments: list
    keywords: dict
    tame: bool  # whether what is computed is well conditioned
    has_junk: bool  # whether an argument is of no kind that the function takes

    def source(self, prefix):
        named = [f"{key}={value}" for key, value in self.keywords.items()]
        return f"{prefix}{self.space}.{self.name}({', '.join([*self.arguments, *named])})"


@functools.cache
def reference(space):
    return importlib.import_module(SPACES[space])


@functools.cache
def functions(space):
    """The names that weft has, too."""
    ours = importlib.import_module(f"weft.{space}")
    names = [name for name in ours.__all__ if name not in LEFT_OUT and hasattr(reference(space), name)]
    return sorted(name for name in names if callable(getattr(ours, name)))


@functools.cache
def parameters(space, name):
    function = getattr(reference(space), name)
    if isinstance(function, numpy.ufunc):
        return [("x1", True, False), ("x2", True, False)]
    found = []
    for each in inspect.signature(function).parameters.values():
        if each.kind not in (each.VAR_KEYWORD,):
            needed = each.default is each.empty and each.kind is not each.VAR_POSITIONAL
            found.append((each.name, needed, each.kind is each.KEYWORD_ONLY))
    return found


VALUES = {  # of parameters that are no arrays
    "n": "None 1 2 3 4 5 7 8 16 31 0 -1".split(),
    "axis": "-1 0 1 -2 2 5 -4".split(),
    "norm": "None 'backward' 'ortho' 'forward' 'other'".split(),
    "s": ["None", "(4,)", "(3, 5)", "(2, 3, 4)", "[4, 4]", "(0, 2)", "(-1, 3)", "()"],
    "axes": ["None", "(0,)", "(-1,)", "(0, 1)", "(-2, -1)", "[1, 0]", "(0, 0)", "(5,)", "()", "(2, 0, 1)"],
    "type": "1 2 3 4 0 5".split(),
    "ord": "None 1 -1 2 -2 0 3 0.5 numpy.inf -numpy.inf 'fro' 'nuc' 'f' 'other'".split(),
    "p": "None 1 -1 2 -2 numpy.inf -numpy.inf 'fro' 3".split(),
    "UPLO": "'L' 'U' 'l' 'u' 'X'".split(),
    "mode": "'reduced' 'complete' 'r' 'raw' 'full' 'economic' 'other'".split(),
    "rcond": "None 1e-10 0.5 -1 0".split(),
    "cond": "None 1e-10 0.5".split(),
    "rtol": "None 1e-10 0.5 0".split(),
    "atol": "None 1e-10 0.5 0".split(),
    "tol": "None 1e-10 0.5".split(),
    "ind": "1 2 3 0 -1".split(),
    "offset": "0 1 -1 5".split(),
    "dtype": "None 'd' 'f' 'F' 'i8'".split(),
    "d": "1.0 0.1 2".split(),
    "driver": "None 'ev' 'evd' 'evr' 'evx' 'gv' 'gvd' 'gvx' 'other'".split(),
    "subset_by_index": ["None", "[0, 1]", "[1, 1]", "(0, 9)", "[2, 1]"],
    "subset_by_value": ["None", "[-1.0, 1.0]", "(0.0, numpy.inf)", "[2.0, 1.0]"],
    "assume_a": "None 'gen' 'sym' 'her' 'pos' 'general' 'diagonal' 'upper triangular' 'other'".split(),
    "lapack_driver": "None 'gesdd' 'gesvd' 'gelsd' 'gelss' 'gelsy' 'other'".split(),
    "trans": "0 1 2 'N' 'T' 'C' 3".split(),
    "output": "'real' 'complex' 'r' 'c' 'other'".split(),
    "side": "'left' 'right' 'other'".split(),
    "sort": ["None"],
    "lwork": ["None"],
    "plan": ["None", "1"],
    "workers": "None 1 2 -1".split(),
    "xp": ["None"],
    "device": ["None", "'cpu'"],
    "out": ["None"],
    "disp": [],
    "blocksize": [],
    "target": "0 1 7 16 97 1000".split(),
    "real": "True False".split(),
    "orthogonalize": "None True False".split(),
}
VALUES["type"] = [*VALUES["type"][:4] * 4, *VALUES["type"][4:]]
FLAGS = set(
    """keepdims hermitian full_matrices compute_uv upper lower overwrite_a overwrite_b overwrite_x overwrite_ab
    check_finite calc_q permute_l p_indices left right homogeneous_eigvals eigvals_only pivoting unit_diagonal
    transposed return_rank""".split()
)
JUNK = ["None", "'x'", "2.5", "-3", "()", "[]", "(1, 2)", "numpy.int64(2)", "numpy.ones(2)", "1j", "True"]
SQUARE = set(
    """inv det slogdet cholesky eig eigh eigvals eigvalsh cond matrix_power tensorinv solve cho_factor expm logm sqrtm
    schur hessenberg ldl lu_factor solve_triangular cho_solve lu_solve""".split()
)
POSITIVE = {"cholesky", "eigh", "eigvalsh", "cho_factor", "cho_solve", "ldl"}
VECTORS = {"cross", "outer", "vecdot", "toeplitz", "circulant", "solve_toeplitz"}


class Draw:
    """One call."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.tame = True

    def chance(self, probability):
        return self.random.random() < probability

    def choice(self, values):
        return self.random.choice(values)

    def extent(self):
        if self.chance(0.04):
            return 0
        return self.random.randint(1, 5) if self.chance(0.95) else self.random.randint(6, 40)

    def dtype(self):
        return self.choice("fdFD" if self.chance(0.65) else "?bBhHiIlLe")

    def array(self, shape, kind=None, layout=None):
        kind = kind or ("tame" if self.chance(0.8) else self.choice(["ints", "zeros", "special"]))
        self.tame &= kind in ("tame", "positive")
        if layout is None:
            layout = "C"
            if self.chance(0.3):
                layout = self.choice(["F", "strided", "reversed", "read", "swapped", "list"])
        if layout == "list" and 0 in shape:
            layout = "F"  # a list tells fewer axes
        dtype = self.dtype()
        self.tame &= dtype != "?"
        text = f"given({dtype!r}, {tuple(shape)}, {kind!r}, {layout!r}, {self.random.randrange(1000)})"
        return text

    def batch(self):
        if self.chance(0.7):
            return ()
        return tuple(self.extent() for _ in range(self.choice([1, 1, 2])))

    def any_shape(self):
        return tuple(self.extent() for _ in range(self.choice([0, 1, 1, 1, 2, 2, 2, 3, 4])))

    def call(self, spaces):
        space = self.choice(spaces)
        name = self.choice(functions(space))
        draw = getattr(self, "of_" + name, None) if "linalg" in space else None
        first = draw() if draw else None
        arguments, keywords = list(first or []), {}
        for place, (parameter, needed, by_name) in enumerate(parameters(space, name)):
            if place < len(arguments):
                continue
            if not needed and not self.chance(0.3):
                continue
            value = self.value(space, name, parameter)
            if value is None:
                if needed:
                    return None  # nothing is known of it
                continue
            if (needed or (place == len(arguments) and self.chance(0.3))) and not by_name and not keywords:
                arguments.append(value)
            else:
                keywords[parameter] = value
        has_junk = self.chance(0.03)
        if has_junk:
            if arguments and (not keywords or self.chance(0.5)):
                arguments[self.random.randrange(len(arguments))] = self.choice(JUNK)
            elif keywords:
                key = self.choice(list(keywords))
                keywords[key] = self.choice(["True", "False"] if key in FLAGS else JUNK)
        return Call(space, name, arguments, keywords, self.tame, has_junk)

    def value(self, space, name, parameter):
        if parameter in FLAGS:
            return self.choice(["True", "False"])
        if parameter == "device" and space == "scipy.fft":
            return "None"  # SciPy refuses any for NumPy's arrays
        if name == "matrix_power" and parameter == "n":
            return self.choice("0 1 2 3 5 -1 -2 2.0".split())
        if name in ("fftfreq", "rfftfreq") and parameter == "n":
            return self.choice("1 2 5 8 numpy.int64(4) 2.0 0".split())
        if name in ("norm", "vector_norm") and parameter == "axis":
            return self.choice("None 0 1 -1 (0,1) (-2,-1) (1,0) (0,0) 5".split())
        if name == "tensordot" and parameter == "axes":
            return self.choice(
                ["0", "1", "2", "3", "((0,), (0,))", "([-1], [0])", "(1, 0)", "((0, 1), (1, 0))"]
            )
        if name == "qr" and space == "scipy.linalg" and parameter == "mode":
            return self.choice("'full' 'r' 'economic' 'raw' 'other'".split())
        if parameter in ("s", "axes") and parameter not in VALUES:
            return None
        if parameter in VALUES:
            usual = VALUES[parameter]
            return self.choice(usual) if usual else None
        if "fft" in space or name in ("norm", "vector_norm", "tensordot", "matmul", "block_diag"):
            return self.array(self.any_shape()) if parameter in ("a", "x", "x1", "x2", "arrs") else None
        return self.matrices(name) if parameter in ("a", "A", "x", "x1", "x2", "M", "c") else None

    def matrices(self, name):
        if self.chance(0.05):
            return self.array(self.any_shape())
        if name in VECTORS:
            return self.array((*self.batch(), self.extent()))
        n = self.extent()
        m = n if name in SQUARE else self.extent()
        positive = name in POSITIVE and self.chance(0.8)
        return self.array((*self.batch(), m, n), "positive" if positive else None)

    # ---- functions whose arguments depend on each other ----

    def pair(self, name="solve"):
        """A matrix and right sides."""
        n, batch = self.extent(), self.batch()
        m = n if name in SQUARE or self.chance(0.5) else self.extent()
        a = self.array((*batch, m, n), "positive" if name in POSITIVE else None)
        rows = m if self.chance(0.95) else self.extent()
        shape = (rows,) if self.chance(0.4) else (rows, self.extent())
        if len(shape) == 2 and self.chance(0.5):
            shape = (*batch, *shape)
        return a, self.array(shape)

    def of_solve(self):
        return self.pair()

    def of_solve_triangular(self):
        return self.pair()

    def of_lstsq(self):
        return self.pair("lstsq")

    def of_cho_solve(self):
        a, b = self.pair("cho_solve")
        return f"({a}, {self.choice(['True', 'False'])})", b

    def of_lu_solve(self):
        a, b = self.pair()
        return f"scipy.linalg.lu_factor({a})", b

    def of_tensorsolve(self):
        self.tame = False
        if self.chance(0.2):
            return self.array(self.any_shape()), self.array(self.any_shape())
        n = self.random.randint(1, 3)
        return self.array((n, 2, 2 * n)), self.array((n, 2))

    def of_tensorinv(self):
        self.tame = False
        if self.chance(0.3):
            return (self.array(self.any_shape()),)
        n = self.random.randint(1, 3)
        return (self.array((n, 2, 2 * n) if self.chance(0.5) else (n, 2, n, 2)),)

    def of_multi_dot(self):
        extents = [self.extent() for _ in range(self.random.randint(2, 6))]
        shapes = [list(pair) for pair in itertools.pairwise(extents)]
        if shapes and self.chance(0.2):
            shapes[0] = shapes[0][1:]
        if len(shapes) > 1 and self.chance(0.2):
            shapes[-1] = shapes[-1][:1]
        return (f"[{', '.join(self.array(shape) for shape in shapes)}]",)

    def of_cross(self):
        extent = 3 if self.chance(0.9) else self.extent()
        batch = self.batch()
        return self.array((*batch, extent)), self.array((*batch, extent) if self.chance(0.7) else (extent,))

    def of_vecdot(self):
        n, batch = self.extent(), self.batch()
        return self.array((*batch, n)), self.array((*batch, n) if self.chance(0.7) else (n,))

    def of_matmul(self):
        m, k, n = self.extent(), self.extent(), self.extent()
        batch = self.batch()
        return self.array((*batch, m, k)), self.array((*batch, k, n) if self.chance(0.7) else (k,))

    def of_tensordot(self):
        n = self.extent()
        return self.array((n, 2, n)), self.array((n, 2, n) if self.chance(0.7) else (2, n))

    def of_block_diag(self):
        return [self.array(self.any_shape()[:2]) for _ in range(self.random.randint(0, 3))]

    def of_solve_banded(self):
        low, up, n = self.random.randint(0, 2), self.random.randint(0, 2), self.extent()
        rows = low + up + 1 if self.chance(0.9) else self.extent()
        ab = self.array((*self.batch(), rows, n))
        return f"({low}, {up})", ab, self.array((n,) if self.chance(0.5) else (n, 2))

    def of_solve_toeplitz(self):
        n = self.extent()
        c, r = self.array((n,)), self.array((n,))
        if self.chance(0.5):
            c = f"({c} + 8 * {n} * (numpy.arange({n}) == 0))"  # whose leading minors are well conditioned
        else:
            self.tame = False
        return c if self.chance(0.5) else f"({c}, {r})", self.array((n,) if self.chance(0.5) else (n, 2))

    def of_eigh(self):
        n, batch = self.extent(), self.batch()
        return (self.array((*batch, n, n), "positive" if self.chance(0.8) else None),)


def make(seed, number, spaces=tuple(SPACES)):
    """The call of that number: some need another try."""
    for attempt in range(20):
        call = Draw(f"{seed}/{number}/{attempt}").call(spaces)
        if call is not None:
            return call
    raise AssertionError("no call could be made")
