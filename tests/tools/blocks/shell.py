"""Checks blocks of shell: the syntax, and that the programs that they call exist and have the options.

check_blocks.py calls Shell.check(). It runs only `nd4c info`, `ops` and `config`, and no command that installs, builds or
writes.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile

# Programs of other machines, or of packages that this machine may lack.
ELSEWHERE = set(
    """apt apt-get cc clinfo cmake ctest curl dnf docker gcc gdb git kubectl ld ldd lscpu ninja numactl nvidia-smi patchelf
    perf pip pkg-config podman python python3 qemu-aarch64 readelf strace sudo systemctl taskset valgrind zypper""".split()
)
WORDS = set(
    """if then else elif fi for while do done case esac in { } ! [ [[ function cd export unset set echo printf read source .
    : test trap ulimit kill wait exit true false local return""".split()
)
BEFORE = {"sudo", "exec", "nice", "time", "env", "command"}
ASSIGNMENT = re.compile(r"^([A-Za-z_]\w*)=(.*)$", re.S)
OURS = re.compile(r"^(ND4C|ND4J|SD_KERNEL)_\w+$|^BACKEND_TYPE$")
READING = ("info", "ops", "config")


class Shell:
    def __init__(self, source, build):
        self.source, self.build, self.helps, self.names = source, build, {}, {}
        self.program = os.path.join(build, "bin/nd4c")
        with open(os.path.join(source, "CMakePresets.json"), encoding="utf-8") as file:
            self.presets = {p["name"] for p in json.load(file)["configurePresets"]}

    def check(self, block):
        """Complaints about a block, and how many of its commands were run."""
        syntax = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True)
        if syntax.returncode != 0:
            return [syntax.stderr.strip()], 0
        complaints, ran = [], 0
        for words in commands(block.text):
            complaint, done = self.command(words)
            complaints += [complaint] if complaint else []
            ran += done
        return complaints, ran

    def command(self, words):
        """(complaint or None, whether it was run) of one command, a list of words."""
        environment = {}
        while words and (words[0] in BEFORE or ASSIGNMENT.match(words[0])):
            match = ASSIGNMENT.match(words.pop(0))
            if match:
                environment[match.group(1)] = match.group(2)
        for name in list(environment) + [w.partition("=")[0] for w in words[1:] if words[0] == "export"]:
            if OURS.match(name) and not self.is_named(name):
                return "no source reads the variable %s" % name, False
        if not words:
            return None, False
        program, rest = words[0], words[1:]
        if os.path.basename(program) == "nd4c":
            return self.nd4c(rest, environment)
        if program in ("python", "python3") and rest[:2] == ["-m", "nd4c"]:
            return None, False  # the package's tests run it
        if program in ("python", "python3") and rest and not rest[0].startswith("-"):
            return self.script(rest[0], rest[1:]), False
        if program in ("cmake", "ctest"):
            return self.cmake(rest), False
        if "/" in program:
            return self.path(program, rest), False
        if program in WORDS or program in ELSEWHERE or shutil.which(program) or program.startswith("$"):
            return None, False
        return (
            "there is no program '%s'; a name that a reader replaces stands in capitals as an argument" % program,
            False,
        )

    def nd4c(self, rest, environment):
        command = rest[0] if rest else ""
        if not command or command.startswith("-"):
            return None, False
        text = self.help(command)
        if text is None:
            return "nd4c has no command '%s'" % command, False
        for option in (word.partition("=")[0] for word in rest[1:] if re.match(r"--?[a-z]", word)):
            if not re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(option), text) and option != "--help":
                return "nd4c %s has no option '%s'" % (command, option), False
        if (
            command in READING
            and not environment
            and not any(re.search(r"[$<>]|^[A-Z]+$", word) for word in rest[1:])
        ):
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([self.program, *rest], capture_output=True, text=True, cwd=folder)
            if done.returncode != 0:
                return "nd4c %s fails: %s" % (" ".join(rest), done.stderr.strip()), True
            return None, True
        return None, False

    def help(self, command):
        if command not in self.helps:
            done = subprocess.run([self.program, command, "--help"], capture_output=True, text=True)
            self.helps[command] = done.stdout if done.returncode == 0 else None
        return self.helps[command]

    def script(self, path, rest):
        file = os.path.join(self.source, path)
        if path.startswith(("-", "/", "$")) or re.match(r"^[A-Za-z_]+\.py$", path):
            return None  # a file of the reader's own
        if not os.path.exists(file):
            return "there is no %s in the repository" % path
        with open(file, encoding="utf-8") as opened:
            text = opened.read()
        for option in (word.partition("=")[0] for word in rest if word.startswith("--")):
            if option not in text:
                return "%s has no option '%s'" % (path, option)
        return None

    def path(self, program, rest):
        parts = program.split("/")
        if parts[0] in (".", "~", "") or program.startswith(("$", "../")) or parts[0].isupper():
            return None  # a file that the reader has built or placed
        if parts[0] == "build":
            if len(parts) > 2 and parts[1] not in self.presets and parts[1] != "<preset>":
                return "%s: there is no preset '%s'" % (program, parts[1])
            made = os.path.join(self.build, *parts[2:])
            return None if os.path.exists(made) or self.is_named(parts[-1]) else "no target makes %s" % program
        if ".cache" in program or not os.path.isdir(os.path.join(self.source, parts[0])):
            return None
        return self.script(program, rest)

    def cmake(self, rest):
        for i, word in enumerate(rest):
            if (
                word == "--preset"
                and i + 1 < len(rest)
                and rest[i + 1] not in self.presets
                and not rest[i + 1].startswith("<")
            ):
                return "CMakePresets.json has no preset '%s'" % rest[i + 1]
            option = re.match(r"-D(ND4C_\w+)", word)
            if option and not self.is_named(option.group(1)):
                return "no CMakeLists.txt has the option %s" % option.group(1)
        return None

    def is_named(self, name):
        """Whether a source contains the word; sources name a family of variables with <TYPE> and <INDEX>."""
        if name not in self.names:
            folders = [
                f
                for f in (
                    "src",
                    "backends",
                    "bindings",
                    "cmake",
                    "scripts",
                    "tests",
                    "bench",
                    "examples",
                    "tools",
                    "include",
                )
                if os.path.isdir(os.path.join(self.source, f))
            ]
            family = re.sub(r"_(CPU|OPENCL|CUDA|STUB)_\d+$", "_<TYPE>_<INDEX>", name)
            self.names[name] = any(
                subprocess.run(
                    ["grep", "-rqwF", "--exclude=check_blocks.sh", "--", word, *folders, "CMakeLists.txt"],
                    cwd=self.source,
                ).returncode
                == 0
                for word in {name, family}
            )
        return self.names[name]


def commands(text):
    """The simple commands of a script, each a list of words. Here-documents and the text in $( ) are left out."""
    text = re.sub(r"<<-?\s*['\"]?(\w+)['\"]?(.*?)\n.*?\n\s*\1(?=\n|$)", r"\2", text, flags=re.S)
    text = re.sub(r"\\\n\s*", " ", text)
    text = re.sub(r"\$\([^()]*\)|\$\{[^{}]*\}", "$x", text)
    for line in text.split("\n"):
        lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|()<>")
        lexer.whitespace_split, lexer.commenters = True, "#"
        try:
            words = list(lexer)
        except ValueError:
            continue  # a text in quotes over several lines; bash -n has read it
        command, skip = [], False
        for word in words + [";"]:
            if re.fullmatch(r"[;&|()]+", word):
                if command:
                    yield command
                command = []
            elif re.fullmatch(r"[<>&]+", word):
                skip = True  # the next word is a file
            elif skip:
                skip = False
            elif word in WORDS and not command and word in ("if", "then", "else", "do", "while", "!", "elif"):
                continue
            else:
                command.append(word)
