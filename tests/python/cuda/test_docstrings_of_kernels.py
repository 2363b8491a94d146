"""The examples in the docstrings of weft.cuda give what they say."""

import doctest

import pytest
import weft
from weft import cuda

SHOWN = [name for name in dir(cuda) if ">>>" in (getattr(getattr(cuda, name), "__doc__", None) or "")]


def test_there_are_examples():
    assert {"guvectorize", "jit", "to_device", "vectorize"} <= set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_the_examples_are_true(name):
    text = getattr(cuda, name).__doc__
    examples = doctest.DocTestParser().get_doctest(text, {"np": weft}, name, None, 0)
    said = []
    doctest.DocTestRunner(verbose=False).run(examples, out=said.append)
    assert examples.examples and not said, "".join(said)
