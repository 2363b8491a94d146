"""NumPy's own tests, from the installed wheel, with weft in NumPy's place: `make conformance`.

Prints for each module how many tests NumPy passes, how many of those weft passes, and the rate. Failures are expected
where tests/conformance/expected/ says so, each with its reason. A failure without entry, an entry of a test that
passes, and an entry that matches no test fail the run.

    --only TEXT        the files whose path has TEXT in it; several times: any of them
    --write            write the lists anew, with reasons derived from the exceptions; review what changed
    --again            do not run; judge what the last run has left in build/conformance/
    --numpy            run NumPy itself again, too; else its last outcomes count
    --array-api PATH   the public tests of the array API, in a checkout with its submodule, and nothing else
    --examples N       of the array API's tests, for each; 100 without
    --cupy PATH        CuPy's own tests of kernels, in a checkout of CuPy, on a machine with a GPU, and nothing else
    --jobs N           processes at once
    --folder NAME      keep outcomes in build/conformance/NAME, beside those of other runs
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict

ROOT = pathlib.Path(__file__).parents[1]
HERE = ROOT / "tests" / "conformance"
LEFT = ROOT / "build" / "conformance"
AREAS = ("_core", "lib", "ma", "random", "polynomial", "linalg", "fft", "testing")
STRINGS = ("test_strings.py", "test_defchararray.py", "test_stringdtype.py")
SECONDS = 120  # for one test

sys.path.insert(0, str(HERE))
import expectations  # noqa: E402


def area_of(file):
    first = file.split("/")[0]
    return "strings" if file.endswith(STRINGS) else first.strip("_")


def numpy_folder():
    import numpy

    return pathlib.Path(numpy.__file__).parent


def test_files(folder, only):
    found = []
    for area in AREAS:
        found += sorted(str(path.relative_to(folder)) for path in (folder / area / "tests").glob("test_*.py"))
    return [file for file in found if not only or any(text in file for text in only)]


class Run:
    """One file's tests, in as many processes as crashes ask for."""

    def __init__(self, file, root, weft, arguments=()):
        self.file, self.root, self.weft, self.arguments = file, root, weft, list(arguments)
        self.outcomes, self.missing, self.collected = {}, {}, None
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="weft-conformance-"))
        self.process = None

    def start(self):
        self.out, self.read, self.rest = self.place / "out", 0, ""
        self.running, self.since, self.finished = None, time.monotonic(), False
        self.out.write_text("")
        settings = self.place / "settings.json"
        settings.write_text(
            json.dumps({"weft": self.weft, "out": str(self.out), "done": sorted(self.outcomes)})
        )
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("WEFT_")},
            "CONFORMANCE": str(settings),
            "PYTHONPATH": f"{HERE}{os.pathsep}{ROOT / 'build/release/python'}",
            "PYTHONHASHSEED": "0",
            "NPY_AVAILABLE_MEM": "1GB",
            "WEFT_CACHE_DIR": str(LEFT / "kernels"),
            "WEFT_NUM_THREADS": "2",
            "OPENBLAS_NUM_THREADS": "2",
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "plugin", "-p", "no:cacheprovider", "-p"]
        command += ["no:xdist", "-c", os.devnull, f"--rootdir={self.root}", "--continue-on-collection-errors"]
        command += ["--tb=no", "-r", "N", "-m", "not slow", *self.arguments, str(self.root / self.file)]
        self.process = subprocess.Popen(
            command,
            cwd=self.place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=open(self.place / "log", "w"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def look(self):
        """Reads what the process has told; whether the file is through."""
        ended = self.process.poll() is not None
        with open(self.out) as file:
            file.seek(self.read)
            lines = (self.rest + file.read()).split("\n")
            self.read = file.tell()
        self.rest = lines.pop()
        for line in lines:
            self.hear(json.loads(line))
        hangs = not ended and time.monotonic() - self.since > SECONDS
        if hangs:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        if not ended and not hangs:
            return False
        if self.finished:
            return True
        why = "hangs" if hangs else f"crashes with status {self.process.returncode}"
        if self.running is None:
            tail = (self.place / "log").read_text(errors="replace").strip().splitlines()[-1:]
            self.missing[self.file] = f"the file {why}: {' '.join(tail)}"[:160]
            return True
        self.outcomes[self.running] = {"outcome": "failed", "reason": f"the test {why}", "time": 0}
        self.start()
        return False

    def hear(self, told):
        self.since = time.monotonic()
        if "collected" in told:
            self.collected = told["collected"]
        elif "start" in told:
            self.running = told["start"]
        elif "finished" in told:
            self.finished = True
        elif told["outcome"] == "not collected":
            self.missing[told["id"]] = told["reason"]
        else:
            self.outcomes[told.pop("id")] = told
            self.running = None


def run_all(files, root, weft, jobs, known=(), arguments=()):
    """The outcomes of all tests of the files, and reasons why some were not collected, by the begin of their ids."""
    seconds = Counter()
    for test, (_, took) in dict(known).items():
        seconds[test.split("::")[0]] += took
    queue = sorted(files, key=lambda file: -seconds[file] or -(root / file).stat().st_size)
    runs, ended, start = [], [], time.monotonic()
    while queue or runs:
        while queue and len(runs) < jobs:
            runs.append(Run(queue.pop(0), root, weft, arguments))
            runs[-1].start()
        time.sleep(0.1)
        for run in [run for run in runs if run.look()]:
            runs.remove(run)
            ended.append(run)
            passed = sum(each["outcome"] == "passed" for each in run.outcomes.values())
            print(
                f"[{time.monotonic() - start:5.0f} s, {len(queue) + len(runs):3} files left] "
                f"{'weft' if weft else 'NumPy'}: {run.file}: {passed} of {len(run.outcomes)} pass",
                file=sys.stderr,
                flush=True,
            )
    outcomes, missing = {}, {}
    for run in ended:
        outcomes.update(run.outcomes)
        missing.update(run.missing)
        shutil.rmtree(run.place, ignore_errors=True)
    return outcomes, missing


def of_numpy(files, root, jobs, again):
    """All tests in their order, and those that NumPy itself passes, with their seconds; earlier runs are kept."""
    import numpy

    path = LEFT / f"numpy-{numpy.__version__}.json"
    kept = json.loads(path.read_text()) if path.exists() else {}
    wanted = [file for file in files if again or file not in kept]
    if wanted:
        outcomes, _ = run_all(wanted, root, False, jobs)
        for file in wanted:
            kept[file] = {
                test: [each["outcome"], each["time"]]
                for test, each in outcomes.items()
                if test.split("::")[0] == file
            }
        path.write_text(json.dumps(kept, indent=0))
    every = {test: each for file in files for test, each in kept[file].items()}
    return list(every), {test: each for test, each in every.items() if each[0] == "passed"}


def by_functions(tests):
    """The tests by the function that they are parameters of, in their order."""
    found = defaultdict(list)
    for test in tests:
        found[test.split("[")[0]].append(test)
    return found


def same_parameters(of_numpy, outcomes):
    """weft's names of NumPy's tests where these differ in names of parameters alone, by their order.

    NumPy has two types of 64-bit integers and weft has one, so that pytest numbers what had different names.
    """
    found, ours = {}, by_functions(outcomes)
    for function, tests in by_functions(of_numpy).items():
        if len(tests) == len(ours[function]) and any(test not in outcomes for test in tests):
            found.update(zip(tests, ours[function], strict=True))
    return found


def failures_of(of_numpy, passed_by_numpy, outcomes, missing):
    """The reasons of the tests that NumPy passes and weft does not."""
    found, names = {}, same_parameters(of_numpy, outcomes)
    for test in passed_by_numpy:
        told = outcomes.get(names.get(test, test))
        if told is None:
            begins = [begin for begin in missing if test.startswith(begin)]
            found[test] = missing[max(begins, key=len)] if begins else "not collected: its parameters differ"
        elif told["outcome"] != "passed":
            found[test] = (
                told["reason"] if told["outcome"] == "failed" else f"{told['outcome']}: {told['reason']}"
            )
    return found


def print_rates(tests, failures):
    rows = defaultdict(lambda: [0, 0])
    for test in tests:
        for row in (area_of(test.split("::")[0]), "all"):
            rows[row][0] += 1
            rows[row][1] += test not in failures
    print(f"{'module':12} {'NumPy':>8} {'weft':>8} {'rate':>8}")
    for row, (theirs, ours) in rows.items():
        if row != "all":
            print(f"{row:12} {theirs:8} {ours:8} {100 * ours / theirs:7.1f}%")
    theirs, ours = rows["all"]
    print(f"{'all':12} {theirs:8} {ours:8} {100 * ours / max(theirs, 1):7.1f}%", flush=True)


def main():
    global LEFT
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--numpy", action="store_true")
    parser.add_argument("--array-api", type=pathlib.Path)
    parser.add_argument("--cupy", type=pathlib.Path)
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--folder", default="")
    options = parser.parse_args()
    LEFT = LEFT / options.folder
    LEFT.mkdir(parents=True, exist_ok=True)
    if options.array_api:
        return array_api(options)
    if options.cupy:
        return cupy_kernels(options)

    root = numpy_folder()
    files = test_files(root, options.only)
    every, passed = of_numpy(files, root, options.jobs, options.numpy)
    last = LEFT / "weft.json"
    kept = json.loads(last.read_text()) if last.exists() else {}
    if not options.again:
        outcomes, missing = run_all(files, root, True, options.jobs, passed)
        failures = failures_of(every, passed, outcomes, missing)
        for file in files:
            kept[file] = {test: why for test, why in failures.items() if test.split("::")[0] == file}
        last.write_text(json.dumps(kept, indent=0))
    failures = {test: why for file in files for test, why in kept[file].items() if test in passed}
    print_rates(passed, failures)
    return judge(passed, failures, area_of, options.write, whole=not options.only)


def judge(tests, failures, area, write, whole):
    """Compares with the lists, or writes them; the exit status."""
    folder = HERE / "expected"
    if write:
        expectations.write(folder, tests, failures, area, whole)
        return 0
    complaints = list(expectations.complaints(folder, tests, failures, area))
    print(*complaints, sep="\n")
    if complaints:
        print(f"{len(complaints)} complaints; --write writes the lists anew")
    return 1 if complaints else 0


def array_api(options):
    os.environ["ARRAY_API_TESTS_MODULE"] = "weft"
    root = options.array_api.resolve()
    files = [str(path.relative_to(root)) for path in sorted((root / "array_api_tests").glob("test_*.py"))]
    arguments = ["-p", "no:randomly", "--hypothesis-seed=0", f"--max-examples={options.examples}"]
    return of_checkout(options, "array API", root, files, "array_api", arguments)


def cupy_kernels(options):
    root = options.cupy.resolve()
    os.environ["CUPY"] = str(root)
    os.environ.setdefault("CUPY_TEST_GPU_LIMIT", "1")
    folder = "tests/cupy_tests/core_tests"
    files = [f"{folder}/test_{name}.py" for name in ("raw", "userkernel", "elementwise", "reduction")]
    return of_checkout(options, "CuPy's kernels", root, files, "cupy_kernels", ["-p", "as_cupy"])


def of_checkout(options, what, root, files, area, arguments):
    """Tests that are written for other libraries and find weft by themselves."""
    files = [file for file in files if not options.only or any(text in file for text in options.only)]
    outcomes, missing = run_all(files, root, False, options.jobs, arguments=arguments)
    failures = {
        test: told["reason"]
        for test, told in outcomes.items()
        if told["outcome"] not in ("passed", "skipped")
    }
    failures.update(missing)
    tests = {test: 0 for test, told in outcomes.items() if told["outcome"] != "skipped"} | dict.fromkeys(
        missing, 0
    )
    passed = len(tests) - len(failures)
    print(f"{what}: {passed} pass, {len(failures)} fail")
    return judge(tests, failures, lambda _: area, options.write, whole=not options.only)


if __name__ == "__main__":
    sys.exit(main())
