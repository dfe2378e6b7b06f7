/* Sections that compute single calls: every op, other layouts, outputs that the caller gives, refusals. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { GIVEN = 0x5b, SOME_CASES = 400 };

/* What a section counts beside statements. */
typedef struct tally {
  int32_t computed, declined;
  plugin_layout layout;
} tally;

static void note_tally(const char *what, const tally *t) {
  plugin_check_note("%s: %d computed, %d declined by the plug-in", what, (int)t->computed, (int)t->declined);
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

/* -- outputs that are given ---------------------------------------------------------------------------------------- */

/* Bytes of bools are 0 or 1. */
static unsigned char filler_of(nd4c_dtype dtype, unsigned char filler) {
  return dtype == ND4C_BOOL ? filler & 1 : filler;
}

nd4c_status plugin_output_make(const nd4c_array *wanted, nd4c_device *device, unsigned char filler, bool every_second,
                               nd4c_array **large, nd4c_array **view) {
  const int32_t rank = nd4c_array_rank(wanted);
  const int64_t *shape = nd4c_array_shape(wanted);
  const int64_t step = every_second ? 2 : 1;
  int64_t strides[SELFTEST_RANK], elements = step;
  for (int32_t axis = rank - 1; axis >= 0; axis--) {
    strides[axis] = elements;
    elements *= shape[axis];
  }
  const int64_t whole = elements + 2 * step;
  const size_t bytes = (size_t)(whole * nd4c_dtype_size(nd4c_array_dtype(wanted)));
  void *data = malloc(bytes);
  if (data == NULL) {
    return ND4C_MEMORY;
  }
  memset(data, filler_of(nd4c_array_dtype(wanted), filler), bytes);
  nd4c_status status = nd4c_array_from_data(nd4c_array_dtype(wanted), 1, &whole, data, device, large);
  free(data);
  return status == ND4C_OK ? nd4c_array_as_strided(*large, rank, shape, strides, step, view) : status;
}

int64_t plugin_output_changed(const nd4c_array *large, unsigned char filler) {
  const size_t width = (size_t)nd4c_dtype_size(nd4c_array_dtype(large));
  const size_t bytes = (size_t)nd4c_array_size(large) * width;
  const unsigned char before = filler_of(nd4c_array_dtype(large), filler);
  unsigned char *data = malloc(bytes);
  int64_t changed = data != NULL && nd4c_array_read(large, data, bytes) == ND4C_OK ? 0 : INT64_MAX;
  for (size_t i = 0; changed != INT64_MAX && i < bytes; i += width) {
    bool same = true;
    for (size_t k = 0; k < width; k++) {
      same = same && data[i + k] == before;
    }
    changed += !same;
  }
  free(data);
  return changed;
}

/* Whether outputs that a refused call was given hold what they held. */
static void check_untouched(plugin_round *round, const plugin_case *p, nd4c_array *const *large, const char *how) {
  for (int32_t i = 0; i < p->c->op->output_count; i++) {
    (void)plugin_check_that(round->check, plugin_output_changed(large[i], GIVEN) == 0,
                            "%s, %s: the refused call changed output %d", p->label, how, (int)i);
  }
}

static void compute_given(plugin_round *round, const plugin_case *p, bool every_second, tally *t) {
  const char *how = every_second ? "into every second element" : "into a part of an array";
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL}, *large[SELFTEST_OUTPUTS] = {NULL}, *views[SELFTEST_OUTPUTS] = {NULL};
  bool differs = false, possible = true;
  nd4c_status status = plugin_case_inputs(p, PLUGIN_CONTIGUOUS, round->context, inputs, &differs);
  for (int32_t i = 0; i < p->c->op->output_count && status == ND4C_OK && possible; i++) {
    possible = nd4c_dtype_size(nd4c_array_dtype(p->wanted[i])) > 0 && nd4c_array_size(p->wanted[i]) > 0;
    status = possible
                 ? plugin_output_make(p->wanted[i], nd4c_context_device(round->context), GIVEN, every_second,
                                      &large[i], &views[i])
                 : ND4C_OK;
  }
  if (possible && plugin_check_status(round->check, status, "%s, %s: arrays", p->label, how)) {
    status = plugin_case_call(p, inputs, round->context, views);
    if (plugin_declined(status)) {
      t->declined++;
      check_untouched(round, p, large, how);
    } else if (plugin_check_status(round->check, status, "%s, %s", p->label, how) &&
               plugin_case_compare(round->check, p, round->host, views, how)) {
      t->computed++;
      for (int32_t i = 0; i < p->c->op->output_count; i++) {
        (void)plugin_check_that(round->check, plugin_output_changed(large[i], GIVEN) <= nd4c_array_size(views[i]),
                                "%s, %s: something beside output %d was written", p->label, how, (int)i);
      }
    }
  }
  plugin_arrays_release(views, SELFTEST_OUTPUTS);
  plugin_arrays_release(large, SELFTEST_OUTPUTS);
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
}

/* Whether the op may write over its first input: then the result must be the same. */
static void compute_in_place(plugin_round *round, const plugin_case *p, tally *t) {
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL}, *outputs[SELFTEST_OUTPUTS] = {NULL};
  bool differs = false;
  if (p->c->op->output_count != 1 ||
      plugin_case_inputs(p, PLUGIN_CONTIGUOUS, round->context, inputs, &differs) != ND4C_OK) {
    plugin_arrays_release(inputs, SELFTEST_INPUTS);
    return;
  }
  const nd4c_array *w = p->wanted[0];
  for (int32_t i = 0; i < p->c->input_count && outputs[0] == NULL; i++) {
    const bool same =
        inputs[i] != NULL && nd4c_array_dtype(inputs[i]) == nd4c_array_dtype(w) &&
        nd4c_array_rank(inputs[i]) == nd4c_array_rank(w) &&
        memcmp(nd4c_array_shape(inputs[i]), nd4c_array_shape(w), (size_t)nd4c_array_rank(w) * sizeof(int64_t)) == 0;
    outputs[0] = same ? inputs[i] : NULL;
  }
  if (outputs[0] != NULL) {
    const nd4c_status status = plugin_case_call(p, inputs, round->context, outputs);
    if (plugin_declined(status) || status == ND4C_ALIAS) {
      t->declined++;
    } else if (plugin_check_status(round->check, status, "%s, in place", p->label)) {
      t->computed++;
      (void)plugin_case_compare(round->check, p, round->host, outputs, "in place");
    }
  }
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
}

static void compute_outputs(plugin_round *round, const plugin_case *p) {
  tally *all = round->user;
  compute_given(round, p, false, &all[0]);
  compute_given(round, p, true, &all[1]);
  compute_in_place(round, p, &all[2]);
}

void plugin_section_outputs(plugin_check *check) {
  tally all[3] = {{.computed = 0}};
  (void)plugin_cases_each(check, PLUGIN_EAGER, 0, compute_outputs, all);
  note_tally("into a part of an array", &all[0]);
  note_tally("into every second element", &all[1]);
  note_tally("in place", &all[2]);
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
