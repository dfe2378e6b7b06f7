/* Sections `ops`, `layouts` and `refusals`, which compute single calls: every op, other layouts, kernels that decline.
 * The section table of plugin_check.c lists these. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { SOME_CASES = 400 };

/* What a section counts beside statements. */
typedef struct tally {
  int32_t computed, declined;
  plugin_layout layout;
} tally;

static void note_tally(const char *what, const tally *t) {
  (t->computed > 0 ? plugin_check_note : plugin_check_skip)("%s: %d computed, %d declined by the plug-in", what,
                                                            (int)t->computed, (int)t->declined);
}

/* Computes into fresh outputs, and compares. */
static void compute(plugin_round *round, const plugin_case *p, plugin_layout layout, tally *t) {
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL}, *got[SELFTEST_OUTPUTS] = {NULL};
  bool differs = false;
  nd4c_status status = plugin_case_inputs(p, layout, round->context, inputs, &differs);
  const char *how = plugin_layout_names[layout];
  if (status == ND4C_OK && (differs || layout == PLUGIN_CONTIGUOUS)) {
    status = plugin_case_call(p, inputs, round->context, got);
    if (plugin_declined(status)) {
      t->declined++;
    } else if (plugin_check_status(round->check, status, "%s, %s", p->label, how)) {
      t->computed++;
      (void)plugin_case_compare(round->check, p, round->host, got, how);
    }
  } else {
    (void)plugin_check_status(round->check, status, "%s: inputs, %s", p->label, how);
  }
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
  plugin_arrays_release(got, SELFTEST_OUTPUTS);
}

/* -- every op ------------------------------------------------------------------------------------------------------ */

static void compute_plain(plugin_round *round, const plugin_case *p) {
  compute(round, p, PLUGIN_CONTIGUOUS, round->user);
}

/* Kernels, compilers, or ops whose references compute. */
static bool offers_kernels(const plugin_targets *targets) {
  bool any = targets->compiles;
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    any = any || strcmp(nd4c_op_at(i)->provider, targets->name) == 0;
  }
  for (int32_t i = 0; i < nd4c_op_count() && targets->offered != NULL; i++) {
    any = any || targets->offered[i] != 0;
  }
  return any;
}

void plugin_section_ops(plugin_check *check) {
  tally t = {.layout = PLUGIN_CONTIGUOUS};
  plugin_targets targets;
  const bool found = plugin_targets_find(check, &targets);
  const bool any = found && offers_kernels(&targets), plans_alone = targets.compiles && targets.devices[0] == '\0';
  const int32_t count = targets.count;
  plugin_targets_free(&targets);
  if (!found || !plugin_check_that(check, any, "it offers neither kernels nor compilers nor ops")) {
    return;
  }
  (void)plugin_cases_each(check, PLUGIN_EAGER, 0, compute_plain, &t);
  note_tally("contiguous operands", &t);
  /* Compilers for another backend compute in plans alone. */
  if (count > 0 && !(plans_alone && t.computed == 0)) {
    (void)plugin_check_that(check, t.computed > 0, "of all that it offers%s%s%s nothing was computed",
                            check->pattern != NULL ? " and --ops " : "", check->pattern != NULL ? check->pattern : "",
                            check->pattern != NULL ? " names" : "");
  }
}

/* -- layouts ------------------------------------------------------------------------------------------------------- */

static void compute_layouts(plugin_round *round, const plugin_case *p) {
  tally *all = round->user;
  for (plugin_layout layout = PLUGIN_OFFSET; layout < PLUGIN_LAYOUTS; layout++) {
    compute(round, p, layout, &all[layout]);
  }
}

void plugin_section_layouts(plugin_check *check) {
  tally all[PLUGIN_LAYOUTS] = {{.computed = 0}};
  (void)plugin_cases_each(check, PLUGIN_EAGER, 0, compute_layouts, all);
  for (plugin_layout layout = PLUGIN_OFFSET; layout < PLUGIN_LAYOUTS; layout++) {
    note_tally(plugin_layout_names[layout], &all[layout]);
  }
}

/* -- refusals ------------------------------------------------------------------------------------------------------ */

/* Lines of the explanation are "KERNEL (engine NAME): REASON": a kernel that declines says why. */
static void check_reasons(plugin_round *round, const plugin_case *p, const char *text, tally *t) {
  char part[PLUGIN_NAME + 16];
  (void)snprintf(part, sizeof part, "(engine %s): ", round->target->engine);
  for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
    line += *line == '\n';
    const size_t length = strcspn(line, "\n");
    const char *at = round->target->engine[0] != '\0' ? strstr(line, part) : strstr(line, "): ");
    if (at != NULL && at < line + length) {
      const char *reason = strchr(at, ')') + strlen("): ");
      t->declined += strncmp(reason, "taken", strlen("taken")) != 0;
      (void)plugin_check_that(round->check, reason < line + length && *reason != '\n',
                              "%s: usable declines without a reason: %.*s", p->label, (int)length, line);
    }
  }
}

static void explain_layouts(plugin_round *round, const plugin_case *p) {
  for (plugin_layout layout = PLUGIN_CONTIGUOUS; layout < PLUGIN_LAYOUTS; layout++) {
    nd4c_array *inputs[SELFTEST_INPUTS] = {NULL};
    bool differs = false;
    char *text = NULL;
    nd4c_status status = plugin_case_inputs(p, layout, round->context, inputs, &differs);
    if (status == ND4C_OK) {
      status = nd4c_explain(round->context, p->c->op->op, (const nd4c_array *const *)inputs, p->c->input_count,
                            p->c->attrs, p->c->attr_count, &text);
    }
    if (plugin_check_status(round->check, status, "%s, %s: explanation", p->label, plugin_layout_names[layout])) {
      check_reasons(round, p, text, round->user);
    }
    nd4c_free(text);
    plugin_arrays_release(inputs, SELFTEST_INPUTS);
  }
}

void plugin_section_refusals(plugin_check *check) {
  tally t = {.computed = 0};
  (void)plugin_cases_each(check, PLUGIN_EAGER, SOME_CASES, explain_layouts, &t);
  plugin_check_note("%d kernels declined with a reason", (int)t.declined);
}
