"""Functions are described by several threads at once."""

import threading

from weft._jit import _describe, describe


def test_threads_describe_one_function():
    def f(a):
        total = 0
        for i in range(10):
            total += a * i
        return total

    found, errors = [], []

    def work():
        try:
            for _ in range(20):
                _describe._known.clear()
                found.append(describe(f).tree)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(found) == 320
    assert len(set(found)) == 1
