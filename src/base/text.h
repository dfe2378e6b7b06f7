/* A growing text buffer, for reports and printing. */
#ifndef ND4C_BASE_TEXT_H
#define ND4C_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "nd4c/export.h"
#include "nd4c/status.h"

/* Zero-initialised is empty. After a failed allocation appends do nothing and `failed` is true. */
typedef struct nd4c_text {
  char *bytes; /* NUL-terminated, NULL while empty */
  size_t length, capacity;
  bool failed;
} nd4c_text;

void nd4c_text_append(nd4c_text *text, const char *bytes, size_t length);
void nd4c_text_print(nd4c_text *text, const char *format, ...) ND4C_PRINTF(2, 3);
void nd4c_text_free(nd4c_text *text);
/* Hands the text to a caller who frees it with nd4c_free; "" if empty. ND4C_MEMORY if something was lost (all freed).
 */
nd4c_status nd4c_text_take(nd4c_text *text, char **result);

/* Bytes of the character at `at`, a place in a text that ends in a zero; 0 if what begins there is no UTF-8 (RFC 3629:
 * no overlong forms, no surrogates) or a control, which includes the end. */
size_t nd4c_text_character(const char *at);
/* Makes a text from elsewhere fit to be shown and to stand in JSON, in place: valid UTF-8 without controls. Ends of
 * lines and tabs become spaces, other bytes that do not fit '?'; with `lines` ends of lines stay. A character that was
 * cut off at the end goes. Returns the text. */
char *nd4c_text_clean(char *text, bool lines);
/* `length` without the bytes at the end that begin a character and do not complete it. */
size_t nd4c_text_whole(const char *text, size_t length);

/* Names that users write are compared without regard to the case of ASCII letters, whatever the program's locale. */
bool nd4c_text_equals_any_case(const char *a, const char *b);
/* Whether `text` begins with the first `length` bytes of `start`. */
bool nd4c_text_begins_any_case(const char *text, const char *start, size_t length);

/* The same text, once and as long as the library is loaded: for words that change and may be handed out. NULL without
 * memory. Any thread. */
const char *nd4c_text_intern(const char *text);

#endif
