#include "base/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/compiler.h"
#include "base/config_family.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/os.h"
#include "base/status.h"

/* Widths and counts: beyond this they are mistakes, and sizes computed from them would overflow. */
enum { INT_VALUE_LIMIT = 65536 };

/* Members of the family follow the table's keys. */
enum { KEY_LIMIT = ND4C_CONFIG_KEY_COUNT + ND4C_FAMILY_MEMBERS };

typedef enum value_type {
  type_bool,
  type_int,
  type_bytes,
  type_fraction,
  type_string,
  type_list,
  type_directory,
  type_directories,
  type_file
} value_type;

typedef struct row {
  const char *property, *environment, *type_name;
  value_type type;
  const char *preset, *meaning;
} row;

#define ONE_OF "one of "
#define WORDS_CASE(KEY, words) [ND4C_CONFIG_##KEY] = ONE_OF words,
static const char *const word_expectations[ND4C_CONFIG_KEY_COUNT] = {ND4C_CONFIG_WORDS_TABLE(WORDS_CASE)};
#undef WORDS_CASE

#define ROW(KEY, property, environment, type, preset, meaning) \
  [ND4C_CONFIG_##KEY] = {property, environment, #type, type_##type, preset, meaning},
static const row rows[ND4C_CONFIG_KEY_COUNT] = {ND4C_CONFIG_TABLE(ROW)};
#undef ROW

/* The row that tells what a key is. */
static inline int row_of(int key) {
  return key < ND4C_CONFIG_KEY_COUNT ? key : (int)ND4C_CONFIG_DEVICE_MEMORY_CAP;
}

/* Texts are written under the lock; `number` (bool, int, bytes, fraction, file, parsed) is read without it. `refused`
 * keeps a value of the environment that does not parse. */
typedef struct value {
  char *set_text, *environment_text, *refused;
  _Atomic int64_t number;
} value;

_Atomic uint32_t nd4c_config_epoch = 1;

static nd4c_lock values_lock = ND4C_LOCK_INIT;
static value values[KEY_LIMIT];
/* Names of the family's members that have a value, made when they get one. */
static struct {
  char property[ND4C_FAMILY_NAME_SIZE], environment[ND4C_FAMILY_NAME_SIZE];
} member_names[ND4C_FAMILY_MEMBERS];
/* A variable of the environment that begins as the family's do and is no member's; "" if there is none. */
static char stray[192];
static _Atomic bool values_ready;

static bool text_equals(const char *a, const char *b, size_t b_length) {
  for (size_t i = 0; i < b_length; i++) {
    if (a[i] == '\0' || tolower((unsigned char)a[i]) != tolower((unsigned char)b[i])) {
      return false;
    }
  }
  return a[b_length] == '\0';
}

/* True if `item` stands in the comma-separated `list`. */
static bool list_has(const char *list, const char *item) {
  while (*list != '\0') {
    size_t length = strcspn(list, ",");
    const char *begin = list, *end = list + length;
    while (begin < end && isspace((unsigned char)*begin)) {
      begin++;
    }
    while (end > begin && isspace((unsigned char)end[-1])) {
      end--;
    }
    if (end > begin && text_equals(item, begin, (size_t)(end - begin))) {
      return true;
    }
    list += length + (list[length] == ',');
  }
  return false;
}

static bool parse_bool(const char *text, int64_t *number) {
  bool yes = list_has("true,yes,on,1", text);
  *number = yes;
  return yes || list_has("false,no,off,0", text);
}

/* A path without a '/' is more likely a word that was mistyped than a file of the current directory. */
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

/* 0 to 1 with a point, in parts of ND4C_FRACTION_ONE; what is beyond the last digit kept is cut, but more than 0
 * stays more than 0, and more than 1 more than 1. */
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
    for (++digit; isdigit((unsigned char)*digit); ++digit) {
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

/* What the property accepts, behind "expected". */
static const char *value_expectation(int key) {
  key = row_of(key);
  if (word_expectations[key] != NULL) {
    return word_expectations[key];
  }
  switch (rows[key].type) {
    case type_bool:
      return "true or false";
    case type_int:
      return "an integer from 0 to 65536";
    case type_bytes:
      return "a number of bytes such as 1024, 512m or 2g";
    case type_fraction:
      return "a fraction from 0 to 1 such as 0.8";
    case type_directory:
      return "a directory that begins with '/', or off; a relative one would depend on the current directory";
    case type_directories:
      return "directories that begin with '/', separated by commas; a relative one would depend on the current "
             "directory";
    case type_file:
      return "true, false, or a file's path with a '/' in it, such as ./trace.json";
    case type_string:
    case type_list:
      break;
  }
  return "a text";
}

static bool value_parse(int key, const char *text, int64_t *number) {
  char *end;
  key = row_of(key);
  *number = 0;
  switch (rows[key].type) {
    case type_bool:
      return parse_bool(text, number);
    case type_int:
      return parse_int(text, number, &end) && *end == '\0' && *number <= INT_VALUE_LIMIT;
    case type_bytes:
      return parse_bytes(text, number);
    case type_fraction:
      return parse_fraction(text, number);
    case type_directory:
      return text[0] == '/' || text[0] == '\0' || strcmp(text, "off") == 0;
    case type_directories:
      return all_absolute(text);
    case type_file:
      return parse_file(text, number);
    case type_string:
    case type_list:
      break;
  }
  return word_expectations[key] == NULL || text[0] == '\0' || list_has(word_expectations[key] + strlen(ONE_OF), text);
}

/* Words are kept as the table has them, so that who reads one need not mind its case. */
static void value_normalise(int key, char *text) {
  key = row_of(key);
  for (; word_expectations[key] != NULL && *text != '\0'; text++) {
    *text = (char)tolower((unsigned char)*text);
  }
}

static nd4c_status fail_value(int key, const char *name, const char *text) {
  return nd4c_fail(ND4C_CONFIG, "%s = \"%s\": expected %s", name, text, value_expectation(key));
}

/* The lock is held. */
static const char *value_text(int key) {
  const value *v = &values[key];
  return v->set_text != NULL           ? v->set_text
         : v->environment_text != NULL ? v->environment_text
                                       : rows[row_of(key)].preset;
}

/* The lock is held. Tables are static, so a default always parses (a test checks that). */
static void value_update(int key) {
  int64_t number;
  (void)value_parse(key, value_text(key), &number);
  atomic_store_explicit(&values[key].number, number, memory_order_relaxed);
}

static const char *property_of(int key) {
  return key < ND4C_CONFIG_KEY_COUNT ? rows[key].property : member_names[key - ND4C_CONFIG_KEY_COUNT].property;
}

static const char *environment_of(int key) {
  return key < ND4C_CONFIG_KEY_COUNT ? rows[key].environment : member_names[key - ND4C_CONFIG_KEY_COUNT].environment;
}

/* Under the lock. False for a number that is no device type's. */
static bool make_member_names(int key) {
  int member = key - ND4C_CONFIG_KEY_COUNT;
  return member < 0 || member_names[member].property[0] != '\0' ||
         nd4c_family_names(member, member_names[member].property, member_names[member].environment);
}

/* The lock is held. False if there was no memory: the next use tries again. */
static bool value_read_environment(int key) {
  value *v = &values[key];
  const char *text = make_member_names(key) ? nd4c_os_environment(environment_of(key)) : NULL;
  if (text != NULL && text[0] != '\0' && v->environment_text == NULL && v->refused == NULL) {
    int64_t number;
    char *copy = nd4c_duplicate_text(text);
    if (copy == NULL) {
      return false;
    }
    if (value_parse(key, text, &number)) {
      value_normalise(key, copy);
      v->environment_text = copy;
    } else {
      v->refused = copy;
    }
  }
  value_update(key);
  return true;
}

/* A name of the family's without a device: there is nothing to set. NAME, or CONFIG for one in the environment. */
static nd4c_status fail_device(nd4c_status code, const char *name) {
  return nd4c_fail(code,
                   "there is no property \"%.200s\"%s: behind the prefix stand a device type (CPU, CUDA, ROCM, TPU, "
                   "HEXAGON, OPENCL, METAL, VULKAN, OTHER) and an index from 0 to %d, as in "
                   "nd4j.device.memory.cap.OPENCL.0",
                   name, code == ND4C_CONFIG ? " (in the environment, where capitals matter)" : "",
                   ND4C_FAMILY_INDEXES - 1);
}

/* First use: reads the environment, once. */
static ND4C_NOINLINE nd4c_status values_load(void) {
  bool loaded = true, first = false;
  nd4c_lock_acquire(&values_lock);
  if (!atomic_load_explicit(&values_ready, memory_order_relaxed)) {
    bool family = nd4c_family_in_environment();
    int limit = family ? KEY_LIMIT : ND4C_CONFIG_KEY_COUNT;
    if (!family || !nd4c_family_stray(stray, sizeof stray)) {
      stray[0] = '\0';
    }
    for (int key = 0; key < limit; key++) {
      loaded = value_read_environment(key) && loaded;
    }
    first = loaded;
    atomic_store_explicit(&values_ready, loaded, memory_order_release);
  }
  nd4c_lock_release(&values_lock);
  for (int key = 0; first && key < KEY_LIMIT; key++) {
    if (values[key].refused != NULL) {
      nd4c_log_write(ND4C_LOG_WARNING, "config",
                     "%s=\"%s\" in the environment is refused: expected %s; no device opens until that is mended",
                     environment_of(key), values[key].refused, value_expectation(key));
    }
  }
  if (first && stray[0] != '\0') {
    nd4c_log_write(ND4C_LOG_WARNING, "config",
                   "%s in the environment is refused: it caps no device; no device opens until that is mended", stray);
  }
  return loaded ? ND4C_OK : nd4c_fail_memory("the configuration", 0);
}

static inline nd4c_status values_use(void) {
  return ND4C_LIKELY(atomic_load_explicit(&values_ready, memory_order_acquire)) ? ND4C_OK : values_load();
}

nd4c_status nd4c_config_check_environment(void) {
  ND4C_TRY(values_use());
  nd4c_status status = ND4C_OK;
  nd4c_lock_acquire(&values_lock);
  for (int key = 0; status == ND4C_OK && key < KEY_LIMIT; key++) {
    if (values[key].refused != NULL && values[key].set_text == NULL) {
      char name[192];
      (void)snprintf(name, sizeof name, "%s (%s in the environment)", property_of(key), environment_of(key));
      status = fail_value(key, name, values[key].refused);
    }
  }
  nd4c_lock_release(&values_lock);
  if (status == ND4C_OK && stray[0] != '\0') {
    status = fail_device(ND4C_CONFIG, stray);
  }
  return status;
}

bool nd4c_config_bool(nd4c_config_key key) {
  return nd4c_config_int(key) != 0;
}

int64_t nd4c_config_int(nd4c_config_key key) {
  (void)values_use();
  return atomic_load_explicit(&values[key].number, memory_order_relaxed);
}

bool nd4c_config_number(int key, int64_t *number) {
  const value_type type = rows[row_of(key)].type;
  *number = nd4c_config_int((nd4c_config_key)key);
  return type == type_bool || type == type_int || type == type_bytes;
}

size_t nd4c_config_string(nd4c_config_key key, char *buffer, size_t size) {
  (void)values_use();
  nd4c_lock_acquire(&values_lock);
  const char *text = value_text(key);
  size_t length = strlen(text);
  if (size > 0) {
    size_t kept = length < size - 1 ? length : size - 1;
    memcpy(buffer, text, kept);
    buffer[kept] = '\0';
  }
  nd4c_lock_release(&values_lock);
  return length;
}

bool nd4c_config_list_has(nd4c_config_key key, const char *item) {
  (void)values_use();
  nd4c_lock_acquire(&values_lock);
  bool found = list_has(value_text(key), item);
  nd4c_lock_release(&values_lock);
  return found;
}

/* The lock is held. */
static nd4c_config_source value_source(int key) {
  const value *v = &values[key];
  return v->set_text != NULL           ? ND4C_CONFIG_SET
         : v->environment_text != NULL ? ND4C_CONFIG_ENVIRONMENT
                                       : ND4C_CONFIG_DEFAULT;
}

nd4c_config_source nd4c_config_get_source(nd4c_config_key key) {
  (void)values_use();
  nd4c_lock_acquire(&values_lock);
  nd4c_config_source source = value_source(key);
  nd4c_lock_release(&values_lock);
  return source;
}

int64_t nd4c_config_device_cap(nd4c_device_type type, int32_t index) {
  if ((int)type < 0 || (int)type >= ND4C_FAMILY_TYPES || index < 0 || index >= ND4C_FAMILY_INDEXES) {
    return 0;
  }
  (void)values_use();
  int key = ND4C_CONFIG_KEY_COUNT + nd4c_family_member(type, index);
  return atomic_load_explicit(&values[key].number, memory_order_relaxed);
}

/* The lock is held. A member is listed while it has a value of its own. */
static bool is_listed(int key) {
  return key < ND4C_CONFIG_KEY_COUNT || values[key].set_text != NULL || values[key].environment_text != NULL ||
         values[key].refused != NULL;
}

int32_t nd4c_config_count(void) {
  (void)values_use();
  int32_t count = 0;
  nd4c_lock_acquire(&values_lock);
  for (int key = 0; key < KEY_LIMIT; key++) {
    count += is_listed(key);
  }
  nd4c_lock_release(&values_lock);
  return count;
}

/* The lock is held. The key of a row, -1 past the end. */
static int key_at(int32_t index) {
  int key = index < ND4C_CONFIG_KEY_COUNT ? index : ND4C_CONFIG_KEY_COUNT;
  for (int32_t seen = ND4C_CONFIG_KEY_COUNT; key >= ND4C_CONFIG_KEY_COUNT && key < KEY_LIMIT; key++) {
    if (is_listed(key) && seen++ == index) {
      break;
    }
  }
  return index < 0 || key == KEY_LIMIT ? -1 : key;
}

nd4c_status nd4c_config_get_row(int32_t index, nd4c_config_row *out) {
  enum { FIRST_SIZE = offsetof(nd4c_config_row, refused) }; /* of 0.1, without the fields behind `source` */
  if (out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "config_get_row: row is NULL");
  }
  if (out->struct_size < FIRST_SIZE) {
    return nd4c_fail(ND4C_ARGUMENT, "config_get_row: struct_size is %u, expected at least %d",
                     (unsigned)out->struct_size, (int)FIRST_SIZE);
  }
  ND4C_TRY(values_use());
  nd4c_lock_acquire(&values_lock);
  int key = key_at(index);
  if (key >= 0) {
    const row *r = &rows[row_of(key)];
    const nd4c_config_row filled = {.struct_size = out->struct_size,
                                    .property = property_of(key),
                                    .environment = environment_of(key),
                                    .type = r->type_name,
                                    .default_value = r->preset,
                                    .meaning = r->meaning,
                                    .value = value_text(key),
                                    .source = value_source(key),
                                    .refused = values[key].refused,
                                    .expected = value_expectation(key),
                                    .family = key < ND4C_CONFIG_KEY_COUNT ? NULL : r->property};
    memcpy(out, &filled, out->struct_size < sizeof filled ? out->struct_size : sizeof filled);
  }
  nd4c_lock_release(&values_lock);
  return key >= 0
             ? ND4C_OK
             : nd4c_fail(ND4C_INDEX, "config_get_row: index %d, expected 0 to %d", (int)index, nd4c_config_count() - 1);
}

/* Edits that turn one name into the other, without regard to case; names longer than the table's are never near. */
static size_t name_distance(const char *a, const char *b) {
  enum { LONGEST = 64 };
  size_t a_length = strlen(a), b_length = strlen(b), costs[LONGEST + 1];
  if (a_length > LONGEST || b_length > LONGEST) {
    return SIZE_MAX;
  }
  for (size_t j = 0; j <= b_length; j++) {
    costs[j] = j;
  }
  for (size_t i = 1; i <= a_length; i++) {
    size_t diagonal = costs[0];
    costs[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      size_t above = costs[j];
      size_t same = diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));
      size_t step = 1 + (above < costs[j - 1] ? above : costs[j - 1]);
      costs[j] = same < step ? same : step;
      diagonal = above;
    }
  }
  return costs[b_length];
}

static nd4c_status fail_name(const char *name) {
  const char *nearest = NULL;
  size_t best = SIZE_MAX;
  for (int key = 0; key < ND4C_CONFIG_KEY_COUNT; key++) {
    const char *names[] = {rows[key].property, rows[key].environment};
    for (int i = 0; i < 2; i++) {
      size_t distance = name_distance(name, names[i]);
      if (distance < best) {
        best = distance;
        nearest = names[i];
      }
    }
  }
  if (nearest == NULL) {
    nearest = rows[0].property;
  }
  return nd4c_fail(ND4C_NAME, "there is no property \"%.200s\"; the nearest is \"%s\"", name, nearest);
}

int nd4c_config_find(const char *name) {
  for (int key = 0; key < ND4C_CONFIG_KEY_COUNT; key++) {
    if (strcmp(name, rows[key].property) == 0 || strcmp(name, rows[key].environment) == 0) {
      return key;
    }
  }
  const int member = nd4c_family_claims(name) ? nd4c_family_find(name) : -1;
  return member >= 0 ? ND4C_CONFIG_KEY_COUNT + member : -1;
}

static nd4c_status key_find(const char *name, int *found) {
  if (name == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "config: property is NULL");
  }
  *found = nd4c_config_find(name);
  return *found >= 0 ? ND4C_OK : nd4c_family_claims(name) ? fail_device(ND4C_NAME, name) : fail_name(name);
}

nd4c_status nd4c_config_get(const char *property, const char **text) {
  int key;
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "config_get: value is NULL");
  }
  ND4C_TRY(key_find(property, &key));
  ND4C_TRY(values_use());
  nd4c_lock_acquire(&values_lock);
  *text = value_text(key);
  nd4c_lock_release(&values_lock);
  return ND4C_OK;
}

nd4c_status nd4c_config_set(const char *property, const char *text) {
  int key;
  ND4C_TRY(key_find(property, &key));
  ND4C_TRY(values_use());
  if (key == ND4C_CONFIG_DEVICE_MEMORY_CAP) {
    return fail_device(ND4C_NAME, property);
  }
  char *copy = NULL;
  if (text != NULL) {
    int64_t number;
    if (!value_parse(key, text, &number)) {
      return fail_value(key, property, text);
    }
    copy = nd4c_duplicate_text(text);
    if (copy == NULL) {
      return nd4c_fail_memory("a property's value", strlen(text) + 1);
    }
    value_normalise(key, copy);
  }
  nd4c_lock_acquire(&values_lock);
  (void)make_member_names(key);
  char *old = values[key].set_text;
  values[key].set_text = copy;
  value_update(key);
  atomic_fetch_add(&nd4c_config_epoch, 1);
  nd4c_lock_release(&values_lock);
  nd4c_deallocate(old);
  return ND4C_OK;
}
