"""What NumPy does with counts of datetime64 and timedelta64, in the Python that weft.jit compiles; see of_math.py.

The least int64 is no time. lang/dates/ tells units and kinds apart before.
"""


def is_none(x):
    return x == -9223372036854775807 - 1


def is_some(x):
    return x != -9223372036854775807 - 1


def none():
    return -9223372036854775807 - 1


def finer(x, factor):
    return x if is_none(x) else x * factor


def coarser(x, factor):
    return x if is_none(x) else x // factor


def days_of_months(x):
    """Days from 1970 to the first of a month, by years that begin in March."""
    if is_none(x):
        return x
    year, month = 1970 + x // 12, x % 12 + 1
    if month <= 2:
        year -= 1
    era = year // 400
    of_era = year - 400 * era
    of_year = (153 * ((month + 9) % 12) + 2) // 5
    return 146097 * era + 365 * of_era + of_era // 4 - of_era // 100 + of_year - 719468


def months_of_days(x):
    if is_none(x):
        return x
    days = x + 719468
    era = days // 146097
    of_era = days - 146097 * era
    years = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * years + years // 4 - years // 100)
    month = (5 * of_year + 2) // 153
    year = years + 400 * era + (1 if month >= 10 else 0)
    return 12 * (year - 1970) + (month + 2) % 12


def add(x, y):
    return none() if is_none(x) or is_none(y) else x + y


def subtract(x, y):
    return none() if is_none(x) or is_none(y) else x - y


def multiply_whole(x, y):
    return x if is_none(x) else x * y


def truncated(x):
    return int(x) if -9223372036854775808.0 <= x < 9223372036854775808.0 else none()


def multiply(x, y):
    return x if is_none(x) else truncated(x * y)


def divide_whole(x, y):
    if is_none(x) or y == 0:
        return none()
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def divide(x, y):
    return none() if is_none(x) or y == 0 else truncated(x / y)


def ratio(x, y):
    if is_none(x) or is_none(y) or (x == 0 and y == 0):
        return float("nan")
    if y == 0:
        return float("inf") if x > 0 else -float("inf")
    return x / y


def floor_divide(x, y):
    return 0 if is_none(x) or is_none(y) or y == 0 else x // y


def remainder(x, y):
    return none() if is_none(x) or is_none(y) or y == 0 else x % y


def negative(x):
    return x if is_none(x) else -x


def absolute(x):
    return -x if x < 0 and is_some(x) else x


def sign(x):
    return -1 if x < 0 else 1 if x > 0 else 0


def equal(x, y):
    return x == y and is_some(x)


def not_equal(x, y):
    return x != y or is_none(x)


def less(x, y):
    return x < y and is_some(x)


def less_equal(x, y):
    return x <= y and is_some(x)


def greater(x, y):
    return x > y and is_some(y)


def greater_equal(x, y):
    return x >= y and is_some(y)


def maximum(x, y):
    return none() if is_none(x) or is_none(y) else max(x, y)


def minimum(x, y):
    return min(x, y)


def fmax(x, y):
    return max(x, y)


def fmin(x, y):
    return y if is_none(x) else x if is_none(y) else min(x, y)


def last(x):
    """In whose order what is no time is the last."""
    return x - 1 if is_some(x) else 9223372036854775807


def from_last(x):
    return none() if x == 9223372036854775807 else x + 1


def or_none(is_there, x):
    return x if is_there else none()


def median(values):
    """Of a sorted array in the order of last()."""
    count = len(values)
    if count == 0:
        return none()
    if values[count - 1] == 9223372036854775807:
        return none()
    high = values[count // 2] + 1
    return high if count % 2 == 1 else divide_whole(values[count // 2 - 1] + 1 + high, 2)


def one(x):
    return 1


def unless_any(missing, x):
    return x if missing == 0 else none()
