#!/usr/bin/env bash
# The program `nd4c`: help, usage errors, info, ops, config, bench.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_lib.sh"

# Help is on stdout and complete; usage errors are on stderr with exit code 2.
expect 0 "$nd4c" --version
says out '^nd4c [0-9]+\.[0-9]+\.[0-9]+ \('
expect 0 "$nd4c" --help
for command in info ops run bench config; do
  grep -q "^  $command " "$work/out"
done
for command in info ops run bench config; do
  for ask in "$command --help" "help $command" "$command -h"; do
    # shellcheck disable=SC2086
    expect 0 "$nd4c" $ask
    says out '^usage: nd4c '$command
    says out '^examples:'
    silent err
  done
  expect 2 "$nd4c" $command --no-such-option
  says err "nd4c $command: .*--no-such-option"
  says err "try: nd4c $command --help"
  silent out
done
expect 2 "$nd4c"
says err '^usage:'
expect 2 "$nd4c" dance
says err "no command 'dance'"
expect 2 "$nd4c" info extra
says err "unexpected argument 'extra'"

# info
expect 0 "$nd4c" info
says out '^pool +(openmp|threads|serial), width [1-9]'
says out '^\* cpu +priority +0 '
says out 'engine reference'
says out '^\* cpu:0 '
expect 0 "$nd4c" info --json
same "$(value version)" "$("$nd4c" --version | cut -d' ' -f2)" "version"
same "$(value probed)" false "probed"
same "$(value device.name)" cpu:0 "device"
value backends.0.reason >/dev/null
expect 0 "$nd4c" info --probe --json
same "$(value probed)" true "probed"
grep -q '"verdict":[[:space:]]*"verified"' "$work/out"
expect 0 env OPENBLAS_CORETYPE=Haswell "$nd4c" info
says out '^warning: OPENBLAS_CORETYPE=Haswell'
expect 0 env ND4C_CPU_LEVEL=base "$nd4c" info --json
same "$(value machine.level)" base "level"
# Nothing can be selected: everything is shown, with what to do, and the exit code tells.
for ask in "info" "info --json" "info --probe"; do
  # shellcheck disable=SC2086
  expect 1 "$nd4c" $ask -D backend.type=nosuch
  says out "backend.type asks for 'nosuch', but there is no backend of that name"
  says out 'What to do: unset backend.type \(BACKEND_TYPE\) or set it to one of these'
  says out 'engine reference|"reference"'
  says err '^nd4c info: no device can be used'
done
expect 1 env BACKEND_TYPE=cuda "$nd4c" info
says out "backend.type asks for 'cuda', which cannot be used"
expect 0 "$nd4c" info -D backend.type=CPU
expect 2 "$nd4c" info -D nd4c.width=many
says err 'nd4c.width'

# ops
expect 0 "$nd4c" ops
says out '^conv\(x, w, bias\?, addend\?; strides=none'
expect 0 "$nd4c" ops '*_pool'
says out '^max_pool'
says out '^average_pool'
lacks out '^conv'
expect 0 "$nd4c" ops REDUCTION --json
same "$(value 0.name)" sum "first reduction"
same "$(value 0.attributes.0.kind)" ints "its attribute"
expect 1 "$nd4c" ops nosuchop
says err "no op matches 'nosuchop'"
expect 2 "$nd4c" ops a b

# config
expect 0 "$nd4c" config
says out '^backend\.type = \(empty\)'
expect 0 env ND4C_WIDTH=3 "$nd4c" config --json
grep -q '"source":[[:space:]]*"environment"' "$work/out"
value 0.property >/dev/null
expect 0 "$nd4c" config nd4c.strict=true
says out '^nd4c\.strict = true'
says out '^    from set; environment variable ND4C_STRICT'
expect 2 "$nd4c" config nd4c.strict=perhaps
says err 'nd4c\.strict'
expect 2 "$nd4c" config nd4c.stric=true
says err 'nd4c\.strict'
expect 2 "$nd4c" config strict
says err "'strict' is not PROPERTY=VALUE"
expect 2 "$nd4c" config --json --markdown
expect 0 "$nd4c" config OV_CACHE_DIR=/tmp
says out '^OV_CACHE_DIR = /tmp'
says out 'no backend uses it yet'

# bench
expect 0 "$nd4c" bench dispatch
"$json" --lines <"$work/out"
"$json" median_seconds <"$work/out" >/dev/null
expect 1 "$nd4c" bench nosuch

# A closed or full stdout is a failure, not a success that lost its text.
if [ -w /dev/full ]; then
  code=0
  "$nd4c" ops --json >/dev/full 2>"$work/err" || code=$?
  same "$code" 1 "exit code when stdout is full"
  says err 'stdout'
fi
echo "$cases cases"
