/* Rules for the gradients of medians and quantiles: the elements that a result lies between have it. gradient.c looks
 * rules up in this list. */
#include <math.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/device.h"
#include "ops/gradient/gradient.h"

/* Places in sorted lines, two for each q, and what each has of the result. */
typedef struct shares {
  int64_t *places;
  double *parts;
} shares;

static void share_between(const double *q, int32_t count, int64_t method, int64_t length, const shares *made) {
  for (int32_t i = 0; i < count; i++) {
    const double exact = q[i] * (double)(length - 1), lower = floor(exact);
    double part = exact - lower;
    int64_t at = (int64_t)lower, after = at + (exact > lower);
    if (method == ND4C_QUANTILE_METHOD_NEAREST) {
      at = after = (int64_t)rint(exact);
    } else if (method == ND4C_QUANTILE_METHOD_LOWER) {
      after = at;
    } else if (method == ND4C_QUANTILE_METHOD_HIGHER) {
      at = after;
    } else if (method == ND4C_QUANTILE_METHOD_MIDPOINT) {
      part = 0.5;
    }
    made->places[i] = at;
    made->places[count + i] = after;
    made->parts[i] = 1 - part;
    made->parts[count + i] = part;
  }
}

static nd4c_status emit_list(nd4c_emitter *e, nd4c_dtype dtype, int64_t count, const void *data, nd4c_emitted *y) {
  nd4c_array *array = NULL;
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  ND4C_TRY(nd4c_array_from_data(dtype, 1, &count, data, host, &array));
  return nd4c_emit_constant(e, array, y);
}

static nd4c_status emit_shares(nd4c_emitter *e, const double *q, int32_t count, int64_t method, int64_t length,
                               nd4c_emitted *places, nd4c_emitted *parts) {
  const size_t pairs = 2 * (size_t)count;
  shares made = {NULL, NULL};
  nd4c_status status = nd4c_allocate_or_fail(pairs, sizeof *made.places, "places of quantiles", &made.places);
  status =
      status == ND4C_OK ? nd4c_allocate_or_fail(pairs, sizeof *made.parts, "parts of quantiles", &made.parts) : status;
  if (status == ND4C_OK) {
    share_between(q, count, method, length, &made);
    status = emit_list(e, ND4C_INT64, (int64_t)pairs, made.places, places);
  }
  status = status == ND4C_OK ? emit_list(e, ND4C_FLOAT64, (int64_t)pairs, made.parts, parts) : status;
  nd4c_deallocate(made.places);
  nd4c_deallocate(made.parts);
  return status;
}

/* g [count, ...] with its first axis last, twice, and each time its part of it */
static nd4c_status weigh_given(nd4c_emitter *e, const nd4c_gradient_step *step, const nd4c_gradient_lines *lines,
                               int64_t count, nd4c_emitted parts, nd4c_emitted *y) {
  static const int64_t first = 0, last = -1;
  const nd4c_attr attrs[] = {nd4c_attr_of_ints("source", &first, 1), nd4c_attr_of_ints("destination", &last, 1)};
  int64_t shape[ND4C_MAX_RANK + 1] = {count};
  for (int32_t i = 0; i < lines->kept; i++) {
    shape[i + 1] = lines->joined[i];
  }
  ND4C_TRY(nd4c_emit_reshape(e, step->given, lines->kept + 1, shape, y));
  ND4C_TRY(nd4c_emit(e, ND4C_OP_moveaxis, y, 1, attrs, 2, y));
  const nd4c_emitted twice[] = {*y, *y};
  ND4C_TRY(nd4c_emit_along(e, ND4C_OP_concat, twice, 2, lines->kept, y));
  ND4C_TRY(nd4c_emit_cast(e, parts, nd4c_emitted_get(e, *y).dtype, &parts));
  return nd4c_emit_binary(e, ND4C_OP_multiply, *y, parts, y);
}

static nd4c_status give_between(nd4c_emitter *e, const nd4c_gradient_step *step, const nd4c_attr_value *axes,
                                const double *q, int32_t count, int64_t method, nd4c_emitted *gradient) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  nd4c_gradient_lines lines;
  nd4c_emitted x = ND4C_EMITTED_NONE, parts = ND4C_EMITTED_NONE, places[2] = {ND4C_EMITTED_NONE, ND4C_EMITTED_NONE},
               inputs[3] = {ND4C_EMITTED_NONE, ND4C_EMITTED_NONE, ND4C_EMITTED_NONE};
  ND4C_TRY(nd4c_gradient_to_lines(e, step->inputs[0], axes, &lines, &x));
  const int64_t length = lines.joined[lines.kept];
  if (count == 0) {
    return nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, gradient);
  }
  if (length < 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of a quantile needs numbers along its axes");
  }
  const nd4c_attr attrs[] = {nd4c_attr_of_int("axis", lines.kept),
                             nd4c_attr_of_int("reduction", ND4C_SCATTER_REDUCTION_ADD)};
  ND4C_TRY(nd4c_emit_along(e, ND4C_OP_argsort, &x, 1, lines.kept, &places[0]));
  ND4C_TRY(emit_shares(e, q, count, method, length, &places[1], &parts));
  ND4C_TRY(nd4c_emit_along(e, ND4C_OP_gather, places, 2, lines.kept, &inputs[1]));
  ND4C_TRY(weigh_given(e, step, &lines, count, parts, &inputs[2]));
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 0, lines.kept + 1, lines.joined, &inputs[0]));
  ND4C_TRY(nd4c_emit(e, ND4C_OP_scatter_elements, inputs, 3, attrs, 2, gradient));
  return nd4c_gradient_from_lines(e, &lines, gradient);
}

ND4C_GRADIENT(median) {
  const double half = 0.5;
  (void)index;
  return give_between(e, step, &step->attrs[ND4C_ATTR_median_axes], &half, 1, ND4C_QUANTILE_METHOD_LINEAR, gradient);
}

ND4C_GRADIENT(quantile) {
  const nd4c_attr_value *q = &step->attrs[ND4C_ATTR_quantile_q];
  (void)index;
  return give_between(e, step, &step->attrs[ND4C_ATTR_quantile_axes], q->as.floats, q->count,
                      step->attrs[ND4C_ATTR_quantile_method].as.i, gradient);
}

const nd4c_gradient_row nd4c_gradient_quantiles[] = {ND4C_GRADIENT_QUANTILES(ROW){ND4C_OP_NONE, NULL}};
