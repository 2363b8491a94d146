"""Functions for CPython whose integers have 64 bits and wrap around, as those of weft.jit.

The tree of a text is changed: numbers become `Wrapped`, and each iteration counts, so that a call that goes on for too
long ends with `TooLong`. All iterations of a parallel loop run, also those behind an error, since each may be too long.
"""

import ast

import numpy

MOST_ITERATIONS = 2000
CALLS = ("len", "sum", "int")  # what makes plain numbers


class TooLong(BaseException):
    """A call has more iterations than a test waits for."""


def _operator(name):
    plain = getattr(int, name)

    def operator(self, *others):
        return self.of(plain(self, *others))

    return operator


class Wrapped(int):
    """An integer of 64 bits."""

    @classmethod
    def of(cls, value):
        """What an operation of integers came to: a number, two of them, or NotImplemented."""
        if isinstance(value, tuple):
            return tuple(map(cls.of, value))
        return cls(value) if isinstance(value, int) else value

    def __new__(cls, value):
        return super().__new__(cls, (value + 2**63) % 2**64 - 2**63)

    def __lshift__(self, count):
        return self.of(int(self) << min(int(count), 64))

    for _name in "add sub mul floordiv mod divmod and or xor rshift".split():
        locals()[f"__{_name}__"] = _operator(f"__{_name}__")
        locals()[f"__r{_name}__"] = _operator(f"__r{_name}__")
    for _name in "neg abs invert pos".split():
        locals()[f"__{_name}__"] = _operator(f"__{_name}__")


class Unsigned(Wrapped):
    """An integer of 64 bits without a sign."""

    def __new__(cls, value):
        return int.__new__(cls, int(value) % 2**64)


class Elements:
    """An array whose slices are views, and whose elements are integers of 64 bits."""

    def __init__(self, array):
        self.array = array
        self.kind = {"i": Wrapped, "u": Wrapped, "f": float}[array.dtype.kind]
        if array.dtype == numpy.uint64:
            self.kind = Unsigned

    def __len__(self):
        return len(self.array)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Elements(self.array[index])
        if index >= len(self.array):  # NumPy has another error for what is beyond 64 bits
            raise IndexError
        return self.kind(self.array[index].item())

    def __setitem__(self, index, value):
        if index >= len(self.array):
            raise IndexError
        if self.array.dtype.kind != "f":
            bits = 8 * self.array.itemsize
            value = int(value) % 2**bits
            if self.array.dtype.kind == "i" and value >= 2 ** (bits - 1):
                value -= 2**bits
        self.array[index] = value

    def __iter__(self):
        return (self[k] for k in range(len(self.array)))


class Counting:
    """The iterations that are left to a call, and what its tree calls."""

    def __init__(self):
        self.begin()

    def begin(self):
        self.left = MOST_ITERATIONS
        self.error = None

    def tick(self):
        self.left -= 1
        if self.left < 0:
            raise TooLong

    def keep(self, error):
        """An error of an iteration at the same time as others."""
        self.error = self.error or error

    def raise_kept(self):
        error, self.error = self.error, None
        if error is not None:
            raise error

    def counted(self, values):
        for value in values:
            self.tick()
            yield wrapped(value)


def wrapped(value):
    """A value whose plain integers wrap around from here on."""
    if isinstance(value, tuple):
        return tuple(map(wrapped, value))
    if type(value) in (int, Unsigned):
        return Wrapped(value) if type(value) is int else value
    return value


def narrowed(value):
    """`int` and other functions give numbers with a sign."""
    return Wrapped(value) if isinstance(value, int) else value


class Changed(ast.NodeTransformer):
    def visit_Constant(self, node):
        if type(node.value) is not int:
            return node
        return _call("_narrowed", node)

    def visit_Call(self, node):
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in CALLS:
            return _call("_narrowed", node)
        return node

    def visit_For(self, node):
        is_parallel = ast.unparse(node.iter).startswith("np.prange(")
        self.generic_visit(node)
        node.iter = _call("_counted", node.iter)
        if is_parallel:
            keeps = ast.Expr(_call("_keep", ast.Name("_error", ast.Load())))
            handler = ast.ExceptHandler(ast.Name("Exception", ast.Load()), "_error", [keeps])
            node.body = [ast.Try(node.body, [handler], [], [])]
            node.orelse.insert(0, ast.Expr(_call("_raise_kept")))
        return node

    def visit_comprehension(self, node):
        self.generic_visit(node)
        node.iter = _call("_counted", node.iter)
        return node

    def visit_While(self, node):
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(_call("_tick")))
        return node


def _call(name, *arguments):
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def function_of(text, name, names):
    """The function `f` of a text, for numbers of 64 bits; `names` are what it may use."""
    counting = Counting()
    names = {**names, "_narrowed": narrowed, "_counted": counting.counted, "_tick": counting.tick}
    names.update(_keep=counting.keep, _raise_kept=counting.raise_kept)
    tree = ast.fix_missing_locations(Changed().visit(ast.parse(text)))
    exec(compile(tree, name, "exec"), names)

    def f(*arguments):
        counting.begin()
        return names["f"](*map(wrapped, arguments))

    return f
