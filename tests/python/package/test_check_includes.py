"""tools/check_includes.py finds what it is for, and the tree itself is clean."""

import importlib.util
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[3]
spec = importlib.util.spec_from_file_location("check_includes", ROOT / "tools" / "check_includes.py")
check_includes = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_includes)


KNOWN = {"src/core/dims.h", "python/bindings/package.h", "python/bindings/objects/objects.h"}


def complaints(path, include):
    text = f"// A file.\n#include {include}\n"
    return check_includes.check_file(pathlib.PurePosixPath(path), text, KNOWN)


@pytest.mark.parametrize(
    "path, include, message",
    [
        ("src/core/a.cpp", '"ops/table.h"', "core may not include ops"),
        ("src/ir/a.cpp", '"passes/pass.h"', "ir may not include passes"),
        ("src/codegen/a.cpp", '"device/device.h"', "codegen may not include device"),
        ("src/codegen/a.cpp", '"device/kernel.h"', None),
        ("src/device/a.cpp", '"codegen/jit.h"', "device may not include codegen"),
        ("src/library/a.cpp", '"graph/node.h"', "library may not include graph"),
        ("src/execution/a.cpp", '"api/recording/record.h"', "execution may not include api"),
        ("src/codegen/cpu/a.cpp", '"codegen/ptx/team.h"', "codegen/cpu may not include codegen/ptx/team.h"),
        ("src/codegen/llvm/a.cpp", '"codegen/cpu/lowering.h"', "codegen/llvm may not include"),
        ("src/codegen/cpu/a.cpp", '"codegen/llvm/target.h"', None),
        ("src/library/ordering/cpu/a.cpp", '"library/ordering/sort_keys.h"', None),
        ("src/core/a.cpp", "<core/dims.h>", None),
        ("src/passes/a.cpp", "<llvm/IR/Module.h>", "LLVM header llvm/IR/Module.h outside codegen"),
        ("tests/cpp/a_test.cpp", "<llvm/IR/Module.h>", "LLVM header"),
        ("src/graph/a.cpp", "<Python.h>", "Python header Python.h outside bindings"),
        ("src/graph/a.cpp", "<nanobind/nanobind.h>", "Python header"),
        ("include/weft/array.h", "<cuda.h>", "CUDA header"),
        ("include/weft/array.h", '"graph/node.h"', "the public header shows graph/node.h"),
        ("src/core/a.cpp", '"dims.h"', "with its room"),
        ("src/core/a.cpp", '"../core/dims.h"', "from src"),
        ("src/utils/a.cpp", "<vector>", "not one of the rooms"),
        ("src/codegen/a.cpp", "<llvm/IR/Module.h>", None),
        ("src/planning/a.cpp", '"library/products/cpu/blas.h"', None),
        ("python/bindings/objects/a.cpp", "<nanobind/nanobind.h>", None),
        ("python/bindings/objects/a.cpp", '"objects/objects.h"', None),
        ("python/bindings/objects/a.cpp", '"package.h"', None),
        ("python/bindings/objects/a.cpp", '"objects.h"', 'as in "objects/objects.h"'),
        ("python/bindings/objects/a.cpp", '"passes/pass.h"', "bindings may not include passes"),
        ("src/api/a.cpp", '"objects/objects.h"', "api may not include the bindings"),
        ("include/weft/array.h", '"weft/dtype.h"', None),
        ("src/core/a.cpp", '"weft/dtype.h"', None),
    ],
)
def test_rules(path, include, message):
    found = complaints(path, include)
    if message is None:
        assert found == []
    else:
        assert len(found) == 1
        assert found[0].startswith(path + ":")
        assert message in found[0]


@pytest.mark.parametrize("folder", ["src/core", "python/bindings/objects", "tests/cpp"])
def test_a_folder_with_too_many_files_is_found(tmp_path, folder):
    (tmp_path / folder).mkdir(parents=True)
    for i in range(check_includes.MOST_FILES + 1):
        (tmp_path / folder / f"a{i}.h").write_text("// A file.\n")
    (complaint,) = check_includes.check_tree(tmp_path)
    assert complaint.startswith(f"{folder}: 31 files")


def test_the_tree_keeps_the_rules():
    assert check_includes.check_tree(ROOT) == []


def test_exit_status(tmp_path, monkeypatch, capsys):
    source = tmp_path / "src" / "core" / "a.cpp"
    source.parent.mkdir(parents=True)
    source.write_text('#include "graph/node.h"\n')
    monkeypatch.setattr("sys.argv", ["check_includes.py", str(tmp_path)])
    assert check_includes.main() == 1
    assert "core may not include graph" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["x = type->tp_name;\n", "y = PyTuple_GET_SIZE(x);\n"])
def test_fields_of_pythons_types_are_not_in_its_stable_abi(text):
    path = pathlib.PurePosixPath("python/bindings/objects/a.cpp")
    (found,) = check_includes.check_file(path, text, KNOWN)
    assert "a.cpp:1: the stable ABI has no " in found
    apart = f"#ifndef Py_LIMITED_API\n{text}#endif\n"
    assert not check_includes.check_file(path, apart, KNOWN)
    assert not check_includes.check_file(pathlib.PurePosixPath("src/core/a.cpp"), text, KNOWN)
