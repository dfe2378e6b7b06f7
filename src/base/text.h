/* A growing text buffer, and checks of text from outside. Reports and printing in all layers use it; device/provider
 * and device/registry make the texts of plug-ins printable with it. */
#ifndef ND4C_BASE_TEXT_H
#define ND4C_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "nd4c/export.h"
#include "nd4c/status.h"

/* Zero-initialised is empty. After a failed allocation appends do nothing and `failed` is true. */
typedef struct nd4c_text {
  char *bytes; /* NUL-terminated; NULL while empty */
  size_t length, capacity;
  bool failed;
} nd4c_text;

void nd4c_text_append(nd4c_text *text, const char *bytes, size_t length);
void nd4c_text_print(nd4c_text *text, const char *format, ...) ND4C_PRINTF(2, 3);
/* Appends a name from outside nd4c on one line, and valid UTF-8: line ends and tabs as \\n, \\r, \\t, other control
 * characters and invalid bytes as '?'. */
void nd4c_text_name(nd4c_text *text, const char *name);
void nd4c_text_free(nd4c_text *text);
/* Gives the text to the caller, which frees it with nd4c_free; "" if it is empty. MEMORY if an append failed: the text
 * is then freed. */
nd4c_status nd4c_text_take(nd4c_text *text, char **result);

/* Length of the first character of a NUL-terminated text; 0 if the bytes are not UTF-8 (RFC 3629: no overlong forms,
 * no surrogates), or for a control character or the terminating NUL. */
size_t nd4c_text_character(const char *text);
/* Makes a text from outside nd4c safe to print and to put in JSON, in place: valid UTF-8 without control characters.
 * Newlines and tabs become spaces, other invalid bytes '?'; with `lines` newlines stay. A truncated character at the
 * end is removed. Returns the text. */
char *nd4c_text_clean(char *text, bool lines);
/* `length` without the bytes of an incomplete character at the end. */
size_t nd4c_text_whole(const char *text, size_t length);

/* Names that users write are compared without regard to the case of ASCII letters, whatever the program's locale. */
bool nd4c_text_equals_any_case(const char *a, const char *b);
/* Whether `text` begins with the first `length` bytes of `start`. */
bool nd4c_text_begins_any_case(const char *text, const char *start, size_t length);

enum { ND4C_TEXT_EDITS_LONGEST = 64 };
/* Number of letters to add, remove or change that turn the first `length` bytes of `a` into `b`, without regard to the
 * case of ASCII letters; to find the name that a user may have meant. SIZE_MAX if one has more than
 * ND4C_TEXT_EDITS_LONGEST bytes. */
size_t nd4c_text_edits(const char *a, size_t length, const char *b);

/* Interns a text: equal texts give one pointer, valid as long as the library is loaded. For texts that change while
 * callers may hold them. NULL if memory is exhausted. Any thread. */
const char *nd4c_text_intern(const char *text);

#endif
