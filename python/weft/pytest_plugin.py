"""pytest -p weft.pytest_plugin: the tests, and what they test, get weft where they import NumPy.

Nothing happens where the plugin is not named. `--weft-report` prints at the end what NumPy did.
"""

import weft


def pytest_addoption(parser):
    group = parser.getgroup("weft")
    group.addoption(
        "--weft-report", action="store_true", help="print at the end what ran where and what NumPy did"
    )


def pytest_report_header():
    return f"weft {weft.__version__} is installed: tests that import NumPy get weft"


def pytest_terminal_summary(terminalreporter, config):
    if config.getoption("--weft-report"):
        from weft._install import report

        terminalreporter.write_line(report.text())


weft.install()
