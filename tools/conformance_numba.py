"""Numba's own tests, from its wheel, with weft's functions in the place of its own: rates and lists.

    tools/conformance_numba.py --python PYTHON [--group NAME] [--only TEXT] [--write] [--again] [--numba] [--jobs N]

PYTHON is the interpreter of an environment that has Numba and NumPy, for the Python that weft is built for. weft itself
does not need Numba. Prints for each module how many of the tests that compile something Numba passes, how many of those
weft passes, and the rate. What fails is listed with its reason in tests/conformance/expected/numba_GROUP.toml; a
failure without entry, and an entry of a test that passes, fail the run.

    --group NAME  lang (the language), np (NumPy's functions), random, ufunc, stencil or cuda (kernels); several times;
                  else those that have a list
    --only TEXT   the modules whose name has TEXT in it; several times: any of them
    --write       write the lists anew
    --again       do not run; judge what the last run has left in build/conformance/numba/
    --numba       run Numba itself again, too; else its last outcomes count
    --alone       run weft alone: Numba counts as passing all that it does not skip, so that rates are bounds from below
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).parents[1]
HERE = ROOT / "tests" / "conformance"
LEFT = ROOT / "build" / "conformance" / "numba"
GROUPS = {
    "lang": (
        "array_attr array_constants array_iterators auto_constants blackscholes boundscheck builtins casting "
        "chained_assign closure complex comprehension controlflow conversion dataflow dyn_array dyn_func enums "
        "errormodels exceptions extended_arg flow_control func_lifetime generators globals indexing inlining "
        "interproc intwidth iteration jitmethod lists literal_dispatch locals mandelbrot map_filter_reduce mathlib "
        "maxmin mixed_tuple_unroller multi3 nan nested_calls numberctor numbers numconv object_mode operators "
        "optional overlap practical_lowering_issues print python_int range recursion return_values slices sort ssa "
        "storeslice try_except tuples unicode_names unpack_sequence usecases"
    ),
    "np": (
        "array_exprs array_manipulation array_methods array_reductions array_return fancy_indexing linalg np_functions "
        "polynomial recarray_usecases record_dtype vectorization"
    ),
    "random": "np_randomgen random",
    "ufunc": (
        "ufuncs npyufunc/dufunc npyufunc/errors npyufunc/gufunc npyufunc/parallel_low_work "
        "npyufunc/parallel_ufunc_issues npyufunc/ufunc npyufunc/ufuncbuilding npyufunc/update_inplace "
        "npyufunc/vectorize_decor"
    ),
    "stencil": "stencils",
    # Of these Numba runs those that its simulator of CUDA passes.
    "cuda": (
        "cuda/alignment cuda/array cuda/array_args cuda/array_methods cuda/atomics cuda/blackscholes cuda/boolean "
        "cuda/casting cuda/complex cuda/complex_kernel cuda/const_string cuda/constmem cuda/cooperative_groups "
        "cuda/cuda_jit_no_types cuda/datetime cuda/device_func cuda/enums cuda/errors cuda/exception cuda/forall "
        "cuda/freevar cuda/frexp_ldexp cuda/globals cuda/idiv cuda/intrinsics cuda/iterators cuda/lang cuda/laplace "
        "cuda/localmem cuda/mandel cuda/math cuda/matmul cuda/montecarlo cuda/nondet cuda/operator cuda/powi "
        "cuda/print cuda/py2_div_issue cuda/random cuda/record_dtype cuda/recursion cuda/reduction "
        "cuda/retrieve_autoconverted_arrays cuda/slicing cuda/sm cuda/sm_creation cuda/sync cuda/transpose "
        "cuda/ufuncs cuda/userexc cuda/vector_type cuda/warp_ops"
    ),
}
GROUP_OF = {name: group for group, names in GROUPS.items() for name in names.split()}


LONGEST = 100  # seconds that a test takes

# What no function of Python's asks for, by the test or by how it fails: such tests stay as they are.
NUMBAS = [
    (
        r"test_random\.py.*test_numpy_(beta|chisquare|f|gamma|standard_gamma|negative_binomial|vonmises):",
        "Numba's np.random draws these as CPython's random does; weft's draws NumPy's numbers",
    ),
    (
        r"test_random_(gauss|normalvariate|lognormvariate):",
        "Numba's random draws normal numbers as NumPy does; weft's draws CPython's",
    ),
    (r"test_random_random:", "Numba seeds random as NumPy does; weft as CPython"),
    (r"test_random_getrandbits:", "Numba's random bits are a uint64; weft's an int"),
    (r"test_numpy_(logseries|rayleigh):", "NumPy takes such parameters; Numba refuses them"),
    (r"test_bitgen_funcs", "Numba's own functions of a bit generator"),
    (
        r"test_(check_types|dirichlet_exceptions|noncentral_chisquare_exceptions):",
        "Numba's own text of an error",
    ),
    (r"a constant for 'axis'", "an axis that is no constant"),
    (r"test_multi3", "a loop of 2**56 iterations, which asks for Ctrl-C between them"),
    (r"Integers to negative integer powers", "negative powers of integers raise ValueError, as in NumPy"),
    (r"test_mathlib", "the last bits of a function of math"),
    (r"test_dyn_array.*(non_const_str|invalid_str)", "Numba's own error of a dtype"),
    (r"test_conversion.*OverflowError not raised", "Numba's own type of memoryviews in a signature"),
    (r"TestRaising.*File |test_user_code_error_traceback", "Numba's own lines of a traceback"),
    (r"(refc|Refc|ref count|has no attribute 'refcount')", "Numba's own counts of users"),
    (
        r"LiteralList|literal list|TestLiteralLists|TestListInitialValues",
        "Numba's own literal lists, of several types",
    ),
    (r"TestTypedList|numba\.typed", "Numba's own typed.List"),
    (r"_make_(list|dict)\(\) is a|is a (Integer|UnicodeType|type), which", "Numba's own types as values"),
    (r"numba\.misc\.timsort", "Numba's own sort, from inside"),
    (r"jitclass|Jitclass|JitClass", "Numba's own jitclass"),
    (
        r"TestDisabledJIT|TestReturnValues|TestInlining|test_jit_inner_function_npm|re?jit",
        "Numba's own dispatcher",
    ),
    (
        r"cannot reflect|test_setslice3_resize|test_list_of_list_reflected|TestListOfList",
        "Numba refuses lists of lists",
    ),
    (r"object mode|forceobj|objmode", "Numba's object mode"),
    (r"TestLoopTypesDatetime", "Numba stores no dates in coarser units; NumPy does"),
    (r"TestFloatingPointExceptions.* != [12]$", "weft tells of floating-point errors where np.errstate asks"),
    (
        r"Can't pickle local|ValueError: double|<locals>",
        "functions are pickled by the place where they are defined",
    ),
    (r"test_g?ufunc_raise", "results stay as they were where a function raises"),
    (r"CFunctionType", "functions of ctypes"),
    (r"test_power_integer", "negative powers of integers raise ValueError, as in NumPy"),
    (r"test_issue_2006", "powers have the dtype that NumPy gives them"),
    (r"test_gufunc_attributes2", "a layout without axes makes no ufunc with methods"),
    (r"test_ufunc_at_0D", "Numba's own class of an error"),
    (r"test_reduceat_out_kw", "Numba folds in place what it still reads"),
    (r"test_reduce_zero_axis", "initial=None means that there is no identity, as in NumPy"),
    (r"type and shape signature mismatch|scalar type int32 given", "Numba's own text of an error"),
    (r"original->remapped|test_mismatch_loop_shape", "Numba's own text of an error"),
    (r"test_ufunc_at_experimental_warning", "Numba's warning that at() is an experiment"),
    (r"TypeError: argument 'args' of fn|z_t|nonexistent", "Numba's own class of an error"),
    (r"(not found in|does not match|Regex didn't match)", "Numba's own text of an error"),
    (
        r"(Error\w*|ForbiddenConstruct) not raised|<class 'numba\.core\.errors|Unexpected successful",
        "Numba refuses this; weft compiles it",
    ),
    (r"not raised", "Numba refuses this; weft compiles it"),
    (r"^\S+: ValueError: ERROR", "Numba does not raise again; weft does"),
    (r"SourceError", "a function of exec(), which has no source"),
    (r"numpy\.random", "np.random in compiled functions"),
    (r"test_slice_(passing|constructor)", "Numba gives numbers for a slice's bounds that are None"),
    (r"with a str in it|a list of \S+ is given str", "lists of texts that are given, or of several types"),
    (r"a dictionary|is a Dict|dictionaries|is a set|bytes literals", "dictionaries, sets and bytes"),
    (r"has no attribute 'nopython_signatures'", "Numba's own dispatcher"),
    (r"test_(divmod|pow)\S*: .*when comparing", "overflow and the last bits of powers"),
    (r"test_return_global_array", "Numba gives the global itself"),
    (r"test_disable_nrt", "Numba's option to count no memory"),
    (r"array\(U\d+|for U\d+ and|dtype of U\d+|Unicode arrays", "sorts, sets and dtypes of arrays of texts"),
    (
        r"no array of (str|None)|numpy\.ravel is not|test_isobj_functions",
        "None and texts in the place of arrays",
    ),
    (
        r"TestLinalg\w+::\w+: LinAlgError|sum_axis_tuple_duplicates|tri[lu]_indices_from",
        "Numba's own class of an error",
    ),
    (
        r"test_linalg\.py.*(False is not true|True != False)",
        "results of LAPACK have the order of C, as NumPy's; Numba's that of Fortran",
    ),
    (r"test_contiguity_warnings", "Numba's own warning of arrays with gaps"),
    (r"test_dot_(mm|vm)", "an array without elements is given back as another object"),
    (r"test_issue7507", "what is inside of Numba"),
    (r"_copy_to_fortran_order|: AttributeError: _dispatcher", "what is inside of Numba"),
    (r"test_searchsorted_\w+", "searches in arrays that are not sorted"),
    (
        r"test_(corrcoef|cov)_basic",
        "one row gives a number in NumPy; whether there is one is not known before",
    ),
    (r"test_np_where_3", "where() of numbers gives a number; NumPy's result is an array without dimensions"),
    (r"test_broadcast_arrays_scalar_input", "Numba gives numbers a dimension; NumPy does not"),
    (r"test_broadcast_to", "a view that repeats nothing is given back as the array itself"),
    (r"test_sliding_window_view:", "Numba's windows may be written; NumPy's may not"),
    (
        r"(after_ravel|contiguousarray_readonly|fortranarray_readonly):",
        "what is a copy or a view may be written only where both may",
    ),
    (r"test_flip_basic", "an array without dimensions is given back as an array"),
    (r"test_np_frombuffer\w*: AssertionError: \d != \d", "Numba's own counts of users"),
    (r"tobytes", "bytes"),
    (r"test_array_view", "views as structures"),
    (r"numpy\.polynomial\.\w+|test_poly_\w+", "classes and helpers of numpy.polynomial"),
    (r"scalar buffer is readonly", "the test writes into a structure that NumPy gives as read-only"),
    (r"test_record_return", "an element of an array is its memory, as in NumPy; Numba copies it"),
    (r"test_angle_return_type", "dtypes as results"),
    (r"dtype_with_titles", "titles of fields"),
    (r"test_fancy_indexing.*is a tuple, which", "global tuples of slices and arrays"),
    (r"test_sinc:", "sinc of a float32 is computed in float32"),
    (r"test_sum_const_negative", "an axis that no array has is refused before the call"),
    (r"_AssertRaisesContext", "Numba refuses this; weft compiles it"),
    (r"AssertionError: ['\"]|_(exceptions?|errors)\w*:|_exception_", "Numba's own text of an error"),
]


def precise(test, why):
    """The reason of a failure that is listed."""
    for pattern, text in NUMBAS:
        if re.search(pattern, f"{test}: {why}"):
            return text
    return why


sys.path.insert(0, str(HERE))
import expectations  # noqa: E402


def file_of(name):
    """The file of a module of tests, in Numba's package."""
    folder, _, last = name.rpartition("/")
    if folder == "cuda":
        return f"cuda/tests/cudapy/test_{last}.py"
    return f"tests/{folder}/test_{last}.py" if folder else f"tests/test_{last}.py"


def group_of(file):
    """The list that a file's failures are in."""
    if file.startswith("cuda/"):
        return "numba_cuda"
    return "numba_" + GROUP_OF[file.removeprefix("tests/").removesuffix(".py").replace("test_", "", 1)]


def run_module(python, name, weft):
    """The outcomes of a module's tests; a test that ends the process fails, and the rest runs in another."""
    found = {}
    for _ in range(40):
        with tempfile.TemporaryDirectory(prefix="weft-numba-") as folder:
            out, settings = pathlib.Path(folder, "out"), pathlib.Path(folder, "settings.json")
            settings.write_text(
                json.dumps(
                    {
                        "module": "numba." + file_of(name).removesuffix(".py").replace("/", "."),
                        "weft": weft,
                        "done": sorted(found),
                        "out": str(out),
                    }
                )
            )
            environment = {
                **os.environ,
                "PYTHONPATH": str(ROOT / "build/release/python"),
                "PYTHONHASHSEED": "0",
                "NUMBA_ENABLE_CUDASIM": "1" if name.startswith("cuda/") else "0",
                "WEFT_CACHE_DIR": str(LEFT / "kernels"),
            }
            process = subprocess.Popen(
                [python, str(HERE / "numba_tests.py"), str(settings)],
                cwd=folder,
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            while process.poll() is None:  # a loop of machine code does not end by the alarm of a test
                time.sleep(0.2)
                if out.exists() and time.time() - out.stat().st_mtime > LONGEST:
                    process.kill()
            running, ended = None, False
            for line in out.read_text().splitlines() if out.exists() else ():
                told = json.loads(line)
                running = told.get("begins", running)
                if "test" in told:
                    found[told["test"]], running = (told["outcome"], told["reason"]), None
                if "broken" in told:
                    print(f"{name}: {told['broken'].strip()}", file=sys.stderr)
                ended |= "ended" in told or "broken" in told
            if ended:
                return found
            if running is None:
                print(f"{name}: ended with {process.returncode} between tests", file=sys.stderr)
                return found
            found[running] = ("failed", f"Crash: the process ended with {process.returncode}")
    return found


def outcomes(python, names, weft, path, jobs, run):
    """By module; those of modules that are not run are what the last run has left."""
    kept = json.loads(path.read_text()) if path.exists() else {}
    waiting = [name for name in names if run or name not in kept]
    with ThreadPoolExecutor(jobs) as pool:
        for name, found in zip(
            waiting, pool.map(lambda name: run_module(python, name, weft), waiting), strict=True
        ):
            kept[name] = found
            path.write_text(json.dumps(kept, indent=0))
    return {name: kept[name] for name in names}


def main():
    """Runs, prints and judges."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", required=True)
    parser.add_argument("--group", action="append", choices=[*GROUPS])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--numba", action="store_true")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    LEFT.mkdir(parents=True, exist_ok=True)
    groups = options.group or [each for each in GROUPS if (HERE / f"expected/numba_{each}.toml").exists()]
    of_groups = [name for name, group in GROUP_OF.items() if group in groups]
    names = [n for n in of_groups if not options.only or any(text in n for text in options.only)]
    ours = outcomes(options.python, names, True, LEFT / "weft.json", options.jobs, not options.again)
    if options.alone:
        theirs = {name: dict.fromkeys(ours[name], ("passed", "")) for name in names}
    else:
        theirs = outcomes(options.python, names, False, LEFT / "numba.json", options.jobs, options.numba)
    passed, failures, left_out = {}, {}, 0
    print(f"{'module':26} {'Numba':>6} {'weft':>6} {'rate':>7}")
    for name in names:
        good = [test for test, told in theirs[name].items() if told[0] == "passed"]
        counted = [t for t in good if ours[name].get(t, ("failed", ""))[0] in ("passed", "failed")]
        left_out += len(good) - len(counted)
        bad = {t: ours[name].get(t, ("failed", "Missing: it did not run"))[1] for t in counted}
        bad = {t: why for t, why in bad.items() if ours[name].get(t, ("failed",))[0] == "failed"}
        file = file_of(name)
        passed.update(dict.fromkeys((f"{file}::{t}" for t in counted), 0))
        failures.update({f"{file}::{t}": precise(f"{file}::{t}", why) for t, why in bad.items()})
        if counted:
            rate = 100 * (1 - len(bad) / len(counted))
            print(f"{name:26} {len(counted):6} {len(counted) - len(bad):6} {rate:6.1f}%")
    if passed:
        good = len(passed) - len(failures)
        print(f"{'all':26} {len(passed):6} {good:6} {100 * good / len(passed):6.1f}%")
    print(f"{left_out} more ask for Numba's own compiler, or compile nothing")
    folder = HERE / "expected"
    if options.write:
        expectations.write(folder, passed, failures, group_of, not options.only, small=1)
        return 0
    complaints = list(expectations.complaints(folder, passed, failures, group_of))
    print(*complaints[:200], sep="\n")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
