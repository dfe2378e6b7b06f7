/* Implements config_value.h: one parser for each type. config.c calls it when a value is set or read from the
 * environment, device/provider/provider_property_check.c for the defaults of a provider's properties. */
#include "base/config/config_value.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/text.h"

/* Larger widths and counts are mistakes, and sizes computed from them would overflow. */
enum { INT_VALUE_LIMIT = 65536 };

const char *nd4c_config_type_name(nd4c_config_type type) {
  switch (type) {
#define TYPE_CASE(name, number) \
  case nd4c_config_type_##name: \
    return #name;
    ND4C_CONFIG_TYPE_TABLE(TYPE_CASE)
#undef TYPE_CASE
  }
  return NULL;
}

bool nd4c_config_value_has(const char *list, const char *item) {
  while (*list != '\0') {
    size_t length = strcspn(list, ",");
    const char *begin = list, *end = list + length;
    while (begin < end && isspace((unsigned char)*begin)) {
      begin++;
    }
    while (end > begin && isspace((unsigned char)end[-1])) {
      end--;
    }
    const size_t item_length = (size_t)(end - begin);
    if (end > begin && nd4c_text_begins_any_case(item, begin, item_length) && item[item_length] == '\0') {
      return true;
    }
    list += length + (list[length] == ',');
  }
  return false;
}

static bool parse_bool(const char *text, int64_t *number) {
  bool yes = nd4c_config_value_has("true,yes,on,1", text);
  *number = yes;
  return yes || nd4c_config_value_has("false,no,off,0", text);
}

/* A text without a '/' is more likely a mistyped word than a file in the current directory. */
static bool parse_file(const char *text, int64_t *number) {
  *number = strchr(text, '/') != NULL;
  return *number != 0 || text[0] == '\0' || parse_bool(text, number);
}

static bool parse_int(const char *text, int64_t *number, char **end) {
  if (!isdigit((unsigned char)text[0])) {
    return false;
  }
  errno = 0;
  *number = strtoll(text, end, 10);
  return errno == 0;
}

/* A number and an optional k, m, g or t (powers of 1024), which may be followed by b. */
static bool parse_bytes(const char *text, int64_t *number) {
  char *end;
  if (!parse_int(text, number, &end)) {
    return false;
  }
  static const char units[] = "kmgt";
  const char *unit = *end != '\0' ? strchr(units, tolower((unsigned char)*end)) : NULL;
  if (unit != NULL) {
    end++;
    if (!nd4c_checked_multiply(*number, INT64_C(1) << (10 * (unit - units + 1)), number)) {
      return false;
    }
  }
  end += tolower((unsigned char)*end) == 'b';
  return *end == '\0';
}

/* 0 to 1 with a decimal point, in units of 1 / ND4C_FRACTION_ONE. Surplus digits are cut, but a value above 0 stays
 * above 0, and a value above 1 stays above 1. */
static bool parse_fraction(const char *text, int64_t *number) {
  int64_t unit = ND4C_FRACTION_ONE;
  bool rest = false;
  *number = 0;
  if (text[0] == '\0') {
    return true;
  }
  if (text[0] != '0' && text[0] != '1') {
    return false;
  }
  *number = (text[0] - '0') * unit;
  const char *digit = text + 1;
  if (*digit == '.' && isdigit((unsigned char)digit[1])) {
    for (++digit; isdigit((unsigned char)*digit); digit++) {
      unit /= 10;
      *number += (*digit - '0') * unit;
      rest = rest || (unit == 0 && *digit != '0');
    }
  }
  if (rest && (*number == 0 || *number == ND4C_FRACTION_ONE)) {
    ++*number;
  }
  return *digit == '\0' && *number <= ND4C_FRACTION_ONE;
}

static bool all_absolute(const char *list) {
  while (*list != '\0') {
    list += strspn(list, ", \t");
    if (*list != '/' && *list != '\0') {
      return false;
    }
    list += strcspn(list, ",");
  }
  return true;
}

const char *nd4c_config_value_expectation(nd4c_config_type type) {
  switch (type) {
    case nd4c_config_type_bool:
      return "true or false";
    case nd4c_config_type_int:
      return "an integer from 0 to 65536";
    case nd4c_config_type_bytes:
      return "a number of bytes such as 1024, 512m or 2g";
    case nd4c_config_type_fraction:
      return "a fraction from 0 to 1 such as 0.8";
    case nd4c_config_type_directory:
      return "a directory that begins with '/', or off; a relative one would depend on the current directory";
    case nd4c_config_type_directories:
      return "directories that begin with '/', separated by commas; a relative one would depend on the current "
             "directory";
    case nd4c_config_type_file:
      return "true, false, or a file's path with a '/' in it, such as ./trace.json";
    case nd4c_config_type_string:
    case nd4c_config_type_list:
      break;
  }
  return "a text";
}

bool nd4c_config_value_parse(nd4c_config_type type, const char *words, const char *text, int64_t *number) {
  char *end;
  *number = 0;
  switch (type) {
    case nd4c_config_type_bool:
      return parse_bool(text, number);
    case nd4c_config_type_int:
      return parse_int(text, number, &end) && *end == '\0' && *number <= INT_VALUE_LIMIT;
    case nd4c_config_type_bytes:
      return parse_bytes(text, number);
    case nd4c_config_type_fraction:
      return parse_fraction(text, number);
    case nd4c_config_type_directory:
      return text[0] == '/' || text[0] == '\0' || strcmp(text, "off") == 0;
    case nd4c_config_type_directories:
      return all_absolute(text);
    case nd4c_config_type_file:
      return parse_file(text, number);
    case nd4c_config_type_string:
    case nd4c_config_type_list:
      break;
  }
  return words == NULL || text[0] == '\0' || nd4c_config_value_has(words, text);
}
