"""`nonlocal`: inner functions that assign variables of the function around them.

Such a function takes the variables as its first arguments and returns them behind its result, and each call stores what
came back:

    def add(x):                    def add(total, x):
        nonlocal total                 total += x
        total += x                     return None, total
    add(3)                         (back := add(total, 3), total := back[1], back[0])[-1]

That is what `nonlocal` means where the function is called by its name alone, in the function around it or in itself.
Where it is not, the statement stays, and is refused.
"""

import ast
import copy

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def without_nonlocals(node):
    """The function's node; another one where there is a `nonlocal` in it."""
    if not any(isinstance(each, ast.Nonlocal) for each in ast.walk(node)):
        return node
    node = copy.deepcopy(node)
    _rewrite(node)
    return ast.fix_missing_locations(node)


def _rewrite(outer):
    for inner in [each for each in _own(outer) if isinstance(each, ast.FunctionDef)]:
        _rewrite(inner)
        names = sorted(
            {name for each in _own(inner) if isinstance(each, ast.Nonlocal) for name in each.names}
        )
        if names and _is_called_alone(inner, outer):
            _pass_variables(inner, names)
            _Calls(inner.name, names).visit_body(outer)


def _own(function):
    """The nodes of a function that are in no function inside of it, which are themselves among them."""
    waiting = list(function.body) if isinstance(function.body, list) else [function.body]
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, _FUNCTIONS):
            waiting.extend(ast.iter_child_nodes(node))


def _is_called_alone(inner, outer):
    """Whether the name is called, in `outer` and in the function itself, and nothing else is done with it."""
    if inner.decorator_list or any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in _own(inner)):
        return False
    calls = [each for function in (outer, inner) for each in _own(function) if isinstance(each, ast.Call)]
    called = {id(each.func) for each in calls if isinstance(each.func, ast.Name)}
    named = [each for each in ast.walk(outer) if isinstance(each, ast.Name) and each.id == inner.name]
    definitions = [
        each for each in ast.walk(outer) if isinstance(each, ast.FunctionDef) and each.name == inner.name
    ]
    return len(definitions) == 1 and all(id(each) in called for each in named)


def _pass_variables(inner, names):
    taken = [ast.copy_location(ast.arg(name), inner) for name in names]
    positional = inner.args.posonlyargs if inner.args.posonlyargs else inner.args.args
    positional[:0] = taken
    _Returns(names).visit_body(inner)
    inner.body.append(ast.copy_location(_returned(None, names), inner.body[-1]))


def _returned(value, names):
    parts = [value or ast.Constant(None), *(ast.Name(name, ast.Load()) for name in names)]
    return ast.Return(ast.Tuple(parts, ast.Load()))


class _Body(ast.NodeTransformer):
    """Changes a function's nodes, and none of those of the functions inside of it."""

    def visit_body(self, function):
        function.body = [
            changed for statement in function.body if (changed := self.visit(statement)) is not None
        ]

    def visit_FunctionDef(self, node):
        return node

    visit_AsyncFunctionDef = visit_Lambda = visit_FunctionDef


class _Returns(_Body):
    def __init__(self, names):
        self._names = names

    def visit_Nonlocal(self, node):
        return ast.copy_location(ast.Pass(), node)

    def visit_Return(self, node):
        return ast.copy_location(_returned(node.value, self._names), node)


class _Calls(_Body):
    """Calls of one function, by which variables come back."""

    def __init__(self, function, names):
        self._function, self._names, self._calls = function, names, 0

    def visit_FunctionDef(self, node):
        if node.name == self._function:
            self.visit_body(node)
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        if not isinstance(node.func, ast.Name) or node.func.id != self._function:
            return node
        self._calls += 1
        back = f"__{self._function}_{self._calls}"

        def stored(name, value):
            return ast.NamedExpr(ast.Name(name, ast.Store()), value)

        def item(k):
            return ast.Subscript(ast.Name(back, ast.Load()), ast.Constant(k), ast.Load())

        node.args[:0] = [ast.copy_location(ast.Name(name, ast.Load()), node) for name in self._names]
        parts = [stored(back, node)]
        parts += [stored(name, item(k + 1)) for k, name in enumerate(self._names)]
        whole = ast.Tuple([*parts, item(0)], ast.Load())
        made = ast.copy_location(ast.Subscript(whole, ast.Constant(len(parts)), ast.Load()), node)
        for each in ast.walk(made):
            if not hasattr(each, "lineno") and isinstance(each, (ast.expr, ast.stmt)):
                ast.copy_location(each, node)
        return made
