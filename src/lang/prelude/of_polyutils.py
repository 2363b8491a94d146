"""Functions of numpy.polynomial.polyutils for weft.jit, in the Python that it compiles; see of_math.py."""

CHECKED = ()


def trimseq(seq):
    count = len(seq)
    while count > 1 and seq[count - 1] == 0:
        count -= 1
    return seq[:count]
