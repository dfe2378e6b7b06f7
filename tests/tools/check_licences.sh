#!/usr/bin/env bash
# docs/reference/third-party-licences.md lists the libraries that the sources open at run time, and no others.
# Usage: check_licences.sh SOURCE_DIR
set -euo pipefail
cd "$1"
page=docs/reference/third-party-licences.md
opened=$(grep -rhoE '"lib[A-Za-z0-9_-]+\.so\.[0-9]+"' src backends --include='*.c' --include='*.h' | tr -d '"' | sort -u)
listed=$(sed -n '/^## Opened/,/^## Shipped/p' "$page" | grep -E '^\|' | grep -oE '`lib[A-Za-z0-9_-]+\.so\.[0-9]+`' | tr -d '`' | sort -u)
[ "$(wc -l <<<"$opened")" -gt 10 ] || { echo "only $(wc -l <<<"$opened") libraries were found in the sources"; exit 1; }
if ! diff <(echo "$opened") <(echo "$listed") >/dev/null; then
  comm -23 <(echo "$opened") <(echo "$listed") | sed "s|\$| is opened by the sources, and $page does not list it|"
  comm -13 <(echo "$opened") <(echo "$listed") | sed "s|\$| is listed in $page, and no source opens it|"
  exit 1
fi
echo "$(wc -l <<<"$opened") libraries are opened, all listed"
