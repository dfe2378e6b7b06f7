#!/usr/bin/env python3
"""Checks that docs/reference/opsets.md agrees with the importer's tables about opsets and operators, and covers ONNX.

    check_opsets.py SOURCE_DIR             the test onnx.opsets
    check_opsets.py SOURCE_DIR --update    writes the table of the page anew (scripts/generate; without the package onnx)

Reads the rows of src/import/onnx/ops/*.c and the newest opsets in mapping.c and model.h, and compares them with every
operator and opset that the package onnx knows. An operator that ONNX has at an opset and no row covers must be in the
page's list of operators that are not read, and nothing else may be there.
"""
import collections
import pathlib
import re
import sys

FAMILY = re.compile(r'ND4C_ONNX_FAMILY\(\w+, "([^"]*)", (\w+)\)')
ROW = re.compile(r"\b(?:OP|MAP|READ|CHAIN|ND4C_ONNX_ROW)\((\w+),\s*(\d+),\s*(\w+),")


def newest_opsets(source):
    """{domain: newest opset that nd4c knows}; the domain of ONNX itself is ""."""
    model = (source / "src/import/onnx/model.h").read_text()
    last = re.search(r"ND4C_ONNX_OPSET_LAST = (\d+)", model).group(1)
    table = (source / "src/import/onnx/ops/mapping.c").read_text()
    body = re.search(r"domains\[\] = \{(.*?)\};", table, re.S).group(1)
    return {domain: int(number.replace("ND4C_ONNX_OPSET_LAST", last))
            for domain, number in re.findall(r'\{"([^"]*)", (\w+), \w+\}', body)}


def rows(source, newest):
    """{(domain, operator): [(first opset, last opset)]}."""
    found = collections.defaultdict(list)
    for path in sorted((source / "src/import/onnx/ops").glob("*.c")):
        text = path.read_text().replace("\\\n", " ")
        for domain, macro in FAMILY.findall(text):
            for name, since, until in ROW.findall(re.search(r"#define %s (.*)" % macro, text).group(1)):
                found[domain, name].append((int(since), newest[domain] if until == "LAST" else int(until)))
    return found


def uncovered(found, newest):
    """(domain, operator, opset) of all operators of ONNX that no row reads."""
    from onnx import defs
    history = collections.defaultdict(dict)
    for schema in defs.get_all_schemas_with_history():
        history[schema.domain, schema.name][schema.since_version] = schema.deprecated
    for (domain, name), versions in sorted(history.items()):
        for opset in range(1, newest.get(domain, 0) + 1):
            known = [since for since in versions if since <= opset]
            covered = any(first <= opset <= last for first, last in found.get((domain, name), ()))
            if known and not versions[max(known)] and not covered:
                yield domain, name, opset


def table(found, newest):
    lines = ["| domain | opsets | operators |", "|---|---|---|"]
    for domain, last in newest.items():
        count = len({name for other, name in found if other == domain})
        if count > 0:
            lines.append("| `%s` | 1 to %d | %d |" % (domain or "ai.onnx", last, count))
    return lines


def main():
    source = pathlib.Path(sys.argv[1])
    newest = newest_opsets(source)
    found = rows(source, newest)
    path = source / "docs/reference/opsets.md"
    page = path.read_text()
    if "--update" in sys.argv:
        head = "\n".join(table(found, newest)[:2]) + "\n"
        if page.count(head) != 1:
            sys.exit("docs/reference/opsets.md: expected one table that begins with\n" + head)
        new = re.sub(re.escape(head) + r"(\|.*\n)*", lambda _: "\n".join(table(found, newest)) + "\n", page)
        print("docs/reference/opsets.md: " + ("as before" if new == page else "renewed"))
        path.write_text(new)
        return 0
    failed = 0
    for line in table(found, newest):
        if line not in page.splitlines():
            failed += 1
            print("docs/reference/opsets.md lacks the line: %s" % line)
    missing = {"%s.%s" % (domain or "ai.onnx", name) for domain, name, _ in uncovered(found, newest)}
    section = re.search(r"^## Not read\n(.*?)(?=^## |\Z)", page, re.S | re.M)
    named = set(re.findall(r"`(ai\.onnx[\w.]*\.[A-Z]\w+)`", section.group(1))) if section else set()
    for name in sorted(missing ^ named):
        failed += 1
        print("%s %s" % (name, "is not read, and the page does not say so" if name in missing
                         else "is read, and the page says that it is not"))
    print("%d operators of ONNX in %d domains, %d not read" % (len(found), len(newest), len(missing)))
    return 1 if failed or len(found) < 200 else 0


sys.exit(main())
