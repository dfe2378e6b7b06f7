/* The program `nd4c`: one command each for looking at the machine, the ops and the configuration, for running models
 * and for quick measurements. The user runs it; it calls the run function of the command's table entry (cli.h). */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "manual.h"

static const cli_command *const commands[] = {&cli_info,      &cli_ops,         &cli_run,   &cli_compile_command,
                                              &cli_calibrate, &cli_graph,       &cli_bench, &cli_config,
                                              &cli_selftest,  &cli_plugin_check};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void overview(FILE *to) {
  (void)fprintf(to, "usage: nd4c COMMAND [OPTIONS]\n\n");
  for (int i = 0; i < COMMANDS; i++) {
    (void)fprintf(to, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
  }
  (void)fprintf(to,
                "\nnd4c COMMAND --help tells a command's options, with examples; nd4c --version the version;\n"
                "nd4c --manual [COMMAND] prints the manual page nd4c(1), or that of a command, as roff.\n"
                "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not supported.\n");
}

static const cli_command *find(const char *name) {
  for (int i = 0; i < COMMANDS; i++) {
    if (strcmp(name, commands[i]->name) == 0) {
      return commands[i];
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    overview(stderr);
    return CLI_USAGE;
  }
  const char *first = argv[1];
  if (strcmp(first, "--version") == 0) {
    return printf("nd4c %s (%s)\n", nd4c_version(), nd4c_build_info()) < 0 ? CLI_FAILURE : CLI_OK;
  }
  if (strcmp(first, "--manual") == 0 && argc == 2) {
    return manual_print_overview(commands, COMMANDS);
  }
  const bool help = strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0;
  if (help && argc == 2) {
    overview(stdout);
    return CLI_OK;
  }
  const bool manual = strcmp(first, "--manual") == 0;
  const cli_command *command = find(help || manual ? argv[2] : first);
  if (command == NULL) {
    (void)fprintf(stderr, "nd4c: there is no command '%s'\n", help || manual ? argv[2] : first);
    overview(stderr);
    return CLI_USAGE;
  }
  if (manual) {
    return manual_print_command(command);
  }
  return help ? cli_help(command) : command->run(argc - 1, argv + 1);
}
