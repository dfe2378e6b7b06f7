/* Implements variables.h, and the functions of nd4c/variable.h that need a plan: nd4c_state_initialize and
 * nd4c_graph_freeze. */
#include "graph/variables.h"

#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "device/storage/storage.h"
#include "graph/ir/control.h"
#include "graph/ir/rewrite.h"
#include "graph/ir/variables.h"

enum { SHOWN = 200, TEXT = 256 };

/* What a run passes on. Runs at the same time have a frame each. */
typedef struct run_frame {
  struct run_frame *next; /* the next idle one */
  const nd4c_array **inputs;
  nd4c_array **outputs;
  nd4c_array **held; /* by variable: one reference during a run */
  bool *donated;     /* by input; no variable is donated */
} run_frame;

struct nd4c_plan_variables {
  nd4c_state *state;
  bool own; /* it is the graph's */
  int32_t count, assigned_count;
  int32_t input_count, output_count; /* of the caller, whose ports come first */
  nd4c_state_item **items;           /* by variable; the state's */
  nd4c_state_item **assigned;        /* by output behind the caller's */
  nd4c_lock lock;                    /* guards the list of idle frames */
  run_frame *idle;
};

/* -- first values -------------------------------------------------------------------------------------------------- */

/* The variables of a graph that a state lacks. */
typedef struct filling {
  nd4c_state *state;
  const nd4c_graph *graph;
  nd4c_context *context;
  bool *missing;       /* by variable */
  nd4c_array **arrays; /* by variable: its first value, one reference; NULL: not missing */
} filling;

static bool is_computed(const filling *f, int32_t variable) {
  return f->missing[variable] && f->graph->values[f->graph->variable_items[variable].initial].constant == NULL;
}

static nd4c_status check_item(const filling *f, int32_t variable, const nd4c_state_item *item) {
  const nd4c_graph_port *port = &f->graph->variables.items[variable];
  const nd4c_graph_value *value = &f->graph->values[port->value];
  if (item->dtype != value->dtype) {
    return nd4c_fail(ND4C_DTYPE, "variable '%.*s' has dtype %s in the graph and %s in the state", SHOWN, port->name,
                     nd4c_dtype_name(value->dtype), nd4c_dtype_name(item->dtype));
  }
  if (!nd4c_shape_equal(item->rank, item->shape, value->rank, value->shape)) {
    char here[TEXT], there[TEXT];
    return nd4c_fail(ND4C_SHAPE, "variable '%.*s' has shape %s in the graph and %s in the state", SHOWN, port->name,
                     nd4c_shape_text(value->rank, value->shape, here, sizeof here),
                     nd4c_shape_text(item->rank, item->shape, there, sizeof there));
  }
  return ND4C_OK;
}

static nd4c_status find_missing(filling *f, bool *any) {
  nd4c_status status = ND4C_OK;
  nd4c_lock_acquire(&f->state->lock);
  for (int32_t i = 0; i < f->graph->variables.count && status == ND4C_OK; i++) {
    const nd4c_state_item *item = nd4c_state_find(f->state, f->graph->variables.items[i].name);
    f->missing[i] = item == NULL;
    *any = *any || item == NULL;
    status = item == NULL ? ND4C_OK : check_item(f, i, item);
  }
  nd4c_lock_release(&f->state->lock);
  return status;
}

/* A graph of the nodes that the missing values need, with an output for each value that a node gives. */
static nd4c_status make_part(const filling *f, nd4c_graph *part, nd4c_value *values, bool *needed) {
  const nd4c_graph *graph = f->graph;
  for (int32_t i = 0; i < graph->value_count; i++) {
    values[i] = ND4C_VALUE_NONE;
  }
  for (int32_t i = 0; i < graph->variables.count; i++) {
    if (is_computed(f, i)) {
      nd4c_graph_mark_needed(graph, &graph->variable_items[i].initial, 1, needed);
    }
  }
  ND4C_TRY(nd4c_graph_append(part, graph, needed, values));
  for (int32_t i = 0; i < graph->variables.count; i++) {
    if (is_computed(f, i)) {
      ND4C_TRY(nd4c_graph_output(part, graph->variables.items[i].name, values[graph->variable_items[i].initial]));
    }
  }
  return ND4C_OK;
}

/* Runs the part; its outputs are in the order of the variables, of which the others have an array already. */
static nd4c_status run_part(const filling *f, const nd4c_graph *part, nd4c_array **outputs) {
  nd4c_plan *plan = NULL;
  ND4C_TRY(nd4c_plan_create(part, f->context, NULL, &plan));
  nd4c_status status = nd4c_plan_run(plan, NULL, 0, outputs, part->outputs.count);
  nd4c_plan_destroy(plan);
  int32_t at = 0;
  for (int32_t i = 0; i < f->graph->variables.count; i++) {
    if (is_computed(f, i)) {
      f->arrays[i] = outputs[at++];
    }
  }
  for (int32_t i = 0; i < part->outputs.count && status == ND4C_OK; i++) {
    status = nd4c_storage_own(outputs[i]->storage); /* the caller may have entered a workspace */
  }
  return status;
}

static nd4c_status compute(const filling *f) {
  const nd4c_graph *graph = f->graph;
  nd4c_graph *part = NULL;
  nd4c_region region = {0};
  nd4c_value *values = NULL;
  bool *needed = NULL;
  nd4c_array **outputs = NULL;
  nd4c_status status = nd4c_region_make(&region, graph->value_count, sizeof *values, &values);
  status = status == ND4C_OK ? nd4c_region_make(&region, graph->node_count, sizeof *needed, &needed) : status;
  status = status == ND4C_OK ? nd4c_region_make(&region, graph->variables.count, sizeof *outputs, &outputs) : status;
  status = status == ND4C_OK ? nd4c_graph_create(&part) : status;
  status = status == ND4C_OK ? make_part(f, part, values, needed) : status;
  status = status == ND4C_OK && part->outputs.count > 0 ? run_part(f, part, outputs) : status;
  nd4c_graph_destroy(part);
  nd4c_region_free(&region);
  return status == ND4C_OK ? status : nd4c_fail_prefix(status, "initial values of variables");
}

/* Constants that become first values live as long as the state, so they leave the workspace that they were made in. */
static nd4c_status own_constants(const filling *f) {
  for (int32_t i = 0; i < f->graph->variables.count; i++) {
    const nd4c_array *constant = f->graph->values[f->graph->variable_items[i].initial].constant;
    ND4C_TRY(f->missing[i] && constant != NULL ? nd4c_storage_own(constant->storage) : ND4C_OK);
  }
  return ND4C_OK;
}

/* Adds what is still missing: another thread may have been faster. */
static nd4c_status add_missing(const filling *f) {
  nd4c_status status = ND4C_OK;
  nd4c_lock_acquire(&f->state->lock);
  for (int32_t i = 0; i < f->graph->variables.count && status == ND4C_OK; i++) {
    const nd4c_variable *variable = &f->graph->variable_items[i];
    const char *name = f->graph->variables.items[i].name;
    const nd4c_state_item *item = f->missing[i] ? nd4c_state_find(f->state, name) : NULL;
    if (f->missing[i] && item == NULL) {
      nd4c_array *constant = f->graph->values[variable->initial].constant;
      status = nd4c_state_add(f->state, name, variable->trainable, constant != NULL ? constant : f->arrays[i],
                              constant == NULL);
    } else if (f->missing[i]) {
      status = check_item(f, i, item);
    }
  }
  nd4c_lock_release(&f->state->lock);
  return status;
}

static nd4c_status fill(filling *f) {
  const int32_t count = f->graph->variables.count;
  bool any = false;
  nd4c_region region = {0};
  nd4c_status status = nd4c_region_make(&region, count, sizeof *f->missing, &f->missing);
  status = status == ND4C_OK ? nd4c_region_make(&region, count, sizeof(nd4c_array *), &f->arrays) : status;
  status = status == ND4C_OK ? find_missing(f, &any) : status;
  if (status == ND4C_OK && any) {
    status = compute(f);
    status = status == ND4C_OK ? own_constants(f) : status;
    status = status == ND4C_OK ? add_missing(f) : status;
  }
  for (int32_t i = 0; i < count && f->arrays != NULL; i++) {
    nd4c_array_release(f->arrays[i]);
  }
  nd4c_region_free(&region);
  return status;
}

nd4c_status nd4c_state_initialize(nd4c_state *state, const nd4c_graph *graph, nd4c_context *context) {
  ND4C_TRY(nd4c_state_check(state));
  ND4C_TRY(nd4c_graph_check(graph));
  filling f = {.state = state, .graph = graph};
  ND4C_TRY(nd4c_context_resolve(context, &f.context));
  return graph->variables.count == 0 ? ND4C_OK : fill(&f);
}

/* -- plans --------------------------------------------------------------------------------------------------------- */

static nd4c_status find_items(nd4c_plan *plan, nd4c_plan_variables *made) {
  const nd4c_graph *graph = plan->graph;
  ND4C_TRY(nd4c_region_make(&plan->region, made->count, sizeof(nd4c_state_item *), &made->items));
  ND4C_TRY(nd4c_region_make(&plan->region, made->count, sizeof(nd4c_state_item *), &made->assigned));
  nd4c_lock_acquire(&made->state->lock);
  for (int32_t i = 0; i < made->count; i++) {
    made->items[i] = nd4c_state_find(made->state, graph->variables.items[i].name);
    if (graph->variable_items[i].assigned != ND4C_VALUE_NONE) {
      made->assigned[made->assigned_count++] = made->items[i];
    }
  }
  nd4c_lock_release(&made->state->lock);
  return ND4C_OK;
}

nd4c_status nd4c_plan_open_ports(nd4c_plan *plan, bool optimize) {
  nd4c_rewrite rewrite;
  ND4C_TRY(nd4c_variables_open(plan->graph, false));
  if (optimize || plan->graph->variables.count == 0) {
    return ND4C_OK;
  }
  const nd4c_status status = nd4c_rewrite_begin(&rewrite, plan->graph, plan->context);
  const nd4c_status ended = nd4c_rewrite_end(&rewrite);
  return status != ND4C_OK ? status : ended;
}

nd4c_status nd4c_plan_open_variables(nd4c_plan *plan, const nd4c_plan_options *options) {
  nd4c_plan_variables *made = NULL;
  if (plan->graph->variables.count == 0) {
    return ND4C_OK;
  }
  nd4c_state *given = options != NULL && ND4C_HAS_FIELD(options, state) ? options->state : NULL;
  nd4c_state *state = given != NULL ? given : plan->graph->state;
  ND4C_TRY(nd4c_state_initialize(state, plan->graph, plan->context));
  ND4C_TRY(nd4c_region_make(&plan->region, 1, sizeof *made, &made));
  made->state = nd4c_state_retain(state);
  made->own = given == NULL;
  made->count = plan->graph->variables.count;
  made->input_count = plan->graph->inputs.count;
  made->output_count = plan->graph->outputs.count;
  nd4c_lock_init(&made->lock);
  plan->variables = made;
  ND4C_TRY(find_items(plan, made));
  return nd4c_plan_open_ports(plan, options == NULL || !options->no_optimization);
}

void nd4c_plan_free_variables(nd4c_plan *plan) {
  nd4c_plan_variables *variables = plan->variables;
  if (variables == NULL) {
    return;
  }
  while (variables->idle != NULL) {
    run_frame *frame = variables->idle;
    variables->idle = frame->next;
    nd4c_deallocate(frame);
  }
  nd4c_lock_destroy(&variables->lock);
  nd4c_state_release(variables->state);
  plan->variables = NULL;
}

int32_t nd4c_plan_given_inputs(const nd4c_plan *plan) {
  return plan->variables != NULL ? plan->variables->input_count : plan->graph->inputs.count;
}

int32_t nd4c_plan_given_outputs(const nd4c_plan *plan) {
  return plan->variables != NULL ? plan->variables->output_count : plan->graph->outputs.count;
}

void nd4c_plan_print_variables(const nd4c_plan *plan, nd4c_text *text) {
  const nd4c_plan_variables *variables = plan->variables;
  int64_t bytes = 0;
  int32_t trainable = 0;
  if (variables == NULL) {
    return;
  }
  for (int32_t i = 0; i < variables->count; i++) {
    int64_t size = 1;
    for (int32_t k = 0; k < variables->items[i]->rank; k++) {
      size *= variables->items[i]->shape[k]; /* checked when the variable was declared */
    }
    bytes += nd4c_dtype_bytes(variables->items[i]->dtype, size);
    trainable += variables->items[i]->trainable;
  }
  nd4c_text_print(text, "variables: %d with %lld bytes, %d trainable, %d assigned by each run; %s\n",
                  (int)variables->count, (long long)bytes, (int)trainable, (int)variables->assigned_count,
                  variables->own ? "in the graph's own state" : "in a state that the options name");
}

/* -- runs ---------------------------------------------------------------------------------------------------------- */

static nd4c_status take_frame(nd4c_plan_variables *variables, run_frame **frame) {
  const size_t inputs = (size_t)variables->input_count + (size_t)variables->count;
  const size_t outputs = (size_t)variables->output_count + (size_t)variables->assigned_count;
  nd4c_lock_acquire(&variables->lock);
  run_frame *found = variables->idle;
  variables->idle = found != NULL ? found->next : NULL;
  nd4c_lock_release(&variables->lock);
  if (found == NULL) {
    /* The struct's size is a multiple of a pointer's. */
    const size_t pointers = inputs + outputs + (size_t)variables->count;
    const size_t bytes = sizeof *found + pointers * sizeof(void *) + inputs * sizeof(bool);
    ND4C_TRY(nd4c_allocate_or_fail(1, bytes, "a run with variables", &found));
    void *lists = found + 1;
    found->inputs = lists;
    lists = found->inputs + inputs;
    found->outputs = lists;
    found->held = found->outputs + outputs;
    lists = found->held + variables->count;
    found->donated = lists;
  }
  *frame = found;
  return ND4C_OK;
}

static void give_frame(nd4c_plan_variables *variables, run_frame *frame) {
  nd4c_lock_acquire(&variables->lock);
  frame->next = variables->idle;
  variables->idle = frame;
  nd4c_lock_release(&variables->lock);
}

/* Takes the variables as they are now. */
static void snapshot(nd4c_plan_variables *variables, run_frame *frame) {
  nd4c_lock_acquire(&variables->state->lock);
  for (int32_t i = 0; i < variables->count; i++) {
    frame->held[i] = nd4c_array_retain(variables->items[i]->current);
    frame->inputs[variables->input_count + i] = frame->held[i];
  }
  nd4c_lock_release(&variables->state->lock);
}

static nd4c_status prepare(const nd4c_plan *plan, const run_frame *frame) {
  const nd4c_plan_variables *variables = plan->variables;
  for (int32_t i = 0; i < variables->assigned_count; i++) {
    const nd4c_status status =
        nd4c_state_prepare(variables->assigned[i], plan->device, &frame->outputs[variables->output_count + i]);
    if (status != ND4C_OK) {
      return nd4c_fail_prefix(status, "plan: variable '%.*s'", SHOWN, variables->assigned[i]->name);
    }
  }
  return ND4C_OK;
}

/* A failed run has poisoned what it may have written of what it was to assign; the rest serves the next run. */
static void commit(const nd4c_plan_variables *variables, bool succeeded) {
  nd4c_lock_acquire(&variables->state->lock);
  for (int32_t i = 0; i < variables->assigned_count; i++) {
    nd4c_state_item *item = variables->assigned[i];
    if (succeeded) {
      nd4c_state_commit(item);
    } else if (item->spare != NULL && nd4c_storage_is_poisoned(item->spare->storage)) {
      nd4c_state_abandon(item);
    }
  }
  nd4c_lock_release(&variables->state->lock);
}

static nd4c_status run_frame_of(nd4c_plan *plan, nd4c_context *context, run_frame *frame,
                                const nd4c_run_request *request) {
  nd4c_plan_variables *variables = plan->variables;
  nd4c_run_request whole = *request;
  whole.inputs = frame->inputs;
  whole.outputs = frame->outputs;
  whole.input_count = variables->input_count + variables->count;
  whole.output_count = variables->output_count + variables->assigned_count;
  whole.donated = request->donated != NULL ? frame->donated : NULL;
  whole.checked = true; /* the caller's ports were, and the state's arrays were when they were added */
  snapshot(variables, frame);
  nd4c_status status = prepare(plan, frame);
  status = status == ND4C_OK ? nd4c_plan_run_ports(plan, context, &whole) : status;
  for (int32_t i = 0; i < variables->count; i++) {
    nd4c_array_release(frame->held[i]); /* before the commit: they may be what the next run writes */
  }
  if (variables->assigned_count > 0) {
    commit(variables, status == ND4C_OK);
  }
  for (int32_t i = 0; i < variables->output_count && status == ND4C_OK; i++) {
    request->outputs[i] = frame->outputs[i];
  }
  return status;
}

nd4c_status nd4c_plan_run_variables(nd4c_plan *plan, nd4c_context *context, const nd4c_run_request *request) {
  nd4c_plan_variables *variables = plan->variables;
  run_frame *frame = NULL;
  ND4C_TRY(take_frame(variables, &frame));
  for (int32_t i = 0; i < variables->input_count; i++) {
    frame->inputs[i] = request->inputs[i];
    frame->donated[i] = request->donated != NULL && request->donated[i];
  }
  for (int32_t i = 0; i < variables->output_count; i++) {
    frame->outputs[i] = request->outputs[i];
  }
  const bool assigns = variables->assigned_count > 0;
  nd4c_status status = assigns ? nd4c_state_begin(variables->state) : ND4C_OK;
  if (status == ND4C_OK) {
    status = run_frame_of(plan, context, frame, request);
    if (assigns) {
      nd4c_state_end(variables->state);
    }
  }
  give_frame(variables, frame);
  return status;
}

/* -- freezing ------------------------------------------------------------------------------------------------------ */

/* Copies, because the state's arrays change places. `names` and `arrays` have room for all variables. */
static nd4c_status make_constants(nd4c_state *state, nd4c_graph *graph, const char **names, nd4c_array **arrays) {
  const int32_t count = graph->variables.count;
  for (int32_t i = 0; i < count; i++) {
    names[i] = graph->variables.items[i].name;
  }
  ND4C_TRY(nd4c_state_get(state, names, arrays, count));
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < count; i++) {
    nd4c_graph_value *value = &graph->values[graph->variables.items[i].value];
    value->constant = arrays[i];
    value->variable = -1;
    status = status == ND4C_OK ? nd4c_storage_own(arrays[i]->storage) : status;
  }
  return status;
}

static nd4c_status freeze(nd4c_state *state, nd4c_graph *graph) {
  const int32_t count = graph->variables.count;
  nd4c_region region = {0};
  const char **names = NULL;
  nd4c_array **arrays = NULL;
  nd4c_status status = nd4c_region_make(&region, count, sizeof *names, &names);
  status = status == ND4C_OK ? nd4c_region_make(&region, count, sizeof *arrays, &arrays) : status;
  status = status == ND4C_OK ? make_constants(state, graph, names, arrays) : status;
  nd4c_region_free(&region);
  nd4c_variables_free(graph);
  return status;
}

nd4c_status nd4c_graph_freeze(const nd4c_graph *graph, nd4c_state *state, nd4c_context *context, nd4c_graph **frozen) {
  nd4c_graph *made = NULL;
  ND4C_TRY(nd4c_graph_check(graph));
  if (frozen == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_freeze: frozen is NULL");
  }
  nd4c_state *from = state != NULL ? state : graph->state;
  if (graph->variables.count > 0) {
    ND4C_TRY(nd4c_state_initialize(from, graph, context));
  }
  ND4C_TRY(nd4c_graph_clone(graph, &made));
  const nd4c_status status = made->variables.count > 0 ? freeze(from, made) : ND4C_OK;
  if (status != ND4C_OK) {
    nd4c_graph_destroy(made);
    return status;
  }
  *frozen = made;
  return ND4C_OK;
}
