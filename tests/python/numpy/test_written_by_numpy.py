"""What NumPy writes into weft's arrays, where an operand is of a dtype or a class that weft leaves to it.

On a GPU NumPy writes into a copy, which is copied back.
"""

import numpy
import pytest
import weft
from comparing import assert_equal
from on_gpu import needs_gpu


class Sub(numpy.ndarray):
    pass


def sub(*values):
    return numpy.array(values, "f8").view(Sub)


def wide(np, *values):
    return np.array(numpy.array(values, "g"))


# By name: what writes into x, which is [[0, 1], [2, 3]].
WRITES = {
    "at": lambda np, x: np.add.at(x, [0, 0], wide(np, 1, 2)),
    "at, compared": lambda np, x: np.less.at(x, ..., wide(np, 1)),
    "at, objects": lambda np, x: np.add.at(x, [0, 0], np.array([1, 2], object)),
    "at, a list": lambda np, x: np.add.at(x, [1], [numpy.longdouble(3)]),
    "at, one row": lambda np, x: np.add.at(x[1], [0, 1], wide(np, 1)),
    "at, a subclass": lambda np, x: np.add.at(x, [0], sub(1, 2)),
    "at, NumPy's": lambda np, x: numpy.add.at(x, [0], numpy.array([1, 2], "g")),
    "at, NumPy's with a subclass": lambda np, x: numpy.add.at(x, [0], sub(1, 2)),
    "copyto": lambda np, x: np.copyto(x, wide(np, 5, 6)),
    "copyto, by name": lambda np, x: np.copyto(src=wide(np, 5, 6), dst=x),
    "copyto, NumPy's": lambda np, x: numpy.copyto(x, wide(np, 5, 6)),
    "copyto, a subclass": lambda np, x: np.copyto(x, sub(5, 6)),
    "put": lambda np, x: np.put(x, [0, 3], wide(np, 5)),
    "put, by name": lambda np, x: np.put(ind=[0, 3], v=wide(np, 5), a=x),
    "put, a subclass": lambda np, x: np.put(x, [0, 3], sub(5)),
    "put, a method": lambda np, x: x.put([0, 3], wide(np, 5)),
    "put_along_axis": lambda np, x: np.put_along_axis(x, np.array([[0], [1]]), wide(np, 5)[None], 1),
    "putmask": lambda np, x: np.putmask(x, np.array([[1, 0], [0, 1]], object), 7),
    "place": lambda np, x: np.place(x, np.array([[1, 0], [0, 1]], object), [7.0]),
    "fill_diagonal": lambda np, x: np.fill_diagonal(x, wide(np, 5)),
    "fill": lambda np, x: x.fill(np.array(numpy.array(5, "g"))),
    "out": lambda np, x: np.add(wide(np, 1, 2), 1, out=x, casting="unsafe"),
    "out, by place": lambda np, x: np.add([numpy.longdouble(3)], 1, x),
    "out, a subclass": lambda np, x: np.add(sub(1, 2), 1, out=x),
    "out, one of two": lambda np, x: np.divmod(wide(np, 5, 6), 4, out=(x, None), casting="unsafe"),
    "reduce": lambda np, x: np.add.reduce(sub(1, 2).reshape(1, 2), 0, out=x[0]),
    "sum": lambda np, x: np.sum(wide(np, 1, 2).reshape(1, 2), 0, None, x[0]),
    "sum, a subclass": lambda np, x: np.sum(sub(1, 2).reshape(1, 2), 0, out=x[0]),
    "sum, NumPy's": lambda np, x: numpy.sum(sub(1, 2).reshape(1, 2), 0, out=x[0]),
    "sum, a method": lambda np, x: wide(np, 1, 2).reshape(1, 2).sum(0, None, x[0]),
    "cumsum": lambda np, x: np.cumsum(wide(np, 1, 2), 0, None, x[0]),
    "round": lambda np, x: np.round(wide(np, 1.5, 2), 0, x[0]),
    "concatenate": lambda np, x: np.concatenate([wide(np, 1), wide(np, 2)], 0, x[0], casting="unsafe"),
    "choose": lambda np, x: np.choose([0, 1], [wide(np, 1, 2), 3], x[0]),
}
DEVICES = ["cpu", pytest.param("cuda:0", marks=needs_gpu)]


def written(np, write, dtype):
    x = np.array(numpy.arange(4).reshape(2, 2).astype(dtype))
    result = write(np, x)
    return x, () if result is None else result


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", ["f8", "D"])
@pytest.mark.parametrize("name", WRITES)
def test_writes_arrive(name, dtype, device):
    expected, result = written(numpy, WRITES[name], dtype)
    with weft.device(device):
        x, found = written(weft, WRITES[name], dtype)
    assert x.device == device
    assert_equal(x, expected)
    assert numpy.array_equal(
        numpy.asarray(found[0] if "two" in name else found), result[0] if "two" in name else result
    )


@pytest.mark.parametrize("device", DEVICES)
def test_what_is_read_only_stays(device):
    with weft.device(device):
        x = weft.arange(3.0)
        x.flags.writeable = False
        for write in (
            lambda: weft.copyto(x, wide(weft, 1)),
            lambda: weft.add(wide(weft, 1), 1, out=x, casting="unsafe"),
        ):
            with pytest.raises(ValueError, match="read-only"):
                write()
    assert x.tolist() == [0, 1, 2]


@needs_gpu
def test_what_is_read_alone_is_not_copied_back():
    with weft.device("cuda:0"):
        x = weft.arange(3.0)
        x.flags.writeable = False
        host = wide(weft, 1, 2, 3)
        host.put([0], x[2])
        weft.add.at(host, [1], x[2])
        host[2:] = x[1:2]
        with pytest.raises(ValueError, match="read-only"):
            weft.add.at(x, [0], host[0])  # NumPy's own writes
    assert (host.tolist(), x.tolist()) == ([2, 4, 1], [0, 1, 2])
