#!/usr/bin/env bash
# The digits example: pictures, the accuracy line, a time; and its errors.
# Usage: check_digits.sh PROGRAM
set -euo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

LC_ALL=C.UTF-8 "$program" >"$work/blocks"
cat "$work/blocks"
grep -qx 'accuracy: 99\.4 % of 360' "$work/blocks"
grep -qE '^time: [0-9]+\.[0-9]+ us an image' "$work/blocks"
grep -qE '^device: [a-z]+:[0-9]+ \(.+\)$' "$work/blocks"
grep -q '██' "$work/blocks"
[ "$(grep -o 'read as [0-9]' "$work/blocks" | wc -l)" -eq 6 ] # four right ones and the two wrong ones
[ "$(grep -o 'is [0-9] !' "$work/blocks" | wc -l)" -eq 2 ]

LC_ALL=C "$program" >"$work/plain"
! LC_ALL=C grep -qP '[^\x00-\x7f]' <(grep -v '^device' "$work/plain")

! "$program" "$work" 2>"$work/errors" >"$work/out"
grep -q "$work/digits.onnx" "$work/errors"
[ ! -s "$work/out" ]
