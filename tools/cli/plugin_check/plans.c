/* Section `plans`: each case recorded in a graph, alone, followed by other ops or by itself, and with all inputs but
 * the first as constants, which kernels may pack; run twice by a plan. Compilers are asked there, and nd4c refuses
 * answers that are no partition of the graph. plugin_check.c lists it; kept.c and segments.c make plans with it. */
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { RUNS = 2, SOME_CASES = 2000 };

typedef struct tally {
  int32_t computed, refused, compiled, packed;
} tally;

/* nd4c's words, in its log, on the latest compiler's answer that it refused; "" where it refused none. */
static char refused_answer[400];

static void read_log(void *user, nd4c_log_level level, const char *area, const char *message) {
  (void)user;
  (void)level;
  if (strcmp(area, "compiler") == 0 && strstr(message, " is refused: ") != NULL) {
    (void)snprintf(refused_answer, sizeof refused_answer, "%.390s", message);
  }
}

/* How a case is recorded. */
typedef enum way { ALONE, EXTENDED, FORKED, REPEATED, CONSTANT, WAYS } way;
static const char *const way_names[WAYS] = {"in a plan", "in a plan before three ops",
                                            "in a plan before three ops, as an output too", "in a plan, twice",
                                            "in a plan with constants"};

/* The case's own result leaves as well, in the middle of what a compiler may take as one. */
static int32_t outputs_of(const plugin_case *p, way how) {
  return p->c->op->output_count + (how == FORKED);
}

static bool is_constant(way how, int32_t input) {
  return how == CONSTANT && input > 0;
}

/* (y + y) * y - y: ops that a compiler may take together with the case's. */
static const char *const chain[] = {"add", "multiply", "subtract"};
enum { CHAIN = sizeof chain / sizeof chain[0] };

static nd4c_status extend(nd4c_graph *graph, nd4c_value *value) {
  const nd4c_value y = *value;
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < CHAIN && status == ND4C_OK; i++) {
    const nd4c_op_info *op = NULL;
    const nd4c_value operands[] = {*value, y};
    status = nd4c_op_find(chain[i], &op);
    status = status == ND4C_OK ? nd4c_graph_op(graph, op->op, operands, 2, NULL, 0, chain[i], value, 1) : status;
  }
  return status;
}

/* Floats of fewer bits are left out: a compiler may keep more of them between ops. */
static bool can_extend(const plugin_case *p) {
  static const nd4c_dtype_set exact = ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64) |
                                      ND4C_DTYPE_BIT(ND4C_INT32) | ND4C_DTYPE_BIT(ND4C_INT64);
  bool can = true;
  for (int32_t i = 0; i < p->c->op->output_count && can; i++) {
    can = (exact & ND4C_DTYPE_BIT(nd4c_array_dtype(p->wanted[i]))) != 0;
  }
  return can;
}

/* Whether the op can take its result as its first input: for compilers that take two nodes or more of what they
 * know. */
static bool can_repeat(const plugin_case *p) {
  const selftest_input *first = &p->c->inputs[0];
  const nd4c_array *y = p->wanted[0];
  bool can = can_extend(p) && p->c->op->output_count == 1 && p->c->input_count > 0 && first->varies &&
             nd4c_array_dtype(y) == p->dtype && nd4c_array_rank(y) == first->rank;
  for (int32_t i = 0; can && i < first->rank; i++) {
    can = nd4c_array_shape(y)[i] == first->shape[i];
  }
  return can;
}

static nd4c_status repeat(nd4c_graph *graph, const plugin_case *p, const nd4c_value *inputs, nd4c_value *value) {
  nd4c_value values[SELFTEST_INPUTS];
  memcpy(values, inputs, sizeof values);
  values[0] = *value;
  return nd4c_graph_op(graph, p->c->op->op, values, p->c->input_count, p->c->attrs, p->c->attr_count, "again", value,
                       1);
}

/* `constants`: the case's inputs on the host. */
static nd4c_status record(const plugin_case *p, way how, nd4c_array *const *constants, nd4c_graph *graph) {
  nd4c_value values[SELFTEST_INPUTS] = {0}, results[SELFTEST_OUTPUTS];
  const int32_t outputs = p->c->op->output_count;
  char name[16];
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < p->c->input_count && status == ND4C_OK; i++) {
    const selftest_input *input = &p->c->inputs[i];
    values[i] = ND4C_VALUE_NONE;
    if (is_constant(how, i)) {
      status = constants[i] != NULL ? nd4c_graph_constant(graph, constants[i], &values[i]) : ND4C_OK;
    } else if (input->dtype != ND4C_DTYPE_NONE) {
      (void)snprintf(name, sizeof name, "x%d", (int)i);
      status =
          nd4c_graph_input(graph, name, input->varies ? p->dtype : input->dtype, input->rank, input->shape, &values[i]);
    }
  }
  if (status == ND4C_OK) {
    status = nd4c_graph_op(graph, p->c->op->op, values, p->c->input_count, p->c->attrs, p->c->attr_count, "case",
                           results, outputs);
  }
  if (status == ND4C_OK && how == REPEATED) {
    status = repeat(graph, p, values, &results[0]);
  }
  for (int32_t i = 0; i < outputs && status == ND4C_OK; i++) {
    (void)snprintf(name, sizeof name, "y%d", (int)i);
    status = how == FORKED ? nd4c_graph_output(graph, "middle", results[i]) : ND4C_OK;
    status = status == ND4C_OK && (how == EXTENDED || how == FORKED) ? extend(graph, &results[i]) : status;
    status = status == ND4C_OK ? nd4c_graph_output(graph, name, results[i]) : status;
  }
  return status;
}

/* Whether the plan has a segment that was compiled: by the target's engine, or by one of the plug-in's own device. */
static void note_report(plugin_round *round, const nd4c_plan *plan, tally *t) {
  char *text = NULL, part[PLUGIN_NAME + 16];
  (void)snprintf(part, sizeof part, "compiled by %s", round->target->engine);
  if (plugin_check_status(round->check, nd4c_plan_report(plan, &text), "a plan's report")) {
    t->compiled += strstr(text, part) != NULL;
    t->packed += strstr(text, "{packed constants: ") != NULL;
  }
  nd4c_free(text);
}

static nd4c_status run_plan(nd4c_plan *plan, const plugin_case *p, way how, nd4c_array *const *inputs,
                            nd4c_array **outputs) {
  const nd4c_array *given[SELFTEST_INPUTS];
  int32_t count = 0;
  for (int32_t i = 0; i < p->c->input_count; i++) {
    if (inputs[i] != NULL && !is_constant(how, i)) {
      given[count++] = inputs[i];
    }
  }
  return nd4c_plan_run(plan, given, count, outputs, outputs_of(p, how));
}

static void compare(plugin_round *round, const plugin_case *p, way how, nd4c_array *const *got) {
  char text[256] = "";
  const char *differs = NULL;
  int32_t at = 0;
  while (at < outputs_of(p, how) && differs == NULL) {
    differs = selftest_difference(round->host, p->wanted[at], got[at], text, sizeof text);
    at += differs == NULL;
  }
  (void)plugin_check_that(round->check, differs == NULL, "%s, %s: output %d: %s", p->label, way_names[how], (int)at,
                          text);
}

/* What the reference makes of the same graph on the host. */
static nd4c_status compute_wanted(plugin_round *round, const plugin_case *p, way how, nd4c_graph *graph,
                                  plugin_case *own) {
  static const char force[] = "SD_KERNEL_FORCE_ENGINE";
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  const char *engine = round->target->engine;
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL};
  nd4c_plan *plan = NULL;
  bool differs = false;
  nd4c_status status = nd4c_config_set(force, "reference");
  status = status == ND4C_OK ? nd4c_plan_create(graph, round->host, &options, &plan) : status;
  status = status == ND4C_OK ? plugin_case_inputs(p, PLUGIN_CONTIGUOUS, round->host, inputs, &differs) : status;
  status = status == ND4C_OK ? run_plan(plan, p, how, inputs, own->wanted) : status;
  nd4c_plan_destroy(plan);
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
  const nd4c_status restored = nd4c_config_set(force, engine[0] != '\0' ? engine : NULL);
  return status == ND4C_OK ? restored : status;
}

static void run_and_compare(plugin_round *round, const plugin_case *p, way how, nd4c_plan *plan,
                            nd4c_array *const *inputs) {
  for (int32_t i = 0; i < RUNS; i++) {
    nd4c_array *got[SELFTEST_OUTPUTS] = {NULL};
    if (plugin_check_status(round->check, run_plan(plan, p, how, inputs, got), "%s, %s, run %d", p->label,
                            way_names[how], (int)i + 1)) {
      compare(round, p, how, got);
    }
    plugin_arrays_release(got, SELFTEST_OUTPUTS);
  }
}

/* A layout that cannot be is no way to decline. */
static void note_refusal(plugin_round *round, const plugin_case *p) {
  const char *text = nd4c_error_message(), *odd = strstr(text, ": wants_layout of input ");
  tally *t = round->user;
  (void)plugin_check_that(round->check, odd == NULL, "%s, %s%s", p->label, way_names[CONSTANT], odd != NULL ? odd : "");
  t->refused++;
}

/* Plans the recorded graph on the target's device, and runs it. */
static void plan_graph(plugin_round *round, const plugin_case *p, way how, nd4c_graph *graph) {
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL};
  nd4c_plan *plan = NULL;
  tally *t = round->user;
  bool differs = false;
  refused_answer[0] = '\0';
  nd4c_status status = nd4c_plan_create(graph, round->relaxed, NULL, &plan);
  (void)plugin_check_that(round->check, refused_answer[0] == '\0', "%s, %s: %s", p->label, way_names[how],
                          refused_answer);
  if (plugin_declined(status)) {
    note_refusal(round, p);
    return;
  }
  status = status == ND4C_OK ? plugin_case_inputs(p, PLUGIN_CONTIGUOUS, round->relaxed, inputs, &differs) : status;
  if (plugin_check_status(round->check, status, "%s, %s", p->label, way_names[how])) {
    t->computed++;
    note_report(round, plan, t);
    run_and_compare(round, p, how, plan, inputs);
  }
  nd4c_plan_destroy(plan);
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
}

static void plan_case(plugin_round *round, const plugin_case *p, way how) {
  plugin_case own = *p;
  nd4c_array *constants[SELFTEST_INPUTS] = {NULL};
  nd4c_graph *graph = NULL;
  bool differs = false;
  memset(own.wanted, 0, sizeof own.wanted);
  nd4c_status status = nd4c_graph_create(&graph);
  if (status == ND4C_OK && how == CONSTANT) {
    status = plugin_case_inputs(p, PLUGIN_CONTIGUOUS, round->host, constants, &differs);
  }
  const bool recorded = status == ND4C_OK && record(p, how, constants, graph) == ND4C_OK; /* some ops are eager alone */
  if (recorded) {
    status = compute_wanted(round, p, how, graph, &own);
  }
  if (plugin_check_status(round->check, status, "%s: the reference's plan", p->label) && recorded) {
    plan_graph(round, &own, how, graph);
  }
  plugin_arrays_release(constants, SELFTEST_INPUTS);
  nd4c_graph_destroy(graph);
  plugin_arrays_release(own.wanted, SELFTEST_OUTPUTS);
}

static void plan_each(plugin_round *round, const plugin_case *p) {
  plan_case(round, p, ALONE);
  if (can_extend(p)) {
    plan_case(round, p, EXTENDED);
  }
  if (can_extend(p) && p->c->op->output_count == 1) {
    plan_case(round, p, FORKED);
  }
  if (can_repeat(p)) {
    plan_case(round, p, REPEATED);
  }
  if (p->c->input_count > 1) {
    plan_case(round, p, CONSTANT);
  }
}

void plugin_plan_case(plugin_round *round, const plugin_case *p, const char *how) {
  tally t = {.computed = 0};
  plugin_round own = *round;
  plugin_case named = *p;
  own.user = &t;
  (void)snprintf(named.label, sizeof named.label, "%.180s, %.70s", p->label, how);
  plan_case(&own, &named, can_extend(p) ? EXTENDED : ALONE);
}

nd4c_status plugin_plan_make(plugin_round *round, const plugin_case *p, nd4c_plan **plan) {
  nd4c_graph *graph = NULL;
  *plan = NULL;
  nd4c_status status = nd4c_graph_create(&graph);
  if (status == ND4C_OK && record(p, can_extend(p) ? EXTENDED : ALONE, NULL, graph) == ND4C_OK) {
    status = nd4c_plan_create(graph, round->relaxed, NULL, plan);
  }
  nd4c_graph_destroy(graph);
  return status;
}

/* Whether compilers take part in a plan. */
static bool is_compiled(plugin_round *round, const nd4c_plan *plan) {
  tally t = {.computed = 0};
  note_report(round, plan, &t);
  return t.compiled > 0;
}

void plugin_plan_compiled(plugin_round *round, const plugin_case *p, bool again, plugin_case *own, nd4c_plan **plan) {
  const way how = again ? REPEATED : can_extend(p) ? EXTENDED : ALONE;
  nd4c_graph *graph = NULL;
  *plan = NULL;
  *own = *p;
  memset(own->wanted, 0, sizeof own->wanted);
  (void)snprintf(own->label, sizeof own->label, "%.200s, %s", p->label, way_names[how]);
  nd4c_status status = again && !can_repeat(p) ? ND4C_UNSUPPORTED : nd4c_graph_create(&graph);
  status = status == ND4C_OK ? record(p, how, NULL, graph) : status; /* some ops are eager alone */
  /* A strict plan shows that the plug-in computes all nodes; others may copy inputs in other layouts. */
  status = status == ND4C_OK ? nd4c_plan_create(graph, round->context, NULL, plan) : status;
  nd4c_plan_destroy(*plan);
  *plan = NULL;
  status = status == ND4C_OK ? nd4c_plan_create(graph, round->relaxed, NULL, plan) : status;
  if (status == ND4C_OK && !is_compiled(round, *plan)) {
    nd4c_plan_destroy(*plan);
    *plan = NULL;
  }
  if (*plan != NULL && !plugin_check_status(round->check, compute_wanted(round, p, how, graph, own),
                                            "%s: the reference's plan", own->label)) {
    nd4c_plan_destroy(*plan);
    *plan = NULL;
  }
  nd4c_graph_destroy(graph);
}

nd4c_status plugin_plan_run(nd4c_plan *plan, const plugin_case *p, nd4c_array *const *inputs, nd4c_array **outputs) {
  return run_plan(plan, p, ALONE, inputs, outputs);
}

/* A compiler that takes part in no plan is not checked at all, whatever the reason. */
static void note_idle_compilers(plugin_check *check, int32_t compiled) {
  const char *disabled = NULL;
  const nd4c_status status = nd4c_config_get("SD_KERNEL_DISABLE_ENGINES", &disabled);
  if (compiled == 0 && status == ND4C_OK && disabled != NULL && disabled[0] != '\0') {
    plugin_check_note("its compilers were not checked: SD_KERNEL_DISABLE_ENGINES is %s", disabled);
    return;
  }
  (void)plugin_check_that(
      check, compiled > 0,
      "its compilers took part in none of these plans, and were not checked. The plans have one op, the "
      "op twice, and the op before add, multiply and subtract. Of a single node that kernels compute, "
      "nd4c takes only a piece with ND4C_PIECE_CHEAPER; a compiler of other patterns has to be checked "
      "on graphs of its own");
}

void plugin_section_plans(plugin_check *check) {
  tally t = {.computed = 0};
  nd4c_log_set(read_log, NULL, ND4C_LOG_WARNING);
  const bool compiles = plugin_cases_each(check, PLUGIN_PLANS, SOME_CASES, plan_each, &t);
  nd4c_log_set(NULL, NULL, ND4C_LOG_ERROR);
  plugin_check_note("%d plans ran, %d of them with compiled segments, %d with packed constants; %d were declined",
                    (int)t.computed, (int)t.compiled, (int)t.packed, (int)t.refused);
  if (compiles && check->pattern == NULL) {
    note_idle_compilers(check, t.compiled);
  }
}
