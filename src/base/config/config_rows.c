/* Implements config_rows.h: finds rows by name and adds those that providers declare. config.c calls it. */
#include "base/config/config_rows.h"

#include <string.h>

#include "base/status.h"
#include "base/text.h"

#define ROW(KEY, name, variable, kind, value, words) \
  [ND4C_CONFIG_##KEY] = {                            \
      .property = name, .environment = variable, .type = nd4c_config_type_##kind, .preset = value, .meaning = words},
#define ROW_WORDS(KEY, list) [ND4C_CONFIG_##KEY].words = list, [ND4C_CONFIG_##KEY].expected = "one of " list,
static const nd4c_config_definition rows[ND4C_CONFIG_KEY_COUNT] = {ND4C_CONFIG_TABLE(ROW)
                                                                       ND4C_CONFIG_WORDS_TABLE(ROW_WORDS)};
#undef ROW
#undef ROW_WORDS

/* A row is complete before the count that publishes it is stored. It is never changed or removed. */
static nd4c_config_definition declared_rows[ND4C_DECLARED_LIMIT];
static _Atomic int declared_count;

int nd4c_config_rows_end(void) {
  return ND4C_DECLARED_BEGIN + atomic_load_explicit(&declared_count, memory_order_acquire);
}

const nd4c_config_definition *nd4c_config_row_of(int key) {
  return key >= ND4C_DECLARED_BEGIN ? &declared_rows[key - ND4C_DECLARED_BEGIN]
         : key < ND4C_MEMBER_BEGIN  ? &rows[key]
                                    : &rows[ND4C_CONFIG_DEVICE_MEMORY_CAP];
}

/* The next key after `key` that has a row; skips members of the family. */
static int next_row(int key) {
  return key + 1 == ND4C_MEMBER_BEGIN ? ND4C_DECLARED_BEGIN : key + 1;
}

int nd4c_config_rows_find(const char *name) {
  const int end = nd4c_config_rows_end();
  for (int key = 0; key < end; key = next_row(key)) {
    const nd4c_config_definition *row = nd4c_config_row_of(key);
    if (strcmp(name, row->property) == 0 || strcmp(name, row->environment) == 0) {
      return key;
    }
  }
  return -1;
}

const char *nd4c_config_rows_nearest(const char *name, size_t *edits) {
  const int end = nd4c_config_rows_end();
  const char *nearest = rows[0].property;
  *edits = SIZE_MAX;
  for (int key = 0; key < end; key = next_row(key)) {
    const char *names[] = {nd4c_config_row_of(key)->property, nd4c_config_row_of(key)->environment};
    for (int i = 0; i < 2; i++) {
      const size_t distance = nd4c_text_edits(name, strlen(name), names[i]);
      if (distance < *edits) {
        *edits = distance;
        nearest = names[i];
      }
    }
  }
  return nearest;
}

/* Length of the prefix "nd4c.acme." of a provider's property; 0 if the name has no such prefix with something after
 * it. */
static size_t prefix_length(const char *name) {
  static const char ours[] = "nd4c.";
  if (strncmp(name, ours, sizeof ours - 1) != 0) {
    return 0;
  }
  const char *provider = name + sizeof ours - 1, *dot = strchr(provider, '.');
  return dot == NULL || dot == provider || dot[1] == '\0' ? 0 : (size_t)(dot + 1 - name);
}

bool nd4c_config_rows_may_come(const char *name) {
  const size_t length = prefix_length(name), all = strlen(name);
  const int end = nd4c_config_rows_end();
  bool free =
      length > 0 && all < ND4C_PROPERTY_NAME_SIZE && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-.") == all;
  for (int key = 0; free && key < end; key = next_row(key)) {
    free = strncmp(name, nd4c_config_row_of(key)->property, length) != 0;
  }
  return free;
}

/* -- declarations -------------------------------------------------------------------------------------------------- */

/* Whether a row declares the same property for the same provider again: a plug-in that replaces an absent backend
 * does. */
static bool is_same(const nd4c_config_definition *a, const nd4c_config_definition *b) {
  return a->owner != NULL && strcmp(a->owner, b->owner) == 0 && strcmp(a->property, b->property) == 0 &&
         strcmp(a->environment, b->environment) == 0 && a->type == b->type && strcmp(a->preset, b->preset) == 0 &&
         strcmp(a->words != NULL ? a->words : "", b->words != NULL ? b->words : "") == 0;
}

static nd4c_status check_row(const char *from, const nd4c_config_definition *row, bool *known) {
  const char *names[] = {row->property, row->environment};
  *known = false;
  for (int i = 0; i < 2; i++) {
    const int key = nd4c_config_rows_find(names[i]);
    const nd4c_config_definition *taken = key >= 0 ? nd4c_config_row_of(key) : NULL;
    *known = taken != NULL && is_same(taken, row);
    if (taken != NULL && !*known) {
      return nd4c_fail(ND4C_NAME, "plug-in %s: property %s: %s is %s's already, where it is %s with default \"%s\"",
                       from, row->property, names[i], taken->owner != NULL ? taken->owner : "nd4c",
                       nd4c_config_type_name(taken->type), taken->preset);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_config_rows_check(const char *from, const nd4c_config_definition *declared, int32_t count) {
  int32_t added = 0;
  for (int32_t i = 0; i < count; i++) {
    bool known;
    ND4C_TRY(check_row(from, &declared[i], &known));
    added += !known;
  }
  if (nd4c_config_rows_end() + added > ND4C_KEY_LIMIT) {
    return nd4c_fail(ND4C_ABI, "plug-in %s: its %d properties make more than %d of all providers", from, (int)count,
                     ND4C_DECLARED_LIMIT);
  }
  return ND4C_OK;
}

void nd4c_config_rows_add(const nd4c_config_definition *declared, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    if (nd4c_config_rows_find(declared[i].property) < 0) {
      const int place = atomic_load_explicit(&declared_count, memory_order_relaxed);
      declared_rows[place] = declared[i];
      atomic_store_explicit(&declared_count, place + 1, memory_order_release);
    }
  }
}
