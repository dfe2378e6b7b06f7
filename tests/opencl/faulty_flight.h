/* What the faulty loader does to commands behind the calls that enqueue them. */
#ifndef TESTS_OPENCL_FAULTY_FLIGHT_H
#define TESTS_OPENCL_FAULTY_FLIGHT_H

#include <stdbool.h>

#include "backends/opencl/runtime/api.h"

/* FAILS: the call does; else it succeeds. LOST: the command never runs, and its event has the code. BELIED: it runs, to
 * its end before the call returns, and the event that is given has the code. LATE: it waits for so many milliseconds as
 * the code says. */
typedef enum flight_fate { FATE_FAILS, FATE_LOST, FATE_BELIED, FATE_LATE } flight_fate;

enum { FLIGHT_WAITS = 64 }; /* a command that waits for more is left alone */
typedef struct flight {
  flight_fate fate;
  int code;
  cl_event own;  /* what the command waits for, or what is given for its event */
  cl_event held; /* see faulty_loader.c, lie `held` */
  cl_event all[FLIGHT_WAITS + 2];
} flight;

/* Finds what this needs beyond api.h; `real` is the system's loader. False if it lacks something. */
bool flight_find(void *library, const nd4c_cl_api *real);
/* "lost" of `length` bytes; FATE_FAILS: none. */
flight_fate flight_named(const char *word, size_t length);
/* A command that is to be enqueued, and what it waits for. hold: it begins when flight_open_gate is called. */
void flight_begin(flight *f, cl_command_queue queue, bool hold, cl_uint *count, const cl_event **waits);
/* The same command behind the system's call, or in its stead (LOST): the event for the library. */
void flight_end(flight *f, cl_int code, cl_event *event);
/* Somebody waits: commands that are held may run. */
void flight_open_gate(void);
/* To be called at exit: ends the process with code 9 if commands are held. */
void flight_look_at_exit(void);

#endif
