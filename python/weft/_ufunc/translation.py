"""A Python function of numbers as a program that the compiler takes and that cannot be told apart from it.

The translation follows the types that Python's values have: bool, int and float, and scalars of weft's. Arithmetic
becomes that of python_numbers.py, which raises where Python's numbers would do what compiled ones cannot. What is not
known to be the same is Refused, with the reason: Python calls the function then.
"""

import ast
import builtins
import math
import sys
import types
import weakref
from typing import NamedTuple

from weft._jit import _source

# The types of values. Those in capitals are weft's scalars, or Python's numbers on other ways.
BOOL, INT, FLOAT = "b", "i", "f"
NP_BOOL, NP_FLOAT = "B", "F"
EITHER = "a"  # a float, or a small int that compiled code holds as a float
ROW = "r"  # an array of one dimension, of float64, that is read by its elements
MIXED = "x"  # an int on one way and a float on another: not to be read
_FLOATS = frozenset((FLOAT, NP_FLOAT, EITHER))
_BOOLS = frozenset((BOOL, NP_BOOL))
_KIND = {BOOL: "b", NP_BOOL: "b", INT: "i", FLOAT: "f", NP_FLOAT: "f", EITHER: "f", ROW: "r"}
_MOST_EXACT = 2**53
_DEEPEST = 16  # calls inside of calls

_OF_CONSTANTS = {bool: BOOL, int: INT, float: FLOAT}
_INFIX = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"}
_CHECKED = {
    ast.Add: "_add",
    ast.Sub: "_sub",
    ast.Mult: "_mul",
    ast.Div: "_div",
    ast.FloorDiv: "_floordiv",
    ast.Mod: "_mod",
    ast.Pow: "_ipow",
    ast.LShift: "_shl",
    ast.RShift: "_shr",
}
_BITS = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
_COMPARES = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}

_MATH_OF_ONE = (
    "sqrt exp expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh degrees radians "
    "erf erfc fabs cbrt exp2"
).split()
_MATH_OF_TWO = ("atan2", "hypot", "copysign", "fmod", "pow")
_MATH_TESTS = ("isnan", "isinf", "isfinite")
_TO_INT = {"floor": "_floor", "ceil": "_ceil", "trunc": "_int"}
_NUMPY_OF_ONE = (
    "sqrt exp expm1 exp2 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh "
    "cbrt deg2rad rad2deg degrees radians"
).split()
_NUMPY_OF_A_FLOAT = ("floor", "ceil", "trunc", "rint", "absolute", "fabs", "square", "sign")
_NUMPY_OF_TWO = ("maximum", "minimum", "hypot", "arctan2")


class Refused(Exception):
    """Why a function is not translated."""


class _Again(Exception):
    """A function is translated from its start, since more is known of its variables."""


class Value(NamedTuple):
    """An expression of the translated program."""

    text: str
    type: str
    literal: int | None = None  # of an int that is written in the program

    @property
    def is_float(self):
        return self.type in _FLOATS


class Binding(NamedTuple):
    """Something outside of a function that it reads, and what that has to be for the translation to hold."""

    owner: int  # the number of the function
    chain: tuple  # a name and attributes
    expected: object
    is_constant: bool  # expected is the type of a number, whose value is an argument; else the very object


class Translation(NamedTuple):
    text: str  # definitions; {C} stands for constants, in parameters and in arguments
    name: str  # of the function
    kinds: tuple  # of its results: "b", "i", "f"
    single: bool  # whether it gives one result, not a tuple
    pure: bool  # whether each result has one type of Python's on all ways
    bindings: list
    callees: list  # the number of the binding that leads to each function behind the first, and its code
    uses_numpy: bool


_MISSING = object()


def lookup(function, chain):
    """What a name with attributes means in a function; _MISSING if nothing."""
    name = chain[0]
    code = function.__code__
    if name in code.co_freevars:
        try:
            value = function.__closure__[code.co_freevars.index(name)].cell_contents
        except ValueError:
            return _MISSING
    else:
        value = function.__globals__.get(name, _MISSING)
        if value is _MISSING:
            found = function.__globals__.get("__builtins__", builtins)
            value = (found if isinstance(found, dict) else vars(found)).get(name, _MISSING)
    for attribute in chain[1:]:
        if not isinstance(value, types.ModuleType):
            return _MISSING
        value = getattr(value, attribute, _MISSING)
    return value


def parameters_of(function):
    """The names of a function's parameters, all of which have places."""
    code = function.__code__
    if code.co_flags & 0x2AC or code.co_kwonlyargcount:  # *args, **kwargs, generators and coroutines
        raise Refused(f"{function.__name__}() is no plain function of numbers by their places")
    return code.co_varnames[: code.co_argcount]


def translate(function, kinds):
    """The translation of a function that gets Python's numbers ("b", "i", "f"), scalars ("F") and rows ("r")."""
    program = _Program(function)
    name, results, single, pure = program.function(0, tuple(kinds), is_root=True)
    return Translation(
        "\n".join(program.definitions),
        name,
        results,
        single,
        pure,
        program.bindings,
        program.callees,
        program.uses_numpy,
    )


def _join(one, other):
    if one == other:
        return one
    if {one, other} <= _BOOLS:
        return NP_BOOL
    if one in _FLOATS and other in _FLOATS:
        return EITHER if EITHER in (one, other) else NP_FLOAT
    return MIXED


def _joined(environments):
    found = [each for each in environments if each is not None]
    if not found:
        return None
    result = dict(found[0])
    for each in found[1:]:
        for name, kind in each.items():
            result[name] = _join(result[name], kind) if name in result else kind
    return result


class _Program:
    """All functions of one translation."""

    def __init__(self, function):
        self.functions, self.definitions, self.bindings, self.callees = [function], [], [], []
        self.uses_numpy = False
        self._made, self._numbers, self._depth = {}, {}, 0
        self.count = 0

    def function(self, number, kinds, is_root=False):
        """Name, results' types, whether there is one, whether each is of one type; made once for each kinds."""
        key = number, kinds
        if key not in self._made:
            if self._depth == _DEEPEST or self._made.get(number) == "open":
                raise Refused(
                    f"{self.functions[number].__name__}() calls itself, or many others inside of each other"
                )
            self._depth += 1
            self._made[number] = "open"
            self._made[key] = _Function(self, number, kinds, is_root).made()
            del self._made[number]
            self._depth -= 1
        return self._made[key]

    def bind(self, owner, chain):
        """What a chain of names means: (binding's number, value)."""
        key = owner, chain
        if key not in self._numbers:
            value = lookup(self.functions[owner], chain)
            if value is _MISSING:
                raise Refused(f"nothing is known of {'.'.join(chain)}")
            kind = type(value)
            constant = kind in _OF_CONSTANTS
            if constant and kind is int and not -(2**63) <= value < 2**63:
                raise Refused(f"{'.'.join(chain)} has more than 64 bits")
            expected = kind if constant else weakref.ref(value) if kind is types.FunctionType else value
            self._numbers[key] = len(self.bindings)
            self.bindings.append(Binding(owner, chain, expected, constant))
        number = self._numbers[key]
        return number, lookup(self.functions[owner], chain)

    def callee(self, value, binding):
        for number, known in enumerate(self.functions):
            if known is value:
                return number
        self.functions.append(value)
        self.callees.append((binding, value.__code__))
        return len(self.functions) - 1


class _Function:
    """One function for one combination of types of its arguments."""

    def __init__(self, program, number, kinds, is_root):
        self._program, self._number, self._kinds, self._is_root = program, number, kinds, is_root
        self._function = program.functions[number]
        self._promoted = set()  # variables that are floats, and ints that the program has written
        self._results = None  # types of the results
        self._single, self._pure = True, True
        self._lines, self._indent, self._elements = [], 1, 0

    def made(self):
        function = self._function
        parameters = parameters_of(function)
        if len(parameters) != len(self._kinds):
            raise Refused(f"{function.__name__}() gets {len(self._kinds)} arguments")
        try:
            node = _source.find(function, _source.capture(function))
        except (_source.SourceError, _source.CompileError) as error:
            raise Refused(str(error).partition(";")[0]) from None
        if isinstance(node, ast.AsyncFunctionDef):
            raise Refused(f"{function.__name__}() is a coroutine")
        body = [ast.Return(node.body, lineno=node.lineno)] if isinstance(node, ast.Lambda) else node.body
        self._own = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
        if function.__code__.co_cellvars:
            raise Refused(f"{function.__name__}() has functions inside")
        self._program.count += 1
        name = f"f{self._program.count}_"
        for _ in range(20):  # types only grow
            before = self._results
            self._lines, self._indent, self._returns = [], 1, []
            self._breaks, self._continues = [], []
            try:
                last = self._block(body, dict(zip(parameters, self._kinds)))
            except _Again:
                continue
            self._results = self._all_returned(node)
            if before == self._results:
                break
        else:
            raise Refused("types of variables do not come to an end")
        if last is not None:
            self._line("raise ValueError")  # where it would give None
        given = ", ".join(f"{p}_{_KIND[k]}" for p, k in zip(parameters, self._kinds))
        self._program.definitions.append(f"def {name}({given}{{C}}):\n" + "\n".join(self._lines) + "\n")
        if self._is_root:
            return name, tuple(_KIND[each] for each in self._results), self._single, self._pure
        if not self._single:
            raise Refused(f"{function.__name__}() returns several values")
        return name, self._results, True, self._pure

    def _line(self, text):
        self._lines.append("    " * self._indent + text)

    def _refuse(self, node, what):
        raise Refused(f"line {getattr(node, 'lineno', '?')}: {what}")

    # ---- statements ----

    def _block(self, body, environment):
        """The variables' types behind it; None where its end is not reached."""
        before = len(self._lines)
        for statement in body:
            if environment is None:
                break
            method = getattr(self, f"_do_{type(statement).__name__}", None)
            if method is None:
                self._refuse(statement, f"{type(statement).__name__.lower()} is left to Python")
            environment = method(statement, environment)
        if len(self._lines) == before:
            self._line("pass")
        return environment

    def _nested(self, body, environment):
        self._indent += 1
        result = self._block(body, dict(environment))
        self._indent -= 1
        return result

    def _do_Pass(self, node, env):
        return env

    def _do_Expr(self, node, env):
        if not isinstance(node.value, ast.Constant):
            self._refuse(node, "an expression whose value is not used may have an effect")
        return env

    def _do_Assert(self, node, env):
        self._line(f"if not ({self._truth(node.test, env)}):")
        self._line("    raise ValueError")
        return env

    def _do_Raise(self, node, env):
        self._line("raise ValueError")
        return None

    def _do_Break(self, node, env):
        self._breaks[-1].append(env)
        self._line("break")
        return None

    def _do_Continue(self, node, env):
        self._continues[-1].append(env)
        self._line("continue")
        return None

    def _do_Assign(self, node, env):
        if len(node.targets) > 1:
            value = self._expression(node.value, env)
            self._line(f"t_ = {value.text}")
            for target in node.targets:
                env = self._bind([target], [value._replace(text="t_")], env)
            return env
        (target,) = node.targets
        if isinstance(target, ast.Name):
            return self._bind([target], [self._expression(node.value, env)], env)
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            if len(target.elts) != len(node.value.elts):
                self._refuse(node, "another number of values than targets")
            return self._bind(target.elts, [self._expression(each, env) for each in node.value.elts], env)
        self._refuse(node, "only variables are assigned")

    def _do_AugAssign(self, node, env):
        if not isinstance(node.target, ast.Name):
            self._refuse(node, "only variables are assigned")
        name = ast.copy_location(ast.Name(node.target.id, ast.Load()), node)
        value = self._binary(node, self._expression(name, env), node.op, self._expression(node.value, env))
        return self._bind([node.target], [value], env)

    def _do_AnnAssign(self, node, env):
        if node.value is None or not node.simple:
            self._refuse(node, "an annotation alone is left to Python")
        return self._bind([node.target], [self._expression(node.value, env)], env)

    def _bind(self, targets, values, env):
        env, names, texts = dict(env), [], []
        for target, value in zip(targets, values):
            if not isinstance(target, ast.Name) or target.id not in self._own:
                self._refuse(target, "only variables of the function are assigned")
            if target.id in self._promoted and value.literal is not None:
                value = self._promote(value)
            env[target.id] = value.type
            names.append(f"{target.id}_{_KIND[value.type]}")
            texts.append(value.text)
        if len(set(names)) != len(names):
            self._refuse(targets[0], "a variable is assigned twice")
        self._line(f"{', '.join(names)} = {', '.join(texts)}")
        return env

    def _do_Return(self, node, env):
        if node.value is None:
            self._refuse(node, "a return without a value")
        several = isinstance(node.value, ast.Tuple)
        values = [self._expression(each, env) for each in (node.value.elts if several else [node.value])]
        if not values:
            self._refuse(node, "an empty tuple is returned")
        self._single = not several
        self._returns.append((several, values))
        kinds = self._results or [value.type for value in values]
        if len(kinds) != len(values):
            self._refuse(node, "other numbers of results on other ways")
        texts = [self._as_result(value, kind) for value, kind in zip(values, kinds)]
        self._line(f"return {', '.join(texts)}")
        return None

    def _all_returned(self, node):
        """The types of the results of all ways."""
        if not self._returns:
            self._refuse(node, "nothing is returned")
        if len({(several, len(values)) for several, values in self._returns}) != 1:
            self._refuse(node, "other numbers of results on other ways")
        return tuple(self._meeting(node, column) for column in zip(*(values for _, values in self._returns)))

    def _meeting(self, node, values):
        kind = values[0].type
        for value in values[1:]:
            kind = _join(kind, value.type) if kind != MIXED else kind
        if self._is_root:
            # A result is cast to the array's type, so an int may go as a float, and a bool as an int.
            self._pure = self._pure and kind not in (MIXED, EITHER)
            kinds = {_KIND[value.type] for value in values}
            return kind if kind != MIXED else EITHER if "f" in kinds else INT
        if kind != MIXED:
            return kind
        if all(value.is_float or self._promote(value).is_float for value in values):
            return EITHER
        self._refuse(node, "values of several types are returned")

    def _as_result(self, value, kind):
        if _KIND[kind] == _KIND[value.type]:
            return value.text
        if _KIND[kind] == "i":
            return f"int({value.text})"
        return f"_exact({value.text})" if value.type == INT else f"float({value.text})"

    def _do_If(self, node, env):
        self._line(f"if {self._truth(node.test, env)}:")
        then = self._nested(node.body, env)
        other = dict(env)
        if node.orelse:
            self._line("else:")
            other = self._nested(node.orelse, env)
        return self._meet([then, other])

    def _meet(self, environments):
        """The types where ways meet. Variables that are ints as written on one and floats on another are promoted."""
        result = _joined(environments)
        for name, kind in (result or {}).items():
            if kind == MIXED and name not in self._promoted:
                self._promoted.add(name)
                raise _Again
        return result

    def _do_While(self, node, env):
        return self._loop(node, env, lambda head: (f"while {self._truth(node.test, head)}:", head))

    def _do_For(self, node, env):
        call = node.iter
        row = self._row(call, env)
        if row is not None and isinstance(node.target, ast.Name):
            return self._over_row(node, env, row)
        if not isinstance(node.target, ast.Name) or not isinstance(call, ast.Call) or call.keywords:
            self._refuse(node, "only loops over range are compiled")
        if self._outside(call.func)[1] is not builtins.range or not 1 <= len(call.args) <= 3:
            self._refuse(node, "only loops over range are compiled")
        bounds = [self._integer(self._expression(each, env), node) for each in call.args]
        variable = node.target.id

        def header(head):
            return f"for {variable}_i in range({', '.join(bounds)}):", {**head, variable: INT}

        return self._loop(node, env, header)

    def _over_row(self, node, env, row):
        self._elements += 1
        element, target = f"e{self._elements}_", node.target
        value = Value(f"float({element})", NP_FLOAT)

        def body(inside):
            self._indent += 1
            inside = self._bind([target], [value], inside)
            self._indent -= 1
            return inside

        return self._loop(node, env, lambda head: (f"for {element} in {row}:", head), body)

    def _loop(self, node, env, header, first=None):
        if node.orelse:
            self._refuse(node, "else of a loop is left to Python")
        head, start = dict(env), len(self._lines)
        for _ in range(20):
            del self._lines[start:]
            line, inside = header(head)
            self._line(line)
            if first is not None:
                inside = first(inside)
            self._breaks.append([])
            self._continues.append([])
            end = self._nested(node.body, inside)
            breaks, continues = self._breaks.pop(), self._continues.pop()
            grown = self._meet([head, end, *continues])
            if grown == head:
                return self._meet([head, *breaks])
            head = grown
        self._refuse(node, "types of variables do not come to an end")

    # ---- expressions ----

    def _expression(self, node, env):
        method = getattr(self, f"_of_{type(node).__name__}", None)
        if method is None:
            self._refuse(node, f"{type(node).__name__} is left to Python")
        return method(node, env)

    def _of_Constant(self, node, env):
        value = node.value
        if type(value) not in _OF_CONSTANTS or (type(value) is int and value >= 2**63):
            self._refuse(node, f"{value!r} is left to Python")
        if type(value) is float and not math.isfinite(value):
            return Value("math.inf", FLOAT)
        return Value(repr(value), _OF_CONSTANTS[type(value)], value if type(value) is int else None)

    def _of_Name(self, node, env):
        name = node.id
        if name not in self._own:
            return self._constant(node, (name,))
        kind = env.get(name)
        if kind == ROW:
            self._refuse(node, f"of the array {name} only elements and its length are compiled")
        if kind is None or kind == MIXED:
            self._refuse(node, f"{name} has no type, or an int's and a float's")
        return Value(f"{name}_{_KIND[kind]}", kind)

    def _row(self, node, env):
        """The text of a row; None where the node is no variable that is one."""
        return f"{node.id}_r" if isinstance(node, ast.Name) and env.get(node.id) == ROW else None

    def _of_Subscript(self, node, env):
        row = self._row(node.value, env)
        if row is None or isinstance(node.slice, (ast.Slice, ast.Tuple)):
            self._refuse(node, "only elements of rows are read")
        return Value(f"float({row}[{self._integer(self._expression(node.slice, env), node)}])", NP_FLOAT)

    def _of_Attribute(self, node, env):
        row = self._row(node.value, env)
        if row is not None and node.attr == "size":
            return Value(f"len({row})", INT)
        return self._constant(node, self._chain(node))

    def _constant(self, node, chain):
        number, value = self._program.bind(self._number, chain)
        if type(value) not in _OF_CONSTANTS:
            self._refuse(node, f"{'.'.join(chain)} is no number of Python's")
        return Value(f"c{number}_", _OF_CONSTANTS[type(value)])

    def _chain(self, node):
        names = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in self._own:
            self._refuse(node, "attributes of values are left to Python")
        return (node.id, *reversed(names))

    def _outside(self, node):
        """What a function's name means."""
        if not isinstance(node, (ast.Name, ast.Attribute)) or (
            isinstance(node, ast.Name) and node.id in self._own
        ):
            self._refuse(node, "a function that is a value is left to Python")
        return self._program.bind(self._number, self._chain(node))

    def _promote(self, value):
        """An int that is written in the program, as a float."""
        if value.literal is None or abs(value.literal) > _MOST_EXACT:
            return value
        return Value(f"{value.literal}.0", EITHER)

    def _integer(self, value, node):
        if value.type == BOOL:
            return f"int({value.text})"
        if value.type != INT:
            self._refuse(node, "an int is expected")
        return value.text

    def _float(self, value):
        """A value as a float, as Python converts it for functions of floats."""
        if value.is_float:
            return value.text
        return f"{value.literal}.0" if value.literal is not None else f"float({value.text})"

    def _truth(self, node, env):
        if isinstance(node, ast.BoolOp):
            word = " and " if isinstance(node.op, ast.And) else " or "
            return "(" + word.join(self._truth(each, env) for each in node.values) + ")"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return f"(not {self._truth(node.operand, env)})"
        return self._truth_of(self._expression(node, env))

    @staticmethod
    def _truth_of(value):
        if value.type in _BOOLS:
            return value.text
        return f"({value.text} != {'0.0' if value.is_float else '0'})"

    def _of_BoolOp(self, node, env):
        values = [self._expression(each, env) for each in node.values]
        kind = values[0].type
        for value in values[1:]:
            kind = _join(kind, value.type)
        if kind == MIXED:
            self._refuse(node, "values of several types")
        word = " and " if isinstance(node.op, ast.And) else " or "
        if kind in _BOOLS:
            return Value("(" + word.join(value.text for value in values) + ")", kind)
        text = values[-1].text
        for value in reversed(values[:-1]):
            pair = (text, value.text) if isinstance(node.op, ast.And) else (value.text, text)
            text = f"({pair[0]} if {self._truth_of(value)} else {pair[1]})"
        return Value(text, kind)

    def _of_UnaryOp(self, node, env):
        if isinstance(node.op, ast.Not):
            return Value(f"(not {self._truth(node.operand, env)})", BOOL)
        value = self._expression(node.operand, env)
        if isinstance(node.op, ast.USub) and value.type in (FLOAT, NP_FLOAT):
            return Value(f"(-{value.text})", value.type)
        if isinstance(node.op, ast.USub) and value.literal is not None:
            return Value(f"({-value.literal})", INT, -value.literal)
        if isinstance(node.op, ast.UAdd) and value.type in (INT, FLOAT, NP_FLOAT, EITHER):
            return value
        if value.type in (INT, BOOL) and isinstance(node.op, ast.USub):
            return Value(f"_neg({self._integer(value, node)})", INT)
        if value.type == INT and isinstance(node.op, ast.Invert):
            return Value(f"(~{value.text})", INT)
        self._refuse(node, "an operator of what may be an int or a float, or of a bool")

    def _of_BinOp(self, node, env):
        return self._binary(
            node, self._expression(node.left, env), node.op, self._expression(node.right, env)
        )

    def _binary(self, node, left, op, right):
        kinds = {left.type, right.type}
        operator = type(op)
        if operator in _BITS and kinds <= _BOOLS:
            return Value(f"({left.text} {_BITS[operator]} {right.text})", _join(left.type, right.type))
        if NP_BOOL in kinds:
            self._refuse(node, "arithmetic of a bool of NumPy's")
        if BOOL in kinds:
            left, right = (
                Value(f"int({each.text})", INT) if each.type == BOOL else each for each in (left, right)
            )
            kinds = {left.type, right.type}
        if kinds == {INT}:
            return self._of_integers(node, left, operator, right)
        if operator not in _INFIX and operator is not ast.Pow:
            self._refuse(node, "an operator of ints, and of a float")
        definite = kinds & {FLOAT, NP_FLOAT}
        if not definite:
            # What may be an int as written beside an int: only a quotient is the same of both.
            if operator is not ast.Div:
                self._refuse(node, "an operator of what may be an int or a float")
            texts = [each.text if each.is_float else f"_exact({each.text})" for each in (left, right)]
            return Value(f"({texts[0]} / {texts[1]})", NP_FLOAT)
        kind = FLOAT if kinds <= {FLOAT, INT} else NP_FLOAT
        if operator in (ast.FloorDiv, ast.Mod) and kind == NP_FLOAT:
            self._refuse(node, "a remainder of a scalar of NumPy's")
        texts = self._float(left), self._float(right)
        if operator is ast.Pow:
            if right.literal == 2:
                return Value(f"_finite({texts[0]} ** 2, {texts[0]})", kind)
            return Value(f"_pow({texts[0]}, {texts[1]})", kind)
        return Value(f"({texts[0]} {_INFIX[operator]} {texts[1]})", kind)

    def _of_integers(self, node, left, operator, right):
        if operator in _BITS:
            return Value(f"({left.text} {_BITS[operator]} {right.text})", INT)
        if operator not in _CHECKED:
            self._refuse(node, f"{operator.__name__} is left to Python")
        if operator in (ast.FloorDiv, ast.Mod) and (right.literal or 0) > 0:
            return Value(f"({left.text} {_INFIX[operator]} {right.text})", INT)
        return Value(
            f"{_CHECKED[operator]}({left.text}, {right.text})", FLOAT if operator is ast.Div else INT
        )

    def _of_Compare(self, node, env):
        values = [self._expression(each, env) for each in (node.left, *node.comparators)]
        parts, is_numpy = [], False
        for left, op, right in zip(values, node.ops, values[1:]):
            if type(op) not in _COMPARES:
                self._refuse(node, f"{type(op).__name__} is left to Python")
            kinds = {left.type, right.type}
            if NP_BOOL in kinds:
                self._refuse(node, "a comparison of a bool of NumPy's")
            is_numpy = is_numpy or NP_FLOAT in kinds or EITHER in kinds
            floats = bool(kinds & _FLOATS)
            texts = [self._compared(each, floats) for each in (left, right)]
            parts.append(f"{texts[0]} {_COMPARES[type(op)]} {texts[1]}")
        return Value("(" + " and ".join(parts) + ")", NP_BOOL if is_numpy else BOOL)

    def _compared(self, value, floats):
        if value.type == BOOL:
            return f"float({value.text})" if floats else f"int({value.text})"
        if not floats or value.is_float:
            return value.text
        promoted = self._promote(value)  # Python compares ints with floats exactly
        return promoted.text if promoted.is_float else f"_exact({value.text})"

    def _of_IfExp(self, node, env):
        test = self._truth(node.test, env)
        then, other = self._alike(
            [self._expression(node.body, env), self._expression(node.orelse, env)], node
        )
        return Value(f"({then.text} if {test} else {other.text})", _join(then.type, other.type))

    def _alike(self, values, node):
        """Values of one kind: ints as written become floats beside floats."""
        if any(value.is_float for value in values):
            values = [self._promote(value) for value in values]
        if len({_KIND[value.type] for value in values}) != 1:
            self._refuse(node, "an int on one way and another type on another")
        return values

    # ---- calls ----

    def _of_Call(self, node, env):
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            self._refuse(node, "keywords and stars of calls are left to Python")
        binding, called = self._outside(node.func)
        row = self._row(node.args[0], env) if len(node.args) == 1 else None
        if row is not None and called is len:
            return Value(f"len({row})", INT)
        values = [self._expression(each, env) for each in node.args]
        if isinstance(called, types.FunctionType) and not _is_of_weft(called):
            return self._of_function(node, called, binding, values)
        name = _names_of_known().get(id(called))
        if name is None or NP_BOOL in {value.type for value in values}:
            self._refuse(node, f"{ast.unparse(node.func)} is left to Python")
        home, _, name = name.rpartition(".")
        if home == "numpy":
            return self._of_numpy(node, name, values)
        if home == "math":
            return self._of_math(node, name, values)
        return getattr(self, f"_call_{name}")(node, values)

    def _of_function(self, node, called, binding, values):
        if called.__defaults__ or called.__closure__ or called.__kwdefaults__:
            self._refuse(node, "a function with defaults or variables from around it is left to Python")
        # Its parameters may be ints as written: then it is a function of ints.
        number = self._program.callee(called, binding)
        name, (result,), _, _ = self._program.function(number, tuple(value.type for value in values))
        return Value(f"{name}({', '.join(value.text for value in values)}{{C}})", result)

    def _call_abs(self, node, values):
        (value,) = self._count(node, values, 1)
        if value.is_float:
            return Value(f"abs({value.text})", value.type)
        return Value(f"_iabs({self._integer(value, node)})", INT)

    def _call_max(self, node, values):
        return self._extreme(node, values, "_max")

    def _call_min(self, node, values):
        return self._extreme(node, values, "_min")

    def _extreme(self, node, values, function):
        if len(values) < 2:
            self._refuse(node, "the extreme of one thing is left to Python")
        values = self._alike(values, node)
        if values[0].type in _BOOLS:
            self._refuse(node, "the extreme of bools is left to Python")
        text, kind = values[0].text, values[0].type
        for value in values[1:]:
            text, kind = f"{function}({text}, {value.text})", _join(kind, value.type)
        return Value(text, kind)

    def _call_float(self, node, values):
        (value,) = self._count(node, values, 1)
        return Value(self._float(value), FLOAT)

    def _call_int(self, node, values):
        (value,) = self._count(node, values, 1)
        return Value(f"_int({value.text})" if value.is_float else self._integer(value, node), INT)

    def _call_bool(self, node, values):
        (value,) = self._count(node, values, 1)
        return Value(self._truth_of(value), BOOL)

    def _call_round(self, node, values):
        (value,) = self._count(node, values, 1)
        return Value(f"_round({value.text})" if value.is_float else self._integer(value, node), INT)

    def _count(self, node, values, count):
        if len(values) != count:
            self._refuse(node, f"a call with {len(values)} arguments")
        return values

    def _of_math(self, node, name, values):
        texts = [self._float(value) for value in values]
        if name == "log" and len(values) == 2:
            over, under = (f"_finite(math.log({text}), {text})" for text in texts)
            return Value(f"({over} / {under})", FLOAT)
        if name in _MATH_OF_TWO:
            self._count(node, values, 2)
            return Value(f"_finite2(math.{name}({', '.join(texts)}), {', '.join(texts)})", FLOAT)
        self._count(node, values, 1)
        if name in _MATH_TESTS:
            return Value(f"math.{name}({texts[0]})", BOOL)
        if name in _TO_INT:
            (value,) = values
            return Value(
                f"{_TO_INT[name]}({value.text})" if value.is_float else self._integer(value, node), INT
            )
        return Value(f"_finite(math.{name}({texts[0]}), {texts[0]})", FLOAT)

    def _of_numpy(self, node, name, values):
        self._program.uses_numpy = True
        two = name in _NUMPY_OF_TWO
        self._count(node, values, 2 if two else 1)
        definite = [value.type in (FLOAT, NP_FLOAT) for value in values]
        always = name in _NUMPY_OF_ONE or name in _MATH_TESTS or name in ("hypot", "arctan2", "float64")
        if BOOL in {value.type for value in values} or not (
            always or (any(definite) if two else all(definite))
        ):
            self._refuse(node, f"numpy.{name} of ints and bools is left to Python")
        text = f"np.{name}({', '.join(self._float(value) for value in values)})"
        return Value(text, NP_BOOL) if name in _MATH_TESTS else Value(f"float({text})", NP_FLOAT)


def _is_of_weft(function):
    return (function.__module__ or "").partition(".")[0] == "weft"


_known = {}


def _names_of_known():
    """The names of functions whose meaning is known, by their ids."""
    if not _known:
        weft = sys.modules["weft"]
        for name in ("abs", "max", "min", "float", "int", "bool", "round"):
            _known[id(getattr(builtins, name))] = f"builtins.{name}"
        for name in (*_MATH_OF_ONE, *_MATH_OF_TWO, *_MATH_TESTS, *_TO_INT):
            if hasattr(math, name):
                _known[id(getattr(math, name))] = f"math.{name}"
        for name in (*_NUMPY_OF_ONE, *_NUMPY_OF_A_FLOAT, *_NUMPY_OF_TWO, *_MATH_TESTS, "float64"):
            _known[id(getattr(weft, name))] = f"numpy.{name}"
    return _known
