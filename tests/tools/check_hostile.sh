#!/usr/bin/env bash
# The program with a plug-in whose texts are not UTF-8: its JSON is valid and in UTF-8. The program also reports
# backends with few ops and misspelt properties.
# Usage: check_hostile.sh ND4C_PROGRAM JSON_GET_PROGRAM SOURCE_DIR STUB_PLUGIN HOSTILE_PLUGIN VERSIONS_PLUGIN
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_lib.sh"
stub=$4 hostile=$5 versions=$6

# sound out|err: what the last command printed is UTF-8 without controls.
sound() {
  iconv -f UTF-8 -t UTF-8 "$work/$1" >/dev/null || { echo "case $cases: std$1 is no UTF-8"; exit 1; }
  if LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]' "$work/$1"; then
    echo "case $cases: std$1 has a control"
    exit 1
  fi
}

for lie in none absent open contribution device entry; do
  for option in '' --json; do
    for probe in '' --probe; do
      # shellcheck disable=SC2086
      expect 0 env HOSTILE_LIE=$lie ND4C_BACKEND_PLUGINS="$hostile" "$nd4c" info $option $probe
      sound out
      [ -z "$option" ] || [ "$(value version)" != "" ]
    done
  done
done
expect 0 env ND4C_BACKEND_PLUGINS="$hostile" "$nd4c" ops --json
sound out

# A plug-in whose functions end the process: the report of --probe names it, the function and the signal, and is
# complete.
for function in nd4c_plugin_entry probe open device_open usable by_request_only state; do
  expect 0 env HOSTILE_END=$function ND4C_BACKEND_DISABLE=opencl ND4C_BACKEND_PLUGINS="$hostile" "$nd4c" info --probe
  says out "^warning: [^ ]*hostile[^ ]* ends the process in its $function: signal 6 \\(Aborted\\); ND4C_BACKEND_DISABLE=[^ ]*hostile"
  says out "absent +ends the process in its $function: signal 6 \\(Aborted\\)$"
  says out '^\* cpu:0 '
done
expect 0 env HOSTILE_END=open HOSTILE_EXIT=0 ND4C_BACKEND_DISABLE=opencl ND4C_BACKEND_PLUGINS="$hostile" "$nd4c" info --probe --json
index=0
while [ "$(value "backends.$index.name")" != hostile ]; do index=$((index + 1)); done
same "$(value "backends.$index.reason")" "ends the process in its open: exit code 0" "what ended the process"
same "$(value "backends.$index.verdict")" absent "its verdict"
same "$(value device.name)" cpu:0 "the device"
# With the remedy that the report names, the program does not call the plug-in any more.
expect 0 env HOSTILE_END=open ND4C_BACKEND_DISABLE=hostile,opencl ND4C_BACKEND_PLUGINS="$hostile" "$nd4c" info --probe
says out 'absent +nd4c\.backend\.disable \(ND4C_BACKEND_DISABLE\) names it$'
lacks out '^warning: .*ends the process'
expect 0 env HOSTILE_END=open ND4C_BACKEND_DISABLE=hostile ND4C_BACKEND_PLUGINS="$hostile" "$nd4c" run \
  "$digits/digits.onnx" --random-inputs
expect 0 env HOSTILE_END=nd4c_plugin_entry ND4C_BACKEND_DISABLE="opencl, $hostile" ND4C_BACKEND_PLUGINS="$hostile" \
  "$nd4c" run "$digits/digits.onnx" --random-inputs
# Without the CPU's backend there is no device, and the report states that.
expect 1 env ND4C_BACKEND_DISABLE=cpu,opencl "$nd4c" info --probe
says out 'no device can be used'
# The report knows how the child ended even if the caller ignores SIGCHLD.
expect 0 env HOSTILE_END=probe ND4C_BACKEND_DISABLE=opencl ND4C_BACKEND_PLUGINS="$hostile" \
  bash -c 'trap "" CHLD; exec "$0" info --probe' "$nd4c"
says out 'absent +ends the process in its probe: signal 6'
# Properties set by -D apply in the child, too; a refused one is refused once.
expect 0 env ND4C_BACKEND_DISABLE=opencl "$nd4c" info --probe -D nd4c.width=1
says out 'width 1$'
expect 2 "$nd4c" info --probe -D nd4c.nosuch=1
silent out

# Variables and paths in the environment that are not UTF-8.
expect 0 env OPENBLAS_CORETYPE=$'\xffHASWELL' ND4C_BACKEND_PLUGINS=$'/nosuch/\xc3.so' "$nd4c" info --json
sound out
says out '"OPENBLAS_CORETYPE=\?HASWELL forces|"engine openblas is not part of this build"'

# The kernels left out of a backend, with the reasons, by name of the backend.
expect 0 env ND4C_BACKEND_PLUGINS="$hostile" "$nd4c" info --json --probe
index=0
while [ "$(value "backends.$index.name")" != cpu ]; do index=$((index + 1)); done
same "$(value "backends.$index.left_out.1")" \
  "hostile: kernel 4 of op add: its name is not one line of 1 to 127 bytes of UTF-8" "what was left out"
expect 0 env ND4C_BACKEND_PLUGINS= "$nd4c" info --json
says out '"left_out":[[:space:]]*\[\]'

# Every command refuses a misspelt property.
model=$digits/digits.onnx
for command in info bench "selftest --op add" "compile $model --target cpu:0 -o $work/x.nd4cexe" "run $model --random-inputs"; do
  # shellcheck disable=SC2086
  expect 2 env ND4C_BACKEND_PLUGINS="$stub" "$nd4c" $command -D nd4c.stub.nosuch=1
  says err "nd4c.stub.nosuch"
  silent out
done

# Families of which a backend has no op share one line.
expect 0 env ND4C_BACKEND_PLUGINS="$stub" "$nd4c" selftest --backend stub
lacks out ' 0 of '
says out '^  UNARY +[1-9][0-9]* of +[0-9]+ '
says out '^  nothing of [2-9] other families: [1-9][0-9]+ pairs, all declined$'
expect 0 env ND4C_BACKEND_PLUGINS="$stub" "$nd4c" selftest --backend stub --op sinh
says out '^  nothing of 1 other family: [1-9][0-9]* pairs?, all declined$'
says out '^  all +0 of +[1-9]'
expect 0 env ND4C_BACKEND_PLUGINS="$stub" "$nd4c" selftest --backend cpu --op 'conv*'
lacks out 'nothing of'

# Versions of one op.
expect 0 env ND4C_BACKEND_PLUGINS="$versions" "$nd4c" ops 'verse.*'
says out '^    x \+ 1 \(plug-in verse, version 1 of 7\)$'
says out '^    x \+ 10 \(plug-in verse, version 3 of 7\)$'
says out '^    x \+ amount \(plug-in verse\)$'
says out '^verse\.shift\(x.*\) -> y$'
expect 1 env ND4C_BACKEND_PLUGINS= "$nd4c" plugin-check "$versions" # its fault is a kernel for an absent version
says out 'FAILED: the kernel of verse.shift is for version 5'
says out 'statements hold, 1 do not'
echo "$cases cases"
