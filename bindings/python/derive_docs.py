"""The docstrings of nd4c.ops: derive.py calls docstrings().

What an op computes is said by the op table; its results' shapes and dtypes and why it refuses a call by the comments of
include/nd4c/ops/*.h; its example by examples.txt, whose results are the oracle's (tests/python/op_examples).
"""
import os
import re

WIDTH = 116
LABELS = ("In", "Attributes", "Options", "Out", "Statuses")
ELSEWHERE = ("NumPy/SciPy", "PyTorch", "ONNX", "ND4J")
# Statuses of the rule that infers a call's shapes -> the class that Python raises, and when.
ERRORS = (("ARGUMENT", "ValueError if an attribute or a value is not allowed"), ("SHAPE", "ValueError if shapes do not fit"),
          ("INDEX", "IndexError if an axis or an index is out of range"),
          ("OVERFLOW", "OverflowError if a size would pass 2^63"))
LATE = " May be refused after the computation began; outputs that the caller gave stay as they were."


def comments(include):
    """What the headers say of each op: name -> {label: text}."""
    found = {}
    folder = os.path.join(include, "nd4c", "ops")
    for file in sorted(os.listdir(folder)):
        with open(os.path.join(folder, file), encoding="utf-8") as opened:
            text = opened.read()
        for comment, name in re.findall(r"/\* ((?:(?!\*/).)*?)\s*\*/\nND4C_API nd4c_status nd4c_(\w+)\(", text, re.S):
            found[name] = parts(re.sub(r"\n \* ?", "\n", comment))
    return found


def parts(comment):
    """A comment of an op's function as {label: text}; what stands before the first label is left out."""
    said, label = {}, None
    for line in comment.split("\n"):
        match = re.match(r"(%s): (.*)" % "|".join(LABELS), line)
        label, line = (match.group(1), match.group(2)) if match else (label, line)
        if label:
            said[label] = (said.get(label, "") + " " + line.strip()).strip()
    return said


def examples(path):
    """Examples by op: blocks of a name and of what follows it, between empty lines."""
    with open(path, encoding="utf-8") as file:
        return dict(block.strip().split("\n", 1) for block in file.read().split("\n\n") if block.strip())


def docstrings(schema, include, example_file):
    """The docstring of every op without its indent: name -> text."""
    said, shown = comments(include), examples(example_file)
    found = {}
    for row in schema.values():
        name = row["name"]
        if name not in said:
            raise SystemExit("derive_docs.py: include/nd4c/ops has no comment about the op %s: ninja ops-header" % name)
        # make_examples.py needs this package, so that a new op has no example at first; test_docstrings.py asks for it.
        found[name] = docstring(row, said[name], shown.get(name, ""))
    return found


def docstring(row, said, example):
    paragraphs = ["Shapes: " + results(row, said["Out"]), "Dtypes: " + dtypes(row, said.get("In", ""), said["Out"]),
                  "Errors: " + errors(said)]
    words = [(name, [word for _, word in words]) for name, words in row["words"].items() if words]
    paragraphs += ["Words of %s: %s." % (name, ", ".join(map(repr, listed))) for name, listed in words]
    names = "; ".join(label + " " + text for label, text in zip(ELSEWHERE, row["names"].split("|")) if text)
    paragraphs += ["Elsewhere: %s." % names] if names else []
    return "%s\n\n%s\n\n%s" % (wrapped(summary(row["doc"])), "\n".join(map(wrapped, paragraphs)), example)


def summary(doc):
    """What the op table says, as a sentence. Formulas keep their small letters."""
    return (doc if re.match(r"\w+(\[.*?\])? = |\w\b", doc) else doc[0].upper() + doc[1:]).replace("ND4C_INDEX", "IndexError") + "."


def results(row, out):
    """The header's text of the results in Python's words: an attribute's words in quotes, None for NULL."""
    words = {word.upper(): word for listed in row["words"].values() for _, word in listed}
    out = out.replace(LATE, "")
    return re.sub(r"\b[A-Z][A-Z_]+\b", lambda found: repr(words[found.group()]) if found.group() in words else
                  {"NULL": "None"}.get(found.group(), found.group()), out)


def dtypes(row, inputs, out):
    """The dtypes that the header lists for an input, those of the inputs without a list, and where the results' are said."""
    if not row["inputs"]:
        return "the result's is said above."
    texts, bare = [], []
    for name, listed in re.findall(r"(\w+)(?: \(([^)]*)\))?(?:, |\.|$)", inputs):
        texts += ["%s %s" % (name, listed)] if listed else []
        bare += [] if listed else [name]
    if bare:
        same = re.search(r"same dtype|one dtype|have x's dtype|has x's dtype", out)
        texts.append("%s %s" % (" and ".join(filter(None, (", ".join(bare[:-1]), bare[-1]))), "the same" if same else
                                "the same or one that promotes with it (indices: int32 or int64)"))
    return "; ".join(texts + ["results as said above"]) + "."


def errors(said):
    statuses = said.get("Statuses", "")
    found = [text for status, text in ERRORS if re.search(r"\b%s\b" % status, statuses)]
    if LATE.strip() in said["Out"] and not any("attribute or a value" in text for text in found):
        found.append("ValueError if the values do not allow it, as those of a singular matrix")
    return "; ".join(["TypeError for other dtypes"] + found) + "."


def wrapped(text, indent="    "):
    """A paragraph in lines that fit a docstring; lines after the first are indented once more where the text has a label."""
    hanging = "    " if re.match(r"(Shapes|Dtypes|Errors|Elsewhere|Words of \w+): ", text) else ""
    lines, line = [], ""
    for word in text.split():
        if line and len(indent) + len(hanging) + len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = hanging + word
        else:
            line = line + " " + word if line else word
    return "\n".join(lines + [line])
