#!/usr/bin/env python3
"""Writes the recorded cases of every family into a folder: generate.py ND4C_PROGRAM FOLDER [FAMILY...]

The program tells which ops there are and which dtypes each declares. A family whose file is newer than what it depends
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


HELPERS = ("framework", "generate", "matrices", "network", "numbers_oracle")  # no families of ops


def families():
    return sorted(p.stem for p in here.glob("*.py") if p.stem not in HELPERS)


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
    program, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    wanted = sys.argv[3:] or families()
    out.mkdir(parents=True, exist_ok=True)
    listing = subprocess.run([program, "ops", "--json"], check=True, capture_output=True).stdout
    schemas = {op["name"]: op for op in json.loads(listing)}
    stamp = out / "schemas.json"
    same_schemas = stamp.exists() and stamp.read_bytes() == listing
    for stale in out.glob("*.rec"):
        if stale.stem not in families():
            stale.unlink()
    for family in wanted:
        sources = [here / f"{name}.py" for name in (family, *HELPERS)]
        target = out / f"{family}.rec"
        if not (same_schemas and target.exists() and
                all(s.stat().st_mtime <= target.stat().st_mtime for s in sources)):
            generate(family, schemas, out)
    if not sys.argv[3:]:
        stamp.write_bytes(listing)


if __name__ == "__main__":
    main()
