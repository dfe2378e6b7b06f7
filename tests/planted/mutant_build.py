"""Builds test programs with many mutants in them, which the environment switches on one at a time (mutant.h). Only the
files with mutants are compiled again; everything else comes from a build of the preset ci. mutate.py calls it."""
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess

SWITCH = "tests/planted/mutant.h"
WIDE = "-DND4C_LEVEL=avx512"  # of a kernel's compile command: a level that not every processor runs


def run(command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)


def runs(command):
    """Whether this processor runs what a compile command compiles."""
    return f"{WIDE} " not in command or "avx512f" in pathlib.Path("/proc/cpuinfo").read_text()


class Builder:
    def __init__(self, root, build, work):
        self.root, self.build, self.work = root, build, work
        self.tree = work / "tree"
        self.archive = work / "libnd4c_inside.a"
        self.commands = collections.defaultdict(list)
        for entry in json.loads((build / "compile_commands.json").read_text()):
            self.commands[str(pathlib.Path(entry["file"]).relative_to(root))].append(entry["command"])
        listed = run(["ninja", "-C", str(build), "-t", "query", "lib/libnd4c_inside.a"]).stdout
        self.objects = re.findall(r"^    (\S+\.o)$", listed, re.M)

    # -- which translation units read a header ---------------------------------------------------------------------

    def units_of(self, names):
        """{file: [C files of the library that contain it]}, by the dependencies that the compiler wrote."""
        wanted = {str(self.root / name): name for name in names}
        units = {name: [name] for name in names if name.endswith(".c")}
        listed = run(["ninja", "-C", str(self.build), "-t", "deps"]).stdout
        inside = set(self.objects)
        for block in listed.split("\n\n"):
            lines = block.strip().splitlines()
            if not lines or lines[0].split(":")[0] not in inside:
                continue
            files = [os.path.normpath(self.build / line.strip()) for line in lines[1:]]
            for file in files:
                if file in wanted and wanted[file].endswith(".h"):
                    unit = str(pathlib.Path(files[0]).relative_to(self.root))
                    if unit not in units.setdefault(wanted[file], []):
                        units[wanted[file]].append(unit)
        return units

    # -- the changed files -----------------------------------------------------------------------------------------

    def write(self, name, numbered):
        """Writes a file with its mutants: [(number, site)], which do not overlap."""
        text = (self.root / name).read_bytes()
        for number, site in sorted(numbered, key=lambda pair: -pair[1].start):
            if site.statement:
                new = f"if (!nd4c_mutant({number})) {{ {site.original} }}"
            else:
                changed = site.changed.replace("\n", " ")  # lines keep their numbers
                new = f"(nd4c_mutant({number}) ? ({changed}) : ({site.original}))"
            text = text[:site.start] + new.encode() + text[site.end:]
        target = self.tree / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(f'#include "{SWITCH}" /* one line with the next */\n#line 1\n'.encode() + text)

    def compile(self, unit, command):
        """Compiles one object; returns (object, the compiler's text or None)."""
        words = command.split(" -o ")
        output = words[1].split(" ")[0]
        target = self.work / "objects" / output
        target.parent.mkdir(parents=True, exist_ok=True)
        source = self.tree / unit if (self.tree / unit).exists() else self.root / unit
        changed = " ".join(flag.replace(str(self.root), str(self.tree), 1) for flag in words[0].split(" ")
                           if flag.startswith(f"-I{self.root}"))
        flags = words[0].replace(" -I", f" {changed} -I{self.tree} -I", 1).replace("-Werror", "-w")
        done = run(f"{flags} -w -MMD -MF /dev/null -o {target} -c {source}", shell=True, cwd=self.build)
        return output, done.stdout if done.returncode else None

    def refused(self, text, sites):
        """Numbers of the mutants on lines that the compiler complained of, or else on lines that it named."""
        found = set()
        for pattern in (r":(\d+):\d+: error", r":(\d+)"):
            lines = {(match.group(1), int(match.group(2))) for match in
                     re.finditer(rf"{re.escape(str(self.tree))}/([\w./-]+){pattern}", text)}
            for number, site in sites.items():
                last = site.line + site.original.count("\n")
                if any(name == site.file and site.line <= line <= last for name, line in lines):
                    found.add(number)
            if found:
                break
        return found

    def make(self, sites, log):
        """Compiles {number: site}; returns those that compile. The others are left out."""
        shutil.rmtree(self.work / "tree", ignore_errors=True)
        shutil.rmtree(self.work / "objects", ignore_errors=True)
        sites = dict(sites)
        units = self.units_of({site.file for site in sites.values()})
        pending = {unit for file in units for unit in units[file]}
        made = set()
        while pending:
            by_file = collections.defaultdict(list)
            for number, site in sites.items():
                by_file[site.file].append((number, site))
            for name in units:
                self.write(name, by_file[name])
            jobs = [(unit, command) for unit in sorted(pending) for command in self.commands[unit]
                    if re.search(r" -o (\S+)", command).group(1) in self.objects and runs(command)]
            log(f"compiling {len(jobs)} objects with {len(sites)} mutants")
            again = set()
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                for (unit, _), (output, text) in zip(jobs, pool.map(lambda job: self.compile(*job), jobs)):
                    made.add(output)
                    if text is not None:
                        wrong = self.refused(text, sites)
                        # no mutant on a line of its errors: all of the files that it reads
                        wrong = wrong or {number for number, site in sites.items() if unit in units[site.file]}
                        if not wrong:
                            raise SystemExit(f"{unit} does not compile without a mutant:\n{text[:3000]}")
                        again |= {other for number in wrong for other in units[sites[number].file]}
                        for number in wrong:
                            del sites[number]
            pending = again
        self.pack(made)
        return sites

    def pack(self, made):
        switch = self.work / "mutant.o"
        flags = ["-std=c17", "-O2", "-fPIC", f"-I{self.root}"]
        done = run(["cc", *flags, "-c", str(self.root / "tests/planted/mutant.c"), "-o", str(switch)])
        self.archive.unlink(missing_ok=True)
        files = [str(self.work / "objects" / name if name in made else self.build / name) for name in self.objects]
        done = done if done.returncode else run(["ar", "qcsT", str(self.archive), *files, str(switch)], cwd=self.build)
        if done.returncode:
            raise SystemExit(done.stdout)

    # -- programs --------------------------------------------------------------------------------------------------

    def link(self, program):
        """Links a test program with the mutants; returns where it is."""
        target = self.work / "bin" / program
        command = run(["ninja", "-C", str(self.build), "-t", "commands", f"tests/bin/{program}"]).stdout.splitlines()[-1]
        command = command.replace(" lib/libnd4c_inside.a", f" {self.archive}")
        command = command.replace(f" -o tests/bin/{program} ", f" -o {target} ")
        target.parent.mkdir(parents=True, exist_ok=True)
        done = run(command, shell=True, cwd=self.build)
        if done.returncode or not target.exists():
            raise SystemExit(f"{program}: {done.stdout[-2000:]}")
        return target
