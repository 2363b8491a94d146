"""Arrays in asyncio: observed by executors, by several loops, in tasks with settings of their own."""

import asyncio
import concurrent.futures
import threading

import numpy
import pytest
import weft

N = 40_000
VALUES = numpy.arange(float(N))


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 100))


def total(x):
    return float(x.sum())


def test_the_default_executor_observes_what_the_loop_records():
    async def main():
        loop = asyncio.get_running_loop()
        arrays = [weft.arange(float(N)) * k - 1 for k in range(24)]
        found = await asyncio.gather(*(loop.run_in_executor(None, numpy.asarray, x) for x in arrays))
        for k in range(24):
            assert numpy.array_equal(found[k], VALUES * k - 1)

    run(main())


def test_to_thread_on_one_pending_array():
    async def main():
        shared = weft.sqrt(weft.arange(float(N)))
        found = await asyncio.gather(*(asyncio.to_thread(numpy.asarray, shared + k) for k in range(16)))
        for k in range(16):
            assert numpy.array_equal(found[k], numpy.sqrt(VALUES) + k)

    run(main())


def test_the_loop_goes_on_while_a_thread_computes():
    def compute(x):
        for _ in range(20):
            x = weft.sin(weft.sqrt(x * x + 0.5))
            weft.eval(x)
        return x

    async def main():
        x = weft.linspace(0.5, 1, 1500 * 1500).reshape(1500, 1500)
        ticks = 0
        work = asyncio.ensure_future(asyncio.to_thread(compute, x))
        while not work.done():
            await asyncio.sleep(0.001)
            ticks += 1
        x = await work
        assert ticks >= 2
        return float(x[0, 0])

    assert 0 < run(main()) < 1


def test_results_recorded_in_threads_are_joined_in_the_loop():
    async def main():
        with concurrent.futures.ThreadPoolExecutor(4) as executor:
            loop = asyncio.get_running_loop()
            parts = await asyncio.gather(
                *(loop.run_in_executor(executor, lambda k=k: weft.arange(float(N)) + k) for k in range(12))
            )
        joined = weft.concatenate([part[: 10 + k] for k, part in enumerate(parts)])
        expected = numpy.concatenate([(VALUES + k)[: 10 + k] for k in range(12)])
        assert numpy.array_equal(numpy.asarray(joined), expected)

    run(main())


def test_several_loops_share_an_array():
    shared = weft.arange(float(N)) * 2
    found, failures = [], []

    async def main(number):
        for turn in range(5):
            part = shared * turn + number
            await asyncio.sleep(0)
            found.append((await asyncio.to_thread(total, part), float((VALUES * 2 * turn + number).sum())))

    def in_thread(number):
        try:
            run(main(number))
        except BaseException as error:  # raised again by the main thread
            failures.append(error)

    threads = [threading.Thread(target=in_thread, args=(number,), daemon=True) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    if failures:
        raise failures[0]
    assert len(found) == 30
    for one, expected in found:
        assert one == expected


def test_each_task_has_its_own_errstate():
    zeros = weft.zeros(N)

    async def raising():
        with weft.errstate(divide="raise"):
            for _ in range(4):
                await asyncio.sleep(0)
                with pytest.raises(FloatingPointError, match="divide by zero"):
                    weft.eval(1 / zeros)
                with pytest.raises(FloatingPointError):
                    await asyncio.to_thread(lambda: weft.eval(1 / zeros))  # takes the context along

    async def silent():
        for _ in range(6):
            await asyncio.sleep(0)
            assert numpy.isinf(numpy.asarray(1 / zeros)).all()
            assert weft.geterr()["divide"] != "raise"

    async def main():
        await asyncio.gather(raising(), silent(), raising(), silent())
        assert weft.geterr()["divide"] != "raise"

    run(main())


def test_a_cancelled_task_leaves_arrays_as_they_are():
    async def main():
        x = weft.arange(float(N)) + 1

        async def work():
            y = x * 3
            await asyncio.sleep(3600)
            return y

        tasks = [asyncio.create_task(work()) for _ in range(8)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results)
        assert numpy.array_equal(numpy.asarray(x), VALUES + 1)

    run(main())


def test_waiting_for_what_takes_too_long_ends_while_the_thread_goes_on():
    async def main():
        x = weft.ones((1000, 1000))
        for _ in range(10):
            x = weft.cos(x)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.to_thread(lambda: (done.wait(100), weft.eval(x))), 0.01)
        done.set()
        return x

    done = threading.Event()
    expected = numpy.cos(1.0)
    for _ in range(9):
        expected = numpy.cos(expected)
    found = run(main())
    assert abs(float(found[7, 8]) - expected) < 1e-15


def test_errors_reach_the_task_that_waits():
    async def main():
        with pytest.raises(ValueError, match="broadcast"):
            await asyncio.to_thread(lambda: weft.ones(3) + weft.ones(4))
        with pytest.raises(IndexError):
            await asyncio.to_thread(lambda: weft.ones(3)[5])
        return await asyncio.to_thread(total, weft.ones(N))

    assert run(main()) == N
