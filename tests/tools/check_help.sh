#!/usr/bin/env bash
# Every script prints its usage, even without the tools that it needs, and refuses unknown arguments.
# Usage: check_help.sh SOURCE_DIR
set -euo pipefail
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$1:"
  cat "$work/out" "$work/err"
  exit 1
}
# helps COMMAND...: --help prints the usage only on stdout and succeeds; an unknown argument fails with a text that
# names it.
helps() {
  "$@" --help >"$work/out" 2>"$work/err" || fail "$* --help fails"
  grep -q '^usage: ' "$work/out" || fail "$* --help prints no usage"
  [ ! -s "$work/err" ] || fail "$* --help complains"
  ! "$@" --no-such-argument >"$work/out" 2>"$work/err" || fail "$* --no-such-argument succeeds"
  grep -q -- '--no-such-argument' "$work/err" || fail "$* does not say what it refuses"
}

helps scripts/quickstart
helps scripts/test
helps scripts/ci
helps scripts/fuzz
helps scripts/array-api-tests
helps scripts/pythons
helps scripts/site
helps scripts/generate
helps scripts/on-gpu
if command -v python3 >/dev/null; then
  helps python3 -S bench/compare # -S: without installed packages
  if python3 -S bench/compare >"$work/out" 2>"$work/err" || grep -q Traceback "$work/err"; then
    fail "bench/compare does not say which package it lacks"
  fi
  for wrong in "--json file" "--against . --page"; do
    # shellcheck disable=SC2086
    if python3 -S bench/compare $wrong >"$work/out" 2>"$work/err" || ! grep -q -- '--against' <<<"$(tail -n 1 "$work/err")"; then
      fail "bench/compare $wrong is not refused"
    fi
  done
fi
