/* Out of memory in the ops that the library itself computes, on text and pictures: every allocation of a scenario fails
 * once, one at a time. The call gives MEMORY with a text and loses nothing, and the scenario gives the same afterwards.
 * test_exhaustion.c has the ops of kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "device/step.h"

enum { ARRAYS = 24 };

typedef struct scenario {
  nd4c_array *arrays[ARRAYS];
  int count;
} scenario;

/* Where the next result goes. */
static nd4c_array **next(scenario *s) {
  assert_true(s->count < ARRAYS);
  return &s->arrays[s->count++];
}

static void clear(scenario *s) {
  for (int i = 0; i < ARRAYS; i++) {
    nd4c_array_release(s->arrays[i]);
  }
  *s = (scenario){.count = 0};
}

static nd4c_status play_texts(scenario *s) {
  static const char *const texts[] = {"one two  three", "", "Two", "3.5", "17 rather long words that no handle holds"};
  static const char *const stops[] = {"two", ""};
  const int64_t five[1] = {5}, two[1] = {2};
  nd4c_array **x = next(s), **stop = next(s), **parts = next(s);
  STEP(nd4c_array_from_strings(1, five, texts, NULL, x));
  STEP(nd4c_array_from_strings(1, two, stops, NULL, stop));
  STEP(nd4c_string_split(*x, NULL, 3, parts, next(s)));
  STEP(nd4c_string_split(*x, "o", -1, next(s), next(s)));
  STEP(nd4c_string_concat(*x, *x, next(s)));
  STEP(nd4c_string_upper(*x, next(s)));
  STEP(nd4c_string_strip(*parts, next(s)));
  STEP(nd4c_string_length(*x, next(s)));
  STEP(nd4c_string_normalizer(*x, *stop, ND4C_LETTER_CASE_LOWER, false, next(s)));
  STEP(nd4c_label_index(*x, *stop, next(s)));
  STEP(nd4c_regex_full_match(*x, "[A-Za-z ]*(\\d\\.\\d)?", next(s)));
  STEP(nd4c_equal(*x, *x, next(s)));
  const int64_t starts[] = {0, 2}, columns[] = {0, 1, 2};
  static const char *const pool_texts[] = {"Two", "3.5", "Two", "3.5"};
  const int64_t four[1] = {4};
  nd4c_tfidf_vectorizer_options options = ND4C_TFIDF_VECTORIZER_DEFAULTS;
  options.ngram_counts = starts, options.ngram_counts_count = 2;
  options.ngram_indexes = columns, options.ngram_indexes_count = 3;
  options.max_gram_length = 2;
  nd4c_array **pool = next(s);
  STEP(nd4c_array_from_strings(1, four, pool_texts, NULL, pool));
  return nd4c_tfidf_vectorizer(*x, *pool, &options, next(s));
}

static nd4c_status play_numbers(scenario *s) {
  static const char *const texts[] = {"1", "-2.5", "1e300", "nan"};
  const int64_t four[1] = {4};
  nd4c_array **x = next(s), **numbers = next(s);
  STEP(nd4c_array_from_strings(1, four, texts, NULL, x));
  STEP(nd4c_cast(*x, ND4C_FLOAT64, numbers));
  return nd4c_cast(*numbers, ND4C_UTF8, next(s));
}

static nd4c_status play_pictures(scenario *s) {
  static const unsigned char picture[] = "P6 2 1 255\n\x01\x02\x03\xff\xfe\xfd", text[] = "P3 1 2 9\n1 2 3 9 8 7 ";
  const int64_t sizes[2] = {sizeof picture - 1, sizeof text - 1};
  nd4c_array **file = next(s);
  STEP(nd4c_array_from_data(ND4C_UINT8, 1, &sizes[0], picture, NULL, file));
  STEP(nd4c_decode_image(*file, ND4C_PIXEL_FORMAT_RGB, next(s)));
  nd4c_array **other = next(s); /* not sooner: a step that fails leaves the last one empty */
  STEP(nd4c_array_from_data(ND4C_UINT8, 1, &sizes[1], text, NULL, other));
  return nd4c_decode_image(*other, ND4C_PIXEL_FORMAT_GRAYSCALE, next(s));
}

static int64_t live_bytes(void) {
  nd4c_device *host = NULL;
  nd4c_memory_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_device_find("cpu", &host), ND4C_OK);
  (void)nd4c_memory_trim(host, 0);
  assert_int_equal(nd4c_memory_get_info(host, &info), ND4C_OK);
  return info.live_bytes;
}

/* The results as they print. */
static void print_all(const scenario *s, char *text, size_t size) {
  size_t length = 0;
  for (int i = 0; i < s->count; i++) {
    char *one = NULL;
    assert_int_equal(nd4c_array_format(s->arrays[i], NULL, &one), ND4C_OK);
    assert_true(length + strlen(one) + 1 < size);
    memcpy(text + length, one, strlen(one) + 1);
    length += strlen(one);
    nd4c_free(one);
  }
}

static void exhaust(nd4c_status (*play)(scenario *s), int least) {
  static char expected[8192], given[8192];
  scenario s = {.count = 0};
  int failures = 0;
  for (int warm = 0; warm < 2; warm++) {
    clear(&s);
    assert_int_equal(play(&s), ND4C_OK);
  }
  print_all(&s, expected, sizeof expected);
  clear(&s);
  const int64_t live = live_bytes();
  for (int64_t skip = 0;; skip++) {
    nd4c_error_clear();
    const int64_t before = nd4c_allocation_count();
    nd4c_allocation_fail_at(skip);
    const nd4c_status status = play(&s);
    const bool reached = nd4c_allocation_count() - before > skip;
    nd4c_allocation_fail_at(-1);
    if (status != ND4C_OK) {
      assert_int_equal(status, ND4C_MEMORY);
      assert_string_not_equal(nd4c_error_message(), "");
      assert_null(s.arrays[s.count - 1]); /* a call that fails gives no result */
    }
    failures += status != ND4C_OK;
    clear(&s);
    assert_int_equal(live_bytes(), live);
    assert_int_equal(play(&s), ND4C_OK);
    print_all(&s, given, sizeof given);
    assert_string_equal(given, expected);
    clear(&s);
    if (!reached) {
      break;
    }
  }
  print_message("%d failures survived\n", failures);
  assert_true(failures >= least);
}

static void texts_survive(void **state) {
  (void)state;
  exhaust(play_texts, 40);
}

static void numbers_survive(void **state) {
  (void)state;
  exhaust(play_numbers, 4);
}

static void pictures_survive(void **state) {
  (void)state;
  exhaust(play_pictures, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(texts_survive), cmocka_unit_test(numbers_survive),
                                     cmocka_unit_test(pictures_survive)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
