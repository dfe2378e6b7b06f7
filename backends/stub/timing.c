/* Times of tasks. queue.c adds each task to its stream's timing; device.c's table lists the operations for nd4c's
 * tracer. */
#include <string.h>

#include "stub.h"

/* Shared by its handle and by the queue entries that belong to it. */
struct stub_timing {
  nd4c_host_lock lock; /* guards all below */
  nd4c_host_condition changed;
  int32_t references, pending; /* pending: entries that have not run */
  bool failed;
  nd4c_timing_span span;
};

static stub_timing *timing_create(void) {
  stub_timing *timing = stub_host->allocate(sizeof *timing);
  if (timing != NULL) {
    timing->references = 1;
    stub_count_add(STUB_COUNT_timings, 1);
  }
  return timing;
}

static void timing_release(stub_timing *timing) {
  stub_lock(&timing->lock);
  const bool last = --timing->references == 0;
  stub_unlock(&timing->lock);
  if (last) {
    stub_host->threads->condition_destroy(&timing->changed);
    stub_host->threads->lock_destroy(&timing->lock);
    stub_host->free(timing);
    stub_count_add(STUB_COUNT_timings, -1);
  }
}

stub_timing *stub_timing_add(stub_timing *timing) {
  stub_lock(&timing->lock);
  timing->references++;
  timing->pending++;
  if (timing->span.submitted == 0) {
    timing->span.submitted = stub_host->threads->nanoseconds();
  }
  stub_unlock(&timing->lock);
  return timing;
}

void stub_timing_done(stub_timing *timing, int64_t begin, int64_t end, bool failed) {
  stub_lock(&timing->lock);
  nd4c_timing_span *span = &timing->span;
  span->begin = span->begin == 0 || begin < span->begin ? begin : span->begin;
  span->end = end > span->end ? end : span->end;
  span->busy += end - begin;
  timing->failed = timing->failed || failed;
  timing->pending--;
  stub_host->threads->condition_broadcast(&timing->changed);
  stub_unlock(&timing->lock);
  timing_release(timing);
}

static nd4c_status begin(void *device, nd4c_stream stream) {
  (void)device;
  nd4c_status status = stub_attempt(STUB_CALL_timing_begin);
  if (status != ND4C_OK) {
    return status;
  }
  stub_timing *timing = timing_create();
  if (timing == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for times");
  }
  status = stub_stream_begin_timing((stub_stream *)stream, timing);
  if (status != ND4C_OK) {
    timing_release(timing);
  }
  return status;
}

static nd4c_status end(void *device, nd4c_stream stream, nd4c_timing *timing) {
  (void)device;
  stub_timing *ended = stub_stream_end_timing((stub_stream *)stream);
  *timing = (nd4c_timing)ended;
  return ended != NULL ? ND4C_OK : stub_violation("a timing was ended on a stream that is not timed");
}

static nd4c_status read(void *device, nd4c_timing handle, bool wait, bool *ready, nd4c_timing_span *span) {
  (void)device;
  stub_timing *timing = (stub_timing *)handle;
  nd4c_status status = stub_attempt(STUB_CALL_timing_read);
  stub_lock(&timing->lock);
  if (wait && timing->pending > 0) {
    stub_gate_host_waits();
  }
  while (wait && timing->pending > 0) {
    stub_host->threads->condition_wait(&timing->changed, &timing->lock);
  }
  *ready = timing->pending == 0;
  const uint32_t size = span->struct_size;
  const bool failed = timing->failed;
  *span = timing->span;
  span->struct_size = size;
  stub_unlock(&timing->lock);
  if (strcmp(stub_settings.lie, "times") == 0) {
    span->end = span->begin - 1;
  } else if (stub_lies("slow_times")) {
    span->end += INT64_C(3600000000000);
  }
  return status == ND4C_OK && *ready && failed ? stub_host->fail(ND4C_DEVICE, "stub: the work failed") : status;
}

static void destroy(void *device, nd4c_timing timing) {
  (void)device;
  timing_release((stub_timing *)timing);
}

const nd4c_timing_ops stub_timing_ops = {
    .struct_size = ND4C_SIZE_OF(nd4c_timing_ops), .begin = begin, .end = end, .read = read, .destroy = destroy};
