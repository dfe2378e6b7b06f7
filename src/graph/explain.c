/* nd4c_graph_optimize and nd4c_graph_explain: run the passes on a copy of a graph. The second compares the graph before
 * and after each run of a pass, and writes what changed. nd4c_plan_explain says why each step has its kernel. Programs
 * and `nd4c graph` call them. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/stream/cancellation.h"
#include "graph/ir/variables.h"
#include "graph/passes.h"
#include "graph/quantization.h"
#include "graph/variables.h"

/* What a run of a pass may change about the node that computes a value. */
typedef struct seen_node {
  const nd4c_op_def *def; /* NULL: no node computes the value */
  const nd4c_attr_value *attrs;
  const char *label;
  const int32_t *order; /* of the value */
  uint64_t inputs;      /* a digest */
} seen_node;

typedef struct explainer {
  nd4c_pass_watch watch; /* first, so that a watch is an explainer */
  nd4c_text text;
  int32_t lines;        /* the most of a run; negative: no limit */
  int32_t phase, round; /* of the run that was written last; phase -1: none */
  seen_node *seen;      /* by value */
  int32_t seen_count, seen_capacity;
  int32_t before, guards;    /* nodes and guards before the run */
  nd4c_cost cost;            /* before the run */
  int32_t written, left_out; /* lines of this run */
} explainer;

static uint64_t digest_inputs(const nd4c_graph_node *node) {
  uint64_t digest = UINT64_C(14695981039346656037);
  for (int32_t i = 0; i < node->input_count; i++) {
    digest = (digest ^ (uint32_t)node->inputs[i]) * UINT64_C(1099511628211);
  }
  return digest;
}

static seen_node see(const nd4c_graph *graph, nd4c_value value) {
  const nd4c_graph_value *info = &graph->values[value];
  if (info->producer < 0) {
    return (seen_node){.def = NULL};
  }
  const nd4c_graph_node *node = &graph->nodes[info->producer];
  const bool first = node->outputs[0] == value; /* a node with several outputs is told once */
  return (seen_node){.def = first ? node->def : NULL,
                     .attrs = node->attrs,
                     .label = node->label,
                     .order = info->order,
                     .inputs = digest_inputs(node)};
}

static int32_t count_guards(const nd4c_graph *graph) {
  return graph->extents != NULL ? nd4c_extents_guard_count(graph->extents) : 0;
}

static nd4c_status before_run(nd4c_pass_watch *watch, const nd4c_plan *plan, const nd4c_pass *pass) {
  explainer *e = (explainer *)watch;
  const nd4c_graph *graph = plan->graph;
  (void)pass;
  ND4C_TRY(nd4c_grow(&e->seen, &e->seen_capacity, graph->value_count, sizeof *e->seen, "an explanation"));
  e->seen_count = graph->value_count;
  e->before = graph->node_count;
  e->guards = count_guards(graph);
  e->cost = nd4c_graph_cost(graph);
  memset(e->seen, 0, (size_t)e->seen_count * sizeof *e->seen);
  for (int32_t i = 0; i < graph->node_count; i++) {
    const nd4c_value value = graph->nodes[i].outputs[0];
    ND4C_TRY(nd4c_cancellation_poll());
    e->seen[value] = see(graph, value);
  }
  return ND4C_OK;
}

/* Begins a line of the run, unless it has enough of them. */
static bool begin_line(explainer *e) {
  const bool room = e->lines < 0 || e->written < e->lines;
  e->written += room;
  e->left_out += !room;
  if (room) {
    nd4c_text_print(&e->text, "    ");
  }
  return room;
}

static void print_node(nd4c_text *text, const nd4c_op_def *def, const char *label) {
  nd4c_text_print(text, label[0] != '\0' ? "%s '" : "%s", def->info.name);
  nd4c_text_name(text, label);
  nd4c_text_print(text, label[0] != '\0' ? "'" : "");
}

/* The op that a node has now, and what it was made from. */
static void print_made(nd4c_text *text, const nd4c_graph_node *node) {
  nd4c_text_print(text, node->fused != NULL ? "%s (%s)" : "%s", node->def->info.name, node->fused);
}

static void print_order(nd4c_text *text, const nd4c_graph_value *value) {
  nd4c_text_print(text, value->order == NULL ? "C order" : "the memory order of axes");
  for (int32_t i = 0; value->order != NULL && i < value->rank; i++) {
    nd4c_text_print(text, " %d", (int)value->order[i]);
  }
}

/* What happened to the node of a value that there was before the run. */
static void tell_old(explainer *e, const nd4c_graph *graph, nd4c_value value) {
  const seen_node *old = &e->seen[value];
  const seen_node now = see(graph, value);
  if (old->def == NULL) {
    return;
  }
  if (now.def == NULL) {
    if (begin_line(e)) {
      nd4c_text_print(&e->text, "- ");
      print_node(&e->text, old->def, old->label);
      nd4c_text_print(&e->text, graph->values[value].constant != NULL ? ": computed, a constant now\n" : "\n");
    }
    return;
  }
  const nd4c_graph_node *node = &graph->nodes[graph->values[value].producer];
  const bool made = now.def != old->def || now.attrs != old->attrs;
  const bool reordered = now.order != old->order;
  if ((made || reordered || now.inputs != old->inputs) && begin_line(e)) {
    nd4c_text_print(&e->text, "~ ");
    print_node(&e->text, old->def, old->label);
    if (made) {
      nd4c_text_print(&e->text, ": becomes ");
      print_made(&e->text, node);
    } else if (reordered) {
      nd4c_text_print(&e->text, ": its result has ");
      print_order(&e->text, &graph->values[value]);
    } else {
      nd4c_text_print(&e->text, ": reads other values");
    }
    nd4c_text_print(&e->text, "\n");
  }
}

static void tell_new(explainer *e, const nd4c_graph *graph, nd4c_value value) {
  const seen_node now = see(graph, value);
  if (now.def != NULL && begin_line(e)) {
    nd4c_text_print(&e->text, "+ ");
    print_made(&e->text, &graph->nodes[graph->values[value].producer]);
    nd4c_text_print(&e->text, "\n");
  }
}

/* What the run assumed about dims. */
static void tell_guards(explainer *e, const nd4c_graph *graph) {
  for (int32_t i = e->guards; i < count_guards(graph); i++) {
    char guard[512];
    nd4c_text_print(&e->text, "    ? assumes %s\n", nd4c_extents_guard_text(graph->extents, i, guard, sizeof guard));
  }
}

/* The estimates before and after the run, where they differ. */
static void tell_cost(explainer *e, const nd4c_graph *graph) {
  const nd4c_cost now = nd4c_graph_cost(graph);
  char before[96], after[96];
  if (now.operations == e->cost.operations && now.bytes == e->cost.bytes) {
    nd4c_text_print(&e->text, "    estimate unchanged\n");
  } else {
    nd4c_text_print(&e->text, "    estimate %s -> %s\n", nd4c_cost_text(e->cost, before, sizeof before),
                    nd4c_cost_text(now, after, sizeof after));
  }
}

static nd4c_status after_run(nd4c_pass_watch *watch, const nd4c_plan *plan, const nd4c_pass *pass, int32_t changes) {
  explainer *e = (explainer *)watch;
  const nd4c_graph *graph = plan->graph;
  if (changes == 0 && graph->node_count == e->before) {
    return ND4C_OK;
  }
  if (e->phase != (int32_t)pass->phase || e->round != watch->round) {
    nd4c_text_print(&e->text, "%s, round %d\n", nd4c_phase_name(pass->phase), watch->round);
    e->phase = (int32_t)pass->phase;
    e->round = watch->round;
  }
  nd4c_text_print(&e->text, "  %s: %d -> %d nodes, %d changes  (%s)\n", pass->name, e->before, graph->node_count,
                  changes, pass->doc);
  tell_cost(e, graph);
  tell_guards(e, graph);
  e->written = e->left_out = 0;
  for (int32_t i = 0; i < graph->value_count; i++) {
    ND4C_TRY(nd4c_cancellation_poll());
    if (i < e->seen_count) {
      tell_old(e, graph, i);
    } else {
      tell_new(e, graph, i);
    }
  }
  if (e->left_out > 0) {
    nd4c_text_print(&e->text, "    and %d more\n", e->left_out);
  }
  return ND4C_OK;
}

static nd4c_status explain(explainer *e, nd4c_plan *plan, const nd4c_graph *graph, bool optimize) {
  ND4C_TRY(nd4c_quantization_take_graph(plan, graph));
  ND4C_TRY(nd4c_graph_clone(graph, &plan->graph));
  ND4C_TRY(nd4c_plan_open_ports(plan, optimize));
  nd4c_text_print(&e->text, "%d nodes recorded\n", graph->node_count);
  if (optimize) {
    ND4C_TRY(nd4c_passes_run(plan, &e->watch));
    nd4c_text_print(&e->text, "%d nodes after passes\n", plan->graph->node_count);
  }
  nd4c_plan_print_passes(plan, true, &e->text);
  return ND4C_OK;
}

nd4c_status nd4c_graph_explain(const nd4c_graph *graph, nd4c_context *context, const nd4c_plan_options *options,
                               int32_t lines, char **text) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_explain: text is NULL");
  }
  nd4c_plan *plan = NULL;
  explainer e = {.watch = {.before = before_run, .after = after_run}, .lines = lines, .phase = -1};
  ND4C_TRY(nd4c_plan_begin("nd4c_graph_explain", graph, context, options, &plan));
  const nd4c_status status = explain(&e, plan, graph, options == NULL || !options->no_optimization);
  nd4c_plan_destroy(plan);
  nd4c_deallocate(e.seen);
  if (status != ND4C_OK) {
    nd4c_text_free(&e.text);
    return status;
  }
  return nd4c_text_take(&e.text, text);
}

/* -- kernels ------------------------------------------------------------------------------------------------------- */

/* Asks for the step's kernel anew, on operands as they were before constants were packed for the kernel that it has. */
static nd4c_status explain_step(const nd4c_plan *plan, const nd4c_step *step, nd4c_text *text) {
  nd4c_region region = {0};
  nd4c_constant_input *items = NULL;
  nd4c_step asked = *step;
  bool taken = false;
  nd4c_status status =
      nd4c_region_make(&region, (int64_t)step->input_count + step->output_count, sizeof *asked.tensors, &asked.tensors);
  status = status == ND4C_OK ? nd4c_region_make(&region, step->input_count, sizeof *items, &items) : status;
  if (status == ND4C_OK) {
    nd4c_plan_describe_operands(plan, &asked);
    asked.call.inputs = asked.tensors;
    asked.call.outputs = asked.tensors + step->input_count;
    nd4c_plan_find_constants(plan, step, items);
    const nd4c_constants constants = {.inputs = asked.tensors, .items = items, .like = step->choice};
    status = nd4c_choice_explain(plan->places[step->place].context, &asked.call, &constants, text, &taken);
  }
  nd4c_region_free(&region);
  return status;
}

/* Why a step runs where it does. */
static nd4c_status explain_any(const nd4c_plan *plan, const nd4c_step *step, nd4c_text *text) {
  if (step->segment != NULL) {
    nd4c_text_print(text, "compiled by %s, which took %d nodes as one\n", step->segment->compiler->engine,
                    step->segment->node_count);
    return ND4C_OK;
  }
  if (step->control != NULL) {
    nd4c_text_print(text, "run by the plan: a plan of its own for each body\n");
    return ND4C_OK;
  }
  return explain_step(plan, step, text);
}

/* Why a step has its kernel. Steps with the same reasons are a list, in their order. */
typedef struct step_reasons {
  nd4c_text text;
  struct step_reasons *next;
  bool later; /* in the list of an earlier step */
} step_reasons;

static const char *text_of(const step_reasons *reasons) {
  return reasons->text.bytes != NULL ? reasons->text.bytes : "";
}

/* Equal texts in the order of the steps. */
static int by_text(const void *a, const void *b) {
  const step_reasons *left = *(step_reasons *const *)a, *right = *(step_reasons *const *)b;
  const int order = strcmp(text_of(left), text_of(right));
  return order != 0 ? order : left < right ? -1 : left > right;
}

/* "  node 'Conv_3' (conv), node 'Conv_5' (conv) and 7 more:" */
static void print_steps(const nd4c_plan *plan, const step_reasons *all, const step_reasons *first, nd4c_text *text) {
  enum { SHOWN = 4 };
  int32_t count = 0;
  for (const step_reasons *at = first; at != NULL; at = at->next, count++) {
    char node[256];
    if (count < SHOWN) {
      nd4c_text_print(text, "%s%s", count == 0 ? "  " : ", ",
                      nd4c_plan_node_text(plan, plan->steps[at - all].node, node, sizeof node));
    }
  }
  if (count > SHOWN) {
    nd4c_text_print(text, " and %d more", count - SHOWN);
  }
  nd4c_text_print(text, ":\n");
}

/* Each line further to the right. */
static void print_reasons(const char *why, nd4c_text *text) {
  while (*why != '\0') {
    const char *end = strchr(why, '\n');
    const size_t length = end != NULL ? (size_t)(end - why) : strlen(why);
    nd4c_text_print(text, "      %.*s\n", (int)length, why);
    why += length + (end != NULL);
  }
}

/* Fills in `all`, by step, and prints each list once. `sorted`: room for an address of each. */
static nd4c_status print_grouped(const nd4c_plan *plan, step_reasons *all, step_reasons **sorted, nd4c_text *text) {
  for (int32_t i = 0; i < plan->step_count; i++) {
    ND4C_TRY(nd4c_cancellation_poll());
    ND4C_TRY(explain_any(plan, &plan->steps[i], &all[i].text));
    if (all[i].text.failed) {
      return nd4c_fail_memory("an explanation", all[i].text.capacity);
    }
    sorted[i] = &all[i];
  }
  qsort((void *)sorted, (size_t)plan->step_count, sizeof *sorted, by_text);
  for (int32_t i = 1; i < plan->step_count; i++) {
    if (strcmp(text_of(sorted[i - 1]), text_of(sorted[i])) == 0) {
      sorted[i - 1]->next = sorted[i];
      sorted[i]->later = true;
    }
  }
  nd4c_text_print(text, "why each kernel:\n");
  for (int32_t i = 0; i < plan->step_count; i++) {
    if (!all[i].later) {
      print_steps(plan, all, &all[i], text);
      print_reasons(text_of(&all[i]), text);
    }
  }
  return ND4C_OK;
}

static nd4c_status explain_steps(const nd4c_plan *plan, nd4c_text *text) {
  step_reasons *all = NULL, **sorted = NULL;
  const size_t count = (size_t)plan->step_count + 1;
  nd4c_status status = nd4c_allocate_or_fail(count, sizeof *all, "an explanation", &all);
  status = status == ND4C_OK ? nd4c_allocate_or_fail(count, sizeof *sorted, "an explanation", &sorted) : status;
  status = status == ND4C_OK ? print_grouped(plan, all, sorted, text) : status;
  for (int32_t i = 0; all != NULL && i < plan->step_count; i++) {
    nd4c_text_free(&all[i].text);
  }
  nd4c_deallocate(all);
  nd4c_deallocate((void *)sorted);
  return status;
}

nd4c_status nd4c_plan_explain(const nd4c_plan *plan, char **text) {
  ND4C_TRY(nd4c_plan_check(plan));
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_plan_explain: text is NULL");
  }
  if (plan->dynamic != NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED,
                     "nd4c_plan_explain: the plan has dims, and each binding chooses its kernels: "
                     "bind the graph (nd4c_graph_bind)");
  }
  nd4c_text told = {0};
  const nd4c_status status = explain_steps(plan, &told);
  if (status != ND4C_OK) {
    nd4c_text_free(&told);
    return status;
  }
  return nd4c_text_take(&told, text);
}

nd4c_status nd4c_graph_optimize(const nd4c_graph *graph, nd4c_context *context, const nd4c_plan_options *options,
                                nd4c_graph **optimized) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (optimized == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_optimize: optimized is NULL");
  }
  nd4c_plan *plan = NULL;
  ND4C_TRY(nd4c_plan_begin("nd4c_graph_optimize", graph, context, options, &plan));
  nd4c_status status = nd4c_graph_clone(graph, &plan->graph);
  status = status == ND4C_OK ? nd4c_variables_open(plan->graph, true) : status;
  status = status == ND4C_OK ? nd4c_quantization_take_graph(plan, graph) : status;
  if (status == ND4C_OK && (options == NULL || !options->no_optimization)) {
    status = nd4c_passes_run(plan, NULL);
  }
  if (status == ND4C_OK) {
    nd4c_variables_close(plan->graph);
    *optimized = plan->graph;
    plan->graph = NULL;
  }
  nd4c_plan_destroy(plan);
  return status;
}
