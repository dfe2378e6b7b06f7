#!/usr/bin/env bash
# The system is called by src/base/os_* alone: no other file of src, backends or kernels includes a header of the
# system's, names POSIX threads or asks for POSIX's names, and no object calls what system_calls.txt does not grant it.
# Usage: check_system.sh SOURCE_DIR [BUILD_DIR OBJECTS NM CC]; OBJECTS is a file that lists the objects, one a line.
# Without them the sources alone are checked.
set -euo pipefail
tree=$(cd "$1" && pwd)
table=$(cd "$(dirname "$0")" && pwd)/system_calls.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# -- sources -----------------------------------------------------------------------------------------------------------

cat >"$work/sources.awk" <<'RULES'
# Input: lines "file:number:text" with an #include in angle brackets or a word of POSIX's.
function refused(file, text,    header) {
  if (text !~ /^[[:space:]]*#[[:space:]]*include/) return "names POSIX: use src/base/os.h and os_lock.h"
  header = substr(text, index(text, "<") + 1)
  sub(/>.*/, "", header)
  # The C library's, without clocks, signals and threads.
  if (header ~ /^(assert|complex|ctype|errno|fenv|float|inttypes|iso646|limits|math)\.h$/) return ""
  if (header ~ /^(stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn)\.h$/) return ""
  if (header ~ /^(string|tgmath|uchar|wchar|wctype)\.h$/) return ""
  # The compiler's.
  if (file ~ /^kernels\// && header ~ /^(immintrin|arm_neon)\.h$/) return ""
  if (file == "src/base/compiler.h" && header ~ /^(cpuid|sanitizer\/asan_interface)\.h$/) return ""
  # A vendor's.
  if (file ~ /^backends\// && header ~ /^(CL|cuda|hip|oneapi|openvino)\//) return ""
  if (header ~ /^(nd4c|kernels)\//) return "" # the project's: check_includes.sh
  if (file ~ /^backends\//) return "includes <" header ">: use nd4c/plugin/thread.h and file.h"
  return "includes <" header ">: src/base/os_* alone includes headers of the system"
}
{
  match($0, /:[0-9]+:/)
  file = substr($0, 1, RSTART - 1)
  if (file ~ /^src\/base\/os_[a-z_]+\.[ch]$/) next
  count++
  if ((reason = refused(file, substr($0, RSTART + RLENGTH))) != "") {
    print substr($0, 1, RSTART + RLENGTH - 2) " " reason
    failures++
  }
}
END {
  print count + 0 " lines of sources, " failures + 0 " refused"
  if (count < least) print "fewer than " least ": the check reads the wrong files"
  exit failures > 0 || count < least
}
RULES

# check_sources TREE LEAST: LEAST lines at least must be there to be judged.
check_sources() {
  (
    cd "$1"
    grep -rnE --include='*.c' --include='*.h' --include='*.inc' -e '^[[:space:]]*#[[:space:]]*include[[:space:]]*<' \
      -e '\<(pthread|PTHREAD)_' -e '\<_(GNU|POSIX_C|XOPEN|DEFAULT|BSD)_SOURCE\>' \
      include src backends kernels >"$work/lines" || true
    awk -v least="$2" -f "$work/sources.awk" "$work/lines"
  )
}

# plant_source FILE LINE: the check must refuse the line.
plant_source() {
  local planted=$work/planted
  mkdir -p "$planted"/{include,src,backends,kernels} "$planted/$(dirname "$1")"
  printf '%s\n' "$2" >"$planted/$1"
  if check_sources "$planted" 1 >/dev/null; then
    echo "the check overlooked '$2' in $1"
    exit 1
  fi
  rm -r "$planted"
}
plant_source src/device/low.c '#include <pthread.h>'
plant_source src/device/low.h '#  include <sys/mman.h>'
plant_source src/base/os.h '#include <unistd.h>'
plant_source src/base/lock.c '#include <time.h>'
plant_source src/device/os_low.c '#include <dlfcn.h>'
plant_source src/graph/low.c '#include <immintrin.h>'
plant_source src/io/low.c '#include <threads.h>'
plant_source src/io/low.c '#include <strings.h>'
plant_source backends/x/queue.c '#include <pthread.h>'
plant_source backends/x/deep/file.h '#include <unistd.h>'
plant_source kernels/cpu/add.inc '#include <signal.h>'
plant_source src/device/low.c '  pthread_mutex_lock(&lock);'
plant_source src/device/low.c 'static nd4c_lock lock = PTHREAD_MUTEX_INITIALIZER;'
plant_source src/device/low.c '#define _GNU_SOURCE'

check_sources "$tree" 300

# -- objects -----------------------------------------------------------------------------------------------------------

[ $# -gt 1 ] || exit 0
build=$2 objects=$3 nm=$4 cc=$5

cat >"$work/objects.awk" <<'RULES'
# Input: the table, then what nm -A shows of all objects.
FNR == 1 { file_number++ }
file_number == 1 {
  sub(/#.*/, "")
  if (match($0, /^[a-z_\/.]+:/)) {
    row = substr($0, 1, RLENGTH - 1)
    $0 = substr($0, RLENGTH + 1)
  }
  for (i = 1; i <= NF; i++) {
    if (row == "math") granted["c " $i] = granted["c " $i "f"] = granted["c " $i "l"] = 1
    else if ($i ~ /^[A-Za-z0-9_]+$/) granted[(row == "compiler" ? "c" : row) " " $i] = 1
    else patterns[row] = patterns[row] (patterns[row] == "" ? "" : "|") $i
  }
  next
}
{
  symbol = $NF
  type = $(NF - 1)
  path = $0
  sub(/:[ 0-9a-f]* [A-Za-z?] [^ ]*$/, "", path)
  sub(/@.*/, "", symbol)
  if (type !~ /^[Uwv]$/) {
    defined[symbol]
    next
  }
  if (index(path, build "/") == 1) path = substr(path, length(build) + 2)
  sub(/CMakeFiles\/[^\/]*\.dir\/(\.\/)?/, "", path)
  sub(/\.(o|obj)$/, "", path)
  objects[path]
  calls[path " " symbol]
}

# A C library's other names of its functions: with checks of sizes, by edition of the standard, older ones of stat.
function plain(symbol) {
  if (symbol ~ /^__[a-z]+_chk$/) return substr(symbol, 3, length(symbol) - 6)
  sub(/^__isoc(99|23)_/, "", symbol)
  if (symbol ~ /^__[fl]?xstat$/) sub(/^__/, "", symbol) && sub(/xstat/, "stat", symbol)
  return symbol
}
function grants(row, symbol) {
  return (row " " symbol) in granted || (row in patterns && symbol ~ "^(" patterns[row] ")$")
}
END {
  for (call in calls) {
    split(call, part, " ")
    if (part[2] in defined) continue
    count++
    symbol = plain(part[2])
    if (grants("c", symbol) || grants("compiler", symbol) || grants(part[1], symbol)) continue
    if (part[1] ~ /^src\// && grants("src", symbol)) continue
    print part[1] " calls " part[2] ": use src/base/os.h, os_lock.h, or in a backend the host table" | "sort"
    failures++
  }
  close("sort")
  for (object in objects) number++
  print number + 0 " objects, " count + 0 " calls outside the project, " failures + 0 " refused"
  if (number < least) print "fewer than " least ": the check reads the wrong objects"
  exit failures > 0 || number < least
}
RULES

# check_objects BUILD_DIR LIST LEAST
check_objects() {
  tr '\n' '\0' <"$2" | xargs -0 "$nm" -A >"$work/symbols"
  awk -v build="$1" -v least="$3" -f "$work/objects.awk" "$table" "$work/symbols"
}

# object_with SOURCE SYMBOL: an object of that source with a reference to the symbol, listed in $work/list.
object_with() {
  local object="$work/planted/$(sed 's,/,/CMakeFiles/part.dir/,' <<<"$1").o"
  mkdir -p "$(dirname "$object")"
  printf 'extern char %s[];\nconst void *planted(void) { return %s; }\n' "$2" "$2" |
    "$cc" -w -fPIC -fno-builtin -x c -c -o "$object" -
  echo "$object" >"$work/list"
}
plant_call() {
  object_with "$1" "$2"
  if check_objects "$work/planted" "$work/list" 1 >/dev/null; then
    echo "the check overlooked a call of $2 in $1"
    exit 1
  fi
}
grant_call() {
  object_with "$1" "$2"
  check_objects "$work/planted" "$work/list" 1 >/dev/null || {
    echo "the check refuses a call of $2 in $1"
    exit 1
  }
}
for symbol in pthread_create clock_gettime nanosleep open dlopen mmap sysconf syscall environ getpid time system; do
  plant_call src/device/low.c "$symbol"
done
plant_call src/base/os.c dlopen
plant_call src/base/os_linux_text.c dlopen
plant_call src/base/os_linux_new.c write
plant_call src/device/src/base/os_linux.c dlopen
plant_call backends/x/queue.c pthread_mutex_lock
plant_call kernels/cpu/add.c sched_yield
grant_call src/device/low.c pthread_mutex_lock
grant_call src/base/os_linux.c dlopen
grant_call kernels/cpu/add.c expf
grant_call kernels/cpu/add.c __memcpy_chk

check_objects "$build" "$objects" 400
