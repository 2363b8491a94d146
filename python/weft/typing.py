"""numpy.typing: types for annotations. They are no classes, and nothing is checked when a program runs.

>>> np.typing.NDArray[np.float64].__origin__
<class 'weft.ndarray'>
"""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

from weft._core import dtype, generic, ndarray
from weft._numpys.private import PytestTester

__all__ = ["ArrayLike", "DTypeLike", "NBitBase", "NDArray"]

_Scalar = TypeVar("_Scalar", bound=generic)


@runtime_checkable
class _SupportsArray(Protocol):
    def __array__(self) -> ndarray: ...


@runtime_checkable
class _SupportsDType(Protocol):
    @property
    def dtype(self) -> dtype: ...


NDArray = ndarray[tuple[Any, ...], dtype[_Scalar]]
ArrayLike = _SupportsArray | Sequence[Any] | complex | bool | int | float | str | bytes | memoryview
DTypeLike = dtype | type | _SupportsDType | str | None | list | dict | tuple


class NBitBase:
    """The base of the sizes of numbers in annotations."""


test = PytestTester(__name__)
