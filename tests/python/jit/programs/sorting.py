"""Sorting and searching in arrays."""

import numpy as np


def shuffled(size):
    return (np.random.default_rng(1).permutation(size).astype(np.float64),)


def quicksort(a, stack):
    top = 0
    stack[0], stack[1] = 0, len(a) - 1
    while top >= 0:
        low, high = stack[2 * top], stack[2 * top + 1]
        top -= 1
        if low >= high:
            continue
        pivot = a[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while a[i] < pivot:
                i += 1
            while a[j] > pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        if j - low > high - i:  # the longer side waits, so that the stack stays small
            stack[2 * top + 2], stack[2 * top + 3] = low, j
            stack[2 * top + 4], stack[2 * top + 5] = i, high
        else:
            stack[2 * top + 2], stack[2 * top + 3] = i, high
            stack[2 * top + 4], stack[2 * top + 5] = low, j
        top += 2


def quicksort_arguments(size):
    return np.random.default_rng(2).integers(0, size, size).astype(np.float64), np.zeros(256, np.int64)


def recursive_quicksort(a, low, high):
    if low >= high:
        return
    pivot = a[(low + high) // 2]
    i, j = low, high
    while i <= j:
        while a[i] < pivot:
            i += 1
        while a[j] > pivot:
            j -= 1
        if i <= j:
            a[i], a[j] = a[j], a[i]
            i, j = i + 1, j - 1
    recursive_quicksort(a, low, j)
    recursive_quicksort(a, i, high)


def recursive_quicksort_arguments(size):
    return np.random.default_rng(3).random(size), 0, size - 1


def sift_down(a, root, end):
    while 2 * root + 1 < end:
        child = 2 * root + 1
        if child + 1 < end and a[child] < a[child + 1]:
            child += 1
        if a[root] >= a[child]:
            return
        a[root], a[child] = a[child], a[root]
        root = child


def heap_sort(a):
    n = len(a)
    for root in range(n // 2 - 1, -1, -1):
        sift_down(a, root, n)
    for end in range(n - 1, 0, -1):
        a[0], a[end] = a[end], a[0]
        sift_down(a, 0, end)


def insertion_sort(a):
    moved = 0
    for i in range(1, len(a)):
        x = a[i]
        j = i - 1
        while j >= 0 and a[j] > x:
            a[j + 1] = a[j]
            j -= 1
            moved += 1
        a[j + 1] = x
    return moved


def merge_sort(a, spare):
    n = len(a)
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle = min(start + width, n)
            end = min(start + 2 * width, n)
            i, j = start, middle
            for k in range(start, end):
                if i < middle and (j >= end or a[i] <= a[j]):
                    spare[k] = a[i]
                    i += 1
                else:
                    spare[k] = a[j]
                    j += 1
        for k in range(n):
            a[k] = spare[k]
        width *= 2


def merge_sort_arguments(size):
    return np.random.default_rng(4).random(size), np.zeros(size)


def binary_search(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) >> 1
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


def many_searches(a, wanted, found):
    for i in range(len(wanted)):
        found[i] = binary_search(a, wanted[i])


def many_searches_arguments(size):
    random = np.random.default_rng(5)
    return np.sort(random.random(size)), random.random(size), np.zeros(size, np.int64)


def counting_sort(a, counts, out):
    for x in a:
        counts[x] += 1
    at = 0
    for value in range(len(counts)):
        for _ in range(counts[value]):
            out[at] = value
            at += 1
    return at


def counting_sort_arguments(size):
    a = np.random.default_rng(6).integers(0, 256, size).astype(np.uint8)
    return a, np.zeros(256, np.int64), np.zeros_like(a)


PROGRAMS = {
    "quicksort": (quicksort, quicksort_arguments, 150, 400_000),
    "recursive_quicksort": (recursive_quicksort, recursive_quicksort_arguments, 100, 400_000),
    "heap_sort": (heap_sort, shuffled, 100, 300_000),
    "insertion_sort": (insertion_sort, shuffled, 40, 8_000),
    "merge_sort": (merge_sort, merge_sort_arguments, 100, 400_000),
    "many_searches": (many_searches, many_searches_arguments, 60, 200_000),
    "counting_sort": (counting_sort, counting_sort_arguments, 300, 2_000_000),
}
