"""The heaps of heapq for weft.jit, in the Python that it compiles; see of_math.py. Lists come out as CPython's do."""


def to_root(heap, start, at):
    """Moves the item at `at` towards `start`, while it is less than the one above."""
    item = heap[at]
    while at > start:
        above = (at - 1) >> 1
        if not item < heap[above]:
            break
        heap[at] = heap[above]
        at = above
    heap[at] = item


def to_leaves(heap, at):
    """Moves the lesser child up until there is none, then the item up to where it belongs."""
    start = at
    count = len(heap)
    item = heap[at]
    child = 2 * at + 1
    while child < count:
        if child + 1 < count and not heap[child] < heap[child + 1]:
            child += 1
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = item
    to_root(heap, start, at)


def heappush(heap, item):
    heap.append(item)
    to_root(heap, 0, len(heap) - 1)


def heappop(heap):
    if len(heap) == 0:
        raise IndexError("pop from empty list")
    last = heap.pop()
    if len(heap) == 0:
        return last
    first = heap[0]
    heap[0] = last
    to_leaves(heap, 0)
    return first


def heapify(x):
    for at in range(len(x) // 2 - 1, -1, -1):
        to_leaves(x, at)


def heapreplace(heap, item):
    if len(heap) == 0:
        raise IndexError("index out of range")
    first = heap[0]
    heap[0] = item
    to_leaves(heap, 0)
    return first


def heappushpop(heap, item):
    if len(heap) > 0 and heap[0] < item:
        first = heap[0]
        heap[0] = item
        to_leaves(heap, 0)
        return first
    return item
