"""zarr: arrays in chunks, their selections, groups and stores."""

import tempfile

import numpy as np
import zarr


def selections():
    z = zarr.array(np.arange(20.0).reshape(4, 5), chunks=(2, 2))
    yield z[:]
    yield z[1:3, ::2]
    z[0] = np.ones(5)
    z[:, 1] = np.arange(4)
    yield z[:]
    z.oindex[np.array([0, 2]), :] = np.zeros((2, 5))
    yield z.oindex[np.array([0, 1])]
    yield z.oindex[np.array([True, False, True, False]), np.array([1, 3])]
    yield z.vindex[np.array([0, 1]), np.array([1, 2])]
    mask = np.zeros((4, 5), bool)
    mask[3, 4] = True
    z.set_mask_selection(mask, np.array([7.0]))
    yield z.get_mask_selection(mask)
    yield z.vindex[mask]
    yield z[np.int64(3)]
    yield z[np.array([0, 2]), np.array([1, 1])]


def results():
    z = zarr.array(np.arange(20.0).reshape(4, 5), chunks=(2, 2))
    yield np.asarray(z)
    yield np.sum(z[:])
    yield z[:] + np.ones(5)
    yield np.ones(5) * z[1]


def dtypes():
    for dtype in ("bool", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"):
        z = zarr.array(np.arange(4).astype(dtype))
        yield z[:]
        yield np.dtype(z.dtype) == np.dtype(dtype)
    yield zarr.full((2,), fill_value=np.float64(3.0), dtype=np.float32)[:]
    yield zarr.create_array({}, shape=(6,), dtype=np.dtype("i4"), chunks=(2,), fill_value=np.int32(4))[:]


def growing():
    z = zarr.array(np.arange(6), chunks=(2,))
    z.append(np.arange(3))
    yield z[:]
    z.resize((3,))
    yield z[:]


def stores():
    group = zarr.group()
    group.create_array("x", data=np.arange(3))
    group["y"] = np.eye(2)
    yield group["x"][:]
    yield group["y"][:]
    folder = tempfile.mkdtemp()
    zarr.save(folder + "/one", np.arange(4.0))
    yield zarr.load(folder + "/one")
    zarr.save(folder + "/two", x=np.arange(4.0), y=np.eye(2))
    yield zarr.open_group(folder + "/two")["y"][:]
