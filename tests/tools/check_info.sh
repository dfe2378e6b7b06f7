#!/usr/bin/env bash
# `nd4c info` without --probe is fast and opens no vendor's library.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_lib.sh"

expect 0 env LD_DEBUG=files LD_DEBUG_OUTPUT="$work/loader" "$nd4c" info
opened=$(sed -nE 's/.*calling init: (.*)/\1/p' "$work"/loader.* | sort -u)
grep -q libnd4c <<<"$opened" # else the loader told nothing
if foreign=$(grep -E 'openblas|dnnl|cuda|cublas|cudnn|OpenCL|vulkan|libtpu|Qnn|openvino' <<<"$opened"); then
  echo "nd4c info opened $foreign"
  exit 1
fi

# The least of several runs: the machine may be busy, which says nothing about the program.
best=1000000
for _ in 1 2 3 4 5 6 7 8 9 10; do
  begin=$(date +%s%N)
  "$nd4c" info >/dev/null
  took=$((($(date +%s%N) - begin) / 1000))
  [ "$took" -lt "$best" ] && best=$took
done
echo "nd4c info: $best us"
[ "$best" -le 30000 ]
