/* Transposing and interleaving elements of one size: a template of each_unit.h, which transpose.c includes;
 * support/copy.c calls the functions. */

static void NAME(run_block)(const block *b, bool stream) {
  enum { SIDE = ND4C_STREAM_BLOCK / SIZE, SQUARE = NAME(ND4C_SQUARE) };
#if defined(__AVX512BW__)
  if (b->rows < SIDE || b->columns < SIDE) {
    NAME(block)(b, RAGGED, first_bytes(b->columns * SIZE), first_bytes(b->rows * SIZE));
  } else if (stream) {
    NAME(block)(b, STREAMED, 0, 0);
  } else {
    NAME(block)(b, WHOLE, 0, 0);
  }
#else
  const int64_t pitch = b->from_pitch / SIZE, to_pitch = b->to_pitch / SIZE;
  const T *from = (const void *)b->from;
  T *to = (void *)b->to;
  if (b->rows < SIDE || b->columns < SIDE) {
    for (int64_t c = 0; c < b->columns; c++) {
      for (int64_t r = 0; r < b->rows; r++) {
        to[c * to_pitch + r] = from[r * pitch + c];
      }
    }
    return;
  }
  _Alignas(64) T lines[SIDE][SIDE];
  for (int64_t r = 0; r < SIDE; r += SQUARE) {
    for (int64_t c = 0; c < SIDE; c += SQUARE) {
      NAME(nd4c_transpose)(from + r * pitch + c, pitch, &lines[c][r], SIDE);
    }
  }
  for (int64_t c = 0; c < SIDE; c++) {
    if (stream) {
      nd4c_stream_block(to + c * to_pitch, lines[c]);
    } else {
      memcpy(to + c * to_pitch, lines[c], ND4C_STREAM_BLOCK);
    }
  }
#endif
}

/* Along the rows, so that reading is foreseen by hardware; a line of a column is written at once. */
static void NAME(transpose)(int64_t rows, int64_t columns, const void *from, int64_t from_row, void *to, int64_t to_row,
                            bool stream) {
  enum { SIDE = ND4C_STREAM_BLOCK / SIZE };
  stream = stream && (uintptr_t)to % ND4C_STREAM_BLOCK == 0 && to_row * SIZE % ND4C_STREAM_BLOCK == 0;
  for (int64_t r = 0; r < rows; r += SIDE) {
    for (int64_t c = 0; c < columns; c += SIDE) {
      block b = {(const char *)from + (r * from_row + c) * SIZE,
                 (char *)to + (c * to_row + r) * SIZE,
                 from_row * SIZE,
                 to_row * SIZE,
                 rows - r < SIDE ? rows - r : SIDE,
                 columns - c < SIDE ? columns - c : SIDE};
      NAME(run_block)(&b, stream);
    }
  }
}

/* `lanes` is a constant where these are called: the compiler then shuffles vectors. */
ND4C_INLINED void NAME(join_lanes)(int64_t n, int64_t lanes, const T *const *from, T *restrict to) {
  const T *a = from[0], *b = from[1], *c = from[2], *d = from[3];
  for (int64_t i = 0; i < n; i++) {
    to[lanes * i] = a[i];
    to[lanes * i + 1] = b[i];
    if (lanes > 2) {
      to[lanes * i + 2] = c[i];
    }
    if (lanes > 3) {
      to[lanes * i + 3] = d[i];
    }
  }
}

ND4C_INLINED void NAME(part_lanes)(int64_t n, int64_t lanes, const T *from, T *a, int64_t lane) {
  T *b = a + lane, *c = b + lane, *d = c + lane;
  ND4C_INDEPENDENT
  for (int64_t i = 0; i < n; i++) {
    a[i] = from[lanes * i];
    b[i] = from[lanes * i + 1];
    if (lanes > 2) {
      c[i] = from[lanes * i + 2];
    }
    if (lanes > 3) {
      d[i] = from[lanes * i + 3];
    }
  }
}

static void NAME(interleave)(int64_t n, int64_t lanes, const void *const *vfrom, void *to) {
  const T *from[4] = {vfrom[0], vfrom[1], vfrom[lanes > 2 ? 2 : 0], vfrom[lanes > 3 ? 3 : 0]};
  if (lanes == 2) {
    NAME(join_lanes)(n, 2, from, to);
  } else if (lanes == 3) {
    NAME(join_lanes)(n, 3, from, to);
  } else {
    NAME(join_lanes)(n, 4, from, to);
  }
}

static void NAME(deinterleave)(int64_t n, int64_t lanes, const void *from, void *to, int64_t lane) {
  if (lanes == 2) {
    NAME(part_lanes)(n, 2, from, to, lane);
  } else if (lanes == 3) {
    NAME(part_lanes)(n, 3, from, to, lane);
  } else {
    NAME(part_lanes)(n, 4, from, to, lane);
  }
}
