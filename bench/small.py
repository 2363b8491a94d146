"""Times single small operations, weft's beside NumPy's: what a call costs when there is hardly any work.

    python bench/small.py [--only TEXT] [--rounds N] [--json FILE]
    python bench/small.py --before FOLDER [--pairs N]   beside another build, whose package weft is in FOLDER

Each line is one statement, run in both modules by the same process in alternating turns of about a millisecond of
processor time. The table gives the median nanoseconds of a statement over the turns, less those of an empty one, and
the median of the turns' ratios. Exit status: 1 when a ratio is above the goal.

With --before, processes of both builds follow one another, and the table has the median of their pairs' ratios, after
to before, of statements that are above NOTICEABLE. Each process places code and memory anew: a statement whose ratio
differs between two runs by a few hundredths has not changed.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import timeit

import numpy
import weft

GOAL = 1.5
SECONDS_A_TURN = 0.001
NOTICEABLE = 1.03

SETUP = """
x = np.arange(1000) * 0.5
m = np.arange(2500).reshape(50, 50) * 0.5
a, b, out = np.arange(10) * 0.5, np.arange(10) * 0.25, np.zeros(10)
k = np.arange(10)
f = (np.arange(10) * 0.5).astype(np.float32)
s, t = x[3], x[4]
i64 = k[3]
mask = a > 1
shape = (2, 5)
u, v = np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.25, 4.0])
r = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
order = np.array([3, 1, 2])
mixed = np.array([3.0, 1.0, 2.0, 9.0, 5.0, 4.0, 0.5, 8.0, 7.0, 6.0])
repeated = np.array([3, 1, 2, 3, 1, 2, 3, 1, 2, 3])
"""

STATEMENTS = {
    "elements": [
        "x[7]",
        "x[-7]",
        "m[3, 4]",
        "k[3]",
        "x[7] = 2.5",
        "x[7] = 3",
        "x[7] = s",
        "k[3] = 4",
        "m[3, 4] = 2.5",
        "x[7] += 0.5",
        "float(x[7])",
        "x.item(7)",
        "for v in x: pass",
        "for i in range(100): float(x[i])",
    ],
    "scalars": [
        "float(s)",
        "int(i64)",
        "s + t",
        "s * 2.0",
        "2 * s",
        "s > t",
        "-s",
        "abs(s)",
        "s ** 2",
        "bool(s)",
        "s == 0",
        "i64 + 1",
        "np.float64(1.5)",
        "np.sqrt(s)",
    ],
    "views": [
        "a[2:5]",
        "a[:]",
        "a[::-1]",
        "a[..., 0:1]",
        "a[None]",
        "m[3]",
        "m[:, 3]",
        "m[1:-1, 1:-1]",
        "m[1:3, ::2]",
        "m.T",
        "m.transpose()",
        "m.transpose(1, 0)",
        "a.reshape(2, 5)",
        "a.reshape(shape)",
        "a.reshape(-1)",
        "a.ravel()",
        "np.reshape(a, shape)",
        "np.transpose(m)",
        "np.expand_dims(a, 0)",
        "np.squeeze(m[:1])",
        "np.flip(a)",
        "a[2:5] = 1.0",
        "a[2:5] = b[2:5]",
        "a[...] = b",
    ],
    "indices": [
        "a[order]",
        "a[[3, 1, 2]]",
        "a[mask]",
        "m[order]",
        "a[order] = 1.0",
        "a[mask] = 1.0",
        "np.nonzero(mask)",
        "np.flatnonzero(mask)",
        "np.take(a, order)",
    ],
    "attributes": [
        "a.shape",
        "a.ndim",
        "a.size",
        "a.dtype",
        "len(a)",
        "a.dtype == np.float64",
        "isinstance(a, np.ndarray)",
    ],
    "arithmetic": [
        "a + b",
        "a * 2.0",
        "2 * a",
        "s * a",
        "a / 3",
        "-a",
        "a ** 2",
        "a > 0",
        "k + 1",
        "k > 3",
        "k % 3",
        "k * 0.5",
        "f * 2.0",
        "a += b",
        "a *= 1.0",
        "k += 1",
        "m[3] + a[0]",
        "m[:10, :10] + a",
        "np.add(a, b)",
        "np.add(a, b, out=out)",
        "np.sin(a)",
        "np.sqrt(a)",
        "np.exp(a)",
        "np.maximum(a, b)",
        "np.where(mask, a, b)",
        "np.where(mask, a, 0.0)",
        "np.clip(a, 1.0, 2.0)",
        "np.abs(a)",
        "np.minimum(a, 1.0)",
        "np.round(a, 1)",
        "np.isnan(a)",
        "np.diff(a)",
        "np.cumsum(a)",
        "a.cumsum()",
        "a.clip(1.0, 2.0)",
        "np.interp(0.7, a, b)",
    ],
    "reductions": [
        "a.sum()",
        "x.sum()",
        "np.sum(a)",
        "m.sum(axis=0)",
        "m.sum(1)",
        "a.max()",
        "a.mean()",
        "a.std()",
        "a.any()",
        "mask.all()",
        "a.argmax()",
        "np.any(a > 3)",
        "np.max(a)",
        "np.mean(a)",
        "np.std(a)",
        "m.mean(axis=0)",
        "r.max(axis=1)",
        "np.argmax(a)",
        "np.prod(a)",
        "np.count_nonzero(mask)",
        "np.allclose(a, b)",
        "np.array_equal(a, b)",
    ],
    "order": [
        "np.sort(mixed)",
        "np.argsort(mixed)",
        "np.sort(m[:3, :4])",
        "a.sort()",
        "mixed.argsort()",
        "np.unique(repeated)",
        "np.unique(mixed)",
        "np.searchsorted(a, 2.2)",
        "np.searchsorted(a, b)",
        "a.searchsorted(b)",
        "np.digitize(b, a)",
        "np.median(mixed)",
        "np.percentile(mixed, 30)",
        "np.partition(mixed, 3)",
        "np.isin(k, order)",
        "np.bincount(repeated)",
    ],
    "vectors": [
        "np.dot(u, v)",
        "u @ v",
        "u.dot(v)",
        "r @ u",
        "r @ r",
        "np.dot(r, r)",
        "np.sqrt((u * u).sum())",
        "np.sqrt(u @ u)",
        "u / np.sqrt(u @ u)",
        "np.sqrt(((a - b) ** 2).sum())",
        "np.cross(u, v)",
        "np.outer(u, v)",
        "np.einsum('i,i->', u, v)",
        "np.trace(r)",
        "np.diag(r)",
    ],
    "creation": [
        "np.zeros(10)",
        "np.zeros((3, 3))",
        "np.empty(10)",
        "np.ones(10)",
        "np.full(10, 2.0)",
        "np.arange(10)",
        "np.arange(10.0)",
        "np.linspace(0.0, 1.0, 10)",
        "np.eye(3)",
        "np.array([1., 2., 3.])",
        "np.array([1, 2, 3])",
        "np.array([[1., 2.], [3., 4.]])",
        "np.array(2.0)",
        "np.asarray(theirs)",
        "np.asarray(a)",
        "np.array(a)",
        "a.copy()",
        "a.astype(np.float32)",
        "a.astype('f4')",
        "a.tolist()",
        "np.zeros_like(a)",
        "np.concatenate((a, b))",
        "np.stack((a, b))",
        "np.vstack((a, b))",
        "np.hstack((a, b))",
        "np.column_stack((a, b))",
        "np.ones_like(a)",
        "np.full_like(a, 2.0)",
        "np.tile(a, 2)",
        "np.repeat(a, 2)",
        "np.roll(a, 1)",
        "np.append(a, 1.0)",
    ],
    "loops": [
        "q = q * 1.0001 + 0.5  # 10",
        "q = q * 1.0001 + 0.5  # 100",
        "q = q * 1.0001 + 0.5  # 1000",
        "q = q * 1.0001 + 0.5  # 4000",
    ],
}


def names_for(module):
    """What statements use."""
    names = {"np": module}
    exec(SETUP, names)
    names["theirs"] = numpy.arange(10) * 0.5
    return names


def written(names):
    """The declaration of the names that statements write."""
    return "global " + ", ".join(sorted(set("axmkfq") & set(names)))


def timers(statement):
    """A timer for each module, and how many runs of the statement make a turn."""
    result = {}
    for module in (numpy, weft):
        names = names_for(module)
        if statement.startswith("q ="):
            names["q"] = module.arange(int(statement.split("#")[1])) * 0.001
            code = "global q\n" + statement
        else:
            code = statement
        result[module.__name__] = timeit.Timer(code, written(names), time.process_time, globals=names)
    return result


def measure(statement, rounds):
    pair = timers(statement)
    pair["empty"] = timeit.Timer("pass", timer=time.process_time)
    number = 1
    while pair["numpy"].timeit(number) < SECONDS_A_TURN:
        number *= 2
    pair["weft"].timeit(number)
    times = {name: [] for name in pair}
    for _ in range(rounds):
        for name, timer in pair.items():
            times[name].append(timer.timeit(number) / number * 1e9)
    nothing = min(times.pop("empty"))
    ours, theirs = ([max(t - nothing, 0.1) for t in times[name]] for name in ("weft", "numpy"))
    return {
        "statement": statement,
        "numpy": statistics.median(theirs),
        "weft": statistics.median(ours),
        "ratio": statistics.median(w / n for w, n in zip(ours, theirs, strict=True)),
    }


def compare(before, options):
    """The ratios of this build's times to those of the build in the folder `before`."""
    after = pathlib.Path(weft.__file__).parents[1]
    ratios = {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "rows.json")
        for pair in range(options.pairs):
            times = []
            for package in (before, after) if pair % 2 == 0 else (after, before):
                command = [sys.executable, __file__, "--only", options.only, "--rounds", str(options.rounds)]
                environment = {**os.environ, "PYTHONPATH": str(package.resolve())}
                subprocess.run(
                    [*command, "--json", path], env=environment, stdout=subprocess.DEVNULL, check=False
                )
                if not path.exists():
                    sys.exit(f"the package in {package} does not run these statements")
                rows = json.loads(path.read_text())
                path.unlink()
                assert pathlib.Path(rows["package"]) == package.resolve(), rows["package"]
                times.append({row["statement"]: row["weft"] for row in rows["rows"]})
            old, new = times if pair % 2 == 0 else reversed(times)
            for statement, time_before in old.items():
                ratios.setdefault(statement, []).append(new[statement] / time_before)
            print(f"pair {pair + 1} of {options.pairs}", file=sys.stderr, flush=True)
    medians = {statement: statistics.median(each) for statement, each in ratios.items()}
    slower = {statement: ratio for statement, ratio in medians.items() if ratio > NOTICEABLE}
    for statement, ratio in sorted(slower.items(), key=lambda item: -item[1]):
        print(f"{statement:44} {ratio:6.3f}   " + " ".join(f"{each:.2f}" for each in ratios[statement]))
    print(f"{len(slower)} of {len(medians)} statements above {NOTICEABLE}; geometric mean "
          f"{statistics.geometric_mean(medians.values()):.3f}")  # fmt: skip
    return 1 if slower else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="only statements, or groups, with this text")
    parser.add_argument("--rounds", type=int, default=31)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--before", type=pathlib.Path, help="the folder of another build's package")
    parser.add_argument("--pairs", type=int, default=5, help="processes of each build")
    options = parser.parse_args()
    if options.before:
        return compare(options.before, options)
    rows = []
    print(f"{'statement':34} {'numpy ns':>9} {'weft ns':>9} {'ratio':>6}")
    for group, statements in STATEMENTS.items():
        chosen = [s for s in statements if options.only in s or options.only in group]
        if chosen:
            print(f"--- {group}")
        for statement in chosen:
            row = measure(statement, options.rounds)
            rows.append({"group": group, **row})
            print(f"{statement:34} {row['numpy']:9.0f} {row['weft']:9.0f} {row['ratio']:6.2f}"
                  + ("  above the goal" if row["ratio"] > GOAL else ""), flush=True)  # fmt: skip
    if options.json:
        options.json.write_text(
            json.dumps({"package": str(pathlib.Path(weft.__file__).parents[1]), "rows": rows}, indent=1)
        )
    ratios = [row["ratio"] for row in rows]
    if ratios:
        print(f"{sum(r <= GOAL for r in ratios)} of {len(ratios)} statements cost at most {GOAL} times NumPy's time, "
              f"{sum(r <= 1 for r in ratios)} at most as much; geometric mean "
              f"{statistics.geometric_mean(ratios):.2f}")  # fmt: skip
    return 0 if all(r <= GOAL for r in ratios) else 1


if __name__ == "__main__":
    sys.exit(main())
