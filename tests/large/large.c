/* Ops on arrays of more than 2^31 elements: positions that do not fit into 32 bits must be right. Every array has one
 * byte an element, filled with a pattern whose period is a prime, so that a position lost modulo 2^31 or 2^32 shows.
 * Exit code 0: passed, or skipped with a reason; 1: something is wrong. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nd4c/nd4c.h"

#define ELEMENTS ((INT64_C(1) << 31) + 6)
enum { PERIOD = 113, NEED_GB = 8 };

static int failures;

static int8_t pattern(int64_t i) {
  return (int8_t)(i % PERIOD - 50);
}

/* Counts a failure and says what it is. */
static bool check(bool right, const char *format, ...) {
  if (!right) {
    va_list arguments;
    va_start(arguments, format);
    (void)printf("wrong: ");
    (void)vprintf(format, arguments);
    (void)printf("\n");
    va_end(arguments);
    failures++;
  }
  return right;
}

static bool succeeded(nd4c_status status, const char *op) {
  return check(status == ND4C_OK, "%s: %s: %s", op, nd4c_status_name(status), nd4c_error_message());
}

static const int8_t *bytes_of(const nd4c_array *array) {
  const void *data = NULL;
  return nd4c_array_data(array, &data) == ND4C_OK ? data : NULL;
}

/* y[i] = pattern(i + shift) for i in [begin, end), looked at in places that cover all of it and both ends. */
static void check_pattern(const nd4c_array *y, const char *op, int64_t begin, int64_t end, int64_t shift) {
  const int8_t *data = bytes_of(y);
  if (!check(data != NULL, "%s: no data", op)) {
    return;
  }
  for (int64_t i = begin; i < end; i += i - begin < 1000 || end - i < 2000 ? 1 : 997) {
    if (!check(data[i] == pattern(i + shift), "%s: element %" PRId64 " is %d, expected %d", op, i, data[i],
               pattern(i + shift))) {
      return;
    }
  }
}

static nd4c_array *make_pattern(void) {
  const int64_t shape = ELEMENTS;
  nd4c_array *x = NULL;
  void *data = NULL;
  if (nd4c_array_empty(ND4C_INT8, 1, &shape, NULL, &x) != ND4C_OK || nd4c_array_data_mutable(x, &data) != ND4C_OK) {
    (void)printf("no array of %" PRId64 " elements: %s\n", shape, nd4c_error_message());
    exit(1);
  }
  for (int64_t i = 0; i < ELEMENTS; i++) {
    ((int8_t *)data)[i] = pattern(i);
  }
  return x;
}

static int64_t scalar_of(const nd4c_array *y) {
  int64_t value = -1;
  (void)nd4c_array_read(y, &value, sizeof value);
  return value;
}

/* -- reductions ------------------------------------------------------------------------------------------------ */

static void test_sum(const nd4c_array *x) {
  nd4c_array *y = NULL;
  int64_t expected = 0, whole = ELEMENTS / PERIOD;
  for (int64_t i = 0; i < PERIOD; i++) {
    expected += pattern(i) * (whole + (i < ELEMENTS % PERIOD));
  }
  if (succeeded(nd4c_sum(x, NULL, 0, false, ND4C_DTYPE_NONE, &y), "sum")) {
    check(scalar_of(y) == expected, "sum is %" PRId64 ", expected %" PRId64, scalar_of(y), expected);
  }
  nd4c_array_release(y);
}

static void test_argmax(nd4c_array *x) {
  nd4c_array *y = NULL;
  void *data = NULL;
  const int64_t at = ELEMENTS - 2;
  if (!succeeded(nd4c_array_data_mutable(x, &data), "argmax")) {
    return;
  }
  ((int8_t *)data)[at] = 127;
  if (succeeded(nd4c_argmax(x, 0, false, &y), "argmax")) {
    check(scalar_of(y) == at, "argmax is %" PRId64 ", expected %" PRId64, scalar_of(y), at);
  }
  ((int8_t *)data)[at] = pattern(at);
  nd4c_array_release(y);
}

/* -- element by element, and moves ----------------------------------------------------------------------------- */

static void test_add(const nd4c_array *x) {
  nd4c_array *one = NULL, *y = NULL;
  if (succeeded(nd4c_array_scalar(ND4C_INT8, PERIOD, NULL, &one), "add") && succeeded(nd4c_add(x, one, &y), "add")) {
    const int8_t *data = bytes_of(y);
    for (int64_t i = 0; data != NULL && i < ELEMENTS; i += i < ELEMENTS - 1000 ? 997 : 1) {
      int8_t expected = (int8_t)(pattern(i) + PERIOD); /* wraps */
      if (!check(data[i] == expected, "add: element %" PRId64 " is %d, expected %d", i, data[i], expected)) {
        break;
      }
    }
  }
  nd4c_array_release(one);
  nd4c_array_release(y);
}

static void test_concat(const nd4c_array *x) {
  const int64_t cut = (INT64_C(1) << 30) + 3, start = 0, stop = ELEMENTS;
  nd4c_array *parts[2] = {NULL, NULL}, *y = NULL;
  nd4c_slice_options first = ND4C_SLICE_DEFAULTS, second = ND4C_SLICE_DEFAULTS;
  first.starts = &start;
  first.stops = second.starts = &cut;
  second.stops = &stop;
  first.starts_count = first.stops_count = second.starts_count = second.stops_count = 1;
  if (succeeded(nd4c_slice(x, &first, &parts[0]), "slice") && succeeded(nd4c_slice(x, &second, &parts[1]), "slice")) {
    const nd4c_array *xs[2] = {parts[1], parts[0]};
    if (succeeded(nd4c_concat(xs, 2, 0, &y), "concat")) {
      check_pattern(y, "concat", 0, ELEMENTS - cut, cut);
      check_pattern(y, "concat", ELEMENTS - cut, ELEMENTS, cut - ELEMENTS);
    }
  }
  nd4c_array_release(parts[0]);
  nd4c_array_release(parts[1]);
  nd4c_array_release(y);
}

static void test_transpose(const nd4c_array *x) {
  const int64_t shape[2] = {2, ELEMENTS / 2};
  nd4c_array *rows = NULL, *columns = NULL, *y = NULL;
  if (succeeded(nd4c_reshape(x, shape, 2, &rows), "reshape") &&
      succeeded(nd4c_transpose(rows, NULL, 0, &columns), "transpose") && succeeded(nd4c_copy(columns, &y), "copy")) {
    const int8_t *data = bytes_of(y);
    for (int64_t i = 0; data != NULL && i < ELEMENTS; i += i < ELEMENTS - 1000 ? 997 : 1) {
      int8_t expected = pattern(i / 2 + i % 2 * shape[1]);
      if (!check(data[i] == expected, "transpose: element %" PRId64 " is %d, expected %d", i, data[i], expected)) {
        break;
      }
    }
  }
  nd4c_array_release(rows);
  nd4c_array_release(columns);
  nd4c_array_release(y);
}

static void test_pad(const nd4c_array *x) {
  const int64_t pads[2] = {3, 2};
  nd4c_array *y = NULL;
  if (succeeded(nd4c_pad(x, NULL, pads, 2, NULL, 0, ND4C_PAD_MODE_WRAP, &y), "pad")) {
    check_pattern(y, "pad", 3, ELEMENTS + 3, -3);
    check_pattern(y, "pad", 0, 3, ELEMENTS - 3);
    check_pattern(y, "pad", ELEMENTS + 3, ELEMENTS + 5, -ELEMENTS - 3);
  }
  nd4c_array_release(y);
}

static void test_roll(const nd4c_array *x) {
  const int64_t shift = (INT64_C(1) << 31) + 1;
  nd4c_array *y = NULL;
  if (succeeded(nd4c_roll(x, &shift, 1, NULL, 0, &y), "roll")) {
    check_pattern(y, "roll", 0, shift, ELEMENTS - shift);
    check_pattern(y, "roll", shift, ELEMENTS, -shift);
  }
  nd4c_array_release(y);
}

/* -- indices --------------------------------------------------------------------------------------------------- */

enum { PICKS = 6 };
static const int64_t picked[PICKS] = {0, -1, INT32_MAX, ELEMENTS - 1, (INT64_C(1) << 31) + 2, -ELEMENTS};

static nd4c_array *make_indices(void) {
  const int64_t shape = PICKS;
  nd4c_array *indices = NULL;
  (void)succeeded(nd4c_array_from_data(ND4C_INT64, 1, &shape, picked, NULL, &indices), "indices");
  return indices;
}

static void check_picks(const nd4c_array *y, const char *op) {
  int8_t got[PICKS];
  if (!succeeded(nd4c_array_read(y, got, sizeof got), op)) {
    return;
  }
  for (int i = 0; i < PICKS; i++) {
    int64_t at = picked[i] < 0 ? picked[i] + ELEMENTS : picked[i];
    check(got[i] == pattern(at), "%s: index %" PRId64 " gave %d, expected %d", op, picked[i], got[i], pattern(at));
  }
}

static void test_gathers(const nd4c_array *x) {
  const int64_t beyond = ELEMENTS, one = 1;
  nd4c_array *indices = make_indices(), *y = NULL, *bad = NULL;
  if (succeeded(nd4c_gather(x, indices, 0, &y), "gather")) {
    check_picks(y, "gather");
  }
  nd4c_array_release(y);
  y = NULL;
  if (succeeded(nd4c_gather_elements(x, indices, 0, &y), "gather_elements")) {
    check_picks(y, "gather_elements");
  }
  nd4c_array_release(y);
  y = NULL;
  if (succeeded(nd4c_take(x, indices, NULL, 0, ND4C_INDEX_MODE_RAISE, &y), "take")) {
    check_picks(y, "take");
  }
  nd4c_array_release(y);
  y = NULL;
  if (succeeded(nd4c_array_from_data(ND4C_INT64, 1, &one, &beyond, NULL, &bad), "indices")) {
    check(nd4c_gather(x, bad, 0, &y) == ND4C_INDEX, "gather: an index beyond the end is not refused");
  }
  nd4c_array_release(bad);
  nd4c_array_release(indices);
}

static void test_scatter(const nd4c_array *x) {
  const int64_t shape = PICKS;
  const int8_t values[PICKS] = {101, 102, 103, 104, 105, 106};
  nd4c_array *indices = make_indices(), *updates = NULL, *y = NULL;
  if (succeeded(nd4c_array_from_data(ND4C_INT8, 1, &shape, values, NULL, &updates), "updates") &&
      succeeded(nd4c_scatter_update(x, indices, updates, 0, &y), "scatter_update")) {
    const int8_t *data = bytes_of(y);
    check(data[ELEMENTS - 1] == 104 && data[0] == 106 && data[INT32_MAX] == 103 && data[picked[4]] == 105,
          "scatter_update: an update is not where it belongs");
    check_pattern(y, "scatter_update", 1, INT32_MAX, 0);
  }
  nd4c_array_release(indices);
  nd4c_array_release(updates);
  nd4c_array_release(y);
}

/* A mask of 2^31 and some elements, most of them false. */
static void test_mask(const nd4c_array *x) {
  const int64_t shape = ELEMENTS;
  nd4c_array *mask = NULL, *y = NULL;
  void *data = NULL;
  if (succeeded(nd4c_array_zeros(ND4C_BOOL, 1, &shape, NULL, &mask), "mask") &&
      succeeded(nd4c_array_data_mutable(mask, &data), "mask")) {
    ((unsigned char *)data)[5] = ((unsigned char *)data)[ELEMENTS - 1] = 1;
    if (succeeded(nd4c_masked_select(x, mask, &y), "masked_select")) {
      int8_t got[2] = {0, 0};
      check(nd4c_array_size(y) == 2 && nd4c_array_read(y, got, 2) == ND4C_OK && got[0] == pattern(5) &&
                got[1] == pattern(ELEMENTS - 1),
            "masked_select: %" PRId64 " elements, %d and %d", nd4c_array_size(y), got[0], got[1]);
    }
  }
  nd4c_array_release(mask);
  nd4c_array_release(y);
}

/* -- the program ----------------------------------------------------------------------------------------------- */

/* The memory available without swapping; 0 if the system does not report it. */
static int64_t available_gb(void) {
  char line[256];
  long long kilobytes = 0;
  FILE *file = fopen("/proc/meminfo", "r");
  while (file != NULL && kilobytes == 0 && fgets(line, sizeof line, file) != NULL) {
    (void)sscanf(line, "MemAvailable: %lld kB", &kilobytes);
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return kilobytes >> 20;
}

static double now(clockid_t clock_id) {
  struct timespec t;
  (void)clock_gettime(clock_id, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void test_argmax_last(const nd4c_array *x) {
  union {
    const nd4c_array *borrowed;
    nd4c_array *owned;
  } same = {.borrowed = x};
  test_argmax(same.owned);
}

int main(void) {
  static const struct {
    const char *name;
    void (*run)(const nd4c_array *x);
  } tests[] = {{"sum", test_sum},
               {"add", test_add},
               {"gathers", test_gathers},
               {"scatter_update", test_scatter},
               {"concat", test_concat},
               {"transpose", test_transpose},
               {"pad", test_pad},
               {"roll", test_roll},
               {"masked_select", test_mask},
               {"argmax", test_argmax_last}};
  int64_t memory = available_gb();
  if (memory < NEED_GB) {
    (void)printf("skipped: %" PRId64 " GB of memory are available, arrays of 2^31 elements need %d\n", memory, NEED_GB);
    return 0;
  }
  nd4c_array *x = make_pattern();
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
    double start = now(CLOCK_MONOTONIC), worked = now(CLOCK_PROCESS_CPUTIME_ID);
    int before = failures;
    tests[i].run(x);
    (void)printf("%-16s %s, %.1f s, %.1f s of processors\n", tests[i].name, failures == before ? "passed" : "FAILED",
                 now(CLOCK_MONOTONIC) - start, now(CLOCK_PROCESS_CPUTIME_ID) - worked);
    (void)fflush(stdout);
  }
  nd4c_array_release(x);
  (void)printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
