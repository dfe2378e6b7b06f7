/* Implements config.h: holds the values of all properties and reads them from the environment once. base, device,
 * dispatch, graph and import read properties here; device/registry/properties.c sets and lists them for
 * nd4c/config.h. */
#include "base/config/config.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/config/config_family.h"
#include "base/config/config_pending.h"
#include "base/config/config_rows.h"
#include "base/config/log.h"
#include "base/os.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "base/text.h"

/* Texts are written under the lock; `number` (bool, int, bytes, fraction, file, parsed) is read without it. `refused`
 * keeps a value that does not parse: of the environment, or one that was set before the property was declared. */
typedef struct value {
  char *set_text;
  const char *environment_text, *refused; /* kept for the life of the process */
  char *refused_early;                    /* the value set earlier, if that is the refused one */
  _Atomic int64_t number;
} value;

_Atomic uint32_t nd4c_config_epoch = 1;

static nd4c_lock values_lock = ND4C_LOCK_INIT;
static value values[ND4C_KEY_LIMIT];
/* Names of the family's members that have a value, created when the value is set. */
static struct {
  char property[ND4C_FAMILY_NAME_SIZE], environment[ND4C_FAMILY_NAME_SIZE];
} member_names[ND4C_FAMILY_MEMBERS];
/* An environment variable with the family's prefix that names no member; "" if there is none. */
static char stray[192];
static _Atomic bool values_ready;

/* What the property accepts, behind "expected". */
static const char *value_expectation(int key) {
  const nd4c_config_definition *row = nd4c_config_row_of(key);
  return row->expected != NULL ? row->expected : nd4c_config_value_expectation(row->type);
}

static bool value_parse(int key, const char *text, int64_t *number) {
  const nd4c_config_definition *row = nd4c_config_row_of(key);
  return nd4c_config_value_parse(row->type, row->words, text, number);
}

static void make_lower(char *text) {
  for (; *text != '\0'; text++) {
    *text = (char)tolower((unsigned char)*text);
  }
}

/* Stores a word in the row's spelling, so that readers need not compare without regard to case. */
static void value_normalise(int key, char *text) {
  if (nd4c_config_row_of(key)->words != NULL) {
    make_lower(text);
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
                                       : nd4c_config_row_of(key)->preset;
}

/* The lock is held. Tables are static, so a default always parses (a test checks that). */
static void value_update(int key) {
  int64_t number;
  (void)value_parse(key, value_text(key), &number);
  atomic_store_explicit(&values[key].number, number, memory_order_relaxed);
}

/* The names of a family's members are created when they get a value. */
static inline int member_of(int key) {
  return key >= ND4C_MEMBER_BEGIN && key < ND4C_DECLARED_BEGIN ? key - ND4C_MEMBER_BEGIN : -1;
}

static const char *property_of(int key) {
  const int member = member_of(key);
  return member < 0 ? nd4c_config_row_of(key)->property : member_names[member].property;
}

static const char *environment_of(int key) {
  const int member = member_of(key);
  return member < 0 ? nd4c_config_row_of(key)->environment : member_names[member].environment;
}

/* Under the lock. False if no device type has the number. */
static bool make_member_names(int key) {
  const int member = member_of(key);
  return member < 0 || member_names[member].property[0] != '\0' ||
         nd4c_family_names(member, member_names[member].property, member_names[member].environment);
}

/* The lock is held. False if memory was exhausted: the next use tries again. */
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

/* Reports a name with the family's prefix but no valid device: NAME, or CONFIG if it is in the environment. */
static nd4c_status fail_device(nd4c_status code, const char *name) {
  return nd4c_fail(code,
                   "there is no property \"%.200s\"%s: after the prefix expected a device type (CPU, CUDA, ROCM, TPU, "
                   "HEXAGON, OPENCL, METAL, VULKAN, OTHER) and an index from 0 to %d, as in "
                   "nd4j.device.memory.cap.OPENCL.0",
                   name, code == ND4C_CONFIG ? " (in the environment, where capitals matter)" : "",
                   ND4C_FAMILY_INDEXES - 1);
}

/* Not under the lock, since the application's log callback may set properties. */
static void tell_refused(int key) {
  char text[256];
  nd4c_lock_acquire(&values_lock);
  const value *v = &values[key];
  const bool refused = v->refused != NULL, early = v->refused_early != NULL;
  (void)snprintf(text, sizeof text, "%s", refused ? v->refused : "");
  nd4c_lock_release(&values_lock);
  if (refused) {
    nd4c_log_write(ND4C_LOG_WARNING, "config",
                   "%s=\"%s\"%s is refused: expected %s; no device opens until that is corrected",
                   early ? property_of(key) : environment_of(key), text, early ? "" : " in the environment",
                   value_expectation(key));
  }
}

/* First use: reads the environment, once. */
static ND4C_NOINLINE nd4c_status values_load(void) {
  bool loaded = true, first = false;
  nd4c_lock_acquire(&values_lock);
  if (!atomic_load_explicit(&values_ready, memory_order_relaxed)) {
    bool family = nd4c_family_in_environment();
    int limit = family ? ND4C_DECLARED_BEGIN : ND4C_MEMBER_BEGIN;
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
  for (int key = 0; first && key < ND4C_DECLARED_BEGIN; key++) {
    tell_refused(key);
  }
  if (first && stray[0] != '\0') {
    nd4c_log_write(ND4C_LOG_WARNING, "config",
                   "%s in the environment is refused: it caps no device; no device opens until that is corrected",
                   stray);
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
  for (int key = 0; status == ND4C_OK && key < nd4c_config_rows_end(); key++) {
    if (values[key].refused != NULL && values[key].set_text == NULL) {
      char name[192];
      const bool early = values[key].refused_early != NULL;
      (void)snprintf(name, sizeof name, "%s (%s%s)", property_of(key),
                     early ? "set before its provider was loaded" : environment_of(key),
                     early ? "" : " in the environment");
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
  const nd4c_config_type type = nd4c_config_row_of(key)->type;
  *number = nd4c_config_int((nd4c_config_key)key);
  return type == nd4c_config_type_bool || type == nd4c_config_type_int || type == nd4c_config_type_bytes;
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
  bool found = nd4c_config_value_has(value_text(key), item);
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
  int key = ND4C_MEMBER_BEGIN + nd4c_family_member(type, index);
  return atomic_load_explicit(&values[key].number, memory_order_relaxed);
}

/* The lock is held. A member of the family is listed while it has a value. */
static bool is_listed(int key) {
  return member_of(key) < 0 || values[key].set_text != NULL || values[key].environment_text != NULL ||
         values[key].refused != NULL;
}

/* -- rows: the table's, what providers declared, members, what waits for a provider -------------------------------- */

static int32_t fixed_count(void) {
  return ND4C_MEMBER_BEGIN + nd4c_config_rows_end() - ND4C_DECLARED_BEGIN;
}

/* The lock is held. */
static int32_t member_count(void) {
  int32_t count = 0;
  for (int key = ND4C_MEMBER_BEGIN; key < ND4C_DECLARED_BEGIN; key++) {
    count += is_listed(key);
  }
  return count;
}

int32_t nd4c_config_rows_count(void) {
  (void)values_use();
  nd4c_lock_acquire(&values_lock);
  const int32_t count = fixed_count() + member_count() + nd4c_config_pending_count();
  nd4c_lock_release(&values_lock);
  return count;
}

/* The lock is held. The key of a row, -1 past the members. */
static int key_at(int32_t index) {
  if (index < fixed_count()) {
    return index < ND4C_MEMBER_BEGIN ? index : ND4C_DECLARED_BEGIN + index - ND4C_MEMBER_BEGIN;
  }
  int32_t seen = fixed_count();
  for (int key = ND4C_MEMBER_BEGIN; key < ND4C_DECLARED_BEGIN; key++) {
    if (is_listed(key) && seen++ == index) {
      return key;
    }
  }
  return -1;
}

/* The lock is held. */
static nd4c_config_row describe_key(int key) {
  const nd4c_config_definition *row = nd4c_config_row_of(key);
  return (nd4c_config_row){.property = property_of(key),
                           .environment = environment_of(key),
                           .type = nd4c_config_type_name(row->type),
                           .default_value = row->preset,
                           .meaning = row->meaning,
                           .value = value_text(key),
                           .source = value_source(key),
                           .refused = values[key].refused,
                           .expected = value_expectation(key),
                           .family = member_of(key) < 0 ? NULL : row->property,
                           .provider = row->owner};
}

/* The lock is held. */
static nd4c_config_row describe_pending(int32_t index) {
  nd4c_config_row row = {
      .environment = "",
      .type = nd4c_config_type_name(nd4c_config_type_string),
      .default_value = "",
      .meaning = "Set, but no provider that was loaded declares it; the value waits for one that does",
      .source = ND4C_CONFIG_SET,
      .expected = nd4c_config_value_expectation(nd4c_config_type_string),
      .provider = ""};
  row.property = nd4c_config_pending_at(index, &row.value);
  return row;
}

nd4c_status nd4c_config_rows_get(int32_t index, nd4c_config_row *row) {
  enum { FIRST_SIZE = offsetof(nd4c_config_row, refused) }; /* the struct's size in version 0.1, up to `source` */
  if (row == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "config_get_row: row is NULL");
  }
  if (row->struct_size < FIRST_SIZE) {
    return nd4c_fail(ND4C_ARGUMENT, "config_get_row: struct_size is %u, expected at least %d",
                     (unsigned)row->struct_size, (int)FIRST_SIZE);
  }
  ND4C_TRY(values_use());
  nd4c_lock_acquire(&values_lock);
  const int key = index < 0 ? -1 : key_at(index);
  const int32_t waiting = key < 0 ? index - fixed_count() - member_count() : -1;
  const bool found = key >= 0 || (waiting >= 0 && waiting < nd4c_config_pending_count());
  if (found) {
    nd4c_config_row filled = key >= 0 ? describe_key(key) : describe_pending(waiting);
    filled.struct_size = row->struct_size;
    memcpy(row, &filled, row->struct_size < sizeof filled ? row->struct_size : sizeof filled);
  }
  nd4c_lock_release(&values_lock);
  return found ? ND4C_OK
               : nd4c_fail(ND4C_INDEX, "config_get_row: index %d, expected 0 to %d", (int)index,
                           nd4c_config_rows_count() - 1);
}

static nd4c_status fail_name(const char *name) {
  size_t edits;
  return nd4c_fail(ND4C_NAME, "there is no property \"%.200s\"; the nearest is \"%s\"", name,
                   nd4c_config_rows_nearest(name, &edits));
}

int nd4c_config_find(const char *name) {
  const int key = nd4c_config_rows_find(name);
  const int member = key < 0 && nd4c_family_claims(name) ? nd4c_family_find(name) : -1;
  return member >= 0 ? ND4C_MEMBER_BEGIN + member : key;
}

static nd4c_status key_find(const char *name, int *found) {
  *found = nd4c_config_find(name);
  return *found >= 0 ? ND4C_OK : nd4c_family_claims(name) ? fail_device(ND4C_NAME, name) : fail_name(name);
}

nd4c_status nd4c_config_text_get(const char *property, const char **text) {
  int key;
  if (property == NULL || text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, property == NULL ? "config: property is NULL" : "config_get: value is NULL");
  }
  ND4C_TRY(values_use());
  nd4c_lock_acquire(&values_lock);
  const char *waiting = nd4c_config_pending_get(property);
  nd4c_status status = waiting != NULL ? ND4C_OK : key_find(property, &key);
  if (status == ND4C_OK) {
    *text = waiting != NULL ? waiting : value_text(key);
  }
  nd4c_lock_release(&values_lock);
  return status;
}

/* A name that is close to a known one is probably a typing error. */
static bool may_be_declared(const char *name) {
  enum { MISTYPED = 2 };
  size_t edits;
  (void)nd4c_config_rows_nearest(name, &edits);
  return edits > MISTYPED && nd4c_config_rows_may_come(name);
}

/* A property that a plug-in may declare when it is loaded. *kept is false, and nothing has happened, for other names.
 */
static nd4c_status set_early(const char *property, const char *text, bool *kept) {
  nd4c_status status = ND4C_OK;
  nd4c_lock_acquire(&values_lock);
  const bool taken_back = text == NULL && nd4c_config_pending_get(property) != NULL;
  *kept = nd4c_config_find(property) < 0 && (taken_back || may_be_declared(property));
  if (*kept) {
    status = nd4c_config_pending_set(property, text);
  }
  nd4c_lock_release(&values_lock);
  if (*kept && text != NULL && status == ND4C_OK) {
    nd4c_log_write(ND4C_LOG_WARNING, "config", "%s is set before a provider that declares it was loaded", property);
  }
  return status;
}

static nd4c_status copy_value(int key, const char *property, const char *text, char **copy) {
  int64_t number;
  *copy = NULL;
  if (text == NULL) {
    return ND4C_OK;
  }
  if (!value_parse(key, text, &number)) {
    return fail_value(key, property, text);
  }
  *copy = nd4c_duplicate_text(text);
  if (*copy == NULL) {
    return nd4c_fail_memory("a property's value", strlen(text) + 1);
  }
  value_normalise(key, *copy);
  return ND4C_OK;
}

nd4c_status nd4c_config_text_set(const char *property, const char *text) {
  int key;
  bool early;
  if (property == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "config: property is NULL");
  }
  ND4C_TRY(values_use());
  nd4c_status status = set_early(property, text, &early);
  if (early) {
    return status;
  }
  ND4C_TRY(key_find(property, &key));
  if (key == ND4C_CONFIG_DEVICE_MEMORY_CAP) {
    return fail_device(ND4C_NAME, property);
  }
  char *copy;
  ND4C_TRY(copy_value(key, property, text, &copy));
  nd4c_lock_acquire(&values_lock);
  (void)make_member_names(key);
  value *v = &values[key];
  char *old = v->set_text, *refused = v->refused_early;
  v->set_text = copy;
  v->refused = refused != NULL ? NULL : v->refused;
  v->refused_early = NULL;
  value_update(key);
  atomic_fetch_add(&nd4c_config_epoch, 1);
  nd4c_lock_release(&values_lock);
  nd4c_deallocate(old);
  nd4c_deallocate(refused);
  return ND4C_OK;
}

/* -- declared by providers ----------------------------------------------------------------------------------------- */

/* The environment's text as the row's words are written, kept as long as the library is loaded. *text is NULL, too, if
 * there is none. */
static nd4c_status environment_intern(const nd4c_config_definition *row, const char **text) {
  int64_t number;
  const char *given = nd4c_os_environment(row->environment);
  *text = NULL;
  if (given == NULL || given[0] == '\0') {
    return ND4C_OK;
  }
  char *copy = nd4c_duplicate_text(given);
  if (copy != NULL) {
    if (row->words != NULL && nd4c_config_value_parse(row->type, row->words, copy, &number)) {
      make_lower(copy);
    }
    *text = nd4c_text_intern(copy);
    nd4c_deallocate(copy);
  }
  return *text != NULL ? ND4C_OK : nd4c_fail_memory("a property's value", strlen(given) + 1);
}

nd4c_status nd4c_config_prepare(const char *from, nd4c_config_definition *declared, int32_t count) {
  ND4C_TRY(values_use());
  ND4C_TRY(nd4c_config_rows_check(from, declared, count));
  for (int32_t i = 0; i < count; i++) {
    ND4C_TRY(environment_intern(&declared[i], &declared[i].environment_text));
  }
  return ND4C_OK;
}

/* The lock is held; the key has no value yet. */
static void adopt(int key, char *early) {
  int64_t number;
  value *v = &values[key];
  const char *given = nd4c_config_row_of(key)->environment_text;
  const bool given_parses = given != NULL && value_parse(key, given, &number);
  v->environment_text = given_parses ? given : NULL;
  v->refused = given_parses ? NULL : given;
  if (early != NULL && value_parse(key, early, &number)) {
    value_normalise(key, early);
    v->set_text = early;
  } else if (early != NULL) {
    v->refused = v->refused_early = early;
  }
  value_update(key);
}

bool nd4c_config_declare(const nd4c_config_definition *declared, int32_t count) {
  nd4c_lock_acquire(&values_lock);
  const int begin = nd4c_config_rows_end();
  nd4c_config_rows_add(declared, count);
  const int end = nd4c_config_rows_end();
  bool changed = false;
  for (int key = begin; key < end; key++) {
    char *early = nd4c_config_pending_take(property_of(key));
    changed = changed || early != NULL;
    adopt(key, early);
  }
  if (changed) {
    atomic_fetch_add(&nd4c_config_epoch, 1);
  }
  nd4c_lock_release(&values_lock);
  return end > begin;
}

void nd4c_config_tell_declared(const char *owner) {
  for (int key = ND4C_DECLARED_BEGIN; key < nd4c_config_rows_end(); key++) {
    if (owner == NULL || strcmp(nd4c_config_row_of(key)->owner, owner) == 0) {
      tell_refused(key);
    }
  }
}

bool nd4c_config_waits(char *name, size_t size) {
  const char *text;
  nd4c_lock_acquire(&values_lock);
  const bool waits = nd4c_config_pending_count() > 0;
  (void)snprintf(name, size, "%s", waits ? nd4c_config_pending_at(0, &text) : "");
  nd4c_lock_release(&values_lock);
  return waits;
}
