"""What no type can save: the constructs that the compiler has no node for."""

# By the class of the node in `ast`: what to say, and what to write instead.
REFUSED = {
    "AsyncFunctionDef": ("async functions are not compiled", "write a plain def"),
    "AsyncFor": ("`async for` is not compiled", "write a plain for"),
    "AsyncWith": ("`async with` is not compiled", "enter the block where the function is called"),
    "Await": ("`await` is not compiled", "wait where the function is called, and pass the value"),
    "Yield": (
        "the value of a `yield` is not compiled: nothing is sent to generators",
        "write the `yield` as a statement of its own",
    ),
    "YieldFrom": ("the value of a `yield from` is not compiled", "write it as a statement of its own"),
    "TryStar": ("`except*` is not compiled", "write a plain except"),
    "With": ("`with` is not compiled", "enter the block where the function is called"),
    "ClassDef": (
        "classes inside of functions are not compiled",
        "define the class outside: a NamedTuple or a dataclass",
    ),
    "Import": ("`import` is not compiled inside of a function", "import at the top of the file"),
    "ImportFrom": ("`import` is not compiled inside of a function", "import at the top of the file"),
    "Global": (
        "`global` is not compiled: globals are constants",
        "pass the value in, and return the new one",
    ),
    "Nonlocal": (
        "`nonlocal` is compiled in functions that are called by their names alone, beside their definition",
        "pass the value in, and return the new one",
    ),
    "Match": ("`match` is not compiled", "write if and elif"),
    "TypeAlias": ("`type` is not compiled inside of a function", "leave it out"),
    "TemplateStr": ("t-strings are not compiled", "write a plain text; print() takes several values"),
}
