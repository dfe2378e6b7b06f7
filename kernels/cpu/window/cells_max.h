/* The largest cells and their positions: a template that cells.c includes for each type of values, with P, the type of
 * positions. */

/* Whether v is larger than `old`, or the first value, or the first NaN. No branches, for vectors. */
#define TAKES(v, old, before) (((before) < 0) | (!ND4C_IS_NAN(old) & !((v) <= (old))))

ND4C_INLINED void NAME(max_tap)(int64_t n, int64_t step, int64_t index, const T *x, T *y, P *where) {
  const P from = (P)index, each = (P)step;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    const T v = x[i * step], old = y[i];
    const P before = where[i];
    const bool takes = TAKES(v, old, before);
    y[i] = takes ? v : old;
    where[i] = takes ? from + (P)i * each : before;
  }
}

static void NAME(max_spread)(const nd4c_cells_row *row, const void *x, void *values, void *positions) {
  for (int64_t k = 0; k < row->taps; k++) {
    const int64_t first = row->tap[k].first, n = row->tap[k].last - first;
    if (n <= 0) {
      continue;
    }
    const int64_t cell = row->tap[k].offset + first * row->step, index = row->index + cell;
    const T *from = (const T *)x + cell;
    T *y = (T *)values + first;
    P *where = (P *)positions + first;
    if (row->step == 1) {
      NAME(max_tap)(n, 1, index, from, y, where);
    } else if (row->step == 2) {
      NAME(max_tap)(n, 2, index, from, y, where);
    } else {
      NAME(max_tap)(n, row->step, index, from, y, where);
    }
  }
}

/* The largest of n cells, at least LANES; *nan is whether there is a NaN, which the result then means nothing beside.
 */
static T NAME(largest)(int64_t n, const T *x, bool *nan) {
  T most[LANES];
  P odd[LANES] = {0}; /* as wide as the numbers, for vectors */
  for (int64_t l = 0; l < LANES; l++) {
    most[l] = x[l];
  }
  for (int64_t k = 0; k < n; k += LANES) {
    const T *cells = x + (k + LANES <= n ? k : n - LANES);
    for (int64_t l = 0; l < LANES; l++) {
      most[l] = cells[l] > most[l] ? cells[l] : most[l];
      odd[l] |= ND4C_IS_NAN(cells[l]) ? 1 : 0;
    }
  }
  for (int64_t l = 1; l < LANES; l++) {
    most[0] = most[l] > most[0] ? most[l] : most[0];
    odd[0] |= odd[l];
  }
  *nan = odd[0] != 0;
  return most[0];
}

static void NAME(max_runs)(const nd4c_cells_row *row, const void *x, void *values, void *positions) {
  for (int64_t i = 0; i < row->windows; i++) {
    const int64_t n = row->counts[i], from = row->index + row->starts[i];
    const T *cells = (const T *)x + row->starts[i];
    T best = ((T *)values)[i];
    P where = ((P *)positions)[i];
    if (ND4C_IS_NAN(best)) {
      continue;
    }
    if (n < LANES) {
      for (int64_t k = 0; k < n; k++) {
        if (TAKES(cells[k], best, where)) {
          best = cells[k];
          where = (P)(from + k);
        }
      }
    } else {
      bool nan;
      const T most = NAME(largest)(n, cells, &nan);
      if (nan || TAKES(most, best, where)) {
        int64_t k = 0;
        while (nan ? !ND4C_IS_NAN(cells[k]) : cells[k] != most) {
          k++;
        }
        best = cells[k];
        where = (P)(from + k);
      }
    }
    ((T *)values)[i] = best;
    ((P *)positions)[i] = where;
  }
}
#undef TAKES
