"""The examples of docs/guide: what stands behind >>> gives what the pages say."""

import doctest
import re
from pathlib import Path

import pytest

GUIDE = next(p for p in Path(__file__).parents if (p / "pyproject.toml").exists()) / "docs/guide"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def _examples(page):
    """The blocks of a page that show what is printed, as one session; other text becomes empty lines."""
    text, session, end = page.read_text(), "", 0
    for block in BLOCK.finditer(text):
        if ">>>" in block[1]:
            session += "\n" * text.count("\n", end, block.start(1)) + block[1]
            end = block.end(1)
    return doctest.DocTestParser().get_doctest(session, {}, page.name, str(page), 0)


PAGES = [page for page in sorted(GUIDE.glob("*.md")) if _examples(page).examples]


def test_pages_have_examples():
    assert {"quick-start.md", "lazy-evaluation.md"} <= {page.name for page in PAGES}


@pytest.mark.host
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_are_true(page):
    said = []
    doctest.DocTestRunner(verbose=False).run(_examples(page), out=said.append)
    assert not said, "".join(said)
