"""The kernel cache on disk, from outside: fresh processes, the examples, odd settings, many at once."""

import json
import os
import pathlib
import shutil
import stat
import struct
import subprocess
import sys
import time

import numpy
import pytest
import weft

ROOT = pathlib.Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"

WORK = """
import json, sys
import weft as np
x = np.arange(20000) * 0.5
y = (np.sin(x) * x + 2).sum() + (x.astype("f4") > 3).sum()
print(json.dumps({"value": float(y), **np.cache_info()}))
"""

# Every example once, on its full input.
ALL_EXAMPLES = """
import hashlib, json, sys
sys.path.insert(0, sys.argv[1])
import demo, numpy, weft
digests = {}
def digest(result):
    if isinstance(result, tuple):
        return [digest(part) for part in result]
    return hashlib.sha256(numpy.asarray(result).tobytes()).hexdigest()
for program in demo.PROGRAMS:
    result = demo.finish(weft, program.call(weft, *program.arguments(weft)))
    digests[program.name] = digest(result)
kernels = weft.kernel_history()
print(json.dumps({
    "digests": digests,
    "kernels": sum(kernel["ir"] != "" for kernel in kernels),
    "compile_seconds": sum(kernel["compile_seconds"] for kernel in kernels),
    **weft.cache_info(),
}))
"""


def start(code, *arguments, **settings):
    environment = {k: v for k, v in os.environ.items() if settings.get(k, v) is not None}
    environment.update({k: v for k, v in settings.items() if v is not None})
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def finish(process):
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return json.loads(out.splitlines()[-1]), errors


def run(code=WORK, *arguments, **settings):
    return finish(start(code, *arguments, **settings))[0]


def entries(folder):
    return sorted(folder.glob("kernels-*/" + 64 * "[0-9a-f]"))


@pytest.mark.parametrize("tier", ["jit", "auto"])
def test_a_second_process_compiles_nothing(new_cache, tier):
    first, second = run(WEFT_TIER=tier), run(WEFT_TIER=tier)
    assert first["enabled"] and first["folder"] == str(new_cache) and first["reason"] == ""
    assert first["compiled"] == first["written"] == first["misses"] > 0
    assert first["hits"] == 0
    assert second["compiled"] == second["written"] == second["misses"] == 0
    assert second["hits"] == first["compiled"] == second["entries"] == len(entries(new_cache))
    assert second["bytes"] == sum(entry.stat().st_size for entry in entries(new_cache))
    assert first["value"] == second["value"]
    x = numpy.arange(20000) * 0.5
    expected = (numpy.sin(x) * x + 2).sum() + (x.astype("f4") > 3).sum()
    assert second["value"] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("tier", ["jit", "auto"])
def test_a_second_process_runs_all_examples_without_compiling(new_cache, tier):
    first = run(ALL_EXAMPLES, EXAMPLES, WEFT_TIER=tier)
    assert first["compiled"] == first["written"] > 5
    second = run(ALL_EXAMPLES, EXAMPLES, WEFT_TIER=tier)
    assert second["kernels"] == first["kernels"] > 0
    assert second["compiled"] == 0 and second["compile_seconds"] == 0
    assert second["hits"] == first["compiled"] and second["dropped"] == second["failed"] == 0
    assert second["digests"] == first["digests"]


def test_sixty_four_processes_at_once(new_cache):
    processes = [start(WORK) for _ in range(64)]
    results = [finish(process)[0] for process in processes]
    assert len({result["value"] for result in results}) == 1
    assert all(result["dropped"] == result["failed"] == 0 for result in results)
    assert len(entries(new_cache)) == run()["hits"]
    assert not list(new_cache.glob("*/tmp-*"))


def test_damaged_entries_are_rebuilt(new_cache):
    first = run()
    for entry in entries(new_cache):
        content = bytearray(entry.read_bytes())
        content[len(content) * 2 // 3] ^= 0x20
        entry.write_bytes(content)
    second, third = run(), run()
    assert second["dropped"] == second["compiled"] == second["written"] == first["compiled"]
    assert third["hits"] == first["compiled"] and third["dropped"] == 0
    assert first["value"] == second["value"] == third["value"]


# Before WORK: which calls of the system fail (tests/probe/failing_system_calls.cpp, preloaded).
FAILING = """
import ctypes, errno, sys
calls = ctypes.CDLL(sys.argv[1])
calls.weft_name_of_call.restype = ctypes.c_char_p
calls.weft_fail_calls.argtypes = [ctypes.c_uint64] * 3 + [ctypes.c_int] * 2
names = [calls.weft_name_of_call(k).decode() for k in range(calls.weft_count_of_calls())]
import weft
calls.weft_fail_calls(1 << names.index(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), 0, errno.EIO)
"""
FAILING_LIBRARY = pathlib.Path(weft.__file__).parents[2] / "bin" / "libweft_failing_system_calls.so"
ALWAYS = 2**62


def run_failing(function, first=1, last=ALWAYS, code=WORK, **settings):
    """`code`, where the calls of a function numbered `first` to `last` fail."""
    library = str(FAILING_LIBRARY)
    return run(FAILING + code, library, function, first, last, LD_PRELOAD=library, **settings)


@pytest.mark.measures  # the sanitizer has to be first among the libraries
@pytest.mark.parametrize("function", ["pread", "pwrite", "fstat", "renameat", "openat"])
@pytest.mark.parametrize("filled", [False, True])
def test_an_io_error_costs_speed_never_the_result(new_cache, function, filled):
    expected = run()["value"]  # fills the cache
    if not filled:
        shutil.rmtree(new_cache)
    failed = run_failing(function)
    assert failed["value"] == expected
    if not filled:
        assert failed["hits"] == 0 and failed["compiled"] > 0
        assert function == "pread" or failed["written"] == 0
    elif function not in ("pwrite", "renameat"):
        assert failed["hits"] == 0 and failed["compiled"] > 0
    run()
    again = run()
    assert again["value"] == expected and again["compiled"] == 0


def counted_bytes(folder):
    """What the file that counts the folder's bytes says; nothing where it says nothing or asks for a new list."""
    for usage in folder.glob("kernels-*/usage"):
        if usage.stat().st_size >= 56:
            _, count, listed = struct.unpack_from("<8sqq", usage.read_bytes())
            return count if time.time() - listed < 86400 else None
    return None


# In another process the count would otherwise be taken for whole, and the folder outgrow its limit for a day.
@pytest.mark.measures
@pytest.mark.parametrize(
    ("function", "first", "last"),
    [
        ("readdir", 1, ALWAYS), ("readdir", 4, 4), ("fstatat", 2, 2), ("fdopendir", 1, ALWAYS),
        # The list of the folder, and the count: which is which depends on how deep the folder is.
        ("openat", 12, 12), ("openat", 13, 13), ("openat", 14, 14), ("openat", 15, 15), ("openat", 16, 16),
        ("pwrite", 1, 1), ("pwrite", 1, ALWAYS), ("pread", 1, 3), ("flock", 1, ALWAYS), ("fstat", 8, 9),
        ("fstat", 9, 30), ("renameat", 1, 2),
    ],
)  # fmt: skip
def test_a_folder_never_has_more_bytes_than_are_counted(new_cache, function, first, last):
    run()
    next(new_cache.glob("kernels-*/usage")).write_bytes(b"no count")
    other = WORK.replace("* 0.5", "* 0.25 + 1").replace("np.sin(x)", "np.cos(x)")
    run_failing(function, first, last, other)
    count = counted_bytes(new_cache)
    assert count is None or count >= sum(entry.stat().st_size for entry in entries(new_cache))


def test_importing_and_asking_touch_nothing(new_cache):
    info = run("import json, weft; print(json.dumps(weft.cache_info()))")
    assert info["enabled"] and info["entries"] == info["bytes"] == 0
    assert not new_cache.exists()
    # The first look at a folder that cannot be used happens after the import: even that is only seen then.
    code = "import weft, sys; print('imported', file=sys.stderr); (weft.arange(10**5) + 1).sum().item(); print(0)"
    new_cache.mkdir()
    new_cache.chmod(0o777)
    _, errors = finish(start(code, WEFT_DEBUG="1"))
    assert "kernel cache" not in errors.split("imported")[0]
    assert f"no kernel cache on disk: {new_cache} is writable by others (mode 0777)" in errors


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"WEFT_CACHE": "0"}, "WEFT_CACHE is 0"),
        ({"WEFT_CACHE_DIR": ""}, "WEFT_CACHE_DIR is empty"),
        ({"WEFT_CACHE_DIR": "kernels"}, "WEFT_CACHE_DIR is not an absolute path: kernels"),
        ({"WEFT_CACHE_SIZE": "0"}, "WEFT_CACHE_SIZE is 0"),
        (
            {"WEFT_CACHE_DIR": None, "XDG_CACHE_HOME": None, "HOME": None},
            "neither WEFT_CACHE_DIR nor HOME is set",
        ),
        ({"WEFT_CACHE_DIR": None, "XDG_CACHE_HOME": "here", "HOME": "."}, "HOME is not an absolute path"),
        ({"WEFT_CACHE_DIR": "/proc/weft"}, "/proc/weft cannot be created: "),
        ({"WEFT_CACHE_DIR": "/dev/null"}, "/dev/null is not a folder"),
    ],
)
def test_without_a_folder_everything_works(new_cache, tmp_path, monkeypatch, settings, reason):
    monkeypatch.chdir(tmp_path)
    info = run(**settings)
    assert not info["enabled"] and info["reason"].startswith(reason)
    assert info["compiled"] > 0 and info["hits"] == info["written"] == info["entries"] == 0
    assert not list(tmp_path.iterdir())


def test_the_users_cache_folder_is_the_default(new_cache, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    before = os.umask(0)
    try:
        info = run(WEFT_CACHE_DIR=None, XDG_CACHE_HOME=None, HOME=str(home))
    finally:
        os.umask(before)
    assert info["folder"] == str(home / ".cache" / "weft") and info["entries"] > 0
    for folder in (home / ".cache", home / ".cache" / "weft"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    info = run(WEFT_CACHE_DIR=None, XDG_CACHE_HOME=str(tmp_path / "caches"), HOME=str(home))
    assert info["folder"] == str(tmp_path / "caches" / "weft") and info["hits"] == 0
    assert not new_cache.exists()


def test_the_size_is_bounded(new_cache):
    limit = 15000
    assert run(WEFT_CACHE_SIZE=str(limit))["limit"] == limit
    code = (
        WORK
        + "\nfor k in range(2, 12): np.eval(sum([np.sin(x)] * k) * 2)\nprint(json.dumps(np.cache_info()))"
    )
    info = run(code, WEFT_CACHE_SIZE=str(limit))
    assert info["evicted"] > 0 and 0 < info["bytes"] <= limit
    for wrong in ("many", "-1"):
        process = start(WORK, WEFT_CACHE_SIZE=wrong)
        assert "WEFT_CACHE_SIZE must be an integer of at least 0" in process.communicate()[1]


def test_another_cpu_has_kernels_of_its_own(new_cache):
    run()
    other = run(WEFT_CPU="x86-64-v2")
    assert other["hits"] == 0 and other["compiled"] > 0
    assert run(WEFT_CPU="x86-64-v2")["compiled"] == 0


def test_debug_output_is_complete_although_kernels_are_there(new_cache):
    code = WORK.replace("import json", "import json, os")
    _, cold = finish(start(code, WEFT_DEBUG="3"))
    _, warm = finish(start(code, WEFT_DEBUG="3"))
    assert cold.count("kernel IR") == warm.count("kernel IR") > 0


def test_settings_at_run_time(new_cache, tmp_path):
    code = """
import json, sys
import weft as np
def work():
    np._core._forget_kernels()
    return float((np.arange(10000) * 0.25 + 1).sum())
infos = [work() and np.cache_info()]
with np.config(cache=False):
    assert np.cache_info()["reason"] == "WEFT_CACHE is 0"
    infos.append(work() and np.cache_info())
with np.config(cache_dir=sys.argv[1]):
    assert np.config.cache_dir == sys.argv[1]
    infos.append(work() and np.cache_info())
assert np.config.cache_dir.endswith("kernels")
infos.append(work() and np.cache_info())
assert np.cache_clear() == infos[0]["entries"]
infos.append(work() and np.cache_info())
print(json.dumps(infos))
"""
    first, off, elsewhere, again, cleared = run(code, tmp_path / "elsewhere")
    count = first["compiled"]
    assert count > 0
    assert [info["compiled"] for info in (off, elsewhere, again, cleared)] == [
        2 * count,
        3 * count,
        3 * count,
        4 * count,
    ]
    assert again["hits"] == count and elsewhere["folder"] == str(tmp_path / "elsewhere")
    assert len(entries(tmp_path / "elsewhere")) == len(entries(new_cache)) == count


def test_odd_names_of_folders(tmp_path):
    for name in ("mit Leerzeichen", "ä€", os.fsdecode(b"\xff\xfe")):
        info = run(WEFT_CACHE_DIR=str(tmp_path / name))
        assert info["folder"] == str(tmp_path / name) and info["entries"] > 0
