"""A name that packages import for what they give Numba's compiler."""


class _LAPACK:
    """LAPACK by Numba's own calls, which weft has not."""

    def __getattr__(self, name):
        raise NotImplementedError(f"weft.numba has no {name}: call numpy.linalg in the function")
