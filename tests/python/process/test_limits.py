"""Limits that the system sets to a process: what it cannot have is an error, and the next attempt is right."""

import subprocess
import sys

import pytest

BEGIN = """
import resource, threading, time
import numpy
import weft as np

def room(bytes):
    text = open("/proc/self/status").read()
    have = int(text.split("VmSize:")[1].split()[0]) << 10
    resource.setrlimit(resource.RLIMIT_AS, (have + bytes, resource.RLIM_INFINITY))

def lift():
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
"""

SMALL_STACK = """
def long_sum(module, x):
    for k in range(1, 400):
        x = module.sqrt(x * x + k) - module.exp(-x) * module.sin(x / k)
    return x

results = []
threading.stack_size(256 << 10)
with np.config(tier="jit", cache=False):
    thread = threading.Thread(target=lambda: results.append(numpy.asarray(long_sum(np, np.arange(3000.0)))))
    thread.start()
    thread.join()
numpy.testing.assert_allclose(results[0], long_sum(numpy, numpy.arange(3000.0)), rtol=1e-9)
"""

FIRST_PRODUCT = """
a = numpy.arange(3000.0).reshape(60, 50) * (1 + 2j)
x, y = np.asarray(a), np.asarray(a.T.copy())
np.eval(x + 1, y + 1)
room(16 << 20)
try:
    (x @ y).tolist()
except MemoryError as error:
    assert "cannot allocate" in str(error), error
else:
    raise AssertionError("the library of products has been opened already")
lift()
numpy.testing.assert_allclose(numpy.asarray(x @ y), a @ a.T, rtol=1e-12)
"""

# Threads of the pool and of compilations begin where nearly nothing is left for what libraries keep of a thread.
FIRST_THREADS = """
import os

def attempt(bytes):
    with np.config(num_threads=16, small=0, cache=False):
        x = np.arange(200_000.0)
        np.eval(x)
        room(bytes)
        try:
            np.sqrt(x * x + bytes).sum().tolist()
            (x[:1000] + 1j).tolist()
        except MemoryError:
            pass

for k in range(60):
    child = os.fork()
    if child == 0:
        attempt(5_000 + 400 * k)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status == 0, (k, status)
"""

THREADS_OF_PRODUCTS = """
a = (numpy.arange(500_000.0).reshape(1000, 500) % 17) * (1 + 2j)
b = a.T.copy()
x, y = np.asarray(a), np.asarray(b)
(x[:4] @ y).tolist()
with np.config(num_threads=8):
    np.eval(np.arange(1e6) * 2)
    time.sleep(0.3)  # until the pool's threads have begun, and have what they take of addresses
    room(48 << 20)
    try:
        np.eval(x @ y)
    except MemoryError as error:
        assert "cannot allocate" in str(error), error
    lift()
    numpy.testing.assert_allclose(numpy.asarray(x @ y), a @ b, rtol=1e-12)
"""

MAIN_STACK = """
text = open("/proc/self/status").read()
assert int(text.split("VmStk:")[1].split()[0]) >= 512, text
"""


@pytest.mark.parametrize(
    "program",
    [SMALL_STACK, FIRST_PRODUCT, FIRST_THREADS, THREADS_OF_PRODUCTS, MAIN_STACK],
    ids=[
        "kernels_are_compiled_on_small_stacks",
        "a_library_that_cannot_be_opened_is_an_error",
        "threads_begin_with_hardly_any_addresses",
        "threads_of_products_without_memory_are_an_error",
        "the_main_stack_is_there_before_addresses_end",
    ],
)
def test_limit(program):
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr[-3000:]
