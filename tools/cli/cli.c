/* Implements cli.h: reports of errors, options, JSON, progress, and texts of numbers. Every command of the program
 * calls these. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "watch.h"

int cli_help(const cli_command *command) {
  (void)printf("nd4c %s: %s\n\n%s", command->name, command->summary, command->help);
  return cli_finish(command);
}

/* Bytes of the UTF-8 character at `at`, before the end of a text; 0 if there is none. */
static size_t character_bytes(const unsigned char *at) {
  const size_t bytes = at[0] < 0x80                     ? 1
                       : at[0] >= 0xc2 && at[0] < 0xe0  ? 2
                       : at[0] >= 0xe0 && at[0] < 0xf0  ? 3
                       : at[0] >= 0xf0 && at[0] <= 0xf4 ? 4
                                                        : 0;
  for (size_t i = 1; i < bytes; i++) {
    if ((at[i] & 0xc0) != 0x80) {
      return 0;
    }
  }
  const bool odd = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
                   (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f);
  return odd ? 0 : bytes;
}

size_t cli_character(const char *at) {
  const unsigned char *bytes = (const unsigned char *)at;
  const bool control = bytes[0] < ' ' || bytes[0] == 0x7f || (bytes[0] == 0xc2 && bytes[1] < 0xa0);
  return control ? 0 : character_bytes(bytes);
}

static void print_clean(FILE *file, const char *text, bool lines) {
  for (size_t bytes; *text != '\0'; text += bytes > 0 ? bytes : 1) {
    bytes = lines && (*text == '\n' || *text == '\t') ? 1 : cli_character(text);
    (void)fwrite(bytes > 0 ? text : "?", 1, bytes > 0 ? bytes : 1, file);
  }
}

void cli_print_name(FILE *file, const char *name) {
  print_clean(file, name, false);
}

void cli_print_text(FILE *file, const char *text) {
  print_clean(file, text, true);
}

const char *cli_node_name(const nd4c_node_info *node) {
  return node->parts != NULL ? node->parts : node->label;
}

char *cli_clean_name(char *name) {
  for (char *at = name; *at != '\0';) {
    const size_t bytes = cli_character(at);
    *at = bytes > 0 ? *at : '?';
    at += bytes > 0 ? bytes : 1;
  }
  return name;
}

/* A line on stderr, without what shows the progress of work. Names in it may be any bytes. */
static void tell_line(const char *before, const char *format, va_list arguments) {
  char text[8192];
  cli_watch_stop();
  (void)fflush(stdout);
  (void)vsnprintf(text, sizeof text, format, arguments);
  (void)fputs(before, stderr);
  cli_print_text(stderr, text);
  (void)fputc('\n', stderr);
}

static void complain(const cli_command *command, const char *format, va_list arguments) {
  char before[64];
  (void)snprintf(before, sizeof before, "nd4c %s: ", command->name);
  tell_line(before, format, arguments);
}

void cli_note(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tell_line("note: ", format, arguments);
  va_end(arguments);
}

int cli_usage(const cli_command *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  complain(command, format, arguments);
  va_end(arguments);
  (void)fprintf(stderr, "try: nd4c %s --help\n", command->name);
  return CLI_USAGE;
}

int cli_unknown_option(const cli_command *command, const char *argument) {
  return cli_usage(command, "option '%s' is unknown or lacks its value", argument);
}

int cli_fail(const cli_command *command, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  complain(command, format, arguments);
  va_end(arguments);
  return CLI_FAILURE;
}

/* Hints by status, and by words in the library's text. */
static const struct {
  nd4c_status status;
  const char *words, *text;
} hints[] = {
    {ND4C_NO_BACKEND, "", "nd4c info --probe shows every backend and why it can or cannot be used"},
    {ND4C_HARDWARE, "", "nd4c info --probe shows every backend and why it can or cannot be used"},
    {ND4C_LIBRARY, "", "nd4c.library.path (ND4C_LIBRARY_PATH) names directories to search for run-time libraries"},
    {ND4C_UNSUPPORTED, "that nd4c lacks", "nd4c ops lists the ops of this build"},
    {ND4C_STRICT, "", "without nd4c.strict (ND4C_STRICT) it runs, and the report tells what was applied instead"},
    {ND4C_CONFIG, "", "nd4c config lists the properties, their types and values"},
};

/* The library's words; returns the exit code. */
static int tell_failure(const cli_command *command, nd4c_status status) {
  const char *text = nd4c_error_message();
  (void)cli_fail(command, "%s", text[0] != '\0' ? text : nd4c_status_text(status));
  return status == ND4C_UNSUPPORTED ? CLI_UNSUPPORTED : CLI_FAILURE;
}

int cli_fail_hint(const cli_command *command, nd4c_status status, const char *format, ...) {
  const int code = tell_failure(command, status);
  va_list arguments;
  va_start(arguments, format);
  tell_line("hint: ", format, arguments);
  va_end(arguments);
  return code;
}

/* Which property is the limit of the device whose cap the library's words name. */
static void hint_at_cap(void) {
  static const char words[] = "memory cap of ";
  const char *at = strstr(nd4c_error_message(), words), *value = NULL;
  char name[32] = "", type[16] = "", property[64];
  nd4c_device *device = NULL;
  nd4c_device_info info = {.struct_size = sizeof info};
  (void)sscanf(at != NULL ? at + strlen(words) : "", "%31s", name);
  if (nd4c_device_find(name, &device) != ND4C_OK || nd4c_device_get_info(device, &info) != ND4C_OK) {
    return;
  }
  (void)snprintf(type, sizeof type, "%s", nd4c_device_type_name(info.type));
  for (char *letter = type; *letter != '\0'; letter++) {
    *letter = (char)toupper((unsigned char)*letter);
  }
  (void)snprintf(property, sizeof property, "nd4j.device.memory.cap.%s.%" PRId32, type, info.index);
  const bool own = nd4c_config_get(property, &value) == ND4C_OK && value[0] != '\0' && strcmp(value, "0") != 0;
  if (own) {
    (void)fprintf(stderr, "hint: %s (ND4J_DEVICE_MEMORY_CAP_%s_%" PRId32 ") is the limit\n", property, type,
                  info.index);
  } else {
    (void)fprintf(stderr, "hint: %s is the limit\n",
                  info.type == ND4C_DEVICE_CPU ? "org.bytedeco.javacpp.maxbytes (ND4C_MEMORY_MAX_BYTES)"
                                               : "gpuMemoryCapFraction (ND4J_GPU_MEMORY_CAP_FRACTION)");
  }
}

int cli_fail_status(const cli_command *command, nd4c_status status) {
  const int code = tell_failure(command, status);
  if (status == ND4C_MEMORY_CAP) {
    hint_at_cap();
  }
  for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
    if (hints[i].status == status && strstr(nd4c_error_message(), hints[i].words) != NULL) {
      (void)fprintf(stderr, "hint: %s\n", hints[i].text);
    }
  }
  return code;
}

int cli_set_property(const cli_command *command, const char *assignment) {
  const char *equals = strchr(assignment, '=');
  char property[256];
  if (equals == NULL || equals == assignment || (size_t)(equals - assignment) >= sizeof property) {
    return cli_usage(command, "'%s' is not PROPERTY=VALUE", assignment);
  }
  memcpy(property, assignment, (size_t)(equals - assignment));
  property[equals - assignment] = '\0';
  if (nd4c_config_set(property, equals + 1) != ND4C_OK) {
    (void)cli_fail_status(command, nd4c_error_code());
    return CLI_USAGE;
  }
  return CLI_OK;
}

int cli_check_properties(const cli_command *command) {
  nd4c_config_row row = {.struct_size = sizeof row};
  (void)nd4c_backend_count(); /* loads them */
  for (int32_t i = 0; nd4c_config_get_row(i, &row) == ND4C_OK; i++) {
    const bool waits = row.provider != NULL && row.provider[0] == '\0';
    if (waits && nd4c_config_set(row.property, row.value) != ND4C_OK) { /* refused, now that the provider is known */
      (void)cli_fail_status(command, nd4c_error_code());
      return CLI_USAGE;
    }
  }
  return CLI_OK;
}

char *cli_json_text(char *text) {
  for (unsigned char *at = (unsigned char *)text; at != NULL && *at != '\0';) {
    const size_t bytes = character_bytes(at);
    *at = bytes == 0 ? '?' : *at;
    at += bytes == 0 ? 1 : bytes;
  }
  return text;
}

int cli_print_json(const cli_command *command, cJSON *json, bool one_line) {
  char *text = cli_json_text(json == NULL ? NULL : one_line ? cJSON_PrintUnformatted(json) : cJSON_Print(json));
  cJSON_Delete(json);
  if (text == NULL) {
    return cli_fail(command, "no memory for the JSON text");
  }
  (void)puts(text);
  cJSON_free(text);
  return cli_finish(command);
}

int cli_finish(const cli_command *command) {
  if (fflush(stdout) != 0 || ferror(stdout)) {
    return cli_fail(command, "stdout: %s", strerror(errno));
  }
  return CLI_OK;
}

cli_progress cli_progress_begin(void) {
  const double now = cli_seconds();
  return (cli_progress){.begun = now, .told = now, .terminal = isatty(STDERR_FILENO) != 0};
}

void cli_progress_say(cli_progress *p, const char *text) {
  const double now = cli_seconds();
  if (now - p->told < (p->terminal && now - p->begun > 0.5 ? 0.1 : 2.0)) {
    return;
  }
  p->told = now;
  p->shown = true;
  (void)fprintf(stderr, p->terminal ? "\r%s \033[K" : "%s\n", text);
}

void cli_progress_end(const cli_progress *p) {
  if (p->terminal && p->shown) {
    (void)fprintf(stderr, "\r\033[K");
  }
}

bool cli_read_integer(const char *text, int64_t low, int64_t high, int64_t *number) {
  char *end = NULL;
  errno = 0;
  *number = strtoll(text, &end, 10);
  return end != text && *end == '\0' && errno == 0 && *number >= low && *number <= high;
}

bool cli_read_number(const char *text, double most, double *number) {
  char *end = NULL;
  *number = strtod(text, &end);
  return end != text && *end == '\0' && *number > 0 && *number <= most;
}

double cli_seconds(void) {
  struct timespec time;
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double cli_processor_seconds(void) {
  struct timespec time;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void cli_sort(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_value);
}

double cli_percentile(const double *sorted, int count, double percent) {
  const double rank = percent / 100 * count;
  int index = (int)rank;
  index = rank > index ? index : index - 1; /* the least value that so many percent do not exceed */
  return sorted[index < 0 ? 0 : index];
}

static const struct {
  const char *text, *key;
  double percent;
} percentiles[] = {
    {"p50", "p50_seconds", 50}, {"p90", "p90_seconds", 90}, {"p99", "p99_seconds", 99}, {"max", "max_seconds", 100}};

enum { PERCENTILES = sizeof percentiles / sizeof *percentiles };

void cli_add_times(cJSON *object, const double *sorted, int count) {
  (void)cJSON_AddNumberToObject(object, "min_seconds", sorted[0]);
  for (int i = 0; i < PERCENTILES; i++) {
    (void)cJSON_AddNumberToObject(object, percentiles[i].key, cli_percentile(sorted, count, percentiles[i].percent));
  }
}

void cli_print_times(const char *what, const double *sorted, int count) {
  (void)printf("%s: min %.3f ms", what, 1e3 * sorted[0]);
  for (int i = 0; i < PERCENTILES; i++) {
    (void)printf(", %s %.3f ms", percentiles[i].text, 1e3 * cli_percentile(sorted, count, percentiles[i].percent));
  }
  (void)printf(" of %d runs\n", count);
}

const char *cli_shape_text(int32_t rank, const int64_t *shape, const char *const *symbols, char *buffer, size_t size) {
  if (rank < 0) {
    (void)snprintf(buffer, size, "(any rank)");
    return buffer;
  }
  size_t used = 0;
  for (int32_t axis = 0; axis < rank && used < size; axis++) {
    const char *before = axis == 0 ? "(" : ", ";
    const char *symbol = symbols != NULL && symbols[axis] != NULL ? symbols[axis] : "?";
    const int written = shape[axis] >= 0 ? snprintf(buffer + used, size - used, "%s%" PRId64, before, shape[axis])
                                         : snprintf(buffer + used, size - used, "%s%s", before, symbol);
    used += written > 0 ? (size_t)written : 0;
  }
  if (used < size) {
    (void)snprintf(buffer + used, size - used, rank == 0 ? "()" : rank == 1 ? ",)" : ")");
  }
  return buffer;
}

const char *cli_bytes_text(int64_t bytes, char *buffer, size_t size) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = (double)bytes;
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    unit++;
  }
  (void)snprintf(buffer, size, unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return buffer;
}

/* -- options for compilers ------------------------------------------------------------------------------------------
 */

int cli_compile_math(const cli_command *command, cli_compile *compile, const char *text) {
  static const char *const levels[] = {"exact", "reorder", "fast", "reduced"};
  for (int i = 0; i < (int)(sizeof levels / sizeof levels[0]); i++) {
    if (strcmp(text, levels[i]) == 0) {
      compile->request.struct_size = sizeof compile->request;
      compile->request.math = i;
      return CLI_OK;
    }
  }
  return cli_usage(command, "--math %s: exact, reorder, fast or reduced was expected", text);
}

int cli_compile_option(const cli_command *command, cli_compile *compile, char *text) {
  char *equals = strchr(text, '=');
  if (equals == NULL || equals == text) {
    return cli_usage(command, "--compile-option %s: KEY=VALUE was expected", text);
  }
  if (compile->request.option_count == ND4C_COMPILE_OPTION_LIMIT) {
    return cli_usage(command, "--compile-option: more than %d", (int)ND4C_COMPILE_OPTION_LIMIT);
  }
  *equals = '\0';
  compile->request.struct_size = sizeof compile->request;
  compile->options[compile->request.option_count++] = (nd4c_compile_option){.key = text, .value = equals + 1};
  return CLI_OK;
}

const nd4c_compile_request *cli_compile_request(cli_compile *compile) {
  compile->request.options = compile->options;
  return compile->request.struct_size != 0 ? &compile->request : NULL;
}
