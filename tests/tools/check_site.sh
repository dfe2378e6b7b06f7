#!/usr/bin/env bash
# The site of the documents builds: no link or anchor leads nowhere, every page is in a room and in the navigation,
# every header, op, status and ONNX operator has its place in the reference. Then errors are planted in a small tree,
# and the build must find each. Exit status 77 where the Python has no MkDocs.
# Usage: check_site.sh PYTHON SOURCE_DIR BUILD_DIR
set -euo pipefail
python=$1 source=$2 build=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1

if ! "$python" -c 'import material, mkdocs, pymdownx' 2>/dev/null; then
  echo "skipped: $python has no MkDocs; scripts/test installs what scripts/site.txt lists into .cache/venv"
  exit 77
fi
site() { "$python" "$source/tools/site/build_site.py" --quick "$@"; }

site --source "$source" --build "$build" --output "$work/site" | tee "$work/said"
# The required entries of the reference, counted in their sources.
reference=$work/site/reference
for header in "$source"/include/nd4c/*.h "$source"/include/nd4c/ops/enums.h "$source"/include/nd4c/plugin/*.h; do
  page=${header#"$source"/include/nd4c/}
  [ -s "$reference/headers/${page%.h}.html" ] || { echo "no page about $page"; exit 1; }
done
expected=$("$build/bin/nd4c" ops --json | grep -c '"category":')
found=$(cat "$reference"/ops/*.html | grep -oE '<h2 id="[a-z0-9_]+"><code>' | wc -l)
[ "$found" -eq "$expected" ] || { echo "$found ops have an entry, expected $expected"; exit 1; }
functions=$(cat "$source"/include/nd4c/*.h "$source"/include/nd4c/plugin/*.h |
  grep -oE '^ND4C_API [^(]*\b(nd4c_[a-z0-9_]+)\(' | grep -oE 'nd4c_[a-z0-9_]+\($' | tr -d '(')
cat "$reference"/headers/*.html "$reference"/headers/plugin/*.html >"$work/headers.html"
for function in $functions; do
  grep -q "id=\"$function\"" "$work/headers.html" || { echo "no entry for $function"; exit 1; }
done
for word in POISONED float8_e4m3fn GroupNormalization nd4j.multibackend.trace "nd4c plugin-check"; do
  grep -rq "$word" "$reference"/*.html || { echo "the reference does not know $word"; exit 1; }
done
grep -q '"location":"reference/ops/window.html#conv"' "$work/site/search/search_index.json" ||
  { echo "the search does not know conv"; exit 1; }
for word in strides_count ND4C_CONV_DEFAULTS 'options.pads_count = ' ND4C_AUTO_PAD_SAME_UPPER; do
  grep -q "$word" <(sed 's/<[^>]*>//g' "$reference/ops/window.html") ||
    { echo "the ops of windows are described without $word"; exit 1; }
done
listed() { grep -oE "$1how-to/[a-z+-]+\.md" "$2" | tr -d '"('; }
[ "$(listed '"' "$work/site-sources/mkdocs.yml")" = "$(listed '\(' "$source/docs/index.md")" ] ||
  { echo "the menu has the how-to guides in another order than docs/index.md"; exit 1; }

# -- planted errors -------------------------------------------------------------------------------------------------

plain() { # a tree that is right
  rm -rf "$work/tree"
  mkdir -p "$work/tree/docs/how-to" "$work/tree/src"
  printf '# Start\n\n[A](how-to/a.md), [its part](how-to/a.md#a-part)\n' >"$work/tree/docs/index.md"
  printf '# A\n\n## A part\n\nText, [a source](../../src/a.c), `[no](link)`.\n\n```text\n[no](link)\n```\n' \
    >"$work/tree/docs/how-to/a.md"
  printf 'int a;\n' >"$work/tree/src/a.c"
}
built() { site --source "$work/tree" --output "$work/planted" >"$work/said" 2>&1; }
planted() { # WORDS...: the build fails and says all of them
  if built; then
    echo "planted errors are not found; expected: $*"
    exit 1
  fi
  for words in "$@"; do
    grep -qE -- "$words" "$work/said" || { echo "the build does not say '$words' but"; cat "$work/said"; exit 1; }
  done
  plain
}
append() { printf '\n%s\n' "$1" >>"$work/tree/docs/how-to/a.md"; }

plain
built || { echo "the tree without errors is refused:"; cat "$work/said"; exit 1; }
append '[gone](gone.md)'
append '[part](../index.md#nowhere)'
append '![picture](gone.svg)'
planted 'gone.md' 'nowhere' 'gone.svg' 'Aborted with 3 warnings' 'MkDocs refuses the pages'
append '[absolute](/how-to/a.md)'
planted "link to '/how-to/a.md': expected a relative one"
append '[host](https:/one-slash)'
append '<a href="#in-html">in HTML</a>'
append '<a href="gone.html">in HTML</a>'
planted 'expected an address like' "'#in-html': the page has no such anchor" "'gone.html': there is no such file"
append '[source](../../src/gone.c)'
planted 'src/gone.c.*no such file in the repository'
printf '# Stray\n' >"$work/tree/docs/stray.md"
planted 'docs/stray.md: expected in one of the rooms'
printf '# B\n' >"$work/tree/docs/how-to/b.md"
planted 'docs/index.md: expected a link to how-to/b.md'
printf 'no heading\n' >"$work/tree/docs/how-to/b.md"
printf '[B](how-to/b.md)\n' >>"$work/tree/docs/index.md"
planted 'how-to/b.md: expected a heading'
rm "$work/tree/docs/index.md"
planted 'docs/index.md: expected'
echo "planted errors were found"
