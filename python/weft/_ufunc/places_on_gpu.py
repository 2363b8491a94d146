"""A kernel that calls a function of rows and matrices in each place: what guvectorize runs for arrays on a GPU."""

import sys

from weft import _core

_THREADS = 128  # of a block


def on_gpu():
    """Whether the current device is a GPU."""
    return _core._launches_on_gpu()


def place_kernel(axes, operands, call):
    """The text of a kernel with one thread for each place of so many axes, which runs the statement `call` there.

    The function that it calls is the global name `function`.
    """
    sizes = [f"n{d}" for d in range(axes)]
    lines = [f"def each_place(count, {', '.join([*sizes, *operands])}):"]
    lines += ["    number = cuda.grid(1)", "    if number < count:"]
    for d in reversed(range(1, axes)):
        lines += [f"        i{d} = number % n{d}", f"        number //= n{d}"]
    return "\n".join([*lines, "        i0 = number", f"        {call}"]) + "\n"


class PlaceKernels:
    """The kernels of one function, by the number of axes and the forms of the operands."""

    def __init__(self, function, **options):
        self._cuda = sys.modules["weft"].cuda
        self._function = self._cuda.jit(function, device=True, **options)
        self._options, self._kernels = options, {}

    def run(self, key, operands, call, loops, arrays):
        """Launches the kernel over all places of `loops`."""
        kernel = self._kernels.get(key)
        if kernel is None:
            kernel = self._kernels[key] = self._made(len(loops), operands, call)
        count = 1
        for size in loops:
            count *= size
        kernel[-(-count // _THREADS), min(_THREADS, count)](count, *loops, *arrays)

    def _made(self, axes, operands, call):
        text = place_kernel(axes, operands, call)
        scope = {"cuda": self._cuda, "function": self._function, "__name__": __name__}
        exec(text, scope)
        return self._cuda.jit(scope["each_place"], source=text, **self._options)
