/* Implements text.h, and nd4c_free for the texts that programs receive. Reports and printing in all layers append here;
 * the registry's checks make the texts of plug-ins printable. */
#include "base/text.h"

#include "nd4c/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/os_lock.h"
#include "base/recycle.h"
#include "base/status.h"

enum { FIRST_CAPACITY = 256 };

/* Room for `length` more bytes and the NUL. */
static bool text_reserve(nd4c_text *text, size_t length) {
  if (text->failed) {
    return false;
  }
  if (length >= SIZE_MAX / 2 - text->length - 1) {
    text->failed = true;
    return false;
  }
  size_t needed = text->length + length + 1;
  if (needed <= text->capacity) {
    return true;
  }
  size_t capacity = text->capacity > 0 ? text->capacity : FIRST_CAPACITY;
  while (capacity < needed) {
    capacity *= 2;
  }
  char *bytes = nd4c_recycle_grow(text->bytes, text->length, text->capacity, capacity);
  if (bytes == NULL) {
    text->failed = true;
    return false;
  }
  text->bytes = bytes;
  text->capacity = capacity;
  return true;
}

void nd4c_text_append(nd4c_text *text, const char *bytes, size_t length) {
  if (!text_reserve(text, length)) {
    return;
  }
  if (length > 0) {
    memcpy(text->bytes + text->length, bytes, length);
  }
  text->length += length;
  text->bytes[text->length] = '\0';
}

void nd4c_text_print(nd4c_text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  size_t room = text->failed ? 0 : text->capacity - text->length;
  int length = vsnprintf(room > 0 ? text->bytes + text->length : NULL, room, format, arguments);
  if (length < 0) {
    text->failed = true;
  } else if ((size_t)length < room) {
    text->length += (size_t)length;
  } else if (text_reserve(text, (size_t)length)) {
    (void)vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
    text->length += (size_t)length;
  }
  va_end(again);
  va_end(arguments);
}

void nd4c_text_free(nd4c_text *text) {
  nd4c_recycle_give(text->bytes, text->capacity);
  memset(text, 0, sizeof *text);
}

nd4c_status nd4c_text_take(nd4c_text *text, char **result) {
  if (text->bytes == NULL) {
    nd4c_text_append(text, "", 0);
  }
  if (text->failed) {
    size_t length = text->length;
    nd4c_text_free(text);
    return nd4c_fail_memory("a text", length);
  }
  size_t bytes = text->length + 1;
  char *taken = nd4c_allocate(bytes); /* the reader frees it without knowing its size */
  if (taken != NULL) {
    memcpy(taken, text->bytes, bytes);
  }
  nd4c_text_free(text);
  if (taken == NULL) {
    return nd4c_fail_memory("a text", bytes);
  }
  *result = taken;
  return ND4C_OK;
}

/* Length of the character that begins with `first`; 0 if no character does. */
static size_t bytes_of(unsigned char first) {
  return first < 0x80                     ? 1
         : first >= 0xc2 && first < 0xe0  ? 2
         : first >= 0xe0 && first < 0xf0  ? 3
         : first >= 0xf0 && first <= 0xf4 ? 4
                                          : 0;
}

size_t nd4c_text_character(const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  const size_t bytes = bytes_of(at[0]);
  if (bytes == 1) {
    return at[0] >= 0x20 && at[0] != 0x7f;
  }
  for (size_t i = 1; i < bytes; i++) {
    if ((at[i] & 0xc0) != 0x80) { /* the NUL is not one of these either */
      return 0;
    }
  }
  const bool odd = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
                   (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f) ||
                   (at[0] == 0xc2 && at[1] < 0xa0); /* controls beyond ASCII */
  return odd ? 0 : bytes;
}

size_t nd4c_text_whole(const char *text, size_t length) {
  size_t begin = length;
  while (begin > 0 && length - begin < 3 && ((unsigned char)text[begin - 1] & 0xc0) == 0x80) {
    begin--;
  }
  const bool begun = begin > 0 && bytes_of((unsigned char)text[begin - 1]) > length - begin + 1;
  return begun ? begin - 1 : length;
}

char *nd4c_text_clean(char *text, bool lines) {
  size_t plain = 0;
  while (text[plain] >= 0x20 && text[plain] < 0x7f) { /* nearly always the whole text */
    plain++;
  }
  if (text[plain] == '\0') {
    return text;
  }
  text[nd4c_text_whole(text, strlen(text))] = '\0';
  for (char *at = text + plain; *at != '\0';) {
    const size_t bytes = nd4c_text_character(at);
    if (bytes == 0 && !(lines && *at == '\n')) {
      *at = strchr("\n\r\t", *at) != NULL ? ' ' : '?';
    }
    at += bytes == 0 ? 1 : bytes;
  }
  return text;
}

void nd4c_text_name(nd4c_text *text, const char *name) {
  for (size_t plain = 0; *name != '\0'; plain = 0) {
    for (size_t bytes = 1; bytes > 0; plain += bytes) {
      bytes = nd4c_text_character(name + plain);
    }
    nd4c_text_append(text, name, plain);
    name += plain;
    if (*name != '\0') {
      const char *shown = *name == '\n' ? "\\n" : *name == '\r' ? "\\r" : *name == '\t' ? "\\t" : "?";
      nd4c_text_append(text, shown, strlen(shown));
      name++;
    }
  }
}

static char small_letter(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool nd4c_text_begins_any_case(const char *text, const char *start, size_t length) {
  size_t i = 0;
  while (i < length && text[i] != '\0' && small_letter(text[i]) == small_letter(start[i])) {
    i++;
  }
  return i == length;
}

bool nd4c_text_equals_any_case(const char *a, const char *b) {
  const size_t length = strlen(b);
  return nd4c_text_begins_any_case(a, b, length) && a[length] == '\0';
}

size_t nd4c_text_edits(const char *a, size_t length, const char *b) {
  size_t row[ND4C_TEXT_EDITS_LONGEST + 1];
  const size_t b_length = strlen(b);
  if (length > ND4C_TEXT_EDITS_LONGEST || b_length > ND4C_TEXT_EDITS_LONGEST) {
    return SIZE_MAX;
  }
  for (size_t j = 0; j <= b_length; j++) {
    row[j] = j;
  }
  for (size_t i = 1; i <= length; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b_length; j++) {
      const size_t above = row[j];
      const size_t changed = diagonal + (small_letter(a[i - 1]) != small_letter(b[j - 1]));
      const size_t moved = 1 + (above < row[j - 1] ? above : row[j - 1]);
      row[j] = changed < moved ? changed : moved;
      diagonal = above;
    }
  }
  return row[b_length];
}

typedef struct interned {
  struct interned *next;
  char bytes[];
} interned;

static nd4c_lock interned_lock = ND4C_LOCK_INIT;
static interned *all_interned;

static ND4C_AT_UNLOAD void free_interned(void) {
  while (all_interned != NULL) {
    interned *first = all_interned;
    all_interned = first->next;
    nd4c_deallocate(first);
  }
}

const char *nd4c_text_intern(const char *text) {
  nd4c_lock_acquire(&interned_lock);
  interned *found = all_interned;
  while (found != NULL && strcmp(found->bytes, text) != 0) {
    found = found->next;
  }
  if (found == NULL) {
    size_t size = strlen(text) + 1;
    found = nd4c_allocate(sizeof *found + size);
    if (found != NULL) {
      memcpy(found->bytes, text, size);
      found->next = all_interned;
      all_interned = found;
    }
  }
  nd4c_lock_release(&interned_lock);
  return found != NULL ? found->bytes : NULL;
}

void nd4c_free(void *memory) {
  nd4c_deallocate(memory);
}
