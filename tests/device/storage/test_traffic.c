/* Many threads, two devices and the host: each thread migrates its own arrays, all read and prefetch shared arrays and
 * compute with both, while memory is short and idle arrays spill. Run it under ThreadSanitizer. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>

#include "device/stub_plugin.h"

enum { THREADS = 16, SHARED = 4, FITTING = 12, COUNT = 700, BLOCK = 2816 /* of memory, for an array of COUNT */ };
static long turns = 60;
static const int64_t shape[1] = {COUNT};
static nd4c_device *devices[3]; /* the host, stub:0, stub:1 */
static nd4c_array *shared[SHARED];

/* Whether every element is `value`. */
static bool holds(const nd4c_array *array, float value) {
  float elements[COUNT];
  bool all = nd4c_array_read(array, elements, sizeof elements) == ND4C_OK;
  for (int i = 0; i < COUNT && all; i++) {
    all = elements[i] == value;
  }
  return all;
}

/* The last element, which is copied alone if that is cheap. */
static bool ends_with(const nd4c_array *array, float value) {
  static const int64_t last = -1;
  double element = 0;
  return nd4c_array_item(array, &last, &element) == ND4C_OK && element == (double)value;
}

/* Releases arrays while another thread may be spilling them to the host; without room no array is made. */
static bool come_and_go(nd4c_device *device) {
  nd4c_array *array = NULL;
  bool good = nd4c_array_full(ND4C_FLOAT32, 1, shape, 1, device, &array) == ND4C_OK;
  nd4c_array_release(array);
  return good || nd4c_error_code() == ND4C_MEMORY_CAP;
}

static bool compute(nd4c_device *device, nd4c_array *own, const nd4c_array *other, float expected) {
  nd4c_context *context = NULL;
  nd4c_array *sum = NULL;
  if (nd4c_context_acquire(device, &context) != ND4C_OK) {
    return false;
  }
  bool good = nd4c_add(own, other, &sum) == ND4C_OK && holds(sum, expected);
  nd4c_array_release(sum);
  return nd4c_context_release(context) == ND4C_OK && good;
}

static void *work(void *argument) {
  unsigned seed = 77 + (unsigned)(uintptr_t)argument;
  float value = (float)(seed % 13);
  nd4c_array *own = NULL;
  bool good = nd4c_array_full(ND4C_FLOAT32, 1, shape, value, devices[0], &own) == ND4C_OK &&
              (nd4c_array_migrate(own, devices[seed % 3]) == ND4C_OK || nd4c_error_code() == ND4C_MEMORY_CAP);
  for (long i = 0; i < turns && good; i++) {
    seed = seed * 1664525U + 1013904223U;
    unsigned at = seed >> 16;
    nd4c_array *other = shared[at % SHARED];
    nd4c_device *device = devices[(at >> 4) % 3];
    nd4c_error_clear();
    switch ((at >> 8) % 5) {
      case 0:
        good = nd4c_array_migrate(own, device) == ND4C_OK;
        break;
      case 1:
        good = nd4c_array_migrate(own, devices[at % 3]) == ND4C_OK && nd4c_array_prefetch(own, device) == ND4C_OK;
        break;
      case 2:
        good = nd4c_array_prefetch(other, device) == ND4C_OK;
        break;
      case 3:
        good = nd4c_array_write(own, (float[COUNT]){0}, sizeof(float[COUNT])) == ND4C_OK && holds(own, 0);
        value = 0;
        break;
      default:
        good = compute(device, own, other, value + (float)(at % SHARED));
        break;
    }
    good = good && come_and_go(devices[1]);
    /* Other threads may be using all memory under the cap: then the call is refused, and nothing is lost. */
    good = (good || nd4c_error_code() == ND4C_MEMORY_CAP) && ends_with(other, (float)(at % SHARED)) &&
           ends_with(own, value) && holds(own, value);
  }
  if (!good) {
    print_error("%s\n", nd4c_error_message());
  }
  nd4c_array_release(own);
  return good ? argument : NULL;
}

static void run_threads(void) {
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, work, (void *)(i + 1)), 0);
  }
  for (uintptr_t i = 0; i < THREADS; i++) {
    void *result = NULL;
    assert_int_equal(pthread_join(threads[i], &result), 0);
    assert_ptr_equal(result, (void *)(i + 1));
  }
  for (int i = 0; i < SHARED; i++) {
    assert_true(holds(shared[i], (float)i));
  }
}

static void with_memory_to_spare(void **state) {
  (void)state;
  run_threads();
}

/* By chance the threads may never lack room, so this makes one array more than fits, which spills another one. */
static void fill_the_cap(void) {
  nd4c_array *arrays[FITTING + 1] = {NULL};
  for (int i = 0; i <= FITTING; i++) {
    assert_int_equal(nd4c_array_full(ND4C_FLOAT32, 1, shape, i, devices[0], &arrays[i]), ND4C_OK);
    assert_int_equal(nd4c_array_migrate(arrays[i], devices[1]), ND4C_OK);
  }
  for (int i = 0; i <= FITTING; i++) {
    assert_true(holds(arrays[i], (float)i));
    nd4c_array_release(arrays[i]);
  }
}

static void with_little_memory(void **state) {
  (void)state;
  assert_int_equal(nd4c_config_set("nd4c.device.memory.spill", "true"), ND4C_OK);
  assert_int_equal(nd4c_memory_set_cap(devices[1], FITTING * BLOCK), ND4C_OK);
  run_threads();
  fill_the_cap();
  nd4c_memory_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_memory_get_info(devices[1], &info), ND4C_OK);
  assert_true(info.dropped_count + info.spilled_count > 0);
  assert_int_equal(nd4c_memory_set_cap(devices[1], 0), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.device.memory.spill", NULL), ND4C_OK);
}

static const char *names[2] = {"stub:0", "stub:1"};

static int start(void **state) {
  (void)state;
  if (stub_start() != ND4C_OK || nd4c_device_find("cpu", &devices[0]) != ND4C_OK ||
      nd4c_device_find(names[0], &devices[1]) != ND4C_OK || nd4c_device_find(names[1], &devices[2]) != ND4C_OK) {
    return 1;
  }
  for (int i = 0; i < SHARED; i++) {
    if (nd4c_array_full(ND4C_FLOAT32, 1, shape, i, devices[i % 3], &shared[i]) != ND4C_OK) {
      return 1;
    }
  }
  return 0;
}

static int stop(void **state) {
  (void)state;
  for (int i = 0; i < SHARED; i++) {
    nd4c_array_release(shared[i]);
  }
  for (int i = 0; i < 3; i++) {
    nd4c_memory_info info = {.struct_size = sizeof info};
    (void)nd4c_device_synchronize(devices[i]);
    (void)nd4c_memory_trim(devices[i], 0);
    if (nd4c_memory_get_info(devices[i], &info) != ND4C_OK || info.live_bytes + (i > 0) * info.cached_bytes != 0) {
      print_error("device %d holds %lld bytes, %lld cached\n", i, (long long)info.live_bytes,
                  (long long)info.cached_bytes);
      return 1;
    }
  }
  return stub_stop();
}

/* Arguments: turns of each thread; two devices instead of the stub's. Exits with 77 if the machine lacks the first. */
int main(int argc, char **argv) {
  nd4c_device *device = NULL;
  turns = argc > 1 ? strtol(argv[1], NULL, 10) : turns;
  if (argc > 3) {
    names[0] = argv[2];
    names[1] = argv[3];
    if (nd4c_device_find(names[0], &device) != ND4C_OK) {
      print_message("skipped: %s\n", nd4c_error_message());
      return 77;
    }
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(with_memory_to_spare),
      cmocka_unit_test(with_little_memory),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
