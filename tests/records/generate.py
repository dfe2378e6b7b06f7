#!/usr/bin/env python3
"""Writes the recorded cases of every family into a folder: generate.py [--from SOURCES] ND4C_PROGRAM FOLDER [FAMILY...]

SOURCES is a folder with families of a plug-in's ops instead of those here; ND4C_BACKEND_PLUGINS then names the plug-in. The program tells which ops there are and which dtypes each declares. A family whose file is newer than what it depends
on is left alone.
"""
import importlib
import json
import pathlib
import re
import subprocess
import sys
import zlib

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))
import framework  # noqa: E402


HELPERS = ("framework", "generate", "decomposition_matrices", "network", "numbers_oracle")  # no families of ops


def families(source):
    return sorted(p.stem for p in source.glob("*.py") if p.stem not in HELPERS)


def statuses():
    source = (here.parent.parent / "include/nd4c/status.h").read_text()
    return {name: int(number) for name, number in re.findall(r"X\((\w+), (\d+)", source)}


def generate(family, schemas, out):
    framework.RECORDS.clear()
    framework.REFUSALS.clear()
    importlib.import_module(family)
    codes = statuses()
    chunks = [b"ND4CREC1"]
    count = 0
    for op, (function, *ulps) in framework.RECORDS.items():
        schema = schemas[op]
        for dtype in schema["dtypes"]:
            sampler = framework.Sampler(zlib.crc32(f"{op} {dtype}".encode()))
            for case in function(sampler, dtype):
                chunks.append(framework.write_case(op, schema, dtype, ulps, case))
                count += 1
    for op, function in framework.REFUSALS.items():
        for refusal in function(framework.Sampler(zlib.crc32(op.encode()))):
            chunks.append(framework.write_refusal(op, schemas[op], codes, refusal))
            count += 1
    part = out / f"{family}.part"
    part.write_bytes(b"".join(chunks))
    part.rename(out / f"{family}.rec")
    print(f"{family}: {count} cases of {len(framework.RECORDS)} ops", flush=True)


def main():
    arguments, source = sys.argv[1:], here
    if arguments[0] == "--from":
        source = pathlib.Path(arguments[1]).resolve()
        sys.path.insert(0, str(source))
        arguments = arguments[2:]
    program, out = pathlib.Path(arguments[0]), pathlib.Path(arguments[1])
    wanted = arguments[2:] or families(source)
    out.mkdir(parents=True, exist_ok=True)
    listing = subprocess.run([program, "ops", "--json"], check=True, capture_output=True).stdout
    schemas = {op["name"]: op for op in json.loads(listing)}
    stamp = out / "schemas.json"
    same_schemas = stamp.exists() and stamp.read_bytes() == listing
    for stale in out.glob("*.rec"):
        if stale.stem not in families(source):
            stale.unlink()
    for family in wanted:
        sources = [source / f"{family}.py", *(here / f"{name}.py" for name in HELPERS)]
        target = out / f"{family}.rec"
        if not (same_schemas and target.exists() and
                all(s.stat().st_mtime <= target.stat().st_mtime for s in sources)):
            generate(family, schemas, out)
    if not arguments[2:]:
        stamp.write_bytes(listing)


if __name__ == "__main__":
    main()
