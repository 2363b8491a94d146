"""Sudokus solved by sets of candidates as small boolean arrays, and search where they leave a choice.

python examples/programs/sudoku.py [puzzles]
"""

import sys

import numpy as np

SIZE = 40


PUZZLE = """
53..7.... 6..195... .98....6. 8...6...3 4..8.3..1 7...2...6 .6....28. ...419..5 ....8..79
"""


def place(candidates, row, column, digit):
    """Sets a digit and takes it from its row, column and box."""
    top, left = 3 * (row // 3), 3 * (column // 3)
    candidates[row, column, :] = False
    candidates[row, :, digit] = False
    candidates[:, column, digit] = False
    candidates[top : top + 3, left : left + 3, digit] = False
    candidates[row, column, digit] = True


def solve(grid, candidates, counter):
    while np.any(grid == 0):
        counter[0] += 1
        count = np.where(grid == 0, candidates.sum(axis=2), 10)
        if count.min() == 0:
            return None
        row, column = np.unravel_index(count.argmin(), count.shape)
        choices = np.flatnonzero(candidates[row, column])
        if len(choices) > 1:
            for digit in choices:
                next_grid, next_candidates = grid.copy(), candidates.copy()
                next_grid[row, column] = digit + 1
                place(next_candidates, row, column, digit)
                found = solve(next_grid, next_candidates, counter)
                if found is not None:
                    return found
            return None
        grid[row, column] = choices[0] + 1
        place(candidates, row, column, choices[0])
    return grid


def main(size=SIZE):
    rng = np.random.default_rng(28)
    given = np.array([list(row.replace(".", "0")) for row in PUZZLE.split()]).astype(int)
    solved, counter = [], [0]
    for _ in range(size):
        names = np.concatenate([[0], 1 + rng.permutation(9)])
        puzzle = np.rot90(names[given], rng.integers(4))
        puzzle = np.where(rng.random((9, 9)) < 0.15, 0, puzzle)
        candidates = np.ones((9, 9, 9), dtype=bool)
        for row, column in np.argwhere(puzzle > 0):
            place(candidates, row, column, puzzle[row, column] - 1)
        grid = solve(puzzle.copy(), candidates, counter)
        assert (np.sort(grid, axis=1) == np.arange(1, 10)).all()
        assert (np.sort(grid, axis=0).T == np.arange(1, 10)).all()
        assert np.all(grid[puzzle > 0] == puzzle[puzzle > 0])
        solved.append(grid)
    return {"solved": np.stack(solved), "tried": counter[0]}


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    print(result["solved"][0])
    print(f"{result['tried']} cells looked at")
