"""Programs on GPUs that the probe of failing driver calls runs (driver.py), by weft and by NumPy alike.

Each takes a side: `side.np` is the module, `side.to(x, device)` moves an array, `side.hold(array)` notes an array whose
values are compared: after a failure they are those of as many steps as came to their end (`held.done()`). What a
program holds it may change only by such steps.
"""

import contextlib
import io
import pickle
import threading

import numpy

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def inputs():
    """What every program starts from: arrays on the host, the same each time."""
    rng = numpy.random.default_rng(5)
    return {
        "x": rng.random(6000) - 0.3,
        "f": (rng.random(6000) - 0.4).astype("f4"),
        "n": rng.integers(-1000, 1000, 6000),
        "g": rng.random((40, 50)),
    }


@program
def elementwise(side, x, f, n, g):
    np = side.np
    z = x * 2 + np.sqrt(abs(x))
    side.hold(z)
    side.hold(np.where(f > 0, f, -f) + 1)
    side.hold((n // 7 * 3 + n % 5).astype("f4")[::3])
    side.hold(np.exp(-g[1:] * g[:-1]).T)


@program
def small_transfers(side, x, f, n, g):
    np = side.np
    y = side.to(x[:100], "cuda")
    side.hold(side.to(y + 1, "cpu"))
    side.hold(numpy.asarray(float(y.sum()) + y[3].item()))
    side.hold(numpy.asarray(y[5:9].tolist()))
    side.hold(np.asarray(bool((y > -5).all())))
    side.hold(side.to(side.to(g[:, ::2], "cuda").T, "cpu"))


@program
def large_transfers(side, x, f, n, g):
    np = side.np
    many = (
        np.arange(3_300_000, dtype="i4") if side.is_numpy else np.arange(3_300_000, dtype="i4", device="cpu")
    )
    y = side.to(many, "cuda")
    side.hold(y[::1000])
    z = side.to(many[:100_000] * 2, "cuda") + y[:100_000]
    side.hold(side.to(z, "cpu"))
    w = side.to(many[:100_000] + 1, "cuda")  # into memory that was in use
    side.hold(w + z)
    side.hold(side.to(y + 1, "cpu"))


@program
def reductions(side, x, f, n, g):
    side.hold(x.sum())
    side.hold(g.mean(0))
    side.hold(g.std(1))
    side.hold(f.argmax())
    side.hold(n.min() + n.max())
    side.hold((g - g.mean(1, keepdims=True)) / g.std(1, keepdims=True))
    side.hold((x > 0).any() & (n != 2000).all())


@program
def long_reductions(side, x, f, n, g):
    np = side.np
    y = np.arange(200_000.0) % 100
    side.hold(y.sum())
    side.hold(y.reshape(2000, 100).sum(0))
    side.hold(y.argmax())
    side.hold(y.reshape(2, -1).max(1))


@program
def running_results(side, x, f, n, g):
    np = side.np
    side.hold(np.cumsum(x))
    side.hold(np.cumsum(g, 0))
    side.hold(np.maximum.accumulate(n))
    side.hold(np.cumprod(1 + g[:, :5] / 100, 1))


@program
def stencil(side, x, f, n, g):
    field = g * 1.0
    held = side.hold(field)
    for _ in range(20):
        field[1:-1, 1:-1] = (field[2:, 1:-1] + field[:-2, 1:-1] + field[1:-1, 2:] + field[1:-1, :-2]) / 4
        held.done()


@program
def many_turns(side, x, f, n, g):
    q = x * 1
    for turn in range(40):
        q = q * 1.01 + 0.5
        q = q - q[::-1] * 0.25
        if turn % 10 == 7:
            side.hold(q)
    side.hold(q)
    side.hold(q.sum())


@program
def repeated_plans(side, x, f, n, g):
    np = side.np
    for turn in range(6):
        y = np.cumsum(x * turn)
        z = np.cumsum(y / 100 + 1)
        w = np.cumsum(np.where(z > 0, z, 0))
        v = g.sum(0) * turn
        u = np.cumsum(v - v.mean())
        side.eval(w, u)
        if turn % 2:
            side.hold(w)
            side.hold(u)


@program
def in_place(side, x, f, n, g):
    np = side.np
    y = x * 1
    held = side.hold(y)
    y += 1
    held.done()
    y[10:20] = 5
    held.done()
    y[::2] *= 3
    held.done()
    side.eval(y)
    y[1:] = y[:-1] + 1
    held.done()
    np.add(y, 2, out=y)
    held.done()
    np.copyto(y, x * 3, where=x > 0)
    held.done()
    side.eval(y)
    y -= x
    held.done()
    y.sort()
    held.done()
    y.fill(3)
    held.done()


@program
def many_dimensions(side, x, f, n, g):
    y = x[:1024].reshape((2,) * 10).transpose(9, 1, 7, 3, 5, 4, 6, 2, 8, 0)
    own = x[:1024].reshape((2,) * 10) * 1
    side.eval(own)
    held = side.hold(own)
    own += y  # more dimensions than a grid has
    held.done()
    side.eval(own)
    own[..., ::-1] -= y
    held.done()
    side.hold(y.sum((1, 3, 5)))


@program
def gathers(side, x, f, n, g):
    np = side.np
    i = abs(n[:3000]) % 40
    side.hold(x[n % 6000])
    side.hold(g[i, i] * 2 + 1)
    side.hold(np.take(f, i[::-1]))
    side.hold(np.take_along_axis(g, np.argsort(g, 1), 1))


@program
def scatters(side, x, f, n, g):
    y = x * 1
    held = side.hold(y)
    i = abs(n) % 3000
    y[i] = x[::-1]
    held.done()
    side.eval(y)
    y[i[:10]] += 1
    held.done()
    y[y > 0.5] = 2
    held.done()
    y[n[:100] % 6000] = 7
    held.done()


@program
def chosen(side, x, f, n, g):
    np = side.np
    side.hold(x[x > 0.2])
    side.hold(np.nonzero(n > 0)[0])
    mask = g > 0.5
    side.eval(mask)
    side.hold(g[mask])
    side.hold((x * 2)[f > 0])
    side.hold(np.flatnonzero(mask))
    side.hold(np.compress(g[0] > 0.5, g, 1))


@program
def chosen_of_many(side, x, f, n, g):
    np = side.np
    y = np.arange(1_200_000, dtype="i4")
    side.hold(y[y % 1000 == 3])


@program
def orders(side, x, f, n, g):
    np = side.np
    side.hold(np.sort(x))
    side.hold(np.argsort(f, kind="stable"))
    side.hold(np.sort(g, 0))
    side.hold(np.searchsorted(np.sort(x), f))
    side.hold(np.unique(n))


@program
def long_orders(side, x, f, n, g):
    np = side.np
    y = (np.arange(9000) * 7919) % 9001
    side.hold(np.sort(y))
    side.hold(np.argsort(y.astype("f4"), kind="stable"))
    side.hold(np.sort(y + 1j * y[::-1])[:10])


@program
def choices_of_order(side, x, f, n, g):
    np = side.np
    side.hold(np.percentile(x, [10, 50]))
    side.hold(np.median(g, 1))
    side.hold(np.partition(x, 100)[:100].max())
    side.hold(np.isin(n[:50], n[50:100]))


@program
def counts(side, x, f, n, g):
    np = side.np
    side.hold(np.bincount(abs(n)))
    side.hold(np.bincount(abs(n) % 50, weights=x))
    side.hold(np.histogram(x, 10)[0])
    side.hold(np.bincount(n[:50] * 0 + 20_000))


@program
def products(side, x, f, n, g):
    np = side.np
    side.hold(g @ g.T)
    a = f[:3600].reshape(60, 60)
    side.hold(a @ a)
    side.hold(np.maximum(a @ a.T + a[0], 0))
    side.hold(n[:400].reshape(20, 20) @ n[400:800].reshape(20, 20))
    side.hold(g[0] @ g[1])
    side.hold(np.einsum("ij,kj->ik", g, g))


@program
def half_products(side, x, f, n, g):
    np = side.np
    h = f[:3000].astype("f2").reshape(50, 60)
    side.hold(h @ h.T)
    c = (g[:, :40] + 1j * g[:, 10:]).astype("c8")
    side.hold(c @ c)
    b = f[:2048].reshape(2, 32, 32)
    side.hold(np.matmul(b, b[::-1]))
    side.hold(np.maximum(h @ h.T + h[:, 0], 0))


@program
def random_numbers(side, x, f, n, g):
    rng = side.rng(3)
    side.hold(rng.draw("random", 5000) < 0.5)
    side.hold(rng.draw("normal", size=70_000)[::7])
    side.hold(rng.draw("integers", 0, 10, 70_000)[::7])
    side.hold(rng.draw("exponential", size=3000))
    side.hold(rng.draw("standard_normal", 70_001, "f4")[::9])


@program
def other_draws(side, x, f, n, g):
    rng = side.rng(4)
    side.hold(rng.draw("permutation", 300))
    side.hold(rng.draw("permutation", g))
    side.hold(rng.draw("choice", x, 10))
    side.hold(rng.draw("choice", 100, 10, replace=False))
    side.hold(rng.draw("gamma", 2.0, size=500))
    side.hold(rng.draw("integers", 0, 200, 1000, "u1"))
    side.hold(rng.draw("standard_exponential", 66_000)[::9])


@program
def two_gpus(side, x, f, n, g):
    np = side.np
    y = side.to(x * 2, "cuda:1")
    side.hold(y + 1)
    z = side.to(y * y, "cuda:0")
    side.hold(z + x)
    w = side.to(side.to(z[::2], "cuda:1") - 1, "cuda:0")
    side.hold(w)
    with side.on("cuda:1"):
        side.hold(np.cumsum(np.arange(3000.0)))
        side.hold(np.sort(side.to(x, "cuda:1")))
        side.hold(side.to(g, "cuda:1") @ side.to(g.T, "cuda:1"))


@program
def shared(side, x, f, n, g):
    y = x * 1
    other = side.shared(y)
    held = side.hold(y)
    other += 1
    held.done()
    y *= 2
    held.done()
    side.hold(other[::2] + 1)
    third = side.by_interface(y)
    third[:5] = 9
    held.done()
    del other, third
    side.hold(y.sum() + 0)


@program
def given_back(side, x, f, n, g):
    for turn in range(4):
        y = x + turn
        other = side.shared(y, stream=77 if turn == 2 else None)
        side.hold(other * 2)
        del y, other
        side.hold((x * turn + 1)[::-1])


@program
def profiled(side, x, f, n, g):
    np = side.np
    with side.profile():
        y = x * 1
        held = side.hold(y)
        y += 1
        held.done()
        side.eval(y)
        y[3:] += x[:-3]
        held.done()
        side.hold(np.sort(y))
        side.hold(g @ g.T)
        side.hold(side.to(y * 2, "cpu"))
        side.hold(np.cumsum(y))
        side.hold(y[y > 1])
    side.eval(y)


@program
def named_faults(side, x, f, n, g):
    """As somebody runs it who looks for the kernel that fails."""
    with side.config(debug=1, debug_filter="no kernel"):
        y = x * 1
        held = side.hold(y)
        for _ in range(3):
            y += 1
            held.done()
            side.eval(y)
        side.hold(side.np.cumsum(y))
        side.hold(side.np.sort(y))


@program
def late_checks(side, x, f, n, g):
    np = side.np
    with side.config(deferred_checks=True):
        i = abs(n) % 6000
        y = x[i] * 2
        side.hold(y)
        side.hold(np.power(abs(n) % 5, abs(n) % 3))
        z = x * 1
        held = side.hold(z)
        z[i] = 4
        held.done()
        side.hold(y + z)


@program
def fallbacks(side, x, f, n, g):
    np = side.np
    with side.config(without="gpu_kernels"):
        y = x * 2 + f
        side.hold(y)
        held = side.hold(z := x * 1)
        z += y
        held.done()
        side.eval(z)
        z[2:7] = 3
        held.done()
        side.hold(np.cumsum(z))
    side.hold(z * 2)
    side.hold(np.convolve(x[:50], f[:5]))


@program
def applied_at(side, x, f, n, g):
    np = side.np
    y = x * 1
    held = side.hold(y)
    np.add.at(y, abs(n) % 500, 1.0)
    held.done()
    np.maximum.at(y, n % 6000, x)
    held.done()
    side.hold(np.add.reduceat(x, [0, 10, 500, 5000]))


@program
def files(side, x, f, n, g):
    np = side.np
    side.hold(pickle.loads(pickle.dumps(x[:50])))
    file = io.BytesIO()
    np.save(file, x * 2)
    file.seek(0)
    side.hold(np.load(file))
    side.hold(numpy.asarray(len(repr(x)) > 10))


@program
def questions(side, x, f, n, g):
    y = x * 3
    side.eval(y)
    side.ask()
    side.hold(y)
    del y
    side.ask()
    side.hold(x + 3)


@program
def threads(side, x, f, n, g):
    np = side.np
    results = [None] * 3

    def work(k):
        with contextlib.suppress(Exception), side.on(f"cuda:{k % 2}"):
            y = side.to(x, f"cuda:{k % 2}") * (k + 1)
            for _ in range(5):
                y = y * 0.5 + np.cumsum(y)[::-1] / 6000
            results[k] = y

    workers = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for k in range(3):
        if results[k] is not None:
            side.hold(results[k], place=f"thread {k}")


@program
def forked(side, x, f, n, g):
    y = x + 1
    side.eval(y)
    side.fork(y)
    side.hold(y * 2)


@program
def little_memory(side, x, f, n, g):
    with side.little_memory(40 << 20):
        parts = []
        for turn in range(8):
            y = (x[:3000, None] * side.np.ones(500) + turn).sum(1)
            parts.append(y)
            side.hold(y)
        side.hold(sum(parts))


@program
def subclass_and_scalars(side, x, f, n, g):
    value = (x[7] * 2 + n[3]) / 2
    side.hold(value * 1.0)
    side.hold(x * value)
    side.hold(numpy.asarray([float(v) for v in x[:5]]))
    side.hold(numpy.asarray(int(n[10]) + (1 if x[3] > 0 else 0)))


@program
def factorisations(side, x, f, n, g):
    np = side.np
    a, b = (
        g[:, :40] + 10 * np.linalg.inv(np.eye(40) if side.is_numpy else np.eye(40, device="cuda:0")),
        g[:, 40:],
    )
    side.hold(np.linalg.solve(a, b))
    side.hold(np.linalg.det(a / 10))
    side.hold(abs(np.linalg.qr(b).R))
    side.hold(np.linalg.svd(b, compute_uv=False))
    many = x[:63].reshape(7, 3, 3)
    side.hold(np.linalg.eigvalsh(many))
    side.hold(np.linalg.cholesky(many @ many.transpose(0, 2, 1) + 1.0 * (n[:3] == n[:3, None])))


@program
def transforms(side, x, f, n, g):
    np = side.np
    side.hold(np.fft.fft(g))
    side.hold(np.fft.rfft2(g * 2, axes=(1, 0)))
    side.hold(np.fft.irfft(g[::2, 1:], 30, norm="ortho"))
    side.hold(np.fft.fftn(x[:3000].reshape(50, 20, 3), axes=(1,)))
