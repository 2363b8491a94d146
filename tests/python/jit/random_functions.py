"""Random functions by a compiler beside CPython.

    python tests/python/jit/random_functions.py [--seed N] [--count N] [--jit weft|numba] [--shrink]

A seed makes a function, the functions that it calls, and arguments (tests/python/support/jit_random.py). Values, types,
exceptions and what is written into arrays have to be the same, bit by bit.
"""

import argparse
import ast
import contextlib
import io
import linecache
import pathlib
import struct
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import jit_random

UNBOUND = "has no value here"


def functions_of(text, name, jit=None):
    """The function `f` of a text, compiled by `jit` with all that it calls."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"__name__": "random_functions"}
    exec(compile(text, name, "exec"), names)
    if jit is not None:
        for function in [n for n in names if n[0] == "g" or n == "f"]:
            names[function] = jit(names[function])
    return names["f"]


def bits(value):
    """A value with its type, so that equal ones are equal bit by bit; all NaNs are one."""
    if isinstance(value, tuple):
        return tuple(map(bits, value))
    if isinstance(value, float):
        return ("float", "nan" if value != value else struct.pack("d", value).hex())
    return (type(value).__name__, value)


class Elements:
    """An array for CPython: slices are views, as NumPy's are, and elements are Python's numbers."""

    def __init__(self, array):
        self.array = array

    def __len__(self):
        return len(self.array)

    def __getitem__(self, index):
        return Elements(self.array[index]) if isinstance(index, slice) else self.array[index].item()

    def __setitem__(self, index, value):
        self.array[index] = value

    def __iter__(self):
        return (self.array[k].item() for k in range(len(self.array)))


def outcome(function, arguments, compiled):
    """What a call comes to: its result or exception, and its arrays afterwards, and what it prints."""
    arrays = [numpy.array(a) for a in arguments if isinstance(a, list)]
    waiting = iter(arrays if compiled else map(Elements, arrays))
    arguments = [next(waiting) if isinstance(a, list) else a for a in arguments]
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            result = ("returned", bits(function(*arguments)))
    except (ArithmeticError, AssertionError, LookupError, NameError, RuntimeError, ValueError) as error:
        text = str(error)
        result = ("raised", type(error).__name__, text if text.startswith("left") else "")
    return result, [tuple(map(bits, array.tolist())) for array in arrays], said.getvalue()


def disagreement(text, calls, jit, name="<random function>"):
    """What CPython and the compiler do not agree on, in words; empty where they agree."""
    plain = functions_of(text, name)
    expected = [outcome(plain, arguments, False) for arguments in calls]
    try:
        compiled = functions_of(text, name, jit)
        for arguments, wanted in zip(calls, expected, strict=True):
            found = outcome(compiled, arguments, True)
            if found != wanted:
                return f"f{arguments} is {readable(found)}, not {readable(wanted)}"
    except Exception as error:
        if UNBOUND in str(error):  # on every way: weft.jit says so before CPython comes there
            return ""
        return f"{type(error).__name__}: {error}"
    return ""


def readable(found):
    """An outcome for people: bits as numbers."""
    if isinstance(found, tuple) and len(found) == 2 and found[0] == "float":
        return found[1] if found[1] == "nan" else struct.unpack("d", bytes.fromhex(found[1]))[0]
    if isinstance(found, tuple) and len(found) == 2 and found[0] in ("int", "bool"):
        return found[1]
    return type(found)(map(readable, found)) if isinstance(found, (tuple, list)) else found


def shrunk(text, wrong):
    """The text without all statements that can be left out; `wrong(text)` says whether it is still wrong."""
    again = True
    while again:
        again = False
        for smaller in _smaller(text):
            if wrong(smaller):
                text, again = smaller, True
                break
    return text


def _smaller(text):
    """Texts with one statement less, or with a statement's body in its place."""
    count = sum(1 for _ in _blocks(ast.parse(text)))
    for k in range(count):
        length = len(list(_blocks(ast.parse(text)))[k])
        for at in range(length):
            for unwrap in (False, True):
                tree = ast.parse(text)
                block = list(_blocks(tree))[k]
                inner = getattr(block[at], "body", None) if unwrap else []
                if inner is None or (unwrap and isinstance(block[at], ast.FunctionDef)):
                    continue
                if block[at : at + 1] != inner and not (len(block) == 1 and isinstance(block[at], ast.Pass)):
                    block[at : at + 1] = inner or ([ast.Pass()] if len(block) == 1 else [])
                    yield ast.unparse(tree) + "\n"


def _blocks(tree):
    for node in ast.walk(tree):
        for field in ("body", "orelse"):
            if isinstance(getattr(node, field, None), list) and getattr(node, field):
                yield getattr(node, field)


def kind_of(message):
    """What a disagreement is about, for shrinking: the same error, or a wrong value."""
    return message.split("(")[0].split(":")[0]


def compiler(name):
    """weft.jit or numba.njit."""
    if name == "numba":
        import numba

        return numba.njit(error_model="python")
    import weft

    return weft.jit


def main():
    """Compares many functions; exits 1 where any is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--jit", choices=("weft", "numba"), default="weft")
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--text", action="store_true", help="print the text of the seed alone")
    options = parser.parse_args()
    if options.text:
        print(jit_random.generate(options.seed)[0])
        return 0
    jit = compiler(options.jit)
    wrong = 0
    for seed in range(options.seed, options.seed + options.count):
        text, calls = jit_random.generate(seed)
        message = disagreement(text, calls, jit, f"<random function {seed}>")
        if not message:
            continue
        wrong += 1
        print(f"seed {seed}: {message}", flush=True)
        if options.shrink:
            kind, turn = kind_of(message), [0]

            def still_wrong(smaller, kind=kind, turn=turn, calls=calls):
                turn[0] += 1
                try:
                    found = disagreement(smaller, calls, jit, f"<shrunk {turn[0]}>")
                except Exception:  # CPython itself does not take it
                    return False
                return found != "" and kind_of(found) == kind

            print(shrunk(text, still_wrong), flush=True)
    print(f"{wrong} of {options.count} functions are wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
