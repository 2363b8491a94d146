"""Of numba.experimental: the names say what to write instead."""


def __getattr__(name):
    advice = {"jitclass": "use a NamedTuple or a dataclass of numbers and arrays, with functions"}.get(name)
    raise AttributeError(f"weft.numba.experimental has no {name!r}" + (f"; {advice}" if advice else ""))
