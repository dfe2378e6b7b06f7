"""X tables of the headers: `#define ND4C_<NAME>_TABLE(X) X(...) X(...)`. headers.py writes enums out with them,
tables.py makes pages of some."""

import re

DEFINITION = re.compile(r"^#define (ND4C_\w+)\((X|OP)\)((?:[^\n]*\\\n)*[^\n]*)", re.M)
ENUM = re.compile(r"#define (\w+)\(([^)]*)\) (\w+)##(\w+) = (\w+),\n\s+(ND4C_\w+)\(\1\)\n#undef \1")


def calls(text, name):
    """The arguments of each call `name(...)` in a text, strings without their quotes."""
    for match in re.finditer(r"\b%s\(" % re.escape(name), text):
        arguments, word, depth, quoted, at = [], "", 1, False, match.end()
        while depth:
            character = text[at]
            at += 1
            if character == '"':
                quoted = not quoted
            elif quoted:
                word += character
            elif character == "," and depth == 1:
                arguments.append(word.strip())
                word = ""
            else:
                depth += {"(": 1, ")": -1}.get(character, 0)
                word += character if depth else ""
        yield arguments + [word.strip()]


class Tables:
    """All tables of include/nd4c, read when they are asked for."""

    def __init__(self, include):
        self.bodies = {}
        for path in sorted(include.rglob("*.h")):
            for name, parameter, body in DEFINITION.findall(path.read_text(encoding="utf-8")):
                self.bodies[name] = (parameter, body.replace("\\\n", "\n"))

    def rows(self, name):
        """The rows of a table; of one that is made of others, theirs."""
        parameter, body = self.bodies[name]
        inner = [other for other in re.findall(r"\b(ND4C_\w+)\(%s\)" % parameter, body) if other in self.bodies]
        return [row for other in inner for row in self.rows(other)] + list(calls(body, parameter))

    def written_out(self, declaration):
        """A declaration of an enum with the values of its table in the table's place."""

        def values(match):
            _, parameters, prefix, named, numbered, table = match.groups()
            places = [parameter.strip() for parameter in parameters.split(",")]
            name, number = places.index(named), places.index(numbered)
            return "\n".join("  %s%s = %s," % (prefix, row[name], row[number]) for row in self.rows(table))

        return ENUM.sub(values, declaration)
