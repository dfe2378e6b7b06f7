"""The C side of an op's entry: the options struct, the C names of attribute values, and a call in C with the
arguments of the Python example. ops.py calls it; the names come from include/nd4c/ops."""

import re

import headers

USED_BY = re.compile(r"\nAttribute .*", re.S)  # the sentence of an enum's comment that lists its ops
PAGE = "../headers/ops/enums.md"


class Enum:
    """An enum of ops/enums.h: constants is {number: (name, what the row's comment says)}."""

    def __init__(self, entry):
        self.name = entry.names[0]
        self.meaning = " ".join(USED_BY.sub("", entry.comment).split())
        rows = re.findall(r"^  (ND4C_\w+) = (-?\d+),?(?: /\* (.*?) \*/)?$", entry.declarations[0], re.M)
        self.constants = {int(number): (name, said) for name, number, said in rows}


def enums(include):
    """The enums of attributes, by their names without nd4c_."""
    _, entries = headers.read(include / "ops/enums.h")
    return {entry.names[0][len("nd4c_") :]: Enum(entry) for entry in entries if entry.names}


def enum_of(attribute, declared, known):
    """The enum of an attribute's values, by the C declarations of the op."""
    found = re.search(r"\bnd4c_(\w+) %s\b" % attribute, declared) or re.search(
        r"\*%s; /\* values of nd4c_(\w+) \*/" % attribute, declared
    )
    if not found or found.group(1) not in known:
        raise SystemExit("tools/site: no enum of nd4c/ops/enums.h is the C type of the attribute %s" % attribute)
    return known[found.group(1)]


def values(attribute, enum):
    """A cell with the values of an attribute: word, number, C name, meaning."""
    out = []
    for word, number in sorted(attribute["values"].items(), key=lambda pair: pair[1]):
        name, said = enum.constants[number]
        out.append("`%s`: `%s` (%d)%s" % (word, name, number, ": " + headers.escaped(said) if said else ""))
    link = "[`%s`](%s#%s)" % (enum.name, PAGE, enum.name)
    return "%s. %s %s" % ("; ".join(out), link + ":", headers.escaped(enum.meaning))


def constant(text, attribute, enum):
    """The C name of a value that an example gives by its number or its word."""
    return enum.constants[attribute["values"][text] if text in attribute["values"] else int(text)][0]


def scalar(text, attribute, enum):
    if enum:
        return constant(text, attribute, enum)
    if attribute["kind"] == "dtype":
        return "ND4C_DTYPE_NONE" if text in ("none", "-") else "ND4C_" + text.upper()
    if attribute["kind"] == "string":
        return '"%s"' % text.strip('"')
    if attribute["kind"] == "float":
        return {"inf": "INFINITY", "-inf": "-INFINITY", "nan": "NAN"}.get(text, repr(float(text)))
    return text


def listed(text, attribute, enum):
    """A list as two arguments: pointer and count."""
    items = text.strip("[]").split(",")
    kind = "double" if attribute["kind"] == "floats" else "int64_t"
    shown = [constant(item, attribute, enum) if enum else item for item in items]
    return ["(const %s[]){%s}" % (kind, ", ".join(shown)), str(len(items))]


def call(name, op, said, declared, prototype, given, present, known):
    """C that runs the op. said: the attributes as the header's comment lists them, with defaults; given: {attribute:
    text} of the example; present: names of optional inputs that it has."""
    defaults = dict(re.findall(r"(\w+) \(([^();]*)[^()]*\)", said))
    attributes = {attribute["name"]: attribute for attribute in op["attributes"]}
    given = {key: text for key, text in given.items() if text not in ("", "[]")}  # these stand for the default
    optional = [place["name"] for place in op["inputs"] if place["optional"]]

    def argument(parameter):
        """What a parameter or a field gets: a list of arguments."""
        if parameter in optional:
            return [parameter if parameter in present else "NULL"]
        attribute = attributes.get(parameter)
        if attribute is None:
            return [parameter]
        if parameter not in given:
            return [defaults[parameter]]
        enum = enum_of(parameter, declared, known) if "values" in attribute else None
        write = listed if attribute["kind"] in ("ints", "floats") else lambda *of: [scalar(*of)]
        return write(given[parameter], attribute, enum)

    lines, arguments = [], []
    for parameter in re.search(r"\((.*)\);", " ".join(prototype.split())).group(1).split(", "):
        word = re.search(r"\w+$", parameter).group()
        if parameter.startswith("nd4c_array **"):
            lines.append("nd4c_array *%s = NULL;" % word)
            arguments.append("&" + word)
        elif word == "options" and "_options *" in parameter:
            lines.append("nd4c_%s_options options = ND4C_%s_DEFAULTS;" % (name, name.upper()))
            for field in [*(o for o in optional if o in present), *(a for a in attributes if a in given)]:
                parts = argument(field)
                lines.append("options.%s = %s;" % (field, parts[0]))
                lines += ["options.%s_count = %s;" % (field, parts[1])] if parts[1:] else []
            arguments.append("&options")
        elif not (word.endswith("_count") and word[: -len("_count")] in attributes):
            arguments += argument(word)
    return "\n".join([*lines, "nd4c_status status = nd4c_%s(%s);" % (name, ", ".join(arguments))])
