"""Programs of tests/python/libraries: what their functions give, in words that JSON has and two processes can compare.

python [-m weft] library_programs.py program.py
"""

import importlib.util
import json
import math
import pathlib
import sys
import types


def _is_array(value):
    return hasattr(value, "dtype") and hasattr(value, "shape") and hasattr(value, "tolist")


def described(value):
    """Arrays and scalars of NumPy's and weft's by kind, dtype, shape and elements; sequences element by element."""
    if isinstance(value, dict):
        return {str(key): described(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [described(each) for each in value]
    if _is_array(value):
        elements = value.tolist()
        return {
            "kind": type(value).__name__,
            "dtype": str(value.dtype),
            "shape": list(value.shape),
            "elements": described(elements),
        }
    if isinstance(value, complex):
        return [described(value.real), described(value.imag)]
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)


def functions_of(module):
    names = [name for name, value in vars(module).items() if isinstance(value, types.FunctionType)]
    return [name for name in names if vars(module)[name].__code__.co_flags & 0x20]  # the generators


def load(path, changed=False):
    """The program's module; with its import changed, if so."""
    text = pathlib.Path(path).read_text()
    if changed:
        assert "import numpy as np" in text
        text = text.replace("import numpy as np", "import weft as np")
    module = types.ModuleType(pathlib.Path(path).stem)
    module.__file__ = str(path)
    exec(compile(text, str(path), "exec"), vars(module))
    return module


def results(module, name):
    return [described(value) for value in getattr(module, name)()]


def told(path):
    """Of each function of the program its results, or the exception that ended it."""
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    answers = {}
    for name in functions_of(module):
        try:
            answers[name] = results(module, name)
        except Exception as error:
            answers[name] = f"{type(error).__name__}: {error}"
    return answers


def differences(expected, found, where=""):
    """Where two descriptions differ, with words for each place; none where they agree."""
    if isinstance(expected, float) and isinstance(found, float):
        if not math.isclose(expected, found, rel_tol=1e-7, abs_tol=1e-9):
            yield f"{where}: {found} instead of {expected}"
    elif isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        for key in expected:
            yield from differences(expected[key], found[key], f"{where}.{key}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for i, (theirs, ours) in enumerate(zip(expected, found)):
            yield from differences(theirs, ours, f"{where}[{i}]")
    elif type(expected) is not type(found) or expected != found:
        yield f"{where}: {str(found)[:300]} instead of {str(expected)[:300]}"


if __name__ == "__main__":
    print(json.dumps(told(sys.argv[1])))
