#!/usr/bin/env python3
"""Types the commands of the tutorials: it follows every page with a comment <!-- typed --> from top to bottom in an empty
home, in a folder that looks like a checkout. It compares the output of a block of shell with the block `output` after it; a
block after <!-- file: NAME --> becomes that file in the reader's current folder.

    check_tutorials.py --source . --build build/ci
"""

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from blocks import reading
from check_blocks import different

MARK = "=====block"


def script(blocks):
    """A script of bash that runs the blocks and prints a mark before the output of each block of shell."""
    lines = ["set -euo pipefail"]
    for number, block in enumerate(blocks):
        if block.file:
            lines += [
                "cat >'%s' <<'END OF %s'" % (block.file, block.file),
                block.text.rstrip("\n"),
                "END OF " + block.file,
            ]
        elif block.language == "sh" and not block.needs:
            lines += ["echo '%s %d'" % (MARK, number), block.text.rstrip("\n")]
    return "\n".join(lines) + "\n"


def checkout(given, work):
    """A folder with the parts of a checkout that tutorials use: the build as build/release, and the examples."""
    folder = work / "checkout"
    (folder / "build").mkdir(parents=True)
    (folder / "build/release").symlink_to(given.build)
    (folder / "examples").symlink_to(given.source / "examples")
    return folder


def follow(given, page, work):
    """Complaints about a page."""
    name = os.path.relpath(page, given.source)
    blocks, complaints = reading.read(page.read_text(encoding="utf-8"), name)
    home = work / "home"
    home.mkdir()
    environment = {
        key: value
        for key, value in os.environ.items()
        if key not in ("LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "DESTDIR")
    }
    done = subprocess.run(
        ["bash"],
        input=script(blocks),
        cwd=checkout(given, work),
        env=dict(environment, HOME=str(home)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    printed = {}
    for part in done.stdout.split(MARK + " ")[1:]:
        number, _, text = part.partition("\n")
        printed[int(number)] = text
    if done.returncode != 0:
        last = max(printed, default=0)
        return complaints + ["%s: the commands fail:\n%s" % (blocks[last].where, done.stderr)]
    for number, text in printed.items():
        fault = different(blocks[number].output, text)
        complaints += ["%s: %s" % (blocks[number].where, fault)] if fault else []
    print("%s: %d blocks typed" % (name, len(printed)))
    return complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    given = parser.parse_args()
    given.source, given.build = given.source.resolve(), given.build.resolve()
    pages = given.pages or sorted(given.source.glob("docs/tutorials/*.md"))
    typed = [page for page in pages if "<!-- typed -->" in page.read_text(encoding="utf-8")]
    complaints = []
    for page in typed:
        with tempfile.TemporaryDirectory() as work:
            complaints += follow(given, page.resolve(), pathlib.Path(work).resolve())
    print("\n".join(complaints + ["%d tutorials were followed" % len(typed)]))
    sys.exit(1 if complaints or not typed else 0)


if __name__ == "__main__":
    main()
