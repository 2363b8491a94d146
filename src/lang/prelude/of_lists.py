"""What Python does with lists for weft.jit, in the Python that it compiles; see of_math.py."""


def copy(items):
    result = []
    for x in items:
        result.append(x)
    return result


def extend(items, more):
    for k in range(len(more)):  # of the list itself, too
        items.append(more[k])


def extend_by(items, more):
    for x in more:
        items.append(x)


def expect_length(items, wanted):
    count = len(items)
    if count < wanted:
        raise ValueError(f"not enough values to unpack (expected {wanted}, got {count})")
    if count > wanted:
        raise ValueError(f"too many values to unpack (expected {wanted})")


def clear(items):
    for _ in range(len(items)):
        items.pop()


def pop(items, index):
    count = len(items)
    if count == 0:
        raise IndexError("pop from empty list")
    if index < 0:
        index += count
    if index < 0 or index >= count:
        raise IndexError("pop index out of range")
    result = items[index]
    delete(items, index)
    return result


def delete(items, index):
    for k in range(index + 1, len(items)):
        items[k - 1] = items[k]
    items.pop()


def delete_range(items, start, count, step):
    if count == 0:
        return
    if step < 0:
        start += (count - 1) * step
        step = -step
    to = start
    for k in range(start, len(items)):
        if (k - start) % step != 0 or k >= start + count * step:
            items[to] = items[k]
            to += 1
    for _ in range(len(items) - to):
        items.pop()


def insert(items, index, x):
    count = len(items)
    if index < 0:
        index = max(index + count, 0)
    items.append(x)
    k = count
    while k > index:
        items[k] = items[k - 1]
        k -= 1
    if index < count:
        items[index] = x


def index(items, x, start=0, stop=9223372036854775807):
    count = len(items)
    if start < 0:
        start = max(start + count, 0)
    if stop < 0:
        stop = max(stop + count, 0)
    k = start
    while k < stop and k < len(items):
        if items[k] == x:
            return k
        k += 1
    raise ValueError("list.index(x): x not in list")


def remove(items, x):
    for k in range(len(items)):
        if items[k] == x:
            delete(items, k)
            return
    raise ValueError("list.remove(x): x not in list")


def count(items, x):
    result = 0
    for item in items:
        if item == x:
            result += 1
    return result


def contains(items, x):
    for item in items:
        if item == x:
            return True
    return False


def reverse(items):
    last = len(items) - 1
    for k in range(len(items) // 2):
        x = items[k]
        items[k] = items[last - k]
        items[last - k] = x


def slice(items, start, count, step):
    result = []
    for k in range(count):
        result.append(items[start + k * step])
    return result


def replace(items, start, count, values):
    given = copy(values)
    tail = slice(items, start + count, len(items) - start - count, 1)
    for _ in range(len(items) - start):
        items.pop()
    extend(items, given)
    extend(items, tail)


def replace_each(items, start, count, step, values):
    if step == 1:
        replace(items, start, count, values)
        return
    given = copy(values)
    if len(given) != count:
        raise ValueError(f"attempt to assign sequence of size {len(given)} to extended slice of size {count}")
    for k in range(count):
        items[start + k * step] = given[k]


def concatenate(left, right):
    result = copy(left)
    extend(result, right)
    return result


def repeat(result, items, times):
    for _ in range(times):
        for x in items:
            result.append(x)


def multiply(items, times):
    if times <= 0:
        clear(items)
        return
    count = len(items)
    for _ in range(times - 1):
        for k in range(count):
            items.append(items[k])


def equal(left, right):
    if len(left) != len(right):
        return False
    for k in range(len(left)):
        if not left[k] == right[k]:
            return False
    return True


def less(left, right):
    for k in range(min(len(left), len(right))):
        if not left[k] == right[k]:
            return bool(left[k] < right[k])
    return len(left) < len(right)


def less_equal(left, right):
    for k in range(min(len(left), len(right))):
        if not left[k] == right[k]:
            return bool(left[k] <= right[k])
    return len(left) <= len(right)


def lists_of(rows):
    result = []
    for row in rows:
        result.append(copy(row))
    return result


def length_of_rows(rows):
    if len(rows) == 0:
        return 0
    count = len(rows[0])
    for row in rows:
        if len(row) != count:
            raise ValueError("the rows of an array have one length")
    return count


def flattened(rows):
    result = []
    for row in rows:
        for x in row:
            result.append(x)
    return result


def fill(array, items):
    for k in range(len(array)):
        array[k] = items[k]


def fill_rows(array, rows):
    for i in range(array.shape[0]):
        row = rows[i]
        for k in range(array.shape[1]):
            array[i, k] = row[k]


def precedes(x, y):
    return bool(x < y)


def merge_sort(items, before):
    count = len(items)
    width = 16
    for start in range(0, count, width):
        for k in range(start + 1, min(start + width, count)):
            x = items[k]
            at = k
            while at > start and before(x, items[at - 1]):
                items[at] = items[at - 1]
                at -= 1
            items[at] = x
    if width >= count:
        return
    beside = copy(items)
    while width < count:
        for start in range(0, count, 2 * width):
            left = start
            middle = min(start + width, count)
            right = middle
            stop = min(start + 2 * width, count)
            for k in range(start, stop):  # of equal elements the left ones come first
                if left < middle and (right >= stop or not before(items[right], items[left])):
                    beside[k] = items[left]
                    left += 1
                else:
                    beside[k] = items[right]
                    right += 1
        for k in range(count):
            items[k] = beside[k]
        width *= 2


def sort(items, descending):
    if descending:
        reverse(items)
    merge_sort(items, precedes)
    if descending:
        reverse(items)


def sort_by(items, key, descending):
    keys = []
    for x in items:
        keys.append(key(x))
    count = len(items)
    if descending:
        reverse(items)
        reverse(keys)
    order = list(range(count))
    merge_sort(order, lambda i, j: precedes(keys[i], keys[j]))
    given = copy(items)
    for k in range(count):
        items[k] = given[order[k]]
    if descending:
        reverse(items)
