"""One loop compiled by LLVM and called from Python."""

import numpy as np
import pytest
from weft import _core


def test_computes_every_element():
    generator = np.random.default_rng(1)
    a, b = generator.normal(size=(2, 10_007))
    out = np.full(a.shape, np.nan)
    _core.first_loop(a, b, out)
    np.testing.assert_array_equal(out, 2 * a + b)


def test_refuses_other_lengths():
    with pytest.raises(ValueError, match="one length"):
        _core.first_loop(np.zeros(3), np.zeros(2), np.zeros(3))
