/* Implements control.h, except for runs: makes a plan for each body that a plan's nodes have. plan.c calls it. */
#include "graph/control.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/status.h"
#include "dispatch/routed.h"

enum { ALIGNMENT = 64, SPARES = 2 };

/* -- plans of bodies ----------------------------------------------------------------------------------------------- */

static nd4c_status fill_plan(const nd4c_plan *outer, const nd4c_function *body, nd4c_plan *plan) {
  plan->context = nd4c_context_retain(outer->context);
  plan->device = outer->device;
  plan->rules = outer->rules;
  plan->family = outer->family;
  plan->profiled = outer->profiled;
  ND4C_TRY(nd4c_plan_inherit("nd4c_plan_create", outer, plan));
  ND4C_TRY(nd4c_graph_check_numbers(body->graph, "nd4c_plan_create"));
  ND4C_TRY(nd4c_graph_clone(body->graph, &plan->graph));
  plan->nodes_recorded = body->graph->node_count;
  return nd4c_plan_build(plan, outer->optimized);
}

static nd4c_status keep_plan(nd4c_plan_family *family, nd4c_function *body, nd4c_plan *plan) {
  ND4C_TRY(nd4c_grow(&family->functions, &family->function_capacity, family->count + 1, sizeof *family->functions,
                     "plans of bodies"));
  ND4C_TRY(
      nd4c_grow(&family->plans, &family->plan_capacity, family->count + 1, sizeof *family->plans, "plans of bodies"));
  family->functions[family->count] = nd4c_function_retain(body);
  family->plans[family->count] = plan;
  family->count++;
  return ND4C_OK;
}

static nd4c_status find_plan(const nd4c_plan *outer, nd4c_function *body, nd4c_plan **plan) {
  nd4c_plan_family *family = outer->family;
  nd4c_plan *made = NULL;
  for (int32_t i = 0; i < family->count; i++) {
    if (family->functions[i] == body) {
      *plan = family->plans[i];
      return ND4C_OK;
    }
  }
  ND4C_TRY(nd4c_plan_allocate(&made));
  nd4c_status status = fill_plan(outer, body, made);
  status = status == ND4C_OK ? keep_plan(family, body, made) : status;
  if (status != ND4C_OK) {
    nd4c_plan_destroy(made);
    return status;
  }
  *plan = made;
  return ND4C_OK;
}

void nd4c_plan_release_bodies(nd4c_plan *plan) {
  for (int32_t i = 0; i < plan->control_count; i++) {
    nd4c_control_step *made = plan->controls[i];
    if (made == NULL) {
      continue;
    }
    for (int32_t k = 0; made->spares != NULL && k < SPARES * made->control->carried; k++) {
      nd4c_array_release(made->spares[k]);
    }
    nd4c_array_release(made->round);
    nd4c_array_release(made->goes);
  }
  nd4c_plan_family *family = plan->family_is_own ? plan->family : NULL;
  plan->family = NULL;
  if (family == NULL) {
    return;
  }
  for (int32_t i = 0; i < family->count; i++) {
    nd4c_plan_destroy(family->plans[i]);
    nd4c_function_release(family->functions[i]);
  }
  nd4c_deallocate(family->functions);
  nd4c_deallocate(family->plans);
  nd4c_deallocate(family);
}

/* -- scratch ------------------------------------------------------------------------------------------------------- */

static nd4c_status take_scratch(nd4c_control_step *made, int64_t bytes, int64_t *at) {
  int64_t rounded = 0;
  *at = made->scratch_bytes;
  if (!nd4c_checked_add(bytes, ALIGNMENT - 1, &rounded) ||
      !nd4c_checked_add(made->scratch_bytes, rounded / ALIGNMENT * ALIGNMENT, &made->scratch_bytes)) {
    return nd4c_fail(ND4C_OVERFLOW, "the values that it carries exceed what can be addressed");
  }
  return ND4C_OK;
}

static nd4c_status lay_scratch(nd4c_plan *plan, const nd4c_graph_node *node, nd4c_control_step *made) {
  const nd4c_control *control = made->control;
  int32_t inputs = 0, outputs = 0;
  int64_t *spares = NULL;
  for (int32_t i = 0; i < control->body_count; i++) {
    const nd4c_graph *body = control->bodies[i]->graph;
    inputs = body->inputs.count > inputs ? body->inputs.count : inputs;
    outputs = body->outputs.count > outputs ? body->outputs.count : outputs;
  }
  ND4C_TRY(take_scratch(made, (int64_t)inputs * (int64_t)sizeof(void *), &made->inputs_at));
  ND4C_TRY(take_scratch(made, (int64_t)outputs * (int64_t)sizeof(void *), &made->outputs_at));
  ND4C_TRY(take_scratch(made, (int64_t)sizeof(int64_t), &made->round_at));
  ND4C_TRY(take_scratch(made, 1, &made->goes_at));
  ND4C_TRY(nd4c_region_make(&plan->region, control->carried, sizeof *spares, &spares));
  for (int32_t i = 0; i < control->carried; i++) {
    const nd4c_graph_value *value = &plan->graph->values[node->outputs[i]];
    ND4C_TRY(take_scratch(made, nd4c_dtype_bytes(value->dtype, value->size), &spares[i]));
  }
  made->spares_at = spares;
  ND4C_TRY(nd4c_region_make(&plan->region, inputs, sizeof *made->inputs, &made->inputs));
  ND4C_TRY(nd4c_region_make(&plan->region, outputs, sizeof *made->outputs, &made->outputs));
  return nd4c_region_make(&plan->region, (int64_t)SPARES * control->carried, sizeof *made->spares, &made->spares);
}

/* -- what a node takes --------------------------------------------------------------------------------------------- */

/* Bodies take values in C order: constants are copied into it, and other values are computed in it. */
static nd4c_status take_in_order(nd4c_plan *plan, nd4c_value value) {
  nd4c_graph_value *info = &plan->graph->values[value];
  plan->fed[value] = true;
  info->order = NULL;
  if (info->constant == NULL || (info->constant->contiguous && !info->derived)) {
    return ND4C_OK;
  }
  if (!info->constant->contiguous) {
    nd4c_array *copy = NULL;
    ND4C_TRY(nd4c_array_empty(info->dtype, info->rank, info->shape, plan->device, &copy));
    const nd4c_status status = nd4c_call_inside(plan->context, ND4C_OP_copy, info->constant, &copy);
    if (status != ND4C_OK) {
      nd4c_array_release(copy);
      return status;
    }
    nd4c_array_release(info->constant);
    info->constant = copy;
  }
  return ND4C_OK;
}

static nd4c_status make_one(nd4c_plan *plan, int32_t index) {
  const nd4c_graph_node *node = &plan->graph->nodes[index];
  nd4c_control_step *made = NULL;
  ND4C_TRY(nd4c_region_make(&plan->region, 1, sizeof *made, &made));
  made->control = node->control;
  made->run = nd4c_control_run;
  made->run_arrays = nd4c_control_run_arrays;
  made->direct = true;
  plan->controls[index] = made;
  for (int32_t i = 0; i < node->control->body_count; i++) {
    ND4C_TRY(find_plan(plan, node->control->bodies[i], &made->bodies[i]));
    made->direct = made->direct && nd4c_plan_is_direct(made->bodies[i]);
  }
  for (int32_t i = 0; i < node->input_count; i++) {
    ND4C_TRY(take_in_order(plan, node->inputs[i]));
  }
  for (int32_t i = 0; i < node->output_count; i++) {
    plan->graph->values[node->outputs[i]].order = NULL;
  }
  return lay_scratch(plan, node, made);
}

/* UNSUPPORTED of a plan that cannot run bodies; the text says why. */
static nd4c_status check_plan(const nd4c_plan *plan) {
  if (plan->placement != NULL || plan->place_count > 1) {
    return nd4c_fail(ND4C_UNSUPPORTED, "a node with bodies runs on one device, and a placement names several");
  }
  if (plan->file.file != NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "%s: no file of executables holds bodies", plan->file.file_name);
  }
  return plan->whole ? nd4c_fail(ND4C_UNSUPPORTED, "%s takes whole buffers, and a loop's body gets parts of them",
                                 plan->device->name)
                     : ND4C_OK;
}

static nd4c_status make_all(nd4c_plan *plan) {
  if (plan->fed == NULL) {
    ND4C_TRY(nd4c_region_make(&plan->region, plan->graph->value_count, sizeof *plan->fed, &plan->fed));
  }
  ND4C_TRY(nd4c_region_make(&plan->region, plan->graph->node_count, sizeof(nd4c_control_step *), &plan->controls));
  plan->control_count = plan->graph->node_count;
  if (plan->family == NULL) {
    ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *plan->family, "plans of bodies", &plan->family));
    plan->family_is_own = true;
  }
  for (int32_t i = 0; i < plan->graph->node_count; i++) {
    nd4c_status status = plan->graph->nodes[i].control == NULL ? ND4C_OK : check_plan(plan);
    if (status == ND4C_OK && plan->graph->nodes[i].control != NULL) {
      status = make_one(plan, i);
    }
    if (status != ND4C_OK) {
      return nd4c_plan_fail_node(plan, i, status);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_plan_make_bodies(nd4c_plan *plan) {
  for (int32_t i = 0; i < plan->graph->node_count; i++) {
    if (plan->graph->nodes[i].control != NULL) {
      return make_all(plan);
    }
  }
  return ND4C_OK;
}

/* -- report -------------------------------------------------------------------------------------------------------- */

void nd4c_plan_print_control(const nd4c_step *step, nd4c_text *text) {
  const nd4c_control_step *made = step->control;
  const nd4c_control *control = made->control;
  nd4c_text_print(text, "%s", nd4c_control_def(control->kind)->info.name);
  if (control->bodies[0]->name != NULL) {
    nd4c_text_print(text, " of function '%s'", control->bodies[0]->name);
  }
  for (int32_t i = 0; i < control->body_count; i++) {
    nd4c_text_print(text, "%s %d steps", i == 0 ? ":" : " or", (int)made->bodies[i]->step_count);
  }
  if (control->kind == ND4C_CONTROL_LOOP || control->kind == ND4C_CONTROL_SCAN) {
    nd4c_text_print(text, " a round");
  }
  nd4c_text_print(text, " in mode %s", nd4c_plan_mode_name(made->bodies[0]));
}
