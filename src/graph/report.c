/* nd4c_plan_report: what the passes did, what runs where and why, how much memory it takes. Programs and import/model.c
 * call it; ahead.c prints the declined nodes with it. */
#include <string.h>

#include "array/shape.h"
#include "base/status.h"
#include "graph/control.h"
#include "graph/dynamic.h"
#include "graph/passes.h"
#include "graph/precision.h"
#include "graph/variables.h"

static void print_head(const nd4c_plan *plan, nd4c_text *text) {
  nd4c_text_print(text, "plan on %s", plan->device->identity);
  for (int32_t i = 1; i < plan->place_count; i++) {
    nd4c_text_print(text, ", %s", plan->places[i].device->name);
  }
  nd4c_text_print(text, ": %d nodes recorded, %d after passes", plan->nodes_recorded, plan->graph->node_count);
  if (plan->dynamic != NULL) {
    nd4c_text_print(text, ", for all numbers of %d dims\n", plan->dynamic->dim_count);
  } else {
    nd4c_text_print(text, ", %d steps\n", plan->step_count);
  }
}

/* brief: passes that changed nothing by their names alone. */
static void print_records(const nd4c_plan *plan, bool brief, nd4c_text *text) {
  if (!plan->optimized) {
    nd4c_text_print(text, "passes: none (no_optimization)\n");
    return;
  }
  nd4c_text_print(text, "passes:\n");
  for (int32_t i = 0; i < plan->pass_count; i++) {
    const nd4c_pass_record *pass = &plan->passes[i];
    if (pass->runs > 0 && !(brief && pass->changes == 0 && pass->before == pass->after)) {
      nd4c_text_print(text, "  %-20s %5d -> %5d nodes, %4d change%s, %d run%s  (%s)\n", pass->name, pass->before,
                      pass->after, pass->changes, pass->changes == 1 ? "" : "s", pass->runs, pass->runs == 1 ? "" : "s",
                      pass->doc);
    }
  }
  const char *before = "  changed nothing: ";
  for (int32_t i = 0; brief && i < plan->pass_count; i++) {
    const nd4c_pass_record *pass = &plan->passes[i];
    if (pass->runs > 0 && pass->changes == 0 && pass->before == pass->after) {
      nd4c_text_print(text, "%s%s", before, pass->name);
      before = ", ";
    }
  }
  nd4c_text_print(text, before[0] == ',' ? "\n" : "");
}

static void print_costs(const nd4c_plan *plan, nd4c_text *text) {
  char before[96], after[96];
  nd4c_text_print(text, "estimate%s: %s before the passes; %s after them\n",
                  nd4c_graph_dim_count(plan->graph) > 0 ? " (each dim as 64, or its bound nearest to 64)" : "",
                  nd4c_cost_text(plan->cost_recorded, before, sizeof before),
                  nd4c_cost_text(plan->cost, after, sizeof after));
}

/* Passes that have made the graph dearer, as far as the estimate knows. Some have a reason that it does not see. */
static void print_raised(const nd4c_plan *plan, nd4c_text *text) {
  const double least = 0.001;
  for (int32_t i = 0; i < plan->pass_count; i++) {
    if (plan->passes[i].raised >= least) {
      nd4c_text_print(text, "pass %s raised the estimated time by %.3g %%\n", plan->passes[i].name,
                      100 * plan->passes[i].raised);
    }
  }
}

/* Phases that did not come to an end, and the passes that still changed something. */
static void print_unsettled(const nd4c_plan *plan, nd4c_text *text) {
  for (int32_t phase = 0; phase < (int32_t)ND4C_PHASE_COUNT; phase++) {
    if ((plan->unsettled & 1U << phase) == 0) {
      continue;
    }
    nd4c_text_print(text, "passes of phase %s were stopped after %d rounds; still changing the graph:",
                    nd4c_phase_name((nd4c_phase)phase), (int)ND4C_PASS_ROUNDS);
    const char *before = " ";
    for (int32_t i = 0; i < plan->pass_count; i++) {
      if (plan->passes[i].restless && plan->passes[i].phase == phase) {
        nd4c_text_print(text, "%s%s", before, plan->passes[i].name);
        before = ", ";
      }
    }
    nd4c_text_print(text, "\n");
  }
}

static void print_switches(const nd4c_plan *plan, nd4c_text *text) {
  int32_t off = 0;
  for (int32_t i = 0; plan->optimized && i < nd4c_passes_count(); i++) {
    if (plan->switches.off[i]) {
      nd4c_text_print(text, "%s %s", off == 0 ? "passes switched off:" : ",", nd4c_passes_at(i)->name);
      off++;
    }
  }
  if (off > 0) {
    nd4c_text_print(text, " (%s)\n", plan->switches.from);
  }
}

static void print_left_out(const nd4c_plan *plan, nd4c_text *text) {
  const char *words = plan->dynamic != NULL ? "passes left to the bindings, because the graph has dims:"
                                            : "passes left out, because the graph has dims:";
  int32_t count = 0;
  for (int32_t i = 0; plan->optimized && i < nd4c_passes_count(); i++) {
    if (nd4c_pass_needs_numbers(plan, nd4c_passes_at(i))) {
      nd4c_text_print(text, "%s %s", count == 0 ? words : ",", nd4c_passes_at(i)->name);
      count++;
    }
  }
  if (count > 0) {
    nd4c_text_print(text, "\n");
  }
}

void nd4c_plan_print_passes(const nd4c_plan *plan, bool brief, nd4c_text *text) {
  if (plan->optimized && plan->follows) {
    nd4c_text_print(text, "passes: those of the first binding hold\n");
    print_switches(plan, text);
    return;
  }
  nd4c_plan_print_precision(plan, text);
  print_records(plan, brief, text);
  if (plan->optimized) {
    print_costs(plan, text);
    print_raised(plan, text);
  }
  print_unsettled(plan, text);
  print_switches(plan, text);
  print_left_out(plan, text);
}

static void print_value(const nd4c_plan *plan, nd4c_value value, nd4c_text *text) {
  if (value < 0) {
    nd4c_text_print(text, " -");
    return;
  }
  const nd4c_graph_value *info = &plan->graph->values[value];
  const nd4c_slot *slot = &plan->slots[value];
  char shape[256];
  nd4c_text_print(text, " %s%s", nd4c_dtype_name(info->dtype),
                  nd4c_shape_text(info->rank, info->shape, shape, sizeof shape));
  if (info->constant != NULL) {
    nd4c_text_print(text, "const");
  } else if (slot->kind != ND4C_SLOT_UNUSED && !slot->contiguous) {
    nd4c_text_print(text, "strided");
  }
}

static void print_operands(const nd4c_plan *plan, const nd4c_step *step, nd4c_text *text) {
  for (int32_t i = 0; i < step->input_count; i++) {
    print_value(plan, step->inputs[i], text);
  }
  nd4c_text_print(text, " ->");
  for (int32_t i = 0; i < step->output_count; i++) {
    print_value(plan, step->outputs[i], text);
  }
}

/* The constants that the step reads packed, and their layouts. */
static void print_forms(const nd4c_graph_node *node, const nd4c_choice *choice, nd4c_text *text) {
  for (int32_t i = 0; i < choice->form_count; i++) {
    char layout[64];
    const int32_t input = choice->form_inputs[i], last = node->def->info.input_count - 1;
    nd4c_text_print(text, "%s%s %s", i == 0 ? " {packed constants: " : ", ",
                    node->def->info.inputs[input < last ? input : last].name,
                    nd4c_layout_text(nd4c_form_layout(choice->forms[i]), layout, sizeof layout));
  }
  if (choice->form_count > 0) {
    nd4c_text_print(text, "}");
  }
}

/* The labels of what a node was made from, or its own. */
static const char *label_of(const nd4c_graph_node *node) {
  return node->parts.text != NULL ? node->parts.text : node->label;
}

static void print_step(const nd4c_plan *plan, int32_t index, nd4c_text *text) {
  const nd4c_step *step = &plan->steps[index];
  const nd4c_graph_node *node = &plan->graph->nodes[step->node];
  nd4c_text_print(text, "  %4d ", index);
  if (nd4c_plan_is_profiled(plan) && nd4c_plan_is_direct(plan)) {
    nd4c_text_print(text, "%9.1f us  ", (double)step->nanoseconds / 1000.0);
  }
  if (plan->place_count > 1) {
    nd4c_text_print(text, "%-10s ", plan->places[step->place].device->name);
  }
  if (step->segment != NULL) {
    nd4c_text_print(text, "segment of %d nodes, compiled by %s", step->segment->node_count,
                    step->segment->compiler->engine);
    if (step->segment->nanoseconds != ND4C_COST_UNKNOWN) {
      nd4c_text_print(text, " (about %lld ns, %lld bytes read and written)", (long long)step->segment->nanoseconds,
                      (long long)nd4c_step_bytes(step));
    }
    nd4c_text_print(text, ":");
    for (int32_t i = 0; i < step->segment->node_count; i++) {
      const nd4c_graph_node *part = &plan->graph->nodes[step->segment->first + i];
      nd4c_text_print(text, " %s%s", part->def->info.name, part->label[0] != '\0' ? "=" : "");
      nd4c_text_name(text, label_of(part));
    }
    print_operands(plan, step, text);
    nd4c_text_print(text, "\n");
    return;
  }
  if (step->control != NULL) {
    nd4c_text_name(text, node->label);
    nd4c_text_print(text, "%s", node->label[0] != '\0' ? ": " : "");
    nd4c_plan_print_control(step, text);
    print_operands(plan, step, text);
    nd4c_text_print(text, "\n");
    return;
  }
  nd4c_text_print(text, "%s%s", node->def->info.name, label_of(node)[0] != '\0' ? " " : "");
  nd4c_text_name(text, label_of(node));
  nd4c_text_print(text, ": %s %s", nd4c_choice_engine(step->choice), nd4c_choice_name(step->choice));
  if (node->fused != NULL) {
    nd4c_text_print(text, " [%s]", node->fused);
  }
  print_forms(node, step->choice, text);
  print_operands(plan, step, text);
  nd4c_text_print(text, "\n");
}

void nd4c_plan_print_declines(const nd4c_plan *plan, nd4c_text *text) {
  for (const nd4c_plan_decline *decline = plan->declines; decline != NULL; decline = decline->next) {
    char node[256];
    nd4c_text_print(text, "  %s", nd4c_plan_node_text(plan, decline->node, node, sizeof node));
    if (decline->count > 1) {
      nd4c_text_print(text, " and %d other node%s", decline->count - 1, decline->count > 2 ? "s" : "");
    }
    nd4c_text_print(text, ": declined by %s: %s\n", decline->engine, decline->reason);
  }
}

/* Why no compiler was asked. */
static void print_no_segments(const nd4c_plan *plan, nd4c_text *text) {
  int32_t count = 0;
  const nd4c_compiler *const *compilers = nd4c_device_compilers(plan->device, &count);
  if (plan->place_of != NULL && plan->place_count > 1) {
    nd4c_text_print(text, "segments: none (nodes are meant for several devices)");
  } else if (count == 0) {
    nd4c_text_print(text, "segments: none (no compiler on %s)", plan->device->name);
  } else if (plan->rules.forced[0] != '\0') {
    nd4c_text_print(text, "segments: none (engine %s is requested, which is not a compiler)", plan->rules.forced);
  } else {
    nd4c_text_print(text, "segments: none (disabled:");
    for (int32_t i = 0; i < count; i++) {
      nd4c_text_print(text, "%s %s", i == 0 ? "" : ",", compilers[i]->engine);
    }
    nd4c_text_print(text, ")");
  }
  nd4c_text_print(text, "; all steps run slot by slot\n");
}

static void print_steps(const nd4c_plan *plan, nd4c_text *text) {
  nd4c_text_print(text, "steps:\n");
  for (int32_t i = 0; i < plan->step_count; i++) {
    print_step(plan, i, text);
  }
  int32_t views = 0, joined = 0;
  for (int32_t i = 0; i < plan->slot_count; i++) {
    views += plan->slots[i].kind == ND4C_SLOT_VIEW;
    joined += plan->slots[i].joined;
  }
  nd4c_text_print(text, "views resolved when planning: %d\n", views);
  if (joined > 0) {
    nd4c_text_print(text, "concats computed in place, part by part: %d\n", joined);
  }
  if (plan->segment_of == NULL) {
    print_no_segments(plan, text);
  } else {
    nd4c_text_print(text, "segments: %d; the other steps run slot by slot\n", plan->segment_count);
    nd4c_plan_print_declines(plan, text);
  }
}

static void print_request(const nd4c_plan *plan, nd4c_text *text) {
  nd4c_text_print(text, "asked of compilers: ");
  nd4c_compile_request_print(plan->compile, text);
  nd4c_text_print(text, "\n");
}

static bool reaches(const nd4c_plan *plan, int32_t option) {
  bool any = false;
  for (int32_t i = 0; i < plan->place_count; i++) {
    any = any || nd4c_compile_request_reaches(plan->compile, option, plan->places[i].device);
  }
  return any;
}

/* Options that reached no compiler. `*count`: lines so far. */
static void print_lost_options(const nd4c_plan *plan, int32_t *count, nd4c_text *text) {
  for (int32_t i = 0; plan->compile != NULL && i < plan->compile->option_count; i++) {
    if (!reaches(plan, i)) {
      nd4c_text_print(text, "%s  compile option %s: no compiler here takes it\n",
                      *count == 0 ? "requested but not applied:\n" : "", plan->compile->options[i].key);
      (*count)++;
    }
  }
}

/* Pieces that the file of executables lacks. */
static void print_missing(const nd4c_plan *plan, int32_t *count, nd4c_text *text) {
  if (plan->unused_file != NULL) {
    nd4c_text_print(text, "%s  executables of %s: no compiler takes part in the plan\n",
                    *count == 0 ? "requested but not applied:\n" : "", plan->unused_file);
    (*count)++;
  }
  for (int32_t i = 0; i < plan->segment_count; i++) {
    const nd4c_plan_segment *segment = &plan->segments[i];
    if (segment->missing_from != NULL) {
      nd4c_text_print(text, "%s  segment of %d nodes by %s: compiled now: %s has no executable for it\n",
                      *count == 0 ? "requested but not applied:\n" : "", segment->node_count, segment->compiler->engine,
                      segment->missing_from);
      (*count)++;
    }
  }
}

static void print_memory(const nd4c_plan *plan, nd4c_text *text) {
  int32_t buffers = 0;
  for (int32_t i = 0; i < plan->place_count; i++) {
    buffers += plan->places[i].buffer_count;
  }
  nd4c_text_print(text, "arena: %lld bytes for tensors of %lld bytes together and scratch of %lld bytes\n",
                  (long long)plan->arena_bytes, (long long)plan->tensor_bytes, (long long)plan->scratch_bytes);
  if (buffers > 0) {
    nd4c_text_print(text, "  in %d whole buffers: the device takes no parts of one\n", buffers);
  }
}

static void print_differences(const nd4c_plan *plan, nd4c_text *text) {
  int32_t differences = 0;
  char reason[256];
  nd4c_engine_refusal refusal;
  size_t position = 0;
  if (nd4c_engine_next_refusal(&plan->rules, &position, &refusal)) {
    nd4c_text_print(text, "requested but not applied:\n");
    nd4c_engine_print_refusals(&plan->rules, text);
    differences++;
  }
  for (int32_t i = 0; i < plan->step_count; i++) {
    const nd4c_step *step = &plan->steps[i];
    if (step->declined != NULL) {
      char node[256];
      nd4c_text_print(text, "%s  %s: %s is used: %s\n", differences == 0 ? "requested but not applied:\n" : "",
                      nd4c_plan_node_text(plan, step->node, node, sizeof node), plan->places[step->place].device->name,
                      step->declined);
      differences++;
    }
    if (step->control != NULL) {
      continue;
    }
    const char *engine = step->choice != NULL ? nd4c_choice_engine(step->choice) : step->segment->compiler->engine;
    if (plan->rules.forced[0] == '\0' || nd4c_engine_is_forced(&plan->rules, engine)) {
      continue;
    }
    char name[256];
    nd4c_text_print(text, "%s  %s: engine %s was requested, %s is used: %s\n",
                    differences == 0 ? "requested but not applied:\n" : "",
                    nd4c_plan_node_text(plan, step->node, name, sizeof name), plan->rules.forced, engine,
                    nd4c_engine_forced_reason(&plan->rules, reason, sizeof reason));
    differences++;
  }
  if (plan->precision_unused != ND4C_DTYPE_NONE) {
    nd4c_text_print(text, "%s  precision %s (%s): %s\n", differences == 0 ? "requested but not applied:\n" : "",
                    nd4c_dtype_name(plan->precision_unused), plan->precision_from, plan->precision_why);
    differences++;
  }
  print_lost_options(plan, &differences, text);
  print_missing(plan, &differences, text);
  if (differences == 0) {
    nd4c_text_print(text, "requested but not applied: nothing\n");
  }
}

/* What a plan has whose graph has no dims, and a binding of one that has. */
static void print_made(const nd4c_plan *plan, nd4c_text *report) {
  nd4c_plan_print_passes(plan, false, report);
  nd4c_plan_print_mode(plan, report);
  print_steps(plan, report);
  if (plan->compile != NULL) {
    print_request(plan, report);
  }
  print_memory(plan, report);
  if (nd4c_plan_is_direct(plan)) {
    nd4c_plan_print_overlays(plan, nd4c_plan_given_inputs(plan), nd4c_plan_given_outputs(plan), report);
  }
  if (plan->place_count > 1) {
    nd4c_plan_print_copies(plan, report);
  }
  print_differences(plan, report);
}

nd4c_status nd4c_plan_report(const nd4c_plan *plan, char **text) {
  ND4C_TRY(nd4c_plan_check(plan));
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_plan_report: text is NULL");
  }
  nd4c_text report = {0};
  print_head(plan, &report);
  nd4c_plan_print_variables(plan, &report);
  if (plan->dynamic != NULL) {
    nd4c_dynamic_print(plan, print_made, &report);
  } else {
    print_made(plan, &report);
  }
  return nd4c_text_take(&report, text);
}
