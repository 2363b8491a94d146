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
    """A dictionary with Numba's name, for Python: compiled functions have none yet and refuse it."""

    @staticmethod
    def empty(key_type, value_type, n_keys=0):
        """An empty dictionary."""
        return Dict()
