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

/* The same text, once and as long as the library is loaded: for words that change and may be handed out. NULL without
 * memory. Any thread. */
const char *nd4c_text_intern(const char *text);

#endif
