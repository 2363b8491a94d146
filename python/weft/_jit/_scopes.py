"""Which names a function has of its own, by Python's rules."""

import ast


class Scope:
    """The names that a function, lambda or comprehension has of its own, each with its name in the tree."""

    __slots__ = ("names", "outer")

    def __init__(self, names, outer):
        self.names, self.outer = names, outer

    def find(self, name):
        scope = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None


def own_names(node):
    """What a function or lambda assigns, and its parameters; whether it is a generator."""
    arguments = node.args
    given = (
        arguments.posonlyargs + arguments.args + arguments.kwonlyargs + [arguments.vararg, arguments.kwarg]
    )
    names = {a.arg: a.arg for a in given if a is not None}
    waiting = list(node.body) if isinstance(node.body, list) else [node.body]
    yields = False
    while waiting:
        item = waiting.pop()
        if isinstance(item, ast.Name):
            if isinstance(item.ctx, (ast.Store, ast.Del)):
                names[item.id] = item.id
        elif isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names[item.name] = item.name
        elif isinstance(item, ast.ExceptHandler):
            if item.name is not None:
                names[item.name] = item.name
            waiting.extend(ast.iter_child_nodes(item))
        elif isinstance(item, ast.Lambda):
            pass
        elif isinstance(item, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
            names.update((n.target.id, n.target.id) for n in ast.walk(item) if isinstance(n, ast.NamedExpr))
            waiting.append(item.generators[0].iter)
        else:
            yields = yields or isinstance(item, (ast.Yield, ast.YieldFrom))
            waiting.extend(ast.iter_child_nodes(item))
    return names, yields
