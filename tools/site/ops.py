"""Pages of the reference about the ops: a page for each family, an entry for each op.

What an op takes and gives is said once, by the headers include/nd4c/ops/<family>.h, which are made from the op table.
The numbers, the dtypes, the values of attributes and the names elsewhere come from `nd4c ops --json`. build_site.py
calls pages().
"""

import json
import re
import subprocess

import c_calls
import headers
import xtables

LABELS = ("In", "Attributes", "Options", "Out", "Statuses")
ELSEWHERE = ("NumPy or SciPy", "PyTorch", "ONNX", "ND4J")


def listed(program):
    """The ops of the library that was built, by name."""
    text = subprocess.run([program, "ops", "--json"], check=True, capture_output=True, text=True).stdout
    return {op["name"]: op for op in json.loads(text)}


def parts(comment):
    """A comment of an op's function as {label: text}; the first line's label is "Meaning"."""
    out, label = {}, "Meaning"
    for line in comment.split("\n"):
        match = re.match(r"(%s): (.*)" % "|".join(LABELS), line)
        if match:
            label, line = match.group(1), match.group(2)
        out[label] = (out.get(label, "") + " " + line.strip()).strip()
    return out


def entry(name, said, op, prototype, options, example, enums):
    """prototype: of nd4c_<op>; options: the struct that it takes and its defaults, or ""."""
    declared = prototype + options
    meaning = said["Meaning"].split(": ", 1)[1]
    out = ["## `%s` { #%s }" % (name, name), "", headers.escaped(meaning), "", "```c", prototype, "```", ""]
    out += ["```c", options, "```", ""] if options else []
    rows = [
        (label, linked(said[label]) if label == "Statuses" else headers.escaped(said[label]))
        for label in LABELS
        if label in said
    ]
    rows.append(
        ("Dtypes", headers.escaped("of the first input: " + ", ".join(op["dtypes"]) if op["dtypes"] else "no input"))
    )
    for attribute in op["attributes"]:
        if "values" in attribute:
            enum = c_calls.enum_of(attribute["name"], declared, enums)
            rows.append(("Values of `%s`" % attribute["name"], c_calls.values(attribute, enum)))
    names = [(where, text) for where, text in zip(ELSEWHERE, op["names"].split("|")) if text]
    if names:
        rows.append(("Elsewhere", "; ".join("%s `%s`" % pair for pair in names)))
    rows.append(("Number, version", "%d, %d" % (op["number"], op["version"])))
    out += ["| | |", "|---|---|"] + ["| %s | %s |" % row for row in rows] + [""]
    out += [example["text"], ""]
    present = [place["name"] for place, given in zip(op["inputs"], example["inputs"]) if given]
    given = attributes(op, example["attributes"])
    call = c_calls.call(name, op, said.get("Attributes", ""), declared, prototype, given, present, enums)
    out += ["```c", call, "```", ""]
    return "\n".join(out)


def attributes(op, given):
    """The example's arguments by the names that the attributes have in C: Python says axis for axes, too, and lambda_."""
    lists = {row["name"] for row in op["attributes"] if row["kind"] in ("ints", "floats")}
    known = {row["name"] for row in op["attributes"]}
    found = {}
    for name, text in given.items():
        name = name if name in known else "axes" if name == "axis" else name.rstrip("_")
        found[name] = "[%s]" % text if name in lists and not text.startswith("[") else text
    return found


def linked(statuses):
    """The names of statuses as links into the table of them."""
    return re.sub(
        r"[A-Z_]{2,}", lambda name: "[%s](../statuses.md#%s)" % (name.group(), name.group().lower()), statuses
    )


def with_links(table, families):
    """The page ops.md, where each op of the table leads to its entry."""

    def row(match):
        name = match.group(2)
        return (
            "| [%s](ops/%s.md#%s) |" % (match.group(1), families[name], name) if name in families else match.group(0)
        )

    return re.sub(r"^\| (`(\w+)\([^`]*`) \|", row, table, flags=re.M)


def pages(include, program, examples):
    """({path: text}, {op: its family}). examples: {op: what examples.py has of it}."""
    known, out, families = listed(program), {}, []
    enums = c_calls.enums(include)
    about = {row[0]: row[2] for row in xtables.Tables(include).rows("ND4C_FAMILY_TABLE")}
    for path in sorted((include / "ops").glob("*.h")):
        _, entries = headers.read(path)
        shown, options = [], {}
        for one in entries:
            function = one.names[0] if one.names else ""
            name = function[len("nd4c_") :]
            if name.endswith("_options"):
                options[name[: -len("_options")]] = headers.code(one)
            if name in known:
                texts = headers.code(one, 1), options.get(name, "")
                shown.append((name, entry(name, parts(one.comment), known.pop(name), *texts, examples[name], enums)))
        if not shown:
            continue
        title = path.stem.replace("_", " ").capitalize()
        families.append((path.stem, title, about[path.stem], [name for name, _ in shown]))
        out["ops/%s.md" % path.stem] = "\n".join(
            [
                "# Ops: %s" % title.lower(),
                "",
                sentence(about[path.stem]),
                "",
                "`#include <nd4c/ops/%s.h>`. [How to read an entry](index.md#how-to-read-an-entry)." % path.stem,
                "",
                *(text for _, text in shown),
            ]
        )
    if known:
        raise SystemExit("tools/site: no header in include/nd4c/ops has these ops: " + ", ".join(sorted(known)))
    out["ops/index.md"] = index(families, include / "ops.h")
    return out, {name: stem for stem, *_, names in families for name in names}


def sentence(about):
    return headers.escaped(about[:1].upper() + about[1:] + ".")


def index(families, header):
    """How to read an entry, said once in ops.h, and the list of all ops."""
    said = headers.words(
        next(text for kind, text in headers.pieces(header.read_text(encoding="utf-8")) if kind == "comment")
    )
    meaning = said[said.index("A comment says what the op computes") :]
    count = sum(len(names) for *_, names in families)
    out = [
        "# Ops by family",
        "",
        "%d ops. [One table of all ops](../ops.md) has their meanings in a line each." % count,
        "",
    ]
    for stem, title, about, names in families:
        out += ["## %s" % title, "", sentence(about), ""]
        out += [", ".join("[`%s`](%s.md#%s)" % (name, stem, name) for name in names), ""]
    return "\n".join(
        out
        + [
            "## How to read an entry",
            "",
            "Each `nd4c_<op>` has a form `nd4c_<op>_on`, which takes the context before the inputs. Examples are in",
            "Python; their results are those of NumPy, SciPy and mpmath, which nd4c is tested against. The same call in C",
            "follows. The [enums of attributes](../headers/ops/enums.md) have a page.",
            "",
            headers.prose(meaning),
        ]
    )
