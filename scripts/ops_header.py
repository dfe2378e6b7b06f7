#!/usr/bin/env python3
"""Writes the prototypes of the op functions: include/nd4c/ops.h, ops/<family>.h and ops/enums.h.

The op table (include/nd4c/op_table.h) is the one definition; op_table.py reads it. The comments above the
inference rules in src/ops/infer say what shape and dtype a rule gives ("Gives: ..."); the text of a rule says which statuses
it refuses with. The target `ops-header` writes the files into the tree; the test `tools.ops_header` writes them into
the build folder and compares.

Usage: ops_header.py [--check] C_COMPILER SOURCE_DIR OUTPUT_DIR
--check: the words for dtypes must be those of docs/reference/ops.md, too.
"""
import difflib
import re
import sys
import textwrap
from pathlib import Path

from op_table import read_table, read_words

WIDTH = 118
C_TYPES = {"IN": ["const nd4c_array *{}"], "OPT": ["const nd4c_array *{}"],
           "VAR": ["const nd4c_array *const *{}", "int32_t {}_count"],
           "INT": ["int64_t {}"], "BOOL": ["bool {}"], "FLOAT": ["double {}"],
           "INTS": ["const int64_t *{}", "int32_t {}_count"], "FLOATS": ["const double *{}", "int32_t {}_count"],
           "DTYPE": ["nd4c_dtype {}"], "STRING": ["const char *{}"], "OUT": ["nd4c_array **{}"],
           "WORDS": ["const int64_t *{}", "int32_t {}_count"]}
# The sets of dtypes of src/ops/op.c in the words of docs/reference/ops.md; `--check` compares the two.
DTYPES = {"BOOLEAN": "bool", "REAL_FLOATING": "float", "FLOATING": "float, complex", "REAL": "int, uint, float",
          "INTEGER": "int, uint", "INTEGER_OR_BOOL": "bool, int, uint", "RANDOM_STATE": "int64, uint64",
          "NUMERIC": "int, uint, float, complex", "NUMBER_OR_BOOL": "bool, int, uint, float, complex",
          "BYTE": "uint8", "TEXT": "utf8", "TOKEN": "int32, int64, utf8", "REAL_OR_TEXT": "int, uint, float, utf8",
          "ANY": "bool, int, uint, float, complex, utf8",
          "STORED_NUMBER": "bool, int, uint, float, complex, float8, packed",
          "CASTABLE": "bool, int, uint, float, complex, utf8, float8, packed",
          "MOVABLE": "bool, int, uint, float, complex, utf8, float8",
          "STORED": "bool, int, uint, float, complex, utf8, float8, packed",
          "FLOAT32": "float32", "QUANTIZABLE": "int32, float", "INT8S": "int8, uint8", "INDEX": "int32, int64",
          "QUANTIZED": "int8, int16, int32, uint8, uint16, float8_e4m3fn, float8_e4m3fnuz, float8_e5m2, "
                       "float8_e5m2fnuz, packed"}


# Refusals of symbolic extents (src/ops/infer/symbolic.c), which the functions of ops.h never get.
NOT_EAGER = ("nd4c_rule_needs_numbers", "nd4c_rule_extent_range", "nd4c_rule_too_long")


def read_rules(source):
    """For each function of src/ops/infer and src/array: the comment above it and its text."""
    functions = {}
    pattern = re.compile(r"(?:^/\*((?:(?!\*/).)*)\*/\n)?"
                         r"^(?:static )?(?:inline )?[a-z_][\w ]*[ *](\w+)\([^;{]*?\) \{\n(.*?)^\}", re.S | re.M)
    for path in sorted([*(source / "src/ops/infer").rglob("*.[ch]"), *(source / "src/array").rglob("*.c")]):
        for match in pattern.finditer(path.read_text()):
            comment = re.sub(r"\n \*", "\n", match.group(1) or "")
            functions.setdefault(match.group(2), []).append((path.name, " ".join(comment.split()), match.group(3)))
    return functions


def reach(functions, rule):
    """The texts of a rule and of all functions that it names directly or indirectly."""
    seen, todo, texts = set(), [(f"nd4c_infer_{rule}", None)], []
    while todo:
        name, file = todo.pop()
        for found in functions.get(name, []):
            if (name, found[0]) in seen or not (name.startswith("nd4c_") or found[0] == file):
                continue
            seen.add((name, found[0]))
            texts.append(found[2])
            todo += [(word, found[0]) for word in set(re.findall(r"\w+", found[2])) if word in functions and word not in NOT_EAGER]
    return texts


def statuses(source, functions):
    """For each rule: the statuses that its text and the texts of the functions it calls name, in the table's order."""
    table = (source / "include/nd4c/status.h").read_text()
    every = ("OK", "NULL_ARGUMENT", "INTERNAL")  # of every op: ops.h says so once
    names = [name for name in re.findall(r"^  X\((\w+), \d+,", table, re.M) if name not in every]

    def of(rule):
        words = set(re.findall(r"\bND4C_(\w+)", " ".join(reach(functions, rule))))
        return [name for name in names if name in words]
    return of


def wrap(text, first, rest):
    return textwrap.fill(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False,
                         break_on_hyphens=False)


def default_text(parameter):
    """A default as a C programmer writes it."""
    kind, preset = parameter.kind, parameter.preset
    if kind == "BOOL":
        return "false" if preset == "0" else "true"
    if kind in ("INTS", "FLOATS", "WORDS"):
        return "NULL, 0"
    if kind == "OPT" or (kind == "STRING" and preset == "0"):
        return "NULL"
    return "ND4C_DTYPE_NONE" if kind == "DTYPE" and preset == "0" else preset


def c_parameters(parameter):
    """The parameters of the C function that stand for one parameter of the op."""
    if parameter.kind == "WORD":
        return [f"nd4c_{parameter.type} {parameter.name}"]
    return [form.format(parameter.name) for form in C_TYPES[parameter.kind]]


def in_options(op, parameter):
    """Whether the parameter is a field of the op's options: everything that a caller may leave out."""
    return op.takes_options and parameter.kind not in ("IN", "VAR", "OUT")


def comment(op, gives, given_statuses):
    inputs, attributes, outputs = [], [], []
    for parameter in op.parameters:
        kind, name = parameter.kind, parameter.name
        if kind in ("IN", "OPT", "VAR") and not in_options(op, parameter):
            text = name + {"IN": "", "OPT": " or NULL", "VAR": " (one or more)"}[kind]
            if not inputs:
                text += f" ({DTYPES[op.dtypes]})"
            inputs.append(text)
        elif kind == "OUT":
            outputs.append(name)
        else:
            words = f"; values of nd4c_{parameter.type}" if kind == "WORDS" else ""
            attributes.append(f"{name} ({default_text(parameter)}{words})")
    lines = [wrap(f"{op.name}: {op.doc.rstrip('.')}.", "/* ", " * ")]
    if inputs:
        lines.append(wrap("In: " + ", ".join(inputs) + ".", " * ", " *     "))
    if attributes:
        title = "Options" if op.takes_options else "Attributes"
        lines.append(wrap(f"{title}: {', '.join(attributes)}.", " * ", " *     "))
    named = "" if gives.startswith(outputs[0] + ":") else ", ".join(outputs) + ": "
    lines.append(wrap(f"Out: {named}{gives}", " * ", " *     "))
    if op.trait == "REFUSES_LATE":
        lines.append(" * May be refused after the computation began; outputs that the caller gave stay as they were.")
    listed = ", ".join(given_statuses) or "those of every op"
    lines.append(wrap(f"Statuses: {listed}.", " * ", " *     ") + " */")
    text = "\n".join(lines)
    if text.count("*/") != 1 or text.count("/*") != 1:
        raise SystemExit(f"{op.name}: the doc line opens or ends a comment")
    return text


def prototype(op, context):
    start = f"ND4C_API nd4c_status nd4c_{op.name}{'_on' if context else ''}("
    arguments = ["nd4c_context *context"] if context else []
    given = [parameter for parameter in op.parameters if not in_options(op, parameter)]
    arguments += [text for parameter in given if parameter.kind != "OUT" for text in c_parameters(parameter)]
    arguments += [f"const nd4c_{op.name}_options *options"] if op.takes_options else []
    arguments += [text for parameter in given if parameter.kind == "OUT" for text in c_parameters(parameter)]
    lines, line = [], start
    for i, argument in enumerate(arguments):
        piece = argument + (");" if i + 1 == len(arguments) else ",")
        if len(line) + 1 + len(piece) > 120:
            lines.append(line)
            line = " " * len(start) + piece
        else:
            line += ("" if line.endswith("(") else " ") + piece
    return "\n".join([*lines, line])


def options(op):
    """The struct of the op's options and the initialiser with its defaults."""
    name = f"nd4c_{op.name}_options"
    fields = [parameter for parameter in op.parameters if in_options(op, parameter)]
    macro = f"ND4C_{op.name.upper()}_DEFAULTS"
    lines = [f"/* Options of nd4c_{op.name}. */", f"typedef struct {name} {{",
             f"  uint32_t struct_size; /* set by {macro} */"]
    defaults = []
    for parameter in fields:
        note = f" /* values of nd4c_{parameter.type} */" if parameter.kind == "WORDS" else ""
        lines += [f"  {text};{note if i == 0 else ''}" for i, text in enumerate(c_parameters(parameter))]
        defaults.append(default_text(parameter))
    last = re.search(r"\w+$", c_parameters(fields[-1])[-1]).group()
    start = f"{{ND4C_OPTIONS_SIZE({name}, {last}), "
    text = textwrap.wrap(start + ", ".join(defaults) + "}", WIDTH - 4, break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, f"}} {name};", f"#define {macro} \\", "  " + " \\\n   ".join(text)])


def check_form(op):
    """Ends the run if a function has too many parameters: beyond eight, an op takes options."""
    count = sum(len(c_parameters(parameter)) for parameter in op.parameters if parameter.kind != "OUT")
    if count > 8 and not op.takes_options:
        raise SystemExit(f"{op.name}: its function has {count} parameters, more than 8: give its row the form OPTIONS")


def rule_comment(op, functions):
    """The comment above the op's inference rule."""
    name = f"nd4c_infer_{op.rule}"
    if name not in functions:
        near = difflib.get_close_matches(name, [known for known in functions if known.startswith("nd4c_infer_")], 1)
        meant = f"; the nearest name is {near[0]}" if near else ""
        raise SystemExit(f"{op.name}: its row names the rule {op.rule}, but src/ops/infer has no {name}{meant}")
    return functions[name][0][1]


def family_header(family, ops, functions, of):
    guard = f"ND4C_OPS_{family.upper()}_H"
    options_header = ["options"] if any(op.takes_options for op in ops) else []
    enums = ["ops/enums"] if any(parameter.kind == "WORD" for op in ops for parameter in op.parameters) else []
    included = ["array", "context", "dtype", "export", *options_header, *enums, "status"]
    out = [wrap(f"Op functions of the family {family}, made from include/nd4c/op_table/{family}.h by "
                "scripts/ops_header.py (target ops-header): change the table, not this file. nd4c/ops.h says how to "
                "read the comments.", "/* ", " * ") + " */",
           f"#ifndef {guard}", f"#define {guard}", "", "#include <stdbool.h>", "#include <stdint.h>", "",
           *(f'#include "nd4c/{name}.h"' for name in included), "",
           "ND4C_EXTERN_C_BEGIN", ""]
    for op in ops:
        found = rule_comment(op, functions)
        if "Gives: " not in found:
            raise SystemExit(f"nd4c_infer_{op.rule}: the comment above it does not say what it gives: 'Gives: ...'")
        gives = found.split("Gives: ", 1)[1]
        check_form(op)
        out += [options(op), ""] if op.takes_options else []
        out += [comment(op, gives, of(op.rule)), prototype(op, False), prototype(op, True), ""]
    return "\n".join([*out, "ND4C_EXTERN_C_END", "#endif", ""])


def check_names(source, families, words):
    """Ends the run if the name of a type or constant is taken: by an op function, or by anything in a public header."""
    taken = {f"nd4c_{op.name}{suffix}" for ops in families.values() for op in ops for suffix in ("", "_on")}
    for path in [*(source / "include/nd4c").glob("*.h"), *(source / "include/nd4c/plugin").glob("*.h")]:
        if path.name != "op_table.h":
            taken |= set(re.findall(r"\w+", re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)))
    for name in (name for kind in words for name in (f"nd4c_{kind.type}", *(row[0] for row in kind.constants))):
        if name in taken:
            raise SystemExit(f"{name}, of a table of words, is the name of something else, too: rename the table")
        taken.add(name)


def check_numbers(families):
    """Ends the run if two ops have the same number or the same name."""
    ops = [op for family in families.values() for op in family]
    by_number, by_name = {}, {}
    for op in ops:
        if op.name in by_name:
            raise SystemExit(f"{op.name}: two rows of the op table have this name")
        if op.number in by_number:
            free = max(other.number for other in ops) + 1
            raise SystemExit(f"{op.name}: its number {op.number} is that of {by_number[op.number]}; the next free number "
                             f"is {free}")
        by_name[op.name], by_number[op.number] = op, op.name


def enums_header(families, words):
    users = {kind.type: {} for kind in words}
    for op in (op for ops in families.values() for op in ops):
        for parameter in op.parameters:
            if parameter.type is not None:
                users[parameter.type].setdefault(parameter.name, []).append(op.name)
    out = [ENUMS_HEAD]
    for kind in words:
        where = "; ".join(f"{attr} of {', '.join(ops)}" for attr, ops in users[kind.type].items())
        lines = [wrap(kind.comment, "/* ", " * ")] + ([wrap(f"Attribute {where}.", " * ", " * ")] if where else [])
        out += ["\n".join(lines) + " */", f"typedef enum nd4c_{kind.type} {{"]
        for i, (name, number, note) in enumerate(kind.constants):
            comma = "," if i + 1 < len(kind.constants) else ""
            out.append(f"  {name} = {number}{comma}" + (f" /* {note} */" if note else ""))
        out += [f"}} nd4c_{kind.type};", ""]
    return "\n".join([*out, "#endif", ""])


def main_header(families, about):
    lines = [f" *   {family + '.h':<18}{len(ops):>3} ops  {about[family]}" for family, ops in families.items()]
    rows = [f'  X({family}, {family.upper()}, "{about[family]}")' for family in families]
    for line in [*lines, *rows]:
        if len(line) > WIDTH:
            raise SystemExit(f"'{line}': longer than {WIDTH} columns: shorten the comment of the family's rows")
    define = "#define ND4C_FAMILY_TABLE(X)"
    width = max(len(row) for row in [define, *rows])
    table = "\n".join([*(f"{row:<{width}} \\" for row in [define, *rows[:-1]]), rows[-1]])
    fields = {"LISTED": "\n".join(lines), "TOTAL": str(sum(len(ops) for ops in families.values())), "FAMILIES": table,
              "INCLUDES": "\n".join(f'#include "nd4c/ops/{family}.h"' for family in families)}
    return re.sub(r"@(\w+)@", lambda field: fields[field.group(1)], HEAD)


def read_about(source, families):
    """What each family has, by the first sentence of its file in op_table/."""
    about = {}
    for family in families:
        path = source / f"include/nd4c/op_table/{family}.h"
        comment = path.read_text().split("*/", 1)[0].replace("\n *", "\n")
        found = re.match(r"/\* Rows of the op table: (.*?)\. ", " ".join(comment.split()))
        if found is None:
            raise SystemExit(f"{path}: expected a comment 'Rows of the op table: what the family has. ...' at its top")
        about[family] = found.group(1)
    return about


ENUMS_HEAD = """/* The enums of attributes whose values have words, made from the tables of words in
 * include/nd4c/op_table.h and include/nd4c/op_table/ by scripts/ops_header.py (target ops-header): change a table, not
 * this file. The generic call (nd4c_op_call) takes the number as INT, or the word as STRING; nd4c_op_attr_words lists
 * the words of an attribute. */
#ifndef ND4C_OPS_ENUMS_H
#define ND4C_OPS_ENUMS_H
"""

HEAD = """/* The typed functions of all ops, two for each of the @TOTAL@: nd4c_add runs on the thread's current context,
 * nd4c_add_on on a given context (NULL: the current one). Made by scripts/ops_header.py (target ops-header) from the op
 * table: change op_table.h, not these files. The enums of attributes are in ops/enums.h. A header for each family:
 *
@LISTED@
 *
 * A comment says what the op computes, and then:
 *
 *   In          the inputs in order, with the dtypes that the first may have. Unless Out says otherwise, an input that
 *               holds indices is int32 or int64, and every further input has the first input's dtype or a dtype that
 *               promotes with it. int, uint, float and complex stand for all dtypes of that kind except the narrow
 *               ones, float8 for all floats of eight bits, packed for int4, uint4, int2, uint2 and float4 (as in
 *               `nd4c ops`).
 *   Attributes  the attributes in order, each with its default, which nd4c_op_call takes if the caller leaves the
 *               attribute out. A C caller gives them all. A list is a pointer and a count; NULL and 0 stand for its
 *               default. An attribute whose values have words is an enum of ops/enums.h; a list of such values holds
 *               them as int64_t.
 *   Options     in place of Attributes: the fields of the struct that the function takes, with their defaults.
 *               (NULL, 0): the list is left out, and the text says what the op takes in place of it. A list that is
 *               not NULL must have a count (nd4c/options.h).
 *   Out         the outputs in order, with their shape and dtype. "x with ..." and "x without ..." are x's shape with
 *               that change. An output whose pointer is NULL is not wanted; only an op of several outputs accepts that.
 *               A pointer to NULL receives a fresh array, which the caller releases; else the result is written into
 *               the array given (nd4c_op_call has the rules).
 *   Statuses    the statuses, without ND4C_, with which the rule that infers the op's shapes may refuse a call.
 *
 * Every op may also return NULL_ARGUMENT and HANDLE (inputs), DTYPE (the first input's is none of those listed), SHAPE
 * and DTYPE (an output that was given has another shape or dtype), ALIAS and READ_ONLY (outputs), MEMORY and
 * MEMORY_CAP, POISONED (an input has no value), UNSUPPORTED (no kernel of the device serves the call), STRICT (strict
 * contexts), and what the device reports. Some kernels refuse a call because of the values of its inputs: INDEX (an
 * index out of range), ARGUMENT (a singular matrix). On an asynchronous device such a failure arrives with the first
 * read of a result.
 *
 * Functions that would have more than eight parameters, outputs not counted, take an options struct (nd4c/options.h).
 * It has everything that a caller may leave out, attributes as well as optional inputs, so that a later version can add
 * either without another function. Inputs that the op requires stay parameters, even if there are many (tree_ensemble
 * has eleven). NULL stands for the defaults. ARGUMENT: a struct that was not initialised, one with a list without its
 * count, or one of a newer nd4c that asks for something which this library does not know.
 *
 *   nd4c_conv_options options = ND4C_CONV_DEFAULTS;
 *   options.bias = bias;
 *   options.auto_pad = ND4C_AUTO_PAD_SAME_UPPER;
 *   nd4c_conv(x, w, &options, &y);
 *
 * Any thread may call the functions. They return when the work is submitted; on a synchronous device, when it is
 * done. */
#ifndef ND4C_OPS_H
#define ND4C_OPS_H

#include "nd4c/op_schema.h"
@INCLUDES@

/* X(family, FAMILY, what it has): the family's rows are ND4C_OPS_<FAMILY>(OP) of op_table.h. */
@FAMILIES@

#endif
"""


def check_dtypes(source, families):
    """The words of DTYPES are those that docs/reference/ops.md has, which the built library writes."""
    page = (source / "docs/reference/ops.md").read_text()
    wrong = []
    for op in (op for ops in families.values() for op in ops):
        row = re.search(rf"^\| `{op.name}\(.*?` \| \d+ \| {op.version} \| (?:[^|\\]|\\.)* \| ([^|]*) \|", page, re.M)
        if row is None or row.group(1) != DTYPES[op.dtypes]:
            wrong.append(f"{op.name}: {DTYPES[op.dtypes]} here, {row and row.group(1)} in docs/reference/ops.md")
    if wrong:
        raise SystemExit("\n".join(wrong))


def main():
    check = sys.argv[1] == "--check"
    compiler, source, output = sys.argv[2 if check else 1:]
    source, output = Path(source), Path(output)
    families = read_table(compiler, source)
    words = read_words(source)
    check_numbers(families)
    check_names(source, families, words)
    functions = read_rules(source)
    of = statuses(source, functions)
    files = {"ops.h": main_header(families, read_about(source, families)), "ops/enums.h": enums_header(families, words)}
    for family, ops in families.items():
        files[f"ops/{family}.h"] = family_header(family, ops, functions, of)
    for name, text in files.items():
        path = output / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    if check:
        check_dtypes(source, families)


if __name__ == "__main__":
    main()
