/* Which operands of a plan may share memory: a step's output with one of its inputs, which plan_memory.c asks when it
 * places values, and an output of the plan with an input of the plan, which run.c asks when a caller gives the same
 * memory for both. */
#include "array/shape.h"
#include "base/status.h"
#include "device/provider/compilers.h"
#include "graph/plan.h"

static bool same_layout(const nd4c_slot *a, const nd4c_slot *b) {
  if (a->dtype != b->dtype || a->rank != b->rank) {
    return false;
  }
  for (int32_t i = 0; i < a->rank; i++) {
    if (a->shape[i] != b->shape[i] || (a->strides[i] != b->strides[i] && a->shape[i] > 1)) {
      return false;
    }
  }
  return true;
}

/* Which inputs a step can compute in place of. */
static nd4c_alias_rule alias_of(const nd4c_plan *plan, const nd4c_step *step) {
  const nd4c_plan_segment *segment = step->segment;
  if (segment == NULL) {
    return plan->graph->nodes[step->node].def->alias;
  }
  return nd4c_compiler_computes_in_place(segment->compiler) && (segment->info.flags & ND4C_EXECUTABLE_KEEPS_INPUTS) == 0
             ? ND4C_ALIAS_SAME
             : ND4C_ALIAS_NONE;
}

/* The memory of an addend is not reused, because kernels may keep partial sums in the output. An op that replaces a
 * part of its first input reads its other operands while it writes. */
bool nd4c_plan_is_in_place(const nd4c_plan *plan, const nd4c_step *step, int32_t index) {
  const nd4c_alias_rule alias = alias_of(plan, step);
  if (step->output_count != 1 || step->inputs[index] < 0 || alias == ND4C_ALIAS_NONE ||
      (alias == ND4C_ALIAS_FIRST && index != 0)) {
    return false;
  }
  const nd4c_slot *output = &plan->slots[step->outputs[0]], *input = &plan->slots[step->inputs[index]];
  bool fits = input->offset == 0 && plan->slots[input->root].bytes == output->bytes && same_layout(input, output);
  for (int32_t k = 0; k < step->input_count && fits; k++) {
    const nd4c_slot *other = step->inputs[k] < 0 ? NULL : &plan->slots[step->inputs[k]];
    const bool shares = other != NULL && k != index && other->root == input->root;
    fits = !shares || (alias == ND4C_ALIAS_SAME && other->offset == 0 && same_layout(other, output));
  }
  return fits;
}

nd4c_status nd4c_plan_note_ports(nd4c_plan *plan) {
  const int32_t inputs = plan->graph->inputs.count, outputs = plan->graph->outputs.count;
  ND4C_TRY(nd4c_region_make(&plan->region, inputs, sizeof *plan->input_last, &plan->input_last));
  ND4C_TRY(nd4c_region_make(&plan->region, outputs, sizeof *plan->output_first, &plan->output_first));
  for (int32_t i = 0; i < inputs; i++) {
    plan->input_last[i] = -1;
  }
  for (int32_t i = 0; i < outputs; i++) {
    plan->output_first[i] = -1;
  }
  for (int32_t i = 0; i < plan->step_count; i++) {
    const nd4c_step *step = &plan->steps[i];
    for (int32_t k = 0; k < step->input_count; k++) {
      const nd4c_slot *root = step->inputs[k] < 0 ? NULL : &plan->slots[plan->slots[step->inputs[k]].root];
      if (root != NULL && root->kind == ND4C_SLOT_INPUT) {
        plan->input_last[root->port] = i;
      }
    }
    for (int32_t k = 0; k < step->output_count; k++) {
      const nd4c_slot *root = &plan->slots[plan->slots[step->outputs[k]].root];
      if (root->kind == ND4C_SLOT_OUTPUT && plan->output_first[root->port] < 0) {
        plan->output_first[root->port] = i;
      }
    }
  }
  return ND4C_OK;
}

/* The step that reads the input last begins the output: it must write the output itself, in place of the input. */
static bool is_computed_over(const nd4c_plan *plan, int32_t input, int32_t output) {
  const nd4c_step *step = &plan->steps[plan->output_first[output]];
  bool fits = step->output_count == 1 && step->outputs[0] == plan->graph->outputs.items[output].value &&
              plan->slots[step->outputs[0]].root == step->outputs[0];
  for (int32_t k = 0; k < step->input_count && fits; k++) {
    const nd4c_slot *root = step->inputs[k] < 0 ? NULL : &plan->slots[plan->slots[step->inputs[k]].root];
    const bool reads = root != NULL && root->kind == ND4C_SLOT_INPUT && root->port == input;
    fits = !reads || nd4c_plan_is_in_place(plan, step, k);
  }
  return fits;
}

bool nd4c_plan_may_overlay(const nd4c_plan *plan, int32_t input, int32_t output) {
  const int32_t last = plan->input_last[input], first = plan->output_first[output];
  if (plan->whole || first < 0 || last > first) {
    return false;
  }
  return last < first || is_computed_over(plan, input, output);
}

/* Whether the step is a concat whose kernel can be given the first input where that lies in the output. */
static bool extends(const nd4c_plan *plan, const nd4c_step *step) {
  const nd4c_kernel *kernel = step->choice == NULL ? NULL : step->choice->kernel;
  return kernel != NULL && plan->graph->nodes[step->node].def->info.op == ND4C_OP_concat &&
         ND4C_HAS_FIELD(kernel, flags) && (kernel->flags & ND4C_KERNEL_EXTENDS) != 0;
}

/* A step alone writes an output, and this one writes none of the input's elements: so it does not matter what else
 * reads the input, and when. */
bool nd4c_plan_may_extend(const nd4c_plan *plan, int32_t input, int32_t output) {
  const nd4c_step *step = plan->output_first[output] < 0 ? NULL : &plan->steps[plan->output_first[output]];
  if (plan->whole || step == NULL || !extends(plan, step) || step->inputs[0] < 0 ||
      step->outputs[0] != plan->graph->outputs.items[output].value) {
    return false;
  }
  const nd4c_slot *from = &plan->slots[step->inputs[0]], *to = &plan->slots[step->outputs[0]];
  const nd4c_graph_node *node = &plan->graph->nodes[step->node];
  const int32_t axis = nd4c_axis_index(node->attrs[ND4C_ATTR_concat_axis].as.i, to->rank);
  return from->kind == ND4C_SLOT_INPUT && from->port == input && to->kind == ND4C_SLOT_OUTPUT &&
         nd4c_axis_comes_first(axis, to->shape); /* in C order the input is then the first part of the output */
}

/* Whether the values have the same dtype and as many elements, so that arrays of both may have one memory. */
static bool is_as_large(const nd4c_plan *plan, int32_t input, int32_t output) {
  const nd4c_graph_value *from = &plan->graph->values[plan->graph->inputs.items[input].value];
  const nd4c_graph_value *to = &plan->graph->values[plan->graph->outputs.items[output].value];
  return from->dtype == to->dtype && from->size == to->size && to->size > 0;
}

void nd4c_plan_print_overlays(const nd4c_plan *plan, int32_t inputs, int32_t outputs, nd4c_text *text) {
  enum { SHOWN = 200 };
  for (int32_t i = 0; i < outputs; i++) {
    int32_t count = 0, first = 0;
    for (int32_t k = inputs - 1; k >= 0; k--) {
      const bool fits = is_as_large(plan, k, i) && nd4c_plan_may_overlay(plan, k, i);
      count += fits;
      first = fits ? k : first;
    }
    if (count > 0) {
      nd4c_text_print(text, "  output '%.*s' may have the memory of input '%.*s'", SHOWN,
                      plan->graph->outputs.items[i].name, SHOWN, plan->graph->inputs.items[first].name);
    }
    if (count > 1) {
      nd4c_text_print(text, count == 2 ? " or of 1 other" : " or of %d others", count - 1);
    }
    if (count > 0) {
      nd4c_text_print(text, "\n");
    }
  }
}
