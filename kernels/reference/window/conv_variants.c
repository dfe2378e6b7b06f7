/* Transposed, deformable and causal convolution (window.h). Engine reference calls these. */
#include <math.h>

#include "kernels/reference/support/numbers.h"
#include "kernels/reference/window/window.h"

static int64_t volume(const int64_t *extents) {
  return extents[0] * extents[1] * extents[2];
}

/* Places of x along an axis whose tap k reaches a cell of y: the first and one past the last. A cell is at * stride -
 * pad
 * + k * dilation. */
static void reached(const nd4c_ref_sweep *s, int axis, int64_t k, int64_t *first, int64_t *last) {
  int64_t shift = k * s->dilation[axis] - s->pad[axis], stride = s->stride[axis];
  *first = shift < 0 ? (-shift + stride - 1) / stride : 0;
  *last = shift < s->y[axis] ? (s->y[axis] - 1 - shift) / stride + 1 : 0;
  *last = *last < s->x[axis] ? *last : s->x[axis];
}

/* Adds a plane of x times the weight of one tap to a plane of y. */
static void spread_tap(const nd4c_ref_sweep *s, const int64_t *k, const double *x, double weight, double *y) {
  int64_t first[3], last[3], shift[3];
  for (int axis = 0; axis < 3; axis++) {
    reached(s, axis, k[axis], &first[axis], &last[axis]);
    shift[axis] = k[axis] * s->dilation[axis] - s->pad[axis];
  }
  for (int64_t i = first[0]; i < last[0]; i++) {
    for (int64_t j = first[1]; j < last[1]; j++) {
      const double *from = x + (i * s->x[1] + j) * s->x[2];
      double *to = y + ((i * s->stride[0] + shift[0]) * s->y[1] + j * s->stride[1] + shift[1]) * s->y[2] + shift[2];
      for (int64_t l = first[2]; l < last[2]; l++) {
        to[l * s->stride[2]] += weight * from[l];
      }
    }
  }
}

void nd4c_ref_conv_transpose(const nd4c_ref_conv_numbers *args, int64_t begin, int64_t end) {
  const nd4c_ref_sweep *s = &args->sweep;
  int64_t each = s->outputs / s->groups, inputs = s->channels / s->groups, taps = volume(s->kernel);
  for (int64_t plane = begin; plane < end; plane++) {
    int64_t batch = plane / s->outputs, channel = plane % s->outputs, group = channel / each;
    double *y = args->y + plane * volume(s->y);
    for (int64_t i = 0; i < volume(s->y); i++) {
      y[i] = args->bias != NULL ? args->bias[channel] : 0;
    }
    for (int64_t c = group * inputs; c < (group + 1) * inputs; c++) {
      const double *x = args->x + (batch * s->channels + c) * volume(s->x);
      const double *w = args->w + (c * each + channel % each) * taps;
      for (int64_t tap = 0; tap < taps; tap++) {
        const int64_t k[3] = {tap / (s->kernel[1] * s->kernel[2]), tap / s->kernel[2] % s->kernel[1],
                              tap % s->kernel[2]};
        spread_tap(s, k, x, w[tap], y);
      }
    }
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
    if (weight != 0) {
      sum += weight * plane[(point->cell[0][a] * extents[1] + point->cell[1][b]) * extents[2] + point->cell[2][c]];
    }
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
    if (own >= 0) {
      place += offset[(tap * args->spatial + own) * cells + cell];
    }
    sample_axis(point, axis, place, s->x[axis]);
  }
}

/* What the taps read at one output cell: channels times taps, times mask. */
static void deformed_column(const nd4c_ref_conv_numbers *args, int64_t batch, const int64_t *at, double *column) {
  const nd4c_ref_sweep *s = &args->sweep;
  int64_t taps = volume(s->kernel), cells = volume(s->y), each = s->channels / args->offset_groups;
  int64_t cell = (at[0] * s->y[1] + at[1]) * s->y[2] + at[2];
  for (int64_t c = 0; c < s->channels; c += each) {
    int64_t field = batch * args->offset_groups + c / each;
    for (int64_t tap = 0; tap < taps; tap++) {
      sample point;
      sample_make(args, args->offset + field * taps * args->spatial * cells, tap, at, &point);
      double mask = args->mask != NULL ? args->mask[(field * taps + tap) * cells + cell] : 1;
      for (int64_t i = c; i < c + each; i++) {
        const double *plane = args->x + (batch * s->channels + i) * volume(s->x);
        column[i * taps + tap] = sample_read(&point, s->x, plane) * mask;
      }
    }
  }
}

void nd4c_ref_deformable_conv(const nd4c_ref_conv_numbers *args, int64_t begin, int64_t end, int32_t worker) {
  const nd4c_ref_sweep *s = &args->sweep;
  int64_t cells = volume(s->y), length = s->channels / s->groups * volume(s->kernel);
  double *column = args->scratch + worker * s->channels * volume(s->kernel);
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t batch = flat / cells, cell = flat % cells;
    const int64_t at[3] = {cell / (s->y[1] * s->y[2]), cell / s->y[2] % s->y[1], cell % s->y[2]};
    deformed_column(args, batch, at, column);
    for (int64_t o = 0; o < s->outputs; o++) {
      const double *w = args->w + o * length, *own = column + o / (s->outputs / s->groups) * length;
      double bias = args->bias != NULL ? args->bias[o] : 0;
      args->y[(batch * s->outputs + o) * cells + cell] = bias + nd4c_ref_dot(length, own, w);
    }
  }
}

/* Cell `t` of past and x together; past begins at 0. */
static double stream_at(const nd4c_ref_causal_conv_args *args, int64_t row, int64_t t) {
  int64_t before = args->taps - 1;
  if (t >= before) {
    return args->x[row * args->length + t - before];
  }
  return args->past != NULL ? args->past[row * before + t] : 0;
}

void nd4c_ref_causal_conv(const nd4c_ref_causal_conv_args *args, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; row++) {
    int64_t channel = row % args->channels;
    for (int64_t t = 0; t < args->length; t++) {
      double sum = args->bias != NULL ? args->bias[channel] : 0;
      for (int64_t k = 0; k < args->taps; k++) {
        sum += args->w[channel * args->taps + k] * stream_at(args, row, t + k);
      }
      args->y[row * args->length + t] = args->silu ? sum / (1 + exp(-sum)) : sum;
    }
    for (int64_t t = 0; t < args->taps - 1; t++) {
      args->present[row * (args->taps - 1) + t] = stream_at(args, row, args->length + t);
    }
  }
}
