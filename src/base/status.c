/* Implements status.h and nd4c/status.h: the thread's error code and text. All of src reports failures here; programs
 * read the text through nd4c_error_message. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/thread_text.h"

enum { TEXT_SIZE = ND4C_THREAD_TEXT_SIZE };

static _Thread_local nd4c_status thread_code;

ND4C_FAST_THREAD_LOCAL bool nd4c_error_is_new;

const char *nd4c_status_name(nd4c_status status) {
  switch (status) {
#define NAME_CASE(NAME, number, text) \
  case number:                        \
    return #NAME;
    ND4C_STATUS_TABLE(NAME_CASE)
#undef NAME_CASE
    default:
      return "?";
  }
}

const char *nd4c_status_text(nd4c_status status) {
  switch (status) {
#define TEXT_CASE(NAME, number, text) \
  case number:                        \
    return text;
    ND4C_STATUS_TABLE(TEXT_CASE)
#undef TEXT_CASE
    default:
      return "unknown status";
  }
}

const char *nd4c_error_message(void) {
  size_t size;
  return nd4c_thread_error_text(&size);
}

nd4c_status nd4c_error_code(void) {
  return thread_code;
}

void nd4c_error_clear(void) {
  size_t size;
  nd4c_thread_error_text(&size)[0] = '\0';
  thread_code = ND4C_OK;
  nd4c_error_is_new = false;
}

void nd4c_error_clean(void) {
  size_t size;
  nd4c_text_clean(nd4c_thread_error_text(&size), true);
}

nd4c_status nd4c_error_answer(void) {
  return nd4c_error_is_new ? thread_code : ND4C_OK;
}

nd4c_status nd4c_fail(nd4c_status code, const char *format, ...) {
  /* Formats beside the current text first, because an argument may point into it. */
  char text[TEXT_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  size_t size;
  char *thread_text = nd4c_thread_error_text(&size);
  size_t length = strlen(text);
  length = length < size ? length : size - 1;
  length = length + 1 < size ? length : nd4c_text_whole(text, length); /* it may have been cut */
  while (length > 0 && text[length - 1] == '\n') {
    length--; /* texts that end in a list of lines */
  }
  memcpy(thread_text, text, length);
  thread_text[length] = '\0';
  thread_code = code;
  nd4c_error_is_new = true;
  return code;
}

nd4c_status nd4c_fail_prefix(nd4c_status code, const char *format, ...) {
  if (code == ND4C_CONFIG || code == ND4C_NO_BACKEND) {
    return code; /* the process cannot compute at all, so the file or op in progress does not matter */
  }
  char prefix[TEXT_SIZE / 2];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(prefix, sizeof prefix, format, arguments);
  va_end(arguments);
  return nd4c_fail(code, "%s: %s", prefix, nd4c_error_message());
}
