"""Subclasses, overrides, pickles and files of arrays on GPUs: as of those on the CPU."""

import copy
import io
import pickle

import numpy
import pytest
import weft as np
from on_gpu import gpu, needs_gpu, on_cpu  # noqa: F401

pytestmark = needs_gpu


class Tagged(np.ndarray):
    def __array_finalize__(self, obj):
        self.tag = getattr(obj, "tag", None)


def test_subclasses():
    x = gpu(numpy.arange(6.0).reshape(2, 3)).view(Tagged)
    x.tag = "t"
    for result in (
        x + 1,
        x[1:],
        x.T,
        x.sum(0),
        x.copy(),
        x @ x.T,
        np.sqrt(x),
        x.mean(1),
        np.roll(x, 1),
        copy.copy(x),
    ):
        assert type(result) is Tagged and result.tag == "t" and result.device == "cuda:0"
    assert type(np.asarray(x)) is np.ndarray and np.asarray(x).device == "cuda:0"
    assert x.sum().tolist() == 15.0
    x += 1
    assert type(x) is Tagged and x.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def test_overrides():
    class Foreign:
        def __array_ufunc__(self, ufunc, method, *inputs, **options):
            return ufunc.__name__, method, [type(x).__name__ for x in inputs]

    x = gpu(numpy.arange(3.0))
    assert x + Foreign() == ("add", "__call__", ["ndarray", "Foreign"])
    result = numpy.add(x, 1.0)
    assert type(result) is np.ndarray and result.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("protocol", [2, 5])
def test_pickles(protocol):
    x = gpu(numpy.arange(6.0).reshape(2, 3))
    for each in (x, x.T, x[:, ::2]):
        assert pickle.loads(pickle.dumps(each, protocol)).tolist() == each.tolist()
        apart = []
        assert (
            pickle.loads(
                pickle.dumps(each, protocol, buffer_callback=apart.append if protocol == 5 else None),
                buffers=apart,
            ).tolist()
            == each.tolist()
        )


def test_files(tmp_path):
    x = gpu(numpy.arange(6.0).reshape(2, 3))
    for each in (x, x.T, x[:, ::2]):
        file, theirs = io.BytesIO(), io.BytesIO()
        np.save(file, each)
        numpy.save(theirs, numpy.asarray(each.to_device("cpu")))
        assert file.getvalue() == theirs.getvalue()
        file.seek(0)
        assert np.load(file).device == "cpu"
        file.seek(0)
        with np.device("cuda"):
            back = np.load(file)
        assert back.device == "cuda:0" and back.tolist() == each.tolist()
    x.tofile(tmp_path / "x")
    with np.device("cuda"):
        assert np.fromfile(tmp_path / "x").device == "cuda:0"
    assert np.fromfile(tmp_path / "x").tolist() == x.ravel().tolist()


def test_no_address_of_the_host():
    x = gpu(numpy.arange(3.0))
    assert not hasattr(x, "__array_interface__")
    assert numpy.asarray(x.to_device("cpu")).tolist() == [0.0, 1.0, 2.0]
