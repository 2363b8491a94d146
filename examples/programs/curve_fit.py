"""A damped oscillation fitted to a table of text: QR for the linear part, Gauss and Newton's method for all.

python examples/programs/curve_fit.py [rows]
"""

import io
import sys

import numpy as np

SIZE = 40_000


def table(rows):
    """Time, value and error as a measuring device writes them, with a comment and a gap or two."""
    rng = np.random.default_rng(11)
    t = np.linspace(0, 8, rows)
    y = 2.5 * np.exp(-0.35 * t) * np.cos(4.2 * t + 0.6) + 0.4 + 0.05 * rng.standard_normal(rows)
    text = io.StringIO()
    np.savetxt(
        text, np.column_stack([t, y, np.full(rows, 0.05)]), delimiter=",", fmt="%.6f", header="t,y,error"
    )
    text.write("# the end\n")
    text.seek(0)
    return text


def model(t, p):
    return p[0] * np.exp(-p[1] * t) * np.cos(p[2] * t + p[3]) + p[4]


def jacobian(t, p):
    decay, angle = np.exp(-p[1] * t), p[2] * t + p[3]
    wave, slope = decay * np.cos(angle), -p[0] * decay * np.sin(angle)
    return np.stack([wave, -p[0] * t * wave, t * slope, slope, np.ones_like(t)], axis=1)


def main(size=SIZE, steps=12):
    t, y, error = np.loadtxt(table(size), delimiter=",", unpack=True)
    line = np.linalg.lstsq(np.vander(t, 4), y, rcond=None)[0]
    p = np.array([2.0, 0.3, 4.0, 0.5, y.mean()])
    for _ in range(steps):
        left = (y - model(t, p)) / error
        q, r = np.linalg.qr(jacobian(t, p) / error[:, None])
        p = p + np.linalg.solve(r, q.T @ left)
    inverse = np.linalg.inv(r)
    chi = np.sum(((y - model(t, p)) / error) ** 2) / (size - len(p))
    return {"cubic": line, "parameters": p, "errors": np.sqrt(np.diag(inverse @ inverse.T)), "chi": chi}


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    for value, error in zip(result["parameters"], result["errors"]):
        print(f"{value:.5f} ± {error:.5f}")
