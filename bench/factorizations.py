"""Times factorisations of single large matrices, weft's beside those of the peers that are installed.

    python bench/factorizations.py [--sides 1000,2000] [--only lu,qr] [--dtypes float64,float32] [--threads 1]
                                   [--peers numpy,scipy,jax,torch] [--rounds N] [--seconds S] [--clock process]

For each operation, dtype and side a line: median milliseconds of each contender, and weft's part of the best peer's
(the median of the rounds' ratios). All contenders take turns in each round, after a round that does not count, until
there are N rounds or S seconds have passed. `--clock process` takes the time of the process's threads on the processor,
which other programs disturb less: for one thread. JAX chooses its threads by itself, so with one thread run all of this
on one core (taskset). Idle threads of OpenMP and OpenBLAS sleep here: by default they spin for up to 200 ms, and take a
core from the contender that follows.
"""

import argparse
import importlib
import os
import statistics
import time

# Read when the libraries are loaded.
os.environ.update(
    {"OMP_WAIT_POLICY": "PASSIVE", "KMP_BLOCKTIME": "0", "OPENBLAS_THREAD_TIMEOUT": "4", **os.environ}
)

import numpy

OPERATIONS = {
    "lu": {
        "weft": lambda m, a, s, b: m.scipy.linalg.lu_factor(a),
        "scipy": lambda m, a, s, b: m.lu_factor(a),
        "torch": lambda m, a, s, b: m.linalg.lu_factor(a),
        "jax": lambda m, a, s, b: importlib.import_module("jax.scipy.linalg").lu_factor(a),
    },
    "cholesky": {
        "weft": lambda m, a, s, b: m.linalg.cholesky(s),
        "scipy": lambda m, a, s, b: m.cholesky(s, lower=True),
    },
    "qr": {"weft": lambda m, a, s, b: m.linalg.qr(a), "scipy": lambda m, a, s, b: m.qr(a, mode="economic")},
    "svd": {
        "weft": lambda m, a, s, b: m.linalg.svd(a, full_matrices=False),
        "scipy": lambda m, a, s, b: m.svd(a, full_matrices=False),
    },
    "eigh": {
        "weft": lambda m, a, s, b: m.linalg.eigh(s),
        "scipy": lambda m, a, s, b: m.eigh(s, driver="evd"),
    },
    "eig": {"weft": lambda m, a, s, b: m.linalg.eig(a), "scipy": lambda m, a, s, b: m.eig(a)},
    "inv": {"weft": lambda m, a, s, b: m.linalg.inv(a), "scipy": lambda m, a, s, b: m.inv(a)},
    "solve": {
        "weft": lambda m, a, s, b: m.linalg.solve(a, b),
        "scipy": lambda m, a, s, b: m.solve(a, b, assume_a="gen"),
    },
    "matmul": {"weft": lambda m, a, s, b: m.matmul(a, s), "scipy": None},
}


def function_of(name, contender):
    own = OPERATIONS[name]
    if contender == "numpy" and name == "lu":
        return None
    return own[contender] if contender in own else own["weft"]


def contenders_of(names):
    """For each that is installed: what its functions are in, and how it takes a copy of an array."""
    found = {}
    for name in names:
        try:
            module = importlib.import_module({"scipy": "scipy.linalg", "jax": "jax"}.get(name, name))
        except ImportError:
            continue
        copy = numpy.copy
        if name == "weft":
            importlib.import_module("weft.scipy.linalg")
            copy = lambda x, weft=module: weft.asarray(x.copy())  # noqa: E731
        elif name == "torch":
            copy = lambda x, torch=module: torch.from_numpy(x.copy())  # noqa: E731
        elif name == "jax":
            module.config.update("jax_enable_x64", True)
            module = importlib.import_module("jax.numpy")
            copy = lambda x, jax=module: jax.array(x).block_until_ready()  # noqa: E731
        found[name] = module, copy
    return found


def set_threads(number, found):
    if "torch" in found:
        found["torch"][0].set_num_threads(number)
    try:
        importlib.import_module("threadpoolctl").threadpool_limits(number)
    except ImportError:
        print("without threadpoolctl: NumPy and SciPy take the threads that they take")


def ready(result):
    for each in result if isinstance(result, tuple) else (result,):
        if hasattr(each, "block_until_ready"):
            each.block_until_ready()
        else:
            numpy.asarray(each)


def milliseconds(clock, function, module, arrays):
    start = clock()
    ready(function(module, *arrays))
    return (clock() - start) * 1e3


def measure(name, found, arrays, clock, rounds, seconds):
    times = {}
    functions = {each: function_of(name, each) for each in found}
    end = None
    for turn in range(rounds + 1):
        for each, (module, copy) in found.items():
            if functions[each] is None:
                continue
            own = [copy(array) for array in arrays]  # new ones, of which no factors are kept
            taken = milliseconds(clock, functions[each], module, own)
            if turn > 0:
                times.setdefault(each, []).append(taken)
        if end is None:
            end = time.perf_counter() + seconds
        elif turn >= 3 and time.perf_counter() > end:
            break
    return times


def line_of(times):
    medians = {each: statistics.median(own) for each, own in times.items()}
    text = "".join(f"  {each} {median:8.2f}" for each, median in medians.items())
    peers = [each for each in medians if each != "weft"]
    if not peers or "weft" not in medians:
        return text
    best = min(peers, key=medians.get)
    ratios = [own / other for own, other in zip(times["weft"], times[best], strict=True)]
    return f"{text}  | {statistics.median(ratios):.3f} of {best}, {len(ratios)} rounds"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sides", default="1000,2000")
    parser.add_argument("--only", default="")
    parser.add_argument("--dtypes", default="float64,float32")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peers", default="numpy,scipy,jax,torch")
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--clock", choices=("wall", "process"), default="wall")
    arguments = parser.parse_args()
    found = contenders_of(["weft", *filter(None, arguments.peers.split(","))])
    set_threads(arguments.threads, found)
    clock = time.process_time if arguments.clock == "process" else time.perf_counter
    names = arguments.only.split(",") if arguments.only else list(OPERATIONS)
    with found["weft"][0].config(num_threads=arguments.threads):
        for dtype in arguments.dtypes.split(","):
            for side in map(int, arguments.sides.split(",")):
                generator = numpy.random.default_rng(side)
                a = generator.standard_normal((side, side)).astype(dtype)
                s = (a @ a.T + side * numpy.eye(side)).astype(dtype)
                b = generator.standard_normal((side, side)).astype(dtype)
                for name in names:
                    times = measure(name, found, (a, s, b), clock, arguments.rounds, arguments.seconds)
                    print(f"{name:8s} {dtype} {side:5d}{line_of(times)}", flush=True)


if __name__ == "__main__":
    main()
