#!/usr/bin/env bash
# --help prints to stdout and succeeds. Unknown options and unknown names of ops and dtypes are reported on stderr with
# exit code 2.
# Usage: check_help.sh CONFORMANCE_PROGRAM
set -euo pipefail
for option in --help -h; do
  text=$("$1" "$option" 2>&1 >/dev/null)
  [ -z "$text" ]
  text=$("$1" "$option")
  grep -q '^usage: nd4c_conformance' <<<"$text"
  grep -q '^  --engine NAME  ' <<<"$text"
done
# refused EXPECTED_TEXT ARGUMENT...
refused() {
  local wanted=$1 code=0
  shift
  text=$("$program" "$@" 2>&1 >/dev/null) || code=$?
  [ "$code" -eq 2 ] && grep -q -- "$wanted" <<<"$text" || { echo "$*: exit code $code: $text"; exit 1; }
}
program=$1
refused "'--nosuch' is not known" --nosuch
refused "--op: .*'convv'" --op convv
refused '--dtype: dtype "float31"' --op add --dtype float31
