"""Linear algebra, named as in scipy.linalg. Matrices are the last two axes; the axes before are a batch.

`overwrite_a` and its like are accepted, and nothing is overwritten. With `check_finite` infinities and nan are refused.
"""

from weft.exceptions import LinAlgError
from weft.scipy._linalg.eigen import eig, eigh, eigvals, eigvalsh, hessenberg, schur
from weft.scipy._linalg.equations import (
    LinAlgWarning,
    cho_factor,
    cho_solve,
    cholesky,
    det,
    inv,
    ldl,
    lstsq,
    lu,
    lu_factor,
    lu_solve,
    pinv,
    solve,
    solve_banded,
    solve_toeplitz,
    solve_triangular,
)
from weft.scipy._linalg.functions import expm, logm, sqrtm
from weft.scipy._linalg.norms import norm
from weft.scipy._linalg.orthogonal import null_space, orth, polar, qr, svd, svdvals
from weft.scipy._linalg.special_matrices import block_diag, circulant, toeplitz

__all__ = [
    "LinAlgError",
    "LinAlgWarning",
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "circulant",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "hessenberg",
    "inv",
    "ldl",
    "logm",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "norm",
    "null_space",
    "orth",
    "pinv",
    "polar",
    "qr",
    "schur",
    "solve",
    "solve_banded",
    "solve_toeplitz",
    "solve_triangular",
    "sqrtm",
    "svd",
    "svdvals",
    "toeplitz",
]


def __getattr__(name):
    raise AttributeError(
        f"weft.scipy.linalg has no {name!r} yet; meanwhile use scipy.linalg's on numpy.asarray(x)"
    )
