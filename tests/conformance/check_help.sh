#!/usr/bin/env bash
# --help is on stdout and succeeds; what is not known is told on stderr with exit code 2.
# Usage: check_help.sh CONFORMANCE_PROGRAM
set -euo pipefail
for option in --help -h; do
  text=$("$1" "$option" 2>&1 >/dev/null)
  [ -z "$text" ]
  text=$("$1" "$option")
  grep -q '^usage: nd4c_conformance' <<<"$text"
  grep -q '^  --engine NAME  ' <<<"$text"
done
code=0
text=$("$1" --nosuch 2>&1 >/dev/null) || code=$?
[ "$code" -eq 2 ]
grep -q "'--nosuch' is not known" <<<"$text"
