/* Fences and the failures that they tell: what queue.c and fence.c share. */
#ifndef STUB_FENCE_H
#define STUB_FENCE_H

#include "stub.h"

/* For so long a wait looks again before it sleeps: being woken costs tens of microseconds on a virtual machine, and a
 * test makes some hundred thousand short waits. It is a time and no number of turns: on a loaded machine a turn may
 * last milliseconds. */
enum { STUB_LOOK_NANOSECONDS = 50000 };

/* Work that failed since a stream's last fence; the fence carries it away. */
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
/* Makes it ready; the failures are its own from then on. */
void stub_fence_signal(stub_fence *fence, stub_failures failures);
/* Returns when it is ready. */
void stub_fence_block(stub_fence *fence);

#endif
