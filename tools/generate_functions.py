"""Generates from python/functions.toml what the package, the binding and the documents need to know of its functions.

    python tools/generate_functions.py            writes python/weft/_names.py
    python tools/generate_functions.py --check    fails when it is not current
    python tools/generate_functions.py --output DIR
        functions/fast_paths.inc        WEFT_FAST_FUNCTION(name, function) and its kin, for python/bindings/fast
        functions/bound_functions.inc   bind_function<…>(…), for python/bindings/functions
    python tools/generate_functions.py --docs
        docs/reference/functions/ and docs/reference/coverage.md, from the table and the built package

Files are only rewritten when they change.
"""

import argparse
import ast
import inspect
import re
import sys
import textwrap
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "python/functions.toml"
NAMES = ROOT / "python/weft/_names.py"
METHODS = "methods"

# The topics, in the order of the reference.
TOPICS = {
    "creation": "Array creation",
    "manipulation": "Array manipulation",
    "indexing": "Indexing",
    "mathematics": "Mathematics",
    "products": "Products of arrays",
    "logic": "Logic",
    "statistics": "Statistics",
    "sorting": "Sorting, searching, counting",
    "sets": "Sets",
    "polynomials": "Polynomials",
    "bits": "Bits",
    "windows": "Windows",
    "functional": "Functions of functions",
    "dtypes": "Data types",
    "errors": "Floating-point errors",
    "text": "Text",
    "files": "Files",
    "memory": "Memory",
    "host": "Types that NumPy computes with",
    "engine": "weft's engine",
}
# Modules that are loaded with the package: methods need them, or most programs do.
LOADED = """
    _array.axes _array.dtypes _engine.config _engine.device _functions.comparing _functions.creation
    _functions.indexing _functions.joining _functions.products _functions.properties _functions.reductions
    _functions.rounding _functions.shapes _protocols.sharing exceptions
""".split()
OVERRIDES = ("arguments", "sequences", "keeps_type", "ufunc")  # as overrides.py and overrides.cpp number them
FUNCTION_COLUMNS = frozenset(
    "signature alias from kind override scalars fast returns types cpp bound doc drawn numpy".split()
)
METHOD_COLUMNS = frozenset("signature from function keeps_type fast scalar returns types".split())


def read_table(path=TABLE):
    """The rows of all topics, each with its name and its topic, in the order of the table."""
    with path.open("rb") as file:
        table = tomllib.load(file)
    rows = []
    for topic, functions in table.items():
        known = METHOD_COLUMNS if topic == METHODS else FUNCTION_COLUMNS
        if topic != METHODS and topic not in TOPICS:
            raise SystemExit(f"{path.name}: no topic {topic}")
        for name, columns in functions.items():
            unknown = set(columns) - known
            if unknown:
                raise SystemExit(f"{path.name}: {topic}.{name} has unknown columns: {', '.join(unknown)}")
            rows.append({"name": name, "topic": topic, **columns})
    check(path.name, rows)
    return rows


def check(table, rows):
    """Refuses what the columns do not allow."""

    def refuse(row, why):
        raise SystemExit(f"{table}: {row['topic']}.{row['name']}: {why}")

    functions = {row["name"]: row for row in rows if row["topic"] != METHODS}
    if len(functions) != sum(row["topic"] != METHODS for row in rows):
        raise SystemExit(f"{table}: a name stands twice")
    for row in rows:
        if row.get("override", "none") not in ("none", *OVERRIDES):
            refuse(row, f"no kind of override: {row['override']}; there are none, {', '.join(OVERRIDES)}")
        if "alias" in row and (set(row) != {"name", "topic", "alias"} or row["alias"] not in functions):
            refuse(row, "an alias has the name of a function, and nothing else")
        if not {"alias", "kind", "signature"} & set(row):
            refuse(row, "it has no signature")
        if row.get("kind", "class") not in ("class", "object"):
            refuse(row, f"no kind: {row['kind']}")
        if "bound" in row and not ("cpp" in row and "doc" in row and "from" not in row):
            refuse(row, "a generated binding needs the columns cpp and doc, and no module")
        if "signature" in row:
            try:
                parameters(row["signature"])
            except SyntaxError:
                refuse(row, f"no signature: {row['signature']}")


def functions_of(rows):
    return [row for row in rows if row["topic"] != METHODS]


def methods_of(rows):
    return [row for row in rows if row["topic"] == METHODS]


def parameters(signature):
    """The parameters of a signature as Python's `inspect` has them; a default is its text."""
    definition = ast.parse(f"def f({signature.replace('<no value>', '...')}): pass").body[0].args
    kind = inspect.Parameter
    result = []

    def add(argument, which, default=None):
        text = kind.empty if default is None else ast.unparse(default)
        result.append(kind(argument.arg, which, default=text))

    positional = [*definition.posonlyargs, *definition.args]
    defaults = [None] * (len(positional) - len(definition.defaults)) + definition.defaults
    for argument, default in zip(positional, defaults):
        only = argument in definition.posonlyargs
        add(argument, kind.POSITIONAL_ONLY if only else kind.POSITIONAL_OR_KEYWORD, default)
    if definition.vararg:
        add(definition.vararg, kind.VAR_POSITIONAL)
    for argument, default in zip(definition.kwonlyargs, definition.kw_defaults):
        add(argument, kind.KEYWORD_ONLY, default)
    if definition.kwarg:
        add(definition.kwarg, kind.VAR_KEYWORD)
    return result


# ---- the package ----


def package_text(rows):
    loaded, later, overrides, aliases, scalars, methods = {}, {}, {}, {}, [], {}
    for row in functions_of(rows):
        name, module = row["name"], row.get("from")
        if "alias" in row:
            aliases[name] = row["alias"]
            continue
        if module in LOADED:
            loaded.setdefault(module, []).append(name)
        elif module:
            later[name] = module
        if "kind" not in row and row.get("override") != "none":
            overrides[name] = OVERRIDES.index(row.get("override", "arguments"))
        if row.get("scalars"):
            scalars.append(name)
    for row in methods_of(rows):
        module = row.get("from")
        methods[row["name"]] = (
            module,
            row.get("function", row["name"]),
            module in LOADED,
            row.get("keeps_type", False),
            row.get("scalar", "array"),
        )

    def mapping(name, items, comment):
        lines = "".join(f"    {key!r}: {value!r},\n" for key, value in items.items())
        return f"# {comment}\n{name} = {{\n{lines}}}\n"

    text = '"""Where the package finds its names. Generated from functions.toml by tools/generate_functions.py."""\n\n'
    text += "# fmt: off\n# ruff: noqa\n"
    text += mapping(
        "LOADED", {key: tuple(names) for key, names in loaded.items()}, "Loaded with the package."
    )
    text += mapping("LATER", later, "Loaded when the name is asked for.")
    text += mapping("ALIASES", aliases, "Second names of the same function.")
    text += mapping("OVERRIDES", overrides, f"Functions that arguments can override: {', '.join(OVERRIDES)}.")
    text += f"GIVE_SCALARS = frozenset({scalars!r})\n"
    text += mapping(
        "METHODS", methods, "Methods: module, function, loaded with the package, keeps the type, of scalars."
    )
    return text.replace("'", '"')


# ---- the binding ----


def cpp_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def fast_paths_text(rows):
    """The rows of the fast paths. A number tells the instances of one template from each other."""
    lines = []
    for number, row in enumerate(rows):
        # inspect reads what stands here, so it has to be Python.
        name, fast, signature = (
            row["name"],
            row.get("fast"),
            row.get("signature", "").replace("<no value>", "..."),
        )
        if row["topic"] == METHODS:
            if fast:
                text = cpp_string(f"{name}($self{', ' if signature else ''}{signature})")
                lines.append(f"WEFT_FAST_METHOD({number}, {name}, {fast}, {text})")
            continue
        if fast and row.get("override") != "none":
            lines.append(f"WEFT_FAST_FUNCTION({name}, {fast})")
        if "from" not in row and "signature" in row and (fast or "like=" in signature):
            lines.append(
                f"WEFT_FAST_BUILTIN({number}, {name}, {fast or 'no_fast_path'}, "
                f"{cpp_string(f'{name}({signature})')})"
            )
    macros = ("FAST_FUNCTION", "FAST_BUILTIN", "FAST_METHOD")
    head = "// Generated by tools/generate_functions.py from python/functions.toml.\n"
    head += "".join(f"#ifndef WEFT_{macro}\n#define WEFT_{macro}(...)\n#endif\n" for macro in macros)
    return head + "\n".join(lines) + "\n" + "".join(f"#undef WEFT_{macro}\n" for macro in macros)


def cpp_default(text):
    """A default as C++: None, numbers, truth values and texts."""
    value = ast.literal_eval(text)
    if value is None:
        return "nb::none()"
    if isinstance(value, bool):
        return str(value).lower()
    return cpp_string(value) if isinstance(value, str) else repr(value)


def bound_functions_text(rows):
    lines = ["// Generated by tools/generate_functions.py from python/functions.toml."]
    for row in functions_of(rows):
        if not row.get("bound"):
            continue
        arguments = []
        for parameter in parameters(row["signature"]):
            if parameter.kind != parameter.POSITIONAL_OR_KEYWORD:
                raise SystemExit(f"{row['name']}: a generated binding has plain parameters")
            default = "" if parameter.default is parameter.empty else f" = {cpp_default(parameter.default)}"
            arguments.append(f'nb::arg("{parameter.name}").none(){default}')
        lines.append(
            f"bind_function<&weft::{row['name']}>(m, {', '.join([cpp_string(row['name']), *arguments])}, "
            f"{cpp_string(row['doc'].strip())});"
        )
    return "\n".join(lines) + "\n"


def check_headers(rows):
    """The names that a public header should declare and does not."""
    generated = (ROOT / "src/ops/op_table.toml").read_text()
    complaints = []
    for row in functions_of(rows):
        if "cpp" not in row:
            continue
        header = ROOT / "include" / row["cpp"]
        text = header.read_text() if header.exists() else generated
        if not re.search(rf"\b{row['name']}\b", text):
            complaints.append(f"{row['name']}: {row['cpp']} does not declare it")
    return complaints


# ---- the documents ----


def summary_of(value):
    text = inspect.getdoc(getattr(value, "_implementation", value)) or ""
    if "->" in text.split("\n")[0]:  # nanobind's signature
        text = text.split("\n", 1)[-1].strip()
    return text


def reference_entry(row, value):
    name = row["name"]
    if "alias" in row:
        return f"### {name}\n\nAnother name of `{row['alias']}`.\n"
    text = f"### {name}\n\n"
    if "signature" in row:
        shown = re.sub(r"<no value>", "...", row["signature"])
        text += f"```text\nnp.{name}({shown})\n```\n\n"
    doc = summary_of(value)
    before, mark, example = doc.partition(">>>")
    text += before.strip() + "\n"
    if mark:
        text += f"\n```pycon\n{(mark + example).strip()}\n```\n"
    notes = []
    if "cpp" in row:
        notes.append(f"C++: `weft::{name}` in `<{row['cpp']}>`.")
    if "numpy" in row:
        notes.append(f"{row['numpy']}.")
    if notes:
        text += "\n" + " ".join(notes) + "\n"
    return text


def docs_of(rows):
    """The pages of the reference, by path; needs the built package."""
    import weft

    pages = {}
    note = "<!-- Generated by tools/generate_functions.py --docs from python/functions.toml. -->\n"
    for topic, title in TOPICS.items():
        text = f"{note}\n# {title}\n"
        for row in functions_of(rows):
            if row["topic"] == topic:
                text += "\n" + reference_entry(row, getattr(weft, row["name"]))
        pages[f"functions/{topic}.md"] = text
    text = f"{note}\n# Methods of arrays\n\nA scalar has those that are marked.\n"
    for row in methods_of(rows):
        value = inspect.getattr_static(weft.ndarray, row["name"])
        mark = "" if row.get("scalar") == "none" else " Scalars have it."
        first = (summary_of(value) or summary_of(getattr(weft, row["name"], None))).split("\n\n")[0]
        text += f"\n### ndarray.{row['name']}\n\n```text\nx.{row['name']}({row['signature']})\n```\n\n"
        text += f"{first.strip()}{mark}\n"
    pages["functions/methods.md"] = text
    pages["coverage.md"] = coverage_text(rows, note)
    return pages


def coverage_text(rows, note):
    import weft
    from weft._protocols.missing import instead_of
    from weft._protocols.numpy_names import array_names, module_names

    ufuncs = sorted(name for name in dir(weft) if isinstance(getattr(weft, name), weft.ufunc))
    functions = functions_of(rows)
    named = {row["name"] for row in functions} | set(dir(weft))
    missing = sorted(
        name for name in module_names - named if not name.startswith("_") and not hasattr(weft, name)
    )
    by_cpp = {row["name"] for row in functions if "cpp" in row} | set(ufuncs)
    text = f"{note}\n# What works today\n\n" + wrapped(
        f"weft has {len(ufuncs)} ufuncs and {len(functions)} further public names; NumPy has {len(missing)} names "
        "that weft does not have yet. A name in **bold** is a C++ function as well. A dagger says that NumPy does "
        "part of the work. [Differences from NumPy](../guide/differences-from-numpy.md) has what behaves differently."
    )
    text += "\n\n## Ufuncs\n\n"
    text += (
        wrapped(", ".join(f"**{name}**" for name in ufuncs))
        + "\n\n[operations](operations.md) has their dtypes.\n"
    )
    for topic, title in TOPICS.items():
        words = [
            f"**{row['name']}**" if row["name"] in by_cpp else row["name"]
            for row in functions
            if row["topic"] == topic
        ]
        words = [
            word
            + (" †" if any(row["name"] == word.strip("*") and "numpy" in row for row in functions) else "")
            for word in words
        ]
        text += f"\n## [{title}](functions/{topic}.md)\n\n{wrapped(', '.join(words))}\n"
    text += f"\n## [Methods](functions/methods.md)\n\n{wrapped(', '.join(row['name'] for row in methods_of(rows)))}\n"
    lacking = sorted(
        name
        for name in array_names
        if type(inspect.getattr_static(weft.ndarray, name)).__name__ == "MissingAttribute"
    )
    text += "\n## Further modules\n\n" + further_modules()
    text += f"\n## Not yet\n\n{wrapped(', '.join(missing))}\n\nOf arrays: {', '.join(lacking)}.\n"
    text += "\nWhoever asks for such a name is told what to use meanwhile:\n\n"
    text += "".join(f"- `{name}`: {instead}\n" for name, instead in instead_of.items())
    return text


def further_modules():
    """The public names of the modules of the package that are NumPy's too."""
    import importlib

    text = ""
    for module in (
        "fft",
        "linalg",
        "random",
        "lib.stride_tricks",
        "scipy.fft",
        "scipy.linalg",
        "scipy.special",
    ):
        names = importlib.import_module(f"weft.{module}").__all__
        text += wrapped(f"- `{module}`: {', '.join(sorted(names))}", "  ") + "\n"
    return text


def wrapped(text, indent=""):
    return textwrap.fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def write(path, text):
    if path.exists() and path.read_text() == text:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail when a file of the tree is not current")
    parser.add_argument("--output", type=Path, help="folder for the generated C++")
    parser.add_argument("--docs", action="store_true", help="write the reference pages too")
    options = parser.parse_args()
    rows = read_table()
    complaints = check_headers(rows)
    if options.output:
        write(options.output / "functions/fast_paths.inc", fast_paths_text(rows))
        write(options.output / "functions/bound_functions.inc", bound_functions_text(rows))
    else:
        files = {NAMES: package_text(rows)}
        if options.docs:
            if not options.check:
                write(NAMES, files[NAMES])  # the pages are made from the package, which reads it
            files.update({ROOT / "docs/reference" / path: text for path, text in docs_of(rows).items()})
        for path, text in files.items():
            if options.check:
                if not path.exists() or path.read_text() != text:
                    complaints.append(
                        f"{path.relative_to(ROOT)} is not current: run python tools/generate_functions.py"
                    )
            else:
                write(path, text)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
