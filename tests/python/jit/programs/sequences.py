"""Alignments and distances of sequences, in tables."""

import numpy as np


def two_words(size):
    random = np.random.default_rng(1)
    return random.integers(0, 4, size).astype(np.int8), random.integers(0, 4, size).astype(np.int8)


def with_table(size):
    return *two_words(size), np.zeros((size + 1, size + 1), np.int64)


def levenshtein(a, b, table):
    for i in range(len(a) + 1):
        table[i, 0] = i
    for j in range(len(b) + 1):
        table[0, j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
    return table[len(a), len(b)]


def smith_waterman(a, b, table):
    best = 0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            score = table[i - 1, j - 1] + (3 if a[i - 1] == b[j - 1] else -3)
            score = max(score, table[i - 1, j] - 2, table[i, j - 1] - 2, 0)
            table[i, j] = score
            if score > best:
                best = score
    return best


def longest_common(a, b, table):
    for i in range(len(a) - 1, -1, -1):
        for j in range(len(b) - 1, -1, -1):
            if a[i] == b[j]:
                table[i, j] = table[i + 1, j + 1] + 1
            elif table[i + 1, j] >= table[i, j + 1]:
                table[i, j] = table[i + 1, j]
            else:
                table[i, j] = table[i, j + 1]
    i = j = length = 0
    while i < len(a) and j < len(b):
        if a[i] == b[j]:
            i, j, length = i + 1, j + 1, length + 1
        elif table[i + 1, j] >= table[i, j + 1]:
            i += 1
        else:
            j += 1
    return length


def time_warp(a, b, table):
    n, m = len(a), len(b)
    for i in range(n + 1):
        for j in range(m + 1):
            table[i, j] = np.inf
    table[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = abs(a[i - 1] - b[j - 1])
            table[i, j] = cost + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[n, m]


def time_warp_arguments(size):
    random = np.random.default_rng(2)
    return random.random(size), random.random(size), np.zeros((size + 1, size + 1))


def viterbi(observed, first, moves, sees, score, back, path):
    states = len(first)
    steps = len(observed)
    for s in range(states):
        score[0, s] = first[s] + sees[s, observed[0]]
    for t in range(1, steps):
        for s in range(states):
            best, where = score[t - 1, 0] + moves[0, s], 0
            for r in range(1, states):
                value = score[t - 1, r] + moves[r, s]
                if value > best:
                    best, where = value, r
            score[t, s] = best + sees[s, observed[t]]
            back[t, s] = where
    last = 0
    for s in range(states):
        if score[steps - 1, s] > score[steps - 1, last]:
            last = s
    path[steps - 1] = last
    for t in range(steps - 1, 0, -1):
        path[t - 1] = back[t, path[t]]
    return score[steps - 1, last]


def viterbi_arguments(size):
    random = np.random.default_rng(3)
    states = 12
    return (
        random.integers(0, 6, size),
        np.log(random.random(states)),
        np.log(random.random((states, states))),
        np.log(random.random((states, 6))),
        np.zeros((size, states)),
        np.zeros((size, states), np.int64),
        np.zeros(size, np.int64),
    )


def find_text(text, pattern, table):
    """Knuth, Morris, Pratt: how often the pattern occurs."""
    k = 0
    table[0] = 0
    for i in range(1, len(pattern)):
        while k > 0 and pattern[k] != pattern[i]:
            k = table[k - 1]
        if pattern[k] == pattern[i]:
            k += 1
        table[i] = k
    found = k = 0
    for c in text:
        while k > 0 and pattern[k] != c:
            k = table[k - 1]
        if pattern[k] == c:
            k += 1
        if k == len(pattern):
            found += 1
            k = table[k - 1]
    return found


def find_text_arguments(size):
    text = np.random.default_rng(4).integers(0, 2, size).astype(np.uint8)
    return text, np.array([0, 1, 0, 0, 1, 0], np.uint8), np.zeros(6, np.int64)


PROGRAMS = {
    "levenshtein": (levenshtein, with_table, 15, 1200),
    "smith_waterman": (smith_waterman, with_table, 15, 1200),
    "longest_common": (longest_common, with_table, 15, 1200),
    "time_warp": (time_warp, time_warp_arguments, 15, 1000),
    "viterbi": (viterbi, viterbi_arguments, 4, 20_000),
    "find_text": (find_text, find_text_arguments, 300, 3_000_000),
}
