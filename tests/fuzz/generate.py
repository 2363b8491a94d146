"""Makes random programs over a pool of arrays: creation, views, writes, ufuncs, reductions, errors.

The generator runs each step on NumPy while it makes it, so it knows every shape and value. It keeps a tolerance for
each name whose value need not be equal bit for bit (`Tolerance` in execute.py): what comes from a transcendental
function or a floating-point sum. Such names take part in moves, sums and products, whose error can be bounded, but not
in comparisons, rounding or conversions to integers, which would turn a last bit into another number.
"""

from collections.abc import Callable

import numpy
from arranged import Arranged
from choices import (
    BINARY_EXACT,
    BINARY_INEXACT,
    MISTAKES,
    OBSERVATIONS,
    OPERATORS,
    REDUCTIONS,
    TWO_RESULTS,
    UNARY_EXACT,
    UNARY_INEXACT,
    ZERO_SIGN_OPEN,
    RandomChooser,
)
from execute import EXACT, Step, run_step
from tolerance import (
    broadcasts_to,
    converts,
    converts_exactly,
    epsilon,
    finite,
    has_nan,
    largest,
    loose_zero,
    may_store,
    reduction_tolerance,
    result_tolerance,
    worse,
)


class Generator(Arranged):
    """Makes one program: a production for each kind of step."""

    def __init__(self, choose, profile):
        super().__init__(choose, profile)
        self.dtypes = [choose.pick(profile.dtypes) for _ in range(3)]
        self.shapes = [choose.pick(profile.shapes) for _ in range(2)]
        self.productions: list[tuple[int, Callable[[], None]]] = [
            (8, self.create), (20, self.view), (14, self.assign), (12, self.in_place), (8, self.overlap),
            (14, self.binary), (8, self.unary), (8, self.chain), (4, self.out), (10, self.reduce), (6, self.convert),
            (4, self.join), (3, self.select), (5, self.observe), (3, self.mistake), (2, self.two_results),
            (2, self.forget), (3, self.checkpoint), (2, self.like), (8, self.gather), (8, self.chosen),
            (7, self.write_chosen), (4, self.put), (8, self.arrange), (8, self.order), (1, self.sort_in_place),
        ]  # fmt: skip
        self.wheel = [p for weight, p in self.productions for _ in range(weight)]

    def program(self):
        self.create()
        self.create()
        low, high = self.profile.steps
        length = self.choose.integer(low, high)
        attempts = 0
        while len(self.steps) < length and attempts < 4 * length:
            attempts += 1
            self.choose.pick(self.wheel)()
            if len(self.pool()) > 9:
                self.forget()
        # Writing through every array at last shows who shares memory with whom.
        for number, name in enumerate(self.pool()):
            if isinstance(self.names[name], numpy.ndarray):
                self.steps.append(
                    Step(f"{name}[...] = {number % 2 if self.names[name].dtype == bool else number + 20}")
                )
        if not self.steps:  # every array that was made has been forgotten
            self.create()
        self.steps[-1].check = True
        return self.steps

    # --- productions ---------------------------------------------------------------------------------------

    def binary(self):
        choose = self.choose
        left = self.operand()
        if left is None:
            return
        right = self.operand(like=left.value)
        if right is None:
            return
        if choose.chance(0.2):
            left, right = right, left
        which = choose.integer(0, 9)
        name = self.new()
        if which <= 4:
            operator = choose.pick(OPERATORS) if choose.chance(0.6) else choose.pick(["+", "-", "*"])
            self.finish(name, f"{left.text} {operator} {right.text}", operator, [left, right])
        elif which <= 8:
            function = choose.pick(BINARY_EXACT)
            if not self.has(function):
                return
            extra = ""
            if choose.chance(0.08):
                extra = f", dtype={self.dtype_text()}"
                if choose.chance(0.5):
                    extra += ", casting='unsafe'"
                    if not (converts_exactly(left, right)):
                        return
            self.finish(name, f"np.{function}({left.text}, {right.text}{extra})", function, [left, right])
        else:
            function = choose.pick(BINARY_INEXACT)
            if self.has(function):
                self.finish(name, f"np.{function}({left.text}, {right.text})", function, [left, right])

    def unary(self):
        operand = self.operand()
        if operand is None:
            return
        name = self.new()
        if self.choose.chance(0.6):
            function = self.choose.pick(UNARY_EXACT)
        else:
            function = self.choose.pick(UNARY_INEXACT)
        if not self.has(function):
            return
        text = f"np.{function}({operand.text})"
        if function == "negative" and self.choose.chance(0.5):
            text = f"-{operand.text}"
        elif function == "invert" and self.choose.chance(0.5):
            text = f"~{operand.text}"
        elif function == "absolute" and self.choose.chance(0.5):
            text = f"abs({operand.text})"
        self.finish(name, text, function, [operand])

    def finish(self, name, text, function, operands):
        """Records `name = text` when the result can be compared, with its tolerance."""
        try:
            result = self.value_of(text)
        except Exception:
            if all(o.exact for o in operands):
                self.add(f"{name} = {text}")
            return
        if type(result) in (bool, int, float, complex):
            return  # of Python scalars alone
        if function in ("signbit", "copysign") and any(has_nan(o.value) for o in operands):
            return  # the sign of a NaN is open
        tolerance = result_tolerance(function, operands, result)
        if tolerance is not None:
            self.add(f"{name} = {text}", {name: tolerance}, [name])

    def chain(self):
        """One expression of several operations: what fusion makes one kernel of."""
        choose = self.choose
        first = self.operand(exact=True)
        if first is None or first.kind == "c":
            return
        text, value = first.text, first.value
        for _ in range(choose.integer(2, 4)):
            operand = self.operand(exact=True, like=value)
            if operand is None or operand.kind == "c":
                return
            operator = choose.pick(["+", "-", "*", "+", "-", "*", "/", "//", "%", "<", "&", "|"])
            left, right = (text, operand.text) if choose.chance(0.7) else (operand.text, text)
            candidate = f"({left} {operator} {right})"
            if choose.chance(0.15):
                function = choose.pick(["np.sqrt", "np.floor", "abs", "np.isnan", "-", "np.sign"])
                candidate = f"{function}({candidate})"
            elif choose.chance(0.1):
                candidate = f"{candidate}.astype({self.dtype_text()})"
                try:
                    if not converts(
                        self.value_of(f"({left} {operator} {right})"), self.value_of(candidate).dtype
                    ):
                        return
                except Exception:
                    return
            try:
                value = self.value_of(candidate)
            except Exception:
                break
            text = candidate
        if (
            not isinstance(value, (numpy.ndarray, numpy.generic))
            or value.dtype.kind == "c"
            or value.size > 30000
        ):
            return
        name = self.new()
        self.add(f"{name} = {text}", {}, [name])

    def out(self):
        """A ufunc that writes into an array of the pool, or a part of it."""
        target = self.choose.pick(self.arrays()) if self.arrays() else None
        if target is None or target in self.tolerances:
            return
        value = self.names[target]
        place = target if self.choose.chance(0.6) else f"{target}[{self.index(value.shape)}]"
        try:
            part = self.value_of(place)
        except Exception:
            part = value
        left = self.operand(exact=True, like=part)
        right = self.operand(exact=True, like=part)
        if left is None or right is None or "c" in (left.kind, right.kind):
            return
        extra = ", casting='unsafe'" if self.choose.chance(0.15) else ""
        function = self.choose.pick(BINARY_EXACT) if self.choose.chance(0.6) else "add"
        if not self.has(function) or function in ZERO_SIGN_OPEN:
            return
        text = f"np.{function}({left.text}, {right.text}"
        if extra:
            try:
                if not converts(self.value_of(text + ")"), value.dtype):
                    return
            except Exception:
                return
        masks = [
            n for n in self.arrays() if self.names[n].dtype == bool and self.names[n].shape == part.shape
        ]
        if masks and self.choose.chance(0.5):
            mask = self.choose.pick(masks)
            # Where `out` shares memory with an operand and has another dtype than the result, NumPy converts
            # what the mask leaves alone there and back.
            shared = [
                v for v in (left.value, right.value, self.names[mask]) if numpy.may_share_memory(v, part)
            ]
            if shared and self.result_dtype(f"{text})") != part.dtype:
                return
            extra += f", where={mask}"
        if self.choose.chance(0.3):
            name = self.new()  # the result is the array itself
            self.add(f"{name} = {text}, out={place}{extra})", {}, [name])
        else:
            self.add(f"{text}, out={place}{extra})")

    def result_dtype(self, source):
        try:
            return numpy.asarray(self.value_of(source)).dtype
        except Exception:
            return None

    def axis(self, ndim):
        choose = self.choose
        which = choose.integer(0, 9)
        if which <= 2 or ndim == 0:
            return choose.pick(["", "", ", axis=None"]) if ndim or choose.chance(0.8) else ", axis=0"
        if which <= 6:
            return f", axis={choose.integer(-ndim, ndim - 1)}"
        if which == 7:
            return f", axis={tuple(sorted({choose.integer(0, ndim - 1) for _ in range(2)}))}"
        if which == 8:
            return f", axis={choose.pick([(), (0, -1), tuple(range(ndim)), (0, 0)])}"
        return f", axis={choose.pick([ndim, -ndim - 1, ndim - 1, 0])}"

    def reduce(self):
        choose = self.choose
        source = self.operand(exact=True)
        if source is None or (not isinstance(source.value, numpy.ndarray) and choose.chance(0.7)):
            return
        function = (
            choose.pick(REDUCTIONS) if choose.chance(0.6) else choose.pick(["sum", "max", "any", "mean"])
        )
        if not self.has(function):
            return
        value = numpy.asarray(source.value)
        if value.dtype.kind == "c" and function not in ("sum", "any", "all", "mean", "count_nonzero"):
            return
        arguments = self.axis(value.ndim)
        if function in ("argmax", "argmin", "count_nonzero") and "(" in arguments:
            arguments = ""
        if choose.chance(0.25):
            arguments += ", keepdims=True"
        if function in ("sum", "prod", "mean") and choose.chance(0.15):
            arguments += f", dtype={self.dtype_text()}"
        if function in ("sum", "prod", "max", "min") and choose.chance(0.12):
            arguments += f", initial={choose.pick(['0', '1', '3', '-2'])}"
        if function in ("sum", "max", "any", "all", "mean") and choose.chance(0.12):
            masks = [
                n for n in self.arrays()
                if self.names[n].dtype == bool and broadcasts_to(self.names[n].shape, value.shape)
            ]  # fmt: skip
            if masks:
                arguments += f", where={choose.pick(masks)}"
        if function in ("var", "std") and choose.chance(0.4):
            arguments += ", ddof=1"
        if choose.chance(0.5) and function != "count_nonzero" and isinstance(source.value, numpy.ndarray):
            text = f"{source.text}.{function}({arguments.removeprefix(', ')})"
        else:
            text = f"np.{function}({source.text}{arguments})"
        name = self.new()
        try:
            result = self.value_of(text)
        except Exception:
            self.add(f"{name} = {text}")
            return
        tolerance = reduction_tolerance(function, value, result, text)
        if tolerance is None:
            return
        if choose.chance(0.1) and function in ("sum", "max", "min", "any", "all", "prod"):
            self.reduce_into(text, result, tolerance)
            return
        self.add(f"{name} = {text}", {name: tolerance}, [name])

    def reduce_into(self, text, result, tolerance):
        targets = [
            n for n in self.arrays()
            if n not in self.tolerances and self.names[n].shape == numpy.shape(result)
            and self.names[n].dtype == numpy.asarray(result).dtype
        ]  # fmt: skip
        if targets:
            target = self.choose.pick(targets)
            self.add(f"{text[:-1]}, out={target})".replace("(, ", "("), self.spread(target, tolerance, text))

    def convert(self):
        source = self.operand()
        if source is None or not isinstance(source.value, (numpy.ndarray, numpy.generic)):
            return
        dtype = self.dtype_text()
        target = numpy.dtype(self.value_of(dtype))
        extra = self.choose.pick(["", "", "", ", copy=False", ", casting='safe'", ", casting='same_kind'"])
        if source.kind == "c" and target.kind != "c" and target.kind != "b":
            return
        if not may_store(source.value, source.tolerance, target):
            return
        name = self.new()
        tolerance = source.tolerance
        if tolerance != EXACT:
            if not finite(source.value):
                return
            tolerance = (
                tolerance[0],
                tolerance[1] + 2 * float(numpy.finfo(target).eps) * largest(source.value),
            )
        if self.choose.chance(0.15):
            self.add(f"{name} = {source.text}.copy()", {name: source.tolerance}, [name])
        else:
            self.add(f"{name} = {source.text}.astype({dtype}{extra})", {name: tolerance}, [name])

    def join(self):
        first = self.some()
        if first is None:
            return
        value = self.names[first]
        others = [
            n for n in self.pool()
            if numpy.ndim(self.names[n]) == numpy.ndim(value)
            and (numpy.shape(self.names[n])[1:] == numpy.shape(value)[1:] or self.choose.chance(0.2))
        ]  # fmt: skip
        names = [first, *(self.choose.pick(others) for _ in range(self.choose.integer(0, 2)))]
        parts = "[" + ", ".join(names) + "]"
        text = self.choose.pick(
            ["np.concatenate({})", "np.concatenate({}, axis=-1)", "np.stack({})", "np.stack({}, axis=1)",
             "np.concatenate({}, axis=None)", "np.stack({}, axis=-1)", "np.concatenate({}, axis=1)"]
        ).format(parts)  # fmt: skip
        name = self.new()
        tolerance = (0.0, 0.0)
        for part in names:
            tolerance = worse(tolerance, self.tolerance(part))
        if tolerance != EXACT:
            try:
                result = self.value_of(text)
            except Exception:
                return
            if not finite(result) or result.dtype.kind not in "fc":
                return
            tolerance = worse(tolerance, (0.0, 2 * epsilon(result) * largest(result)))
        self.add(f"{name} = {text}", {name: tolerance}, [name])

    def select(self):
        name = self.new()
        a = self.operand(exact=True)
        if a is None:
            return
        b = self.operand(exact=True, like=a.value)
        c = self.operand(exact=True, like=a.value)
        if b is None or c is None or a.kind == "c":
            return
        text = self.choose.pick(
            [f"np.where({a.text}, {b.text}, {c.text})", f"np.where({a.text} > 1, {b.text}, {c.text})",
             f"np.clip({a.text}, -2, 3)", f"np.clip({a.text}, {b.text}, None)", f"np.clip({a.text}, 0, 1)"]
        )  # fmt: skip
        if "clip" in text and (not self.has("clip") or b.kind == "c"):
            return
        try:
            result = self.value_of(text)
        except Exception:
            self.add(f"{name} = {text}")
            return
        tolerance = loose_zero(result) if "clip" in text else EXACT
        self.add(f"{name} = {text}", {name: tolerance}, [name])

    def two_results(self):
        function = self.choose.pick(TWO_RESULTS)
        left = self.operand(exact=True)
        if left is None or left.kind == "c" or not self.has(function):
            return
        right = self.operand(exact=True, like=left.value)
        if right is None or right.kind == "c":
            return
        first, second = self.new(), self.new()
        text = f"divmod({left.text}, {right.text})" if function == "divmod" else f"np.{function}({left.text})"
        try:
            results = self.value_of(text)
        except Exception:
            self.add(f"{first}, {second} = {text}")
            return
        if type(results[0]) in (bool, int, float):
            return
        if function == "frexp" and not finite(left.value):
            return  # the exponent of a number without one is open
        self.add(f"{first}, {second} = {text}", {}, [first, second])

    def observe(self):
        """Python values of an array, which a lazy array has to compute for."""
        source = self.some(exact=True)
        if source is None:
            return
        value = self.names[source]
        forms = list(OBSERVATIONS)
        if numpy.size(value) < 40:
            forms += ["repr({})", "str({})", "repr({})"]
        if isinstance(value, numpy.generic) or numpy.ndim(value) == 0:
            forms += ["float({})", "int({})", "bool({})", "{}.item()", "format({}, '')", "complex({})"]
        if isinstance(value, numpy.generic):
            forms += ["hash({})", "repr({})", "{} == {}.item()", "[10, 20, 30, 40][{}]"]
        form = self.choose.pick(forms)
        if value.dtype.kind == "c" and form.startswith(("int", "float")):
            return
        if form.startswith("hash") and value != value:
            return
        name = self.new("p")
        self.add(f"{name} = {form.replace('{}', source)}")

    def mistake(self):
        """A step that NumPy refuses, mostly."""
        a = self.some(exact=True)
        b = self.some(exact=True)
        if a is None or b is None:
            return
        name = self.new()
        text = self.choose.pick(MISTAKES).format(a=a, b=b)
        error = run_step(f"{name} = {text}", dict(self.names))
        if error is None:
            return
        self.add(f"{name} = {text}")

    def forget(self):
        pool = self.pool()
        if len(pool) > 3:
            name = self.choose.pick(pool)
            self.add(f"del {name}")
            self.tolerances.pop(name, None)

    def checkpoint(self):
        if self.steps:
            self.steps[-1].check = True


def generate(seed, profile):
    """The program of a seed; it depends on nothing but NumPy, so that a crash can be told by its seed alone."""
    return Generator(RandomChooser(seed), profile).program()
