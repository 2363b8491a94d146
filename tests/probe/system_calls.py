"""Calls of the system that fail, one after another, while kernels are found, stored, evicted, tidied and cleared.

The k-th call about files that the engine makes fails, once or from then on, with one of many errors; does half of what
was asked; is done and reported as failed; or finds that the cache's folder was moved, replaced, emptied or cut short
(failing_system_calls.cpp, preloaded). Results are right all the same, descriptors are given back, a later kernel is
kept again, and a clean process that uses the folder finds no entry that was damaged by a failure.
"""

import contextlib
import errno
import functools
import os
import pathlib
import random
import resource
import shutil
import struct
import time

import cases
import forked

FULL = 20_000
BATCH = 500
SAMPLE = 30
PATIENCE = 120.0

LONGEST = 30.0  # seconds an attempt may take
DAY = 86400  # seconds that a count holds
ENTRY = 64  # digits of an entry's name
OTHER_USER = 65534


def environment():
    return {
        "LD_PRELOAD": forked.preloaded("failing_system_calls"), "WEFT_CACHE": "1", "WEFT_CACHE_DIR": "",
        "WEFT_TIER": "jit", "WEFT_SMALL": "0", "WEFT_NUM_THREADS": "1", "WEFT_CUDA_DRIVER": "",
    }  # fmt: skip


# ---- what is computed ----


def first(np):
    x = np.arange(5000) * 0.5
    return [(x * 3 + 1).tobytes(), np.maximum(x, 7.25).tobytes(), (x - 2).sum().tobytes()]


def second(np):
    x = np.arange(5000) * 0.5
    return [(x * x - 3).tobytes(), (x < 9).tobytes()]


def third(np):
    x = np.arange(5000) * 0.5
    return [((x + 1) * 2 - 2).astype(int).tobytes()]


# ---- what a process does with its cache: gives the results of `first` ----


def compute(np, place):
    return first(np)


def compute_and_ask(np, place):
    result = first(np)
    np.cache_info()
    return result


def compute_in_background(np, place):
    with np.config(tier="auto"):
        result = first(np)
    np.cache_info()
    return result


def evict(np, place):
    with np.config(cache_size=18_000):
        result = first(np)
        np.cache_info()
    return result


def clear(np, place):
    np.cache_clear()
    result = first(np)
    np.cache_clear()
    np.cache_info()
    return result


def change_folders(np, place):
    second(np)
    with np.config(cache_dir=str(place / "other")):
        result = first(np)
    np.cache_info()
    return result


def lose_descriptors(np, place):
    second(np)
    for number in os.listdir("/proc/self/fd"):
        if os.path.exists(f"/proc/self/fd/{number}") and "kernels-" in os.readlink(f"/proc/self/fd/{number}"):
            os.close(int(number))
    return first(np)


def lose_folder(np, place):
    second(np)
    shutil.rmtree(place / "cache", ignore_errors=True)
    result = first(np)
    np.cache_info()
    return result


def move_folder(np, place):
    second(np)
    with contextlib.suppress(OSError):  # it is not there, or may not be moved
        (place / "cache").rename(place / "moved")
        (place / "cache").symlink_to(place / "moved")
    result = first(np)
    np.cache_info()
    return result


PROGRAMS = [
    compute, compute_and_ask, compute_in_background, evict, clear, change_folders, lose_descriptors, lose_folder,
    move_folder,
]  # fmt: skip
PROGRAMS = {program.__name__: program for program in PROGRAMS}


# ---- what it finds ----


def kernels(place):
    return place / "cache" / f"kernels-{os.geteuid()}"


def entries(place):
    return sorted(path for path in kernels(place).glob("*") if len(path.name) == ENTRY)


def missing(place):
    pass


def empty(place):
    (place / "cache").mkdir(0o700)


def deep(place):
    """Below folders that are missing and links of parents."""
    (place / "real").mkdir(0o700)
    (place / "link").symlink_to("real")
    (place / "real" / "way").symlink_to(place)
    return place / "link" / "way" / "more" / "cache"


def filled(place):
    shutil.copytree(shared().template, place / "cache")


def damaged(place):
    filled(place)
    found = entries(place)
    content = bytearray(found[0].read_bytes())
    content[len(content) // 2] ^= 4
    found[0].write_bytes(content)
    found[1].write_bytes(found[2].read_bytes())
    os.truncate(found[2], 100)
    found[3].unlink()
    found[3].mkdir()
    found[4].unlink()
    found[4].symlink_to(found[1])


def untidy(place):
    filled(place)
    folder = kernels(place)
    for number in range(3):
        (folder / f"tmp-9-{number}-1").write_bytes(b"left" * 1000)
    (folder / "tmp-folder").mkdir()
    (folder / "tmp-link").symlink_to("usage")
    (folder / "somebody's").write_text("own")
    (folder / "usage").write_bytes(b"nothing like it" * 9)


def untidy_usage(place):
    filled(place)
    (kernels(place) / "usage").unlink()
    os.mkfifo(kernels(place) / "usage")


def read_only(place):
    """The user may look, but not write."""
    filled(place)
    os.chmod(place, 0o755)
    os.chmod(place / "cache", 0o755)
    kernels(place).rename(place / "cache" / f"kernels-{OTHER_USER}")
    for path in [*(place / "cache").glob("*"), *(place / "cache").glob("*/*")]:
        os.chmod(path, 0o755)


def unlike_any(place):
    """For a user who has no folder and may not make one."""
    empty(place)
    os.chmod(place, 0o755)
    os.chmod(place / "cache", 0o755)


def short_files(place):
    filled(place)
    for entry in entries(place)[::2]:
        entry.unlink()


STATES = [
    missing, empty, deep, filled, damaged, untidy, untidy_usage, read_only, unlike_any, short_files,
]  # fmt: skip
STATES = {state.__name__: state for state in STATES}
OTHER_USERS = {"read_only", "unlike_any"}  # where root becomes another one


def become(state):
    """What a state asks of the process that finds it."""
    if state in OTHER_USERS and os.geteuid() == 0:
        os.seteuid(OTHER_USER)
    if state == "short_files":
        resource.setrlimit(
            resource.RLIMIT_FSIZE, (random.Random(state).randrange(1, 3000), resource.RLIM_INFINITY)
        )


# ---- what fails ----

ERRORS = [
    "EIO", "ENOSPC", "EMFILE", "ENFILE", "EACCES", "EROFS", "EINTR", "ENOENT", "EEXIST", "EDQUOT", "ENOMEM", "EAGAIN",
    "ELOOP", "ENOTDIR", "EISDIR", "EBADF", "ESTALE", "EPERM", "ENOTSUP", "ENOTEMPTY", "EFBIG", "EXDEV", "EINVAL",
]  # fmt: skip
EFFECTS = ["FAILS", "FAILS", "FAILS", "FAILS", "SHORT", "EMPTY", "DONE_BUT_FAILS", "DISTURBED"]
DISTURBANCES = ["MOVED_AWAY", "REPLACED_BY_LINK", "REPLACED_BY_NEW", "EMPTIED", "CUT_SHORT"]


def case(seed, number):
    draw = random.Random(seed * 1_000_003 + number)
    program, state = draw.choice(list(PROGRAMS)), draw.choice(list(STATES))
    effect, error = draw.choice(EFFECTS), draw.choice(ERRORS)
    if effect == "DISTURBED":
        error = draw.choice(DISTURBANCES)
    which, place = round(draw.random(), 6), round(draw.random(), 6)
    how_often = draw.choice(["once", "once", "a few times", "for ever"])
    if error == "EINTR" and how_often == "for ever":
        how_often = "a few times"
    arguments = (program, state, effect, error, which, place, how_often)
    return cases.Case(["import system_calls", f"system_calls.attempt{arguments}"], 2)


class Shared:
    """What the attempts of a process have in common."""

    def __init__(self):
        import weft

        self.failing = forked.FailingCalls()
        self.serial = 0
        self.counts = {}
        self.template = pathlib.Path("template").absolute()
        with weft.config(cache=False):  # LLVM has begun in all children, with other kernels than theirs
            weft.eval(weft.arange(5000) + 0.5)
        with weft.config(cache=False, tier="block"):
            self.first, self.second, self.third = first(weft), second(weft), third(weft)
        self.compiled = weft.cache_info()["compiled"]
        if forked.run(lambda: self.used(self.template)) != (self.first, self.second):
            raise cases.Fault("the results are not those of blocks")
        self.kernels = len(list(self.template.glob("kernels-*/" + ENTRY * "?")))
        os.chmod(".", 0o711)  # for OTHER_USER

    @staticmethod
    def used(folder):
        import weft

        with weft.config(cache_dir=str(folder)):
            return first(weft), second(weft)

    def fresh(self):
        self.serial += 1
        place = pathlib.Path(f"case-{self.serial}").absolute()
        place.mkdir(0o700)
        return place


_shared = []


def shared():
    if not _shared:
        _shared.append(Shared())
    return _shared[0]


def prepare():
    shared()


def count(program, state):
    """How many calls of which kind there are where nothing fails."""
    all_of_them = shared()
    if (program, state) not in all_of_them.counts:
        place = all_of_them.fresh()
        folder = STATES[state](place) or place / "cache"

        def work():
            import weft

            become(state)
            weft.config(cache_dir=str(folder)).__enter__()
            all_of_them.failing.count()
            PROGRAMS[program](weft, place)
            weft.cache_info()
            all_of_them.failing.allow()
            return all_of_them.failing.counted()

        all_of_them.counts[program, state] = forked.run(work)
        shutil.rmtree(place)
    return all_of_them.counts[program, state]


def descriptors(place, folders=1):
    """Those that are open, but for so many of the cache's folder."""
    found = {}
    for number in os.listdir("/proc/self/fd"):
        try:
            found[int(number)] = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue
    found_folders = [
        number
        for number, path in found.items()
        if path.startswith(f"{place}/") and os.path.isdir(f"/proc/self/fd/{number}")
    ]
    for number in found_folders[:folders]:
        del found[number]
    return found


def attempt(program, state, effect, error, which, kth, how_often):
    """One process in which calls fail, then clean ones on the same folder; Fault where that is not as promised."""
    all_of_them = shared()
    failing = all_of_them.failing
    counts = count(program, state)
    names = sorted(counts)
    name = names[int(which * len(names))]
    begin = 1 + int(kth * counts[name])
    end = {"once": begin, "a few times": begin + 3, "for ever": failing.FOR_EVER}[how_often]
    place = all_of_them.fresh()
    folder = STATES[state](place) or place / "cache"

    def fails():
        import weft

        wrong = []
        become(state)
        weft.config(cache_dir=str(folder)).__enter__()
        before = descriptors(place)
        if effect == "DISTURBED":
            failing.disturb(getattr(failing, error), kernels(place), place / "away")
            failing.fail(name, begin, end, failing.DISTURBED, 0)
        else:
            failing.fail(name, begin, end, getattr(failing, effect), getattr(errno, error))
        if PROGRAMS[program](weft, place) != all_of_them.first:
            wrong.append("results are wrong")
        weft.cache_info()
        happened = failing.failed()
        failing.allow()
        # A number of which nobody can say that it is still the folder's is not the cache's to close.
        unsure = happened if name in ("fstat", "any") else 0
        after = descriptors(place, 1 + unsure)
        if left := {number: path for number, path in after.items() if number not in before}:
            wrong.append(f"descriptors are left open: {left}")
        # What failed does so no more: kernels are kept again where the folder allows.
        usable = is_usable(folder, state) and state != "short_files"
        info = weft.cache_info()
        wrong += odd_counts(info)
        if usable and info["reason"]:
            wrong.append(f"the folder is refused although nothing fails: {info['reason']}")
        with weft.config(cache_size=1 << 30):
            if [*second(weft), *third(weft)] != [*all_of_them.second, *all_of_them.third]:
                wrong.append("results are wrong after the failure")
            later = weft.cache_info()
        wrong += odd_counts(later)
        if usable and later["written"] + later["hits"] == info["written"] + info["hits"]:
            wrong.append(f"nothing is kept after the failure: {later}")
        return wrong, happened

    wrong, _ = forked.run(fails, LONGEST)
    # EAGAIN is as if others had locked the count, ENOENT as if they had removed a file; disturbed files come and go.
    if error not in ("EAGAIN", "ENOENT") and effect != "DISTURBED":
        wrong += miscounted(folder)
    may_be_damaged = state == "damaged" or (effect, error) == ("DISTURBED", "CUT_SHORT")
    for turn, damage in (("the next process", may_be_damaged), ("the process after that", False)):
        found = forked.run(functools.partial(uses, folder, state, damage), LONGEST)
        wrong += [f"{turn}: {what}" for what in found]
    shutil.rmtree(place)
    if wrong:
        raise cases.Fault(f"{name} number {begin} to {end}: {'; '.join(wrong)}")


def is_usable(folder, state):
    """Whether kernels can be kept there when nothing fails: weft's folders are no links."""
    if state in OTHER_USERS:
        return False
    return not folder.is_symlink() and not any(path.is_symlink() for path in folder.glob("kernels-*"))


def miscounted(folder):
    """A count that others go by must not be below what is there: the folder would outgrow its limit."""
    for usage in folder.glob("kernels-*/usage"):
        if not usage.is_file() or usage.stat().st_size < 56:
            continue
        mark, count, listed = struct.unpack_from("<8sqq", usage.read_bytes())
        there = sum(path.lstat().st_size for path in usage.parent.glob(ENTRY * "?"))
        if mark == b"weftku01" and time.time() - listed < DAY and count < there:
            return [f"{count} bytes are counted where {there} are"]
    return []


def odd_counts(info):
    wrong = [f"{key} is {value}" for key, value in info.items() if type(value) is int and value < 0]
    if info["bytes"] > info["limit"]:
        wrong.append(f"{info['bytes']} bytes are more than {info['limit']}")
    if info["misses"] > info["compiled"] + info["dropped"] and info["enabled"]:
        wrong.append(f"more was missed than compiled: {info}")
    return wrong


def uses(folder, state, may_be_damaged):
    """What is wrong with what a clean process finds."""
    import weft

    wrong = []
    if state in OTHER_USERS:
        become(state)
    weft.config(cache_dir=str(folder)).__enter__()
    if Shared.used(folder) != (shared().first, shared().second):
        wrong.append("results are wrong")
    info = weft.cache_info()
    info["compiled"] -= shared().compiled
    wrong += odd_counts(info)
    if info["dropped"] and not may_be_damaged:
        wrong.append(f"{info['dropped']} entries were damaged")
    if info["hits"] + info["compiled"] != shared().kernels:
        wrong.append(f"not each kernel was found or compiled: {info}")
    if not is_usable(folder, state):
        return wrong
    if info["reason"] or info["failed"]:
        wrong.append(f"the folder is not used as it could be: {info}")
    found = list(folder.glob("kernels-*/" + ENTRY * "?"))
    size = sum(path.stat().st_size for path in [*found, *folder.glob("kernels-*/tmp-folder")])
    if len(found) != info["entries"] or size != info["bytes"]:
        wrong.append(f"there are {len(found)} entries, not those that are counted: {info}")
    if info["entries"] < shared().kernels:
        wrong.append(f"not every kernel is kept: {info}")
    left = [path.name for path in folder.glob("kernels-*/tmp-*") if path.name != "tmp-folder"]
    if left:
        wrong.append(f"there are leftovers: {left}")
    usage = next(folder.glob("kernels-*/usage"), None)
    if info["written"]:
        if usage is None or not usage.is_file() or usage.stat().st_size < 56:
            wrong.append("bytes are not counted")
        elif struct.unpack_from("<q", usage.read_bytes(), 8)[0] < 0:
            wrong.append("the count of bytes is below zero")
    return wrong
