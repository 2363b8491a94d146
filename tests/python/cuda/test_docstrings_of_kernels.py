"""The examples in the docstrings of weft.cuda give what they say."""

import doctest

import pytest
import weft
from weft import cuda

# One name for each text: all vectors have theirs in common.
TEXTS = {getattr(getattr(cuda, name), "__doc__", None) or "": name for name in dir(cuda)}
SHOWN = [name for text, name in TEXTS.items() if ">>>" in text]


def test_there_are_examples():
    assert {"guvectorize", "jit", "to_device", "vectorize"} <= set(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_the_examples_are_true(name):
    text = getattr(cuda, name).__doc__
    examples = doctest.DocTestParser().get_doctest(text, {"np": weft}, name, None, 0)
    said = []
    doctest.DocTestRunner(verbose=False).run(examples, out=said.append)
    assert examples.examples and not said, "".join(said)
