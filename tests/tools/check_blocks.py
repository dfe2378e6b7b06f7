#!/usr/bin/env python3
"""Checks every fenced block of the documents: C is compiled, and run if it has a main; Python is run; their output must be the
page's. Shell must name programs, options and variables that exist. A block that is only indented, or whose language has no
check, is refused, so that every block is checked.

    check_blocks.py --source . --build build/ci --cc cc [--python PYTHON] [PAGE...]

PAGES: those of docs/, README.md and the READMEs that pages link to. blocks/reading.py says which comments steer a
check. Without --python, or if that Python lacks NumPy or einops, blocks of Python are only read, and a line reports that.
"""

import argparse
import collections
import concurrent.futures
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from blocks import reading
from blocks.shell import Shell

HEADERS = ("stdio.h", "string.h", "nd4c/nd4c.h", "nd4c/collective.h", "nd4c/plugin.h")  # of a block without #include
INCLUDES = "".join("#include <%s>\n" % header for header in HEADERS)
CMAKE_NAME = re.compile(r"^\s*(\w+)\s*\(", re.M)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--cxx", help="a C++ compiler; none: blocks of C++ are counted as not compiled")
    parser.add_argument("--python")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    given = parser.parse_args()
    given.source, given.build = given.source.resolve(), given.build.resolve()
    return given


def all_pages(source):
    pages = [source / "README.md", source / "bindings/python/README.md", *sorted(source.glob("examples/*/README.md"))]
    pages += [page for page in sorted(source.glob("docs/**/*.md"))]
    pages += [page for page in (source / "CONTRIBUTING.md", source / "CHANGELOG.md") if page.exists()]
    return pages


class Checks:
    """A method for each language: block -> complaint or None."""

    def __init__(self, given, work):
        self.given, self.work = given, pathlib.Path(work)
        self.shell = Shell(str(given.source), str(given.build))
        self.counts = collections.Counter()
        self.cmake_names = None

    def compile(self, text, *flags, language="c"):
        """Compiles with all warnings as errors; returns what the compiler says, "" if it accepts."""
        file = self.work / ("block%d.%s" % (id(text), language))
        file.write_text(text, encoding="utf-8")
        compiler = [self.given.cc, "-std=c17"] if language == "c" else [self.given.cxx, "-std=c++17"]
        done = subprocess.run(
            [
                *compiler,
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Werror",
                "-I%s" % (self.given.source / "include"),
                str(file),
                *flags,
            ],
            capture_output=True,
            text=True,
        )
        return "" if done.returncode == 0 else "\n".join(done.stderr.split("\n")[:12])

    def cpp(self, block):
        if not self.given.cxx:
            self.counts["C++, not compiled: no compiler was given"] += 1
            return None
        return self.c(block, "cpp")

    def c(self, block, language="c"):
        if "int main(" in block.text:
            return self.program(block, language)
        text = (
            block.text
            if block.given is None
            else "void fragment(void);\nvoid fragment(void) {\n%s\n%s}\n" % (block.given, block.text)
        )
        said = self.compile(
            (INCLUDES if block.given is not None or "#include" not in text else "") + text,
            "-fsyntax-only",
            "-Wno-unused",
            "-Wno-unused-parameter",
            language=language,
        )
        self.counts["C, compiled" if language == "c" else "C++, compiled"] += 1
        return said and "does not compile; a comment <!-- given: ... --> may declare what it uses:\n" + said

    def program(self, block, language):
        program, library = self.work / ("program%d" % id(block)), self.given.build / "lib"
        said = self.compile(
            block.text,
            "-L%s" % library,
            "-lnd4c",
            "-lm",
            "-Wl,-rpath,%s" % library,
            "-o",
            str(program),
            language=language,
        )
        if said:
            return "does not compile:\n" + said
        done = subprocess.run([str(program)], capture_output=True, text=True, cwd=self.given.source, timeout=60)
        self.counts["C, run" if language == "c" else "C++, run"] += 1
        if done.returncode != 0:
            return "fails: " + done.stderr
        return different(block.output, done.stdout)

    def sh(self, block):
        complaints, ran = self.shell.check(block)
        self.counts["shell, read"] += 1
        self.counts["commands, run"] += ran
        return "\n".join(complaints)

    bash = sh

    def cmake(self, block):
        if self.cmake_names is None:
            done = subprocess.run(["cmake", "--help-command-list"], capture_output=True, text=True, check=True)
            self.cmake_names = set(done.stdout.split())
        self.counts["CMake, read"] += 1
        unknown = [name for name in CMAKE_NAME.findall(block.text) if name.lower() not in self.cmake_names]
        return unknown and "CMake has no command " + ", ".join(unknown)

    def json(self, block):
        self.counts["JSON, read"] += 1
        try:
            json.loads(block.text)
        except ValueError as error:
            return str(error)

    def java(self, block):
        name = re.search(r"\b(?:class|interface|record|enum) (\w+)", block.text)
        try:
            file = self.work / ((name.group(1) if name else "Block") + ".java")
            file.write_text(
                block.text if name else "class Block { void run() throws Throwable {\n%s}}\n" % block.text,
                encoding="utf-8",
            )
            done = subprocess.run(
                ["javac", "-proc:none", "-d", str(self.work), str(file)], capture_output=True, text=True
            )
        except FileNotFoundError:
            self.counts["Java, not compiled: javac is not installed"] += 1
            return None
        self.counts["Java, compiled"] += 1
        return done.stderr if done.returncode != 0 else None

    def text(self, block):
        self.counts["text"] += 1

    dockerfile = ini = diff = text


def different(expected, printed):
    """The page's output lines that the block does not print; a block without output is not compared."""
    if expected is None or expected == printed:
        return None
    lines = difflib.unified_diff(expected.split("\n"), printed.split("\n"), "the page", "the program", lineterm="")
    return "prints something else than the page says:\n" + "\n".join(lines)


def python_pages(given, pages, counts, pool):
    """Runs the blocks of Python of each page in a process of their own; complaints."""
    runner = given.source / "tests/python/page_blocks.py"
    environment = dict(os.environ, PYTHONPATH=str(given.build / "python"), PYTHONDONTWRITEBYTECODE="1")
    python = given.python or sys.executable
    needed = "import nd4c, numpy, einops" if given.build.joinpath("python/nd4c").exists() else "raise SystemExit(1)"
    if subprocess.run([python, "-c", needed], env=environment, capture_output=True).returncode != 0:
        counts[
            "pages of Python, not run: no Python here has nd4c, NumPy and einops (pip install -r scripts/site.txt)"
        ] += len(pages)
        return []

    def run(page):
        command = [python, str(runner), "--check", str(page)]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    counts["pages of Python, run"] += len(pages)
    return [done.stdout + done.stderr for done in pool.map(run, pages) if done.returncode != 0]


def check_page(checks, page, text):
    name = os.path.relpath(page, checks.given.source)
    blocks, complaints = reading.read(text, name)
    c_blocks = [block for block in blocks if block.language == "c"]
    if "<!-- one file -->" in text and c_blocks:
        said = checks.compile("".join(block.text for block in c_blocks), "-fsyntax-only", "-Wno-unused-parameter")
        checks.counts["C, compiled"] += len(c_blocks)
        complaints += ["%s: the blocks of C, as one file, do not compile:\n%s" % (name, said)] if said else []
        blocks = [block for block in blocks if block.language != "c"]
    for block in blocks:
        if block.language == "python":
            checks.counts["Python"] += 1
            continue
        check = getattr(checks, block.language, None) if block.language.isalpha() else None
        said = (
            check(block)
            if check
            else "no check for the language '%s': use one of c, cpp, python, sh, cmake, json, java, text"
            % block.language
        )
        complaints += ["%s: %s" % (block.where, said)] if said else []
    return complaints, any(block.language == "python" for block in blocks)


def main():
    given = arguments()
    pages = given.pages or all_pages(given.source)
    with tempfile.TemporaryDirectory() as work, concurrent.futures.ThreadPoolExecutor(2) as pool:
        checks = Checks(given, work)
        texts = [page.read_text(encoding="utf-8") for page in pages]
        results = list(pool.map(lambda page, text: check_page(checks, page, text), pages, texts))
        complaints = [line for said, _ in results for line in said]
        with_python = [page for page, (_, python) in zip(pages, results) if python]
        complaints += python_pages(given, with_python, checks.counts, pool)
    for complaint in complaints:
        print(complaint.rstrip())
    print("%d pages; %s" % (len(pages), "; ".join("%s: %d" % pair for pair in sorted(checks.counts.items()))))
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
