#!/usr/bin/env bash
# Generated pages are current, and plugin.h lists each header of its folder. Usage: check_docs.sh ND4C_PROGRAM SOURCE_DIR
set -euo pipefail
failed=0
for command in ops config; do
  page=$2/docs/reference/$command.md
  [ "$command" = config ] && page=$2/docs/reference/configuration.md
  if ! diff -u "$page" <("$1" $command --markdown) >&2; then
    echo "${page#"$2"/} is out of date: ninja generated, and commit"
    failed=1
  fi
done
for header in "$2"/include/nd4c/plugin/*.h; do
  if ! grep -q "^ \*     ${header##*/} " "$2/include/nd4c/plugin.h"; then
    echo "include/nd4c/plugin.h does not list ${header##*/}"
    failed=1
  fi
done
exit "$failed"
