#!/usr/bin/env bash
# nd4c plugin-check: lies of a device's tables about its memory and about the end of work, a plug-in's ops, unusual
# values. The section that looks for a lie must find it.
# Usage: check_plugin_lies.sh ND4C_PROGRAM JSON_GET_PROGRAM SOURCE_DIR STUB CONTRIBUTOR ACME
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_lib.sh"
stub=$4 contributor=$5 acme=$6

lie() {
  expect 1 env STUB_LIE="$1" "$nd4c" plugin-check --section "$2" "$stub"
  says out "^  FAILED: .*$3"
}
# Each piece of work takes a while, so that this process is ahead of the device even on a busy machine.
slow_lie() {
  expect 1 env STUB_LIE="$1" STUB_DELAY_US=2000 "$nd4c" plugin-check --section fences "$stub"
  says out "^  FAILED: .*$2"
}
# Lies of its tables about memory and the end of work, while work is under way.
lie junk_buffer buffers 'stub:0: allocate gave the handle 0x3039 for two buffers that live at once$'
lie keeps buffers 'stub:0: free frees nothing: [0-9]+ buffers of [0-9]+ bytes ended, and [0-9]+ bytes less are free$'
lie silent buffers 'stub:0: allocate of more than there is failed with MEMORY .500. and without a text$'
lie adrift copies 'stub:0: copy_from_host of 13 bytes to offset 1001: byte 0 of 4099 is 255, expected 1$'
lie offset_out copies 'stub:0: copy_to_host of 301 bytes from offset 517 gives other bytes$'
lie within_to copies 'stub:0: copy_within of 77 bytes from offset 1000 to offset 33: byte 0 of 4099 is '
lie within_from copies 'stub:0: copy_within of 77 bytes from offset 1000 to offset 33: byte 33 of 4099 is '
lie between_to copies 'stub:1: copy_between of 51 bytes from offset 1003 to offset 40: byte 0 of 4099 is '
lie between_from copies 'stub:1: copy_between of 51 bytes from offset 1003 to offset 40: byte 40 of 4099 is '
lie offset_fill copies 'stub:0: fill of 24 bytes at offset 100 and of 5 at offset 2001: byte 0 of 4099 is '
expect 0 env STUB_PEERS=none "$nd4c" plugin-check --section copies "$stub"
lie unmanaged buffers 'stub:0: managed memory: what the host wrote at its address: byte 0 is '
says out '^  FAILED: stub:0: host-mapped memory: what a copy wrote, at its address: byte 0 is '
lie silent refused 'stub:0: stream_create failed with MEMORY .500. and without a text$'
lie dropped refused 'stub:0, with allocation [0-9]+ refused: every call .* bytes are missing: a failure was dropped$'
lie scratch kernels 'negative of float32 on stub:0: stub.plain wrote beyond the 64 bytes of the device.s scratch'
lie selfish kernels 'stub:0: give_way gives nothing of [0-9]+ pieces while nothing is computed'
expect 0 env STUB_LIE=holds "$nd4c" plugin-check --section kernels "$stub"
says out '^  stub:0: [1-9][0-9]* calls computed, '
expect 0 env STUB_MODE=both "$nd4c" plugin-check --section loads "$stub"
says out '^  stub:0: [1-9][0-9]* executables were written; of their bytes, changed, [1-9][0-9]* were refused, '
expect 1 env STUB_MODE=both STUB_LIE=loads_junk "$nd4c" plugin-check --section loads "$stub"
says out '^  FAILED: .*: load of bytes '
expect 0 env STUB_MODE=both STUB_RETURN=1 "$nd4c" plugin-check --section loads "$stub"
slow_lie ready 'stub:[01]: fence_query says that the work has ended while it is under way$'
slow_lie early 'stub:[01]: fence_wait returns before the work has ended$'
slow_lie no_wait 'stub:[01]: stream_wait_fence does not wait: '
slow_lie hasty 'stub:[01]: stream_wait_other does not wait: '
slow_lie drops 'stub:[01]: stream_destroy returned, and work that was enqueued before has not been done$'
lie times times 'stub:0: times: work ended 1 ns before it began$'
lie slow_times times 'stub:0: times: work took 36[0-9]{2}[.][0-9]+ s, while [0-9.]+ s passed on the host$'
expect 1 env STUB_LIE=abandon STUB_CAPTURE=all "$nd4c" plugin-check --section recordings "$stub"
says out '^  FAILED: stub:0: after abandon, which ends a recording and throws it away: '
expect 1 env STUB_LIE=within_to STUB_CAPTURE=all "$nd4c" plugin-check --section recordings "$stub"
says out '^  FAILED: stub:0: after a launch: byte 0 is 77, expected 11$'
expect 1 env STUB_LIE=lost_callback STUB_CAPTURE=all "$nd4c" plugin-check --section recordings "$stub"
says out '^  FAILED: stub:0: enqueued once: host_callback.s function ran 0 times, expected 1$'
expect 0 env STUB_CAPTURE=all "$nd4c" plugin-check --section recordings "$stub"
lacks out 'does not record work'
for option in STUB_MEMORY=whole STUB_MEMORY=address STUB_POINTS=none STUB_LIE=old_device; do
  for section in buffers refused times kernels; do
    expect 0 env "$option" "$nd4c" plugin-check --section "$section" "$stub"
  done
done

# Refusals of nd4c are reported before the sections that use the tables.
refused_lie() {
  expect 1 env STUB_LIE="$1" "$nd4c" plugin-check "$stub"
  says out "^  FAILED: .*$2"
  says out '^the other sections need a plug-in that nd4c opens with all its devices, and were not run$'
  lacks out '^buffers: '
  lacks out 'signal'
}
refused_lie zero_buffers 'struct_size of its buffers is 0, which is too short'
refused_lie no_address 'needs its buffers. address'
refused_lie no_fences 'an asynchronous device needs all stream and fence functions'

# Its compilers.
expect 0 env STUB_MODE=both "$nd4c" plugin-check --section segments --ops 'add,matmul,exp' "$stub"
says out '^  [1-9][0-9]* compiled plans in other layouts, [1-9][0-9]* with NaN, [1-9][0-9]* of more than 100000 elements, [1-9][0-9]* without'
compiler_lie() {
  expect 1 env STUB_LIE="$1" STUB_MODE=both "$nd4c" plugin-check --section "$2" --ops add "$stub"
  says out "^  FAILED: .*$3"
}
compiler_lie segment_offset segments 'add of float32 on stub:0, in a plan .*, behind an offset: element '
compiler_lie segment_empty segments 'add of float32 on stub:0, in a plan .*, no elements, contiguous: .* without elements'
compiler_lie not_convex plans 'in a plan before three ops: the answer of stub_compiler is refused: piece 0 of 2 nodes is not convex'
compiler_lie twice plans 'in a plan: the answer of stub_compiler is refused: node 0 was taken twice'

# Values.
contributor_lie() {
  expect 1 env CONTRIBUTOR_LIE="$1" "$nd4c" plugin-check --section "$2" "$contributor"
  says out "^  FAILED: .*$3"
}
contributor_lie nan values 'add of float32 .*, with infinities and NaN: element '
contributor_lie shared threads 'of float32 .*, 4 threads at once: INTERNAL: element '
contributor_lie rounding ops 'add of float32 .*: the kernel changed the rounding mode, or turned denormal numbers off$'
contributor_lie rounds outputs 'add of float32 .*, with an extent of [0-9]+: something beside output 0 was written$'
contributor_lie large values 'add of float32 .*, more than 100000 elements: element '

# The plug-in's ops, and patterns that match no op.
expect 0 "$nd4c" plugin-check "$acme"
says out '^  acme.scaled_add: [1-9][0-9]+ samples$'
says out '^  acme.halves: [1-9][0-9]+ samples$'
expect 0 "$nd4c" plugin-check --section own --ops 'nosuch,acme.halves' "$acme"
lacks out scaled_add
expect 1 "$nd4c" plugin-check --section ops --ops nosuch "$stub"
says out '^  FAILED: nothing was checked: no op that the plug-in offers and that --ops nosuch names has a case$'
says out '^  FAILED: of all that it offers and --ops nosuch names nothing was computed$'
acme_lie() {
  expect 1 env ACME_LIE="$1" "$nd4c" plugin-check --section "$2" "$acme"
  says out "^  FAILED: .*$3"
}
acme_lie 'refuses in silence' own 'acme.scaled_add, .*: refused with SHAPE and without a text'
acme_lie 'leaves the last' own 'acme.scaled_add of .*, into an array that holds 0x..: element '
acme_lie 'computes fast and wrong' ops 'acme.scaled_add of float32 on cpu:0 .engine acme., contiguous: element 0 '
acme_lie 'infers another axis' own 'acme.scaled_add, .*says that result 0 is .3, 4, 0., but the op is elementwise and its inputs broadcast to .3, 4.'
expect 0 env ACME_LIE='infers no elements' "$nd4c" plugin-check --section own --ops acme.halves "$acme"
says out '^  acme.halves: no result of these samples has an element'
for answer in 'rank 99' 'rank -1' 'extent -1' 'dtype 4711' 'status 12345'; do
  acme_lie "infers $answer" own 'acme.scaled_add'
done
echo "$cases cases"
