/* Foreign memory and DLPack: no copy, one release, refusals that leave the caller the owner. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "nd4c/dlpack.h"
#include "nd4c/nd4c.h"

static int released;
static void on_release(void *user) {
  *(int *)user += 1;
}

static void wrapping_copies_nothing(void **state) {
  (void)state;
  float memory[6] = {0, 1, 2, 3, 4, 5};
  const int64_t shape[2] = {2, 3}, reversed[2] = {-3, -1};
  const void *data = NULL;
  nd4c_array *a = NULL, *view = NULL, *sum = NULL;
  released = 0;
  /* Both axes backwards from the last element. */
  assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 2, shape, reversed, memory + 5, false, on_release, &released, &a),
                   ND4C_OK);
  assert_int_equal(nd4c_array_data(a, &data), ND4C_OK);
  assert_ptr_equal(data, memory + 5);
  assert_int_equal(nd4c_array_select(a, 0, 0, &view), ND4C_OK);
  nd4c_array_release(a);
  assert_int_equal(released, 0); /* the view still uses it */
  assert_int_equal(nd4c_sum(view, NULL, 0, false, ND4C_DTYPE_NONE, &sum), ND4C_OK);
  double value = 0;
  assert_int_equal(nd4c_array_item(sum, NULL, &value), ND4C_OK);
  assert_float_equal(value, 12, 0);
  nd4c_array_release(view);
  assert_int_equal(released, 1);
  nd4c_array_release(sum);
}

static void results_go_into_foreign_memory(void **state) {
  (void)state;
  float memory[3] = {1, 2, 3};
  const int64_t shape[1] = {3};
  nd4c_array *a = NULL;
  assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 1, shape, NULL, memory, false, NULL, NULL, &a), ND4C_OK);
  nd4c_array *y = a;
  assert_int_equal(nd4c_square(a, &y), ND4C_OK);
  assert_float_equal(memory[2], 9, 0);
  nd4c_array_release(a);
}

static void read_only_memory_is_not_written(void **state) {
  (void)state;
  static const float memory[3] = {1, 2, 3};
  const int64_t shape[1] = {3};
  nd4c_array *a = NULL, *view = NULL, *y = NULL;
  void *address = NULL;
  float values[3] = {0};
  union {
    const float *read;
    void *write;
  } pointer = {.read = memory};
  assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 1, shape, NULL, pointer.write, true, NULL, NULL, &a), ND4C_OK);
  assert_true(nd4c_array_is_read_only(a));
  assert_int_equal(nd4c_array_data_mutable(a, &address), ND4C_READ_ONLY);
  assert_int_equal(nd4c_array_write(a, values, sizeof values), ND4C_READ_ONLY);
  y = a;
  assert_int_equal(nd4c_square(a, &y), ND4C_READ_ONLY);
  int64_t step = -1, bound = ND4C_SLICE_NONE;
  assert_int_equal(nd4c_array_slice(a, &bound, &bound, &step, &view), ND4C_OK);
  assert_true(nd4c_array_is_read_only(view));
  y = view;
  assert_int_equal(nd4c_square(a, &y), ND4C_READ_ONLY);
  y = NULL;
  assert_int_equal(nd4c_square(view, &y), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(view);
  nd4c_array_release(y);
}

static void refused_wraps_release_nothing(void **state) {
  (void)state;
  char memory[64];
  const int64_t shape[1] = {4}, huge[2] = {INT64_MAX, 3}, negative[1] = {-4};
  nd4c_array *a = NULL;
  uintptr_t odd = ((uintptr_t)memory | 1);
  released = 0;
  assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 1, shape, NULL, (void *)odd, false, on_release, &released, &a),
                   ND4C_ARGUMENT);
  assert_int_equal(nd4c_array_wrap(ND4C_FLOAT32, 1, shape, NULL, NULL, false, on_release, &released, &a),
                   ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_array_wrap(ND4C_INT8, 2, huge, NULL, memory, false, on_release, &released, &a), ND4C_OVERFLOW);
  assert_int_equal(nd4c_array_wrap(ND4C_INT8, 1, negative, NULL, memory, false, on_release, &released, &a), ND4C_SHAPE);
  assert_int_equal(nd4c_array_wrap(99, 1, shape, NULL, memory, false, on_release, &released, &a), ND4C_DTYPE);
  assert_int_equal(nd4c_array_wrap(ND4C_INT8, 1, shape, NULL, memory, false, on_release, &released, NULL),
                   ND4C_NULL_ARGUMENT);
  assert_null(a);
  assert_int_equal(released, 0);
}

/* -- DLPack ------------------------------------------------------------------------------------------------------ */

static void round_trips_share_memory(void **state) {
  (void)state;
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
    if (!info->available || dtype == ND4C_UTF8) {
      continue;
    }
    const int64_t shape[2] = {3, 4};
    nd4c_array *a = NULL, *transposed = NULL, *back = NULL;
    nd4c_dl_managed *managed = NULL;
    const void *first = NULL, *second = NULL;
    assert_int_equal(nd4c_array_zeros(dtype, 2, shape, NULL, &a), ND4C_OK);
    bool packed = info->block_elements > 1; /* in C order alone */
    transposed = packed ? nd4c_array_retain(a) : NULL;
    assert_int_equal(packed ? ND4C_OK : nd4c_transpose(a, NULL, 0, &transposed), ND4C_OK);
    assert_int_equal(nd4c_array_to_dlpack(transposed, &managed), ND4C_OK);
    nd4c_array_release(transposed);
    assert_int_equal(managed->version_major, 1);
    assert_int_equal(managed->tensor.device.device_type, 1);
    assert_int_equal(managed->tensor.dtype.bits, info->bits);
    assert_int_equal(managed->tensor.ndim, 2);
    assert_int_equal(managed->tensor.shape[0], packed ? 3 : 4);
    assert_int_equal(managed->tensor.strides[0], packed ? 4 : 1);
    assert_int_equal(managed->version_minor, info->bits < 8 || (info->bits == 8 && info->kind == ND4C_KIND_FLOAT));
    assert_int_equal(nd4c_array_from_dlpack(managed, &back), ND4C_OK);
    assert_int_equal(nd4c_array_dtype(back), dtype);
    assert_int_equal(nd4c_array_data(a, &first), ND4C_OK);
    assert_int_equal(nd4c_array_data(back, &second), ND4C_OK);
    assert_ptr_equal(first, second);
    nd4c_array_release(a);
    nd4c_array_release(back);
  }
}

static int deleted;
static void on_delete(nd4c_dl_managed *self) {
  deleted++;
  self->deleter = NULL;
}

static nd4c_dl_managed sample(float *memory, int64_t *shape) {
  return (nd4c_dl_managed){.version_major = 1,
                           .deleter = on_delete,
                           .tensor = {.data = memory,
                                      .device = {1, 0},
                                      .ndim = 1,
                                      .dtype = {.code = 2, .bits = 32, .lanes = 1},
                                      .shape = shape,
                                      .byte_offset = 4}};
}

static void a_consumer_deletes_once(void **state) {
  (void)state;
  float memory[4] = {9, 1, 2, 3};
  int64_t shape[1] = {3};
  nd4c_dl_managed managed = sample(memory, shape);
  nd4c_array *a = NULL;
  double value = 0;
  int64_t at = 0;
  deleted = 0;
  managed.flags = 1;
  assert_int_equal(nd4c_array_from_dlpack(&managed, &a), ND4C_OK);
  assert_true(nd4c_array_is_read_only(a));
  assert_int_equal(nd4c_array_item(a, &at, &value), ND4C_OK);
  assert_float_equal(value, 1, 0); /* the byte offset counts */
  assert_int_equal(deleted, 0);
  nd4c_array_release(a);
  assert_int_equal(deleted, 1);
}

static void refused_tensors_stay_the_callers(void **state) {
  (void)state;
  float memory[4];
  int64_t shape[1] = {3};
  const struct {
    const char *what;
    nd4c_status expected;
  } rows[] = {{"version", ND4C_UNSUPPORTED}, {"device", ND4C_UNSUPPORTED}, {"lanes", ND4C_UNSUPPORTED},
              {"code", ND4C_UNSUPPORTED},    {"rank", ND4C_SHAPE},         {"no shape", ND4C_SHAPE},
              {"sub-byte", ND4C_UNSUPPORTED}};
  deleted = 0;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    nd4c_dl_managed managed = sample(memory, shape);
    nd4c_array *a = NULL;
    managed.version_major = i == 0 ? 2 : 1;
    managed.tensor.device.device_type = i == 1 ? 2 : 1;
    managed.tensor.dtype.lanes = i == 2 ? 4 : 1;
    managed.tensor.dtype.code = i == 3 ? 77 : 2;
    managed.tensor.ndim = i == 4 ? 33 : 1;
    managed.tensor.shape = i == 5 ? NULL : shape;
    managed.flags = i == 6 ? 4 : 0;
    if (nd4c_array_from_dlpack(&managed, &a) != rows[i].expected) {
      print_error("%s: %s\n", rows[i].what, nd4c_error_message());
    }
    assert_int_equal(nd4c_error_code(), rows[i].expected);
    assert_null(a);
  }
  assert_int_equal(deleted, 0);
}

static void strings_are_refused(void **state) {
  (void)state;
  const int64_t shape[1] = {1};
  const char *const texts[] = {"a"};
  nd4c_array *a = NULL;
  nd4c_dl_managed *managed = NULL;
  assert_int_equal(nd4c_array_from_strings(1, shape, texts, NULL, &a), ND4C_OK);
  assert_int_equal(nd4c_array_to_dlpack(a, &managed), ND4C_DTYPE);
  assert_null(managed);
  nd4c_array_release(a);
}

/* Types that nd4c lacks are named, also float128, which is as wide as the record of a string. */
static void no_tensor_has_strings(void **state) {
  (void)state;
  _Alignas(64) float memory[64] = {0};
  int64_t shape[1] = {1};
  int taken = 0;
  for (int code = 0; code < 32; code++) {
    for (int bits = 0; bits < 256; bits++) {
      nd4c_dl_managed managed = sample(memory, shape);
      nd4c_array *a = NULL;
      managed.tensor.data = memory;
      managed.tensor.byte_offset = 0;
      managed.tensor.dtype = (nd4c_dl_dtype){.code = (uint8_t)code, .bits = (uint8_t)bits, .lanes = 1};
      const nd4c_status status = nd4c_array_from_dlpack(&managed, &a);
      if (status != ND4C_OK) {
        assert_int_equal(status, ND4C_UNSUPPORTED);
        assert_non_null(strstr(nd4c_error_message(), "has no dtype here"));
      } else {
        assert_int_not_equal(nd4c_array_dtype(a), ND4C_UTF8);
        taken++;
        nd4c_array_release(a);
      }
    }
  }
  assert_in_range(taken, 10, 40);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrapping_copies_nothing),
      cmocka_unit_test(results_go_into_foreign_memory),
      cmocka_unit_test(read_only_memory_is_not_written),
      cmocka_unit_test(refused_wraps_release_nothing),
      cmocka_unit_test(round_trips_share_memory),
      cmocka_unit_test(a_consumer_deletes_once),
      cmocka_unit_test(refused_tensors_stay_the_callers),
      cmocka_unit_test(strings_are_refused),
      cmocka_unit_test(no_tensor_has_strings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
