/* Sorting of words on engine simd, at each level: lengths around its networks, buffers and blocks; patterns that pivots
 * dislike; and sorts of which only some places are asked for. */
#include "backends/cpu/simd/simd.h"
#include "tests/kernels/operands.h"

enum { MOST = 20000, GUARD_WORDS = 16, EVERY_LENGTH = 300 };

typedef enum pattern { RANDOM, FEW, RISING, FALLING, SAME, LARGEST, PIPE, HIGH_BITS, PATTERNS } pattern;

static const int32_t lengths[] = {511,  512,  513,  1023, 1024, 1025, 1031, 2047, 2048,
                                  2049, 2063, 2111, 2176, 4095, 4096, 4097, 9999, MOST};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static uint64_t state = 1;

static uint64_t draw(void) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return state ^ state >> 29;
}

static uint64_t word_of(pattern how, int32_t i, int32_t n) {
  switch (how) {
    case FEW:
      return draw() % 3;
    case RISING:
      return (uint64_t)i;
    case FALLING:
      return (uint64_t)(n - i);
    case SAME:
      return UINT64_C(0x8000000080000000);
    case LARGEST:
      return draw() % 2 == 0 ? UINT64_MAX : 0;
    case PIPE:
      return (uint64_t)(i < n / 2 ? i : n - i);
    case HIGH_BITS: /* around the word that is neither small nor large if it is taken as a signed number */
      return (draw() % 5 - 2) + (draw() % 2 == 0 ? UINT64_C(0x8000000080000000) : 0);
    default:
      return draw();
  }
}

static int compare_32(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static int compare_64(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Memory of n words between guards, wherever the first one lies. */
typedef struct room {
  char *memory, *words;
  size_t bytes;
} room;

static room make_room(size_t word, int32_t n) {
  room made = {.bytes = word * (size_t)(n + 2 * GUARD_WORDS)};
  made.memory = malloc(made.bytes);
  assert_non_null(made.memory);
  memset(made.memory, 0x5a, made.bytes);
  made.words = made.memory + word * GUARD_WORDS;
  return made;
}

static void check_guards(const room *r, size_t word, int32_t n, const char *what) {
  for (size_t i = 0; i < r->bytes; i++) {
    const bool inside = i >= word * GUARD_WORDS && i < word * (size_t)(GUARD_WORDS + n);
    if (!inside && r->memory[i] != 0x5a) {
      fail_msg("%s: byte %zu beside the words was written", what, i);
    }
  }
}

/* `from`, `to`: the places that must hold their words afterwards. */
static void check_sort(size_t word, pattern how, int32_t n, int32_t from, int32_t to) {
  const bool wide = word == sizeof(uint64_t);
  char what[120];
  room x = make_room(word, n), work = make_room(word, n);
  char *sorted = malloc(word * (size_t)n + 1);
  assert_non_null(sorted);
  for (int32_t i = 0; i < n; i++) {
    const uint64_t drawn = word_of(how, i, n);
    const uint32_t narrow = (uint32_t)(how == RANDOM || how == HIGH_BITS ? drawn >> 7 : drawn);
    memcpy(x.words + (size_t)i * word, wide ? (const void *)&drawn : &narrow, word);
  }
  memcpy(sorted, x.words, word * (size_t)n);
  qsort(sorted, (size_t)n, word, wide ? compare_64 : compare_32);
  (void)snprintf(what, sizeof what, "level %s, %d bits, pattern %d, %d words, places %d to %d", level, wide ? 64 : 32,
                 (int)how, (int)n, (int)from, (int)to - 1);
  nd4c_simd.sort->words[wide].sort(x.words, n, from, to, work.words);
  if (memcmp(x.words + (size_t)from * word, sorted + (size_t)from * word, (size_t)(to - from) * word) != 0) {
    fail_msg("%s: not in order", what);
  }
  check_guards(&x, word, n, what);
  check_guards(&work, word, n, what);
  qsort(x.words, (size_t)n, word, wide ? compare_64 : compare_32); /* no word was lost */
  if (memcmp(x.words, sorted, word * (size_t)n) != 0) {
    fail_msg("%s: the words are others", what);
  }
  free(sorted);
  free(x.memory);
  free(work.memory);
}

static void check_length(int32_t n) {
  for (int how = 0; how < PATTERNS; how++) {
    for (size_t word = sizeof(uint32_t); word <= sizeof(uint64_t); word *= 2) {
      check_sort(word, (pattern)how, n, 0, n);
      if (n > 2) {
        check_sort(word, (pattern)how, n, n / 3, n / 3 + 1);
        check_sort(word, (pattern)how, n, 0, 1);
        check_sort(word, (pattern)how, n, n - 2, n);
      }
    }
  }
}

static void test_sorts(void **unused) {
  (void)unused;
  enter_providers();
  for (int i = 0; i <= nd4c_cpu_highest_level(); i++) {
    level = nd4c_cpu_level_name(i);
    assert_true(cpu_providers_open());
    assert_non_null(find_kernel("sort", "simd"));
    for (int32_t n = 0; n < EVERY_LENGTH; n++) {
      check_length(n);
    }
    for (int k = 0; k < LENGTHS; k++) {
      check_length(lengths[k]);
    }
    cpu_providers_close();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_sorts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
