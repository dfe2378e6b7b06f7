"""The pages that people write: which there are, in which room, and what their links mean on the site.

build_site.py calls collect(). A page in a room needs no entry in a list: the first heading is its name in the
navigation.
"""

import os
import re

ROOMS = (
    ("tutorials", "Tutorials"),
    ("how-to", "How-to guides"),
    ("reference", "Reference"),
    ("explanation", "Explanation"),
)
TOP = {
    "index.md": None,
    "architecture.md": "explanation",
}  # pages beside the rooms, and the room whose list names them
TREE = "tree"  # the folder of the site for files of the repository outside docs/
LINK = re.compile(r"(?<!`)(!?\[(?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*\])\(([^()\s]+)\)")
FENCE = re.compile(r"^ {0,3}(```+|~~~+)")
STEERING = re.compile(r"^<!-- ((given|needs|file): .*|one file|typed) -->$", re.M)  # for tests/tools/check_blocks.py


class Misplaced(Exception):
    """A page or a link that has no place on the site; the text says which and what to do."""


def title(text, path):
    """The title of the front matter, else the first heading."""
    front = re.match(r"---\n(.*?)\n---\n", text, re.S)
    named = front and re.search(r"^title: *(.+)$", front.group(1), re.M)
    if named:
        return named.group(1).strip("\"'")
    heading = re.search(r"^# +(.+?)(?: *\{.*\})?$", text, re.M)
    if not heading:
        raise Misplaced("%s: expected a heading '# ...' at its top: the navigation shows it" % path)
    return heading.group(1).replace("`", "")


def outside_fences(text, change):
    """Applies `change` to every line that is not in a fenced block."""
    out, fence = [], None
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if mark and fence is None:
            fence = mark.group(1)
        elif mark and line.strip().startswith(fence) and line.strip() == mark.group(1):
            fence = None
        elif fence is None:
            line = change(line)
        out.append(line)
    return "\n".join(out)


def links(text):
    """The targets of all links of a page outside fenced blocks."""
    found = []
    outside_fences(text, lambda line: found.extend(match.group(2) for match in LINK.finditer(line)) or line)
    return found


class Collection:
    """pages: {path on the site: text}; files: {path on the site: path of the file that is copied there}."""

    def __init__(self, source):
        self.source, self.pages, self.files, self.listed = source, {}, {}, {}

    def add(self, path, file):
        """Adds a page of the repository at `path` of the site; `file` says where its links start from."""
        text = STEERING.sub("", file.read_text(encoding="utf-8"))
        self.pages[path] = None  # a link back to it finds it
        self.pages[path] = outside_fences(text, lambda line: LINK.sub(lambda link: self.link(path, file, link), line))

    def link(self, path, file, link):
        words, target = link.group(1), link.group(2)
        if re.match(r"[a-z]+:|#", target):
            return link.group(0)
        if target.startswith("/"):
            raise Misplaced("%s: link to '%s': expected a relative one" % (file.relative_to(self.source), target))
        place, _, anchor = target.partition("#")
        aim = self.source / os.path.normpath(os.path.join(os.path.dirname(file.relative_to(self.source)), place))
        to = self.place(file, aim, target)
        return "%s(%s%s)" % (words, os.path.relpath(to, os.path.dirname(path) or "."), "#" + anchor if anchor else "")

    def place(self, file, aim, target):
        """Where a file of the repository is on the site; what lies outside docs/ is taken along."""
        docs = self.source / "docs"
        if aim == docs or docs in aim.parents:
            return str(aim.relative_to(docs))
        if not aim.exists() or not aim.is_relative_to(self.source):
            raise Misplaced(
                "%s: link to '%s': there is no such file in the repository" % (file.relative_to(self.source), target)
            )
        name = str(aim.relative_to(self.source))
        if aim.is_dir():
            readme = aim / "README.md"
            return self.place(file, readme, target) if readme.exists() else self.listing(aim, name)
        if aim.suffix != ".md":
            self.files["%s/%s" % (TREE, name)] = aim
            return "%s/%s" % (TREE, name)
        to = "%s/%s" % (TREE, name if aim.name != "README.md" else name[: -len("README.md")] + "readme.md")
        if to not in self.pages:
            self.add(to, aim)
        return to

    def listing(self, folder, name):
        """A page that lists the files of a folder that a page links to."""
        to = "%s/%s/files.md" % (TREE, name)
        if to not in self.pages:
            files = sorted(f for f in folder.iterdir() if f.is_file())
            for file in files:
                self.files["%s/%s/%s" % (TREE, name, file.name)] = file
            self.pages[to] = "# %s\n\n%s\n" % (name, "\n".join("- [%s](%s)" % (f.name, f.name) for f in files))
        return to


def collect(source):
    """All pages of docs/, with what they link to."""
    collection = Collection(source)
    docs = source / "docs"
    for file in sorted(docs.rglob("*")):
        path = file.relative_to(docs)
        if file.is_dir():
            continue
        if file.suffix != ".md":
            if file.suffix in (".svg", ".png"):
                collection.files[str(path)] = file
            continue
        if str(path) not in TOP and path.parts[0] not in dict(ROOMS):
            raise Misplaced(
                "docs/%s: expected in one of the rooms: %s" % (path, ", ".join("docs/" + r for r, _ in ROOMS))
            )
        collection.add(str(path), file)
    if "index.md" not in collection.pages:
        raise Misplaced("docs/index.md: expected: it is the first page of the site")
    named = {link.partition("#")[0] for link in links(collection.pages["index.md"])}
    for path in collection.pages:
        if path.count("/") == 1 and path.split("/")[0] in dict(ROOMS) and path not in named:
            raise Misplaced("docs/index.md: expected a link to %s: who reads the files finds pages there" % path)
    return collection


# -- navigation -----------------------------------------------------------------------------------------------------


def navigation(pages):
    """MkDocs' nav for pages {path: text}: the rooms in their order, in a room the pages as index.md lists them, then
    those that it does not list, by title."""
    named = dict.fromkeys(link.partition("#")[0] for link in links(pages["index.md"]))
    order = {path: place for place, path in enumerate(named)}
    nav = [{"Start": "index.md"}]
    for room, name in ROOMS:
        paths = {path for path in pages if path.startswith(room + "/")} | {
            p for p, r in TOP.items() if r == room and p in pages
        }
        nav.append({name: level(paths, room, pages, order)})
    tree = {path for path in pages if path.startswith(TREE + "/")}
    if tree:
        nav.append({"In the repository": sorted(({title(pages[p], p): p} for p in tree), key=by_title)})
    return nav


def level(paths, folder, pages, order):
    """The entries of a folder. Its first page is index.md in it, or the page beside it that has its name."""
    here = [p for p in paths if os.path.dirname(p) in (folder, "")]
    below = sorted({p[len(folder) + 1 :].split("/")[0] for p in paths if os.path.dirname(p) not in (folder, "")})
    heads = {"%s/%s.md" % (folder, name) for name in below}
    first = [p for p in here if p.endswith("/index.md")]
    entries = [{title(pages[p], p): p} for p in here if p not in first and p not in heads]
    for name in below:
        inner = "%s/%s" % (folder, name)
        inside = {p for p in paths if p.startswith(inner + "/")}
        head, index = inner + ".md", inner + "/index.md"
        if head in here:
            named = [{title(pages[index], index): index}] if index in inside else []
            entries.append({title(pages[head], head): [head] + named + level(inside - {index}, inner, pages, order)})
        else:
            label = title(pages[index], index) if index in inside else name.replace("-", " ").capitalize()
            entries.append({label: level(inside, inner, pages, order)})
    return first + sorted(entries, key=lambda entry: (place(entry, order), by_title(entry)))


def place(entry, order):
    """Where index.md lists the entry's page; behind all others if it does not."""
    pages = next(iter(entry.values()))
    head = pages if isinstance(pages, str) else pages[0]
    return order.get(head, len(order)) if isinstance(head, str) else len(order)


def by_title(entry):
    return next(iter(entry)).lower()
