"""One way of running a program of examples/programs: a process that bench/programs.py starts and reads.

    python bench/program_run.py numpy|weft|zero PROGRAM SIZE RUNS RESULT.npz

Prints JSON: seconds of the first run and of each further one, and where the arrays came from. SIZE 0 is the program's.
"""

import importlib.util
import json
import pathlib
import sys
import time


def module_of(path, replace):
    """The program as a module; with `replace` its import of NumPy is one of weft."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    text = path.read_text()
    if replace:
        text = text.replace("import numpy as np", "import weft as np")
    exec(compile(text, str(path), "exec"), module.__dict__)
    return module


def main(way, path, size, runs, result):
    if way == "zero":
        import weft

        weft.install()
    module = module_of(pathlib.Path(path), way == "weft")
    times = []
    for _ in range(int(runs)):
        start = time.perf_counter()
        found = module.main(int(size) or module.SIZE)
        found = {name: module.np.asarray(value) for name, value in found.items()}
        for value in found.values():
            if value.dtype.kind in "?biufc":  # others are never lazy, and dates have no buffer
                memoryview(value)  # what is lazy is computed
        times.append(time.perf_counter() - start)
    import numpy

    numpy.savez(result, **{name: numpy.asarray(value) for name, value in found.items()})
    print(json.dumps({"seconds": times, "module": type(module.np.ones(1)).__module__}))


if __name__ == "__main__":
    main(*sys.argv[1:])
