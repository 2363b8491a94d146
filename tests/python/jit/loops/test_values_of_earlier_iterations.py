"""A variable that a loop assigns at its end has a value in the next iteration, whatever is done with it there."""

from typing import NamedTuple

import numpy
import pytest
import weft as np

EXPRESSIONS = """
a[last]
b[last, 0]
b[0, last]
b[last][0]
b[last].sum()
b[last:, 1].sum()
b[1:last, 1].sum()
b[None, last].sum()
b[..., last].sum()
b[(last, 1)]
b.flat[last]
a[last:last + 2].sum()
(1, 2, 3)[last]
[1, 2, 3][last]
[[1, 2], [3, 4], [5, 6]][last][0]
abs(last)
math.sqrt(last)
math.gcd(last, 4)
min(last, 2)
max(1, last, 2)
sum(range(last))
sum([k for k in range(last)])
sum(k for k in range(1, last, 2))
len(range(last))
np.zeros(last + 1).sum()
np.zeros((last + 1, 2)).sum()
np.ones(3)[last]
np.arange(last).sum()
np.full(3, last).sum()
np.sum(a[:last])
np.minimum(last, 2)
np.sqrt(last)
(a * last).sum()
(last * a)[0]
a[last] * 2 + last
-last
~last
last ** 2
last // 2
last % 2
last << 1
last & 1
last and 1
last or 1
not last
1 if last else 2
last if last > 1 else 2
last < 2
0 <= last < 2
last in (1, 2)
last in [1, 2]
last in range(3)
int(last)
float(last)
bool(last)
complex(last).real
round(last / 3, 1)
round(last)
divmod(last, 2)[0]
pow(last, 2, 3)
(lambda x: x + last)(1)
(lambda x: x + 1)(last)
(lambda x, y=last: x + y)(1)
helper(last)
helper(x=last)
twice(last)[0]
Point(last, 2).x
Point(last, 2)[0]
last.bit_length()
last.real
np.int32(last)
np.float64(last)
np.where(a > last, 1, 2).sum()
(last, 2)[0]
[last, 2][0]
sorted([last, 1])[0]
sum(x for x in counted(last))
any([last > 1, False])
len([last] * 2)
len([1] * last)
len((1, 2) + (last,))
sum([x * y for x, y in zip(a, range(last))])
sum([k * x for k, x in enumerate(a, last)])
sum([x for x in reversed(range(last))])
sum(range(last), last)
a[a[last] > 0 and 1 or 0]
slice(last).stop
a[slice(0, last)].sum()
np.array([last, 1]).sum()
a.shape[last - last]
b.T[0, last]
int(a[last])
np.concatenate((a, a * last)).sum()
np.stack((a, a + last)).sum()
np.copy(a * last).sum()
np.clip(last, 0, 1)
np.full((2, 2), last)[1, last - last]
np.isnan(last * 1.0)
np.linspace(0.0, last, 3).sum()
(a if last else a)[0]
(a[:2] if last > 5 else a[1:])[0]
""".split("\n")[1:-1]

STATEMENTS = """
a[last] = 1
a[last] += 1
b[last, 0] = 1
b[0, last] *= 2
b[last] = 3
b[last] += 1
b[last, :] = a
b[:, last] += a
b[last:last + 1, 0] = 1
b.flat[last] = 1
a[last], t = 1, 2
a[0], a[last] = a[last], a[0]
l[last] = 1
l[last] += 1
l.append(last)
l.insert(last, 1)
l.pop(last) if len(l) > 3 else 0
del l[last]; l.append(1)
l[0:last] = [1]
l.extend([last])
l.extend(range(last))
l += [last]
l *= 1 + last - last
t += last
t = last = last + 1 - 1
x, y = last, 1; t += x
(x, y), z = (last, 1), 2; t += x
for k in range(last): t += k
for k in a[:last]: t += k
for k, v in enumerate(a[:last]): t += k
for k in (last, 1): t += k
for k in [last, 1]: t += k
for k in range(last, 5, 1 + last - last): t += k
while last > 5: last -= 1
while t < 3 and a[last] > 0: t += 1
while t < 3 and last not in (last, 1): t += 1
for k in np.prange(last): t += k
for k in np.prange(len(a)): t += int(a[last])
while t > 5 + last: t -= 1
if last > 0: t += 1
assert last >= 0
t = a[last] if t == last else a[0]
t += l[last]
t += l[:last][0] if last else 0
a[t if False else last] = 2
a[last] = last
a[:] = last
a[:] += last
a[1:] = a[last]
a[last] = a[last]
a[:last] = a[:last] * 2
g = lambda x: x + last; t += g(1)
t += (u := last)
""".split("\n")[1:-1]


class Point(NamedTuple):
    x: int
    y: int


def helper(x):
    return x + 1


def twice(x):
    return x, x


def counted(n):
    k = 0
    while k < n:
        yield k
        k += 1


TEXT = """\
import math
from typing import NamedTuple


def f(a, b, n):
    t = 0
    l = [1, 2, 3, 4]
    for i in range(n):
        if i > 0:
            {}
        last = i
    return float(t + sum(l)) + a[0] + b.sum()
"""


class Plain:
    prange = range

    def __getattr__(self, name):
        return getattr(numpy, name)


def function(statement, jit=None):
    text = TEXT.format("\n            ".join(statement.split("; ")))
    names = {
        "np": np if jit else Plain(),
        "Point": Point,
        "helper": helper,
        "twice": twice,
        "counted": counted,
    }
    exec(text, names)
    return names["f"] if jit is None else jit(names["f"], source=text)


def result(f):
    a, b = numpy.arange(3.0) + 1, numpy.arange(9.0).reshape(3, 3)
    return f(a, b, 3), a.tolist(), b.tolist()


@pytest.mark.parametrize("statement", [f"t += {e}" for e in EXPRESSIONS] + STATEMENTS)
def test_a_value_of_the_iteration_before(statement):
    assert result(function(statement, np.jit)) == result(function(statement))


@pytest.mark.parametrize(
    "statement", ("a[last] = 1", "t += a[last]", "t += sum(range(last))", "for k in np.prange(last): t += k")
)
def test_a_variable_that_no_iteration_assigns(statement):
    text = TEXT.format(statement.replace("last", "late")).replace("    return", "    late = 0\n    return")
    names = {"np": np}
    exec(text, names)
    with pytest.raises(np.CompileError, match="variable 'late' has no value here"):
        result(np.jit(names["f"], source=text))


@pytest.mark.parametrize(
    "condition", ("a[late] > 0", "a[0] > 0 and late not in (late, 1)", "(1 if a[0] > 0 else a[late]) > 0")
)
def test_a_condition_that_no_iteration_decides(condition):
    text = f"def f(a):\n    while {condition}:\n        a[0] -= 1\n    late = 0\n"
    names = {}
    exec(text, names)
    with pytest.raises(np.CompileError, match="variable 'late' has no value here"):
        np.jit(names["f"], source=text)(numpy.ones(3))


def test_an_index_that_the_function_finds_by_calling_itself():
    @np.jit
    def place(a, n):
        if n == 0:
            return 0
        a[place(a, n - 1)] += 1.0
        return int(a[place(a, n - 1)]) % len(a)

    a, plain = numpy.zeros(3), numpy.zeros(3)

    def reference(a, n):
        if n == 0:
            return 0
        a[reference(a, n - 1)] += 1.0
        return int(a[reference(a, n - 1)]) % len(a)

    assert place(a, 4) == reference(plain, 4)
    assert a.tolist() == plain.tolist()


def test_a_list_that_is_filled_later():
    def f(a, n):
        found, total = [], 0.0
        for i in range(n):
            if i > 0:
                total += a[found[i - 1]]
            found.append(n - 1 - i)
        return total

    a = numpy.arange(5.0)
    assert np.jit(f)(a, 5) == f(a, 5)
