#!/usr/bin/env bash
# Generated pages are current. Usage: check_docs.sh ND4C_PROGRAM SOURCE_DIR
set -euo pipefail
failed=0
for command in ops config; do
  page=$2/docs/$command.md
  [ "$command" = config ] && page=$2/docs/configuration.md
  if ! diff -u "$page" <("$1" $command --markdown) >&2; then
    echo "$page is out of date: build/release/bin/nd4c $command --markdown > ${page#"$2"/}"
    failed=1
  fi
done
exit "$failed"
