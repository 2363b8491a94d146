"""Where scipy.linalg's own kinds are no model: each rule has its reason. The names are those of functions."""

import re

ARRAY = re.compile(r"given\('(.)', \(([^)]*)\)")


def arrays_of(call):
    """The dtype and the extents of each array that is made for a call."""
    return [
        (dtype, [int(each) for each in extents.split(",") if each.strip()])
        for dtype, extents in ARRAY.findall(call.source(""))
    ]


def has_none(call):
    return any(0 in extents for _, extents in arrays_of(call))


def has_empty_matrices(call):
    return any(0 in extents[-2:] for _, extents in arrays_of(call))


def first_is_of(rows):
    def found(call):
        extents = next((extents for _, extents in arrays_of(call)), [])
        return len(extents) > 1 and extents[-1] <= rows

    return found


def first_is_narrow(call):
    return next((dtype for dtype, _ in arrays_of(call)), "d") in "?bBhHe"


def first_is_single(call):
    return next((dtype for dtype, _ in arrays_of(call)), "d") in "?efF"


def is_vector(call):
    return any(len(extents) < 2 for _, extents in arrays_of(call)[:1])


def has_batch(call):
    return any(len(extents) > 2 for _, extents in arrays_of(call))


def has(name, *values):
    def found(call):
        positional = [text for text in call.arguments if text in values]
        return call.keywords.get(name) in values or bool(positional)

    return found


OVERWRITTEN = (
    {"cho_solve", "lu_solve", "solve_banded", "solve_triangular", "lstsq"},
    lambda call: (call.keywords.get("overwrite_b") == "True" or "True" in call.arguments) and has_batch(call),
    "one right side of a batch is overwritten, and then solved for again",
)
# Functions, when, and why SciPy is not followed.
KINDS = [
    (
        {
            "qr",
            "ldl",
            "lu",
            "lu_factor",
            "solve_toeplitz",
            "logm",
            "lstsq",
            "hessenberg",
            "solve",
            "lu_solve",
        },
        has_empty_matrices,
        "of matrices without elements some functions keep integers, give parts that do not fit, or fail by accident",
    ),
    ({"lu"}, has_none, "of batches without matrices the permutation does not fit"),
    (
        {"hessenberg"},
        first_is_of(2),
        "up to two rows are returned as they came, even of integers, beside a Q of float64",
    ),
    (
        {"expm", "sqrtm"},
        lambda call: (first_is_of(1)(call) or is_vector(call)) and first_is_narrow(call),
        "of one element the function of numbers is taken, in the few digits of small integers",
    ),
    ({"sqrtm"}, is_vector, "a number's exponential is returned in place of its root"),
    (
        {"logm"},
        first_is_single,
        "single precision becomes double on some ways, and imaginary parts remain that are rounding",
    ),
    (
        {"norm"},
        lambda call: True,
        "where BLAS or LAPACK computes it, which depends on layout, the result is a Python float",
    ),
    (
        {"solve_banded"},
        lambda call: any(extents[-1:] == [1] for _, extents in arrays_of(call)[:1]),
        "one equation is divided in place, in the right side's dtype, and zero divides",
    ),
    (
        {"solve_triangular"},
        has("trans", "3"),
        "other numbers than 0, 1 and 2 count as some of them",
    ),
    ({"lu_factor"}, is_vector, "a vector is taken as a column"),
    (
        {"qr"},
        lambda call: call.keywords.get("mode") == "'raw'" and has_batch(call),
        "the parts of a batch do not fit into one array",
    ),
    OVERWRITTEN,
]
VALUES = [
    ({"inv"}, has("assume_a", "'diagonal'"), "what is beside the diagonal remains in the inverse"),
    (
        {"expm"},
        lambda call: any(extents[-1:] > [16] for _, extents in arrays_of(call)),
        "of large matrices the values are near the largest number of single precision",
    ),
    OVERWRITTEN,
]


def reason(call, theirs, expected, found, rules=KINDS):
    """Why a difference counts for nothing, or None. `expected` and `found` are SciPy's and weft's kinds, as text."""
    if call.space != "scipy.linalg":
        return None
    if "AttributeError" in found or "RuntimeError" in found:
        return None
    if isinstance(theirs, NotImplementedError):
        return "SciPy has it not"
    if expected == "raises " and found.startswith("raises"):
        return "SciPy's wrapper of LAPACK has an exception type of its own"
    if isinstance(theirs, Exception) and "illegal value in" in str(theirs):
        return "LAPACK itself refuses its arguments, where SciPy did not look"
    if call.name == "norm" and not (expected == "float" and found.startswith("scalar float")):
        return None
    return next((why for names, when, why in rules if call.name in names and when(call)), None)
