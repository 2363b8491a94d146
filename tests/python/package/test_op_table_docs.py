"""What is generated from the op table for people: the reference page is current, and its examples are true."""

import subprocess
import sys
import tomllib
from pathlib import Path

import numpy
import pytest
import weft

ROOT = Path(__file__).parents[3]
TABLE = tomllib.loads((ROOT / "src/ops/op_table.toml").read_text())["op"]
EXAMPLES = [pytest.param(row["example"], row["result"], id=row["name"]) for row in TABLE if "example" in row]


def test_reference_page_is_current(tmp_path):
    page = tmp_path / "operations.md"
    subprocess.run([sys.executable, ROOT / "tools/generate_ops.py", "--docs", page], check=True)
    assert page.read_text() == (ROOT / "docs/reference/operations.md").read_text(), (
        "run: python tools/generate_ops.py --docs docs/reference/operations.md"
    )


@pytest.mark.parametrize(("example", "result"), EXAMPLES)
def test_examples_are_true(example, result):
    scope = {"np": weft}
    if "special." in example:
        from weft.scipy import special

        scope["special"] = special
    assert repr(eval(example, scope)) == result


@pytest.mark.parametrize(("example", "result"), EXAMPLES)
def test_examples_are_numpys(example, result):
    scope = {"np": numpy}
    if "special." in example:
        scope["special"] = pytest.importorskip("scipy.special")
    assert repr(eval(example, scope)) == result


def test_every_operation_of_numpy_has_an_example():
    assert [row["name"] for row in TABLE if row.get("namespace") != "kernel" and "example" not in row] == []
