/* The mode --symbolic of nd4c_conformance; main.c includes it. */
#ifndef CONFORMANCE_SYMBOLIC_H
#define CONFORMANCE_SYMBOLIC_H

#include "run.h"

/* Checks the records of the ops that are wanted, and prints what it saw. Returns the exit code. */
int cf_run_symbolic(const cf_run *run, bool (*wants)(const void *options, nd4c_op op));

#endif
