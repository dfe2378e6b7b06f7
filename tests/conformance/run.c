/* One case in every layout and mode. */
#include <stdio.h>
#include <string.h>

#include "prepared.h"

#define MODE_NAME(name) #name,
const char *const cf_mode_names[CF_MODE_COUNT] = {CF_MODES(MODE_NAME)};
#undef MODE_NAME

/* The last line of nd4c_explain if no kernel is left. */
static const char nothing_computes[] = "no kernel or compiler computes this call";

/* -- modes ------------------------------------------------------------------------------------------------------ */

/* Asks which engine computes the call. */
static void ask_engine(cf_run *run, const cf_prepared *p) {
  char part[64], *text = NULL;
  (void)snprintf(part, sizeof part, "(engine %s): taken", run->options.engine);
  if (nd4c_explain(run->context, p->c.op, p->inputs, p->c.input_count, p->c.attrs, p->c.attr_count, &text) == ND4C_OK) {
    run->asked++;
    run->served += strstr(text, part) != NULL;
  }
  nd4c_free(text);
}

/* Whether the call counts for its pair: fresh and contiguous, all its operands of dtypes that are counted (an addition
 * of complex numbers to integers does not show that integers are computed). */
static bool counts_for_pair(const cf_prepared *p) {
  bool counts = strcmp(p->place.mode, cf_mode_names[CF_MODE_fresh]) == 0 &&
                strcmp(p->place.layout, cf_layout_names[CF_LAYOUT_contiguous]) == 0;
  for (int32_t i = 0; counts && i < p->c.input_count; i++) {
    counts = p->c.inputs[i].dtype == ND4C_DTYPE_NONE || cf_is_covered(p->c.inputs[i].dtype);
  }
  for (int32_t i = 0; counts && i < p->output_count; i++) {
    counts = cf_is_covered(p->expected[i].dtype);
  }
  return counts;
}

/* Whether a kernel or compiler of the backend computes the call. Runs no kernel and builds no program of the device. */
static void ask_backend(cf_run *run, const cf_prepared *p) {
  char *text = NULL;
  bool counts = counts_for_pair(p);
  nd4c_status status =
      nd4c_explain(run->context, p->c.op, p->inputs, p->c.input_count, p->c.attrs, p->c.attr_count, &text);
  if (status != ND4C_OK) {
    cf_fail(run, &p->place, nd4c_error_message());
  } else if (strstr(text, nothing_computes) != NULL) {
    cf_skip(run, "calls that nothing computes here");
    run->pair_declined += counts;
  } else {
    run->totals.passed++;
    run->pair_computed += counts;
  }
  nd4c_free(text);
}

static bool inputs_intact(const cf_prepared *p, int32_t except) {
  for (int32_t i = 0; i < p->c.input_count; i++) {
    if (i != except && p->arrays[i].base != NULL && !cf_array_intact(&p->arrays[i], false)) {
      return false;
    }
  }
  return true;
}

/* A text of what is wrong with the results, or NULL. */
static const char *check_results(const cf_run *run, const cf_prepared *p, nd4c_array *const *outputs, char *text,
                                 size_t size) {
  const char *problem = NULL;
  if (p->c.golden != NULL && p->c.golden->property != NULL) {
    cf_tensor read[CF_OUTPUTS];
    memset(read, 0, sizeof read);
    for (int32_t i = 0; i < p->output_count && problem == NULL; i++) {
      problem = cf_array_read(outputs[i], &read[i]) == ND4C_OK ? NULL : nd4c_error_message();
    }
    if (problem == NULL) {
      problem = p->c.golden->property(&p->c, read, p->output_count, text, size);
    }
    for (int32_t i = 0; i < p->output_count; i++) {
      cf_tensor_clear(&read[i]);
    }
    return problem;
  }
  for (int32_t i = 0; i < p->output_count && problem == NULL; i++) {
    int written = p->output_count > 1 ? snprintf(text, size, "output %d: ", (int)i) : 0;
    cf_record record = p->record;
    record.ulps = cf_allowed_ulps(run, record.op, p->expected[i].dtype, record.ulps);
    problem = cf_check_result(&record, &p->expected[i], outputs[i], text + written, size - (size_t)written) != NULL
                  ? text
                  : NULL;
  }
  return problem;
}

static bool targets_intact(const cf_prepared *p, const cf_array *targets) {
  for (int32_t i = 0; targets != NULL && i < p->output_count; i++) {
    if (targets[i].base != NULL && !cf_array_intact(&targets[i], true)) {
      return false;
    }
  }
  return true;
}

/* An op whose result's shape depends on data, or that no device computes, is only called eagerly. */
static bool is_eager_alone(const cf_prepared *p, nd4c_status status) {
  return status == ND4C_UNSUPPORTED && strcmp(p->place.mode, cf_mode_names[CF_MODE_plan]) == 0 &&
         strstr(nd4c_error_message(), "call it eagerly") != NULL;
}

/* Judges one call. outputs: the results, NULL if the call failed. */
static void judge(cf_run *run, const cf_prepared *p, nd4c_status status, nd4c_array *const *outputs,
                  const cf_array *targets, int32_t input_written) {
  char text[CF_TEXT];
  const char *problem = NULL;
  bool counts = counts_for_pair(p);
  if (cf_skipped_status(run, p, status)) {
    run->pair_declined += counts;
    return;
  }
  run->pair_computed += counts;
  if (is_eager_alone(p, status)) {
    run->totals.passed++;
    return;
  }
  if (status != ND4C_OK) {
    (void)snprintf(text, sizeof text, "%s: %s", nd4c_status_name(status), nd4c_error_message());
    problem = text;
  } else if (check_results(run, p, outputs, text, sizeof text) != NULL) {
    problem = text;
  } else if (!inputs_intact(p, input_written)) {
    problem = "an input was changed";
  } else if (!targets_intact(p, targets)) {
    problem = "something around the output was changed";
  }
  if (problem != NULL) {
    cf_fail(run, &p->place, problem);
  } else {
    run->totals.passed++;
  }
}

/* A backend must not hand a call to the host that it claims to compute. */
static nd4c_status call_watched(cf_run *run, const cf_prepared *p, nd4c_array **outputs) {
  char text[CF_TEXT];
  int64_t bytes = 0;
  for (int32_t i = 0; i < p->c.input_count; i++) {
    const cf_tensor *x = &p->c.inputs[i];
    bytes += x->dtype != ND4C_DTYPE_NONE ? x->size * cf_size_of(x->dtype) : 0;
  }
  cf_coverage_begin_call();
  nd4c_status status = cf_call(run, p, outputs);
  if (cf_coverage_end_call(p->c.op, status, bytes, text, sizeof text) != NULL) {
    run->pair_copied++;
    cf_fail(run, &p->place, text);
  }
  return status;
}

static void run_fresh(cf_run *run, const cf_prepared *p) {
  nd4c_array *outputs[CF_OUTPUTS] = {NULL};
  if (run->options.engine != NULL && strcmp(p->place.layout, cf_layout_names[CF_LAYOUT_contiguous]) == 0) {
    ask_engine(run, p);
  }
  if (run->options.ask) {
    ask_backend(run, p);
    return;
  }
  /* Strings live on the host and are computed there. */
  bool watched = run->options.coverage && counts_for_pair(p);
  nd4c_status status = watched ? call_watched(run, p, outputs) : cf_call(run, p, outputs);
  judge(run, p, status, outputs, NULL, -1);
  cf_release_all(outputs);
}

static void run_plan(cf_run *run, const cf_prepared *p) {
  nd4c_array *outputs[CF_OUTPUTS] = {NULL};
  nd4c_status status = cf_plan_call(run, &p->c, p->inputs, outputs, p->output_count);
  judge(run, p, status, outputs, NULL, -1);
  cf_release_all(outputs);
}

/* Into existing arrays: contiguous, or every second element of a transposed block. */
static void run_given(cf_run *run, const cf_prepared *p, cf_layout layout) {
  cf_array targets[CF_OUTPUTS];
  nd4c_array *outputs[CF_OUTPUTS] = {NULL};
  nd4c_status status = ND4C_OK;
  bool applies = true;
  memset(targets, 0, sizeof targets);
  for (int32_t i = 0; i < p->output_count && status == ND4C_OK && applies; i++) {
    const cf_expected *e = &p->expected[i];
    cf_placement placement;
    cf_tensor before;
    applies = cf_place(e->dtype, layout, e->rank, e->shape, &placement);
    if (!applies) {
      applies = i > 0 && cf_place(e->dtype, CF_LAYOUT_offset, e->rank, e->shape, &placement);
    }
    if (applies) {
      cf_tensor_make(&before, e->dtype, e->rank, e->shape);
      status = cf_array_make(&before, &placement, run->device, &targets[i]);
      outputs[i] = targets[i].view;
      cf_tensor_clear(&before);
    }
  }
  if (applies) {
    status = status == ND4C_OK ? cf_call(run, p, outputs) : status;
    judge(run, p, status, outputs, targets, -1);
  }
  for (int32_t i = 0; i < CF_OUTPUTS; i++) {
    cf_array_clear(&targets[i]);
  }
}

static bool same_form(const cf_expected *e, const cf_tensor *tensor) {
  return tensor->dtype == e->dtype && tensor->rank == e->rank &&
         (e->rank == 0 || memcmp(tensor->shape, e->shape, (size_t)e->rank * sizeof(int64_t)) == 0);
}

/* Into the same view that is an input. */
static void run_in_place(cf_run *run, cf_prepared *p) {
  for (int32_t i = 0; i < p->c.input_count; i++) {
    if (p->arrays[i].view != NULL && p->arrays[i].placement.injective && same_form(&p->expected[0], &p->c.inputs[i])) {
      nd4c_array *outputs[CF_OUTPUTS] = {p->arrays[i].view};
      cf_array targets[CF_OUTPUTS] = {p->arrays[i]};
      nd4c_status status = cf_call(run, p, outputs);
      judge(run, p, status, outputs, targets, i);
      outputs[0] = NULL;
      cf_release_all(outputs);
      return;
    }
  }
}

/* Into a view that overlaps input 0, one element further on. */
static void run_shifted(cf_run *run, cf_prepared *p) {
  const cf_tensor *x = &p->c.inputs[0];
  if (p->c.input_count == 0 || !same_form(&p->expected[0], x) || x->dtype == ND4C_UTF8 || cf_is_packed(x->dtype) ||
      x->size < 2) {
    return;
  }
  cf_placement placement;
  cf_array target = {0};
  cf_tensor copy;
  (void)cf_place(x->dtype, CF_LAYOUT_offset, x->rank, x->shape, &placement);
  cf_tensor_make(&copy, x->dtype, x->rank, x->shape);
  memcpy(copy.data, x->data, (size_t)(x->size * cf_size_of(x->dtype)));
  nd4c_status status = cf_array_make(&copy, &placement, run->device, &target);
  const nd4c_array *first = p->inputs[0];
  nd4c_array *outputs[CF_OUTPUTS] = {NULL};
  if (status == ND4C_OK) {
    p->inputs[0] = target.view;
    status =
        nd4c_array_as_strided(target.base, x->rank, x->shape, placement.strides, placement.offset + 1, &outputs[0]);
  }
  if (status == ND4C_OK) {
    status = cf_call(run, p, outputs);
  }
  judge(run, p, status, outputs, NULL, -1);
  p->inputs[0] = first;
  cf_release_all(outputs);
  cf_array_clear(&target);
  cf_tensor_clear(&copy);
}

static void run_mode(cf_run *run, cf_prepared *p, cf_mode mode) {
  switch (mode) {
    case CF_MODE_fresh:
      run_fresh(run, p);
      break;
    case CF_MODE_given:
      run_given(run, p, CF_LAYOUT_offset);
      break;
    case CF_MODE_strided:
      run_given(run, p,
                p->place.number % 3 == 0   ? CF_LAYOUT_second
                : p->place.number % 3 == 1 ? CF_LAYOUT_transposed
                                           : CF_LAYOUT_negative);
      break;
    case CF_MODE_in_place: /* the last but one: changes an input */
      run_in_place(run, p);
      break;
    case CF_MODE_shifted:
      run_shifted(run, p);
      break;
    case CF_MODE_plan:
      run_plan(run, p);
      break;
    default:
      break;
  }
}

/* -- one record ------------------------------------------------------------------------------------------------- */

/* Several seeds together cover every layout in every mode; in one run a case takes all modes in three of its
 * layouts. */
static bool takes_mode(const cf_run *run, nd4c_dtype dtype, int32_t number, cf_layout layout, cf_mode mode) {
  if (run->options.quick) {
    static const cf_mode others[] = {CF_MODE_strided, CF_MODE_in_place, CF_MODE_shifted, CF_MODE_plan, CF_MODE_given};
    uint64_t turn = ((uint64_t)number + (uint64_t)dtype + run->options.seed) % (sizeof others / sizeof others[0]);
    return mode == (layout == CF_LAYOUT_contiguous ? CF_MODE_fresh : others[turn]);
  }
  return mode == CF_MODE_fresh || run->options.full || run->options.layout != NULL || layout == CF_LAYOUT_contiguous ||
         layout == CF_LAYOUT_mixed ||
         (uint64_t)layout == 1 + ((uint64_t)number + run->options.seed) % (CF_LAYOUT_mixed - 1);
}

/* Large cases test vector loops and threads, for which two layouts suffice. */
static bool takes_layout(const cf_run *run, const cf_case *c, cf_layout layout) {
  int64_t elements = run->options.quick ? INT64_MAX / 2 : 0;
  for (int32_t i = 0; i < c->input_count; i++) {
    elements += c->inputs[i].size;
  }
  return elements <= 1000 || run->options.full || run->options.layout != NULL || layout == CF_LAYOUT_contiguous ||
         layout == CF_LAYOUT_mixed;
}

static bool run_layout(cf_run *run, const cf_record *record, nd4c_dtype dtype, int32_t number, cf_layout layout) {
  static const cf_mode order[] = {CF_MODE_fresh,   CF_MODE_given, CF_MODE_strided,
                                  CF_MODE_shifted, CF_MODE_plan,  CF_MODE_in_place};
  cf_prepared p = {.place = {.op = nd4c_op_get(record->op)->name,
                             .layout = cf_layout_names[layout],
                             .mode = cf_mode_names[0],
                             .dtype = dtype,
                             .number = number}};
  nd4c_status status = ND4C_OK;
  if (!cf_sample_case(run, record, dtype, number, &p.c)) {
    cf_case_clear(&p.c);
    return false;
  }
  if ((p.c.input_count > 0 || p.c.golden != NULL) && takes_layout(run, &p.c, layout) &&
      cf_prepare(run, record, layout, &p, &status)) {
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
      p.place.mode = cf_mode_names[order[i]];
      if (cf_wanted(run->options.mode, p.place.mode) && status == ND4C_OK &&
          takes_mode(run, dtype, number, layout, order[i])) {
        run_mode(run, &p, order[i]);
      }
    }
  }
  if (status == ND4C_DTYPE && dtype == ND4C_UTF8 && strcmp(run->options.backend, "cpu") != 0) {
    cf_skip(run, "strings stay on the host");
  } else if (status != ND4C_OK) {
    cf_fail(run, &p.place, nd4c_error_message());
  }
  cf_unprepare(&p);
  return true;
}

/* True if the case is computed where the run is. An op without cases counts as served. */
static bool is_case_served(cf_run *run, const cf_record *record, nd4c_dtype dtype, int32_t number) {
  bool is_cpu = strcmp(run->options.backend, "cpu") == 0;
  cf_prepared p;
  memset(&p, 0, sizeof p);
  char part[64], *text = NULL;
  bool served = number == 0;
  nd4c_status status = ND4C_OK;
  (void)snprintf(part, sizeof part, "(engine %s)", is_cpu ? run->options.engine : "");
  if (cf_sample_case(run, record, dtype, number, &p.c) && cf_prepare(run, record, CF_LAYOUT_contiguous, &p, &status) &&
      status == ND4C_OK &&
      nd4c_explain(run->context, p.c.op, p.inputs, p.c.input_count, p.c.attrs, p.c.attr_count, &text) == ND4C_OK) {
    served = is_cpu ? strstr(text, part) != NULL : strstr(text, nothing_computes) == NULL;
    if (strstr(text, "by the library itself") != NULL) { /* strings, pictures: seen with the reference, once */
      served = is_cpu && strcmp(run->options.engine, "reference") == 0;
    }
  }
  nd4c_free(text);
  cf_unprepare(&p);
  return served;
}

/* The reference runs all cases. Another engine skips an op for which it has no kernel: the first case shows that,
 * because explain names all kernels that were asked. A backend that lacks the op is asked for the first cases only, one
 * of which may have a parameter of a dtype that the backend lacks. */
static bool is_served(cf_run *run, const cf_record *record, nd4c_dtype dtype) {
  enum { ASKED = 8 };
  bool is_cpu = strcmp(run->options.backend, "cpu") == 0, served = false;
  if (is_cpu ? run->options.engine == NULL : record->sample != NULL) {
    return true;
  }
  for (int32_t number = 0; number < (is_cpu ? 1 : ASKED) && !served; number++) {
    served = is_case_served(run, record, dtype, number);
  }
  return served;
}

static void run_cases(cf_run *run, const cf_record *record, nd4c_dtype dtype) {
  if (!is_served(run, record, dtype)) {
    cf_skip(run, "ops that are not served here");
    run->pair_declined++;
    return;
  }
  for (int32_t number = 0;; number++) {
    if (run->options.number >= 0 && run->options.number != number) {
      if (number > run->options.number) {
        return;
      }
      continue;
    }
    for (int32_t layout = 0; layout < CF_LAYOUT_COUNT; layout++) {
      if (cf_wanted(run->options.layout, cf_layout_names[layout]) &&
          !run_layout(run, record, dtype, number, (cf_layout)layout)) {
        return;
      }
    }
  }
}

void cf_run_record(cf_run *run, const cf_record *record, nd4c_dtype dtype) {
  run_cases(run, record, dtype);
  cf_coverage_note(run, record->op, dtype);
}
