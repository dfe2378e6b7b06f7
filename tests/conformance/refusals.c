/* Calls that must be refused: by every op alike, and those that were recorded. */
#include <stdio.h>
#include <string.h>

#include "prepared.h"

static void expect_status(cf_run *run, const cf_place_of_run *place, const char *what, nd4c_status status,
                          nd4c_status expected) {
  char text[CF_TEXT];
  if (status == expected && nd4c_error_message()[0] != '\0' && strstr(nd4c_error_message(), place->op) != NULL) {
    run->totals.passed++;
    return;
  }
  /* Only a backend that has the op can refuse a call because of its data. */
  if (status == ND4C_UNSUPPORTED && strcmp(run->options.backend, "cpu") != 0) {
    (void)snprintf(text, sizeof text, "%s lacks %s", run->options.backend, place->op);
    cf_skip(run, text);
    return;
  }
  (void)snprintf(text, sizeof text, "%s gave %s (%s), expected %s and the op's name", what, nd4c_status_name(status),
                 status == ND4C_OK ? "" : nd4c_error_message(), nd4c_status_name(expected));
  cf_fail(run, place, text);
}

/* The first case of a declared dtype that has inputs. */
static bool first_case(cf_run *run, const cf_record *record, cf_prepared *p) {
  bool strings_alone = nd4c_op_get(record->op)->dtypes == ND4C_DTYPE_BIT(ND4C_UTF8);
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    for (int32_t number = record->sample != NULL ? 2 : 0; number < 6; number++) {
      if ((nd4c_op_get(record->op)->dtypes & ND4C_DTYPE_BIT(dtype)) == 0 || !cf_has_dtype(dtype) ||
          (dtype == ND4C_UTF8 && !strings_alone) || !cf_sample_case(run, record, dtype, number, &p->c)) {
        cf_case_clear(&p->c);
        continue;
      }
      nd4c_status status = ND4C_OK;
      if ((p->c.input_count > 0 || p->c.golden != NULL) && cf_prepare(run, record, CF_LAYOUT_contiguous, p, &status) &&
          status == ND4C_OK) {
        p->place.dtype = dtype;
        p->place.number = number;
        return true;
      }
      cf_unprepare(p);
    }
  }
  return false;
}

static void refuse_dtypes(cf_run *run, const cf_record *record, cf_prepared *p) {
  nd4c_dtype_set declared = nd4c_op_get(record->op)->dtypes;
  const nd4c_array *first = p->inputs[0];
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END && first != NULL; dtype++) {
    nd4c_array *input = NULL, *outputs[CF_OUTPUTS] = {NULL};
    if ((declared & ND4C_DTYPE_BIT(dtype)) != 0 || !cf_has_dtype(dtype) || dtype == ND4C_UTF8) {
      continue;
    }
    nd4c_error_clear();
    nd4c_status status = nd4c_array_zeros(dtype, nd4c_array_rank(first), nd4c_array_shape(first), run->device, &input);
    p->inputs[0] = input;
    status = status == ND4C_OK ? cf_call(run, p, outputs) : status;
    p->place.dtype = dtype;
    expect_status(run, &p->place, "an undeclared dtype", status, ND4C_DTYPE);
    cf_release_all(outputs);
    nd4c_array_release(input);
  }
  p->inputs[0] = first;
}

/* An output array of another dtype or shape, a missing input, an unknown attribute. */
static void refuse_calls(cf_run *run, const cf_prepared *p) {
  const cf_expected *e = &p->expected[0];
  int64_t longer[CF_RANK + 1] = {2};
  nd4c_array *wrong_dtype[CF_OUTPUTS] = {NULL}, *wrong_shape[CF_OUTPUTS] = {NULL}, *fresh[CF_OUTPUTS] = {NULL};
  memcpy(longer + 1, e->shape, (size_t)e->rank * sizeof(int64_t));
  nd4c_dtype other = e->dtype == ND4C_INT8 ? ND4C_FLOAT64 : ND4C_INT8;
  nd4c_error_clear();
  if (e->dtype != ND4C_UTF8 && nd4c_array_zeros(other, e->rank, e->shape, run->device, wrong_dtype) == ND4C_OK) {
    expect_status(run, &p->place, "an output of another dtype", cf_call(run, p, wrong_dtype), ND4C_DTYPE);
  }
  nd4c_error_clear();
  if (e->dtype != ND4C_UTF8 && nd4c_array_zeros(e->dtype, e->rank + 1, longer, run->device, wrong_shape) == ND4C_OK) {
    expect_status(run, &p->place, "an output of another shape", cf_call(run, p, wrong_shape), ND4C_SHAPE);
  }
  nd4c_error_clear();
  nd4c_attr unknown = {.name = "no_such_attribute", .value = {.kind = ND4C_ATTR_INT}};
  expect_status(run, &p->place, "an unknown attribute",
                nd4c_op_call(run->context, p->c.op, p->inputs, p->c.input_count, &unknown, 1, fresh, p->output_count),
                ND4C_NAME);
  nd4c_error_clear();
  const nd4c_array *none[CF_INPUTS] = {NULL};
  if (p->c.input_count > 0 && !nd4c_op_get(p->c.op)->inputs[0].optional) {
    expect_status(run, &p->place, "a missing input",
                  nd4c_op_call(run->context, p->c.op, none, p->c.input_count, p->c.attrs, p->c.attr_count, fresh,
                               p->output_count),
                  ND4C_NULL_ARGUMENT);
  }
  if (fresh[0] != NULL) {
    cf_fail(run, &p->place, "a refused call left an output");
  }
  cf_release_all(wrong_dtype);
  cf_release_all(wrong_shape);
  cf_release_all(fresh);
}

/* The inputs of a recorded refusal on the device. */
static nd4c_status place_inputs(const cf_run *run, cf_prepared *p) {
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < p->c.input_count && status == ND4C_OK; i++) {
    cf_placement placement;
    if (p->c.inputs[i].dtype != ND4C_DTYPE_NONE) {
      (void)cf_place(p->c.inputs[i].dtype, CF_LAYOUT_contiguous, p->c.inputs[i].rank, p->c.inputs[i].shape, &placement);
      status = cf_array_make(&p->c.inputs[i], &placement, run->device, &p->arrays[i]);
      p->inputs[i] = p->arrays[i].view;
    }
  }
  return status;
}

/* A device's kernel that refuses in flight reports op, index and extent. Only a check of the data before the call can
 * report the position that the recorded text names. */
static void expect_refusal(cf_run *run, const cf_prepared *p, const cf_golden *golden, nd4c_status status,
                           bool in_flight) {
  if (cf_lacks_library(run, &p->place, status)) {
    return;
  }
  if (!in_flight && status == golden->status && strstr(nd4c_error_message(), golden->text) == NULL) {
    char text[CF_TEXT];
    (void)snprintf(text, sizeof text, "refused as \"%.300s\", expected \"%s\" in it", nd4c_error_message(),
                   golden->text);
    cf_fail(run, &p->place, text);
  } else {
    expect_status(run, &p->place, "a recorded refusal", status, golden->status);
  }
}

/* An output to write to: of the result's shape, or any array if inference refuses the call. */
static bool make_outputs(const cf_run *run, const cf_prepared *p, cf_array *arrays, nd4c_array **outputs, bool *known) {
  cf_tensor results[CF_OUTPUTS] = {0};
  bool made = true;
  *known = cf_plan_infer(&p->c, results, p->output_count);
  for (int32_t i = 0; i < p->output_count; i++) {
    cf_placement placement;
    if (results[i].data == NULL) {
      cf_tensor_make(&results[i], ND4C_FLOAT32, CF_SHAPE(3));
    }
    nd4c_dtype dtype = results[i].dtype;
    bool whole = dtype == ND4C_BOOL || cf_is_packed(dtype);
    memset(results[i].data, whole ? 1 : 0x5a, (size_t)(results[i].size * cf_size_of(dtype)));
    made = made && dtype != ND4C_UTF8 &&
           cf_place(dtype, CF_LAYOUT_contiguous, results[i].rank, results[i].shape, &placement) &&
           cf_array_make(&results[i], &placement, run->device, &arrays[i]) == ND4C_OK;
    outputs[i] = arrays[i].view;
    cf_tensor_clear(&results[i]);
  }
  return made;
}

/* As cf_call, but also waits for a failure in flight. in_flight: the call itself was accepted, so the outputs are
 * poisoned instead of unchanged. */
static nd4c_status call_and_wait(cf_run *run, const cf_prepared *p, nd4c_array **outputs, bool *in_flight) {
  nd4c_device_info device = {.struct_size = sizeof device};
  nd4c_status status = cf_call(run, p, outputs);
  *in_flight = status == ND4C_OK && nd4c_device_get_info(run->device, &device) == ND4C_OK && device.asynchronous;
  for (int32_t i = 0; i < p->output_count && *in_flight && status == ND4C_OK; i++) {
    status = nd4c_array_wait(outputs[i]);
  }
  return status;
}

/* The same call with given outputs, whose contents must stay unchanged. */
static void refuse_given(cf_run *run, const cf_prepared *p, const cf_golden *golden) {
  cf_array arrays[CF_OUTPUTS] = {0};
  nd4c_array *outputs[CF_OUTPUTS] = {NULL};
  bool known = false, in_flight = false;
  if (make_outputs(run, p, arrays, outputs, &known)) {
    nd4c_error_clear();
    nd4c_status status = call_and_wait(run, p, outputs, &in_flight);
    if (known) {
      expect_refusal(run, p, golden, status, in_flight);
    } else if (status == ND4C_OK) {
      cf_fail(run, &p->place, "a recorded refusal is accepted with an output given");
    }
    for (int32_t i = 0; i < p->output_count && !in_flight; i++) {
      if (!cf_array_intact(&arrays[i], false)) {
        cf_fail(run, &p->place, "a refused call changed the output given");
      }
    }
  }
  for (int32_t i = 0; i < p->output_count; i++) {
    cf_array_clear(&arrays[i]);
  }
}

/* Recorded refusals: the status, and a part of the text apart from the op's name. */
static void run_recorded_refusals(cf_run *run, const cf_record *record) {
  const cf_golden *golden;
  for (int32_t number = 0; (golden = cf_golden_refusal(record->op, number)) != NULL; number++) {
    cf_prepared p = {.place = {.op = nd4c_op_get(record->op)->name,
                               .layout = cf_layout_names[CF_LAYOUT_contiguous],
                               .mode = cf_mode_names[CF_MODE_refusals],
                               .dtype = golden->dtype,
                               .number = number},
                     .c = golden->c,
                     .output_count = nd4c_op_get(record->op)->output_count};
    nd4c_array *outputs[CF_OUTPUTS] = {NULL};
    bool in_flight = false;
    nd4c_status status = place_inputs(run, &p);
    nd4c_error_clear();
    status = status == ND4C_OK ? call_and_wait(run, &p, outputs, &in_flight) : status;
    expect_refusal(run, &p, golden, status, in_flight);
    cf_release_all(outputs);
    refuse_given(run, &p, golden);
    for (int32_t i = 0; i < p.c.input_count; i++) {
      cf_array_clear(&p.arrays[i]);
    }
  }
}

void cf_run_refusals(cf_run *run, const cf_record *record) {
  cf_prepared p = {.place = {.op = nd4c_op_get(record->op)->name,
                             .layout = cf_layout_names[CF_LAYOUT_contiguous],
                             .mode = cf_mode_names[CF_MODE_refusals]}};
  if (!cf_wanted(run->options.mode, p.place.mode)) {
    return;
  }
  if (!first_case(run, record, &p)) {
    cf_fail(run, &p.place, "no case to start from");
    return;
  }
  refuse_calls(run, &p);
  refuse_dtypes(run, record, &p);
  run_recorded_refusals(run, record);
  cf_unprepare(&p);
}
