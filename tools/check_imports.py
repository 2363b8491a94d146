"""Checks the imports of python/weft against the directions of its folders.

FLOORS names the parts of the package, lower ones first: a part may import those on lower floors. An import inside a
function counts like one at the top, and so does a text that is the name of a module. The binding calls upwards only
the modules that python/bindings/package.h names. No modules import each other in a circle, and no folder has more
files than a reader keeps in mind. Prints every break of a rule; exits 1 when there is one.
"""

import ast
import pathlib
import re
import sys

# The parts of the package: its folders and its own modules. Parts of one floor may not import each other. The binding
# weft._core is below all of them.
FLOORS = [
    {"exceptions", "_names"},
    {"_engine"},
    {"_array", "_protocols", "_jit"},
    {"_ufunc", "_pickle", "_kernels"},
    {"_functions"},
    {"_io", "fft", "linalg", "random"},
    {"scipy"},
    {"_methods"},
    {"__init__"},
    {"_install", "_numpys", "cuda"},
    {"numba"},
    {"lib"},
    {"bench", "ctypeslib", "dtypes", "ma", "polynomial", "testing", "typing"},
    {"__main__", "char", "ipython", "pytest_plugin", "rec", "strings", "version"},
    {"core"},
]
HEIGHT = {part: i for i, floor in enumerate(FLOORS) for part in floor}
MOST_FILES = 30  # in a folder
PACKAGE_HEADER = "python/bindings/package.h"
NAMED_MODULE = re.compile(r'"(weft(?:\.\w+)*)"')
IMPORT_BY_NAME = re.compile(r'(?:import_|PyImport_ImportModule)\(\s*"(weft[.\w]*)"')


def modules_of(package: pathlib.Path) -> dict[str, pathlib.Path]:
    """The files of the package by the names of their modules; 'weft' is its __init__.py."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = ("weft", *path.relative_to(package).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def part_of(module: str) -> str:
    """The part of the package that a module belongs to."""
    return module.split(".")[1] if "." in module else "__init__"


def imports_of(module: str, tree: ast.AST, known: dict[str, pathlib.Path]) -> list[tuple[int, str]]:
    """The modules of the package that a module imports, each with its line."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                found.append((node.lineno, "." * node.level + (node.module or "")))
                continue
            for alias in node.names:
                below = f"{node.module}.{alias.name}"
                is_module = below in known or below == "weft._core"
                found.append((node.lineno, below if is_module else node.module))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value in known and not module.startswith(
                node.value + "."
            ):  # a `__module__` names its package
                found.append((node.lineno, node.value))
    ours = [(line, name) for line, name in found if name.split(".")[0] in ("weft", "")]
    return [(line, name) for line, name in ours if name not in (module, "weft._core")]


def circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """The sets of modules that import each other, by Tarjan's algorithm."""
    order, lowest, stack, found = {}, {}, [], []

    def visit(module):
        order[module] = lowest[module] = len(order)
        stack.append(module)
        for target in sorted(imports.get(module, ())):
            if target not in order:
                visit(target)
                lowest[module] = min(lowest[module], lowest[target])
            elif target in stack:
                lowest[module] = min(lowest[module], order[target])
        if lowest[module] == order[module]:
            place = stack.index(module)
            if len(stack) - place > 1:
                found.append(sorted(stack[place:]))
            del stack[place:]

    for module in sorted(imports):
        if module not in order:
            visit(module)
    return found


def check_binding(root: pathlib.Path, known: dict[str, pathlib.Path]) -> list[str]:
    """The complaints about the modules that the binding names."""
    header = root / PACKAGE_HEADER
    if not header.exists():
        return []
    complaints = [
        f"{PACKAGE_HEADER}: there is no module {name}"
        for name in NAMED_MODULE.findall(header.read_text())
        if name not in known
    ]
    for path in sorted((root / "python/bindings").rglob("*")):
        if path.suffix not in (".h", ".cpp") or path == header:
            continue
        text = path.read_text()
        for match in IMPORT_BY_NAME.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            complaints.append(
                f"{path.relative_to(root)}:{line}: name the module {match[1]} in {PACKAGE_HEADER}"
            )
    return complaints


def check_tree(root: pathlib.Path) -> list[str]:
    """The complaints about the package and the binding under `root`."""
    package = root / "python/weft"
    known = modules_of(package)
    complaints, graph = [], {}
    for module, path in known.items():
        own = part_of(module)
        where = path.relative_to(root)
        if own not in HEIGHT:
            complaints.append(f"{where}: {own} is not one of the parts {', '.join(sorted(HEIGHT))}")
            continue
        tree = ast.parse(path.read_text())
        graph[module] = set()
        for line, target in imports_of(module, tree, known):
            if target.startswith("."):
                complaints.append(f"{where}:{line}: write {target} from weft, as in weft._array.axes")
                continue
            if target not in known:
                complaints.append(f"{where}:{line}: there is no module {target}")
                continue
            other = part_of(target)
            graph[module].add(target)
            if other != own and HEIGHT.get(other, -1) >= HEIGHT[own]:
                complaints.append(f"{where}:{line}: {own} may not import {other} ({target})")
    complaints += [f"these modules import each other: {', '.join(circle)}" for circle in circles(graph)]
    return complaints + check_binding(root, known) + full_folders(root)


def full_folders(root: pathlib.Path) -> list[str]:
    """A complaint for each folder of the package with more source files than a reader keeps in mind."""
    package = root / "python/weft"
    complaints = []
    for folder in [package, *sorted(package.rglob("*/"))]:
        count = sum(path.suffix in (".py", ".pyi") for path in folder.iterdir()) if folder.is_dir() else 0
        if count > MOST_FILES:
            complaints.append(
                f"{folder.relative_to(root)}: {count} files; more than {MOST_FILES} are two topics"
            )
    return complaints


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    complaints = check_tree(root)
    print("\n".join(complaints), end="\n" if complaints else "", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
