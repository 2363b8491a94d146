"""A pytest plugin: the array API tests that SciPy and scikit-learn ship run with weft as the one namespace.

WEFT_DEVICE says where; the environment has SCIPY_ARRAY_API=1. Tests that are not about namespaces are left out. Those
that backends.toml names are expected to fail, each with its reason.
"""

import importlib.util
import os
import pathlib

import pytest
from expectations import matcher, read

DEVICES = (os.environ.get("WEFT_DEVICE") or "cpu",)


def _tell_sklearn():
    from sklearn.utils import _array_api

    def namespaces(include_numpy_namespaces=True):
        return ["weft"]

    def combinations(include_numpy_namespaces=True):
        return [("weft", device, dtype) for device in DEVICES for dtype in ("float64", "float32")]

    _array_api.yield_namespaces = namespaces
    _array_api.yield_namespace_device_dtype_combinations = combinations
    _array_api.yield_mixed_namespace_input_permutations = lambda: [
        (
            _array_api.NamespaceAndDevice("weft", DEVICES[0]),
            _array_api.NamespaceAndDevice("numpy", None),
            "weft to numpy",
        ),
        (
            _array_api.NamespaceAndDevice("numpy", None),
            _array_api.NamespaceAndDevice("weft", DEVICES[0]),
            "numpy to weft",
        ),
        (
            _array_api.NamespaceAndDevice("array_api_strict", None),
            _array_api.NamespaceAndDevice("weft", DEVICES[0]),
            "array_api_strict to weft",
        ),
    ]


if importlib.util.find_spec("sklearn"):
    _tell_sklearn()


def _tell_scipy():
    """SciPy's conftest.py adds a list to devices(), which is a tuple since version 2025.12 of the standard."""
    import weft

    info = weft.__array_namespace_info__
    devices = info.devices
    info.devices = lambda self: list(devices(self))


_tell_scipy()


def pytest_plugin_registered(plugin):
    """SciPy's conftest.py knows the namespaces by a list and a set."""
    if getattr(plugin, "__name__", "").endswith("conftest") and hasattr(plugin, "xp_known_backends"):
        plugin.xp_known_backends.add("weft")
        if DEVICES[0] != "cpu":
            plugin.xp_skip_cpu_only_backends.add("weft")


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    for fixture in metafunc._arg2fixturedefs.get("xp", ()):
        if fixture.params is not None:
            import weft

            fixture.params, fixture.ids = (weft,), ("weft",)


def pytest_collection_modifyitems(config, items):
    kept = [item for item in items if "weft" in item.name.partition("[")[2]]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept
    files = {item.nodeid.partition("::")[0] for item in kept}
    for reason, table in read(pathlib.Path(__file__).with_suffix(".toml")).items():
        for pattern in table["tests"]:
            matches = matcher(pattern)
            found = [item for item in kept if matches(item.nodeid)]
            if not found and pattern.partition("::")[0] in files and not config.option.keyword:
                raise pytest.UsageError(f"{pattern} ({reason}): there is no such test")
            for item in found:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=DEVICES[0] == "cpu"))
