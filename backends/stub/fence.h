/* Fences and the failures that they report, for queue.c and fence.c. */
#ifndef ND4C_BACKENDS_STUB_FENCE_H
#define ND4C_BACKENDS_STUB_FENCE_H

#include "stub.h"

/* How long a wait spins before it sleeps: waking costs tens of microseconds on a virtual machine, and a test makes some
 * hundred thousand short waits. It is a time and not a count, because one iteration may last milliseconds on a loaded
 * machine. */
enum { STUB_LOOK_NANOSECONDS = 50000 };

/* Failures since a stream's last fence; the next fence takes them. */
typedef struct stub_failure {
  struct stub_failure *next;
  nd4c_status status;
  int64_t point; /* 0: work without a number */
  char text[STUB_TEXT];
} stub_failure;

typedef struct stub_failures {
  stub_failure *first, *last;
  nd4c_status lost; /* one for which there was no memory */
} stub_failures;

/* Shared by its handle and by the queue entries that signal or wait for it. */
struct stub_fence {
  nd4c_host_lock lock;
  nd4c_host_condition changed;
  int32_t references;
  int32_t device; /* whose stream recorded it */
  bool ready;
  stub_failures failures;
};

/* Notes the calling thread's failure. */
void stub_failures_add(stub_failures *failures, nd4c_status status, int64_t point);
void stub_failures_free(stub_failures *failures);
/* The failure of that number; OK: there are no more. */
nd4c_status stub_failures_tell(const stub_failures *failures, int32_t index, nd4c_failed_range *failed);

/* One reference; NULL: there is no memory. */
stub_fence *stub_fence_create(int32_t device);
void stub_fence_retain(stub_fence *fence);
/* Signals the fence, which takes over the failures. */
void stub_fence_signal(stub_fence *fence, stub_failures failures);
/* Blocks until it is signalled. */
void stub_fence_block(stub_fence *fence);

#endif
