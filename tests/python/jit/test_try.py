"""try, except, else and finally in compiled functions, beside CPython's."""

import pathlib
import random

import pytest
import weft as np


def outcome(function, *arguments):
    try:
        return "gives", repr(function(*arguments))
    except Exception as error:
        return type(error).__name__, str(error)


def agree(function, *arguments):
    expected = outcome(function, *arguments)
    assert outcome(np.jit(function), *arguments) == expected
    return expected


class Special(ValueError):
    pass


class Other(Exception):
    pass


def fails(k):
    if k == 1:
        raise ValueError("one")
    if k == 2:
        raise Special("two", k)
    if k == 3:
        raise KeyError(k)
    if k == 4:
        raise RuntimeError
    if k == 5:
        return [1][k]
    if k == 6:
        raise Other(k, 1.5)
    if k == 7:
        return 1 // (k - 7)
    return k


def caught(k):
    items = [k]
    try:
        items.append(fails(k))
    except Special:
        return 1, items
    except (ValueError, IndexError):
        items.append(-5)
        return 2, items
    except LookupError:
        return 3, items
    else:
        items.append(50)
    return 4, items


def with_finally(k):
    log = [0]
    try:
        try:
            fails(k)
            log.append(1)
        finally:
            log.append(2)
    except Exception:
        log.append(3)
    return log


def raised_again(k):
    try:
        fails(k)
    except ValueError:
        raise
    except:  # noqa: E722
        return -1
    return 0


def returned(k):
    try:
        return fails(k)
    finally:
        if k == 3:
            return 99  # noqa: B012


def in_loops(n):
    items = [1, 2, 3]
    total = 0
    for i in range(n):
        try:
            total += items[i]
            if i == 1:
                continue
            if i == 7:
                break
            total += 100
        except IndexError:
            total -= 1
        else:
            total += 1000
        finally:
            total += 5
    while True:
        try:
            n -= 1
            if n < 0:
                break
            if n % 2:
                continue
            total += 10 // (n - 4)
        except ZeroDivisionError:
            total += 1000
        finally:
            total += 1
    for a in [1, 2, 3]:
        for b in [0, 1, n + 4]:
            try:
                total += a // b
                try:
                    total += [5, 6][b]
                except IndexError:
                    total += 100
                    if b == 3:
                        break
            except ZeroDivisionError:
                total += 10
                continue
    return total


def unbound(k):
    try:
        y = [1, 2][k]
    except IndexError:
        pass
    return y


def converted(k):
    try:
        assert k > 0, "small"
        x = int(float("nan") if k == 1 else float("inf") if k == 2 else 1.5)
    except AssertionError:
        x = -1
    except ValueError:
        x = -2
    except OverflowError:
        x = -3
    return x


def around_comprehensions(k):
    try:
        items = [10 // (k - x) for x in range(4)]
        return sum(items) + sum(6 // (x - k) for x in range(9, 12)) + sorted(items)[k]
    except (ZeroDivisionError, IndexError):
        return -k


def changed_before(k):
    a, b = 1, [1]
    try:
        a = 2
        b = [2, 3]
        a += fails(k)
        b = [4]
        a = 7
    except Exception:
        a += 100
    return a, b


def named(k):
    try:
        fails(k)
    except ValueError as e:  # noqa: F841
        return 1
    return 0


def deep(k):
    def step(d):
        if d == 0:
            raise Special("deep", k)
        if d == 100:
            return 1
        return step(d - 1) + 1

    try:
        return step(k)
    except Exception:
        return -1


def in_handlers(k):
    try:
        fails(k)
    except ValueError:
        try:
            fails(3)
        except KeyError:
            return fails(k + 5)
    finally:
        print("at last", k)
    return 0


PROGRAMS = [
    caught, with_finally, raised_again, returned, in_loops, unbound, converted, around_comprehensions,
    changed_before, named, deep, in_handlers,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_programs(function):
    compiled = np.jit(function)
    for k in range(9):
        assert outcome(compiled, k) == outcome(function, k), k


def test_deep_recursion_is_caught():
    @np.jit
    def endless(n):
        if n < 0:
            return 0
        return endless(n + 1) + 1

    @np.jit
    def f(n):
        try:
            return endless(n)
        except RecursionError:
            return -1

    assert f(0) == -1


def test_a_caught_exception_is_no_value():
    @np.jit
    def f(k):
        try:
            fails(k)
        except ValueError as e:
            return str(e)
        return ""

    with pytest.raises(np.CompileError, match="caught exception"):
        f(1)


def test_what_was_told_is_not_mixed_up():
    @np.jit
    def f(k):
        try:
            fails(k)
        except ValueError:
            try:
                fails(3)
            except KeyError:
                pass
            raise
        return 0

    with pytest.raises(np.CompileError, match="behind something that catches"):
        f(1)


def test_only_exceptions_are_caught():
    @np.jit
    def f(k):
        try:
            fails(k)
        except int:
            return 1

    with pytest.raises(np.CompileError, match="no exception"):
        f(1)


# --- random programs ---


def random_block(draw, depth, in_loop, indent):
    pad = "    " * indent
    lines = []
    for _ in range(draw.randrange(1, 4)):
        kind = draw.randrange(12)
        k = draw.randrange(9)
        if kind == 0:
            lines.append(f"{pad}total += fails((total + {k}) % 9)")
        elif kind == 1:
            lines.append(f"{pad}total += 12 // (total % 4 - {k % 4})")
        elif kind == 2:
            lines.append(f"{pad}items.append(items[total % {k + 1}])")
        elif kind == 3 and in_loop:
            lines.append(f"{pad}if total % 5 == {k % 5}: {draw.choice(['break', 'continue'])}")
        elif kind == 4:
            lines.append(f"{pad}if total % 7 == {k % 7}: return total, items")
        elif kind == 5:
            lines.append(
                f"{pad}if total % 6 == {k % 6}: raise {draw.choice(['Special', 'KeyError', 'Other'])}(total)"
            )
        elif kind == 6:
            lines.append(f"{pad}items = [total, {k}]")
        elif kind in (7, 8) and depth > 0:
            lines.append(f"{pad}try:")
            lines += random_block(draw, depth - 1, in_loop, indent + 1)
            catches = draw.randrange(3)
            for name in draw.sample(
                ["ValueError", "LookupError", "(Other, ArithmeticError)", "Special"], catches
            ):
                lines.append(f"{pad}except {name}:")
                lines += random_block(draw, depth - 1, in_loop, indent + 1)
                if draw.random() < 0.2:
                    lines += [f"{pad}    total += 1", f"{pad}    log[0] += 1"]
            if catches and draw.random() < 0.4:
                lines.append(f"{pad}else:")
                lines += random_block(draw, 0, in_loop, indent + 1)
            if not catches or draw.random() < 0.4:
                lines.append(f"{pad}finally:")
                lines.append(f"{pad}    total += {k}")
                lines.append(f"{pad}    log.append(total)")
        elif kind == 9 and depth > 0:
            lines.append(f"{pad}for i{indent} in range({k % 4 + 1}):")
            lines.append(f"{pad}    total += i{indent}")
            lines += random_block(draw, depth - 1, True, indent + 1)
        else:
            lines.append(f"{pad}total += {k}")
    return lines


def random_program(seed):
    draw = random.Random(seed)
    lines = ["def f(n, log):", "    total, items = n, [n]"]
    while not any("try" in line for line in lines):
        lines = lines[:2] + random_block(draw, 3, False, 1)
    return "\n".join([*lines, "    return total, items"])


@pytest.mark.parametrize("part", range(4))
def test_random_programs(part):
    for seed in range(20 * part, 20 * part + 20):
        text = random_program(seed)
        names = {"fails": fails, "Special": Special, "Other": Other}
        exec(text, names)
        compiled = np.jit(names["f"], source=text)
        for n in range(5):
            ours, theirs = [0], [0]
            assert (outcome(compiled, n, ours), ours) == (outcome(names["f"], n, theirs), theirs), text


# --- memory ---


def resident():
    pages = pathlib.Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * 4096


@pytest.mark.measures
def test_memory_is_given_back_on_all_ways():
    def risky(k):
        rows = [[k] * 100, [k] * 50]
        if k % 3 == 0:
            raise ValueError(k)
        inner = [x // (k % 5) for x in rows[0]]
        return inner + rows[1 + k % 2]

    @np.jit
    def f(n):
        total = 0
        for i in range(n):
            items = [i] * 70
            more = np.zeros(30)
            try:
                first = [i, i] * 20
                total += len(risky(i)) + len(first)
                items = [1] * 60
                total += items[i % 100]
                if i % 7 == 0:
                    continue
            except ValueError:
                total += len([i] * 40)
            except IndexError:
                total += len(items)
            except ZeroDivisionError:
                more = np.ones(40)
            finally:
                total += len([total] * 30) + len(more)
        return total

    assert f(50) == f.py_func(50)
    f(1000)
    before = resident()
    f(100_000)
    assert resident() - before < 20 << 20


def test_errors_of_parallel_loops_and_of_memory_are_caught():
    def divided(n):
        total = 0
        for i in np.prange(n):
            total += 10 // (i - 50)
        return total

    def made(n):
        return len(np.zeros(n))

    @np.jit
    def f(n):
        print("begins", n)
        try:
            return divided(n)
        except ZeroDivisionError:
            try:
                return made(2**55)
            except MemoryError:
                return -1

    assert f(10) == f.py_func(10)
    assert f(100) == -1


def test_a_loop_in_a_try_is_left_from_a_try_inside_of_it():
    @np.jit
    def f(n, last):
        total = 0
        try:
            for i in range(n):
                try:
                    if i == last:
                        break
                    if i % 3 == 1:
                        continue
                    total += i
                except IndexError:
                    total += 100
        except IndexError:
            total += 1000
        return total

    for n, last in ((5, 9), (5, 3), (5, 0), (20, 6)):
        assert f(n, last) == f.py_func(n, last)


def test_raise_alone_goes_on_with_what_the_caller_handles():
    @np.jit
    def again(x):
        if x:
            raise
        return x

    class Own(Exception):
        pass

    assert again(0) == 0
    for error in (ValueError("a", 1), Own("b")):
        with pytest.raises(type(error)) as raised:
            try:
                raise error
            except Exception:
                again(1)
        assert raised.value is error
    with pytest.raises(RuntimeError, match="No active exception to reraise"):
        again(1)
