#!/usr/bin/env python3
"""Checks the sizes and names of folders and files for the test layers.rooms: no folder has more than 40 source files, no
source file has more than 700 lines, no two source files of a folder have names that differ by a plural, and each C file opens
with a comment that says more than the name of a header.

Usage: check_rooms.py SOURCE_DIR"""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile

MOST_FILES = 40
MOST_LINES = 700
ENDINGS = {".c", ".h", ".cc", ".cl", ".inc", ".py", ".sh", ".java"}
C_ENDINGS = {".c", ".h", ".cl", ".inc"}
LEFT_OUT = {".git", ".cache", "build"}
# A second comment or code directly below does not repair an opening that only points elsewhere.
OPENING = re.compile(r"/\*(?!\s*See \S+\.?\s*\*/)")


def source_files(root):
    """The source files that git tracks or does not ignore, as paths below root; without git, those outside of build
    folders."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, text=True, check=False)
    if listed.returncode == 0 and (root / ".git").exists():
        names = [pathlib.PurePath(line) for line in listed.stdout.splitlines()]
    else:
        names = [path.relative_to(root) for path in root.rglob("*") if not LEFT_OUT & set(path.relative_to(root).parts)]
    return sorted(name for name in names if name.suffix in ENDINGS and (root / name).is_file())


def plurals(stem):
    """The possible plurals of a name."""
    yield stem + "s"
    if stem.endswith("y"):
        yield stem[:-1] + "ies"
    if stem.endswith(("s", "x", "z", "ch", "sh")):
        yield stem + "es"
    if stem.endswith(("ex", "ix")):
        yield stem[:-2] + "ices"
    if stem.endswith("is"):
        yield stem[:-2] + "es"


def faults(root):
    """The faults of the tree, one line each."""
    folders = collections.defaultdict(list)
    for name in source_files(root):
        folders[name.parent].append(name)
        text = (root / name).read_text(encoding="utf-8", errors="replace")
        if text.count("\n") > MOST_LINES:
            yield f"{name}: {text.count(chr(10))} lines, of {MOST_LINES} at most: give each of its ideas a file"
        if name.suffix in C_ENDINGS and not OPENING.match(text):
            yield f"{name}: open with a comment that says what the file is for and who calls it"
    for folder, names in sorted(folders.items()):
        if len(names) > MOST_FILES:
            yield f"{folder}: {len(names)} source files, of {MOST_FILES} at most: give the folder rooms"
        stems = {name.stem for name in names}
        for stem in sorted(stems):
            for plural in plurals(stem):
                if plural in stems:
                    yield f"{folder}: {stem} and {plural} differ by a plural: name each file by what it has"


def plant(files):
    """The faults of a tree that has these files: path -> number of lines, or the file's text."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, lines in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(lines if isinstance(lines, str) else "/* */" + "\n" * lines)
        return list(faults(root))


def check_itself():
    """A tree without faults has none, and each kind of fault is found."""
    forty = {f"src/a/file{i}.c": 1 for i in range(MOST_FILES)}
    trees = [
        (forty | {"src/a/b/file.c": MOST_LINES, "src/a/readme.md": 9999, "src/step.c": 1, "src/a/steps.c.in": 1}, 0),
        (forty | {"src/a/one.c": 1}, 1),
        ({"src/a.c": MOST_LINES + 1}, 1),
        ({"src/step.c": 1, "src/steps.h": 1}, 1),
        ({"src/copy.c": 1, "src/copies.c": 1}, 1),
        ({"src/process.c": 1, "src/processes.c": 1}, 1),
        ({"src/axis.c": 1, "src/axes.c": 1, "src/index.c": 1, "src/indices.h": 1}, 2),
        ({"src/step.c": 1, "src/step.h": 1, "src/a/steps.c": 1}, 0),
        ({"src/a.c": "#include <math.h>\n", "src/b.c": "/* See a.h. */\n", "src/c.c": "/* See a.h for b. */\n"}, 2),
    ]
    for files, expected in trees:
        found = plant(files)
        if len(found) != expected:
            return f"check_rooms.py is wrong: {expected} faults were planted, it found {found}"
    return None


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    wrong = check_itself()
    if wrong:
        sys.exit(wrong)
    found = list(faults(pathlib.Path(sys.argv[1]).resolve()))
    print("\n".join(found) or "Each folder has room for its files")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
