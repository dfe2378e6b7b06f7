#!/usr/bin/env python3
"""Plants one error at a time in the kernels and checks that the conformance records catch it.

    tests/planted/plant.py [--seed N] [--room NAME] [--kinds bound,constant,...] [--records DIR] [--table FILE]

Works in a copy of the checkout (build/planted/tree), so the checkout stays as it is. The copy is built by the preset debug in
a folder at the same relative path as build/debug in the checkout, so that the compiler cache has most objects. --records:
recorded cases that are made already (build/debug/tests/records).

For every room and every kind of error it picks a place by the seed, rewrites that place, rebuilds nd4c_conformance and runs
the room's ops. The case that catches an error must pass after the error is removed. The table lists the place of each error
and the case that caught it; the exit code is 1 if one was not caught. A rewrite that does not compile does not count: the next
place is tried.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

root = pathlib.Path(__file__).resolve().parents[2]
tree = root / "build/planted/tree"
build = tree / "build/debug"
chosen = root / "build/planted/records"  # a folder a room: the files that hold cases of its ops
TARGETS = ["nd4c_conformance", "test_kernels_simd", "test_kernels_reduction"]

# A room is a family that has files of its own; families without any share the room `elementwise`. Places of a room are
# kernels/reference/<room>/ and backends/cpu/reference/<room>*.c; of engine simd, kernels/cpu/<room>/. BESIDE: further files that
# compute ops of the room, or parts of them.
SHARED = "elementwise"
BESIDE = {
    "contraction": ["backends/cpu/support/contraction.c", "backends/labels.h"],
    "creation": ["kernels/reference/indexing/parts.c"],
    "decomposition": ["backends/cpu/support/decomposition_*.c"],
    "image": ["src/dispatch/image/plain.c"],
    "statistics": ["kernels/reference/support/runs.c"],
    "text": [f"src/dispatch/text/{name}.c" for name in ("basic", "cast", "split", "tfidf", "text")],
}

# kind: (pattern, replacement) pairs; a place is one match on one line of code. A bound that is a number of two digits is
# how many terms of a series are summed: one less is within the tolerance, and no error.
KINDS = {
    "bound": [(r"(for \([^;]*; *\w+ < )(?!\d\d)([\w.>\-\[\]]+)(;)", r"\1\2 - 1\3"),
              (r"(for \((?:int\w+|size_t) \w+ = )0(;)", r"\g<1>1\2")],
    "constant": [(r"(?<![\w.])(\d+\.\d+)(?![\w.])", lambda m: repr(float(m.group(1)) * 1.01 + 0.001)),
                 (r"(?<=[-+*/] )([1-9])(?![\w.])", lambda m: str(int(m.group(1)) + 1))],
    "axis": [(r"\b(shape|strides)\[(axis|i|a|d|k)\]", r"\1[0]"),
             (r"\brank - 1\b", "0"), (r"\baxis \+ 1\b", "axis")],
    "rounding": [(r"\b(nearbyint|rint|roundeven|round)\(", "floor("), (r"\bfloor\(", "ceil("), (r"\bceil\(", "floor("),
                 (r"\btrunc\(", "floor("), (r"\bfmax\(", "fmin("), (r"\bfmin\(", "fmax(")],
    "operator": [(r"(?<=[\w)\]]) \+ (?=[\w(])", " - "), (r"(?<=[\w)\]]) \* (?=[\w(])", " + "),
                 (r"(?<=[\w)\]]) > (?=[\w(\-])", " <= "), (r"(?<=[\w)\]]) && (?=[\w(!])", " || "),
                 (r" \+= ", " -= "), (r" == ", " != ")],
}


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def files_of(room):
    """[(engine, files)] of a room."""
    patterns = {
        "reference": [f"kernels/reference/{room}/*.[ch]", f"backends/cpu/reference/{room}.c",
                      f"backends/cpu/reference/{room}_*.c", *BESIDE.get(room, [])],
        "simd": [f"kernels/cpu/{room}/*.[ch]"]}
    found = [(engine, [str(path.relative_to(tree)) for pattern in names for path in sorted(tree.glob(pattern))])
             for engine, names in patterns.items()]
    return [(engine, files) for engine, files in found if files]


def rooms():
    """Name: (ops, [(engine, files)]) from the op table and the folders."""
    ops = {}
    for header in sorted((tree / "include/nd4c/op_table").glob("*.h")):
        room = header.stem if files_of(header.stem) else SHARED
        ops.setdefault(room, []).extend(re.findall(r"\bOP\(\s*\d+, \d+, (\w+),", header.read_text()))
    return {room: (names, files_of(room)) for room, names in sorted(ops.items())}


def is_code(line):
    text = line.strip()
    return not (text.startswith(("/*", "*", "//", "#", "_Static_assert")) or "grain" in text or "reserve" in text)


def places(files, kind):
    """(file, line number, start, end, new text) of every place where an error of this kind can be planted."""
    found = []
    for name in files:
        for number, line in enumerate((tree / name).read_text().splitlines()):
            for pattern, replacement in KINDS[kind] if is_code(line) else ():
                for match in re.finditer(pattern, line):
                    new = replacement(match) if callable(replacement) else match.expand(replacement)
                    found.append((name, number, match.start(), match.end(), new))
    return found


def prepare(records):
    """Copies the checkout and builds it; returns the folder of the records."""
    tree.mkdir(parents=True, exist_ok=True)
    listed = run(["git", "-C", str(root), "ls-files"]).stdout.split("\n")
    for name in filter(None, listed):
        source, target = root / name, tree / name
        if source.is_file() and (not target.exists() or target.read_bytes() != source.read_bytes()):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read_bytes())
    done = run(["cmake", "--preset", "debug", "-S", str(tree)], cwd=tree)
    targets = TARGETS if records else [*TARGETS, "nd4c_cli"]
    done = done if done.returncode else run(["ninja", "-C", str(build), *targets])
    if done.returncode:
        sys.exit(done.stdout[-3000:])
    if records:
        return records.resolve()
    python = root / ".cache/venv/bin/python"
    done = run([str(python), str(tree / "tests/records/generate.py"), str(build / "bin/nd4c"),
                str(build / "tests/records")])
    if done.returncode:
        sys.exit(done.stdout[-3000:])
    return build / "tests/records"


def choose_records(records):
    """The folders of `chosen`: reading all records for each op would take longer than the tests."""
    shutil.rmtree(chosen, ignore_errors=True)
    head = re.compile(rb"[CR][\x01-\x7f]\0\0\0([a-z][a-z0-9_]*)")  # of a case: its kind, the length of a text, the text
    files = {path: set(head.findall(path.read_bytes())) for path in sorted(records.glob("*.rec"))}
    for room, (ops, _) in rooms().items():
        (chosen / room).mkdir(parents=True)
        for path, names in files.items():
            if any(op.encode() in names for op in ops):
                (chosen / room / path.name).symlink_to(path)


# Most errors show in the first; all cases take twenty times as long.
QUICK = ["--layout", "contiguous", "--mode", "fresh"]


def runs(engine):
    """(arguments, environment) of the runs of an op's records, the quick ones first. Engine simd runs as ctest runs it:
    once more with results of any size streamed."""
    plain = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    found = [(QUICK, plain), ([], plain)]
    if engine == "simd":
        found.append((["--seed", "3"], plain | {"ND4C_CPU_STREAM_BYTES": "1024"}))
    return found


def conformance(room, ops, engine):
    """The case that caught the error: (text, a function that repeats it), or None if everything passed."""
    for more, environment in runs(engine):
        for op in ops:
            failure = judge(room, op, engine, environment, more)
            if failure is not None:
                return failure, lambda: judge(room, op, engine, environment, more)
    for test in ("test_kernels_simd", "test_kernels_reduction") if engine == "simd" else ():
        failure = judge_kernels(test)
        if failure is not None:
            return failure, lambda: judge_kernels(test)
    return None


def judge_kernels(test):
    done = run([str(build / "tests/bin" / test)], env=runs("simd")[0][1])
    return next((x for x in done.stdout.splitlines() if "FAILED" in x or "!=" in x), test) if done.returncode else None


def judge(room, op, engine, environment, more):
    command = [str(build / "tests/bin/nd4c_conformance"), "--engine", engine, "--op", op, "--records",
               str(chosen / room), *more]
    try:
        done = run(command, timeout=600, env=environment)
    except subprocess.TimeoutExpired:
        return f"{op}: does not end"
    nothing = done.returncode == 1 and "\n0 passed, 0 failed," in done.stdout  # no case is left of a view
    if done.returncode in (0, 77) or nothing:
        return None
    line = next((x for x in done.stdout.splitlines() if "#" in x), f"{op}: exit {done.returncode}")
    return line.replace("nd4c_conformance --backend cpu ", "")


def plant(room, ops, engine, files, kind, rng):
    """A row of the table, or None if the kind has no place here."""
    candidates = places(files, kind)
    rng.shuffle(candidates)
    for name, number, start, end, new in candidates[:6]:
        target = tree / name
        original = target.read_text()
        lines = original.splitlines(keepends=True)
        lines[number] = lines[number][:start] + new + lines[number][end:]
        target.write_text("".join(lines))
        try:
            if run(["ninja", "-C", str(build), *TARGETS]).returncode:
                continue
            caught = conformance(room, ops, engine)
        finally:
            target.write_text(original)
        if caught is not None:
            caught, repeat = caught
            if run(["ninja", "-C", str(build), *TARGETS]).returncode or repeat() is not None:
                sys.exit(f"{room} fails with no error planted: {repeat()}")
        before, after = original.splitlines()[number].strip(), lines[number].strip()
        return room, engine, kind, f"{name}:{number + 1}", before, after, caught
    return None


def write_table(path, rows):
    cell = lambda text: "`" + str(text).replace("|", "\\|")[:110] + "`"
    head = "| room | engine | kind | place | was | became | caught by |\n|---|---|---|---|---|---|---|\n"
    path.write_text(head + "".join(
        f"| {f} | {e} | {k} | {p} | {cell(b)} | {cell(a)} | {cell(c) if c else '**missed**'} |\n"
        for f, e, k, p, b, a, c in rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--room", action="append")
    parser.add_argument("--kinds", default="", help="one of them a room by default, picked by the seed")
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--records", type=pathlib.Path)
    options = parser.parse_args()
    choose_records(prepare(options.records))
    rows, missed = [], 0
    for room, (ops, engines) in rooms().items():
        if options.room and room not in options.room:
            continue
        for engine, files in engines:
            rng = random.Random(f"{options.seed} {room} {engine}")
            kinds = options.kinds.split(",") if options.kinds else rng.sample(sorted(KINDS), len(KINDS))
            for kind in kinds:
                begin = time.monotonic()
                row = plant(room, ops, engine, files, kind, rng)
                if row is None:
                    continue
                rows.append(row)
                missed += row[-1] is None
                if options.table:
                    write_table(options.table, rows)
                print(f"{room:16} {engine:10} {kind:9} {row[3]:44} "
                      f"{'CAUGHT' if row[-1] else 'MISSED: ' + row[5]}  ({time.monotonic() - begin:.0f} s)", flush=True)
                if not options.kinds:
                    break
            if not any(row[:2] == (room, engine) for row in rows):
                missed += 1
                print(f"{room:16} {engine:10} NO PLACE: name the room's kernels in BESIDE", flush=True)
    caught = sum(row[-1] is not None for row in rows)
    print(f"{caught} passed, {missed} failed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
