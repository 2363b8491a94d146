"""Checks the includes of every C++ file against the rules of the rooms.

Calls go one way: core <- ops <- ir <- passes <- codegen; core <- device <- library; all of them <- graph <-
python/bindings. LLVM's headers are for src/codegen alone, Python's and nanobind's for python/bindings alone,
and include/weft shows neither (nor CUDA's). Prints every break of a rule; exits 1 when there is one.
"""

import pathlib
import re
import sys

# What each room may include, besides itself.
CHAIN = ["core", "ops", "ir", "passes", "codegen"]
ALLOWED = {room: set(CHAIN[:i]) for i, room in enumerate(CHAIN)}
ALLOWED["device"] = {"core"}
ALLOWED["library"] = {"core", "device"}
ALLOWED["graph"] = {*CHAIN, "device", "library"}
ROOMS = {*ALLOWED}
ALLOWED["bindings"] = set(ROOMS)
# What a compiled kernel is: the contract between who makes it and who launches it, free of either.
CONTRACTS = {("codegen", "device/kernel.h")}

# Foreign headers by the pattern of their path, and the rooms that may name them.
FOREIGN = [
    (re.compile(r"^(llvm|llvm-c|clang)/"), "LLVM", {"codegen"}),
    (re.compile(r"^(Python\.h|nanobind/|pybind11/)"), "Python", {"bindings"}),
    (
        re.compile(r"^(cuda|cublas|cusolver|cusparse|cufft|nvrtc|nvJitLink|nccl)"),
        "CUDA",
        {"device", "library"},
    ),
]
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
    for match in INCLUDE.finditer(text):
        quote, target = match.groups()
        first = target.split("/")[0]
        for pattern, name, rooms in FOREIGN:
            if pattern.match(target) and room not in rooms:
                where = ", ".join(sorted(rooms))
                complain(match.start(), f"{name} header {target} outside {where}")
        if target.startswith(("../", "src/", "include/")):
            complain(match.start(), f"write {target} from src, as in core/dims.h or weft/dtype.h")
        own = room == "bindings" and f"python/bindings/{target}" in known  # beside users, outside of src
        if quote == '"' and room not in (None, "public") and "/" not in target and not own:
            complain(match.start(), f'write "{target}" with its room, as in "core/dims.h"')
        if first not in ROOMS or (quote == "<" and f"src/{target}" not in known):
            continue
        if room == "public":
            complain(match.start(), f"the public header shows {target}, which is inside the engine")
        elif (
            room in ALLOWED
            and first != room
            and first not in ALLOWED[room]
            and (room, target) not in CONTRACTS
        ):
            complain(match.start(), f"{room} may not include {first} ({target})")
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
    return [line for path in files for line in check_file(path, (root / path).read_text(), known)]


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    complaints = check_tree(root)
    print("\n".join(complaints), end="\n" if complaints else "", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
