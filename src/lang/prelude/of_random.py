"""What random orders are made of for weft.jit, in the Python that it compiles; see of_math.py."""


def take(values, order, out):
    for i in range(len(order)):
        out[i] = values[order[i]]
