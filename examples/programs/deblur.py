"""A blurred and noisy picture made sharp again by Wiener's filter, and a smooth part by a filter in the spectrum.

python examples/programs/deblur.py [side]
"""

import sys

import numpy as np

SIZE = 1024


def picture(side):
    y, x = np.indices((side, side)) / side
    rings = np.sin(60 * np.hypot(x - 0.5, y - 0.5)) > 0
    bars = (x * 20).astype(int) % 2 == 0
    return np.where(y > 0.5, rings, bars).astype(float)


def gaussian(side, width):
    offsets = np.fft.fftfreq(side, 1 / side)
    kernel = np.exp(-(offsets[:, None] ** 2 + offsets[None, :] ** 2) / (2 * width**2))
    return kernel / kernel.sum()


def psnr(a, b):
    return 10 * np.log10(1 / np.mean((a - b) ** 2))


def main(size=SIZE, width=2.5, noise=0.01):
    truth = picture(size)
    transfer = np.fft.rfft2(gaussian(size, width))
    blurred = np.fft.irfft2(np.fft.rfft2(truth) * transfer, s=truth.shape)
    seen = blurred + noise * np.random.default_rng(19).standard_normal(truth.shape)

    spectrum = np.fft.rfft2(seen)
    wiener = np.conj(transfer) / (np.abs(transfer) ** 2 + 1e-3)
    sharp = np.fft.irfft2(spectrum * wiener, s=truth.shape).clip(0, 1)

    frequency = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size)[None, :])
    smooth = np.fft.irfft2(np.where(frequency < 0.05, spectrum, 0), s=truth.shape)

    power = np.abs(np.fft.fftshift(np.fft.fft2(seen - seen.mean()))) ** 2
    ring = np.fft.fftshift(np.hypot(*np.meshgrid(np.fft.fftfreq(size), np.fft.fftfreq(size))))
    which = np.digitize(ring.ravel(), np.linspace(0, 0.5, 26))
    by_ring = np.bincount(which, weights=power.ravel())[1:26] / np.bincount(which)[1:26]
    return {
        "seen": psnr(seen, truth),
        "sharp": psnr(sharp, truth),
        "row": sharp[size // 3],
        "smooth": smooth.std(axis=1),
        "power": by_ring,
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"{result['seen']:.2f} dB as seen, {result['sharp']:.2f} dB made sharp")
