#!/usr/bin/env bash
# nd4c selftest: right results pass, failures on a device are printed, and the report agrees.
# Usage: check_selftest.sh ND4C_PROGRAM JSON_GET_PROGRAM SOURCE_DIR STUB_PLUGIN
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_lib.sh"
export ND4C_BACKEND_PLUGINS=$4

expect 0 "$nd4c" selftest --backend cpu --report "$work/report.json"
says out '^cpu:0: '
says out '^  UNARY +([0-9]+) of +\1 \(100\.0 %\)$'
says out '^  all +([0-9]+) of +\1 \(100\.0 %\)$'
lacks out WRONG
[ "$("$json" devices.0.computed <"$work/report.json")" -ge 1400 ] || { echo "too few pairs"; exit 1; }
same "$("$json" devices.0.device <"$work/report.json")" cpu:0 "the report's device"
same "$("$json" devices.0.wrong <"$work/report.json")" 0 "wrong ones in the report"
same "$("$json" version <"$work/report.json")" "$("$nd4c" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -1)" "its version"
[[ "$("$json" time <"$work/report.json")" =~ ^20[0-9-]{8}T[0-9:]{8}Z$ ]] || { echo "the report has no time"; exit 1; }

cp "$work/report.json" "$work/report_all.json"

# A backend with a few ops declines the others, which is no failure.
expect 0 "$nd4c" selftest --backend stub --op '*sigmoid' --report "$work/report.json"
says out '^  UNARY +2 of +6 '
says out '^  all +2 of +6 '
same "$("$json" devices.0.pairs.0.op <"$work/report.json")" sigmoid "the first pair's op"
same "$("$json" devices.0.pairs.0.state <"$work/report.json")" computed "its state"
same "$("$json" devices.0.pairs.2.state <"$work/report.json")" declined "an op that it lacks"
same "$("$json" devices.0.pairs.2.text <"$work/report.json")" "the backend has no kernel for this op" "why"
same "$("$json" devices.0.vendor <"$work/report.json")" stub "the device's vendor"
same "$("$json" devices.0.driver <"$work/report.json")" "stub 1.0" "its driver"
says out '^stub:0: '

# Long work also prints its progress without a terminal.
expect 0 env STUB_DELAY_US=50000 "$nd4c" selftest --backend stub --op add
grep -qE '^ops: 1 of [0-9]+, at work: add$' "$work/err.all" || { echo "no progress is told:"; cat "$work/err.all"; exit 1; }

# Several processes share the ops of a device, and the report has all of them, in the host's order.
expect 0 "$nd4c" selftest --backend stub --report "$work/parts.json"
rows() { grep -E '"(op|dtype)":' "$1"; }
[ "$(rows "$work/parts.json")" = "$(rows "$work/report_all.json")" ] || { echo "the parts' rows differ"; exit 1; }
expect 2 "$nd4c" selftest --part 2/2
says err "part '2/2': expected I/N"
if [ "$(nproc)" -gt 1 ]; then
  STUB_DELAY_US=5000 "$nd4c" selftest --backend stub >"$work/killed.out" 2>"$work/killed.err" &
  whole=$!
  child=
  while [ -z "$child" ] && kill -0 $whole 2>/dev/null; do
    child=$(cut -d ' ' -f 1 "/proc/$whole/task/$whole/children")
  done
  kill -KILL "$child"
  wait $whole && { echo "a part that was killed is not told"; exit 1; }
  grep -qE '^WRONG: stub:0: part [0-9]+ of [0-9]+ was ended by signal 9$' "$work/killed.out" ||
    { echo "a part that was killed is not told:"; cat "$work/killed.out"; exit 1; }
fi

# A device that fails (at its first work in flight after the checks of both devices) is reported with its text.
expect 1 env STUB_FAIL=in_flight:3 "$nd4c" selftest --backend stub:1 --op add
says out '^WRONG: add of float32: add failed on stub:1: stub: in_flight was told to fail'
expect 1 "$nd4c" selftest --backend nosuch
says err "device 'nosuch'"
expect 1 "$nd4c" selftest --backend cpu --op add --report /nosuch/report.json
says err 'the report could not be written to /nosuch/report.json'
expect 1 "$nd4c" selftest --backend cpu --op convv
says out '^  no case: convv'
expect 2 "$nd4c" selftest more
expect 1 env BACKEND_TYPE=abacus "$nd4c" selftest --op add
says err "backend.type asks for 'abacus', but there is no backend of that name"
lacks out 'add|pairs'

# info shows the vendor's handle of a device that has one.
expect 0 "$nd4c" info --probe
says out '^  stub:0 '
says out '^    native handle 0x[0-9a-f]+$'
expect 0 "$nd4c" info --probe --json
says out '"native":[[:space:]]*"0x[0-9a-f]+"'
says out '"native":[[:space:]]*null'
# The host's engines, counts, and the settings of routing and transfers.
says out '"largest_bytes"'
says out '"spilled_count"'
says out '"nd4c.device.transfer":[[:space:]]*"on_demand"'
expect 0 env ND4C_ROUTING=vote "$nd4c" info --probe
says out '^    computes with .*float64'
says out '^    allocations [0-9]+ alive, [0-9]+ in all, [0-9]+ of them from the cache$'
says out '^transfer  on_demand, spilling false$'
says out '^routing   vote over the default device and cpu:0; '
# One device of two fails: the other one is shown, and the reason for this one.
expect 0 env STUB_FAIL=device_open:2 "$nd4c" info --probe
says out '^  stub:0 '
lacks out '^  stub:1 '
says out '^  cannot be used: stub:1: stub: device_open was told to fail$'
expect 0 env STUB_FAIL=device_open:2 "$nd4c" info --probe --json
says out '"stub:1: stub: device_open was told to fail"'
echo "$cases cases"
