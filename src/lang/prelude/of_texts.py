"""Texts of arrays by their characters, in the Python that weft.jit compiles; see of_math.py."""

CHECKED = ()


def order(left, right):
    for i in range(max(len(left), len(right))):
        a = int(left[i]) if i < len(left) else 0
        b = int(right[i]) if i < len(right) else 0
        if a != b:
            return -1 if a < b else 1
    return 0


def length(characters):
    count = len(characters)
    while count > 0 and characters[count - 1] == 0:
        count -= 1
    return count
