#!/usr/bin/env python3
"""Measures what the tests catch: changes single places of the library at random, and runs the tests that claim the file.

    tests/planted/mutate.py [--count N] [--seed TEXT] [--rooms N] [--room PATTERN] [--work FOLDER] [--table FILE]

The chosen places, with the changed text beside the original one, are compiled into one set of test programs (build/mutants;
the rest comes from build/ci, which must be built, with its records). The environment switches one mutant on. A first run of
each test notes which places it reaches; a mutant then meets only tests that reach it, the quickest first, until one fails:
it is killed. The others have survived, unless tests/planted/equivalent.txt says, with the reason, that they are no errors.

The seed is the commit by default, so that the commits together try many places. Exit code 1: of the mutants that are not known
to be equivalent fewer than --least percent are killed.
"""
import argparse
import collections
import concurrent.futures
import fnmatch
import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import time

import mutant_sites
from mutant_build import Builder, run
from mutant_claims import Claims
from mutant_names import file_of, key_of, read_equivalent, stale

root = pathlib.Path(__file__).resolve().parents[2]
build = root / "build/ci"
EQUIVALENT = root / "tests/planted/equivalent.txt"
MOST = 1 << 16  # as in mutant.c
LEAST_TIME, TIMES, SLOWEST = 10, 8, 60
PAUSE = 0.5  # seconds: what a wait of a few milliseconds may take at most, unless the machine has stopped this program
MANY, WIDE = 100, 40  # fewer mutants than MANY leave out headers that more than WIDE files include: compiling takes longer

Unit = collections.namedtuple("Unit", "name program arguments environment")


def log(text):
    print(text, flush=True)


# -- choosing ------------------------------------------------------------------------------------------------------------

def draw_files(files, rooms, generator):
    """Files without end: one of each room in turn, so that small rooms are tried as often as large ones."""
    by_room = collections.defaultdict(list)
    for name, room in sorted(files.items()):
        by_room[room].append(name)
    chosen = sorted(by_room)
    generator.shuffle(chosen)
    for room in itertools.cycle(chosen[:rooms]):
        yield generator.choice(by_room[room])


def overlaps(site, others):
    return any(site.start < other.end and other.start < site.end for other in others)


def find_places(builder, names, count):
    """{file: [site]}."""
    units, first = builder.units_of(set(names)), collections.defaultdict(list)
    for name in sorted(set(names)):
        usable = [unit for unit in units.get(name, []) if unit in builder.commands]
        if usable and (count >= MANY or len(usable) <= WIDE):
            first[root / usable[0]].append(name)
    return mutant_sites.find(root, first, mutant_sites.read_commands(build), headers())


def read_known(builder):
    """{key: reason}, of equivalent.txt. Each line must name a mutant that there is: changed text wants the reason again."""
    known = read_equivalent(EQUIVALENT.read_text())
    places = find_places(builder, {file_of(key) for key in known}, MANY)
    lost = stale(known, itertools.chain.from_iterable(places.values()))
    if lost:
        sys.exit("\n".join([f"{EQUIVALENT.name} names mutants that are not there:", *lost]))
    return known


def draw(builder, files, options, generator):
    """{number: site}. The kinds of change in a file have equal chances."""
    drawn = list(itertools.islice(draw_files(files, options.rooms, generator), 3 * options.count))
    places = find_places(builder, drawn, options.count)
    taken, sites = collections.defaultdict(list), {}
    for name in drawn:
        by_kind = collections.defaultdict(list)
        for site in places.get(name, []):
            if not overlaps(site, taken[name]):
                by_kind[site.kind].append(site)
        if by_kind and len(sites) < options.count:
            site = generator.choice(by_kind[generator.choice(sorted(by_kind))])
            taken[name].append(site)
            sites[len(sites) + 1] = site
    return sites


def headers():
    """Where the compiler's own headers are: the parser has none."""
    path = run(["cc", "-print-file-name=include"]).stdout.strip()
    return ["-isystem", path]


# -- running -------------------------------------------------------------------------------------------------------------

def wait_at_most(process, limit):
    """Waits for a process; returns the seconds. A pause, in which a scheduler stops this program and its children, does not
    count: it would look like a mutant that runs for ever."""
    taken = 0
    while process.poll() is None and taken < limit:
        begin = time.monotonic()
        time.sleep(min(0.02, 0.001 + taken / 20))
        taken += min(time.monotonic() - begin, PAUSE)
    return taken


class Runner:
    def __init__(self, builder):
        self.builder, self.programs = builder, {}

    def start(self, unit, number, limit, trace=None):
        """Runs a unit; returns (passed, seconds)."""
        environment = {**os.environ, "ND4C_MUTANT": str(number), "OMP_WAIT_POLICY": "passive"}
        for key, value in unit.environment.items():
            environment.pop(key, None)
            if value is not None:
                environment[key] = value
        if trace is not None:
            environment["ND4C_MUTANT_TRACE"] = str(trace)
        process = subprocess.Popen([str(self.programs[unit.program]), *unit.arguments], env=environment, cwd=root,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        taken = wait_at_most(process, limit)
        if process.poll() is None:
            process.kill()
            process.wait()
        return process.returncode in (0, 77), taken

    def trace(self, unit):
        """(numbers of the mutants that it reaches, seconds); None for the numbers if it fails without a mutant."""
        file = self.builder.work / f"trace.{os.getpid()}.{abs(hash(unit.name + unit.program))}"
        file.write_bytes(bytes(MOST))
        passed, seconds = self.start(unit, 0, SLOWEST, file)
        reached = {number for number, byte in enumerate(file.read_bytes()) if byte}
        file.unlink()
        return (reached if passed else None), seconds

    def judge(self, number, units):
        """The unit that kills a mutant, or None, and how many have met it."""
        for met, (seconds, unit) in enumerate(units):
            if not self.start(unit, number, max(LEAST_TIME, TIMES * seconds))[0]:
                return unit.name, met + 1
        return None, len(units)


def trace_all(runner, units):
    """{number: [(seconds, unit)]}, the quickest first."""
    reaching = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for unit, (numbers, seconds) in zip(units, pool.map(runner.trace, units)):
            if numbers is None:
                log(f"left out, because without a mutant it fails or takes {seconds:.0f} seconds: {unit.name}")
            for number in numbers or ():
                reaching[number].append((seconds, unit))
    return {number: sorted(found, key=lambda pair: (pair[0], pair[1].name)) for number, found in reaching.items()}


# -- judging -------------------------------------------------------------------------------------------------------------

def judge_all(runner, sites, reaching, known):
    rows = []
    def one(number):
        site = sites[number]
        killer, met = runner.judge(number, reaching.get(number, []))
        verdict = "killed" if killer else "equivalent" if key_of(site) in known else "survived" if met else "not reached"
        row = {"verdict": verdict, "key": key_of(site), "line": site.line, "by": killer, "tests": met}
        log(f"{verdict:11s} {site.file}:{site.line} {site.kind}: {' '.join(site.original.split())[:60]}"
            + (f"   [{killer}]" if killer else f"   ({met} tests)"))
        return row
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        rows = list(pool.map(one, sorted(sites)))
    return rows


def summarize(rows, files):
    rooms = collections.defaultdict(collections.Counter)
    for row in rows:
        rooms["/".join(files[file_of(row["key"])])][row["verdict"]] += 1
    total = sum(rooms.values(), collections.Counter())
    log(f"{'room':32s} {'killed':>7s} {'survived':>9s} {'unreached':>10s} {'equivalent':>11s}")
    for room, counts in [*sorted(rooms.items()), ("all", total)]:
        log(f"{room:32s} {counts['killed']:7d} {counts['survived']:9d} {counts['not reached']:10d} {counts['equivalent']:11d}")
    judged = total["killed"] + total["survived"] + total["not reached"]
    share = 100 * total["killed"] / max(judged, 1)
    log(f"killed {total['killed']} of {judged} that are not equivalent: {share:.1f} %")
    return share


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20, help="how many mutants")
    parser.add_argument("--seed", help="text that chooses them; default: the commit")
    parser.add_argument("--rooms", type=int, help="from how many families and layers at most")
    parser.add_argument("--room", default="*", help="from those alone that this pattern fits: simd/reduction, 'src/graph*'")
    parser.add_argument("--least", type=float, default=95, help="percent that must be killed, default 95")
    parser.add_argument("--work", type=pathlib.Path, default=root / "build/mutants", help="where it builds, for runs at once")
    parser.add_argument("--table", type=pathlib.Path, help="writes the verdicts there, as JSON")
    options = parser.parse_args()
    seed = options.seed or run(["git", "-C", str(root), "rev-parse", "HEAD"]).stdout.strip()
    log(f"seed {seed}")
    builder, claims = Builder(root, build, options.work.resolve()), Claims(root, build)
    files = {name: room for name, room in claims.files().items() if fnmatch.fnmatch("/".join(room), options.room)}
    if not files:
        sys.exit("no such room; there are " + " ".join(sorted({"/".join(room) for room in claims.files().values()})))
    options.work.mkdir(parents=True, exist_ok=True)
    known = read_known(builder)
    sites = builder.make(draw(builder, files, options, random.Random(seed)), log)
    units = {}
    for room in {files[site.file] for site in sites.values()}:
        for unit in map(lambda fields: Unit(*fields), claims.units(room)):
            units.setdefault((unit.name, unit.program), unit)
    runner = Runner(builder)
    for program in sorted({unit.program for unit in units.values()}):
        runner.programs[program] = builder.link(program)
    log(f"{len(units)} tests claim the files of {len(sites)} mutants: running them without any")
    reaching = trace_all(runner, list(units.values()))
    rows = judge_all(runner, sites, reaching, known)
    if options.table:
        options.table.write_text(json.dumps({"seed": seed, "mutants": rows}, indent=1) + "\n")
    return 0 if summarize(rows, files) >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
