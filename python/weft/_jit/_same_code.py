"""Whether a text is what a function was compiled from.

Names alone do not tell: `x + 1` and `x - 1` have the same. The node is compiled again, with the closure and the
imports that the function has, and the two codes are compared: instructions, constants, names. Where they differ, the
whole text is compiled: what stands around a function has a say in its code, too. Places are not compared.
"""

import __future__

import ast
import types

from weft._jit import _trees

_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag


def compiles_to(function, node):
    """Whether the FunctionDef or Lambda compiles to the code of `function`, as far as can be told of it alone."""
    code = function.__code__
    if isinstance(node, ast.Lambda):
        statement = ast.Expr(node)
    else:
        statement = type(node)(**{field: getattr(node, field, None) for field in node._fields})
        statement.decorator_list, statement.returns = [], None
    body = [ast.copy_location(statement, node)]
    private = next((name for name in _all_names(code) if name[:1] == "_" and "__" in name[1:-2]), None)
    owner = code.co_qualname.split(".")[-2:-1]
    if private and owner and owner[0] != "<locals>":  # self.__x is self._Class__x
        body = [
            _placed(
                ast.ClassDef,
                name=owner[0],
                bases=[],
                keywords=[],
                body=body,
                decorator_list=[],
                type_params=[],
            )
        ]
    if code.co_freevars:
        names = [_placed(ast.arg, arg=name, annotation=None) for name in code.co_freevars]
        arguments = ast.arguments(
            posonlyargs=[], args=names, vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
        )
        body = [
            _placed(
                ast.FunctionDef,
                name="_",
                args=arguments,
                body=body,
                decorator_list=[],
                returns=None,
                type_params=[],
            )
        ]
    imported = [
        name for name in code.co_names if isinstance(function.__globals__.get(name), types.ModuleType)
    ]
    if imported:  # methods of what a module imports are called by other instructions
        aliases = [_placed(ast.alias, name=name, asname=None) for name in imported]
        body.append(_placed(ast.Import, names=aliases))
    return compiled_in(function, ast.Module(body=body, type_ignores=[]))


def compiled_in(function, module):
    """Whether the code of `function` is among that of a module's tree."""
    code = function.__code__
    try:
        compiled = _trees.compiled(module, code.co_filename, code.co_flags & _FUTURE)
    except (SyntaxError, ValueError, RecursionError):
        return False
    return any(_same(code, inner) for inner in _codes_of(compiled) if inner.co_name == code.co_name)


def _placed(kind, **fields):
    fields = {name: value for name, value in fields.items() if name in kind._fields}
    return kind(**fields, lineno=1, col_offset=0, end_lineno=1, end_col_offset=0)


def _all_names(code):
    return (*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars)


def _codes_of(code):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes_of(constant)


def _same(one, other):
    return (
        one.co_code == other.co_code
        and one.co_varnames == other.co_varnames
        and one.co_names == other.co_names
        and one.co_freevars == other.co_freevars
        and one.co_cellvars == other.co_cellvars
        and one.co_argcount == other.co_argcount
        and one.co_kwonlyargcount == other.co_kwonlyargcount
        and len(one.co_consts) == len(other.co_consts)
        and all(map(_same_constant, one.co_consts, other.co_consts))
    )


def _same_constant(one, other):
    if isinstance(one, types.CodeType) and isinstance(other, types.CodeType):
        return _same(one, other)
    return type(one) is type(other) and (one == other or one != one) and repr(one) == repr(other)


def agrees(code, node):
    """Whether a node may be what `code` was compiled from, by parameters and names alone."""
    arguments = node.args
    names = [a.arg for a in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    names += [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]
    if tuple(names) != code.co_varnames[: len(names)]:
        return False
    inner = list(ast.walk(node))
    written = {n.id for n in inner if isinstance(n, ast.Name)} | {
        n.arg for n in inner if isinstance(n, ast.arg)
    }
    written |= {n.name for n in inner if isinstance(n, (ast.FunctionDef, ast.ClassDef, ast.ExceptHandler))}
    return all(name in written for name in (*code.co_varnames, *code.co_freevars) if name[:1] not in "@.")
