"""What functions with weft.numba's decorators ask about threads."""

import numpy as np
import pytest
import weft
from weft import numba


def in_scratch_of_thread(n, scratch):
    out = np.zeros(n)
    for i in numba.prange(n):
        t = numba.get_thread_id()
        scratch[t, :] = i
        out[i] = scratch[t].sum()
    return out


def test_scratch_of_a_thread_is_refused_in_parallel_loops():
    with pytest.raises(weft.CompileError, match="inside of the loop"):
        numba.njit(parallel=True)(in_scratch_of_thread)(2000, np.zeros((2, 100)))


def test_one_after_the_other_there_is_one_thread():
    found = numba.njit(in_scratch_of_thread)(2000, np.zeros((2, 100)))
    assert found.tolist() == (np.arange(2000) * 100.0).tolist() and numba.get_thread_id() == 0
