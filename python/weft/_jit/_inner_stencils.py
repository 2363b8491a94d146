"""Stencils that a compiled function makes where it calls them: `weft.stencil(lambda a: ..., ...)(array)`.

They are made when the function's tree is, of the function's own globals and of what it closes over, as if they stood
before it.
"""

import ast
import copy
import sys
import types


def kernel_of(node, inner):
    """The lambda or inner function that a stencil of `node` is made of; None where that is no such thing."""
    function = node.args[0] if len(node.args) == 1 else None
    if isinstance(function, ast.Lambda):
        return function
    return inner.get(function.id) if isinstance(function, ast.Name) else None


def inner_functions(definition):
    """The inner functions by name, of those names that a definition calls nothing else."""
    if not _has_inner_function(definition):
        return {}
    found = {}
    for each in ast.walk(definition):
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.setdefault(each.name, []).append(each)
        elif isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            found.setdefault(each.id, []).append(each)
    return {
        name: nodes[0]
        for name, nodes in found.items()
        if len(nodes) == 1 and isinstance(nodes[0], ast.FunctionDef)
    }


def _has_inner_function(definition):
    """Looks at statements alone, which are few beside all that they consist of."""
    waiting = list(definition.body) if isinstance(definition.body, list) else []
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.FunctionDef):
            return True
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting.extend(getattr(item, field, ()))
    return False


def free_names(node):
    """What a lambda or function reads and has not itself."""
    own = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    own |= {
        each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
    body = node.body if isinstance(node.body, list) else [node.body]
    return {
        each.id
        for part in body
        for each in ast.walk(part)
        if isinstance(each, ast.Name) and each.id not in own
    }


def stencil_of(node, kernel, options, text, scope, cells):
    """A stencil of `kernel` in `text`, whose globals are `scope` and whose closed over names have `cells`."""
    kernel = copy.deepcopy(kernel)
    kernel.decorator_list = []
    statement = ast.copy_location(ast.Return(kernel), kernel) if isinstance(kernel, ast.Lambda) else kernel
    around = ast.FunctionDef(
        "around",
        _arguments(cells),
        [statement],
        [],
        None,
        None,
        **({"type_params": []} if sys.version_info >= (3, 12) else {}),
    )
    tree = ast.fix_missing_locations(ast.Module([ast.copy_location(around, node)], []))
    outer = next(
        each for each in compile(tree, text.file, "exec").co_consts if isinstance(each, types.CodeType)
    )
    code = next(each for each in outer.co_consts if isinstance(each, types.CodeType))
    closure = tuple(cells[name] for name in code.co_freevars)
    function = types.FunctionType(code, scope, code.co_name, None, closure)
    return sys.modules["weft"].stencil(function, **options)


def _arguments(names):
    return ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
