"""tools/check_docs.py finds what it is for, and the documents themselves are clean."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = next(p for p in Path(__file__).parents if (p / "pyproject.toml").exists())
sys.path.insert(0, str(ROOT / "tools"))
spec = importlib.util.spec_from_file_location("check_docs", ROOT / "tools" / "check_docs.py")
check_docs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_docs)
sys.path.remove(str(ROOT / "tools"))


def test_the_documents_are_clean():
    assert list(check_docs.complaints(ROOT)) == []


@pytest.mark.parametrize(
    "text, message",
    [
        ("[a](other.md)", None),
        ("[a](other.md#the-heading)", None),
        ("[a](https://example.org/nothing.md)", None),
        ("```\n[a](nothing.md)\n```\n", None),
        ("[a](nothing.md)", "docs/page.md:1: the link nothing.md leads nowhere"),
        ("\n\n[a](other.md#no-heading)", "docs/page.md:3: other.md has no heading #no-heading"),
        ("`src/core/here.h`, `core/here.h`, `core/`, `weft/public.h`, `a/b`, `weft/operations.h`", None),
        ("`src/core/gone.h`", "docs/page.md:1: there is no src/core/gone.h"),
        ("`core/gone.h`", "docs/page.md:1: there is no core/gone.h"),
        ("`weft/gone.h`", "docs/page.md:1: there is no weft/gone.h"),
    ],
)
def test_what_is_found(tmp_path, text, message):
    files = {
        "docs/page.md": text,
        "docs/other.md": "# The heading\n",
        "src/core/here.h": "",
        "include/weft/public.h": "",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    page = tmp_path / "docs/page.md"
    found = [*check_docs.broken_links(tmp_path, page, text), *check_docs.missing_paths(tmp_path, page, text)]
    assert found == ([message] if message else [])


def test_pages_that_the_code_names(tmp_path):
    path = tmp_path / "a.cpp"
    path.write_text("// Told by docs/gone.md.\n")
    assert list(check_docs.missing_pages(tmp_path, [path])) == ["a.cpp:1: there is no docs/gone.md"]


def test_drawings_are_no_words():
    assert check_docs.words("one two\n\n```\nthree four\n```\n\nfive\n") == 3


def test_settings_are_read_from_the_code():
    names, variables, switches = check_docs.settings_of_code(ROOT)
    assert "num_threads" in names and "WEFT_NUM_THREADS" in variables and "WEFT_CUDA_DRIVER" in variables
    assert "simplify" in switches
