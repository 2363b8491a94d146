"""The lists of tests that weft is expected to fail, each with its reason: tests/conformance/expected/*.toml.

A list has a table for each reason. Its keys are files of tests, its values patterns of the tests' names, in which `*`
stands for anything. All tests that a pattern matches, of those that NumPy passes, have to fail, but for those that pass
by turns.
"""

import json
import re
import tomllib
from collections import Counter, defaultdict

SMALL = 4  # reasons of fewer tests are told together
BY_TURNS = "by turns: "  # tests of a reason that begins so may pass or fail, and stay listed

# What an exception's line becomes, so that tests with the same cause stand together.
RULES = [
    (r"weft has no (numpy\.[\w.]+|[\w.]+)$", r"no name \1"),
    (r"module 'weft(?:\.[\w.]+)?' has no attribute '(\w+)'.*", r"no name \1"),
    (r"weft has no (\w+)[ ;:.].*", r"no name \1"),
    (r"cannot import name '(\w+)'.*", r"no name \1"),
    (r"No module named '([\w.]+)'", r"no module \1"),
    (r"'(?:weft\.)?([\w.]+)' object has no attribute '(\w+)'", r"\1 has no \2"),
    (r"type object '([\w.]+)' has no attribute '(\w+)'", r"\1 has no \2"),
    (r".*unexpected keyword argument '(\w+)'.*|.*unexpected keyword '(\w+)'.*", r"no keyword \1\2"),
    (r".*\b(object|datetime64|timedelta64|longdouble|clongdouble|str|bytes|void)\b dtype.*", r"dtype \1"),
    (
        r".*(?:weft has no|does not have|no arrays of) (objects|strings|long double|structures?).*",
        r"dtype \1",
    ),
    (r"DID NOT RAISE.*", "raises nothing"),
    (r"DID NOT WARN.*", "does not warn"),
    (r"Regex pattern did not match.*", "another text of the exception"),
]
DIFFERS = ("Error: ", "AssertionError", "Failed: ")


def reason(line):
    """The reason that stands in a list for the line of an exception."""
    kind, _, text = line.partition(": ")
    for pattern, name in RULES:
        found = re.fullmatch(pattern, text)
        if found:
            return re.sub(r"\s+", " ", found.expand(name)).strip()
    if kind == "AssertionError":
        return "another result"
    text = re.sub(r"\d+", "N", text)
    return f"{kind}: {text}".strip(": ")[:100]


def matcher(pattern):
    return re.compile(".*".join(map(re.escape, pattern.split("*")))).fullmatch


def read(path):
    return tomllib.loads(path.read_text()) if path.exists() else {}


def complaints(folder, tests, failures, area):
    """What differs from the lists, for the files that have tests here."""
    by_file = defaultdict(list)
    for test in tests:
        file, _, name = test.partition("::")
        by_file[file].append(name)
    for name in failures:
        file, _, rest = name.partition("::")
        if name not in tests:
            by_file[file].append(rest)
    expected = set()
    for list_name in sorted({area(file) for file in by_file}):
        for why, files in read(folder / f"{list_name}.toml").items():
            for file, patterns in files.items():
                if file not in by_file:
                    continue
                for pattern in patterns:
                    matches = matcher(pattern)
                    found = [f"{file}::{name}" for name in by_file[file] if matches(name)]
                    if not found:
                        yield f"{file}::{pattern} ({why}): there is no such test"
                    for test in found:
                        expected.add(test)
                        if test not in failures and not why.startswith(BY_TURNS):
                            yield f"{test} passes, and is listed for: {why}"
    for test, why in failures.items():
        if test not in expected:
            yield f"{test} fails: {why}"


def patterns_of(failing, passing):
    """Few patterns that match all of `failing` and none of `passing`."""
    if not passing:
        return ["*"]
    chosen, left = [], set(failing)

    def take(pattern, least):
        matches = matcher(pattern)
        found = {name for name in left if matches(name)}
        if len(found) >= least and not any(map(matches, passing)):
            chosen.append(pattern)
            left.difference_update(found)

    for owner in sorted({name.split("::")[0] for name in failing if "::" in name}):
        take(f"{owner}::*", 2)
    for function in sorted({name.split("[")[0] for name in left if "[" in name}):
        take(f"{function}[*]", 2)
    # Values of a test's parameters, alone or two at the begin or the end.
    for name in sorted(left):
        if name in left and "[" in name:
            function, _, values = name[:-1].partition("[")
            for value in values.split("-")[1:-1]:
                take(f"{function}[*-{value}-*]", 4)
    for width in (1, 2):
        for name in sorted(left):
            if name in left and "[" in name:
                function, _, values = name[:-1].partition("[")
                values = values.split("-")
                if len(values) > width:
                    take(f"{function}[{'-'.join(values[:width])}-*]", 3)
                    take(f"{function}[*-{'-'.join(values[-width:])}]", 3)
    return sorted([*chosen, *left])


def _told_together(tests, reasons):
    """A function of tests, and a class, that fails as a whole has one reason, which most of its tests have."""
    reasons = dict(reasons)
    for separator, least in (("[", 2), ("::", 3)):
        groups, passing = defaultdict(list), set()
        for test in {**tests, **reasons}:
            owner = test.split("[")[0] if separator == "[" else test.split("[")[0].rpartition("::")[0]
            if (separator == "[") == ("[" in test) or separator == "::":
                groups[owner].append(test)
                if test not in reasons:
                    passing.add(owner)
        for owner, members in groups.items():
            if (
                owner not in passing
                and len(members) >= least
                and (separator == "[" or owner.count("::") == 1)
            ):
                counts = Counter(reasons[test] for test in members)
                why, count = counts.most_common(1)[0]
                if separator == "[" or 2 * count > len(members):
                    reasons.update(dict.fromkeys(members, why))
    return reasons


def text_of(groups):
    lines = []
    for why, files in groups:
        lines.append(f"[{json.dumps(why, ensure_ascii=False)}]")
        for file in sorted(files):
            lines.append(f"{json.dumps(file)} = [")
            lines += [f"    {json.dumps(pattern, ensure_ascii=True)}," for pattern in files[file]]
            lines.append("]")
        lines.append("")
    return "\n".join(lines)


def write(folder, tests, failures, area, whole, small=SMALL):
    """The lists anew; those of files that have no tests here stay, unless all files have been run. Reasons of fewer
    than `small` tests are told together."""
    folder.mkdir(exist_ok=True)
    run = {test.partition("::")[0] for test in [*tests, *failures]}
    turning = [
        (file, matcher(pattern))
        for name in {area(file) for file in run}
        for why, files in read(folder / f"{name}.toml").items()
        if why.startswith(BY_TURNS)
        for file, patterns in files.items()
        for pattern in patterns
    ]

    def is_turning(test):
        file, _, name = test.partition("::")
        return any(file == other and matches(name) for other, matches in turning)

    tests = {test: 0 for test in tests if not is_turning(test)}
    reasons = {test: reason(line) for test, line in failures.items() if not is_turning(test)}
    reasons = _told_together(tests, reasons)
    sizes = defaultdict(int)
    for why in reasons.values():
        sizes[why] += 1
    for test, why in reasons.items():
        if sizes[why] < small:
            reasons[test] = f"{why.split(':')[0]}, of many kinds" if ": " in why else "of many kinds"
    passing = defaultdict(list)
    for test in tests:
        if test not in failures:
            file, _, name = test.partition("::")
            passing[file].append(name)
    lists = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for test, why in reasons.items():
        file, _, name = test.partition("::")
        lists[area(file)][why][file].append(name)
    for name in {area(file) for file in run}:
        groups = {
            why: {
                file: patterns
                for file, patterns in files.items()
                if why.startswith(BY_TURNS) or (not whole and file not in run)
            }
            for why, files in read(folder / f"{name}.toml").items()
        }
        for why, files in lists[name].items():
            mine = groups.setdefault(why, {})
            for file, names in files.items():
                others = [
                    test.partition("::")[2]
                    for test, other in reasons.items()
                    if other != why and test.startswith(f"{file}::")
                ]
                mine[file] = patterns_of(names, passing[file] + others)
        groups = sorted(
            ((why, files) for why, files in groups.items() if files),
            key=lambda group: (-sum(map(len, group[1].values())), group[0]),
        )
        path = folder / f"{name}.toml"
        if groups:
            path.write_text(text_of(groups))
        else:
            path.unlink(missing_ok=True)
