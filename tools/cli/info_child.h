/* nd4c info --probe in a child process: if opening a backend ends the process (an assertion of a driver, a segmentation
 * fault), only the child ends, and the report names the backend and the signal. Called by info.c. */
#ifndef ND4C_CLI_INFO_CHILD_H
#define ND4C_CLI_INFO_CHILD_H

#include "cli.h"

/* Writes a report to stdout; returns the exit code. */
typedef int (*info_report)(const void *request);

/* Runs `report` in a child process and prints what it wrote. Where the code of a backend or plug-in ended the child,
 * runs another child in which nd4c.backend.disable names that backend too. Returns the exit code of the last child;
 * CLI_FAILURE, with a text on stderr, if there is no report. The process must have no threads, and must not have used
 * the library. */
int info_run_in_child(info_report report, const void *request);

/* In the child, after the command line's properties were set: disables the backends that ended earlier children, and
 * records which provider's code the library calls. */
nd4c_status info_child_begin(void);
/* In the child: names the current activity for the text of a failure, if no provider's code is running. */
void info_child_mark(const char *what);

/* How the process ended that called code of this backend or plug-in, by name or path: "ends the process in its open:
 * signal 6 (Aborted)". NULL: it did not end. */
const char *info_crash_of(const char *name);
/* The same for each provider that ended a child, preceded by its name and followed by what to do; NULL past the
 * last. */
const char *info_crash_at(int index);

#endif
