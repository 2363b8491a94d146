"""Modules of CUDA C++: templates, variables, options, headers, files, several sources, and what the compiler says."""

import io
import re

import numpy
import pytest
import weft as np
from on_gpu import FAILING, needs_fake_driver, needs_gpu, on_fake_driver, run
from weft.exceptions import CompileError, DeviceError

pytestmark = needs_gpu

TEMPLATES = r"""
template <class T> __global__ void add(T* x, T more) { x[threadIdx.x] += more; }
__constant__ float table[4];
__device__ int counter;
extern "C" __global__ void look(float* out) { out[threadIdx.x] = table[threadIdx.x]; }
extern "C" __global__ void count() { atomicAdd(&counter, 1); }
__global__ void plain(int* x) { x[0] = 7; }
"""


@pytest.fixture(autouse=True)
def device():
    with np.device("cuda"):
        yield


@pytest.fixture(scope="module")
def templates():
    return np.RawModule(code=TEMPLATES, name_expressions=["add<float>", "add<int>"])


@pytest.mark.parametrize("dtype, name", [(np.float32, "add<float>"), (np.int32, "add<int>")])
def test_templates_are_found_by_their_name_expressions(templates, dtype, name):
    x = np.arange(32, dtype=dtype)
    templates.get_function(name)((1,), (32,), (x, 3))
    assert x.tolist() == list(range(3, 35))
    with pytest.raises(TypeError, match=r"argument 1 of .*an array of float64"):
        templates.get_function(name)((1,), (32,), (np.zeros(32), 3))


def test_a_kernel_of_a_template_may_be_named_at_once():
    kernel = np.RawKernel(TEMPLATES, "add<double>")
    x = np.zeros(4)
    kernel((1,), (4,), (x, 0.5))
    assert x.tolist() == [0.5] * 4


def test_functions_that_are_not_overloaded_are_found_by_their_names(templates):
    x = np.zeros(1, np.int32)
    templates.get_function("plain")((1,), (1,), (x,))
    assert x.tolist() == [7]
    assert sorted(templates.function_names()) == ["add<float>", "add<int>", "count", "look", "plain"]


def test_variables_are_arrays_of_bytes(templates):
    table = templates.get_global("table")
    assert (table.dtype, table.shape, table.device) == (np.uint8, (16,), "cuda:0")
    table.view(np.float32)[...] = np.array([1, 2, 3, 4], np.float32)
    out = np.zeros(4, np.float32)
    templates.get_function("look")((1,), (4,), (out,))
    assert out.tolist() == [1, 2, 3, 4]
    by_buffer = np.ndarray((), np.int32, templates.get_global("counter"))
    by_buffer[...] = 3
    counter = templates.get_global("counter").view(np.int32)
    assert counter.tolist() == [3]
    counter[...] = 0
    templates.get_function("count")((3,), (4,), ())
    assert counter.tolist() == [12]


def test_names_that_there_are_not_are_told_with_those_there_are(templates):
    with pytest.raises(ValueError, match=r"no kernel add<double>: there are .*add<float>, add<int>.*plain"):
        templates.get_function("add<double>")
    with pytest.raises(ValueError, match="no variable tables in the module"):
        templates.get_global("tables")


def test_options_reach_the_compiler():
    source = 'extern "C" __global__ void give(int* x) { x[0] = N; }'
    for number in (3, 4):
        x = np.zeros(1, np.int32)
        np.RawKernel(source, "give", options=(f"-DN={number}",))((1,), (1,), (x,))
        assert x.tolist() == [number]


def test_errors_of_the_compiler_have_line_and_caret_and_no_warnings():
    source = '#define A 1\nextern "C" __global__ void f(float* x) {\n    int unused;\n    x[0] = y + A;\n}\n'
    kernel = np.RawKernel(source, "f")
    with pytest.raises(CompileError) as raised:
        kernel.compile()
    lines = str(raised.value).split("\n")
    assert lines[0] == "NVRTC does not compile f.cu:"
    assert lines[1].startswith("f.cu(4): error: ") and "y" in lines[1]
    assert lines[2].strip() == "x[0] = y + A;"
    assert lines[3].strip() == "^"
    assert len(lines) == 4
    assert "f.cu" in raised.value.log
    # Nothing is lost: what is right still compiles.
    np.RawKernel('extern "C" __global__ void f(float* x) {}', "f").compile()


def test_many_errors_are_few_in_the_message():
    body = "\n".join(f"    x[{k}] = y{k};" for k in range(10))
    with pytest.raises(CompileError) as raised:
        np.RawKernel(f'extern "C" __global__ void f(float* x) {{\n{body}\n}}', "f").compile()
    assert str(raised.value).count("error:") == 3
    assert str(raised.value).endswith("and 7 more errors")
    assert raised.value.log.count("error:") >= 10


def test_unknown_options_and_names_are_the_compilers_errors():
    source = 'extern "C" __global__ void f(float* x) {}'
    with pytest.raises(CompileError, match="unrecognized option --nothing"):
        np.RawKernel(source, "f", options=("--nothing",)).compile()
    with pytest.raises(CompileError, match="g"):
        np.RawKernel(source, "g<int>").compile()


def test_warnings_go_to_the_log_stream():
    source = 'extern "C" __global__ void f(float* x) { int unused; }'
    log = io.StringIO()
    np.RawModule(code=source).compile(log_stream=log)
    np.RawKernel(source, "f").compile(log_stream=log)
    assert log.getvalue() == "" or "unused" in log.getvalue()


def test_headers_beside_are_found_and_a_changed_one_is_compiled_again(tmp_path):
    (tmp_path / "deeper").mkdir()
    (tmp_path / "amount.h").write_text('#include "deeper/number.h"\n')
    source = '#include "amount.h"\nextern "C" __global__ void give(int* x) { x[0] = kNumber; }'
    for number in (3, 4):
        (tmp_path / "deeper" / "number.h").write_text(f"constexpr int kNumber = {number};\n")
        x = np.zeros(1, np.int32)
        np.RawKernel(source, "give", options=(f"-I{tmp_path}",))((1,), (1,), (x,))
        assert x.tolist() == [number]


@pytest.mark.parametrize("options", [("-rdc=true",), ("-dc",), ("-dlto", "-rdc=true")])
def test_several_sources_are_linked(options):
    first = '__device__ int twice(int x);\nextern "C" __global__ void f(int* x) { x[0] = twice(x[0]); }'
    second = "__device__ int twice(int x) { return 2 * x; }"
    module = np.RawModule(code=[first, second], options=options)
    x = np.full(1, 21, np.int32)
    module.get_function("f")((1,), (1,), (x,))
    assert x.tolist() == [42]


def test_what_is_missing_when_sources_are_linked_is_the_linkers_error():
    source = '__device__ int twice(int x);\nextern "C" __global__ void f(int* x) { x[0] = twice(x[0]); }'
    with pytest.raises(DeviceError, match=r"nvJitLink could not link(.|\n)*twice"):
        np.RawModule(code=source, options=("-rdc=true",)).get_function("f")


def test_modules_take_either_a_source_or_files(tmp_path):
    with pytest.raises(TypeError, match="exactly one of code and path"):
        np.RawModule()
    with pytest.raises(TypeError, match="exactly one of code and path"):
        np.RawModule(code="", path="x.cubin")
    with pytest.raises(FileNotFoundError):
        np.RawModule(path=str(tmp_path / "nothing.cubin"))
    text = tmp_path / "text.cubin"
    text.write_text("nothing of use")
    with pytest.raises(ValueError, match=r"text.cubin is no cubin, fatbin, PTX, LTO-IR or library"):
        np.RawModule(path=text).get_function("f")
    with pytest.raises(ValueError, match="name_expressions are for backend='nvrtc'"):
        np.RawModule(code="", backend="nvcc", name_expressions=["f<int>"])


def test_machine_code_from_a_file_is_loaded(tmp_path):
    path = tmp_path / "add.cubin"
    path.write_bytes(np.RawModule(code=TEMPLATES, name_expressions=["add<float>"]).machine_code())
    module = np.RawModule(path=path)
    symbol = next(name for name in module.function_names() if name.startswith("add"))
    assert symbol == "add<float>"
    x = np.zeros(4, np.float32)
    # Its parameters are known by the symbol, though there is no source.
    module.get_function("add<float>")((1,), (4,), (x, 2))
    assert x.tolist() == [2.0] * 4
    with pytest.raises(TypeError, match=r"argument 1 of add<float>\(\), `float\*`: an array of float64"):
        module.get_function("add<float>")((1,), (4,), (np.zeros(4), 2))


def test_cooperative_launches_run():
    source = 'extern "C" __global__ void f(int* x) { atomicAdd(x, 1); }'
    kernel = np.RawKernel(source, "f", enable_cooperative_groups=True)
    x = np.zeros(1, np.int32)
    kernel((2,), (32,), (x,))
    assert x.tolist() == [64]
    with pytest.raises(
        ValueError, match=r"a grid of 1000000 blocks, .*wait for each other: cuda:0 runs \d+ blocks"
    ):
        kernel((1_000_000,), (32,), (x,))


CACHE = r"""
source = 'extern "C" __global__ void f(int* x) { x[0] = 5; }'
with np.device("cuda"):
    x = np.zeros(1, np.int32)
    np.RawKernel(source, "f")((1,), (1,), (x,))
    np.RawKernel(source, "f")((1,), (1,), (x,))  # of the process
    assert x.tolist() == [5]
"""


@needs_fake_driver
def test_the_next_process_finds_what_is_on_disk(tmp_path):
    def compilations(name, **environment):
        log = tmp_path / name
        run(CACHE, WEFT_CACHE_DIR=str(tmp_path / "cache"), WEFT_FAKE_DRIVER_LOG=str(log), **environment)
        return len(re.findall("^nvrtcCompileProgram", log.read_text(), re.MULTILINE))

    assert compilations("first") == 1
    assert compilations("second") == 0
    assert compilations("without", WEFT_CACHE="0") == 1


CALLS = (
    "nvrtcCreateProgram nvrtcAddNameExpression nvrtcCompileProgram nvrtcGetLoweredName nvrtcGetProgramLogSize "
    "nvrtcGetPTXSize nvrtcGetCUBINSize nvrtcGetLTOIRSize nvJitLinkCreate nvJitLinkAddData nvJitLinkComplete "
    "nvJitLinkGetLinkedCubinSize cuModuleLoadDataEx cuModuleGetFunction cuFuncGetParamInfo cuFuncGetAttribute "
    "cuLaunchKernel"
).split()


@needs_fake_driver
def test_each_call_that_fails_is_an_error_after_which_all_goes_on(tmp_path):
    program = f"""
source = '''__device__ int twice(int x);
template <class T> __global__ void f(T* x) {{ x[0] = twice(x[0]); }}'''
other = '__device__ int twice(int x) {{ return 2 * x; }}'

def compute(x, attempt):
    module = np.RawModule(code=[source + "// " + attempt, other], options=("-rdc=true",), name_expressions=["f<int>"])
    module.get_function("f<int>")((1,), (1,), (x,))

with np.device("cuda"):
    compute(np.ones(1, np.int32), "first")
    for symbol in {CALLS!r}:
        x = np.ones(1, np.int32)
        x.tolist()
        live = fake_driver.weft_fake_driver_live_objects()
        with fails(symbol):
            try:
                compute(x, symbol)
            except np.exceptions.DeviceError:
                pass
            else:
                raise AssertionError(symbol + " did not fail")
        assert fake_driver.weft_fake_driver_live_objects() == live, symbol
        compute(x, symbol)
        assert x.tolist() == [2], symbol
"""
    run(FAILING + program, WEFT_CACHE="0")


@on_fake_driver
def test_a_thousand_compilations_do_not_keep_anything():
    import ctypes
    import os

    driver = ctypes.CDLL(os.environ["WEFT_CUDA_DRIVER"])
    driver.weft_fake_driver_live_objects.restype = ctypes.c_int64
    np.RawKernel('extern "C" __global__ void f() {}', "f").compile()
    live = driver.weft_fake_driver_live_objects()
    for k in range(5):
        np.RawKernel(f'extern "C" __global__ void f{k}() {{}}', f"f{k}").compile()
    assert driver.weft_fake_driver_live_objects() == live


@needs_fake_driver
def test_without_nvrtc_the_error_says_what_to_install(tmp_path):
    output, _ = run(
        """
kernel = np.RawKernel('extern "C" __global__ void f() {}', "f")
try:
    kernel.compile()
except np.exceptions.DeviceError as error:
    print(error)
except ValueError:  # a machine that has NVRTC, whose code the fake driver does not know
    pass
""",
        CUDA_HOME=str(tmp_path),
        WEFT_CACHE="0",
    )
    if output:  # a machine without NVIDIA's packages
        assert "NVRTC was not found" in output and "pip install weft[cuda13]" in output


def test_values_are_those_of_numpy_over_many_sizes():
    kernel = np.RawKernel(
        r"""
extern "C" __global__ void f(const double* x, double* y, long long n) {
    for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] * x[i];
}""",
        "f",
    )
    for n in (1, 31, 32, 33, 1000, 4097):
        x = np.linspace(0, 1, n)
        y = np.empty_like(x)
        kernel((7,), (64,), (x, y, n))
        assert numpy.array_equal(numpy.array(y), numpy.array(x) ** 2)
