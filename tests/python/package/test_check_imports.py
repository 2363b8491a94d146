"""tools/check_imports.py finds what it is for, and the package itself is clean."""

import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[3]
spec = importlib.util.spec_from_file_location("check_imports", ROOT / "tools" / "check_imports.py")
check_imports = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_imports)

MODULES = ["__init__", "exceptions", "_methods", "_array/__init__", "_array/axes", "_functions/__init__"]
MODULES += ["_functions/shapes", "_functions/joining", "_io/files", "random/__init__", "random/_generator"]


def tree_of(root, **texts):
    """A package of empty modules, but for those whose text is given."""
    for module in MODULES:
        path = root / "python" / "weft" / f"{module}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    for name, text in texts.items():
        (root / "python" / "weft" / f"{name}.py").write_text(text)
    return root


@pytest.mark.parametrize(
    "module, text, message",
    [
        ("_array/axes", "from weft._functions.shapes import reshape", "_array may not import _functions"),
        ("_array/axes", "import weft._functions.shapes", "_array may not import _functions"),
        ("_array/axes", "from weft._functions import shapes", "_array may not import _functions"),
        (
            "_array/axes",
            "def f():\n    from weft import exceptions, random",
            ":2: _array may not import random",
        ),
        ("_array/axes", "def f():\n    import weft", "_array may not import __init__ (weft)"),
        ("_array/axes", "from weft import asarray", "_array may not import __init__ (weft)"),
        ("_array/axes", "load('weft._io.files')", "_array may not import _io"),
        ("_io/files", "from weft.random import _generator", "_io may not import random"),
        ("exceptions", "from weft._array import axes", "exceptions may not import _array"),
        ("_array/axes", "from .. import exceptions", "write .. from weft"),
        ("_array/axes", "from weft._array.nothing import f", "there is no module weft._array.nothing"),
        ("strange", "", "strange is not one of the parts"),
        (
            "_array/axes",
            "import math\nfrom weft import _core, exceptions\nfrom weft._core import asarray",
            None,
        ),
        ("_functions/shapes", "from weft._array.axes import moveaxis", None),
        ("_methods", "load('weft._io.files')", None),
        ("__init__", "from weft import _methods", None),
        ("random/_generator", "method.__module__ = 'weft.random'", None),
        ("_array/axes", "'''As weft.random and weft._io.files.'''", None),
    ],
)
def test_directions(tmp_path, module, text, message):
    found = check_imports.check_tree(tree_of(tmp_path, **{module: text}))
    if message is None:
        assert found == []
    else:
        assert len(found) == 1
        assert found[0].startswith(f"python/weft/{module}.py:")
        assert message in found[0]


def test_modules_that_import_each_other_are_found(tmp_path):
    tree = tree_of(
        tmp_path,
        **{
            "_functions/shapes": "def f():\n    from weft._functions.joining import hstack",
            "_functions/joining": "from weft._functions.shapes import reshape",
        },
    )
    (complaint,) = check_imports.check_tree(tree)
    assert complaint == "these modules import each other: weft._functions.joining, weft._functions.shapes"


def test_a_folder_with_too_many_files_is_found(tmp_path):
    tree_of(tmp_path, **{f"_array/a{i}": "" for i in range(check_imports.MOST_FILES)})
    (complaint,) = check_imports.check_tree(tmp_path)
    assert complaint.startswith("python/weft/_array: 32 files")


def test_the_binding_names_modules_in_one_place(tmp_path):
    tree_of(tmp_path)
    header = tmp_path / check_imports.PACKAGE_HEADER
    header.parent.mkdir(parents=True)
    header.write_text('inline constexpr const char* kAxes = "weft._array.axes";\n')
    assert check_imports.check_tree(tmp_path) == []
    header.write_text('inline constexpr const char* kAxes = "weft._axes";\n')
    (header.parent / "array.cpp").write_text('// A file.\nnb::module_::import_("weft._io.files");\n')
    assert check_imports.check_tree(tmp_path) == [
        "python/bindings/package.h: there is no module weft._axes",
        "python/bindings/array.cpp:2: name the module weft._io.files in python/bindings/package.h",
    ]


def test_the_package_keeps_the_rules():
    assert check_imports.check_tree(ROOT) == []


def test_exit_status(tmp_path, monkeypatch, capsys):
    tree_of(tmp_path, **{"_array/axes": "import weft.random"})
    monkeypatch.setattr("sys.argv", ["check_imports.py", str(tmp_path)])
    assert check_imports.main() == 1
    assert "_array may not import random" in capsys.readouterr().err
