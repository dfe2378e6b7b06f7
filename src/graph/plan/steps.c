/* Steps: describes the operands of every node that computes, and prepares its choice. A stage of nd4c_plan_create
 * (plan.c). */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "device/stream/cancellation.h"
#include "dispatch/constants.h"
#include "graph/control.h"
#include "graph/ir/attrs.h"
#include "graph/plan/common.h"

const char *nd4c_plan_node_text(const nd4c_plan *plan, int32_t node, char *buffer, size_t size) {
  const nd4c_graph_node *info = &plan->graph->nodes[node];
  if (info->label[0] == '\0') {
    (void)snprintf(buffer, size, "node %d (%s)", node, info->def->info.name);
  } else {
    (void)snprintf(buffer, size, "node '%s' (%s)", info->label, info->def->info.name);
  }
  return nd4c_text_clean(buffer, false);
}

nd4c_status nd4c_plan_fail_node(const nd4c_plan *plan, int32_t node, nd4c_status status) {
  char text[256];
  return nd4c_fail_prefix(status, "%s", nd4c_plan_node_text(plan, node, text, sizeof text));
}

/* True if the node has nothing to do when the plan runs: its output is a view, or other nodes compute it in parts. */
static bool is_done(const nd4c_plan *plan, const nd4c_graph_node *node) {
  const nd4c_slot *output = &plan->slots[node->outputs[0]];
  return node->output_count == 1 && (output->joined || (output->kind == ND4C_SLOT_VIEW && node->def->view != NULL));
}

void nd4c_plan_describe_operands(const nd4c_plan *plan, nd4c_step *step) {
  for (int32_t i = 0; i < step->input_count; i++) {
    if (step->inputs[i] < 0) {
      step->tensors[i] = (nd4c_tensor){.dtype = ND4C_DTYPE_NONE};
      continue;
    }
    const nd4c_slot *slot = &plan->slots[step->inputs[i]];
    nd4c_slot_describe(slot, &step->tensors[i]);
    if (plan->slots[slot->root].kind == ND4C_SLOT_CONSTANT) {
      step->tensors[i].flags |= ND4C_TENSOR_CONSTANT | ND4C_TENSOR_READ_ONLY;
    }
  }
  for (int32_t i = 0; i < step->output_count; i++) {
    nd4c_slot_describe(&plan->slots[step->outputs[i]], &step->tensors[step->input_count + i]);
  }
}

void nd4c_plan_find_constants(const nd4c_plan *plan, const nd4c_step *step, nd4c_constant_input *items) {
  for (int32_t i = 0; i < step->input_count; i++) {
    const nd4c_slot *slot = step->inputs[i] < 0 ? NULL : &plan->slots[step->inputs[i]];
    const nd4c_slot *root = slot == NULL ? NULL : &plan->slots[slot->root];
    items[i] = root != NULL && root->kind == ND4C_SLOT_CONSTANT ? (nd4c_constant_input){root->array, slot->offset}
                                                                : (nd4c_constant_input){NULL, 0};
  }
}

const nd4c_constant_input *nd4c_plan_constants_of(nd4c_plan *plan, const nd4c_step *step) {
  nd4c_constant_input *items = nd4c_region_take(&plan->region, step->input_count, sizeof *items);
  if (items != NULL) {
    nd4c_plan_find_constants(plan, step, items);
  }
  return items;
}

/* Whether the device takes the operands with their layouts. */
static bool fits_whole(const nd4c_plan *plan, const nd4c_step *step) {
  bool whole = true;
  for (int32_t i = 0; i < step->input_count + step->output_count; i++) {
    const nd4c_value value = i < step->input_count ? step->inputs[i] : step->outputs[i - step->input_count];
    const nd4c_slot *slot = value >= 0 ? &plan->slots[value] : NULL;
    whole = whole && (slot == NULL || slot->dtype == ND4C_UTF8 || (slot->contiguous && slot->offset == 0));
  }
  return whole;
}

static void set_place(const nd4c_plan *plan, int32_t place, nd4c_step *step) {
  const nd4c_context *context = plan->places[place].context;
  step->place = place;
  step->call.stream = context->stream;
  step->call.device = context->device->handle;
  step->call.width = context->width;
}

void nd4c_plan_note_bound(nd4c_plan *plan, const nd4c_step *step, const nd4c_constant_input *items) {
  for (int32_t i = 0; i < step->input_count; i++) {
    if (items[i].array != NULL && step->tensors[i].layout == ND4C_LAYOUT_STRIDED) {
      plan->slots[plan->slots[step->inputs[i]].root].bound = true;
    }
  }
}

/* Makes a choice on one of the plan's devices. If another device may take the step instead, constants are copied only
 * to a device that can use them. */
static nd4c_status choose_at(nd4c_plan *plan, int32_t place, const nd4c_constant_input *items, nd4c_step *step) {
  const nd4c_context *context = plan->places[place].context;
  set_place(plan, place, step);
  const bool alone = plan->place_count == 1 && plan->helper == NULL;
  if (context->device->description.whole_buffers && !fits_whole(plan, step)) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s: %s takes whole buffers, and an operand is a part of one",
                     step->call.op->name, context->device->name);
  }
  if (!alone && !nd4c_choice_is_possible(context, &step->call, plan->compile)) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s: nothing on %s computes this call", step->call.op->name,
                     context->device->name);
  }
  const nd4c_constants constants = nd4c_common_constants(plan, step, items);
  ND4C_TRY(nd4c_choice_make(context, &step->call, &constants, plan->compile, &step->choice));
  nd4c_plan_note_bound(plan, step, items);
  return ND4C_OK;
}

/* Tries the device of the node's placement; then, with a line in the report, the plan's device and the others. */
static nd4c_status choose(nd4c_plan *plan, nd4c_step *step) {
  int32_t wanted = nd4c_plan_place_of(plan, step->node);
  const nd4c_constant_input *items = nd4c_plan_constants_of(plan, step);
  if (items == NULL) {
    return nd4c_error_code();
  }
  nd4c_status first = choose_at(plan, wanted, items, step);
  if (first != ND4C_UNSUPPORTED || plan->context->strict || (plan->place_count == 1 && plan->helper == NULL)) {
    return first;
  }
  const char *reason = nd4c_region_text(&plan->region, nd4c_error_message());
  if (plan->helper != NULL && plan->place_count == 1) {
    nd4c_plan_add_helper(plan);
  }
  for (int32_t i = 0; i < plan->place_count; i++) {
    nd4c_status status = i == wanted ? ND4C_UNSUPPORTED : choose_at(plan, i, items, step);
    if (status == ND4C_OK) {
      step->declined = reason != NULL ? reason : "nothing there computes it";
      nd4c_report_difference(step->call.op->name, plan->places[wanted].device->name, plan->places[i].device->name,
                             step->declined);
    }
    if (status != ND4C_UNSUPPORTED) {
      return status;
    }
  }
  return nd4c_fail(first, "%s", reason != NULL ? reason : "no kernel or compiler computes this call");
}

nd4c_status nd4c_plan_describe_step(nd4c_plan *plan, int32_t index, nd4c_step *step) {
  const nd4c_graph_node *node = &plan->graph->nodes[index];
  step->node = index;
  step->input_count = node->input_count;
  step->output_count = node->output_count;
  step->inputs = node->inputs;
  step->outputs = node->outputs;
  ND4C_TRY(nd4c_region_make(&plan->region, (int64_t)node->input_count + node->output_count, sizeof *step->tensors,
                            &step->tensors));
  nd4c_plan_describe_operands(plan, step);
  step->call = (nd4c_call){.struct_size = ND4C_SIZE_OF(nd4c_call),
                           .op = &node->def->info,
                           .input_count = node->input_count,
                           .output_count = node->output_count,
                           .inputs = step->tensors,
                           .outputs = step->tensors + node->input_count,
                           .attrs = node->attrs};
  return ND4C_OK;
}

static nd4c_status prepare_step(nd4c_plan *plan, int32_t index, nd4c_step *step) {
  ND4C_TRY(nd4c_plan_describe_step(plan, index, step));
  step->call.flags = plan->context->deterministic ? ND4C_CALL_DETERMINISTIC : 0;
  step->call.flags |= plan->precision != ND4C_DTYPE_NONE ? ND4C_CALL_REDUCED : 0;
  return ND4C_OK;
}

nd4c_status nd4c_plan_place_constant(nd4c_plan *plan, nd4c_value value, nd4c_tensor *tensor) {
  const nd4c_slot *slot = &plan->slots[value];
  nd4c_slot *root = &plan->slots[slot->root];
  if (slot->kind == ND4C_SLOT_UNUSED || root->kind != ND4C_SLOT_CONSTANT) {
    return ND4C_OK;
  }
  root->bound = true;
  return nd4c_constant_bind(plan->context, &(nd4c_constant_input){root->array, slot->offset}, tensor);
}

/* A step that runs bodies. Its constants are on the device, unpacked: a body's plan does not know that they are
 * constant. */
static nd4c_status make_control(nd4c_plan *plan, int32_t index, nd4c_step *step) {
  ND4C_TRY(prepare_step(plan, index, step));
  step->control = nd4c_plan_control_of(plan, index);
  set_place(plan, 0, step);
  for (int32_t i = 0; i < step->input_count; i++) {
    ND4C_TRY(nd4c_plan_place_constant(plan, step->inputs[i], &step->tensors[i]));
  }
  return ND4C_OK;
}

/* -- steps of bindings -----------------------------------------------------------------------------------------------
 */

/* Passes of the first binding may have given it other arrays. */
static bool has_same_constants(const nd4c_plan *plan, const nd4c_step *step) {
  bool same = true;
  for (int32_t i = 0; i < step->input_count && same; i++) {
    const nd4c_value value = step->inputs[i];
    const nd4c_slot *slot = value < 0 ? NULL : &plan->slots[value],
                    *other = &plan->previous->slots[value < 0 ? 0 : value];
    same = slot == NULL || (plan->slots[slot->root].array == plan->previous->slots[other->root].array &&
                            (plan->slots[slot->root].array == NULL || slot->offset == other->offset));
  }
  return same;
}

/* The same step of the binding whose bucket this one takes; NULL: there is none. */
static const nd4c_step *previous_step(const nd4c_plan *plan, const nd4c_step *step) {
  const int64_t at = step - plan->steps;
  const nd4c_step *from =
      plan->previous == NULL || at >= plan->previous->step_count ? NULL : &plan->previous->steps[at];
  const bool same = from != NULL && from->choice != NULL && from->node == step->node &&
                    from->call.op == step->call.op && from->input_count == step->input_count &&
                    from->output_count == step->output_count;
  return same && memcmp(from->inputs, step->inputs, (size_t)step->input_count * sizeof *step->inputs) == 0 &&
                 has_same_constants(plan, step)
             ? from
             : NULL;
}

static bool has_same_attrs(const nd4c_step *a, const nd4c_step *b) {
  return nd4c_attrs_equal(a->call.op->attr_count, a->call.attrs, b->call.attrs);
}

static bool has_same_operands(const nd4c_step *a, const nd4c_step *b) {
  bool same = true;
  for (int32_t i = 0; i < a->input_count + a->output_count && same; i++) {
    const nd4c_tensor *left = &a->tensors[i], *right = &b->tensors[i];
    const size_t bytes = (size_t)left->rank * sizeof *left->shape;
    same = left->dtype == right->dtype && left->rank == right->rank &&
           (bytes == 0 ||
            (memcmp(left->shape, right->shape, bytes) == 0 && memcmp(left->strides, right->strides, bytes) == 0));
  }
  return same;
}

/* Keeps the choice of the bucket's earlier binding, if it serves the extents as it is. */
static bool keep_choice(nd4c_plan *plan, const nd4c_step *from, nd4c_step *step) {
  if (from == NULL || !((has_same_attrs(from, step) && has_same_operands(from, step)) ||
                        nd4c_choice_serves(from->choice, &step->call))) {
    return false;
  }
  step->choice = nd4c_choice_retain(from->choice);
  nd4c_common_place_constants(plan, from->tensors, step);
  return true;
}

/* Prepares the kernel of the bucket's earlier binding for the extents; the step gets no choice if it does not take
 * them.
 */
static nd4c_status keep_kernel(nd4c_plan *plan, const nd4c_step *from, nd4c_step *step) {
  if (from == NULL || from->choice->kernel == NULL) {
    return ND4C_OK;
  }
  const nd4c_constant_input *items = nd4c_plan_constants_of(plan, step);
  if (items == NULL) {
    return nd4c_error_code();
  }
  const nd4c_constants constants = {
      .inputs = step->tensors, .items = items, .like = from->choice, .placed = from->tensors};
  ND4C_TRY(nd4c_choice_make_with(plan->context, &step->call, &constants, from->choice->kernel, &step->choice));
  if (step->choice != NULL) {
    nd4c_plan_note_bound(plan, step, items);
  }
  return ND4C_OK;
}

/* A binding takes the choice of an earlier one for equal operands. *found false: there is none. */
static nd4c_status take_shared(nd4c_plan *plan, const nd4c_step *from, nd4c_step *step, bool *found) {
  set_place(plan, 0, step);
  *found = keep_choice(plan, from, step);
  return *found ? ND4C_OK : nd4c_common_find_choice(plan, step, from != NULL ? from->choice->kernel : NULL, found);
}

static nd4c_status choose_shared(nd4c_plan *plan, nd4c_step *step) {
  const nd4c_step *from = previous_step(plan, step);
  bool found = false;
  ND4C_TRY(take_shared(plan, from, step, &found));
  if (found) {
    return ND4C_OK;
  }
  ND4C_TRY(keep_kernel(plan, from, step));
  const bool kept = step->choice != NULL;
  if (kept && !nd4c_choice_is_model(step->choice)) {
    return ND4C_OK; /* not added: a growing sequence does not come back to these extents */
  }
  ND4C_TRY(kept ? ND4C_OK : choose(plan, step));
  const nd4c_status status = nd4c_common_add_choice(plan, step, kept);
  if (status != ND4C_OK) {
    nd4c_choice_release(step->choice);
    step->choice = NULL;
  }
  return status;
}

/* -- steps that wait -------------------------------------------------------------------------------------------------
 *
 * A library that prepares a kernel empties the processor's caches, and a further binding is short. So a binding first
 * takes what earlier ones have chosen, then chooses for one step of each class that is new, and at last gives the other
 * steps of these classes a share in that. */

typedef struct waiting_steps {
  int32_t *steps;    /* their places among the plan's steps */
  uint64_t *classes; /* hashes, of the signatures that common_choices.c looks for */
  int32_t count;
  int32_t told; /* of the progress; -1: nothing */
} waiting_steps;

/* Tells the progress where it went on: what waits is not done. */
static void tell(const nd4c_plan *plan, waiting_steps *waiting, int32_t done) {
  if (done != waiting->told) {
    waiting->told = done;
    nd4c_progress_tell(plan->progress, "preparing", done, plan->graph->node_count);
  }
}

static nd4c_status take_or_wait(nd4c_plan *plan, nd4c_step *step, waiting_steps *waiting) {
  bool found = false;
  if (waiting->steps == NULL) {
    const int32_t left = plan->graph->node_count - plan->step_count;
    ND4C_TRY(nd4c_region_make(&plan->region, left, sizeof *waiting->steps, &waiting->steps));
    ND4C_TRY(nd4c_region_make(&plan->region, left, sizeof *waiting->classes, &waiting->classes));
  }
  ND4C_TRY(take_shared(plan, previous_step(plan, step), step, &found));
  if (!found) {
    waiting->steps[waiting->count] = (int32_t)(step - plan->steps);
    waiting->classes[waiting->count++] = plan->common->class_hash;
  }
  return ND4C_OK;
}

/* Whether the class is new among those seen, which it joins; `seen`: hashes by hash, 0 where there is none. */
static bool is_new_class(uint64_t *seen, int32_t mask, uint64_t hash) {
  int32_t at = (int32_t)(hash & (uint64_t)mask);
  while (seen[at] != 0 && seen[at] != hash) {
    at = (at + 1) & mask;
  }
  const bool is_new = seen[at] == 0;
  seen[at] = hash;
  return is_new;
}

/* Brings one step of each class to the front; both parts keep their order. */
static nd4c_status sort_by_class(nd4c_region *region, waiting_steps *waiting) {
  int32_t capacity = 4, front = 0, back = 0, *others = NULL;
  uint64_t *seen = NULL;
  while (capacity / 2 < waiting->count && capacity <= INT32_MAX / 2) {
    capacity *= 2;
  }
  ND4C_TRY(nd4c_region_make(region, capacity, sizeof *seen, &seen));
  ND4C_TRY(nd4c_region_make(region, waiting->count, sizeof *others, &others));
  for (int32_t i = 0; i < waiting->count; i++) {
    if (is_new_class(seen, capacity - 1, waiting->classes[i])) {
      waiting->steps[front++] = waiting->steps[i];
    } else {
      others[back++] = waiting->steps[i];
    }
  }
  memcpy(waiting->steps + front, others, (size_t)back * sizeof *others);
  return ND4C_OK;
}

static nd4c_status choose_waiting(nd4c_plan *plan, waiting_steps *waiting) {
  if (waiting->count == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(sort_by_class(&plan->region, waiting));
  for (int32_t i = 0; i < waiting->count; i++) {
    nd4c_step *step = &plan->steps[waiting->steps[i]];
    tell(plan, waiting, plan->graph->node_count - waiting->count + i);
    nd4c_status status = nd4c_cancellation_poll();
    status = status == ND4C_OK ? choose_shared(plan, step) : status;
    if (status != ND4C_OK) {
      return nd4c_plan_fail_node(plan, step->node, status);
    }
  }
  return ND4C_OK;
}

/* If no device of the plan has a kernel, the node may still be a view of its input on a device that takes parts of
 * buffers. */
static nd4c_status make_step(nd4c_plan *plan, int32_t index, nd4c_step *step, waiting_steps *waiting) {
  bool copied = false;
  if (nd4c_plan_control_of(plan, index) != NULL) {
    return make_control(plan, index, step);
  }
  ND4C_TRY(prepare_step(plan, index, step));
  if (plan->common != NULL) {
    return take_or_wait(plan, step, waiting);
  }
  const nd4c_status status = choose(plan, step);
  if (status != ND4C_UNSUPPORTED || plan->place_count == 1) {
    return status;
  }
  ND4C_TRY(nd4c_plan_copy_view(plan, index, &copied));
  if (!copied) {
    return status;
  }
  ND4C_TRY(prepare_step(plan, index, step));
  return choose(plan, step);
}

/* The profile goes on where a binding takes another one's place. */
static void keep_times(const nd4c_plan *plan, nd4c_step *step) {
  const int64_t at = step - plan->steps;
  nd4c_step *from = plan->previous == NULL || at >= plan->previous->step_count ? NULL : &plan->previous->steps[at];
  if (from != NULL && from->node == step->node) {
    atomic_store_explicit(&step->nanoseconds, atomic_load(&from->nanoseconds), memory_order_relaxed);
    atomic_store_explicit(&step->total_nanoseconds, atomic_load(&from->total_nanoseconds), memory_order_relaxed);
    atomic_store_explicit(&step->profiled_runs, atomic_load(&from->profiled_runs), memory_order_relaxed);
  }
}

nd4c_status nd4c_plan_make_steps(nd4c_plan *plan) {
  const nd4c_graph *graph = plan->graph;
  waiting_steps waiting = {.told = -1};
  ND4C_TRY(nd4c_region_make(&plan->region, graph->node_count, sizeof *plan->steps, &plan->steps));
  for (int32_t i = 0; i < graph->node_count; i++) {
    tell(plan, &waiting, i - waiting.count);
    if (is_done(plan, &graph->nodes[i])) {
      continue;
    }
    nd4c_step *step = &plan->steps[plan->step_count];
    int32_t segment = nd4c_plan_segment_of(plan, i);
    if (segment >= 0 && i + 1 < graph->node_count && nd4c_plan_segment_of(plan, i + 1) == segment) {
      continue; /* the segment becomes one step at its last node */
    }
    nd4c_status status = nd4c_cancellation_poll();
    if (status == ND4C_OK) {
      status = segment >= 0 ? nd4c_plan_make_segment(plan, i, step) : make_step(plan, i, step, &waiting);
    }
    if (status != ND4C_OK) {
      return nd4c_plan_fail_node(plan, i, status);
    }
    keep_times(plan, step);
    plan->step_count++;
  }
  ND4C_TRY(choose_waiting(plan, &waiting));
  nd4c_progress_tell(plan->progress, "preparing", graph->node_count, graph->node_count);
  return ND4C_OK;
}
