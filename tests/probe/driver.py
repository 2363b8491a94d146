"""Calls of the GPU driver that fail, one after another, at each stage of programs (driver_programs.py).

The k-th call, of all or of one function, of CUDA's driver, cuBLAS, cuFFT or cuSOLVER, gives an error, once or from
then on (tests/fake_driver). The process must live and end; the only exceptions are DeviceError and MemoryError; what
the program holds is as many steps old as came to their end, and the same program gives the right results when the
driver answers again. After an error that CUDA does not recover from, each use of that device says so, while the
host's arrays and the other device work. Nothing leaks: the driver's memory and objects are as many as without
failures.
"""

import contextlib
import ctypes
import gc
import importlib.util
import os
import pathlib
import random
import re
import signal
import sys
import traceback
import weakref

import cases
import driver_programs
import numpy

FULL = 20_000
BATCH = 3000
SAMPLE = 10
PATIENCE = 120.0
LONGEST = 60  # seconds an attempt may take

# CUresult; those of the second line ruin a context.
PASSING = {
    "INVALID_VALUE": 1, "OUT_OF_MEMORY": 2, "NOT_INITIALIZED": 3, "NO_DEVICE": 100, "INVALID_IMAGE": 200,
    "INVALID_PTX": 218, "NOT_SUPPORTED": 801, "SYSTEM_DRIVER_MISMATCH": 803, "UNKNOWN": 999,
}  # fmt: skip
RUINING = {"ECC_UNCORRECTABLE": 214, "ILLEGAL_ADDRESS": 700, "LAUNCH_TIMEOUT": 702, "LAUNCH_FAILED": 719}
RESULTS = {**PASSING, **RUINING}
# cublasStatus_t: not initialized, allocation failed, invalid value, execution failed, internal, not supported; what
# cuSOLVER and cuFFT call an allocation that failed is the second
STATUSES = [1, 2, 3, 7, 13, 14, 15]

# How a program runs, and from when on calls fail: before the driver is opened, or after it has run some times.
WAYS = {
    "lazy": {}, "compiled": {"small": 0}, "eager": {"eager": True}, "naive": {"fuse": False, "small": 0},
}  # fmt: skip
MOMENTS = {"cold": 0, "new": 0, "warm": 1, "repeated": 3, "exit": 1}


def fake_driver_path():
    package = importlib.util.find_spec("weft")
    return pathlib.Path(package.origin).parents[2] / "bin" / "libweft_fake_driver.so"


def environment():
    return {
        "WEFT_CUDA_DRIVER": str(fake_driver_path()),
        "CUDA_HOME": str(fake_driver_path().parent / "fake_driver_toolkit"),
        "WEFT_NUM_THREADS": "2", "WEFT_DEVICE": "", "WEFT_FAKE_DRIVER_MEMORY": str(1 << 30),
    }  # fmt: skip


def case(seed, number):
    draw = random.Random(seed * 1_000_003 + number)
    name = draw.choice(list(driver_programs.PROGRAMS))
    way = draw.choice(list(WAYS))
    moment = draw.choice(["cold", "new", "warm", "warm", "repeated", "repeated", "exit"])
    by_function = draw.random() < 0.7
    which, place = round(draw.random(), 6), round(draw.random(), 6)
    result = draw.choice([*PASSING, *PASSING, *RUINING])
    status = draw.choice(STATUSES)
    for_ever = draw.random() < 0.4
    call = (
        f"driver.attempt({name!r}, {way!r}, {moment!r}, {which if by_function else None}, {place}, "
        f"{result!r}, {status}, {for_ever})"
    )
    return cases.Case(["import driver", call], 2)


class FakeDriver:
    """The controls that the fake driver exports."""

    def __init__(self):
        library = ctypes.CDLL(str(fake_driver_path()))
        self.fail = library.weft_fake_driver_fail
        self.fail.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_int, ctypes.c_int]
        self.succeed, self.forget = library.weft_fake_driver_succeed, library.weft_fake_driver_forget
        self.failed = library.weft_fake_driver_failed_calls
        self.fault = library.weft_fake_driver_fault
        self.write_kernels = lambda path: library.weft_fake_driver_write_kernels(path.encode())
        self.compile_kernels = lambda path: library.weft_fake_driver_compile_kernels(path.encode())
        library.weft_fake_driver_log.restype = ctypes.c_char_p
        self.log = lambda: library.weft_fake_driver_log().decode().split()
        library.weft_fake_driver_live_bytes.restype = library.weft_fake_driver_live_objects.restype = (
            ctypes.c_int64
        )
        self.live = lambda: [
            library.weft_fake_driver_live_bytes(0), library.weft_fake_driver_live_bytes(1),
            library.weft_fake_driver_live_objects(),
        ]  # fmt: skip


class Held:
    """An array of a program, and how many steps that change it came to their end."""

    def __init__(self, array, place, copies):
        self.array, self.place, self.steps, self.copies = array, place, 0, copies
        self.states = [numpy.array(array)] if copies else None

    def done(self):
        self.steps += 1
        if self.copies:
            self.states.append(numpy.array(self.array))


class Stream:
    """A random stream of a program, and its states after each draw."""

    def __init__(self, generator):
        self.generator, self.draws = generator, 0
        self.states = [self.state()]

    def state(self):
        return repr(self.generator.bit_generator.state)

    def draw(self, name, *arguments, **options):
        numbers = getattr(self.generator, name)(*arguments, **options)
        self.draws += 1
        self.states.append(self.state())
        return numbers


class OnNumPy:
    """A program's side with NumPy: what it should give."""

    np, is_numpy = numpy, True

    def __init__(self):
        self.held, self.streams = [], []

    def hold(self, array, place=None):
        held = Held(array, len(self.held) if place is None else place, self.is_numpy)
        self.held.append(held)
        return held

    def rng(self, seed):
        stream = Stream(self.np.random.default_rng(seed))
        self.streams.append(stream)
        return stream

    def to(self, array, device):
        return array

    def shared(self, array, stream=None):
        return array

    def by_interface(self, array):
        return array

    def on(self, device):
        return contextlib.nullcontext()

    def config(self, **changes):
        return contextlib.nullcontext()

    def profile(self):
        return contextlib.nullcontext()

    def little_memory(self, size):
        return contextlib.nullcontext()

    def eval(self, *arrays):
        pass

    def ask(self):
        pass

    def fork(self, array):
        pass


class Foreign:
    """An array as another library's, which shows its memory one way only."""

    def __init__(self, array, way, stream=None):
        self.array, self.stream = array, stream
        if way == "interface":
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        options["stream"] = self.stream
        return self.array.__dlpack__(**options)


class OnGpu(OnNumPy):
    is_numpy = False

    def __init__(self, np):
        super().__init__()
        self.np = np

    def to(self, array, device):
        return array.to_device(device)

    def shared(self, array, stream=None):
        return self.np.from_dlpack(Foreign(array, "dlpack", stream and 1))

    def by_interface(self, array):
        return self.np.asarray(Foreign(array, "interface"), copy=False)

    def on(self, device):
        return self.np.device(device)

    def config(self, **changes):
        return self.np.config(**changes)

    def profile(self):
        return self.np.profile()

    def little_memory(self, size):
        return self.np.config(device_memory_limit=size)

    def eval(self, *arrays):
        self.np.eval(*arrays)

    def ask(self):
        self.np.memory_stats("cuda")
        self.np.synchronize("cuda")
        self.np.empty_pool("cuda")
        self.np.show_config("dicts")
        self.np.kernel_history()
        assert len(self.np.devices()) == 3

    def fork(self, array):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                message = error_of(lambda: (array + 1).tolist())
                sound = self.np.arange(5, device="cpu").sum() == 10
                status = 0 if "fork" in message and sound else 2
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status != 0:
            raise cases.Fault(f"the child of a fork ended with {status}")


def error_of(work):
    """The message of the DeviceError or MemoryError that the work ends with; empty where there is none."""
    import weft

    try:
        work()
    except (weft.DeviceError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"
    return ""


_expected = {}


def expected(name):
    if name not in _expected:
        side = OnNumPy()
        with numpy.errstate(all="ignore"):
            driver_programs.PROGRAMS[name](side, **driver_programs.inputs())
        _expected[name] = side
    return _expected[name]


def host_values(np, array):
    if isinstance(array, np.ndarray):
        array = array.to_device("cpu")
    return numpy.asarray(array)


def is_close(got, wanted):
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return False
    tolerance = {"float16": 2e-2, "float32": 1e-4, "complex64": 1e-4}.get(str(wanted.dtype), 1e-9)
    return numpy.allclose(got, wanted, rtol=tolerance, atol=tolerance, equal_nan=True)


class Run:
    """One run of a program on the fake driver."""

    def __init__(self, np, name, arrays):
        self.np, self.name, self.arrays = np, name, arrays
        self.side = OnGpu(np)
        self.failed = False

    def go(self):
        with self.np.device("cuda"):
            driver_programs.PROGRAMS[self.name](self.side, **self.arrays)
        self.read()

    def read(self):
        """What differs from what NumPy gives, of arrays and streams that the program came to."""
        wrong = []
        wanted = {held.place: held for held in expected(self.name).held}
        for held in self.side.held:
            states = wanted[held.place].states
            # A write into memory that others read may be done when the driver refuses to tell them
            # (docs/guide/gpus.md).
            late = held.steps + (2 if self.name == "shared" and self.failed else 1)
            got = host_values(self.np, held.array)
            if not any(is_close(got, state) for state in states[held.steps : late]):
                wrong.append(f"array {held.place} after {held.steps} steps is wrong")
        for stream, other in zip(self.side.streams, expected(self.name).streams, strict=False):
            if stream.state() != other.states[stream.draws]:
                wrong.append(f"the stream after {stream.draws} draws is wrong")
        self.wrong = wrong

    def whole(self):
        return len(self.side.held) == len(expected(self.name).held)


def on_gpu(np):
    return {key: np.asarray(value).to_device("cuda") for key, value in driver_programs.inputs().items()}


class Attempt:
    """What happens in the child process."""

    def __init__(self, name, way, moment, which, place, result, status, for_ever):
        import weft

        self.np, self.fake_driver = weft, FakeDriver()
        self.name, self.way, self.moment = name, way, moment
        self.which, self.place = which, place
        self.result, self.status, self.for_ever = RESULTS[result], status, for_ever
        self.wrong = []

    def say(self, *wrong):
        self.wrong += wrong

    def clean_run(self):
        run = Run(self.np, self.name, on_gpu(self.np))
        run.go()
        if run.wrong or not run.whole():
            self.say(*run.wrong, *([] if run.whole() else ["not all came to be"]))

    def settle(self):
        """All that is left when nothing is held: the driver's bytes and objects."""
        gc.collect()
        self.np.clear_kernel_history()
        for device in ("cuda:0", "cuda:1"):
            self.np.synchronize(device)
            self.np.empty_pool(device)
        return self.fake_driver.live()

    def count(self):
        """The calls that fail one of: a line for each, after as many clean runs as the moment wants."""
        for _ in range(MOMENTS[self.moment]):
            self.clean_run()
        self.fake_driver.forget()
        self.clean_run()
        return self.fake_driver.log()

    def arm(self, log):
        symbol, calls = b"*", log
        if self.which is not None:
            symbols = sorted(set(log))
            name = symbols[int(self.which * len(symbols))]
            symbol, calls = name.encode(), [call for call in log if call == name]
        nth = 1 + int(self.place * len(calls))
        self.target = calls[nth - 1]
        self.is_library = self.target.startswith(("cublas", "cufft", "cusolver"))
        failure = self.status if self.is_library and symbol != b"*" else self.result
        self.fake_driver.fail(symbol, nth, failure, self.for_ever)
        self.ruins = not (self.is_library and symbol != b"*") and self.result in RUINING.values()
        return f"{symbol.decode()} {nth} of {len(calls)} ({self.target}) gives {failure}"

    def go(self, log):
        """The failure, and what holds after it; gives what is wrong."""
        for _ in range(MOMENTS[self.moment]):
            self.clean_run()
        before = self.settle() if MOMENTS[self.moment] else None
        self.fake_driver.forget()
        self.what = self.arm(log)
        if self.moment == "exit":
            return self.leave()
        run, error, arrays = None, None, None
        try:
            arrays = on_gpu(self.np)
            run = Run(self.np, self.name, arrays)
            run.go()
        except BaseException as raised:
            error = raised
        self.fake_driver.succeed()
        happened = self.fake_driver.failed()
        self.check_error(error, happened)
        if error is not None:
            error.__traceback__ = None
        lost = [k for k in (0, 1) if self.is_lost(k)]
        if run is not None and error is None:
            self.say(
                *run.wrong, *([] if run.whole() or lost or self.name == "threads" else ["not all came to be"])
            )
        if lost:
            self.check_lost(lost, arrays, run)
            return self.wrong
        self.check_alive(arrays, run)
        error = run = arrays = None
        if before is not None:
            after = self.settle()
            if after[0] > before[0] or after[1] > before[1] or after[2] > before[2]:
                self.say(f"left behind: {after} of bytes, bytes and objects where there were {before}")
            in_use = [self.np.memory_stats(device)["in_use"] for device in ("cuda:0", "cuda:1")]
            if in_use != [0, 0]:
                self.say(f"in use: {in_use}")
        return self.wrong

    def is_lost(self, k):
        """Whether a device cannot be used any more; where the driver has no fault it has said that there is one."""
        if self.fake_driver.fault(k):
            return True
        error = error_of(lambda: self.np.synchronize(f"cuda:{k}"))
        if "is lost" not in error:
            return False
        if not self.ruins:
            self.say(f"cuda:{k} is given up for no reason: {error}")
        return True

    def check_error(self, error, happened):
        if error is None:
            return
        text = f"{type(error).__name__}: {error}"
        if "no GPU's memory" in text and self.target == "cuPointerGetAttribute":
            return  # that is what the driver says of an address by its INVALID_VALUE
        if not isinstance(error, (self.np.DeviceError, MemoryError)):
            self.say("".join(traceback.format_exception(error))[-1500:])
        elif not happened:
            self.say(f"nothing failed, but {text}")
        elif not re.search(r"CUDA|cuBLAS|cuSOLVER|cuFFT|cannot allocate", text) or len(text) < 40:
            self.say(f"the message tells too little: {text}")
        elif not re.search(ADVICE, text):
            self.say(f"the message does not say what to do: {text}")

    def check_alive(self, arrays, run):
        """Everything is as it was before the step that failed, and the program runs."""
        try:
            if arrays is not None:
                for key, value in driver_programs.inputs().items():
                    if not numpy.array_equal(host_values(self.np, arrays[key]), value):
                        self.say(f"the input {key} is not what it was")
            if run is not None:
                run.failed = True
                run.read()
                self.say(*run.wrong)
            for _ in range(2 if self.moment == "repeated" else 1):
                self.clean_run()
        except BaseException as error:
            self.say("afterwards: " + "".join(traceback.format_exception(error))[-1500:])

    def check_lost(self, lost, arrays, run):
        np = self.np
        try:
            if np.arange(10_000.0).sum() != 49_995_000:
                self.say("the host computes wrong sums")
            for k in (0, 1):
                device = f"cuda:{k}"
                if k not in lost:
                    if (np.arange(5000.0, device=device) * 2).sum() != 24_995_000:
                        self.say(f"{device} computes wrong sums")
                    continue
                uses = [
                    lambda on: (np.arange(5000.0).to_device(on) + 1).tolist(),
                    lambda on: np.synchronize(on),
                    lambda on: np.sort(np.arange(70.0)[::-1].to_device(on)).tolist(),
                ]
                for use in uses:
                    message = error_of(lambda use=use, device=device: use(device))
                    if (
                        "is lost" not in message
                        or "start the process again" not in message
                        or device not in message
                    ):
                        self.say(f"{device} is lost, but says: {message or 'nothing'}")
            if run is not None:
                for held in run.side.held:
                    error_of(lambda held=held: host_values(np, held.array))
        except BaseException as error:
            self.say("after the loss: " + "".join(traceback.format_exception(error))[-1500:])

    def leave(self):
        """The process ends while the driver fails, and things are pending and held."""
        try:
            with contextlib.suppress(self.np.DeviceError, MemoryError):
                self.kept = run = Run(self.np, self.name, on_gpu(self.np))
                with self.np.device("cuda"):
                    driver_programs.PROGRAMS[self.name](run.side, **run.arrays)
                self.pending = [held.array + 1 for held in run.side.held if held.steps == 0]
        except BaseException as error:
            self.say("at the end: " + "".join(traceback.format_exception(error))[-1500:])
        KEPT.append(self)
        return self.wrong


KEPT = []
# What to do, in the words of messages.
ADVICE = (
    r"tr(y|ied) again|smaller parts|start the (process|machine|services)|[Uu]pdate|nvidia-smi|survive fork"
)


def in_child(work):
    """What the work gives, in a child of this process, which then ends as Python processes do."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            signal.alarm(LONGEST)
            text = repr(work())
        except BaseException:
            text = repr(["the probe: " + traceback.format_exc()])
        os.write(writer, text.encode())
        os.close(writer)
        for finalizer in list(weakref.finalize._registry):
            finalizer.atexit = False  # folders are the parent's
        sys.stdout.flush()
        ctypes.pythonapi.Py_Exit(0)
    os.close(writer)
    text = b""
    while part := os.read(reader, 1 << 16):
        text += part
    os.close(reader)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != 0 or not text:
        import supervise

        how = "hangs" if status == -signal.SIGALRM else f"ended the process ({supervise.ending(status)})"
        raise cases.Fault(f"{how}; it had said {text.decode()[:1000]}")
    return eval(text)


_logs = {}  # the calls of a program


def log_of(name, way, moment):
    moment = moment if MOMENTS[moment] == 0 else "warm"  # from then on they are as good as the same
    key = (name, way, moment)
    if key not in _logs:

        def work():
            set_up(way, moment)
            attempt = Attempt(name, way, moment, None, 0, "UNKNOWN", 1, False)
            log = attempt.count()
            attempt.fake_driver.write_kernels("kernels_of_a_program")
            return attempt.wrong or log

        log = in_child(work)
        if any(" " in line for line in log):
            raise cases.Fault(f"without failures: {log}")
        FakeDriver().compile_kernels("kernels_of_a_program")  # once, for all children
        _logs[key] = log
    return _logs[key]


def set_up(way, moment):
    """Settings of the child: kernels come from the cache on disk, but for a program that is to compile them."""
    import weft

    weft.config.cache = moment != "cold"
    weft.config.cache_dir = os.path.abspath("kernels")
    for key, value in WAYS[way].items():
        setattr(weft.config, key, value)


def attempt(*arguments):
    """Raises Fault where a program and a failure end otherwise than promised."""
    try:
        try_once(*arguments)
    except cases.Fault:
        raise
    except Exception as error:
        raise cases.Fault("the probe: " + "".join(traceback.format_exception(error))) from None


def try_once(name, way, moment, which, place, result, status, for_ever):
    log = log_of(name, way, moment)

    def work():
        set_up(way, moment)
        tried = Attempt(name, way, moment, which, place, result, status, for_ever)
        wrong = tried.go(log)
        return [tried.what, *wrong] if wrong else []

    if os.environ.get("WEFT_PROBE_HERE"):  # for a debugger: in this process, not in a child of it
        wrong = work()
    else:
        wrong = in_child(work)
    if wrong:
        raise cases.Fault(f"{'for ever ' if for_ever else ''}{'; '.join(wrong)}")


if __name__ == "__main__":
    sys.exit("this is a probe of run.py")
