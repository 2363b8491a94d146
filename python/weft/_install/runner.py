"""python -m weft: runs a program as Python would, with weft where it imports NumPy.

    python -m weft [options] program.py [arguments]
    python -m weft [options] -m module [arguments]
    python -m weft [options] -c code [arguments]
    python -m weft [options] [-] [arguments]

Without a program, or with -, the program is read from standard input; a terminal gets an interactive session.

options:
  --report            at the end, print to standard error what ran where and what NumPy did
  --fallback MODE     where NumPy does what weft does not have: silent (the default), warn, or error
  --include NAMES     packages that get weft, with commas between; others than those that do by themselves
  --exclude NAMES     packages or modules that get NumPy
  -h, --help          print this text
  --version           print weft's version

Processes that the program starts get weft as well: WEFT_INSTALL=1 is set for them.
"""

import os
import sys
from types import ModuleType

_HERE = os.path.dirname(__file__)


class _Usage(Exception):
    """What is wrong with the command line."""


def _value(option, rest):
    if not rest:
        raise _Usage(f"{option} wants a value")
    return rest.pop(0)


def _parsed(words):
    """The options of weft's own, what is to be run ('file', 'module', 'code', 'input'), and the program's words."""
    options, rest = {}, list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word in ("-h", "--help", "--version", "--report"):
            options[word.lstrip("-")] = True
        elif name in ("--fallback", "--include", "--exclude"):
            options[name[2:]] = value if equals else _value(name, rest)
        elif word in ("-m", "-c"):
            return options, {"-m": "module", "-c": "code"}[word], _value(word, rest), rest
        elif word.startswith(("-m", "-c")) and len(word) > 2 and word[1] != "-":
            return options, {"-m": "module", "-c": "code"}[word[:2]], word[2:], rest
        elif word == "-":
            return options, "input", "-", rest
        elif word.startswith("-"):
            raise _Usage(f"unknown option {word}")
        else:
            return options, "file", word, rest
    return options, "input", "", rest


def _new_main():
    """An empty `__main__`, as Python makes it."""
    import builtins

    main = ModuleType("__main__")
    main.__builtins__ = builtins
    if sys.version_info < (3, 14):
        main.__annotations__ = {}
    sys.modules["__main__"] = main
    return main


def _set_path(first):
    if not sys.flags.safe_path:
        sys.path[0] = first


def _run(code, main):
    exec(code, main.__dict__)


def _run_file(path, words):
    from pkgutil import get_importer

    sys.argv[:] = [path, *words]
    if get_importer(path) is not None:  # a folder or an archive with a __main__.py
        import runpy

        whole = os.path.abspath(path)
        if sys.flags.safe_path:
            sys.path.insert(0, whole)
        else:
            sys.path[0] = whole
        _new_main()
        runpy._run_module_as_main("__main__", False)
        return
    from importlib.machinery import SourceFileLoader, SourcelessFileLoader

    whole = os.path.abspath(path)
    try:
        with open(whole, "rb") as file:
            source = file.read()
    except OSError as error:
        print(
            f"{sys.executable}: can't open file {whole!r}: [Errno {error.errno}] {error.strerror}",
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    _set_path(os.path.dirname(os.path.realpath(path)))
    main = _new_main()
    main.__file__ = whole
    main.__cached__ = None
    if path.endswith(".pyc"):
        main.__loader__ = SourcelessFileLoader("__main__", whole)
        code = main.__loader__.get_code("__main__")
    else:
        main.__loader__ = SourceFileLoader("__main__", whole)
        code = compile(source, whole, "exec", dont_inherit=True)
    _run(code, main)


def _run_module(name, words):
    import runpy

    sys.argv[:] = ["-m", *words]
    _new_main()
    runpy._run_module_as_main(name)


def _run_text(text, name, main):
    from importlib.machinery import BuiltinImporter

    main.__loader__ = BuiltinImporter
    _run(compile(text, name, "exec", dont_inherit=True), main)


def _run_code(text, words):
    sys.argv[:] = ["-c", *words]
    _set_path("")
    main = _new_main()
    if sys.version_info >= (3, 13):
        import linecache

        linecache.cache["<string>"] = len(text), None, text.splitlines(keepends=True), "<string>"
    _run_text(text + "\n", "<string>", main)


def _run_input(name, words):
    sys.argv[:] = [name, *words]
    _set_path("")
    main = _new_main()
    if not sys.stdin.isatty():
        main.__file__ = "<stdin>"
        main.__cached__ = None
        _run_text(sys.stdin.buffer.read(), "<stdin>", main)
        return
    import code

    try:
        import readline  # noqa: F401
    except ImportError:
        pass
    about = f"Python {sys.version} on {sys.platform}, with weft for NumPy"
    code.interact(about, local=main.__dict__, exitmsg="")


_RUN = {"file": _run_file, "module": _run_module, "code": _run_code, "input": _run_input}


def _without_own_frames(trace):
    """The traceback from the program's first frame on; the frames of runpy that -m always shows included."""
    first, each = trace, trace
    while each is not None:
        if each.tb_frame.f_code.co_filename.startswith(_HERE):
            first = each.tb_next
        elif each is first and each.tb_frame.f_code.co_filename == os.path.join(
            os.path.dirname(_HERE), "__main__.py"
        ):
            first = each.tb_next
        if "__main__" == each.tb_frame.f_globals.get("__name__") and each.tb_frame.f_globals is vars(
            sys.modules["__main__"]
        ):
            break
        each = each.tb_next
    return first


def _show_own_frames_never(error):
    """Lets Python end as it does after the program's error, and show the program's frames alone."""
    hook = sys.excepthook
    trace = _without_own_frames(error.__traceback__)

    def excepthook(kind, value, _):
        sys.excepthook = hook
        value.__traceback__ = trace
        hook(kind, value, trace)

    sys.excepthook = excepthook


def main(words):
    """Runs what the command line says. Returns the exit status of what is weft's own; else ends as the program does."""
    try:
        options, kind, what, rest = _parsed(words)
        if options.get("fallback", "silent") not in ("silent", "warn", "error"):
            raise _Usage("--fallback is one of silent, warn, error")
    except _Usage as error:
        print(f"python -m weft: {error}\nTry 'python -m weft --help'.", file=sys.stderr)
        return 2
    if "help" in options:
        print(__doc__.strip())
        return 0
    if "version" in options:
        from weft import __version__

        print(f"weft {__version__}")
        return 0
    from weft._install import install, report

    for name in ("include", "exclude"):
        variable = f"WEFT_INSTALL_{name.upper()}"
        if name in options:
            before = os.environ.get(variable)
            os.environ[variable] = f"{before},{options[name]}" if before else options[name]
    if "fallback" in options:
        os.environ["WEFT_FALLBACK"] = options["fallback"]
    os.environ["WEFT_INSTALL"] = "1"
    if "report" in options:
        report.at_exit("1")
    install(fallback=options.get("fallback"))
    try:
        _RUN[kind](what, rest)
    except SystemExit:
        raise
    except BaseException as error:
        _show_own_frames_never(error)
        raise
    return 0
