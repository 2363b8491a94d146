"""The pytest plugin of tests/conformance: tells each outcome in a file at once, so that a crash loses nothing.

CONFORMANCE names a json file: `weft` says whose modules the tests see, `out` where outcomes go, `done` which tests are
to be left out.
"""

import json
import linecache
import os
import pathlib
import re
import time

import pytest

SETTINGS = json.loads(pathlib.Path(os.environ["CONFORMANCE"]).read_text())
OUT = os.open(SETTINGS["out"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
DONE = set(SETTINGS["done"])


def tell(**what):
    os.write(OUT, (json.dumps(what) + "\n").encode())


class SwappedModule(pytest.Module):
    def _getobj(self):
        import swapped

        path = self.path.with_suffix("")
        parts = path.parts[len(path.parts) - path.parts[::-1].index("numpy") - 1 :]
        module = swapped.swapped(".".join(parts))
        for name, error in module.not_there.items():
            tell(id=f"{self.nodeid}::{name}", outcome="not collected", reason=reason_of(error))
        return module


def pytest_pycollect_makemodule(module_path, parent):
    if SETTINGS["weft"]:
        return SwappedModule.from_parent(parent, path=module_path)
    return None


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Parameters and their ids are made while stand-ins are lent."""
    if not SETTINGS["weft"]:
        return (yield)
    import swapped

    with swapped.loading():
        return (yield)


def pytest_collection_modifyitems(config, items):
    left = [item for item in items if item.nodeid not in DONE]
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in DONE])
    items[:] = left
    tell(collected=[item.nodeid for item in items])


def pytest_collectreport(report):
    if report.failed and SETTINGS["weft"]:
        tell(id=report.nodeid, outcome="not collected", reason=str(report.longrepr)[-300:])


def pytest_runtest_logstart(nodeid):
    tell(start=nodeid)


ADDRESS = re.compile(r"0x[0-9a-f]{6,}|/tmp/\S+")


def reason_of(error, traceback=None):
    """One line that is the same for all tests that fail for the same cause."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    kind = type(error).__name__
    text = lines[0] if lines else ""
    if isinstance(error, AssertionError):
        if len(lines) > 1 and ("Arrays are not" in text or "Items are not" in text or "Not equal" in text):
            text = " / ".join(lines[:3])
        entry = traceback
        while entry is not None and entry.tb_next is not None:
            entry = entry.tb_next
        if not text and entry is not None:
            text = linecache.getline(entry.tb_frame.f_code.co_filename, entry.tb_lineno).strip()
    return f"{kind}: {ADDRESS.sub('...', text)}"[:160]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    kept = item.stash.setdefault(KEY, {"outcome": "passed", "reason": "", "time": 0.0})
    kept["time"] += call.duration
    if report.outcome != "passed" and kept["outcome"] == "passed":
        kept["outcome"] = report.outcome
        if call.excinfo is not None:
            kept["reason"] = reason_of(call.excinfo.value, call.excinfo.tb)
        else:
            kept["reason"] = str(report.longrepr)[:160]
        if hasattr(report, "wasxfail"):
            kept["outcome"] = "xfailed"
    if call.when == "teardown":
        tell(id=item.nodeid, **{**kept, "time": round(kept["time"], 3)})
    return report


KEY = pytest.StashKey()


def pytest_sessionfinish(session, exitstatus):
    tell(finished=int(exitstatus), at=time.time())
