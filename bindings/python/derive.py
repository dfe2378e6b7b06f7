#!/usr/bin/env python3
"""Writes the Python package's description of the C library from include/nd4c and the library just built.

    derive.py --include include --library build/debug/lib/libnd4c.so --output build/debug/python/nd4c

nd4c/_abi.py  numbers, struct layouts and prototypes of the public API, one signature an op
nd4c/ops.py   one Python function an op, with its docstring (derive_docs.py)
nd4c/*.pyi    type stubs, by stubs.py

The files that it writes are not committed. It needs only Python's standard library.
"""
import argparse
import ast
import ctypes
import os
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "nd4c"))  # last: its modules shadow Python's
import _schema  # noqa: E402
import derive_docs  # noqa: E402

HEADERS = ("status", "version", "dtype", "device", "context", "array", "external", "lists", "indexing", "dlpack", "datum", "io",
           "op_schema", "compile", "extent", "graph", "names", "control", "variable", "calibration", "model", "runner", "routing", "config", "log", "trace", "workspace",
           "cancellation")

SCALARS = {"bool": "c_bool", "char": "c_char", "int8_t": "c_int8", "uint8_t": "c_uint8", "uint16_t": "c_uint16",
           "int32_t": "c_int32", "uint32_t": "c_uint32", "int64_t": "c_int64", "uint64_t": "c_uint64",
           "size_t": "c_size_t", "double": "c_double", "float": "c_float", "int": "c_int", "void": "None"}


# -- headers ------------------------------------------------------------------------------------------------------

def read_headers(folder):
    """Text of the headers without comments and with continued lines joined, by name."""
    texts = {}
    for name in HEADERS:
        path = os.path.join(folder, "nd4c", name + ".h")
        if os.path.exists(path):
            texts[name] = strip(path)
    rows = os.path.join(folder, "nd4c", "op_table")
    texts["op_table"] = strip(os.path.join(folder, "nd4c", "op_table.h"))
    for file in sorted(os.listdir(rows)):
        texts["op_table/" + file[:-2]] = strip(os.path.join(rows, file))
    return texts


def strip(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"\\\n", " ", text)


def read_tables(texts):
    """The X tables: name -> list of rows, each a list of the row's arguments as text."""
    tables = {}
    for text in texts.values():
        for name, body in re.findall(r"#define ND4C_(\w+?)_?TABLE\(X\)(.*)", text):
            rows = re.findall(r"X\(((?:[^()\"]|\"[^\"]*\")*)\)", body)
            tables[name] = [[a.strip() for a in re.findall(r"\s*(\"[^\"]*\"|[^,]+)", row)] for row in rows]
    for text in plain(texts).values():
        for name, body in re.findall(r"typedef enum nd4c_(\w+) \{([^}]*)\}", text):
            rows = re.findall(r"(ND4C_\w+) = (-?\d+)", body)
            if "_TABLE(" not in body and len(rows) > 1:
                tables.setdefault(name.upper(), enum_rows(rows))
    return tables


def enum_rows(members):
    """The members of an enum that has no table, as a table's rows, without the prefix that their names share."""
    common = len(os.path.commonprefix([name for name, _ in members]).rpartition("_")[0]) + 1
    return [[name[common:], number, '"%s"' % name[common:].lower()] for name, number in members]


def plain(texts):
    """Headers of the C API without preprocessor lines."""
    return {name: re.sub(r"(?m)^\s*#.*$", "", text) for name, text in texts.items() if not name.startswith("op_table")}


class Types:
    """Translates C types to ctypes expressions."""

    def __init__(self, texts):
        joined = "\n".join(texts.values())
        self.enums = set(re.findall(r"typedef enum \w+ \{[^}]*\} (\w+);", joined))
        self.names = {name: base for base, name in re.findall(r"typedef (u?int\d+_t) (\w+);", joined)}
        self.callbacks = re.findall(r"typedef (\w+(?: \*)?) ?\(\*(\w+)\)\(([^)]*)\);", joined)
        self.structs = set(re.findall(r"typedef struct (\w+) \{", joined))

    def of(self, text, field=False):
        text = re.sub(r"\b(const|struct)\b", "", text).strip()
        stars = text.count("*")
        base = text.replace("*", "").strip()
        if stars:
            return "c_char_p" if base == "char" and stars == 1 else "c_void_p"
        if base in SCALARS:
            return SCALARS[base]
        if base in self.names:
            return SCALARS[self.names[base]]
        if base in self.enums:
            return "c_int"
        if any(base == name for _, name, _ in self.callbacks):
            return "c_void_p" if field else base[5:]
        if base in self.structs:
            return base[5:]
        raise SystemExit("derive.py: no ctypes type for %r" % text)

    def parameters(self, text):
        text = text.strip()
        if text in ("", "void"):
            return []
        result = []
        for parameter in text.split(","):
            match = re.match(r"(.*?)(\w+)\s*$", parameter.strip(), flags=re.S)
            result.append((match.group(2), self.of(match.group(1))))
        return result


def read_structs(texts, types):
    """Struct bodies in the order of definition: name -> list of (field, ctypes expression)."""
    structs = []
    for text in texts.values():
        for name, body in re.findall(r"typedef struct (\w+) \{((?:[^{}]|\{[^{}]*\})*)\} \w+;", text):
            union = re.search(r"union \{([^}]*)\} (\w+);", body)
            if union:
                structs.append((name[5:] + "_as", "Union", fields(union.group(1), types)))
                body = body.replace(union.group(0), "")
            rows = fields(body, types)
            if union:
                rows.append((union.group(2), name[5:] + "_as"))
            structs.append((name[5:], "Structure", rows))
    return structs


def fields(body, types):
    rows = []
    for statement in body.split(";"):
        statement = " ".join(statement.split())
        if not statement:
            continue
        pointer = re.match(r".*\(\*(\w+)\)\(.*\)$", statement)
        if pointer:
            rows.append((pointer.group(1), "c_void_p"))
            continue
        first, *others = statement.split(",")
        match = re.match(r"(.*?)(\w+)$", first)
        base = match.group(1)
        rows.append((match.group(2), types.of(base, field=True)))
        for other in others:  # const char *vendor, *driver: each has stars of its own
            name = other.strip()
            rows.append((name.lstrip("*"), types.of(base.replace("*", "") + name[:-len(name.lstrip("*"))], field=True)))
    return rows


def read_functions(texts, types):
    functions = {}
    for text in texts.values():
        for result, name, parameters in re.findall(r"ND4C_API\s+([\w\s*]+?)\b(nd4c_\w+)\(([^;]*)\);", text):
            functions[name] = (types.of(result), [kind for _, kind in types.parameters(parameters)])
    return functions


# -- the library --------------------------------------------------------------------------------------------------

def read_schema(path, namespace):
    """Schema of every op of the built library: number -> dict."""
    library = ctypes.CDLL(os.path.abspath(path))
    info_type, attr_type, input_type = namespace["op_info"], namespace["op_attr"], namespace["op_input"]
    library.nd4c_op_at.restype = ctypes.POINTER(info_type)
    library.nd4c_op_attr_words.restype = ctypes.POINTER(namespace["attr_word"])
    dtypes = {row[2]: row[1] for row in namespace["TABLES"]["DTYPE"]}
    schema, count = {}, ctypes.c_int32()
    for position in range(library.nd4c_op_count()):
        info = library.nd4c_op_at(position).contents
        schema[info.op] = _schema.read(info, input_type, attr_type, dtypes)
        schema[info.op]["words"] = {}
        for place, (name, _, _) in enumerate(schema[info.op]["attrs"]):
            words = library.nd4c_op_attr_words(info.op, place, ctypes.byref(count))
            schema[info.op]["words"][name] = [(words[i].value, words[i].word.decode()) for i in range(count.value)]
    return schema


def enum_table(row, attr, tables):
    """The name of the table with the words for an attribute's values; None if the attribute has no words."""
    words = row["words"][attr]
    return next((name for name, rows in tables.items()
                 if words and [(int(r[1]), r[2].strip('"')) for r in rows if is_word(r)] == words), None)


def is_word(row):
    return len(row) > 2 and re.fullmatch(r"-?\d+", row[1]) and row[2].startswith('"')


# -- writing ------------------------------------------------------------------------------------------------------

HEAD = '"""Made by bindings/python/derive.py from include/nd4c; not to be edited."""\n'


def abi_text(texts, tables):
    headers = plain(texts)
    types = Types(headers)
    out = [HEAD, "from ctypes import (CFUNCTYPE, Structure, Union, c_bool, c_char, c_char_p, c_double, c_int, c_int32,\n"
           "                    c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p)\n"]
    version = dict(re.findall(r"#define ND4C_VERSION_(\w+) (\d+)", texts["version"]))
    out.append("VERSION = (%s, %s, %s)" % (version["MAJOR"], version["MINOR"], version["PATCH"]))
    out.append("MAX_RANK = %s" % re.search(r"#define ND4C_MAX_RANK (\d+)", texts["array"]).group(1))
    out.append("EXTENT_FIRST = %s  # extents from here down stand for expressions in a graph's dims\n"
               % re.search(r"#define ND4C_EXTENT_FIRST \(-INT64_C\((\d+)\)\)", texts["extent"]).expand(r"-\1"))
    for result, name, parameters in types.callbacks:
        arguments = [kind for _, kind in types.parameters(parameters)]
        out.append("%s = CFUNCTYPE(%s)" % (name[5:], ", ".join([types.of(result)] + arguments)))
    out.append("")
    for name, base, rows in read_structs(headers, types):
        out.append("\nclass %s(%s):\n    _fields_ = [%s]\n" % (
            name, base, ",\n                ".join("(%r, %s)" % row for row in rows)))
    out.append("\n# Tables of the headers: rows as they stand there.\nTABLES = {")
    for name, rows in tables.items():
        out.append("    %r: (%s)," % (name, " ".join("(%s)," % ", ".join(cell(c) for c in row) for row in rows)))
    out.append("}\n\n# Result and parameters of every function but the ops' typed ones.\nFUNCTIONS = {")
    for name, (result, parameters) in read_functions(headers, types).items():
        out.append("    %r: (%s, (%s))," % (name, result, "".join(p + ", " for p in parameters)))
    out.append("}\n")
    return "\n".join(out)


def cell(text):
    try:
        return repr(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return repr(text)


def with_options(texts):
    """Numbers of the ops whose typed C function takes a struct of options: rows of the form OPTIONS."""
    numbers = []
    for name, text in texts.items():
        if name.startswith("op_table/"):
            rows = re.split(r"\bOP\((?=\d+,)", re.sub(r'"(?:\\.|[^"\\])*"', '""', text))[1:]
            numbers += [int(row.split(",", 1)[0]) for row in rows if re.search(r",\s*OPTIONS\)", row)]
    return sorted(numbers)


def ops_table(schema, texts):
    out = ["# Ops: number -> name, inputs as (kind, name), attributes as (kind, name), number of outputs. Kinds: i an\n"
           "# array, o one or None, v several; n int, b bool, f float, N ints, F floats, t dtype, s text.\nOPS = {"]
    for number, row in sorted(schema.items()):
        out.append("    %d: (%r, %s, %s, %d)," % (
            number, row["name"], pairs((kind, name) for name, kind in row["inputs"]),
            pairs((kind, name) for name, kind, _ in row["attrs"]), row["outputs"]))
    out.append("}\n\nNUMBERS = {row[0]: number for number, row in OPS.items()}\n"
               "# Ops whose typed C function takes a struct of options.\nWITH_OPTIONS = frozenset(%r)\n" % (with_options(texts),))
    return "\n".join(out)


def pairs(items):
    return "(%s)" % "".join("%r, " % (item,) for item in items)


def preset_text(row, name, kind, preset, tables):
    table = enum_table(row, name, tables)
    if table and kind == "n":
        return repr(dict(row["words"][name])[preset])
    return repr(preset) if kind != "f" or abs(preset) != float("inf") else "%s_inf" % ("-" if preset < 0 else "")


# Ops whose axes NumPy and the standard call axes, too; everywhere else one axis or several are `axis`.
AXES = {"transpose", "fftn", "ifftn", "rfftn", "irfftn", "fftshift", "ifftshift", "slice", "pad", "im2col", "col2im"}


def attribute_name(op, name):
    return python_name("axis" if name == "axes" and op not in AXES else name)


def parameters(row, tables):
    """Python parameters of an op and the expressions that the core gets. An op without inputs takes the device on which it
    makes its result."""
    names, values, placed = [], [], by_position(row)
    for name, kind in row["inputs"]:
        names.append(python_name(name) + ("=None" if kind == "o" else ""))
        values.append(python_name(name))
    for place, (name, kind, preset) in enumerate(row["attrs"]):
        if place == placed:
            names.append("*")
        required = is_required(row, name)
        names.append(attribute_name(row["name"], name) + ("" if required else "=" + preset_text(row, name, kind, preset, tables)))
        table = enum_table(row, name, tables)
        value = attribute_name(row["name"], name)
        if name == "axes":
            value = "_axes(%s)" % value
        elif table:
            value = "_%s(%r, %s, _TABLES[%r]%s)" % (
                "names" if kind == "N" else "name", row["name"] + ": " + name, value, table,
                "" if kind == "N" else ", %d" % preset)
        elif kind == "t":
            value = "_dtype(%s)" % value
        values.append(value)
    if not row["inputs"]:
        names.append("device=None")
    return ", ".join(names), ", ".join(values)


def is_required(row, name):
    """Whether an attribute has no preset."""
    return name == "dtype" and row["name"] in ("cast", "bit_cast", "cast_float8")


def by_position(row):
    """How many attributes of an op may stand behind its arrays: the numbers and lists before the first flag, word or dtype, and
    a dtype without preset. An axis goes by name if numbers follow it: top_k(x, 3) asks for three, not for the axis 3. So do all
    attributes of ops without arrays, and where an array may be left out."""
    if not row["inputs"] or any(kind == "o" for _, kind in row["inputs"]):
        return 0
    numbers = [kind in "nfNF" and not row["words"][name] for name, kind, _ in row["attrs"]]
    for place, (name, _, _) in enumerate(row["attrs"]):
        is_last = name not in ("axis", "axes") or not any(numbers[place + 1:])
        if not (numbers[place] and is_last or is_required(row, name)):
            return place
    return len(numbers)


def python_name(name):
    return name + "_" if name in ("lambda", "in", "is", "from", "as", "with") else name


def wrapped(text, indent, width=116):
    lines, line = [], ""
    for word in text.split():
        if line and len(indent) + len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = (line + " " + word).strip()
    return ("\n" + indent).join(lines + [line])


def ops_text(schema, tables, docs):
    """The module ops; docs: the docstring of every op, from derive_docs."""
    out = [HEAD, "from math import inf as _inf\n\nfrom nd4c._core import calls as _calls\n"
           "from nd4c._creation import made_on as _made_on\n"
           "from nd4c._dtypes import dtype_or_none as _dtype\n"
           "from nd4c._arguments import axes as _axes, enum_name as _name, enum_names as _names, TABLES as _TABLES\n"
           "from nd4c._functions.keywords import explained as _explained, unexpected as _unexpected\n"]
    for number, row in sorted(schema.items()):
        names, values = parameters(row, tables)
        doc = re.sub(r"(?m)\n(?=.)", "\n    ", docs[row["name"]])
        call = "_calls[%d](%s)" if row["inputs"] else "_made_on(device, _calls[%d], %s)"
        name = python_name(row["name"])
        head, check = "\ndef %s(%s):\n" % (name, names), ""
        if "axis=" in names or "axes=" in names:  # PyTorch's word is dim
            head = "\n@_explained\ndef %s(%s, **wrong):\n" % (name, names)
            check = "    if wrong:\n        raise _unexpected(%s, wrong)\n" % name
        out.append('%s    r"""%s\n    """\n%s    return %s\n' % (
            head, doc.replace('"""', "'''"), check, call % (number, values)))
    categories = {}
    for number, row in sorted(schema.items()):
        categories.setdefault(row["category"], []).append(row["name"])
    out.append("\nCATEGORIES = {\n%s}\n" % "".join(
        "    %r: (\n        %s),\n" % (key, wrapped(", ".join(map(repr, names)) + ",", "        "))
        for key, names in sorted(categories.items())))
    return "\n".join(out)


def write(path, text):
    """Writes a file only if its text changes, so that the build does not remake what depends on it."""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--include", default=os.path.join(os.path.dirname(__file__), "..", "..", "include"))
    parser.add_argument("--library", required=True)
    parser.add_argument("--output", required=True, help="the package's folder nd4c")
    parser.add_argument("--link-modules", action="store_true", help="link the modules beside this file into the package")
    parser.add_argument("--link-libraries", metavar="FOLDER", help="link the folder of libnd4c.so into the package")
    arguments = parser.parse_args()
    modules = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nd4c")
    texts = read_headers(arguments.include)
    tables = read_tables(texts)
    abi = abi_text(texts, tables)
    namespace = {}
    exec(compile(abi, "_abi.py", "exec"), namespace)
    schema = read_schema(arguments.library, namespace)
    docs = derive_docs.docstrings(schema, arguments.include, os.path.join(os.path.dirname(__file__), "examples.txt"))
    os.makedirs(arguments.output, exist_ok=True)
    write(os.path.join(arguments.output, "_abi.py"), abi + "\n" + ops_table(schema, texts))
    write(os.path.join(arguments.output, "ops.py"), ops_text(schema, tables, docs))
    if arguments.link_modules:
        link_modules(modules, arguments.output)
    if arguments.link_libraries:
        link(arguments.link_libraries, os.path.join(arguments.output, "lib"))
    subprocess.run([sys.executable, os.path.join(os.path.dirname(modules), "stubs.py"), "--modules", modules,
                    "--library", arguments.library, "--output", arguments.output], check=True)


def link_modules(source, package):
    """Links every module of a folder and of those inside it, and removes links of modules that are gone."""
    for folder, folders, files in os.walk(package):
        for name in folders + files:
            path = os.path.join(folder, name)
            if os.path.islink(path) and not os.path.exists(path):
                os.remove(path)
    for folder, folders, files in os.walk(source):
        folders[:] = [name for name in folders if name != "__pycache__"]
        target = os.path.join(package, os.path.relpath(folder, source))
        if os.path.islink(target):
            os.remove(target)
        os.makedirs(target, exist_ok=True)
        for name in files:
            link(os.path.join(folder, name), os.path.join(target, name))


def link(source, place):
    if os.path.islink(place) and os.readlink(place) == source:
        return
    if os.path.lexists(place):
        os.remove(place)
    os.symlink(source, place)


if __name__ == "__main__":
    main()
