/* Implements quantization_conv.h: reads calls of qlinear_conv and conv_integer, and arranges their operands. */
#include "backends/cpu/simd/quantization/quantization_conv.h"

#include <string.h>

#include "backends/cpu/simd/rows.h"

/* -- reading ------------------------------------------------------------------------------------------------------- */

static nd4c_bytes_conv_positions positions_of(const nd4c_call *call) {
  if (call->op->op == ND4C_OP_conv_integer) {
    return (nd4c_bytes_conv_positions){.w = ND4C_IN_conv_integer_w,
                                       .x_zero = ND4C_IN_conv_integer_x_zero_point,
                                       .w_zero = ND4C_IN_conv_integer_w_zero_point,
                                       .x_scale = -1,
                                       .w_scale = -1,
                                       .y_scale = -1,
                                       .y_zero = -1,
                                       .bias = -1};
  }
  return (nd4c_bytes_conv_positions){.w = ND4C_IN_qlinear_conv_w,
                                     .x_zero = ND4C_IN_qlinear_conv_x_zero_point,
                                     .w_zero = ND4C_IN_qlinear_conv_w_zero_point,
                                     .x_scale = ND4C_IN_qlinear_conv_x_scale,
                                     .w_scale = ND4C_IN_qlinear_conv_w_scale,
                                     .y_scale = ND4C_IN_qlinear_conv_y_scale,
                                     .y_zero = ND4C_IN_qlinear_conv_y_zero_point,
                                     .bias = ND4C_IN_qlinear_conv_bias};
}

static const nd4c_tensor *optional(const nd4c_bytes_conv *c, int position) {
  return position < 0 ? NULL : nd4c_cpu_input(c->call, position);
}

static void read_window(nd4c_bytes_conv *c) {
  static const nd4c_cpu_window_attrs scaled = ND4C_CPU_WINDOW_ATTRS(qlinear_conv),
                                     plain = ND4C_CPU_WINDOW_ATTRS(conv_integer);
  const bool is_plain = c->at.y_scale < 0;
  nd4c_cpu_window(c->call, is_plain ? plain : scaled, c->w->shape + 2, &c->window);
  c->groups = is_plain ? ND4C_INT_OF(c->call, conv_integer_groups) : ND4C_INT_OF(c->call, qlinear_conv_groups);
}

/* Elements from place to place of y, over all its axes but the first two; 0: there is no such step. */
static int64_t place_step(const nd4c_tensor *y) {
  nd4c_simd_rows rows;
  nd4c_simd_rows_make(&rows, y, y, 3);
  return rows.rank == 0 ? 1 : rows.rank == 1 ? rows.y_strides[0] : 0;
}

static bool is_one_or_list(const nd4c_tensor *x, int64_t extent) {
  return x == NULL || x->size == 1 || (x->rank == 1 && x->size == extent);
}

static const char *refuse_numbers(const nd4c_bytes_conv *c) {
  const int scales[] = {c->at.x_scale, c->at.w_scale, c->at.y_scale};
  for (int i = 0; i < 3; i++) {
    const nd4c_tensor *scale = optional(c, scales[i]);
    if (scale != NULL && scale->dtype != ND4C_FLOAT32) {
      return "the scales are not float32";
    }
    if (!is_one_or_list(scale, i == 1 ? c->w->shape[0] : 1)) {
      return "a scale is neither one nor a list";
    }
  }
  return is_one_or_list(optional(c, c->at.x_zero), 1) && is_one_or_list(optional(c, c->at.w_zero), c->w->shape[0])
             ? NULL
             : "a zero point is neither one nor a list";
}

const char *nd4c_bytes_conv_read(const nd4c_call *call, nd4c_bytes_conv *c) {
  const nd4c_bytes_conv_positions at = positions_of(call);
  const int64_t depth = nd4c_simd.bytes->depth > 0 ? nd4c_simd.bytes->depth : 1;
  *c = (nd4c_bytes_conv){
      .call = call, .at = at, .x = &call->inputs[0], .w = &call->inputs[at.w], .y = &call->outputs[0]};
  if (c->x->size == 0 || c->w->size == 0 || c->y->size == 0) {
    return "an operand is empty";
  }
  read_window(c);
  c->channels = c->w->shape[1];
  c->outputs = c->w->shape[0] / c->groups;
  c->k = c->w->size / c->w->shape[0];
  c->cells = c->k / c->channels;
  c->whole = nd4c_cpu_divide_up(c->k, depth) * depth;
  c->panels = nd4c_cpu_divide_up(c->outputs, ND4C_BYTES_COLUMNS);
  c->cells_of_x = c->x->size / c->x->shape[0] / c->x->shape[1];
  c->places = c->y->size / c->y->shape[0] / c->y->shape[1];
  c->rows = c->places * c->y->shape[0];
  c->y_step = place_step(c->y);
  c->single = c->groups > 1 && c->channels == 1 && c->outputs == 1;
  if (c->y_step == 0) {
    return "the result's places are not equally far apart";
  }
  return refuse_numbers(c);
}

/* What makes a zero point, or 0 if there is none, that of signed bytes. */
static int32_t signed_zero(const nd4c_tensor *zero, int64_t index, nd4c_dtype dtype) {
  return (zero != NULL ? (int32_t)nd4c_bytes_number(zero, index) : 0) - (dtype == ND4C_UINT8 ? 128 : 0);
}

void nd4c_bytes_conv_read_numbers(nd4c_bytes_conv *c) {
  const nd4c_tensor *y_zero = optional(c, c->at.y_zero);
  c->x_zero = signed_zero(optional(c, c->at.x_zero), 0, c->x->dtype);
  c->y_zero = y_zero != NULL ? (int32_t)nd4c_bytes_number(y_zero, 0) : 0;
}

/* -- memory -------------------------------------------------------------------------------------------------------- */

static int64_t panel_bytes(const nd4c_bytes_conv *c) {
  const int64_t bytes = c->single ? c->cells * c->groups : c->groups * c->panels * ND4C_BYTES_COLUMNS * c->whole;
  return (bytes + 63) & ~(int64_t)63;
}

int64_t nd4c_bytes_conv_weight_bytes(const nd4c_bytes_conv *c) {
  return panel_bytes(c) + c->w->shape[0] * (int64_t)sizeof(int32_t);
}

int64_t nd4c_bytes_conv_line_bytes(const nd4c_bytes_conv *c) {
  return ND4C_BYTES_COLUMNS * c->k;
}

nd4c_bytes_conv_room nd4c_bytes_conv_place(const nd4c_bytes_conv *c, int32_t width, bool packs) {
  nd4c_bytes_conv_room room = {.bytes = 0};
  const int64_t all = c->w->shape[0], n = c->single ? c->groups : c->outputs, rows = ND4C_BYTES_CONV_ROWS;
  room.x = nd4c_bytes_take(&room.bytes, c->x->size * (c->single ? 2 : 1));
  room.weights = nd4c_bytes_take(&room.bytes, packs ? nd4c_bytes_conv_weight_bytes(c) : 0);
  room.line = nd4c_bytes_take(&room.bytes, packs ? nd4c_bytes_conv_line_bytes(c) : 0);
  room.w_wide = nd4c_bytes_take(&room.bytes, c->single ? c->cells * c->groups * 2 : 0);
  room.zeros = nd4c_bytes_take(&room.bytes, all * 4);
  room.factors = nd4c_bytes_take(&room.bytes, all * 8);
  room.bias = nd4c_bytes_take(&room.bytes, all * 4);
  room.workers = room.bytes;
  room.own_sums = nd4c_bytes_take(&room.worker_bytes, rows * n * 4);
  room.own_windows = nd4c_bytes_take(&room.worker_bytes, c->single ? 0 : rows * c->whole);
  room.own_bytes = nd4c_bytes_take(&room.worker_bytes, rows * n);
  room.bytes += room.worker_bytes * (width > 1 ? width : 1);
  return room;
}

/* -- weights ------------------------------------------------------------------------------------------------------- */

/* The weights of an output, cell by cell, each with all channels; `apart` from one to the next. Returns their sum. */
static int32_t arrange_output(const nd4c_bytes_conv *c, int64_t output, int8_t *to, int64_t apart) {
  const nd4c_tensor *w = c->w;
  const uint8_t turn = w->dtype == ND4C_UINT8 ? 0x80 : 0;
  uint32_t sum = 0;
  for (int64_t cell = 0; cell < c->cells; cell++) {
    int64_t offset = output * w->strides[0], rest = cell;
    for (int32_t axis = w->rank - 1; axis >= 2; rest /= w->shape[axis--]) {
      offset += rest % w->shape[axis] * w->strides[axis];
    }
    for (int64_t channel = 0; channel < c->channels; channel++, to += apart) {
      *to = (int8_t)(((const uint8_t *)w->data)[offset + channel * w->strides[1]] ^ turn);
      sum += (uint32_t)(int32_t)*to;
    }
  }
  return (int32_t)sum;
}

void nd4c_bytes_conv_pack(const nd4c_bytes_conv *c, char *to, int8_t *line, nd4c_bytes_conv_weights *weights) {
  int8_t *panels = (int8_t *)to;
  int32_t *sums = (int32_t *)(void *)(to + panel_bytes(c));
  weights->panels = panels;
  weights->sums = c->single ? NULL : sums;
  for (int64_t group = 0; group < c->groups; group++) {
    if (c->single) {
      (void)arrange_output(c, group, panels + group, c->groups);
      continue;
    }
    for (int64_t column = 0; column < c->outputs; column += ND4C_BYTES_COLUMNS) {
      const int64_t left = c->outputs - column, n = left < ND4C_BYTES_COLUMNS ? left : ND4C_BYTES_COLUMNS;
      for (int64_t i = 0; i < n; i++) {
        const int64_t output = group * c->outputs + column + i;
        sums[output] = arrange_output(c, output, line + i * c->k, 1);
      }
      nd4c_simd.bytes->pack(n, c->k, line, 1, c->k,
                            panels + (group * c->panels * ND4C_BYTES_COLUMNS + column) * c->whole);
    }
  }
}

void nd4c_bytes_conv_widen_weights(const nd4c_bytes_conv *c, const nd4c_bytes_conv_weights *weights,
                                   const int32_t *zeros, int16_t *to) {
  for (int64_t cell = 0; cell < c->cells; cell++) {
    for (int64_t channel = 0; channel < c->groups; channel++) {
      const int64_t at = cell * c->groups + channel;
      to[at] = (int16_t)(weights->panels[at] - (zeros != NULL ? zeros[channel] : 0));
    }
  }
}

/* -- x ------------------------------------------------------------------------------------------------------------- */

typedef struct arranging {
  const nd4c_bytes_conv *c;
  char *to;
} arranging;

/* Lines of x: the cells along the last axis, each with all channels. */
static void line_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  enum { SOME = 4096 };
  const arranging *j = user;
  const nd4c_tensor *x = j->c->x;
  const int32_t last = x->rank - 1;
  const int64_t cells = x->shape[last], channels = x->shape[1], together = SOME / channels > 0 ? SOME / channels : 1;
  const bool is_signed = x->dtype == ND4C_INT8;
  uint8_t beside[SOME];
  (void)worker;
  for (int64_t line = begin; line < end; line++) {
    int64_t rest = line, offset = 0;
    for (int32_t axis = last - 1; axis >= 0; axis--) {
      if (axis != 1) {
        offset += rest % x->shape[axis] * x->strides[axis];
        rest /= x->shape[axis];
      }
    }
    for (int64_t cell = 0; cell < cells; cell += together) {
      const int64_t n = cells - cell < together ? cells - cell : together;
      for (int64_t first = 0; first < channels; first += SOME) {
        const int64_t some = channels - first < SOME ? channels - first : SOME;
        const int64_t at = (line * cells + cell) * channels + first;
        const char *from = (const char *)x->data + offset + cell * x->strides[last] + first * x->strides[1];
        nd4c_simd.move->move[1](n, some, from, x->strides[last], x->strides[1], beside, some, 1);
        if (j->c->single) {
          nd4c_simd.scales->widen(n * some, beside, is_signed, is_signed ? j->c->x_zero : j->c->x_zero + 128,
                                  (int16_t *)(void *)j->to + at);
        } else if (is_signed) {
          memcpy(j->to + at, beside, (size_t)(n * some));
        } else {
          nd4c_simd.scales->flip(n * some, beside, (int8_t *)j->to + at);
        }
      }
    }
  }
}

void nd4c_bytes_conv_arrange(const nd4c_bytes_conv *c, char *to, int32_t width) {
  arranging j = {c, to};
  const int64_t line = c->x->shape[c->x->rank - 1] * c->x->shape[1];
  nd4c_cpu_parallel(c->x->size / line, (1 << 15) / line + 1, width, line_range, &j);
}

/* -- numbers of output channels ------------------------------------------------------------------------------------ */

const int32_t *nd4c_bytes_conv_zeros(const nd4c_bytes_conv *c, int32_t *to) {
  bool any = false;
  for (int64_t i = 0; i < c->w->shape[0]; i++) {
    to[i] = signed_zero(optional(c, c->at.w_zero), i, c->w->dtype);
    any = any || to[i] != 0;
  }
  return any ? to : NULL;
}

/* Each step is rounded to float32, as the reference does. */
const double *nd4c_bytes_conv_factors(const nd4c_bytes_conv *c, double *to) {
  const nd4c_tensor *x = optional(c, c->at.x_scale), *w = optional(c, c->at.w_scale), *y = optional(c, c->at.y_scale);
  for (int64_t i = 0; i < c->w->shape[0] && y != NULL; i++) {
    to[i] = (double)((float)((float)nd4c_bytes_number(x, 0) * (float)nd4c_bytes_number(w, i)) /
                     (float)nd4c_bytes_number(y, 0));
  }
  return y != NULL ? to : NULL;
}

const int32_t *nd4c_bytes_conv_bias(const nd4c_bytes_conv *c, int32_t *to) {
  const nd4c_tensor *bias = optional(c, c->at.bias);
  for (int64_t i = 0; i < c->w->shape[0] && bias != NULL; i++) {
    to[i] = ((const int32_t *)bias->data)[bias->size == 1 ? 0 : i * bias->strides[0]];
  }
  return bias != NULL ? to : NULL;
}
