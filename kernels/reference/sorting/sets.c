/* Implements sets.h. Engine reference calls these functions; engine simd calls those of bins. */
#include "kernels/reference/sorting/sets.h"

#include <math.h>
#include <string.h>

static bool same_row(const nd4c_ref_distinct *d, int64_t a, int64_t b) {
  for (int64_t column = 0; column < d->columns; column++) {
    if (!nd4c_ref_equal(d->dtype, d->data, a * d->columns + column, b * d->columns + column)) {
      return false;
    }
  }
  return true;
}

/* Gives each group of equal rows a number, in sorted order. A row with a NaN equals no row, so it is a group by itself.
 * It never stands between equal rows: the sort takes all NaN as equal, and puts a row with a NaN next to rows that have
 * a NaN in the same column. */
static void number_groups(nd4c_ref_distinct *d) {
  d->group_count = 0;
  for (int64_t i = 0; i < d->count; i++) {
    if (i == 0 || !same_row(d, d->order[i - 1], d->order[i])) {
      d->first[d->group_count] = d->order[i];
      d->counts[d->group_count++] = 0;
    }
    d->groups[i] = d->group_count - 1;
    d->counts[d->group_count - 1]++;
    d->last[d->group_count - 1] = d->order[i];
  }
}

/* Numbers the groups anew, in the order of their first rows. work: room for 2 * count numbers. */
static void renumber(nd4c_ref_distinct *d, int64_t *work) {
  int64_t *group_at = work, *number = work + d->count, next = 0;
  for (int64_t i = 0; i < d->count; i++) {
    group_at[i] = -1;
  }
  for (int64_t g = 0; g < d->group_count; g++) {
    group_at[d->first[g]] = g;
  }
  for (int64_t i = 0; i < d->count; i++) {
    if (group_at[i] >= 0) {
      number[group_at[i]] = next++;
    }
  }
  for (int64_t g = 0; g < d->group_count; g++) {
    group_at[number[g]] = d->counts[g];
  }
  memcpy(d->counts, group_at, (size_t)d->group_count * sizeof *group_at);
  for (int64_t i = 0; i < d->count; i++) {
    d->groups[i] = number[d->groups[i]];
  }
  for (int64_t i = d->count - 1; i >= 0; i--) { /* from the end, so that the first row of a group is written last */
    d->first[d->groups[i]] = d->order[i];
  }
}

void nd4c_ref_find_distinct(nd4c_ref_distinct *d, bool sorted, uint64_t *work) {
  nd4c_ref_argsort(d->dtype, d->data, 0, d->columns, d->columns, d->count, false, work, d->order);
  number_groups(d);
  if (!sorted) {
    renumber(d, (int64_t *)(void *)work);
  }
}

int64_t nd4c_ref_search(const uint64_t *keys, int64_t count, uint64_t key, bool after) {
  int64_t low = 0, high = count;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (keys[middle] < key || (after && keys[middle] == key)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

int nd4c_ref_direction(const uint64_t *keys, int64_t count) {
  bool up = true, down = true;
  for (int64_t i = 1; i < count; i++) {
    up = up && keys[i] >= keys[i - 1];
    down = down && keys[i] <= keys[i - 1];
  }
  return up ? 1 : down ? -1 : 0;
}

static bool in_order(nd4c_dtype_kind kind, nd4c_value a, nd4c_value b, bool strict) {
  switch (kind) {
    case ND4C_KIND_FLOAT:
      return strict ? a.f < b.f : a.f <= b.f;
    case ND4C_KIND_INT:
      return strict ? a.i < b.i : a.i <= b.i;
    default:
      return strict ? a.u < b.u : a.u <= b.u;
  }
}

bool nd4c_ref_is_ordered(nd4c_dtype dtype, const char *data, int64_t count, bool strict) {
  nd4c_dtype_kind kind = nd4c_reference_kind(dtype);
  bool ordered = true;
  for (int64_t i = 1; i < count && ordered; i++) {
    ordered = in_order(kind, nd4c_value_load(dtype, data, i - 1), nd4c_value_load(dtype, data, i), strict);
  }
  return ordered;
}

/* -- bins ---------------------------------------------------------------------------------------------------------- */

bool nd4c_ref_find_limits(const double *x, int64_t count, double *low, double *high) {
  *low = count > 0 ? x[0] : 0;
  *high = count > 0 ? x[0] : 1;
  bool finite = true;
  for (int64_t i = 0; i < count; i++) {
    finite = finite && isfinite(x[i]);
    *low = x[i] < *low ? x[i] : *low;
    *high = x[i] > *high ? x[i] : *high;
  }
  return finite && isfinite(*high - *low);
}

void nd4c_ref_bin_edges(double low, double high, int64_t bins, nd4c_dtype dtype, double *edges) {
  if (low == high) {
    low -= 0.5;
    high += 0.5;
  }
  double step = (high - low) / (double)bins;
  for (int64_t i = 0; i <= bins; i++) {
    char element[16];
    nd4c_value edge = {.f = i == bins ? high : low + (double)i * step};
    nd4c_value_store(dtype, element, 0, edge);
    edges[i] = nd4c_value_load(dtype, element, 0).f;
  }
}

int64_t nd4c_ref_bin(const double *edges, int64_t bins, double x) {
  if (bins == 0 || !(x >= edges[0] && x <= edges[bins])) {
    return -1;
  }
  double part = (x - edges[0]) / (edges[bins] - edges[0]) * (double)bins;
  int64_t guess = part > 0 && part < (double)bins ? (int64_t)part : 0, low = 0, high = bins - 1;
  /* The guess is right for most x if the bins are equally wide; else a binary search finds the bin. */
  if (x >= edges[guess] && (guess == bins - 1 || x < edges[guess + 1])) {
    return guess;
  }
  while (low < high) {
    int64_t middle = low + (high - low + 1) / 2;
    if (x >= edges[middle]) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}
