#!/usr/bin/env bash
# The program `nd4c`: help, usage errors, info, ops, config, bench.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_lib.sh"

# Help is on stdout and complete; usage errors are on stderr with exit code 2.
expect 0 "$nd4c" --version
says out '^nd4c [0-9]+\.[0-9]+\.[0-9]+ \('
expect 0 "$nd4c" --help
for command in info ops run compile calibrate graph bench config selftest; do
  grep -q "^  $command " "$work/out"
done
for command in info ops run calibrate graph bench config selftest; do
  for ask in "$command --help" "help $command" "$command -h"; do
    # shellcheck disable=SC2086
    expect 0 "$nd4c" $ask
    says out '^usage: nd4c '$command
    says out '^examples:'
    silent err
  done
  expect 2 "$nd4c" $command --no-such-option
  says err "nd4c $command: .*--no-such-option"
  says err "try: nd4c $command --help"
  silent out
done
expect 2 "$nd4c"
says err '^usage:'
expect 2 "$nd4c" dance
says err "no command 'dance'"
expect 2 "$nd4c" info extra
says err "unexpected argument 'extra'"

# info
expect 0 "$nd4c" info
says out '^pool +(openmp|threads|serial), width [1-9]'
says out '^\* cpu +priority +0 '
says out 'engine reference'
says out '^\* cpu:0 '
expect 0 "$nd4c" info --json
same "$(value version)" "$("$nd4c" --version | cut -d' ' -f2)" "version"
same "$(value probed)" false "probed"
same "$(value device.name)" cpu:0 "device"
value backends.0.reason >/dev/null
expect 0 "$nd4c" info --probe --json
same "$(value probed)" true "probed"
grep -q '"verdict":[[:space:]]*"verified"' "$work/out"
# OpenBLAS's core is one for this machine, even if OpenBLAS is older than the processor.
expect 0 "$nd4c" info --probe
lacks out '^warning: openblas'
# A forced core is reported once, whether it fits this machine or not.
for core in Haswell SkylakeX Prescott; do
  expect 0 env OPENBLAS_CORETYPE=$core "$nd4c" info
  says out "^warning: .*OPENBLAS_CORETYPE.*$core"
  same "$(grep -c OPENBLAS_CORETYPE "$work/out")" 1 "warnings of OPENBLAS_CORETYPE=$core"
  expect 0 env OPENBLAS_CORETYPE=$core "$nd4c" info --json
  same "$(grep -o OPENBLAS_CORETYPE "$work/out" | wc -l)" 1 "warnings of OPENBLAS_CORETYPE=$core"
done
# Engine names without effect here.
for ask in "info" "info --probe"; do
  # shellcheck disable=SC2086
  expect 0 env SD_KERNEL_FORCE_ENGINE=cuda SD_KERNEL_DISABLE_ENGINES=simdd,cudnn,reference "$nd4c" $ask
  says out '^warning: SD_KERNEL_FORCE_ENGINE: cuda: not here; engines are: .*simd, tile, reference'
  says out '^warning: SD_KERNEL_DISABLE_ENGINES: simdd: no engine of that name; engines are: .*simd, tile, reference'
  says out '^warning: SD_KERNEL_DISABLE_ENGINES: cudnn: not here'
  says out '^warning: SD_KERNEL_DISABLE_ENGINES: reference: reference is the floor'
done
expect 0 env SD_KERNEL_FORCE_ENGINE=simmd "$nd4c" info --json
same "$(value warnings.0 | cut -d';' -f1)" "SD_KERNEL_FORCE_ENGINE: simmd: no engine of that name" "warning"
expect 0 env SD_KERNEL_FORCE_ENGINE=CPU SD_KERNEL_DISABLE_ENGINES=simd "$nd4c" info
lacks out SD_KERNEL
# Memory caps for absent devices; a cap whose name is no device's is refused.
expect 0 env ND4J_DEVICE_MEMORY_CAP_CUDA_0=1g ND4J_DEVICE_MEMORY_CAP_CPU_0=8g "$nd4c" info
says out '^warning: nd4j.device.memory.cap.CUDA.0 caps no device'
lacks out '^warning: .*CPU'
expect 0 env ND4J_DEVICE_MEMORY_CAP_CPU_7=1g "$nd4c" info --probe
says out '^warning: nd4j.device.memory.cap.CPU.7 caps no device'
expect 1 env ND4J_DEVICE_MEMORY_CAP_OPENCLL_0=1g "$nd4c" info
says out '^there is no property "ND4J_DEVICE_MEMORY_CAP_OPENCLL_0" \(in the environment'
# A plug-in that is refused is a candidate like the others.
for plugin in /nope.so "$0"; do
  name=$(basename "$plugin")
  for ask in "info" "info --probe"; do
    # shellcheck disable=SC2086
    expect 0 env ND4C_BACKEND_PLUGINS="$plugin" "$nd4c" $ask
    says out "^  $name +priority   0  absent +$plugin could not be loaded: .+"
    says out "^ +from $plugin\$"
  done
  expect 0 env ND4C_BACKEND_PLUGINS="$plugin" "$nd4c" info --json
  same "$(value backends.5.name)" "$name" "name of a refused plug-in"
  same "$(value backends.5.verdict)" absent "its verdict"
  same "$(value backends.5.origin)" "$plugin" "its origin"
  expect 1 env ND4C_BACKEND_PLUGINS="$plugin" BACKEND_TYPE=cuda "$nd4c" info
  says out "^  $name \(priority 0\): $plugin could not be loaded: "
  expect 1 env ND4C_BACKEND_PLUGINS="$plugin" ND4C_STRICT=1 "$nd4c" info
  says out "^nd4c.backend.plugins \(ND4C_BACKEND_PLUGINS\) names $plugin, which is refused: "
  expect 0 env ND4C_BACKEND_PLUGINS="$plugin" ND4J_LOG_INITIALIZATION=1 "$nd4c" info
  says err "^nd4c warning \[registry\] backend $name: $plugin could not be loaded: "
done
expect 0 env ND4C_CPU_LEVEL=base "$nd4c" info --json
same "$(value machine.level | sed 's/neon/base/')" base "level"
# The level and its reason; a level that cannot be applied is reported.
expect 0 "$nd4c" info
says out "^level +(base|avx2|avx512|neon|dotprod) \(of nd4c's own kernels: (the highest|[a-z0-9]+ (wants|needs))"
foreign=dotprod
[ "$(uname -m)" = x86_64 ] || foreign=avx512
expect 0 env ND4C_CPU_LEVEL=$foreign "$nd4c" info
says out "^level .*: nd4c.cpu.level names a level of another processor family: not applied\)\$"
for level in base avx2 avx512; do
  expect 0 env ND4C_CPU_LEVEL=$level "$nd4c" info
  [ "$(uname -m)" != x86_64 ] ||
    says out "^level +($level .*(asks for it|the highest.*|[a-z0-9]+ (wants|needs).*)|.*lacks: not applied)\)\$"
done
# No backend can be selected: info shows all of them and what to do, and the exit code reports it.
for ask in "info" "info --json" "info --probe"; do
  # shellcheck disable=SC2086
  expect 1 "$nd4c" $ask -D backend.type=nosuch
  says out "backend.type asks for 'nosuch', but there is no backend of that name"
  says out 'What to do: unset backend.type \(BACKEND_TYPE\) or set it to one of these'
  says out 'engine reference|"reference"'
  says err '^nd4c info: no device can be used'
done
expect 1 env BACKEND_TYPE=cuda "$nd4c" info
says out "backend.type asks for 'cuda', which cannot be used"
expect 0 "$nd4c" info -D backend.type=CPU
expect 2 "$nd4c" info -D nd4c.width=many
says err 'nd4c.width'

# ops
expect 0 "$nd4c" ops
says out '^conv\(x, w, bias\?, addend\?; strides=none'
expect 0 "$nd4c" ops '*_pool'
says out '^max_pool'
says out '^average_pool'
lacks out '^conv'
# The name of an op selects only that op: outputs in order, values of attributes by name.
expect 0 "$nd4c" ops lstm
says out '^lstm\(x, w, r, .*; .*direction=forward, .*\) -> y, h, c$'
says out '^    direction: forward \(0\), reverse \(1\), bidirectional \(2\)$'
says out '^    activations: relu \(0\), tanh \(1\), '
same "$(grep -c '^[a-z]' "$work/out")" 1 "number of ops"
expect 0 "$nd4c" ops linear
says out 'activation=none'
expect 0 "$nd4c" ops scatter_nd
says out '^    reduction: none \(0\), add \(1\), multiply \(2\)'
expect 0 "$nd4c" ops huber_loss
says out 'reduction=mean, .*-> loss$'
expect 0 "$nd4c" ops conv --json
index=0
while [ "$(value "0.attributes.$index.name")" != auto_pad ]; do index=$((index + 1)); done
same "$(value "0.attributes.$index.values.same_upper")" 1 "a value by its name"
same "$(value "0.attributes.$index.default")" 0 "a default in JSON"
same "$(value "0.output_names.0")" y "an output"
expect 0 "$nd4c" ops REDUCTION --json
same "$(value 0.name)" sum "first reduction"
same "$(value 0.attributes.0.kind)" ints "its attribute"
expect 1 "$nd4c" ops nosuchop
says err "no op matches 'nosuchop'"
expect 2 "$nd4c" ops a b

# config
expect 0 "$nd4c" config
says out '^backend\.type = \(empty\)'
expect 0 env ND4C_WIDTH=3 "$nd4c" config --json
grep -q '"source":[[:space:]]*"environment"' "$work/out"
value 0.property >/dev/null
expect 0 "$nd4c" config nd4c.strict=true
says out '^nd4c\.strict = true'
says out '^    from set; environment variable ND4C_STRICT'
expect 2 "$nd4c" config nd4c.strict=perhaps
says err 'nd4c\.strict'
expect 2 "$nd4c" config nd4c.stric=true
says err 'nd4c\.strict'
expect 2 "$nd4c" config strict
says err "'strict' is not PROPERTY=VALUE"
expect 2 "$nd4c" config --json --markdown
expect 0 "$nd4c" config OV_CACHE_DIR=/tmp
says out '^OV_CACHE_DIR = /tmp'
says out 'used if nd4c.compile.cache is empty'

# A value of the environment that nd4c cannot parse is shown unchanged; failing computations name it, not their data.
expect 0 env ND4C_WIDTH=abc "$nd4c" config
says out '^nd4c\.width = 0$'
says out '^    from default; environment variable ND4C_WIDTH;'
says out '^    REFUSED: the environment has ND4C_WIDTH="abc"; expected an integer from 0 to 65536$'
says out '^    Every computation fails until the variable is mended or unset\.$'
same "$(grep -c REFUSED "$work/out")" 1 "refused values"
expect 0 env ND4C_POOL=opnemp "$nd4c" config nd4c.pool=serial
says out '^nd4c\.pool = serial$'
says out '^    REFUSED: the environment has ND4C_POOL="opnemp"; expected one of auto,openmp,threads,serial$'
says out '^    It is not used, because the property is set\.$'
expect 0 env BACKEND_TYPE=cpu ND4C_STRICT=perhaps "$nd4c" config --json
grep -q '"refused":[[:space:]]*"perhaps"' "$work/out"
grep -q '"expected":[[:space:]]*"true or false"' "$work/out"
for given in "--input image=$digits/digits_images.npy" --random-inputs; do
  # shellcheck disable=SC2086
  expect 1 env ND4C_WIDTH=abc "$nd4c" run "$digits/digits.onnx" $given
  says err '^nd4c run: nd4c\.width \(ND4C_WIDTH in the environment\) = "abc": expected an integer from 0 to 65536$'
  says err '^hint: nd4c config'
done
expect 1 env ND4C_WIDTH=abc "$nd4c" info
says out '^nd4c\.width \(ND4C_WIDTH in the environment\) = "abc"'
expect 0 env ND4C_WIDTH=abc "$nd4c" run "$digits/digits.onnx" --random-inputs -D nd4c.width=1
expect 1 "$nd4c" run "$digits/digits.onnx" --random-inputs --dim batch=1000000000000
says err "input 'image', float32 .*, would take 2.56e.08 MB, and .* MB are free: smaller extents were expected"

# Ranges of samples, what each layer loses, and a run in 8 bits, which machines without fast products of bytes refuse.
mkdir "$work/samples" "$work/none"
cp "$digits/digits_images.npy" "$work/samples/b.npy"
cp "$digits/digits_images.npy" "$work/samples/a.npy"
expect 0 "$nd4c" calibrate "$digits/digits.onnx" "$work/samples" -o "$work/ranges.json" --layers --method mse
says out '^[0-9]+ ranges of 2 samples: .*ranges.json$'
says out '^ +[0-9.]+ dB  (conv|linear) '
same "$("$json" samples <"$work/ranges.json")" 2 'samples in the file of ranges'
code=0
"$nd4c" run "$digits/digits.onnx" --random-inputs --precision int8 >"$work/out" 2>&1 || code=$?
if [ "$code" -ne 3 ]; then
  expect 0 "$nd4c" run "$digits/digits.onnx" --input "image=$digits/digits_images.npy" --precision int8 \
    --calibration "$work/ranges.json" --report
  says out '^precision: int8 \(options.precision\), ranges of a calibration; of [0-9]+ layers'
fi
expect 2 "$nd4c" run "$digits/digits.onnx" --random-inputs --calibration "$work/ranges.json"
says err '--calibration: --precision int8 was expected'
expect 2 "$nd4c" calibrate "$digits/digits.onnx" "$work/samples" -o "$work/x.json" --percentile 99
says err '--percentile: --method percentile was expected'
expect 2 "$nd4c" calibrate "$digits/digits.onnx" "$work/samples" -o "$work/x.json" --method mse --momentum 0.1
says err '--momentum: --method moving-average was expected'
expect 1 "$nd4c" run "$digits/digits.onnx" --random-inputs --precision int8 --calibration "$digits/digits.onnx"
expect 2 "$nd4c" calibrate "$digits/digits.onnx" "$work/samples"
says err '--output was expected'
expect 2 "$nd4c" calibrate "$digits/digits.onnx" -o "$work/x.json"
says err 'no samples were given'
expect 2 "$nd4c" calibrate "$digits/digits.onnx" "$work/none" -o "$work/x.json"
says err 'has no .npy and no .npz file'
expect 1 "$nd4c" calibrate "$digits/digits.onnx" "$work/samples" -o "$work/x.json" --float32 nothing
says err "no node 'nothing'"
expect 2 "$nd4c" calibrate "$digits/digits.onnx" "$work/samples" -o "$work/x.json" --method best
expect 1 "$nd4c" calibrate "$digits/digits.onnx" "$digits/digits_labels.npy" -o "$work/x.json"
test ! -e "$work/x.json"
# On a terminal an error comes after the progress, which is erased. (On a fast machine none may have been shown.)
cat >"$work/terminal.py" <<'PYTHON'
import os
import pty
import subprocess
import sys

master, terminal = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=terminal)
os.close(terminal)
text = b""
try:
    while True:
        text += os.read(master, 4096)
except OSError:  # the other end is closed
    pass
assert process.wait() == 1, "exit code"
assert text.rfind(b"\033[K") < text.index(b"nd4c calibrate: "), "progress was shown behind the error"
PYTHON
if [ -x "${4:-}" ]; then
  samples=()
  for _ in {1..40}; do samples+=("$digits/digits_images.npy"); done
  expect 0 "$4" "$work/terminal.py" "$nd4c" calibrate "$digits/digits.onnx" "${samples[@]}" "$digits/digits_labels.npy" \
    -o "$work/x.json"
fi

# bench
expect 0 "$nd4c" bench dispatch
"$json" --lines <"$work/out"
"$json" p50_seconds <"$work/out" >/dev/null
expect 1 "$nd4c" bench nosuch

# A closed or full stdout is a failure, not a success without its text.
if [ -w /dev/full ]; then
  code=0
  "$nd4c" ops --json >/dev/full 2>"$work/err" || code=$?
  same "$code" 1 "exit code when stdout is full"
  says err 'stdout'
fi
echo "$cases cases"
