"""pandas: frames and series of arrays, selected by arrays, grouped by arrays, and back."""

import io

import numpy as np
import pandas as pd


def frame():
    return pd.DataFrame({"a": np.arange(6.0), "b": np.arange(6) % 2, "c": np.arange(6) > 2})


def made():
    yield frame().to_numpy(dtype=float)
    yield [str(dtype) for dtype in frame().dtypes]
    yield pd.DataFrame(np.arange(6.0).reshape(2, 3), columns=list("xyz"), index=np.array([5, 7])).to_csv()
    yield pd.Series(np.arange(4), index=np.arange(4) * 2).to_dict()
    yield pd.Series(np.arange(4), dtype=np.float32).dtype.name
    yield pd.Series(np.float64(2.0), index=range(2)).tolist()
    yield pd.Index(np.arange(3)).tolist()
    yield pd.MultiIndex.from_arrays([np.arange(2), np.array([3, 4])]).tolist()
    yield pd.Categorical(np.array([1, 2, 1])).codes
    yield pd.array(np.array([1, 2]), dtype="Int64").sum()
    yield pd.DataFrame.from_records(np.arange(4).reshape(2, 2), columns=["p", "q"]).to_numpy()
    yield pd.concat([pd.Series(np.arange(2)), pd.Series(np.arange(2) * 0.5)]).tolist()
    yield pd.DataFrame([np.arange(2), np.arange(2) + 1]).to_numpy()
    yield pd.DataFrame({"m": list(np.eye(2))})["m"][1]


def dates():
    start = np.datetime64("2024-01-30")
    days = start + np.arange(4)
    series = pd.Series(np.arange(4.0), index=days)
    yield series.resample("ME").sum().tolist()
    yield pd.DatetimeIndex(days).month.tolist()
    yield pd.to_timedelta(np.arange(3), unit="D").tolist()
    yield pd.date_range("2024", periods=np.int64(3)).strftime("%d").tolist()
    yield (series.index[1] - series.index[0]) / np.timedelta64(1, "h")


def selected():
    df = frame()
    mask = np.arange(6) % 3 == 0
    yield df[mask].to_numpy(dtype=float)
    yield df.loc[mask, "a"].tolist()
    yield df["a"][mask].tolist()
    yield df.loc[np.array([0, 2]), ["a", "b"]].to_numpy()
    yield df.iloc[np.array([0, 2]), np.array([1])].to_numpy()
    yield df.iloc[mask].index.tolist()
    yield df.loc[np.int64(2), "a"]
    yield df.at[np.int64(3), "a"], df.iat[np.int64(1), 0]
    yield df.take(np.array([5, 0]))["a"].tolist()
    yield df["a"].where(mask, -1.0).tolist()
    yield df["a"].mask(mask, np.arange(6.0) * 10).tolist()
    yield df["a"].isin(np.array([1.0, 2.0])).tolist()
    yield df["a"].searchsorted(np.array([1.5, 2.5]))
    yield df.reindex(np.array([1, 9]))["a"].isna().tolist()
    yield df.drop(np.array([0, 1])).index.tolist()


def assigned():
    df = frame()
    df["d"] = np.arange(6) * 2.0
    df.loc[np.arange(6) > 3, "a"] = np.array([10.0, 20.0])
    df.loc[df["b"] == 1, "d"] = np.float64(-1)
    df.iloc[0, df.columns.get_loc("a")] = np.float32(3.5)
    df.insert(0, "first", np.ones(6))
    df["e"] = df["a"] + np.ones(6)
    df[["g", "h"]] = np.arange(12.0).reshape(6, 2)
    df.iloc[1:3, 1] = np.array([7.0, 8.0])
    series = pd.Series(np.zeros(4))
    series[np.array([True, False, True, False])] = np.array([1.0, 2.0])
    series[np.array([1])] = 5
    yield df.to_numpy(dtype=float)
    yield series.tolist()
    yield df.assign(z=np.arange(6)).z.tolist()


def computed():
    df = frame()
    s = df["a"]
    x = np.arange(6.0)
    for result in (s + x, x + s, x * s, np.add(x, s), np.sqrt(s), np.maximum(s, 2), x - s, x > s, s**x):
        yield type(result).__name__, result.tolist()
    yield type(df[["a"]] * x[:, None]).__name__, (df[["a", "b"]] * np.array([1.0, 2.0])).to_numpy()
    yield np.log1p(df[["a"]]).to_numpy()
    yield x @ s, s.dot(x), s @ x
    yield (np.ones((2, 6)) @ s), np.ones((2, 6)) @ df[["a", "b"]]
    yield np.where(df["a"] > 2, df["a"], 0)
    yield np.mean(s), np.std(s), np.sum(df[["a", "b"]], axis=0).tolist()
    yield np.concatenate([s, x])
    yield np.percentile(s, [25, 50]), np.corrcoef(s, x)
    yield s.apply(np.sqrt).tolist(), df[["a", "b"]].apply(np.sum).tolist(), s.agg([np.min, np.max]).tolist()
    yield s.rolling(2).apply(np.sum, raw=True).tolist()
    yield np.unique(df["b"]), np.isnan(s).sum(), np.clip(s, 1, 2).tolist()
    yield np.polyfit(s, s * 2 + 1, 1), np.interp([0.5], s, s), np.digitize(s, [1, 3])
    yield np.histogram(s, bins=3), np.argsort(-s).tolist() if hasattr(np.argsort(-s), "tolist") else None


def methods():
    df = frame()[["a", "b"]]
    s = df["a"]
    for result in (
        np.round(df / 3, 2),
        np.clip(df, 1, 2),
        np.cumsum(df),
        np.cumsum(s),
        np.transpose(df),
        np.repeat(s, 2),
        np.argsort(-s),
        np.flip(s),
        np.squeeze(df[["a"]]),
        np.take(df.columns, [1]),
        np.reshape(df.index, -1),
    ):
        yield type(result).__name__, str(result)
    yield np.shape(df), np.size(df), np.ndim(s)
    yield str(np.result_type(s, np.float32))
    yield df.rolling(Forward(window_size=2)).sum().to_numpy()


class Forward(pd.api.indexers.BaseIndexer):
    def get_window_bounds(self, num_values, min_periods, center, closed, step):
        start = np.arange(num_values, dtype=np.int64)
        return start, np.minimum(start + self.window_size, num_values)


def numbers():
    three, day, s = np.int64(3), pd.Timedelta(1, "D"), pd.Series([1.0, 2.0, 4.0])
    for result in (
        pd.Timedelta(three, unit="s"),
        pd.Timedelta(days=three, hours=np.float64(2)),
        pd.Timestamp(three, unit="D"),
        pd.Timestamp(np.int64(2024), three, np.int64(1)),
        pd.Timestamp("2024") + day * three,
        three * day,
        day / np.float64(4),
        day // three,
        day * np.arange(3),
        np.arange(3) * day,
        pd.Timestamp("2024") + np.arange(3) * day,
        pd.Period(ordinal=three, freq="M"),
        pd.Period("2024-01", "M") + three,
        pd.offsets.Day(1) * three,
        three * pd.offsets.BDay(),
        pd.interval_range(0, 6, periods=three),
        pd.to_timedelta(three, unit="s"),
        pd.RangeIndex(np.int64(0), np.int64(4), np.int64(2)),
        s.diff(np.int64(1)),
        s.rolling(np.int64(2), min_periods=np.int64(1)).sum(),
        s.sample(np.int64(2), random_state=np.int64(0)),
        s.fillna(np.float64(5)),
        s.replace(np.int64(1), np.int64(5)),
        pd.array(np.array(["1970-01-01"], "M8[ns]")),
    ):
        yield str(result)


def masked():
    values = pd.array([1, 2, None], dtype="Int64")
    for result in (
        np.sqrt(values),
        np.isnan(values),
        np.float64(2) * values,
        values + np.ones(3),
        np.arange(3) == values,
        np.add(values, 1),
        np.int64(3) - values,
        np.maximum(pd.Series(values), 2),
        np.log1p(pd.Series([1.0, None], dtype="Float64")),
        pd.arrays.IntegerArray(np.arange(3), np.array([False, True, False])),
        pd.arrays.BooleanArray(np.arange(3) > 1, np.array([False, True, False])),
        pd.arrays.SparseArray(np.array([0.0, 0, 1])),
        np.abs(pd.arrays.SparseArray(np.array([0.0, 0, -1]))),
        pd.arrays.NumpyExtensionArray(np.arange(3)) * np.float64(2),
        pd.Series(np.arange(3), dtype="Int64") + np.arange(3),
        pd.Categorical(np.array(["a", "b", "a"])),
        pd.Series(pd.date_range("2024-01-01", periods=2)) + np.timedelta64(1, "D"),
    ):
        yield type(result).__name__, str(result)
    yield pd.Series(np.ma.array([1.0, 2.0], mask=[False, True])).tolist()
    yield pd.DataFrame(np.ma.array(np.eye(2), mask=np.eye(2) == 0)).to_numpy()
    yield pd.api.extensions.take(np.arange(3), np.array([0, -1]), allow_fill=True)
    yield pd.util.hash_array(np.arange(3))


def grouped():
    df = frame()
    keys, x6 = np.arange(6) % 3, np.arange(6.0)
    yield df.groupby(keys)["a"].sum().tolist()
    yield df.groupby([keys, np.arange(6) > 2])["a"].count().tolist()
    yield df.groupby("b")["a"].agg(np.mean).tolist()
    yield df.groupby("b")["a"].transform(lambda part: part - np.mean(part)).tolist()
    yield pd.cut(np.arange(4.0), bins=np.array([-1.0, 1.0, 3.0])).codes
    yield pd.cut(df["a"], np.linspace(-1, 6, 3), labels=False).tolist()
    yield pd.qcut(np.arange(6.0), 3, labels=False)
    yield str(pd.MultiIndex.from_product([pd.cut(x6, 2).unique(), np.arange(2)]))
    yield str(df.groupby([pd.cut(df["a"], np.array([-1.0, 2.0, 9.0])), "b"], observed=True)["a"].sum())
    yield pd.crosstab(keys, np.arange(6) % 2).to_numpy()
    yield pd.get_dummies(keys).to_numpy()
    yield pd.factorize(keys[::-1])
    yield pd.unique(keys)
    yield pd.pivot_table(df, values="a", index="b", columns="c", aggfunc=np.sum).to_numpy()
    yield (
        pd.value_counts(keys).tolist()
        if hasattr(pd, "value_counts")
        else pd.Series(keys).value_counts().tolist()
    )
    yield pd.isna(np.array([1.0, np.nan]))
    numbers = pd.Series([1, 2, 3])
    yield numbers.replace({1: np.float64(2.5)}).tolist(), numbers.replace([1, 2], np.array([5.0, 6])).tolist()
    yield numbers.replace([1, 2], [np.int64(5), np.float64(3)]).tolist()
    yield pd.to_numeric(np.array([1.0, 2.0]))
    yield pd.merge(df, pd.DataFrame({"b": np.arange(2), "w": np.array([0.5, 1.5])}), on="b")["w"].sum()


def back():
    df = frame()
    yield df.to_numpy(dtype=float) * np.ones(3)
    yield np.asarray(df["a"]) + 1
    yield np.array(df[["a", "b"]]).T
    yield df["a"].values + np.arange(6.0)
    yield df["a"].to_numpy(dtype=np.float32)
    yield df["c"].values & (np.arange(6) > 3)
    for row in df[["a", "b"]].itertuples(index=False):
        yield np.hypot(*row)
    text = io.StringIO()
    df.to_csv(text)
    yield np.loadtxt(io.StringIO(text.getvalue()), delimiter=",", skiprows=1, usecols=(1, 2))
    yield np.array(df["a"].tolist()).sum()
    yield np.asarray(df["a"].astype("category").cat.codes)
