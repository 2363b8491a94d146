"""Arrays that writes put together (roll, pad, concatenate, x[1:-1] = ...) are read by pieces, and not made."""

import numpy
import pytest
import weft

DTYPES = ["f8", "f4", "i8", "i2", "u1"]


@pytest.fixture(autouse=True)
def everything_is_recorded():
    with weft.config(small=0, tier="block"):
        yield


def both(values):
    return values, weft.array(values)


def launches_of(make):
    weft.clear_kernel_history()
    result = numpy.asarray(make())
    return result, weft.kernel_history()


STENCILS = {
    "roll one axis": lambda np, u: np.roll(u, 1, 0) + np.roll(u, -1, 0),
    "roll both axes": lambda np, u: np.roll(u, 3, (0, 1)) - np.roll(u, (2, -5), (0, 1)),
    "roll of a roll": lambda np, u: np.roll(np.roll(u, 1, 0), -1, 1) * u,
    "roll far": lambda np, u: np.roll(u, 17, 1) + np.roll(u, -40, 0),
    "life": lambda np, u: sum(
        np.roll(np.roll(u, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j
    ),
    "zeros around": lambda np, u: np.pad(u, 1)[2:, 1:-1] + np.pad(u, 1)[1:-1, :-2] * 2,
    "edges around": lambda np, u: sum(
        np.pad(u, 2, "edge")[i : i + u.shape[0], i : -4 + i or None] for i in range(4)
    ),
    "wrapped": lambda np, u: np.pad(u, ((2, 1), (0, 3)), "wrap")[1:-2, 2:-1] + u,
    "mirrored": lambda np, u: np.pad(u, 3, "reflect")[:-6, 6:] - u,
    "joined": lambda np, u: np.concatenate([u[1:], u[:1]]) + np.concatenate([u[:, 2:], u[:, :2] * 2], 1),
    "stacked": lambda np, u: np.stack([u, u * 2, u[::-1]])[:, 1:] + np.stack([u, u, u], 0)[:, :-1],
    "tiled": lambda np, u: np.tile(u, (2, 2))[1:, 3:] - np.tile(u[:1], (2 * u.shape[0], 2))[:-1, :-3],
    "transposed": lambda np, u: np.roll(u.T, 2, 0) + np.roll(u, 2, 1).T,
    "backwards": lambda np, u: np.roll(u, 1, 0)[::-1] + np.roll(u, 1, 1)[:, ::-1] * u,
    "in steps": lambda np, u: np.roll(u, 1, 0)[::2] + np.roll(u, 1, 1)[1::2, ::-1],
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", STENCILS)
def test_a_stencil_is_exact(name, dtype):
    for shape in ((40, 38), (37, 43), (3, 60)):
        if (name == "in steps" and shape[0] % 2) or (name == "transposed" and shape[0] < 4):
            continue
        values, ours = both((numpy.random.default_rng(1).random(shape) * 100).astype(dtype))
        if name == "in steps":
            values, ours = values[:, : shape[1] // 2 * 2], ours[:, : shape[1] // 2 * 2]
        expected = STENCILS[name](numpy, values)
        result = STENCILS[name](weft, ours)
        assert result.dtype == expected.dtype
        assert (numpy.asarray(result) == expected).all()


@pytest.mark.host
@pytest.mark.parametrize("name", ["roll one axis", "life", "wrapped", "joined", "zeros around"])
def test_nothing_but_the_result_is_written(name):
    values, ours = both(numpy.random.default_rng(2).random((150, 130)))
    expected = STENCILS[name](numpy, values)
    weft.eval(ours)
    result, history = launches_of(lambda: STENCILS[name](weft, ours))
    assert (result == expected).all()
    assert sum(launch["bytes_written"] for launch in history) <= expected.nbytes + 64
    with weft.config(without="reads_through_writes"):
        _, history = launches_of(lambda: STENCILS[name](weft, ours))
    assert sum(launch["bytes_written"] for launch in history) > expected.nbytes * 1.9


@pytest.mark.parametrize("name", STENCILS)
def test_large_arrays_by_machine_code(name):
    values, ours = both(numpy.random.default_rng(2).random((300, 310)))
    with weft.config(small=4096, tier="jit"):
        assert (numpy.asarray(STENCILS[name](weft, ours)) == STENCILS[name](numpy, values)).all()


@pytest.mark.host
def test_explain_tells_of_the_boxes():
    _, ours = both(numpy.ones((80, 90)))
    text = weft.explain(weft.roll(ours, 1, 0) + weft.roll(ours, 1, 1))
    assert "1 kernel(s)" in text and "over (80,90) in 4 box(es)" in text


@pytest.mark.host
def test_corners_need_no_machine_code():
    """Boxes that read otherwise than the main one, and are few points, stay interpreted."""
    values, ours = both(numpy.random.default_rng(3).random((200, 210)))
    with weft.config(small=4096, tier="auto"):
        for _ in range(2):
            weft.eval(ours)
            result, history = launches_of(
                lambda: weft.pad(ours, 1)[2:, :-2] * 1.25 + weft.pad(ours, 1)[:-2, 2:]
            )
            assert (result == numpy.pad(values, 1)[2:, :-2] * 1.25 + numpy.pad(values, 1)[:-2, 2:]).all()
            weft.cache_info()  # waits for what is compiled
    assert {launch["compiled"] for launch in history if launch["elements"] == 1} == {False}
    assert {launch["compiled"] for launch in history if launch["elements"] > 128} == {True}


def test_short_rows_are_not_cut():
    """Pieces of a few elements are no loops: the array is made."""
    red, ours = both(numpy.random.default_rng(2).random((90, 95)))
    with weft.config(small=4096):
        weft.eval(ours)
        result, history = launches_of(lambda: weft.stack([ours, ours * 2, ours], -1) + 1)
        assert (result == numpy.stack([red, red * 2, red], -1) + 1).all()
    assert sum(launch["bytes_written"] for launch in history) == 2 * result.nbytes


@pytest.mark.host
def test_fluxes_that_are_added_to_parts():
    """What is written in place into parts of an array of zeros, and read once, is no array."""
    heat, ours = both(numpy.random.default_rng(3).random((70, 64)))

    def step(np, u):
        across, down = np.diff(u, axis=1) * 0.5, np.diff(u, axis=0) * 0.25
        change = np.zeros_like(u)
        change[:, :-1] += across
        change[:, 1:] -= across
        change[:-1] += down
        change[1:] -= down
        return u + change

    weft.eval(ours)
    expected = step(numpy, heat)
    result, history = launches_of(lambda: step(weft, ours))
    assert (result == expected).all()
    assert sum(launch["bytes_written"] for launch in history) == expected.nbytes


def test_a_write_after_a_roll_does_not_change_it():
    values, ours = both(numpy.random.default_rng(4).random((50, 44)))
    rolled, expected = weft.roll(ours, 1, 0), numpy.roll(values, 1, 0)
    ours[3:7] = 5
    values[3:7] = 5
    ours[:, 2] += rolled[:, 3]
    values[:, 2] += expected[:, 3]
    rolled *= 2
    expected *= 2
    assert (numpy.asarray(rolled + ours) == expected + values).all()


def test_values_are_cast_as_they_are_written():
    values, ours = both(numpy.random.default_rng(5).random((30, 40)) * 1000)

    def made(np, u):
        whole = np.empty(u.shape, "i2")
        whole[1:] = u[:-1]
        whole[:1] = u[-1:] * 2.5
        return whole / 7 + whole[::-1]

    assert (numpy.asarray(made(weft, ours)) == made(numpy, values)).all()


def test_what_the_program_holds_is_stored():
    values, ours = both(numpy.random.default_rng(6).random((40, 41)))
    rolled = weft.roll(ours, 5, 1)
    first = numpy.asarray(rolled + 1)
    assert (first == numpy.roll(values, 5, 1) + 1).all()
    assert (numpy.asarray(rolled) == numpy.roll(values, 5, 1)).all()


def test_plans_that_are_met_again():
    values, ours = both(numpy.random.default_rng(7).random((60, 61)))
    for _ in range(12):
        ours = ours + 0.1 * (weft.roll(ours, 1, 0) - ours) * weft.roll(ours, -1, 1)
        values = values + 0.1 * (numpy.roll(values, 1, 0) - values) * numpy.roll(values, -1, 1)
        weft.eval(ours)
    assert (numpy.asarray(ours) == values).all()


@pytest.mark.host
@pytest.mark.parametrize("reduce", ["sum", "max", "argmin", "std", "cumsum"])
def test_what_a_reduction_reads_is_made_once(reduce):
    values, ours = both(numpy.random.default_rng(8).random((80, 70)).round(2))

    def energy(np, u):
        return getattr(np, reduce)(u * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1)), axis=1)

    weft.eval(ours)
    result, history = launches_of(lambda: energy(weft, ours))
    numpy.testing.assert_allclose(result, energy(numpy, values), rtol=1e-12)
    assert sum(launch["bytes_written"] for launch in history) < values.nbytes + 2 * result.nbytes + 1000
    with weft.config(fuse=False):
        assert (numpy.asarray(energy(weft, ours)) == result).all()


@pytest.mark.host
def test_a_sum_of_many_terms_is_one_kernel():
    """It repeats as a loop does, and what it reads is not stored for that."""
    values, ours = both(numpy.random.default_rng(9).random((140, 135)))

    def smooth(np, u):
        p = np.pad(u, 1, "edge")
        rows, columns = u.shape
        return sum(p[i : i + rows, j : j + columns] * (0.5 + i - j) for i in range(3) for j in range(3))

    weft.eval(ours)
    expected = smooth(numpy, values)
    result, history = launches_of(lambda: smooth(weft, ours))
    assert (result == expected).all()
    assert sum(launch["bytes_written"] for launch in history) <= expected.nbytes + 64


class Program:
    """The same random steps for NumPy and for weft, on arrays of one shape."""

    def __init__(self, seed):
        self.choose = numpy.random.default_rng(seed)
        self.shape = tuple(int(n) for n in self.choose.integers(2, 14, self.choose.integers(1, 4)))

    def slices(self, least=0):
        """A box, perhaps backwards, perhaps of steps."""
        key = []
        for extent in self.shape:
            begin = int(self.choose.integers(0, extent))
            end = int(self.choose.integers(begin + 1, extent + 1))
            step = int(self.choose.choice([1, 1, 1, 1, -1, 2]))
            key.append(
                slice(end - 1, begin - 1 if begin else None, -1) if step == -1 else slice(begin, end, step)
            )
        return tuple(key)

    def elsewhere(self, key):
        """A box of the same shape at another place."""
        moved = []
        for extent, part in zip(self.shape, key):
            count = len(range(extent)[part])
            begin = int(self.choose.integers(0, extent - count + 1))
            moved.append(slice(begin, begin + count))
        return tuple(moved)

    def step(self):
        choose, ndim = self.choose, len(self.shape)
        axis, other = int(choose.integers(ndim)), int(choose.integers(ndim))
        shift, count = int(choose.integers(-9, 10)), int(choose.integers(1, 4))
        part = self.slices()
        where, cut = self.elsewhere(part), int(choose.integers(0, self.shape[axis] + 1))
        mode = str(choose.choice(["constant", "edge", "wrap", "reflect", "symmetric"]))
        along = tuple(slice(cut, None) if d == axis else slice(None) for d in range(ndim))
        before = tuple(slice(0, cut) if d == axis else slice(None) for d in range(ndim))
        inside = tuple(
            slice(int(b), int(b) + n) for b, n in zip(choose.integers(0, 2 * count + 1, ndim), self.shape)
        )

        def write(np, x, y):
            z = x.copy()
            z[part] = y[where] * 2
            return z

        def add_parts(np, x, y):
            z = np.zeros_like(x)
            z[along] += y[along]
            z[before] -= x[before]
            z[part] += 1
            return z

        def put_together(np, x, y):
            z = np.empty(x.shape, choose_dtype)
            z[along] = np.abs(x[along]) % 100
            z[before] = np.abs(y[before] + x[before]) % 100
            return z

        def in_place(np, x, y):
            z = x + y
            value = z[where]
            # NumPy reads rows of other steps after it has written them.
            z[part] = value.copy() if np is numpy else value
            return z

        choose_dtype = str(choose.choice(DTYPES))
        return choose.choice(
            [
                lambda np, x, y: np.roll(x, shift, axis) + y,
                lambda np, x, y: np.roll(np.roll(x, shift, axis), 1, other),
                lambda np, x, y: np.roll(x, shift),
                lambda np, x, y: x - np.roll(y, (shift, count), (axis, other)),
                lambda np, x, y: np.pad(x, count, mode)[inside] - y,
                lambda np, x, y: np.concatenate([x[along], y[before] * 2], axis) + x,
                lambda np, x, y: np.concatenate([x[along], x[before]], axis)[
                    tuple(slice(None, None, -1) for _ in x.shape)
                ],
                lambda np, x, y: (
                    np.stack([x, y, x + y], axis).sum(axis)
                    if shift % 3 == 0
                    else np.stack([x, y], axis).max(axis)
                ),
                write,
                add_parts,
                put_together,
                in_place,
                lambda np, x, y: np.where(x > y, x, np.roll(y, shift, axis)),
                lambda np, x, y: (np.abs(np.roll(x, shift, axis)) * 0.5 % 100).astype(choose_dtype),
            ]
        )


@pytest.mark.parametrize("fuse", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_a_random_program(seed, fuse):
    program = Program(seed)
    choose = program.choose
    first = (choose.random(program.shape) * 50).astype(str(choose.choice(DTYPES)))
    second = (choose.random(program.shape) * 50).astype(str(choose.choice(DTYPES)))
    theirs, ours = [first, second], [weft.array(first), weft.array(second)]
    with weft.config(fuse=fuse), numpy.errstate(all="ignore"), weft.errstate(all="ignore"):
        for _ in range(14):
            step = program.step()
            j, k = choose.integers(len(theirs), size=2)
            try:
                expected = step(numpy, theirs[j], theirs[k])
            except (TypeError, ValueError) as error:
                with pytest.raises(TypeError if isinstance(error, TypeError) else ValueError):
                    step(weft, ours[j], ours[k])
                continue
            theirs.append(expected)
            ours.append(step(weft, ours[j], ours[k]))
            assert ours[-1].dtype == theirs[-1].dtype and ours[-1].shape == theirs[-1].shape
            if len(theirs) > 4:
                gone = int(choose.integers(len(theirs)))
                del theirs[gone], ours[gone]
            if choose.random() < 0.15:
                at = int(choose.integers(len(theirs)))
                part = program.slices()
                theirs[at] = theirs[at].copy()
                ours[at] = ours[at].copy()
                theirs[at][part] = ours[at][part] = 3
            if choose.random() < 0.1:
                weft.eval(ours[-1])
        for mine, other in zip(ours, theirs, strict=True):
            numpy.testing.assert_array_equal(numpy.asarray(mine), other)
