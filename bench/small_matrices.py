"""Times batches of small matrices, weft's beside NumPy's: what docs/decisions/0024 has as a table.

    python bench/small_matrices.py [--sides 3,4,8,16] [--count N] [--only NAMES] [--threads 1,0]

For each operation, dtype and side a line with microseconds a matrix: NumPy's on a twentieth of the batch, and weft's on
all of it for each number of threads (0: all), with the ratio. Shortest of some turns that alternate.
"""

import argparse
import time

import numpy
import weft

TURNS = 3
OPERATIONS = {
    "solve": lambda m, a, s, b: m.linalg.solve(a, b),
    "inv": lambda m, a, s, b: m.linalg.inv(a),
    "det": lambda m, a, s, b: m.linalg.det(a),
    "cholesky": lambda m, a, s, b: m.linalg.cholesky(s),
    "qr": lambda m, a, s, b: m.linalg.qr(a),
    "eigh": lambda m, a, s, b: m.linalg.eigh(s),
    "eigvalsh": lambda m, a, s, b: m.linalg.eigvalsh(s),
    "svd": lambda m, a, s, b: m.linalg.svd(a),
    "svdvals": lambda m, a, s, b: m.linalg.svdvals(a),
}


def ready(result):
    """Evaluates what is pending."""
    for each in result if isinstance(result, tuple) else (result,):
        numpy.asarray(each)


def seconds(function, module, *arrays):
    start = time.perf_counter()
    ready(function(module, *arrays))
    return time.perf_counter() - start


def measure(function, dtype, side, count, threads):
    """Microseconds a matrix: NumPy's, and weft's for each number of threads."""
    generator = numpy.random.default_rng(side)
    a = generator.standard_normal((count, side, side)).astype(dtype)
    s = a @ a.mT + numpy.eye(side, dtype=dtype)
    b = generator.standard_normal((count, side, 1)).astype(dtype)
    few = max(1, count // 20)
    of_numpy, of_weft = [], {number: [] for number in threads}
    own = [weft.asarray(x) for x in (a, s, b)]
    for _ in range(TURNS):
        of_numpy.append(seconds(function, numpy, a[:few], s[:few], b[:few]) / few)
        for number in threads:
            with weft.config(num_threads=number):
                of_weft[number].append(seconds(function, weft, *own) / count)
    return min(of_numpy) * 1e6, [min(times) * 1e6 for times in of_weft.values()]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sides", default="3,4,8,16")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", default="1,0")
    arguments = parser.parse_args()
    threads = [int(number) for number in arguments.threads.split(",")]
    names = arguments.only.split(",") if arguments.only else list(OPERATIONS)
    for dtype in ("float64", "float32"):
        for side in map(int, arguments.sides.split(",")):
            for name in names:
                numpys, wefts = measure(OPERATIONS[name], dtype, side, arguments.count, threads)
                times = "".join(f" {own:9.3f} ({numpys / own:5.1f}x)" for own in wefts)
                print(f"{dtype} {side:3d} {name:9s} numpy {numpys:9.3f} weft{times}", flush=True)


if __name__ == "__main__":
    main()
