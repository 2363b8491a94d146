#!/usr/bin/env python3
"""Makes C++ of the functions in src/lang/prelude, which weft.jit compiles where a program calls what they stand for.

    tools/pack_prelude.py --output FILE

Each file `of_X.py` has functions for the module X. Their trees are those that the package makes of a program's
functions; what is raised in them has no place of its own. `CHECKED` of a file is explained in src/lang/prelude.h.
"""

import argparse
import importlib.util
import math
import pathlib
import re
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[1]
NUMPYS = (
    "all any arange arctan2 argsort array asarray atleast_1d atleast_2d bool broadcast_shapes"
    " broadcast_to ceil clip concatenate conj convolve copy cos count_nonzero cumprod cumsum diag dot"
    " empty empty_like exp expand_dims eye flatnonzero flip float64 floor i0 imag int64 iscomplexobj"
    " isfinite isneginf linspace log10 max mean min moveaxis nonzero ones outer power ravel real"
    " remainder reshape rint roll searchsorted sign sin sort sqrt stack sum swapaxes take transpose tri"
    " trunc uint64 vander where zeros zeros_like _new_text _points_of _text_of".split()
)  # functions of NumPy's that the prelude uses


ENGINES = [  # the engine's functions, which the prelude calls as numpy._engine_f(...)
    "_engine_" + name
    for name in re.findall(
        r"^WEFT_ENGINE_FUNCTION\((\w+),", (ROOT / "src/library/called/functions.def").read_text(), re.M
    )
]


def load_frontend():
    """The package's frontend, without the engine that the package itself loads."""
    for name in ("weft", "weft._jit"):
        package = types.ModuleType(name)
        package.__path__ = [str(ROOT / "python" / name.replace(".", "/"))]
        sys.modules[name] = package
    numpy = types.ModuleType("numpy")  # which builds do without
    for name in (*NUMPYS, *ENGINES):
        setattr(numpy, name, object())
    numpy.nan = float("nan")
    numpy.pi, numpy.inf = math.pi, math.inf
    numpy.linalg = types.ModuleType("numpy.linalg")
    for name in ("eigvals", "inv", "lstsq", "norm", "svd"):
        setattr(numpy.linalg, name, object())
    numpy.linalg.LinAlgError = type("LinAlgError", (ValueError,), {"__module__": "numpy.linalg"})
    numpy.exceptions = types.ModuleType("numpy.exceptions")
    axis_error = type("AxisError", (ValueError, IndexError), {"__module__": "numpy.exceptions"})
    numpy.exceptions.AxisError = axis_error
    sys.modules["numpy"] = numpy
    from weft._jit import _describe

    return _describe


def quoted(text):
    """A text as a C++ literal, in pieces that no compiler finds too long."""
    pieces = [text[i : i + 2000] for i in range(0, len(text), 2000)] or [""]
    return "\n".join('R"~(' + piece + ')~"' for piece in pieces)


def constant(value):
    """A constant as a word and its value."""
    if value is None:
        return '{"none", 0, 0}'
    if isinstance(value, bool):
        return f'{{"bool", {int(value)}, 0}}'
    if isinstance(value, int):
        return f'{{"int", {value}, 0}}'
    if value != value:
        return '{"float", 0, std::numeric_limits<double>::quiet_NaN()}'
    if value in (float("inf"), float("-inf")):
        return f'{{"float", 0, {"-" if value < 0 else ""}std::numeric_limits<double>::infinity()}}'
    return f'{{"float", 0, {value.hex()}}}'


def symbol(module, described):
    """A symbol as its kind, name, path and constant."""
    kind, name, *rest = described
    if kind == "constant":
        return f'{{"constant", "{name}", "", {constant(rest[0])}}}'
    if kind == "function":
        return f'{{"function", "{name}", "{module}.{rest[0].__name__}", {{}}}}'
    if kind == "exception":
        return f'{{"exception", "{name}", "", {{}}}}'
    if kind in ("known", "module"):
        return f'{{"{kind}", "{name}", "{rest[0]}", {{}}}}'
    raise SystemExit(f"pack_prelude.py: {module} uses {name}, a {kind}")


def pack(describe, file):
    """The entries of the table for the functions of one file."""
    module = file.stem.removeprefix("of_")
    spec = importlib.util.spec_from_file_location("prelude_" + module, file)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    checked = getattr(loaded, "CHECKED", None)
    if unknown := set(checked or ()) - set(vars(loaded)):
        raise SystemExit(f"pack_prelude.py: {file.name} has no {', '.join(sorted(unknown))}")
    entries = []
    for name, function in vars(loaded).items():
        if not isinstance(function, types.FunctionType):
            continue
        found = describe(function)
        symbols = ", ".join(symbol(module, each) for each in found.symbols)
        defaults = ", ".join(map(constant, found.defaults))
        in_bounds = "true" if checked is not None and name not in checked else "false"
        head = f'"{module}.{name}",\n{quoted(found.tree)},\n{in_bounds}'
        entries.append(f"{{{head},\n{{{symbols}}},\n{{{defaults}}}}},\n")
    return entries


def main():
    """Writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", required=True, type=pathlib.Path)
    output = parser.parse_args().output
    sys.dont_write_bytecode = True
    describe = load_frontend().describe
    entries = []
    for file in sorted((ROOT / "src/lang/prelude").glob("of_*.py")):
        entries += pack(describe, file)
    text = "// By tools/pack_prelude.py.\n" + "".join(entries)
    output.parent.mkdir(parents=True, exist_ok=True)
    if not output.exists() or output.read_text() != text:
        output.write_text(text)


if __name__ == "__main__":
    main()
