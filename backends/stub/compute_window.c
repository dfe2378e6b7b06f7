/* Windows that move over the spatial axes of [n, c, ...]: convolutions and pools. compute.c lists these functions. */
#include <math.h>
#include <string.h>

#include "stub.h"

enum { SPATIAL = 3, TILE = 128 };

/* One to three spatial axes, as three: those that are missing stand first, with one cell. */
typedef struct stub_window {
  int64_t input[SPATIAL], output[SPATIAL], kernel[SPATIAL];
  int64_t stride[SPATIAL], dilation[SPATIAL], pad_begin[SPATIAL], pad_end[SPATIAL];
} stub_window;

/* Positions of the attributes, which differ between ops. */
typedef struct window_attrs {
  const nd4c_attr_value *strides, *pads, *dilations;
  int64_t auto_pad;
} window_attrs;

static int64_t item_of(const nd4c_attr_value *list, int32_t index, int64_t otherwise) {
  return list->count > 0 ? list->as.ints[index] : otherwise;
}

static stub_window window_of(const stub_work *work, const int64_t *kernel, window_attrs attrs) {
  const stub_operand *x = &work->inputs[0], *y = &work->output;
  const int32_t spatial = x->rank - 2, lacking = SPATIAL - spatial;
  stub_window window;
  for (int32_t i = 0; i < SPATIAL; i++) {
    const int32_t own = i - lacking;
    const bool there = own >= 0;
    window.input[i] = there ? x->shape[own + 2] : 1;
    window.output[i] = there ? y->shape[own + 2] : 1;
    window.kernel[i] = there ? kernel[own] : 1;
    window.stride[i] = there ? item_of(attrs.strides, own, 1) : 1;
    window.dilation[i] = there ? item_of(attrs.dilations, own, 1) : 1;
    window.pad_begin[i] = there ? item_of(attrs.pads, own, 0) : 0;
    window.pad_end[i] = there ? item_of(attrs.pads, own + spatial, 0) : 0;
    if (there && (attrs.auto_pad == ND4C_AUTO_PAD_SAME_UPPER || attrs.auto_pad == ND4C_AUTO_PAD_SAME_LOWER)) {
      const int64_t reach = (window.kernel[i] - 1) * window.dilation[i] + 1;
      const int64_t wanted = (window.output[i] - 1) * window.stride[i] + reach - window.input[i];
      const int64_t pad = wanted > 0 ? wanted : 0;
      window.pad_begin[i] = attrs.auto_pad == ND4C_AUTO_PAD_SAME_UPPER ? pad / 2 : pad - pad / 2;
      window.pad_end[i] = pad - window.pad_begin[i];
    }
  }
  return window;
}

static int64_t cells_of(const int64_t *extents) {
  return extents[0] * extents[1] * extents[2];
}

typedef enum stub_cell { INSIDE, IN_PADDING, BEYOND } stub_cell;

/* Where a tap of the window at output cell `at` reads, both in C order. *number: the input's cell, if it is INSIDE.
 * BEYOND: past the padding, into which the last window may extend. */
static stub_cell cell_of(const stub_window *window, int64_t at, int64_t tap, int64_t *number) {
  stub_cell result = INSIDE;
  int64_t stride = 1;
  *number = 0;
  for (int32_t i = SPATIAL - 1; i >= 0; i--) {
    const int64_t place = at % window->output[i] * window->stride[i] - window->pad_begin[i] +
                          tap % window->kernel[i] * window->dilation[i];
    at /= window->output[i];
    tap /= window->kernel[i];
    if (place >= window->input[i] + window->pad_end[i]) {
      result = BEYOND;
    } else if ((place < 0 || place >= window->input[i]) && result == INSIDE) {
      result = IN_PADDING;
    }
    *number += place * stride;
    stride *= window->input[i];
  }
  return result;
}

/* -- convolution, of float32 ------------------------------------------------------------------------------------- */

typedef struct convolution {
  stub_window window;
  int64_t channels, outputs; /* of one group */
  int64_t taps, cells, cells_in;
  int64_t activation;
  float *x, *w, *bias, *addend; /* bias, addend: NULL if left out */
  float *y;
  float *columns;   /* what the taps of each channel read at the cells of a tile */
  int64_t *numbers; /* by tap and cell of a tile: of the input's cell, -1: padding */
} convolution;

static void fill_columns(const convolution *work, const float *x, int64_t first, int64_t count) {
  for (int64_t tap = 0; tap < work->taps; tap++) {
    for (int64_t i = 0; i < count; i++) {
      int64_t *number = &work->numbers[tap * TILE + i];
      *number = cell_of(&work->window, first + i, tap, number) == INSIDE ? *number : -1;
    }
  }
  for (int64_t c = 0; c < work->channels; c++) {
    for (int64_t k = 0; k < work->taps * TILE; k++) {
      const int64_t number = k % TILE < count ? work->numbers[k] : -1;
      work->columns[c * work->taps * TILE + k] = number >= 0 ? x[c * work->cells_in + number] : 0;
    }
  }
}

/* Sums of a tile for one output channel: four rows of columns at a time. */
static void sum_columns(const float *restrict columns, const float *restrict w, int64_t depth, float *restrict sums) {
  int64_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    const float *restrict row = columns + k * TILE;
    for (int64_t i = 0; i < TILE; i++) {
      sums[i] += w[k] * row[i] + w[k + 1] * row[i + TILE] + w[k + 2] * row[i + 2 * TILE] + w[k + 3] * row[i + 3 * TILE];
    }
  }
  for (; k < depth; k++) {
    for (int64_t i = 0; i < TILE; i++) {
      sums[i] += w[k] * columns[k * TILE + i];
    }
  }
}

/* group: number among all groups of all batches. */
static void convolve_group(const convolution *work, int64_t group, int64_t group_in_batch) {
  const int64_t depth = work->channels * work->taps;
  for (int64_t first = 0; first < work->cells; first += TILE) {
    const int64_t count = work->cells - first < TILE ? work->cells - first : TILE;
    fill_columns(work, work->x + group * work->channels * work->cells_in, first, count);
    for (int64_t o = 0; o < work->outputs; o++) {
      float sums[TILE] = {0};
      const int64_t channel = group_in_batch * work->outputs + o;
      const int64_t begin = (group * work->outputs + o) * work->cells + first;
      sum_columns(work->columns, work->w + channel * depth, depth, sums);
      for (int64_t i = 0; i < count; i++) {
        const float sum = sums[i] + (work->bias != NULL ? work->bias[channel] : 0) +
                          (work->addend != NULL ? work->addend[begin + i] : 0);
        work->y[begin + i] = (float)stub_activate(work->activation, sum);
      }
    }
  }
}

static nd4c_status load_all(const stub_work *work, convolution *c) {
  float **places[] = {&c->x, &c->w, &c->bias, &c->addend};
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < work->input_count && status == ND4C_OK; i++) {
    if (work->inputs[i].dtype != ND4C_DTYPE_NONE) {
      status = stub_operand_floats(&work->inputs[i], places[i]);
    }
  }
  c->y = stub_host->allocate((size_t)(work->output.size + 1) * sizeof *c->y);
  c->columns = stub_host->allocate((size_t)(c->channels * c->taps * TILE + 1) * sizeof *c->columns);
  c->numbers = stub_host->allocate((size_t)(c->taps * TILE + 1) * sizeof *c->numbers);
  if (status == ND4C_OK && (c->y == NULL || c->columns == NULL || c->numbers == NULL)) {
    status = stub_host->fail(ND4C_MEMORY, "stub: no memory for %s", work->name);
  }
  return status;
}

static void free_all(const convolution *c) {
  stub_host->free(c->x);
  stub_host->free(c->w);
  stub_host->free(c->bias);
  stub_host->free(c->addend);
  stub_host->free(c->y);
  stub_host->free(c->columns);
  stub_host->free(c->numbers);
}

nd4c_status stub_compute_conv(const stub_work *work) {
  const nd4c_attr_value *attrs = work->attrs;
  const stub_operand *x = &work->inputs[0], *w = &work->inputs[1], *y = &work->output;
  const window_attrs given = {.strides = &attrs[ND4C_ATTR_conv_strides],
                              .pads = &attrs[ND4C_ATTR_conv_pads],
                              .dilations = &attrs[ND4C_ATTR_conv_dilations],
                              .auto_pad = attrs[ND4C_ATTR_conv_auto_pad].as.i};
  const int64_t groups = attrs[ND4C_ATTR_conv_groups].as.i;
  convolution c = {.window = window_of(work, w->shape + 2, given),
                   .channels = w->shape[1],
                   .outputs = y->shape[1] / groups,
                   .activation = attrs[ND4C_ATTR_conv_activation].as.i};
  c.taps = cells_of(c.window.kernel);
  c.cells = cells_of(c.window.output);
  c.cells_in = cells_of(c.window.input);
  nd4c_status status = load_all(work, &c);
  for (int64_t i = 0; i < x->shape[0] * groups && status == ND4C_OK; i++) {
    convolve_group(&c, i, i % groups);
  }
  status = status == ND4C_OK ? stub_operand_store_floats(y, c.y) : status;
  free_all(&c);
  return status;
}

/* -- pools ------------------------------------------------------------------------------------------------------- */

static stub_window pool_window(const stub_work *work) {
  const nd4c_attr_value *attrs = work->attrs;
  const window_attrs given = {.strides = &attrs[ND4C_ATTR_max_pool_strides],
                              .pads = &attrs[ND4C_ATTR_max_pool_pads],
                              .dilations = &attrs[ND4C_ATTR_max_pool_dilations],
                              .auto_pad = attrs[ND4C_ATTR_max_pool_auto_pad].as.i};
  return window_of(work, attrs[ND4C_ATTR_max_pool_kernel].as.ints, given);
}

/* The result of a window that has no cell inside the input. */
static stub_value lowest(nd4c_dtype dtype) {
  const int bits = (int)(8 * stub_size_of(dtype));
  return (stub_value){.re = -(double)INFINITY,
                      .i = stub_class_of(dtype) == STUB_INT ? -(int64_t)((UINT64_C(1) << (bits - 1)) - 1) - 1 : 0};
}

static stub_value larger(nd4c_dtype dtype, stub_value best, stub_value x) {
  switch (stub_class_of(dtype)) {
    case STUB_FLOAT:
      return isnan(best.re) || x.re <= best.re ? best : x;
    case STUB_UINT:
      return (uint64_t)x.i > (uint64_t)best.i ? x : best;
    default:
      return x.i > best.i ? x : best;
  }
}

nd4c_status stub_compute_max_pool(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  const stub_window window = pool_window(work);
  const int64_t cells = cells_of(window.output), cells_in = cells_of(window.input), taps = cells_of(window.kernel);
  for (int64_t i = 0; i < work->output.size; i++) {
    stub_value best = lowest(work->output.dtype);
    for (int64_t tap = 0; tap < taps; tap++) {
      int64_t number = 0;
      if (cell_of(&window, i % cells, tap, &number) == INSIDE) {
        best = larger(work->output.dtype, best, inputs[0][i / cells * cells_in + number]);
      }
    }
    output[i] = best;
  }
  return ND4C_OK;
}

nd4c_status stub_compute_average_pool(const stub_work *work, stub_value *const *inputs, stub_value *output) {
  const stub_window window = pool_window(work);
  const bool padded = work->attrs[ND4C_ATTR_average_pool_count_include_pad].as.i != 0;
  const int64_t cells = cells_of(window.output), cells_in = cells_of(window.input), taps = cells_of(window.kernel);
  for (int64_t i = 0; i < work->output.size; i++) {
    double sum = 0;
    int64_t count = 0;
    for (int64_t tap = 0; tap < taps; tap++) {
      int64_t number = 0;
      const stub_cell where = cell_of(&window, i % cells, tap, &number);
      sum += where == INSIDE ? inputs[0][i / cells * cells_in + number].re : 0;
      count += where == INSIDE || (where == IN_PADDING && padded);
    }
    output[i] = (stub_value){.re = count > 0 ? sum / (double)count : 0};
  }
  return ND4C_OK;
}
