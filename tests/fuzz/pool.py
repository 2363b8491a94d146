"""The arrays that a random program has at hand, as NumPy has them after the steps so far."""

import numpy
from choices import SCALARS
from execute import ANYTHING, EXACT, Step, namespace, run_step
from tolerance import Operand, broadcasts


class Pool:
    """The steps of one program, `names` as NumPy has them after these steps, and their tolerances."""

    def __init__(self, choose, profile):
        self.choose = choose
        self.profile = profile
        self.names = namespace(numpy)
        self.tolerances = {}
        self.steps: list[Step] = []
        self.count = 0
        self.sees_bytes = False  # some name is a view with another dtype

    def has(self, name):
        return name not in self.profile.missing

    def pool(self):
        return [n for n in self.names if n[0] == "x" and n[1:].isdigit()]

    def arrays(self):
        return [n for n in self.pool() if isinstance(self.names[n], numpy.ndarray)]

    def some(self, exact=False, minimum=0):
        """A name of the pool, or None."""
        names = [
            n for n in self.pool()
            if (not exact or n not in self.tolerances) and numpy.ndim(self.names[n]) >= minimum
        ]  # fmt: skip
        # The newest are the likeliest: long chains of dependent steps.
        if not names:
            return None
        return names[-1] if self.choose.chance(0.3) else self.choose.pick(names)

    def new(self, letter="x"):
        self.count += 1
        return f"{letter}{self.count}"

    def tolerance(self, name):
        return self.tolerances.get(name, EXACT)

    def add(self, source, tolerances=None, bind=()):
        """Runs the step on NumPy and records it; steps that make arrays beyond all bounds are left out."""
        error = run_step(source, self.names)
        if error is None:
            for name in bind:
                if getattr(self.names[name], "size", 0) > 30000:
                    for other in bind:
                        del self.names[other]
                    return False
                if (
                    isinstance(self.names[name], numpy.ndarray)
                    and self.names[name].dtype.kind not in "?biufc"
                ):
                    for other in bind:
                        del self.names[other]
                    return False
        tolerances = {k: v for k, v in (tolerances or {}).items() if v != EXACT} if error is None else {}
        self.tolerances.update(tolerances)
        if self.sees_bytes and error is None:
            tolerances.update(self.open_bytes())
        self.steps.append(Step(source, tolerances))
        return error is None

    def open_bytes(self):
        """What is open in names that see the bytes of values whose bits are open: NaNs, and inexact ones."""
        arrays = [(name, self.names[name]) for name in self.arrays()]
        found = {}
        for name, array in arrays:
            if array.dtype.kind not in "fc" or (name not in self.tolerances and not numpy.isnan(array).any()):
                continue
            for other, seen in arrays:
                if seen.real.dtype != array.real.dtype and numpy.may_share_memory(seen, array):
                    found[other] = ANYTHING
        self.tolerances.update(found)
        return found

    def value_of(self, text):
        return eval(text, self.names)

    def operand(self, name=None, exact=False, like=None):
        """A name of the pool, often seen through an index, or a Python scalar; None when there is none.

        `like`: an array with whose shape it should broadcast, mostly.
        """
        if like is not None and self.choose.chance(0.2):
            return self.scalar()
        if name is None and like is not None:
            fitting = [
                n for n in self.pool()
                if (not exact or n not in self.tolerances) and broadcasts(numpy.shape(self.names[n]), numpy.shape(like))
            ]  # fmt: skip
            if fitting and self.choose.chance(0.9):
                name = self.choose.pick(fitting)
        name = name or self.some(exact)
        if name is None:
            return None
        text, value = name, self.names[name]
        if (
            like is not None
            and not broadcasts(numpy.shape(value), numpy.shape(like))
            and self.choose.chance(0.8)
        ):
            return self.scalar()
        if isinstance(value, numpy.ndarray) and value.ndim and self.choose.chance(0.25):
            wrapped = self.choose.pick(
                [
                    f"{name}[::-1]",
                    f"{name}.T",
                    f"{name}[..., ::-1]",
                    f"{name}[None]",
                    f"{name}[-1:]",
                    f"{name}[0]",
                ]
            )
            try:
                seen = self.value_of(wrapped)
            except IndexError:
                seen = None
            if seen is not None and (like is None or broadcasts(seen.shape, numpy.shape(like))):
                text, value = wrapped, seen
        return Operand(text, value, self.tolerance(name))

    def scalar(self):
        text = self.choose.pick(SCALARS)
        return Operand(text, self.value_of(text))
