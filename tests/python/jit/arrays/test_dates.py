"""Arrays of dates, which compiled functions do not take."""

import subprocess
import sys

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


FIRST = """
import numpy as np, weft

def total(arrays):
    return arrays[0][1] + arrays[1][0]

compiled = weft.jit(total, source="def total(arrays):\\n    return arrays[0][1] + arrays[1][0]\\n")
try:
    compiled(np.arange(3).astype("datetime64[D]"))
except TypeError:
    print(compiled([np.arange(3.0), np.ones(2)]))
"""


def test_arrays_are_known_after_dates_were_refused():
    run = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "2.0"
