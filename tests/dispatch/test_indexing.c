/* x[items] and x[items] = value against NumPy's results (tests/data/index/numpy.txt), in several layouts and dtypes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nd4c/nd4c.h"

enum { MOST_ITEMS = 40, MOST_VALUES = 2048, LINE_SIZE = 65536 };

/* -- reading the table --------------------------------------------------------------------------------------------- */

typedef struct numbers {
  int32_t rank;
  int64_t shape[ND4C_MAX_RANK];
  int64_t size;
  int64_t values[MOST_VALUES];
} numbers;

typedef struct table_case {
  bool sets;
  int32_t rank, count;
  int64_t shape[ND4C_MAX_RANK];
  nd4c_index items[MOST_ITEMS];
  numbers indices[MOST_ITEMS];
  numbers value, result;
  char status[16]; /* "" if there is a result */
} table_case;

static char *next_word;

static const char *word(void) {
  char *start = next_word, *end = strchr(start, ' ');
  assert_true(*start != '\0');
  if (end != NULL) {
    *end = '\0';
  }
  next_word = end != NULL ? end + 1 : start + strlen(start);
  return start;
}

static int64_t number(void) {
  const char *text = word();
  return strcmp(text, "_") == 0 ? ND4C_SLICE_NONE : strtoll(text, NULL, 10);
}

static int32_t read_shape(int64_t *shape) {
  int32_t rank = (int32_t)number();
  for (int32_t i = 0; i < rank; i++) {
    shape[i] = number();
  }
  return rank;
}

static void read_numbers(numbers *n) {
  n->rank = read_shape(n->shape);
  n->size = 1;
  for (int32_t i = 0; i < n->rank; i++) {
    n->size *= n->shape[i];
  }
  assert_true(n->size <= MOST_VALUES);
  for (int64_t i = 0; i < n->size; i++) {
    n->values[i] = number();
  }
}

static void read_item(nd4c_index *item, numbers *indices) {
  *item = (nd4c_index){0};
  switch (*word()) {
    case 'i':
      item->kind = ND4C_INDEX_INTEGER;
      item->start = number();
      break;
    case 's':
      item->kind = ND4C_INDEX_SLICE;
      item->start = number();
      item->stop = number();
      item->step = number();
      break;
    case 'e':
      item->kind = ND4C_INDEX_ELLIPSIS;
      break;
    case 'n':
      item->kind = ND4C_INDEX_NEW_AXIS;
      break;
    case 'm':
      item->kind = ND4C_INDEX_MASK;
      read_numbers(indices);
      break;
    default:
      item->kind = ND4C_INDEX_ARRAY;
      read_numbers(indices);
  }
}

static void read_case(char *line, table_case *c) {
  next_word = line;
  c->sets = strcmp(word(), "set") == 0;
  c->rank = read_shape(c->shape);
  c->count = (int32_t)number();
  assert_true(c->count <= MOST_ITEMS);
  for (int32_t i = 0; i < c->count; i++) {
    read_item(&c->items[i], &c->indices[i]);
  }
  if (c->sets) {
    read_numbers(&c->value);
  }
  c->status[0] = '\0';
  if (*next_word == '!') {
    word();
    snprintf(c->status, sizeof c->status, "%s", word());
  } else {
    read_numbers(&c->result);
  }
}

/* -- arrays in layouts --------------------------------------------------------------------------------------------- */

enum { C_ORDER, REVERSED_AXES, BACKWARDS, GAPS, LAYOUTS };

/* An array of `shape` without contents in a layout. */
static nd4c_array *make_layout(nd4c_dtype dtype, int32_t rank, const int64_t *shape, int layout) {
  int64_t outer[ND4C_MAX_RANK] = {0}, none[ND4C_MAX_RANK], steps[ND4C_MAX_RANK];
  nd4c_array *base = NULL, *view = NULL;
  for (int32_t i = 0; i < rank; i++) {
    outer[i] = layout == REVERSED_AXES ? shape[rank - 1 - i] : layout == GAPS ? 2 * shape[i] : shape[i];
    none[i] = ND4C_SLICE_NONE;
    steps[i] = layout == BACKWARDS ? -1 : layout == GAPS ? 2 : 1;
  }
  assert_int_equal(nd4c_array_zeros(dtype, rank, outer, NULL, &base), ND4C_OK);
  if (layout == REVERSED_AXES) {
    assert_int_equal(nd4c_transpose(base, NULL, 0, &view), ND4C_OK);
  } else {
    assert_int_equal(nd4c_array_slice(base, none, none, steps, &view), ND4C_OK);
  }
  nd4c_array_release(base);
  return view;
}

static nd4c_array *make_array(nd4c_dtype dtype, const numbers *n, int layout) {
  nd4c_array *plain = NULL, *x = make_layout(dtype, n->rank, n->shape, layout);
  assert_int_equal(nd4c_array_from_data(ND4C_INT64, n->rank, n->shape, n->values, NULL, &plain), ND4C_OK);
  if (n->size > 0) {
    assert_int_equal(nd4c_cast(plain, dtype, &x), ND4C_OK);
  }
  nd4c_array_release(plain);
  return x;
}

static void check_numbers(const nd4c_array *array, const numbers *expected) {
  int64_t read[MOST_VALUES];
  nd4c_array *wide = NULL;
  assert_int_equal(nd4c_array_rank(array), expected->rank);
  for (int32_t i = 0; i < expected->rank; i++) {
    assert_int_equal(nd4c_array_shape(array)[i], expected->shape[i]);
  }
  assert_int_equal(nd4c_cast(array, ND4C_INT64, &wide), ND4C_OK);
  assert_int_equal(nd4c_array_read(wide, read, (size_t)expected->size * sizeof *read), ND4C_OK);
  assert_memory_equal(read, expected->values, (size_t)expected->size * sizeof *read);
  nd4c_array_release(wide);
}

static numbers counting(int32_t rank, const int64_t *shape) {
  numbers n = {.rank = rank, .size = 1};
  for (int32_t i = 0; i < rank; i++) {
    n.shape[i] = shape[i];
    n.size *= shape[i];
  }
  for (int64_t i = 0; i < n.size; i++) {
    n.values[i] = i;
  }
  return n;
}

/* -- the table ----------------------------------------------------------------------------------------------------- */

/* int8 and uint64 have room for every index of the table that they are used for. */
static nd4c_dtype index_dtype(const numbers *n, int turn) {
  static const nd4c_dtype dtypes[] = {ND4C_INT64, ND4C_INT32, ND4C_INT8, ND4C_UINT64};
  bool negative = false;
  for (int64_t i = 0; i < n->size; i++) {
    negative = negative || n->values[i] < 0;
  }
  nd4c_dtype dtype = dtypes[turn % 4];
  return negative && dtype == ND4C_UINT64 ? ND4C_INT32 : dtype;
}

static void bind_items(table_case *c, int turn, nd4c_array **arrays) {
  for (int32_t i = 0; i < c->count; i++) {
    arrays[i] = NULL;
    if (c->items[i].kind >= ND4C_INDEX_MASK) {
      nd4c_dtype dtype = c->items[i].kind == ND4C_INDEX_MASK ? ND4C_BOOL : index_dtype(&c->indices[i], turn + i);
      arrays[i] = make_array(dtype, &c->indices[i], (turn + i) % LAYOUTS);
      c->items[i].array = arrays[i];
    }
  }
}

static void check_get(const table_case *c, const nd4c_array *x) {
  nd4c_array *y = NULL;
  nd4c_status status = nd4c_array_get(x, c->items, c->count, &y);
  assert_string_equal(nd4c_status_name(status), c->status[0] != '\0' ? c->status : "OK");
  if (status == ND4C_OK) {
    check_numbers(y, &c->result);
  } else {
    assert_null(y);
    assert_non_null(strstr(nd4c_error_message(), "array_get"));
  }
  nd4c_array_release(y);
}

static void check_set(const table_case *c, nd4c_array *x, nd4c_dtype dtype, int layout, const numbers *before) {
  nd4c_array *value = make_array(dtype, &c->value, layout);
  nd4c_status status = nd4c_array_set(x, c->items, c->count, value);
  assert_string_equal(nd4c_status_name(status), c->status[0] != '\0' ? c->status : "OK");
  check_numbers(x, status == ND4C_OK ? &c->result : before);
  if (status != ND4C_OK) {
    assert_non_null(strstr(nd4c_error_message(), "array_set"));
  }
  nd4c_array_release(value);
}

static void run_case(table_case *c, int turn) {
  static const nd4c_dtype dtypes[] = {ND4C_INT32, ND4C_FLOAT64, ND4C_FLOAT16, ND4C_COMPLEX64, ND4C_INT64};
  static const nd4c_dtype narrower[] = {ND4C_INT16, ND4C_INT32, ND4C_UINT16, ND4C_FLOAT32, ND4C_UINT32};
  nd4c_array *arrays[MOST_ITEMS];
  numbers before = counting(c->rank, c->shape);
  bind_items(c, turn, arrays);
  for (int layout = 0; layout < LAYOUTS; layout++) {
    int which = (turn + layout) % 5;
    nd4c_array *x = make_array(dtypes[which], &before, layout);
    if (c->sets) {
      check_set(c, x, layout % 2 == 0 ? dtypes[which] : narrower[which], (turn + layout) % LAYOUTS, &before);
    } else {
      check_get(c, x);
    }
    nd4c_array_release(x);
  }
  for (int32_t i = 0; i < c->count; i++) {
    nd4c_array_release(arrays[i]);
  }
}

static void as_numpy_does(void **state) {
  (void)state;
  static char line[LINE_SIZE], copy[LINE_SIZE];
  static table_case c;
  FILE *file = fopen(ND4C_TEST_SOURCE_DIR "/tests/data/index/numpy.txt", "r");
  assert_non_null(file);
  int turn = 0;
  for (; fgets(line, sizeof line, file) != NULL; turn++) {
    line[strcspn(line, "\n")] = '\0';
    memcpy(copy, line, sizeof copy);
    read_case(copy, &c);
    if (getenv("ND4C_TEST_VERBOSE") != NULL) {
      print_message("%s\n", line);
    }
    run_case(&c, turn);
  }
  fclose(file);
  assert_true(turn > 1000);
}

/* -- beyond the table ---------------------------------------------------------------------------------------------- */

static nd4c_array *range(int32_t rank, const int64_t *shape, nd4c_dtype dtype) {
  numbers n = counting(rank, shape);
  return make_array(dtype, &n, C_ORDER);
}

static void check_text(nd4c_status status, nd4c_status expected, const char *text) {
  assert_int_equal(status, expected);
  assert_string_equal(nd4c_error_message(), text);
}

static const nd4c_index everything = {.kind = ND4C_INDEX_ELLIPSIS};

static nd4c_index integer(int64_t index) {
  return (nd4c_index){.kind = ND4C_INDEX_INTEGER, .start = index};
}

static nd4c_index indices(const nd4c_array *array) {
  return (nd4c_index){.kind = ND4C_INDEX_ARRAY, .array = array};
}

static void refusals_name_axis_index_and_extent(void **state) {
  (void)state;
  nd4c_array *x = range(2, (const int64_t[]){2, 3}, ND4C_FLOAT32), *y = NULL;
  nd4c_array *far = NULL, *floats = range(1, (const int64_t[]){2}, ND4C_FLOAT32);
  assert_int_equal(nd4c_array_from_data(ND4C_INT64, 1, (const int64_t[]){2}, (const int64_t[]){1, -4}, NULL, &far),
                   ND4C_OK);
  const nd4c_index out[] = {integer(1), integer(3)}, slice[] = {{.kind = ND4C_INDEX_SLICE, .start = 0, .stop = 1}};
  const nd4c_index picks[] = {{.kind = ND4C_INDEX_SLICE, .start = 0, .stop = 2, .step = 1}, indices(far)};
  const nd4c_index both[] = {indices(far), indices(far)}, wrong = indices(floats), no_array = indices(NULL);
  check_text(nd4c_array_get(x, out, 2, &y), ND4C_INDEX,
             "array_get: index 3 is out of range for axis 1 of length 3: expected -3 to 2");
  check_text(nd4c_array_get(x, picks, 2, &y), ND4C_INDEX,
             "array_get: index -4 is out of range for axis 1 of length 3: expected -3 to 2");
  check_text(nd4c_array_get(x, both, 2, &y), ND4C_INDEX,
             "array_get: index -4 is out of range for axis 0 of length 2: expected -2 to 1");
  check_text(nd4c_array_set(x, picks, 2, floats), ND4C_INDEX,
             "array_set: index -4 is out of range for axis 1 of length 3: expected -3 to 2");
  check_text(nd4c_array_set(x, NULL, 0, floats), ND4C_SHAPE,
             "array_set: a value of shape (2,) does not broadcast to (2, 3)");
  check_text(nd4c_array_get(x, slice, 1, &y), ND4C_ARGUMENT, "array_get: the slice of axis 0 has step 0");
  check_text(nd4c_array_get(x, &wrong, 1, &y), ND4C_INDEX,
             "array_get: item 0 is an array of float32, expected integers or bool");
  check_text(nd4c_array_get(x, &no_array, 1, &y), ND4C_NULL_ARGUMENT, "array_get: the array of item 0 is NULL");
  check_text(nd4c_array_get(x, &(nd4c_index){.kind = 9}, 1, &y), ND4C_ARGUMENT,
             "array_get: item 0 is of kind 9, expected 1 to 6");
  const nd4c_index twice[] = {everything, everything}, many[] = {integer(0), everything, integer(0), integer(0)};
  check_text(nd4c_array_get(x, twice, 2, &y), ND4C_INDEX,
             "array_get: item 1 is a second ellipsis, expected one at most");
  check_text(nd4c_array_get(x, many, 4, &y), ND4C_INDEX,
             "array_get: too many indices: item 3 would be for axis 2 of an array of 2 axes");
  assert_int_equal(nd4c_array_get(x, NULL, 1, &y), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_array_get(x, NULL, -1, &y), ND4C_ARGUMENT);
  assert_int_equal(nd4c_array_get(NULL, NULL, 0, &y), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_array_get(x, NULL, 0, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_array_set(x, NULL, 0, NULL), ND4C_NULL_ARGUMENT);
  assert_null(y);
  nd4c_array_release(x);
  nd4c_array_release(far);
  nd4c_array_release(floats);
}

static void values_move_upwards_only(void **state) {
  (void)state;
  static const nd4c_dtype order[] = {ND4C_BOOL, ND4C_INT16, ND4C_FLOAT32, ND4C_COMPLEX64};
  for (int to = 0; to < 4; to++) {
    for (int from = 0; from < 4; from++) {
      nd4c_array *x = range(1, (const int64_t[]){2}, order[to]), *v = NULL;
      assert_int_equal(nd4c_array_scalar(order[from], 1, NULL, &v), ND4C_OK);
      assert_int_equal(nd4c_array_set(x, &everything, 1, v), from <= to ? ND4C_OK : ND4C_DTYPE);
      nd4c_array_release(x);
      nd4c_array_release(v);
    }
  }
  nd4c_array *strings = NULL, *x = range(1, (const int64_t[]){2}, ND4C_INT64);
  assert_int_equal(nd4c_array_from_strings(1, (const int64_t[]){2}, (const char *const[]){"a", "b"}, NULL, &strings),
                   ND4C_OK);
  check_text(nd4c_array_set(x, &everything, 1, strings), ND4C_DTYPE,
             "array_set: a value of utf8 for an array of int64: cast it first");
  check_text(nd4c_array_set(strings, &everything, 1, strings), ND4C_UNSUPPORTED,
             "array_set: strings cannot be replaced in place");
  nd4c_array_release(strings);
  nd4c_array_release(x);
}

static void strings_are_picked(void **state) {
  (void)state;
  static const char *const words[] = {"a", "bc", "", "def"};
  nd4c_array *x = NULL, *at = NULL, *y = NULL;
  const char *text = NULL;
  int64_t length = 0;
  assert_int_equal(nd4c_array_from_strings(1, (const int64_t[]){4}, words, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_array_from_data(ND4C_INT32, 1, (const int64_t[]){2}, (const int32_t[]){-1, 1}, NULL, &at),
                   ND4C_OK);
  const nd4c_index item = indices(at);
  assert_int_equal(nd4c_array_get(x, &item, 1, &y), ND4C_OK);
  assert_int_equal(nd4c_array_string(y, 0, &text, &length), ND4C_OK);
  assert_int_equal(length, 3);
  assert_memory_equal(text, "def", 3);
  nd4c_array_release(x);
  nd4c_array_release(at);
  nd4c_array_release(y);
}

/* x[1:] = x[:-1], x[::-1] = x, x[m] = x[0], x[i] = x with i among x's own elements. */
static void value_and_target_may_overlap(void **state) {
  (void)state;
  const nd4c_index behind = {.kind = ND4C_INDEX_SLICE, .start = 1, .stop = ND4C_SLICE_NONE, .step = 1};
  const nd4c_index before = {.kind = ND4C_INDEX_SLICE, .start = ND4C_SLICE_NONE, .stop = -1, .step = 1};
  const nd4c_index backwards = {.kind = ND4C_INDEX_SLICE, ND4C_SLICE_NONE, ND4C_SLICE_NONE, -1, NULL};
  nd4c_array *x = range(1, (const int64_t[]){4}, ND4C_INT64), *part = NULL;
  numbers expected = {.rank = 1, .shape = {4}, .size = 4, .values = {0, 0, 1, 2}};
  assert_int_equal(nd4c_array_get(x, &before, 1, &part), ND4C_OK);
  assert_int_equal(nd4c_array_set(x, &behind, 1, part), ND4C_OK);
  check_numbers(x, &expected);
  assert_int_equal(nd4c_array_set(x, &backwards, 1, x), ND4C_OK);
  memcpy(expected.values, (const int64_t[]){2, 1, 0, 0}, 4 * sizeof(int64_t));
  check_numbers(x, &expected);
  const nd4c_index self = indices(x);
  assert_int_equal(nd4c_array_set(x, &self, 1, x), ND4C_OK); /* x[[2, 1, 0, 0]] = [2, 1, 0, 0] */
  memcpy(expected.values, (const int64_t[]){0, 1, 2, 0}, 4 * sizeof(int64_t));
  check_numbers(x, &expected);
  nd4c_array *first = NULL, *mask = NULL;
  const nd4c_index third = integer(2);
  assert_int_equal(nd4c_array_get(x, &third, 1, &first), ND4C_OK);
  assert_int_equal(nd4c_equal(x, x, &mask), ND4C_OK);
  const nd4c_index masked = {.kind = ND4C_INDEX_MASK, .array = mask};
  assert_int_equal(nd4c_array_set(x, &masked, 1, first), ND4C_OK);
  memcpy(expected.values, (const int64_t[]){2, 2, 2, 2}, 4 * sizeof(int64_t));
  check_numbers(x, &expected);
  nd4c_array_release(part);
  nd4c_array_release(first);
  nd4c_array_release(mask);
  nd4c_array_release(x);
}

static void read_only_arrays_stay(void **state) {
  (void)state;
  int64_t data[3] = {1, 2, 3};
  nd4c_array *x = NULL, *zero = NULL;
  assert_int_equal(nd4c_array_wrap(ND4C_INT64, 1, (const int64_t[]){3}, NULL, data, true, NULL, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_array_scalar(ND4C_INT64, 0, NULL, &zero), ND4C_OK);
  const nd4c_index last = integer(-1);
  check_text(nd4c_array_set(x, &last, 1, zero), ND4C_READ_ONLY, "array_set: the array is read-only");
  assert_int_equal(data[2], 3);
  nd4c_array_release(x);
  nd4c_array_release(zero);
}

static void basic_items_make_views(void **state) {
  (void)state;
  nd4c_array *x = range(2, (const int64_t[]){2, 3}, ND4C_INT64), *row = NULL, *picked = NULL, *zero = NULL;
  const nd4c_index items[] = {integer(-1), {.kind = ND4C_INDEX_NEW_AXIS}};
  assert_int_equal(nd4c_array_scalar(ND4C_INT64, 0, NULL, &zero), ND4C_OK);
  const nd4c_index pick = indices(zero);
  assert_int_equal(nd4c_array_get(x, items, 2, &row), ND4C_OK);
  assert_true(nd4c_array_overlaps(x, row));
  assert_int_equal(nd4c_array_get(x, &pick, 1, &picked), ND4C_OK);
  assert_false(nd4c_array_overlaps(x, picked));
  nd4c_array_release(x);
  nd4c_array_release(row);
  nd4c_array_release(picked);
  nd4c_array_release(zero);
}

static void lists_may_end_themselves(void **state) {
  (void)state;
  nd4c_array *x = range(2, (const int64_t[]){2, 3}, ND4C_INT64);
  const nd4c_index items[] = {{.kind = ND4C_INDEX_INTEGER, .start = 1},
                              {.kind = ND4C_INDEX_SLICE, .start = 1, .stop = ND4C_SLICE_NONE, .step = 1},
                              {.kind = ND4C_INDEX_END}};
  nd4c_array *row = nd4c_array_at(x, items), *all = nd4c_array_at(x, &items[2]);
  check_numbers(row, &(numbers){.rank = 1, .shape = {2}, .size = 2, .values = {4, 5}});
  check_numbers(all, &(numbers){.rank = 2, .shape = {2, 3}, .size = 6, .values = {0, 1, 2, 3, 4, 5}});
  assert_null(nd4c_array_at(row, items));
  check_text(nd4c_error_code(), ND4C_INDEX,
             "array_get: too many indices: item 1 would be for axis 1 of an array of 1 axes");
  assert_null(nd4c_array_at(x, NULL));
  assert_int_equal(nd4c_error_code(), ND4C_NULL_ARGUMENT);
  assert_null(nd4c_array_at(NULL, items));
  assert_int_equal(nd4c_error_code(), ND4C_NULL_ARGUMENT);
  nd4c_index many[128];
  for (int i = 0; i < 128; i++) {
    many[i] = (nd4c_index){.kind = ND4C_INDEX_NEW_AXIS};
  }
  assert_null(nd4c_array_at(x, many));
  assert_int_equal(nd4c_error_code(), ND4C_INDEX);
  nd4c_array_release(all);
  nd4c_array_release(row);
  nd4c_array_release(x);
}

/* NumPy's x[numpy.zeros((0, 1), bool)]: extents of 0 pass for an axis of any length. */
static void empty_masks_choose_nothing(void **state) {
  (void)state;
  nd4c_array *x = range(3, (const int64_t[]){3, 1, 2}, ND4C_INT64), *mask = NULL, *nothing = NULL, *wrong = NULL;
  assert_int_equal(nd4c_array_zeros(ND4C_BOOL, 2, (const int64_t[]){0, 1}, NULL, &mask), ND4C_OK);
  assert_int_equal(nd4c_array_zeros(ND4C_BOOL, 2, (const int64_t[]){0, 2}, NULL, &wrong), ND4C_OK);
  const nd4c_index item = {.kind = ND4C_INDEX_MASK, .array = mask};
  const nd4c_index refused = {.kind = ND4C_INDEX_MASK, .array = wrong};
  numbers expected = {.rank = 2, .shape = {0, 2}, .size = 0};
  assert_int_equal(nd4c_array_get(x, &item, 1, &nothing), ND4C_OK);
  check_numbers(nothing, &expected);
  assert_int_equal(nd4c_array_set(x, &item, 1, nothing), ND4C_OK);
  nd4c_array_release(nothing);
  nothing = NULL;
  assert_int_equal(nd4c_array_get(x, &refused, 1, &nothing), ND4C_INDEX);
  nd4c_array_release(wrong);
  nd4c_array_release(mask);
  nd4c_array_release(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_numpy_does),
      cmocka_unit_test(refusals_name_axis_index_and_extent),
      cmocka_unit_test(values_move_upwards_only),
      cmocka_unit_test(strings_are_picked),
      cmocka_unit_test(value_and_target_may_overlap),
      cmocka_unit_test(read_only_arrays_stay),
      cmocka_unit_test(basic_items_make_views),
      cmocka_unit_test(empty_masks_choose_nothing),
      cmocka_unit_test(lists_may_end_themselves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
