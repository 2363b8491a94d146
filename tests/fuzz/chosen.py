"""Elements that a random program chooses by masks and by arrays of integers: read, written, changed in place."""

import numpy
from execute import EXACT
from tolerance import may_store
from writes import Writes

CHANGES = ("+=", "-=", "*=", "+=", "|=", "&=", "//=")
UFUNCS_AT = ("add", "subtract", "multiply", "maximum", "minimum", "bitwise_or", "bitwise_xor")


class Chosen(Writes):
    """Productions that read and write elements at positions that values decide."""

    def mask_for(self, shape):
        """The text of a mask of that shape, or None: a comparison, a mask that is there, or one written out."""
        choose = self.choose
        names = [n for n in self.arrays() if self.names[n].shape == shape and n not in self.tolerances]
        masks = [n for n in names if self.names[n].dtype == bool]
        which = choose.integer(0, 9)
        if masks and which <= 2:
            return choose.pick([choose.pick(masks), f"~{choose.pick(masks)}"])
        others = [n for n in names if self.names[n].dtype.kind in "iuf"]
        if others and which <= 7:
            name = choose.pick(others)
            form = choose.pick(["{} > 1", "{} != 0", "{} <= 2", "{} % 2 == 0", "{} == {}.max()", "{} < 0"])
            if "max" in form and 0 in shape:
                return None
            return form.replace("{}", name)
        if len(shape) == 1 and shape[0] <= 20 and which <= 8:
            return f"np.array({[choose.chance(0.5) for _ in range(shape[0])]}, dtype=bool)"
        return f"np.{choose.pick(['zeros', 'ones'])}({shape}, dtype=bool)"

    def selection(self, value):
        """The text of an advanced index for `value` of one dimension or more, or None."""
        choose = self.choose
        which = choose.integer(0, 9)
        if which <= 3:
            return self.mask_for(value.shape)
        axis = choose.integer(0, value.ndim - 1)
        leading = [choose.pick([":", ":", "1:", "::-1", "None, :"]) for _ in range(axis)]
        trailing = [choose.pick([":", "::2", "0", "..."]) for _ in range(choose.integer(0, 1))]
        if which == 4:
            mask = self.mask_for(value.shape[:1] if axis == 0 else value.shape[axis : axis + 1])
            return None if mask is None else ", ".join([*leading, f"({mask})", *trailing])
        if which == 5 and value.ndim >= 2:
            count = choose.integer(0, 4)
            pair = [[choose.integer(-n, n - 1) if n else 0 for _ in range(count)] for n in value.shape[:2]]
            if choose.chance(0.3):
                return f"np.ix_({pair[0]}, {pair[1]})" if count else None
            separated = ", :" if choose.chance(0.3) and value.ndim >= 3 else ""
            if separated:
                pair[1] = [choose.integer(0, value.shape[2] - 1) if value.shape[2] else 0 for _ in pair[1]]
            return f"np.array({pair[0]}, dtype=int){separated}, np.array({pair[1]}, dtype=int)"
        here = self.positions(value.shape[axis])
        try:
            if numpy.size(self.value_of(here)) * (value.size // max(value.shape[axis], 1)) > 20000:
                return None
        except OverflowError:
            return None
        return ", ".join([*leading, here, *trailing])

    def chosen(self):
        """Reads by masks and positions; a mask's result also as positions."""
        source = self.some(minimum=1)
        if source is None or not isinstance(self.names[source], numpy.ndarray):
            return
        choose, value, name = self.choose, self.names[source], self.new()
        which = choose.integer(0, 11)
        tolerance = self.tolerance(source)
        if which <= 4:
            key = self.selection(value)
            text = None if key is None else f"{source}[{key}]"
        elif which == 5:
            mask = self.mask_for(value.shape)
            text = None if mask is None else f"np.extract({mask}, {source})"
        elif which == 6:
            axis = choose.integer(0, value.ndim - 1)
            mask = self.mask_for((value.shape[axis],))
            text = None if mask is None else choose.pick(
                [f"np.compress({mask}, {source}, axis={axis})", f"{source}.compress({mask}, {axis})"]
            )  # fmt: skip
        elif which == 7:
            if tolerance != EXACT:
                return
            text = choose.pick(
                [f"np.flatnonzero({source}).copy()", f"np.argwhere({source})", f"np.nonzero({source})[0].copy()",
                 f"np.where({source})[-1].copy()", f"{source}.nonzero()[0].copy()"]
            )  # fmt: skip
        elif which == 8:
            count = choose.integer(1, 3)
            names = [
                n for n in self.arrays() if self.names[n].shape == value.shape and n not in self.tolerances
            ]
            if not names:
                return
            listed = ", ".join(choose.pick(names) for _ in range(count))
            mode = choose.pick(["raise", "wrap", "clip"])
            at = choose.pick([f"(np.arange({value.size}).reshape({value.shape}) % {count})",
                              f"np.full({value.shape}, {choose.integer(-1, count)})"])  # fmt: skip
            text, tolerance = f"np.choose({at}, [{listed}], mode={mode!r})", EXACT
        elif which == 9:
            axis = choose.integer(0, value.ndim - 1)
            if tolerance != EXACT or value.dtype.kind == "c":
                return
            order = f"np.argsort({source}, axis={axis}, kind='stable')"
            text = f"np.take_along_axis({source}, {order}, axis={axis})"
        elif which == 10:
            names = [n for n in self.arrays() if self.names[n].shape == value.shape and n != source]
            names = [n for n in names if n not in self.tolerances]
            mask = self.mask_for(value.shape)
            if mask is None or not names or tolerance != EXACT:
                return
            text = choose.pick(
                [f"np.where({mask}, {source}, {choose.pick(names)})",
                 f"np.select([{mask}, {source} == 2], [{source}, {choose.pick(names)}], 7)"]
            )  # fmt: skip
        else:
            key = self.selection(value)
            text = None if key is None else f"{source}[{key}].sum()"
            if value.dtype.kind not in "iu":
                return
        if text is not None:
            self.add(f"{name} = {text}", {name: tolerance}, [name])

    def write_chosen(self):
        """Writes by masks and positions; repeats have NumPy's meaning."""
        targets = [n for n in self.arrays() if n not in self.tolerances and self.names[n].ndim]
        if not targets:
            return
        choose = self.choose
        target = choose.pick(targets)
        value = self.names[target]
        key = self.selection(value)
        if key is None:
            return
        try:
            part = self.value_of(f"{target}[{key}]")
        except Exception:  # which of two mistakes is told of is open
            self.add(f"{target}[{key}] = 1")
            return
        which = choose.integer(0, 9)
        if which <= 4:
            operand = self.operand(exact=True, like=part)
            if operand is None or (operand.kind == "c" and value.dtype.kind != "c"):
                return
            if numpy.may_share_memory(numpy.asarray(operand.value), value):
                return  # by a mask NumPy writes while it reads; weft reads what was there before
            if numpy.ndim(operand.value) > part.ndim and part.size == 0:
                return  # NumPy lets some shapes pass that do not broadcast
            if not may_store(operand.value, operand.tolerance, value.dtype):
                return
            self.add(f"{target}[{key}] = {operand.text}")
        elif which <= 7:
            if value.dtype.kind not in "iuf":
                return
            number = choose.pick(["1", "2", "3"])
            self.add(
                f"{target}[{key}] {choose.pick(CHANGES if value.dtype.kind != 'f' else CHANGES[:3])} {number}"
            )
        else:
            self.update_at(target, value, key)

    def update_at(self, target, value, key):
        choose = self.choose
        if value.dtype.kind not in "iu" or "..." in key or not value.flags.writeable:
            return
        function = choose.pick(UFUNCS_AT)
        if ", " in key and not key.startswith(("np.", "[")):
            return
        self.add(f"np.{function}.at({target}, {key if ',' not in key or key[0] == '[' else f'np.s_[{key}]'}, "
                 f"{choose.pick(['1', '2', '5'])})")  # fmt: skip

    def put(self):
        """The functions that write at positions: put, place, putmask, copyto, put_along_axis, fill_diagonal."""
        targets = [n for n in self.arrays() if n not in self.tolerances and self.names[n].ndim]
        if not targets:
            return
        choose = self.choose
        target = choose.pick(targets)
        value = self.names[target]
        strangers = [
            n for n in self.arrays()
            if n not in self.tolerances and self.names[n].dtype.kind in "biuf"
            and not numpy.may_share_memory(self.names[n], value)
            and may_store(self.names[n], EXACT, value.dtype)
        ]  # fmt: skip
        values = (
            choose.pick(strangers)
            if strangers and choose.chance(0.6)
            else choose.pick(["1", "[1, 0]", "[2, 3, 4]"])
        )
        which = choose.integer(0, 5)
        if which == 0:
            mode = choose.pick(["", ", mode='wrap'", ", mode='clip'"])
            listed = [
                choose.integer(-value.size, max(value.size - 1, 0)) for _ in range(choose.integer(0, 4))
            ]
            self.add(f"np.put({target}, {listed}, {values}{mode})")
        elif which in (1, 2, 3):
            mask = self.mask_for(value.shape)
            if mask is None or target in mask:
                return
            if which == 1:
                self.add(f"np.place({target}, {mask}, {values})")
            elif which == 2:
                self.add(f"np.putmask({target}, {mask}, {values})")
            else:
                self.add(f"np.copyto({target}, {values}, where={mask}, casting='unsafe')")
        elif which == 4:
            axis = choose.integer(0, value.ndim - 1)
            if value.dtype.kind == "c" or value.shape[axis] == 0:
                return
            number = choose.integer(0, 1) if value.dtype.kind == "b" else choose.integer(0, 9)
            self.add(
                f"np.put_along_axis({target}, np.argmax({target}, axis={axis}, keepdims=True), {number}, {axis})"
            )
        elif value.ndim >= 2 and self.has("fill_diagonal"):
            self.add(
                f"np.fill_diagonal({target}, {choose.pick(['1', '[1, 0]'])}{choose.pick(['', ', wrap=True'])})"
            )
