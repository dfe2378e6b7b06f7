#!/usr/bin/env bash
# `nd4c info` without --probe is fast and opens no vendor's library.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_lib.sh"

expect 0 env LD_DEBUG=files LD_DEBUG_OUTPUT="$work/loader" "$nd4c" info
opened=$(sed -nE 's/.*calling init: (.*)/\1/p' "$work"/loader.* | sort -u)
grep -q libnd4c <<<"$opened" # otherwise the loader printed nothing
if foreign=$(grep -E 'openblas|lapack|fftw|dnnl|cuda|cublas|cudnn|OpenCL|vulkan|libtpu|Qnn|openvino' <<<"$opened"); then
  echo "nd4c info opened $foreign"
  exit 1
fi

# Processor time, the least of several runs: on a busy machine the elapsed time depends on other programs. The program
# does not wait, so both times are equal on an idle machine.
best=1000000
TIMEFORMAT='%3U %3S'
for _ in 1 2 3 4 5 6 7 8 9 10; do
  took=$( { time "$nd4c" info >/dev/null; } 2>&1 | awk '{ print int(($1 + $2) * 1000 + 0.5) }')
  [ "$took" -lt "$best" ] && best=$took
done
echo "nd4c info: $best ms"
[ "$best" -le 30 ]
