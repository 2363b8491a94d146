"""The class of what guvectorize makes."""


class GUFunc:
    """Nothing is one yet: weft.numba has no guvectorize."""
