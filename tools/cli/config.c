/* nd4c config: the configuration table with the source of each value. main.c calls cli_config. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char *source_text(nd4c_config_source source) {
  return source == ND4C_CONFIG_SET ? "set" : source == ND4C_CONFIG_ENVIRONMENT ? "environment" : "default";
}

static bool row_at(int32_t index, nd4c_config_row *row) {
  *row = (nd4c_config_row){.struct_size = sizeof *row};
  return nd4c_config_get_row(index, row) == ND4C_OK;
}

/* Only what is true everywhere: defaults, not this process's values. */
static int print_markdown(void) {
  (void)printf(
      "# Configuration\n\n"
      "Made by `nd4c config --markdown` from `src/base/config/config_table.h` and what the built-in providers declare; "
      "a test "
      "keeps it current.\n\n"
      "A property's value comes from `nd4c_config_set` (or `-D PROPERTY=VALUE` after a command of `nd4c`), else from "
      "its environment "
      "variable,\n"
      "else it is the default. `nd4c config` prints the values and where each comes from. A variable whose value does\n"
      "not parse is shown there as refused, and every computation fails until it is corrected or the property is "
      "set.\n\n"
      "Types: `bool` (true, yes, on, 1; false, no, off, 0), `int`, `bytes` (a number, with k, m, g or t), `fraction` "
      "(0 to 1), `string`,\n"
      "`list` (separated by commas), `directory` (an absolute path, or off), `directories` (a list of absolute paths), "
      "`file` (a path with a '/' in it, or a word of `bool`). A name with `<TYPE>` and `<INDEX>` "
      "stands for one\n"
      "property of each device: `nd4j.device.memory.cap.OPENCL.0`.\n\n"
      "| property | environment variable | type | default | meaning |\n|---|---|---|---|---|\n");
  nd4c_config_row row;
  for (int32_t i = 0; row_at(i, &row) && row.family == NULL && (row.provider == NULL || row.provider[0] != '\0'); i++) {
    (void)printf("| `%s` | `%s` | %s | ", row.property, row.environment, row.type);
    (void)printf(row.default_value[0] != '\0' ? "`%s`" : "%sempty", row.default_value);
    (void)printf(" | %s |\n", row.meaning);
  }
  return cli_finish(&cli_config);
}

static int print_json(void) {
  cJSON *rows = cJSON_CreateArray();
  nd4c_config_row row;
  for (int32_t i = 0; row_at(i, &row); i++) {
    cJSON *object = cJSON_CreateObject();
    (void)cJSON_AddStringToObject(object, "property", row.property);
    (void)cJSON_AddStringToObject(object, "environment", row.environment);
    (void)cJSON_AddStringToObject(object, "type", row.type);
    (void)cJSON_AddStringToObject(object, "default", row.default_value);
    (void)cJSON_AddStringToObject(object, "value", row.value);
    (void)cJSON_AddStringToObject(object, "source", source_text(row.source));
    (void)cJSON_AddStringToObject(object, "meaning", row.meaning);
    if (row.provider != NULL) {
      (void)cJSON_AddStringToObject(object, "provider", row.provider);
    }
    if (row.refused != NULL) {
      (void)cJSON_AddStringToObject(object, "refused", row.refused);
      (void)cJSON_AddStringToObject(object, "expected", row.expected);
    }
    (void)cJSON_AddItemToArray(rows, object);
  }
  return cli_print_json(&cli_config, rows, false);
}

/* What does not parse: mostly of the environment; of a plug-in's property, also what was set before it was loaded. */
static void print_refused(const nd4c_config_row *row) {
  const char *variable = getenv(row->environment);
  const bool environment = variable != NULL && strcmp(variable, row->refused) == 0;
  (void)printf("    REFUSED: %s%s=\"%s\"; expected %s\n    %s\n", environment ? "the environment has " : "",
               environment ? row->environment : row->property, row->refused, row->expected,
               row->source == ND4C_CONFIG_SET ? "It is not used, because the property is set."
               : environment                  ? "Every computation fails until the variable is mended or unset."
                                              : "Every computation fails until the property is set to such a value.");
}

static void print_names(const nd4c_config_row *row) {
  (void)printf("%s = %s\n    from %s", row->property, row->value[0] != '\0' ? row->value : "(empty)",
               source_text(row->source));
  if (strcmp(row->environment, row->property) == 0) {
    (void)printf("; environment variable of the same name");
  } else if (row->environment[0] != '\0') {
    (void)printf("; environment variable %s", row->environment);
  }
}

static int print_text(void) {
  nd4c_config_row row;
  for (int32_t i = 0; row_at(i, &row); i++) {
    print_names(&row);
    (void)printf("; %s; default %s%s%s\n    %s\n", row.type,
                 row.default_value[0] != '\0' ? row.default_value : "(empty)",
                 row.provider != NULL && row.provider[0] != '\0' ? "; of provider " : "",
                 row.provider != NULL ? row.provider : "", row.meaning);
    if (row.refused != NULL) {
      print_refused(&row);
    }
  }
  return cli_finish(&cli_config);
}

static int run(int argc, char **argv) {
  static const struct option options[] = {{"markdown", no_argument, NULL, 'm'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  bool markdown = false, json = false;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
    switch (option) {
      case 'm':
        markdown = true;
        break;
      case 'j':
        json = true;
        break;
      case 'h':
        return cli_help(&cli_config);
      default:
        return cli_unknown_option(&cli_config, argv[optind - 1]);
    }
  }
  if (markdown && json) {
    return cli_usage(&cli_config, "--markdown and --json exclude each other");
  }
  for (int i = optind; i < argc; i++) {
    const int result = cli_set_property(&cli_config, argv[i]);
    if (result != CLI_OK) {
      return result;
    }
  }
  if (!markdown) {
    const int result = cli_check_properties(&cli_config);
    if (result != CLI_OK) {
      return result;
    }
  }
  return markdown ? print_markdown() : json ? print_json() : print_text();
}

const cli_command cli_config = {
    .name = "config",
    .summary = "show the configuration: each property, its value and where that comes from",
    .help =
        "usage: nd4c config [--json | --markdown] [PROPERTY=VALUE...]\n\n"
        "  PROPERTY=VALUE  set this first, which also checks it\n"
        "  --json          an array of objects\n"
        "  --markdown      the table of docs/reference/configuration.md: defaults and meanings\n\n"
        "examples:\n"
        "  nd4c config\n"
        "  ND4C_WIDTH=2 nd4c config --json\n"
        "  nd4c config org.bytedeco.javacpp.maxbytes=2g\n",
    .run = run,
};
