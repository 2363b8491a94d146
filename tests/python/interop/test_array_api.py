"""The array API standard (2025.12): what the namespace tells, and its extensions linalg and fft, name by name."""

import inspect

import pytest
import weft
from matrices import hermitian

LINALG = {  # each with parameters as the standard has them: "/" behind positional ones, "*" before keywords
    "cholesky": "x, /, *, upper",
    "cross": "x1, x2, /, *, axis",
    "det": "x, /",
    "diagonal": "x, /, *, offset",
    "eigh": "x, /",
    "eigvalsh": "x, /",
    "inv": "x, /",
    "matmul": "x1, x2, /",
    "matrix_norm": "x, /, *, keepdims, ord",
    "matrix_power": "x, n, /",
    "matrix_rank": "x, /, *, rtol",
    "matrix_transpose": "x, /",
    "outer": "x1, x2, /",
    "pinv": "x, /, *, rtol",
    "qr": "x, /, *, mode",
    "slogdet": "x, /",
    "solve": "x1, x2, /",
    "svd": "x, /, *, full_matrices",
    "svdvals": "x, /",
    "tensordot": "x1, x2, /, *, axes",
    "trace": "x, /, *, offset, dtype",
    "vecdot": "x1, x2, /, *, axis",
    "vector_norm": "x, /, *, axis, keepdims, ord",
}
FFT = {
    **dict.fromkeys(["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"], "x, /, *, n, axis, norm"),
    **dict.fromkeys(["fftn", "ifftn", "rfftn", "irfftn"], "x, /, *, s, axes, norm"),
    **dict.fromkeys(["fftfreq", "rfftfreq"], "n, /, *, d, dtype, device"),
    **dict.fromkeys(["fftshift", "ifftshift"], "x, /, *, axes"),
}
FUNCTIONS = [
    *(("linalg", name, text) for name, text in LINALG.items()),
    *(("fft", name, text) for name, text in FFT.items()),
]
FIELDS = {
    "eigh": ("eigenvalues", "eigenvectors"),
    "qr": ("Q", "R"),
    "slogdet": ("sign", "logabsdet"),
    "svd": ("U", "S", "Vh"),
}
REAL_OF = {"float32": "float32", "float64": "float64", "complex64": "float32", "complex128": "float64"}
COMPLEX_OF = {
    "float32": "complex64",
    "float64": "complex128",
    "complex64": "complex64",
    "complex128": "complex128",
}


@pytest.mark.parametrize("module, name, text", FUNCTIONS, ids=[f"{m}.{n}" for m, n, _ in FUNCTIONS])
def test_parameters(module, name, text):
    space = getattr(weft.ones(2).__array_namespace__(), module)
    assert name in space.__all__
    function = getattr(space, name)
    positional, _, named = text.partition("/")
    count = len([each for each in positional.split(",") if each.strip()])
    keywords = [each.strip() for each in named.split(",") if each.strip(" *")]
    try:
        signature = inspect.signature(function)
    except ValueError:
        assert name == "matmul"  # the binding says no signature
        return
    # What is positional in the standard may be given so, what is a keyword there by its name; nothing else is needed.
    signature.bind(*range(count), **dict.fromkeys(keywords))
    with pytest.raises(TypeError):
        signature.bind(*range(count - 1))


def matrices(dtype):
    return weft.asarray(hermitian((2, 3, 3), dtype))


def dtypes_of(result):
    return tuple(str(each.dtype) for each in (result if isinstance(result, tuple) else (result,)))


CALLS = {  # the dtypes of the results: "same", or real or complex ones of the same precision
    "linalg": {
        "cholesky": (lambda f, x: f(x, upper=True), "same"),
        "cross": (lambda f, x: f(x, x, axis=-1), "same"),
        "det": (lambda f, x: f(x), "same"),
        "diagonal": (lambda f, x: f(x, offset=1), "same"),
        "eigh": (lambda f, x: f(x), "real same"),
        "eigvalsh": (lambda f, x: f(x), "real"),
        "inv": (lambda f, x: f(x), "same"),
        "matmul": (lambda f, x: f(x, x), "same"),
        "matrix_norm": (lambda f, x: f(x, keepdims=True, ord="nuc"), "real"),
        "matrix_power": (lambda f, x: f(x, -2), "same"),
        "matrix_rank": (lambda f, x: f(x, rtol=weft.ones(2)), "int64"),
        "matrix_transpose": (lambda f, x: f(x), "same"),
        "outer": (lambda f, x: f(x[0, 0], x[0, 1]), "same"),
        "pinv": (lambda f, x: f(x, rtol=1e-4), "same"),
        "qr": (lambda f, x: f(x, mode="complete"), "same same"),
        "slogdet": (lambda f, x: f(x), "same real"),
        "solve": (lambda f, x: f(x, x), "same"),
        "svd": (lambda f, x: f(x, full_matrices=False), "same real same"),
        "svdvals": (lambda f, x: f(x), "real"),
        "tensordot": (lambda f, x: f(x, x, axes=((0,), (0,))), "same"),
        "trace": (lambda f, x: f(x, offset=1), "same"),
        "vecdot": (lambda f, x: f(x, x, axis=-1), "same"),
        "vector_norm": (lambda f, x: f(x, axis=(0, 1), keepdims=True, ord=3), "real"),
    },
    "fft": {
        **dict.fromkeys(["fft", "ifft"], (lambda f, x: f(x, n=4, axis=0, norm="ortho"), "complex")),
        **dict.fromkeys(
            ["fftn", "ifftn"], (lambda f, x: f(x, s=(4, 2), axes=(0, 1), norm="forward"), "complex")
        ),
        "rfft": (lambda f, x: f(x.real, n=4, axis=0, norm="ortho"), "complex"),
        "rfftn": (lambda f, x: f(x.real, s=(4, 2), axes=(0, 1), norm="ortho"), "complex"),
        "ihfft": (lambda f, x: f(x.real, n=4, axis=0, norm="ortho"), "complex"),
        **dict.fromkeys(["irfft", "hfft"], (lambda f, x: f(x, n=4, axis=0, norm="ortho"), "real")),
        "irfftn": (lambda f, x: f(x, s=(4, 2), axes=(0, 1), norm="ortho"), "real"),
        **dict.fromkeys(["fftshift", "ifftshift"], (lambda f, x: f(x, axes=(0, 1)), "same")),
        **dict.fromkeys(
            ["fftfreq", "rfftfreq"], (lambda f, x: f(5, d=2.0, dtype=x.real.dtype, device="cpu"), "real")
        ),
    },
}


@pytest.mark.parametrize("dtype", REAL_OF)
@pytest.mark.parametrize("module, name, text", FUNCTIONS, ids=[f"{m}.{n}" for m, n, _ in FUNCTIONS])
def test_dtypes(module, name, text, dtype):
    call, kinds = CALLS[module][name]
    result = call(getattr(getattr(weft, module), name), matrices(dtype))
    names = {"same": dtype, "real": REAL_OF[dtype], "complex": COMPLEX_OF[dtype]}
    assert dtypes_of(result) == tuple(names.get(kind, kind) for kind in kinds.split())
    if name in FIELDS:
        assert result._fields == FIELDS[name]


def test_what_the_namespace_tells(device):
    info = weft.__array_namespace_info__()
    assert info.capabilities() == {
        "boolean indexing": True,
        "data-dependent shapes": True,
        "max dimensions": 64,
    }
    assert info.default_device() == device
    assert info.devices() == tuple(weft.devices())
    assert {kind: str(dtype) for kind, dtype in info.default_dtypes(device=device).items()} == {
        "real floating": "float64",
        "complex floating": "complex128",
        "integral": "int64",
        "indexing": "int64",
    }
    for call in (info.dtypes, info.default_dtypes):
        for wrong in ("tpu", "cuda:99", 3):
            with pytest.raises(ValueError, match="Device not understood"):
                call(device=wrong)


def test_dtypes_of_kinds():
    info = weft.__array_namespace_info__()
    kinds = {
        "bool": ["bool"],
        "signed integer": ["int8", "int16", "int32", "int64"],
        "unsigned integer": ["uint8", "uint16", "uint32", "uint64"],
        "real floating": ["float32", "float64"],
        "complex floating": ["complex64", "complex128"],
    }
    for kind, names in kinds.items():
        assert info.dtypes(kind=kind) == {name: weft.dtype(name) for name in names}
    assert list(info.dtypes()) == [name for names in kinds.values() for name in names]
    assert list(info.dtypes(kind=("bool", "real floating"))) == ["bool", "float32", "float64"]
    assert set(info.dtypes(kind="numeric")) == set(info.dtypes()) - {"bool"}
    for wrong in ("number", 3, ("bool", "number")):
        with pytest.raises(ValueError, match="unsupported kind"):
            info.dtypes(kind=wrong)


def test_arrays_know_their_namespace():
    for x in (weft.ones(2), weft.float64(1)):
        assert x.__array_namespace__() is weft
        assert x.__array_namespace__(api_version="2025.12") is weft
        for wrong in ("2020.12", 2024):
            with pytest.raises(ValueError, match="Array API"):
                x.__array_namespace__(api_version=wrong)
        with pytest.raises(TypeError):
            x.__array_namespace__("2025.12")
    assert weft.__array_api_version__ == "2025.12"


def test_sorts_in_both_directions(device):
    x = weft.asarray([[3, 1, 3, 2], [0, 5, 5, -1]])
    assert weft.sort(x, descending=True).tolist() == [[3, 3, 2, 1], [5, 5, 0, -1]]
    assert weft.argsort(x, descending=True).tolist() == [[0, 2, 3, 1], [1, 2, 0, 3]]
    assert weft.argsort(x, axis=0, descending=True).tolist() == [[0, 1, 1, 0], [1, 0, 0, 1]]
    assert weft.sort(x, axis=None, descending=True).tolist() == [5, 5, 3, 3, 2, 1, 0, -1]
    assert weft.argsort(x[0], descending=False, stable=True).tolist() == [1, 3, 0, 2]
    assert weft.sort(weft.asarray(2.0).reshape(1), descending=True).tolist() == [2.0]
    assert weft.argsort(weft.asarray(2.0), descending=True).tolist() == [0]


def test_the_bindings_functions_have_signatures():
    for function, text in {
        weft.broadcast_to: "(array, shape, subok=False)",
        weft.result_type: "(*arrays_and_dtypes)",
    }.items():
        assert str(inspect.signature(function)) == text


def test_special_functions_are_where_scipy_looks_for_them():
    assert weft.special.erf is weft.scipy.special.erf
    assert not hasattr(weft.special, "no_such_function")
