"""bench/compare --against: an older build of nd4c and a newer one, in turns; judge.py says what follows from the times.

Each side is a process of its own: the old build, the old build once more (the control) and the new one.

- A process holds one libnd4c.so: two in one process would share libgomp's threads, OpenBLAS, oneDNN and the loader's symbols.
  Plug-ins fit the build that they were compiled for, so each process finds those of its own build.
- All three call the public C API, which is the same in both builds, through the Python files and the C loops of the new build,
  so only libnd4c.so differs. Rows of the group `python` are the exception: they measure the package, so each process imports
  the package of its own build.
- Each process loads a copy of its libnd4c.so, made for it. Processes that load one file share its pages in memory, and the
  addresses of the pages decide which cache lines evict each other. Without the copies, the old build and its control would be
  closer to each other than two builds of the same code are (by 2 % in calls of 30 ns).
- A process runs during its turn, and is stopped (SIGSTOP) otherwise; nothing is pinned to a processor. The three take turns in
  all six orders, so that none of them always follows the same other one.
- Processes live for a batch of rows. A pass over a group measures each of its rows once, so passes see fresh processes:
  addresses and pages differ between two processes that run the same library, and the control's spread must include that
  difference."""

import datetime
import itertools
import json
import math
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

import judge
import nd4c  # tests/tools/nd4c.py
import rows
import running
import worker
from performance_page import duration

SIDES = ("old", "control", "new")
ORDERS = list(itertools.permutations(SIDES))  # a pass has a round of each
ENOUGH = 3  # rounds of a pass that are made in any case
TRIES = ((2e6, 15), (running.SLOW_NS, 5), (2e8, 3), (math.inf, 1))  # calls shorter than this: the parts of a sample, of which the least
# counts: other work interrupts some of them, slower code slows down all
PART = 5  # a part of short calls is that part of a sample of the comparison with peers
BATCH = 8  # rows that the same processes measure
INFO_MS, INFO_RUNS = 30, 21


class Failed(Exception):
    """A side cannot do what a row asks."""

    def __init__(self, side, why):
        super().__init__(why)
        self.side = side


class Measured:
    """A group's clusters (judge.py), and the rows that are not compared: row -> why."""

    def __init__(self):
        self.clusters, self.left_out, self.lost = [], {}, {}

    def note(self, row, side, why):
        if side == "new":
            self.lost[row.name] = why
        else:
            self.left_out[row.name] = f"{side}: {why}"


def folder_of(build):
    """The build folder of BUILD, which may be a libnd4c.so."""
    return build.parent.parent if build.is_file() else build


def group_of(name):
    if name == "python":
        import package

        return package.GROUP
    return rows.load(name)


def copy_library(build, folder):
    """A copy of the build's libnd4c.so, with links to the files beside the original, where it looks for vendors' libraries."""
    source = nd4c.find_library(build).resolve()
    if not source.is_file():
        raise FileNotFoundError(f"there is no {source}; is it built?")
    folder.mkdir()
    for each in source.parent.iterdir():
        if not each.name.startswith("libnd4c.so"):
            (folder / each.name).symlink_to(each)
    return pathlib.Path(shutil.copyfile(source, folder / "libnd4c.so"))


class Sides(dict):
    """The processes of all sides; `peer` has the meaning that it has in worker.py."""

    def __init__(self, peer, old, new):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="nd4c-against-")
        try:
            for side, build in zip(SIDES, (old, old, new)):
                library = copy_library(build, pathlib.Path(self.folder.name) / side)
                self[side] = worker.Worker(peer, library, folder_of(build if peer == "package" else new))
                if isinstance(self[side].state, Exception):
                    raise Failed(side, f"{build}: {self[side].state}")
        except OSError as error:
            self.close()
            raise Failed(side, str(error)) from None
        except BaseException:
            self.close()
            raise

    def close(self):
        for each in self.values():
            each.close()
        self.folder.cleanup()


def ask(sides, side, what, *arguments):
    try:
        return what(sides[side], *arguments)
    except RuntimeError as error:
        raise Failed(side, " ".join(str(error).split())[:200]) from None


def prepare(sides, row):
    results, refused, _ = running.prepare(sides, row)
    if refused:
        side = next(side for side in SIDES if side in refused)  # old first: a row that it cannot run is not lost
        raise Failed(side, refused[side])
    wrong = running.difference(row, results["old"], results["new"])
    if wrong:
        raise Failed("new", f"another result than old's: {wrong}")


def measure_row(sides, row, seconds):
    """The rounds of one pass: times of old, control and new."""
    prepare(sides, row)
    once = min(ask(sides, side, running.time_once, row) for side in SIDES)
    tries = next(count for limit, count in TRIES if once < limit)
    repeats = math.ceil(running.repeats_for(once, once) / PART)
    rounds, begin = [], time.perf_counter()
    for order in ORDERS:
        times = {side: ask(sides, side, running.sample, row, repeats, tries) for side in order}
        rounds.append([times[side] for side in SIDES])
        if time.perf_counter() - begin > seconds and len(rounds) >= ENOUGH:
            break
    for side in SIDES:
        ask(sides, side, worker.Worker.ask, "drop", row.name)
    return rounds


class Comparison:
    def __init__(self, options):
        self.old, self.new = options.against.resolve(), options.build.resolve()
        self.quick = options.quick
        self.seconds = 1.0 if options.quick else 4.0

    def measure_batch(self, peer, batch, measured):
        sides, cluster = Sides(peer, self.old, self.new), {}
        try:
            for row in batch:
                try:
                    cluster[row.name] = measure_row(sides, row, self.seconds)
                except Failed as error:
                    measured.note(row, error.side, str(error))
        finally:
            sides.close()
        if cluster:
            measured.clusters.append(cluster)

    def measure(self, name, chosen):
        """Runs passes until there are enough clusters and the control is precise, or until the limit of passes is reached."""
        peer, measured = "package" if name == "python" else "nd4c", Measured()
        batches = [chosen[begin : begin + BATCH] for begin in range(0, len(chosen), BATCH)]
        least = max(1 if self.quick else 3, math.ceil(judge.CLUSTERS / len(batches)))
        most = least * (2 if self.quick else 3)
        for number in range(most):
            for k, batch in enumerate(batches):
                progress(f"{name}: pass {number + 1} of {least} to {most}, row {k * BATCH + 1} of {len(chosen)}")
                known = {**measured.left_out, **measured.lost}
                self.measure_batch(peer, [row for row in batch if row.name not in known], measured)
            if not measured.clusters or judge.enough(measured.clusters, least * len(batches)):
                break
        progress("")
        return measured


def progress(text):
    """One progress line: overwritten on a terminal, appended in a file."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    elif text:
        print(text, file=sys.stderr, flush=True)


def row_line(name, found):
    mark = "  slower" if found.slower() else ""
    return (f"  {name:44} {duration(found.old):>9} {duration(found.new):>9}  {found.ratio:7.3f}  {found.control:7.3f}  "
            f"{found.low:.3f} to {found.high:.3f}{mark}")


def group_line(name, count, found):
    return (f"{name:16} {count:4}  {found.ratio:7.3f}  {found.control:7.3f}  {found.low():.3f} to {found.high():.3f}  "
            f"{found.clusters:8}  {found.verdict}")


def tell(group, measured, lines, found):
    """A group's rows."""
    print(f"\n{group.title}\n  {'':44} {'old':>9} {'new':>9}  old/new  control  middle 80 % of the control's rounds")
    for name, line in lines.items():
        print(row_line(name, line))
    for name, why in measured.left_out.items():
        print(f"  {name:44} left out: {why}")
    for name, why in measured.lost.items():
        print(f"  {name:44} LOST: {why}")
    if found:
        print(group_line("geometric mean", len(lines), found), flush=True)


def small_calls(lines):
    """The mean cost of an eager call, old and new; None where that group was not measured."""
    if not lines:
        return None
    old, new = (math.exp(sum(math.log(getattr(line, side)) for line in lines.values()) / len(lines)) for side in ("old", "new"))
    print(f"small calls: {old:.1f} ns before, {new:.1f} ns now an eager call (geometric mean of {len(lines)} rows)")
    return {"old": old, "new": new}


def processor_ms(program):
    pid = os.posix_spawn(program, [program, "info"], os.environ,
                         file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise RuntimeError(f"{program} info fails")
    return 1e3 * (usage.ru_utime + usage.ru_stime)


def info_start(old, new):
    """`nd4c info` in processor time, the least of several runs, as tests/tools/check_info.sh has it; None: no program."""
    programs = {side: folder_of(build) / "bin" / "nd4c" for side, build in (("old", old), ("new", new))}
    lacking = [str(program) for program in programs.values() if not program.exists()]
    if lacking:
        print(f"nd4c info: not measured, no {', '.join(lacking)}")
        return None
    best = dict.fromkeys(programs, math.inf)
    for _ in range(INFO_RUNS):
        for side, program in programs.items():
            best[side] = min(best[side], processor_ms(program))
    met = "met" if best["new"] <= INFO_MS else "MISSED"
    print(f"nd4c info: {best['old']:.1f} ms before, {best['new']:.1f} ms now (processor time, the least of {INFO_RUNS} runs; "
          f"at most {INFO_MS} ms: {met})")
    return best


def library_bytes(old, new):
    sizes = {side: nd4c.find_library(build).stat().st_size for side, build in (("old", old), ("new", new))}
    print(f"libnd4c.so: {sizes['old']:,} bytes before, {sizes['new']:,} now ({sizes['new'] - sizes['old']:+,})")
    return sizes


def machine(comparison):
    """Engines and versions of both sides: a build without a vendor's library is not the one to compare with."""
    sides = Sides("nd4c", comparison.old, comparison.new)
    try:
        found = {side: ask(sides, side, worker.Worker.ask, "machine") for side in ("old", "new")}
    finally:
        sides.close()
    print(f"old: {comparison.old}\nnew: {comparison.new}\n{found['new'][0]}\n{found['new'][2]}")
    settings = " ".join(f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("ND4C_"))
    if settings:
        print(f"settings of both: {settings}")
    if found["old"][1] == found["new"][1]:
        print(f"engines: {found['new'][1]}")
    else:
        print(f"engines of old: {found['old'][1]}\nengines of new: {found['new'][1]}")
    return found


def verdict(results, info):
    """The program's last lines and its exit status: 1 if a group is slower or a row is lost, 2 if a group is not judged."""
    of = lambda what: [name for name, each in results.items() if each["group"] and each["group"].verdict == what]
    lost = [f"{name}: {row}" for name, each in results.items() for row in each["measured"].lost]
    bad = [f"slower: {', '.join(of('slower'))}"] if of("slower") else []
    bad += [f"lost: {', '.join(lost)}"] if lost else []
    bad += [f"nd4c info takes longer than {INFO_MS} ms"] if info and info["new"] > INFO_MS else []
    if bad:
        return "; ".join(bad), 1
    unjudged = of("too noisy") + [name for name, each in results.items() if not each["group"]]
    if unjudged:
        return f"not judged: {', '.join(unjudged)}", 2
    return "no group is slower", 0


def report(results):
    print(f"\n{'group':16} rows  old/new  control  spread          clusters  verdict")
    for name, each in results.items():
        if each["group"]:
            print(group_line(name, len(each["rows"]), each["group"]))
        else:
            print(f"{name:16}    0  nothing is compared")


def plain(result):
    """A group's part of the JSON file: its figures and the times from which they were computed."""
    measured = result["measured"]
    return {"group": result["group"] and {**vars(result["group"]), "low": result["group"].low(), "high": result["group"].high()},
            "rows": {name: vars(line) for name, line in result["rows"].items()},
            "left_out": measured.left_out, "lost": measured.lost,
            "clusters": [{name: [[float(f"{ns:.5g}") for ns in times] for times in rounds]
                          for name, rounds in cluster.items()} for cluster in measured.clusters]}


def run(options, pick):
    """pick: the rows of a group that are asked for. Returns the exit status."""
    comparison, results = Comparison(options), {}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # which removes the copies of the libraries
    try:
        about = machine(comparison)
        for name in options.only or [*rows.groups(), "python"]:
            group, chosen = group_of(name), pick(group_of(name))
            if not chosen:
                continue
            try:
                measured = comparison.measure(name, chosen)
            except Failed as error:
                if name != "python" or options.only:
                    raise
                print(f"\nleft out: {name}: {error}")  # a build may have no package
                continue
            lines = {row: judge.judge_row(rounds) for row, rounds in judge.rows_of(measured.clusters).items()}
            found = judge.judge_group(measured.clusters) if lines else None
            results[name] = {"measured": measured, "rows": lines, "group": found}
            tell(group, measured, lines, found)
    except Failed as error:
        sys.exit(f"bench/compare: {error}")
    report(results)
    small = small_calls(results.get("dispatch", {}).get("rows"))
    info, sizes = info_start(comparison.old, comparison.new), library_bytes(comparison.old, comparison.new)
    text, status = verdict(results, info)
    print(text)
    if options.json:
        data = {"date": datetime.datetime.now().isoformat(timespec="seconds"), "old": str(comparison.old),
                "new": str(comparison.new), "machine": about, "small_calls_ns": small, "info_ms": info,
                "library_bytes": sizes, "verdict": text, "status": status,
                "groups": {name: plain(each) for name, each in results.items()}}
        pathlib.Path(options.json).write_text(json.dumps(data) + "\n", encoding="utf-8")
    return status
