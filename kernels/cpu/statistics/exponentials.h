/* The largest of runs and rows of one float, and the sum of exponentials relative to it: a template of each_dtype.h,
 * which moments.c includes for logsumexp and softmax of engine simd. */

static void NAME(exponentials_run)(int64_t n, const void *vx, int64_t count, nd4c_gathered state) {
  const T *x = vx;
  T tops[LANES], powers[LANES];
  double lanes[LANES] = {0};
  for (int64_t j = 0; j < LANES; j++) {
    tops[j] = x[j < n ? j : 0];
  }
  for (int64_t i = LANES; i < n; i += LANES) {
    int64_t some = n - i < LANES ? n - i : LANES;
    for (int64_t j = 0; j < some; j++) {
      tops[j] = LARGER(tops[j], x[i + j]);
    }
  }
  for (int64_t width = LANES / 2; width > 0; width /= 2) {
    for (int64_t j = 0; j < width; j++) {
      tops[j] = LARGER(tops[j], tops[j + width]);
    }
  }
  T top = tops[0], from = (T)origin((double)top);
  for (int64_t i = 0; i < n; i += LANES) {
    int64_t some = n - i < LANES ? n - i : LANES;
    ND4C_INDEPENDENT
    for (int64_t j = 0; j < some; j++) {
      powers[j] = NAME(nd4c_exp)(x[i + j] - from);
    }
    ND4C_INDEPENDENT
    for (int64_t j = 0; j < some; j++) {
      lanes[j] += (double)powers[j];
    }
  }
  double own = fold_lanes(lanes);
  if (count > 0) {
    merge_exponentials(state.first, state.second, (double)top, own);
    return;
  }
  *state.first = (double)top;
  *state.second = own;
}

static void NAME(exponentials_rows)(int64_t rows, int64_t n, const void *vx, int64_t step, int64_t count,
                                    nd4c_gathered state, later next) {
  T tops[ND4C_GATHER_COLUMNS], from[ND4C_GATHER_COLUMNS];
  double own[ND4C_GATHER_COLUMNS];
  const T *top_row = vx;
  for (int64_t i = 0; i < n; i++) {
    tops[i] = count > 0 ? (T)state.first[i] : top_row[i];
  }
  for (int64_t row = 0; row < rows; row++) {
    const T *x = (const T *)(const void *)((const char *)vx + row * step);
    ND4C_INDEPENDENT
    for (int64_t i = 0; i < n; i++) {
      tops[i] = LARGER(tops[i], x[i]);
    }
  }
  for (int64_t i = 0; i < n; i++) {
    from[i] = tops[i] - tops[i] == 0 ? tops[i] : 0;
    own[i] = 0;
  }
  ND4C_INDEPENDENT
  for (int64_t i = 0; count > 0 && i < n; i++) {
    own[i] = origin(state.first[i]) - (double)from[i];
  }
  if (count > 0) {
    move_origins(n, state, own);
  }
  for (int64_t row = 0; row < rows; row++) {
    const T *x = (const T *)(const void *)((const char *)vx + row * step);
    ask_for_row(next, row);
    NAME(add_powers)(n, x, from, own);
  }
  for (int64_t i = 0; i < n; i++) {
    state.first[i] = (double)tops[i];
    state.second[i] = own[i];
  }
}

static void NAME(exponentials_block)(int64_t rows, int64_t n, const void *vx, int64_t step, int64_t count,
                                     nd4c_gathered state) {
  NAME(exponentials_rows)(rows, n, vx, step, count, state, after(vx, rows, step, n * (int64_t)sizeof(T)));
}
