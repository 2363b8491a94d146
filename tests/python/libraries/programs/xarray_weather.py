"""xarray: labelled arrays over the program's, selected, grouped, aligned and reduced."""

import numpy as np
import xarray as xr


def field():
    return xr.DataArray(
        np.arange(12.0).reshape(3, 4) ** 2 % 7,
        dims=("x", "y"),
        coords={"x": np.arange(3), "y": np.linspace(0, 1, 4)},
        name="v",
    )


def selections():
    a = field()
    yield a.sel(x=1).values
    yield a.isel(y=np.array([0, 2])).values
    yield a[np.array([True, False, True])].values
    yield a.sel(y=np.float64(0.9), method="nearest").values
    yield a.where(a > 3).values
    yield a.where(a > 3, 0).values
    yield a.isin(np.array([1, 2])).values
    yield a.sortby("y", ascending=False).values
    yield a.drop_sel(x=1).values
    yield a.loc[{"x": [0, 2]}].values
    yield repr(a)


def arithmetic():
    a = field()
    yield (a * 2 + 1).values
    yield (a + np.ones(4)).values
    yield (np.ones((3, 4)) * a).values
    yield np.sqrt(a).values
    yield np.maximum(a, 2).values
    yield (a + a[:, 1:]).values
    yield (a + a.rename(y="z")).shape
    yield (a > np.float64(3)).values
    yield abs(-a).round(1).values
    yield xr.where(a > 3, a, np.float64(0)).values
    yield xr.apply_ufunc(np.exp, a).values
    yield xr.dot(a, a, dim="y").values
    yield a.astype(np.float32).values
    yield a.clip(1, 3).values


def reductions():
    a = field()
    for name in ("sum", "mean", "std", "var", "min", "max", "median", "prod", "count", "argmax", "any"):
        yield getattr(a, name)("x").values
        yield getattr(a, name)().values
    yield a.quantile(0.5, "x").values
    yield a.reduce(np.sum, "x").values
    yield a.weighted(xr.DataArray(np.arange(3.0), dims="x")).mean("x").values
    yield xr.corr(a, a * 2, "x").values
    yield a.cumsum("x").values
    yield a.diff("x").values
    yield a.idxmax("y").values
    yield float(a.mean())
    yield repr(a.mean()), repr(a.max("x")[0]), repr(xr.NamedArray(("x",), np.arange(3.0)).sum())
    yield a.isel(a.argmin(...)).values


def shapes():
    a = field()
    yield a.transpose("y", "x").values
    yield a.T.values
    yield a.stack(z=("x", "y")).values
    yield a.expand_dims("t").shape
    yield a.shift(x=1).values
    yield a.roll(x=1).values
    yield a.pad(x=1).values
    yield a.coarsen(y=2).mean().values
    yield a.rolling(x=2).mean().values
    yield xr.concat([a, a], "x").values
    yield xr.zeros_like(a).values
    yield xr.full_like(a, 3).values
    yield a.broadcast_like(xr.DataArray(np.zeros((2, 3)), dims=("t", "x"))).shape


def groups():
    a = field()
    yield a.groupby("x").mean().values
    yield a.groupby(xr.DataArray(np.array([0, 1, 0]), dims="x", name="g")).sum().values
    yield a.groupby_bins("y", np.array([-0.1, 0.5, 1.0])).mean().values
    yield a.interp(y=np.array([0.5])).values
    yield a.reindex(x=np.array([0, 5])).values
    yield a.fillna(0).values
    yield a.where(a > 3).dropna("y", how="all").values
    yield a.integrate("y").values
    yield a.differentiate("y").values
    yield a.polyfit("x", 1).polyfit_coefficients.values


def datasets():
    a = field()
    ds = xr.Dataset(
        {"a": ("x", np.arange(3.0)), "b": (("x", "y"), np.ones((3, 4)))}, coords={"x": np.arange(3)}
    )
    yield ds.mean().a.values
    yield (ds.a + a).values
    yield ds.to_dataframe().to_numpy()
    yield ds.to_array().shape
    yield ds.assign(c=ds.a * 2).c.values
    yield xr.merge([ds, a.drop_vars("y")]).v.values
    yield xr.align(ds.a, ds.a[1:], join="outer")[1].values
    ds["d"] = ("x", np.arange(3) * 1j)
    yield ds.d.values
    yield a.to_pandas().to_numpy()
    yield repr(ds)
    yield ds.query(x="a > 0").b.values
    yield ds.eval("a + 1").values


def texts():
    labels = np.array(["u", "v", "u"])
    ds = xr.Dataset({"n": ("t", np.array([1.0, np.nan, 3.0]))}, coords={"label": ("t", labels)})
    yield repr(ds)
    yield repr(ds.n)
    yield repr(ds.groupby("label").sum())
    yield repr(ds.label == "u")
    bins = xr.groupers.BinGrouper(bins=np.array([0.0, 1.5, 4.0]))
    yield repr(ds.groupby(n=bins, label=xr.groupers.UniqueGrouper()).count())
    yield repr(xr.DataArray(np.array(["2024-01-01", "2024-03-05"], "M8[ns]"), dims="t"))


def changes():
    a = field()
    b = a.copy()
    b[0] = np.zeros(4)
    b.loc[{"x": 1}] = 5
    yield b.values
    yield a.values
    yield a.equals(b), a.identical(a.copy())
    b.data = np.ones((3, 4))
    yield b.values
