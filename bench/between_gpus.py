"""Copies between two GPUs, and beside them between a GPU and the host.

    python bench/between_gpus.py [MEGABYTES]     1000 by default

Prints the median and the best of ten copies each, in GB/s, after two that warm up: of an array of float32, of one
that takes part in a kernel before, and both ways at once.
"""

import statistics
import sys
import time

import weft as np


def timed(work, devices, turns=10):
    times = []
    for turn in range(turns + 2):
        start = time.perf_counter()
        result = work()
        np.eval(*result)
        for device in devices:
            np.synchronize(device)
        if turn > 1:
            times.append(time.perf_counter() - start)
        del result
    return times


def main():
    count = int(float(sys.argv[1] if sys.argv[1:] else 1000) * 250_000)
    devices = [str(device) for device in np.devices()]
    first = devices[1]
    x = np.ones(count, "float32", device=first)
    np.eval(x)
    cases = [(f"{first} to cpu", "cpu", 1, lambda: (x.to_device("cpu"),))]
    if len(devices) > 2:
        second = devices[2]
        y = np.ones(count, "float32", device=second)
        np.eval(y)
        there = x.to_device(second)
        assert there.device == second and (there.sum().item(), there[-1].item()) == (count, 1)
        cases = [
            (f"{first} to {second}", second, 1, lambda: (x.to_device(second),)),
            (f"{second} to {first}", second, 1, lambda: (y.to_device(first),)),
            ("both ways at once", second, 2, lambda: (x.to_device(second), y.to_device(first))),
            (f"2 * x, from {first} to {second}", second, 1, lambda: ((2 * x).to_device(second),)),
            *cases,
        ]
    for name, _, copies, work in cases:
        times = timed(work, devices[1:])
        rates = [copies * x.nbytes / 1e9 / seconds for seconds in (statistics.median(times), min(times))]
        print(f"{name}: {rates[0]:.1f} GB/s, at best {rates[1]:.1f}", flush=True)


if __name__ == "__main__":
    main()
