/* `nd4c run --profile` for the bodies of loops, branches and calls: a row for each of their steps, with its rounds.
 * run_profile.c calls it. */
#include "run_bodies.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- measuring ------------------------------------------------------------------------------------------------------
 */

/* A walk over the bodies of a model's plan, in the order of their steps. */
typedef struct walk {
  run_bodies *bodies;
  int32_t run;  /* whose times are noted; -1: rows are counted */
  int32_t next; /* row */
  int32_t step; /* of the model's plan */
} walk;

static nd4c_status visit(walk *w, const nd4c_plan *plan, const char *path);

static nd4c_status visit_step(walk *w, const nd4c_plan *plan, int32_t index, const char *path) {
  nd4c_step_info info = {.struct_size = sizeof info};
  nd4c_status status = nd4c_plan_get_step(plan, index, &info);
  if (status == ND4C_OK && w->run >= 0 && w->next < w->bodies->count) {
    run_body_step *row = &w->bodies->rows[w->next];
    nd4c_node_info node = {.struct_size = sizeof node};
    row->step = w->step;
    row->info = info;
    row->times[w->run] = 1e-9 * (double)info.nanoseconds;
    row->rounds = (double)info.runs;
    (void)snprintf(row->path, sizeof row->path, "%s", path);
    status = nd4c_plan_get_node(plan, info.first_node, &node);
    if (status == ND4C_OK) {
      (void)snprintf(row->node, sizeof row->node, info.node_count > 1 ? "segment of %s" : "%s", node.op->name);
      (void)snprintf(row->label, sizeof row->label, "%s", cli_node_name(&node));
    }
  }
  w->next++;
  for (int32_t body = 0; status == ND4C_OK && body < RUN_BODIES; body++) {
    const nd4c_plan *inner = NULL;
    char longer[sizeof w->bodies->rows->path];
    (void)snprintf(longer, sizeof longer, "%.40s/%" PRId32 ".%" PRId32, path, index, body);
    status = nd4c_plan_get_body(plan, index, body, &inner);
    status = status == ND4C_OK && inner != NULL ? visit(w, inner, longer) : status;
  }
  return status;
}

static nd4c_status visit(walk *w, const nd4c_plan *plan, const char *path) {
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; status == ND4C_OK && i < nd4c_plan_step_count(plan); i++) {
    status = visit_step(w, plan, i, path);
  }
  return status;
}

static nd4c_status visit_model(walk *w, const nd4c_model *model) {
  int32_t count = 0;
  nd4c_status status = nd4c_model_step_count(model, &count);
  for (w->step = 0; status == ND4C_OK && w->step < count; w->step++) {
    for (int32_t body = 0; status == ND4C_OK && body < RUN_BODIES; body++) {
      const nd4c_plan *inner = NULL;
      char path[32];
      (void)snprintf(path, sizeof path, "%" PRId32 ".%" PRId32, w->step, body);
      status = nd4c_model_get_body(model, w->step, body, &inner);
      status = status == ND4C_OK && inner != NULL ? visit(w, inner, path) : status;
    }
  }
  return status;
}

nd4c_status run_bodies_begin(const nd4c_model *model, int32_t runs, run_bodies *bodies) {
  walk counting = {.bodies = bodies, .run = -1};
  const nd4c_status status = visit_model(&counting, model);
  if (status != ND4C_OK) {
    return status;
  }
  bodies->count = counting.next;
  bodies->runs = runs;
  bodies->rows = calloc((size_t)bodies->count + 1, sizeof *bodies->rows);
  bodies->times = calloc((size_t)bodies->count * (size_t)runs + 1, sizeof *bodies->times);
  for (int32_t i = 0; bodies->rows != NULL && bodies->times != NULL && i < bodies->count; i++) {
    bodies->rows[i].times = bodies->times + (size_t)i * (size_t)runs;
  }
  bodies->lost = bodies->rows == NULL || bodies->times == NULL;
  return ND4C_OK;
}

nd4c_status run_bodies_note(const nd4c_model *model, run_bodies *bodies, int32_t run) {
  walk noting = {.bodies = bodies, .run = run};
  return bodies->count > 0 ? visit_model(&noting, model) : ND4C_OK;
}

static int by_seconds(const void *a, const void *b) {
  const run_body_step *left = a, *right = b;
  const int order = (left->seconds < right->seconds) - (left->seconds > right->seconds);
  return order != 0 ? order : strcmp(left->path, right->path);
}

void run_bodies_evaluate(run_bodies *bodies, const cli_limits *limits) {
  for (int32_t i = 0; i < bodies->count; i++) {
    run_body_step *row = &bodies->rows[i];
    cli_sort(row->times, bodies->runs);
    row->seconds = cli_percentile(row->times, bodies->runs, 50);
    row->info.operations *= row->rounds;
    row->info.bytes *= row->rounds;
    const double round = row->rounds > 0 ? row->rounds : 1;
    const double least =
        round * cli_limits_seconds(limits, row->info.dtype, row->info.operations / round, row->info.bytes / round);
    row->limit = row->seconds > 0 ? least / row->seconds : 0;
  }
  qsort(bodies->rows, (size_t)bodies->count, sizeof *bodies->rows, by_seconds);
}

void run_bodies_free(run_bodies *bodies) {
  free(bodies->rows);
  free(bodies->times);
  *bodies = (run_bodies){.count = 0};
}

/* -- telling --------------------------------------------------------------------------------------------------------
 */

static double rate(double amount, double seconds) {
  return seconds > 0 ? 1e-9 * amount / seconds : 0;
}

void run_print_label(const char *label) {
  (void)fputs(label[0] != '\0' ? " '" : "", stdout);
  cli_print_name(stdout, label);
  (void)fputs(label[0] != '\0' ? "'" : "", stdout);
}

void run_bodies_print(const run_bodies *bodies, double whole) {
  int32_t hidden = 0;
  if (bodies->count == 0) {
    return;
  }
  (void)printf("\nbodies: their steps in all rounds of a run, inside the times above\n");
  (void)printf("    time us    share   limit   GFLOP/s      GB/s     rounds  step.body, engine, kernel: node\n");
  for (int32_t i = 0; i < bodies->count; i++) {
    const run_body_step *row = &bodies->rows[i];
    if (row->seconds < 1e-3 * whole) {
      hidden++;
      continue;
    }
    (void)printf("%11.1f %6.1f %% %6.1f %% %9.2f %9.2f %10.0f  %s, %s, %s: %s", 1e6 * row->seconds,
                 whole > 0 ? 100 * row->seconds / whole : 0, 100 * row->limit, rate(row->info.operations, row->seconds),
                 rate(row->info.bytes, row->seconds), row->rounds, row->path, row->info.engine, row->info.kernel,
                 row->node);
    run_print_label(row->label);
    (void)fputc('\n', stdout);
  }
  if (hidden > 0) {
    (void)printf("%*s the other %" PRId32 ": less than 0.1 %% each (--json lists them)\n", 20, "", hidden);
  }
}

void run_bodies_add(const run_bodies *bodies, double whole, cJSON *object) {
  cJSON *list = bodies->count > 0 ? cJSON_AddArrayToObject(object, "bodies") : NULL;
  for (int32_t i = 0; list != NULL && i < bodies->count; i++) {
    const run_body_step *row = &bodies->rows[i];
    cJSON *item = cJSON_CreateObject();
    (void)cJSON_AddNumberToObject(item, "step", row->step);
    (void)cJSON_AddStringToObject(item, "body", row->path);
    (void)cJSON_AddStringToObject(item, "op", row->node);
    (void)cJSON_AddStringToObject(item, "label", row->label);
    (void)cJSON_AddStringToObject(item, "engine", row->info.engine);
    (void)cJSON_AddStringToObject(item, "kernel", row->info.kernel);
    (void)cJSON_AddNumberToObject(item, "rounds", row->rounds);
    (void)cJSON_AddNumberToObject(item, "seconds", row->seconds);
    (void)cJSON_AddNumberToObject(item, "share", whole > 0 ? row->seconds / whole : 0);
    (void)cJSON_AddNumberToObject(item, "gflops", rate(row->info.operations, row->seconds));
    (void)cJSON_AddNumberToObject(item, "gbps", rate(row->info.bytes, row->seconds));
    (void)cJSON_AddNumberToObject(item, "limit", row->limit);
    (void)cJSON_AddItemToArray(list, item);
  }
}
