/* Strips of floats with AVX2 that are whole and lie below each other: six rows, two vectors wide. gemm_strip.h includes
 * this and has the strips of all other kinds; gemm_loops.h and attention/loops.h call it first.
 *
 * The steps are in assembly. A step has 20 instructions that load and compute; GCC adds five for addresses, or spills
 * sums where it is told the distances. That costs most where the core serves another thread beside this one, and leaves
 * it three instructions a cycle. */

/* Row `r` of a step: an element of a times both vectors of b. */
#define TALL_ROW(at, r, spread, fused) \
  spread " " at ", %%ymm14\n\t" fused " %%ymm12, %%ymm14, %[s" #r "0]\n\t" fused " %%ymm13, %%ymm14, %[s" #r "1]\n\t"

/* Three rows from a pointer into a on. at: bytes from there to the elements of the step. */
#define TALL_THREE(pointer, r0, r1, r2, at, spread, fused) \
  TALL_ROW(at pointer ")", r0, spread, fused)              \
  TALL_ROW(at pointer ",%[a_row])", r1, spread, fused)     \
  TALL_ROW(at pointer ",%[a_row],2)", r2, spread, fused)

/* b: the row of b. */
#define TALL_STEP(b, at, load, spread, fused)                                                             \
  load " " b ", %%ymm12\n\t" load " 32" b ", %%ymm13\n\t" TALL_THREE("(%[a]", 0, 1, 2, at, spread, fused) \
      TALL_THREE("(%[below]", 3, 4, 5, at, spread, fused)

#define TALL_ONE(at, load, spread, fused) TALL_STEP("(%[b])", at, load, spread, fused)
#define TALL_FOUR(along, load, spread, fused)                     \
  TALL_STEP("(%[b])", "0*" along, load, spread, fused)            \
  TALL_STEP("(%[b],%[b_row])", "1*" along, load, spread, fused)   \
  TALL_STEP("(%[b],%[b_row],2)", "2*" along, load, spread, fused) \
  TALL_STEP("(%[fourth])", "3*" along, load, spread, fused)

/* steps: TALL_ONE or TALL_FOUR. floats, doubles: bytes, as they say. */
#define TALL_RUN(steps, floats, doubles)                                     \
  if (sizeof(T) == 4) {                                                      \
    TALL_ASSEMBLY(steps(floats, "vmovups", "vbroadcastss", "vfmadd231ps"));  \
  } else {                                                                   \
    TALL_ASSEMBLY(steps(doubles, "vmovupd", "vbroadcastsd", "vfmadd231pd")); \
  }

/* fourth: row 3 of b. */
#define TALL_ASSEMBLY(text)                                                                                      \
  __asm__ volatile(text                                                                                          \
                   : [s00] "+x"(sum[0][0]), [s01] "+x"(sum[0][1]), [s10] "+x"(sum[1][0]), [s11] "+x"(sum[1][1]), \
                     [s20] "+x"(sum[2][0]), [s21] "+x"(sum[2][1]), [s30] "+x"(sum[3][0]), [s31] "+x"(sum[3][1]), \
                     [s40] "+x"(sum[4][0]), [s41] "+x"(sum[4][1]), [s50] "+x"(sum[5][0]), [s51] "+x"(sum[5][1])  \
                   : [a] "r"(a), [below] "r"(below), [a_row] "r"(a_row), [b] "r"(b), [b_row] "r"(b_row),         \
                     [fourth] "r"(b + 3 * b_row)                                                                 \
                   : "xmm12", "xmm13", "xmm14", "memory")

/* Prefetches what four steps reach: lines that four elements may share are asked for once. */
ND4C_INLINED void NAME(tall_prefetch)(NAME(ahead) * ahead) {
  __builtin_prefetch(ahead->from, 0, 2);
  if (ahead->step > 4) {
    __builtin_prefetch(ahead->from + ahead->step, 0, 2);
    __builtin_prefetch(ahead->from + 2 * ahead->step, 0, 2);
    __builtin_prefetch(ahead->from + 3 * ahead->step, 0, 2);
  }
  ahead->from += 4 * ahead->step;
}

/* Adds k products to each sum of a strip. a_row, b_row: bytes from row to row. a_step: bytes from element to element of
 * a row of a. elements: the same in elements if it is 1 or TILE_ROWS, else 0; a constant where this is called. */
ND4C_INLINED void NAME(tall_terms)(int elements, int64_t k, const char *a, int64_t a_row, int64_t a_step, const char *b,
                                   int64_t b_row, NAME(ahead) * ahead, V sum[][2]) {
  const char *below = a + 3 * a_row;
  int64_t i = 0;
  for (; i + 4 <= k; i += 4) {
    NAME(tall_prefetch)(ahead);
    if (elements == 1) {
      TALL_RUN(TALL_FOUR, "4", "8")
    } else if (elements == TILE_ROWS) {
      TALL_RUN(TALL_FOUR, "24", "48")
    } else {
#pragma GCC unroll 4
      for (int step = 0; step < 4; step++) {
        TALL_RUN(TALL_ONE, "0", "0")
        a += a_step, below += a_step, b += b_row;
      }
      continue;
    }
    a += 4 * a_step, below += 4 * a_step, b += 4 * b_row;
  }
  for (; i < k; i++) {
    TALL_RUN(TALL_ONE, "0", "0")
    a += a_step, below += a_step, b += b_row;
  }
  ahead->from += (k % 4) * ahead->step;
}

ND4C_INLINED void NAME(tall_store)(T *y, int64_t y_row, V sum[][2]) {
#pragma GCC unroll 6
  for (int r = 0; r < TILE_ROWS; r++) {
    STORE(y + r * y_row, sum[r][0]);
    STORE(y + r * y_row + NAME(LANES), sum[r][1]);
  }
}

/* One strip, as strip_any computes it; `ending` is not NULL. */
ND4C_INLINED void NAME(tall_strip)(int elements, int64_t k, const char *a, int64_t a_row, int64_t a_step, const char *b,
                                   int64_t b_row, NAME(ahead) * ahead, T *y, int64_t y_row, bool adds,
                                   int64_t sum_terms, const NAME(ending) * ending) {
  for (int64_t first = 0, terms; first == 0 || first < k; first += terms) {
    terms = k - first < sum_terms ? k - first : sum_terms;
    V sum[TILE_ROWS][2];
#pragma GCC unroll 6
    for (int r = 0; r < TILE_ROWS; r++) {
      sum[r][0] = sum[r][1] = REPEAT(0);
      if (adds) {
        __builtin_prefetch(y + r * y_row);
      }
    }
    NAME(tall_terms)(elements, terms, a + first * a_step, a_row, a_step, b + first * b_row, b_row, ahead, sum);
    if (adds || first > 0) {
      NAME(add_rows)(TILE_ROWS, 2, true, NAME(LANES), y, y_row, sum);
    }
    if (first + terms < k) {
      NAME(tall_store)(y, y_row, sum);
    } else {
      NAME(end)(TILE_ROWS, 2, true, NAME(LANES), ending, sum);
      NAME(tall_store)(ending->y, ending->y_row, sum);
      return;
    }
  }
}

/* All of `strips` strips. a_strip: elements from a strip's a to the next one's. */
static __attribute__((noinline)) void NAME(tall_strips)(int64_t strips, int64_t k, const T *a, int64_t a_row,
                                                        int64_t a_step, int64_t a_strip, const T *b, int64_t b_step,
                                                        NAME(ahead) ahead, T *y, int64_t y_row, bool adds,
                                                        int64_t sum_terms, const NAME(ending) * ending) {
  enum { SIZE = sizeof(T) };
  NAME(ending) here = ending != NULL ? *ending : (NAME(ending)){.y = y, .y_row = y_row};
  const char *row = (const void *)b;
  for (int64_t strip = 0; strip < strips; strip++, a += a_strip, y += TILE_ROWS * y_row) {
    const char *from = (const void *)a;
    if (a_step == 1) {
      NAME(tall_strip)
      (1, k, from, a_row * SIZE, SIZE, row, b_step * SIZE, &ahead, y, y_row, adds, sum_terms, &here);
    } else if (a_step == TILE_ROWS) {
      NAME(tall_strip)
      (TILE_ROWS, k, from, a_row * SIZE, TILE_ROWS * SIZE, row, b_step * SIZE, &ahead, y, y_row, adds, sum_terms,
       &here);
    } else {
      NAME(tall_strip)
      (0, k, from, a_row * SIZE, a_step * SIZE, row, b_step * SIZE, &ahead, y, y_row, adds, sum_terms, &here);
    }
    here.y += TILE_ROWS * here.y_row;
    here.addend += here.addend != NULL ? TILE_ROWS * here.addend_row : 0;
  }
}
