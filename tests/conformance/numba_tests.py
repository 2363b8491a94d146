"""One module of Numba's tests, run by Numba itself or with weft.jit in the place of its jit and njit.

    python numba_tests.py SETTINGS

SETTINGS is a file of JSON: `module`, `weft` (whether weft is swapped in), `done` (tests that are left out) and `out`,
to which a line is written when a test begins and when it ends. Run by tools/conformance_numba.py, in an environment
that has Numba; weft itself never needs it.

Functions of exec() have lines in linecache, as those of notebooks have: weft compiles what has a source.

What weft says of an argument of a wrong type is told in Numba's words, too, with the name that weft told: tests ask for
Numba's text, and behind it stands which argument is refused.

A test that asks a compiled function for what only Numba's has, or that uses its compiler without jit, is none of the
language: its outcome is "internal". One that compiles nothing is "nothing".
"""

import builtins
import contextlib
import importlib
import io
import json
import linecache
import re
import signal
import sys
import traceback
import types
import unittest

SECONDS = 60  # for one test
IGNORED = {
    "nopython",
    "cache",
    "inline",
    "debug",
    "locals",
    "no_cpython_wrapper",
    "no_cfunc_wrapper",
    "_nrt",
}
KNOWN = {"boundscheck", "error_model", "fastmath", "nogil", "parallel"}
OWN = ("numba.literal_unroll", "numba.literally")  # what is Numba's own, and not Python's
compiled_calls = 0
is_testing = False  # else modules are loaded


class Internal(Exception):
    """A test uses what is inside of Numba."""


class TooLong(BaseException):
    """A test does not end."""


def in_numbas_words(text):
    """A refusal; one of an argument of a wrong type with what Numba says of that, too."""
    found = re.search(r"\(\) takes .* for '(\w+)' in a compiled function, not ", text)
    return text if found is None else f"{text}\nArgument {found[1]} is not one of the expected type(s):"


def swap():
    """Puts weft.jit in the place of Numba's, in Numba's own modules."""
    import numba
    import numba.core.compiler
    import numba.core.decorators
    import numba.np.extensions
    import numba.typed
    import numpy
    import weft
    import weft.numba.np.extensions
    from weft.numba._samples import NoSample

    errors = numba.core.errors

    class Refused(errors.NumbaValueError, errors.NumbaTypeError, errors.UnsupportedError, weft.CompileError):
        """What tests expect of Numba where a function cannot be compiled."""

    def plain(value):
        """A result as Numba gives it: an array of NumPy's, or a number of Python's in the place of any other."""
        if isinstance(value, weft.ndarray):
            return numpy.asarray(value)
        if isinstance(value, weft.generic) and not isinstance(
            value, (numpy.void, numpy.datetime64, numpy.timedelta64)
        ):
            return numpy.asarray(value).item()
        if isinstance(value, tuple):
            return tuple(map(plain, value)) if type(value) is tuple else type(value)(*map(plain, value))
        if type(value) is list:  # which may be an argument, so it stays what it is
            made = list(map(plain, value))
            if any(new is not old for new, old in zip(made, value, strict=True)):
                value[:] = made
        return value

    def ours(kind):
        """The type of weft.numba that one of Numba's is; ValueError where there is none."""
        kinds, own = numba.types, weft.numba.types
        if isinstance(kind, kinds.Boolean):
            return own.boolean
        if isinstance(kind, (kinds.Integer, kinds.Float, kinds.Complex)) and hasattr(own, kind.name):
            return getattr(own, kind.name)
        if type(kind) is kinds.MemoryView:
            return own.MemoryView(ours(kind.dtype), kind.ndim, kind.layout, not kind.mutable)
        if isinstance(kind, kinds.Array) and type(kind) is kinds.Array:
            return own.Array(ours(kind.dtype), kind.ndim, kind.layout, not kind.mutable)
        if isinstance(kind, (kinds.NPDatetime, kinds.NPTimedelta)):
            return getattr(own, type(kind).__name__)(kind.unit)
        if isinstance(kind, kinds.Record):
            return weft.numba.from_dtype(numba.np.numpy_support.as_dtype(kind))
        if isinstance(kind, (kinds.UniTuple, kinds.Tuple)):
            return own.Tuple(tuple(map(ours, kind.types)))
        if isinstance(kind, kinds.NoneType):
            return own.none
        if isinstance(kind, kinds.Optional):
            return own.Optional(ours(kind.type))
        if type(kind) is kinds.UnicodeType:
            return own.unicode_type
        raise ValueError(kind)

    def our_signature(signature):
        """A signature of Numba's as weft.numba's; None where a type is none of weft.numba's."""
        arguments, result = numba.core.sigutils.normalize_signature(signature)
        try:
            kinds = tuple(map(ours, arguments))
            return kinds if result is None else ours(result)(*kinds)
        except (ValueError, TypeError, NotImplementedError):
            return None

    def our_signatures(signature):
        """Those of a decorator: none where there is none, or where one is none of weft.numba's."""
        if signature is None:
            return []
        found = [our_signature(each) for each in (signature if isinstance(signature, list) else [signature])]
        return [] if None in found else found

    @contextlib.contextmanager
    def refusing():
        """What weft refuses is refused by Numba's classes, too."""
        try:
            yield
        except weft.CompileError as error:
            for name in OWN:
                if f"{name} is not compiled" in str(error):
                    raise Internal(f"Numba's own {name}") from error
            raise Refused(in_numbas_words(str(error))) from error

    class Dispatcher:
        def __init__(self, function, signature, options):
            self._options, self._keeps = options, False
            self._signatures = our_signatures(signature)
            self.py_func = function
            self.__name__, self.__doc__, self.__module__ = (
                function.__name__,
                function.__doc__,
                function.__module__,
            )
            self.__qualname__, self.__wrapped__ = function.__qualname__, function
            self._make()

        def _make(self):
            """As weft.numba decorates it; with signatures it is compiled, as Numba does."""
            global compiled_calls
            with refusing():
                self._compiled = weft.numba.jit(self._signatures or None, **self._options)(self.py_func)
            for each in self._signatures if is_testing else ():
                compiled_calls += 1
                with refusing(), contextlib.suppress(NoSample):
                    try:
                        self._compiled.compile(each)
                    except weft.CompileError as error:
                        if "is not defined" not in str(error):  # itself is defined after its decoration
                            raise

        def __call__(self, *arguments, **keywords):
            global compiled_calls
            compiled_calls += 1
            if self._keeps:
                self._last = arguments
            try:
                with refusing():
                    return plain(self._compiled(*arguments, **keywords))
            finally:
                for each in arguments:
                    if type(each) is list:
                        plain(each)

        def __get__(self, instance, owner=None):
            return self if instance is None else types.MethodType(self, instance)

        def __getattr__(self, name):
            if name.startswith("__") or name in ("ufunc", "_facts"):  # what weft asks for
                raise AttributeError(name)
            raise Internal(f"a compiled function's {name}")

        def is_parallel(self):
            return ".chunk" in self._compiled._lowered(self._last, False)[0]

        def compile(self, signature):
            found = our_signatures(signature)
            if found and found[0] not in self._signatures:
                self._signatures += found
                self._make()

        def disable_compile(self, value=True):
            pass

    class Inside:
        """In the place of a function that only Numba compiles."""

        def __init__(self, what):
            self._what = what

        def __call__(self, *arguments, **keywords):
            raise Internal(self._what)

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            raise Internal(self._what)

    def jit(signature_or_function=None, *, pipeline_class=None, forceobj=False, looplift=False, **options):
        weft.numba.config.DISABLE_JIT = numba.config.DISABLE_JIT
        if weft.numba.config.DISABLE_JIT:
            given = {name: value for name, value in options.items() if name in KNOWN}
            return weft.numba.jit(signature_or_function, **given)
        unknown = [name for name in options if name not in IGNORED | KNOWN]
        inside = "object mode" if forceobj or looplift else "a pipeline" if pipeline_class is not None else ""
        inside = inside or (f"option {unknown[0]} of jit" if unknown else "")
        if (
            inside
        ):  # found out when it is called, since some modules of tests compile so while they are loaded
            found = Inside(inside)
            return found if callable(signature_or_function) else lambda function: found
        followed = {name: value for name, value in options.items() if name in KNOWN and value is not None}
        if isinstance(signature_or_function, types.FunctionType):
            return Dispatcher(signature_or_function, None, followed)
        if isinstance(signature_or_function, Dispatcher):
            return signature_or_function
        return lambda function: Dispatcher(
            getattr(function, "py_func", function), signature_or_function, followed
        )

    def compile_extra(typingctx, targetctx, func, args, return_type, flags, locals, **inner):
        if inner.get("pipeline_class") is not None:
            raise Internal("a pipeline")
        made = Dispatcher(func, args, {"parallel": bool(flags is not None and flags.auto_parallel.enabled)})
        made._keeps = True
        # Tests ask whether loops are parallel by a word in what Numba has compiled.
        code = types.SimpleNamespace(get_llvm_str=lambda: "@do_scheduling" if made.is_parallel() else "")
        return types.SimpleNamespace(entry_point=made, library=code)

    for module in (numba, numba.core.decorators):
        module.jit = module.njit = jit
    numba.core.compiler.compile_extra = compile_extra
    numba.np.extensions.cross2d = weft.numba.np.extensions.cross2d
    for module in (numba.typed, numba.typed.typedlist):
        module.List = weft.numba.typed.List
    for module in (numba.typed, numba.typed.typeddict):
        module.Dict = weft.numba.typed.Dict
    swap_ufuncs(weft, plain, Refused)
    swap_states(weft)


class Ufunc:
    """What weft's vectorize and guvectorize make, with results as Numba gives them."""

    plain = error = refused = wrong = None

    def __init__(self, made):
        self._made = made
        for name in ("__name__", "__doc__", "__module__", "__qualname__", "__wrapped__"):
            if hasattr(made, name):
                setattr(self, name, getattr(made, name))

    def __call__(self, *arguments, **keywords):
        global compiled_calls
        compiled_calls += 1
        try:
            return self.plain(self._made(*arguments, **keywords))
        except self.error as error:
            raise self.refused(str(error)) from error
        except ValueError as error:
            raise self.wrong(str(error)) from error

    def __getattr__(self, name):
        if name in ("_frozen", "gufunc_builder", "disable_compile", "build_ufunc"):
            raise Internal(f"a ufunc's {name}")
        if name.startswith("__") or name == "_made":
            raise AttributeError(name)
        found = getattr(self._made, name)
        return found if not callable(found) or name in ("py_func", "ufunc") else Ufunc(found)

    def __reduce__(self):
        return Ufunc, (self._made,)


def swap_ufuncs(weft, plain, refused):
    """Puts weft's vectorize, guvectorize and stencil in the place of Numba's; what weft has not fails the test."""
    import numba
    import numba.np.ufunc.decorators
    import numba.np.ufunc.dufunc
    import numba.np.ufunc.ufuncbuilder
    import weft.numba

    class Wrong(numba.core.errors.NumbaValueError, ValueError):
        """What tests expect of Numba for arguments that do not fit."""

    Ufunc.plain, Ufunc.error, Ufunc.refused = staticmethod(plain), weft.CompileError, refused
    Ufunc.wrong = Wrong

    def decorator(name):
        ours = getattr(weft.numba, name, None)

        def made(make):
            try:
                return Ufunc(make())
            except Exception as error:  # told when it is called: some modules decorate while they are loaded
                kept = refused(str(error)) if isinstance(error, weft.CompileError) else error
                kept = Wrong(str(error)) if isinstance(error, ValueError) else kept
                if is_testing:
                    global compiled_calls
                    compiled_calls += 1
                    raise kept from None

                def late():
                    global compiled_calls
                    compiled_calls += 1
                    raise kept from None

                return lambda *arguments, **keywords: late()

        def decorate(*arguments, **options):
            if ours is None:
                return lambda *_, **__: made(lambda: weft.numba.__getattr__(name))
            given = [*arguments, *(options[key] for key in ("func_or_mode",) if key in options)]
            if len(given) == 1 and isinstance(given[0], types.FunctionType) and name != "guvectorize":
                return made(lambda: ours(*arguments, **options))
            return lambda function: made(lambda: ours(*arguments, **options)(function))

        return decorate

    class Built:
        """In the place of Numba's classes of ufuncs, whose signatures are added."""

        def __init__(self, function, *layout, targetoptions=None, is_dynamic=False, **options):
            self._function, self._layout, self._options = (
                function,
                layout,
                {**options, **(targetoptions or {})},
            )
            self._signatures, self._ufunc = [], None

        def add(self, signature):
            self._signatures.append(signature)
            return types.SimpleNamespace(objectmode=False, signature=signature)

        def build_ufunc(self):
            if self._ufunc is None:
                signatures = [self._signatures] if self._signatures else []
                kind = decorator("guvectorize" if self._layout else "vectorize")
                self._ufunc = kind(*signatures, *self._layout, **self._options)(self._function)
            return self._ufunc

        def __call__(self, *arguments, **options):
            return self.build_ufunc()(*arguments, **options)

        def __getattr__(self, name):
            if name.startswith("_") and name != "_frozen":
                raise AttributeError(name)
            return getattr(self.build_ufunc(), name)

    for module in (numba.np.ufunc, numba.np.ufunc.ufuncbuilder):
        for name in ("UFuncBuilder", "GUFuncBuilder", "Vectorize", "GUVectorize"):
            if hasattr(module, name):
                setattr(module, name, Built)
    numba.np.ufunc.dufunc.DUFunc = Built
    for name, modules in {
        "vectorize": (numba, numba.np.ufunc, numba.np.ufunc.decorators),
        "guvectorize": (numba, numba.np.ufunc, numba.np.ufunc.decorators),
        "stencil": (numba,),
    }.items():
        for module in modules:
            setattr(module, name, decorator(name))
    # In functions they are what they stand for.
    known_path = weft._jit._names._known_path
    weft._jit._names._known_path = lambda value, place: (
        "weft.stencil" if value is numba.stencil else known_path(value, place)
    )


def swap_states(weft):
    """Lets tests that set the states of Numba's own random and np.random set those of weft's, too."""
    import threading

    from numba import _helperlib

    theirs = _helperlib.rnd_set_state

    def set_state(pointer, state):
        theirs(pointer, state)
        of_python = pointer == _helperlib.rnd_get_py_state_ptr()
        if of_python or pointer == _helperlib.rnd_get_np_state_ptr():
            stream = weft._core._stream_of_thread(threading.Lock(), of_python)
            stream.parts = (4, list(state[1]), [], state[0], 0, 0)
            stream.spare = (0, 0.0)

    _helperlib.rnd_set_state = set_state


def swap_kernels():
    """Puts weft.numba.cuda's names in the place of those of Numba's simulator of CUDA."""
    import numba.cuda
    import weft.cuda._kernel
    import weft.numba.cuda.random

    make_launch = weft.cuda._kernel._launch

    class Refused(numba.core.errors.TypingError, weft.CompileError):
        """What tests expect of Numba where a kernel cannot be compiled."""

    def counting(*launch):
        launched = make_launch(*launch)

        def call(*arguments):
            global compiled_calls
            compiled_calls += 1
            try:
                return launched(*arguments)
            except weft.CompileError as error:
                raise Refused(str(error)) from error

        return call

    def inside(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise Internal(f"a kernel's {name}")

    weft.cuda._kernel._launch = counting
    weft.cuda._kernel.Kernel.__getattr__ = inside
    for name in dir(weft.numba.cuda):
        if not name.startswith("_") and name not in ("cudadrv", "devicearray"):  # tests ask Numba's
            setattr(numba.cuda, name, getattr(weft.numba.cuda, name))
    sys.modules["numba.cuda.random"] = weft.numba.cuda.random


def keep_lines():
    """Keeps the lines of what exec() runs, and of what compile() makes of a text that is in no file."""
    plain_exec, plain_compile = builtins.exec, builtins.compile

    def kept(source):
        name = f"<exec {len(linecache.cache)}>"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        return name

    def exec_with_lines(source, given=None, own=None, /):
        frame = sys._getframe(1)
        if given is None:
            given, own = frame.f_globals, frame.f_locals if own is None else own
        if isinstance(source, str):
            source = plain_compile(source, kept(source), "exec")
        plain_exec(source, given, own)

    def compile_with_lines(source, filename, mode, *arguments, **keywords):
        if isinstance(source, str) and filename == "<string>":
            filename = kept(source)
        return plain_compile(source, filename, mode, *arguments, **keywords)

    builtins.exec, builtins.compile = exec_with_lines, compile_with_lines


def flat(suite):
    """The tests of a suite, one after another."""
    for each in suite:
        if isinstance(each, unittest.TestSuite):
            yield from flat(each)
        else:
            yield each


def outcome_of(test, weft):
    """A test's outcome, and the exception's line where it failed."""
    global compiled_calls
    compiled_calls = 0
    result = unittest.TestResult()
    seen = []
    add_error, add_failure = result.addError, result.addFailure
    result.addError = lambda test, error: (seen.append(error), add_error(test, error))
    result.addFailure = lambda test, error: (seen.append(error), add_failure(test, error))
    result.addSubTest = lambda test, subtest, error: error is not None and seen.append(error)

    def late(*_):
        raise TooLong

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            test.run(result)
    except TooLong:
        return "failed", "TooLong: it does not end"
    finally:
        signal.alarm(0)
    if result.skipped or result.expectedFailures:
        return "skipped", ""
    if not seen:
        return ("passed" if compiled_calls or not weft else "nothing"), ""
    kind, error, _ = seen[0]
    while error.__cause__ is not None and not isinstance(error, Internal):
        error = error.__cause__
    if isinstance(error, AttributeError) and "memoryview' object has no attribute 'refcount'" in str(error):
        return "internal", "the count of users in a result's memory"
    if any(issubclass(each[0], Internal) for each in seen) or isinstance(error, Internal):
        return "internal", str(error)
    text = str(error).split("\n")[0].split(": ", 1)
    line = text[1] if kind.__name__ == "Refused" and len(text) > 1 else text[0]
    return "failed", f"{kind.__name__}: {line}"


def main():
    """Runs the module."""
    global is_testing
    settings = json.loads(open(sys.argv[1]).read())
    with open(settings["out"], "a", buffering=1) as out:
        try:
            if settings["weft"]:
                swap()
                if settings["module"].startswith("numba.cuda."):
                    swap_kernels()
                keep_lines()
            module = importlib.import_module(settings["module"])
            tests = list(flat(unittest.defaultTestLoader.loadTestsFromModule(module)))
        except Exception as error:
            out.write(json.dumps({"broken": "".join(traceback.format_exception_only(error))[-300:]}) + "\n")
            return
        for test in tests:
            name = "::".join(test.id().rsplit(".", 2)[1:])
            if name in settings["done"]:
                continue
            out.write(json.dumps({"begins": name}) + "\n")
            is_testing = True
            outcome, reason = outcome_of(test, settings["weft"])
            out.write(json.dumps({"test": name, "outcome": outcome, "reason": reason[:300]}) + "\n")
        out.write(json.dumps({"ended": True}) + "\n")


if __name__ == "__main__":
    main()
