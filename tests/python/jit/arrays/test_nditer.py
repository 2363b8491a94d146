"""numpy.nditer in compiled functions: its order, its elements and its errors."""

import itertools

import numpy
import pytest
import weft as np


def one(a):
    items = []
    for u in numpy.nditer(a):
        items.append(u.item())
    return items


def two(a, b):
    items = []
    for u, v in numpy.nditer((a, b)):
        items.append((u.item(), v.item()))
    return items


def three(a, b, c):
    items = []
    both = numpy.nditer((a, b, c))
    for u, v, w in both:
        items.append((u.item(), v.item(), w.item()))
    return items


def laid_out(*shape):
    """Arrays of a shape with their dimensions in every order of memory, some of them backwards or with gaps."""
    arrays = []
    for order in itertools.permutations(range(len(shape))):
        for steps in itertools.product((1, -1, 2), repeat=len(shape)):
            sizes = [shape[d] * abs(steps[d]) for d in order]
            whole = numpy.arange(numpy.prod(sizes)).reshape(sizes).transpose(numpy.argsort(order))
            arrays.append(whole[tuple(slice(None, None, step) for step in steps)])
    return arrays


OTHERS = [numpy.array(1.5), numpy.arange(2).reshape(2, 1), numpy.arange(3)[::-1], numpy.float32(3)]


def test_elements_come_in_the_order_of_memory():
    compiled = np.jit(one)
    spread = numpy.broadcast_to(numpy.arange(3), (2, 3))
    for a in (*laid_out(2, 3, 2), *laid_out(3, 4), *laid_out(4), *OTHERS, spread):
        assert compiled(a) == one(a)


def test_several_arrays_are_gone_through_together():
    compiled = np.jit(two)
    for a, b in itertools.product((*laid_out(2, 3)[::2], *OTHERS), repeat=2):
        try:
            expected = two(a, b)
        except ValueError as error:
            with pytest.raises(ValueError) as caught:
                compiled(a, b)
            assert str(caught.value) == str(error)
        else:
            assert compiled(a, b) == expected
    compiled = np.jit(three)
    for arrays in itertools.product(laid_out(2, 3, 2)[::23], repeat=3):
        assert compiled(*arrays) == three(*arrays)


def test_an_iterator_keeps_its_memory():
    def f(n):
        total = 0.0
        for u in numpy.nditer(numpy.arange(n) * 2.0):
            total += u.item()
        return total

    def g(n):
        for u, v in numpy.nditer((numpy.arange(n), numpy.ones((2, n)))):
            yield u.item() + v.item()

    assert np.jit(f)(1000) == f(1000)
    assert list(np.jit(g)(5)) == list(g(5))


def test_errors():
    def write(a):
        for u in numpy.nditer(a):
            u[...] = 1

    with pytest.raises(np.CompileError, match="read-only"):
        np.jit(write)(numpy.zeros(3))
    with pytest.raises(ValueError, match="Iteration of zero-sized operands is not enabled"):
        np.jit(one)(numpy.zeros((2, 0)))
    with pytest.raises(np.CompileError, match="nditer"):
        np.jit(lambda a: one([a]))(numpy.zeros(3))


@pytest.mark.parametrize("shapes", [((2, 3), (4, 3)), ((2,), (3,)), ((3, 4), (3,)), ((2, 1, 3), (2, 2, 4))])
def test_operands_that_do_not_fit_are_told_as_numpy_does(shapes):
    a, b = (numpy.zeros(shape) for shape in shapes)
    for function in (two, lambda a, b: a + b):
        with pytest.raises(ValueError) as expected:
            function(a, b)
        with pytest.raises(ValueError) as caught:
            np.jit(function)(a, b)
        assert str(caught.value) == str(expected.value)
