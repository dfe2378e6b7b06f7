/* nd4c_random_graphs: random graphs in plans with and without passes. ctest graph.random_graphs runs a few hundred with
 * a fixed seed; by hand it runs as many as one likes:
 *
 *     build/ci/tests/bin/nd4c_random_graphs --graphs 10000 --seed 1 --thorough
 *
 * A failure prints one line that repeats it, and the smallest graph that was found to fail in the same way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "random_graphs.h"

typedef struct options {
  rg_trial_options trial;
  uint64_t seed;
  int64_t graphs, failures, seconds;
  const char *cases;
  bool print, whole, verbose, all_passes;
} options;

enum { MANY = 2000 }; /* graphs among which every pass finds something */

static const char usage[] =
    "nd4c_random_graphs [--graphs N] [--seed N] [--passes LIST [--precision DTYPE [--calibrated]] | --thorough]\n"
    "                   [--all-passes] [--failures N] [--seconds N] [--cases FILE] [--print] [--whole] [--verbose]\n"
    "  --graphs N     how many graphs (200); graph i has the seed N + i of --seed (1)\n"
    "  --passes LIST  only plans with these passes, as nd4c_plan_options.passes takes them\n"
    "  --precision D  with that precision: bfloat16 or int8\n"
    "  --calibrated   int8 with a calibration\n"
    "  --thorough     each pass alone and four subsets for each graph, not one of each\n"
    "  --all-passes   fails if a pass rewrote nothing in all these graphs; always from 2000 thorough ones on\n"
    "  --failures N   ends after so many failures (10)\n"
    "  --seconds N    begins no graph after so many seconds\n"
    "  --cases FILE   the cases of `nd4c selftest` (tools/cli/selftest.txt)\n"
    "  --print        prints each graph\n"
    "  --whole        prints a graph that fails as it was made, not made smaller\n"
    "  --verbose      prints the numbers of rewrites by pass\n";

static bool read_number(const char *text, int64_t *number) {
  char *end = NULL;
  *number = text == NULL ? 0 : strtoll(text, &end, 10);
  return text != NULL && end != text && *end == '\0' && *number >= 0;
}

static bool read_options(int argc, char **argv, options *o) {
  for (int i = 1; i < argc; i++) {
    int64_t number = 0;
    const char *next = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(argv[i], "--graphs") == 0 && read_number(next, &o->graphs)) {
      i++;
    } else if (strcmp(argv[i], "--failures") == 0 && read_number(next, &o->failures)) {
      i++;
    } else if (strcmp(argv[i], "--seconds") == 0 && read_number(next, &o->seconds)) {
      i++;
    } else if (strcmp(argv[i], "--seed") == 0 && read_number(next, &number)) {
      o->seed = (uint64_t)number;
      i++;
    } else if (strcmp(argv[i], "--passes") == 0 && next != NULL) {
      o->trial.passes = argv[++i];
    } else if (strcmp(argv[i], "--precision") == 0 && next != NULL &&
               nd4c_dtype_find(next, &o->trial.precision.dtype) == ND4C_OK) {
      i++;
    } else if (strcmp(argv[i], "--cases") == 0 && next != NULL) {
      o->cases = argv[++i];
    } else if (strcmp(argv[i], "--calibrated") == 0) {
      o->trial.precision.calibrated = true;
    } else if (strcmp(argv[i], "--thorough") == 0) {
      o->trial.thorough = true;
    } else if (strcmp(argv[i], "--all-passes") == 0) {
      o->all_passes = true;
    } else if (strcmp(argv[i], "--print") == 0) {
      o->print = true;
    } else if (strcmp(argv[i], "--whole") == 0) {
      o->whole = true;
    } else if (strcmp(argv[i], "--verbose") == 0) {
      o->verbose = true;
    } else {
      return false;
    }
  }
  const bool asked = o->trial.precision.dtype != ND4C_DTYPE_NONE;
  o->all_passes = o->all_passes || (o->trial.thorough && o->graphs >= MANY);
  return !(asked && o->trial.passes == NULL) &&
         !(o->trial.precision.calibrated && o->trial.precision.dtype != ND4C_INT8) &&
         !(o->all_passes && o->trial.passes != NULL);
}

static void report(const options *o, const rg_sketch *sketch, rg_failure *failure) {
  rg_sketch *smallest = o->whole ? rg_sketch_copy(sketch) : rg_shrink(sketch, failure);
  const bool precise = failure->precision.dtype == ND4C_DTYPE_NONE;
  (void)printf(
      "nd4c_random_graphs --graphs 1 --seed %llu --passes '%s'%s%s%s # %s%s\n", (unsigned long long)sketch->seed,
      failure->passes, precise ? "" : " --precision ", precise ? "" : nd4c_dtype_name(failure->precision.dtype),
      failure->precision.calibrated ? " --calibrated" : "", failure->plain ? "without passes: " : "", failure->what);
  rg_print(smallest);
  (void)fflush(stdout);
  rg_sketch_free(smallest);
}

int main(int argc, char **argv) {
  options o = {.seed = 1, .graphs = 200, .failures = 10, .cases = ND4C_TEST_SOURCE_DIR "/tools/cli/selftest.txt"};
  if (!read_options(argc, argv, &o)) {
    (void)fprintf(stderr, "%s", usage);
    return 2;
  }
  if (!rg_cases_load(o.cases)) {
    return 2;
  }
  int64_t failed = 0, runs = 0, nodes = 0, done = 0, with_dims = 0, with_bodies = 0, with_variables = 0;
  rg_sketch *sketch = rg_need(sizeof *sketch);
  const time_t begin = time(NULL);
  for (; done < o.graphs && failed < o.failures && (o.seconds == 0 || time(NULL) - begin < o.seconds); done++) {
    rg_failure failure;
    rg_generate(sketch, o.seed + (uint64_t)done);
    nodes += rg_count_nodes(sketch);
    with_dims += sketch->dims.count > 0;
    with_bodies += sketch->body_count > 0;
    with_variables += sketch->variable >= 0;
    if (o.print) {
      (void)printf("seed %llu\n", (unsigned long long)sketch->seed);
      rg_print(sketch);
    }
    if (!rg_trial(sketch, &o.trial, &runs, &failure)) {
      report(&o, sketch, &failure);
      failed++;
    }
    rg_sketch_clear(sketch);
  }
  free(sketch);
  rg_cases_free();
  if (o.verbose) {
    rg_trial_print_changes();
  }
  (void)printf(
      "%lld graphs, %lld of them with dims, %lld with bodies, %lld with a variable, %lld calibrated, %lld not "
      "for NaN, %lld nodes, %lld runs\n",
      (long long)done, (long long)with_dims, (long long)with_bodies, (long long)with_variables,
      (long long)rg_trial_calibrated(), (long long)rg_trial_uncalibrated(), (long long)nodes, (long long)runs);
  (void)printf("%lld passed, %lld failed\n", (long long)(done - failed), (long long)failed);
  const int32_t idle = o.all_passes && done == o.graphs ? rg_trial_print_idle() : 0;
  return failed > 0 || done == 0 || idle > 0 ? 1 : 0;
}
