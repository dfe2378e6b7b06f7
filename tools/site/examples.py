"""An example for each op, in Python: the op's first case of `nd4c selftest`, computed while the site is built.

    PYTHONPATH=build/ci/python python tools/site/examples.py build/ci/bin/nd4c tools/cli/selftest.txt

prints {op: {"text": Markdown, "attributes": {name: text}, "inputs": [given or not]}} as JSON; a written example has
the text alone. ops.py puts them into the entries. build_site.py runs this in a process of its own,
with the package out of the build folder. Numbers are shortened, and long inputs are ramps; where an op refuses these,
its own numbers stand, and where they are too many to read, shapes stand for them.
"""

import inspect
import json
import subprocess
import sys

import nd4c as xp
from written_examples import WRITTEN

SHORT, LONG, LINES = 24, 40, 14
ORDER = ("float32", "float64", "int32", "int64", "uint8", "bool")  # the case's dtype, as make_selftest.py chooses it


def schemas(program):
    text = subprocess.run([program, "ops", "--json"], check=True, capture_output=True, text=True).stdout
    return {op["name"]: op for op in json.loads(text)}


def cases(path):
    """(op, {attribute: text}, [input or None]); an input is (dtype or "@", shape, [element])."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            op, given, *inputs = line.rstrip("\n").split(" | ")
            attributes = {} if given == "-" else dict(word.split("=", 1) for word in given.split(" "))
            yield op, attributes, [None if text.strip() == "-" else read_input(text) for text in inputs]


def read_input(text):
    kind, *elements = text.split()
    dtype, shape = kind.split("[")
    return dtype, [int(n) for n in shape[:-1].split(",") if n], elements


def nested(elements, shape):
    if not shape:
        return elements[0]
    if 0 in shape:
        return "[]" if len(shape) == 1 else None
    step = len(elements) // shape[0]
    return "[%s]" % ", ".join(nested(elements[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0]))


def literal(element, dtype, short):
    if dtype == "bool":
        return "True" if element in ("1", "true") else "False"
    if dtype.startswith(("int", "uint")):
        return element
    if element in ("nan", "inf", "-inf"):
        return ("-" if element[0] == "-" else "") + "xp." + element.lstrip("-")
    value = complex(element.replace("i", "j")) if dtype.startswith("complex") else float(element)
    if isinstance(value, complex):
        return "%s%sj" % (number(value.real, short), "%+g" % float(number(value.imag, short)))
    return number(value, short)


def number(value, short):
    text = "%.3g" % value if short else repr(value)
    return text if any(c in text for c in ".en") else text + ".0"


def array(name, given, dtype, short):
    """A line of Python that makes an input; None where it would be too long to read."""
    kind, shape, elements = given
    kind = dtype if kind == "@" else kind
    count = 1
    for n in shape:
        count *= n
    if short and count > SHORT and kind.startswith("float"):
        return "%s = xp.reshape(xp.linspace(-1, 1, %d, dtype=xp.%s), %s)" % (name, count, kind, tuple(shape))
    if short and count > SHORT and kind.startswith(("int", "uint")):
        return "%s = xp.reshape(xp.arange(%d, dtype=xp.%s) %% 7, %s)" % (name, count, kind, tuple(shape))
    if count > LONG:
        return None
    text = nested([literal(element, kind, short) for element in elements], shape)
    return text and "%s = xp.asarray(%s, dtype=xp.%s)" % (name, text, kind)


def value(text, schema):
    """An attribute's value as Python writes it."""
    names = {number: name for name, number in schema.get("values", {}).items()}
    if names:
        listed = [names.get(int(n), int(n)) if n.lstrip("-").isdigit() else n  # a word stands for itself
                  for n in text.strip("[]").split(",") if n]
        return repr(listed if text.startswith("[") else listed[0])
    if schema["kind"] == "dtype":
        return "None" if text in ("none", "-") else "xp." + text
    if schema["kind"] == "bool":
        return "True" if text == "true" else "False"
    return repr(text.strip('"')) if schema["kind"] == "string" else text.replace(",", ", ")


def is_default(schema, text):
    default = schema["default"]
    return text == default or (text in ("[]", "") and (default == "none" or "values" in schema)) or \
        (schema["kind"] in ("int", "float") and default not in ("none", "") and number_or(text) == number_or(default))


def number_or(text):
    try:
        return float(text)
    except ValueError:
        return text


def lines(op, schema, attributes, inputs, short):
    """The example's code; None where an input is too long."""
    dtype = next((dtype for dtype in ORDER if dtype in schema["dtypes"]), (schema["dtypes"] or ["float32"])[0])
    code, arguments, position = [], [], 0
    for place in schema["inputs"]:
        taken = inputs[position:] if place["variadic"] else inputs[position : position + 1]
        position += len(taken)
        names = []
        for i, given in enumerate(taken):
            name = place["name"] + str(i + 1) if place["variadic"] else place["name"]
            if given is not None:
                line = array(name, given, dtype, short)
                if line is None:
                    return None
                code.append(line)
            names.append(name if given is not None else "None")
        arguments.append("[%s]" % ", ".join(names) if place["variadic"] else (names or ["None"])[0])
    while arguments and arguments[-1] == "None":
        arguments.pop()
    known = {attribute["name"]: attribute for attribute in schema["attributes"]}
    parameters = inspect.signature(getattr(xp.ops, op)).parameters
    for name, text in attributes.items():
        if not is_default(known[name], text):
            given = value(text, known[name])
            arguments.append("%s=%s" % ((name, given) if name in parameters else ("axis", given.strip("[]"))))
    return code + ["xp.ops.%s(%s)" % (op, ", ".join(arguments))]


def run(code):
    names = {"xp": xp}
    exec("\n".join(code[:-1]), names)
    return eval(code[-1], names)


def finite(result):
    """False where an op of shortened numbers gives nothing but NaN."""
    parts = result if isinstance(result, (tuple, list)) else (result,)
    return not any("nan" in repr(part) for part in parts)


def shown(result):
    return "\n".join(line.rstrip() for line in repr(result).split("\n"))


def of_shapes(result):
    parts = result if isinstance(result, (tuple, list)) else (result,)
    return ", ".join("%s %s" % (str(part.dtype).split(".")[-1], tuple(part.shape)) for part in parts)


def markdown(code, result):
    text = shown(result)
    if text.count("\n") >= LINES:
        return "```python\n%s\n```\n\nThe result: %s." % ("\n".join(code), of_shapes(result))
    return "```python\n%s\n```\n\n```output\n%s\n```" % ("\n".join(code), text)


def example(op, schema, attributes, inputs):
    for short in (True, False):
        code = lines(op, schema, attributes, inputs, short)
        if code is None:
            continue
        try:
            result = run(code)
        except Exception:  # the op refuses the shortened numbers: its own come next
            continue
        if short and not finite(result) and not any("nan" in line for line in code):
            continue
        return markdown(code, result)
    sizes = ", ".join(
        "%s %s" % (place["name"], tuple(given[1])) for place, given in zip(schema["inputs"], inputs) if given
    )
    given = ", ".join("%s=%s" % pair for pair in attributes.items())
    return "Example: inputs of the shapes %s%s; the numbers are in `nd4c selftest`." % (
        sizes,
        "; " + given if given else "",
    )


def main():
    known = schemas(sys.argv[1])
    out = {op: {"text": markdown(code.split("\n"), run(code.split("\n")))} for op, code in WRITTEN.items()}
    for op, attributes, inputs in cases(sys.argv[2]):
        if op in known and op not in out:
            out[op] = {
                "text": example(op, known[op], attributes, inputs),
                "attributes": attributes,
                "inputs": [given is not None for given in inputs],
            }
    missing = sorted(set(known) - set(out))
    if missing:
        raise SystemExit(
            "examples.py: neither nd4c selftest nor written_examples.py has an example of " + ", ".join(missing)
        )
    json.dump(out, sys.stdout)


if __name__ == "__main__":
    main()
