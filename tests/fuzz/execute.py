"""Runs a random program on NumPy and on the module under test, step by step, and compares what a user can see.

A program is a list of steps, each one line of Python that says `np` for the array module. Compared are: which step
raises, and what; kind (array, scalar or Python value), dtype, shape and strides of each name as soon as it is bound;
values, writability and which arrays share memory at the checkpoints and at the end.
"""

import dataclasses
import functools
import inspect
import warnings

import numpy
from values import data

Tolerance = tuple[float, float]  # relative to each element, absolute
EXACT: Tolerance = (0.0, 0.0)
ANYTHING: Tolerance = (float("inf"), float("inf"))


@dataclasses.dataclass
class Step:
    """One line; `tolerances` are those of the names whose values it changes, for names that need one."""

    source: str
    tolerances: dict[str, Tolerance] = dataclasses.field(default_factory=dict)
    check: bool = False  # compare all values after it


@dataclasses.dataclass
class Failure:
    kind: str  # exception, static, value, memory, late
    step: int
    message: str


class Unsupported(Exception):
    """The module under test says that it does not have something yet."""


class Subject:
    """The module under test, behind the few things that differ between NumPy and weft."""

    def __init__(self, module, rewrite=None):
        self.module = module
        self.rewrite = rewrite or (lambda source: source)
        self.scalar_types = getattr(module, "generic", ())

    def namespace(self):
        return namespace(self.module)

    def kind_of(self, value):
        """array, scalar, tuple or the name of a Python type."""
        if isinstance(value, self.module.ndarray):
            return "array"
        if self.scalar_types and isinstance(value, self.scalar_types):
            return "scalar"
        return type(value).__name__

    def shares_memory(self, left, right):
        return self.module.shares_memory(left, right)


REFERENCE = Subject(numpy)


def namespace(module):
    return {"np": module, "nan": float("nan"), "inf": float("inf"), "data": functools.partial(data, module)}


@functools.lru_cache(maxsize=4096)
def compiled(source):
    return compile(source, "<step>", "exec")


def run_step(source, names):
    """The exception that the step raises, or None."""
    try:
        exec(compiled(source), names)
    except Exception as error:
        return error
    return None


def builtin_kinds(error):
    """What a caller could catch it as: the built-in exception types it is an instance of, most derived first."""
    kinds = tuple(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
    if "ValueError" in kinds and "IndexError" in kinds:  # NumPy's AxisError is both
        return ("ValueError", "IndexError")
    return kinds[:1]


def is_unsupported(error):
    return isinstance(error, NotImplementedError) or (
        isinstance(error, (AttributeError, TypeError)) and " yet; meanwhile " in str(error)
    )


def public_names(names):
    return [name for name in names if name[0] in "xp" and name[1:].isdigit()]


def visible_strides(array):
    """Strides of the axes along which there is a second element; the others cannot be observed by their effect."""
    if array.size == 0:
        return ()
    return tuple(s for s, n in zip(array.strides, array.shape, strict=True) if n > 1)


def compare_static(subject, name, expected, actual):
    """A message when kind, dtype, shape or strides differ; Python values are compared whole."""
    wanted, got = REFERENCE.kind_of(expected), subject.kind_of(actual)
    if wanted != got:
        return f"{name} is {got} ({type(actual).__name__}), NumPy: {wanted} ({type(expected).__name__})"
    if wanted not in ("array", "scalar"):
        if not same_python(expected, actual):
            return f"{name} is {actual!r}, NumPy: {expected!r}"
        return None
    if str(expected.dtype) != str(actual.dtype):
        return f"{name} has dtype {actual.dtype}, NumPy: {expected.dtype}"
    if tuple(expected.shape) != tuple(actual.shape):
        return f"{name} has shape {actual.shape}, NumPy: {expected.shape}"
    if wanted == "array":
        if visible_strides(expected) != visible_strides(actual):
            return f"{name} of shape {expected.shape} has strides {actual.strides}, NumPy: {expected.strides}"
        if expected.flags.writeable != actual.flags.writeable:
            return f"{name} writeable: {actual.flags.writeable}, NumPy: {expected.flags.writeable}"
    return None


def same_python(expected, actual):
    if isinstance(expected, (list, tuple)):
        return len(expected) == len(actual) and all(map(same_python, expected, actual))
    if type(expected) is not type(actual):
        return False
    return expected == actual or (expected != expected and actual != actual) or repr(expected) == repr(actual)


def as_bits(array):
    """Integers that are equal where the elements are the same, NaNs all alike."""
    if array.dtype.kind in "fc":
        floats = array.view(array.real.dtype) if array.dtype.kind == "c" else array
        bits = floats.view(f"u{floats.dtype.itemsize}")
        return numpy.where(numpy.isnan(floats), bits.dtype.type(numpy.iinfo(bits.dtype).max), bits)
    return array


def compare_values(name, expected, actual, tolerance):
    if tolerance == ANYTHING:
        return None
    expected = numpy.ascontiguousarray(expected)
    actual = numpy.ascontiguousarray(numpy.array(actual))
    if tolerance == EXACT:
        if expected.tobytes() == actual.tobytes():
            return None
        wrong = as_bits(numpy.atleast_1d(expected)) != as_bits(numpy.atleast_1d(actual))
        if expected.dtype.kind == "c":
            wrong = wrong.reshape(*wrong.shape[:-1], -1, 2).any(-1)
        wrong = wrong.reshape(expected.shape)
    else:
        relative, absolute = tolerance
        wide = numpy.complex128 if expected.dtype.kind == "c" else numpy.float64
        e, a = expected.astype(wide), actual.astype(wide)
        close = numpy.abs(a - e) <= relative * numpy.abs(e) + absolute
        wrong = ~(close | (e == a) | (numpy.isnan(e) & numpy.isnan(a)))
    if not wrong.any():
        return None
    place = tuple(int(i) for i in numpy.argwhere(wrong)[0])
    allowed = (
        "" if tolerance == EXACT else f" (allowed: {tolerance[0]:.1e} relative, {tolerance[1]:.1e} absolute)"
    )
    return (
        f"{name}: {int(wrong.sum())} of {wrong.size} elements differ, first at {place}: "
        f"{actual[place]!r}, NumPy: {expected[place]!r}{allowed}"
    )


def compare_all(subject, expected, actual, tolerances):
    """The first difference between two namespaces: kind and message, or None."""
    names = public_names(expected)
    arrays = []
    for name in names:
        wanted, got = expected[name], actual[name]
        message = compare_static(subject, name, wanted, got)
        if message:
            return "static", message
        if isinstance(wanted, (numpy.ndarray, numpy.generic)):
            message = compare_values(name, wanted, got, tolerances.get(name, EXACT))
            if message:
                return "value", message
        if isinstance(wanted, numpy.ndarray):
            arrays.append(name)
    for i, left in enumerate(arrays):
        for right in arrays[:i]:
            wanted = shares_memory(expected[left], expected[right])
            if wanted is None:
                continue
            got = subject.shares_memory(actual[left], actual[right])
            if bool(got) != wanted:
                return "memory", f"{left} and {right} share memory: {got}, NumPy: {wanted}"
    return None


def shares_memory(left, right):
    if not numpy.may_share_memory(left, right):
        return False
    try:
        return numpy.shares_memory(left, right, max_work=1000)
    except numpy.exceptions.TooHardError:
        return None


def run_program(steps, subject, bits=None):
    """Runs all steps on both; the first Failure, or None. Raises Unsupported.

    `bits` is a list that gets the digest of all that the subject has at the end.
    """
    expected, actual = namespace(numpy), subject.namespace()
    tolerances: dict[str, Tolerance] = {}
    for number, step in enumerate(steps):
        bound_before = {name: id(expected[name]) for name in public_names(expected)}
        wanted_error = run_step(step.source, expected)
        error = run_step(subject.rewrite(step.source), actual)
        if error is not None and is_unsupported(error):
            raise Unsupported(str(error).splitlines()[0][:100] if str(error) else type(error).__name__)
        wanted_kinds = builtin_kinds(wanted_error) if wanted_error is not None else None
        kinds = builtin_kinds(error) if error is not None else None
        if wanted_kinds != kinds:
            return Failure("exception", number, f"raised {error!r}, NumPy: {wanted_error!r}")
        if error is not None:
            continue
        tolerances.update(step.tolerances)
        for name in public_names(expected):
            if bound_before.get(name) != id(expected[name]):
                if name not in actual:
                    return Failure("static", number, f"{name} is not bound")
                message = compare_static(subject, name, expected[name], actual[name])
                if message:
                    return Failure("static", number, message)
        if step.check or number == len(steps) - 1:
            try:
                difference = compare_all(subject, expected, actual, tolerances)
            except Exception as late:
                if is_unsupported(late):
                    raise Unsupported(str(late).splitlines()[0][:100]) from late
                return Failure("late", number, f"raised when looked at: {late!r}")
            if difference:
                return Failure(difference[0], number, difference[1])
    if bits is not None:
        bits.append(digest(actual, tolerances))
    return None


def digest(names, tolerances):
    """Of every array's and number's elements, NaNs all alike: equal where all have the same bits."""
    import hashlib

    whole = hashlib.blake2b(digest_size=8)
    for name in public_names(names):
        if tolerances.get(name, EXACT) == ANYTHING:
            continue
        elements = numpy.atleast_1d(numpy.ascontiguousarray(numpy.array(names[name])))
        whole.update(name.encode() + as_bits(elements).tobytes())
    return whole.hexdigest()


def minimise(steps, failure, subject):
    """Drops steps while a failure of the same kind remains; returns the shorter program and its failure."""
    steps = [dataclasses.replace(step) for step in steps[: failure.step + 1]]

    def fails(candidate):
        try:
            found = run_program(candidate, subject)
        except Unsupported:
            return None
        return found if found and found.kind == failure.kind and "NameError" not in found.message else None

    # What a checkpoint in the middle hides is not wanted here, unless it is needed.
    bare = [dataclasses.replace(step, check=False) for step in steps]
    if fails(bare):
        steps = bare
    position = len(steps) - 1
    while position >= 0:
        if position < len(steps):
            candidate = steps[:position] + steps[position + 1 :]
            found = fails(candidate) if candidate else None
            if found:
                steps, failure = candidate[: found.step + 1], found
                position = min(position, len(steps))
        position -= 1
    return steps, failure


def script(steps, failure, module="weft", environment=None):
    """A runnable Python script that shows the failing program on NumPy and on the module."""
    settings = "".join(f"{key}={value} " for key, value in (environment or {}).items())
    body = []
    for number, step in enumerate(steps):
        mark = "    # <-- " + failure.kind if number == failure.step else ""
        body.append(f"    {step.source}{mark}")
    lines = [
        f"# {failure.kind} at step {failure.step}: {failure.message}",
        f"# run as: {settings}python script.py",
        "import numpy",
        f"import {module}",
        "from math import inf, nan",
        "import warnings",
        "",
        *(inspect.getsource(data).splitlines() if any("data(" in s.source for s in steps) else []),
        "",
        "def program(np):",
        *guarded(body),
        "    return {n: v for n, v in locals().items() if n[0] in 'xp' and n[1:].isdigit()}",
        "",
        "warnings.simplefilter('ignore'); numpy.seterr(all='ignore')",
        f"expected, actual = program(numpy), program({module})",
        "for name in expected:",
        '    print(name, *(f\'{label}: {getattr(v, "dtype", type(v))} {getattr(v, "strides", "")}\\n{v!r}\'',
        f"          for label, v in (('NumPy', expected[name]), ('{module}', actual[name]))), sep='\\n  ')",
    ]
    return "\n".join(lines).replace("data('", "data(np, '") + "\n"


def guarded(body):
    """Wraps each step so that what it raises is printed and the script goes on, when any step raises on NumPy."""
    names = namespace(numpy)
    lines = []
    for line in body:
        source = line.split("    # <-- ")[0].strip()
        if run_step(source, names) is None and "<-- exception" not in line:
            lines.append(line)
        else:
            lines += ["    try:", "    " + line, "    except Exception as e:", "        print(repr(e))"]
    return lines


def quiet():
    """NumPy's floating-point warnings are no part of the comparison."""
    numpy.seterr(all="ignore")
    warnings.simplefilter("ignore")
