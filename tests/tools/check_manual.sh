#!/usr/bin/env bash
# The manual pages that the build made: one of the program and one of each command, with the sections of a page in their
# order, and every word of --help. If man or mandoc is installed, the check reads the page as they show it.
# Usage: check_manual.sh ND4C_PROGRAM FOLDER_OF_PAGES
set -euo pipefail
nd4c=$1 pages=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "$1"
  [ ! -s "${2-}" ] || cat "$2"
  exit 1
}

# shown PAGE: the page as text; without a program for it, the source without its requests and escapes.
shown() {
  if man --version 2>/dev/null | grep -q '^man 2' && command -v groff >/dev/null; then
    MANROFFOPT=-rHY=0 MANWIDTH=400 LC_ALL=C.UTF-8 man --warnings -P cat -l "$1" 2>"$work/warnings" || fail "man refuses $1" "$work/warnings"
    [ ! -s "$work/warnings" ] || fail "man warns of $1:" "$work/warnings"
  elif command -v mandoc >/dev/null; then
    mandoc -Tlint -Werror "$1" >"$work/warnings" || fail "mandoc finds errors in $1:" "$work/warnings"
    mandoc -Tutf8 -Owidth=400 "$1"
  else
    sed -E 's/^\.[A-Z]+ ?//; s/^\\&//; s/\\f[BIR]//g; s/\\-/-/g; s/\\\(aq/'"'"'/g; s/\\\(ga/`/g; s/\\\(ha/^/g; s/\\\(ti/~/g; s/\\e/\\/g' "$1"
  fi
}

# sections PAGE NAME...: the page has these, in this order, perhaps with others between.
sections() {
  local page=$1 wanted=
  shift
  for wanted in "$@"; do
    grep -nE "^\.SH $wanted\$" "$page" || fail "${page##*/} has no section $wanted"
  done | cut -d: -f1 | sort -cn 2>/dev/null || fail "the sections of ${page##*/} are not in the order $*"
}

# words TEXT PAGE: the page contains every word of the text.
words() {
  tr -s '[:space:]' '\n' <"$1" | sort -u >"$work/wanted"
  tr -s '[:space:]' '\n' <"$2" | sort -u >"$work/there"
  comm -23 "$work/wanted" "$work/there" >"$work/missing"
  [ ! -s "$work/missing" ] || fail "${3##*/} lacks words of --help:" "$work/missing"
}

commands=$("$nd4c" --help | sed -nE 's/^  ([a-z-]+) .*/\1/p')
[ "$(wc -w <<<"$commands")" -ge 8 ] || fail "nd4c --help lists no commands"
for command in '' $commands; do
  page=$pages/nd4c${command:+-$command}.1
  [ -s "$page" ] || fail "the build made no ${page##*/}"
  head -n 1 "$page" | grep -qE "^\.TH ND4C${command:+-${command^^}} 1 " || fail "${page##*/} begins with no title"
  sed -n '/^\.SH NAME/{n;p;}' "$page" | grep -qE '^nd4c[a-z\\-]* \\- [a-z]' || fail "${page##*/} has no name and purpose"
  shown "$page" >"$work/shown"
  if [ -z "$command" ]; then
    sections "$page" NAME SYNOPSIS DESCRIPTION COMMANDS OPTIONS 'EXIT STATUS' ENVIRONMENT 'SEE ALSO'
    for other in $commands; do
      grep -qE "nd4c-$other ?\(1\)" "$work/shown" || fail "nd4c(1) does not name nd4c-$other(1)"
    done
  else
    sections "$page" NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'EXIT STATUS' 'SEE ALSO'
    # Headings lose their colon, the first line its "nd4c COMMAND:", items that have no gap the colon of their term.
    "$nd4c" "$command" --help | sed -E '1s/^nd4c [a-z-]+: //; s/^usage: //; /^[a-z]+:$/d; s/^(  [a-z]+): /\1 /' >"$work/help"
    words "$work/help" "$work/shown" "$page"
  fi
done
[ "$(find "$pages" -name '*.1' | wc -l)" -eq $(($(wc -w <<<"$commands") + 1)) ] || fail "there are pages of no command"
code=0
"$nd4c" --manual nosuch >/dev/null 2>"$work/err" || code=$?
[ "$code" -eq 2 ] && grep -q "no command 'nosuch'" "$work/err" || fail "nd4c --manual nosuch is not refused" "$work/err"
echo "$(wc -w <<<"$commands") commands and the program have manual pages"
