"""NumPy's tests of numpy.linalg, run on weft.linalg."""

import os

from on_gpu import ON_FAKE_DRIVER
from tests_of_numpy import load

EXCEPTIONS = {
    f"TestMatrixPower.test_exceptions_non_square[dt{at}]": "NumPy's error of its own dtypes is another one"
    for at in (12, 15, 16)
} | {
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
