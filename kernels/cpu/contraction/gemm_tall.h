/* Strips of floats with AVX2 that lie below each other: six rows, two vectors wide, whose b is whole. gemm_strip.h
 * includes this and has the strips of all other kinds; gemm_loops.h and attention/loops.h call it first.
 *
 * The steps are in assembly. A step has 20 instructions that load and compute; GCC adds five for addresses, or spills
 * sums where it is told the distances. That costs most where the core serves another thread beside this one, and leaves
 * it three instructions a cycle. Where b is a packed panel the loop is in assembly, too: less than one instruction a
 * step is then for addresses. */

/* Row `r` of a step: an element of a times one or both vectors of b. */
#define TALL_ROW_1(at, r, spread, fused) spread " " at ", %%ymm14\n\t" fused " %%ymm12, %%ymm14, %[s" #r "0]\n\t"
#define TALL_ROW_2(at, r, spread, fused) TALL_ROW_1(at, r, spread, fused) fused " %%ymm13, %%ymm14, %[s" #r "1]\n\t"

#define TALL_LOAD_1(load, b) load " " b ", %%ymm12\n\t"
#define TALL_LOAD_2(load, b) TALL_LOAD_1(load, b) load " 32+" b ", %%ymm13\n\t"

/* Three rows from a pointer into a on. at: bytes from there to the elements of the step. */
#define TALL_THREE(vectors, pointer, r0, r1, r2, at, spread, fused)                                                    \
  TALL_ROW_##vectors(at pointer ")", r0, spread, fused) TALL_ROW_##vectors(at pointer ",%[a_row])", r1, spread, fused) \
      TALL_ROW_##vectors(at pointer ",%[a_row],2)", r2, spread, fused)

/* b: the row of b, from a number on. */
#define TALL_STEP(vectors, b, at, load, spread, fused)                                  \
  TALL_LOAD_##vectors(load, b) TALL_THREE(vectors, "(%[a]", 0, 1, 2, at, spread, fused) \
      TALL_THREE(vectors, "(%[below]", 3, 4, 5, at, spread, fused)

#define TALL_ONE(vectors, at, load, spread, fused) TALL_STEP(vectors, "0(%[b])", at, load, spread, fused)
#define TALL_FOUR(vectors, along, load, spread, fused)                      \
  TALL_STEP(vectors, "0(%[b])", "0*" along, load, spread, fused)            \
  TALL_STEP(vectors, "0(%[b],%[b_row])", "1*" along, load, spread, fused)   \
  TALL_STEP(vectors, "0(%[b],%[b_row],2)", "2*" along, load, spread, fused) \
  TALL_STEP(vectors, "0(%[fourth])", "3*" along, load, spread, fused)

/* The same where the rows of a lie side by side, `size` bytes apart, and its columns a_step bytes. third: column 3. */
#define TALL_BESIDE(vectors, b, at, size, load, spread, fused)                                                  \
  TALL_LOAD_##vectors(load, b) TALL_ROW_##vectors("0*" size at, 0, spread, fused)                               \
      TALL_ROW_##vectors("1*" size at, 1, spread, fused) TALL_ROW_##vectors("2*" size at, 2, spread, fused)     \
          TALL_ROW_##vectors("3*" size at, 3, spread, fused) TALL_ROW_##vectors("4*" size at, 4, spread, fused) \
              TALL_ROW_##vectors("5*" size at, 5, spread, fused)
#define TALL_FOUR_BESIDE(vectors, size, load, spread, fused)                                  \
  TALL_BESIDE(vectors, "0(%[b])", "(%[a])", size, load, spread, fused)                        \
  TALL_BESIDE(vectors, "0(%[b],%[b_row])", "(%[a],%[a_step])", size, load, spread, fused)     \
  TALL_BESIDE(vectors, "0(%[b],%[b_row],2)", "(%[a],%[a_step],2)", size, load, spread, fused) \
  TALL_BESIDE(vectors, "0(%[fourth])", "(%[third])", size, load, spread, fused)

/* steps: TALL_ONE, TALL_FOUR or TALL_FOUR_BESIDE. place: ROWS or COLUMNS, what they need of a. floats,
 * doubles: bytes, as the steps say. vectors: a constant where this is expanded. */
#define TALL_RUN(place, steps, floats, doubles)                                           \
  if (sizeof(T) == 4 && vectors == 2) {                                                   \
    TALL_ASSEMBLY(place, 2, steps(2, floats, "vmovups", "vbroadcastss", "vfmadd231ps"));  \
  } else if (sizeof(T) == 4) {                                                            \
    TALL_ASSEMBLY(place, 1, steps(1, floats, "vmovups", "vbroadcastss", "vfmadd231ps"));  \
  } else if (vectors == 2) {                                                              \
    TALL_ASSEMBLY(place, 2, steps(2, doubles, "vmovupd", "vbroadcastsd", "vfmadd231pd")); \
  } else {                                                                                \
    TALL_ASSEMBLY(place, 1, steps(1, doubles, "vmovupd", "vbroadcastsd", "vfmadd231pd")); \
  }

#define TALL_SUMS_1                                                                                                  \
  [s00] "+x"(sum[0][0]), [s10] "+x"(sum[1][0]), [s20] "+x"(sum[2][0]), [s30] "+x"(sum[3][0]), [s40] "+x"(sum[4][0]), \
      [s50] "+x"(sum[5][0])
#define TALL_SUMS_2                                                                                        \
  TALL_SUMS_1, [s01] "+x"(sum[0][1]), [s11] "+x"(sum[1][1]), [s21] "+x"(sum[2][1]), [s31] "+x"(sum[3][1]), \
      [s41] "+x"(sum[4][1]), [s51] "+x"(sum[5][1])

#define TALL_A_ROWS [a] "r"(a), [below] "r"(below), [a_row] "r"(a_row)
#define TALL_A_COLUMNS [a] "r"(a), [a_step] "r"(a_step), [third] "r"(a + 3 * a_step)

/* fourth: row 3 of b. */
#define TALL_ASSEMBLY(place, vectors, text)                                                      \
  __asm__ volatile(text                                                                          \
                   : TALL_SUMS_##vectors                                                         \
                   : TALL_A_##place, [b] "r"(b), [b_row] "r"(b_row), [fourth] "r"(b + 3 * b_row) \
                   : "xmm12", "xmm13", "xmm14", "memory")

/* The loop over a panel's rows, which follow each other: `count` rounds of eight steps, or of four where the rows of a
 * lie side by side, from sums of zero on. Each round prefetches one line. TALL_LINE: bytes of a panel's row. */
#define TALL_LINE "64"
#define TALL_ZERO(sum) "vxorps %[" sum "], %[" sum "], %[" sum "]\n\t"
#define TALL_ZEROS_1 \
  TALL_ZERO("s00") TALL_ZERO("s10") TALL_ZERO("s20") TALL_ZERO("s30") TALL_ZERO("s40") TALL_ZERO("s50")
#define TALL_ZEROS_2 \
  TALL_ZEROS_1 TALL_ZERO("s01") TALL_ZERO("s11") TALL_ZERO("s21") TALL_ZERO("s31") TALL_ZERO("s41") TALL_ZERO("s51")
#define TALL_SUMS_OUT_1                                                                           \
  [s00] "=&x"(sum[0][0]), [s10] "=&x"(sum[1][0]), [s20] "=&x"(sum[2][0]), [s30] "=&x"(sum[3][0]), \
      [s40] "=&x"(sum[4][0]), [s50] "=&x"(sum[5][0])
#define TALL_SUMS_OUT_2                                                                                            \
  TALL_SUMS_OUT_1, [s01] "=&x"(sum[0][1]), [s11] "=&x"(sum[1][1]), [s21] "=&x"(sum[2][1]), [s31] "=&x"(sum[3][1]), \
      [s41] "=&x"(sum[4][1]), [s51] "=&x"(sum[5][1])

/* Step `i` of a round. along: bytes from element to element of a row of a. */
#define TALL_EIGHTH(vectors, i, along, load, spread, fused)                                                        \
  TALL_LOAD_##vectors(load, #i "*" TALL_LINE "(%[b])") TALL_ROW_##vectors(#i "*" along "(%[a])", 0, spread, fused) \
      TALL_ROW_##vectors(#i "*" along "(%[a],%[row])", 1, spread, fused)                                           \
          TALL_ROW_##vectors(#i "*" along "(%[a],%[row],2)", 2, spread, fused)                                     \
              TALL_ROW_##vectors(#i "*" along "(%[a],%[three])", 3, spread, fused)                                 \
                  TALL_ROW_##vectors(#i "*" along "(%[a],%[row],4)", 4, spread, fused)                             \
                      TALL_ROW_##vectors(#i "*" along "(%[a],%[five])", 5, spread, fused)
#define TALL_TWO(vectors, i, j, along, load, spread, fused) \
  TALL_EIGHTH(vectors, i, along, load, spread, fused) TALL_EIGHTH(vectors, j, along, load, spread, fused)
#define TALL_FURTHER(along) "add $8*" along ", %[a]\n\tadd $8*" TALL_LINE ", %[b]\n\t"
#define TALL_EIGHT(vectors, along, load, spread, fused) \
  TALL_TWO(vectors, 0, 1, along, load, spread, fused)   \
  TALL_TWO(vectors, 2, 3, along, load, spread, fused)   \
  TALL_TWO(vectors, 4, 5, along, load, spread, fused)   \
  TALL_TWO(vectors, 6, 7, along, load, spread, fused) TALL_FURTHER(along)
#define TALL_QUARTER(vectors, i, place, size, load, spread, fused) \
  TALL_BESIDE(vectors, #i "*" TALL_LINE "(%[b])", place, size, load, spread, fused)
#define TALL_FOUR_PANEL(vectors, size, load, spread, fused)              \
  TALL_QUARTER(vectors, 0, "(%[a])", size, load, spread, fused)          \
  TALL_QUARTER(vectors, 1, "(%[a],%[row])", size, load, spread, fused)   \
  TALL_QUARTER(vectors, 2, "(%[a],%[row],2)", size, load, spread, fused) \
  TALL_QUARTER(vectors, 3, "(%[a],%[three])", size, load, spread, fused) \
  "lea (%[a],%[row],4), %[a]\n\t"                                        \
  "add $4*" TALL_LINE ", %[b]\n\t"

/* The text of a loop is longer than the strings that ISO C promises; compilers take it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"

/* steps: TALL_EIGHT or TALL_FOUR_PANEL, for which `row` is a_step. */
#define TALL_ROUNDS(vectors, steps)                                                                                    \
  __asm__ volatile(TALL_ZEROS_##vectors                                                                                \
                   ".p2align 4\n"                                                                                      \
                   "1:\n\t"                                                                                            \
                   "prefetcht1 (%[ahead])\n\t" steps                                                                   \
                   "add %[further], %[ahead]\n\t"                                                                      \
                   "dec %[count]\n\t"                                                                                  \
                   "jnz 1b"                                                                                            \
                   : TALL_SUMS_OUT_##vectors, [a] "+r"(a), [b] "+r"(b), [ahead] "+r"(ahead->from), [count] "+r"(count) \
                   : [row] "r"(row), [three] "r"(3 * row), [five] "r"(5 * row), [further] "r"(further)                 \
                   : "xmm12", "xmm13", "xmm14", "cc", "memory")

#define TALL_LOOP(steps, floats, doubles)                                        \
  if (sizeof(T) == 4 && vectors == 2) {                                          \
    TALL_ROUNDS(2, steps(2, floats, "vmovups", "vbroadcastss", "vfmadd231ps"));  \
  } else if (sizeof(T) == 4) {                                                   \
    TALL_ROUNDS(1, steps(1, floats, "vmovups", "vbroadcastss", "vfmadd231ps"));  \
  } else if (vectors == 2) {                                                     \
    TALL_ROUNDS(2, steps(2, doubles, "vmovupd", "vbroadcastsd", "vfmadd231pd")); \
  } else {                                                                       \
    TALL_ROUNDS(1, steps(1, doubles, "vmovupd", "vbroadcastsd", "vfmadd231pd")); \
  }

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

/* How a lies: the elements of a row side by side; the rows of a strip so, too, one element of each after the other; the
 * rows of a strip alone; or neither. */
typedef enum NAME(tall_a) { NAME(A_ALONG), NAME(A_PACKED), NAME(A_BESIDE), NAME(A_APART) } NAME(tall_a);

/* The sums of the first of k products, as many as whole rounds take, with one prefetch each; returns their number.
 * Otherwise as tall_terms. */
ND4C_INLINED int64_t NAME(tall_rounds)(int vectors, NAME(tall_a) lies, int64_t k, const char **a_at, int64_t a_row,
                                       int64_t a_step, const char **b_at, int64_t b_row, NAME(ahead) * ahead,
                                       V sum[][2]) {
  enum { LINE = 64, SIZE = sizeof(T) };
  const int64_t steps = lies == NAME(A_BESIDE) ? 4 : 8, further = steps * ahead->step * SIZE;
  int64_t count = k / steps;
  if (lies == NAME(A_APART) || b_row != LINE || further > LINE || count == 0) {
#pragma GCC unroll 6
    for (int r = 0; r < TILE_ROWS; r++) {
      sum[r][0] = sum[r][1] = REPEAT(0);
    }
    return 0;
  }
  const char *a = *a_at, *b = *b_at;
  const int64_t row = lies == NAME(A_BESIDE) ? a_step : a_row;
  if (lies == NAME(A_ALONG)) {
    TALL_LOOP(TALL_EIGHT, "4", "8")
  } else if (lies == NAME(A_PACKED)) {
    TALL_LOOP(TALL_EIGHT, "24", "48")
  } else {
    TALL_LOOP(TALL_FOUR_PANEL, "4", "8")
  }
  *a_at = a;
  *b_at = b;
  return k / steps * steps;
}

#pragma GCC diagnostic pop

/* The sums of k products, for all elements of a strip. a_row, b_row: bytes from row to row. a_step: bytes from element
 * to element of a row of a. lies: a constant where this is called. */
ND4C_INLINED void NAME(tall_terms)(int vectors, NAME(tall_a) lies, int64_t k, const char *a, int64_t a_row,
                                   int64_t a_step, const char *b, int64_t b_row, NAME(ahead) * ahead, V sum[][2]) {
  int64_t i = NAME(tall_rounds)(vectors, lies, k, &a, a_row, a_step, &b, b_row, ahead, sum);
  const char *below = a + 3 * a_row;
  for (; i + 4 <= k; i += 4) {
    NAME(tall_prefetch)(ahead);
    if (lies == NAME(A_ALONG)) {
      TALL_RUN(ROWS, TALL_FOUR, "4", "8")
    } else if (lies == NAME(A_PACKED)) {
      TALL_RUN(ROWS, TALL_FOUR, "24", "48")
    } else if (lies == NAME(A_BESIDE)) {
      TALL_RUN(COLUMNS, TALL_FOUR_BESIDE, "4", "8")
    } else {
#pragma GCC unroll 4
      for (int step = 0; step < 4; step++) {
        TALL_RUN(ROWS, TALL_ONE, "0", "0")
        a += a_step, below += a_step, b += b_row;
      }
      continue;
    }
    a += 4 * a_step, below += 4 * a_step, b += 4 * b_row;
  }
  for (; i < k; i++) {
    TALL_RUN(ROWS, TALL_ONE, "0", "0")
    a += a_step, below += a_step, b += b_row;
  }
  ahead->from += (k % 4) * ahead->step;
}

/* `last` elements of the last vector, unless it is whole. */
ND4C_INLINED void NAME(tall_store)(int vectors, bool whole, int64_t last, T *y, int64_t y_row, V sum[][2]) {
#pragma GCC unroll 6
  for (int r = 0; r < TILE_ROWS; r++) {
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
      T *at = y + r * y_row + v * NAME(LANES);
      if (whole || v + 1 < vectors) {
        STORE(at, sum[r][v]);
      } else {
        PART_STORE(at, sum[r][v], last);
      }
    }
  }
}

/* Strips from the one that is computed to the one whose place in memory is prefetched. */
enum { NAME(FAR_STRIPS) = 6 };

/* One strip, as strip_any computes it; `ending` is not NULL. vectors, whole, lies: constants. */
ND4C_INLINED void NAME(tall_strip)(int vectors, bool whole, int64_t last, NAME(tall_a) lies, int64_t k, const char *a,
                                   int64_t a_row, int64_t a_step, const char *b, int64_t b_row, NAME(ahead) * ahead,
                                   T *y, int64_t y_row, bool adds, int64_t sum_terms, const NAME(ending) * ending) {
  for (int64_t first = 0, terms; first == 0 || first < k; first += terms) {
    terms = k - first < sum_terms ? k - first : sum_terms;
    V sum[TILE_ROWS][2];
#pragma GCC unroll 6
    for (int r = 0; r < TILE_ROWS && adds; r++) {
      __builtin_prefetch(y + r * y_row);
    }
    if (ending->far && first + terms == k) {
#pragma GCC unroll 6
      for (int r = 0; r < TILE_ROWS; r++) {
        __builtin_prefetch(ending->y + (r + NAME(FAR_STRIPS) * TILE_ROWS) * ending->y_row);
      }
    }
    NAME(tall_terms)(vectors, lies, terms, a + first * a_step, a_row, a_step, b + first * b_row, b_row, ahead, sum);
    if (adds || first > 0) {
      NAME(add_rows)(TILE_ROWS, vectors, whole, last, y, y_row, sum);
    }
    if (first + terms < k) {
      NAME(tall_store)(vectors, whole, last, y, y_row, sum);
    } else {
      NAME(end)(TILE_ROWS, vectors, whole, last, ending, sum);
      NAME(tall_store)(vectors, whole, last, ending->y, ending->y_row, sum);
      return;
    }
  }
}

/* All of `strips` strips. a_strip: elements from a strip's a to the next one's. */
#define TALL_PARAMETERS                                                                                               \
  int64_t columns, int64_t strips, int64_t k, const T *a, int64_t a_row, int64_t a_step, int64_t a_strip, const T *b, \
      int64_t b_step, NAME(ahead) ahead, T *y, int64_t y_row, bool adds, int64_t sum_terms,                           \
      const NAME(ending) * ending
#define TALL_ARGUMENTS k, from, a_row *SIZE, a_step *SIZE, row, b_step *SIZE, &ahead, y, y_row, adds, sum_terms, &here

ND4C_INLINED void NAME(tall_strips_of)(int vectors, bool whole, TALL_PARAMETERS) {
  enum { SIZE = sizeof(T) };
  NAME(ending) here = ending != NULL ? *ending : (NAME(ending)){.y = y, .y_row = y_row};
  const int64_t last = columns - (vectors - 1) * NAME(LANES);
  const char *row = (const void *)b;
  for (int64_t strip = 0; strip < strips; strip++, a += a_strip, y += TILE_ROWS * y_row) {
    const char *from = (const void *)a;
    if (a_step == 1) {
      NAME(tall_strip)(vectors, whole, last, NAME(A_ALONG), TALL_ARGUMENTS);
    } else if (a_step == TILE_ROWS) {
      NAME(tall_strip)(vectors, whole, last, NAME(A_PACKED), TALL_ARGUMENTS);
    } else if (a_row == 1) {
      NAME(tall_strip)(vectors, whole, last, NAME(A_BESIDE), TALL_ARGUMENTS);
    } else {
      NAME(tall_strip)(vectors, whole, last, NAME(A_APART), TALL_ARGUMENTS);
    }
    here.y += TILE_ROWS * here.y_row;
    here.addend += here.addend != NULL ? TILE_ROWS * here.addend_row : 0;
  }
}

#define TALL_PASSED columns, strips, k, a, a_row, a_step, a_strip, b, b_step, ahead, y, y_row, adds, sum_terms, ending
#define TALL_KIND(name, vectors, whole)                               \
  static __attribute__((noinline)) void NAME(name)(TALL_PARAMETERS) { \
    NAME(tall_strips_of)(vectors, whole, TALL_PASSED);                \
  }
TALL_KIND(tall_whole, 2, true)
TALL_KIND(tall_part, 2, false)
TALL_KIND(tall_half, 1, true)
TALL_KIND(tall_less, 1, false)

static void NAME(tall_strips)(TALL_PARAMETERS) {
  if (columns == NAME(WIDE)) {
    NAME(tall_whole)(TALL_PASSED);
  } else if (columns > NAME(LANES)) {
    NAME(tall_part)(TALL_PASSED);
  } else if (columns == NAME(LANES)) {
    NAME(tall_half)(TALL_PASSED);
  } else {
    NAME(tall_less)(TALL_PASSED);
  }
}
