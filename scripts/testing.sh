# Functions that count tests and choose the sample of the long ones. To be sourced after lib.sh.
# shellcheck shell=bash
# shellcheck disable=SC2034

passed=0
failed=0
failures=()
complete=
finish() {
  trap - EXIT
  if [ -z "$complete" ]; then # setup or a build failed: what comes after it was not run
    failed=$((failed + 1))
    failures+=("stopped early; the last step shown failed")
  fi
  for failure in "${failures[@]}"; do
    say "FAILED: $failure"
  done
  say "Total time $(elapsed $((SECONDS - started)))"
  say "$passed passed, $failed failed"
  [ "$failed" -eq 0 ]
  exit $?
}
trap finish EXIT

# library_of TEST: prints the library that the test of a vendor's engine needs, if that library is installed.
library_of() {
  local name=
  case $1 in
    conformance.cpu.openblas) name=libopenblas.so.0 ;;
    conformance.cpu.fftw) name=libfftw3.so.3 ;;
    conformance.cpu.onednn) name=libdnnl.so.3 ;;
    *) return 0 ;;
  esac
  if [ -e "$cache/onednn/$name" ] || has_library "$name"; then
    say "$name"
  fi
}

# count_skipped NAME: names the skipped tests. An engine's test skips itself if the engine computes nothing, which is a
# failure if the engine's library is installed.
count_skipped() {
  local log=$logs/$1.log test library
  while IFS= read -r test; do
    library=$(library_of "$test")
    if [ -n "$library" ] && [ "$1" != aarch64-test ]; then
      passed=$((passed - 1))
      failed=$((failed + 1))
      failures+=("$1: $test was skipped, though $library is installed: its engine computes nothing")
    else
      say "    skipped: $test"
    fi
  done < <(sed -nE 's/^[[:space:]]+[0-9]+ - (.*) \(Skipped\)$/\1/p' "$log")
}

# name_long NAME: names the tests that took more than 30 seconds and that ctest does not begin early, because tests/costs.txt
# has no row of them. On a busy machine some are not to blame, so that this is no failure.
name_long() {
  local log=$logs/$1.log prefix= test seconds
  [ "$1" != aarch64-test ] || prefix='arm64 '
  while read -r test seconds; do
    grep -qE "^$prefix[0-9]+ ${test//./\\.}$" tests/costs.txt || say "    no row in tests/costs.txt: $test ($seconds s)"
  done < <(sed -nE 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: ([a-z0-9_.]+) \.\.+ .* ([0-9]+)\.[0-9]+ sec$/\1 \2/p' "$log" | awk '$2 >= 30')
}

# count NAME: adds the ctest run logged in build/logs/NAME.log.
count() {
  local log=$logs/$1.log bad total line
  line=$(grep -E 'tests passed, [0-9]+ tests failed out of [0-9]+' "$log" | tail -n 1 || true)
  if [ -z "$line" ]; then
    failed=$((failed + 1))
    failures+=("$1: ctest ran no test")
    return 0
  fi
  bad=$(sed -E 's/.*passed, ([0-9]+) tests failed.*/\1/' <<<"$line")
  total=$(sed -E 's/.*out of ([0-9]+).*/\1/' <<<"$line")
  say "    $((total - bad)) of $total passed"
  passed=$((passed + total - bad))
  failed=$((failed + bad))
  while IFS= read -r line; do
    failures+=("$1: $line")
  done < <(sed -n '/The following tests FAILED/,$p' "$log" | sed -nE 's/^[[:space:]]+[0-9]+ - (.*)/\1/p')
  count_skipped "$1"
  name_long "$1"
}

# tests PRESET TEXT [CTEST OPTIONS...]: one test more at a time than there are processors, because some of them wait.
tests() {
  local preset=$1 text=$2
  shift 2
  step "$preset-test" "Testing: $text" ctest --preset "$preset" --parallel "$(($(nproc) + 1))" --output-on-failure "$@" || true
  count "$preset-test"
}

# check NAME TEXT COMMAND...: a step that counts as one test.
check() {
  if step "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    failures+=("$2")
  fi
}

# Steps that compute on one processor run side by side: `beside` starts one, once a processor is free, and `settle` waits
# for all of them, shows what each printed, and counts each.
beside_logs=()
beside_texts=()

# beside LOG TEXT COMMAND...: as `step`, but returns at once.
beside() {
  [ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n || true # the status is in the file
  printf '==> %s (beside others)\n' "$2"
  rm -f "$logs/$1.passed"
  { step "$@" >"$logs/$1.step" && touch "$logs/$1.passed"; } &
  beside_logs+=("$1")
  beside_texts+=("$2")
}

# settle COUNT: calls COUNT LOG TEXT for each step that `beside` has started.
settle() {
  local at log
  wait
  for at in "${!beside_logs[@]}"; do
    log=${beside_logs[at]}
    grep -vE '^    [0-9]+:[0-9]+  ' "$logs/$log.step" || true # without the progress
    "$1" "$log" "${beside_texts[at]}"
    rm -f "$logs/$log.step" "$logs/$log.passed"
  done
  beside_logs=()
  beside_texts=()
}

# count_check LOG TEXT: the step counts as one test.
count_check() {
  if [ -e "$logs/$1.passed" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    failures+=("$2")
  fi
}

# count_pytest LOG TEXT: the step counts as the tests that pytest counts.
count_pytest() {
  local log=$logs/$1.log line good bad
  line=$(grep -E '^[0-9]+ (passed|failed|error).* in [0-9.]+s' "$log" | tail -n 1 || true)
  good=$(sed -nE 's/(.*, )?([0-9]+) passed.*/\2/p' <<<"$line")
  bad=$(($(sed -nE 's/(.*, )?([0-9]+) failed.*/\2/p' <<<"$line") + $(sed -nE 's/(.*, )?([0-9]+) errors?.*/\2/p' <<<"$line") + 0))
  say "    ${line:-pytest ran no test}"
  if [ $((good + bad)) -eq 0 ]; then
    bad=1
    failures+=("$1: pytest ran no test")
  fi
  passed=$((passed + good))
  failed=$((failed + bad))
  while IFS= read -r line; do
    failures+=("$1: $line")
  done < <(sed -nE 's/^(FAILED|ERROR) (.*)/\2/p' "$log")
}

# script_tests NAME COMMAND...: runs a script that ends with "N passed, N failed", shows what it prints, adds its
# numbers.
script_tests() {
  local log=$logs/$1.log name=$1 line status=0 bad
  shift
  { "$@" 2>&1 || status=$?; echo "exit code $status" >"$log.status"; } | tee "$log" | sed -E 's/^([0-9]+ passed, [0-9]+ failed)$/    \1/'
  status=$(sed -n 's/^exit code //p' "$log.status")
  rm -f "$log.status"
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1 || true)
  bad=$(sed -E 's/.*, ([0-9]+) failed/\1/' <<<"${line:-0 passed, 0 failed}")
  if [ -z "$line" ] || { [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; }; then
    failed=$((failed + 1))
    failures+=("$name: exit code $status without a failed test")
  fi
  passed=$((passed + $(sed -E 's/ passed.*//' <<<"${line:-0 passed, 0 failed}")))
  failed=$((failed + bad))
  while IFS= read -r line; do
    failures+=("$line")
  done < <(sed -n 's/^FAILED: //p' "$log")
}

# sample_of_commit: a number from 0 to 59, from the hash of the commit that is checked out. Prints 0 outside a git
# checkout.
sample_of_commit() {
  local hash
  hash=$(git rev-parse HEAD 2>/dev/null || echo 0)
  echo $((16#${hash:0:8} % 60))
}

# check_sample VALUE: fails unless it is a number from 0 to 59, or "all".
check_sample() {
  [ "$1" = all ] || { [[ $1 =~ ^[0-9]+$ ]] && [ "$1" -lt 60 ]; } ||
    fail "--sample '$1': expected a number from 0 to 59, or all"
}

# sample_option SAMPLE: the option for CMake.
sample_option() {
  if [ "$1" = all ]; then echo -DND4C_TEST_SAMPLE=; else echo "-DND4C_TEST_SAMPLE=$1"; fi
}
