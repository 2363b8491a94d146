"""Graphs, puzzles and tables of dynamic programming."""

import numpy as np


def floyd_warshall(distance):
    n = len(distance)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = distance[i, k] + distance[k, j]
                if through < distance[i, j]:
                    distance[i, j] = through


def floyd_warshall_arguments(size):
    random = np.random.default_rng(1)
    distance = np.where(random.random((size, size)) < 0.3, random.random((size, size)), np.inf)
    np.fill_diagonal(distance, 0.0)
    return (distance,)


def dijkstra(weights, distance, done):
    n = len(weights)
    for i in range(n):
        distance[i] = np.inf
    distance[0] = 0.0
    for _ in range(n):
        best = -1
        for i in range(n):
            if not done[i] and (best < 0 or distance[i] < distance[best]):
                best = i
        if best < 0 or distance[best] == np.inf:
            break
        done[best] = True
        for j in range(n):
            w = weights[best, j]
            if w > 0 and distance[best] + w < distance[j]:
                distance[j] = distance[best] + w


def dijkstra_arguments(size):
    random = np.random.default_rng(2)
    weights = np.where(random.random((size, size)) < 0.2, random.integers(1, 50, (size, size)), 0)
    return weights, np.zeros(size), np.zeros(size, np.bool_)


def breadth_first(begins, ends, level, queue):
    """Neighbours of i stand in ends[begins[i]:begins[i + 1]]."""
    head, tail = 0, 1
    queue[0] = 0
    level[0] = 0
    while head < tail:
        i = queue[head]
        head += 1
        for k in range(begins[i], begins[i + 1]):
            j = ends[k]
            if level[j] < 0:
                level[j] = level[i] + 1
                queue[tail] = j
                tail += 1
    return tail


def breadth_first_arguments(size):
    ends = np.random.default_rng(3).integers(0, size, 4 * size)
    return np.arange(0, 4 * size + 1, 4), ends, np.full(size, -1), np.zeros(size, np.int64)


def root_of(parent, i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


def components(parent, pairs):
    count = len(parent)
    for k in range(len(pairs)):
        a = root_of(parent, pairs[k, 0])
        b = root_of(parent, pairs[k, 1])
        if a != b:
            parent[max(a, b)] = min(a, b)
            count -= 1
    return count


def components_arguments(size):
    return np.arange(size), np.random.default_rng(4).integers(0, size, (size, 2))


def n_queens(n):
    """The solutions, by bits, with a stack in numbers of three arrays' places: columns and both diagonals."""
    full = (1 << n) - 1
    return place_queens(full, 0, 0, 0)


def place_queens(full, columns, left, right):
    if columns == full:
        return 1
    count = 0
    free = full & ~(columns | left | right)
    while free:
        bit = free & -free
        free ^= bit
        count += place_queens(full, columns | bit, (left | bit) << 1, (right | bit) >> 1)
    return count


def looped_queens(n, rows):
    count, row = 0, 0
    rows[0] = -1
    while row >= 0:
        rows[row] += 1
        column = rows[row]
        if column == n:
            row -= 1
            continue
        for k in range(row):
            other = rows[k]
            if other == column or abs(other - column) == row - k:
                break
        else:
            if row == n - 1:
                count += 1
            else:
                row += 1
                rows[row] = -1
    return count


def only(size):
    return (size,)


def looped_queens_arguments(size):
    return size, np.zeros(size, np.int64)


def sudoku(board):
    """Fills the zeros of a board of 81 digits by trying; returns the number of digits that were tried."""
    tried, at, step = 0, 0, 1
    while 0 <= at < 81:
        if board[at] > 9:  # a given digit, with 10 added
            at += step
            continue
        board[at] += 1
        tried += 1
        if board[at] == 10:
            board[at] = 0
            step = -1
            at += step
            continue
        row, column = divmod(at, 9)
        fits = True
        for k in range(9):
            a = 9 * row + k
            b = 9 * k + column
            c = 9 * (row // 3 * 3 + k // 3) + column // 3 * 3 + k % 3
            digit = board[at]
            if (a != at and board[a] % 10 == digit) or (b != at and board[b] % 10 == digit):
                fits = False
                break
            if c != at and board[c] % 10 == digit:
                fits = False
                break
        if fits:
            step = 1
            at += step
    return tried


def sudoku_arguments(size):
    board = [(3 * (i // 9 % 3) + i // 27 + i % 9) % 9 + 1 for i in range(81)]
    holes = np.random.default_rng(5).permutation(81)[:size]
    given = np.array(board, np.int64) + 10
    given[given == 19] = 19
    given[holes] = 0
    return (given,)


def knapsack(weights, values, best):
    for i in range(len(weights)):
        for room in range(len(best) - 1, weights[i] - 1, -1):
            best[room] = max(best[room], best[room - weights[i]] + values[i])
    return best[-1]


def knapsack_arguments(size):
    random = np.random.default_rng(6)
    return random.integers(1, 50, size), random.integers(1, 100, size), np.zeros(20 * size, np.int64)


PROGRAMS = {
    "floyd_warshall": (floyd_warshall, floyd_warshall_arguments, 10, 250),
    "dijkstra": (dijkstra, dijkstra_arguments, 15, 1000),
    "breadth_first": (breadth_first, breadth_first_arguments, 60, 300_000),
    "components": (components, components_arguments, 60, 300_000),
    "n_queens": (n_queens, only, 5, 10),
    "looped_queens": (looped_queens, looped_queens_arguments, 5, 9),
    "sudoku": (sudoku, sudoku_arguments, 30, 45),
    "knapsack": (knapsack, knapsack_arguments, 12, 700),
}
