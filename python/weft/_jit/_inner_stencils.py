"""Stencils that a compiled function makes where it calls them: `weft.stencil(lambda a: ..., ...)(array)`.

They are made when the function's tree is, of the function's own globals and of what it closes over, as if they stood
before it.
"""

import ast
import copy
import sys
import types


def kernel_of(node, definition):
    """The lambda or inner function that a stencil of `node` is made of; None where that is no such thing."""
    function = node.args[0] if len(node.args) == 1 else None
    if isinstance(function, ast.Lambda):
        return function
    return inner_function(function.id, definition) if isinstance(function, ast.Name) else None


def inner_function(name, definition):
    """The inner function that is all that a definition calls `name`; None where there is no such one."""
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = [
        each
        for each in ast.walk(definition)
        if (isinstance(each, definitions) and each.name == name)
        or (isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Store))
    ]
    return found[0] if len(found) == 1 and isinstance(found[0], ast.FunctionDef) else None


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
