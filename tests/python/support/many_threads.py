"""Running one function in many threads at once, for the tests of threads."""

import threading

THREADS = 32
SECONDS = 120  # for all threads of a test; more is a deadlock


def in_threads(work, count=THREADS):
    """work(0), ..., work(count - 1), each in a thread of its own that starts with the others; what they return."""
    results, failures = [None] * count, []
    start = threading.Barrier(count)

    def run(number):
        try:
            start.wait(SECONDS)
            results[number] = work(number)
        except BaseException as error:  # raised again by the main thread
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=SECONDS)
    assert not any(thread.is_alive() for thread in threads), "threads wait for each other"
    if failures:
        raise failures[0]
    return results
