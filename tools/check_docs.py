"""Checks the documents against the tree: what they name is there, and explanations stay short.

- Relative links lead to files, and to headings of pages where they name one.
- Paths in the text (`src/core/config.h`, `core/config.h`, `tools/check_docs.py`) exist. A path in a room may leave
  `src/` out. Decisions tell what was decided at their time, so paths in them are not checked.
- Pages that comments, docstrings and messages of the code name (`docs/...`) exist, and so do the files of the engine
  that its comments name (`core/config.h`).
- The pages of docs/internals and docs/architecture.md have at most 900 words, drawings and code aside.
- The table of docs/internals/tower.md is that of tools/check_includes.py.
- docs/reference/settings.md has every setting, environment variable and optimisation switch of the code, and no others.

Prints every complaint; exits 1 when there is one. `--sentences` lists the sentences of more than 30 words instead.
"""

import pathlib
import re
import subprocess
import sys

import check_includes

MOST_WORDS = 900
MOST_WORDS_OF_A_SENTENCE = 30
FENCE = re.compile(r"^( *)```.*?^\1```[^\n]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
CODE = re.compile(r"`([^`\n]+)`")
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
MENTION = re.compile(r"(?<![\w/])docs/[\w./-]+\.(?:md|png|svg)")
GENERATED = {"weft/operations.h", "weft/dtypes.h"}  # headers that the build makes from tables
NAMED = re.compile(r"(?<![\w/.-])[a-z_]+/[\w/]+\.(?:h|cpp|def|toml|cmake)\b")
TOPS = ("src", "include", "python", "tests", "tools", "docs", "bench", "cmake", "examples", ".github")
# The variable of an environment as the code reads it.
VARIABLE = re.compile(r'"(WEFT_[A-Z0-9_]+)"')


def tracked(root):
    """The files of the tree, those that git does not know yet included."""
    names = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [root / name for name in names.split("\0") if name and (root / name).is_file()]


def anchor(heading):
    """The name that GitHub gives to a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def broken_links(root, page, text):
    prose = FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    for match in LINK.finditer(prose):
        path, _, fragment = match[2].partition("#")
        if "://" in path or path.startswith("mailto:"):
            continue
        target = (page.parent / path).resolve() if path else page
        where = f"{page.relative_to(root)}:{line_of(prose, match.start())}"
        if not target.exists():
            yield f"{where}: the link {match[2]} leads nowhere"
        elif fragment and target.suffix == ".md":
            headings = HEADING.findall(FENCE.sub("", target.read_text()))
            if fragment not in map(anchor, headings):
                yield f"{where}: {path or page.name} has no heading #{fragment}"


def is_missing(root, rooms, name):
    """Whether a text that looks like a path of the tree is none."""
    if not re.fullmatch(r"[\w./-]+", name) or "/" not in name or name in GENERATED:
        return False
    first, last = name.split("/")[0], name.rstrip("/").split("/")[-1]
    if first in TOPS:
        return not (root / name).exists()
    if first in rooms and (name.endswith("/") or "." in last):
        return not (root / "src" / name).exists()
    if first in ("weft", "bindings") and "." in last:
        return not any((root / top / name).exists() for top in ("include", "python"))
    return False


def missing_paths(root, page, text):
    rooms = {path.name for path in (root / "src").iterdir() if path.is_dir()}
    prose = FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    for match in CODE.finditer(prose):
        if is_missing(root, rooms, match[1]):
            yield f"{page.relative_to(root)}:{line_of(prose, match.start())}: there is no {match[1]}"


def missing_pages(root, files):
    """Pages that the code names and that are not there."""
    for path in files:
        if (
            path.suffix not in (".py", ".h", ".cpp", ".cmake", ".toml", ".def", ".txt", ".yml")
            and path.name != "Makefile"
        ):
            continue
        if path.name in ("check_docs.py", "test_check_docs.py"):
            continue
        text = path.read_text(errors="replace")
        for match in MENTION.finditer(text):
            if not (root / match[0]).exists():
                yield f"{path.relative_to(root)}:{line_of(text, match.start())}: there is no {match[0]}"


def missing_files(root, files):
    """Files that comments of the engine and the bindings name and that are not there."""
    rooms = {path.name for path in (root / "src").iterdir() if path.is_dir()}
    for path in files:
        if path.suffix not in (".h", ".cpp", ".inc") or path.relative_to(root).parts[0] == "tests":
            continue
        text = path.read_text(errors="replace")
        for match in NAMED.finditer(text):
            if is_missing(root, rooms, match[0]):
                yield f"{path.relative_to(root)}:{line_of(text, match.start())}: there is no {match[0]}"


def words(text):
    return len(FENCE.sub("", text).split())


def long_pages(root):
    for page in [root / "docs/architecture.md", *sorted((root / "docs/internals").glob("*.md"))]:
        count = words(page.read_text())
        if count > MOST_WORDS:
            yield f"{page.relative_to(root)}: {count} words; a page that explains has at most {MOST_WORDS}"


def settings_of_code(root):
    """The names of weft.config, the variables of the environment, and the optimisation switches."""
    config = root / "python/weft/_engine/config.py"
    table = re.search(r"_SETTINGS = \{(.*?)^\}", config.read_text(), re.MULTILINE | re.DOTALL)[1]
    names = set(re.findall(r'^    "(\w+)":', table, re.MULTILINE))
    variables = set(re.findall(r"WEFT_[A-Z0-9_]+", table))
    for folder, kind in (("src", "*.cpp"), ("python/bindings", "*.cpp"), ("python/weft", "*.py")):
        for path in (root / folder).rglob(kind):
            variables |= set(VARIABLE.findall(path.read_text()))
    steps = (root / "src/core/optimisation_switches.def").read_text()
    return names, variables, set(re.findall(r'WEFT_OPTIMISATION_SWITCH\(\w+, "(\w+)"\)', steps))


def wrong_settings(root):
    page = root / "docs/reference/settings.md"
    text = page.read_text()
    names, variables, steps = settings_of_code(root)
    rows = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    named = set(re.findall(r"^\| `(WEFT_[A-Z0-9_]+)` \| `(\w+)` \|", text, re.MULTILINE))
    found = {
        "variable": (variables, {row for row in rows if row.startswith("WEFT_")}),
        "setting": (names, {name for _, name in named}),
        "switch": (steps, {row for row in rows if not row.startswith("WEFT_")}),
    }
    for what, (right, there) in found.items():
        for name in sorted(right - there):
            yield f"{page.relative_to(root)}: the {what} {name} is missing"
        for name in sorted(there - right):
            yield f"{page.relative_to(root)}: the code has no {what} {name}"


def wrong_floors(root):
    """Where the table of who may include whom differs from the one that is checked."""
    page = root / "docs/internals/tower.md"
    table = page.read_text().partition("| may include |")[2].partition("\n\n")[0]
    told = {
        room: set(others.split()) - {"–"}
        for room, others in re.findall(r"^\| (\w+) \| ([\w –]+) \|$", table, re.MULTILINE)
    }
    for room, others in check_includes.ALLOWED.items():
        if told.pop(room, None) != others:
            yield f"{page.relative_to(root)}: {room} may include {' '.join(sorted(others))}"
    for room in told:
        yield f"{page.relative_to(root)}: there is no room {room}"


def complaints(root):
    files = tracked(root)
    pages = [path for path in files if path.suffix == ".md"]
    for page in pages:
        text = page.read_text()
        yield from broken_links(root, page, text)
        if "decisions" not in page.parts and page.name != "CHANGELOG.md":
            yield from missing_paths(root, page, text)
    yield from missing_pages(root, files)
    yield from missing_files(root, files)
    yield from long_pages(root)
    yield from wrong_floors(root)
    yield from wrong_settings(root)


def long_sentences(root):
    """The sentences that are too long to be read at once; tables and code aside."""
    for page in sorted((root / "docs").rglob("*.md")):
        if page.parent.name == "decisions" or page.name == "operations.md":
            continue
        text = FENCE.sub("", page.read_text())
        text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
        for block in re.split(r"\n\s*\n|\n\s*[-*] |\n\d+\. |\n#+ ", text):
            for sentence in re.split(r"(?<=[.:;?!])\s+", " ".join(block.split())):
                if len(sentence.split()) > MOST_WORDS_OF_A_SENTENCE:
                    yield f"{page.relative_to(root)}: {len(sentence.split())} words: {sentence}"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--sentences"]
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parents[1]).resolve()
    if "--sentences" in sys.argv:
        print("\n".join(long_sentences(root)))
        return 0
    found = list(complaints(root))
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
