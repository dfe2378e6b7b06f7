/* `nd4c run --profile`: times of the steps of a model's plan, their shares, and how near they come to the machine's
 * limits. run.c calls it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "watch.h"

typedef struct run_profiled_step {
  int32_t index;
  nd4c_step_info info;
  double *times;  /* by run, then sorted */
  double seconds; /* p50 */
  double limit;   /* share of the machine's limit that it reached; 0: unknown */
} run_profiled_step;

/* -- measuring ------------------------------------------------------------------------------------------------------
 */

static int make_room(nd4c_model *model, int32_t runs, run_profile *profile) {
  if (nd4c_model_step_count(model, &profile->step_count) != ND4C_OK) {
    return cli_fail_status(&cli_run, nd4c_error_code());
  }
  const size_t count = (size_t)profile->step_count;
  profile->runs = runs;
  profile->steps = calloc(count + 1, sizeof *profile->steps);
  profile->without = calloc((size_t)runs, sizeof *profile->without);
  profile->with = calloc((size_t)runs, sizeof *profile->with);
  if (run_bodies_begin(model, runs, &profile->bodies) != ND4C_OK) {
    return cli_fail_status(&cli_run, nd4c_error_code());
  }
  bool made = !profile->bodies.lost && profile->steps != NULL && profile->without != NULL && profile->with != NULL;
  for (size_t i = 0; made && i < count; i++) {
    profile->steps[i].index = (int32_t)i;
    profile->steps[i].times = calloc((size_t)runs, sizeof(double));
    made = profile->steps[i].times != NULL;
  }
  return made ? CLI_OK : cli_fail(&cli_run, "--profile: no memory for %" PRId32 " runs of %zu steps", runs, count);
}

void run_profile_free(run_profile *profile) {
  for (int32_t i = 0; profile->steps != NULL && i < profile->step_count; i++) {
    free(profile->steps[i].times);
  }
  free(profile->steps);
  free(profile->without);
  free(profile->with);
  run_bodies_free(&profile->bodies);
  *profile = (run_profile){0};
}

/* A profile of one run: its times are those of this run alone. */
static nd4c_status note_steps(const nd4c_model *model, run_profile *profile, int32_t run) {
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; status == ND4C_OK && i < profile->step_count; i++) {
    run_profiled_step *step = &profile->steps[i];
    step->info.struct_size = sizeof step->info;
    status = nd4c_model_get_step(model, i, &step->info);
    step->times[run] = 1e-9 * (double)step->info.nanoseconds;
  }
  return status == ND4C_OK ? run_bodies_note(model, &profile->bodies, run) : status;
}

/* One run with a profile or without. */
static nd4c_status measure_run(nd4c_model *model, nd4c_status (*once)(void *user), void *user, bool profiled,
                               double *seconds) {
  nd4c_status status = nd4c_model_profile(model, profiled);
  const double begin = cli_seconds();
  status = status == ND4C_OK ? once(user) : status;
  *seconds = cli_seconds() - begin;
  return status;
}

static int by_time(const void *a, const void *b) {
  const run_profiled_step *left = a, *right = b;
  const int order = (left->seconds < right->seconds) - (left->seconds > right->seconds);
  return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

static void evaluate(run_profile *profile) {
  cli_sort(profile->without, profile->runs);
  cli_sort(profile->with, profile->runs);
  for (int32_t i = 0; i < profile->step_count; i++) {
    run_profiled_step *step = &profile->steps[i];
    cli_sort(step->times, profile->runs);
    step->seconds = cli_percentile(step->times, profile->runs, 50);
    const double least =
        cli_limits_seconds(&profile->limits, step->info.dtype, step->info.operations, step->info.bytes);
    step->limit = step->seconds > 0 ? least / step->seconds : 0;
    profile->seconds += step->seconds;
  }
  run_bodies_evaluate(&profile->bodies, &profile->limits);
  qsort(profile->steps, (size_t)profile->step_count, sizeof *profile->steps, by_time);
}

int run_profile_measure(nd4c_model *model, nd4c_status (*once)(void *user), void *user, int32_t runs,
                        run_profile *profile) {
  if (nd4c_model_profile(model, false) != ND4C_OK) {
    return cli_fail_hint(&cli_run, nd4c_error_code(), "--trace times what runs on devices and in interpreted models");
  }
  int result = make_room(model, runs, profile);
  nd4c_status status = ND4C_OK;
  cli_watch shown;
  cli_watch_begin(&shown);
  for (int32_t run = 0; result == CLI_OK && status == ND4C_OK && run < runs; run++) {
    cli_watch_tell(&shown, "profiling", run, runs);
    for (int32_t turn = 0; status == ND4C_OK && turn < 2; turn++) { /* every second time in the other order */
      const bool profiled = (run + turn) % 2 != 0;
      status = measure_run(model, once, user, profiled, &(profiled ? profile->with : profile->without)[run]);
      status = status == ND4C_OK && profiled ? note_steps(model, profile, run) : status;
    }
  }
  cli_watch_end(&shown);
  if (result == CLI_OK && (status != ND4C_OK || nd4c_model_profile(model, false) != ND4C_OK)) {
    result = cli_fail_status(&cli_run, nd4c_error_code());
  }
  if (result == CLI_OK && !cli_limits_measure((int)nd4c_context_width(nd4c_context_current()), &profile->limits)) {
    result = cli_fail(&cli_run, "--profile: no memory to measure the machine's limits");
  }
  if (result == CLI_OK) {
    evaluate(profile);
  }
  return result;
}

/* -- sums by op -----------------------------------------------------------------------------------------------------
 */

/* Steps of one op together. */
typedef struct op_sum {
  char name[64];
  int32_t steps;
  double seconds, operations, bytes, least;
} op_sum;

static const char *op_of(const nd4c_model *model, const run_profiled_step *step, char *buffer, size_t size) {
  nd4c_node_info node = {.struct_size = sizeof node};
  if (step->info.node_count == 1 && nd4c_model_get_node(model, step->info.first_node, &node) == ND4C_OK) {
    (void)snprintf(buffer, size, "%s", node.op->name);
  } else {
    (void)snprintf(buffer, size, "segment (%s)", step->info.engine);
  }
  return buffer;
}

static int by_seconds(const void *a, const void *b) {
  const op_sum *left = a, *right = b;
  const int order = (left->seconds < right->seconds) - (left->seconds > right->seconds);
  return order != 0 ? order : strcmp(left->name, right->name);
}

/* The slowest first; NULL if memory is exhausted. */
static op_sum *sum_ops(const nd4c_model *model, const run_profile *profile, int32_t *count) {
  op_sum *sums = calloc((size_t)profile->step_count + 1, sizeof *sums);
  *count = 0;
  for (int32_t i = 0; sums != NULL && i < profile->step_count; i++) {
    const run_profiled_step *step = &profile->steps[i];
    char name[sizeof sums->name];
    int32_t at = 0;
    (void)op_of(model, step, name, sizeof name);
    while (at < *count && strcmp(sums[at].name, name) != 0) {
      at++;
    }
    *count = at == *count ? at + 1 : *count;
    memcpy(sums[at].name, name, sizeof name);
    sums[at].steps++;
    sums[at].seconds += step->seconds;
    sums[at].operations += step->info.operations;
    sums[at].bytes += step->info.bytes;
    sums[at].least += step->limit * step->seconds;
  }
  if (sums != NULL) {
    qsort(sums, (size_t)*count, sizeof *sums, by_seconds);
  }
  return sums;
}

/* -- as text --------------------------------------------------------------------------------------------------------
 */

static double share(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

static void print_head(const run_profile *profile) {
  const cli_limits *limits = &profile->limits;
  const double before = profile->without[0], after = profile->with[0];
  const double without = cli_percentile(profile->without, profile->runs, 50);
  const double with = cli_percentile(profile->with, profile->runs, 50);
  (void)printf(
      "profile: %" PRId32 " steps take %.3f ms, %.1f %% of a profiled run; p50 of %" PRId32 " runs, width %d\n",
      profile->step_count, 1e3 * profile->seconds, share(profile->seconds, with), profile->runs, limits->width);
  cli_print_times("  with profile", profile->with, profile->runs);
  cli_print_times("  without", profile->without, profile->runs);
  (void)printf("  profiling costs %+.1f %% of p50, %+.1f %% of min (both kinds of run in turns)\n",
               share(with - without, without), share(after - before, before));
  cli_limits_print(limits, stdout);
}

static void print_numbers(double seconds, double whole, double operations, double bytes, double limit) {
  (void)printf("%11.1f %6.1f %% %6.1f %% %9.2f %9.2f  ", 1e6 * seconds, share(seconds, whole), 100 * limit,
               seconds > 0 ? 1e-9 * operations / seconds : 0, seconds > 0 ? 1e-9 * bytes / seconds : 0);
}

/* "conv 'Conv_2 + Relu_3' [conv + relu]" for each node of the step. */
static void print_nodes(const nd4c_model *model, const nd4c_step_info *info) {
  for (int32_t i = 0; i < info->node_count; i++) {
    nd4c_node_info node = {.struct_size = sizeof node};
    if (nd4c_model_get_node(model, info->first_node + i, &node) == ND4C_OK) {
      (void)printf("%s%s", i == 0 ? "" : ", ", node.op->name);
      run_print_label(cli_node_name(&node));
      (void)printf(node.fused != NULL ? " [%s]" : "%s", node.fused != NULL ? node.fused : "");
    }
  }
}

bool run_profile_print(const nd4c_model *model, const run_profile *profile) {
  int32_t count = 0, hidden = 0;
  op_sum *sums = sum_ops(model, profile, &count);
  if (sums == NULL) {
    return false;
  }
  print_head(profile);
  (void)printf("\n    time us    share   limit   GFLOP/s      GB/s  steps  op\n");
  for (int32_t i = 0; i < count; i++) {
    const op_sum *sum = &sums[i];
    print_numbers(sum->seconds, profile->seconds, sum->operations, sum->bytes,
                  sum->seconds > 0 ? sum->least / sum->seconds : 0);
    (void)printf("%5" PRId32 "  %s\n", sum->steps, sum->name);
  }
  free(sums);
  double rest = 0;
  (void)printf("\n    time us    share   limit   GFLOP/s      GB/s   step  engine, kernel: nodes\n");
  for (int32_t i = 0; i < profile->step_count; i++) {
    const run_profiled_step *step = &profile->steps[i];
    if (step->seconds < 1e-3 * profile->seconds) {
      hidden++;
      rest += step->seconds;
      continue;
    }
    print_numbers(step->seconds, profile->seconds, step->info.operations, step->info.bytes, step->limit);
    (void)printf("%5" PRId32 "  %s, %s: ", step->index, step->info.engine, step->info.kernel);
    print_nodes(model, &step->info);
    (void)printf("\n");
  }
  if (hidden > 0) {
    (void)printf("%11.1f %6.1f %%  the other %" PRId32 ": less than 0.1 %% each (--json lists them)\n", 1e6 * rest,
                 share(rest, profile->seconds), hidden);
  }
  run_bodies_print(&profile->bodies, profile->seconds);
  return true;
}

/* -- as JSON --------------------------------------------------------------------------------------------------------
 */

static void add_numbers(cJSON *object, double seconds, double whole, double operations, double bytes, double limit) {
  (void)cJSON_AddNumberToObject(object, "seconds", seconds);
  (void)cJSON_AddNumberToObject(object, "share", share(seconds, whole) / 100);
  (void)cJSON_AddNumberToObject(object, "operations", operations);
  (void)cJSON_AddNumberToObject(object, "bytes", bytes);
  (void)cJSON_AddNumberToObject(object, "gflops", seconds > 0 ? 1e-9 * operations / seconds : 0);
  (void)cJSON_AddNumberToObject(object, "gbps", seconds > 0 ? 1e-9 * bytes / seconds : 0);
  (void)cJSON_AddNumberToObject(object, "limit", limit);
}

static cJSON *add_item(cJSON *list) {
  cJSON *item = cJSON_CreateObject();
  return cJSON_AddItemToArray(list, item) != 0 ? item : NULL;
}

static void add_step(const nd4c_model *model, const run_profile *profile, const run_profiled_step *step, cJSON *list) {
  nd4c_device_info place = {.struct_size = sizeof place};
  cJSON *item = add_item(list);
  (void)cJSON_AddNumberToObject(item, "step", step->index);
  (void)cJSON_AddStringToObject(item, "engine", step->info.engine);
  (void)cJSON_AddStringToObject(item, "kernel", step->info.kernel);
  if (nd4c_device_get_info(step->info.device, &place) == ND4C_OK) {
    (void)cJSON_AddStringToObject(item, "device", place.identity);
  }
  (void)cJSON_AddStringToObject(item, "dtype", nd4c_dtype_name(step->info.dtype));
  add_numbers(item, step->seconds, profile->seconds, step->info.operations, step->info.bytes, step->limit);
  (void)cJSON_AddNumberToObject(item, "least_seconds", step->times[0]);
  cJSON *nodes = cJSON_AddArrayToObject(item, "nodes");
  for (int32_t i = 0; i < step->info.node_count; i++) {
    nd4c_node_info node = {.struct_size = sizeof node};
    if (nd4c_model_get_node(model, step->info.first_node + i, &node) == ND4C_OK) {
      cJSON *one = add_item(nodes);
      (void)cJSON_AddStringToObject(one, "op", node.op->name);
      (void)cJSON_AddStringToObject(one, "label", node.label);
      if (node.parts != NULL) {
        (void)cJSON_AddStringToObject(one, "parts", node.parts);
      }
      if (node.fused != NULL) {
        (void)cJSON_AddStringToObject(one, "fused", node.fused);
      }
    }
  }
}

bool run_profile_add(const nd4c_model *model, const run_profile *profile, cJSON *root) {
  int32_t count = 0;
  op_sum *sums = sum_ops(model, profile, &count);
  cJSON *object = cJSON_AddObjectToObject(root, "profile");
  if (sums == NULL || object == NULL) {
    free(sums);
    return false;
  }
  (void)cJSON_AddNumberToObject(object, "runs", profile->runs);
  (void)cJSON_AddNumberToObject(object, "seconds", profile->seconds);
  cli_add_times(cJSON_AddObjectToObject(object, "with"), profile->with, profile->runs);
  cli_add_times(cJSON_AddObjectToObject(object, "without"), profile->without, profile->runs);
  cli_limits_add(&profile->limits, cJSON_AddObjectToObject(object, "limits"));
  cJSON *ops = cJSON_AddArrayToObject(object, "ops"), *steps = cJSON_AddArrayToObject(object, "steps");
  for (int32_t i = 0; i < count; i++) {
    cJSON *item = add_item(ops);
    (void)cJSON_AddStringToObject(item, "op", sums[i].name);
    (void)cJSON_AddNumberToObject(item, "steps", sums[i].steps);
    add_numbers(item, sums[i].seconds, profile->seconds, sums[i].operations, sums[i].bytes,
                sums[i].seconds > 0 ? sums[i].least / sums[i].seconds : 0);
  }
  for (int32_t i = 0; i < profile->step_count; i++) {
    add_step(model, profile, &profile->steps[i], steps);
  }
  run_bodies_add(&profile->bodies, profile->seconds, object);
  free(sums);
  return true;
}
