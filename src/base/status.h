/* How code inside nd4c reports failures: every file of src includes this. */
#ifndef ND4C_BASE_STATUS_H
#define ND4C_BASE_STATUS_H

#include <stdbool.h>

#include "base/compiler.h"
#include "nd4c/status.h"

/* Whether the thread has failed since nd4c_error_expect. */
extern ND4C_FAST_THREAD_LOCAL bool nd4c_error_is_new;

/* Sets the thread's error code and text and returns the code: `return nd4c_fail(ND4C_SHAPE, "...", ...)`. Needs no
 * memory but the thread's text, made once; long texts are cut at 8 KiB. The text says what was given and what was
 * expected; newlines at its end are dropped. */
nd4c_status nd4c_fail(nd4c_status code, const char *format, ...) ND4C_PRINTF(2, 3);

/* Puts "context: " in front of the thread's error text, for callers that know more, such as the op or the file. Returns
 * `code`. The texts of CONFIG and NO_BACKEND stay unchanged. */
nd4c_status nd4c_fail_prefix(nd4c_status code, const char *format, ...) ND4C_PRINTF(2, 3);

/* Called before a function outside nd4c that should set the error if it fails; nd4c_error_answer then returns what it
 * set. Keeps code and text of earlier failures. Costs one store, because nd4c calls it before every kernel. */
static inline void nd4c_error_expect(void) {
  nd4c_error_is_new = false;
}

/* Makes the thread's error text valid UTF-8 without control characters except newlines, in place. */
void nd4c_error_clean(void);

/* Code of the thread's most recent failure since nd4c_error_expect or nd4c_error_clear, OK if none. */
nd4c_status nd4c_error_answer(void);

/* Whether a failure says nothing about what was asked for, and a later try may succeed: memory was short, or the caller
 * stopped the work. Who would do without something after a failure returns these instead. */
static inline bool nd4c_status_passes(nd4c_status status) {
  return status == ND4C_MEMORY || status == ND4C_MEMORY_CAP || status == ND4C_CANCELLED || status == ND4C_DEADLINE;
}

/* Leaves the calling function with the status of `expression` unless it is OK. */
#define ND4C_TRY(expression)                \
  do {                                      \
    nd4c_status try_status_ = (expression); \
    if (try_status_ != ND4C_OK) {           \
      return try_status_;                   \
    }                                       \
  } while (0)

#endif
