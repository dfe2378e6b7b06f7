/* Host memory and cl_mem handles as arrays on opencl:0, and cl_mem exported from arrays. The counters of the faulty
 * loader show that nothing is copied. Without an OpenCL device the tests are skipped. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "faulty_loader.h"

enum { COUNT = 4096 };
static const int64_t shape[1] = {COUNT};
static nd4c_device *device;
static nd4c_context *context;
static _Alignas(4096) float memory[COUNT];
static int released;

static void on_release(void *user) {
  *(int *)user += 1;
}

static int begin(void **state) {
  (void)state;
  released = 0;
  for (int i = 0; i < COUNT; i++) {
    memory[i] = (float)i;
  }
  return 0;
}

static nd4c_external at(nd4c_external_kind kind, void *pointer, int64_t offset, int64_t bytes) {
  return (nd4c_external){.struct_size = sizeof(nd4c_external),
                         .kind = kind,
                         .pointer = pointer,
                         .descriptor = -1,
                         .offset = offset,
                         .bytes = bytes,
                         .release = on_release,
                         .user = &released};
}

static nd4c_status import(const nd4c_external *external, int64_t count, nd4c_array **out) {
  return nd4c_array_from_external(device, ND4C_FLOAT32, 1, &count, NULL, 0, external, out);
}

static long carried(void) {
  return faulty_count("read_bytes") + faulty_count("written_bytes");
}

static nd4c_device_info info_of(const nd4c_device *of) {
  nd4c_device_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_device_get_info(of, &info), ND4C_OK);
  return info;
}

static void settle(void) {
  assert_int_equal(nd4c_device_synchronize(device), ND4C_OK);
  assert_int_equal(nd4c_memory_trim(device, 0), ND4C_OK);
}

static void kernels_work_in_host_memory(void **state) {
  (void)state;
  const nd4c_external external = at(ND4C_EXTERNAL_HOST_POINTER, memory, 0, sizeof memory);
  nd4c_array *a = NULL;
  settle();
  const long buffers = faulty_count("buffers"), bytes = carried();
  assert_int_equal(import(&external, COUNT, &a), ND4C_OK);
  nd4c_array *y = a;
  assert_int_equal(nd4c_add_on(context, a, a, &y), ND4C_OK);
  assert_int_equal(carried(), bytes);
  assert_int_equal(nd4c_array_wait(a), ND4C_OK);
  if (strstr(info_of(device).description, "Portable Computing Language") != NULL) {
    /* PoCL's kernel writes in place; other drivers may keep a copy until the memory is mapped. */
    assert_float_equal(memory[5], 10, 0);
  }
  nd4c_array_release(a);
  settle();
  assert_int_equal(released, 1);
  assert_true(carried() - bytes <= 2 * (long)sizeof memory); /* mapped once, which copies nothing here */
  for (int i = 0; i < COUNT; i++) {
    assert_float_equal(memory[i], 2 * i, 0);
  }
  assert_int_equal(faulty_count("buffers"), buffers);
}

static void handles_are_shared(void **state) {
  (void)state;
  nd4c_array *a = NULL, *whole = NULL, *part = NULL;
  nd4c_external given = {.struct_size = sizeof given};
  settle();
  const long buffers = faulty_count("buffers");
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 1, shape, memory, device, &a), ND4C_OK);
  assert_int_equal(nd4c_array_to_external(a, device, ND4C_EXTERNAL_NATIVE, &given, NULL), ND4C_OK);
  nd4c_array_release(a);
  const nd4c_external all = at(ND4C_EXTERNAL_NATIVE, given.pointer, 0, given.bytes);
  const nd4c_external half = at(ND4C_EXTERNAL_NATIVE, given.pointer, given.bytes / 2, given.bytes / 2);
  assert_int_equal(import(&all, COUNT, &whole), ND4C_OK);
  assert_int_equal(import(&half, COUNT / 2, &part), ND4C_OK);
  given.release(given.user); /* the imports keep the memory */
  nd4c_array *y = part;
  assert_int_equal(nd4c_negative_on(context, part, &y), ND4C_OK);
  assert_int_equal(nd4c_array_wait(part), ND4C_OK);
  double low = 0, high = 0;
  assert_int_equal(nd4c_array_item(whole, (const int64_t[]){3}, &low), ND4C_OK);
  assert_int_equal(nd4c_array_item(whole, (const int64_t[]){COUNT / 2 + 3}, &high), ND4C_OK);
  assert_float_equal(low, 3, 0);
  assert_float_equal(high, -(COUNT / 2 + 3), 0);
  nd4c_array_release(whole);
  nd4c_array_release(part);
  settle();
  assert_int_equal(released, 2);
  assert_int_equal(faulty_count("buffers"), buffers);
}

static void refuse(const nd4c_external *external, int64_t count, const char *words) {
  nd4c_array *a = NULL;
  assert_int_equal(import(external, count, &a), ND4C_ARGUMENT);
  if (strstr(nd4c_error_message(), words) == NULL) {
    fail_msg("'%s' does not say '%s'", nd4c_error_message(), words);
  }
  assert_int_equal(released, 0);
}

static void what_does_not_fit_is_refused(void **state) {
  (void)state;
  nd4c_array *a = NULL, *part = NULL, *none = NULL;
  nd4c_external given = {.struct_size = sizeof given}, parts = given;
  nd4c_external external = at(ND4C_EXTERNAL_HOST_POINTER, memory + 4, 0, 64);
  refuse(&external, 1, "that begin with a multiple of 64");
  external = at(ND4C_EXTERNAL_HOST_POINTER, memory, 0, 68);
  refuse(&external, 1, "multiples of 16 bytes");
  external = at(ND4C_EXTERNAL_DEVICE_POINTER, memory, 0, 64);
  assert_int_equal(import(&external, 1, &none), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "it imports: host pointer, native handle"));
  assert_int_equal(nd4c_array_from_data(ND4C_FLOAT32, 1, shape, memory, device, &a), ND4C_OK);
  assert_int_equal(nd4c_array_to_external(a, device, ND4C_EXTERNAL_NATIVE, &given, NULL), ND4C_OK);
  external = at(ND4C_EXTERNAL_NATIVE, given.pointer, 0, 1 << 20);
  refuse(&external, 1, "bytes 0 to 1048576 of a cl_mem of");
  external = at(ND4C_EXTERNAL_NATIVE, given.pointer, 4, 64);
  refuse(&external, 1, "CL_MISALIGNED_SUB_BUFFER_OFFSET");
  external = at(ND4C_EXTERNAL_NATIVE, given.pointer, 4096, 8192);
  external.release = NULL;
  assert_int_equal(import(&external, 2048, &part), ND4C_OK);
  assert_int_equal(nd4c_array_to_external(part, device, ND4C_EXTERNAL_NATIVE, &parts, NULL), ND4C_OK);
  external = at(ND4C_EXTERNAL_NATIVE, parts.pointer, 4096, 64);
  refuse(&external, 1, "CL_INVALID_MEM_OBJECT"); /* a part of a part */
  assert_int_equal(nd4c_array_to_external(a, device, ND4C_EXTERNAL_DESCRIPTOR, &given, NULL), ND4C_UNSUPPORTED);
  assert_int_equal(nd4c_host_register(device, memory, sizeof memory), ND4C_UNSUPPORTED);
  parts.release(parts.user);
  given.release(given.user);
  nd4c_array_release(part);
  nd4c_array_release(a);
  settle();
}

static void read_only_memory_is_not_written(void **state) {
  (void)state;
  nd4c_external external = at(ND4C_EXTERNAL_HOST_POINTER, memory, 0, sizeof memory);
  nd4c_array *a = NULL, *y = NULL;
  external.read_only = true;
  assert_int_equal(import(&external, COUNT, &a), ND4C_OK);
  y = a;
  assert_int_equal(nd4c_add_on(context, a, a, &y), ND4C_READ_ONLY);
  y = NULL;
  assert_int_equal(nd4c_add_on(context, a, a, &y), ND4C_OK);
  double last = 0;
  assert_int_equal(nd4c_array_item(y, (const int64_t[]){-1}, &last), ND4C_OK);
  assert_float_equal(last, 2 * (COUNT - 1), 0);
  nd4c_array_release(a);
  nd4c_array_release(y);
  settle();
  assert_int_equal(released, 1);
}

int main(void) {
  if (faulty_start(&device) != ND4C_OK) {
    (void)fprintf(stderr, "no OpenCL device: %s\n", nd4c_error_message());
    return 77;
  }
  const nd4c_context_options options = {.struct_size = sizeof options, .device = device, .strict = true};
  if (nd4c_context_create(&options, &context) != ND4C_OK) {
    return 1;
  }
  const struct CMUnitTest tests[] = {cmocka_unit_test_setup(kernels_work_in_host_memory, begin),
                                     cmocka_unit_test_setup(handles_are_shared, begin),
                                     cmocka_unit_test_setup(what_does_not_fit_is_refused, begin),
                                     cmocka_unit_test_setup(read_only_memory_is_not_written, begin)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)nd4c_context_destroy(context);
  return failed;
}
