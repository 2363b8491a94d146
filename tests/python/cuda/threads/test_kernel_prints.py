"""print() in kernels: on a GPU by CUDA's vprintf, with the text that the CPU writes."""

import re
import subprocess
import sys

import numpy
import pytest
import weft as np
from weft import cuda


def runs_there(kernel, device):
    """Whether the kernel was compiled for the device, and not for the CPU in its stead."""
    return ("on the CPU instead" not in kernel.explain()) and (" registers " in kernel.explain()) == (
        device == "cuda"
    )


def printed(capfd):
    cuda.synchronize()
    return capfd.readouterr().out


def formats_in(ptx):
    """The texts that are in PTX as bytes."""
    found = re.findall(r"\.b8 \S+\[\d+\] = \{([\d, ]+)\}", ptx)
    return [bytes(map(int, each.split(","))).rstrip(b"\0").decode() for each in found]


@cuda.jit
def print_one(x):
    print(x)


VALUES = [
    True,
    False,
    0,
    -7,
    2**62,
    1.0,
    -0.0,
    0.1,
    1 / 3,
    1e16,
    1e15,
    1e-4,
    9.999e-5,
    1.5e300,
    5e-324,
    float("inf"),
    float("-inf"),
    float("nan"),
    1j,
    -2.5 + 0j,
    complex("nan-infj"),
    *(numpy.dtype(name).type(value) for name in ("i1", "i2", "i4", "i8") for value in (-100, 100)),
    *(numpy.dtype(name).type(200) for name in ("u1", "u2", "u4")),
    numpy.uint64(2**64 - 1),
    *(numpy.float32(value) for value in (0.1, 1e-4, 999999.0, 1e6, 16777216.0, 1e16, 3.4028235e38, 1e-45)),
    *(numpy.float16(value) for value in (0.1, 65504.0, 6e-8, 999.0, 2048.0)),
    numpy.float64(2.5),
    numpy.complex64(0.1 - 2j),
    numpy.bool_(True),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: f"{type(value).__name__} {value!s}")
def test_numbers_have_the_text_of_python(value, device, capfd):
    print_one[1, 1](value)
    assert printed(capfd) == str(value) + "\n"
    assert runs_there(print_one, device)


def test_elements_of_bfloat16(device, capfd):
    @cuda.jit
    def first(a):
        print(a[0])

    first[1, 1](np.array([3.14], "bfloat16"))
    assert printed(capfd) == "3.14\n"
    assert runs_there(first, device)


def test_several_values_of_each_thread(device, capfd):
    @cuda.jit
    def each(a):
        i = cuda.grid(1)
        print("thread", i, "of", cuda.gridsize(1), "has", a[i], a[i] > 1.0, None, "100%")

    each[2, 2](np.arange(4.0) / 2)
    lines = sorted(printed(capfd).splitlines())
    assert lines == [f"thread {i} of 4 has {i / 2} {i / 2 > 1} None 100%" for i in range(4)]
    assert runs_there(each, device)


def test_separators_ends_and_nothing(device, capfd):
    @cuda.jit
    def kernel(n):
        print()
        print(n, n + 1, sep="")
        print(n, "größer", sep=" % ", end="%\n\n")
        print(n, sep="never", end="", flush=True)
        print("end")

    kernel[1, 1](3)
    assert printed(capfd) == "\n34\n3 % größer%\n\n3end\n"
    assert runs_there(kernel, device)


def test_texts_that_are_chosen(device, capfd):
    @cuda.jit
    def kernel(a):
        for i in range(a.size):
            kind = "none" if a[i] == 0 else "one" if a[i] == 1 else "many %d"
            print(i, kind)

    kernel[1, 1](np.array([2, 0, 1]))
    assert printed(capfd) == "0 many %d\n1 none\n2 one\n"
    assert runs_there(kernel, device)


def test_tuples_and_texts_of_values(device, capfd):
    @cuda.jit
    def kernel(n, x):
        t = (n, x, (True, None), "name", numpy.float32(0.1), numpy.uint8(n))
        print(t, (n,), ())
        print(f"{n}: {x} {{}} {x!r} {n > 2}%")
        print(f"{x:.3f} {x:9.2e} {x:g} {n:5d}|{n:05}|{n:3}|{x:12.4f}")
        print("a" + str(n) + "b")

    kernel[1, 1](3, 1234.56789)
    assert printed(capfd) == (
        "(3, 1234.56789, (True, None), 'name', np.float32(0.1), np.uint8(3)) (3,) ()\n"
        "3: 1234.56789 {} 1234.56789 True%\n"
        "1234.568  1.23e+03 1234.57     3|00003|  3|   1234.5679\n"
        "a3b\n"
    )
    assert runs_there(kernel, device)


@pytest.mark.parametrize("value", [float("nan"), -float("nan"), float("inf"), -0.5, 0.0005, 2.5])
def test_formats_of_floats(value, device, capfd):
    @cuda.jit
    def kernel(x):
        print(f"{x:.0f} {x:6.3f} {x:e} {x:G}")

    kernel[1, 1](value)
    assert printed(capfd) == f"{value:.0f} {value:6.3f} {value:e} {value:G}\n"
    assert runs_there(kernel, device)


def test_functions_that_kernels_call_print(device, capfd):
    @cuda.jit(device=True)
    def tell(x):
        print("inside", x)
        return x + 1

    @cuda.jit
    def kernel(out):
        out[0] = tell(1.5) + tell(2)

    out = np.zeros(1)
    kernel[1, 1](out)
    assert printed(capfd) == "inside 1.5\ninside 2\n"
    assert numpy.array(out).tolist() == [5.5]
    assert runs_there(kernel, device)


def test_what_is_printed_before_an_error_is_printed(device, capfd):
    @cuda.jit
    def kernel(a):
        print("before")
        a[5] = 1
        print("after")

    with pytest.raises(IndexError):
        kernel[1, 1](np.zeros(2))
        cuda.synchronize()
    assert capfd.readouterr().out == "before\n"
    assert runs_there(kernel, device)


def print_array(a):
    print(a)


def print_hexadecimal(a):
    print(f"{a.size:x}")


def print_many(a):
    # fmt: off
    print(a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0],
          a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0], a[0])


def print_numpy_in_tuple(a):
    print((numpy.complex64(a[0]), 1))


@pytest.mark.parametrize(
    "function, text, reason",
    [
        (print_array, "[0. 1.]\n", r"array\(float64, 1d"),
        (print_hexadecimal, "2\n", r"a value by the format {:x}"),
        (print_many, " ".join(["0.0"] * 33) + "\n", "more than 32 values"),
        (print_numpy_in_tuple, None, "a tuple with complex64"),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_what_has_no_text_on_a_gpu_is_printed_by_the_cpu(function, text, reason, device, capfd):
    kernel = cuda.jit(function)
    np.clear_kernel_history()
    kernel[1, 1](np.arange(2.0))
    out = printed(capfd)
    assert text is None or out == text
    if device == "cuda":
        assert re.search(reason, kernel.explain())
        assert any(re.search(reason, each["fallback"] or "") for each in np.kernel_history())


def test_the_ptx_calls_vprintf(device, capfd):
    @cuda.jit
    def kernel(n, x):
        print("%", n, x, f"{x:.2f}")

    kernel[1, 1](3, 0.5)
    assert printed(capfd) == "% 3 0.5 0.50\n"
    (text,) = kernel.inspect_asm().values()
    assert ("vprintf" in text) == (device == "cuda")
    if device == "cuda":
        assert "%% %lld %s %.2f\n" in formats_in(text)


def test_code_on_disk_prints_what_it_printed(device, capfd):
    # Two kernels with the same instructions and other texts.
    @cuda.jit
    def one():
        print("one")

    def two():
        print("two")

    two.__name__ = two.__qualname__ = "one"
    one[1, 1]()
    cuda.jit(two)[1, 1]()
    assert printed(capfd) == "one\ntwo\n"


def test_a_program_that_ends_has_printed_all(device, tmp_path):
    program = tmp_path / "prints.py"
    program.write_text(
        "import weft as np\n"
        "from weft import cuda\n\n\n"
        "@cuda.jit\n"
        "def tell():\n"
        "    print('thread', cuda.grid(1))\n\n\n"
        f"with np.device({device!r}):\n"
        "    tell[2, 2]()\n"
    )
    told = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120, check=False)
    assert told.stderr == "" and told.returncode == 0
    assert sorted(told.stdout.splitlines()) == [f"thread {i}" for i in range(4)]
