#!/usr/bin/env python3
"""Builds the site of nd4c's documents: the pages of docs/, and the reference made from headers, op table and sources.

    build_site.py --build build/ci [--output build/site] [--quick]

scripts/site calls it with the Python of .cache/venv, where MkDocs is. The build fails where a link or an anchor leads
nowhere, where a page has no place in the navigation, and where MkDocs warns of anything.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

import examples
import headers
import links
import ops
import pages
import tables

HERE = pathlib.Path(__file__).resolve().parent


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=pathlib.Path, default=HERE.parents[1], help="the repository")
    parser.add_argument(
        "--build", type=pathlib.Path, help="a build folder with bin/nd4c and python/; none: no reference"
    )
    parser.add_argument(
        "--output", type=pathlib.Path, help="where the site goes; default: build/site of the repository"
    )
    parser.add_argument("--quick", action="store_true", help="without colours in blocks of code: for tests")
    given = parser.parse_args()
    given.source = given.source.resolve()
    given.output = (given.output or given.source / "build/site").resolve()
    return given


def reference(source, build, written):
    """The pages that are made: {path on the site: text}. `written` are those that people see in docs/ too."""
    program, include = str(build / "bin/nd4c"), source / "include/nd4c"
    made, families = ops.pages(include, program, examples.blocks(source / "bindings/python/examples.txt"))
    made.update(headers.pages(include))
    made.update(tables.pages(source, ops.listed(program), families))
    made["program.md"] = tables.commands(program)
    made["ops.md"] = ops.with_links(written["reference/ops.md"], families)
    return {"reference/" + path: text for path, text in made.items()}


def write(folder, collection, made, quick):
    """The sources of the site, and mkdocs.yml beside them. Returns the path of mkdocs.yml."""
    shutil.rmtree(folder, ignore_errors=True)
    everything = dict(collection.pages, **made)
    for path, text in everything.items():
        file = folder / "docs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for path, origin in collection.files.items():
        file = folder / "docs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(origin, file)
    configuration = (HERE / "mkdocs.yml").read_text(encoding="utf-8")
    if quick:
        configuration = configuration.replace("use_pygments: true", "use_pygments: false")
    nav = "nav: " + json.dumps(pages.navigation(everything), ensure_ascii=False) + "\n"
    (folder / "mkdocs.yml").write_text(configuration + nav, encoding="utf-8")
    return folder / "mkdocs.yml"


def main():
    given = arguments()
    try:
        collection = pages.collect(given.source)
        made = reference(given.source, given.build.resolve(), collection.pages) if given.build else {}
        configuration = write(given.output.with_name(given.output.name + "-sources"), collection, made, given.quick)
    except pages.Misplaced as wrong:
        sys.exit(str(wrong))
    # Not with --quiet: that also keeps --strict from seeing the warnings.
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--clean",
        "-f",
        str(configuration),
        "-d",
        str(given.output),
    ]
    done = subprocess.run(
        command,
        env=dict(os.environ, NO_MKDOCS_2_WARNING="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        sys.exit(done.stdout + "build_site.py: MkDocs refuses the pages")
    wrong, seen = links.check(given.output)
    if wrong:
        sys.exit("\n".join(wrong))
    print(
        "%d pages, %d of them made from the sources; %d links lead somewhere: %s/index.html"
        % (len({**collection.pages, **made}), len(made), seen, given.output)
    )


if __name__ == "__main__":
    main()
