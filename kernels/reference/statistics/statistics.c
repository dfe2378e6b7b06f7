/* Statistics that look at elements one by one, and those along one axis (statistics.h).
 * backends/cpu/reference/statistics.c calls these. */
#include "kernels/reference/statistics/statistics.h"

#include <math.h>

static int compare(nd4c_dtype_kind kind, nd4c_value a, nd4c_value b) {
  switch (kind) {
    case ND4C_KIND_FLOAT:
      return (a.f > b.f) - (a.f < b.f);
    case ND4C_KIND_INT:
      return (a.i > b.i) - (a.i < b.i);
    default:
      return (a.u > b.u) - (a.u < b.u);
  }
}

static bool is_nan(nd4c_dtype_kind kind, nd4c_value x) {
  return kind == ND4C_KIND_FLOAT && x.f != x.f;
}

static nd4c_value minus(nd4c_dtype_kind kind, nd4c_value a, nd4c_value b) {
  nd4c_value y = {.u = 0};
  if (kind == ND4C_KIND_COMPLEX) {
    y.c = a.c - b.c;
  } else if (kind == ND4C_KIND_FLOAT) {
    y.f = a.f - b.f;
  } else {
    y.u = a.u - b.u;
  }
  return y;
}

/* -- over axes ----------------------------------------------------------------------------------------------------- */

void nd4c_ref_ptp(const nd4c_ref_gathering *gathering, int64_t begin, int64_t end) {
  nd4c_dtype_kind kind = nd4c_reference_kind(gathering->x_dtype);
  int64_t size = nd4c_ref_axes_size(&gathering->inner);
  for (int64_t position = begin; position < end; position++) {
    int64_t x, y, from, unused;
    nd4c_value low = {.u = 0}, high = {.u = 0};
    nd4c_ref_axes_at(&gathering->outer, position, &x, &y);
    for (int64_t i = 0; i < size && !is_nan(kind, low); i++) {
      nd4c_ref_axes_at(&gathering->inner, i, &from, &unused);
      nd4c_value value = nd4c_value_load(gathering->x_dtype, gathering->x, x + from);
      low = i == 0 || is_nan(kind, value) || compare(kind, value, low) < 0 ? value : low;
      high = i == 0 || compare(kind, value, high) > 0 ? value : high;
    }
    nd4c_value_store(gathering->y_dtype, gathering->y, y, minus(kind, high, low));
  }
}

bool nd4c_ref_collect(const nd4c_ref_gathering *gathering, int64_t position, double *to) {
  const nd4c_ref_axes *inner = &gathering->inner;
  const int64_t *strides[1] = {inner->x};
  int64_t x, y;
  bool has_nan = false;
  nd4c_ref_walk walk;
  nd4c_ref_axes_at(&gathering->outer, position, &x, &y);
  for (bool more = nd4c_ref_walk_start(&walk, inner->rank, inner->shape, 1, strides); more;
       more = nd4c_ref_walk_next(&walk)) {
    nd4c_ref_read_doubles(gathering->x_dtype, gathering->x, x + walk.at[0], walk.step[0], walk.length, to);
    for (int64_t i = 0; i < walk.length; i++, to++) {
      has_nan = has_nan || *to != *to;
    }
  }
  return has_nan;
}

double nd4c_ref_quantile(const double *sorted, int64_t count, double q, nd4c_ref_quantile_method method) {
  double place = q * (double)(count - 1);
  double lower = floor(place), part = place - lower;
  int64_t at = (int64_t)lower;
  double a = sorted[at], b = sorted[at + (part > 0)];
  switch (method) {
    case ND4C_REF_QUANTILE_LOWER:
      return a;
    case ND4C_REF_QUANTILE_HIGHER:
      return b;
    case ND4C_REF_QUANTILE_MIDPOINT:
      return a == b ? a : a / 2 + b / 2;
    case ND4C_REF_QUANTILE_NEAREST:
      return sorted[(int64_t)rint(place)];
    default:
      break;
  }
  if (a == b || part == 0) { /* equal infinities would give NaN below */
    return a;
  }
  return part < 0.5 ? a + (b - a) * part : b - (b - a) * (1 - part);
}

/* -- sums and products along an axis ------------------------------------------------------------------------------ */

/* State of one line. Sums: the sum and its compensation; products: the product; logsumexp: the largest element and the
 * sum of the exponentials relative to it. */
typedef struct running {
  double value, rest;
} running;

static double step(nd4c_ref_running kind, running *r, double x) {
  if (kind == ND4C_REF_RUNNING_PROD) {
    r->value *= x;
    return r->value;
  }
  if (kind == ND4C_REF_RUNNING_SUM) {
    double next = r->value + x;
    double lost = fabs(r->value) < fabs(x) ? (x - next) + r->value : (r->value - next) + x;
    r->rest += next - next == 0 ? lost : 0; /* once the sum is infinite, there is nothing to compensate */
    r->value = next;
    return r->value + r->rest;
  }
  if (x == r->value) { /* also for equal infinities, whose difference is NaN */
    r->rest++;
  } else if (x > r->value || x != x) {
    r->rest = r->value == -INFINITY ? 1 : r->rest * exp(r->value - x) + 1;
    r->value = x;
  } else if (r->value != INFINITY) { /* a NaN in r->value gives NaN */
    r->rest += exp(x - r->value);
  }
  return isinf(r->value) ? r->value : r->value + log(r->rest);
}

static running initial(nd4c_ref_running kind) {
  running r = {0, 0};
  r.value = kind == ND4C_REF_RUNNING_PROD ? 1 : kind == ND4C_REF_RUNNING_SUM ? 0 : -INFINITY;
  return r;
}

/* The first elements of a line of x and of y in the direction of the sum, and the steps to the next ones. */
typedef struct direction {
  int64_t x, y, x_step, y_step;
} direction;

static direction start_line(const nd4c_ref_lines *lines, int64_t line) {
  direction d;
  nd4c_ref_axes_at(&lines->outer, line, &d.x, &d.y);
  d.x_step = lines->x_stride;
  d.y_step = lines->y_stride;
  if (lines->reverse) {
    d.x += (lines->length - 1) * lines->x_stride;
    d.y += (lines->length - 1 + lines->include_initial) * lines->y_stride;
    d.x_step = -d.x_step;
    d.y_step = -d.y_step;
  }
  return d;
}

static void accumulate_floats(const nd4c_ref_lines *lines, direction d) {
  double block[ND4C_REF_BLOCK];
  running r = initial(lines->kind);
  double before = r.value;
  if (lines->include_initial) {
    nd4c_ref_write_doubles(lines->y_dtype, lines->y, d.y, 1, 1, &before);
    d.y += d.y_step;
  }
  for (int64_t done = 0; done < lines->length; done += ND4C_REF_BLOCK) {
    int64_t count = lines->length - done < ND4C_REF_BLOCK ? lines->length - done : ND4C_REF_BLOCK;
    nd4c_ref_read_doubles(lines->x_dtype, lines->x, d.x + done * d.x_step, d.x_step, count, block);
    for (int64_t i = 0; i < count; i++) {
      double after = step(lines->kind, &r, block[i]);
      block[i] = lines->exclusive ? before : after;
      before = after;
    }
    nd4c_ref_write_doubles(lines->y_dtype, lines->y, d.y + done * d.y_step, d.y_step, count, block);
  }
}

static void accumulate_words(const nd4c_ref_lines *lines, direction d) {
  uint64_t block[ND4C_REF_BLOCK];
  bool sums = lines->kind == ND4C_REF_RUNNING_SUM;
  uint64_t value = sums ? 0 : 1;
  if (lines->include_initial) {
    nd4c_ref_write_words(lines->y_dtype, lines->y, d.y, 1, 1, &value);
    d.y += d.y_step;
  }
  for (int64_t done = 0; done < lines->length; done += ND4C_REF_BLOCK) {
    int64_t count = lines->length - done < ND4C_REF_BLOCK ? lines->length - done : ND4C_REF_BLOCK;
    nd4c_ref_read_words(lines->x_dtype, lines->x, d.x + done * d.x_step, d.x_step, count, block);
    for (int64_t i = 0; i < count; i++) {
      uint64_t before = value;
      value = sums ? value + block[i] : value * block[i];
      block[i] = lines->exclusive ? before : value;
    }
    nd4c_ref_write_words(lines->y_dtype, lines->y, d.y + done * d.y_step, d.y_step, count, block);
  }
}

/* The element as the op cast would round it to y's dtype. */
static nd4c_value cast_element(const nd4c_ref_lines *lines, nd4c_dtype_kind from, nd4c_value x) {
  char element[16];
  if (lines->x_dtype == lines->y_dtype) {
    return x;
  }
  nd4c_value_store(lines->y_dtype, element, 0, nd4c_value_cast(from, x, lines->y_dtype));
  return nd4c_value_load(lines->y_dtype, element, 0);
}

/* One element at a time, for elements whose kind differs from y's and for complex ones. */
static void accumulate_values(const nd4c_ref_lines *lines, direction d) {
  nd4c_dtype_kind from = nd4c_reference_kind(lines->x_dtype), to = nd4c_reference_kind(lines->y_dtype);
  bool sums = lines->kind == ND4C_REF_RUNNING_SUM;
  running parts[2] = {initial(lines->kind), initial(ND4C_REF_RUNNING_SUM)};
  nd4c_value value = {.u = sums ? 0 : 1};
  if (to == ND4C_KIND_COMPLEX) {
    value.c = sums ? 0 : 1;
  } else if (to == ND4C_KIND_FLOAT) {
    value.f = sums ? 0 : 1;
  }
  if (lines->include_initial) {
    nd4c_value_store(lines->y_dtype, lines->y, d.y, value);
    d.y += d.y_step;
  }
  for (int64_t i = 0; i < lines->length; i++) {
    nd4c_value x = nd4c_value_load(lines->x_dtype, lines->x, d.x + i * d.x_step), before = value;
    x = cast_element(lines, from, x);
    if (to == ND4C_KIND_COMPLEX && sums) {
      double real = step(lines->kind, &parts[0], creal(x.c)), imaginary = step(lines->kind, &parts[1], cimag(x.c));
      value.c = nd4c_complex_make(real, imaginary);
    } else if (to == ND4C_KIND_COMPLEX) {
      value.c *= x.c;
    } else if (to == ND4C_KIND_FLOAT) {
      value.f = step(lines->kind, &parts[0], x.f);
    } else {
      value.u = sums ? value.u + x.u : value.u * x.u;
    }
    nd4c_value_store(lines->y_dtype, lines->y, d.y + i * d.y_step, lines->exclusive ? before : value);
  }
}

void nd4c_ref_accumulate(const nd4c_ref_lines *lines, int64_t begin, int64_t end) {
  nd4c_dtype_kind from = nd4c_reference_kind(lines->x_dtype), to = nd4c_reference_kind(lines->y_dtype);
  bool from_whole = from == ND4C_KIND_BOOL || from == ND4C_KIND_INT || from == ND4C_KIND_UINT;
  bool to_whole = to == ND4C_KIND_INT || to == ND4C_KIND_UINT;
  for (int64_t line = begin; line < end; line++) {
    direction d = start_line(lines, line);
    if (from == ND4C_KIND_FLOAT && lines->x_dtype == lines->y_dtype) {
      accumulate_floats(lines, d);
    } else if (from_whole && to_whole) {
      accumulate_words(lines, d);
    } else {
      accumulate_values(lines, d);
    }
  }
}

/* -- best so far -------------------------------------------------------------------------------------------------- */

void nd4c_ref_running_best(const nd4c_ref_lines *lines, int64_t begin, int64_t end) {
  nd4c_dtype_kind kind = nd4c_reference_kind(lines->x_dtype);
  int sign = lines->kind == ND4C_REF_RUNNING_MAX ? 1 : -1;
  for (int64_t line = begin; line < end; line++) {
    direction d = start_line(lines, line);
    int64_t unused, where, best_at = 0;
    nd4c_value best = {.u = 0};
    nd4c_ref_axes_at(&lines->index_outer, line, &unused, &where);
    for (int64_t i = 0; i < lines->length; i++) {
      nd4c_value x = nd4c_value_load(lines->x_dtype, lines->x, d.x + i * d.x_step);
      if (i == 0 || is_nan(kind, x) || (!is_nan(kind, best) && sign * compare(kind, x, best) >= 0)) {
        best = x;
        best_at = i;
      }
      nd4c_value_store(lines->y_dtype, lines->y, d.y + i * d.y_step, best);
      lines->indices[where + i * lines->index_stride] = best_at;
    }
  }
}

/* -- differences -------------------------------------------------------------------------------------------------- */

void nd4c_ref_diff(const nd4c_ref_lines *lines, const nd4c_ref_tensor *pieces, const nd4c_ref_axes *piece_axes,
                   int32_t axis, int64_t order, nd4c_value *work, int64_t begin, int64_t end) {
  nd4c_dtype_kind kind = nd4c_reference_kind(lines->x_dtype);
  for (int64_t line = begin; line < end; line++) {
    int64_t count = 0, x, y;
    for (int32_t piece = 0; piece < 3; piece++) {
      const nd4c_ref_tensor *part = &pieces[piece];
      nd4c_ref_axes_at(&piece_axes[piece], line, &x, &y);
      for (int64_t i = 0; part->data != NULL && i < part->shape[axis]; i++) {
        work[count++] = nd4c_value_load(part->dtype, part->data, x + i * part->strides[axis]);
      }
    }
    for (int64_t round = 0; round < order && count > 0; round++) {
      count--;
      for (int64_t i = 0; i < count; i++) {
        work[i] = minus(kind, work[i + 1], work[i]);
      }
    }
    nd4c_ref_axes_at(&lines->outer, line, &x, &y);
    for (int64_t i = 0; i < lines->length; i++) {
      nd4c_value_store(lines->y_dtype, lines->y, y + i * lines->y_stride, work[i]);
    }
  }
}
