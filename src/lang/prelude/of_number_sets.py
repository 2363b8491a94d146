"""What Python does with sets and dictionaries of numbers for weft.jit, in the Python that it compiles; see of_math.py.

A set is a list of its items, in the order they came, and a table: at the place of an item's hash, or behind it, stands
the item's number in the list, from 1. A dictionary has a list of values beside that of its keys.
"""


def home(x, mask):
    h = hash(x)
    return (h ^ (h >> 7) ^ (h >> 14) ^ (h >> 28)) & mask


def place(items, table, x):
    mask = len(table) - 1
    k = home(x, mask)
    while table[k] != 0 and items[table[k] - 1] != x:
        k = (k + 1) & mask
    return k


def grow(items, table):
    size = len(table)
    for k in range(size):
        table[k] = 0
        table.append(0)
    mask = 2 * size - 1
    for at in range(len(items)):
        k = home(items[at], mask)
        while table[k] != 0:
            k = (k + 1) & mask
        table[k] = at + 1


def add(items, table, x):
    k = place(items, table, x)
    if table[k] == 0:
        items.append(x)
        table[k] = len(items)
        if 2 * len(items) > len(table):
            grow(items, table)


def update(items, table, values):
    for x in values:
        add(items, table, x)


def make():
    items = []
    table = [0, 0, 0, 0, 0, 0, 0, 0]
    return items, table


def make_of(values):
    items = []
    table = [0, 0, 0, 0, 0, 0, 0, 0]
    for x in values:
        add(items, table, x)
    return items, table


def contains(items, table, x):
    return table[place(items, table, x)] != 0


def vacate(items, table, hole):
    mask = len(table) - 1
    k = (hole + 1) & mask
    while table[k] != 0:  # what stands behind moves up, if its place is not behind the hole
        if (k - home(items[table[k] - 1], mask)) & mask >= (k - hole) & mask:
            table[hole] = table[k]
            hole = k
        k = (k + 1) & mask
    table[hole] = 0


def discard(items, table, x):
    hole = place(items, table, x)
    at = table[hole]
    if at == 0:
        return False
    vacate(items, table, hole)
    mask = len(table) - 1
    count = len(items)
    last = items.pop()
    if at != count:  # the last one takes its place in the list
        items[at - 1] = last
        k = home(last, mask)
        while table[k] != count:
            k = (k + 1) & mask
        table[k] = at
    return True


def remove(items, table, x):
    if not discard(items, table, x):
        raise KeyError(x)


def pop(items, table):
    if len(items) == 0:
        raise KeyError("pop from an empty set")
    x = items[len(items) - 1]
    discard(items, table, x)
    return x


def clear(items, table):
    for _ in range(len(items)):
        items.pop()
    for k in range(len(table)):
        table[k] = 0


def intersection(items, table, others, other_table):
    kept = []
    kept_table = [0, 0, 0, 0, 0, 0, 0, 0]
    for x in items:
        if contains(others, other_table, x):
            add(kept, kept_table, x)
    return kept, kept_table


def difference(items, table, others, other_table):
    kept = []
    kept_table = [0, 0, 0, 0, 0, 0, 0, 0]
    for x in items:
        if not contains(others, other_table, x):
            add(kept, kept_table, x)
    return kept, kept_table


def union(items, table, others, other_table):
    kept = []
    kept_table = [0, 0, 0, 0, 0, 0, 0, 0]
    for x in items:
        add(kept, kept_table, x)
    for x in others:
        add(kept, kept_table, x)
    return kept, kept_table


def symmetric_difference(items, table, others, other_table):
    kept = []
    kept_table = [0, 0, 0, 0, 0, 0, 0, 0]
    for x in items:
        if not contains(others, other_table, x):
            add(kept, kept_table, x)
    for x in others:
        if not contains(items, table, x):
            add(kept, kept_table, x)
    return kept, kept_table


def intersection_update(items, table, others, other_table):
    for at in range(len(items) - 1, -1, -1):
        x = items[at]
        if not contains(others, other_table, x):
            discard(items, table, x)


def difference_update(items, table, others, other_table):
    for at in range(len(others) - 1, -1, -1):  # which may be the set itself
        discard(items, table, others[at])


def symmetric_difference_update(items, table, others, other_table):
    for at in range(len(others) - 1, -1, -1):
        x = others[at]
        if not discard(items, table, x):
            add(items, table, x)


def issubset(items, table, others, other_table):
    for x in items:
        if not contains(others, other_table, x):
            return False
    return True


def isdisjoint(items, table, others, other_table):
    for x in items:
        if contains(others, other_table, x):
            return False
    return True


def make_dict():
    keys = []
    values = []
    table = [0, 0, 0, 0, 0, 0, 0, 0]
    return keys, table, values


def make_dict_of(key, value):
    """An empty one, of such keys and values."""
    keys = [key]
    values = [value]
    table = [0, 0, 0, 0, 0, 0, 0, 0]
    keys.pop()
    values.pop()
    return keys, table, values


def put(keys, table, values, key, value):
    k = place(keys, table, key)
    if table[k] == 0:
        keys.append(key)
        values.append(value)
        table[k] = len(keys)
        if 2 * len(keys) > len(table):
            grow(keys, table)
    else:
        values[table[k] - 1] = value


def number_of(keys, table, key):
    at = table[place(keys, table, key)]
    if at == 0:
        raise KeyError(key)
    return at - 1


def value_or(keys, table, values, key, otherwise):
    at = table[place(keys, table, key)]
    if at == 0:
        return otherwise
    return values[at - 1]


def set_default(keys, table, values, key, value):
    at = table[place(keys, table, key)]
    if at == 0:
        put(keys, table, values, key, value)
        return value
    return values[at - 1]


def take_out(keys, table, values, key):
    """The keys behind it move up, so that they keep their order."""
    hole = place(keys, table, key)
    at = table[hole]
    vacate(keys, table, hole)
    if at != len(keys):
        for k in range(len(table)):
            if table[k] > at:
                table[k] -= 1
    del keys[at - 1]
    del values[at - 1]


def take_value(keys, table, values, key):
    value = values[number_of(keys, table, key)]
    take_out(keys, table, values, key)
    return value


def take_value_or(keys, table, values, key, otherwise):
    if table[place(keys, table, key)] == 0:
        return otherwise
    value = values[number_of(keys, table, key)]
    take_out(keys, table, values, key)
    return value


def take_last(keys, table, values):
    if len(keys) == 0:
        raise KeyError("popitem(): dictionary is empty")
    key = keys[len(keys) - 1]
    value = values[len(values) - 1]
    take_out(keys, table, values, key)
    return key, value


def clear_dict(keys, table, values):
    clear(keys, table)
    values.clear()


def put_all(keys, table, values, more_keys, more_values):
    for k in range(len(more_keys)):
        put(keys, table, values, more_keys[k], more_values[k])


def put_pairs(keys, table, values, pairs):
    for key, value in pairs:
        put(keys, table, values, key, value)


def equal_dicts(keys, table, values, others, other_table, other_values):
    if len(keys) != len(others):
        return False
    for k in range(len(keys)):
        at = other_table[place(others, other_table, keys[k])]
        if at == 0 or other_values[at - 1] != values[k]:
            return False
    return True
