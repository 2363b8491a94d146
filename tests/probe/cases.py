"""What a probe does once: a short script, how it ends, and how it is made shorter.

A script may end well, or with an exception that a user can expect. It must not end the process, hang so that Ctrl-C
does not help, raise an internal error, or change what a failed call was given.
"""

import dataclasses
import os
import resource
import traceback

# What a script imports for itself, so that a printed one runs as it stands.
PREAMBLE = "import weft as np"


def limit_addresses(size):
    """So that a size that is junk takes no more than this of the machine. Sanitizers have limits of their own."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft != size and "asan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (size, hard))


@dataclasses.dataclass
class Call:
    """A call as text, whose arguments can be left out one by one."""

    function: str
    arguments: list
    keywords: dict
    target: str = "result"

    def source(self):
        inner = [*self.arguments, *(f"{key}={value}" for key, value in self.keywords.items())]
        return f"{self.target} = {self.function}({', '.join(inner)})"

    def smaller(self):
        for key in self.keywords:
            rest = {other: value for other, value in self.keywords.items() if other != key}
            yield dataclasses.replace(self, keywords=rest)
        if self.arguments:
            yield dataclasses.replace(self, arguments=self.arguments[:-1])
        for place, argument in enumerate(self.arguments):
            for simple in ("0", "()", "None"):
                if len(simple) < len(argument):
                    arguments = [*self.arguments[:place], simple, *self.arguments[place + 1 :]]
                    yield dataclasses.replace(self, arguments=arguments)


@dataclasses.dataclass
class Case:
    """Lines of a script, each a statement as text or a Call; `fixed` of them stay when it is made shorter."""

    lines: list
    fixed: int = 0

    def statements(self):
        return [line.source() if isinstance(line, Call) else line for line in self.lines]

    def source(self):
        return "\n".join([PREAMBLE, *self.statements()])

    def smaller(self):
        for place in range(len(self.lines) - 1, self.fixed - 1, -1):
            yield Case([*self.lines[:place], *self.lines[place + 1 :]], self.fixed)
        for place, line in enumerate(self.lines):
            if isinstance(line, Call):
                for call in line.smaller():
                    yield Case([*self.lines[:place], call, *self.lines[place + 1 :]], self.fixed)


COUNTS = {}  # what happened in the cases of this process, told to whoever supervises it


def count(what, times=1):
    COUNTS[what] = COUNTS.get(what, 0) + times


class Fault(Exception):
    """What a script found wrong by itself: an input that changed, a retry that differs."""


def is_expected(error):
    """Whether a user can expect the exception: of any type but those that say that weft is at fault."""
    import weft

    if isinstance(error, (SystemError, Fault, weft.exceptions.InternalError)):
        return False
    return "internal error" not in str(error)


def run(source):
    """None where the script ends as it may, else what is wrong with how it ended."""
    try:
        exec(compile(source, "<case>", "exec"), {"__name__": "case"})
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if is_expected(error):
            return None
        return "".join(traceback.format_exception_only(error)).strip()
    return None


def shorten(case, fails, attempts=200):
    """A shorter case that still fails; `fails` says whether one does."""
    found = True
    while found and attempts > 0:
        found = False
        for smaller in case.smaller():
            attempts -= 1
            if attempts < 0:
                break
            if fails(smaller):
                case, found = smaller, True
                break
    return case
