"""Kernels in CUDA C++ on a GPU. Without one the fake NVRTC compiles them for the CPU, and the fake driver runs them."""

import ctypes
import gc
import pickle

import numpy
import pytest
import weft as np
from on_gpu import needs_gpu

pytestmark = needs_gpu

SOURCE = r"""
extern "C" __global__ void scale(const float* x, float* y, float factor, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}
extern "C" __global__ void add_one(double* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
extern "C" __global__ void block_sums(const double* x, double* out) {
    extern __shared__ double sums[];
    int t = threadIdx.x;
    sums[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) sums[t] += sums[t + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}
extern "C" __global__ void places(int* out) {
    int block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    out[block * blockDim.x * blockDim.y * blockDim.z + thread] = 1000 * block + thread;
}
extern "C" __global__ void of_null(const float* x, int* out) { out[0] = x == nullptr; }
struct Both { int a; double b; };
extern "C" __global__ void of_structure(Both both, double* out) { out[0] = both.a + both.b; }
extern "C" __global__ void numbers(bool b, signed char c, unsigned char uc, short s, unsigned short us, int i,
                                   unsigned u, long long l, unsigned long long ul, float f, double d, double* out) {
    double all[] = {double(b), double(c), double(uc), double(s), double(us), double(i), double(u), double(l),
                    double(ul), double(f), d};
    for (int k = 0; k < 11; ++k) out[k] = all[k];
}
"""


@pytest.fixture(autouse=True)
def device():
    with np.device("cuda"):
        yield


@pytest.fixture(scope="module")
def module():
    return np.RawModule(code=SOURCE)


def test_a_kernel_computes_what_its_source_says():
    scale = np.RawKernel(SOURCE, "scale")
    x, y = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    scale((4,), (256,), (x, y, 2.5, x.size))
    assert numpy.array_equal(numpy.array(y), numpy.arange(1000, dtype="f4") * numpy.float32(2.5))
    assert scale.name == "scale"
    assert scale.code == SOURCE


@pytest.mark.parametrize("grid, block", [(3, 4), ((3,), (4,)), ((2, 3), (4, 2)), ([2, 3, 2], (2, 2, 2))])
def test_grids_and_blocks_have_up_to_three_sizes(module, grid, block):
    threads = numpy.prod(grid) * numpy.prod(block)
    out = np.zeros(int(threads), np.int32)
    module.get_function("places")(grid, block, (out,))
    per_block = int(numpy.prod(block))
    expected = [1000 * (k // per_block) + k % per_block for k in range(int(threads))]
    assert out.tolist() == expected


def test_shared_memory_is_as_much_as_the_launch_asks_for(module):
    x, out = np.arange(256.0), np.zeros(4)
    module.get_function("block_sums")((4,), (64,), (x, out), shared_mem=64 * 8)
    assert out.tolist() == numpy.arange(256.0).reshape(4, 64).sum(1).tolist()


def test_lazy_arrays_are_evaluated_and_later_reads_see_what_is_written(module):
    x = np.arange(64.0) * 2 + 1
    before = x + 0.5
    module.get_function("add_one")((2,), (32,), (x,))
    after = x + 0.5
    assert before.tolist() == (numpy.arange(64.0) * 2 + 1.5).tolist()
    assert after.tolist() == (numpy.arange(64.0) * 2 + 2.5).tolist()


def test_views_are_given_by_the_address_of_their_first_element(module):
    x = np.zeros(96)
    module.get_function("add_one")((1,), (32,), (x[32:64],))
    assert x.tolist() == [0] * 32 + [1] * 32 + [0] * 32


def test_none_is_a_null_pointer(module):
    out = np.zeros(1, np.int32)
    module.get_function("of_null")((1,), (1,), (None, out))
    assert out.tolist() == [1]


def test_pythons_numbers_become_what_the_parameters_are(module):
    out = np.zeros(11)
    given = (True, -3, 200, -30000, 60000, -(2**31), 2**32 - 1, -(2**62), 2**63, 0.5, 0.1)
    module.get_function("numbers")((1,), (1,), (*given, out))
    assert out.tolist() == [float(each) for each in given]
    module.get_function("numbers")((1,), (1,), (0, True, False, 0, 0, 0, 0, 0, 0, 3, 4, out))
    assert out.tolist() == [0, 1, 0, 0, 0, 0, 0, 0, 0, 3, 4]


def test_scalars_of_numpy_and_weft_have_the_parameters_types(module):
    out = np.zeros(11)
    kinds = "bool_ int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64".split()
    for namespace in (numpy, np):
        given = [getattr(namespace, kind)(1) for kind in kinds]
        module.get_function("numbers")((1,), (1,), (*given, out))
        assert out.tolist() == [1] * 11
        with pytest.raises(
            TypeError, match=r"argument 10 of numbers\(\), `float f`: a value of float64 of 8 bytes"
        ):
            module.get_function("numbers")((1,), (1,), (*given[:9], namespace.float64(1), given[10], out))
        with pytest.raises(TypeError, match=r"argument 6 of .*`int i`: a value of float32"):
            module.get_function("numbers")((1,), (1,), (*given[:5], namespace.float32(1), *given[6:], out))


def test_structures_are_given_by_their_bytes(module):
    class Both(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_double)]

    out = np.zeros(1)
    module.get_function("of_structure")((1,), (1,), (Both(3, 0.25), out))
    assert out.tolist() == [3.25]
    record = numpy.zeros(1, numpy.dtype([("a", "i4"), ("b", "f8")], align=True))[0]
    record["a"], record["b"] = 5, 0.5
    module.get_function("of_structure")((1,), (1,), (record, out))
    assert out.tolist() == [5.5]
    with pytest.raises(TypeError, match="12 bytes, and the kernel takes a structure of 16 bytes"):
        module.get_function("of_structure")((1,), (1,), (numpy.zeros(1, "i4, f8")[0], out))
    with pytest.raises(TypeError, match="the integer 3, and the kernel takes a structure of 16 bytes"):
        module.get_function("of_structure")((1,), (1,), (3, out))


def test_complex_numbers_are_pairs():
    kernel = np.RawKernel(
        r"""
extern "C" __global__ void twice(const float2* x, double2 more, double2* out) {
    out[0].x = 2 * x[0].x + more.x;
    out[0].y = 2 * x[0].y + more.y;
}""",
        "twice",
    )
    out = np.zeros(1, np.complex128)
    kernel((1,), (1,), (np.array([1 + 2j], np.complex64), 0.5 + 3j, out))
    assert out.tolist() == [2.5 + 7j]


def test_arrays_of_other_types_are_refused(module):
    x, y = np.zeros(4), np.zeros(4, np.float32)
    with pytest.raises(
        TypeError, match=r"argument 1 of scale\(\), `const float\* x`: an array of float64, and the kernel"
    ):
        module.get_function("scale")((1,), (4,), (x, y, 1.0, 4))
    with pytest.raises(TypeError, match=r"argument 2 .*`float. y`: an array of int32"):
        module.get_function("scale")((1,), (4,), (y, np.zeros(4, np.int32), 1.0, 4))
    with pytest.raises(TypeError, match=r"argument 3 .*`float factor`: an array of float32"):
        module.get_function("scale")((1,), (4,), (y, y, y, 4))
    # Integers of the same size are alike, as their bits are.
    module.get_function("places")((1,), (4,), (np.zeros(4, np.uint32),))


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            (),
            r"scale\(\) takes 4 arguments, and 0 were given: scale\(const float\* x, float\* y, float factor, int n\)",
        ),
        ((1, 2, 3, 4, 5), "takes 4 arguments, and 5 were given"),
        ((None, None, 1.0, 2.0), "argument 4 of .*`int n`: a float, and the kernel takes an int32"),
        ((None, None, 1j, 2), "argument 3 of .*`float factor`: a complex number"),
        ((None, None, "a", 2), "argument 3 of .*str is no array, number, structure or None"),
        ((1.5, None, 1, 2), "argument 1 of .*a float, and the kernel takes an array of float32"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(module, arguments, message):
    with pytest.raises(TypeError, match=message):
        module.get_function("scale")((1,), (4,), arguments)


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 2**63, 2**64])
def test_integers_that_do_not_fit_are_refused(module, number):
    with pytest.raises(OverflowError, match="argument 4 of scale"):
        module.get_function("scale")((1,), (4,), (None, None, 1.0, number))


@pytest.mark.parametrize(
    "grid, block, message",
    [
        (0, 4, "a grid of 0 along axis 0: there is nothing to launch"),
        ((1, 70000), 4, "a grid of 70000 along axis 1: 65535 is the most"),
        (1, 0, "a block of 0 along axis 0"),
        (1, 1025, "a block of 1025 along axis 0: 1024 is the most"),
        (1, (64, 32), r"a block of 2048 threads, \(64, 32, 1\): 1024 is the most"),
        ((1, 1, 1, 1), 1, "a grid has one to three sizes, not 4"),
        ((), 1, "a grid has one to three sizes, not 0"),
    ],
)
def test_sizes_that_cannot_be_launched_are_refused(module, grid, block, message):
    with pytest.raises(ValueError, match=message):
        module.get_function("places")(grid, block, (None,))


def test_too_much_shared_memory_is_told_with_both_numbers(module):
    with pytest.raises(
        ValueError, match=r"needs 10000000 bytes of shared memory .* and cuda:0 has \d+ for a block"
    ):
        module.get_function("block_sums")((1,), (1,), (None, None), shared_mem=10_000_000)


def test_arrays_of_the_cpu_are_refused(module):
    y = np.zeros(4, np.float32)
    with np.device("cpu"):
        x = np.zeros(4, np.float32)
    for there in (x, numpy.zeros(4, "f4")):
        with pytest.raises(
            ValueError, match=r"argument 1 of scale\(\) is on the CPU, .*x.to_device\('cuda'\)"
        ):
            module.get_function("scale")((1,), (4,), (there, y, 1.0, 4))


def test_arrays_for_reading_only_are_not_written(module):
    x = np.zeros(32)
    x.setflags(write=False)
    with pytest.raises(ValueError, match=r"argument 1 of .*`double. x`: the array is read-only"):
        module.get_function("add_one")((1,), (32,), (x,))
    x = np.zeros(4, np.float32)
    x.setflags(write=False)
    module.get_function("scale")((1,), (4,), (x, np.zeros(4, np.float32), 1.0, 4))


def test_what_the_kernel_takes_is_told(module):
    kernel = module.get_function("scale")
    assert kernel.parameters == [("const float* x", 8), ("float* y", 8), ("float factor", 4), ("int n", 4)]
    names = (
        "binary_version cache_mode_ca const_size_bytes local_size_bytes max_dynamic_shared_size_bytes "
        "max_threads_per_block num_regs preferred_shared_memory_carveout ptx_version shared_size_bytes"
    )
    assert sorted(kernel.attributes) == names.split()
    assert 0 < kernel.num_regs < 256
    assert kernel.max_threads_per_block == 1024
    assert kernel.shared_size_bytes == 0
    blocks, threads = kernel.suggest()
    assert blocks > 0 and 0 < threads <= 1024
    assert kernel.suggest(10 * threads + 1) == (11, threads)


def test_shared_memory_may_be_raised_before(module):
    kernel = module.get_function("block_sums")
    kernel.max_dynamic_shared_size_bytes = 64 << 10
    assert kernel.max_dynamic_shared_size_bytes == 64 << 10
    kernel.preferred_shared_memory_carveout = 50
    assert kernel.preferred_shared_memory_carveout == 50
    with pytest.raises(ValueError, match="bytes of shared memory"):
        kernel.max_dynamic_shared_size_bytes = 10_000_000


def test_kernels_can_be_pickled():
    scale = pickle.loads(pickle.dumps(np.RawKernel(SOURCE, "scale", options=("-DN=3",))))
    assert (scale.name, scale.options) == ("scale", ("-DN=3",))
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    scale((1,), (4,), (x, y, 3.0, 4))
    assert y.tolist() == [3] * 4


def test_memory_of_an_array_is_an_address(module):
    x = np.zeros(64)
    memory = (x + 1)[32:].data
    assert memory.ptr == memory.array.__cuda_array_interface__["data"][0] == int(memory)
    module.get_function("add_one")((1,), (32,), (memory,))
    assert memory.array.tolist() == [2.0] * 32
    assert repr(memory) == f"<memory of 256 bytes at {memory.ptr:#x} on cuda:0>"


def test_modules_and_their_kernels_can_be_pickled(module):
    again = pickle.loads(pickle.dumps(module))
    assert (again.code, again.options, again.name_expressions) == (
        module.code,
        module.options,
        module.name_expressions,
    )
    add_one = pickle.loads(pickle.dumps(module.get_function("add_one")))
    x = np.zeros(64)
    add_one((2,), (32,), (x,))
    assert x.tolist() == [1.0] * 64


def test_a_pickled_module_keeps_its_options(tmp_path):
    module = np.RawModule(code=SOURCE, options=("-DN=3",), enable_cooperative_groups=True)
    again = pickle.loads(pickle.dumps(module))
    assert again.options == ("-DN=3",) and again.enable_cooperative_groups
    assert pickle.loads(pickle.dumps(module.get_function("scale"))).enable_cooperative_groups


def test_launches_are_in_the_history():
    kernel = np.RawKernel('extern "C" __global__ void in_history(int* x) { x[0] = 1; }', "in_history")
    kernel((1,), (1,), (np.zeros(1, np.int32),))
    assert "in_history()" in [record["name"] for record in np.kernel_history()]


def test_launches_in_a_loop_follow_each_other(module):
    x = np.zeros(64)
    add_one = module.get_function("add_one")
    for _ in range(100):
        add_one((2,), (32,), (x,))
        x *= 1  # weft's own work between the kernels
    assert x.tolist() == [100.0] * 64


def test_arrays_may_go_once_the_kernel_is_queued(module):
    out = np.zeros(64)
    scale = module.get_function("add_one")
    for _ in range(20):
        scale((2,), (32,), (out,))
        scale((2,), (32,), (np.zeros(64),))
        gc.collect()
    assert out.tolist() == [20.0] * 64


def test_a_stream_of_others_comes_before_and_after(module):
    from weft import cuda

    stream = cuda.stream()
    x = np.zeros(64)
    module.get_function("add_one")((2,), (32,), (x,), stream=stream)
    stream.synchronize()
    assert x.tolist() == [1.0] * 64


def test_options_and_names_are_checked_at_once():
    with pytest.raises(TypeError, match="options is a tuple of str"):
        np.RawKernel(SOURCE, "scale", options="-DN=3")
    with pytest.raises(ValueError, match="backend is 'nvrtc' or 'nvcc', not 'gcc'"):
        np.RawKernel(SOURCE, "scale", backend="gcc")
    with pytest.raises(TypeError, match="code and name are str"):
        np.RawKernel(SOURCE, 3)
