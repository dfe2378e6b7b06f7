/* Functions that the commands of the program `nd4c` share, and the table entry of each command. The program uses only
 * public headers. Each command's .c file and main.c include this. */
#ifndef ND4C_CLI_CLI_H
#define ND4C_CLI_CLI_H

#include <cjson/cJSON.h>
#include <nd4c/nd4c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Exit codes. */
enum { CLI_OK = 0, CLI_FAILURE = 1, CLI_USAGE = 2, CLI_UNSUPPORTED = 3 };

/* One command: argv[0] is its name. */
typedef struct cli_command {
  const char *name;
  const char *summary; /* one line */
  const char *help;    /* options and examples */
  int (*run)(int argc, char **argv);
} cli_command;

extern const cli_command cli_info, cli_ops, cli_run, cli_compile_command, cli_calibrate, cli_graph, cli_bench,
    cli_config, cli_selftest, cli_plugin_check;

/* Prints the command's help to stdout; returns CLI_OK. */
int cli_help(const cli_command *command);

/* "nd4c run: ..." to stderr with a pointer to --help; returns CLI_USAGE. */
int cli_usage(const cli_command *command, const char *format, ...) ND4C_PRINTF(2, 3);

/* Reports an option that getopt_long refused; opterr is 0, so getopt_long prints nothing. */
int cli_unknown_option(const cli_command *command, const char *argument);

/* "nd4c run: ..." to stderr; returns CLI_FAILURE. */
int cli_fail(const cli_command *command, const char *format, ...) ND4C_PRINTF(2, 3);

/* Prints the library's text of the last failure and what to do about it to stderr; CLI_UNSUPPORTED or CLI_FAILURE. */
int cli_fail_status(const cli_command *command, nd4c_status status);

/* The same with the caller's hint, if the general hint for the status does not fit. */
int cli_fail_hint(const cli_command *command, nd4c_status status, const char *format, ...) ND4C_PRINTF(3, 4);

/* Makes a JSON text valid UTF-8, in place: messages of the system, file names and values of variables may not be.
 * Returns it; NULL stays NULL. */
char *cli_json_text(char *text);

/* "note: ..." to stderr. */
void cli_note(const char *format, ...) ND4C_PRINTF(1, 2);

/* Names in a model's file may be any bytes, which could command the terminal. cli_character: bytes of the character at
 * `at`; 0 if it is no UTF-8, a control character or the end. The others print such bytes as '?': cli_print_name also
 * line ends, cli_print_text not. cli_clean_name does so in place, and returns the text. */
size_t cli_character(const char *at);
void cli_print_name(FILE *file, const char *name);
void cli_print_text(FILE *file, const char *text);
char *cli_clean_name(char *name);
/* The labels of what a node was made from, or its own; "" without any. */
const char *cli_node_name(const nd4c_node_info *node);

/* Sets "PROPERTY=VALUE" for this process; CLI_USAGE with a text if the library refuses it. */
int cli_set_property(const cli_command *command, const char *assignment);
/* Loads the plug-ins of nd4c.backend.plugins, which declare properties. CLI_USAGE if a value was set for a property
 * that a loaded provider does not declare, although the name has its prefix. */
int cli_check_properties(const cli_command *command);

/* The request of --math and --compile-option. Options point into argv, whose texts are cut at their '='. */
typedef struct cli_compile {
  nd4c_compile_request request; /* struct_size 0: no request */
  nd4c_compile_option options[ND4C_COMPILE_OPTION_LIMIT];
} cli_compile;
int cli_compile_math(const cli_command *command, cli_compile *compile, const char *text);
int cli_compile_option(const cli_command *command, cli_compile *compile, char *text);
/* NULL: no request. */
const nd4c_compile_request *cli_compile_request(cli_compile *compile);

/* Prints and frees; CLI_FAILURE if memory was exhausted (json NULL) or writing to stdout fails. */
int cli_print_json(const cli_command *command, cJSON *json, bool one_line);

/* Flushes stdout; CLI_FAILURE if output was lost (a full disk, a closed pipe). */
int cli_finish(const cli_command *command);

/* Progress of long work on stderr: on a terminal a line that is rewritten, else a line every two seconds. The first one
 * appears after half a second or, if it is no terminal, after two, so short work prints none. */
typedef struct cli_progress {
  double begun, told;
  bool terminal, shown;
} cli_progress;
cli_progress cli_progress_begin(void);
void cli_progress_say(cli_progress *p, const char *text);
void cli_progress_end(const cli_progress *p);

/* A whole text as a number from low to high; false if it is none. */
bool cli_read_integer(const char *text, int64_t low, int64_t high, int64_t *number);
/* A whole text as a number above 0, at most `most`; false if it is none. */
bool cli_read_number(const char *text, double most, double *number);

/* Seconds of a monotonic clock. */
double cli_seconds(void);
/* Seconds that all threads of this process together have computed. */
double cli_processor_seconds(void);
/* Least first. */
void cli_sort(double *values, int count);
/* Of sorted numbers, the least one that so many percent of them do not exceed. */
double cli_percentile(const double *sorted, int count, double percent);
/* The least of sorted times and their percentiles p50, p90, p99 and max: as members of an object, and as a line. */
void cli_add_times(cJSON *object, const double *sorted, int count);
void cli_print_times(const char *what, const double *sorted, int count);

/* "(2, 3)" of an array or model value; -1 is written as the symbol or "?". */
const char *cli_shape_text(int32_t rank, const int64_t *shape, const char *const *symbols, char *buffer, size_t size);

/* "1.5 GiB" */
const char *cli_bytes_text(int64_t bytes, char *buffer, size_t size);

#endif
