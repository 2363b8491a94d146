"""h5py: what arrays write to files, and what files give to arrays."""

import io

import h5py
import numpy as np

ON_THE_HOST = {"read_into"}  # h5py writes into the CPU's memory


def written():
    with h5py.File(io.BytesIO(), "w") as file:
        file.create_dataset("x", data=np.arange(12.0).reshape(3, 4))
        file["reversed"] = np.arange(5)[::-1]
        file["transposed"] = np.arange(6, dtype=np.int16).reshape(2, 3).T
        group = file.create_group("group")
        group["bool"] = np.array([True, False])
        group["complex"] = np.arange(3) * 1j
        group["half"] = np.arange(3, dtype=np.float16)
        group["scalar"] = np.float32(1.5)
        group["empty"] = np.zeros((0, 3))
        file.create_dataset("filled", shape=(4,), dtype=np.dtype("i2"), fillvalue=np.int16(3))
        file.require_dataset("x", (3, 4), dtype=np.float64)
        for name in ("x", "reversed", "transposed", "filled"):
            yield file[name][()]
        for name in group:
            yield group[name][()]


def parts():
    with h5py.File(io.BytesIO(), "w") as file:
        z = file.create_dataset("z", (10, 10), dtype=np.float32, chunks=(5, 5), compression="gzip")
        z[:3] = np.ones((3, 10), dtype=np.float32)
        z[3, :] = np.arange(10)
        z[np.array([4, 6]), 2] = np.array([7, 8])
        z[:, np.arange(10) % 5 == 1] = np.full((10, 2), 5.0)
        yield z[()]
        yield z[np.array([0, 2, 3])]
        yield z[:, np.arange(10) > 7]
        yield z[np.int64(3), np.int64(1) : np.int64(4)]
        r = file.create_dataset("r", data=np.zeros((2, 3)), maxshape=(None, 3))
        r.resize((4, 3))
        r[2:] = np.ones((2, 3))
        yield r[()]


def masks():
    with h5py.File(io.BytesIO(), "w") as file:
        x = file.create_dataset("x", data=np.arange(12.0).reshape(3, 4))
        mask = np.zeros((3, 4), bool)
        mask[1, 2] = mask[2, 0] = True
        yield x[mask]
        x[mask] = np.array([50.0, 60.0])
        yield x[()]
        yield x[np.array([True, False, True])]


def attributes():
    with h5py.File(io.BytesIO(), "w") as file:
        file.attrs["array"] = np.arange(3)
        file.attrs["scalar"] = np.float64(2.5)
        file.attrs.create("matrix", np.eye(2))
        for name in sorted(file.attrs):
            yield file.attrs[name]


def read_into():
    with h5py.File(io.BytesIO(), "w") as file:
        x = file.create_dataset("x", data=np.arange(12.0).reshape(3, 4))
        out = np.zeros((3, 4))
        x.read_direct(out)
        yield out
        x.read_direct(out, np.s_[0:1], np.s_[2:3])
        yield out


def read():
    with h5py.File(io.BytesIO(), "w") as file:
        x = file.create_dataset("x", data=np.arange(12.0).reshape(3, 4))
        y = np.arange(4.0)
        x.write_direct(y, dest_sel=np.s_[1])
        yield np.asarray(x)
        yield np.array(x, dtype=np.float32)
        yield np.sum(x)
        yield np.mean(x, axis=0)
        yield x[:] + np.ones(4)
        yield np.ones(4) * x[0]
        yield np.concatenate([x, np.zeros((1, 4))])
        yield x.astype(np.int32)[:]
        yield np.stack([x[0], x[1]])
