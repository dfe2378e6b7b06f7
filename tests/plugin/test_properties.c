/* Properties that providers declare: refusals of a table, and the handling of values that are set before the provider
 * is loaded, by the environment and by nd4c_config_set. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../device/stub_plugin.h"
#include "base/alloc.h"
#include "base/config/config.h"
#include "device/provider/provider_check.h"

static const nd4c_plugin_property sound = {.struct_size = ND4C_SIZE_OF(nd4c_plugin_property),
                                           .type = ND4C_PROPERTY_STRING,
                                           .name = "nd4c.acme-2.pace",
                                           .environment = "ND4C_ACME_2_PACE",
                                           .default_value = "slow",
                                           .words = "slow,fast",
                                           .meaning = "How fast it is"};

static nd4c_status check(const nd4c_plugin_property *property) {
  return nd4c_provider_check_properties("x.so", "Acme-2", &property, 1);
}

/* Each row breaks one field. */
static void refuses_what_is_spoilt(void **state) {
  (void)state;
  char long_name[80] = "nd4c.acme-2.";
  memset(long_name + strlen(long_name), 'a', sizeof long_name - strlen(long_name) - 1);
#define SPOIL(field, value, expected) {offsetof(nd4c_plugin_property, field), value, expected}
  const struct {
    size_t field;
    const char *value, *words;
  } rows[] = {SPOIL(name, NULL, "property \"NULL\": expected nd4c.PROVIDER.NAME"),
              SPOIL(name, "backend.type", "expected nd4c.PROVIDER.NAME"),
              SPOIL(name, "nd4c.other.pace", "expected nd4c.PROVIDER.NAME"),
              SPOIL(name, "nd4c.Acme-2.pace", "expected nd4c.PROVIDER.NAME"),
              SPOIL(name, "nd4c.acme-2.", "expected nd4c.PROVIDER.NAME"),
              SPOIL(name, "nd4c.acme-2.Pace", "expected nd4c.PROVIDER.NAME"),
              SPOIL(name, "nd4c.acme-2.pa ce", "expected nd4c.PROVIDER.NAME"),
              SPOIL(name, "nd4c.acme-2.pace\n", "property \"nd4c.acme-2.pace?\": expected"),
              SPOIL(name, "nd4c.acme-22.pace", "expected nd4c.PROVIDER.NAME"),
              SPOIL(name, long_name, "of less than 64 bytes"),
              SPOIL(environment, NULL, "variable \"NULL\": expected ND4C_PROVIDER_NAME"),
              SPOIL(environment, "PATH", "variable \"PATH\""),
              SPOIL(environment, "ND4C_ACME-2_PACE", "expected ND4C_PROVIDER_NAME"),
              SPOIL(environment, "ND4C_ACME_2_pace", "in capitals"),
              SPOIL(default_value, NULL, "default \"NULL\" is not valid: expected slow,fast"),
              SPOIL(default_value, "brisk", "default \"brisk\" is not valid: expected slow,fast"),
              SPOIL(words, "", "words are for a string"),
              SPOIL(words, "slow,,fast", "words are for a string"),
              SPOIL(words, "slow,Fast", "words are for a string"),
              SPOIL(meaning, NULL, "its meaning is not one line"),
              SPOIL(meaning, "", "its meaning is not one line"),
              SPOIL(meaning, "two\nlines", "its meaning is not one line"),
              SPOIL(meaning, "\xff", "its meaning is not one line")};
#undef SPOIL
  assert_int_equal(check(&sound), ND4C_OK);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    nd4c_plugin_property spoilt = sound;
    memcpy((char *)&spoilt + rows[i].field, &rows[i].value, sizeof rows[i].value);
    if (check(&spoilt) != ND4C_ABI || strstr(nd4c_error_message(), rows[i].words) == NULL) {
      fail_msg("row %zu: \"%s\", expected \"%s\"", i, nd4c_error_message(), rows[i].words);
    }
  }
}

static void refuses_types_and_tables(void **state) {
  (void)state;
  nd4c_plugin_property spoilt = sound;
  spoilt.type = (nd4c_property_type)10;
  assert_int_equal(check(&spoilt), ND4C_ABI);
  assert_non_null(strstr(nd4c_error_message(), "property nd4c.acme-2.pace has type 10, which nd4c does not know"));
  spoilt = sound;
  spoilt.type = ND4C_PROPERTY_LIST; /* only a string has words */
  assert_int_equal(check(&spoilt), ND4C_ABI);
  spoilt = sound;
  spoilt.type = ND4C_PROPERTY_INT;
  spoilt.words = NULL;
  assert_int_equal(check(&spoilt), ND4C_ABI);
  assert_non_null(strstr(nd4c_error_message(), "default \"slow\" is not valid: expected an integer"));
  spoilt = sound;
  spoilt.struct_size = offsetof(nd4c_plugin_property, meaning);
  assert_int_equal(check(&spoilt), ND4C_ABI);
  assert_non_null(strstr(nd4c_error_message(), "struct_size of property 0 is"));
  nd4c_plugin_property twin = sound;
  twin.name = "nd4c.acme-2.other";
  const nd4c_plugin_property *const twins[] = {&sound, &twin}, *const holes[] = {&sound, NULL};
  assert_int_equal(nd4c_provider_check_properties("x.so", "acme-2", twins, 2), ND4C_ABI);
  assert_non_null(strstr(nd4c_error_message(), "declares ND4C_ACME_2_PACE twice"));
  assert_int_equal(nd4c_provider_check_properties("x.so", "acme-2", holes, 2), ND4C_ABI);
  assert_int_equal(nd4c_provider_check_properties("x.so", "acme-2", NULL, 1), ND4C_ABI);
  assert_int_equal(nd4c_provider_check_properties("x.so", "acme-2", holes, -1), ND4C_ABI);
  assert_int_equal(nd4c_provider_check_properties("x.so", "acme-2", holes, 65), ND4C_ABI);
  assert_int_equal(nd4c_provider_check_properties("x.so", "acme-2", NULL, 0), ND4C_OK);
}

static nd4c_status declare(const char *provider, const char *name, const char *environment, const char *preset) {
  nd4c_config_definition row = {.property = name,
                                .environment = environment,
                                .type = nd4c_config_type_int,
                                .preset = preset,
                                .meaning = "a number of a test",
                                .owner = provider};
  const nd4c_status status = nd4c_config_prepare("x.so", &row, 1);
  if (status == ND4C_OK) {
    (void)nd4c_config_declare(&row, 1);
  }
  return status;
}

/* Names of other owners are refused with the whole table, which is then not listed. Repeating the same declaration is
 * allowed. */
static void refuses_names_that_are_taken(void **state) {
  (void)state;
  const int32_t count = nd4c_config_count();
  assert_int_equal(declare("cpu", "nd4c.cpu.level", "ND4C_CPU_OTHER", "0"), ND4C_NAME);
  assert_non_null(strstr(nd4c_error_message(), "nd4c.cpu.level is nd4c's already"));
  assert_int_equal(declare("cpu", "nd4c.cpu.math", "ND4C_CPU_MATH", "0"), ND4C_NAME);
  assert_non_null(strstr(nd4c_error_message(), "nd4c.cpu.math is cpu's already, where it is string"));
  assert_int_equal(declare("acme_1", "nd4c.acme_1.x", "ND4C_ACME_1_X", "4"), ND4C_OK);
  assert_int_equal(declare("acme-1", "nd4c.acme-1.x", "ND4C_ACME_1_X", "4"), ND4C_NAME);
  assert_non_null(strstr(nd4c_error_message(), "ND4C_ACME_1_X is acme_1's already"));
  assert_int_equal(declare("acme_1", "nd4c.acme_1.x", "ND4C_ACME_1_X", "5"), ND4C_NAME);
  assert_int_equal(declare("acme_1", "nd4c.acme_1.x", "ND4C_ACME_1_X", "4"), ND4C_OK);
  assert_int_equal(nd4c_config_count(), count + 1);
}

static nd4c_config_row row_of(const char *property) {
  nd4c_config_row row = {.struct_size = sizeof row};
  for (int32_t i = 0; nd4c_config_get_row(i, &row) == ND4C_OK; i++) {
    if (strcmp(row.property, property) == 0) {
      return row;
    }
  }
  fail_msg("%s is not listed", property);
  return row;
}

/* Values wait for a provider and are listed meanwhile. When the provider declares the property, they are taken or
 * refused. */
static void keeps_what_comes_early(void **state) {
  (void)state;
  const char *value = NULL;
  const int32_t count = nd4c_config_count();
  assert_int_equal(nd4c_config_set("nd4c.early.a", "7"), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.early.a", "12"), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.early.b", "many"), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.early.c", "1"), ND4C_OK);
  assert_int_equal(nd4c_config_set("nd4c.early.c", NULL), ND4C_OK);
  assert_int_equal(nd4c_config_count(), count + 2);
  assert_int_equal(nd4c_config_get("nd4c.early.a", &value), ND4C_OK);
  assert_string_equal(value, "12");
  assert_string_equal(row_of("nd4c.early.a").provider, "");
  assert_int_equal(nd4c_config_get("nd4c.early.c", &value), ND4C_NAME);
  /* Strict, no device opens while a value waits: its name may be mistyped. */
  nd4c_device *device = NULL;
  assert_int_equal(nd4c_config_set("nd4c.strict", "true"), ND4C_OK);
  assert_int_equal(nd4c_device_find("cpu", &device), ND4C_STRICT);
  assert_non_null(strstr(nd4c_error_message(), "nd4c.early.a is set, but no provider that was loaded declares it"));
  assert_int_equal(nd4c_config_set("nd4c.strict", NULL), ND4C_OK);

  (void)setenv("ND4C_EARLY_A", "3", 1);
  (void)setenv("ND4C_EARLY_C", "5", 1);
  const uint32_t epoch = nd4c_config_epoch;
  assert_int_equal(declare("early", "nd4c.early.a", "ND4C_EARLY_A", "1"), ND4C_OK);
  assert_int_not_equal(nd4c_config_epoch, epoch);
  assert_int_equal(declare("early", "nd4c.early.b", "ND4C_EARLY_B", "2"), ND4C_OK);
  assert_int_equal(declare("early", "nd4c.early.c", "ND4C_EARLY_C", "2"), ND4C_OK);
  int64_t number = 0;
  assert_true(nd4c_config_number(nd4c_config_find("nd4c.early.a"), &number));
  assert_int_equal(number, 12);
  assert_true(nd4c_config_number(nd4c_config_find("ND4C_EARLY_C"), &number));
  assert_int_equal(number, 5);
  assert_string_equal(row_of("nd4c.early.a").provider, "early");
  assert_int_equal(row_of("nd4c.early.a").source, ND4C_CONFIG_SET);
  assert_int_equal(nd4c_config_set("nd4c.early.a", NULL), ND4C_OK);
  assert_string_equal(row_of("nd4c.early.a").value, "3");
  assert_int_equal(row_of("nd4c.early.a").source, ND4C_CONFIG_ENVIRONMENT);
  /* A value that does not parse is refused until it is corrected. */
  assert_string_equal(row_of("nd4c.early.b").refused, "many");
  assert_string_equal(row_of("nd4c.early.b").value, "2");
  assert_int_equal(nd4c_config_check_environment(), ND4C_CONFIG);
  assert_string_equal(
      nd4c_error_message(),
      "nd4c.early.b (set before its provider was loaded) = \"many\": expected an integer from 0 to 65536");
  assert_int_equal(nd4c_config_set("nd4c.early.b", "few"), ND4C_CONFIG);
  assert_int_equal(nd4c_config_check_environment(), ND4C_CONFIG);
  assert_int_equal(nd4c_config_set("nd4c.early.b", NULL), ND4C_OK);
  assert_null(row_of("nd4c.early.b").refused);
  assert_int_equal(nd4c_config_check_environment(), ND4C_OK);
}

/* Names that may be typing errors, or that no provider can declare, are refused at once. */
static void refuses_early_names_that_look_mistyped(void **state) {
  (void)state;
  static const char *const names[] = {"nd4c.memroy.cache", "nd4c.memory.cash", "nd4c.memory.something_else",
                                      "nd4c.acme",         "nd4c.acme.",       "acme.speed",
                                      "nd4c.Acme.speed",   "ND4C_ACME_SPEED",  "nd4c.opencl.speed_of_light"};
  const int32_t count = nd4c_config_count();
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (nd4c_config_set(names[i], "1") != ND4C_NAME || strstr(nd4c_error_message(), "there is no property") == NULL) {
      fail_msg("%s was not refused: %s", names[i], nd4c_error_message());
    }
  }
  assert_int_equal(nd4c_config_count(), count);
}

static void bears_lack_of_memory(void **state) {
  (void)state;
  nd4c_allocation_fail_at(0);
  assert_int_equal(nd4c_config_set("nd4c.meagre.a", "1"), ND4C_MEMORY);
  nd4c_allocation_fail_at(1);
  assert_int_equal(nd4c_config_set("nd4c.meagre.a", "1"), ND4C_MEMORY);
  nd4c_allocation_fail_at(-1);
  const char *value = NULL;
  assert_int_equal(nd4c_config_get("nd4c.meagre.a", &value), ND4C_NAME);
  (void)setenv("ND4C_MEAGRE_A", "9", 1);
  for (int64_t skip = 0; skip < 2; skip++) {
    nd4c_allocation_fail_at(skip);
    assert_int_equal(declare("meagre", "nd4c.meagre.a", "ND4C_MEAGRE_A", "1"), ND4C_MEMORY);
    nd4c_allocation_fail_at(-1);
    assert_int_equal(nd4c_config_get("nd4c.meagre.a", &value), ND4C_NAME);
  }
  assert_int_equal(declare("meagre", "nd4c.meagre.a", "ND4C_MEAGRE_A", "1"), ND4C_OK);
  assert_int_equal(nd4c_config_get("nd4c.meagre.a", &value), ND4C_OK);
  assert_string_equal(value, "9");
}

static void bounds_what_waits(void **state) {
  (void)state;
  char name[32];
  nd4c_status status = ND4C_OK;
  int kept = 0;
  for (; status == ND4C_OK && kept < 100; kept += status == ND4C_OK) {
    (void)snprintf(name, sizeof name, "nd4c.crowd.number_%d", kept);
    status = nd4c_config_set(name, "1");
  }
  assert_int_equal(status, ND4C_CONFIG);
  assert_int_equal(kept, 64);
  while (kept-- > 0) {
    (void)snprintf(name, sizeof name, "nd4c.crowd.number_%d", kept);
    assert_int_equal(nd4c_config_set(name, NULL), ND4C_OK);
  }
}

/* A plug-in whose properties are refused adds none; one that is accepted reads its own as it is opened. */
static void serves_a_plugin(void **state) {
  (void)state;
  static const struct {
    const char *lie, *words;
  } rows[] = {{"properties", "property_count is 1 without a table"},
              {"property_count", "property_count is 65, expected 0 to 64"},
              {"property", "property nd4c.stub.delay has type 4711"},
              {"property_name", "property \"backend.type\": expected nd4c.PROVIDER.NAME"}};
  const int32_t count = nd4c_config_count();
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    (void)setenv("STUB_LIE", rows[i].lie, 1);
    assert_int_equal(nd4c_backend_load(STUB_PATH), ND4C_ABI);
    assert_non_null(strstr(nd4c_error_message(), rows[i].words));
    assert_int_equal(nd4c_config_count(), count);
  }
  (void)unsetenv("STUB_LIE");
  assert_int_equal(nd4c_config_set("nd4c.stub.delay", "2"), ND4C_OK);
  assert_int_equal(stub_start(), ND4C_OK);
  assert_int_equal(nd4c_config_count(), count + 1);
  const nd4c_config_row row = row_of("nd4c.stub.delay");
  assert_string_equal(row.provider, "stub");
  assert_string_equal(row.environment, "ND4C_STUB_DELAY");
  assert_string_equal(row.type, "int");
  assert_string_equal(row.value, "2");
  assert_int_equal(stub_counter("violations"), 0);
  assert_int_equal(nd4c_config_set("nd4c.stub.delay", "never"), ND4C_CONFIG);
  assert_int_equal(nd4c_config_set("nd4c.stub.delya", "1"), ND4C_NAME);
  (void)nd4c_context_destroy(stub_context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(refuses_what_is_spoilt),
                                     cmocka_unit_test(refuses_types_and_tables),
                                     cmocka_unit_test(refuses_names_that_are_taken),
                                     cmocka_unit_test(keeps_what_comes_early),
                                     cmocka_unit_test(refuses_early_names_that_look_mistyped),
                                     cmocka_unit_test(bears_lack_of_memory),
                                     cmocka_unit_test(bounds_what_waits),
                                     cmocka_unit_test(serves_a_plugin)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
