"""Texts of run time for weft.jit, in the Python that it compiles; see of_math.py.

A text is an array of its code points (lang/strings/strings.h): `numpy._new_text(n)` is one that is to be written,
`numpy._text_of(points)` the text, and `numpy._points_of(text)` the way back. Arguments that are texts come as arrays.
"""

import numpy


def equal(a, b):
    if len(a) != len(b):
        return False
    for i in range(len(a)):
        if a[i] != b[i]:
            return False
    return True


def order(a, b):
    for i in range(min(len(a), len(b))):
        if a[i] != b[i]:
            return -1 if a[i] < b[i] else 1
    return len(a) - len(b)


def joined(a, b):
    made = numpy._new_text(len(a) + len(b))
    made[: len(a)] = a
    made[len(a) :] = b
    return made


def repeated(a, count):
    times = max(count, 0)
    made = numpy._new_text(len(a) * times)
    for k in range(times):
        made[k * len(a) : (k + 1) * len(a)] = a
    return made


def character(a, i):
    at = i + len(a) if i < 0 else i
    if at < 0 or at >= len(a):
        raise IndexError("string index out of range")
    return a[at : at + 1]


def part(a, bounds):
    start, stop, step = bounds.indices(len(a))
    if step == 1:
        return a[start : max(start, stop)]
    count = len(range(start, stop, step))
    made = numpy._new_text(count)
    for k in range(count):
        made[k] = a[start + k * step]
    return made


def hashed(a):
    h = -3750763034362895579
    for i in range(len(a)):
        h = (h ^ int(a[i])) * 1099511628211
    return h


def of_integer(n):
    made = numpy._new_text(20)
    at = 20
    rest = n
    while at == 20 or rest != 0:
        quotient = rest // 10
        digit = rest - quotient * 10
        if rest < 0 and digit != 0:  # rounded towards zero
            quotient += 1
            digit = 10 - digit
        at -= 1
        made[at] = 48 + digit
        rest = quotient
    if n < 0:
        at -= 1
        made[at] = 45
    return made[at:]


def of_float(x):
    made = numpy._new_text(32)
    count = numpy._engine_text_of_number(made, x)
    return made[:count]


# --- what a text is made of ---------------------------------------------------------------------------------


def is_space(c):
    if c < 128:
        return c == 32 or 9 <= c <= 13 or 28 <= c <= 31
    return (
        c == 133
        or c == 160
        or c == 5760
        or 8192 <= c <= 8202
        or c == 8232
        or c == 8233
        or c == 8239
        or c == 8287
        or c == 12288
    )


def expect_ascii(c):
    if c > 127:
        raise ValueError("letters beyond ASCII have no case and no kind in a compiled function")


def is_upper_letter(c):
    return 65 <= c <= 90


def is_lower_letter(c):
    return 97 <= c <= 122


def is_digit(c):
    return 48 <= c <= 57


def upper(a):
    made = numpy._new_text(len(a))
    for i in range(len(a)):
        expect_ascii(a[i])
        made[i] = a[i] - 32 if is_lower_letter(a[i]) else a[i]
    return made


def lower(a):
    made = numpy._new_text(len(a))
    for i in range(len(a)):
        expect_ascii(a[i])
        made[i] = a[i] + 32 if is_upper_letter(a[i]) else a[i]
    return made


def swapcase(a):
    made = numpy._new_text(len(a))
    for i in range(len(a)):
        expect_ascii(a[i])
        made[i] = a[i] + 32 if is_upper_letter(a[i]) else a[i] - 32 if is_lower_letter(a[i]) else a[i]
    return made


def capitalize(a):
    made = lower(a)
    if len(a) > 0 and is_lower_letter(made[0]):
        made[0] -= 32
    return made


def title(a):
    made = lower(a)
    inside = False
    for i in range(len(a)):
        letter = is_lower_letter(made[i])
        if letter and not inside:
            made[i] -= 32
        inside = letter
    return made


def isupper(a):
    found = False
    for i in range(len(a)):
        expect_ascii(a[i])
        if is_lower_letter(a[i]):
            return False
        found = found or is_upper_letter(a[i])
    return found


def islower(a):
    found = False
    for i in range(len(a)):
        expect_ascii(a[i])
        if is_upper_letter(a[i]):
            return False
        found = found or is_lower_letter(a[i])
    return found


def isalpha(a):
    for i in range(len(a)):
        expect_ascii(a[i])
        if not is_lower_letter(a[i]) and not is_upper_letter(a[i]):
            return False
    return len(a) > 0


def isalnum(a):
    for i in range(len(a)):
        expect_ascii(a[i])
        if not is_lower_letter(a[i]) and not is_upper_letter(a[i]) and not is_digit(a[i]):
            return False
    return len(a) > 0


def isdigit(a):
    for i in range(len(a)):
        expect_ascii(a[i])
        if not is_digit(a[i]):
            return False
    return len(a) > 0


def isdecimal(a):
    return isdigit(a)


def isnumeric(a):
    return isdigit(a)


def isspace(a):
    for i in range(len(a)):
        if not is_space(a[i]):
            return False
    return len(a) > 0


def isascii(a):
    for i in range(len(a)):
        if a[i] > 127:
            return False
    return True


# --- where a text is in another -----------------------------------------------------------------------------


def bound(at, length):
    if at < 0:
        return max(at + length, 0)
    return at


def found(a, b, start, stop):
    first = 0 if start is None else bound(start, len(a))
    end = len(a) if stop is None else min(bound(stop, len(a)), len(a))
    for i in range(first, end - len(b) + 1):
        k = 0
        while k < len(b) and a[i + k] == b[k]:
            k += 1
        if k == len(b):
            return i
    return -1


def found_last(a, b, start, stop):
    first = 0 if start is None else bound(start, len(a))
    end = len(a) if stop is None else min(bound(stop, len(a)), len(a))
    for i in range(end - len(b), first - 1, -1):
        k = 0
        while k < len(b) and a[i + k] == b[k]:
            k += 1
        if k == len(b):
            return i
    return -1


def find(a, b, start=None, stop=None):
    return found(a, b, start, stop)


def rfind(a, b, start=None, stop=None):
    return found_last(a, b, start, stop)


def index(a, b, start=None, stop=None):
    at = found(a, b, start, stop)
    if at < 0:
        raise ValueError("substring not found")
    return at


def rindex(a, b, start=None, stop=None):
    at = found_last(a, b, start, stop)
    if at < 0:
        raise ValueError("substring not found")
    return at


def contains(a, b):
    return found(a, b, 0, len(a)) >= 0


def count(a, b, start=None, stop=None):
    at = 0 if start is None else bound(start, len(a))
    end = len(a) if stop is None else min(bound(stop, len(a)), len(a))
    if len(b) == 0:
        return max(end - at + 1, 0)
    total = 0
    at = found(a, b, at, end)
    while at >= 0:
        total += 1
        at = found(a, b, at + len(b), end)
    return total


def startswith(a, b, start=None, stop=None):
    first = 0 if start is None else bound(start, len(a))
    end = len(a) if stop is None else min(bound(stop, len(a)), len(a))
    return first + len(b) <= end and equal(a[first : first + len(b)], b)


def endswith(a, b, start=None, stop=None):
    first = 0 if start is None else bound(start, len(a))
    end = len(a) if stop is None else min(bound(stop, len(a)), len(a))
    return first + len(b) <= end and equal(a[end - len(b) : end], b)


# --- what is made of a text ---------------------------------------------------------------------------------


def is_in(c, chars):
    if chars is None:
        return is_space(c)
    for k in range(len(chars)):
        if chars[k] == c:
            return True
    return False


def left_end(a, chars):
    i = 0
    while i < len(a) and is_in(a[i], chars):
        i += 1
    return i


def right_end(a, chars):
    i = len(a)
    while i > 0 and is_in(a[i - 1], chars):
        i -= 1
    return i


def strip(a, chars=None):
    first = left_end(a, chars)
    return a[first : max(first, right_end(a, chars))]


def lstrip(a, chars=None):
    return a[left_end(a, chars) :]


def rstrip(a, chars=None):
    return a[: right_end(a, chars)]


def removeprefix(a, b):
    return a[len(b) :] if startswith(a, b) else a[0:]


def removesuffix(a, b):
    return a[: len(a) - len(b)] if endswith(a, b) else a[0:]


def filled(a, width, left, right, fill):
    made = numpy._new_text(left + len(a) + right)
    made[:left] = fill[0]
    made[left : left + len(a)] = a
    made[left + len(a) :] = fill[0]
    return made


def blank(fill):
    if fill is None:
        made = numpy._new_text(1)
        made[0] = 32
        return made
    if len(fill) != 1:
        raise TypeError("The fill character must be exactly one character long")
    return fill[0:]


def ljust(a, width, fill=None):
    return filled(a, width, 0, max(width - len(a), 0), blank(fill))


def rjust(a, width, fill=None):
    return filled(a, width, max(width - len(a), 0), 0, blank(fill))


def center(a, width, fill=None):
    margin = max(width - len(a), 0)
    left = margin // 2 + (margin & width & 1)
    return filled(a, width, left, margin - left, blank(fill))


def zfill(a, width):
    made = numpy._new_text(max(width, len(a)))
    zeros = len(made) - len(a)
    made[:zeros] = 48
    made[zeros:] = a
    if zeros > 0 and len(a) > 0 and (a[0] == 43 or a[0] == 45):
        made[0] = a[0]
        made[zeros] = 48
    return made


def replace(a, old, new, count=-1):
    times = 0
    at = 0
    if len(old) == 0:
        times = len(a) + 1
        if 0 <= count < times:
            times = count
        made = numpy._new_text(len(a) + times * len(new))
        end = 0
        for i in range(len(a) + 1):
            if i < times:
                made[end : end + len(new)] = new
                end += len(new)
            if i < len(a):
                made[end] = a[i]
                end += 1
        return made
    at = found(a, old, 0, len(a))
    while at >= 0 and (count < 0 or times < count):
        times += 1
        at = found(a, old, at + len(old), len(a))
    made = numpy._new_text(len(a) + times * (len(new) - len(old)))
    end = 0
    start = 0
    for _ in range(times):
        at = found(a, old, start, len(a))
        made[end : end + at - start] = a[start:at]
        end += at - start
        made[end : end + len(new)] = new
        end += len(new)
        start = at + len(old)
    made[end:] = a[start:]
    return made


def split(a, sep=None, maxsplit=-1):
    parts = []
    if sep is None:
        i = left_end(a, None)
        while i < len(a) and (maxsplit < 0 or len(parts) < maxsplit):
            k = i
            while k < len(a) and not is_space(a[k]):
                k += 1
            parts.append(numpy._text_of(a[i:k]))
            i = k
            while i < len(a) and is_space(a[i]):
                i += 1
        if i < len(a):
            parts.append(numpy._text_of(a[i : max(i, right_end(a, None))]))
        return parts
    if len(sep) == 0:
        raise ValueError("empty separator")
    start = 0
    at = found(a, sep, 0, len(a))
    while at >= 0 and (maxsplit < 0 or len(parts) < maxsplit):
        parts.append(numpy._text_of(a[start:at]))
        start = at + len(sep)
        at = found(a, sep, start, len(a))
    parts.append(numpy._text_of(a[start:]))
    return parts


def splitlines(a):
    parts = []
    start = 0
    i = 0
    while i < len(a):
        c = a[i]
        if 10 <= c <= 13 or 28 <= c <= 30 or c == 133 or c == 8232 or c == 8233:
            parts.append(numpy._text_of(a[start:i]))
            if c == 13 and i + 1 < len(a) and a[i + 1] == 10:
                i += 1
            start = i + 1
        i += 1
    if start < len(a):
        parts.append(numpy._text_of(a[start:]))
    return parts


def join(a, items):
    total = 0
    count = 0
    for item in items:
        total += len(item)
        count += 1
    made = numpy._new_text(total + max(count - 1, 0) * len(a))
    end = 0
    first = True
    for item in items:
        if not first:
            made[end : end + len(a)] = a
            end += len(a)
        first = False
        points = numpy._points_of(item)
        made[end : end + len(points)] = points
        end += len(points)
    return made


# --- numbers of texts ---------------------------------------------------------------------------------------


def integer(a):
    i = left_end(a, None)
    end = right_end(a, None)
    negative = False
    if i < end and (a[i] == 43 or a[i] == 45):
        negative = a[i] == 45
        i += 1
    good = i < end and a[end - 1] != 95
    value = 0
    after_digit = False
    while good and i < end:
        c = a[i]
        if c == 95 and after_digit:
            after_digit = False
        elif is_digit(c):
            digit = int(c) - 48
            if value < -922337203685477580 or (
                value == -922337203685477580 and digit > (8 if negative else 7)
            ):
                raise OverflowError("the integer does not fit in 64 bits")
            value = value * 10 - digit
            after_digit = True
        else:
            good = False
        i += 1
    if not good:
        raise ValueError(f"invalid literal for int() with base 10: {numpy._text_of(a)!r}")
    return value if negative else -value


def real(a):
    made = numpy.empty(1)
    if numpy._engine_number_of_text(made, a) != 0:
        raise ValueError(f"could not convert string to float: {numpy._text_of(a)!r}")
    return made[0]
