"""What a random program writes into its arrays: assignments, in-place operators, overlapping views, stencils."""

import numpy
from choices import IN_PLACE
from execute import EXACT
from sources import Sources
from tolerance import Operand, epsilon, error_bound, finite, largest, may_store, result_is_exact, worse


def reads_what_it_wrote(target, value):
    """Whether NumPy's copy to one axis from elements that overlap it takes elements that it has just written.

    NumPy goes forwards or backwards and copies first only where the steps have opposite signs, which is too little
    where the steps or the sizes of elements differ; weft reads what was there before:

        a = numpy.arange(8, dtype="c8"); a.view("c16")[...] = a[1:5]    # 1, 2, 0, 0
        a = numpy.arange(10); a[1:5] = a[0:8:2]                         # 0, 2, 6, 6
    """
    if numpy.ndim(target) != 1 or not numpy.may_share_memory(target, value):
        return False
    before, apart = target.copy(), target.copy()
    try:
        apart[...] = value.copy()
        target[...] = value
    except (TypeError, ValueError):  # refused before anything is written
        return False
    wrong = target.tobytes() != apart.tobytes()
    target[...] = before
    return wrong


class Writes(Sources):
    """Productions that change arrays."""

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
        if reads_what_it_wrote(part, operand.value):
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
        elif operator == "=" and right in self.names and reads_what_it_wrote(value, self.names[right]):
            return
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
