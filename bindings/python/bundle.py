#!/usr/bin/env python3
"""Gathers the shared libraries that a wheel carries: copied under their SONAMEs and stripped, with an RPATH that finds the
others beside them and nothing in the build.

    bundle.py --output lib --strip strip --patchelf patchelf build/ci/lib/libnd4c.so /usr/lib/.../libopenblas.so.0

The libraries that these need are copied too, except those that every system with the wheel's glibc has (PEP 600's list).

    bundle.py --find onednn-cpu-gomp libdnnl.so.3

prints where the installed distribution has that file, if it is installed.
"""
import argparse
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys

EVERYWHERE = re.compile(r"(libc|libm|libpthread|libdl|librt|libgcc_s|libstdc\+\+|libz)\.so\.\d+|ld-linux.*")


def tell(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout.split("\n")


def needed(path, patchelf):
    """Paths of the libraries that a library needs, without those that every system has."""
    found = {}
    for line in tell("ldd", path):
        match = re.match(r"\s*(\S+) => (\S+|not found)", line)
        if match:
            found[match.group(1)] = match.group(2)
    for name in filter(None, tell(patchelf, "--print-needed", path)):
        if EVERYWHERE.fullmatch(name):
            continue
        if not os.path.exists(found.get(name, "")):
            sys.exit("bundle.py: {} needs {}, which the loader does not find".format(path, name))
        yield found[name]


def bundle(paths, output, strip, patchelf):
    """Copies the libraries and what they need; returns {SONAME: bytes}."""
    sizes, waiting = {}, [os.path.realpath(path) for path in paths]
    for path in waiting:
        name = tell(patchelf, "--print-soname", path)[0]
        if name in sizes:
            continue
        waiting += [os.path.realpath(other) for other in needed(path, patchelf)]
        target = os.path.join(output, name)
        subprocess.run([strip, "--strip-unneeded", "-o", target, path], check=True)
        subprocess.run([patchelf, "--set-rpath", "$ORIGIN", target], check=True)
        os.chmod(target, 0o755)
        sizes[name] = os.path.getsize(target)
    return sizes


def find(distribution, name):
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return [str(file.locate().resolve()) for file in files if file.name == name]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--find", metavar="DISTRIBUTION")
    parser.add_argument("--output", help="folder to write, emptied first")
    parser.add_argument("--strip", default="strip")
    parser.add_argument("--patchelf", default="patchelf")
    parser.add_argument("libraries", nargs="+")
    arguments = parser.parse_args()
    if arguments.find:
        print("\n".join(find(arguments.find, arguments.libraries[0])))
        return
    shutil.rmtree(arguments.output, ignore_errors=True)
    os.makedirs(arguments.output)
    for name, size in bundle(arguments.libraries, arguments.output, arguments.strip, arguments.patchelf).items():
        print("{:>12,} {}".format(size, name))


if __name__ == "__main__":
    main()
