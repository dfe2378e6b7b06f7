# Shared by the tests of the program `nd4c`. To be sourced with: ND4C_PROGRAM JSON_GET_PROGRAM SOURCE_DIR
# shellcheck shell=bash
set -euo pipefail
nd4c=$1 json=$2 source=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cases=0
digits=$source/examples/digits

# expect EXIT_CODE COMMAND...: runs it with stdout and stderr in $work/out and $work/err.
expect() {
  local wanted=$1 code=0
  shift
  cases=$((cases + 1))
  "$@" >"$work/out" 2>"$work/err.all" </dev/null || code=$?
  # On a slow machine or under a sanitizer the work is long enough for progress to be shown.
  grep -vE '^[a-z]+: [0-9]+ of [0-9]+$' "$work/err.all" >"$work/err" || true
  if [ "$code" -ne "$wanted" ]; then
    echo "exit code $code instead of $wanted: $*"
    sed 's/^/  out: /' "$work/out"
    sed 's/^/  err: /' "$work/err"
    exit 1
  fi
}

# says out|err REGEX: the last command printed that; lacks: it did not.
says() {
  grep -qE -- "$2" "$work/$1" || {
    echo "case $cases: no '$2' in std$1:"
    cat "$work/$1"
    exit 1
  }
}
lacks() {
  ! grep -qE -- "$2" "$work/$1" || {
    echo "case $cases: '$2' in std$1:"
    cat "$work/$1"
    exit 1
  }
}
silent() {
  [ ! -s "$work/$1" ] || {
    echo "case $cases: std$1 is not empty:"
    cat "$work/$1"
    exit 1
  }
}
# value PATH: of the JSON that the last command printed.
value() { "$json" "$1" <"$work/out"; }
# same LEFT RIGHT TEXT
same() {
  [ "$1" = "$2" ] || {
    echo "case $cases: $3: '$1' instead of '$2'"
    exit 1
  }
}
