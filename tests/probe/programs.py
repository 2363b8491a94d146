"""Short programs for probes in which something fails: one or more of each stage of a computation.

Each takes the module and its inputs, made anew by inputs(), and gives what it computed; what it writes into are copies.
"""

import io
import pickle

PROGRAMS = {}
SMALL, LARGE = 40, 6000  # elements that are computed at the call, and that are recorded


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def inputs(np):
    x = (np.arange(LARGE) % 97 - 31.0) / 7
    return {
        "x": x + 0.0,
        "y": (np.arange(LARGE) * 7 % 101 + 1.0) / 9,
        "n": np.arange(LARGE) * 31 % 53 - 20,
        "m": ((np.arange(60 * 100) % 89 - 44.0) / 8).reshape(60, 100) + 0.0,
        "f": ((np.arange(60 * 100) % 71 - 30) / 16).astype("f4").reshape(100, 60) + np.float32(0),
        "c": (x[:1500] + 1j * x[1500:3000]) + 0.0,
        "b": (np.arange(LARGE) % 3 == 0) | False,
        "i": np.arange(LARGE) * 17 % LARGE + 0,
        "s": np.arange(SMALL) / 8 + 0.0,
        "k": np.arange(SMALL) % 5 + 0,
    }


@program
def expression(np, x, y, **_):
    return 2 * x + 3 * y * x, np.where(x > 0, x, y)


@program
def elementary_functions(np, x, y, **_):
    return np.sin(x) * np.exp(-y) + np.sqrt(y), np.arctan2(x, y), np.tanh(x)


@program
def many_small_calls(np, s, k, **_):
    total = s
    for turn in range(20):
        total = total * 1.5 - turn + s[::-1]
    return total, s[k], s[s > 2], np.sort(s), s.sum(), s[3] + 1, (k // 2) ** 2


@program
def long_chain(np, x, **_):
    for turn in range(250):
        x = x * 0.999 + turn % 3
    return x


@program
def writes(np, x, m, **_):
    x, m = x.copy(), m.copy()
    x[10:50] = 3
    x[::2] += x[1::2]
    m[1:-1, 1:-1] = (m[2:, 1:-1] + m[:-2, 1:-1]) * 0.25 + m[1:-1, 2:] * 0.5
    m.T[3] = m[:, 4]
    m[5] *= 2
    view = x.reshape(60, 100)
    view[3] = m[2]
    return x, m


@program
def pieces(np, x, m, **_):
    m, y = m.copy(), x.copy()
    change = np.zeros_like(m)
    change[1:] += m[:-1]
    change[:, :-1] -= m[:, 1:]
    m += np.roll(m, 1, 0) * np.roll(m, -2, (0, 1)) + change
    y += np.concatenate([x[7:], x[:7] * 2])
    y[100:5900] += np.roll(x, 3)[:5800]
    return m, y, np.pad(m, 1)[2:, 1:-1] - np.tile(m, (2, 1))[30:-30]


@program
def reductions(np, x, m, n, b, **_):
    return (
        x.sum(),
        m.sum(0),
        m.mean(1),
        m.std(),
        n.max(),
        m.min(0),
        b.any(),
        np.argmax(m, 1),
        x.prod(),
        n.argmin(),
    )


@program
def rows(np, m, **_):
    shifted = np.exp(m - m.max(1, keepdims=True))
    return shifted / shifted.sum(1, keepdims=True), (m - m.mean(0)) / m.std(0)


@program
def scans(np, x, n, m, **_):
    return np.cumsum(x), np.cumprod(m * 0.1, 1), np.maximum.accumulate(n), np.add.reduceat(x, [0, 7, 900])


@program
def indexing(np, x, i, b, m, **_):
    y = x.copy()
    y[i] = x * 2
    y[b] = 0
    np.add.at(y, i[:100], 1)
    return x[i], x[b], np.nonzero(b), y, np.take(m, [3, 1], 1), m[[1, 2], 3:5], np.where(b)[0]


@program
def ordering(np, x, n, m, **_):
    return (
        np.sort(x), np.argsort(x, kind="stable"), np.unique(n), np.median(m, 0), np.partition(x, 50),
        np.searchsorted(np.sort(x), x),
        np.isin(n, [3, 4]), np.bincount(n + 20), np.percentile(x, [5, 50]), np.unique(n, return_counts=True),
    )  # fmt: skip


@program
def products(np, m, f, c, **_):
    g = f.T
    return (
        m @ m.T,
        f @ g,
        (f @ g).sum(0),
        np.einsum("ij,kj->ik", m, m),
        np.dot(c, c),
        np.tensordot(m, m, 2),
        g @ f + 1,
    )


@program
def large_product(np, **_):
    a = (np.arange(300 * 300) % 17 - 8.0).reshape(300, 300)
    return a @ a, (a @ a) * 2 + 1, (a.astype("f4") @ a.astype("f4")).sum(0)


@program
def random_numbers(np, x, **_):
    rng = np.random.default_rng(7)
    return (
        rng.random(LARGE) < x, rng.standard_normal(3000), rng.integers(0, 100, 3000), rng.permutation(500),
        rng.choice(50, 20, replace=False), rng.random(), rng.exponential(size=1500), rng.shuffle(np.arange(30)),
    )  # fmt: skip


@program
def conversion(np, x, m, c, **_):
    return (
        np.array([[1, 2.5], [3, 4]]), np.array(list(range(500)), "f4"), m.tolist(), repr(m), str(x[:5]), c.astype("c8"),
        x.astype("i4"), bytes(memoryview(x[:7])), np.fromiter(range(30), int), np.concatenate([x, x[::-1]]),
        complex(c[2]),
        np.stack([m, m]), float(x[3]), m.tobytes()[:16], np.array2string(x[:30], precision=2), x.view("i8"),
    )  # fmt: skip


@program
def files(np, m, x, **_):
    file = io.BytesIO()
    np.save(file, m)
    file.seek(0)
    text = io.StringIO()
    np.savetxt(text, m[:5])
    archive = io.BytesIO()
    np.savez(archive, m=m, x=x)
    archive.seek(0)
    return (
        np.load(file), np.loadtxt(io.StringIO(text.getvalue())), np.load(archive)["x"], pickle.loads(pickle.dumps(m)),
        pickle.loads(pickle.dumps(x[3])), pickle.loads(pickle.dumps(np.random.default_rng(3))).random(),
    )  # fmt: skip


@program
def shapes(np, m, x, **_):
    return (
        np.pad(m, 2), np.roll(m, 3, 1), np.tile(x[:9], 4), np.repeat(x[:9], 3), np.split(x, 3),
        np.meshgrid(x[:5], x[:6]),
        m.reshape(100, 60).T.ravel(), np.diff(x), np.gradient(x), np.histogram(x, 10), np.outer(x[:30], x[:20]),
        np.linspace(0, 1, 50), np.eye(5), np.tri(4), np.rot90(m), np.diag(m), np.kron(m[:2, :2], m[:2, :2]),
    )  # fmt: skip


@program
def looking(np, x, y, m, **_):
    pending = np.sqrt(x * y) + m.sum()
    np.explain(pending)
    np.kernel_history()
    with np.errstate(all="ignore"):
        divided = x / (y - y)
    return pending, divided, np.show_config is not None, np.geterr()["over"]


@program
def small_dtypes(np, f, n, **_):
    half = f.astype("f2")
    return (
        half * 2,
        half.sum(0),
        n.astype("i1") + n.astype("u1"),
        np.left_shift(n, 2),
        n.astype("b1").sum(),
        n // 3,
        n % 7,
    )


@program
def stencils_of_small_integers(np, n, **_):
    image = n.astype("u1").reshape(60, 100)
    wide = image.astype("i2")
    out = np.zeros((60, 100), "u1")
    out[1:-1, 1:-1] = (wide[2:, 1:-1] + wide[:-2, 1:-1] + wide[1:-1, 2:] + wide[1:-1, :-2]) // 4
    return out, image.mean(1)


@program
def python_functions(np, x, **_):
    half = np.vectorize(lambda value: value / 2)
    return (
        half(x[:40]),
        np.apply_along_axis(sorted, 0, x[:12].reshape(4, 3)),
        np.frompyfunc(abs, 1, 1)(x[:5])[2],
    )


@program
def polynomials(np, x, s, **_):
    return (
        np.polyval([1, 2, 3], x),
        np.interp(x, s, s * 2),
        np.convolve(s, s),
        np.roots([1, -3, 2]),
        np.polyfit(s, s * s, 2),
    )


# Statements that write into the inputs, one after another: each is done or it is not.
WRITES = {
    "assignments": [
        lambda np, x, **_: x.__setitem__(slice(10, 50), 3),
        lambda np, x, y, **_: x.__setitem__(slice(None, None, 2), y[1::2]),
        lambda np, m, **_: m.__setitem__(
            np.s_[1:-1, 1:-1], (m[2:, 1:-1] + m[:-2, 1:-1]) * 0.25 + m[1:-1, 2:] * 0.5
        ),
        lambda np, m, **_: m.T.__setitem__(3, m[:, 4]),
        lambda np, x, i, y, **_: x.__setitem__(i, y * 2),
        lambda np, x, b, **_: x.__setitem__(b, 0),
        lambda np, x, y, b, **_: np.copyto(x, y, where=b),
        lambda np, x, **_: x.fill(2),
        lambda np, m, **_: np.fill_diagonal(m, 7),
        lambda np, s, **_: s.__setitem__(slice(1, None), s[:-1]),
    ],
    "updates": [
        lambda np, x, y, **_: x.__iadd__(y),
        lambda np, x, **_: x[::2].__iadd__(x[1::2]),
        lambda np, m, **_: m.__imul__(m[::-1]),
        lambda np, m, **_: m[5].__imul__(2),
        lambda np, x, **_: np.clip(x, 0, 5, out=x),
        lambda np, n, **_: n.__ifloordiv__(3),
        lambda np, x, i, **_: np.add.at(x, i[:100], 1),
        lambda np, x, **_: np.exp(x, out=x, where=x < 3),
        lambda np, n, k, **_: np.divmod(n, 7, out=(n, n.copy())),
        lambda np, n, i, **_: np.divmod(n, 7, out=(n, i)),
        lambda np, x, y, **_: np.modf(x, out=(x, y)),
        lambda np, s, **_: s.__iadd__(1),
        lambda np, s, k, **_: np.subtract(s, k, out=s),
        lambda np, c, **_: c.__imul__(1j),
    ],
    "order": [
        lambda np, n, **_: n.sort(),
        lambda np, x, **_: x[::-1].sort(),
        lambda np, m, **_: m.sort(0),
        lambda np, y, **_: y.partition(50),
        lambda np, s, **_: s[::-1].sort(),
        lambda np, m, **_: m.sort(),
    ],
    "places": [
        lambda np, x, **_: np.put(x, [1, 2, 9], [5, 6]),
        lambda np, x, b, **_: np.place(x, b, [1, 2, 3]),
        lambda np, x, y, b, **_: np.putmask(x, b, y),
        lambda np, m, **_: np.put_along_axis(m, np.argmax(m, 1)[:, None], 99, 1),
        lambda np, x, y, i, **_: np.take(x, i, out=y),
        lambda np, x, y, **_: np.cumsum(x, out=y),
        lambda np, m, f, **_: np.matmul(m[:40], m.T[:, :40], out=m[:40, :40].copy()),
        lambda np, m, **_: np.einsum("ij,ij->i", m, m, out=m[:, 0]),
    ],
    "draws": [
        lambda np, x, rng, **_: rng.random(out=x),
        lambda np, x, rng, **_: rng.shuffle(x),
        lambda np, y, rng, **_: rng.standard_normal(out=y),
        lambda np, y, rng, **_: y.__setitem__(slice(None), rng.standard_normal(y.shape)),
        lambda np, n, rng, **_: n.__setitem__(slice(None), rng.integers(0, 9, n.shape)),
        lambda np, s, rng, **_: rng.shuffle(s),
        lambda np, s, rng, **_: s.__setitem__(slice(None), rng.random(s.shape)),
        lambda np, n, rng, **_: n.__setitem__(slice(None), rng.permutation(n)),
        lambda np, x, rng, **_: x.__setitem__(slice(None), rng.exponential(size=x.shape)),
        lambda np, x, rng, **_: x.__setitem__(slice(None), rng.gamma(2.0, size=x.shape)),
    ],
}
