/* Storages whose contents are made when they are needed: quantised blocks (device/storage/encoded.h), which kernels may
 * read as they are, and deferred contents (device/storage/deferred.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/recycle.h"
#include "device/storage/deferred.h"
#include "device/storage/encoded.h"
#include "device/storage/storage_body.h"
#include "device/stub_test.h"

enum { ROWS = 4, COLUMNS = 64, SIZE = ROWS * COLUMNS };
static nd4c_device *cpu;

/* -- blocks ------------------------------------------------------------------------------------------------------ */

/* What lies behind a storage that has no blocks, or has contents of its own, says nothing about either. */
static void other_storages_have_neither(void **state) {
  (void)state;
  nd4c_storage_body body;
  memset(&body, 0xFF, sizeof body);
  body.base.flags = ND4C_STORAGE_READ_ONLY | ND4C_STORAGE_FOREIGN;
  atomic_init(&body.base.address, NULL);
  nd4c_tensor tensor = {.rank = 1}, before = tensor;
  assert_null(nd4c_encoded_layout(&body.base));
  assert_false(nd4c_encoded_show(&body.base, 0, cpu, &tensor));
  assert_memory_equal(&tensor, &before, sizeof tensor);
  assert_false(nd4c_deferred_is_pending(&body.base));
  assert_false(nd4c_deferred_can_read(&body.base)); /* foreign, but without an address on the host */
  const float number = 3;
  const void *bytes = NULL;
  void *made = &body;
  atomic_store(&body.base.address, (void *)(uintptr_t)&number);
  assert_true(nd4c_deferred_can_read(&body.base));
  assert_int_equal(nd4c_deferred_read(&body.base, &bytes, &made), ND4C_OK);
  assert_ptr_equal(bytes, &number);
  assert_null(made);
  body.base.flags = ND4C_STORAGE_FOREIGN; /* the program may write there */
  assert_false(nd4c_deferred_can_read(&body.base));
  body.base.flags = ND4C_STORAGE_READ_ONLY; /* a view of memory that nd4c owns */
  assert_false(nd4c_deferred_can_read(&body.base));
}

/* A tensor of a storage with the blocks of an array, as kernels would get it. */
typedef struct shown {
  int64_t shape[3], strides[3];
  int32_t rank;
  nd4c_dtype dtype;
  int64_t offset;
} shown;

static bool show(const nd4c_array *array, shown *s, const nd4c_device *device, nd4c_tensor *tensor) {
  *tensor = (nd4c_tensor){.dtype = s->dtype, .rank = s->rank, .shape = s->shape, .strides = s->strides, .offset = 7};
  return nd4c_encoded_show(array->storage, s->offset, device, tensor);
}

static void expect_blocks(const nd4c_array *array, shown s, const unsigned char *blocks) {
  nd4c_tensor tensor;
  assert_true(show(array, &s, cpu, &tensor));
  assert_int_equal(tensor.layout, ND4C_LAYOUT_QUANTISED);
  assert_ptr_equal(tensor.arrangement, nd4c_encoded_layout(array->storage));
  assert_int_equal(tensor.offset, 0);
  assert_memory_equal(tensor.data, blocks, (size_t)tensor.arrangement->bytes);
  assert_false(show(array, &s, stub_device, &tensor)); /* the blocks are in the host's memory */
  assert_int_equal(tensor.offset, 7);
}

static void expect_none(const nd4c_array *array, shown s) {
  nd4c_tensor tensor;
  assert_false(show(array, &s, cpu, &tensor));
  assert_int_equal(tensor.layout, ND4C_LAYOUT_STRIDED);
  assert_null(tensor.data);
  assert_null(tensor.arrangement);
  assert_int_equal(tensor.offset, 7);
}

/* Scale 1 in each block, and the numbers from 0 on. */
static void fill_blocks(unsigned char *blocks, int count) {
  for (int i = 0; i < count; i++) {
    blocks[34 * i] = 0;
    blocks[34 * i + 1] = 0x3C;
    for (int k = 0; k < 32; k++) {
      blocks[34 * i + 2 + k] = (unsigned char)((32 * i + k) % 100);
    }
  }
}

static void kernels_see_blocks_of_all_elements(void **state) {
  (void)state;
  unsigned char blocks[34 * SIZE / 32];
  nd4c_array *matrix = NULL, *cube = NULL;
  float numbers[SIZE];
  fill_blocks(blocks, SIZE / 32);
  const int64_t shape[] = {ROWS, COLUMNS}, three[] = {2, 4, 32};
  assert_int_equal(nd4c_array_from_blocks("q8_0", 2, shape, blocks, sizeof blocks, &matrix), ND4C_OK);
  assert_int_equal(nd4c_array_from_blocks("q8_0", 3, three, blocks, sizeof blocks, &cube), ND4C_OK);
  const nd4c_dtype dtype = ND4C_FLOAT32;
  expect_blocks(matrix, (shown){{4, 64}, {64, 1}, 2, dtype, 0}, blocks);
  expect_blocks(matrix, (shown){{64, 4}, {1, 64}, 2, dtype, 0}, blocks); /* transposed */
  expect_blocks(cube, (shown){{2, 4, 32}, {128, 32, 1}, 3, dtype, 0}, blocks);
  expect_none(matrix, (shown){{4, 64}, {64, 1}, 2, dtype, 64});
  expect_none(matrix, (shown){{4, 64}, {64, 1}, 2, ND4C_INT32, 0});
  expect_none(matrix, (shown){{256}, {1}, 1, dtype, 0});
  expect_none(matrix, (shown){{2, 64}, {64, 1}, 2, dtype, 0}); /* parts, and other orders */
  expect_none(matrix, (shown){{4, 64}, {64, 2}, 2, dtype, 0});
  expect_none(matrix, (shown){{4, 64}, {1, 4}, 2, dtype, 0});
  expect_none(matrix, (shown){{64, 2}, {1, 64}, 2, dtype, 0});
  expect_none(matrix, (shown){{32, 4}, {1, 64}, 2, dtype, 0});
  expect_none(matrix, (shown){{64, 4}, {2, 64}, 2, dtype, 0});
  expect_none(matrix, (shown){{64, 4}, {1, 128}, 2, dtype, 0});
  expect_none(cube, (shown){{4, 2, 32}, {1, 4, 8}, 3, dtype, 0});
  /* Any other use reads numbers. */
  assert_int_equal(nd4c_array_read(matrix, numbers, sizeof numbers), ND4C_OK);
  for (int i = 0; i < SIZE; i++) {
    assert_float_equal(numbers[i], (i % 100), 0);
  }
  expect_blocks(matrix, (shown){{4, 64}, {64, 1}, 2, dtype, 0}, blocks);
  nd4c_array_release(matrix);
  nd4c_array_release(cube);
}

/* -- deferred ---------------------------------------------------------------------------------------------------- */

typedef struct source {
  int fills, releases;
  nd4c_status status; /* of the next fills */
} source;

static nd4c_status fill(void *user, void *to) {
  source *s = user;
  s->fills++;
  for (int i = 0; i < SIZE && s->status == ND4C_OK; i++) {
    ((float *)to)[i] = (float)i;
  }
  return s->status;
}

static void release(void *user) {
  ((source *)user)->releases++;
}

static void expect_numbers(const float *numbers) {
  for (int i = 0; i < SIZE; i++) {
    assert_float_equal(numbers[i], i, 0);
  }
}

static void deferred_contents_wait_for_a_use(void **state) {
  (void)state;
  source s = {0};
  const nd4c_deferral deferral = {.fill = fill, .release = release, .user = &s};
  const int64_t shape[] = {ROWS, COLUMNS};
  const void *bytes = NULL, *again = NULL;
  void *made = NULL;
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_deferred_array(ND4C_FLOAT32, 2, shape, &deferral, &array), ND4C_OK);
  assert_true(nd4c_deferred_is_pending(array->storage));
  assert_true(nd4c_deferred_can_read(array->storage));
  assert_null(nd4c_encoded_layout(array->storage));
  assert_int_equal(s.fills, 0);
  /* Reading for another deferral makes no replica. */
  assert_int_equal(nd4c_deferred_read(array->storage, &bytes, &made), ND4C_OK);
  assert_ptr_equal(bytes, made);
  expect_numbers(bytes);
  nd4c_deallocate(made);
  assert_true(nd4c_deferred_is_pending(array->storage));
  assert_int_equal(s.fills, 1);
  /* A failure leaves it as it was. */
  s.status = ND4C_LIBRARY;
  made = &s;
  assert_int_equal(nd4c_deferred_read(array->storage, &bytes, &made), ND4C_LIBRARY);
  assert_null(made);
  assert_int_equal(nd4c_array_data(array, &bytes), ND4C_LIBRARY);
  assert_true(nd4c_deferred_is_pending(array->storage));
  s.status = ND4C_OK;
  s.fills = 0;
  assert_int_equal(nd4c_array_data(array, &bytes), ND4C_OK);
  expect_numbers(bytes);
  assert_false(nd4c_deferred_is_pending(array->storage));
  assert_int_equal(nd4c_array_data(array, &again), ND4C_OK);
  assert_ptr_equal(again, bytes);
  assert_int_equal(s.fills, 1);
  assert_true(nd4c_deferred_can_read(array->storage));
  void *address = NULL;
  assert_int_equal(nd4c_array_data_mutable(array, &address), ND4C_READ_ONLY);
  nd4c_array *view = nd4c_array_retain(array);
  nd4c_array_release(array);
  assert_int_equal(s.releases, 0);
  nd4c_array_release(view);
  assert_int_equal(s.releases, 1);
  nd4c_error_clear();
}

static void a_caller_keeps_what_was_not_deferred(void **state) {
  (void)state;
  source s = {0};
  const nd4c_deferral deferral = {.fill = fill, .release = release, .user = &s};
  const int64_t shape[] = {ROWS, COLUMNS}, bad[] = {ROWS, -1};
  nd4c_array *array = NULL;
  assert_int_equal(nd4c_deferred_array(ND4C_FLOAT32, 2, bad, &deferral, &array), ND4C_SHAPE);
  int32_t failures = 0;
  for (nd4c_status status = ND4C_MEMORY; status != ND4C_OK; failures++) {
    nd4c_recycle_trim();
    nd4c_allocation_fail_at(failures);
    status = nd4c_deferred_array(ND4C_FLOAT32, 2, shape, &deferral, &array);
    nd4c_allocation_fail_at(-1);
    if (status != ND4C_OK) {
      assert_int_equal(status, ND4C_MEMORY);
      assert_null(array);
      assert_int_equal(s.releases, 0);
    }
  }
  assert_in_range(failures, 2, 10);
  nd4c_array_release(array);
  assert_int_equal(s.releases, 1);
  nd4c_error_clear();
}

static int start(void **state) {
  (void)state;
  return stub_start() == ND4C_OK && nd4c_device_find("cpu", &cpu) == ND4C_OK ? 0 : 1;
}

static int stop(void **state) {
  (void)state;
  return stub_stop();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(other_storages_have_neither),
      cmocka_unit_test(kernels_see_blocks_of_all_elements),
      cmocka_unit_test(deferred_contents_wait_for_a_use),
      cmocka_unit_test(a_caller_keeps_what_was_not_deferred),
  };
  return cmocka_run_group_tests_name("made_contents", tests, start, stop);
}
