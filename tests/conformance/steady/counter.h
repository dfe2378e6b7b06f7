/* Counts what is asked of the system for memory, by the caller's object file: malloc and its kin, and mmap, are this
 * program's own and hand on to the C library. Mappings of more than 64 MiB are not counted. */
#ifndef CONFORMANCE_STEADY_COUNTER_H
#define CONFORMANCE_STEADY_COUNTER_H

#include <stdint.h>

/* Looks up which object files are there. Before counter_start, whenever a library may have been loaded. */
void counter_refresh(void);
void counter_start(void);
void counter_stop(void);
/* Between start and stop, on all threads: what this program, which has the whole of nd4c in it, asked for, itself or by
 * way of the C library (qsort, say). */
int64_t counter_own(void);
/* What object file number `index` asked for, and its name; NULL past the last. */
const char *counter_of(int32_t index, int64_t *count);

#endif
