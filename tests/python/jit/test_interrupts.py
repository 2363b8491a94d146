"""Ctrl-C ends loops of compiled functions, which go on to be called."""

import os
import subprocess
import sys

import pytest

PROGRAM = """\
import linecache
import os
import signal
import sys

import weft as np

signal.signal(signal.SIGINT, signal.default_int_handler)  # which a shell's background jobs ignore
text = '''
def one_loop(n):
    s = 0.0
    for i in range(n):
        s += 1.0 / (i + 1)
    return s


def inner_loops(n):
    s = 0
    for i in range(n):
        for k in range(i % 4):
            s ^= k * i
    return s


def long_inner_loops(n):
    s = 0.0
    for i in range(n):
        for k in range(1000):
            for l in range(1000):
                s += 1.0 / (k + i + l + 1)
    return s


def while_loop(n):
    k = n
    while n > 1:
        k = k // 2 if k % 2 == 0 else 3 * k + 1
        if k == 1:
            k = 27
    return k


def leaves(n):
    for i in range(n):
        if i * i == -5:
            return i
    return n


def heap(n):
    a = np.zeros(100)
    for i in range(n):
        b = np.ones(10)
        a[i % 100] += b[i % 10]
    return a[0]


def walk(n, depth=0):
    s = 0
    if depth < 4:
        for k in range(n):
            s += walk(n, depth + 1)
    return s + 1


def recursion(n):
    k = min(n, 60)
    return k if k < 2 else recursion(k - 1) + recursion(k - 2)


def walk_caught(n):
    s = 0
    try:
        s = walk(n)
        assert s > 0
    except Exception:
        s = -1
    return s


def walks_in_chunks(n):
    s = 0
    for i in np.prange(2):
        s += walk(n)
    return s


def inner_while(n):
    s = 1
    for i in range(min(n, 5)):
        while n > 1 and s > 0:
            s = abs(s ^ i) + 1
            if s > 1000:
                s = 1
    return s


def moving_end(n):
    s = 0
    for i in range(min(n, 5)):
        k, end = 0, n
        while k < end:
            k += 1
            end += n > 1
        s += k
    return s


def either(n):
    s = 0
    for i in range(min(n, 5)):
        k = 0
        while k < 3 or n > 1:
            k += 1
            s ^= k
    return s


def unsigned(n):
    s = 0
    for i in range(5):
        x = np.uint64(n)
        while x > 0:
            x -= np.uint64(3)
            s += 1
            if n == 1 and s > 10:
                break
    return s


def never_used_up(n):
    s = 0
    for i in range(5):
        x = -n if n > 1 else 0
        while x:
            x >>= 1
            s ^= x
        y = n
        while y != 0:
            y = y // 2 + (n > 1)
            s ^= y
            if n == 1:
                break
    return s


def while_in_chunks(n):
    a = np.zeros(8)
    for i in np.prange(8):
        k = 1
        while n > 1 and k != 0:
            k = 3 - k
        a[i] = k
    return a[3]
'''
linecache.cache["<interrupted>"] = (len(text), None, text.splitlines(True), "<interrupted>")
names = {"np": np}
exec(compile(text, "<interrupted>", "exec"), names)
for name in sys.argv[2:]:
    f = np.jit(names[name], nogil=sys.argv[1] == "nogil")
    before = f(1)
    os.system(f"(sleep 0.2; kill -INT {os.getpid()}) &")
    try:
        f(10**4 if "walk" in name else 10**13)
    except KeyboardInterrupt:
        print(name, f(1) == before)
"""

NAMES = """one_loop inner_loops long_inner_loops while_loop leaves heap walk recursion walk_caught
walks_in_chunks inner_while moving_end either unsigned never_used_up while_in_chunks""".split()


@pytest.mark.parametrize("code", ("good", "quick"))
@pytest.mark.parametrize("gil", ("gil", "nogil"))
def test_ctrl_c_ends_loops(gil, code):
    # Good code that cannot be compiled never takes over.
    tier = {"WEFT_TIER": "auto", "WEFT_TIER_DELAY": "-1", "WEFT_CACHE": "0"} if code == "quick" else {}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, gil, *NAMES],
        capture_output=True,
        text=True,
        timeout=100,
        env=os.environ | tier,
    )
    assert done.stdout.splitlines() == [f"{name} True" for name in NAMES], done.stderr


def test_an_answer_of_the_programs_own_goes_on():
    code = """
import signal
import weft as np

text = '''
def f(n):
    s = 0
    for i in range(n):
        for k in range(i & 3):
            s += k ^ i
    return s
'''
names = {}
exec(text, names)
f = np.jit(names["f"], source=text)
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
expected = f(150_000_000)
import os
os.system(f"(sleep 0.1; kill -INT {os.getpid()}) &")
print(f(150_000_000) == expected, seen)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout.strip() == "True [1]", done.stderr
