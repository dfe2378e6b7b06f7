/* Parses --math and --compile-option. compile.c and run.c take these options. */
#include <string.h>

#include "cli.h"

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
