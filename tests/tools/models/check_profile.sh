#!/usr/bin/env bash
# `nd4c run --profile`: shares, limits, the cost of profiling, the trace, what is refused.
# shellcheck source-path=SCRIPTDIR/..
. "$(dirname "$0")/../cli_lib.sh"
model=$digits/digits.onnx
given=(--input "image=$digits/digits_images.npy")
python=${4:-}

# As text: the cost, the limits, sums by op, steps with their nodes.
expect 0 "$nd4c" run "$model" "${given[@]}" --profile
says out '^profile: [0-9]+ steps take [0-9.]+ ms, [0-9.]+ % of a profiled run; p50 of 20 runs, width [0-9]+$'
says out '^  with profile: min .* p50 .* p90 .* p99 .* max .* of 20 runs$'
says out '^  without: min .* p50 .* p90 .* p99 .* max .* of 20 runs$'
says out '^  profiling costs [-+][0-9.]+ % of p50, [-+][0-9.]+ % of min'
says out '^limits, measured now in [0-9.]+ s: .*reads [0-9]+ GB/s of 32.0 KiB, .* of 128 MiB$'
says out '^ +[0-9.]+ +[0-9.]+ % +[0-9.]+ % +[0-9.]+ +[0-9.]+ +2  conv$'
says out "onednn.conv: conv 'Conv \+ Relu' \[conv \+ relu\]$|reference.*: conv 'Conv \+ Relu'|simd.*: conv 'Conv \+ Relu'"
expect 0 "$nd4c" run "$model" "${given[@]}" --profile --report
says out '^steps:$'

# As JSON, with the trace of one run more.
cat >"$work/look.py" <<'PYTHON'
import json
import sys

told = json.load(open(sys.argv[1], encoding="utf-8"))
profile = told["profile"]
steps, ops = profile["steps"], profile["ops"]
assert profile["runs"] == told["repeat"] == 7
assert sorted(step["step"] for step in steps) == list(range(len(steps))) and len(steps) > 3
for rows in (steps, ops):
    seconds = [row["seconds"] for row in rows]
    assert seconds == sorted(seconds, reverse=True) and seconds[-1] >= 0, "the slowest first"
    assert abs(sum(row["share"] for row in rows) - 1) < 1e-6, "shares"
    assert abs(sum(seconds) - profile["seconds"]) <= 1e-6 * profile["seconds"], "seconds"
    for row in rows:
        assert row["limit"] >= 0 and row["bytes"] > 0 and row["operations"] >= 0
        assert abs(row["gbps"] * 1e9 * row["seconds"] - row["bytes"]) <= 1e-6 * row["bytes"], "speed"
assert sum(op["steps"] for op in ops) == len(steps)
assert all(step["nodes"] and step["nodes"][0]["op"] and step["device"] == "cpu:0" for step in steps)
assert all(0 < step["least_seconds"] <= step["seconds"] for step in steps)
assert any(node.get("fused") == "conv + relu" for step in steps for node in step["nodes"])
for kind in ("with", "without"):
    times = [profile[kind][key] for key in ("min_seconds", "p50_seconds", "p90_seconds", "p99_seconds", "max_seconds")]
    assert times == sorted(times) and times[0] > 0, kind
assert profile["seconds"] <= 1.2 * profile["with"]["p50_seconds"], "steps take longer than runs"
limits = profile["limits"]
assert limits["width"] >= 1 and len(limits["reads"]) == 7 and all(read["gbps"] > 0 for read in limits["reads"])
sizes = ("32.0 KiB", "128 KiB", "512 KiB", "2.0 MiB", "8.0 MiB", "32.0 MiB", "128 MiB")
known = [name for name, peak in limits["gflops"].items() if peak > 0] + ["reads of " + size for size in sizes]
assert limits["processor"] > 0 and set(limits["unreliable"]) <= set(known)
assert limits["processor"] >= 0.8 or limits["unreliable"] == known, "a busy machine: all limits are unreliable"
trace = json.load(open(sys.argv[2], encoding="utf-8"))
events = [event for event in trace["traceEvents"] if event["cat"] == "op"]
assert len(events) == len(steps), "one run is recorded"
labels = [step["nodes"][-1]["label"] for step in sorted(steps, key=lambda step: step["step"])]
assert [event["args"]["node"] for event in events] == labels, "names of nodes"
PYTHON
expect 0 "$nd4c" run "$model" "${given[@]}" --profile --repeat 7 --json --trace "$work/trace.json"
value profile.limits.gflops.float32 >/dev/null
value trace >/dev/null
[ ! -x "$python" ] || "$python" "$work/look.py" "$work/out" "$work/trace.json"

# What is refused.
expect 2 "$nd4c" run "$model" "${given[@]}" --profile --repeat 1001
says err '\-\-profile: --repeat is 1001, at most 1000 was expected'
expect 3 "$nd4c" run "$model" "${given[@]}" --profile --all-intermediates
says err 'nd4c_model_profile: the model has no plan, it is interpreted node after node'
says err '^hint: --trace times what runs on devices and in interpreted models$'
expect 1 sh -c "'$nd4c' run '$model' --random-inputs --profile >/dev/full"
says err 'stdout: '

echo "$cases cases"
