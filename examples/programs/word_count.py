"""Statistics of a text: words as an array of strings, the commonest, lengths, pairs that follow each other.

python examples/programs/word_count.py [words]
"""

import sys

import numpy as np

SIZE = 200_000


SYLLABLES = np.array(["ka", "lo", "mi", "ner", "sta", "vu", "the", "Or", "en", "zi"])


def text_of(count):
    rng = np.random.default_rng(14)
    picks = np.minimum(rng.geometric(0.25, size=(count, 2)) - 1, len(SYLLABLES) - 1)
    words = np.char.add(SYLLABLES[picks[:, 0]], SYLLABLES[picks[:, 1]])
    marks = np.where(rng.random(count) < 0.1, ".", np.where(rng.random(count) < 0.1, ",", ""))
    return " ".join(np.char.add(words, marks).tolist())


def main(size=SIZE):
    raw = np.array(text_of(size).split())
    ends = np.char.endswith(raw, ".")
    words = np.char.lower(np.char.strip(raw, ".,"))
    names, inverse, counts = np.unique(words, return_inverse=True, return_counts=True)
    order = np.lexsort((names, -counts))
    lengths = np.char.str_len(words)
    share = counts / counts.sum()

    follows = np.zeros((len(names), len(names)), dtype=int)
    inside = ~ends[:-1]
    np.add.at(follows, (inverse[:-1][inside], inverse[1:][inside]), 1)
    a, b = np.unravel_index(follows.argmax(), follows.shape)
    sentences = np.diff(np.flatnonzero(ends), prepend=-1)
    rank = np.arange(1, len(names) + 1)
    return {
        "common": names[order[:10]],
        "counts": counts[order],
        "lengths": np.bincount(lengths),
        "entropy": -(share * np.log2(share)).sum(),
        "pair": np.array([names[a], names[b]]),
        "sentence": sentences.mean(),
        "with ka": np.sum(np.char.find(words, "ka") >= 0),
        "zipf": np.polyfit(np.log(rank), np.log(counts[order]), 1),
        "title": np.char.title(names[:3]) + np.array(["!", "?", "."]),
    }


if __name__ == "__main__":
    result = main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
    for word, count in zip(result["common"], result["counts"]):
        print(f"{word:8} {count:6}")
    print(f"{result['entropy']:.4f} bits a word")
