#include <math.h>

#include "kernels/reference/windowed.h"

/* Position of output number `flat`: batch, channel and three spatial axes. */
static void place_of(const nd4c_ref_sweep *s, int64_t flat, int64_t *batch, int64_t *channel, int64_t *at) {
  for (int axis = 2; axis >= 0; axis--) {
    at[axis] = flat % s->y[axis];
    flat /= s->y[axis];
  }
  *channel = flat % s->outputs;
  *batch = flat / s->outputs;
}

static int64_t volume(const int64_t *extents) {
  return extents[0] * extents[1] * extents[2];
}

/* The cell of x from which tap k reaches an output cell, -1 if none: (at + pad - k * dilation) / stride, without rest.
 */
static int64_t source(const nd4c_ref_sweep *s, int axis, int64_t at, int64_t k) {
  int64_t place = at + s->pad[axis] - k * s->dilation[axis];
  if (place < 0 || place % s->stride[axis] != 0 || place / s->stride[axis] >= s->x[axis])
    return -1;
  return place / s->stride[axis];
}

/* Sum over the input channels of a group, of one cell of x and one of w. */
static double channel_sum(const nd4c_ref_conv_numbers *args, int64_t batch, int64_t channel, int64_t x_cell,
                          int64_t w_cell) {
  const nd4c_ref_sweep *s = &args->sweep;
  int64_t each = s->outputs / s->groups, inputs = s->channels / s->groups, group = channel / each;
  int64_t x_step = volume(s->x), w_step = volume(s->kernel) * each;
  const double *x = args->x + (batch * s->channels + group * inputs) * x_step + x_cell;
  const double *w = args->w + group * inputs * w_step + channel % each * volume(s->kernel) + w_cell;
  double sum = 0;
  for (int64_t c = 0; c < inputs; c++)
    sum += x[c * x_step] * w[c * w_step];
  return sum;
}

static double transposed_sum(const nd4c_ref_conv_numbers *args, int64_t batch, int64_t channel, const int64_t *at) {
  const nd4c_ref_sweep *s = &args->sweep;
  double sum = 0;
  for (int64_t i = 0; i < s->kernel[0]; i++) {
    int64_t from_i = source(s, 0, at[0], i);
    for (int64_t j = 0; j < s->kernel[1] && from_i >= 0; j++) {
      int64_t from_j = source(s, 1, at[1], j);
      for (int64_t k = 0; k < s->kernel[2] && from_j >= 0; k++) {
        int64_t from_k = source(s, 2, at[2], k);
        if (from_k >= 0)
          sum += channel_sum(args, batch, channel, (from_i * s->x[1] + from_j) * s->x[2] + from_k,
                             (i * s->kernel[1] + j) * s->kernel[2] + k);
      }
    }
  }
  return sum;
}

void nd4c_ref_conv_transpose(const nd4c_ref_conv_numbers *args, int64_t begin, int64_t end) {
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t at[3], batch, channel;
    place_of(&args->sweep, flat, &batch, &channel, at);
    args->y[flat] = transposed_sum(args, batch, channel, at) + (args->bias != NULL ? args->bias[channel] : 0);
  }
}

/* Where a tap reads: two neighbours on each axis with their weights; a neighbour outside counts nothing. */
typedef struct sample {
  int64_t cell[3][2];
  double weight[3][2];
} sample;

static void sample_axis(sample *point, int axis, double place, int64_t extent) {
  double below = floor(place);
  for (int side = 0; side < 2; side++) {
    double cell = below + side;
    bool inside = cell >= 0 && cell < (double)extent; /* false for NaN */
    point->cell[axis][side] = inside ? (int64_t)cell : 0;
    point->weight[axis][side] = inside ? (side == 0 ? 1 - (place - below) : place - below) : 0;
  }
}

static double sample_read(const sample *point, const int64_t *extents, const double *plane) {
  double sum = 0;
  for (int corner = 0; corner < 8; corner++) {
    int a = corner >> 2, b = corner >> 1 & 1, c = corner & 1;
    double weight = point->weight[0][a] * point->weight[1][b] * point->weight[2][c];
    if (weight != 0)
      sum += weight * plane[(point->cell[0][a] * extents[1] + point->cell[1][b]) * extents[2] + point->cell[2][c]];
  }
  return sum;
}

/* Where tap number `tap` reads for one output cell and offset group. */
static void sample_make(const nd4c_ref_conv_numbers *args, const double *offset, int64_t tap, const int64_t *at,
                        sample *point) {
  const nd4c_ref_sweep *s = &args->sweep;
  int64_t cells = volume(s->y), cell = (at[0] * s->y[1] + at[1]) * s->y[2] + at[2];
  const int64_t k[3] = {tap / (s->kernel[1] * s->kernel[2]), tap / s->kernel[2] % s->kernel[1], tap % s->kernel[2]};
  for (int axis = 0; axis < 3; axis++) {
    int own = axis - (3 - args->spatial);
    double place = (double)(at[axis] * s->stride[axis] - s->pad[axis] + k[axis] * s->dilation[axis]);
    if (own >= 0)
      place += offset[(tap * args->spatial + own) * cells + cell];
    sample_axis(point, axis, place, s->x[axis]);
  }
}

static double deformed_sum(const nd4c_ref_conv_numbers *args, int64_t batch, int64_t channel, const int64_t *at) {
  const nd4c_ref_sweep *s = &args->sweep;
  int64_t inputs = s->channels / s->groups, first = channel / (s->outputs / s->groups) * inputs;
  int64_t taps = volume(s->kernel), cells = volume(s->y), each = s->channels / args->offset_groups;
  int64_t cell = (at[0] * s->y[1] + at[1]) * s->y[2] + at[2];
  double sum = 0;
  for (int64_t tap = 0; tap < taps; tap++) {
    sample point;
    for (int64_t c = 0; c < inputs; c++) {
      int64_t field = batch * args->offset_groups + (first + c) / each;
      if (c == 0 || (first + c) % each == 0)
        sample_make(args, args->offset + field * taps * args->spatial * cells, tap, at, &point);
      const double *plane = args->x + (batch * s->channels + first + c) * volume(s->x);
      double value = sample_read(&point, s->x, plane) * args->w[(channel * inputs + c) * taps + tap];
      sum += args->mask == NULL ? value : value * args->mask[(field * taps + tap) * cells + cell];
    }
  }
  return sum;
}

void nd4c_ref_deformable_conv(const nd4c_ref_conv_numbers *args, int64_t begin, int64_t end) {
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t at[3], batch, channel;
    place_of(&args->sweep, flat, &batch, &channel, at);
    args->y[flat] = deformed_sum(args, batch, channel, at) + (args->bias != NULL ? args->bias[channel] : 0);
  }
}

/* Cell `t` of past and x together; past begins at 0. */
static double stream_at(const nd4c_ref_causal_conv_args *args, int64_t row, int64_t t) {
  int64_t before = args->taps - 1;
  if (t >= before)
    return args->x[row * args->length + t - before];
  return args->past != NULL ? args->past[row * before + t] : 0;
}

void nd4c_ref_causal_conv(const nd4c_ref_causal_conv_args *args, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; row++) {
    int64_t channel = row % args->channels;
    for (int64_t t = 0; t < args->length; t++) {
      double sum = args->bias != NULL ? args->bias[channel] : 0;
      for (int64_t k = 0; k < args->taps; k++)
        sum += args->w[channel * args->taps + k] * stream_at(args, row, t + k);
      args->y[row * args->length + t] = args->silu ? sum / (1 + exp(-sum)) : sum;
    }
    for (int64_t t = 0; t < args->taps - 1; t++)
      args->present[row * (args->taps - 1) + t] = stream_at(args, row, args->length + t);
  }
}
