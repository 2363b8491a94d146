"""Checks the includes of every C++ file against the rules of the rooms.

A room is a folder of src. Calls go down the floors of the tower in docs/internals/tower.md: ALLOWED says for each
room what it may include, FLOORS the same for the folders in some rooms. LLVM's headers are for src/codegen alone,
Python's and nanobind's for python/bindings alone, and include/weft shows neither (nor CUDA's). The bindings read no
field of Python's own types, which its stable ABI, and so the wheel, does not have. Prints every break of a rule;
exits 1 when there is one.
"""

import pathlib
import re
import sys

# What each room may include, besides itself. Lower floors first.
ALLOWED = {
    "core": set(),
    "random": {"core"},
    "ops": {"core"},
    "ir": {"core", "ops"},
    "passes": {"core", "ops", "ir"},
    "lang": {"core", "random", "ops", "ir"},
    "device": {"core"},
    "codegen": {"core", "random", "ops", "ir", "passes"},
    "library": {"core", "random", "ops", "device"},
    "graph": {"core", "ops", "device"},
    "lowering": {"core", "ops", "ir", "passes", "library"},
    "planning": {"core", "ops", "device", "library", "graph", "lowering"},
    "execution": {"core", "ops", "ir", "device", "library", "codegen", "graph", "lowering", "planning"},
}
ALLOWED["jit"] = {"core", "ops", "ir", "lang", "device", "codegen"}
ALLOWED["api"] = {*ALLOWED} - {"passes", "codegen"}
ROOMS = {*ALLOWED}
ALLOWED["bindings"] = ROOMS - {"passes", "lowering", "ir", "library"}
# The folders in a room, lower ones first: each may include those before it. Folders that share an entry
# may not include each other.
FLOORS = {
    "codegen": [
        {"runtime", "bitcode"},
        {"cache", "llvm", "interpreter"},
        {"functions"},
        {"cpu", "ptx"},
        {"service"},
    ],
    "library": [
        {"gpu", "loops"},
        {"indexing", "bits", "counting", "ordering", "products", "fft"},
        {"texts"},
        {"linalg", "random"},
        {"called"},
    ],
    "api": [
        {"fast"},
        {"recording"},
        {"elementwise"},
        {"creation", "products", "reductions"},
        {"indexing"},
        {
            "assembly",
            "selection",
            "bits",
            "ordering",
            "counting",
            "calculus",
            "ufuncs",
            "random",
            "interop",
            "texts",
            "linalg",
            "fft",
            "raw_kernels",
            "kernels",
        },
    ],
}
# What a compiled kernel is: the contract between who makes it and who launches it, free of either.
CONTRACTS = {("codegen", "device/kernel.h"), ("codegen", "device/cuda/kernel_image.h")} | {
    ("codegen", "device/cuda/launch_error.h")
}

MOST_FILES = 30  # in a folder

# Foreign headers by the pattern of their path, and the rooms that may name them.
FOREIGN = [
    (re.compile(r"^(llvm|llvm-c|clang)/"), "LLVM", {"codegen"}),
    (re.compile(r"^(Python\.h|nanobind/|pybind11/)"), "Python", {"bindings"}),
    (
        re.compile(r"^(cuda|cublas|cusolver|cusparse|cufft|nvrtc|nvJitLink|nccl)"),
        "CUDA",
        {"device", "library"},
    ),
    (re.compile(r"^ducc0/"), "ducc0", {"library"}),
]
# Fields of Python's own types, and the part of a file where they may be named.
FIELD = re.compile(r"(?:->|\.)(?:tp|ob|nb|sq|mp)_\w+|\bPy[A-Z][a-z]+_(?:GET|SET)_[A-Z]+\b")
NOT_STABLE = re.compile(r"^#ifndef Py_LIMITED_API$.*?^#endif", re.MULTILINE | re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def room_of(path: pathlib.PurePath) -> str | None:
    """The room a file belongs to: a folder of src, 'public' (include/weft), 'bindings', or None (tests)."""
    parts = path.parts
    if parts[0] == "src" and len(parts) > 2:
        return parts[1]
    if parts[0] == "include":
        return "public"
    if parts[:2] == ("python", "bindings"):
        return "bindings"
    return None


def breaks_floors(room: str, path: pathlib.PurePath, target: str) -> bool:
    """Whether an include within a room goes up, or across, its folders."""
    height = {folder: i for i, floor in enumerate(FLOORS.get(room, [])) for folder in floor}
    own, other = path.parts[2], target.split("/")[1]
    if own == other or own not in height or other not in height:
        return False
    return height[other] >= height[own]


def check_file(path: pathlib.PurePath, text: str, known: set[str]) -> list[str]:
    """The complaints about one file; `known` holds the paths of the tree's files."""
    room = room_of(path)
    complaints = []

    def complain(position: int, message: str) -> None:
        line = text.count("\n", 0, position) + 1
        complaints.append(f"{path}:{line}: {message}")

    if path.parts[0] == "src" and room not in ROOMS:
        complain(0, f"src/{path.parts[1]} is not one of the rooms {', '.join(sorted(ROOMS))}")
        return complaints
    if room == "bindings":
        apart = [part.span() for part in NOT_STABLE.finditer(text)]
        for match in FIELD.finditer(text):
            if not any(begin <= match.start() < end for begin, end in apart):
                complain(match.start(), f"the stable ABI has no {match.group().lstrip('->.')}")
    for match in INCLUDE.finditer(text):
        quote, target = match.groups()
        first = target.split("/")[0]
        for pattern, name, rooms in FOREIGN:
            if pattern.match(target) and room not in rooms:
                where = ", ".join(sorted(rooms))
                complain(match.start(), f"{name} header {target} outside {where}")
        if target.startswith(("../", "src/", "include/")):
            complain(match.start(), f"write {target} from src, as in core/dims.h or weft/dtype.h")
        of_bindings = f"python/bindings/{target}" in known
        if of_bindings and room not in ("bindings", None):
            complain(match.start(), f"{room} may not include the bindings ({target})")
        if quote == '"' and room not in (None, "public") and "/" not in target and not of_bindings:
            example = "objects/objects.h" if room == "bindings" else "core/dims.h"
            complain(match.start(), f'write "{target}" with its room, as in "{example}"')
        if first not in ROOMS or (quote == "<" and f"src/{target}" not in known):
            continue
        if (room, target) in CONTRACTS:
            continue
        if room == "public":
            complain(match.start(), f"the public header shows {target}, which is inside the engine")
        elif room in ALLOWED and first != room and first not in ALLOWED[room]:
            complain(match.start(), f"{room} may not include {first} ({target})")
        elif room == first and breaks_floors(room, path, target):
            complain(match.start(), f"{'/'.join(path.parts[1:3])} may not include {target}")
    return complaints


def check_tree(root: pathlib.Path) -> list[str]:
    """The complaints about every C++ file under `root`."""
    files = [
        path.relative_to(root)
        for folder in ("src", "include", "python/bindings", "tests/cpp")
        for path in sorted((root / folder).rglob("*"))
        if path.suffix in (".h", ".cpp", ".inc")
    ]
    known = {path.as_posix() for path in files}
    complaints = [line for path in files for line in check_file(path, (root / path).read_text(), known)]
    return complaints + full_folders(root)


def full_folders(root: pathlib.Path) -> list[str]:
    """A complaint for each folder of sources and tests with more files than a reader keeps in mind."""
    tops = [root / top for top in ("src", "python/bindings", "tests/cpp", "tests/python")]
    folders = [folder for top in tops for folder in (top, *top.rglob("*/"))]
    counts = {
        folder: sum(path.is_file() for path in folder.iterdir())
        for folder in folders
        if folder.is_dir() and folder.name != "__pycache__"
    }
    return [
        f"{folder.relative_to(root)}: {count} files; more than {MOST_FILES} are two rooms"
        for folder, count in counts.items()
        if count > MOST_FILES
    ]


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    complaints = check_tree(root)
    print("\n".join(complaints), end="\n" if complaints else "", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
