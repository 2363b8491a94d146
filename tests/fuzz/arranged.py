"""What a random program puts together, cuts apart and brings into order: assembly, padding, sorting, counting."""

import numpy
from chosen import Chosen
from execute import EXACT
from tolerance import epsilon, finite, has_nan, largest, loose_zero

PAD_MODES = ("edge", "reflect", "symmetric", "wrap")
FUNCTIONS = (
    "fill_diagonal roll repeat tile rot90 fliplr flipud diag diagonal diagflat tril triu pad resize"
    " delete insert append moveaxis rollaxis atleast_2d atleast_3d broadcast_arrays array_split split"
    " vsplit hstack vstack column_stack dstack meshgrid outer block kron sort argsort partition unique"
    " searchsorted bincount histogram digitize median percentile quantile nanmedian diff ediff1d"
    " intersect1d union1d setdiff1d setxor1d isin convolve correlate trim_zeros array_equal"
).split()


def finds_exactly(elements, wanted):
    """Whether NumPy's isin compares as integers do.

    Of uint64 and a signed dtype it does for few numbers and for close ones. Others become float64 there, in which
    different ones are equal, one of `wanted` or another element:

        numpy.isin(numpy.array([2**63], "u8"), [2**63 - 1] + 10 * [-2**62])           # True
        numpy.isin(numpy.array([2**64 - 2, 2**64 - 1], "u8"), 20 * [0, -1000])        # True, False
    """
    if numpy.result_type(elements, wanted).kind != "f":
        return True
    exact = numpy.isin(elements.astype(object), wanted.astype(object))
    return numpy.array_equal(numpy.isin(elements, wanted), exact)


class Arranged(Chosen):
    """Productions that move whole blocks, and those whose result depends on the order of values."""

    def arrange(self):
        """The elements of one array elsewhere: no arithmetic, so any tolerance travels along."""
        source = self.some(minimum=1 if self.choose.chance(0.9) else 0)
        if source is None or not isinstance(self.names[source], numpy.ndarray):
            return
        choose, value, name = self.choose, self.names[source], self.new()
        x, n = source, value.ndim
        axis = choose.integer(-n, n - 1) if n else 0
        by = choose.integer(-3, 3)
        which = choose.integer(0, 13)
        if which == 0:
            text = choose.pick([f"np.roll({x}, {by})", f"np.roll({x}, {by}, axis={axis})",
                                f"np.roll({x}, ({by}, 1), axis=(0, {axis}))"])  # fmt: skip
        elif which == 1:
            counts = choose.pick(
                ["2", "0", "3", f"{[choose.integer(0, 2) for _ in range(value.shape[axis] if n else 1)]}"]
            )
            text = choose.pick(
                [f"np.repeat({x}, 2)", f"np.repeat({x}, {counts}, axis={axis})", f"{x}.repeat(2, {axis})"]
            )
        elif which == 2:
            if not value.flags.writeable:
                return  # NumPy's result is read-only then where it has no elements
            text = f"np.tile({x}, {choose.pick(['2', '(2, 1)', '(1, 2)', '0', '(2, 1, 2)'])})"
        elif which == 3:
            text = choose.pick([f"np.rot90({x}, {by})", f"np.fliplr({x})", f"np.flipud({x})"])
        elif which == 4:
            text = choose.pick(
                [
                    f"np.diag({x}, {by})",
                    f"np.diagonal({x}, {by})",
                    f"np.diagflat({x}, {choose.integer(-1, 1)})",
                ]
            )
            if "diagflat" in text and value.size > 60:
                return
        elif which == 5:
            text = f"np.{choose.pick(['tril', 'triu'])}({x}, {by})"
        elif which == 6:
            mode = choose.pick(PAD_MODES)
            widths = choose.pick(
                [
                    "1",
                    "(1, 2)",
                    "(0, 3)",
                    f"{[(choose.integer(0, 3), choose.integer(0, 2)) for _ in range(n)]}",
                ]
            )
            text = choose.pick([f"np.pad({x}, {widths}, mode={mode!r})", f"np.pad({x}, {widths}, constant_values=3)",
                                f"np.pad({x}, {widths})"])  # fmt: skip
        elif which == 7:
            text = f"np.resize({x}, {choose.pick(['(3, 4)', '5', '(2, 2, 2)', '(0, 3)'])})"
        elif which == 8:
            text = choose.pick([f"np.delete({x}, {by}, axis={axis})",
                                f"np.delete({x}, slice(None, None, 2), axis={axis})",
                                f"np.delete({x}, [0, {by}], axis={axis})", f"np.delete({x}, {by})"])  # fmt: skip
        elif which == 9:
            # Positions further below 0 count around in NumPy in ways of their own; weft refuses them.
            by = max(by, -value.shape[axis]) if n else by
            text = choose.pick([f"np.insert({x}, {by}, 1, axis={axis})", f"np.insert({x}, [0, {by}], 2, axis={axis})",
                                f"np.insert({x}, {by}, {x}[:1])", f"np.append({x}, 1)"])  # fmt: skip
        elif which == 10:
            text = choose.pick([f"np.moveaxis({x}, {axis}, 0)", f"np.rollaxis({x}, {axis})", f"np.atleast_3d({x})",
                                f"np.atleast_2d({x})",
                                f"np.broadcast_arrays({x}, np.zeros((2, 1)))[0].copy()"])  # fmt: skip
        elif which == 11:
            part = choose.integer(0, 1)
            text = choose.pick([f"np.array_split({x}, 2, axis={axis})[{part}]",
                                f"np.split({x}, [1, 2], axis={axis})[{part}]",
                                f"np.split({x}, 2, axis={axis})[{part}]", f"np.vsplit({x}, [1])[{part}]"])  # fmt: skip
        elif which == 12:
            text = choose.pick([f"np.lib.stride_tricks.sliding_window_view({x}, 2, axis={axis})",
                                f"np.hstack([{x}, {x}])", f"np.vstack([{x}, {x}])", f"np.column_stack([{x}, {x}])",
                                f"np.dstack([{x}, {x}])"])  # fmt: skip
        else:
            other = self.some()
            tolerances = self.tolerance(source) != EXACT or self.tolerance(other) != EXACT
            if tolerances or numpy.size(self.names[other]) * value.size > 4000:
                return
            text = choose.pick([f"np.meshgrid({x}, {other})[{choose.integer(0, 1)}]",
                                f"np.meshgrid({x}, {other}, indexing='ij')[0]", f"np.outer({x}, {other})",
                                f"np.block([{x}, {x}])", f"np.kron({x}, {other})"])  # fmt: skip
            if value.dtype.kind == "c" or numpy.asarray(self.names[other]).dtype.kind == "c":
                return
        function = text[3 : text.index("(")].split(".")[0]
        if text.startswith("np.") and not self.has(function):
            return
        self.add(f"{name} = {text}", {name: self.tolerance(source)}, [name])

    def order(self):
        """Sorting, counting, and what depends on them."""
        source = self.some(exact=True)
        if source is None or not isinstance(self.names[source], numpy.ndarray):
            return
        choose, value, name = self.choose, self.names[source], self.new()
        if value.dtype.kind == "c" or (value.dtype == "f2" and value.size > 40):
            return  # NumPy sorts many float16 wrongly on some processors, where there are NaNs
        x, n = source, value.ndim
        axis = choose.pick([-1, 0, choose.integer(-n, n - 1) if n else 0])
        which = choose.integer(0, 12)
        tolerance = EXACT
        if which <= 1:
            kind = choose.pick(["", ", kind='stable'"])
            text = choose.pick([f"np.sort({x}, axis={axis}{kind})", f"np.sort({x}, axis=None{kind})"])
            tolerance = loose_zero(value)
        elif which == 2:
            text = f"np.argsort({x}, axis={axis}, kind='stable')"
        elif which == 3:
            length = value.shape[axis] if n else 0
            if not length:
                return
            k = choose.integer(-length, length - 1)
            text = f"np.take(np.partition({x}, {k}, axis={axis}), {k}, axis={axis})"
            tolerance = loose_zero(value)
        elif which == 4:
            text = choose.pick([f"np.unique({x})", f"np.unique({x}, return_counts=True)[1]",
                                f"np.unique({x}, return_index=True)[1]", f"np.unique({x}, return_inverse=True)[1]",
                                f"np.unique({x}, axis=0).copy()"])  # fmt: skip
            tolerance = loose_zero(value)
            if "axis" in text and value.dtype.kind == "f":
                return  # rows are compared by their bytes there
        elif which == 5:
            other = self.some(exact=True)
            if numpy.asarray(self.names[other]).dtype.kind == "c":
                return
            side = choose.pick(["", ", side='right'"])
            text = f"np.searchsorted(np.sort({x}, axis=None), {other}{side})"
        elif which == 6:
            if value.dtype.kind not in "iu" or n != 1:
                return
            text = choose.pick([f"np.bincount({x} % 7)", f"np.bincount({x} % 5, minlength=9)",
                                f"np.bincount({x} % 3, weights={x})"])  # fmt: skip
            if "weights" in text and largest(value) > 1e12:
                return
        elif which == 7:
            if not finite(value) or value.dtype.kind == "b" or value.size == 0 or largest(value) > 1e12:
                return
            text = choose.pick([f"np.histogram({x}, bins=5, range=(-4, 16))[0]", f"np.histogram({x}, [0, 1, 4, 9])[0]",
                                f"np.digitize({x}, [0, 2, 5])"])  # fmt: skip
        elif which == 8:
            if not finite(value) or value.dtype.kind == "b" or largest(value) > 1e4:
                return
            axis_text = choose.pick(["", f", axis={axis}"])
            text = choose.pick([f"np.median({x}{axis_text})", f"np.percentile({x}, 30{axis_text})",
                                f"np.quantile({x}, [0.2, 0.9]{axis_text})",
                                f"np.array(np.nanmedian({x}{axis_text}), order='C')"])  # fmt: skip
            bound = 4 * max(epsilon(value), 2.3e-16) * (largest(value) + 1)
            tolerance = (0.0, bound)
        elif which == 9:
            text = choose.pick([f"np.diff({x}, axis={axis})", f"np.diff({x}, n=2)", f"np.ediff1d({x})",
                                f"np.diff({x}, prepend=1)"])  # fmt: skip
        elif which == 10:
            other = self.some(exact=True)
            if numpy.asarray(self.names[other]).dtype.kind not in "biu" or value.dtype.kind not in "biu":
                return
            text = choose.pick([f"np.intersect1d({x}, {other})", f"np.union1d({x}, {other})",
                                f"np.setdiff1d({x}, {other})",
                                f"np.setxor1d({x}, {other})", f"np.isin({x}, {other}).copy()",
                                f"np.isin({x}, {other}, invert=True).copy()"])  # fmt: skip
            pair = [value, numpy.asarray(self.names[other])]
            if text.startswith("np.setdiff1d"):
                pair = [numpy.unique(each) for each in pair]
            if text.startswith(("np.setdiff1d", "np.isin")) and not finds_exactly(*pair):
                return
        elif which == 11:
            if value.dtype.kind not in "iub":
                return
            text = choose.pick([f"np.cumsum({x}, axis={axis})", f"np.cumprod({x}, axis={axis})", f"np.cumsum({x})",
                                f"np.maximum.accumulate({x}, axis={axis})",
                                f"np.add.reduceat({x}, [0, 1, 0])"])  # fmt: skip
        else:
            other = self.some(exact=True)
            if value.dtype.kind not in "iub" or numpy.asarray(self.names[other]).dtype.kind not in "iub":
                return
            mode = choose.pick(["full", "same", "valid"])
            text = choose.pick([f"np.convolve({x}, {other}, {mode!r})", f"np.correlate({x}, {other}, {mode!r})",
                                f"np.trim_zeros({x})", f"np.array_equal({x}, {other})"])  # fmt: skip
        if text.startswith("np.array_equal"):
            name = self.new("p")  # a Python value
        if has_nan(value) and which in (5, 10):
            return
        if not self.has(text[3 : text.index("(")].split(".")[0]):
            return
        self.add(f"{name} = {text}", {name: tolerance}, [name])

    def sort_in_place(self):
        targets = [n for n in self.arrays() if n not in self.tolerances and self.names[n].ndim]
        targets = [n for n in targets if self.names[n].dtype.kind in "biu"]
        if targets:
            target = self.choose.pick(targets)
            axis = self.choose.pick(["", f"{self.choose.integer(-1, self.names[target].ndim - 1)}"])
            self.add(f"{target}.sort({axis})")
