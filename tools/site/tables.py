"""Pages of the reference that are tables: statuses, dtypes, the operators of ONNX with their opsets, and the
program's commands.

build_site.py calls pages(). Each table is read where it is defined.
"""

import re
import subprocess

import headers
import xtables

RANGES = {
    "1": "the environment",
    "2": "an argument",
    "3": "missing software",
    "4": "missing hardware",
    "5": "memory",
    "6": "a device",
    "7": "nd4c itself",
    "8": "the caller's wish",
}
# kind, operator, since, until, then after three numbers the nd4c op (MAP), or the emit function and the nd4c op
ROW = re.compile(r"^  (OP|MAP|READ|CHAIN|ND4C_ONNX_ROW)\((\w+), (\d+), (\w+), \w+, \w+, \w+, (\w+)(?:, (\w+))?", re.M)
FAMILY = re.compile(r"ND4C_ONNX_FAMILY\((\w+), \"([\w.]*)\", (\w+)\)")


def statuses(all_tables):
    out = [
        "# Statuses",
        "",
        "Every function that can fail returns an `nd4c_status` ([status.h](headers/status.md)).",
        "`nd4c_error_message()` has the text: what was given, what was expected, and what to do.",
        "",
        "| name | number | meaning | concerns |",
        "|---|---|---|---|",
    ]
    for name, number, meaning in all_tables.rows("ND4C_STATUS_TABLE"):
        concerns = RANGES[number[0]] if len(number) == 3 else ""
        out.append(
            '| <span id="%s"></span>`ND4C_%s` | %s | %s | %s |' % (name.lower(), name, number, meaning, concerns)
        )
    return "\n".join(out + [""])


def dtypes(all_tables):
    out = [
        "# Dtypes",
        "",
        "Rows marked `lite` are in every build; the others are left out of a build with `ND4C_DTYPES=lite`.",
        "A dtype of fewer than 8 bits shares bytes: so many elements are in one block. Declared in",
        "[dtype.h](headers/dtype.md).",
        "",
        "| name | C constant | number | kind | bits | elements a block | bytes a block | alignment | NumPy | build |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for constant, name, number, build, kind, bits, elements, size, alignment, numpy in all_tables.rows(
        "ND4C_DTYPE_TABLE"
    ):
        cells = (
            name,
            "ND4C_" + constant,
            number,
            kind.lower(),
            bits,
            elements,
            size,
            alignment,
            numpy.replace("|", "\\|"),
            build.lower(),
        )
        out.append("| `%s` | `%s` | %s | %s | %s | %s | %s | %s | `%s` | %s |" % cells)
    return "\n".join(out + [""])


def onnx_rows(folder):
    """(domain, operator, since, until or 0, op or "") of each row of the import's families."""
    found = []
    for path in sorted(folder.glob("*.c")):
        text = path.read_text(encoding="utf-8")
        for _, domain, macro in FAMILY.findall(text):
            body = re.search(r"#define %s[ \\]*\n((?:.*\\\n)*.*)" % macro, text).group(1)
            rows = ROW.findall(body)
            if not rows or len(rows) != len(re.findall(r"^  [A-Z]\w*\(", body, re.M)):
                raise SystemExit("tools/site: %s: a row of %s is not of the form that family.h gives" % (path.name, macro))
            for kind, operator, since, until, first, second in rows:
                op = first if kind == "MAP" else second
                found.append((domain or "ai.onnx", operator, int(since), 0 if until in ("LAST", "ANY") else int(until),
                              "" if op == "NONE" else op))
    return found


def onnx(source, known, families):
    """known: the ops by name, as ops.listed gives them. Their names elsewhere say which op serves an operator."""
    folder = source / "src/import/onnx/ops"
    newest = re.search(
        r"ND4C_ONNX_OPSET_LAST = (\d+)", (source / "src/import/onnx/model.h").read_text(encoding="utf-8")
    ).group(1)
    serves = {}
    for op in known.values():
        for operator in op["names"].split("|")[2].split(", "):
            serves.setdefault(operator.rpartition(".")[2], []).append(op["name"])
    out = [
        "# ONNX operators",
        "",
        "What the import of models takes, and in which opsets. The newest opset of `ai.onnx` that it knows",
        "is %s. Operators composed of several ops are explained under [ops](ops.md#onnx-operators-composed-of-ops)."
        % newest,
        "",
    ]
    by_domain = {}
    for domain, operator, since, until, op in onnx_rows(folder):
        spans, named = by_domain.setdefault(domain, {}).setdefault(operator, ([], set()))
        spans.append((since, until))
        named.update([op] if op else [])
    for domain in sorted(by_domain):
        out += [
            "## %s" % domain,
            "",
            "%d operators." % len(by_domain[domain]),
            "",
            "| operator | opsets | ops |",
            "|---|---|---|",
        ]
        for operator, (spans, named) in sorted(by_domain[domain].items()):
            named |= set(serves.get(operator, ()))
            ops = ", ".join(
                "[`%s`](ops/%s.md#%s)" % (name, families[name], name) for name in sorted(named) if name in known
            )
            out.append(
                "| %s | %s | %s |"
                % (headers.escaped(operator), ", ".join(map(span, merged(spans))), ops or "composed")
            )
        out.append("")
    return "\n".join(out)


def merged(spans):
    """Spans of opsets in their order, those that continue each other as one; 0 is the end of a span that is open."""
    out = []
    for since, until in sorted(spans):
        if out and out[-1][1] and since <= out[-1][1] + 1:
            since = out.pop()[0]
        out.append((since, until))
    return out


def span(pair):
    since, until = pair
    return "from %d on" % since if not until else "%d" % since if since == until else "%d to %d" % pair


def commands(program):
    """What `nd4c --help` and `nd4c COMMAND --help` print."""

    def said(*arguments):
        return subprocess.run(
            [program, *arguments, "--help"], check=True, capture_output=True, text=True
        ).stdout.rstrip()

    general = said()
    out = [
        "# The program nd4c",
        "",
        "An installation has the same as manual pages: nd4c(1), nd4c-run(1) and so on.",
        "",
        "```text",
        general,
        "```",
        "",
    ]
    for command in re.findall(r"^  ([a-z-]+) +\S", general, re.M):
        out += ["## nd4c %s { #%s }" % (command, command), "", "```text", said(command), "```", ""]
    return "\n".join(out)


def pages(source, known, families):
    all_tables = xtables.Tables(source / "include/nd4c")
    return {
        "statuses.md": statuses(all_tables),
        "dtypes.md": dtypes(all_tables),
        "onnx-operators.md": onnx(source, known, families),
    }
