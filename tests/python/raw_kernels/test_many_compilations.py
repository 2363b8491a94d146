"""Compilations of CUDA C++ by many: processes that compile the same at once, and a process that compiles a lot."""

import gc
import os
import subprocess
import sys

import pytest
import weft as np
from on_gpu import ON_FAKE_DRIVER, needs_gpu

pytestmark = needs_gpu

PROGRAM = """
import os, sys, time
import weft as np

np.config.device = "cuda"
x = np.zeros(8, np.int32)
x.tolist()
kernels = [
    np.RawKernel(f'extern "C" __global__ void race_{k}(int* x) {{ x[threadIdx.x] += {k} + 1; }}', f"race_{k}")
    for k in range(int(sys.argv[1]))
]
while not os.path.exists(sys.argv[2]):  # so that all begin at once
    time.sleep(0.001)
for kernel in kernels:
    kernel((1,), (8,), (x,))
print(x.tolist(), np.cache_info()["misses"] == 0)
"""


@pytest.mark.parametrize("turn", ["first", "again"])
def test_processes_that_compile_the_same_at_once(turn, tmp_path_factory):
    """The second turn finds what the first has kept, whichever process has kept it."""
    folder = tmp_path_factory.getbasetemp() / "racing"
    folder.mkdir(exist_ok=True)
    count, start = 3, folder / f"start-{turn}"
    environment = {**os.environ, "WEFT_CACHE_DIR": str(folder / "kernels")}
    command = [sys.executable, "-c", PROGRAM, str(count), str(start)]
    racers = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    start.write_text("")
    for racer in racers:
        out, errors = racer.communicate(timeout=120)
        assert racer.returncode == 0, errors
        assert out.startswith(str([sum(range(1, count + 1))] * 8))
        assert turn == "first" or out.endswith(" True\n")


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_compilations_leave_memory_flat():
    """What is compiled and dropped is given back: 1000 modules on a GPU, few where each is compiled for the CPU."""
    count = 12 if ON_FAKE_DRIVER else 1000

    def compile_some(first, last):
        for k in range(first, last):
            module = np.RawModule(code=f'extern "C" __global__ void many_{k}(int* x) {{ x[0] = {k}; }}')
            module.compile()
            assert module.function_names() == [f"many_{k}"]

    with np.device("cuda"), np.config(cache=False):
        compile_some(0, count // 4)
        gc.collect()
        before = resident()
        compile_some(count // 4, count)
        gc.collect()
    assert resident() - before < 16 << 20
