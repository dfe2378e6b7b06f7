/* Effects of the faulty loader on commands after the calls that enqueue them. */
#ifndef TESTS_OPENCL_FAULTY_FLIGHT_H
#define TESTS_OPENCL_FAULTY_FLIGHT_H

#include <stdbool.h>

#include "backends/opencl/runtime/api.h"

/* FAILS: the call fails; with the other fates it succeeds. LOST: the command never runs, and its event has the code.
 * BELIED: the command finishes before the call returns, but the event has the code. LATE: the command is delayed by the
 * code in milliseconds. */
typedef enum flight_fate { FATE_FAILS, FATE_LOST, FATE_BELIED, FATE_LATE } flight_fate;

enum { FLIGHT_WAITS = 64 }; /* a command that waits for more events is not changed */
typedef struct flight {
  flight_fate fate;
  int code;
  cl_event own;  /* the event that the command waits for, or that replaces its event */
  cl_event held; /* see faulty_loader.c, lie `held` */
  cl_event all[FLIGHT_WAITS + 2];
} flight;

/* Finds the functions needed beyond api.h; `real` is the system's loader. False if it lacks one. */
bool flight_find(void *library, const nd4c_cl_api *real);
/* "lost" of `length` bytes; FATE_FAILS: none. */
flight_fate flight_named(const char *word, size_t length);
/* A command before it is enqueued, and the events that it waits for. hold: it begins when flight_open_gate is
 * called. */
void flight_begin(flight *f, cl_command_queue queue, bool hold, cl_uint *count, const cl_event **waits);
/* The same command after the system's call, or instead of it (LOST): makes the event for the library. */
void flight_end(flight *f, cl_int code, cl_event *event);
/* Called when the library waits: held commands may run. */
void flight_open_gate(void);
/* The loader calls it at exit: ends the process with code 9 if commands are held. */
void flight_look_at_exit(void);

#endif
