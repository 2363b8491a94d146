"""Compiles large functions that weft.jit has for NumPy's, for the dtypes that are used most, into the file that lies
beside libweft (src/codegen/service/shared_code.h).

    python tools/pack_functions.py [--host] [--verbose] TABLE OUTPUT

What is compiled is what the calls in TABLE come to, which is src/lang/prelude/shipped.txt. --host compiles for this
machine alone.
"""

import argparse
import os
import pathlib
import time

for name in [name for name in os.environ if name.startswith("WEFT_")]:
    del os.environ[name]  # settings that programs will not have

import weft  # noqa: E402
from weft import _core  # noqa: E402

DTYPES = "dl"


def calls(table):
    """The texts of the table."""
    return [line for line in table.read_text().splitlines() if line and not line.startswith("#")]


def collected(text, arguments):
    """The functions that a program of that text would share with others."""
    source = f"f = lambda a, x, s, v: {text}"
    names = {"np": weft}
    exec(source, names)
    _core._begin_collection()
    try:
        weft.jit(names["f"], source=source)(*arguments)
    except weft.CompileError:
        pass  # as always, since nothing is compiled
    finally:
        texts = _core._end_collection()
    return texts


def main():
    """Writes the file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--host", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    start = time.perf_counter()
    texts = set()
    for dtype in DTYPES:
        matrix, vector = weft.ones((5, 5), dtype), weft.ones(9, dtype)
        for text in calls(options.table):
            texts.update(collected(text, (matrix, vector, vector, matrix[:, 0])))
    middle = time.perf_counter()
    packed = _core._pack_of_shared(sorted(texts), options.host)
    temporary = options.output.with_suffix(".new")
    temporary.write_bytes(packed)
    temporary.replace(options.output)
    if options.verbose:
        print(
            f"{len(texts)} functions in {len(packed) / 1e6:.1f} MB; {middle - start:.1f} s to collect,"
            f" {time.perf_counter() - middle:.1f} s to compile"
        )


if __name__ == "__main__":
    main()
