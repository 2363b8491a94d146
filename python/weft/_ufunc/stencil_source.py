"""The text of a stencil's function: its reads at relative indices, and the functions that are made of it."""

import ast
import copy

_WITHIN = "within_neighborhood{}__"


class NotConstant(Exception):
    """Why a read is at no constant offset."""


class Reads(ast.NodeTransformer):
    """Replaces reads of arrays at relative indices: by names of parameters, or by reads at a place.

    `ranks` has the number of axes of each array by its name. With `places` the reads become reads of elements at these
    names plus the offsets.
    """

    def __init__(self, function, ranks, constants, around, places=None):
        self.function, self.ranks, self.constants = function, ranks, constants
        self.places, self.around = places, around
        self.reads = {}  # (array, offsets): the name that stands for it
        self.lowest, self.highest = {}, {}
        self.uses_whole = self.computes = False

    def visit_Subscript(self, node):
        if not isinstance(node.value, ast.Name) or node.value.id not in self.ranks:
            self.computes = True
            return self.generic_visit(node)
        name = node.value.id
        if not isinstance(node.ctx, ast.Load):
            raise self.error(node, "Assignments to arrays passed to stencil kernels is not allowed")
        index = node.slice
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        if len(parts) != self.ranks[name]:
            raise self.error(
                node,
                f"{name} has {self.ranks[name]} dimensions, and is read with {len(parts)} relative indices",
            )
        try:
            offsets = tuple(map(self._offset, parts))
        except NotConstant:
            if self.around is None:
                raise self.error(
                    node,
                    "stencil kernel index is not constant, 'neighborhood' option required",
                    "Give neighborhood=((-1, 1), ...), the range of the relative indices along each axis.",
                ) from None
            offsets = None
        if offsets is not None:
            for axis, offset in enumerate(offsets):
                if self.around is not None and not self.around[axis][0] <= offset <= self.around[axis][1]:
                    raise self.error(
                        node, f"the relative index {offset} along axis {axis} is outside of the neighborhood"
                    )
                self.lowest[axis] = min(self.lowest.get(axis, 0), offset)
                self.highest[axis] = max(self.highest.get(axis, 0), offset)
        if self.places is None:
            if offsets is None:
                raise NotConstant
            read = self.reads.setdefault((name, offsets), f"{name}__{len(self.reads)}")
            return ast.copy_location(ast.Name(read, ast.Load()), node)
        self.reads[name, offsets] = name
        moved = [self._moved(part, axis) for axis, part in enumerate(parts)]
        shown = moved[0] if len(moved) == 1 else ast.Tuple(moved, ast.Load())
        return ast.copy_location(ast.Subscript(node.value, shown, ast.Load()), node)

    def visit_Name(self, node):
        if node.id in self.ranks:
            if not isinstance(node.ctx, ast.Load):
                raise self.error(node, "Assignments to arrays passed to stencil kernels is not allowed")
            self.uses_whole = True
        return node

    def _offset(self, part):
        names = {inner.id for inner in ast.walk(part) if isinstance(inner, ast.Name)}
        if any(isinstance(inner, (ast.Call, ast.Slice)) for inner in ast.walk(part)):
            raise NotConstant
        if not names <= self.constants.keys():
            raise NotConstant
        try:
            value = eval(compile(ast.Expression(part), "<offset>", "eval"), {}, dict(self.constants))
        except Exception:
            raise NotConstant from None
        if not isinstance(value, int):
            raise NotConstant
        return int(value)

    def _moved(self, part, axis):
        """The index of an element from one that is relative. Those that are computed are looked at where they are."""
        place = self.places[axis]

        def plus(expression):
            try:
                self._offset(expression)
                moved = expression
            except NotConstant:
                self.computes = True
                moved = self.visit(copy.deepcopy(expression))
                moved = ast.Call(ast.Name(_WITHIN.format(axis), ast.Load()), [moved], [])
            return ast.BinOp(ast.Name(place, ast.Load()), ast.Add(), moved)

        if isinstance(part, ast.Slice):
            upper = part.upper and ast.BinOp(part.upper, ast.Sub(), ast.Constant(1))  # its last element
            last = upper and ast.BinOp(plus(upper), ast.Add(), ast.Constant(1))
            return ast.Slice(part.lower and plus(part.lower), last, part.step)
        return plus(part)

    def error(self, node, message, advice=None):
        from weft.exceptions import CompileError

        code = self.function.__code__
        text = f"{code.co_filename}, line {node.lineno}, in {self.function.__name__}: {message}"
        return CompileError(text if advice is None else f"{text}\n{advice}")


def constants_of(function, node):
    """Values that are the same for each element: globals, closures, and locals that are bound once to such."""
    code = function.__code__
    found = {}
    cells = zip(code.co_freevars, function.__closure__ or ())
    for name, cell in cells:
        try:
            found[name] = cell.cell_contents
        except ValueError:
            continue
    for name in code.co_names:
        if name in function.__globals__:
            found[name] = function.__globals__[name]
    found = {name: value for name, value in found.items() if isinstance(value, int)}
    bound = {}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            bound[inner.id] = bound.get(inner.id, 0) + 1
    for inner in node.body if isinstance(node.body, list) else []:
        if not isinstance(inner, ast.Assign) or len(inner.targets) != 1:
            continue
        target = inner.targets[0]
        if isinstance(target, ast.Name) and bound[target.id] == 1:
            try:
                value = eval(compile(ast.Expression(inner.value), "<constant>", "eval"), {}, dict(found))
            except Exception:
                continue
            if isinstance(value, int):
                found[target.id] = value
    return found


def _within(low, high):
    """A function that lets relative indices of a neighborhood pass."""

    def within_neighborhood(offset):
        if offset < low or offset > high:
            raise IndexError("a relative index is outside of the stencil's neighborhood")
        return offset

    return within_neighborhood


def function_of(name, parameters, body, like, helpers=None):
    """A function of these parameters in the namespace of another one, and its text; `helpers` are more names."""
    name = name if name.isidentifier() else "stencil"  # of a lambda
    arguments = ast.arguments([], [ast.arg(one) for one in parameters], None, [], [], None, [])
    definition = ast.FunctionDef(name, arguments, body, [], None)
    definition.type_params = []  # of Python 3.12
    cells = dict(zip(like.__code__.co_freevars, (cell.cell_contents for cell in like.__closure__ or ())))
    cells |= helpers or {}
    held = ast.arguments([], [ast.arg(one) for one in cells], None, [], [], None, [])
    outer = ast.FunctionDef(
        f"{name}_in_its_scope", held, [definition, ast.Return(ast.Name(name, ast.Load()))], [], None
    )
    outer.type_params = []
    text = ast.unparse(ast.fix_missing_locations(ast.Module([outer], []))) + "\n"
    scope = {}
    exec(compile(text, like.__code__.co_filename, "exec"), like.__globals__, scope)
    made = scope[outer.name](*cells.values())
    made.__module__ = like.__module__
    return made, text


def element_function(stencil, body, places):
    """A function of a stencil's parameters and the places of an element, and its text."""
    around = stencil.neighborhood_of(len(places)) or ()
    helpers = {_WITHIN.format(d): _within(*bounds) for d, bounds in enumerate(around)}
    return function_of(stencil.__name__, [*stencil.parameters, *places], body, stencil.py_func, helpers)


def window_of(reads, axes, around):
    """The ranges along each axis that elements need around them."""
    if around is not None:
        return [(min(int(low), 0), max(int(high), 0)) for low, high in around]
    return [(reads.lowest.get(d, 0), reads.highest.get(d, 0)) for d in range(axes)]
