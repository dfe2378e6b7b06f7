/* Handles and views, over storages made by hand. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "hand_storage.h"

#define NONE ND4C_SLICE_NONE

/* An int32 array whose elements are their own C-order numbers. */
static nd4c_array *numbered(int32_t rank, const int64_t *shape) {
  int64_t size = 1;
  for (int32_t i = 0; i < rank; i++) {
    size *= shape[i];
  }
  nd4c_storage *storage = hand_storage(NULL, (size_t)size * 4);
  for (int64_t i = 0; i < size; i++) {
    ((int32_t *)storage->address)[i] = (int32_t)i;
  }
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_array_make(ND4C_INT32, rank, shape, NULL, 0, storage, &array), ND4C_OK);
  return array;
}

static int32_t element_at(const nd4c_array *array, int64_t number) {
  const int32_t *element = nd4c_array_address(array, 4);
  for (int32_t i = array->rank - 1; i >= 0; i--) {
    element += number % array->shape[i] * array->strides[i];
    number /= array->shape[i];
  }
  return *element;
}

static void test_make(void **state) {
  (void)state;
  int destroyed = hand_storages_destroyed;
  int64_t shape[] = {2, 3, 4};
  nd4c_array *array = numbered(3, shape);
  assert_int_equal(nd4c_array_dtype(array), ND4C_INT32);
  assert_int_equal(nd4c_array_rank(array), 3);
  assert_int_equal(nd4c_array_size(array), 24);
  assert_true(nd4c_array_is_contiguous(array));
  assert_false(nd4c_array_is_read_only(array));
  assert_memory_equal(nd4c_array_shape(array), shape, sizeof shape);
  assert_int_equal(nd4c_array_strides(array)[0], 12);
  assert_ptr_equal(nd4c_array_retain(array), array);
  nd4c_array_release(array);
  assert_int_equal(nd4c_array_size(array), 24);
  nd4c_array_release(array);
  assert_int_equal(hand_storages_destroyed, destroyed + 1);

  int64_t many[ND4C_MAX_RANK];
  for (int i = 0; i < ND4C_MAX_RANK; i++) {
    many[i] = i == 20 ? 3 : 1;
  }
  array = numbered(ND4C_MAX_RANK, many);
  assert_int_equal(array->size, 3);
  assert_int_equal(array->strides[0], 3);
  nd4c_array_release(array);

  nd4c_storage *storage = hand_storage(NULL, 4);
  assert_int_equal(nd4c_array_make(ND4C_INT32, 33, many, NULL, 0, storage, &array), ND4C_SHAPE);
  nd4c_storage_release(storage); /* a failed call does not take over the reference */

  assert_int_equal(nd4c_array_dtype(NULL), ND4C_DTYPE_NONE);
  assert_int_equal(nd4c_array_rank(NULL), -1);
  assert_null(nd4c_array_shape(NULL));
  assert_null(nd4c_array_strides(NULL));
  assert_int_equal(nd4c_array_size(NULL), 0);
  assert_null(nd4c_array_device(NULL));
  assert_null(nd4c_array_retain(NULL));
  nd4c_array_release(NULL);
}

static void test_signature(void **state) {
  (void)state;
  /* Different layouts, all different from each other. */
  static uint64_t seen[4096];
  size_t count = 0;
  for (int64_t a = 0; a < 12; a++) {
    for (int64_t b = 0; b < 12; b++) {
      for (int order = 0; order < 2; order++) {
        int64_t shape[] = {a, b}, strides[] = {order == 0 ? 100 : 1, order == 0 ? 1 : 100};
        nd4c_array *array = NULL;
        nd4c_storage *storage = hand_storage(NULL, 4);
        assert_int_equal(nd4c_array_make(order ? ND4C_INT32 : ND4C_FLOAT32, 2, shape, strides, 0, storage, &array),
                         ND4C_OK);
        seen[count++] = array->signature;
        nd4c_array_release(array);
      }
    }
  }
  for (size_t i = 0; i < count; i++) {
    for (size_t k = i + 1; k < count; k++) {
      assert_true(seen[i] != seen[k]);
    }
  }
  int64_t shape[] = {5};
  nd4c_array *a = numbered(1, shape), *b = numbered(1, shape);
  assert_true(a->signature == b->signature);
  nd4c_array_release(a);
  nd4c_array_release(b);
}

static const struct {
  int64_t start, stop, step, count, first, last;
} slices[] = {
    {NONE, NONE, 1, 10, 0, 9},
    {NONE, NONE, -1, 10, 9, 0},
    {2, 7, 2, 3, 2, 6},
    {-3, NONE, 1, 3, 7, 9},
    {NONE, -3, 1, 7, 0, 6},
    {8, 2, -3, 2, 8, 5},
    {100, NONE, -4, 3, 9, 1},
    {-100, 100, 9, 2, 0, 9},
    {NONE, -100, -1, 10, 9, 0},
    {5, 5, 1, 0, 0, 0},
    {7, 3, 1, 0, 0, 0},
    {3, 7, -1, 0, 0, 0},
    {0, 10, INT64_MAX, 1, 0, 0},
    {9, NONE, INT64_MIN, 1, 9, 9},
    {10, 20, 1, 0, 0, 0},
    {-1, -100, -5, 2, 9, 4},
    {INT64_MAX, INT64_MIN + 1, -9, 2, 9, 0},
};

static void test_slice(void **state) {
  (void)state;
  int64_t shape[] = {10};
  nd4c_array *array = numbered(1, shape);
  for (size_t i = 0; i < sizeof slices / sizeof slices[0]; i++) {
    nd4c_array *view = NULL;
    assert_int_equal(nd4c_array_slice(array, &slices[i].start, &slices[i].stop, &slices[i].step, &view), ND4C_OK);
    if (view->size != slices[i].count || (view->size > 0 && (element_at(view, 0) != slices[i].first ||
                                                             element_at(view, view->size - 1) != slices[i].last))) {
      fail_msg("slice %zu: %lld elements", i, (long long)view->size);
    }
    nd4c_array_release(view);
  }
  int64_t zero = 0, one = 1;
  nd4c_array *view = NULL;
  assert_int_equal(nd4c_array_slice(array, &zero, &one, &zero, &view), ND4C_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "array_slice: step of axis 0 is 0");
  assert_int_equal(nd4c_array_slice(array, NULL, &one, NULL, &view), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_array_slice(array, &zero, &one, NULL, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_array_slice(NULL, &zero, &one, NULL, &view), ND4C_NULL_ARGUMENT);
  assert_string_equal(nd4c_error_message(), "array_slice: array is NULL: expected an array");
  assert_null(view);
  nd4c_array_release(array);
}

static void test_select_and_chains(void **state) {
  (void)state;
  int destroyed = hand_storages_destroyed;
  int64_t shape[] = {3, 4, 5};
  nd4c_array *array = numbered(3, shape), *row = NULL, *view = NULL, *point = NULL;
  assert_int_equal(nd4c_array_select(array, -2, -1, &row), ND4C_OK); /* [:, 3, :] */
  assert_int_equal(row->rank, 2);
  assert_int_equal(element_at(row, 0), 15);
  assert_int_equal(element_at(row, 14), 59);
  nd4c_array_release(array); /* the views keep the storage alive */
  int64_t starts[] = {NONE, 4}, stops[] = {NONE, NONE}, steps[] = {-1, -2};
  assert_int_equal(nd4c_array_slice(row, starts, stops, steps, &view), ND4C_OK);
  assert_int_equal(element_at(view, 0), 59);
  assert_int_equal(element_at(view, 8), 15);
  assert_int_equal(nd4c_array_select(view, 0, 1, &point), ND4C_OK);
  assert_int_equal(element_at(point, 2), 35);
  nd4c_array *none = NULL;
  assert_int_equal(nd4c_array_select(view, 2, 0, &none), ND4C_INDEX);
  assert_string_equal(nd4c_error_message(), "array_select: axis 2: expected -2 to 1");
  assert_int_equal(nd4c_array_select(view, 1, 3, &none), ND4C_INDEX);
  assert_string_equal(nd4c_error_message(), "array_select: index 3 of axis 1, which has 3 elements");
  assert_null(none);
  nd4c_array_release(row);
  nd4c_array_release(view);
  assert_int_equal(hand_storages_destroyed, destroyed);
  nd4c_array_release(point);
  assert_int_equal(hand_storages_destroyed, destroyed + 1);
}

static const struct {
  int32_t rank;
  int64_t shape[2], strides[2], offset;
  nd4c_status status;
} strided[] = {
    {1, {10}, {1}, 0, ND4C_OK},           {1, {10}, {-1}, 9, ND4C_OK},   {2, {8, 3}, {1, 1}, 0, ND4C_OK},
    {2, {100, 3}, {0, 1}, 7, ND4C_OK},    {0, {0}, {0}, 9, ND4C_OK},     {1, {0}, {1}, 1000, ND4C_OK},
    {1, {11}, {1}, 0, ND4C_INDEX},        {1, {10}, {1}, 1, ND4C_INDEX}, {1, {2}, {1}, -1, ND4C_INDEX},
    {1, {10}, {-1}, 8, ND4C_INDEX},       {0, {0}, {0}, 10, ND4C_INDEX}, {2, {3, 3}, {INT64_MAX, 1}, 0, ND4C_INDEX},
    {1, {2}, {1}, INT64_MAX, ND4C_INDEX}, {1, {-1}, {1}, 0, ND4C_SHAPE},
};

static void test_as_strided(void **state) {
  (void)state;
  int64_t shape[] = {10};
  nd4c_array *array = numbered(1, shape);
  for (size_t i = 0; i < sizeof strided / sizeof strided[0]; i++) {
    nd4c_array *view = NULL;
    nd4c_status status =
        nd4c_array_as_strided(array, strided[i].rank, strided[i].shape, strided[i].strides, strided[i].offset, &view);
    if (status != strided[i].status) {
      fail_msg("view %zu: %d %s", i, (int)status, nd4c_error_message());
    }
    assert_int_equal(view != NULL, status == ND4C_OK);
    if (view != NULL && view->size > 0) {
      assert_int_equal(element_at(view, 0), strided[i].offset);
    }
    nd4c_array_release(view);
  }
  int64_t eleven[] = {11}, one[] = {1};
  nd4c_array *view = NULL;
  assert_int_equal(nd4c_array_as_strided(array, 1, eleven, one, 0, &view), ND4C_INDEX);
  assert_string_equal(nd4c_error_message(),
                      "array_as_strided: the view touches elements 0 to 10 of a storage that has 10");
  nd4c_array_release(array);
}

static void check_overlap(nd4c_array *array, const int64_t *a, const int64_t *b, bool expected) {
  nd4c_array *first = NULL, *second = NULL;
  assert_int_equal(nd4c_array_slice(array, &a[0], &a[1], &a[2], &first), ND4C_OK);
  assert_int_equal(nd4c_array_slice(array, &b[0], &b[1], &b[2], &second), ND4C_OK);
  assert_int_equal(nd4c_array_overlaps(first, second), expected);
  assert_int_equal(nd4c_array_overlaps(second, first), expected);
  nd4c_array_release(first);
  nd4c_array_release(second);
}

static void test_overlaps(void **state) {
  (void)state;
  int64_t shape[] = {10};
  nd4c_array *array = numbered(1, shape), *other = numbered(1, shape);
  static const struct {
    int64_t a[3], b[3];
    bool overlaps;
  } cases[] = {
      {{0, 5, 1}, {5, 10, 1}, false},
      {{0, 6, 1}, {5, 10, 1}, true},
      {{NONE, NONE, 2}, {1, NONE, 2}, false},
      {{0, 10, 2}, {2, 10, 4}, true},
      {{NONE, NONE, -2}, {NONE, NONE, 2}, false},
      {{3, 3, 1}, {0, 10, 1}, false},
      {{0, 10, 3}, {1, 10, 2}, true},
      {{4, 5, 1}, {4, 5, 1}, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_overlap(array, cases[i].a, cases[i].b, cases[i].overlaps);
  }
  assert_false(nd4c_array_overlaps(array, other));
  assert_false(nd4c_array_overlaps(array, NULL));
  /* Two storages over the same memory. */
  nd4c_storage *twin = hand_storage(NULL, 0);
  void *own = twin->address;
  twin->address = array->storage->address;
  twin->bytes = array->storage->bytes;
  nd4c_array *wrapped = NULL;
  assert_int_equal(nd4c_array_make(ND4C_INT32, 1, shape, NULL, 0, twin, &wrapped), ND4C_OK);
  assert_true(nd4c_array_overlaps(array, wrapped));
  twin->address = own;
  nd4c_array_release(wrapped);
  nd4c_array_release(array);
  nd4c_array_release(other);
}

#if !defined(NDEBUG)
static void test_released(void **state) {
  (void)state;
  int64_t shape[] = {3};
  nd4c_array *array = numbered(1, shape);
  nd4c_array_release(array);
  assert_int_equal(nd4c_array_check(array, "add: a"), ND4C_HANDLE);
  assert_string_equal(nd4c_error_message(), "add: a is an array that was released");
  assert_int_equal(nd4c_array_size(array), 0);
  int destroyed = hand_storages_destroyed;
  nd4c_array_release(array);
  assert_int_equal(nd4c_error_code(), ND4C_HANDLE);
  assert_int_equal(hand_storages_destroyed, destroyed);
  nd4c_array *view = NULL;
  assert_int_equal(nd4c_array_select(array, 0, 0, &view), ND4C_HANDLE);
}
#endif

static void test_no_memory(void **state) {
  (void)state;
  int64_t shape[8] = {1, 1, 1, 1, 1, 1, 1, 2}, starts[8] = {0}, stops[8] = {1, 1, 1, 1, 1, 1, 1, 2};
  nd4c_array *array = numbered(8, shape);
  int32_t references = atomic_load(&array->storage->references);
  nd4c_status status = ND4C_MEMORY;
  for (int64_t failed = 0; status != ND4C_OK; failed++) {
    nd4c_array *view = NULL;
    nd4c_allocation_fail_at(failed);
    status = nd4c_array_slice(array, starts, stops, NULL, &view);
    nd4c_allocation_fail_at(-1);
    assert_int_equal(status != ND4C_OK, view == NULL);
    nd4c_array_release(view);
    assert_int_equal(atomic_load(&array->storage->references), references);
    assert_true(failed < 10);
  }
  nd4c_array_release(array);
}

/* This thread makes arrays that another thread releases: more than a thread keeps, and some are kept when it ends. */
enum { HANDED = 500 };

static void *release_all(void *argument) {
  nd4c_array **arrays = argument;
  for (int i = 0; i < HANDED; i++) {
    nd4c_array_release(arrays[i]);
  }
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  static nd4c_array *arrays[HANDED];
  int64_t shape[] = {2};
  for (int round = 0; round < 4; round++) {
    int destroyed = hand_storages_destroyed;
    for (int i = 0; i < HANDED; i++) {
      arrays[i] = numbered(1, shape);
    }
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, release_all, arrays), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(hand_storages_destroyed, destroyed + HANDED);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_make),       cmocka_unit_test(test_signature),
      cmocka_unit_test(test_slice),      cmocka_unit_test(test_select_and_chains),
      cmocka_unit_test(test_as_strided), cmocka_unit_test(test_overlaps),
#if !defined(NDEBUG)
      cmocka_unit_test(test_released),
#endif
      cmocka_unit_test(test_no_memory),  cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
