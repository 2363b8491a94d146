"""What a mask selects: NumPy's results for every dtype, size and layout, on every device."""

import numpy
import pytest
import weft
from comparing import DTYPES, computed_on, values

TILE = 4096  # elements, of up to 8 bytes, that a block of a GPU's threads takes
MANY = 600 * TILE + 77  # so many that a GPU looks at a sample first, and at tiles before one more than once


def chosen(device, work, expected):
    (host,) = computed_on(device, work)
    assert (host.dtype, host.shape) == (expected.dtype, expected.shape)
    assert host.tobytes() == expected.tobytes()
    assert work().strides == (expected.itemsize,)


def made(*arrays):
    moved = [weft.array(a) for a in arrays]
    weft.eval(*moved)
    return moved


def computed(mask):
    """The mask, by the kernel that chooses, where one on a GPU does both."""
    return weft.equal(mask, True)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [1, 2, 1000, TILE // 2, TILE, TILE + 1, 3 * TILE - 1])
def test_every_dtype(device, dtype, size):
    a = values(dtype, size)
    mask = numpy.random.default_rng(size).random(size) < 0.4
    x, m = made(a, mask)
    chosen(device, lambda: x[computed(m)], a[mask])
    chosen(device, lambda: x[m], a[mask])
    if dtype.char in "?hfD":
        chosen(device, lambda: x[x != 0], a[a != 0])
        chosen(device, lambda: weft.nonzero(x)[0], numpy.nonzero(a)[0])


@pytest.mark.parametrize("size", [TILE - 1, TILE, TILE + 1, 2 * TILE, 300 * TILE, MANY])
def test_masks_of_every_kind(device, size):
    a = numpy.arange(size, dtype="float64")
    masks = {
        "all": numpy.ones(size, bool),
        "none": numpy.zeros(size, bool),
        "alternating": a % 2 == 0,
        "one of many": a % 1001 == 5,
        "the first": a == 0,
        "the last": a == size - 1,
        "runs": (a // 999) % 2 == 1,
    }
    (x,) = made(a)
    for mask in masks.values():
        (m,) = made(mask)
        chosen(device, lambda m=m: x[computed(m)], a[mask])
        chosen(device, lambda m=m: weft.flatnonzero(computed(m)), numpy.flatnonzero(mask))
        assert weft.compress(m, x).shape == a[mask].shape


def test_bytes_that_are_true(device):
    a = numpy.arange(3 * TILE, dtype="int16")
    truth = (a % 5).astype("uint8")
    x, m = made(a, truth)
    chosen(device, lambda: x[m.view("bool")], a[truth.view("bool")])


LAYOUTS = {
    "a part": lambda x: x[3:-2, 5:-1],
    "every other": lambda x: x[::2, ::3],
    "transposed": lambda x: x.T,
    "backwards": lambda x: x[::-1, ::-1],
    "a row for all": lambda x: x[:1] + 0 * x,
    "a column": lambda x: x[:, 7],
    "three dimensions": lambda x: x.reshape(40, 5, -1)[:, ::2],
    "their last axes": lambda x: x.reshape(40, 5, -1)[..., 1:3],
    "other axes": lambda x: x.reshape(40, 5, -1).transpose(2, 0, 1),
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize("dtype", ["float64", "int16"])
def test_any_layout(device, name, dtype):
    a = numpy.random.default_rng(1).integers(-9, 9, (200, 330)).astype(dtype)
    mask = numpy.random.default_rng(2).random(a.shape) < 0.3
    view = LAYOUTS[name]
    x, m = (view(each) for each in made(a, mask.astype("uint8")))
    own, truth = view(a), view(mask.astype("uint8")).astype(bool)
    chosen(device, lambda: x[m != 0], own[truth])
    if dtype != "float64":
        return
    chosen(device, lambda: x[x != 3], own[own != 3])
    chosen(device, lambda: (x + x)[m.astype(bool)], (own + own)[truth])
    for mine, other in zip(weft.nonzero(x), numpy.nonzero(own), strict=True):
        assert numpy.asarray(mine.to_device("cpu")).tolist() == other.tolist()
    assert numpy.asarray(weft.argwhere(x).to_device("cpu")).tolist() == numpy.argwhere(own).tolist()


def test_broadcast_operands(device):
    a = numpy.random.default_rng(1).random((70, 90))
    (x,) = made(a)
    wide = numpy.broadcast_to(a[:, :1], a.shape)
    chosen(device, lambda: weft.broadcast_to(x[:, :1], a.shape)[x > 0.5], wide[a > 0.5])
    chosen(
        device, lambda: x[weft.broadcast_to(x[0], a.shape) > 0.5], a[numpy.broadcast_to(a[0], a.shape) > 0.5]
    )
    chosen(device, lambda: weft.extract(x > 0.5, x), numpy.extract(a > 0.5, a))


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)])
def test_no_elements(device, shape):
    a = numpy.zeros(shape)
    (x,) = made(a)
    assert x[x > 0].shape == (0,)
    assert [positions.shape for positions in weft.nonzero(x)] == [(0,)] * len(shape)


def test_what_is_chosen_is_an_array_like_any(device):
    a = numpy.random.default_rng(1).random(MANY)
    (x,) = made(a)
    for least in (0.5, 0.99):
        result, expected = x[x > least], a[a > least]
        result[:] = result * 2
        result[::2] += 1
        expected = expected * 2
        expected[::2] += 1
        assert numpy.asarray(result.to_device("cpu")).tobytes() == expected.tobytes()
        assert result.flags["OWNDATA"] and result.flags["WRITEABLE"] and result.base is None
    again = x[x > 0.5][x[x > 0.5] > 0.75]
    assert numpy.asarray(again.to_device("cpu")).tobytes() == a[a > 0.75].tobytes()


@pytest.mark.parametrize(
    ("shape", "mask"),
    [((1,), (0,)), ((3,), (0,)), ((2, 3), (0,)), ((2, 3), (2, 0)), ((2, 3), (0, 3)), ((2, 3), (0, 2))],
)
def test_masks_without_elements(shape, mask):
    """NumPy takes them for axes of any length, but checks the axes that have one."""

    def program(np):
        x = np.arange(float(numpy.prod(shape))).reshape(shape)
        found = x[np.zeros(mask, bool)]
        x[np.zeros(mask, bool)] = 9.0
        return found.shape, x.sum()

    try:
        expected = program(numpy)
    except IndexError as error:
        with pytest.raises(IndexError) as told:
            program(weft)
        assert str(told.value) == str(error)
    else:
        shape_found, total = program(weft)
        assert shape_found == expected[0] and float(total) == float(expected[1])
