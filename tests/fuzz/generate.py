"""Makes random programs over a pool of arrays: creation, views, writes, ufuncs, reductions, errors.

The generator runs each step on NumPy while it makes it, so it knows every shape and value. It keeps a tolerance for
each name whose value need not be equal bit for bit (`Tolerance` in execute.py): what comes from a transcendental
function or a floating-point sum. Such names take part in moves, sums and products, whose error can be bounded, but not
in comparisons, rounding or conversions to integers, which would turn a last bit into another number.
"""

from collections.abc import Callable

import numpy
from choices import (
    BINARY_EXACT,
    BINARY_INEXACT,
    IN_PLACE,
    LARGE_SHAPES,
    LIKE,
    LITERALS,
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
from pool import Pool
from tolerance import (
    Operand,
    broadcasts_to,
    converts,
    converts_exactly,
    epsilon,
    error_bound,
    finite,
    has_nan,
    largest,
    loose_zero,
    may_store,
    reduction_tolerance,
    result_is_exact,
    result_tolerance,
    worse,
)


class Generator(Pool):
    """Makes one program: a production for each kind of step."""

    def __init__(self, choose, profile):
        super().__init__(choose, profile)
        self.dtypes = [choose.pick(profile.dtypes) for _ in range(3)]
        self.shapes = [choose.pick(profile.shapes) for _ in range(2)]
        self.productions: list[tuple[int, Callable[[], None]]] = [
            (8, self.create), (20, self.view), (14, self.assign), (12, self.in_place), (8, self.overlap),
            (14, self.binary), (8, self.unary), (8, self.chain), (4, self.out), (10, self.reduce), (6, self.convert),
            (4, self.join), (3, self.select), (5, self.observe), (3, self.mistake), (2, self.two_results),
            (2, self.forget), (3, self.checkpoint), (2, self.like), (8, self.gather),
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

    def shape(self):
        if self.choose.chance(self.profile.large):
            return self.choose.pick(LARGE_SHAPES)
        return (
            self.choose.pick(self.shapes)
            if self.choose.chance(0.7)
            else self.choose.pick(self.profile.shapes)
        )

    def dtype(self):
        return (
            self.choose.pick(self.dtypes)
            if self.choose.chance(0.8)
            else self.choose.pick(self.profile.dtypes)
        )

    def dtype_text(self):
        dtype = numpy.dtype(self.dtype())
        return self.choose.pick(
            [repr(dtype.str.lstrip("<|=").replace("b1", "?")), f"np.{dtype.name}", repr(dtype.name)]
        )

    def create(self):
        name, shape, choose = self.new(), self.shape(), self.choose
        which = choose.integer(0, 12)
        if which <= 7:
            special = ", special=True" if choose.chance(0.2) else ""
            source = f"data({self.dtype()!r}, {shape}, {choose.integer(0, 99)}{special})"
        elif which == 8:
            source = f"np.{choose.pick(['zeros', 'ones'])}({shape}, dtype={self.dtype_text()})"
        elif which == 9:
            source = (
                f"np.full({shape}, {self.scalar().text}{choose.pick(['', ', dtype=' + self.dtype_text()])})"
            )
        elif which == 10:
            start, stop = choose.integer(-5, 5), choose.integer(-5, 20)
            step = choose.pick(["", ", 1", ", 2", ", -1", ", 0.5", ", 3"])
            source = f"np.arange({start}, {stop}{step}{choose.pick(['', ', dtype=' + self.dtype_text()])})"
            if step and ("0.5" in step) and "dtype" in source:
                source = f"np.arange({stop})"
        elif which == 11:
            source = f"np.eye({choose.integer(0, 4)}{choose.pick(['', ', 3', ', k=1', ', k=-1'])})"
        else:
            source = choose.pick(LITERALS)
        try:
            made = self.value_of(source)
        except Exception:
            made = None
        if "full" in source and "dtype" in source and made is not None:
            fill = self.value_of(source.split(", ")[-2] if "dtype" in source else "0")
            if not converts(fill, made.dtype):
                return
        inexact = {name: (1e-15, 1e-15)} if "linspace" in source and "f4" not in source else {}
        self.add(f"{name} = {source}", inexact, [name])

    def like(self):
        source = self.some()
        if source is None:
            return
        function = self.choose.pick(LIKE)
        if not self.has(function.split("(")[0].removeprefix("np.")):
            return
        name = self.new()
        keeps = function.startswith(("np.array", "np.asarray", "np.copy"))
        self.add(
            f"{name} = {function.format(source)}", {name: self.tolerance(source)} if keeps else {}, [name]
        )

    def index(self, shape):
        """The text of a basic index for `shape`: mostly right, sometimes out of bounds or too long."""
        choose = self.choose
        items = []
        ellipsis = False
        for n in shape:
            which = choose.integer(0, 11)
            if which <= 2:
                items.append(":")
            elif which <= 7:
                items.append(self.slice(n))
            elif which <= 9:
                if n:
                    items.append(str(choose.integer(-n, n - 1)))
                else:
                    items.append(":")
            elif which == 10 and not ellipsis:
                items.append("...")
                ellipsis = True
                break
            else:
                break
            if choose.chance(0.08):
                items.append("None")
        if choose.chance(0.03):
            items.append("0")
        if choose.chance(0.03) and shape:
            items.insert(0, str(shape[0] + choose.integer(0, 2)))
        if not items:
            return choose.pick(["...", "None", ":" if shape else "()"])
        return ", ".join(items)

    def slice(self, n):
        choose = self.choose
        if choose.chance(0.5):
            return choose.pick(["1:", ":-1", "::-1", "::2", "1:-1", "2:", ":-2", ":1", "-2:", "1::2", "::-2"])
        ends = [str(choose.integer(-n - 1, n + 1)) if choose.chance(0.6) else "" for _ in range(2)]
        step = choose.pick(["", "", ":2", ":-1", ":-2", ":3", ":1"])
        if choose.chance(0.005):
            step = ":0"
        return ":".join(ends) + step

    def view(self):
        source = self.some(minimum=1 if self.choose.chance(0.8) else 0)
        if source is None or not isinstance(self.names[source], numpy.ndarray):
            return
        choose, value, name = self.choose, self.names[source], self.new()
        tolerance = self.tolerance(source)
        which = choose.integer(0, 19)
        if which <= 8:
            text = f"{source}[{self.index(value.shape)}]"
        elif which <= 10:
            shape = self.other_shape(value.size)
            text = choose.pick([f"{source}.reshape({shape})", f"np.reshape({source}, {shape})"])
        elif which == 11:
            text = choose.pick(
                [f"{source}.ravel()", f"np.ravel({source})", f"{source}.flatten()", f"{source}.reshape(-1)",
                 f"{source}.ravel('F')", f"{source}.ravel('K')", f"{source}.flatten('F')",
                 f"{source}.reshape(-1, order='F')"]
            )  # fmt: skip
        elif which == 12:
            axes = list(range(value.ndim))
            for i in range(len(axes)):
                j = choose.integer(0, len(axes) - 1)
                axes[i], axes[j] = axes[j], axes[i]
            text = choose.pick(
                [f"{source}.T", f"np.transpose({source})", f"{source}.transpose({tuple(axes)})"]
            )
        elif which == 13:
            a, b = (choose.integer(-value.ndim, max(value.ndim - 1, 0)) for _ in range(2))
            text = choose.pick([f"np.swapaxes({source}, {a}, {b})", f"{source}.swapaxes({a}, {b})"])
        elif which == 14:
            axis = choose.pick(["", f", axis={choose.integer(-value.ndim, max(value.ndim - 1, 0))}"])
            text = choose.pick(
                [f"np.squeeze({source}{axis})", f"np.expand_dims({source}, 0)", f"{source}.squeeze()"]
            )
        elif which == 15:
            lead = choose.pick([(2,), (3,), ()])
            shape = tuple(choose.integer(2, 3) if n == 1 and choose.chance(0.6) else n for n in value.shape)
            text = f"np.broadcast_to({source}, {lead + shape})"
        elif which == 16:
            axis = choose.pick(["", ", 0", ", axis=-1", ", axis=(0, 1)"])
            text = f"np.flip({source}{axis})"
        elif which == 17:
            if tolerance != EXACT:
                return
            text = f"{source}.view({self.dtype_text()})"
            try:
                seen = self.value_of(text)
            except (TypeError, ValueError):
                seen = None
            if seen is not None and seen.dtype.kind == "b" and value.dtype.kind != "b":
                return  # a bool may become neither 0 nor 1
            self.sees_bytes |= seen is not None and seen.dtype != value.dtype
        elif which == 18:
            text = choose.pick([f"{source}.real", f"{source}.imag"])
            if self.has("real"):
                text = choose.pick([text, f"np.real({source})", f"np.imag({source})"])
        else:
            text = choose.pick([f"{source}[...]", f"{source}[()]", f"{source}.view()", f"{source}[None]"])
        if text.startswith("np.") and not self.has(text[3 : text.index("(")]):
            return
        self.add(f"{name} = {text}", {name: tolerance}, [name])

    def positions(self, extent):
        """An array of indices for an axis of that extent, seldom one that is out of bounds."""
        choose = self.choose
        which = choose.integer(0, 9)
        if which <= 3:
            pool = [
                n for n in self.arrays() if self.names[n].dtype.kind in "iu" and n not in self.tolerances
                and 1 <= self.names[n].ndim <= 2 and not self.sees_bytes
            ]  # fmt: skip
            if pool:
                name = choose.pick(pool)
                return choose.pick([f"{name} % {extent or 1}", f"{name}[::-1] % {extent or 1}", name])
        if which <= 6:
            low, high = (-extent, extent - 1) if extent else (0, 0)
            high += choose.chance(0.04)
            listed = [choose.integer(low, high) for _ in range(choose.integer(0, 6))]
            if len(listed) == 6 and choose.chance(0.5):
                listed = choose.pick([[listed[:3], listed[3:]], [listed[:2], listed[2:4], listed[4:]]])
            dtype = choose.pick(["", "'i4'", "'i1'", "'i8'"])
            return f"np.array({listed}, {dtype or repr('i8')})" if dtype or not listed else repr(listed)
        step = choose.pick([1, 2, 3, -1])
        return f"np.arange({choose.integer(0, 2 * extent)}) * {step} % {extent or 1}"

    def gather(self):
        """Reads at the positions that arrays of integers name."""
        source = self.some(minimum=1)
        if source is None or not isinstance(self.names[source], numpy.ndarray):
            return
        choose, value, name = self.choose, self.names[source], self.new()
        axis = choose.integer(0, value.ndim - 1)
        here = self.positions(value.shape[axis])
        which = choose.integer(0, 9)
        room = 30000 // max(value.size // max(value.shape[axis], 1), 1)
        try:
            count = numpy.size(self.value_of(here))
        except OverflowError:  # bounds beyond a small dtype
            return
        if count > room:
            return
        if which <= 4:
            key = [choose.pick([":", ":", "::-1", "1:", "None, :", "0"]) for _ in range(axis)] + [here]
            for _ in range(axis + 1, value.ndim):
                key.append(choose.pick([":", ":", "::2", "None, :", "-1", f"{[0] * choose.integer(1, 3)}"]))
            if choose.chance(0.4):
                del key[axis + 1 :]
            text = f"{source}[{', '.join(key)}]"
        elif which == 5:
            text = f"{source}[..., {here}]"
        elif which <= 7:
            mode = choose.pick(["", "", ", mode='wrap'", ", mode='clip'"])
            far = numpy.abs(self.value_of(here), dtype="f8").max(initial=0) > 1000
            if "wrap" in mode and (far or value.shape[axis] == 0):
                return  # NumPy counts there step by step, and without end on an empty axis
            text = choose.pick(
                [f"np.take({source}, {here}, axis={axis}{mode})", f"{source}.take({here}, {axis}{mode})"]
            )
            if not self.has("take"):
                return
        elif which == 8:
            text = f"np.take_along_axis({source}, np.argmax({source}, axis={axis}, keepdims=True), {axis})"
            if source in self.tolerances or value.dtype.kind == "c" or not self.has("take_along_axis"):
                return
        else:
            text = f"{source}[{here}]"
        self.add(f"{name} = {text}", {name: self.tolerance(source)}, [name])

    def other_shape(self, size):
        choose = self.choose
        if choose.chance(0.05):
            return (size + 1,)
        shape = []
        rest = size
        for divisor in (2, 3, 4, 5, 10):
            if rest and rest % divisor == 0 and choose.chance(0.5):
                shape.append(divisor)
                rest //= divisor
        shape.insert(choose.integer(0, len(shape)), rest)
        if choose.chance(0.2):
            shape.insert(choose.integer(0, len(shape)), 1)
        if choose.chance(0.2):
            shape[choose.integer(0, len(shape) - 1)] = -1
        return tuple(shape)

    def spread(self, target, tolerance, source):
        """Tolerances after a write to `target`: every name that shares its memory may hold the written values."""
        if tolerance == EXACT:
            return {}
        return {
            name: worse(self.tolerance(name), tolerance)
            for name in self.arrays()
            if name == target or numpy.may_share_memory(self.names[name], self.names[target])
        }

    def assign(self):
        target = self.choose.pick(self.arrays()) if self.arrays() else None
        if target is None:
            return
        value = self.names[target]
        index = self.index(value.shape) if self.choose.chance(0.7) else "..."
        try:
            part = value[eval(f"numpy.s_[{index}]", {"numpy": numpy})]
        except Exception:
            part = value
        operand = self.operand(like=part)
        if operand is None or (operand.kind == "c" and value.dtype.kind != "c"):
            return
        text = operand.text
        if self.choose.chance(0.3) and operand.exact and operand.kind in "iuf":
            text = self.choose.pick([f"{text} + 1", f"{text} * 2", f"-{text}", f"{text} - {target}[{index}]"])
            try:
                if target in text and target in self.tolerances:
                    return
                operand = Operand(text, self.value_of(text))
            except Exception:
                operand = Operand(text, 0)
        tolerance = operand.tolerance
        if tolerance != EXACT:
            tolerance = (0.0, error_bound(operand) + epsilon(value) * largest(operand.value))
            if not finite(operand.value):
                return
        if not may_store(operand.value, tolerance, value.dtype):
            return
        step = f"{target}[{index}] = {text}"
        if index == "..." and self.choose.chance(0.4):
            step = (
                f"{target}.fill({text})" if numpy.ndim(operand.value) == 0 else f"np.copyto({target}, {text})"
            )
            if "copyto" in step and (not value.flags.writeable or not self.has("copyto")):
                return  # copying an array to itself is nothing to NumPy, even when it is read-only
        self.add(step, self.spread(target, tolerance, operand.text))

    def in_place(self):
        arrays = self.arrays()
        target = self.some() if self.choose.chance(0.1) else (self.choose.pick(arrays) if arrays else None)
        if target is None or target in self.tolerances:
            return
        value = self.names[target]
        operator = (
            self.choose.pick(IN_PLACE) if self.choose.chance(0.5) else self.choose.pick(["+=", "-=", "*="])
        )
        place, part = target, value
        if isinstance(value, numpy.ndarray) and self.choose.chance(0.4):
            index = self.index(value.shape)
            place = f"{target}[{index}]"
            try:
                part = self.value_of(place)
            except Exception:
                part = value
        operand = self.operand(exact=True, like=part)
        if operand is None or not result_is_exact(operator.removesuffix("="), Operand(place, part), operand):
            return
        self.add(f"{place} {operator} {operand.text}")

    def overlap(self):
        """Reads and writes of one storage that overlap."""
        target = self.choose.pick(self.arrays()) if self.arrays() else None
        if target is None or self.names[target].ndim == 0 or target in self.tolerances:
            return
        value, x, choose = self.names[target], target, self.choose
        if value.dtype.kind == "b":
            pairs = [(f"{x}[1:]", f"{x}[:-1]"), (f"{x}[...]", f"{x}[::-1]")]
            left, right = choose.pick(pairs)
            self.add(f"{left} {choose.pick(['=', '|=', '&=', '^='])} {right}")
            return
        pairs = [
            (f"{x}[1:]", f"{x}[:-1]"), (f"{x}[:-1]", f"{x}[1:]"), (f"{x}[...]", f"{x}[::-1]"),
            (f"{x}[1:-1]", f"{x}[2:]"), (f"{x}[1:-1]", f"{x}[:-2]"), (f"{x}[...]", f"{x}[:1]"),
            (f"{x}[::-1]", f"{x}"), (f"{x}[...]", f"{x}[-1]"),
            (f"{x}[..., 1:]", f"{x}[..., :-1]"), (f"{x}[..., ::-1]", f"{x}[...]"), (f"{x}[::2]", f"{x}[-1]"),
        ]  # fmt: skip
        if value.ndim == 2 and value.shape[0] == value.shape[1]:
            pairs += [
                (f"{x}[...]", f"{x}.T"),
                (f"{x}.T[...]", f"{x}[::-1]"),
                (f"{x}[1:, 1:]", f"{x}[:-1, :-1]"),
            ]
        if value.ndim >= 2:
            pairs += [
                (f"{x}[1:, ...]", f"{x}[:-1, ...]"),
                (f"{x}[:, 1:]", f"{x}[:, :-1]"),
                (f"{x}[...]", f"{x}[:, :1]"),
            ]
        left, right = choose.pick(pairs)
        sharing = [
            n for n in self.arrays()
            if n != x and n not in self.tolerances and numpy.may_share_memory(self.names[n], value)
            and self.names[n].shape == value.shape and self.names[n].dtype == value.dtype
        ]  # fmt: skip
        if sharing and choose.chance(0.6):
            left, right = f"{x}[...]", choose.pick(sharing)
        operator = choose.pick(["=", "=", "+=", "-=", "*="] if value.dtype.kind != "c" else ["=", "+=", "-="])
        which = choose.integer(0, 5)
        if which == 0:
            function = choose.pick(["np.add", "np.subtract", "np.maximum"])
            if function == "np.maximum" and value.dtype.kind == "f":
                function = "np.add"
            self.add(f"{function}({right}, {left}, out={left})")
        elif which == 1:
            self.stencil(x, value)
        elif which == 2:
            self.add(f"{left} {operator} {right} + {x}")
        else:
            self.add(f"{left} {operator} {right}")

    def stencil(self, x, value):
        """Neighbours of the same array, a few turns: what people write with slices."""
        half = " * 0.5" if value.dtype.kind == "f" else ""
        forms = [f"{x}[1:-1] = ({x}[2:] + {x}[:-2]){half}", f"{x}[1:] += {x}[:-1]", f"{x}[1:-1] -= {x}[2:]"]
        if value.ndim >= 2:
            inner = f"{x}[1:-1, 1:-1]"
            forms += [
                f"{inner} = ({x}[2:, 1:-1] + {x}[:-2, 1:-1] + {x}[1:-1, 2:] + {x}[1:-1, :-2]){half}",
                f"{inner} += {x}[2:, 1:-1] - {x}[1:-1, :-2]",
            ]
        form = self.choose.pick(forms)
        turns = self.choose.integer(1, 4)
        self.add(f"for _ in range({turns}): {form}" if turns > 1 else form)

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
