"""numpy.linalg: factorisations, equations, eigenvalues, norms and products of matrices.

Matrices are the last two axes of an array. float32 and complex64 are computed as such, integers as float64.

>>> np.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [1.0, 2.0])
array([0.5, 0.5])
"""

from weft._core import matmul
from weft._functions.shapes import matrix_transpose
from weft._protocols import overrides as _overrides
from weft.exceptions import LinAlgError
from weft.linalg._equations import (
    SlogdetResult,
    det,
    inv,
    lstsq,
    pinv,
    slogdet,
    solve,
    tensorinv,
    tensorsolve,
)
from weft.linalg._factorizations import (
    EighResult,
    EigResult,
    QRResult,
    SVDResult,
    cholesky,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    qr,
    svd,
    svdvals,
)
from weft.linalg._norms import cond, matrix_norm, matrix_rank, norm, vector_norm
from weft.linalg._products import (
    cross,
    diagonal,
    matrix_power,
    multi_dot,
    outer,
    tensordot,
    trace,
    vecdot,
)

__all__ = [
    "LinAlgError",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

# Arguments may override each function, and the arrays in the list of multi_dot.
for _name in __all__:
    if _name not in ("LinAlgError", "matmul"):
        _kind = _overrides._SEQUENCES if _name == "multi_dot" else _overrides._ARGUMENTS
        globals()[_name] = _overrides.dispatcher(_name, globals()[_name], "weft.linalg", _kind)
del _name, _kind
