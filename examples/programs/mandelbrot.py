"""How many steps points of the plane take to leave the Mandelbrot set.

python examples/programs/mandelbrot.py [width]
"""

import sys

import numpy as np

SIZE = 1500


def main(size=SIZE, most=50):
    x = np.linspace(-2.0, 0.6, size)
    y = np.linspace(-1.2, 1.2, size * 12 // 13)
    c = x[np.newaxis, :] + 1j * y[:, np.newaxis]
    z = np.zeros_like(c)
    steps = np.zeros(c.shape, dtype=np.int32)
    for _ in range(most):
        inside = z.real**2 + z.imag**2 <= 4.0
        z = np.where(inside, z * z + c, z)
        steps += inside
    return {"steps": steps, "area": (steps == most).mean() * 2.6 * 2.4}


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(f"area {result['area']:.4f}")
