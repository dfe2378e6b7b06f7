/* Counts requests for memory, by the caller's object file: this program replaces malloc, related functions and mmap by
 * functions that count and call the C library. Mappings of more than 64 MiB are not counted. */
#ifndef CONFORMANCE_STEADY_COUNTER_H
#define CONFORMANCE_STEADY_COUNTER_H

#include <stdint.h>

/* Lists the loaded object files. Call it before counter_start if a library may have been loaded. */
void counter_refresh(void);
void counter_start(void);
void counter_stop(void);
/* The requests between start and stop, on all threads, of this program, which contains all of nd4c: direct ones and
 * those through the C library (qsort, for example). */
int64_t counter_own(void);
/* The requests of object file number `index`, and its name; NULL past the last. */
const char *counter_of(int32_t index, int64_t *count);

#endif
