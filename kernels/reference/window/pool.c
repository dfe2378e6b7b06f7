/* Pools and morphology (window.h). Engine reference calls this. */
#include <math.h>

#include "kernels/reference/window/window.h"

/* Taps of a window from `first` on that begin before `end`. */
static int64_t taps_before(const nd4c_ref_sweep *s, int axis, int64_t first, int64_t end) {
  int64_t taps = first < end ? (end - 1 - first) / s->dilation[axis] + 1 : 0;
  return taps < s->kernel[axis] ? taps : s->kernel[axis];
}

nd4c_ref_span nd4c_ref_pool_span(const nd4c_ref_pool_numbers *args, int axis, int64_t at) {
  const nd4c_ref_sweep *s = &args->sweep;
  if (args->adaptive) {
    int64_t first = at * s->x[axis] / s->y[axis];
    int64_t count = ((at + 1) * s->x[axis] + s->y[axis] - 1) / s->y[axis] - first;
    return (nd4c_ref_span){first, count, 1, 0, count};
  }
  int64_t first = at * s->stride[axis] - s->pad[axis], step = s->dilation[axis];
  int64_t tap = first < 0 ? (-first + step - 1) / step : 0;
  int64_t taps = taps_before(s, axis, first, s->x[axis]);
  return (nd4c_ref_span){first + tap * step, taps > tap ? taps - tap : 0, step, tap,
                         taps_before(s, axis, first, s->x[axis] + s->pad_end[axis])};
}

/* What has been seen of a window. */
typedef struct state {
  double value;
  int64_t index, count;
} state;

static void take(const nd4c_ref_pool_numbers *args, state *seen, double x, double w, int64_t index) {
  double magnitude = fabs(x);
  seen->count++;
  switch (args->kind) {
    case ND4C_REF_POOL_AVERAGE:
      seen->value += x;
      return;
    case ND4C_REF_POOL_LP:
      seen->value += args->p == 1 ? magnitude : args->p == 2 ? x * x : pow(magnitude, args->p);
      return;
    case ND4C_REF_POOL_EROSION:
      x = x - w;
      if (!isnan(seen->value) && !(x >= seen->value)) {
        seen->value = x;
      }
      return;
    case ND4C_REF_POOL_DILATION:
      x = x + w;
      /* fall through */
    case ND4C_REF_POOL_MAX:
    default:
      if (seen->index < 0 || (!isnan(seen->value) && !(x <= seen->value))) {
        seen->value = x;
        seen->index = index;
      }
  }
}

static void take_whole(const int64_t *x, state *seen, int64_t index) {
  if (seen->index < 0 || x[index] > x[seen->index]) {
    seen->index = index;
  }
}

static double finish(const nd4c_ref_pool_numbers *args, const state *seen) {
  if (args->kind == ND4C_REF_POOL_AVERAGE) {
    return seen->value / (double)seen->count;
  }
  if (args->kind == ND4C_REF_POOL_LP) {
    return args->p == 1 ? seen->value : args->p == 2 ? sqrt(seen->value) : pow(seen->value, 1 / args->p);
  }
  return seen->value;
}

/* The value of a window without a cell. */
static double nothing(nd4c_ref_pool_kind kind) {
  return kind == ND4C_REF_POOL_EROSION                               ? (double)INFINITY
         : kind == ND4C_REF_POOL_AVERAGE || kind == ND4C_REF_POOL_LP ? 0
                                                                     : -(double)INFINITY;
}

void nd4c_ref_pool(const nd4c_ref_pool_numbers *args, int64_t begin, int64_t end) {
  const nd4c_ref_sweep *s = &args->sweep;
  int64_t cells = s->y[0] * s->y[1] * s->y[2], plane = s->x[0] * s->x[1] * s->x[2];
  int64_t taps = s->kernel[0] * s->kernel[1] * s->kernel[2];
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t row = flat / cells, at = flat % cells;
    nd4c_ref_span a = nd4c_ref_pool_span(args, 0, at / (s->y[1] * s->y[2])),
                  b = nd4c_ref_pool_span(args, 1, at / s->y[2] % s->y[1]);
    nd4c_ref_span c = nd4c_ref_pool_span(args, 2, at % s->y[2]);
    state seen = {nothing(args->kind), -1, 0};
    const double *w = args->w != NULL ? args->w + row % s->channels * taps : NULL;
    for (int64_t i = 0; i < a.count; i++) {
      for (int64_t j = 0; j < b.count; j++) {
        for (int64_t k = 0; k < c.count; k++) {
          int64_t index = ((a.first + i * a.step) * s->x[1] + b.first + j * b.step) * s->x[2] + c.first + k * c.step;
          int64_t tap = ((a.tap + i) * s->kernel[1] + b.tap + j) * s->kernel[2] + c.tap + k;
          if (args->whole != NULL) {
            take_whole(args->whole + row * plane, &seen, index);
          } else {
            take(args, &seen, args->x[row * plane + index], w != NULL ? w[tap] : 0, index);
          }
        }
      }
    }
    if (args->counts_padding && seen.count > 0) {
      seen.count = a.padded * b.padded * c.padded;
    }
    if (args->whole != NULL) {
      args->y_whole[flat] = seen.index < 0 ? args->lowest : args->whole[row * plane + seen.index];
    } else {
      args->y[flat] = seen.count > 0 ? finish(args, &seen) : nothing(args->kind);
    }
    if (args->indices != NULL) {
      args->indices[flat] = seen.index;
    }
  }
}
