#!/usr/bin/env bash
# nd4c plugin-check: sound plug-ins pass, each kind of fault is found, a crash and a hang are failures of one section.
# Usage: check_plugin.sh ND4C_PROGRAM JSON_GET_PROGRAM SOURCE_DIR STUB CONTRIBUTOR CHAINS NO_ENTRY UNRESOLVED
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/cli_lib.sh"
stub=$4 contributor=$5 chains=$6 no_entry=$7 unresolved=$8

# An asynchronous device with kernels, one with a compiler alone, kernels for cpu:0, compilers for cpu:0.
expect 0 "$nd4c" plugin-check "$stub"
for section in entry probe properties buffers copies refused fences times recordings kernels loads open memory external streams peers own ops layouts values outputs refusals plans segments kept capture threads faults leaks exit; do
  says out "^$section: "
done
says out '^  stub:1: stub device 1, other, asynchronous$'
says out '^  stub:1 tells how long it works$'
says out '^  contiguous operands: [5-9][0-9]{2} computed, [0-9]+ declined'
says out '^  [1-9][0-9]+ allocations of the plug-in.s were refused$'
says out 'every statement holds$'
lacks out FAILED
sections=$(sed -nE 's/^([a-z]+): .*/\1/p' "$work/out" | tr '\n' ' ')
expect 0 "$nd4c" plugin-check --help
for section in $sections; do
  says out "^  $section: "
done
expect 0 env STUB_MODE=compiler "$nd4c" plugin-check --section plans "$stub"
says out '^  [1-9][0-9]+ plans ran, [1-9][0-9]+ of them with compiled segments'
expect 0 env STUB_MODE=compiler SD_KERNEL_DISABLE_ENGINES=stub_compiler "$nd4c" plugin-check --section plans "$stub"
says out '^  its compilers were not checked: SD_KERNEL_DISABLE_ENGINES is stub_compiler$'
expect 0 "$nd4c" plugin-check --section plans --ops matmul "$stub"
says out '^  [1-9][0-9]+ plans ran, 0 of them with compiled segments, [1-9][0-9]* with packed constants'
expect 0 env STUB_MODE=compiler STUB_RETURN=1 "$nd4c" plugin-check --section plans --ops add,matmul "$stub"
expect 1 env STUB_MODE=compiler STUB_RETURN=1 STUB_FAIL=return_bytes:9 "$nd4c" plugin-check --section plans --ops add "$stub"
says out 'execute of stub_compiler returned .* bytes for output 0'
expect 0 env STUB_MODE=both "$nd4c" plugin-check --section kept "$stub"
says out '^  [1-9][0-9]+ executables were written, [1-9][0-9]+ times one was loaded$'
says out '^  [1-9][0-9]+ allocations were refused while executables were loaded$'
expect 1 env STUB_MODE=both STUB_FAIL=load:9 "$nd4c" plugin-check --section kept "$stub"
says out 'could not be kept, or not be loaded: .* compiled anew: stub: load was told to fail'
expect 1 env STUB_MODE=both STUB_FAIL=serialise:0 "$nd4c" plugin-check --section kept --ops add "$stub"
says out 'could not be kept, or not be loaded: .*: an executable is not kept: stub: serialise was told to fail'
expect 0 env STUB_CAPTURE=all "$nd4c" plugin-check --section capture "$stub"
says out '^  stub:1: mode: capture '
expect 0 env STUB_MODE=both STUB_CAPTURE=all "$nd4c" plugin-check --section capture "$stub"
says out '^  stub:0: not capture: step 0 is compiled$'
says out '^  stub:0 without stub_compiler:$'
says out '^  stub:0: mode: capture '
expect 1 env STUB_CAPTURE=all STUB_FAIL=instantiate:1 "$nd4c" plugin-check --section capture "$stub"
says out '^  FAILED: stub:0: recording failed, .*: stub: instantiate was told to fail$'
expect 0 "$nd4c" plugin-check --section capture "$stub"
says out '^  stub:0: not capture: stub:0 does not record work$'
expect 0 env STUB_MEMORY=address "$nd4c" plugin-check --section external "$stub"
expect 1 env STUB_LIE=copied_import "$nd4c" plugin-check --section external "$stub"
says out "^  FAILED: the host's memory does not show what was written on stub:0$"
expect 1 env STUB_FAIL=import_memory:1,host_register:1 "$nd4c" plugin-check --section external "$stub"
says out "^  FAILED: the host's memory on stub:0.*: stub: import_memory was told to fail$"
says out '^  FAILED: registering memory for stub:0.*: stub: host_register was told to fail$'
expect 0 env STUB_LIE=old_device "$nd4c" plugin-check --section external "$stub"
says out '^  not checked: stub:0 imports no memory of others and registers none of the host.s$'
expect 0 "$nd4c" plugin-check "$contributor"
says out '^  contiguous operands: [1-9][0-9]* computed'
says out '^  not checked: it brings no devices of its own$'
says out '^not checked, or in part: open, buffers, .*; each section says why$'
expect 0 "$nd4c" plugin-check --section plans --ops 'a*' "$chains"
says out '^  [1-9][0-9]+ plans ran, [1-9][0-9]+ of them with compiled segments'

# The section that looks for a fault reports it. finds LIE SECTION TEXT
finds() {
  expect 1 env CONTRIBUTOR_LIE="$1" "$nd4c" plugin-check --section "$2" --seconds 3 "$contributor"
  says out "^  FAILED: .*$3"
  says out 'FAILED$'
}
finds op entry "a kernel is for op 'no_such_op', which this library does not have"
finds version entry 'the kernel of add is for version 99'
finds engine entry "the kernel of add names engine 'another', which the contribution does not list"
finds run entry 'the kernel of add has no run'
finds unpacked entry 'the kernel of add has one of wants_layout and pack: both are needed'
finds unpacked open 'wants_layout and pack are needed together'
finds wrong ops 'add of float32 on cpu:0 .engine contributor., contiguous: '
finds wrong plans 'in a plan: '
finds wrong threads '4 threads at once: '
finds beyond outputs 'something beside output 0 was written'
finds crash ops 'the process was ended by signal 11 .*, while at: add of float32 on cpu:0'
finds hang ops 'the process did not end within 3 s .--seconds gives it more., while at: add of float32'
# A plug-in that hangs takes the time of one section, and a little of two others.
expect 1 env CONTRIBUTOR_LIE=hang "$nd4c" plugin-check --seconds 3 --ops add "$contributor"
says out '^since this section did not end, each other one has 2 s$'
says out '^the other sections were not run: three did not end$'
finds refuses ops 'contributor.add'
finds unchecked faults 'ended by signal 11 .*, with allocation [0-9]+ refused'
finds leaks leaks 'blocks that the plug-in took from the host in 64 calls'
finds holds leaks 'blocks that the plug-in took from the host in 64 calls'
finds senseless leaks 'requests for a device.s memory make no sense, the first one: .*no open device at that pointer'
finds unheld faults 'ended by signal 6 .*, with allocation [0-9]+ refused'
finds open open 'it cannot be used: .*its library is not here'
finds elsewhere open 'none of the devices that it computes for is here'

lie() {
  expect 1 env STUB_LIE="$1" "$nd4c" plugin-check --section "$2" "$stub"
  says out "^  FAILED: .*$3"
}
lie peer peers 'stub:1 asked for stub:0: peer of stub:1 to stub:0 gave kind 77'
expect 0 env STUB_PEERS=none "$nd4c" plugin-check --section peers "$stub"
says out '^  stub:0 to stub:1: none$'
expect 1 env STUB_FAIL=timing_read:3 "$nd4c" plugin-check --section streams "$stub"
says out '^  FAILED: stub:0 tells the times of [0-9]+ executions and not of 1 others$'
lie property entry 'property nd4c.stub.delay has type 4711'
lie property_name entry 'property 0: its name does not begin with nd4c'
lie property_count entry 'property_count is 65, and properties is not'
lie property properties 'loading it: .*nd4c.stub.delay has type 4711, which nd4c does not know'
expect 0 "$nd4c" plugin-check --section properties "$stub"
says out '^  1 properties of its own$'
# A name with a loaded provider's prefix does not wait for a provider.
expect 2 env ND4C_BACKEND_PLUGINS="$stub" "$nd4c" config nd4c.stub.speedy=3
says err 'there is no property "nd4c.stub.speedy"; the nearest is "nd4c.stub.delay"'
expect 2 env ND4C_BACKEND_PLUGINS="$stub" "$nd4c" run -D nd4c.stub.speedy=3 no_model
says err 'the nearest is "nd4c.stub.delay"'
expect 0 env ND4C_BACKEND_PLUGINS="$stub" "$nd4c" config nd4c.stub.delay=3
expect 0 env ND4C_BACKEND_PLUGINS="$stub" "$nd4c" config nd4c.other.speedy=3
says out 'no provider that was loaded declares it'
lie major entry 'it was built for ABI'
lie short_struct entry 'nd4c_provider has [0-9]+ bytes, expected'
lie tiny_struct entry 'struct_size of nd4c_provider is'
finds version open 'the library left out: '
lie odd_name entry 'its name is not'
lie null_provider entry 'gave no provider'
lie type entry 'device type'
lie verdict probe 'which is not a verdict'
lie engines entry 'a count without a table'
lie memory_bytes open 'memory'
expect 1 env STUB_LIE=layout "$nd4c" plugin-check --section plans --ops matmul "$stub"
says out '^  FAILED: .*: wants_layout of input 1: no layout: bytes is'
lie hasty streams 'a chain of .* on two devices of stub gave'
expect 1 env STUB_FAIL=in_flight:40 "$nd4c" plugin-check --section ops "$stub"
says out '^  FAILED: .* of .* on stub:0, contiguous: '

# Files that are not plug-ins.
expect 1 "$nd4c" plugin-check "$no_entry"
says out 'it does not export nd4c_plugin_entry'
says out '^the other sections need a sound entry'
expect 1 "$nd4c" plugin-check "$unresolved"
says out 'the loader refuses it: '
expect 1 "$nd4c" plugin-check "$work/nothing.so"
says err 'there is no file'
expect 2 "$nd4c" plugin-check
says err 'expected one FILE.so'
expect 2 "$nd4c" plugin-check --section nosuch "$stub"
says err "there is no section 'nosuch'"
expect 2 "$nd4c" plugin-check --seconds -1 "$stub"
says err 'expected a number above 0'
expect 0 "$nd4c" plugin-check --help
says out 'usage: nd4c plugin-check'
echo "$cases cases"
