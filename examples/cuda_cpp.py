"""The Lomb-Scargle periodogram in CUDA C++, in five steps: compiled at its first call, found on disk, one template for
both precisions, fast arithmetic with few registers, and machine code from a file.

python examples/cuda_cpp.py [FREQUENCIES]        needs a GPU
"""

import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import weft as np
from periodogram import frequencies, peak, periodogram, picture, series

BLOCK = 128
# Lomb 1976, Scargle 1982: the part of the variance that a sinusoid of each frequency explains. A thread a frequency.
BODY = r"""
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= count) return;
    const Real w = Real(6.283185307179586) * f[k];
    Real yc = 0, ys = 0, cc = 0, cs = 0;
    for (int j = 0; j < samples; ++j) {
        Real s, c;
        SINCOS(w * t[j], &s, &c);
        yc += y[j] * c;
        ys += y[j] * s;
        cc += c * c;
        cs += c * s;
    }
    const Real ss = samples - cc;
    Real st, ct;
    SINCOS(Real(0.5) * atan2(2 * cs, cc - ss), &st, &ct);
    const Real along = ct * yc + st * ys, across = ct * ys - st * yc;
    power[k] = (along * along / (ct * ct * cc + 2 * ct * st * cs + st * st * ss) +
                across * across / (ct * ct * ss - 2 * ct * st * cs + st * st * cc)) / variance;
"""
PARAMETERS = "const Real* t, const Real* y, const Real* f, Real* power, Real variance, int samples, int count"
PLAIN = f"""
#define Real double
#define SINCOS sincos
extern "C" __global__ void lombscargle({PARAMETERS}) {{{BODY}}}
"""
TEMPLATE = f"""
__device__ void SINCOS(double x, double* s, double* c) {{ sincos(x, s, c); }}
__device__ void SINCOS(float x, float* s, float* c) {{ sincosf(x, s, c); }}
template <class Real> __global__ void lombscargle({PARAMETERS}) {{{BODY}}}
"""
BOUNDED = TEMPLATE.replace("void lombscargle", f"void __launch_bounds__({BLOCK}) lombscargle")
FAST = ("-use_fast_math", "-maxrregcount=32")


def spectrum(kernel, t, y, f, dtype):
    """The power at the frequencies, by a kernel on the GPU."""
    power = np.empty(len(f), dtype)
    kernel(((len(f) + BLOCK - 1) // BLOCK,), (BLOCK,), (t, y, f, power, float((y * y).sum()), len(t), len(f)))
    return power


def steps(folder):
    """Each step: its name, what makes its kernel, the dtype."""

    def of_template(source, real, options=()):
        name = f"lombscargle<{real}>"
        return np.RawModule(code=source, name_expressions=[name], options=options).get_function(name)

    path = pathlib.Path(folder) / "lombscargle.cubin"
    path.write_bytes(
        np.RawModule(code=BOUNDED, name_expressions=["lombscargle<float>"], options=FAST).machine_code()
    )
    return [
        ("compiled at the first call", lambda: np.RawKernel(PLAIN, "lombscargle"), np.float64),
        ("found on disk", in_another_process, np.float64),
        ("a template, float64", lambda: of_template(TEMPLATE, "double"), np.float64),
        ("a template, float32", lambda: of_template(TEMPLATE, "float"), np.float32),
        ("fast math, 32 registers", lambda: of_template(BOUNDED, "float", FAST), np.float32),
        (
            "machine code of a file",
            lambda: np.RawModule(path=path).get_function("lombscargle<float>"),
            np.float32,
        ),
    ]


def in_another_process():
    """The kernel, as a process finds it that did not compile it."""
    program = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); import weft as np; from cuda_cpp import PLAIN\n"
        "with np.device('cuda'):\n"
        "    np.zeros(1).tolist(); start = time.perf_counter()\n"
        "    np.RawKernel(PLAIN, 'lombscargle').compile(); print(time.perf_counter() - start)"
    )
    here = str(pathlib.Path(__file__).parent)
    seconds = float(
        subprocess.run([sys.executable, "-c", program, here], capture_output=True, check=True).stdout
    )
    kernel = np.RawKernel(PLAIN, "lombscargle")
    kernel.seconds_of_another = seconds
    return kernel


def milliseconds(repetitions, work, *arguments):
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        work(*arguments)
        np.cuda.synchronize()
        times.append(1e3 * (time.perf_counter() - start))
    return sorted(times)[len(times) // 2]


def main(count=2**13):
    t, y = series()
    f = frequencies(count)
    truth = periodogram(numpy, t, y, f[:: max(count // 512, 1)])
    print(f"{'':28}{'first ms':>9}{'ms':>9}{'registers':>10}{'bytes':>7}{'error':>10}")
    with np.device("cuda"), tempfile.TemporaryDirectory() as folder:
        for name, make, dtype in steps(folder):
            on_gpu = [np.asarray(each, dtype) for each in (t, y, f)]
            np.cuda.synchronize()
            start = time.perf_counter()
            kernel = make()
            kernel.compile()
            first = getattr(kernel, "seconds_of_another", time.perf_counter() - start)
            power = spectrum(kernel, *on_gpu, dtype)
            error = numpy.abs(numpy.array(power)[:: max(count // 512, 1)] - truth).max()
            spent = milliseconds(9, spectrum, kernel, *on_gpu, dtype)
            attributes = kernel.attributes
            print(
                f"{name:28}{1e3 * first:9.1f}{spent:9.3f}{attributes['num_regs']:10}"
                f"{attributes['local_size_bytes']:7}{error:10.1e}"
            )
        power = numpy.array(
            spectrum(np.RawKernel(PLAIN, "lombscargle"), *map(np.asarray, (t, y, f)), np.float64)
        )
    print(f"finds the year: {abs(peak(f, power, 0.7, 1.3) - 1) < 0.01}")
    out = pathlib.Path("out")
    out.mkdir(exist_ok=True)
    try:
        picture(out / "cuda_cpp.png", f, power)
    except ModuleNotFoundError:
        print("no picture without matplotlib")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2**13)
