"""Writes the type stubs of the package, python/weft/__init__.pyi and _core.pyi, from the built package itself.

    python tools/generate_stubs.py            writes them
    python tools/generate_stubs.py --check    fails when they are not current

Names, parameters and defaults come from the objects, the ufuncs from the op table; the types of parameters and
results are told by the lists below.
"""

import argparse
import builtins
import inspect
import pathlib
import re
import sys
import types

ROOT = pathlib.Path(__file__).resolve().parents[1]

PARAMETERS = {
    "a_max": "ArrayLike | None",
    "a_min": "ArrayLike | None",
    "args": "Any",
    "array": "ArrayLike",
    "arrays": "Sequence[ArrayLike]",
    "arrays_and_dtypes": "ArrayLike | DTypeLike",
    "arys": "ArrayLike",
    "axes": "Any",
    "axis": "int | tuple[int, ...] | None",
    "axis1": "int",
    "axis2": "int",
    "casting": "str",
    "copy": "bool | None",
    "correction": "float | None",
    "ddof": "float",
    "decimals": "int",
    "deg": "bool",
    "device": "str | None",
    "destination": "int | Sequence[int]",
    "dst": "ndarray",
    "dtype": "DTypeLike | None",
    "endpoint": "bool",
    "equal_nan": "bool",
    "format_spec": "str",
    "dl_device": "tuple[int, int]",
    "from_": "DTypeLike | ArrayLike",
    "initial": "ArrayLike | None",
    "k": "int",
    "keepdims": "bool",
    "kwargs": "Any",
    "like": "None",
    "M": "int | None",
    "max": "ArrayLike | None",
    "mean": "ArrayLike | None",
    "min": "ArrayLike | None",
    "mode": "str",
    "N": "int",
    "n": "int",
    "name": "str",
    "ndigits": "int | None",
    "ndmin": "int",
    "num": "int",
    "einsum_call": "bool",
    "operands": "Any",
    "optimize": "Any",
    "object": "Any",
    "offset": "int",
    "options": "Any",
    "order": "str | None",
    "out": "ndarray | tuple[ndarray, ...] | None",
    "retstep": "bool",
    "shape": "int | Sequence[int]",
    "source": "int | Sequence[int]",
    "subok": "bool",
    "to": "DTypeLike",
    "tup": "Sequence[ArrayLike]",
    "where": "ArrayLike",
}
# For functions whose parameter of that name is something else.
PARTICULAR = {
    ("eval", "arrays"): "ndarray | generic",
    ("explain", "arrays"): "ndarray | generic",
    ("reshape", "shape"): "Any",
    ("empty_like", "shape"): "int | Sequence[int] | None",
    ("zeros_like", "shape"): "int | Sequence[int] | None",
    ("ones_like", "shape"): "int | Sequence[int] | None",
    ("full_like", "shape"): "int | Sequence[int] | None",
    ("broadcast_shapes", "args"): "int | Sequence[int]",
    ("isscalar", "element"): "Any",
    ("isfortran", "a"): "ndarray",
    ("issubdtype", "arg1"): "Any",
    ("issubdtype", "arg2"): "Any",
    ("isdtype", "kind"): "Any",
    ("promote_types", "type1"): "DTypeLike",
    ("promote_types", "type2"): "DTypeLike",
    ("broadcast_arrays", "args"): "ArrayLike",
}
ARRAY_RESULTS = """
    accumulate arange array asanyarray asarray ascontiguousarray asfortranarray atleast_kd broadcast_to
    column_stack concatenate copy cumprod cumsum cumulative_prod cumulative_sum diagonal dstack empty
    empty_like expand_dims eye flatten flip fliplr flipud from_dlpack full full_like hstack identity matrix_transpose
    moveaxis ones ones_like permute_dims ravel reshape rollaxis squeeze stack swapaxes transpose view vstack
    where zeros zeros_like
""".split()
RESULTS = {
    **dict.fromkeys(ARRAY_RESULTS, "ndarray"),
    "allclose": "builtins.bool",
    "array2string": "str",
    "array_equal": "builtins.bool",
    "array_equiv": "builtins.bool",
    "array_repr": "str",
    "array_str": "str",
    "broadcast_arrays": "tuple[ndarray, ...]",
    "broadcast_shapes": "tuple[int, ...]",
    "cache_clear": "int",
    "cache_info": "dict[str, Any]",
    "can_cast": "builtins.bool",
    "clear_kernel_history": "None",
    "copyto": "None",
    "eval": "None",
    "explain": "str",
    "fill": "None",
    "get_printoptions": "dict[str, Any]",
    "geterr": "dict[str, str]",
    "isdtype": "builtins.bool",
    "iscomplexobj": "builtins.bool",
    "isfortran": "builtins.bool",
    "isrealobj": "builtins.bool",
    "isscalar": "builtins.bool",
    "issubdtype": "builtins.bool",
    "item": "Any",
    "kernel_history": "list[dict[str, Any]]",
    "may_share_memory": "builtins.bool",
    "min_scalar_type": "dtype",
    "ndim": "int",
    "promote_types": "dtype",
    "result_type": "dtype",
    "set_printoptions": "None",
    "seterr": "dict[str, str]",
    "shape": "tuple[int, ...]",
    "shares_memory": "builtins.bool",
    "size": "int",
    "tobytes": "bytes",
}
ATTRIBUTES = {
    "T": "ndarray",
    "alignment": "int",
    "byteorder": "str",
    "char": "str",
    "data": "memoryview",
    "dtype": "dtype",
    "flags": "Any",
    "flat": "Any",
    "imag": "Any",
    "itemsize": "int",
    "kind": "str",
    "mT": "ndarray",
    "name": "str",
    "nargs": "int",
    "nbytes": "int",
    "ndim": "int",
    "nin": "int",
    "nout": "int",
    "ntypes": "int",
    "num": "int",
    "real": "Any",
    "shape": "tuple[int, ...]",
    "size": "int",
    "str": "builtins.str",
    "strides": "tuple[int, ...]",
    "type": "builtins.type[generic]",
    "types": "list[builtins.str]",
}
# Special methods made by type slots.
SPECIAL = {
    "other": """add sub mul truediv floordiv mod pow divmod lshift rshift and or xor matmul radd rsub rmul rtruediv
        rfloordiv rmod rpow rdivmod rlshift rrshift rand ror rxor rmatmul lt le gt ge iadd isub imul itruediv
        ifloordiv imod ipow ilshift irshift iand ior ixor imatmul""".split(),
    "none": {"neg": "Any", "pos": "Any", "abs": "Any", "invert": "Any", "bool": "builtins.bool", "int": "int",
             "float": "float", "index": "int", "len": "int", "iter": "Iterator[Any]", "hash": "int",
             "complex": "complex"},
}  # fmt: skip

HEADER = '"""Type stubs of {module}. Generated by tools/generate_stubs.py."""\n\n'
CORE_IMPORTS = """import builtins
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias
"""
ALIASES = """
ArrayLike: TypeAlias = Any
DTypeLike: TypeAlias = Any

"""


def parameter_type(function, name):
    return PARTICULAR.get((function, name)) or PARAMETERS.get(name, "ArrayLike")


def parameters_of(function, value):
    """The parameter list of a nanobind or Python function, with types."""
    value = getattr(value, "_implementation", value)  # of functions that arguments may override
    signature = getattr(value, "__nb_signature__", None)
    if signature is not None:
        return nanobind_parameters(function, signature[0][0])
    parts, keyword_only, positional_only = [], False, False
    for parameter in inspect.signature(value).parameters.values():
        name, kind = parameter.name, parameter.kind
        if positional_only and kind != parameter.POSITIONAL_ONLY:
            parts.append("/")
            positional_only = False
        positional_only = positional_only or kind == parameter.POSITIONAL_ONLY
        if kind == parameter.KEYWORD_ONLY and not keyword_only:
            parts.append("*")
            keyword_only = True
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(kind, "")
        keyword_only = keyword_only or star == "*"
        if name == "self":
            parts.append("self")
            continue
        default = "" if parameter.default is parameter.empty else " = ..."
        parts.append(f"{star}{name}: {parameter_type(function, name)}{default}")
    if positional_only:
        parts.append("/")
    return ", ".join(parts)


def nanobind_parameters(function, signature):
    inside = re.match(r"def \w+\((.*)\) ->", signature, re.S).group(1)
    # Types hold no commas but in brackets; the defaults are numbers of a list.
    parts, depth, current = [], 0, ""
    for character in inside:
        depth += (character in "[(") - (character in "])")
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    parts.append(current.strip())
    result = []
    for part in parts:
        if part in ("", "/", "*") or part == "self":
            result += [part] if part else []
            continue
        name = re.match(r"\**\w+", part).group(0)
        if name == "self":
            result.append("self")
            continue
        default = " = ..." if "=" in part else ""
        result.append(f"{name}: {parameter_type(function, name.lstrip('*'))}{default}")
    return ", ".join(result)


def function_text(name, value, indent=""):
    result = RESULTS.get(name, "Any")
    return f"{indent}def {name}({parameters_of(name, value)}) -> {result}: ...\n"


def is_function(value):
    made_in_c = isinstance(value, (types.BuiltinFunctionType, types.MethodDescriptorType))
    return (
        isinstance(value, types.FunctionType)
        or hasattr(value, "__nb_signature__")
        or (hasattr(value, "_implementation") and not isinstance(value, type))
        or (made_in_c and value.__text_signature__ is not None)
    )


def class_text(name, value):
    if not value.__module__.startswith("weft"):
        return ""
    bases = [base.__name__ for base in value.__bases__ if base is not object]
    text = f"class {name}({', '.join(bases)}):\n" if bases else f"class {name}:\n"
    body = ""
    members = value.__dict__
    if issubclass_of_core(value):
        constructor = {
            "ndarray": "shape: int | Sequence[int], dtype: DTypeLike | None = ..., *args: Any, **kwargs: Any",
            "dtype": "dtype: DTypeLike, align: builtins.bool = ..., copy: builtins.bool = ...",
            "generic": "*args: Any",
        }.get(name)
        if constructor:
            body += f"    def __new__(cls, {constructor}) -> Any: ...\n"
        if name == "ufunc":
            body += "    __name__: str\n    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...\n"
    elif "__init__" in members:
        body += f"    def __init__({parameters_of('__init__', members['__init__'])}) -> None: ...\n"
    for special in SPECIAL["other"]:
        if f"__{special}__" in members and isinstance(members[f"__{special}__"], types.WrapperDescriptorType):
            body += f"    def __{special}__(self, other: ArrayLike, /) -> Any: ...\n"
    for special in ("eq", "ne"):
        if isinstance(members.get(f"__{special}__"), types.WrapperDescriptorType):
            body += f"    def __{special}__(self, other: object, /) -> Any: ...\n"
    for special, result in SPECIAL["none"].items():
        if members.get(f"__{special}__") is not None and (special != "hash" or name != "ndarray"):
            if f"__{special}__" in members:
                body += f"    def __{special}__(self) -> {result}: ...\n"
    if "__getitem__" in members:
        body += "    def __getitem__(self, key: Any, /) -> Any: ...\n"
    if "__setitem__" in members:
        body += "    def __setitem__(self, key: Any, value: Any, /) -> None: ...\n"
    for member in sorted(members):
        thing = members[member]
        if member.startswith("_"):
            continue
        if isinstance(thing, (property, types.GetSetDescriptorType)):
            result = ATTRIBUTES.get(member, "Any")
            body += f"    @property\n    def {member}(self) -> {result}: ...\n"
            if getattr(thing, "fset", None) or (name, member) in SETTERS:
                body += f"    @{member}.setter\n    def {member}(self, value: Any) -> None: ...\n"
        elif is_function(thing):
            body += function_text(member, thing, "    ")
    return text + (body or "    ...\n") + "\n"


SETTERS = {("ndarray", name) for name in ("shape", "real", "imag", "flat")}


def issubclass_of_core(value):
    from weft import _core

    return issubclass(value, (_core.ndarray, _core.dtype, _core.generic, _core.ufunc))


def core_stub():
    from weft import _core

    text = HEADER.format(module="weft._core") + CORE_IMPORTS + ALIASES
    members = {name: value for name, value in vars(_core).items() if not name.startswith("__")}
    classes = {name: value for name, value in members.items() if isinstance(value, type)}
    for name, value in sorted(classes.items(), key=lambda item: (len(item[1].__mro__), item[0])):
        text += class_text(name, value)
    for name, value in sorted(members.items()):
        if is_function(value):
            text += function_text(name, value)
    return text + "_ufuncs: dict[str, ufunc]\n"


def package_stub():
    import weft
    from weft import _core

    text = HEADER.format(module="weft")
    text += CORE_IMPORTS + "\nfrom weft import exceptions as exceptions\n"
    lines, classes, functions, ufuncs, values = [], "", "", "", ""
    for name in sorted(dir(weft)):
        value = getattr(weft, name)
        if name.startswith("_") and name != "__version__":
            continue
        if isinstance(value, type) and getattr(_core, value.__name__, None) is value:
            if value.__name__ == name:
                lines.append(f"from weft._core import {name} as {name}\n")
            else:
                values += f"{name} = {value.__name__}\n"
        elif isinstance(value, type) and value.__module__ == "weft.exceptions":
            lines.append(f"from weft.exceptions import {name} as {name}\n")
        elif isinstance(value, type):
            classes += class_text(name, value)
        elif isinstance(value, _core.ufunc):
            ufuncs += f"{name}: ufunc\n"
        elif is_function(value):
            functions += function_text(name, value)
        elif isinstance(value, types.ModuleType):
            continue
        else:
            kind = type(value).__name__
            kind = "None" if value is None else f"builtins.{kind}" if hasattr(builtins, kind) else "Any"
            values += f"{name}: {kind}\n"
    text += "".join(lines) + ALIASES + classes + values + "\n" + ufuncs + "\n" + functions
    return text + "\ndef __getattr__(name: str) -> Any: ...\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail when the stubs are not current")
    check = parser.parse_args().check
    stale = []
    for name, text in (("_core.pyi", core_stub()), ("__init__.pyi", package_stub())):
        path = ROOT / "python" / "weft" / name
        if path.exists() and path.read_text() == text:
            continue
        if check:
            stale.append(name)
        else:
            path.write_text(text)
    if stale:
        print(f"not current: {', '.join(stale)}; run python tools/generate_stubs.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
