"""The spectrogram of a rising tone in noise, and the frequency that is loudest at each time.

python examples/programs/spectrogram.py [samples]
"""

import sys

import numpy as np

SIZE = 4_000_000


def main(size=SIZE, rate=44_100.0, width=1024, hop=512):
    time = np.arange(size) / rate
    length = size / rate
    tone = np.sin(2 * np.pi * (200.0 * time + 0.5 * (8000.0 / length) * time**2))
    signal = tone + 0.5 * np.random.default_rng(4).standard_normal(size)
    count = 1 + (size - width) // hop
    frames = np.lib.stride_tricks.sliding_window_view(signal, width)[::hop][:count]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(width) / width)
    power = np.abs(np.fft.rfft(frames * window, axis=1)) ** 2
    decibels = 10 * np.log10(power + 1e-12)
    loudest = np.fft.rfftfreq(width, 1 / rate)[power.argmax(axis=1)]
    slope = np.polyfit(np.arange(count) * hop / rate, loudest, 1)[0]
    return {"mean level": decibels.mean(axis=0), "loudest": loudest, "slope": slope}


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"the tone rises by {result['slope']:.1f} Hz a second")
