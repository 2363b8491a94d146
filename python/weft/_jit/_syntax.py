"""A function's node, as `ast` has it, as the text of an untyped tree with the places of its nodes.

What no type can save is refused here, with its place: the constructs that the compiler has no node for. The package's
docstring lists the nodes. Names are told apart by Python's rules: what a function assigns is its own, what a function
around it assigns is that one's, everything else is free and a symbol (`_names.py`).
"""

import ast
import contextlib
from array import array

from weft._jit import _inner_stencils
from weft._jit._errors import CompileError, render
from weft._jit._refused import REFUSED
from weft._jit._scopes import Scope, own_names

_BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.MatMult: "matmul",
}
_UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert", ast.Not: "not"}
_COMPARE = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Is: "is",
    ast.IsNot: "is_not",
    ast.In: "in",
    ast.NotIn: "not_in",
}
_EXACT = {  # operations of two whole literals, which Python knows exactly
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Pow: lambda a, b: a**b if 0 <= b <= 256 else None,
    ast.LShift: lambda a, b: a << b if 0 <= b <= 256 else None,
    ast.RShift: lambda a, b: a >> b if 0 <= b <= 256 else None,
}
_FOLDED = (ast.Constant, ast.BinOp, ast.UnaryOp)
_WIDEST = 256  # bits of a whole literal


class Writer:
    """Writes the tree of one function. `names` answers for its free names, `text` has the lines for messages."""

    def __init__(self, text, name, names):
        self._text, self._name, self._names = text, name, names
        self._parts = []
        self._scope = None
        self._inner = {}
        self._hidden = 0
        self._own = {}
        self._in_final = None
        self._is_generator = False
        self.positions = array("i")

    @property
    def tree(self):
        """The text of the tree."""
        return "".join(self._parts)[1:]

    def refuse(self, node, what, advice=""):
        """Raises a CompileError that points at `node`."""
        lines = self._text.lines
        line = lines[node.lineno - 1] if 0 < node.lineno <= len(lines) else ""
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        raise CompileError(
            render(self._text.file, node.lineno, self._name, what, line, node.col_offset, end, advice)
        )

    # Nodes are written as they are met; `place` is the ast node whose place a node of the tree has.

    def _open(self, word, place, *atoms):
        text = " ".join((f" ({word}", *map(str, atoms))) if atoms else f" ({word}"
        self._parts.append(text)
        self.positions.extend((place.lineno, place.col_offset, place.end_lineno, place.end_col_offset))

    def _close(self):
        self._parts.append(")")

    def _leaf(self, word, place, atom=None):
        self._parts.append(f" ({word})" if atom is None else f" ({word} {atom})")
        self.positions.extend((place.lineno, place.col_offset, place.end_lineno, place.end_col_offset))

    def function(self, node, defaults):
        """The whole function, a FunctionDef or a Lambda.

        `defaults` tells of its parameters, those by place and those by keyword only, which have a default now.
        """
        try:
            self._definition(node, defaults)
        except RecursionError:
            self.refuse(
                node, "the function is nested too deeply", "take parts of it into functions of their own"
            )

    def _definition(self, node, defaults=None):
        values_apart = defaults is not None
        is_lambda = isinstance(node, ast.Lambda)
        if isinstance(node, ast.AsyncFunctionDef):
            self._refuse_kind(node)
        outer = self._scope
        if is_lambda and not values_apart:
            self._open("lambda", node)
        else:
            self._open("def", node, "lambda" if is_lambda else node.name)
        names, yields = own_names(node)
        scope = Scope(names, outer)
        if outer is None:
            self._own, self._inner = scope.names, _inner_stencils.inner_functions(node)
        self._parameters(node, scope, defaults)
        self._scope = scope
        around = self._in_final, self._is_generator
        self._in_final, self._is_generator = None, not is_lambda and yields
        if not is_lambda:
            body = node.body
            self._block(body[1:] if _is_text(body[0]) else body, node)
        elif values_apart:
            self._open("block", node)
            self._open("return", node.body)
            self.expression(node.body)
            self._close()
            self._close()
        else:
            self.expression(node.body)
        self._in_final, self._is_generator = around
        self._scope = outer
        self._close()

    def _parameters(self, node, scope, defaults):
        arguments = node.args
        if arguments.kwarg is not None:
            self.refuse(arguments.kwarg, f"`**{arguments.kwarg.arg}` is not compiled", "name the parameters")
        self._open("params", node)
        plain = arguments.posonlyargs + arguments.args
        values = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults
        by_place, by_keyword = defaults or (values, arguments.kw_defaults)
        for a, value in zip(plain, by_place, strict=True):
            self._parameter("param", "default", a, value)
        if arguments.vararg is not None:
            self._leaf("rest", arguments.vararg, arguments.vararg.arg)
        for a, value in zip(arguments.kwonlyargs, by_keyword, strict=True):
            self._parameter("keyword", "keyword_default", a, value)
        self._close()

    def _parameter(self, word, word_with_default, a, value):
        """`value` is the default's node, True where the value stands elsewhere, or nothing."""
        self._open(word_with_default if value else word, a, a.arg)
        if isinstance(value, ast.expr):
            self.expression(value)
        self._close()

    def _block(self, statements, place):
        self._open("block", place)
        for statement in statements:
            self.statement(statement)
        self._close()

    def _refuse_kind(self, node):
        what, advice = REFUSED.get(type(node).__name__, (f"`{type(node).__name__}` is not compiled", ""))
        self.refuse(node, what, advice)

    # Statements

    def statement(self, node):
        """One statement of a block."""
        write = getattr(self, "_write_" + type(node).__name__, None)
        if write is None:
            self._refuse_kind(node)
        write(node)

    def _is_stencil(self, node):
        """Whether an inner function is a stencil's, which is made where it is called."""
        decorators = node.decorator_list
        if len(decorators) != 1 or not self._is_known(decorators[0], ("weft.stencil",)):
            return False
        return not isinstance(decorators[0], ast.Call) or not decorators[0].args

    def _write_FunctionDef(self, node):
        if self._is_stencil(node):
            self._leaf("pass", node)
            return
        for decorator in node.decorator_list:
            if not self._is_known(decorator, ("weft.jit", "weft.njit")):
                self.refuse(
                    decorator, "decorators of inner functions are not compiled", "define the function outside"
                )
        self._definition(node)

    def _is_known(self, node, paths):
        """Whether a decorator, or what is called there, is one of weft's own names."""
        if isinstance(node, ast.Call):
            node = node.func
        chain = self._chain(node)
        if chain is None or self._scope.find(chain[0]) is not None:
            return False
        return self._names.is_known(chain, paths)

    def _write_Return(self, node):
        if self._is_generator and not (
            node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
        ):
            self.refuse(node.value, "generators return nothing in compiled functions", "yield the value")
        self._open("return", node)
        if node.value is not None:
            self.expression(node.value)
        self._close()

    def _write_Assign(self, node):
        value = node.value
        if len(node.targets) > 1:
            self._hidden += 1
            hidden = f".{self._hidden}"
            self._open("assign", node)
            self._leaf("name", value, hidden)
            self.expression(value)
            self._close()
        for target in node.targets:
            self._open("assign", node)
            self._target(target)
            if len(node.targets) > 1:
                self._leaf("name", value, hidden)
            else:
                self.expression(value)
            self._close()

    def _write_AugAssign(self, node):
        self._open("augment", node, _BINARY[type(node.op)])
        self._target(node.target)
        self.expression(node.value)
        self._close()

    def _write_AnnAssign(self, node):
        if node.value is None:
            self._leaf("pass", node)
            return
        self._open("assign", node)
        self._target(node.target)
        self.expression(node.value)
        self._close()

    def _write_Expr(self, node):
        if _is_text(node):
            self._leaf("pass", node)
            return
        if isinstance(node.value, ast.YieldFrom):
            self._yield_from(node, node.value.value)
            return
        self._open("expr", node)
        if isinstance(node.value, ast.Yield):
            self._yield(node.value)
        else:
            self.expression(node.value)
        self._close()

    def _yield(self, node):
        if self._in_final:
            self.refuse(node, *self._in_final)
        self._open("yield", node)
        if node.value is None:
            self._leaf("none", node)
        else:
            self.expression(node.value)
        self._close()

    def _yield_from(self, node, items):
        """`for .1 in items: yield .1`"""
        if self._in_final:
            self.refuse(node, *self._in_final)
        self._hidden += 1
        hidden = f".{self._hidden}"
        self._open("for", node)
        self._leaf("name", node, hidden)
        self.expression(items)
        self._open("block", node)
        self._open("expr", node)
        self._open("yield", node)
        self._leaf("name", node, hidden)
        self._close()
        self._close()
        self._close()
        self._leaf("block", node)
        self._close()

    @contextlib.contextmanager
    def _without_yield(self, where, advice):
        before = self._in_final
        self._in_final = before or (f"a `yield` is not compiled in {where}", advice)
        yield
        self._in_final = before

    def _write_Pass(self, node):
        self._leaf("pass", node)

    def _write_Break(self, node):
        self._leaf("break", node)

    def _write_Continue(self, node):
        self._leaf("continue", node)

    def _write_If(self, node):
        self._open("if", node)
        self.expression(node.test)
        self._block(node.body, node)
        self._block(node.orelse, node)
        self._close()

    def _write_While(self, node):
        self._open("while", node)
        self.expression(node.test)
        self._block(node.body, node)
        self._else(node)
        self._close()

    def _else(self, node):
        with self._without_yield("the `else` of a loop", "write it behind the loop"):
            self._block(node.orelse, node)

    def _write_For(self, node):
        self._open("for", node)
        self._target(node.target)
        self.expression(node.iter)
        self._block(node.body, node)
        self._else(node)
        self._close()

    def _write_Raise(self, node):
        if node.cause is not None and not (isinstance(node.cause, ast.Constant) and node.cause.value is None):
            self.refuse(node.cause, "`raise ... from ...` is not compiled", "leave the `from` out")
        self._open("raise", node)
        if node.exc is not None:
            self.expression(node.exc)
        self._close()

    def _write_Assert(self, node):
        self._open("assert", node)
        self.expression(node.test)
        if node.msg is not None:
            self.expression(node.msg)
        self._close()

    def _write_Try(self, node):
        self._open("try", node)
        with contextlib.ExitStack() as final:
            if node.finalbody:
                final.enter_context(
                    self._without_yield("a `try` with `finally`", "write what it does at the end behind it")
                )
            self._block(node.body, node)
        with self._without_yield(
            "the `else`, `finally` and `except` of a `try`", "write it behind the `try`"
        ):
            self._rest_of_try(node)
        self._close()

    def _rest_of_try(self, node):
        for block in (node.orelse, node.finalbody):
            self._block(block, node)
        for handler in node.handlers:
            self._open("except", handler)
            if handler.type is None:
                self._leaf("none", handler)
            else:
                self.expression(handler.type)
            if handler.name is not None:
                self._leaf("name", handler, self._scope.find(handler.name))
            self._block(handler.body, handler)
            self._close()

    def _write_Delete(self, node):
        self._open("delete", node)
        for target in node.targets:
            self._target(target)
        self._close()

    def _target(self, node):
        if isinstance(node, ast.Name):
            self._leaf("name", node, self._scope.find(node.id))
        elif isinstance(node, (ast.Tuple, ast.List)):
            self._open("tuple", node)
            for item in node.elts:
                self._target(item)
            self._close()
        elif isinstance(node, ast.Starred):
            self._open("starred", node)
            self._target(node.value)
            self._close()
        else:
            self.expression(node)

    # Expressions

    def expression(self, node):
        """One expression."""
        if isinstance(node, _FOLDED):
            folded = _whole(node)
            if folded is not None:
                self._leaf("int", node, folded)
                return
        write = getattr(self, "_express_" + type(node).__name__, None)
        if write is None:
            self._refuse_kind(node)
        write(node)

    def _all(self, word, place, nodes, *atoms):
        self._open(word, place, *atoms)
        for node in nodes:
            self.expression(node)
        self._close()

    def _express_Constant(self, node):
        value = node.value
        if value is None:
            self._leaf("none", node)
        elif value is ...:
            self._leaf("ellipsis", node)
        elif isinstance(value, bool):
            self._leaf("bool", node, int(value))
        elif isinstance(value, int):
            self.refuse(node, "this number has too many digits", "numbers of 64 bits are compiled")
        elif isinstance(value, float):
            self._leaf("float", node, value.hex())
        elif isinstance(value, complex):
            self._leaf("complex", node, f"{value.real.hex()} {value.imag.hex()}")
        elif isinstance(value, str):
            self._leaf("string", node, quoted(value))
        else:  # bytes
            self._leaf("global", node, self._names.add_literal(value))

    def _express_JoinedStr(self, node):
        values = []
        template = _template(node, values)
        if values:
            self._all("format", node, values, quoted(template))
        else:
            self._leaf("string", node, quoted("".join(part.value for part in node.values)))

    def _express_Name(self, node):
        name = self._scope.find(node.id) if self._scope is not None else None
        if name is not None:
            self._leaf("name", node, name)
        else:
            self._leaf("global", node, self._names.resolve((node.id,))[0])

    def _chain(self, node):
        """The name and attributes that a node consists of; None for others."""
        attributes = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        return (node.id, *reversed(attributes)) if isinstance(node, ast.Name) else None

    def _express_Attribute(self, node):
        chain = self._chain(node)
        if chain is None or (self._scope is not None and self._scope.find(chain[0]) is not None):
            self._open("attribute", node)
            self.expression(node.value)
            self._parts.append(f" {node.attr}")
            self._close()
            return
        number, used = self._names.resolve(chain)
        nodes = [node]
        for _ in chain[used:]:
            nodes.append(nodes[-1].value)
        for outer in nodes[:-1]:
            self._open("attribute", outer)
        self._leaf("global", nodes[-1], number)
        for attribute in chain[used:]:
            self._parts.append(f" {attribute}")
            self._close()

    def _express_Subscript(self, node):
        inner = node.slice
        items = inner.elts if isinstance(inner, ast.Tuple) and inner.elts else [inner]
        self._all("index", node, [node.value, *items])

    def _express_Slice(self, node):
        self._open("slice", node)
        for part in (node.lower, node.upper, node.step):
            if part is None:
                self._leaf("none", node)
            else:
                self.expression(part)
        self._close()

    def _express_BinOp(self, node):
        self._all("binary", node, [node.left, node.right], _BINARY[type(node.op)])

    def _express_UnaryOp(self, node):
        operand = node.operand
        if (
            isinstance(node.op, ast.USub)
            and isinstance(operand, ast.Constant)
            and type(operand.value) is float
        ):
            self._leaf("float", node, (-operand.value).hex())
        else:
            self._all("unary", node, [operand], _UNARY[type(node.op)])

    def _express_Compare(self, node):
        self._open("compare", node)
        self.expression(node.left)
        for operation, right in zip(node.ops, node.comparators, strict=True):
            self._parts.append(f" {_COMPARE[type(operation)]}")
            if isinstance(right, ast.Set) and isinstance(operation, (ast.In, ast.NotIn)):
                # A tuple, for which nothing is made.
                right = ast.copy_location(ast.Tuple(right.elts, ast.Load()), right)
            self.expression(right)
        self._close()

    def _express_BoolOp(self, node):
        self._all("and" if isinstance(node.op, ast.And) else "or", node, node.values)

    def _express_IfExp(self, node):
        self._all("ifexp", node, [node.test, node.body, node.orelse])

    def _express_Call(self, node):
        if self._names_attribute(node):
            attribute = ast.Attribute(node.args[0], node.args[1].value)
            self._express_Attribute(ast.copy_location(attribute, node))
            return
        self._open("call", node)
        stencil = self._inner_stencil(node.func)
        if stencil is None:
            self.expression(node.func)
        else:
            self._leaf("global", node.func, stencil)
        for argument in node.args:
            self.expression(argument)
        for keyword in node.keywords:
            if keyword.arg is None:
                self.refuse(keyword, "`**` in a call is not compiled", "write the keywords out")
            self._all("keyword", keyword, [keyword.value], keyword.arg)
        self._close()

    def _inner_stencil(self, node):
        """The symbol of a stencil that is made where it is called; None where `node` makes none."""
        if isinstance(node, ast.Name):
            kernel = self._inner.get(node.id)
            node = kernel.decorator_list[0] if kernel is not None and self._is_stencil(kernel) else None
        elif isinstance(node, ast.Call) and self._is_known(node, ("weft.stencil",)):
            kernel = _inner_stencils.kernel_of(node, self._inner)
        else:
            return None
        if node is None or kernel is None:
            return None
        keywords = node.keywords if isinstance(node, ast.Call) else ()
        self._names.resolve(self._chain(node.func if isinstance(node, ast.Call) else node))
        for name in _inner_stencils.free_names(kernel):
            if self._scope.find(name) is not None:
                self.refuse(
                    node,
                    f"{name!r} is a variable, which a stencil that is made here cannot use",
                    "give it as an argument",
                )
        options = {}
        for keyword in keywords:
            try:
                options[keyword.arg] = ast.literal_eval(keyword.value)
            except ValueError:
                self.refuse(keyword, "a stencil that is made here has constant options only")
        try:
            return self._names.add_stencil(node, kernel, options, self._text)
        except ValueError as error:
            self.refuse(node, str(error))

    def _names_attribute(self, node):
        """Whether it is getattr(module, "name") of something free, which is module.name."""
        return (
            self._chain(node.func) == ("getattr",)
            and len(node.args) == 2
            and not node.keywords
            and isinstance(node.args[1], ast.Constant)
            and isinstance(node.args[1].value, str)
            and node.args[1].value.isidentifier()
            and (chain := self._chain(node.args[0])) is not None
            and (self._scope is None or all(self._scope.find(each) is None for each in ("getattr", chain[0])))
            and self._names.is_builtin("getattr")
        )

    def _express_Starred(self, node):
        self._all("starred", node, [node.value])

    def _express_Tuple(self, node):
        self._all("tuple", node, node.elts)

    def _express_List(self, node):
        self._all("list", node, node.elts)

    def _express_Set(self, node):
        self._all("set", node, node.elts)

    def _express_Dict(self, node):
        if None in node.keys:
            self.refuse(node, "`**` in a dictionary is not compiled", "write d.update(other)")
        self._all("dict", node, [each for pair in zip(node.keys, node.values, strict=True) for each in pair])

    def _express_ListComp(self, node):
        self._comprehension("listcomp", node, node.elt)

    def _express_SetComp(self, node):
        self._comprehension("setcomp", node, node.elt)

    def _express_DictComp(self, node):
        self._comprehension("dictcomp", node, node.key, node.value)

    def _express_GeneratorExp(self, node):
        self._comprehension("genexp", node, node.elt)

    def _comprehension(self, word, node, *parts):
        outer = self._scope
        names = {
            n.id: self._comprehension_name(n.id, outer)
            for generator in node.generators
            for n in ast.walk(generator.target)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        inner = Scope(names, outer)
        self._open(word, node)
        self._scope = inner
        for part in parts:
            self.expression(part)
        for k, generator in enumerate(node.generators):
            if generator.is_async:
                self.refuse(generator.target, "`async for` is not compiled", "write a plain for")
            self._open("comp", node)
            self._target(generator.target)
            self._scope = outer if k == 0 else inner  # the first is evaluated outside
            self.expression(generator.iter)
            self._scope = inner
            for condition in generator.ifs:
                self.expression(condition)
            self._close()
        self._scope = outer
        self._close()

    def _comprehension_name(self, name, scope):
        """A variable of a comprehension is not the function's: where that has the name, too, it gets another."""
        if scope is None or scope.find(name) is None:
            return name
        self._hidden += 1
        return f"{name}.{self._hidden}"

    def _express_Lambda(self, node):
        self._definition(node)

    def _express_NamedExpr(self, node):
        self._all("walrus", node, [node.value], self._scope.find(node.target.id))


def _is_text(statement):
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _template(node, values):
    """What an f-string is to `str.format`; its expressions are added to `values`, in the order that this takes."""
    parts = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(part.value.replace("{", "{{").replace("}", "}}"))
            continue
        values.append(part.value)
        conversion = "" if part.conversion == -1 else "!" + chr(part.conversion)
        form = "" if part.format_spec is None else ":" + _template(part.format_spec, values)
        parts.append("{" + conversion + form + "}")
    return "".join(parts)


def _whole(node):
    """The value of a whole literal, or of arithmetic with such; None for everything else."""
    if isinstance(node, ast.Constant):
        value = node.value if type(node.value) is int else None
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd, ast.Invert)):
        value = _whole(node.operand)
        if value is not None:
            value = (
                -value
                if isinstance(node.op, ast.USub)
                else ~value
                if isinstance(node.op, ast.Invert)
                else value
            )
    elif isinstance(node, ast.BinOp) and type(node.op) in _EXACT:
        left = _whole(node.left)
        right = None if left is None else _whole(node.right)
        value = None if right is None else _EXACT[type(node.op)](left, right)
    else:
        return None
    return value if value is not None and value.bit_length() <= _WIDEST else None


def quoted(text):
    """A text as an atom: printable ASCII as it is, everything else as bytes of UTF-8."""
    parts = []
    for byte in text.encode("utf-8", "surrogatepass"):
        character = chr(byte)
        if character in '"\\':
            parts.append("\\" + character)
        elif character == "\n":
            parts.append("\\n")
        elif 32 <= byte < 127:
            parts.append(character)
        else:
            parts.append(f"\\x{byte:02x}")
    return '"' + "".join(parts) + '"'
