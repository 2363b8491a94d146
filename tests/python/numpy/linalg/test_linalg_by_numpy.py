"""NumPy's tests of numpy.linalg, run on weft.linalg."""

import os

from on_gpu import ON_FAKE_DRIVER
from tests_of_numpy import load

_LONG = "weft has no long double"
_OBJECT = "weft has no arrays of objects"
_POWERS = (
    "large_power power_is_zero power_is_one power_is_two power_is_minus_one "
    "exceptions_bad_power exceptions_non_square exceptions_not_invertible"
)

EXCEPTIONS = {
    f"TestMatrixPower.test_{name}[dt{at}]": why
    for name in _POWERS.split()
    for at, why in ((12, _LONG), (15, _LONG), (16, _OBJECT))
    if (name, at) not in [("power_is_minus_one", at), ("exceptions_not_invertible", at)]
} | {
    "TestNorm_NonSystematic.test_longdouble_norm": _LONG,
    "TestNorm_NonSystematic.test_complex_high_ord": _LONG,
    "TestNormDouble.test_vector_return_type": _LONG,
    "TestNormSingle.test_vector_return_type": _LONG,
    "TestNormInt64.test_vector_return_type": _LONG,
    "test_byteorder_check": "weft has no arrays of another byte order",
    "test_blas64_geqrf_lwork_smoketest": "it is about lapack_lite, which is inside of NumPy",
}

# These compare two ways of rounding to an absolute difference of float32.
_ROUNDING = "cuSOLVER's and cuBLAS's results differ in the last places of float32"
ON_GPU = dict.fromkeys(
    [
        "TestDet.test_generalized_sq_cases",
        "TestEighCases.test_generalized_herm_cases",
        "TestLstsq.test_sq_cases",
        "TestNormSingle.test_axis",
        "TestQR.test_mode_all_but_economic",
    ],
    _ROUNDING,
)
if os.environ.get("WEFT_DEVICE", "").startswith("cuda") and not ON_FAKE_DRIVER:
    EXCEPTIONS |= ON_GPU

globals().update(load("numpy.linalg.tests.test_linalg", EXCEPTIONS))
