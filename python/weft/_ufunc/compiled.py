"""Functions of the program's as ufuncs: what `weft.vectorize` makes where it compiles."""

import inspect
import os
import re

from weft import _core
from weft._jit import _decorator
from weft._jit._signatures import read_signature
from weft._ufunc.on_host import HostUfunc, result_dtypes
from weft._ufunc.python_calls import PythonUfunc

_OPTIONS = ("target", "identity", "nopython", "cache", "fastmath", "boundscheck", "inline", "writable_args")
_TARGETS = ("cpu", "parallel", "cuda")
_NUMBERS = {int: 0, float: 0.0, complex: 0j}


def compiled_ufunc(function, signatures=(), source=None, **options):
    """A Python function of numbers as a ufunc, with a loop for each signature, or for the types that it is called with.

    Results are recorded and fused with other work, as those of weft's own ufuncs are. `target` is accepted for what
    Numba means by it: weft runs on all cores, and on the device that the arguments are on.
    """
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(f"vectorize has no option {name!r}; it has {', '.join(_OPTIONS)}")
    target = options.get("target", "cpu")
    if target not in _TARGETS:
        raise ValueError(f"target is one of {', '.join(map(repr, _TARGETS))}, not {target!r}")
    given_identity = options.get("identity")
    identity = identity_of(given_identity)
    if getattr(type(function), "_is_weft_jit", False):
        function = function.py_func
    names = _parameters(function)
    if os.environ.get("WEFT_JIT", "1") == "0":
        return PythonUfunc(function, len(names), 1, identity)
    compiled = _decorator.compiled(
        function,
        source=source,
        error_model="numpy",
        boundscheck=options.get("boundscheck", True),
        parallel=False,
    )
    maker = _Maker(compiled, identity, len(names), given_identity)
    loops = None
    if signatures:
        loops = maker.of_signatures([read_signature(one) for one in signatures])
    return _core._defined_ufunc(function.__name__, len(names), compiled, identity, maker, loops)


def identity_of(given):
    """What a reduction of nothing gives, of the keyword; None for none."""
    if given is None or given == "reorderable":
        return None
    if isinstance(given, str) or given not in (0, 1, -1):
        raise ValueError(f"identity is 0, 1, -1, None or 'reorderable', not {given!r}")
    return int(given)


def _parameters(function):
    kinds = inspect.Parameter
    names = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD):
            raise TypeError(
                f"{function.__name__}() has {parameter}: a ufunc has inputs by their places, each by itself"
            )
        names.append(name)
    if not names:
        raise TypeError(f"{function.__name__}() has no parameters, and a ufunc has an input at least")
    return names


def _sample(kind):
    return _NUMBERS[kind] if kind in _NUMBERS else kind.type(0)


class _Maker:
    """Makes the loops of one ufunc."""

    def __init__(self, compiled, identity, count, given_identity):
        self._compiled, self._identity, self._count = compiled, identity, count
        self._given_identity = given_identity
        self._types, self._loops = [], []
        self._signatures = []

    @property
    def reorderable(self):
        """Whether elements may be folded in any order."""
        return self._given_identity is not None

    @property
    def _facts(self):
        """What compiled functions that use the ufunc have to know."""
        outputs = {len(outputs) for _, outputs in self._signatures}
        return {
            "inputs": self._count,
            "outputs": max(outputs, default=1) or 1,
            "loops": [[(one, 0) for one in (*inputs, *outputs)] for inputs, outputs in self._signatures],
            "identity": self._given_identity,
            "layout": "",
            "axes": [],
            "returns": True,
            "written": [],
        }

    def _operation(self, loops):
        function = self._compiled.py_func
        name = re.sub(r"\W", "_", function.__name__)  # a lambda's is none of kernel IR
        return _core._define_operation(name, loops, self._identity, inspect.getdoc(function) or "")

    def _loop(self, types, outputs=()):
        ir, _ = self._compiled._lowered(tuple(_sample(kind) for kind in types), True)
        if not result_dtypes(ir):
            raise TypeError(f"{self._compiled.__name__}() returns nothing that elements are made of")
        return ir, list(outputs)

    def _host(self):
        """What does the ufunc's work where no kernel does it."""
        return HostUfunc(self._compiled, self._count, self._identity, self._signatures)

    def of_signatures(self, signatures):
        """All loops, of signatures in their order, or what computes them on the host."""
        for inputs, _ in signatures:
            if len(inputs) != self._count:
                raise TypeError(
                    f"the signature has {len(inputs)} inputs, and {self._compiled.__name__}() has {self._count}"
                )
        self._types = self._signatures = signatures
        return self._all_loops()

    def _all_loops(self):
        self._loops = [self._loop(*types) for types in self._types]
        try:
            return self._operation(self._loops) if self._loops else None
        except NotImplementedError:
            return self._host()

    def __call__(self, ufunc, types):
        """The loop for these types alone, which is one of the ufunc's from now on; or what computes it on the host."""
        loop = self._loop(types)
        self._types.append((types, ()))
        try:
            operation = self._operation([loop])
        except NotImplementedError:
            return self._host()
        self._loops.append(loop)
        _core._set_loops(ufunc, self._operation(self._loops))
        return operation

    def make_again(self, ufunc):
        """All loops, since what the function reads of the program has changed."""
        _core._set_loops(ufunc, self._all_loops())
