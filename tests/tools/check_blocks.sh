#!/usr/bin/env bash
# Every fenced block of the documents is right: check_blocks.py. Then errors are planted in pages; it must find each.
# Usage: check_blocks.sh PYTHON SOURCE_DIR BUILD_DIR C_COMPILER [CXX_COMPILER]
set -euo pipefail
python=$1 source=$2 build=$3 cc=$4 cxx=${5-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PYTHONDONTWRITEBYTECODE=1
here=$(dirname "${BASH_SOURCE[0]}")
blocks() {
  "$python" "$here/check_blocks.py" --source "$source" --build "$build" --cc "$cc" ${cxx:+--cxx "$cxx"} \
    --python "$python" "$@"
}

blocks

mkdir "$work/planted"
count=0
planted() { # WORDS TEXT: a page with TEXT is to be refused with WORDS
  count=$((count + 1))
  printf '# Page\n\n%s\n' "$2" >"$work/planted/$count.md"
  printf '%s\n' "$1" >"$work/planted/$count.words"
}
main='int main(void) { return puts("one") < 0; }'
planted 'does not compile' $'```c\nint main(void) { return gone(); }\n```'
planted 'does not compile' $'```c\nint f(void) { return nd4c_array_gone(NULL); }\n```'
planted 'prints something else' $'```c\n#include <stdio.h>\n'"$main"$'\n```\n\n```output\ntwo\n```'
planted 'fails' $'```c\nint main(void) { return 3; }\n```'
[ -z "$cxx" ] || planted 'does not compile' $'```cpp\nint main() { return gone(); }\n```'
planted 'without a language' $'```\ntext\n```'
planted 'no check for the language' $'```cobol\nSTOP RUN.\n```'
planted 'only indented' $'Text:\n\n    nd4c info'
planted 'never ends' $'```text\nno end'
planted 'output of no block' $'```output\n1\n```'
planted "no command 'inform'" $'```sh\nnd4c inform\n```'
planted "no option '--colour'" $'```sh\nnd4c run model.onnx --colour\n```'
planted "no program 'nd4d'" $'```sh\nnd4d info\n```'
planted 'no scripts/gone' $'```sh\nscripts/gone\n```'
planted "no option '--gone'" $'```sh\nscripts/test --gone\n```'
planted 'reads the variable ND4C_GONE' $'```sh\nND4C_GONE=1 nd4c info\n```'
planted 'has no preset' $'```sh\ncmake --preset gone\n```'
planted 'no CMakeLists.txt has the option' $'```sh\ncmake -B build -DND4C_GONE=ON\n```'
planted 'syntax error' $'```sh\nif true\n```'
planted 'CMake has no command' $'```cmake\nfind_packages(nd4c)\n```'
if command -v javac >/dev/null; then
  planted 'error:' $'```java\nclass A { int f() { return "one"; } }\n```'
fi
planted 'Expecting' $'```json\n{"a": }\n```'
if PYTHONPATH=$build/python "$python" -c 'import nd4c, numpy, einops' 2>/dev/null; then
  planted 'prints something else' $'```python\n1 + 1\n```\n\n```output\n3\n```'
  planted 'prints something else' $'```python\nraise ValueError("no")\n```'
  planted 'the package has no nd4c.gone' $'<!-- needs: opencl:0 -->\n```python\nnd4c.gone()\n```'
fi

status=0
blocks "$work"/planted/*.md >"$work/said" 2>&1 || status=$?
[ "$status" -eq 1 ] || { echo "planted errors end with exit status $status"; cat "$work/said"; exit 1; }
for page in "$work"/planted/*.md; do
  words=$(cat "${page%.md}.words")
  if ! grep -A 8 -F "planted/${page##*/}" "$work/said" | grep -qE -- "$words"; then
    printf 'expected a failure that says "%s" for\n' "$words"
    cat "$page" "$work/said"
    exit 1
  fi
done
echo "$count planted errors were found"
