#!/usr/bin/env bash
# `nd4c compile` for an absent stub, and `nd4c run --compiled` on a present one.
# shellcheck source-path=SCRIPTDIR/..
. "$(dirname "$0")/../cli_lib.sh"
export ND4C_BACKEND_PLUGINS=$4 STUB_MODE=both
model=$source/tests/data/onnx/elementwise_13.onnx
there=(env STUB_VERDICT=compile-only)
here=(-D BACKEND_TYPE=stub --random-inputs --seed 3)

expect 0 "${there[@]}" "$nd4c" info --probe
says out 'compile-only no stub is plugged in'
lacks out 'stub:0'
expect 0 "${there[@]}" "$nd4c" compile "$model" --target stub:0 -o "$work/made.nd4cexe"
says out '^compiled for stub:0: 1 pieces with 45 of 45 nodes, [0-9]+ bytes$'
says out '^  stub_compiler: '
expect 1 "${there[@]}" "$nd4c" run "$model" "${here[@]}"
says err 'can only compile ahead of time: no stub is plugged in'

expect 0 "$nd4c" run "$model" "${here[@]}" -o "$work/plain"
expect 0 "$nd4c" run "$model" "${here[@]}" -o "$work/loaded" --compiled "$work/made.nd4cexe" --report
says out 'requested but not applied: nothing'
diff -r "$work/plain" "$work/loaded"
expect 0 "$nd4c" run "$model" "${here[@]}" --compiled "$work/made.nd4cexe" --math fast --report
says out 'compiled now: .*made.nd4cexe has no executable for it'
expect 1 "$nd4c" run "$model" "${here[@]}" --compiled "$work/made.nd4cexe" --math fast -D nd4c.strict=true
says err 'has no executable for a segment of 45 nodes'
expect 1 env STUB_GENERATION=2 "$nd4c" run "$model" "${here[@]}" --compiled "$work/made.nd4cexe"
says err "compiled for 'stub_compiler 2.0, generation 1', and here it would have to be for 'stub_compiler 2.0, generation 2'"
head -c 1000 "$work/made.nd4cexe" >"$work/cut.nd4cexe"
expect 1 "$nd4c" run "$model" "${here[@]}" --compiled "$work/cut.nd4cexe"
says err 'a file of executables, byte 16: expected the size of the file'

expect 0 "$nd4c" run "$model" "${here[@]}" --report -D SD_KERNEL_DISABLE_ENGINES=stub_compiler
says out 'segments: none \(disabled: stub_compiler\); all steps run slot by slot'
# A device named for all nodes is the plan's own.
expect 0 "$nd4c" run "$model" --random-inputs --seed 3 --devices stub:0 -o "$work/placed" --compiled "$work/made.nd4cexe" --report
says out 'plan on stub:0'
says out 'requested but not applied: nothing'
diff -r "$work/plain" "$work/placed"

expect 0 "$nd4c" run "$model" --random-inputs --compiled "$work/made.nd4cexe" --report
says out 'executables of .*made.nd4cexe: no compiler takes part in the plan'

# For a present device, with options.
expect 0 "$nd4c" compile "$model" --target stub:1 -o "$work/fast.nd4cexe" --math fast --compile-option LEVEL=3
expect 0 "$nd4c" run "$model" "${here[@]}" --compiled "$work/fast.nd4cexe" --math fast --compile-option LEVEL=3 --report
says out 'requested but not applied: nothing'

expect 3 "$nd4c" compile "$model" --target cpu:0 -o "$work/none.nd4cexe"
says err 'no compiler of cpu:0 takes any of 45 nodes'
lacks err 'nd4c ops'
expect 1 "$nd4c" compile "$model" --target stab:0 -o "$work/none.nd4cexe"
says err "device 'stab:0': there is no backend of that name"
expect 1 "$nd4c" compile "$model" --target stub:0 -o /nonexistent/none.nd4cexe
expect 2 "$nd4c" compile "$model" -o "$work/none.nd4cexe"
says err '[-][-]target was expected'
expect 2 "$nd4c" compile "$model" --target stub:0
says err '[-][-]output was expected'
expect 2 "$nd4c" compile --target stub:0 -o "$work/none.nd4cexe"
says err 'one model was expected'
expect 2 "$nd4c" compile "$model" --target stub:0 -o "$work/none.nd4cexe" --shape x=a
says err '\-\-shape x=a: extents separated by commas were expected'
expect 2 "$nd4c" compile "$model" --target stub:0 -o "$work/none.nd4cexe" --shape nope=2
says err "nd4c compile: --shape nope=2: the model has no such input, only 'x'"
expect 2 "$nd4c" compile "$model" --target stub:0 -o "$work/none.nd4cexe" --dim breadth=2
says err '\-\-dim breadth=2: the model.s inputs'
[ ! -e "$work/none.nd4cexe" ]
