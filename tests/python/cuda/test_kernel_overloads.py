"""What kernels tell of themselves by the types of their arguments; specialize, forall, configure and extensions."""

import io
import os
import re

import numpy
import pytest
import weft
from on_gpu import needs_gpu
from weft import cuda, numba
from weft.cuda import _overloads
from weft.numba import cuda as numbas
from weft.numba import float32, float64, int32, int64, void


def made(module, **options):
    @module.jit(**options)
    def shifted(a, out, by):
        memory = module.shared.array(64, numpy.float32)
        i = module.grid(1)
        memory[module.threadIdx.x] = by
        module.syncthreads()
        if i < a.size:
            out[i] = a[i] + memory[63 - module.threadIdx.x]

    return shifted


def launch(kernel, kind="f8", by=2.0, threads=64):
    a, out = numpy.arange(64, dtype=kind), numpy.zeros(64)
    kernel[1, threads](a, out, by)
    assert out.tolist() == [x + by for x in range(64)]


FLOATS = ("array(float64, 1d)", "array(float64, 1d)", "float64")
INTEGERS = ("array(int64, 1d)", "array(float64, 1d)", "int64")


def test_overloads_of_weft():
    kernel = made(cuda)
    assert kernel.signatures == [] and kernel.overloads == {} and kernel.inspect_asm() == {}
    launch(kernel)
    launch(kernel, "i8", 2)
    assert {*kernel.signatures} == {FLOATS, INTEGERS} == {*kernel.overloads}
    assert kernel.overloads[FLOATS].argument_types == FLOATS
    for same in (
        "void(array(float64, 1d), array(float64, 1d), float64)",
        (float64[:], float64[::1], float64),
        void(float64[:], float64[:], float64),
        ("array(float64, 1d)", "array(float64, 1d)", float),
    ):
        assert same in kernel.overloads and kernel.overloads.get(same) is not None
    assert kernel.overloads.get("void(float64)") is None and (float64,) not in kernel.overloads
    with pytest.raises(
        KeyError, match=r"shifted\(\) is not compiled for \(float64\); it is for \(array\(int64, 1d\),"
    ):
        kernel.overloads[(float64,)]


def test_overloads_of_numba():
    kernel = made(numbas)
    launch(kernel)
    launch(kernel, "i8", 2)
    array = float64[:]
    assert {*kernel.signatures} == {(array, array, float64), (int64[:], array, int64)}
    assert (float64[::1], float64[::1], float64) in kernel.overloads
    assert kernel.overloads["void(int64[:], float64[:], int64)"].argument_types[2] == int64


def test_texts(device):
    kernel = made(cuda)
    launch(kernel)
    launch(kernel, "i8", 2)
    for texts in (kernel.inspect_llvm(), kernel.inspect_asm()):
        assert {*texts} == {FLOATS, INTEGERS} and all("shifted" in text for text in texts.values())
    assert ("target triple" in kernel.inspect_llvm(FLOATS)) and kernel.inspect_llvm(
        FLOATS
    ) != kernel.inspect_llvm(INTEGERS)
    assert kernel.inspect_asm(FLOATS) == kernel.overloads[FLOATS].inspect_asm(cc=(9, 0))
    assert (".visible .entry" in kernel.inspect_asm(FLOATS)) == (device == "cuda")
    file = io.StringIO()
    kernel.inspect_types(file=file)
    told = file.getvalue()
    assert told.count("=" * 80) == 2 and f"shifted ({', '.join(FLOATS)})" in told and "f64" in told
    file = io.StringIO()
    kernel.inspect_types(file, INTEGERS)
    assert file.getvalue().count("=" * 80) == 1


def test_numbers_of_gpus(device):
    kernel = made(cuda)
    launch(kernel)
    launch(kernel, "i8", 2)
    launch(kernel, "i8", 2)
    assert kernel.get_const_mem_size() == {FLOATS: 0, INTEGERS: 0}
    assert kernel.get_const_mem_size(INTEGERS) == 0
    assert kernel.get_max_threads_per_block(FLOATS) == 1024
    assert kernel.get_shared_mem_per_block() == {FLOATS: 256, INTEGERS: 256}
    assert {*kernel.get_local_mem_per_thread()} == {FLOATS, INTEGERS}
    assert kernel.get_local_mem_per_thread(INTEGERS) >= 0
    if device == "cpu":
        with pytest.raises(NotImplementedError, match=r"shifted\(\) was compiled for the CPU: "):
            kernel.get_regs_per_thread()
    else:
        assert {*kernel.get_regs_per_thread()} == {FLOATS, INTEGERS}
        assert kernel.get_regs_per_thread(INTEGERS) >= 1


def test_the_most_threads_of_a_block():
    limited = made(cuda, launch_bounds=128)
    launch(limited)
    assert limited.get_max_threads_per_block() == {FLOATS: 128}


def test_memory_of_threads(device):
    @cuda.jit
    def reversed_by_each(a):
        own = cuda.local.array(16, numpy.float64)
        for i in range(a.size):
            own[i] = a[a.size - 1 - i]
        for i in range(a.size):
            a[i] = own[i]

    @cuda.jit
    def nothing(a):
        pass

    a = numpy.arange(16.0)
    reversed_by_each[1, 1](a)
    nothing[1, 1](a)
    assert a.tolist() == [*range(16)][::-1]
    kind = ("array(float64, 1d)",)
    if device == "cpu":  # what a GPU's compiler makes of it is its own
        assert reversed_by_each.get_local_mem_per_thread() == {kind: 128}
        assert nothing.get_local_mem_per_thread() == {kind: 0}
    assert nothing.get_shared_mem_per_block() == {kind: 0}


def test_blocks_that_wait_for_each_other(device):
    kernel = made(cuda)
    launch(kernel)
    overload = kernel.overloads[FLOATS]
    with pytest.raises(ValueError, match="1024 is the most"):
        overload.max_cooperative_grid_blocks(2048)
    if device == "cuda":
        assert overload.max_cooperative_grid_blocks(64) >= cuda.get_current_device().MULTIPROCESSOR_COUNT
        with pytest.raises(NotImplementedError, match=r"was compiled for blocks of \(64, 1, 1\) alone"):
            overload.max_cooperative_grid_blocks(128)
        overload = kernel.specialize(numpy.arange(64.0), numpy.zeros(64), 2.0).overloads[FLOATS]
        few, many = (overload.max_cooperative_grid_blocks(block, dynsmemsize=64) for block in ((16, 16), 32))
        assert 1 <= few < many
        return
    for block in (64, (16, 16), (4, 4, 4)):
        assert overload.max_cooperative_grid_blocks(block, dynsmemsize=64) == 32768


@needs_gpu
def test_no_more_blocks_than_wait_for_each_other():
    @cuda.jit
    def all_come(a):
        cuda.cg.this_grid().sync()
        a[cuda.grid(1)] += 1

    with weft.device("cuda"):
        a = numpy.zeros(64 * 10_000)
        all_come[1, 64](a)
        most = all_come.overloads[("array(float64, 1d)",)].max_cooperative_grid_blocks(64)
        all_come[most, 64](a)
        assert a.sum() == 64 * (most + 1)
        with pytest.raises(ValueError, match=f"runs {most} blocks"):
            all_come[most + 1, 64](a)


def tool(folder, name, text):
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_machine_code_of_gpus(device, tmp_path, monkeypatch):
    kernel = made(cuda, max_registers=40)
    launch(kernel)
    if device == "cpu":
        with pytest.raises(NotImplementedError, match=r"inspect_asm\(\) has its machine code"):
            kernel.inspect_sass()
        return
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    with pytest.raises(RuntimeError, match="ptxas was not found, on PATH nor in CUDA_HOME"):
        kernel.inspect_sass()
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    tool(folder, "ptxas", 'echo "$@" > "$6"; grep -o "entry weft_shifted" "$4" >> "$6"')
    tool(folder, "nvdisasm", 'echo "$1"; cat "$2"')
    told = kernel.inspect_sass(FLOATS).split("\n")
    assert told[0] == "-gi" and "entry weft_shifted" in told
    assert re.match(r"-lineinfo -arch=sm_\d+ --maxrregcount=40 /.*/kernel.ptx -o ", told[1])
    assert kernel.inspect_sass_cfg()[FLOATS].startswith("-cfg")
    tool(folder, "ptxas", "echo no such target >&2; exit 1")
    with pytest.raises(RuntimeError, match="ptxas failed: no such target"):
        kernel.inspect_sass()
    assert not [name for name in os.listdir("/tmp") if name.startswith("weft-") and "kernel.ptx" in name]


@pytest.mark.parametrize("module", [cuda, numbas])
def test_specialize(module, device):
    kernel = made(module)
    a, out = numpy.arange(64.0), numpy.zeros(64)
    special = kernel.specialize(a, out, 2.0)
    assert special.specialized and not kernel.specialized and len(kernel.specializations) == 1
    assert kernel.specialize(a + 1, out, 3.0) is special
    assert len(special.overloads) == 1 and "shifted" in next(iter(special.inspect_asm().values()))
    if device == "cuda":  # before a launch
        assert special.get_shared_mem_per_block() == 256 and special.get_regs_per_thread() >= 1
    special[1, 64](a, out, 2.0)
    assert out.tolist() == (a + 2).tolist() and len(special.overloads) == 1 and len(kernel.overloads) == 0
    assert special.get_const_mem_size() == 0 and special.get_max_threads_per_block() == 1024
    if device == "cuda":
        assert special.get_shared_mem_per_block() == 256 and special.get_regs_per_thread() >= 1
    with pytest.raises(RuntimeError, match="Dispatcher already specialized"):
        special.specialize(a, out, 2.0)
    other = kernel.specialize(a.astype("f4"), out, 2.0)
    assert other is not special and len(kernel.specializations) == 2
    table = numpy.zeros((4, 4))
    copies = cuda.jit(lambda x: None)
    assert copies.specialize(table) is not copies.specialize(table.T.copy(order="F").T.T)
    assert copies.specialize((table, 1)) is copies.specialize((table.copy(), 2))
    assert copies.specialize(cuda.to_device(table)) is copies.specialize(cuda.to_device(table))


def test_declared_signatures(device):
    @numbas.jit([void(float32[:], int32), "void(float64[::1], int32)"])
    def filled(a, value):
        if numbas.grid(1) < a.size:
            a[numbas.grid(1)] = value

    assert len(filled.overloads) == 2 and "filled" in filled.inspect_llvm((float32[::1], int32))
    assert filled.compile(void(float32[:], int32)).argument_types == (float32[:], int32)
    made = filled.compile("void(float32[:, :], int32)")
    assert len(filled.overloads) == 3
    assert (".visible .entry" in made.inspect_asm()) == (device == "cuda")
    a = numpy.zeros(3, "f4")
    filled[1, 32](a, numpy.int32(2))
    assert a.tolist() == [2, 2, 2] and filled.inspect_asm(void(float32[:], int32))


@cuda.jit(device=True)
def factorial(n):
    factors = [1]
    for factor in range(2, n + 1):
        factors.append(factor)
    product = 1
    for factor in factors:
        product *= factor
    return product


def test_what_gpus_have_not_is_compiled_for_the_cpu(device):
    @cuda.jit
    def product(out, n):
        out[0] = factorial(n)

    out = numpy.zeros(1, "i8")
    special = product.specialize(out, 5)
    assert len(special.overloads) == 1 and ".visible .entry" not in next(iter(special.inspect_asm().values()))
    assert ("heap memory" in special.explain()) == (device == "cuda")
    special[1, 1](out, 5)
    assert out.tolist() == [120]


def test_types_of_texts():
    types = numba.cuda._overloads._types_of_texts
    given = (
        "array(bool, 2d, read-only)",
        "tuple(int64, tuple(float64, bool))",
        "None",
        "str",
        "Point(int64)",
    )
    found = types(given)
    assert found[0] == numba.types.Array(numba.types.boolean, 2, "A", readonly=True)
    assert [str(each) for each in found[1:]] == [
        "Tuple(int64, Tuple(float64, bool))",
        "none",
        "unicode_type",
        "Point(int64)",
    ]
    assert tuple(map(_overloads.plain, found)) == given
    assert _overloads.plain(numba.types.UniTuple(int64, 2)) == "tuple(int64, int64)"


@pytest.mark.parametrize("module", [cuda, numbas])
def test_launches_by_other_names(module):
    kernel = made(module)
    a, out = numpy.arange(64.0), numpy.zeros(64)
    kernel.configure(1, 64, stream=0, sharedmem=0)(a, out, 1.0)
    assert out.tolist() == (a + 1).tolist()
    kernel.forall(ntasks=64, tpb=64, stream=0, sharedmem=0)(a, out, 2.0)
    assert out.tolist() == (a + 2).tolist()
    bounded = module.jit(launch_bounds=64)(kernel.py_func)
    bounded.forall(64)(a, out, 3.0)
    assert out.tolist() == (a + 3).tolist()
    kernel.forall(0)(a, out, 4.0)
    with pytest.raises(ValueError, match="negative task count: -1"):
        kernel.forall(-1)
    assert out.tolist() == (a + 3).tolist()


class Box:
    def __init__(self, inside):
        self.inside = inside


class Opens:
    """Gives a kernel what is in a box, and tells when the kernel was launched."""

    def __init__(self, told):
        self.told = told

    def prepare_args(self, ty, val, stream, retr):
        if not isinstance(val, Box):
            return ty, val
        self.told.append((str(ty), stream))
        retr.append(lambda: self.told.append("launched"))
        return ty, val.inside


@pytest.mark.parametrize("module, kind", [(cuda, str(Box)), (numbas, "Box")])
def test_extensions(module, kind):
    told, order = [], []

    class First(Opens):
        def prepare_args(self, ty, val, stream, retr):
            order.append(type(val).__name__)
            return ty, val

    extensions = [First([]), Opens(told)]

    @module.jit(extensions=extensions)
    def doubled(a, by):
        if module.grid(1) < a.size:
            a[module.grid(1)] *= by

    assert doubled.extensions == extensions
    box, stream = Box(numpy.ones(3)), cuda.stream()
    doubled[1, 32](box, 2)
    doubled[1, 32, stream](box, 2)
    assert box.inside.tolist() == [4, 4, 4] and order == ["ndarray", "int"] * 2  # the last comes first
    assert told == [(kind, 0), "launched", (kind, stream), "launched"]
    doubled.forall(3)(box, 2)
    doubled.specialize(box, 2)[1, 32](box, 2)
    doubled.check[1, 32](box, 2)
    assert box.inside.tolist() == [32, 32, 32]
    for options, error in (
        ({"extensions": [1]}, TypeError),
        ({"extensions": extensions, "device": True}, ValueError),
    ):
        with pytest.raises(error, match="extensions="):
            module.jit(doubled.py_func, **options)


def test_kernels_of_arrays_elsewhere(device):
    kernel = made(cuda)
    a, out = (cuda.to_device(each) for each in (numpy.arange(64.0), numpy.zeros(64)))
    special = kernel.specialize(a, out, 1.0)
    special[1, 64](a, out, 1.0)
    assert out.copy_to_host().tolist() == list(range(1, 65)) and weft.empty(0).device == weft.device(device)


def test_signatures_of_numba_itself(device):
    """A program's types may be Numba's own, whose texts are known."""

    class Type:
        def __init__(self, name):
            self.name = name

        def __str__(self):
            return self.name

    @numbas.jit((Type("array(float32, 2d, C)"), Type("float64")))
    def filled(a, value):
        if numbas.grid(1) < a.shape[0]:
            a[numbas.grid(1), 0] = value

    a = numpy.zeros((3, 2), "f4")
    filled[1, 32](a, 2.0)
    assert a[:, 0].tolist() == [2, 2, 2]
    assert filled.overloads[(Type("array(float32, 2d, C)"), Type("float64"))].argument_types[1] == float64
