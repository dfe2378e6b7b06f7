/* The manual pages nd4c(1) and nd4c-COMMAND(1), as roff, from the texts of --help. Called by main.c; the build writes
 * the pages with it (cmake/Nd4cManual.cmake). */
#ifndef ND4C_CLI_MANUAL_H
#define ND4C_CLI_MANUAL_H

#include "cli.h"

/* Both print to stdout and return the exit code. */
int manual_print_overview(const cli_command *const *commands, int count);
int manual_print_command(const cli_command *command);

#endif
