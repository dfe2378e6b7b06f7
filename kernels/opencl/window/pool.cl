/* Pools: a work item an output. -D POOL_<what>; ADAPTIVE: windows from the extents alone; VALUE: what is compared or
 * summed; LOWEST: of a window without a cell; INDEXED: where the largest stood, too. POOL_lp: behind real.cl.
 * families/window_pool.c launches it. */

typedef struct {
  long first, count, step, tap, padded; /* padded: cells of the window inside the padded extent */
} span;

static inline span span_of(const sweep *s, int axis, long at) {
  span r;
#ifdef ADAPTIVE
  r.first = at * s->x[axis] / s->y[axis];
  r.count = ((at + 1) * s->x[axis] + s->y[axis] - 1) / s->y[axis] - r.first;
  r.step = 1;
  r.tap = 0;
  r.padded = r.count;
#else
  long first = at * s->stride[axis] - s->pad[axis], step = s->dilation[axis];
  long tap = first < 0 ? (-first + step - 1) / step : 0;
  long taps = first < s->x[axis] ? (s->x[axis] - 1 - first) / step + 1 : 0;
  long padded = s->x[axis] + s->pad_end[axis] - first;
  padded = padded > 0 ? (padded - 1) / step + 1 : 0;
  taps = taps < s->kernel_[axis] ? taps : s->kernel_[axis];
  r.first = first + tap * step;
  r.count = taps > tap ? taps - tap : 0;
  r.step = step;
  r.tap = tap;
  r.padded = padded < s->kernel_[axis] ? padded : s->kernel_[axis];
#endif
  return r;
}

__kernel void pool(sweep s, __global const STORAGE(A) *x, long x0, __global const STORAGE(B) *w, long w0,
                   __global STORAGE(Y) *y, long y0, REAL p, int include_pad, int planar, int column_major
#ifdef INDEXED
                   ,
                   __global long *indices, long indices0
#endif
) {
  long i = get_global_id(0), n, c, at[3], best = -1, cells = 0;
  if (i >= output_count(&s)) return;
  output_place(&s, i, &n, &c, at);
  span a = span_of(&s, 0, at[0]), b = span_of(&s, 1, at[1]), d = span_of(&s, 2, at[2]);
  x0 += n * s.x_strides[0] + c * s.x_strides[1];
#if defined(POOL_average)
  VALUE seen = 0;
#elif defined(POOL_lp)
  REAL seen = R(0);
#elif defined(POOL_erosion)
  VALUE seen = INFINITY;
#else
  VALUE seen = LOWEST;
#endif
#if defined(POOL_lp) && defined(PAIRS) /* a pass for the largest, in units of which the powers are taken */
  float largest = 0;
  int unit = 0;
  for (long j = 0; j < a.count * b.count * d.count; j++) {
    long q[3] = {j / d.count / b.count, j / d.count % b.count, j % d.count};
    float size = fabs((float)LOAD(A, x, x0 + (a.first + q[0] * a.step) * s.x_strides[2] +
                                           (b.first + q[1] * b.step) * s.x_strides[3] +
                                           (d.first + q[2] * d.step) * s.x_strides[4]));
    largest = size > largest ? size : largest;
  }
  unit = largest > 0 && isfinite(largest) ? ilogb(largest) : 0;
#define IN_UNITS(x) ldexp(x, -unit)
#define OF_UNITS(x) ldexp(x, unit)
#else
#define IN_UNITS(x) (x)
#define OF_UNITS(x) (x)
#endif
  for (long j = 0; j < a.count; j++) {
    for (long k = 0; k < b.count; k++) {
      for (long l = 0; l < d.count; l++) {
        long q[3] = {a.first + j * a.step, b.first + k * b.step, d.first + l * d.step};
        long place = x0 + q[0] * s.x_strides[2] + q[1] * s.x_strides[3] + q[2] * s.x_strides[4];
#ifdef POOL_lp
        REAL value = R(IN_UNITS(LOAD(A, x, place)));
#else
        VALUE value = (VALUE)LOAD(A, x, place);
#endif
#if defined(POOL_dilation) || defined(POOL_erosion)
        VALUE weight = (VALUE)LOAD(B, w, w0 + c * s.w_strides[1] + (a.tap + j) * s.w_strides[2] +
                                            (b.tap + k) * s.w_strides[3] + (d.tap + l) * s.w_strides[4]);
#endif
#ifdef POOL_average
        seen += value;
#elif defined(POOL_lp)
        REAL size = r_abs(value);
        seen = r_add(seen, r_is(p, 1) ? size : r_is(p, 2) ? r_mul(value, value) : r_pow(size, p));
#elif defined(POOL_erosion)
        value -= weight;
        if (!isnan(seen) && !(value >= seen)) seen = value;
#else
#ifdef POOL_dilation
        value += weight;
#endif
#ifdef WHOLE
        bool better = best < 0 || value > seen;
#else
        bool better = best < 0 || (!isnan(seen) && !(value <= seen));
#endif
        if (better) {
          seen = value;
          best = column_major ? (q[2] * s.x[1] + q[1]) * s.x[0] + q[0] : (q[0] * s.x[1] + q[1]) * s.x[2] + q[2];
        }
#endif
        cells++;
      }
    }
  }
#ifdef POOL_average
  long count = include_pad ? a.padded * b.padded * d.padded : cells;
  seen = count > 0 ? seen / (VALUE)count : (VALUE)0;
#elif defined(POOL_lp)
  seen = r_is(p, 1) ? seen : r_is(p, 2) ? r_sqrt(seen) : r_pow(seen, r_div(R(1), p));
#endif
#ifdef POOL_lp
  SAVE(Y, y, y0 + at_strides(s.y_strides, n, c, at), R_ROUND(Y, OF_UNITS(seen)));
#else
  SAVE(Y, y, y0 + at_strides(s.y_strides, n, c, at), ROUND(Y, seen));
#endif
#ifdef INDEXED
  if (best >= 0 && !planar) best += (n * s.channels + c) * s.x[0] * s.x[1] * s.x[2];
  indices[indices0 + at_strides(s.z_strides, n, c, at)] = best;
#endif
}
