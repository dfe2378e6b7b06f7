#!/usr/bin/env python3
"""Files and folders that the documents name exist: `src/device/storage`, `storage_body.h`, `backends/<name>/`.

    check_named_files.py SOURCE_DIR            the test tools.named_files
    check_named_files.py SOURCE_DIR PAGE...    these pages alone

Looks at inline code outside fenced blocks. A name with one of the tree's top folders in front must be a file or folder
there; `*`, `<name>` and `{a,b}` stand for parts of names. A plain name that ends as a source file does must be the end of
some file's path, unless a block of the page shows it as a file of the reader's own, or C has a header of that name.
"""
import fnmatch
import itertools
import os
import pathlib
import re
import sys

TOPS = ("backends", "bench", "bindings", "cmake", "docs", "examples", "include", "kernels", "scripts", "src", "tests", "tools")
ROOTED = re.compile(r"(?:%s)/[\w./*<>{},-]*" % "|".join(TOPS))
PLAIN = re.compile(r"(?:[\w-]+/)*[\w-]+\.(?:c|h|cl|cc|py|sh|map)")
OF_C = {name + ".h" for name in ("complex", "errno", "limits", "locale", "math", "setjmp", "signal", "stdatomic", "stdbool",
                                 "stddef", "stdint", "stdio", "stdlib", "string", "threads", "time")}


def tree(source):
    """All files and folders of the repository, but for what is built; relative paths."""
    found = set()
    for folder, folders, files in os.walk(source):
        folders[:] = [f for f in folders if f not in ("build", "dist", ".git", ".cache", "__pycache__")]
        here = os.path.relpath(folder, source)
        found.update(os.path.normpath(os.path.join(here, name)) for name in folders + files)
    return found


def patterns(name):
    """Shell patterns for a name with `<...>` and `{a,b}`."""
    parts = [part.split(",") if i % 2 else [part] for i, part in enumerate(re.split(r"\{([^{}]*)\}", name))]
    for choice in itertools.product(*parts):
        yield re.sub(r"<[^<>]*>", "*", "".join(choice)).rstrip("/.,")


def spans(text):
    """(inline code, line) outside blocks, and the text of the blocks, fenced or indented."""
    inline, fenced, fence = [], [], False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fence = not fence
        elif fence or line.startswith("    "):
            fenced.append(line)
        else:
            inline += [(code, number) for code in re.findall(r"`([^`]+)`", line)]
    return inline, "\n".join(fenced)


def complaints(text, paths, names):
    inline, fenced = spans(text)
    for code, number in inline:
        if ROOTED.fullmatch(code):
            for pattern in patterns(code):
                exact = not re.search(r"[*?\[]", pattern)
                if not (pattern in paths if exact else fnmatch.filter(paths, pattern)):
                    yield number, "there is no %s" % pattern
        elif PLAIN.fullmatch(code) and code not in fenced and code not in OF_C:
            known = code in names if "/" not in code else any(path.endswith("/" + code) for path in paths)
            if not known:
                yield number, "no file of the tree is called %s" % code


def finds_planted(paths, names):
    """Whether three names that lead nowhere are found among three that do not."""
    text = "`src/gone.c` `gone_file.h` `src/base/{os.h,gone.h}` `src/base/os_*` `tests/<layer>/` `os.h`"
    return len(list(complaints(text, paths, names))) == 3


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    pages = [pathlib.Path(p) for p in sys.argv[2:]] or \
        [source / "README.md", source / "CONTRIBUTING.md", *sorted(source.glob("docs/**/*.md"))]
    paths = tree(source)
    names, failed = {os.path.basename(path) for path in paths}, 0
    if not finds_planted(paths, names):
        sys.exit("check_named_files.py does not find names that were planted")
    for page in pages:
        for number, said in complaints(page.read_text(encoding="utf-8"), paths, names):
            failed += 1
            print("%s:%d: %s" % (os.path.relpath(page, source), number, said))
    print("%d pages, %d names lead nowhere" % (len(pages), failed))
    sys.exit(1 if failed else 0)


main()
