"""Where arrays of a random program come from: creation, views of what is there, elements at computed positions."""

import numpy
from choices import LARGE_SHAPES, LIKE, LITERALS
from execute import EXACT
from pool import Pool
from tolerance import converts


class Sources(Pool):
    """Productions that make arrays without computing."""

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
