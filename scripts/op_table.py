"""Reads the op table (include/nd4c/op_table.h) with the C preprocessor, for scripts that generate text from it."""
import re
import subprocess
from collections import namedtuple

# A parameter of an op: kind as in op_table.h; preset as C text; type: of a WORD or WORDS, the type of its words.
Parameter = namedtuple("Parameter", "kind name preset type")
# A type of words, `auto_pad`: constants as (name of the constant, number, comment of its row).
Words = namedtuple("Words", "type comment constants")

TRAITS = "NONE|C_ORDER|INPUT_ORDER|FIRST_ORDER|REPLACES|REFUSES_LATE"


class Op:
    def __init__(self, number, version, name, category, rule, dtypes, doc, parameters, rest):
        self.number, self.version, self.name, self.category, self.rule = number, version, name, category, rule
        self.dtypes, self.doc, self.parameters = dtypes, doc, parameters
        trait = re.search(r'",\s*(%s)\b' % TRAITS, rest)
        self.trait = trait.group(1) if trait else "NONE"
        self.takes_options = re.search(r",\s*OPTIONS\s*$", rest) is not None


def preprocess(compiler, source, text):
    return subprocess.run([compiler, "-E", "-P", "-I", str(source / "include"), "-x", "c", "-"], input=text, text=True,
                          check=True, capture_output=True).stdout


def read_table(compiler, source):
    """The families of the table with their ops, in the table's order."""
    text = ('#include "nd4c/op_table.h"\n'
            "#define PARAMETER(op, kind, name, ...) nd4c_parameter_ #kind #name (__VA_ARGS__)\n"
            "#define ROW(number, version, name, category, SIGNATURE, rule, dtypes, doc, ...) "
            'nd4c_row_ #number #version #name #category #rule #dtypes nd4c_doc_ doc nd4c_rest_ __VA_ARGS__ nd4c_signature_ '
            "SIGNATURE(PARAMETER, name)\n")
    families = [path.stem for path in sorted((source / "include/nd4c/op_table").glob("*.h"))]
    for family in families:
        text += f"nd4c_family_ {family} ND4C_OPS_{family.upper()}(ROW)\n"
    result = {}
    for part in preprocess(compiler, source, text).split("nd4c_family_")[1:]:
        family = part.split(None, 1)[0]
        result[family] = [read_row(row) for row in part.split("nd4c_row_")[1:]]
    return result


def unquote(text):
    """The value of adjacent C string literals."""
    parts = re.findall(r'"((?:[^"\\]|\\.)*)"', text)
    return "".join(re.sub(r"\\(.)", r"\1", part) for part in parts)


def read_row(row):
    head, rest = row.split("nd4c_doc_", 1)
    doc, rest = rest.split("nd4c_rest_", 1)
    rest, signature = rest.split("nd4c_signature_", 1)
    parameters = []
    for parameter in signature.split("nd4c_parameter_")[1:]:
        kind, name, values = re.fullmatch(r'\s*"(\w+)"\s*"(\w+)"\s*\((.*)\)\s*', parameter, re.S).groups()
        values = [" ".join(value.split()) for value in values.split(",")]
        parameters.append(Parameter(kind, name, values[-1], values[0] if len(values) > 1 else None))
    number, *words = re.findall(r'"((?:[^"\\]|\\.)*)"', head)
    return Op(int(number), *words, unquote(doc), parameters, rest.strip())


def read_words(source):
    """The types of words in the table's order, with the comments of their tables."""
    files = [source / "include/nd4c/op_table.h", *sorted((source / "include/nd4c/op_table").glob("*.h"))]
    text = "\n".join(path.read_text() for path in files)
    tables = {}
    for comment, name, body in re.findall(r"/\*((?:(?!\*/)[\s\S])*)\*/\n#define ND4C_(\w+)_TABLE\(X\)((?:.*\\\n)*.*)",
                                          text):
        tables[name] = (" ".join(re.sub(r"\n \*", "\n", comment).split()), body)
    result = []
    for kind, table in re.findall(r"X\((\w+), (\w+)\)", tables["WORDS"][1]):
        comment, body = tables[table]
        rows = re.findall(r'X\((\w+), (-?\d+), "[^"]*"[^()]*\)(?: */\* *([^*]*?) *\*/)?', body)
        if kind.upper() != table or not rows:
            raise SystemExit(f"{kind}: expected a table ND4C_{kind.upper()}_TABLE(X) with rows of words")
        result.append(Words(kind, comment, [(f"ND4C_{table}_{name}", number, note) for name, number, note in rows]))
    return result
