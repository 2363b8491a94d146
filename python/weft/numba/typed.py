"""`typed.List` and `typed.Dict`: Python's own list, which compiled functions take, and dict, with Numba's names."""


class List(list):
    """A list of values of one type.

    >>> from weft.numba.typed import List
    >>> List([1, 2, 3])
    [1, 2, 3]
    """

    _is_plain_list = True

    @staticmethod
    def empty_list(item_type, allocated=0):
        """An empty list; what is put into it decides the type of its elements."""
        return List()


class Dict(dict):
    """A dictionary of values of one type, by numbers, texts or tuples of such, which compiled functions take.

    >>> from weft.numba import njit, types
    >>> from weft.numba.typed import Dict
    >>> @njit
    ... def squares(n):
    ...     found = Dict.empty(types.int64, types.float64)
    ...     for k in range(n):
    ...         found[k] = k * k
    ...     return found
    >>> squares(3)
    {0: 0.0, 1: 1.0, 2: 4.0}
    """

    @staticmethod
    def empty(key_type, value_type, n_keys=0):
        """An empty dictionary."""
        return Dict()
