"""Pages of the reference about the public headers: the opening comment, then each declaration with its comment.

build_site.py calls pages(); ops.py calls read() for the headers of the op families. Nothing here knows a header by
name: what the pages say is what the headers say.
"""

import html
import re

import xtables

COMMENT = re.compile(r"/\*.*?\*/", re.S)
DIRECTIVE = re.compile(r"#(?:[^\n]*\\\n)*[^\n]*")
RULE = re.compile(r"^-- (.*?) -*$")
NAME = re.compile(r"\b(?:nd4c|ND4C)_\w+")
NAMED = 4  # that a heading has
NOISE = ("ND4C_EXTERN_C_BEGIN", "ND4C_EXTERN_C_END")


class Entry:
    """Declarations that follow each other without a blank line, with the comment before them."""

    def __init__(self, comment, section):
        self.comment, self.section, self.declarations = comment, section, []

    @property
    def names(self):
        return list(dict.fromkeys(name for name in map(declared_name, self.declarations) if name))


def words(comment):
    """The text of a C comment, without its frame of stars."""
    lines = comment[2:-2].strip("\n").split("\n")
    return "\n".join([lines[0].strip()] + [re.sub(r"^ \* ?", "", line).rstrip() for line in lines[1:]]).strip()


def pieces(text):
    """The pieces of a header in their order: (kind, text) with kind comment, directive, declaration or blank."""
    at = 0
    while at < len(text):
        if text[at].isspace():
            run = re.match(r"\s+", text[at:]).group()
            at += len(run)
            if run.count("\n") > 1:
                yield "blank", ""
            continue
        for kind, pattern in (("comment", COMMENT), ("directive", DIRECTIVE)):
            match = pattern.match(text, at)
            if match:
                yield kind, match.group()
                at = match.end()
                break
        else:
            end = declaration_end(text, at)
            yield "declaration", text[at:end]
            at = end


def declaration_end(text, at):
    """Where the declaration that begins at `at` ends: behind its semicolon, or its body, or a word such as EXTERN_C."""
    word = re.match(r"[A-Z0-9_]+(\([A-Z0-9_]*\))?(?=\s*\n)", text[at:])  # a macro that stands alone
    if word:
        return at + word.end()
    depth, function = 0, False
    while at < len(text):
        comment = COMMENT.match(text, at)
        if comment:
            at = comment.end()
            continue
        character = text[at]
        if character in "({":
            function = function or (character == "(" and depth == 0)
            depth += 1
        elif character in ")}":
            depth -= 1
            if character == "}" and depth == 0 and function:
                return at + 1
        elif character == ";" and depth == 0:
            return at + 1
        at += 1
    return at


def declared_name(declaration):
    """The name that a declaration or a #define introduces; None if it introduces none."""
    text = COMMENT.sub("", declaration)
    for pattern in (
        r"^#define (\w+)",
        r"^typedef (?:enum|struct) (\w+) \{",
        r"^typedef struct (\w+) \*?\w+;",
        r"^typedef .*?\(\*(\w+)\)",
        r"^(?:enum|struct) (\w+)(?: \{|;)",
        r"^typedef [^()]*?(\w+);",
        r"(\w+)\([^;{]*\)\s*[;{]",
    ):
        match = re.search(pattern, text, re.S)
        if match:
            return match.group(1)
    values = re.match(r"enum \{\s*(\w+)", text)
    return values.group(1) if values else None


def constants(entry):
    """The constants of the enums among an entry's declarations."""
    for declaration in entry.declarations:
        if re.match(r"(typedef )?enum\b", declaration):
            yield from re.findall(r"^\s+(ND4C_\w+)(?= =|,|$)", COMMENT.sub("", declaration), re.M)


def read(path, tables=None):
    """A header as (opening comment, [Entry]). Include guards, includes and C++ are left out. With the X tables, enums
    are written out."""
    text = path.read_text(encoding="utf-8")
    stream = list(pieces(text))
    opening = words(stream[0][1]) if stream and stream[0][0] == "comment" else ""
    entries, comment, section, attached = [], "", "", False
    guard = re.search(r"#define (ND4C_\w+_H)\b", text)
    for kind, piece in stream[1:]:
        if kind == "blank":
            if comment and not attached:
                entries.append(Entry(comment, section))
            comment, attached = "", False
        elif kind == "comment":
            rule = RULE.match(words(piece))
            if rule:
                section = rule.group(1)
            else:
                if comment and not attached:
                    entries.append(Entry(comment, section))
                comment, attached = words(piece), False
        elif skipped(kind, piece, guard):
            continue
        else:
            if not attached or not entries:
                entries.append(Entry(comment, section))
                attached = True
            entries[-1].declarations.append(tables.written_out(piece) if tables else piece)
    return opening, entries


def skipped(kind, piece, guard):
    if kind == "declaration":
        return piece.endswith(")") or piece in NOISE or piece.startswith('extern "C"')
    return (
        not piece.startswith("#define")
        or (guard and guard.group(1) in piece.split()[:2])
        or piece.split()[1] in NOISE
    )


# -- Markdown -------------------------------------------------------------------------------------------------------


def prose(text, link=None):
    """A comment as Markdown: paragraphs, indented lines as they stand, names of functions as links."""
    out, block, shown = [], [], []

    def flush():
        if block:
            out.extend([" ".join(block), ""])
            block.clear()
        if shown:
            out.extend(["```text", *shown, "```", ""])
            shown.clear()

    for line in text.split("\n"):
        if not line.strip():
            if shown:
                shown.append("")
            else:
                flush()
        elif line.startswith("  "):
            if block:
                flush()
            shown.append(line)
        else:
            if shown:
                while shown and not shown[-1]:
                    shown.pop()
                flush()
            block.append(escaped(line.strip(), link))
    while shown and not shown[-1]:
        shown.pop()
    flush()
    return "\n".join(out)


def escaped(line, link=None):
    parts = re.split(r"(`[^`]*`)", line)
    for i in range(0, len(parts), 2):
        text = html.escape(parts[i], quote=False)
        text = re.sub(r"([*\[\]|])", r"\\\1", text)
        parts[i] = re.sub(r"\w*_\w*", lambda word: linked(word.group(), link), text)
    return "".join(parts)


def linked(word, link):
    target = link(word) if link else None
    return "[`%s`](%s)" % (word, target) if target else word.replace("_", "\\_")


def code(entry, count=None):
    """The declarations of an entry, or the first `count`, without the macro that exports them."""
    lines = []
    for declaration in entry.declarations[:count]:
        shown = re.sub(r"^ND4C_API ", "", declaration)
        if shown != declaration:
            shown = shown.replace("\n" + " " * 9, "\n")
        lines.append(shown)
    return "\n".join(lines)


def first_sentence(text):
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.match(r".*?\.(?= |$)|.*", paragraph).group()


def page(name, opening, entries, link):
    """The page of one header."""
    out = ["# nd4c/%s" % name, "", prose(opening, link)]
    section = None
    for entry in entries:
        if entry.section != section:
            section = entry.section
            out += ["## %s" % (section[:1].upper() + section[1:] or "Declarations"), ""]
        names = entry.names
        if names:
            out += ["### %s { #%s }" % (heading(names), names[0]), ""]
            out += ['<span id="%s"></span>' % n for n in names[1:]]
            out += [""] if names[1:] else []
        out.append(prose(entry.comment, link))
        if entry.declarations:
            out += ["```c", code(entry), "```", ""]
    return "\n".join(out)


def heading(names):
    shown = ", ".join("`%s`" % name for name in names[:NAMED])
    return shown if len(names) <= NAMED else "%s and %d more" % (shown, len(names) - NAMED)


def pages(include):
    """{path below the reference: text} for include/nd4c/*.h, ops/enums.h and plugin/*.h, and a page that lists them."""
    paths = sorted(include.glob("*.h")) + [include / "ops/enums.h"] + sorted((include / "plugin").glob("*.h"))
    tables = xtables.Tables(include)
    headers = {str(path.relative_to(include)): read(path, tables) for path in paths}
    place = {}
    for name, (_, entries) in headers.items():
        for entry in entries:
            for declared in entry.names:
                place.setdefault(declared, (name, declared))
                for constant in constants(entry):
                    place.setdefault(constant, (name, entry.names[0]))
    out = {}
    for name, (opening, entries) in headers.items():

        def link(word, name=name):
            if word not in place or not NAME.fullmatch(word):
                return None
            other, anchor = place[word]
            return "#" + anchor if other == name else relative(name, other) + "#" + anchor

        out["headers/%s.md" % name[:-2]] = page(name, opening, entries, link)
    out["headers/index.md"] = index(headers)
    return out


def relative(name, other):
    return "../" * name.count("/") + other[:-2] + ".md"


def index(headers):
    out = [
        "# Headers",
        "",
        "One page for each public header, made from its comments. `nd4c/nd4c.h` includes the API for programs;",
        "a plug-in includes `nd4c/plugin.h`. [Ops by family](../ops/index.md) describes the other headers",
        "of `nd4c/ops`.",
        "The headers `nd4c/op_table/*.h` hold the rows of [op_table.h](op_table.md) and declare nothing else.",
        "",
    ]
    for title, plugin in (("For programs", False), ("For plug-ins", True)):
        out += ["## %s" % title, "", "| header | what it is for |", "|---|---|"]
        for name, (opening, _) in headers.items():
            if name.startswith("plugin") == plugin:
                out.append("| [%s](%s.md) | %s |" % (name, name[:-2], escaped(first_sentence(opening))))
        out.append("")
    return "\n".join(out)
