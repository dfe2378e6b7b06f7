#!/usr/bin/env bash
# `nd4c run`: outputs, formats, random inputs, reports, errors.
# shellcheck source-path=SCRIPTDIR/..
. "$(dirname "$0")/../cli_lib.sh"
model=$digits/digits.onnx
image=image=$digits/digits_images.npy

expect 0 "$nd4c" run "$model" --input "$image" --output "$work/a"
says out "^logits  float32 \(360, 10\)  $work/a/logits.npy"
says out '^time: [0-9.]+ ms'
silent err
same "$(head -c 6 "$work/a/logits.npy" | tail -c 5)" NUMPY "magic"

# JSON, the other format, and reading that format back in as an input.
expect 0 "$nd4c" run "$model" -i "$image" -o "$work/b" --format pb --json --repeat 3
same "$(value outputs.0.name)" logits "name"
same "$(value outputs.0.shape)" '[360,10]' "shape"
same "$(value outputs.0.file)" "$work/b/logits.pb" "file"
same "$(value repeat)" 3 "repeat"
# Percentiles of the times: in order, and the largest of three is both p90 and p99.
times="$(value min_seconds) $(value p50_seconds) $(value p90_seconds) $(value p99_seconds) $(value max_seconds)"
same "$(tr ' ' '\n' <<<"$times" | sort -g | tr '\n' ' ')" "$times " "order of $times"
same "$(value p90_seconds)" "$(value max_seconds)" "p90 of three"
! grep -q median "$work/out"
expect 0 "$nd4c" run "$model" -i "$image" --repeat 5
says out '^time: min [0-9.]+ ms, p50 [0-9.]+ ms, p90 [0-9.]+ ms, p99 [0-9.]+ ms, max [0-9.]+ ms of 5 runs'

# Equal seeds give equal files, other seeds other files; free dimensions become 1, which is reported.
expect 0 "$nd4c" run "$model" --random-inputs --seed 5 -o "$work/c"
says err "input 'image' is \(batch, 1, 8, 8\).*1 is taken"
expect 0 "$nd4c" run "$model" --random-inputs --seed 5 --shape image=1,1,8,8 -o "$work/d"
silent err
cmp "$work/c/logits.npy" "$work/d/logits.npy"
expect 0 "$nd4c" run "$model" --random-inputs --seed 6 --shape image=1,1,8,8 -o "$work/e"
! cmp -s "$work/c/logits.npy" "$work/e/logits.npy"
expect 0 "$nd4c" run "$model" --random-inputs --shape image=7,1,8,8
says out '\(7, 10\)'

# An input with an initializer keeps its numbers, or takes others. y = x + b, b = 1, 2.
printf '\010\010:V\012\016\012\001x\012\001b\022\001y"\003Add*\021\010\002\020\001B\001bJ\010\000\000\200?\000\000\000@Z\017\012\001x\022\012\012\010\010\001\022\004\012\002\010\002Z\017\012\001b\022\012\012\010\010\001\022\004\012\002\010\002b\017\012\001y\022\012\012\010\010\001\022\004\012\002\010\002B\002\020\021' >"$work/default.onnx"
printf '\010\002\020\001J\010\000\000\040A\000\000\240A' >"$work/x.pb"
printf '\010\002\020\001J\010\000\000\240@\000\000\300@' >"$work/b.pb"
expect 0 "$nd4c" run "$work/default.onnx" -i "x=$work/x.pb" -o "$work/kept"
same "$(tail -c 8 "$work/kept/y.npy" | od -An -tf4 | tr -s ' ')" " 11 22" "y with the initializer"
expect 0 "$nd4c" run "$work/default.onnx" -i "x=$work/x.pb" -i "b=$work/b.pb" -o "$work/other"
same "$(tail -c 8 "$work/other/y.npy" | od -An -tf4 | tr -s ' ')" " 15 26" "y with another b"

# A dim by its name: the same as the shape, and no note.
expect 0 "$nd4c" run "$model" --random-inputs --dim batch=7 -o "$work/dim"
says out '\(7, 10\)'
silent err
expect 0 "$nd4c" run "$model" --random-inputs --shape image=7,1,8,8 -o "$work/shape"
cmp "$work/dim/logits.npy" "$work/shape/logits.npy"
expect 0 "$nd4c" run "$model" --random-inputs --dim batch=7 --shape image=2,1,8,8
says out '\(2, 10\)'
expect 2 "$nd4c" run "$model" --random-inputs --dim breadth=7
says err "\-\-dim breadth=7: the model's inputs have no such dim, only 'batch'"
for number in x -1 1.5 '' 9223372036854775808; do
  expect 2 "$nd4c" run "$model" --random-inputs --dim "batch=$number"
  says err "\-\-dim batch=$number: a number from 0 on was expected"
done
expect 2 "$nd4c" run "$model" --random-inputs --dim batch=1 --dim batch=2
says err '\-\-dim batch is given twice'
expect 2 "$nd4c" run "$model" --random-inputs --dim batch
says err '\-\-dim batch: NAME=\.\.\. was expected'
expect 2 "$nd4c" run "$model" --input "$image" --dim batch=2
says err '\-\-dim: --random-inputs was expected beside it'
expect 1 "$nd4c" run "$model" --random-inputs --dim batch=9223372036854775807
silent out

# Every named value; the report.
# On one engine, since kernels of others add up in other orders, and which are fast depends on the passes.
expect 0 "$nd4c" run "$model" -i "$image" -o "$work/f" --all-intermediates -D SD_KERNEL_FORCE_ENGINE=reference
expect 0 "$nd4c" run "$model" -i "$image" -o "$work/g" -D SD_KERNEL_FORCE_ENGINE=reference
[ -e "$work/f/pooled.npy" ] && [ -e "$work/f/a1.npy" ] && cmp "$work/g/logits.npy" "$work/f/logits.npy"
expect 0 "$nd4c" run "$model" --random-inputs --report
says out 'conv'
expect 0 "$nd4c" run "$model" --random-inputs --report --math fast --compile-option LEVEL=3 --compile-option a.B=C=D
says out '^asked of compilers: math fast, LEVEL=3, a.B=C=D$'
says out 'compile option a.B: no compiler here takes it'
expect 2 "$nd4c" run "$model" --random-inputs --math fastest
says err 'exact, reorder, fast or reduced was expected'
expect 2 "$nd4c" run "$model" --random-inputs --compile-option LEVEL
says err 'KEY=VALUE was expected'
expect 1 "$nd4c" run "$model" --random-inputs --compile-option 'A B=1'
says err 'expected a key of 1 to 127 printable characters'
expect 0 "$nd4c" run "$model" --random-inputs --report --json
value report >/dev/null
expect 0 "$nd4c" run "$model" --random-inputs -D SD_KERNEL_FORCE_ENGINE=reference --report
says out 'reference'

# The tracer: a file for Chrome, a table; a file that cannot be written.
expect 0 "$nd4c" run "$model" --random-inputs --trace "$work/trace.json"
says out 'device transitions: 0'
says out 'cpu:0 +conv'
grep -q '"cat":"op","name":"conv"' "$work/trace.json"
expect 0 "$nd4c" run "$model" --random-inputs --trace - --json
value trace >/dev/null
expect 1 "$nd4c" run "$model" --random-inputs --trace /nowhere/at/all --output "$work/untraced"
ls "$work/untraced" | grep -q npy # the outputs are written all the same
expect 0 "$nd4c" run "$model" --random-inputs --devices cpu:0 --report
says out 'plan on cpu:0:'
expect 1 "$nd4c" run "$model" --random-inputs --devices cpu:0,nowhere:0
says err 'nowhere'
for list in , '' cpu:0, ,cpu:0 cpu:0,,cpu:0; do
  expect 2 "$nd4c" run "$model" --random-inputs --devices "$list"
  says err '--devices: device [0-9]+ has no name'
done
# The property's recording and the command's are both printed.
ND4J_MULTIBACKEND_TRACE=true expect 0 "$nd4c" run "$model" --random-inputs --trace -
says out 'cpu:0 +conv'
says err 'cpu:0 +conv'
ND4J_MULTIBACKEND_TRACE=trace expect 1 "$nd4c" run "$model" --random-inputs
says err "expected true, false, or a file's path with a '/' in it"

# Wrong usage: 2.
expect 2 "$nd4c" run
says err 'no model was given'
expect 2 "$nd4c" run "$model" "$model"
expect 2 "$nd4c" run "$model"
says err "input 'image', float32 \(batch, 1, 8, 8\), is not given"
expect 2 "$nd4c" run "$model" --input picture=x.npy
says err "no such input, only 'image'"
expect 2 "$nd4c" run "$model" --input "$image" --input "$image"
says err 'given twice'
expect 2 "$nd4c" run "$model" --input image
says err 'NAME=\.\.\. was expected'
expect 2 "$nd4c" run "$model" --random-inputs --shape image=1,x
says err 'extents separated by commas'
expect 2 "$nd4c" run "$model" --random-inputs --repeat 0
says err '\-\-repeat 0: a number from 1'
expect 2 "$nd4c" run "$model" --random-inputs --format txt
says err 'npy or pb was expected'
expect 2 "$nd4c" run "$model" --random-inputs -D nosuch=1
says err 'nosuch'
expect 2 "$nd4c" run "$model" --input
says err "option '--input' is unknown or lacks its value"

# Failures: 1, with the library's words; nothing on stdout.
expect 1 "$nd4c" run "$work/nosuch.onnx"
says err "nd4c run: .*nosuch.onnx.*No such file"
silent out
expect 1 "$nd4c" run "$digits/digits_images.npy" --random-inputs
says err 'digits_images.npy'
head -c 20000 "$model" >"$work/cut.onnx"
expect 1 "$nd4c" run "$work/cut.onnx" --random-inputs
says err 'cut.onnx'
expect 1 "$nd4c" run "$model" --input "image=$digits/digits_labels.npy"
says err "image"
expect 1 "$nd4c" run "$model" --input "image=$model"
says err 'digits.onnx'
expect 1 "$nd4c" run "$model" --random-inputs --shape image=1,1,9
says err 'image'
expect 1 "$nd4c" run "$model" -i "$image" -o "$model"
says err 'digits.onnx: Not a directory|digits.onnx: File exists'
expect 1 "$nd4c" run "$model" --random-inputs -D backend.type=cuda
says err 'cuda'
says err '^hint: nd4c info --probe'
# The hint is about the cap that was hit.
expect 1 env ND4C_MEMORY_MAX_BYTES=100 "$nd4c" run "$model" --random-inputs
says err '^hint: org.bytedeco.javacpp.maxbytes \(ND4C_MEMORY_MAX_BYTES\) is the limit'
expect 1 env ND4J_DEVICE_MEMORY_CAP_CPU_0=100 "$nd4c" run "$model" --random-inputs
says err '^hint: nd4j.device.memory.cap.CPU.0 \(ND4J_DEVICE_MEMORY_CAP_CPU_0\) is the limit'

# A file whose dtype nd4c does not read: 3, and the hint is about the file.
LC_ALL=C sed "s/'<f4'/'|O4'/" "$digits/digits_images.npy" >"$work/objects.npy"
expect 3 "$nd4c" run "$model" --input "image=$work/objects.npy"
says err 'objects.npy.*is not a dtype of nd4c'
says err "^hint: input 'image' is float32; in NumPy, save\('image.npy', array.astype\('float32'\)\)"
lacks err 'nd4c ops'

# An op that neither nd4c nor a plug-in has: 3. The bytes of a Relu node's type are replaced by another name of the
# same length.
LC_ALL=C sed 's/Relu/Rexu/g' "$model" >"$work/unknown.onnx"
expect 3 "$nd4c" run "$work/unknown.onnx" --random-inputs
says err 'Rexu'
says err '^hint: nd4c ops'
echo "$cases cases"
