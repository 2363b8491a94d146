"""The table of random calls of every public function (call_table.py says what an entry is), and what is not in it."""

import calls_of_choices
import calls_of_numbers
import calls_of_shapes
import numpy
import weft
from call_table import LOOSE, REAL, TABLE, TOLERANCE, entry
from default_calls import FUNCTIONS, default_call
from random_calls import KINDS, Array, Call

__all__ = ["LOOSE", "NOT_DRAWN", "TABLE", "TOLERANCE", "UFUNCS"]

PARTS = (calls_of_choices, calls_of_numbers, calls_of_shapes)  # which put their entries into the table


def ufunc_call(name):
    ufunc = getattr(numpy, name)

    def draw_call(g):
        # Of complex numbers what is infinite or nan in one part only is compared, within limits, by test_op_table.py.
        g.tame = True
        kinds = REAL if name in ("power", "pow", "float_power") else KINDS
        first = g.array(kinds)
        inputs = [first] + [g.partner(first, kinds) for _ in range(ufunc.nin - 1)]
        if g.chance(0.2) and ufunc.nin > 1:
            inputs[g.number(0, ufunc.nin - 1)] = g.choice(
                2, True, 1.5, -1, 0, *([2j] if "D" in kinds else [])
            )
        options = {}
        if g.chance(0.1):
            options["dtype"] = g.dtype(REAL)
        if g.chance(0.1):
            options["order"] = g.choice("C", "F", "A", "K")
        if g.chance(0.1):
            rules = ["safe", "same_kind", "unsafe"]
            # Of Python's numbers NumPy takes "equiv" for narrower than "no".
            rules += ["no", "equiv"] if all(isinstance(x, Array) for x in inputs) else []
            options["casting"] = g.choice(*rules)
        # What NumPy makes of nan in an integer is not defined; integer powers look at masked exponents, too.
        if g.chance(0.25) and options.get("casting") != "unsafe":
            shape = numpy.broadcast_shapes(first.sample.shape)
            outs = tuple(g.array(shape=shape, special=False, layout="C") for _ in range(ufunc.nout))
            options["out"] = outs if ufunc.nout > 1 else outs[0]
            # Where a comparison with an integer beyond the dtype has a mask, NumPy 2.4 crashes.
            if g.chance(0.4) and all(isinstance(x, Array) for x in inputs) and name not in ("power", "pow"):
                options["where"] = g.array("?", shape)
        return Call(*inputs, **options)

    return draw_call


UFUNCS = [
    name
    for name in dir(numpy)
    if isinstance(getattr(numpy, name), numpy.ufunc) and isinstance(getattr(weft, name, None), weft.ufunc)
]
for _name in UFUNCS:
    # Vectors of elementary functions differ from NumPy's within their bounds; of logaddexp near 0 more.
    entry(_name, tolerance=16)(ufunc_call(_name))


# What the table of functions says is called by another test, and why.
NOT_DRAWN = {name: row["drawn"] for name, row in FUNCTIONS.items() if "drawn" in row}
for _name, _row in FUNCTIONS.items():
    if "kind" not in _row and _name not in TABLE and _name not in NOT_DRAWN:
        entry(_name, tolerance=32)(default_call(_name))
