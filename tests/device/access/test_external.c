/* External memory in arrays and exported memory of arrays, on the CPU and on the stub: no copy, one release after the
 * last work, refusals and failures that leave the memory to its owner; host memory that is registered. */
#define _GNU_SOURCE /* memfd_create */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "device/stub_test.h"
#include "nd4c/dlpack.h"

enum { COUNT = 1024 };
static const int64_t shape[1] = {COUNT};
static nd4c_device *host;
static _Alignas(4096) float memory[2 * COUNT];
static _Atomic int released;

static void on_release(void *user) {
  *(_Atomic int *)user += 1;
}

static void fill(float *values, float first) {
  for (int i = 0; i < COUNT; i++) {
    values[i] = first + (float)i;
  }
}

static nd4c_external at(void *pointer, int64_t bytes) {
  return (nd4c_external){.struct_size = sizeof(nd4c_external),
                         .kind = ND4C_EXTERNAL_HOST_POINTER,
                         .pointer = pointer,
                         .descriptor = -1,
                         .bytes = bytes,
                         .release = on_release,
                         .user = &released};
}

static nd4c_external behind(int descriptor, int64_t offset, int64_t bytes) {
  nd4c_external external = at(NULL, bytes);
  external.kind = ND4C_EXTERNAL_DESCRIPTOR;
  external.descriptor = descriptor;
  external.offset = offset;
  return external;
}

static nd4c_status make(nd4c_device *device, const nd4c_external *external, nd4c_array **out) {
  return nd4c_array_from_external(device, ND4C_FLOAT32, 1, shape, NULL, 0, external, out);
}

static nd4c_array *import(nd4c_device *device, const nd4c_external *external) {
  nd4c_array *array = NULL;
  const nd4c_status status = make(device, external, &array);
  if (status != ND4C_OK) {
    (void)fprintf(stderr, "%s\n", nd4c_error_message());
  }
  assert_int_equal(status, ND4C_OK);
  return array;
}

static void assert_values(const nd4c_array *array, float first) {
  float read[COUNT] = {0};
  assert_int_equal(nd4c_array_read(array, read, sizeof read), ND4C_OK);
  for (int i = 0; i < COUNT; i++) {
    assert_float_equal(read[i], first + (float)i, 0);
  }
}

static int begin(void **state) {
  released = 0;
  fill(memory, 0);
  return stub_test_begin(state);
}

static int end(void **state) {
  static const char *const counters[] = {"imports", "exports", "registrations"};
  return stub_test_end(state) + stub_left(counters, sizeof counters / sizeof counters[0]);
}

/* A descriptor of memory with COUNT floats from byte `offset` on. */
static int make_descriptor(int64_t offset) {
  float values[COUNT];
  fill(values, 0);
  int descriptor = memfd_create("test", MFD_CLOEXEC);
  assert_true(descriptor >= 0);
  assert_int_equal(pwrite(descriptor, values, sizeof values, offset), sizeof values);
  return descriptor;
}

static float read_behind(int descriptor, int64_t offset, int element) {
  float value = -1;
  assert_int_equal(pread(descriptor, &value, sizeof value, offset + element * (int64_t)sizeof value), sizeof value);
  return value;
}

/* -- import -------------------------------------------------------------------------------------------------------- */

static void host_memory_is_used_where_it_is(void **state) {
  (void)state;
  nd4c_external external = at(memory, sizeof memory);
  const int64_t backwards[2] = {-4, -1}, rows[2] = {COUNT / 4, 4};
  const void *data = NULL;
  nd4c_array *a = NULL, *view = NULL;
  assert_int_equal(nd4c_array_from_external(host, ND4C_FLOAT32, 2, rows, backwards, COUNT - 1, &external, &a), ND4C_OK);
  assert_int_equal(nd4c_array_data(a, &data), ND4C_OK);
  assert_ptr_equal(data, memory + COUNT - 1);
  nd4c_array *y = a;
  assert_int_equal(nd4c_negative(a, &y), ND4C_OK);
  assert_float_equal(memory[5], -5, 0);
  assert_int_equal(nd4c_array_select(a, 0, 0, &view), ND4C_OK);
  nd4c_array_release(a);
  assert_int_equal(released, 0);
  nd4c_array_release(view);
  assert_int_equal(released, 1);
}

/* The stub's kernels also write there later, and the release callback runs after the last of them. */
static void a_device_works_in_host_memory(void **state) {
  (void)state;
  const nd4c_external external = at(memory, COUNT * sizeof *memory);
  nd4c_array *a = import(stub_device, &external);
  assert_int_equal(stub_counter("imports"), 1);
  stub_order("pause until_wait");
  nd4c_array *y = a;
  assert_int_equal(nd4c_add_on(stub_context, a, a, &y), ND4C_OK);
  nd4c_array_release(a);
  assert_int_equal(released, 0);
  stub_settle();
  assert_int_equal(released, 1);
  for (int i = 0; i < COUNT; i++) {
    assert_float_equal(memory[i], 2 * i, 0);
  }
}

static void descriptors_stay_the_callers(void **state) {
  (void)state;
  nd4c_device *const devices[] = {host, stub_device};
  for (int i = 0; i < 2; i++) {
    enum { OFFSET = 4096 + 64 };
    int descriptor = make_descriptor(OFFSET), kept = dup(descriptor);
    const nd4c_external external = behind(descriptor, OFFSET, COUNT * sizeof(float));
    nd4c_array *a = import(devices[i], &external), *same = NULL;
    assert_int_equal(close(descriptor), 0);
    assert_values(a, 0);
    const float value = 77;
    assert_int_equal(nd4c_array_select(a, 0, 3, &same), ND4C_OK);
    assert_int_equal(nd4c_array_write(same, &value, sizeof value), ND4C_OK);
    assert_int_equal(nd4c_array_prefetch(a, devices[i]), ND4C_OK);
    assert_int_equal(nd4c_array_wait(a), ND4C_OK);
    nd4c_array_release(a);
    nd4c_array_release(same);
    assert_int_equal(released, i + 1);
    assert_float_equal(read_behind(kept, OFFSET, 3), 77, 0);
    (void)close(kept);
  }
}

static void read_only_memory_is_not_written(void **state) {
  (void)state;
  nd4c_device *const devices[] = {host, stub_device};
  for (int i = 0; i < 2; i++) {
    int descriptor = make_descriptor(0);
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    int reading = open(path, O_RDONLY | O_CLOEXEC);
    nd4c_external external = behind(reading, 0, COUNT * sizeof(float));
    nd4c_array *a = NULL, *y = NULL;
    assert_int_equal(make(devices[i], &external, &a), ND4C_IO); /* it cannot be mapped for writing */
    external.read_only = true;
    a = import(devices[i], &external);
    assert_true(nd4c_array_is_read_only(a));
    y = a;
    assert_int_equal(nd4c_negative(a, &y), ND4C_READ_ONLY);
    assert_int_equal(nd4c_array_write(a, memory, COUNT * sizeof *memory), ND4C_READ_ONLY);
    assert_values(a, 0);
    nd4c_array_release(a);
    (void)close(reading);
    (void)close(descriptor);
  }
  assert_int_equal(released, 2);
}

static void contents_leave_and_come_back(void **state) {
  (void)state;
  const nd4c_external external = at(memory, COUNT * sizeof *memory);
  nd4c_array *a = import(stub_device, &external);
  assert_int_equal(nd4c_array_migrate(a, host), ND4C_OK);
  assert_int_equal(nd4c_array_state(a, stub_device), 'S'); /* foreign memory stays */
  nd4c_array *y = a;
  assert_int_equal(nd4c_negative(a, &y), ND4C_OK);
  assert_int_equal(nd4c_array_state(a, host), 'M');
  assert_int_equal(nd4c_array_state(a, stub_device), 'I');
  assert_float_equal(memory[7], 7, 0);
  assert_int_equal(nd4c_array_migrate(a, stub_device), ND4C_OK);
  assert_float_equal(memory[7], -7, 0);
  assert_int_equal(nd4c_array_state(a, host), '-');
  nd4c_array_release(a);
  assert_int_equal(released, 1);
}

static void imports_are_counted_apart(void **state) {
  (void)state;
  const nd4c_external external = at(memory, sizeof memory);
  const nd4c_memory_info before = memory_info_of(stub_device);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 4096), ND4C_OK); /* the memory is larger */
  nd4c_array *a = import(stub_device, &external);
  const nd4c_memory_info with = memory_info_of(stub_device);
  assert_int_equal(with.live_bytes, before.live_bytes);
  assert_int_equal(with.imported_count, 1);
  assert_int_equal(with.imported_bytes, sizeof memory);
  char *report = NULL;
  assert_int_equal(nd4c_memory_report(stub_device, &report), ND4C_OK);
  assert_non_null(strstr(report, "8192 bytes imported from a host pointer"));
  nd4c_free(report);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  nd4c_array_release(a);
  assert_int_equal(memory_info_of(stub_device).imported_count, 0);
  assert_int_equal(nd4c_memory_report(stub_device, &report), ND4C_OK);
  assert_string_equal(report, "");
  nd4c_free(report);
}

/* If the device is full, an array in its own memory is spilled to the host; the import is not. */
static void imports_are_not_spilled(void **state) {
  (void)state;
  enum { BYTES = 1 << 16 };
  const int64_t size = BYTES;
  const nd4c_external external = at(memory, sizeof memory);
  nd4c_array *a = import(stub_device, &external), *own = NULL, *more = NULL;
  assert_int_equal(nd4c_config_set("nd4c.device.memory.spill", "true"), ND4C_OK);
  assert_int_equal(nd4c_array_zeros(ND4C_INT8, 1, &size, stub_device, &own), ND4C_OK);
  assert_int_equal(nd4c_memory_set_cap(stub_device, BYTES), ND4C_OK);
  assert_int_equal(nd4c_array_zeros(ND4C_INT8, 1, &size, stub_device, &more), ND4C_OK);
  assert_int_equal(nd4c_array_state(own, stub_device), '-');
  assert_int_equal(nd4c_array_state(a, stub_device), 'M');
  assert_values(a, 0);
  assert_int_equal(nd4c_memory_set_cap(stub_device, 0), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.device.memory.spill", "false"), ND4C_OK);
  nd4c_array_release(own);
  nd4c_array_release(more);
  nd4c_array_release(a);
  assert_int_equal(released, 1);
}

static void expect(nd4c_status status, nd4c_device *device, const nd4c_external *external, int64_t offset,
                   const char *words) {
  nd4c_array *a = NULL;
  assert_int_equal(nd4c_array_from_external(device, ND4C_FLOAT32, 1, shape, NULL, offset, external, &a), status);
  if (strstr(nd4c_error_message(), words) == NULL) {
    fail_msg("'%s' does not say '%s'", nd4c_error_message(), words);
  }
  assert_null(a);
  assert_int_equal(released, 0);
}

static void refusals_release_nothing(void **state) {
  (void)state;
  enum { BYTES = COUNT * sizeof(float) };
  nd4c_external external = at(memory, BYTES);
  nd4c_array *a = NULL;
  assert_int_equal(make(host, NULL, &a), ND4C_NULL_ARGUMENT);
  assert_int_equal(make(NULL, &external, &a), ND4C_NULL_ARGUMENT);
  assert_int_equal(make(host, &external, NULL), ND4C_NULL_ARGUMENT);
  expect(ND4C_INDEX, host, &external, 1, "elements 1 to 1024 of memory that has 1024 of float32");
  expect(ND4C_INDEX, host, &external, -1, "elements -1 to");
  expect(ND4C_OVERFLOW, host, &external, INT64_MAX, "beyond what addresses");
  const int64_t wide[1] = {INT64_MAX / 2}, two[1] = {2};
  assert_int_equal(nd4c_array_from_external(host, ND4C_FLOAT32, 1, two, wide, 0, &external, &a), ND4C_INDEX);
  assert_int_equal(nd4c_array_from_external(host, ND4C_UTF8, 1, shape, NULL, 0, &external, &a), ND4C_DTYPE);
  assert_int_equal(nd4c_array_from_external(host, 99, 1, shape, NULL, 0, &external, &a), ND4C_DTYPE);
  external = at(NULL, BYTES);
  expect(ND4C_NULL_ARGUMENT, host, &external, 0, "pointer is NULL");
  external = at(memory, 0);
  expect(ND4C_ARGUMENT, host, &external, 0, "bytes is 0");
  external = at(memory, INT64_MAX);
  external.offset = 8;
  expect(ND4C_ARGUMENT, host, &external, 0, "expected 0 with a pointer");
  external = behind(0, 8, INT64_MAX);
  expect(ND4C_OVERFLOW, host, &external, 0, "end beyond");
  external = at((char *)memory + 2, BYTES);
  expect(ND4C_ARGUMENT, host, &external, 0, "not aligned to 4 bytes as float32");
  external = at((char *)memory + 4, BYTES);
  external.alignment = 8;
  expect(ND4C_ARGUMENT, host, &external, 0, "claimed alignment of 8 bytes");
  external.alignment = INT64_C(1) << 62;
  expect(ND4C_ARGUMENT, host, &external, 0, "alignment is 4611686018427387904, expected a power of two of at most");
  external.alignment = 24;
  expect(ND4C_ARGUMENT, host, &external, 0, "expected a power of two");
  external.alignment = 0;
  expect(ND4C_ARGUMENT, stub_device, &external, 0, "with an alignment of 16 bytes, not of 4");
  external.struct_size = 8;
  expect(ND4C_ARGUMENT, host, &external, 0, "struct_size is 8");
  external = at(memory, BYTES);
  external.kind = ND4C_EXTERNAL_DEVICE_POINTER;
  expect(ND4C_UNSUPPORTED, host, &external, 0, "cpu:0 imports no device pointer; it imports: host pointer, descriptor");
  external.kind = (nd4c_external_kind)7;
  expect(ND4C_ARGUMENT, host, &external, 0, "kind is 7");
  external = behind(-1, 0, BYTES);
  expect(ND4C_ARGUMENT, host, &external, 0, "descriptor is -1");
  external = behind(9999, 0, BYTES);
  expect(ND4C_ARGUMENT, stub_device, &external, 0, "descriptor 9999: Bad file descriptor");
  int descriptor = make_descriptor(0), pipes[2];
  external = behind(descriptor, 16, BYTES);
  expect(ND4C_ARGUMENT, host, &external, 0, "4096 bytes from 16 on, of the 4096 that it has");
  assert_int_equal(pipe(pipes), 0);
  external = behind(pipes[0], 0, BYTES);
  expect(ND4C_ARGUMENT, host, &external, 0, "is of no memory");
  (void)close(pipes[0]);
  (void)close(pipes[1]);
  (void)close(descriptor);
}

static void failing_drivers_leave_the_memory(void **state) {
  (void)state;
  const nd4c_external external = at(memory, COUNT * sizeof *memory);
  assert_int_equal(stub_control("fail import_memory:1"), ND4C_OK);
  expect(ND4C_DEVICE, stub_device, &external, 0, "import_memory was told to fail");
  nd4c_device_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_device_get_info(stub_device, &info), ND4C_OK);
  if (info.addressable) {
    assert_int_equal(stub_control("fail buffer_address:1"), ND4C_OK);
    expect(ND4C_DEVICE, stub_device, &external, 0, "buffers.address gave NULL");
  }
  assert_int_equal(stub_counter("imports"), 0);
}

/* Each allocation of the call fails once: then the library keeps nothing and releases nothing. */
static void failing_allocations_leave_the_memory(void **state) {
  (void)state;
  int descriptor = make_descriptor(0);
  const nd4c_external rows[] = {at(memory, COUNT * sizeof *memory), behind(descriptor, 0, COUNT * sizeof(float))};
  for (int i = 0; i < 4; i++) {
    nd4c_device *device = i % 2 == 0 ? host : stub_device;
    nd4c_array *a = NULL;
    nd4c_status status = ND4C_MEMORY;
    int refused = -1;
    for (; status != ND4C_OK && refused < 20; refused++) {
      nd4c_allocation_fail_at(refused + 1);
      status = make(device, &rows[i / 2], &a);
      nd4c_allocation_fail_at(-1);
      assert_true(status == ND4C_OK || status == ND4C_MEMORY);
      assert_int_equal(released, i);
    }
    assert_int_equal(status, ND4C_OK);
    assert_true(refused >= 1);
    assert_int_equal(stub_counter("imports"), i % 2);
    nd4c_array_release(a);
    assert_int_equal(released, i + 1);
  }
  (void)close(descriptor);
}

/* -- export -------------------------------------------------------------------------------------------------------- */

static void give_back(nd4c_external *external) {
  external->release(external->user);
}

static void exports_keep_the_array(void **state) {
  (void)state;
  nd4c_device *const devices[] = {host, stub_device};
  for (int i = 0; i < 2; i++) {
    const bool here = devices[i] == host;
    nd4c_array *a = NULL, *rows = NULL;
    nd4c_external given = {.struct_size = sizeof given};
    int64_t offset = -1, start = 5, stop = 9, step = 1;
    assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 1, shape, memory, host, &a), ND4C_OK);
    assert_int_equal(nd4c_array_slice(a, &start, &stop, &step, &rows), ND4C_OK);
    assert_int_equal(nd4c_array_to_external(rows, devices[i], here ? ND4C_EXTERNAL_HOST_POINTER : ND4C_EXTERNAL_NATIVE,
                                            &given, &offset),
                     ND4C_OK);
    nd4c_array_release(a);
    nd4c_array_release(rows);
    assert_int_equal(offset, 5);
    assert_int_equal(given.bytes, COUNT * sizeof(float));
    assert_non_null(given.pointer);
    assert_false(given.read_only);
    /* Imported again, it is the same memory: writes to one array appear in the other. */
    nd4c_external taken = given;
    taken.release = on_release;
    taken.user = &released;
    nd4c_array *again = import(devices[i], &taken);
    assert_values(again, 0);
    if (here) {
      ((float *)given.pointer)[0] = 0.5F;
      double first = 0;
      assert_int_equal(nd4c_array_item(again, (const int64_t[]){0}, &first), ND4C_OK);
      assert_float_equal(first, 0.5, 0);
    } else {
      assert_int_equal(stub_counter("exports"), 1);
    }
    nd4c_array_release(again);
    assert_int_equal(released, i + 1);
    give_back(&given);
  }
  stub_settle();
  assert_int_equal(stub_counter("buffers"), 0);
}

/* From the CPU's array to the stub's by a descriptor that both export. */
static void descriptors_go_from_device_to_device(void **state) {
  (void)state;
  enum { OFFSET = 256 };
  int descriptor = make_descriptor(OFFSET);
  const nd4c_external external = behind(descriptor, OFFSET, COUNT * sizeof(float));
  nd4c_array *a = import(host, &external);
  nd4c_external first = {.struct_size = sizeof first}, second = first;
  assert_int_equal(nd4c_array_to_external(a, host, ND4C_EXTERNAL_DESCRIPTOR, &first, NULL), ND4C_OK);
  assert_true(first.descriptor >= 0 && first.descriptor != descriptor);
  assert_int_equal(first.offset, OFFSET);
  nd4c_array_release(a);
  nd4c_array *b = import(stub_device, &first); /* its release ends the export */
  assert_int_equal(nd4c_array_to_external(b, stub_device, ND4C_EXTERNAL_DESCRIPTOR, &second, NULL), ND4C_OK);
  assert_float_equal(read_behind(second.descriptor, second.offset, 9), 9, 0);
  nd4c_array *y = b;
  assert_int_equal(nd4c_add_on(stub_context, b, b, &y), ND4C_OK);
  assert_int_equal(nd4c_array_wait(b), ND4C_OK);
  assert_float_equal(read_behind(descriptor, OFFSET, 9), 18, 0);
  nd4c_array_release(b);
  assert_int_equal(released, 0);
  give_back(&second);
  stub_settle();
  assert_int_equal(released, 1);
  (void)close(descriptor);
}

static void exports_that_fail_keep_nothing(void **state) {
  (void)state;
  nd4c_array *a = NULL, *none = NULL, *text = NULL;
  nd4c_external given = {.struct_size = sizeof given};
  const int64_t zero = 0, one = 1;
  static const char *const words[] = {"a"};
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 1, shape, memory, stub_device, &a), ND4C_OK);
  assert_int_equal(nd4c_array_to_external(NULL, host, ND4C_EXTERNAL_NATIVE, &given, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_array_to_external(a, host, ND4C_EXTERNAL_NATIVE, NULL, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_array_to_external(a, host, ND4C_EXTERNAL_NATIVE, &given, NULL), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(),
                         "cpu:0 exports no native handle; it exports: host pointer, device pointer, descriptor"));
  assert_int_equal(nd4c_array_to_external(a, stub_device, ND4C_EXTERNAL_DESCRIPTOR, &given, NULL), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "only memory that was imported from a descriptor"));
  assert_int_equal(nd4c_array_to_external(a, stub_device, (nd4c_external_kind)0, &given, NULL), ND4C_ARGUMENT);
  assert_int_equal(nd4c_array_zeros(ND4C_INT8, 1, &zero, stub_device, &none), ND4C_OK);
  assert_int_equal(nd4c_array_to_external(none, stub_device, ND4C_EXTERNAL_NATIVE, &given, NULL), ND4C_ARGUMENT);
  assert_int_equal(nd4c_array_from_strings(1, &one, words, NULL, &text), ND4C_OK);
  assert_int_equal(nd4c_array_to_external(text, host, ND4C_EXTERNAL_HOST_POINTER, &given, NULL), ND4C_DTYPE);
  assert_int_equal(stub_control("fail export_memory:1"), ND4C_OK);
  assert_int_equal(nd4c_array_to_external(a, stub_device, ND4C_EXTERNAL_NATIVE, &given, NULL), ND4C_DEVICE);
  assert_int_equal(stub_counter("exports"), 0);
  assert_null(given.release);
  nd4c_array *elsewhere = NULL; /* a refused export pins no memory there, and the contents here stay */
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 1, shape, memory, host, &elsewhere), ND4C_OK);
  assert_int_equal(stub_control("fail export_memory:1"), ND4C_OK);
  assert_int_equal(nd4c_array_to_external(elsewhere, stub_device, ND4C_EXTERNAL_NATIVE, &given, NULL), ND4C_DEVICE);
  assert_int_equal(nd4c_array_state(elsewhere, host), 'S');
  assert_int_equal(nd4c_array_migrate(elsewhere, host), ND4C_OK);
  assert_int_equal(nd4c_array_state(elsewhere, host), 'M');
  assert_int_equal(nd4c_array_state(elsewhere, stub_device), '-');
  nd4c_array_release(elsewhere);
  for (int64_t i = 0; i < 3; i++) { /* the record of it, then the stub's */
    nd4c_allocation_fail_at(i);
    const nd4c_status status = nd4c_array_to_external(a, stub_device, ND4C_EXTERNAL_NATIVE, &given, NULL);
    nd4c_allocation_fail_at(-1);
    assert_int_equal(status, i < 2 ? ND4C_MEMORY : ND4C_OK);
  }
  give_back(&given);
  nd4c_array_release(a);
  nd4c_array_release(none);
  nd4c_array_release(text);
}

/* The stub gives exports that name no memory: the caller gets a failure, and the stub gets the export back. */
static void odd_exports_are_refused(void **state) {
  (void)state;
  nd4c_array *a = NULL;
  nd4c_external given = {.struct_size = sizeof given};
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 1, shape, memory, stub_device, &a), ND4C_OK);
  assert_int_equal(nd4c_array_to_external(a, stub_device, ND4C_EXTERNAL_NATIVE, &given, NULL), ND4C_DEVICE);
  assert_non_null(strstr(nd4c_error_message(), "external.export_memory returned OK but gave no memory"));
  assert_int_equal(stub_counter("export_memory"), 1);
  assert_int_equal(stub_counter("exports"), 0);
  nd4c_array_release(a);
}

/* -- device pointers ----------------------------------------------------------------------------------------------- */

static bool has_addresses(void) {
  nd4c_device_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_device_get_info(stub_device, &info), ND4C_OK);
  assert_int_equal((info.imports & ND4C_EXTERNAL_BIT(ND4C_EXTERNAL_DEVICE_POINTER)) != 0, info.addressable);
  assert_true(info.registers_host);
  return info.addressable;
}

static void dlpack_carries_device_pointers(void **state) {
  (void)state;
  nd4c_array *a = NULL, *b = NULL, *tail = NULL, *y = NULL;
  nd4c_dl_managed *managed = NULL, *again = NULL;
  int64_t start = 1, stop = ND4C_SLICE_NONE, step = 1, negative = -1;
  if (!has_addresses()) {
    skip();
  }
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 1, shape, memory, stub_device, &a), ND4C_OK);
  assert_int_equal(nd4c_array_slice(a, &start, &stop, &step, &tail), ND4C_OK);
  assert_int_equal(nd4c_array_to_dlpack_on(tail, stub_device, &managed), ND4C_OK);
  managed->tensor.strides = &negative; /* from the last one on */
  managed->tensor.byte_offset = (COUNT - 2) * sizeof(float);
  assert_int_equal(nd4c_array_from_dlpack(managed, &b), ND4C_OK);
  nd4c_array_release(a);
  nd4c_array_release(tail);
  assert_int_equal(stub_counter("imports"), 1);
  assert_ptr_equal(nd4c_array_device(b), stub_device);
  y = b;
  assert_int_equal(nd4c_add_on(stub_context, b, b, &y), ND4C_OK);
  double first = 0, last = 0;
  assert_int_equal(nd4c_array_item(b, (const int64_t[]){0}, &first), ND4C_OK);
  assert_int_equal(nd4c_array_item(b, (const int64_t[]){-1}, &last), ND4C_OK);
  assert_float_equal(first, 2 * (COUNT - 1), 0);
  assert_float_equal(last, 2, 0);
  assert_int_equal(nd4c_array_to_dlpack_on(b, stub_device, &again), ND4C_OK);
  again->tensor.device.device_id = 7;
  nd4c_array *none = NULL;
  assert_int_equal(nd4c_array_from_dlpack(again, &none), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "number 7"));
  nd4c_array_release(b);
  again->deleter(again);
}

static void device_pointers_are_the_devices(void **state) {
  (void)state;
  nd4c_array *a = NULL;
  nd4c_external given = {.struct_size = sizeof given};
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 1, shape, memory, stub_device, &a), ND4C_OK);
  if (!has_addresses()) {
    assert_int_equal(nd4c_array_to_external(a, stub_device, ND4C_EXTERNAL_DEVICE_POINTER, &given, NULL),
                     ND4C_UNSUPPORTED);
    nd4c_array_release(a);
    return;
  }
  assert_int_equal(nd4c_array_to_external(a, stub_device, ND4C_EXTERNAL_DEVICE_POINTER, &given, NULL), ND4C_OK);
  nd4c_array_release(a);
  a = import(stub_device, &given);
  assert_values(a, 0);
  nd4c_external beyond = given;
  beyond.bytes = INT64_C(1) << 20;
  expect(ND4C_ARGUMENT, stub_device, &beyond, 0, "is no memory of the device");
  nd4c_array_release(a); /* and with it the export */
}

/* -- threads ------------------------------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 30 };

/* Imports, uses and releases; registers, copies and unregisters. Returns its argument where something failed. */
static void *exchange(void *argument) {
  float *mine = argument;
  const nd4c_external external = at(mine, COUNT * sizeof *mine);
  for (int i = 0; i < ROUNDS; i++) {
    nd4c_memory_info info = {.struct_size = sizeof info};
    nd4c_array *a = NULL, *b = NULL, *sum = NULL;
    bool good = make(stub_device, &external, &a) == ND4C_OK && nd4c_memory_get_info(stub_device, &info) == ND4C_OK &&
                info.imported_count >= 1;
    good = good && nd4c_host_register(stub_device, mine + COUNT, COUNT * sizeof *mine) == ND4C_OK &&
           nd4c_array_from_data(ND4C_FLOAT32, 1, shape, mine + COUNT, stub_device, &b) == ND4C_OK &&
           nd4c_host_unregister(stub_device, mine + COUNT) == ND4C_OK && nd4c_add(a, b, &sum) == ND4C_OK;
    nd4c_array_release(a);
    nd4c_array_release(b);
    nd4c_array_release(sum);
    if (!good) {
      return argument;
    }
  }
  return NULL;
}

static void threads_import_and_register(void **state) {
  (void)state;
  static _Alignas(64) float blocks[THREADS][2 * COUNT];
  pthread_t threads[THREADS];
  assert_int_equal(nd4c_config_set("backend.type", "stub"), ND4C_OK); /* the threads' own contexts */
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, exchange, blocks[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    void *failed = NULL;
    assert_int_equal(pthread_join(threads[i], &failed), 0);
    assert_null(failed);
  }
  assert_int_equal(nd4c_config_set("backend.type", ""), ND4C_OK);
  stub_settle();
  assert_int_equal(released, THREADS * ROUNDS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
  if (stub_start() != ND4C_OK || nd4c_device_find("cpu:0", &host) != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {TEST(host_memory_is_used_where_it_is),  TEST(a_device_works_in_host_memory),
                                     TEST(descriptors_stay_the_callers),     TEST(read_only_memory_is_not_written),
                                     TEST(contents_leave_and_come_back),     TEST(imports_are_counted_apart),
                                     TEST(imports_are_not_spilled),          TEST(refusals_release_nothing),
                                     TEST(failing_drivers_leave_the_memory), TEST(failing_allocations_leave_the_memory),
                                     TEST(exports_keep_the_array),           TEST(descriptors_go_from_device_to_device),
                                     TEST(exports_that_fail_keep_nothing),   TEST(dlpack_carries_device_pointers),
                                     TEST(device_pointers_are_the_devices),  TEST(threads_import_and_register)};
  const struct CMUnitTest of_liar[] = {TEST(odd_exports_are_refused)};
  const bool lies = getenv("STUB_LIE") != NULL;
  int failed = lies ? cmocka_run_group_tests(of_liar, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
  return failed + stub_stop();
}
