"""What random orders and choices are made of for weft.jit, in the Python that it compiles; see of_math.py."""

import numpy


def take(values, order, out):
    for i in range(len(order)):
        out[i] = values[order[i]]


def choice(seq):
    if len(seq) == 0:
        raise IndexError("Cannot choose from an empty sequence")
    return seq[numpy._engine_python_below(len(seq))]


def sample(population, k):
    if k < 0 or k > len(population):
        raise ValueError("Sample larger than population or is negative")
    order = numpy.empty(k, numpy.int64)
    numpy._engine_python_sample(order, len(population))
    return [population[i] for i in order]


def choices(population, k):
    order = numpy.empty(max(k, 0), numpy.int64)
    numpy._engine_python_choices(order, len(population))
    return [population[i] for i in order]


def choices_by_sums(population, sums, k):
    if len(sums) != len(population):
        raise ValueError("The number of weights does not match the population")
    if len(sums) == 0:
        raise IndexError("list index out of range")
    order = numpy.empty(max(k, 0), numpy.int64)
    numpy._engine_python_weighted(order, sums)
    return [population[i] for i in order]


def weighted_choices(population, weights, k):
    sums = numpy.empty(len(weights))
    total = 0.0
    for i in range(len(weights)):
        total += weights[i]
        sums[i] = total
    return choices_by_sums(population, sums, k)
