"""Functions run by quick code until their good code is compiled, and begin again in it where a call is long."""

import concurrent.futures
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import weft

AUTO = {"tier": "auto", "cache": False}
NEVER = AUTO | {"tier_delay": -1}  # the good code fails to compile, which is told
LATE = AUTO | {"tier_delay": 150}


@pytest.fixture(autouse=True)
def nothing_waits():
    """What other tests have left is compiled before."""
    weft.cache_info()
    yield
    weft.cache_info()


def longest(n):
    """Walks that no loop but the outer one counts."""
    best = 0
    for i in range(1, n):
        k, steps = i, 0
        while k != 1:
            k = k // 2 if k % 2 == 0 else 3 * k + 1
            steps += 1
        best = max(best, steps)
    return best


def added(a, n):
    """Reads what it has written."""
    for _ in range(n):
        for i in range(1, len(a)):
            a[i] = a[i] * 0.5 + a[i - 1]
    return a[-1]


def counted(counts, n):
    for i in range(n):
        counts[(i * i) % len(counts)] += 1
    return counts[0]


def swapped(a, b, n):
    for _ in range(n):
        for i in range(len(a)):
            b[i] = a[i] + 1.0
        a, b = b, a
    return a[0]


def blocks(n):
    total = 0.0
    for i in range(n):
        a = np.empty(300)
        for k in range(300):
            a[k] = k * i
        for k in range(300):
            total += a[k] * 0.5
    return total


def halves(a):
    """Two values, of complex numbers that it writes."""
    for i in range(len(a)):
        a[i] = a[i] * (0.5 + 0.5j) + a[0]
    return a[0], a[-1]


def copied(a, b):
    """A loop that is a copy, of what it has read and goes on to read."""
    first = a[0]
    for i in range(len(a)):
        a[i] = b[i]
    return first + a[1]


CALLS = {
    longest: lambda scale: (1500 * scale,),
    added: lambda scale: (np.arange(1000.0), 20 * scale),
    counted: lambda scale: (np.zeros(64, np.int32), 20_000 * scale),
    swapped: lambda scale: (np.arange(500.0), np.zeros(500), 41 * scale),
    blocks: lambda scale: (100 * scale,),
    halves: lambda scale: (np.arange(1000 * scale) * (1 + 2j),),
    copied: lambda scale: (np.arange(1000.0 * scale), np.arange(1000.0 * scale) * 2),
}


def outcome(function, arguments):
    """The result and what has become of the arrays, as bits."""
    result = function(*arguments)
    return repr(result), [each.tobytes() for each in arguments if isinstance(each, np.ndarray)]


@pytest.mark.parametrize("function", CALLS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("scale", (1, 200))
def test_every_step_has_the_same_bits(function, scale, capfd):
    with weft.config(tier="jit", cache=False):
        expected = outcome(weft.jit(function), CALLS[function](scale))
    told = "could not be compiled and goes on by quick code: WEFT_TIER_DELAY is -1"
    for settings in (NEVER, AUTO, LATE):
        with weft.config(**settings):
            compiled = weft.jit(function)
            for _ in range(2):
                assert outcome(compiled, CALLS[function](scale)) == expected, settings
            weft.cache_info()
            assert outcome(compiled, CALLS[function](scale)) == expected, settings
        assert (told in capfd.readouterr().err) == (settings is NEVER)


def walked(n):
    """In which quick code takes several times as long."""
    total = 0
    for i in range(n):
        k = i
        for _ in range(40):
            k = (k * 1103515245 + 12345) & 2147483647
            total += k >> 7
        total ^= k
    return total


def test_a_long_call_goes_on_in_good_code():
    def seconds(**settings):
        with weft.config(**settings):
            compiled = weft.jit(walked)
            start = time.process_time()
            compiled(1_500_000)
            taken = time.process_time() - start
            weft.cache_info()
        return taken

    quick, good = seconds(**NEVER), seconds(tier="jit", cache=False)
    assert quick > 1.5 * good
    assert seconds(**AUTO) < (quick + good) / 2


def test_writes_are_undone_before_a_call_begins_again():
    # More writes than are noted: the call waits for the good code, and has written nothing then.
    with weft.config(**LATE):
        counts = np.zeros(4, np.int64)
        assert weft.jit(counted)(counts, 10**6) == 500_000
        assert counts.sum() == 10**6


@pytest.mark.parametrize("function", (added, counted), ids=lambda each: each.__name__)
def test_a_call_that_cannot_wait_for_good_code_goes_on_without(function):
    with weft.config(tier="jit", cache=False):
        expected = outcome(weft.jit(function), CALLS[function](50))
    with weft.config(**NEVER):
        assert outcome(weft.jit(function), CALLS[function](50)) == expected


def test_what_runs_is_told():
    quick = "runs by quick code while it is compiled"
    with weft.config(**LATE):
        compiled = weft.jit(blocks)
        compiled(3)
        assert quick in compiled.explain()
        weft.cache_info()
        assert quick not in compiled.explain()


def test_errors_of_quick_code_are_the_functions():
    def found(a, x):
        for i in range(len(a) + 1):
            if a[i] == x:
                a[i] = -1.0
                return i
        return -1

    with weft.config(**NEVER):
        compiled = weft.jit(found)
        a = np.arange(5.0)
        assert compiled(a, 3.0) == 3
        assert a[3] == -1.0
        with pytest.raises(IndexError, match="index 5 is out of bounds"):
            compiled(a, 9.0)


ONE_STEP = """
import sys
import numpy as np
import weft

def tells(n):
    for i in range(n):
        print(i)
    return n

def recursive(n):
    return n if n < 2 else recursive(n - 1) + recursive(n - 2)

def parallel(a):
    for i in weft.prange(len(a)):
        a[i] += 1
    return a[0]

def draws(generator):
    return generator.random()

def plain(n):
    return n + 1

a = np.zeros(10)
generator = weft.random.default_rng(1)
calls = {tells: (2,), recursive: (8,), parallel: (a,), draws: (generator,), plain: (1,)}
for function, arguments in calls.items():
    weft.jit(function)(*arguments)
weft.jit(fastmath=True)(lambda a: a[0] + a[1] + a[2])(a)
weft.cache_info()  # waits for the background
"""


def test_what_others_see_is_compiled_first(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(ONE_STEP)
    environment = os.environ | {"WEFT_TIER": "auto", "WEFT_TIER_DELAY": "-1", "WEFT_CACHE": "0"}
    done = subprocess.run(
        [sys.executable, program], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "0\n1\n"
    told = [line for line in done.stderr.splitlines() if "quick code" in line]
    assert len(told) == 1, done.stderr
    assert "plain could not" in told[0]


def test_threads_share_both_steps():
    with weft.config(**LATE):
        compiled = weft.jit(longest)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: compiled(20_000), range(16)))
    assert set(found) == {longest(20_000)}


def test_calls_of_signal_handlers_are_not_stopped():
    with weft.config(tier="jit", cache=False):
        inner = weft.jit(longest)
        inner(10)
    seen = []

    def handler(number, frame):
        seen.append(inner(100_000))  # while the good code of the call around it comes

    with weft.config(tier="auto", cache=False, tier_delay=60):
        outer = weft.jit(walked)
        before = signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try:
            first = outer(1_000_000)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        weft.cache_info()
        assert outer(1_000_000) == first
    assert set(seen) <= {350}


KEPT = """
import weft

@weft.jit
def doubled(n):
    return n * 2

doubled(1)
print([each["from_disk"] for each in doubled.stats.values()])
"""


def test_the_next_process_finds_the_good_code(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(KEPT)
    folder = {"WEFT_TIER": "auto", "WEFT_CACHE_DIR": str(tmp_path / "cache"), "WEFT_CACHE": "1"}
    told = [
        subprocess.run(
            [sys.executable, program], env=os.environ | folder, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert told == ["[False]\n", "[True]\n"]
