/* Implements notes.h. */
#include "graph/names/notes.h"

#include <string.h>

#include "base/status.h"

enum { SHOWN = 100 };

const nd4c_note *nd4c_notes_find(const nd4c_note *notes, const char *key) {
  while (notes != NULL && strcmp(notes->key, key) != 0) {
    notes = notes->next;
  }
  return notes;
}

static nd4c_status check(const char *what, const char *key, const char *value) {
  if (key[0] == '\0') {
    return nd4c_fail(ND4C_NAME, "%s: the key is empty", what);
  }
  if (strlen(key) > ND4C_METADATA_KEY) {
    return nd4c_fail(ND4C_OVERFLOW, "%s: the key '%.*s...' has more than %d bytes", what, SHOWN, key,
                     ND4C_METADATA_KEY);
  }
  return value == NULL || strlen(value) <= ND4C_METADATA_VALUE
             ? ND4C_OK
             : nd4c_fail(ND4C_OVERFLOW, "%s: the value of '%s' has more than %d bytes", what, key, ND4C_METADATA_VALUE);
}

nd4c_status nd4c_notes_set(nd4c_note **notes, nd4c_region *region, const char *what, const char *key,
                           const char *value) {
  int32_t count = 0;
  ND4C_TRY(check(what, key, value));
  while (*notes != NULL && strcmp((*notes)->key, key) != 0) {
    notes = &(*notes)->next;
    count++;
  }
  if (value == NULL) {
    *notes = *notes != NULL ? (*notes)->next : NULL;
    return ND4C_OK;
  }
  if (count >= ND4C_METADATA_COUNT) {
    return nd4c_fail(ND4C_OVERFLOW, "%s: '%s': there are %d pairs, and no more can be", what, key, (int)count);
  }
  const char *text = nd4c_region_text(region, value);
  if (text == NULL) {
    return nd4c_error_code();
  }
  if (*notes == NULL) {
    nd4c_note *made = NULL;
    ND4C_TRY(nd4c_region_make(region, 1, sizeof *made, &made));
    made->key = nd4c_region_text(region, key);
    if (made->key == NULL) {
      return nd4c_error_code();
    }
    *notes = made;
  }
  (*notes)->value = text;
  return ND4C_OK;
}

nd4c_status nd4c_notes_copy(const nd4c_note *from, nd4c_region *region, nd4c_note **to) {
  for (*to = NULL; from != NULL; from = from->next, to = &(*to)->next) {
    nd4c_note *made = NULL;
    ND4C_TRY(nd4c_region_make(region, 1, sizeof *made, &made));
    made->key = nd4c_region_text(region, from->key);
    made->value = nd4c_region_text(region, from->value);
    if (made->key == NULL || made->value == NULL) {
      return nd4c_error_code();
    }
    *to = made;
  }
  return ND4C_OK;
}
