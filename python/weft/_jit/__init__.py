"""The Python half of `weft.jit`: the text of a function, what its names stand for, and its untyped tree.

`describe(function)` answers a `Described`. Nothing here knows types: those are the engine's (src/lang).

`tree` is an S-expression. Each "(" opens a node, and nodes are numbered in this order; the k-th has the place
`positions[4 * k : 4 * k + 4]`: line, column, end line, end column; lines of the file, columns in bytes of UTF-8. A
node without a place of its own (`block`, `params`, `comp`) has that of the node around it. The text has no places,
and comments, blank lines and annotations do not show in it: it is the key of caches.

    (def NAME (params P...) (block S...))
    P   (param NAME) (default NAME [E]) (rest NAME) (keyword NAME) (keyword_default NAME [E])
    S   (assign TARGET E) (augment OP TARGET E) (expr E) (pass) (if E BLOCK BLOCK) (while E BLOCK BLOCK)
        (for TARGET E BLOCK BLOCK) (break) (continue) (return [E]) (raise [E]) (assert E [E]) (delete TARGET...)
        (def ...) (try BLOCK BLOCK BLOCK H...) (expr (yield E))
    H   (except E BLOCK) (except E (name X) BLOCK)
    TARGET (name X) (index E I...) (tuple TARGET...) (starred TARGET) (attribute E NAME)
    E   (int N) (float HEX) (complex HEX HEX) (bool 0|1) (none) (string "...") (ellipsis) (name X) (global K)
        (format "..." E...) which is str.format of the text
        (attribute E NAME) (index E I...) (slice E E E) (binary OP E E) (unary OP E) (compare E OP E ...)
        (and E E...) (or E E...) (ifexp E E E) (call E A...) (tuple E...) (list E...) (listcomp E COMP...)
        (genexp E COMP...) (lambda (params P...) E) (walrus NAME E)
    COMP (comp TARGET E E...)
    A   E, (keyword NAME E), (starred E)

The second block of `if`, the loops and `try` is `else`, the third of `try` is `finally`; either is empty where there is
none. E of an `except` is (none) where it catches all. Defaults have their expression in
inner functions alone: those of the function itself travel as values. `.1`, `.2` are variables that the program does
not have: `a = b = e` is (assign (name .1) e) and two more. A variable of a comprehension whose name the function has,
too, is called `x.1`. Whole literals and arithmetic with such are one literal, of at most 256 bits.

`symbols[K]` says what (global K) stands for; its second member is the name as it is written, with the attributes that
were followed:

    ("constant", name, value)         int, float, complex, bool, str, None, or a tuple or frozen record of such;
                                      a member of an enumeration; those of flags by value
    ("scalar", name, dtype, value)    a scalar of NumPy's or weft's
    ("known", name, path)             "builtins.range", "math.sqrt", "numpy.sqrt" (weft's, too), "weft.prange"
    ("module", name, path)
    ("function", name, object)        a Python function, or a dispatcher of weft.jit
    ("vector", name, object, class, dtype)
                                      what makes weft.cuda's vectors of this class, and how arrays have them
    ("ufunc", name, object, facts)    the function of a ufunc that weft.vectorize or guvectorize made
    ("exception", name, class)
    ("array", name, object)           an array of NumPy's or weft's, or a structure of NumPy's
    ("structure", name, dtype)        a structured dtype of NumPy's
    ("object", name, object)          a tuple or record that has arrays or may change, or of those; bytes
    ("items", name, symbols)          a tuple with functions in it, a symbol an item
    ("record", name, class)           a NamedTuple, a dataclass or an enumeration
    ("unknown", name, object)
    ("missing", name, nearest)        `nearest` is a name that there is, or ""

Further fields of `Described`: `name`, `qualified_name` and `module` of the function; `file`, `first_line` and `source`,
the lines of the function: line k of the file is `source[k - first_line]`; `parameters`, tuples (name, kind) with the
kinds positional_only, positional, rest and keyword; `defaults`, the values of those that have one, in their order;
`guards`, tuples (dictionary or cell, name or None, value if there is one) for what was read of globals, the program's
own modules and closures.
"""

from weft._jit._describe import Described, capture, describe
from weft._jit._errors import CompileError, SourceError, error_class, raise_at
from weft._jit._names import called_function
from weft._jit._records import describe_record, values_of

__all__ = [
    "CompileError",
    "Described",
    "SourceError",
    "called_function",
    "capture",
    "describe",
    "describe_record",
    "error_class",
    "raise_at",
    "values_of",
]
