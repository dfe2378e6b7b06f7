/* Sums, differences and products of floats written past the caches: whole cache lines, the rest as usual. A template of
 * each_dtype.h, which binary.c includes; simd/elementwise.c runs the loops. Callers pass `op` as a constant. */

enum { NAME(BLOCK) = ND4C_STREAM_BLOCK / sizeof(T) };

/* One cache line of results. */
#if KIND == ND4C_WIDE_FLOAT
ND4C_INLINED void NAME(line)(enum nd4c_binary_index op, const T *a, int64_t a_step, const T *b, int64_t b_step,
                             NAME(nd4c_block) * line) {
  NAME(nd4c_block) x, z;
  NAME(nd4c_block_load)(a, a_step, &x);
  NAME(nd4c_block_load)(b, b_step, &z);
  *line = op == ND4C_BINARY_add ? x + z : op == ND4C_BINARY_subtract ? x - z : x * z;
}
#endif

/* The lines of y from element i on; returns where they end. */
ND4C_INLINED int64_t NAME(lines)(enum nd4c_binary_index op, bool streams, int64_t i, int64_t n, const T *a,
                                 int64_t a_step, const T *b, int64_t b_step, T *y) {
  int64_t reach = a_step != 1 || b_step != 1; /* block loads touch all before the next block */
  for (; i + NAME(BLOCK) + reach <= n; i += NAME(BLOCK)) {
    NAME(nd4c_block) line;
    NAME(line)(op, a + i * a_step, a_step, b + i * b_step, b_step, &line);
    if (streams) {
      nd4c_stream_block(y + i, &line);
    } else {
      memcpy(y + i, &line, sizeof line);
    }
  }
  return i;
}

/* The elements before the first whole line of y, and after the last. */
ND4C_INLINED void NAME(rest)(nd4c_binary_loop both, int64_t n, const T *a, int64_t a_step, const T *b, int64_t b_step,
                             T *y) {
  if (a_step == 1 && b_step == 1) {
    both(n, a, b, y);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    both(1, a + i * a_step, b + i * b_step, y + i);
  }
}

/* The usual steps as constants: a loop that asks for them at every block keeps the blocks in memory. */
ND4C_INLINED void NAME(stream)(enum nd4c_binary_index op, nd4c_binary_loop both, int64_t n, const void *va,
                               int64_t a_step, const void *vb, int64_t b_step, void *vy) {
  const T *a = va, *b = vb;
  T *y = vy;
  int64_t i = (int64_t)(-(uintptr_t)y % ND4C_STREAM_BLOCK / sizeof *y);
  i = i < n ? i : n;
  NAME(rest)(both, i, a, a_step, b, b_step, y);
  if (a_step == 1 && b_step == 1) {
    i = NAME(lines)(op, true, i, n, a, 1, b, 1, y);
  } else if (a_step == 2 && b_step == 2) {
    i = NAME(lines)(op, true, i, n, a, 2, b, 2, y);
  } else {
    i = NAME(lines)(op, true, i, n, a, a_step, b, b_step, y);
  }
  NAME(rest)(both, n - i, a + i * a_step, a_step, b + i * b_step, b_step, y + i);
}

#if KIND == ND4C_HALF
/* Sums that stay in the caches: lines in registers here, too, for buffers cost as much again. */
ND4C_INLINED void NAME(whole)(enum nd4c_binary_index op, nd4c_binary_loop wide_loop, SIGNATURE) {
  const T *a = va, *b = vb;
  T *y = vy;
  int64_t i = NAME(lines)(op, false, 0, n, a, 1, b, 1, y);
  NAME(in_float)(wide_loop, false, true, true, n - i, a + i, b + i, y + i);
}
#endif
