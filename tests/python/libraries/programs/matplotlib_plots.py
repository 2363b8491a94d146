"""matplotlib: figures of arrays, by their pixels and by what the axes know."""

import io

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(0, 6, 40)
y = np.sin(x)
grid = np.arange(48.0).reshape(6, 8)


def pixels(draw, **options):
    figure, axes = plt.subplots(figsize=(2, 2), dpi=50, **options)
    draw(axes)
    figure.canvas.draw()
    result = np.array(figure.canvas.buffer_rgba())
    plt.close(figure)
    # The last digit of a sine may move a pixel's shade.
    return (result[::4, ::4].astype(int) // 64).tolist()


def lines():
    yield pixels(lambda a: a.plot(x, y, x, y**2, "o--", color=np.array([1, 0, 0]), lw=np.float64(2)))
    yield pixels(lambda a: a.plot(np.stack([y, y * 2]).T))
    yield pixels(lambda a: a.errorbar(x[::4], y[::4], yerr=np.full(10, 0.1), xerr=np.full((2, 10), 0.1)))
    yield pixels(lambda a: a.fill_between(x, y, 0, where=y > 0))
    yield pixels(lambda a: a.step(x[:9], y[:9]))
    yield pixels(lambda a: (a.stem(x, y), a.axvline(x[3]), a.axhspan(y[1], y[3]), a.set_xlim(x[0], x[-1])))
    yield pixels(
        lambda a: (a.loglog(x + 1, x + 1), a.set_xticks(np.arange(1, 4)), a.annotate("m", (x[1], 2)))
    )
    yield pixels(lambda a: a.plot(x, y), subplot_kw={"projection": "polar"})
    yield pixels(lambda a: a.plot(x, y, x), subplot_kw={"projection": "3d"})
    yield pixels(lambda a: a.hlines(np.arange(3), np.zeros(3), np.ones(3), colors=["r", "g", "b"]))


def fields():
    yield pixels(lambda a: a.imshow(grid, extent=np.array([0, 1, 0, 1]), vmin=grid.min(), vmax=grid.max()))
    yield pixels(lambda a: a.imshow(np.stack([grid / 48] * 3, -1)))
    yield pixels(lambda a: a.imshow((grid * 5).astype(np.uint8), cmap="gray"))
    yield pixels(lambda a: a.contour(grid, levels=np.array([5.0, 20.0])))
    yield pixels(lambda a: a.contourf(*np.meshgrid(np.arange(8), np.arange(6)), grid))
    yield pixels(lambda a: a.pcolormesh(np.arange(9.0), np.arange(7.0), grid))
    yield pixels(lambda a: a.quiver(grid[:2], grid[:2], grid[:2] + 1, grid[:2]))
    yield pixels(lambda a: a.streamplot(np.arange(8), np.arange(6), grid + 1, grid * 0.5))
    yield pixels(lambda a: a.tripcolor(x[:9] % 1, y[:9], np.arange(9.0)))
    yield pixels(
        lambda a: a.plot_surface(*np.meshgrid(np.arange(8), np.arange(6)), grid),
        subplot_kw={"projection": "3d"},
    )
    yield pixels(lambda a: a.matshow(grid > 20))


def counts():
    yield pixels(lambda a: a.hist(y, bins=np.linspace(-1, 1, 9)))
    yield pixels(lambda a: a.hist([y, y * 2], bins=5))
    yield pixels(lambda a: a.hist2d(x, y, bins=4))
    yield pixels(lambda a: a.hexbin(x, y, gridsize=4))
    yield pixels(lambda a: a.bar(np.arange(5), y[:5], yerr=np.full(5, 0.1)))
    yield pixels(lambda a: a.boxplot([y, y * 2]))
    yield pixels(lambda a: a.violinplot(np.stack([y, y * 2], 1)))
    yield pixels(lambda a: a.pie(np.arange(1, 4)))
    yield pixels(lambda a: a.scatter(x, y, c=y, s=np.linspace(1, 40, 40), alpha=np.linspace(0, 1, 40)))
    yield pixels(lambda a: a.specgram(np.sin(np.arange(256) * 0.3), NFFT=32, noverlap=0))
    yield pixels(lambda a: a.stackplot(x, np.abs(y), np.abs(y) * 2))


def masked():
    hidden = np.ma.array(grid, mask=grid % 5 == 0)
    yield pixels(lambda a: a.imshow(hidden))
    yield pixels(lambda a: a.pcolormesh(hidden))
    yield pixels(lambda a: a.contourf(hidden))
    yield pixels(lambda a: a.plot(np.ma.array(y, mask=y > 0.5)))
    yield pixels(lambda a: a.scatter(x, np.ma.array(y, mask=y > 0.5), c=np.ma.array(y, mask=y < 0)))


def known():
    figure, axes = plt.subplots()
    counts_of_bins, edges, _ = axes.hist(y, bins=4)
    yield counts_of_bins, edges
    (line,) = axes.plot(x, y)
    yield line.get_xdata(), line.get_ydata()
    line.set_data(x[:3], y[:3] * 2)
    yield line.get_xydata()
    yield axes.get_xlim(), axes.get_ylim()
    plt.close(figure)
    yield matplotlib.colormaps["viridis"](np.linspace(0, 1, 5))
    yield matplotlib.colors.Normalize()(np.arange(3.0))
    yield matplotlib.colors.to_rgba(np.array([0.1, 0.2, 0.3]))
    yield matplotlib.dates.date2num(np.datetime64("2024-01-01")) if hasattr(matplotlib, "dates") else None
    plt.imsave(io.BytesIO(), grid)
    stored = io.BytesIO()
    plt.imsave(stored, np.stack([grid / 48] * 3, -1), format="png")
    yield plt.imread(io.BytesIO(stored.getvalue()))
