#!/usr/bin/env python3
"""No cycle of calls between the folders of src: the symbols that an object file defines and needs, from nm, summed by folder.
Hooks (base/hook.h) let lower folders call a higher folder without naming it; the check counts them.

Usage: check_calls.py FOLDER_OF_OBJECTS OBJECT..."""

import collections
import os
import subprocess
import sys


def read(objects, root):
    """(symbol -> file that defines it, file -> symbols that it needs, list of hooks -> files with an entry)"""
    home, needs, hooks = {}, collections.defaultdict(set), collections.defaultdict(set)
    listing = subprocess.run(["nm", "-A", "-g", *objects], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        path, rest = line.rsplit(":", 1)
        fields, file = rest.split(), os.path.relpath(path, root)
        if fields[-2] in "Uvw":
            needs[file].add(fields[-1])
        else:
            home[fields[-1]] = file
    headers = subprocess.run(["objdump", "-h", *objects], capture_output=True, text=True, check=True).stdout
    file = None
    for line in headers.splitlines():
        if line.endswith(("elf64-x86-64", "elf64-littleaarch64")):
            file = os.path.relpath(line.split(":", 1)[0], root)
        fields = line.split()
        if len(fields) > 2 and fields[0].isdigit() and fields[1].startswith("nd4c_"):
            hooks[fields[1][len("nd4c_") :]].add(file)
    return home, needs, hooks


def calls_between(home, needs):
    """(calling folder, called folder) -> calls "file: symbol of file" """
    calls = collections.defaultdict(list)
    for file, symbols in needs.items():
        for symbol in symbols:
            called = home.get(symbol)
            if called is not None and os.path.dirname(called) != os.path.dirname(file):
                calls[os.path.dirname(file), os.path.dirname(called)].append(f"{file}: {symbol} of {called}")
    return calls


def order_of(calls):
    """The folders from the lowest up, without those that call each other and what lies above them."""
    folders = {folder for pair in calls for folder in pair}
    below = {folder: {b for a, b in calls if a == folder} for folder in folders}
    order = []
    while ready := sorted(f for f in folders if not (below[f] - set(order)) and f not in order):
        order += ready
    return order


def reach(start, calls):
    """The folders that a folder calls, straight or by way of others."""
    seen, todo = set(), [start]
    while todo:
        at = todo.pop()
        found = {b for a, b in calls if a == at} - seen
        seen |= found
        todo += found
    return seen


def check(home, needs):
    calls = calls_between(home, needs)
    reached = {folder: reach(folder, calls) for folder in {b for _, b in calls}}
    return order_of(calls), [(a, b, sorted(lines)) for (a, b), lines in sorted(calls.items()) if a in reached[b]]


def notices():
    """The check must find a planted cycle."""
    home = {"low": "base/a.o", "high": "graph/b.o", "middle": "device/c.o"}
    sound = {"graph/b.o": {"low", "middle"}, "device/c.o": {"low", "getenv"}}
    assert check(home, sound) == (["base", "device", "graph"], [])
    broken = {**sound, "base/a.o": {"high"}}
    assert [(a, b) for a, b, _ in check(home, broken)[1]] == [
        ("base", "graph"), ("device", "base"), ("graph", "base"), ("graph", "device")]


def main():
    notices()
    root, objects = sys.argv[1], sys.argv[2:]
    home, needs, hooks = read(objects, root)
    order, upward = check(home, needs)
    print("folders from the lowest up:", ", ".join(order))
    for name, files in sorted(hooks.items()):
        print(f"hook {name}: {', '.join(sorted(files))}")
    for a, b, lines in upward:
        print(f"{a} and {b} call each other, straight or by way of others:")
        for line in lines[:8]:
            print("   ", line)
    if len(objects) < 200 or not hooks:
        sys.exit("the check reads the wrong files")
    sys.exit(1 if upward else 0)


main()
