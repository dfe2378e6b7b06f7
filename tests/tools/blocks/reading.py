"""Reads the fenced blocks of a page, with what a comment before a block says about it. check_blocks.py and
check_tutorials.py call read().

Comments in HTML steer the checks; no reader of the page sees them:

    <!-- given: nd4c_device *device; -->   before a block of C without main: declarations that it uses
    <!-- needs: opencl:0 -->               before a block of Python: it is not run, for it needs a device or a file
    <!-- file: hello.c -->                 before a block: check_tutorials.py puts it into a file of that name
    <!-- typed -->                         anywhere: check_tutorials.py types what the page says
    <!-- one file -->                      anywhere: all blocks of C of the page are one file
"""

import re

FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})(.*)$")
STEERING = re.compile(r"^<!-- (given|needs|file): (.*?) -->$")
LIST_ITEM = re.compile(r"^\s*([-*+]|\d+[.)]) ")


class Block:
    def __init__(self, page, line, language):
        self.page, self.line, self.language = page, line, language
        self.lines, self.given, self.needs, self.file, self.output = [], None, None, None, None

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)

    @property
    def where(self):
        return "%s:%d" % (self.page, self.line)


def read(text, page):
    """([Block], [complaint]). A block `output` becomes the output of the block before it."""
    blocks, complaints, block, fence, steering = [], [], None, None, {}
    previous, listed = "", False
    for number, line in enumerate(text.split("\n"), 1):
        mark = FENCE.match(line)
        if block is not None:
            if mark and mark.group(2).startswith(fence) and not mark.group(3).strip():
                finish(block, blocks, complaints)
                block = None
            else:
                block.lines.append(line)
            continue
        if mark:
            fence = mark.group(2)
            block = Block(page, number, mark.group(3).strip().split(" ")[0])
            block.given, block.needs, block.file = (steering.get(key) for key in ("given", "needs", "file"))
            steering = {}
        elif line.startswith("    ") and not previous.strip() and not listed and line.strip():
            complaints.append(
                "%s:%d: a block that is only indented: put it between ``` with its language" % (page, number)
            )
            listed = True  # one complaint a block
        elif STEERING.match(line):
            key, words = STEERING.match(line).groups()
            steering[key] = words
        elif line.strip():
            steering = {}
        if line.strip() and not line.startswith("  "):
            listed = bool(LIST_ITEM.match(line))
        previous = line
    if block is not None:
        complaints.append("%s: the block never ends" % block.where)
    return blocks, complaints


def finish(block, blocks, complaints):
    if not block.language:
        complaints.append(
            "%s: a block without a language; 'text' is for what is neither code nor output" % block.where
        )
    elif block.language != "output":
        blocks.append(block)
    elif not blocks or blocks[-1].output is not None:
        complaints.append("%s: output of no block" % block.where)
    else:
        blocks[-1].output = block.text
