"""Arrays of dates, which compiled functions do not take."""

import numpy as np
import pytest
import weft


@weft.jit
def first(a, b):
    return a[0] + b


@pytest.mark.parametrize("dtype", ["datetime64[D]", "timedelta64[ms]"])
def test_dates_are_refused_by_their_dtype(dtype):
    a = np.arange(3).astype(dtype)
    with pytest.raises(TypeError) as error:
        first(a, 1)
    assert str(error.value) == (
        f"argument 'a' of first() is an array of {dtype}, and compiled functions have no dates: give a.view('int64'), "
        "whose numbers they are"
    )
    assert first(a.view("int64"), 1) == 1
