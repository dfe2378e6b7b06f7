"""The pytest plugin that collects NumPy's test files (files.py) by the rule (selection.py), limits each test's time, counts
per file, and compares the counts with the floors. A skipped test counts as a failed one."""
import collections
import faulthandler
import os
import pathlib
import resource
import signal

import hypothesis
import numpy
import pytest

from . import files, selection, standins

_SECONDS = 20  # of processor time that one test may take
_MEMORY = 8 << 30  # address space beyond what the process has after its start

hypothesis.settings.register_profile("numpy", deadline=None, database=None, derandomize=True, max_examples=50,
                                     suppress_health_check=list(hypothesis.HealthCheck))
hypothesis.settings.load_profile("numpy")


def pytest_addoption(parser):
    group = parser.getgroup("numpy-suite")
    group.addoption("--numpy-file", action="append", default=[], help="one of the rule's files (default: all)")
    group.addoption("--numpy-part", help="K/N: of the files those at the positions K, K + N, ...")
    group.addoption("--of-numpy", action="store_true", help="run the tests against NumPy itself, to test the harness")
    group.addoption("--update-floors", action="store_true", help="write floors.txt")


def pytest_configure(config):
    if config.getoption("update_floors") and config.getoption("numpy_part"):
        raise pytest.UsageError("--update-floors takes the whole selection, not --numpy-part")
    if config.getoption("of_numpy"):
        standins.prefix = ""
    config.numpy_paths = []  # the files of this run
    config.pluginmanager.register(_Counts(config), "numpy-suite-counts")
    for marker in "slow slow_pypy thread_unsafe parallel_threads iterations valgrind_error leaks_references".split():
        config.addinivalue_line("markers", marker)
    used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, resource.RLIM_INFINITY))


def pytest_collect_file(file_path, parent):
    return _Rule.from_parent(parent, path=file_path) if file_path == selection.RULE else None


class _Rule(pytest.Collector):
    """selection.txt as what pytest collects."""

    def __init__(self, path, **named):
        super().__init__(name="numpy", path=path, **named)

    def collect(self):
        root = pathlib.Path(numpy.__file__).parent
        named = self.config.getoption("numpy_file")
        paths = [one for name in named for one in selection.listed(name)] or selection.Selection().files
        if self.config.getoption("numpy_part"):
            first, parts = map(int, self.config.getoption("numpy_part").split("/"))
            paths = paths[first::parts]
        self.config.numpy_paths = list(map(str, paths))
        return [_File.from_parent(self, path=root / path, nodeid=path) for path in paths]


class _File(pytest.Module):
    """One of NumPy's test files."""

    def _getobj(self):
        return files.load(self.path, "nd4c_runs_" + self.path.stem)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    rule = selection.Selection()
    kept, left = [], []
    for item in items:
        path, _, test = item.nodeid.partition("::")
        values = item.callspec.params.values() if hasattr(item, "callspec") else ()
        (kept if rule.takes(path, test, values) else left).append(item)
    config.hook.pytest_deselected(items=left)
    items[:] = kept


class TestTimeout(BaseException):
    """A test took longer than it may."""
    __test__ = False


def _stop(number, frame):
    raise TestTimeout("more than %d s of processor time" % _SECONDS)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    faulthandler.dump_traceback_later(10 * _SECONDS, exit=True)  # a C function that does not return
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, _SECONDS)
    try:
        return (yield)
    except TestTimeout as error:
        raise AssertionError(str(error)) from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


class _Counts:
    """Counts per file, and the verdict."""

    def __init__(self, config):
        self.config = config
        self.outcomes = {}
        self.unloaded = collections.OrderedDict()

    def pytest_collectreport(self, report):
        if report.failed:
            self.unloaded[report.nodeid] = True

    def pytest_runtest_logreport(self, report):
        good = report.outcome == "passed" and not hasattr(report, "wasxfail")
        self.outcomes[report.nodeid] = good and self.outcomes.get(report.nodeid, True)

    @property
    def counts(self):
        counts = {}
        for node, good in self.outcomes.items():
            path = node.partition("::")[0]
            passed, total = counts.get(path, (0, 0))
            counts[path] = passed + good, total + 1
        return counts

    def missed(self):
        """The files that pass fewer tests than their floor, as texts. None are checked where only a part was run."""
        options = self.config.option
        if options.keyword or options.maxfail:
            return []
        counts, floors = self.counts, selection.floors()
        return ["%s: %d pass, the floor is %d" % (path, counts.get(path, (0, 0))[0], floors[path])
                for path in self.config.numpy_paths if counts.get(path, (0, 0))[0] < floors.get(path, 0)]

    def pytest_sessionfinish(self, session):
        faulthandler.cancel_dump_traceback_later()
        if self.config.option.update_floors:
            selection.write_floors(self.counts)
        wrong = self.missed() or self.unloaded or selection.unlisted() or not self.outcomes
        session.exitstatus = 1 if wrong else 0

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter):
        yield
        line = terminalreporter.write_line
        counts = self.counts
        rows = sorted(counts.items())
        rows.append(("all", tuple(map(sum, zip(*counts.values()))) or (0, 0)))
        for path, (passed, total) in rows:
            line("%-40s %5d of %5d pass, %5.1f %%" % (path, passed, total, 100 * passed / max(total, 1)))
        for text in self.missed():
            line("BELOW ITS FLOOR: " + text)
        for path in selection.unlisted():
            line("HAS A FLOOR BUT IS NOT SELECTED: " + path)
        for path in self.unloaded:
            line("NOT LOADED: " + path)
