"""Objects that many threads share, on Pythons with and without a GIL: scalars that are still to be computed, memory
that is exported, lists that change while they are read, profiles. test_threads.py has arrays."""

import subprocess
import sys
import sysconfig

import numpy
import pytest
import weft
from many_threads import in_threads

WITHOUT_GIL = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


@pytest.mark.skipif(not WITHOUT_GIL, reason="this Python has a GIL")
def test_the_gil_stays_off():
    script = "import sys, weft; weft.arange(9).sum(); print(sys._is_gil_enabled())"
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_a_scalar_that_all_look_at_first():
    x = weft.arange(40000.0)
    for turn in range(40):
        scalar = (x + turn).sum()  # not computed yet
        wanted = 40000 * 39999 / 2 + 40000 * turn
        looks = [float, lambda s: s + 0, hash, lambda s: s.item(), lambda s: float(s * x[1]), repr]
        results = in_threads(lambda number, scalar=scalar, looks=looks: looks[number % 6](scalar), 12)
        for number, result in enumerate(results):
            assert result == (repr(weft.float64(wanted)) if number % 6 == 5 else wanted)


def test_memory_that_all_ask_for_first():
    for turn in range(40):
        with weft.device("cpu"):  # a GPU's memory has no such interface
            x = weft.arange(3000.0) + turn
        addresses = in_threads(lambda number, x=x: x.__array_interface__["data"][0], 8)
        assert len(set(addresses)) == 1
        assert numpy.asarray(x)[7] == 7 + turn


@pytest.mark.parametrize("made", [weft.array, weft.concatenate], ids=["array", "concatenate"])
def test_lists_that_others_shorten(made):
    """As with Python's own functions the result is one of many; nothing else may happen."""
    element = weft.ones(3) if made is weft.concatenate else 1.5
    shared = [element] * 300

    def work(number):
        for _ in range(60):
            if number % 4 == 0:
                del shared[150:]
                shared.extend([element] * 150)
                continue
            try:
                result = made(shared)
            except (IndexError, ValueError, TypeError):  # it became shorter
                continue
            assert (numpy.asarray(result) == (1 if made is weft.concatenate else 1.5)).all()

    in_threads(work, 8)


def test_profiles_beside_recording():
    x = weft.arange(5000.0)

    def work(number):
        for turn in range(10):
            if number == 0:
                with weft.profile():
                    weft.eval(x + turn)
            else:
                assert float((x * turn).sum()) == turn * 5000 * 4999 / 2

    in_threads(work, 8)


def test_subclasses_made_by_many():
    def work(number):
        class Named(weft.ndarray):
            def __array_finalize__(self, origin):
                self.name = getattr(origin, "name", number)

        for turn in range(20):
            made = weft.arange(5.0).view(Named)
            assert type(made + turn) is Named and (made + turn).name == number

    in_threads(work, 16)
