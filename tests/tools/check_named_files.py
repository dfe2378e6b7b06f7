#!/usr/bin/env python3
"""Files and folders that the documents and the comments of C name exist: `src/device/storage`, `storage_body.h`.

    check_named_files.py SOURCE_DIR            the test tools.named_files
    check_named_files.py SOURCE_DIR PAGE...    these pages alone

Looks at inline code outside fenced blocks. A name with one of the tree's top folders in front must be a file or folder
there; `*`, `<name>` and `{a,b}` stand for parts of names. A plain name that ends as a source file does must be the end of
some file's path, unless a block of the page shows it as a file of the reader's own, or C has a header of that name.
In comments of C and OpenCL C, every word that ends as a source file does must be the end of some file's path.
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

# Headers of other projects that comments name, and those that the build makes.
OF_OTHERS = {"dnnl_types.h", "clblast_c.h", "cblas.h", "turbojpeg.h", "png.h", "openjpeg.h", "pcre2.h", "cJSON.h", "ioapi.h",
             "unzip.h", "families.h", "kernel_tables.h"}
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
IN_COMMENT = re.compile(r"(?<![\w./<*{}-])(?:[\w-]+/)*[\w-]+\.(?:c|h|cl|cc|py|sh)\b(?![\w(])")


def tree(source):
    """All files and folders of the repository without build outputs; relative paths."""
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


def comment_complaints(text, ends):
    """Names in comments that do not end any path."""
    for match in COMMENT.finditer(text):
        for name in IN_COMMENT.finditer(match.group()) if match.group()[0] == "/" else ():
            if name.group() not in ends and name.group() not in OF_C and name.group() not in OF_OTHERS:
                line = text.count("\n", 0, match.start() + name.start()) + 1
                yield line, "no file of the tree is called %s" % name.group()


def finds_planted_in_comments(ends):
    text = '/* See os.h, base/os.h, gone.c and <stdio.h>. */ puts("gone.c"); // base/gone.h, stdint.h'
    return len(list(comment_complaints(text, ends))) == 2


def finds_planted(paths, names):
    """Whether the check finds three wrong names among three right ones."""
    text = "`src/gone.c` `gone_file.h` `src/base/{os.h,gone.h}` `src/base/os_*` `tests/<layer>/` `os.h`"
    return len(list(complaints(text, paths, names))) == 3


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    pages = [pathlib.Path(p) for p in sys.argv[2:]] or \
        [source / "README.md", source / "CONTRIBUTING.md", *sorted(source.glob("docs/**/*.md"))]
    paths = tree(source)
    names, failed = {os.path.basename(path) for path in paths}, 0
    ends = {path[at:] for path in paths for at in range(len(path)) if at == 0 or path[at - 1] == "/"}
    if not (finds_planted(paths, names) and finds_planted_in_comments(ends)):
        sys.exit("check_named_files.py does not find names that were planted")
    for page in pages:
        for number, said in complaints(page.read_text(encoding="utf-8"), paths, names):
            failed += 1
            print("%s:%d: %s" % (os.path.relpath(page, source), number, said))
    sources = [] if sys.argv[2:] else sorted(path for path in paths if path.endswith((".c", ".h", ".cl", ".cc", ".inc")))
    for name in sources:
        for number, said in comment_complaints((source / name).read_text(encoding="utf-8"), ends):
            failed += 1
            print("%s:%d: %s" % (name, number, said))
    print("%d pages, %d files of C, %d names lead nowhere" % (len(pages), len(sources), failed))
    sys.exit(1 if failed else 0)


main()
