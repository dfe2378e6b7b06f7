/* Implements quantized.h, for the passes quantized_*.c. */
#include "graph/ir/quantized.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "device/device.h"

static bool is_byte(nd4c_dtype dtype) {
  return dtype == ND4C_INT8 || dtype == ND4C_UINT8;
}

static const nd4c_array *constant_of(const nd4c_rewrite *rewrite, nd4c_value value) {
  return value < 0 ? NULL : rewrite->graph->values[value].constant;
}

/* -- reading ------------------------------------------------------------------------------------------------------ */

/* Fills in the scales; the ops have them at the same positions. */
static bool read_scales(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, nd4c_quantized *to) {
  const nd4c_array *scale = constant_of(rewrite, node->inputs[ND4C_IN_quantize_linear_scale]);
  double number = 0;
  to->scale = node->inputs[ND4C_IN_quantize_linear_scale];
  to->zero = nd4c_node_input(node, ND4C_IN_quantize_linear_zero_point);
  if (scale == NULL || scale->dtype != ND4C_FLOAT32 || (to->zero >= 0 && constant_of(rewrite, to->zero) == NULL) ||
      node->attrs[ND4C_ATTR_quantize_linear_block_size].as.i != 0) {
    return false;
  }
  to->single = nd4c_constant_scalar(rewrite, to->scale, &to->step);
  if (!to->single) {
    int32_t rank = rewrite->graph->values[node->inputs[0]].rank;
    int64_t axis = node->attrs[ND4C_ATTR_quantize_linear_axis].as.i;
    to->axis = (int32_t)(axis < 0 ? axis + rank : axis);
    return scale->rank == 1;
  }
  if (to->zero >= 0 && !nd4c_constant_scalar(rewrite, to->zero, &number)) {
    return false;
  }
  to->origin = (int32_t)number;
  return to->step >= (double)FLT_MIN && to->step <= (double)FLT_MAX / 512;
}

bool nd4c_quantized_read(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_quantized *from) {
  const nd4c_graph_node *node = nd4c_rewrite_producer(rewrite, value, ND4C_OP_dequantize_linear);
  if (node == NULL || rewrite->graph->values[value].dtype != ND4C_FLOAT32) {
    return false;
  }
  *from = (nd4c_quantized){.bytes = node->inputs[0], .dtype = rewrite->graph->values[node->inputs[0]].dtype};
  return is_byte(from->dtype) && read_scales(rewrite, node, from);
}

bool nd4c_quantized_read_single(const nd4c_rewrite *rewrite, nd4c_value value, nd4c_quantized *from) {
  return nd4c_quantized_read(rewrite, value, from) && from->single;
}

bool nd4c_quantized_written(const nd4c_rewrite *rewrite, const nd4c_graph_node *node, nd4c_quantized *to) {
  if (node->def == NULL || node->def->info.op != ND4C_OP_quantize_linear) {
    return false;
  }
  int64_t precision = node->attrs[ND4C_ATTR_quantize_linear_precision].as.i;
  *to = (nd4c_quantized){.bytes = node->inputs[0], .dtype = rewrite->graph->values[node->outputs[0]].dtype};
  return is_byte(to->dtype) && rewrite->graph->values[node->inputs[0]].dtype == ND4C_FLOAT32 &&
         (precision == ND4C_DTYPE_NONE || precision == ND4C_FLOAT32) && read_scales(rewrite, node, to) && to->single;
}

bool nd4c_quantized_same(const nd4c_quantized *a, const nd4c_quantized *b) {
  return a->single && b->single && a->dtype == b->dtype && a->step == b->step && a->origin == b->origin;
}

/* The largest distance of a byte from the zero point. */
static int64_t largest(const nd4c_quantized *of) {
  const int32_t least = of->dtype == ND4C_INT8 ? -128 : 0, most = least + 255;
  if (!of->single) {
    return of->zero < 0 && of->dtype == ND4C_INT8 ? 128 : 255;
  }
  return of->origin - least > most - of->origin ? of->origin - least : most - of->origin;
}

bool nd4c_quantized_sums_fit(const nd4c_quantized *a, const nd4c_quantized *b, int64_t terms) {
  return terms >= 0 && terms <= INT32_MAX / (largest(a) * largest(b));
}

int32_t nd4c_quantized_byte(const nd4c_quantized *to, double number) {
  double least = to->dtype == ND4C_INT8 ? -128 : 0;
  double quotient = (double)((float)number / (float)to->step);
  double value = (quotient == quotient ? nearbyint(quotient) : 0) + to->origin;
  return (int32_t)(value < least ? least : value > least + 255 ? least + 255 : value);
}

/* -- constants ---------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_quantized_zero(nd4c_rewrite *rewrite, const nd4c_quantized *of, nd4c_value *zero) {
  const double none = 0;
  *zero = of->zero;
  return of->zero >= 0 ? ND4C_OK : nd4c_constant_make(rewrite, of->dtype, 0, NULL, &none, zero);
}

/* Whether all zero points are `number`; those that are left out are 0. */
static nd4c_status has_zero(const nd4c_rewrite *rewrite, const nd4c_quantized *w, double number, bool *has) {
  nd4c_status status = ND4C_OK;
  double *zeros = w->zero < 0 ? NULL : nd4c_constant_elements(rewrite, w->zero, &status);
  *has = zeros != NULL || number == 0;
  for (int64_t i = 0; zeros != NULL && i < rewrite->graph->values[w->zero].constant->size; i++) {
    *has = *has && zeros[i] == number;
  }
  nd4c_deallocate(zeros);
  return status;
}

nd4c_status nd4c_quantized_weights(nd4c_rewrite *rewrite, const nd4c_quantized *w, nd4c_value *value,
                                   nd4c_value *zero) {
  const nd4c_array *array = constant_of(rewrite, w->bytes);
  const double shift = w->dtype == ND4C_UINT8 ? 128 : 0, none = 0;
  bool fits = false;
  *value = ND4C_VALUE_NONE;
  if (array == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(has_zero(rewrite, w, shift, &fits));
  if (!fits) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_constant_make(rewrite, ND4C_INT8, 0, NULL, &none, zero));
  if (shift == 0) {
    *value = w->bytes;
    return ND4C_OK;
  }
  nd4c_status status = ND4C_OK;
  double *numbers = nd4c_constant_elements(rewrite, w->bytes, &status);
  for (int64_t i = 0; numbers != NULL && i < array->size; i++) {
    numbers[i] -= shift;
  }
  if (numbers != NULL) {
    status = nd4c_constant_make(rewrite, ND4C_INT8, array->rank, array->shape, numbers, value);
  }
  nd4c_deallocate(numbers);
  return status;
}
