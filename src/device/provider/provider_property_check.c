/* Checks of the properties that a provider declares (provider_check.h). provider_check.c calls it;
 * device/registry/properties.c takes the rows of a checked provider from it. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config/config_rows.h"
#include "base/status.h"
#include "base/text.h"
#include "device/provider/provider_check.h"

static const char small[] = "abcdefghijklmnopqrstuvwxyz0123456789_-.";
static const char capital[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

static char small_letter(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static char capital_letter(char c) {
  return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c == '-' || c == '.' ? '_' : c;
}

/* Whether the text consists of the prefix, the provider's name mapped by `letter`, the separator, and at least one more
 * character of the set. */
static bool is_in_space(const char *text, const char *prefix, const char *provider, char (*letter)(char),
                        char separator, const char *set) {
  const size_t begin = strlen(prefix), length = strlen(text);
  if (length >= ND4C_PLUGIN_PROPERTY_SIZE || strncmp(text, prefix, begin) != 0) {
    return false;
  }
  const char *at = text + begin;
  for (const char *of = provider; *of != '\0'; of++, at++) {
    if (*at != letter(*of)) {
      return false;
    }
  }
  return *at == separator && at[1] != '\0' && strspn(at + 1, set) == strlen(at + 1);
}

/* Items of small letters, digits and '_', none of them empty. */
static bool are_words(const char *words) {
  enum { WORDS_BYTES = 250 };
  if (strlen(words) > WORDS_BYTES || strspn(words, "abcdefghijklmnopqrstuvwxyz0123456789_,") != strlen(words)) {
    return false;
  }
  const size_t length = strlen(words);
  return length > 0 && words[0] != ',' && words[length - 1] != ',' && strstr(words, ",,") == NULL;
}

static nd4c_status check_names(const char *from, const char *provider, const nd4c_plugin_property *property) {
  if (property->name == NULL || !is_in_space(property->name, "nd4c.", provider, small_letter, '.', small)) {
    return nd4c_fail(ND4C_ABI,
                     "plug-in %s: property \"%.80s\": expected nd4c.PROVIDER.NAME, with the provider's name (%s), in "
                     "lower-case letters, digits, '_', '-' and '.', of less than %d bytes",
                     from, property->name != NULL ? nd4c_provider_words(property->name) : "NULL", provider,
                     ND4C_PLUGIN_PROPERTY_SIZE);
  }
  if (property->environment == NULL ||
      !is_in_space(property->environment, "ND4C_", provider, capital_letter, '_', capital)) {
    return nd4c_fail(
        ND4C_ABI,
        "plug-in %s: property %s: variable \"%.80s\": expected ND4C_PROVIDER_NAME, with the provider's name "
        "(%s), in capitals, digits and '_', of less than %d bytes",
        from, property->name, property->environment != NULL ? nd4c_provider_words(property->environment) : "NULL",
        provider, ND4C_PLUGIN_PROPERTY_SIZE);
  }
  return ND4C_OK;
}

static nd4c_status check_value(const char *from, const nd4c_plugin_property *property) {
  const nd4c_config_type type = (nd4c_config_type)property->type;
  int64_t number;
  if (nd4c_config_type_name(type) == NULL) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: property %s has type %d, which nd4c does not know", from, property->name,
                     (int)property->type);
  }
  if (property->words != NULL && (type != nd4c_config_type_string || !are_words(property->words))) {
    return nd4c_fail(
        ND4C_ABI,
        "plug-in %s: property %s: words are for a string, in lower-case letters, digits and '_', separated "
        "by commas, of at most 250 bytes",
        from, property->name);
  }
  if (property->default_value == NULL || !nd4c_provider_is_line(property->default_value) ||
      !nd4c_config_value_parse(type, property->words, property->default_value, &number)) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: property %s: default \"%.80s\" is not valid: expected %s", from,
                     property->name,
                     property->default_value != NULL ? nd4c_provider_words(property->default_value) : "NULL",
                     property->words != NULL ? property->words : nd4c_config_value_expectation(type));
  }
  if (property->meaning == NULL || property->meaning[0] == '\0' || !nd4c_provider_is_line(property->meaning)) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: property %s: its meaning is not one line of 1 to 500 bytes of UTF-8", from,
                     property->name);
  }
  return ND4C_OK;
}

/* Whether an earlier property of the table has one of the names. */
static const char *repeated(const nd4c_plugin_property *const *properties, int32_t at) {
  for (int32_t i = 0; i < at; i++) {
    if (strcmp(properties[i]->name, properties[at]->name) == 0) {
      return properties[at]->name;
    }
    if (strcmp(properties[i]->environment, properties[at]->environment) == 0) {
      return properties[at]->environment;
    }
  }
  return NULL;
}

nd4c_status nd4c_provider_check_properties(const char *from, const char *provider,
                                           const nd4c_plugin_property *const *properties, int32_t count) {
  if (count < 0 || count > ND4C_PLUGIN_PROPERTY_LIMIT || (count > 0 && properties == NULL)) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: property_count is %d%s, expected 0 to %d with a table", from, count,
                     properties == NULL ? " without a table" : "", ND4C_PLUGIN_PROPERTY_LIMIT);
  }
  for (int32_t i = 0; i < count; i++) {
    const nd4c_plugin_property *property = properties[i];
    if (property == NULL) {
      return nd4c_fail(ND4C_ABI, "plug-in %s: property %d is NULL", from, i);
    }
    if (!ND4C_HAS_FIELD(property, meaning)) {
      char what[32];
      (void)snprintf(what, sizeof what, "property %d", (int)i);
      return nd4c_provider_fail_short(from, what, property->struct_size, "nd4c_plugin_property");
    }
    ND4C_TRY(check_names(from, provider, property));
    ND4C_TRY(check_value(from, property));
    const char *twice = repeated(properties, i);
    if (twice != NULL) {
      return nd4c_fail(ND4C_ABI, "plug-in %s declares %s twice", from, twice);
    }
  }
  return ND4C_OK;
}

static nd4c_status define(const char *provider, const nd4c_plugin_property *property,
                          nd4c_config_definition *definition) {
  enum { EXPECTED_BYTES = 300 };
  char expected[EXPECTED_BYTES];
  *definition = (nd4c_config_definition){.property = property->name,
                                         .environment = property->environment,
                                         .type = (nd4c_config_type)property->type,
                                         .preset = property->default_value,
                                         .meaning = property->meaning,
                                         .words = property->words,
                                         .owner = nd4c_text_intern(provider)};
  if (property->words != NULL) {
    (void)snprintf(expected, sizeof expected, "one of %s", property->words);
    definition->expected = nd4c_text_intern(expected);
  }
  return definition->owner != NULL && (property->words == NULL || definition->expected != NULL)
             ? ND4C_OK
             : nd4c_fail_memory("a property's words", sizeof expected);
}

nd4c_status nd4c_provider_define_properties(const nd4c_provider *provider, nd4c_config_definition **definitions) {
  const int32_t count = provider->property_count;
  nd4c_config_definition *made = nd4c_allocate_zeroed((size_t)count + 1, sizeof *made);
  nd4c_status status =
      made != NULL ? ND4C_OK : nd4c_fail_memory("the properties of a plug-in", (size_t)count * sizeof *made);
  for (int32_t i = 0; status == ND4C_OK && i < count; i++) {
    status = define(provider->name, provider->properties[i], &made[i]);
  }
  if (status != ND4C_OK) {
    nd4c_deallocate(made);
    made = NULL;
  }
  *definitions = made;
  return status;
}
