/* The table of modes, and the choice among them. bind.c chooses a mode, run.c runs it, plan.c releases it, report.c
 * prints it. */
#include "graph/modes/mode.h"

#include "base/status.h"
#include "device/stream/cancellation.h"

/* The fastest first; the last one runs every plan. The first one alone runs plans that share arenas. */
static const nd4c_plan_mode *const modes[] = {&nd4c_mode_direct, &nd4c_mode_capture, &nd4c_mode_stream,
                                              &nd4c_mode_arrays};

enum { MODES = sizeof modes / sizeof *modes };

nd4c_status nd4c_plan_choose_mode(nd4c_plan *plan) {
  ND4C_TRY(nd4c_region_make(&plan->region, MODES, sizeof *plan->mode_reasons, &plan->mode_reasons));
  char reason[256] = "";
  for (int32_t i = 0; i < MODES; i++) {
    if (modes[i]->usable(plan, reason, sizeof reason)) {
      plan->mode = modes[i];
      ND4C_TRY(plan->arenas != NULL && i > 0 ? nd4c_plan_own_arena(plan) : ND4C_OK);
      return modes[i]->prepare(plan);
    }
    plan->mode_reasons[i] = nd4c_region_text(&plan->region, reason);
    if (plan->mode_reasons[i] == NULL) {
      return nd4c_error_code();
    }
  }
  return nd4c_fail(ND4C_INTERNAL, "plan: no mode runs it, the last one refuses: %s", reason);
}

void nd4c_plan_bind_cancellation(nd4c_plan *plan) {
  const nd4c_cancellation_scope *scope = nd4c_cancellation_current();
  if (ND4C_LIKELY(plan->cancellation == scope)) {
    return;
  }
  plan->cancellation = scope;
  for (int32_t i = 0; i < plan->step_count; i++) {
    plan->steps[i].call.cancellation = scope;
  }
}

nd4c_status nd4c_plan_run_mode(nd4c_plan *plan) {
  nd4c_plan_bind_cancellation(plan);
  const nd4c_status status = plan->mode->run(plan);
  if (status == ND4C_OK) {
    nd4c_progress_tell(plan->progress, "running", plan->step_count, plan->step_count);
  }
  return status;
}

void nd4c_plan_release_mode(nd4c_plan *plan) {
  if (plan->mode != NULL && plan->mode->release != NULL) {
    plan->mode->release(plan);
  }
}

bool nd4c_plan_is_direct(const nd4c_plan *plan) {
  return plan->mode == &nd4c_mode_direct;
}

const char *nd4c_plan_mode_name(const nd4c_plan *plan) {
  return plan->mode->name;
}

void nd4c_plan_print_mode(const nd4c_plan *plan, nd4c_text *text) {
  nd4c_text_print(text, "mode: %s (%s)\n", plan->mode->name, plan->mode->doc);
  for (int32_t i = 0; i < MODES && modes[i] != plan->mode; i++) {
    nd4c_text_print(text, "  not %s: %s\n", modes[i]->name, plan->mode_reasons[i]);
  }
  if (plan->mode->report != NULL) {
    plan->mode->report(plan, text);
  }
}
