#!/usr/bin/env bash
# tools/cli/selftest.txt is the output of tests/tools/make_selftest.py for the records.
# Usage: check_selftest_cases.sh PYTHON ND4C_PROGRAM SOURCE_DIR
set -euo pipefail
made=$(mktemp)
trap 'rm -f "$made"' EXIT
"$1" -W ignore "$3/tests/tools/make_selftest.py" "$2" >"$made"
diff -q "$made" "$3/tools/cli/selftest.txt" >/dev/null || {
  diff "$made" "$3/tools/cli/selftest.txt" | cut -c 1-160 | head -n 20 || true
  echo "tools/cli/selftest.txt is out of date: ninja generated, and commit"
  exit 1
}
