/* nd4c_storage_exchange: when a storage takes another block in place of its own, and when other code may have the
 * address of the old one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "array/array.h"
#include "device/compute.h"
#include "device/device.h"
#include "device/memory/memory.h"
#include "device/storage/storage.h"
#include "nd4c/nd4c.h"

enum { COUNT = 1 << 16 };

static float memory[COUNT];

static const struct {
  const char *name;
  bool foreign, pinned, unpinned;
  int64_t spare; /* bytes of the new block above those of the storage */
  bool goes;
} rows[] = {{"its own", .goes = true},
            {"a larger block", .spare = 1 << 20, .goes = true},
            {"a smaller block", .spare = -(int64_t)(COUNT * sizeof(float) / 2)},
            {"pinned", .pinned = true},
            {"no longer pinned", .pinned = true, .unpinned = true, .goes = true},
            {"memory of other code", .foreign = true}};

static void blocks_go_unless_others_may_have_them(void **state) {
  (void)state;
  nd4c_device *host = NULL;
  assert_int_equal(nd4c_device_host(&host), ND4C_OK);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const int64_t count = COUNT;
    nd4c_array *array = NULL;
    nd4c_replica_view view;
    nd4c_block block = {0};
    assert_int_equal(rows[i].foreign ? nd4c_array_wrap(ND4C_FLOAT32, 1, &count, NULL, memory, false, NULL, NULL, &array)
                                     : nd4c_array_zeros(ND4C_FLOAT32, 1, &count, host, &array),
                     ND4C_OK);
    nd4c_storage *storage = array->storage;
    const nd4c_memory_request request = {.bytes = storage->bytes + rows[i].spare, .origin = "test"};
    assert_int_equal(nd4c_memory_allocate(host, &request, &block), ND4C_OK);
    if (rows[i].pinned) {
      nd4c_storage_pin(storage, host);
    }
    if (rows[i].unpinned) {
      nd4c_storage_unpin(storage, host);
    }
    assert_int_equal(nd4c_storage_acquire(storage, host, NULL, ND4C_ACCESS_WRITE, ND4C_TRANSFER_NONE, &view), ND4C_OK);
    const void *given = block.address, *had = view.address;
    ((float *)block.address)[COUNT / 2 - 1] = 5;
    const bool goes = nd4c_storage_exchange(storage, host, &block);
    if (goes != rows[i].goes || block.address != (goes ? had : given)) {
      fail_msg("%s: the block %s", rows[i].name, goes ? "went" : "stayed");
    }
    nd4c_storage_commit(storage, host, ND4C_ACCESS_WRITE, NULL);
    double value = 0;
    assert_int_equal(nd4c_array_item(array, (int64_t[]){COUNT / 2 - 1}, &value), ND4C_OK);
    assert_true(value == (goes ? 5 : 0));
    if (rows[i].pinned && !rows[i].unpinned) {
      nd4c_storage_unpin(storage, host);
    }
    nd4c_memory_free(host, &block);
    nd4c_array_release(array);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_go_unless_others_may_have_them)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
