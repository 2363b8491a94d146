"""Kernels run on the CPU and on a GPU; without one the fake driver runs them."""

import pytest
import weft as np
from on_gpu import needs_gpu


@pytest.fixture(autouse=True, params=["cpu", pytest.param("cuda", marks=needs_gpu)])
def device(request):
    with np.device(request.param):
        yield request.param
