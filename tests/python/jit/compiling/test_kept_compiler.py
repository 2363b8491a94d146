"""What is kept of the compiler from one function to the next changes nothing of what it makes."""

import os
import subprocess
import sys

PROGRAM = """
import sys
import numpy as np
import weft

@weft.jit
def searched(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low

@weft.jit
def switched(a):
    total = 0
    for i in range(len(a)):
        k = i % 5
        total += 3 if k == 0 else 7 if k == 1 else 11 if k == 2 else 1
    return total

@weft.jit
def powers(a, b):
    for i in range(len(a)):
        b[i] = a[i] ** 1.5 + np.exp(a[i])
    return b.sum()

@weft.jit
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

a = np.arange(50.0)
calls = {
    "searched": lambda: searched(a, 7.5),
    "switched": lambda: switched(a),
    "powers": lambda: powers(a, np.zeros(50)),
    "fib": lambda: fib(10),
    "kernel": lambda: (weft.array(a) * 2 + 1).sum().item(),
}
for name in sys.argv[1:]:
    calls[name]()
"""
NAMES = ["searched", "switched", "powers", "fib"]


def entries(folder, program, *names):
    """The entries on disk of a process that compiles these functions, by file."""
    folder.mkdir()
    environment = os.environ | {"WEFT_CACHE_DIR": str(folder), "WEFT_TIER": "jit"}
    subprocess.run([sys.executable, program, *names], env=environment, check=True, timeout=120)
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != "usage")
    return {path.relative_to(folder): path.read_bytes() for path in found}


def test_functions_are_the_same_bytes_whatever_was_compiled_before(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    together = entries(tmp_path / "together", program, "kernel", *NAMES, "kernel")
    for name in NAMES:
        alone = entries(tmp_path / name, program, name)
        assert alone, name
        for path, content in alone.items():
            assert together[path] == content, name
