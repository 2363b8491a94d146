"""Runs the example programs on NumPy and on weft side by side, on the same input, and compares them.

    python examples/demo.py [--only TEXT] [--json FILE] [--markdown FILE]
    WEFT_DEVICE=cuda python examples/demo.py --beside cupy

Each program runs in a fresh process of its own, so that "first call" is what a user waits for the first
evaluation. NumPy and weft then take turns. The table gives the medians, the speed-up is the median of the ratios
of the turns. With --beside MODULE that module and weft take turns once more, and the ratio is weft's time through
that module's. Pictures are saved under out/. The exit status is 1 when results disagree.
"""

import argparse
import contextlib
import dataclasses
import functools
import importlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import black_scholes
import components
import diffusion
import expression
import jagged
import laplace
import normalise
import numpy
import periodogram
import products
import seasons
import smooth
import softmax
import units

HISTORY = 10_000  # launches that weft remembers
SECONDS_BESIDE = 1.0  # that two modules take turns, and three turns at least


@dataclasses.dataclass
class Program:
    """One row of the table. `call(np, *arguments)` is what is timed; `arguments(np)` makes its input, untimed."""

    name: str
    reads: str
    arguments: Callable[[Any], tuple]
    call: Callable
    repetitions: int
    tolerance: float  # largest relative difference that is allowed; 0: every bit
    picture: Callable | None = None  # picture(folder, arguments, result), both NumPy's
    in_place: bool = False  # the call goes on with its own arguments; the last state is compared
    says: Callable | None = None  # says(arguments, result): what the program found, in words
    exact: bool = (
        False  # judged by NumPy in float64: in float32, what NumPy gives is what is far from the truth
    )


def as_arrays(np, arrays):
    return tuple(np.asarray(array) for array in arrays)


def price(np, *options):
    return black_scholes.call_price(np, black_scholes.special(np).erf, *options)


def diffusion_picture(folder, arguments, result):
    middle = diffusion.diffuse(arguments[0], 5)
    diffusion.picture(folder / "diffusion.png", (0, arguments[0]), (5, middle), (50, result))


PROGRAMS = [
    Program(
        "2*a + 3*b*c",
        "3 arrays of 1e7 float64",
        lambda np: as_arrays(np, expression.inputs()),
        lambda np, *arrays: expression.expression(*arrays),
        repetitions=12,
        tolerance=0,
    ),
    Program(
        "Black-Scholes, float32",
        "2e6 options",
        lambda np: as_arrays(np, black_scholes.inputs("float32")),
        price,
        repetitions=12,
        tolerance=2e-4,  # a last bit of the terms, of some 100, against a thousandth of the largest price
    ),
    Program(
        "Black-Scholes, float64",
        "2e6 options",
        lambda np: as_arrays(np, black_scholes.inputs("float64")),
        price,
        repetitions=12,
        tolerance=1e-12,
        picture=lambda folder, options, result: black_scholes.picture(
            folder / "black_scholes.png", *options, result
        ),
    ),
    Program(
        "Laplace by slices, 20 steps of 200",
        "2000 × 2000 float64",
        lambda np: (laplace.plate(np, 2000),),
        lambda np, u: laplace.relax(u, 20),
        repetitions=10,
        tolerance=0,
        in_place=True,
    ),
    Program(
        "Laplace by slices, to convergence",
        "150 × 150 float64",
        lambda np: (),
        lambda np: laplace.solve(np),
        repetitions=2,
        tolerance=0,
        picture=lambda folder, _, result: laplace.picture(folder / "laplace.png", *result),
    ),
    Program(
        "Diffusion by slices, 50 steps",
        "photograph as noise, 427 × 640 × 3 float32",
        lambda np: as_arrays(np, [diffusion.jagged()]),
        lambda np, u: diffusion.diffuse(u, 50),
        repetitions=12,
        tolerance=0,
        picture=diffusion_picture,
    ),
    Program(
        "a layer of units, sampled",
        "512 × 784 and 784 × 256 float32",
        lambda np: (units.Layer(np),),
        lambda np, layer: layer.sample(),
        repetitions=25,
        tolerance=2e-5,  # units whose number is within a last bit of the product's from their probability
        in_place=True,
    ),
    Program(
        "a layer of units, sampled, large",
        "4096 × 2048 and 2048 × 256 float32",
        lambda np: (units.Layer(np, 4096, 2048),),
        lambda np, layer: layer.sample(),
        repetitions=6,
        tolerance=2e-5,
        in_place=True,
    ),
    Program(
        "matrix product, then sum",
        "2000 × 1000 and 1000 × 1400 float32",
        lambda np: as_arrays(np, products.matrices()),
        lambda np, a, b: products.product_then_sum(a, b),
        repetitions=8,
        tolerance=1e-4,  # two sums of 2000 and 1000 float32, in another order
    ),
    Program(
        "einsum('ij,jk->...k')",
        "2000 × 1000 and 1000 × 1400 float32",
        lambda np: as_arrays(np, products.matrices()),
        products.einsum,
        repetitions=4,
        tolerance=1e-5,
        exact=True,  # NumPy adds 2e6 float32 one after another
    ),
    Program(
        "3 × 3 smoothing by slices",
        "photograph, 427 × 640 × 3 uint8",
        lambda np: as_arrays(np, [smooth.photograph()]),
        smooth.smooth,
        repetitions=25,
        tolerance=0,
        picture=lambda folder, arguments, result: smooth.picture(folder / "smooth.png", arguments[0], result),
    ),
    Program(
        "3 × 3 smoothing by slices, large",
        "photograph tiled to 10000 × 10000 uint8",
        lambda np: as_arrays(np, [smooth.tiled()]),
        smooth.smooth,
        repetitions=3,
        tolerance=0,
    ),
    Program(
        "(q - q.mean(0)) / q.std(0)",
        "4000 × 4000 float32",
        lambda np: as_arrays(np, [normalise.table()]),
        lambda np, q: normalise.normalise(q),
        repetitions=8,
        tolerance=5e-3,  # a mean's last bit, against a thousandth of what is left without the mean
        exact=True,  # NumPy adds the rows one by one
    ),
    Program(
        "Softmax over rows",
        "4000 × 4000 float32",
        lambda np: as_arrays(np, [softmax.scores()]),
        softmax.softmax,
        repetitions=8,
        tolerance=1e-5,
    ),
    Program(
        "Lomb-Scargle periodogram",
        "2225 samples of CO2, 8192 frequencies, float64",
        lambda np: as_arrays(np, [*periodogram.series(), periodogram.frequencies()]),
        periodogram.periodogram,
        repetitions=3,
        tolerance=1e-9,
        picture=lambda folder, arguments, power: periodogram.picture(
            folder / "periodogram.png", arguments[2], power
        ),
        says=lambda arguments, power: periodogram.report(arguments[2], power),
    ),
    Program(
        "Principal components of patches",
        "photograph: 4240 patches of 192 float64",
        lambda np: as_arrays(np, [components.photograph()]),
        components.decompose,
        repetitions=4,
        tolerance=1e-7,  # of a component, whose singular value is near the next one's
        picture=lambda folder, arguments, result: components.picture(
            folder / "components.png", arguments[0], *result[:2]
        ),
        says=lambda arguments, result: components.report(arguments[0], result),
    ),
    Program(
        "Jagged image by FFTs, 200 steps of diffusion",
        "noise, 1024 × 1024 float64",
        lambda np: as_arrays(np, [jagged.noise()]),
        jagged.stages,
        repetitions=3,
        tolerance=0,  # steps between two heights: the same pixels are above them
        picture=lambda folder, _, images: jagged.picture(folder / "jagged.png", images),
    ),
    Program(
        "Least squares with yearly terms",
        "2225 samples of CO2 and 10 terms, float64",
        lambda np: as_arrays(np, seasons.series()),
        seasons.fit,
        repetitions=12,
        tolerance=1e-9,
        picture=lambda folder, arguments, result: seasons.picture(
            folder / "seasons.png", *arguments, result[1]
        ),
        says=lambda _, result: seasons.report(result),
    ),
]


def finish(np, result):
    """Waits until `result` is there, whichever module made it."""
    if hasattr(np, "eval"):
        np.eval(
            *(x for x in (result if isinstance(result, tuple) else (result,)) if isinstance(x, np.ndarray))
        )
    if hasattr(np, "synchronize"):
        np.synchronize()
    elif hasattr(np, "cuda"):  # CuPy
        np.cuda.Device().synchronize()
    return result


def kernels_launched(np, action):
    """What `action` returns, and the kernels that the array module launched for it; NumPy launches none."""
    if not hasattr(np, "kernel_history"):
        return action(), []
    np.clear_kernel_history()
    result = action()
    return result, np.kernel_history()


def to_numpy(result):
    """The result as NumPy arrays of its own memory: an array, or a tuple of arrays and Python numbers."""
    if isinstance(result, tuple):
        return tuple(to_numpy(part) for part in result)
    if hasattr(result, "get"):  # CuPy's arrays are copied by their own method alone
        return result.get()
    return result if isinstance(result, (int, float)) else numpy.array(result)


def difference(expected, actual):
    """The largest relative difference; infinite where shape, dtype or the place of a NaN differ.

    Elements below a thousandth of the largest are judged by that thousandth: a price of nearly nothing is the
    difference of two large numbers. Of truth values it is the share that differs.
    """
    if isinstance(expected, tuple):
        return max(difference(e, a) for e, a in zip(expected, actual, strict=True))
    expected, actual = numpy.asarray(expected), numpy.asarray(actual)
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        return float("inf")
    if expected.size == 0 or numpy.array_equal(expected, actual, equal_nan=expected.dtype.kind in "fc"):
        return 0.0
    if expected.dtype == bool:
        return float(numpy.mean(expected != actual))
    expected, actual = expected.astype(float), actual.astype(float)
    if not numpy.array_equal(numpy.isfinite(expected), numpy.isfinite(actual)):
        return float("inf")
    scale = numpy.maximum(numpy.abs(expected), 1e-3 * numpy.nanmax(numpy.abs(expected)))
    return float(numpy.nanmax(numpy.abs(actual - expected) / numpy.where(scale == 0, 1, scale)))


def timed(np, program, arguments):
    start = time.perf_counter()
    result = finish(np, program.call(np, *arguments))
    return (time.perf_counter() - start) * 1e3, result


def beside(weft, module, program, arguments, expected):
    """What the row says of another array module, which takes turns with weft: NumPy would leave a GPU idle between
    them. A program that the module cannot run is no failure of weft's.
    """
    peer = importlib.import_module(module)
    try:
        its_own = program.arguments(peer)
        for _ in range(program.repetitions):
            _, result = timed(peer, program, its_own)
            if not program.in_place:
                break
        row = {"beside": module, "beside_difference": difference(expected, to_numpy(result))}
    except Exception as error:
        return {"beside": module, "beside_error": f"{type(error).__name__}: {error}"[:200]}
    times = {weft: [], peer: []}
    end = time.perf_counter() + SECONDS_BESIDE
    while time.perf_counter() < end or len(times[peer]) < 3:
        for np in (weft, peer) if len(times[peer]) % 2 else (peer, weft):
            times[np].append(timed(np, program, arguments if np is weft else its_own)[0])
    ratios = [w / p for w, p in zip(times[weft], times[peer], strict=True)]
    return {
        **row,
        "weft_ms": statistics.median(times[weft]),
        "beside_ms": statistics.median(times[peer]),
        "ratio": statistics.median(ratios),
    }


def in_double(program):
    """NumPy's result in float64, rounded as the program's is."""
    arguments = program.arguments(numpy)
    result = program.call(numpy, *(x.astype(float) for x in arguments))
    return result.astype(arguments[0].dtype)


def run_one(program, module, folder, other):
    """Runs one program in this process; prints lines of JSON, one for each turn and at the end the row."""
    weft = importlib.import_module(module)
    arguments = {np: program.arguments(np) for np in (numpy, weft)}
    finish(weft, arguments[weft])
    first, result = timed(weft, program, program.arguments(weft) if program.in_place else arguments[weft])
    print(json.dumps({"turn": 1}), flush=True)
    times = {numpy: [], weft: []}
    results = {weft: result}
    kernels = []
    for turn in range(program.repetitions):
        for np in (numpy, weft) if turn % 2 else (weft, numpy):
            turn_of = functools.partial(timed, np, program, arguments[np])
            (elapsed, results[np]), launched = kernels_launched(np, turn_of)
            times[np].append(elapsed)
            kernels = launched or kernels
        print(json.dumps({"turn": turn + 2}), flush=True)
    expected = in_double(program) if program.exact else to_numpy(results[numpy])
    actual = to_numpy(results[weft])
    ratios = [n / w for n, w in zip(times[numpy], times[weft], strict=True)]
    if program.picture:
        folder.mkdir(parents=True, exist_ok=True)
        program.picture(folder, tuple(to_numpy(x) for x in arguments[weft]), actual)
    row = {
        "program": program.name,
        "reads": program.reads,
        "numpy_ms": statistics.median(times[numpy]),
        "first_ms": first,
        "weft_ms": statistics.median(times[weft]),
        "speed_up": statistics.median(ratios),
        "difference": difference(expected, actual),
        "tolerance": program.tolerance,
        "kernels": len(kernels),
        "megabytes_read": sum(kernel["bytes_read"] for kernel in kernels) / 1e6,
        "megabytes_written": sum(kernel["bytes_written"] for kernel in kernels) / 1e6,
        "found": program.says(tuple(to_numpy(x) for x in arguments[weft]), actual) if program.says else "",
    }
    if other:
        row.update(beside(weft, other, program, arguments[weft], expected))
    print(json.dumps(row), flush=True)


def run_all(programs, module, folder, other):
    """Runs each program in a process of its own, with a progress line; yields the rows."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    total = sum(program.repetitions + 1 for program in programs)
    columns = (TextColumn("{task.description:36}"), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=total)
        for program in programs:
            progress.update(task, description=program.name)
            command = [
                sys.executable,
                __file__,
                "--one",
                program.name,
                "--module",
                module,
                "--out",
                str(folder),
                *(["--beside", other] if other else []),
            ]
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
                row = None
                for line in process.stdout:
                    with contextlib.suppress(ValueError):
                        message = json.loads(line)
                        if "turn" in message:
                            progress.advance(task)
                        else:
                            row = message
            row = row or {"program": program.name, "reads": program.reads, "failed": process.returncode}
            if not progress.console.is_terminal:
                print(said_of(row), flush=True)
            yield row


def said_of(row):
    """One line about a program that is done, for logs."""
    if "failed" in row:
        return f"{row['program']}: failed (exit status {row['failed']})"
    text = f"{row['program']}: {row['weft_ms']:.3f} ms, NumPy {row['numpy_ms']:.3f}"
    if "ratio" in row:
        text += f", {row['beside']} {row['beside_ms']:.3f}, ratio to it {row['ratio']:.3f}"
    elif "beside_error" in row:
        text += f", {row['beside']} fails: {row['beside_error']}"
    return text + ("" if agrees(row) else f", differs by {row['difference']:.1e}")


def agrees(row):
    return "failed" not in row and row["difference"] <= row["tolerance"]


def print_table(rows):
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    headings = (
        "NumPy ms",
        "weft first call ms",
        "weft ms",
        "speed-up",
        "largest relative difference",
        "kernels",
        "MB read",
        "MB written",
    )
    table.add_column("program")
    table.add_column("what it reads")
    for heading in headings:
        table.add_column(heading, justify="right")
    table.add_column("")
    for row in rows:
        if "failed" in row:
            table.add_row(
                row["program"], row["reads"], *[""] * 8, f"[red]failed (exit status {row['failed']})"
            )
            continue
        table.add_row(
            row["program"],
            row["reads"],
            f"{row['numpy_ms']:.2f}",
            f"{row['first_ms']:.2f}",
            f"{row['weft_ms']:.2f}",
            f"{row['speed_up']:.2f}",
            f"{row['difference']:.1e}" if row["difference"] else "none",
            f"{row['kernels']}" + ("+" if row["kernels"] == HISTORY else ""),
            *(
                f"{row[name]:.1f}" if row["kernels"] < HISTORY else ""
                for name in ("megabytes_read", "megabytes_written")
            ),
            "[green]agrees" if agrees(row) else f"[red]differs (allowed: {row['tolerance']:.0e})",
        )
    console = Console()
    if not console.is_terminal:
        console.width = 200
    console.print(table)
    for row in rows:
        if row.get("found"):
            console.print(f"{row['program']}: {row['found']}", highlight=False)


def in_words(row, difference):
    """What the table says of a largest relative difference from NumPy's result."""
    if difference <= row["tolerance"]:
        return f"agrees, {difference:.0e}" if difference else "the same bits"
    return f"differs by {difference:.0e}"


def beside_as_markdown(rows, module):
    """The table of weft beside another module than NumPy."""
    lines = [
        f"| program | what it reads | weft, ms | {module}, ms | ratio | kernels | weft's result | {module}'s result |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- | --- |",
    ]
    for row in rows:
        if "failed" in row:
            continue
        peer = (
            f"fails: {row['beside_error']}"
            if "beside_error" in row
            else in_words(row, row["beside_difference"])
        )
        times = (
            f"{row['weft_ms']:.3g} | {row['beside_ms']:.3g} | {row['ratio']:.3f}"
            if "ratio" in row
            else " | | "
        )
        kernels = f"{row['kernels']}" + ("+" if row["kernels"] == HISTORY else "")
        weft = in_words(row, row["difference"])
        lines.append(f"| {row['program']} | {row['reads']} | {times} | {kernels} | {weft} | {peer} |")
    return "\n".join(lines) + "\n"


def as_markdown(rows):
    """The table of docs/reference/benchmarks.md."""
    lines = [
        "| program | what it reads | NumPy, ms | weft's first call, ms | weft, ms | speed-up | largest difference"
        " | kernels |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        if "failed" not in row:
            times = " | ".join(f"{row[name]:.3g}" for name in ("numpy_ms", "first_ms", "weft_ms", "speed_up"))
            differs = f"{row['difference']:.0e}" if row["difference"] else "none"
            kernels = f"{row['kernels']}" + ("+" if row["kernels"] == HISTORY else "")
            lines.append(f"| {row['program']} | {row['reads']} | {times} | {differs} | {kernels} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="only programs whose name has this text")
    parser.add_argument("--module", default="weft", help="the array module that runs beside NumPy")
    parser.add_argument("--beside", default="", help="another array module, which takes turns with weft")
    parser.add_argument("--out", default="out", type=pathlib.Path, help="folder for the pictures")
    parser.add_argument("--json", type=pathlib.Path, help="also write the rows to this file")
    parser.add_argument("--markdown", type=pathlib.Path, help="also write the table to this file")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        (program,) = (p for p in PROGRAMS if p.name == options.one)
        run_one(program, options.module, options.out, options.beside)
        return 0
    os.environ.setdefault("MPLBACKEND", "Agg")
    programs = [p for p in PROGRAMS if options.only.lower() in p.name.lower()]
    rows = list(run_all(programs, options.module, options.out, options.beside))
    print_table(rows)
    markdown = beside_as_markdown(rows, options.beside) if options.beside else as_markdown(rows)
    if options.beside:
        print(markdown, end="")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    if options.markdown:
        options.markdown.write_text(markdown)
    pictures = sorted(str(path) for path in options.out.glob("*.png")) if options.out.is_dir() else []
    if pictures:
        print("pictures:", ", ".join(pictures))
    return 0 if rows and all(agrees(row) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
