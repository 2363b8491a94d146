"""weft's LLVM lives beside another package's: llvmlite (Numba's) and weft compile and run in one process."""

import pathlib
import re
import subprocess
import sys

import pytest
import weft

WEFT = """
import weft
turn = 0

def run_weft():
    # Another expression each time, so that each is compiled.
    global turn
    turn += 1
    a = weft.arange(20_000.0)
    x = 2 * a + turn
    for _ in range(turn):
        x = weft.sqrt(x * x)
    assert x.tolist() == [2.0 * i + turn for i in range(20_000)]
    kernels = weft.kernel_history()
    assert kernels and all(kernel["compiled"] for kernel in kernels)
"""

LLVMLITE = """
import ctypes
import llvmlite.binding as llvm
llvm.initialize_native_target()
llvm.initialize_native_asmprinter()
keep = []

def run_llvmlite():
    module = llvm.parse_assembly('''
        define double @triple(double %x) {
            %r = fmul double %x, 3.0
            ret double %r
        }''')
    module.verify()
    machine = llvm.Target.from_default_triple().create_target_machine(opt=3)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    keep.append(engine)
    address = engine.get_function_address("triple")
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)(7.0) == 21.0
"""

RUN = {"weft": "run_weft()", "llvmlite": "run_llvmlite()"}


@pytest.mark.parametrize(
    "imports", [(WEFT, LLVMLITE), (LLVMLITE, WEFT)], ids=["weft first", "llvmlite first"]
)
@pytest.mark.parametrize("runs", [("weft", "llvmlite"), ("llvmlite", "weft")], ids=" then ".join)
def test_both_compile_in_one_process(imports, runs):
    program = "\n".join([*imports, *(RUN[name] for name in runs * 2), "print('ok')"])
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "ok\n"), result.stderr


def test_the_engine_shows_only_its_own_symbols():
    library = pathlib.Path(weft.__file__).parent / "libweft.so"
    command = ["nm", "-D", "--defined-only", "--format=just-symbols", library]
    listing = subprocess.run(command, capture_output=True, text=True, check=True)
    names = listing.stdout.split()
    assert names, "nothing is exported: the test looks at the wrong file"
    # Names in namespace weft, perhaps as vtable, typeinfo, guard or thunk, and C names with weft's prefix.
    own = re.compile(r"weft_|_Z(T[VTISC]|GV|T[HW]|T[hv][n\d_]+_)?Z?N[KRO]*4weft")
    assert [name for name in names if not own.match(name)] == []
