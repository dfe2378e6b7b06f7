/* Properties: their table, parsing of values, the environment, properties of one device: src/base/config. */
#define _GNU_SOURCE /* putenv */

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "nd4c/log.h"

static const struct {
  const char *property, *value;
  int64_t number;
} good_values[] = {
    {"nd4c.strict", "true", 1},
    {"nd4c.strict", "OFF", 0},
    {"nd4c.strict", "1", 1},
    {"nd4c.strict", "No", 0},
    {"nd4c.width", "0", 0},
    {"nd4c.width", "12", 12},
    {"org.bytedeco.javacpp.maxbytes", "1024", 1024},
    {"org.bytedeco.javacpp.maxbytes", "512m", INT64_C(512) << 20},
    {"org.bytedeco.javacpp.maxbytes", "2G", INT64_C(2) << 30},
    {"org.bytedeco.javacpp.maxbytes", "3kb", 3072},
    {"org.bytedeco.javacpp.maxbytes", "1t", INT64_C(1) << 40},
    {"ND4C_MEMORY_MAX_BYTES", "7b", 7},
    {"nd4c.pool", "serial", 0},
    {"nd4c.cpu.level", "", 0},
    {"nd4c.library.path", "", 0},
    {"nd4c.library.path", " /opt/lib, ,/usr/local/lib ,", 0},
    {"backend.type", "anything goes", 0},
    {"nd4j.multibackend.trace", "", 0},
    {"nd4j.multibackend.trace", "No", 0},
    {"nd4j.multibackend.trace", "0", 0},
    {"nd4j.multibackend.trace", "on", 1},
    {"nd4j.multibackend.trace", "./0", 1},
};

static int64_t number_of(const char *property) {
  for (int32_t key = 0; key < nd4c_config_count(); key++) {
    nd4c_config_row row = {.struct_size = sizeof row};
    assert_int_equal(nd4c_config_get_row(key, &row), ND4C_OK);
    if (strcmp(row.property, property) == 0 || strcmp(row.environment, property) == 0) {
      return nd4c_config_int((nd4c_config_key)key);
    }
  }
  fail_msg("%s is not in the table", property);
  return 0;
}

static void test_good_values(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof good_values / sizeof good_values[0]; i++) {
    const char *property = good_values[i].property, *now = NULL;
    uint32_t epoch = nd4c_config_epoch;
    if (nd4c_config_set(property, good_values[i].value) != ND4C_OK || number_of(property) != good_values[i].number ||
        nd4c_config_get(property, &now) != ND4C_OK || strcmp(now, good_values[i].value) != 0 ||
        nd4c_config_epoch == epoch) {
      fail_msg("%s = \"%s\": %lld, expected %lld (%s)", property, good_values[i].value, (long long)number_of(property),
               (long long)good_values[i].number, nd4c_error_message());
    }
    assert_int_equal(nd4c_config_set(property, NULL), ND4C_OK);
  }
}

#define DIRECTORIES \
  "directories that begin with '/', separated by commas; a relative one would depend on the current directory"

#define FILE_PATH "true, false, or a file's path with a '/' in it, such as ./trace.json"

#define NO_DEVICE(name)                                                                                               \
  "there is no property \"" name                                                                                      \
  "\": after the prefix expected a device type (CPU, CUDA, ROCM, TPU, HEXAGON, OPENCL, METAL, VULKAN, OTHER) and an " \
  "index from 0 to 31, as in nd4j.device.memory.cap.OPENCL.0"

static const struct {
  const char *property, *value;
  nd4c_status status;
  const char *text;
} bad_values[] = {
    {"nd4c.strict", "maybe", ND4C_CONFIG, "nd4c.strict = \"maybe\": expected true or false"},
    {"nd4c.opencl.cache", "kernels", ND4C_CONFIG,
     "nd4c.opencl.cache = \"kernels\": expected a directory that begins with '/', or off; a relative one would depend "
     "on the current directory"},
    {"nd4c.strict", "", ND4C_CONFIG, "nd4c.strict = \"\": expected true or false"},
    {"nd4c.width", "-1", ND4C_CONFIG, "nd4c.width = \"-1\": expected an integer from 0 to 65536"},
    {"ND4C_WIDTH", "2x", ND4C_CONFIG, "ND4C_WIDTH = \"2x\": expected an integer from 0 to 65536"},
    {"nd4c.width", "99999999999999999999", ND4C_CONFIG,
     "nd4c.width = \"99999999999999999999\": expected an integer from 0 to 65536"},
    {"nd4c.memory.cache", "8388608t", ND4C_CONFIG,
     "nd4c.memory.cache = \"8388608t\": expected a number of bytes such as 1024, 512m or 2g"},
    {"nd4c.memory.cache", "1gg", ND4C_CONFIG,
     "nd4c.memory.cache = \"1gg\": expected a number of bytes such as 1024, 512m or 2g"},
    {"nd4c.pool", "opnemp", ND4C_CONFIG, "nd4c.pool = \"opnemp\": expected one of auto,openmp,threads,serial"},
    {"nd4c.library.path", "lib", ND4C_CONFIG, "nd4c.library.path = \"lib\": expected " DIRECTORIES},
    {"ND4C_LIBRARY_PATH", "/usr/lib, .", ND4C_CONFIG, "ND4C_LIBRARY_PATH = \"/usr/lib, .\": expected " DIRECTORIES},
    {"nd4j.multibackend.trace", "of", ND4C_CONFIG, "nd4j.multibackend.trace = \"of\": expected " FILE_PATH},
    {"ND4J_MULTIBACKEND_TRACE", "trace.json", ND4C_CONFIG,
     "ND4J_MULTIBACKEND_TRACE = \"trace.json\": expected " FILE_PATH},
    {"nd4c.widht", "2", ND4C_NAME, "there is no property \"nd4c.widht\"; the nearest is \"nd4c.width\""},
    {"backendtype", "cpu", ND4C_NAME, "there is no property \"backendtype\"; the nearest is \"backend.type\""},
    {"ND4C_STRICT_", "1", ND4C_NAME, "there is no property \"ND4C_STRICT_\"; the nearest is \"ND4C_STRICT\""},
    {NULL, "1", ND4C_NULL_ARGUMENT, "config: property is NULL"},
    {"gpuMemoryCapFraction", "1.5", ND4C_CONFIG,
     "gpuMemoryCapFraction = \"1.5\": expected a fraction from 0 to 1 such as 0.8"},
    {"gpuMemoryCapFraction", "1.0000000000000000000000001", ND4C_CONFIG,
     "gpuMemoryCapFraction = \"1.0000000000000000000000001\": expected a fraction from 0 to 1 such as 0.8"},
    {"gpuMemoryCapFraction", "0.", ND4C_CONFIG,
     "gpuMemoryCapFraction = \"0.\": expected a fraction from 0 to 1 such as 0.8"},
    {"gpuMemoryCapFraction", "80%", ND4C_CONFIG,
     "gpuMemoryCapFraction = \"80%\": expected a fraction from 0 to 1 such as 0.8"},
    {"nd4j.device.memory.cap.OPENCL.0", "much", ND4C_CONFIG,
     "nd4j.device.memory.cap.OPENCL.0 = \"much\": expected a number of bytes such as 1024, 512m or 2g"},
    {"nd4j.device.memory.cap.ABACUS.0", "1g", ND4C_NAME, NO_DEVICE("nd4j.device.memory.cap.ABACUS.0")},
    {"nd4j.device.memory.cap.OPENCL.32", "1g", ND4C_NAME, NO_DEVICE("nd4j.device.memory.cap.OPENCL.32")},
    {"nd4j.device.memory.cap.OPENCL.00", "1g", ND4C_NAME, NO_DEVICE("nd4j.device.memory.cap.OPENCL.00")},
    {"nd4j.device.memory.cap.OPENCL", "1g", ND4C_NAME, NO_DEVICE("nd4j.device.memory.cap.OPENCL")},
    {"ND4J_DEVICE_MEMORY_CAP_CUDA_x", "1g", ND4C_NAME, NO_DEVICE("ND4J_DEVICE_MEMORY_CAP_CUDA_x")},
};

static void test_bad_values(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad_values / sizeof bad_values[0]; i++) {
    uint32_t epoch = nd4c_config_epoch;
    assert_int_equal(nd4c_config_set(bad_values[i].property, bad_values[i].value), bad_values[i].status);
    assert_string_equal(nd4c_error_message(), bad_values[i].text);
    assert_int_equal(nd4c_config_epoch, epoch);
  }
}

static void test_rows(void **state) {
  (void)state;
  for (int32_t i = 0; i < nd4c_config_count(); i++) {
    nd4c_config_row row = {.struct_size = sizeof row};
    assert_int_equal(nd4c_config_get_row(i, &row), ND4C_OK);
    assert_true(strlen(row.meaning) > 10);
    if (i == ND4C_CONFIG_DEVICE_MEMORY_CAP) {
      assert_int_equal(nd4c_config_set(row.property, row.default_value), ND4C_NAME); /* one for each device */
      continue;
    }
    /* A default is a value that would be accepted. */
    if (nd4c_config_set(row.property, row.default_value) != ND4C_OK) {
      fail_msg("default of %s: %s", row.property, nd4c_error_message());
    }
    assert_int_equal(nd4c_config_get_row(i, &row), ND4C_OK);
    assert_int_equal(row.source, ND4C_CONFIG_SET);
    assert_int_equal(nd4c_config_set(row.property, NULL), ND4C_OK);
  }
  nd4c_config_row row = {.struct_size = sizeof row};
  assert_int_equal(nd4c_config_get_row(ND4C_CONFIG_POOL, &row), ND4C_OK);
  assert_string_equal(row.expected, "one of auto,openmp,threads,serial");
  assert_null(row.refused);
  /* A program compiled with the first headers of 0.1 lacks these fields, so they stay untouched. */
  memset(&row, 0x5a, sizeof row);
  row.struct_size = (uint32_t)offsetof(nd4c_config_row, refused);
  assert_int_equal(nd4c_config_get_row(ND4C_CONFIG_POOL, &row), ND4C_OK);
  assert_string_equal(row.property, "nd4c.pool");
  assert_memory_equal(&row.refused, "ZZZZZZZZ", sizeof row.refused);
  row.struct_size = sizeof row;
  assert_int_equal(nd4c_config_get_row(-1, &row), ND4C_INDEX);
  assert_int_equal(nd4c_config_get_row(nd4c_config_count(), &row), ND4C_INDEX);
  row.struct_size = 8;
  assert_int_equal(nd4c_config_get_row(0, &row), ND4C_ARGUMENT);
  assert_int_equal(nd4c_config_get_row(0, NULL), ND4C_NULL_ARGUMENT);
}

static void test_environment(void **state) {
  (void)state;
  const char *value = NULL;
  assert_int_equal(nd4c_config_get("SD_KERNEL_FORCE_ENGINE", &value), ND4C_OK);
  assert_string_equal(value, "openblas");
  assert_int_equal(nd4c_config_get_source(ND4C_CONFIG_FORCE_ENGINE), ND4C_CONFIG_ENVIRONMENT);
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", "simd"), ND4C_OK);
  assert_int_equal(nd4c_config_get_source(ND4C_CONFIG_FORCE_ENGINE), ND4C_CONFIG_SET);
  assert_int_equal(nd4c_config_set("SD_KERNEL_FORCE_ENGINE", NULL), ND4C_OK);
  assert_int_equal(nd4c_config_get("SD_KERNEL_FORCE_ENGINE", &value), ND4C_OK);
  assert_string_equal(value, "openblas");
  /* A value that does not parse is reported, and the default stays. */
  assert_int_equal(nd4c_config_check_environment(), ND4C_CONFIG);
  assert_string_equal(
      nd4c_error_message(),
      "nd4c.model.plans (ND4C_MODEL_PLANS in the environment) = \"many\": expected an integer from 0 to 65536");
  nd4c_config_row row = {.struct_size = sizeof row};
  assert_int_equal(nd4c_config_get_row(ND4C_CONFIG_PLAN_CACHE, &row), ND4C_OK);
  assert_string_equal(row.refused, "many");
  assert_string_equal(row.value, "8");
  assert_string_equal(row.expected, "an integer from 0 to 65536");
  assert_int_equal(row.source, ND4C_CONFIG_DEFAULT);
  /* A property that is set does not need the environment's. */
  assert_int_equal(nd4c_config_set("nd4c.model.plans", "3"), ND4C_OK);
  assert_int_equal(nd4c_config_check_environment(), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.model.plans", NULL), ND4C_OK);
  assert_int_equal(nd4c_config_check_environment(), ND4C_CONFIG);
  assert_int_equal(nd4c_config_int(ND4C_CONFIG_PLAN_CACHE), 8);
  assert_int_equal(nd4c_config_get_source(ND4C_CONFIG_PLAN_CACHE), ND4C_CONFIG_DEFAULT);
  /* The environment is read once: a later change has no effect. */
  static char late[] = "SD_KERNEL_FORCE_ENGINE=reference";
  assert_int_equal(putenv(late), 0);
  assert_int_equal(nd4c_config_get("SD_KERNEL_FORCE_ENGINE", &value), ND4C_OK);
  assert_string_equal(value, "openblas");
}

/* One property a device: listed while it has a value, under its own name, also where the environment gives it. */
static void test_families(void **state) {
  (void)state;
  const char *value = NULL;
  nd4c_config_row row = {.struct_size = sizeof row};
  int32_t count = nd4c_config_count();
  assert_int_equal(nd4c_config_get("nd4j.device.memory.cap.OPENCL.3", &value), ND4C_OK);
  assert_string_equal(value, "0");
  assert_int_equal(nd4c_config_set("nd4j.device.memory.cap.opencl.3", "512m"), ND4C_OK);
  assert_int_equal(nd4c_config_set("ND4J_DEVICE_MEMORY_CAP_CUDA_31", "1k"), ND4C_OK);
  assert_int_equal(nd4c_config_device_cap(ND4C_DEVICE_OPENCL, 3), 512 << 20);
  assert_int_equal(nd4c_config_device_cap(ND4C_DEVICE_CUDA, 31), 1024);
  assert_int_equal(nd4c_config_device_cap(ND4C_DEVICE_OPENCL, 2), 0);
  assert_int_equal(nd4c_config_device_cap(ND4C_DEVICE_OPENCL, 99), 0);
  assert_int_equal(nd4c_config_count(), count + 2);
  assert_int_equal(nd4c_config_get_row(count, &row), ND4C_OK);
  assert_string_equal(row.property, "nd4j.device.memory.cap.CUDA.31");
  assert_int_equal(nd4c_config_get_row(count + 1, &row), ND4C_OK);
  assert_string_equal(row.property, "nd4j.device.memory.cap.OPENCL.3");
  assert_string_equal(row.environment, "ND4J_DEVICE_MEMORY_CAP_OPENCL_3");
  assert_string_equal(row.value, "512m");
  assert_string_equal(row.family, "nd4j.device.memory.cap.<TYPE>.<INDEX>");
  assert_int_equal(row.source, ND4C_CONFIG_SET);
  assert_int_equal(nd4c_config_get_row(count + 2, &row), ND4C_INDEX);
  assert_int_equal(nd4c_config_set("nd4j.device.memory.cap.OPENCL.3", NULL), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4j.device.memory.cap.CUDA.31", NULL), ND4C_OK);
  assert_int_equal(nd4c_config_count(), count);
  /* A fraction is kept in parts of 10^18; the smallest one is not none. */
  static const struct {
    const char *text;
    int64_t number;
  } fractions[] = {{"0", 0},
                   {"", 0},
                   {"0.000", 0},
                   {"1", ND4C_FRACTION_ONE},
                   {"1.0", ND4C_FRACTION_ONE},
                   {"0.5", ND4C_FRACTION_ONE / 2},
                   {"0.0000019", 1900000000000},
                   {"0.00000001", 10000000000},
                   {"0.0000000000000000000001", 1},
                   {"0.50000000000000000000001", ND4C_FRACTION_ONE / 2}};
  for (size_t i = 0; i < sizeof fractions / sizeof fractions[0]; i++) {
    assert_int_equal(nd4c_config_set("gpuMemoryCapFraction", fractions[i].text), ND4C_OK);
    assert_int_equal(nd4c_config_int(ND4C_CONFIG_GPU_MEMORY_CAP_FRACTION), fractions[i].number);
  }
  assert_int_equal(nd4c_config_set("gpuMemoryCapFraction", NULL), ND4C_OK);
}

static void test_lists_and_strings(void **state) {
  (void)state;
  assert_int_equal(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", " OpenBLAS ,onednn"), ND4C_OK);
  assert_true(nd4c_config_list_has(ND4C_CONFIG_DISABLE_ENGINES, "openblas"));
  assert_true(nd4c_config_list_has(ND4C_CONFIG_DISABLE_ENGINES, "ONEDNN"));
  assert_false(nd4c_config_list_has(ND4C_CONFIG_DISABLE_ENGINES, "open"));
  assert_false(nd4c_config_list_has(ND4C_CONFIG_DISABLE_ENGINES, "openblasx"));
  assert_false(nd4c_config_list_has(ND4C_CONFIG_DISABLE_ENGINES, ""));
  char buffer[9];
  assert_int_equal(nd4c_config_string(ND4C_CONFIG_DISABLE_ENGINES, buffer, sizeof buffer), 17);
  assert_string_equal(buffer, " OpenBLA");
  assert_int_equal(nd4c_config_set("SD_KERNEL_DISABLE_ENGINES", NULL), ND4C_OK);
  /* Words of any case are read as the table has them. */
  assert_int_equal(nd4c_config_set("nd4c.cpu.level", "AVX2"), ND4C_OK);
  assert_int_equal(nd4c_config_string(ND4C_CONFIG_CPU_LEVEL, buffer, sizeof buffer), 4);
  assert_string_equal(buffer, "avx2");
  assert_int_equal(nd4c_config_set("nd4c.cpu.level", NULL), ND4C_OK);
}

static void test_no_memory(void **state) {
  (void)state;
  nd4c_allocation_fail_at(0);
  nd4c_status status = nd4c_config_set("backend.type", "cpu");
  nd4c_allocation_fail_at(-1);
  assert_int_equal(status, ND4C_MEMORY);
  const char *value = NULL;
  assert_int_equal(nd4c_config_get("backend.type", &value), ND4C_OK);
  assert_string_equal(value, "");
}

typedef struct heard {
  int count;
  char area[32], message[256];
} heard;

static void listen(void *user, nd4c_log_level level, const char *area, const char *message) {
  heard *h = user;
  h->count += level == ND4C_LOG_WARNING;
  strncpy(h->area, area, sizeof h->area - 1);
  strncpy(h->message, message, sizeof h->message - 1);
}

static void *set_and_read(void *argument) {
  for (int i = 0; i < 2000; i++) {
    const char *values[] = {"simd", "reference", NULL};
    char text[64];
    (void)nd4c_config_set("ND4C_CPU_STREAM_BYTES", i % 2 == 0 ? "1m" : NULL);
    (void)nd4c_config_set("SD_KERNEL_FORCE_ENGINE", values[i % 3]);
    (void)nd4c_config_string(ND4C_CONFIG_FORCE_ENGINE, text, sizeof text);
    if (strcmp(text, "simd") != 0 && strcmp(text, "reference") != 0 && strcmp(text, "openblas") != 0) {
      *(int *)argument = 1;
    }
  }
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  pthread_t threads[4];
  int wrong[4] = {0};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, set_and_read, &wrong[i]), 0);
  }
  for (int i = 0; i < 4; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(wrong[i], 0);
  }
}

int main(void) {
  static char force[] = "SD_KERNEL_FORCE_ENGINE=openblas", plans[] = "ND4C_MODEL_PLANS=many", strict[] = "ND4C_STRICT=";
  heard h = {0};
  nd4c_log_set(listen, &h, ND4C_LOG_WARNING);
  if (putenv(force) != 0 || putenv(plans) != 0 || putenv(strict) != 0) {
    return 1;
  }
  (void)nd4c_config_bool(ND4C_CONFIG_STRICT);
  if (h.count != 1 || strcmp(h.area, "config") != 0 || strstr(h.message, "ND4C_MODEL_PLANS") == NULL) {
    print_error("the refused value was not told: %d \"%s\"\n", h.count, h.message);
    return 1;
  }
  nd4c_log_set(NULL, NULL, ND4C_LOG_WARNING);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_good_values), cmocka_unit_test(test_bad_values),        cmocka_unit_test(test_rows),
      cmocka_unit_test(test_families),    cmocka_unit_test(test_lists_and_strings), cmocka_unit_test(test_environment),
      cmocka_unit_test(test_no_memory),   cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
