/* Ops of image networks, except windows: linear layers, normalisations by channel, the mean of each plane. compute.c
 * lists these functions. */
#include <math.h>

#include "stub.h"

/* -- linear, of float32 ------------------------------------------------------------------------------------------ */

typedef struct linear_layer {
  int64_t depth, columns, rows;
  bool transposed;          /* w is [columns, depth] */
  float *operands[4];       /* x, w, bias, addend; NULL: left out */
  int64_t *x_rows, *biases; /* by row, by element of y: which one of x, of bias */
  float *y;
  double *sums; /* of a row */
} linear_layer;

enum { X, W, BIAS, ADDEND, PARTS = 16 };

static void sum_row(const linear_layer *layer, const float *restrict x) {
  const float *restrict w = layer->operands[W];
  double *restrict sums = layer->sums;
  for (int64_t j = 0; j < layer->columns; j++) {
    sums[j] = 0;
  }
  for (int64_t k = 0; k < layer->depth && !layer->transposed; k++) {
    for (int64_t j = 0; j < layer->columns; j++) {
      sums[j] += (double)x[k] * (double)w[k * layer->columns + j];
    }
  }
  for (int64_t j = 0; j < layer->columns && layer->transposed; j++) {
    const float *restrict line = w + j * layer->depth;
    double parts[PARTS] = {0};
    int64_t k = 0;
    for (; k + PARTS <= layer->depth; k += PARTS) {
      for (int32_t part = 0; part < PARTS; part++) {
        parts[part] += (double)x[k + part] * (double)line[k + part];
      }
    }
    for (; k < layer->depth; k++) {
      parts[0] += (double)x[k] * (double)line[k];
    }
    for (int32_t part = 0; part < PARTS; part++) {
      sums[j] += parts[part];
    }
  }
}

static void run_layer(const linear_layer *layer, int64_t activation) {
  for (int64_t row = 0; row < layer->rows; row++) {
    sum_row(layer, layer->operands[X] + layer->x_rows[row] * layer->depth);
    for (int64_t j = 0; j < layer->columns; j++) {
      const int64_t i = row * layer->columns + j;
      double sum = layer->sums[j];
      sum += layer->operands[BIAS] != NULL ? layer->operands[BIAS][layer->biases[i]] : 0;
      sum += layer->operands[ADDEND] != NULL ? layer->operands[ADDEND][i] : 0;
      layer->y[i] = (float)stub_activate(activation, sum);
    }
  }
}

/* All but the last axis. */
static stub_operand rows_of(const stub_operand *operand) {
  stub_operand rows = *operand;
  rows.rank--;
  rows.size = 1;
  for (int32_t i = 0; i < rows.rank; i++) {
    rows.size *= rows.shape[i];
  }
  return rows;
}

static nd4c_status prepare_layer(const stub_work *work, linear_layer *layer) {
  const stub_operand from = rows_of(&work->inputs[X]), to = rows_of(&work->output);
  layer->rows = to.size;
  layer->x_rows = stub_host->allocate((size_t)(to.size + 1) * sizeof *layer->x_rows);
  layer->biases = stub_host->allocate((size_t)(work->output.size + 1) * sizeof *layer->biases);
  layer->y = stub_host->allocate((size_t)(work->output.size + 1) * sizeof *layer->y);
  layer->sums = stub_host->allocate((size_t)(layer->columns + 1) * sizeof *layer->sums);
  if (layer->x_rows == NULL || layer->biases == NULL || layer->y == NULL || layer->sums == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for %s", work->name);
  }
  stub_broadcast(&from, &to, layer->x_rows);
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < work->input_count && status == ND4C_OK; i++) {
    if (work->inputs[i].dtype != ND4C_DTYPE_NONE) {
      status = stub_operand_floats(&work->inputs[i], &layer->operands[i]);
    }
  }
  if (layer->operands[BIAS] != NULL) {
    stub_broadcast(&work->inputs[BIAS], &work->output, layer->biases);
  }
  return status;
}

nd4c_status stub_compute_linear(const stub_work *work) {
  const stub_operand *x = &work->inputs[X], *y = &work->output;
  linear_layer layer = {.depth = x->shape[x->rank - 1],
                        .columns = y->shape[y->rank - 1],
                        .transposed = work->attrs[ND4C_ATTR_linear_transpose_w].as.i != 0};
  nd4c_status status = prepare_layer(work, &layer);
  if (status == ND4C_OK) {
    run_layer(&layer, work->attrs[ND4C_ATTR_linear_activation].as.i);
    status = stub_operand_store_floats(y, layer.y);
  }
  for (int32_t i = 0; i < 4; i++) {
    stub_host->free(layer.operands[i]);
  }
  stub_host->free(layer.x_rows);
  stub_host->free(layer.biases);
  stub_host->free(layer.y);
  stub_host->free(layer.sums);
  return status;
}

/* -- by channel -------------------------------------------------------------------------------------------------- */

/* Elements of one channel of [n, c, ...]. */
static int64_t plane_of(const stub_operand *x) {
  int64_t plane = 1;
  for (int32_t i = 2; i < x->rank; i++) {
    plane *= x->shape[i];
  }
  return plane;
}

nd4c_status stub_compute_batch_norm(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  const stub_operand *x = &work->inputs[0];
  const int64_t plane = plane_of(x);
  const double epsilon = work->attrs[ND4C_ATTR_batch_norm_epsilon].as.f;
  for (int64_t i = 0; i < x->size; i++) {
    const int64_t channel = i / plane % x->shape[1];
    const double scale = inputs[1][channel].re, bias = inputs[2][channel].re;
    const double mean = inputs[3][channel].re, variance = inputs[4][channel].re;
    output[i].re = (inputs[0][i].re - mean) / sqrt(variance + epsilon) * scale + bias;
  }
  return ND4C_OK;
}

nd4c_status stub_compute_lrn(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  const stub_operand *x = &work->inputs[0];
  const nd4c_attr_value *attrs = work->attrs;
  const int64_t plane = plane_of(x), channels = x->shape[1], size = attrs[ND4C_ATTR_lrn_size].as.i;
  const double alpha = attrs[ND4C_ATTR_lrn_alpha].as.f, beta = attrs[ND4C_ATTR_lrn_beta].as.f;
  for (int64_t i = 0; i < x->size; i++) {
    const int64_t channel = i / plane % channels;
    const int64_t first = channel - (size - 1) / 2, last = channel + size / 2;
    double squares = 0;
    for (int64_t c = first > 0 ? first : 0; c <= last && c < channels; c++) {
      const double value = inputs[0][i + (c - channel) * plane].re;
      squares += value * value;
    }
    output[i].re = inputs[0][i].re / pow(attrs[ND4C_ATTR_lrn_bias].as.f + alpha / (double)size * squares, beta);
  }
  return ND4C_OK;
}

nd4c_status stub_compute_global_average_pool(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  const int64_t plane = plane_of(&work->inputs[0]);
  for (int64_t i = 0; i < work->output.size; i++) {
    double sum = 0;
    for (int64_t k = 0; k < plane; k++) {
      sum += inputs[0][i * plane + k].re;
    }
    output[i].re = sum / (double)plane;
  }
  return ND4C_OK;
}
