/* Lines that a section writes for the process that started it. Every section calls these; plugin_check.c reads the
 * lines. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { TEXT = 2048 };

/* One line: line ends within the text become " | ". */
static void write_line(const char *kind, const char *format, va_list arguments, const char *more) {
  char text[TEXT];
  (void)vsnprintf(text, sizeof text, format, arguments);
  const size_t used = strlen(text);
  (void)snprintf(text + used, sizeof text - used, "%s%s", more[0] != '\0' ? ": " : "", more);
  (void)printf("check: %s ", kind);
  for (const char *at = text; *at != '\0'; at++) {
    (void)fputs(*at == '\n' ? " | " : (const char[]){*at, '\0'}, stdout);
  }
  (void)putchar('\n');
  (void)fflush(stdout);
}

bool plugin_check_that(plugin_check *check, bool holds, const char *format, ...) {
  if (holds) {
    check->passed++;
    return true;
  }
  check->failed++;
  va_list arguments;
  va_start(arguments, format);
  write_line("fail", format, arguments, "");
  va_end(arguments);
  return false;
}

bool plugin_check_status(plugin_check *check, nd4c_status status, const char *format, ...) {
  if (status == ND4C_OK) {
    check->passed++;
    return true;
  }
  const char *text = nd4c_error_message();
  check->failed++;
  va_list arguments;
  va_start(arguments, format);
  write_line("fail", format, arguments, text[0] != '\0' ? text : nd4c_status_text(status));
  va_end(arguments);
  return false;
}

#define WRITER(name, kind)                   \
  void name(const char *format, ...) {       \
    va_list arguments;                       \
    va_start(arguments, format);             \
    write_line(kind, format, arguments, ""); \
    va_end(arguments);                       \
  }
WRITER(plugin_check_note, "note")
WRITER(plugin_check_skip, "skip")
WRITER(plugin_check_fact, "fact")
WRITER(plugin_check_at, "at")
#undef WRITER

void plugin_check_end(const plugin_check *check) {
  (void)printf("check: end %d\n", (int)check->passed);
  (void)fflush(stdout);
}
