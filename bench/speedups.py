"""Draws docs/pictures/speedups.png, and writes docs/reference/benchmarks.md's table, from what `make demo` recorded.

    python bench/speedups.py                                   picture and table from bench/results
    python bench/speedups.py --check                           exit status 1 where the table is not the recorded one
    python bench/speedups.py --record FILE cpu --about TEXT    keeps `make demo ARGS="--json FILE"` first

A record is of one machine: NumPy's times beside weft's, both from there. The bars of a GPU come from a run with
WEFT_DEVICE=cuda, kept as `gpu`; `--about` says what is compared with what, for the caption.
"""

import argparse
import importlib.util
import json
import pathlib
import sys

from weft.bench import picture

ROOT = pathlib.Path(__file__).parents[1]
RESULTS = ROOT / "bench" / "results"
PAGE = ROOT / "docs" / "reference" / "benchmarks.md"
PICTURE = ROOT / "docs" / "pictures" / "speedups.png"
KEPT = ("program", "reads", "numpy_ms", "first_ms", "weft_ms", "speed_up", "difference", "kernels")
LABELS = {"cpu": "weft on the CPU", "gpu": "weft on a GPU"}


def recorded():
    """{"cpu" or "gpu": record}, of those that there are."""
    files = {name: RESULTS / f"demo-{name}.json" for name in LABELS}
    return {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}


def record(file, name, about):
    rows = [
        {key: row[key] for key in KEPT}
        for row in json.loads(file.read_text())
        if row.get("numpy_ms") is not None
    ]
    lines = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in rows)
    about = json.dumps(about, ensure_ascii=False)
    (RESULTS / f"demo-{name}.json").write_text(f'{{\n "about": {about},\n "rows": [\n  {lines}\n ]\n}}\n')


def table():
    """The page's table of the CPU, as the demo prints it."""
    spec = importlib.util.spec_from_file_location("demo", ROOT / "examples" / "demo.py")
    demo = importlib.util.module_from_spec(spec)
    sys.modules["demo"] = demo
    sys.path.insert(0, str(ROOT / "examples"))
    spec.loader.exec_module(demo)
    return demo.as_markdown(recorded()["cpu"]["rows"])


def with_table(text, new):
    """The page with another table in the place of its own."""
    head = new.splitlines()[0]
    before, found, after = text.partition(head)
    if not found:
        sys.exit(f"{PAGE} has no table that begins: {head}")
    lines = after.splitlines(keepends=True)[1:]
    while lines and lines[0].startswith("|"):
        lines.pop(0)
    return before + new + "".join(lines)


def draw():
    records = recorded()
    series = {
        LABELS[name]: (
            picture.COLOURS[name],
            {row["program"]: row["speed_up"] for row in found["rows"]},
        )
        for name, found in records.items()
    }
    caption = "\n".join(f"{LABELS[name]}: {found['about']}" for name, found in records.items())
    picture.speedups(series, PICTURE, "Example programs, times quicker than NumPy (log axis)", caption)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only compare the page with what is recorded")
    parser.add_argument(
        "--record", nargs=2, metavar=("FILE", "NAME"), help="keep a demo's JSON as cpu or gpu"
    )
    parser.add_argument("--about", default="", help="what is compared with what, for the caption")
    options = parser.parse_args()
    if options.record:
        file, name = options.record
        if name not in LABELS or not options.about:
            parser.error("--record wants a file, cpu or gpu, and --about")
        record(pathlib.Path(file), name, options.about)
    text = PAGE.read_text()
    new = with_table(text, table())
    if options.check:
        if new != text:
            print(
                f"{PAGE.name}: the table is not the recorded one: python bench/speedups.py", file=sys.stderr
            )
        return int(new != text)
    PAGE.write_text(new)
    draw()
    return 0


if __name__ == "__main__":
    sys.exit(main())
