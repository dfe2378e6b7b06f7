/* The stub plug-in in tests: its path, and commands that control it. */
#ifndef TESTS_DEVICE_STUB_PLUGIN_H
#define TESTS_DEVICE_STUB_PLUGIN_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nd4c/nd4c.h"

#define STUB_PATH ND4C_TEST_BINARY_DIR "/lib/libnd4c_stub.so"
#define STUB_NO_ENTRY_PATH ND4C_TEST_BINARY_DIR "/lib/libnd4c_stub_no_entry.so"
#define STUB_UNRESOLVED_PATH ND4C_TEST_BINARY_DIR "/lib/libnd4c_stub_unresolved.so"

static int32_t (*stub_control)(const char *command);
static int64_t (*stub_counter)(const char *name);
static nd4c_device *stub_device;   /* stub:0 */
static nd4c_context *stub_context; /* on it */

/* Loads the plug-in and opens its first device. */
static inline nd4c_status stub_start(void) {
  nd4c_status status = nd4c_backend_load(STUB_PATH);
  if (status == ND4C_OK) {
    status = nd4c_device_find("stub:0", &stub_device);
  }
  void *library = dlopen(STUB_PATH, RTLD_NOW);
  void *control = library != NULL ? dlsym(library, "stub_control") : NULL;
  void *counter = library != NULL ? dlsym(library, "stub_counter") : NULL;
  if (status != ND4C_OK || control == NULL || counter == NULL) {
    (void)fprintf(stderr, "the stub does not start: %s\n", nd4c_error_message());
    return ND4C_LIBRARY;
  }
  memcpy(&stub_control, &control, sizeof control);
  memcpy(&stub_counter, &counter, sizeof counter);
  nd4c_context_options options = {.struct_size = sizeof options, .device = stub_device};
  return nd4c_context_create(&options, &stub_context);
}

/* Sends the stub a command. A command that it does not know ends the program. */
static inline void stub_order(const char *command) {
  if (stub_control(command) != ND4C_OK) {
    (void)fprintf(stderr, "the stub does not know: %s\n", command);
    abort();
  }
}

/* Frees cached and finished objects, so that counters show only held ones. */
static inline void stub_settle(void) {
  (void)nd4c_device_synchronize(stub_device);
  (void)nd4c_memory_trim(stub_device, 0);
  nd4c_error_clear();
}

/* Prints the stub's counts of these objects; returns their number. */
static inline int stub_left(const char *const *counters, size_t count) {
  int left = 0;
  for (size_t i = 0; i < count; i++) {
    if (stub_counter(counters[i]) != 0) {
      (void)fprintf(stderr, "left: %lld %s\n", (long long)stub_counter(counters[i]), counters[i]);
      left++;
    }
  }
  return left;
}

/* Around a cmocka test, after which streams and contexts stay alive: clears pending failures and caches. */
static inline int stub_test_begin(void **state) {
  (void)state;
  (void)stub_control("reset");
  stub_settle();
  return 0;
}

/* Fails if the test has left an object on the device. */
static inline int stub_test_end(void **state) {
  static const char *const counters[] = {"buffers", "fences", "violations", "recordings", "launchables", "members"};
  (void)stub_test_begin(state);
  return stub_left(counters, sizeof counters / sizeof counters[0]);
}

/* Ends a test: destroys its contexts and releases its arrays. Prints the objects that the stub still counts; returns
 * their number. */
static inline int stub_stop(void) {
  static const char *const counters[] = {"buffers",    "fences",     "streams",     "pinned",
                                         "violations", "recordings", "launchables", "members"};
  nd4c_device *second = NULL;
  (void)nd4c_context_destroy(stub_context);
  stub_settle();
  if (nd4c_device_find("stub:1", &second) == ND4C_OK) {
    (void)nd4c_device_synchronize(second);
    (void)nd4c_memory_trim(second, 0);
  }
  return stub_left(counters, sizeof counters / sizeof counters[0]);
}

#endif
