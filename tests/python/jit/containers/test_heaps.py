"""heapq in compiled functions: the lists that CPython's makes."""

import heapq
import random

import pytest
import weft as np


def sorted_by_heap(items, more):
    heap = []
    for x in items:
        heapq.heappush(heap, x)
    made = items[:]
    heapq.heapify(made)
    told = [heapq.heappushpop(made, x) for x in more] + [heapq.heapreplace(made, x) for x in more]
    return heap[:], made, told, [heapq.heappop(heap) for _ in range(len(heap))]


@pytest.mark.parametrize("pairs", [False, True])
def test_heaps_are_those_of_python(pairs):
    chance = random.Random(3)
    compiled = np.jit(sorted_by_heap)
    for count in (1, 2, 5, 40):
        items = [(chance.randrange(9) / 2, k) if pairs else chance.randrange(20) for k in range(count)]
        more = [(chance.random(), k) if pairs else chance.randrange(20) for k in range(5)]
        assert compiled(items, more) == sorted_by_heap(items, more)


def test_an_empty_heap_has_nothing_to_pop():
    def popped(n):
        heap = list(range(n))
        return heapq.heappop(heap) + heapq.heappop(heap)

    assert np.jit(popped)(2) == 1
    with pytest.raises(IndexError):
        np.jit(popped)(1)
