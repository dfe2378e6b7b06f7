/* Fences: markers in a stream, and the failures before them. queue.c signals them; device.c waits for them. */
#include "fence.h"

#include <stdio.h>

/* -- failures ---------------------------------------------------------------------------------------------------- */

void stub_failures_add(stub_failures *failures, nd4c_status status, int64_t point) {
  stub_failure *made = stub_host->allocate(sizeof *made);
  if (made == NULL) {
    failures->lost = status;
    return;
  }
  made->status = status;
  made->point = point;
  (void)snprintf(made->text, sizeof made->text, "%s", stub_host->error_message());
  *(failures->last != NULL ? &failures->last->next : &failures->first) = made;
  failures->last = made;
}

void stub_failures_free(stub_failures *failures) {
  for (stub_failure *failure = failures->first, *next = NULL; failure != NULL; failure = next) {
    next = failure->next;
    stub_host->free(failure);
  }
  *failures = (stub_failures){NULL, NULL, ND4C_OK};
}

nd4c_status stub_failures_tell(const stub_failures *failures, int32_t index, nd4c_failed_range *failed) {
  const stub_failure *failure = failures->first;
  for (; index > 0 && failure != NULL; index--) {
    failure = failure->next;
  }
  if (failure == NULL) {
    return index == 0 && failures->lost != ND4C_OK
               ? stub_host->fail(failures->lost, "stub: work failed, and there was no memory to say which")
               : ND4C_OK;
  }
  if (stub_settings.tells && failure->point > 0) {
    *failed = (nd4c_failed_range){failure->point, failure->point};
  }
  return stub_host->fail(failure->status, "%s", failure->text);
}

/* -- fences ------------------------------------------------------------------------------------------------------ */

stub_fence *stub_fence_create(int32_t device) {
  stub_fence *fence = stub_host->allocate(sizeof *fence);
  if (fence != NULL) {
    fence->references = 1;
    fence->device = device;
    stub_count_add(STUB_COUNT_fences, 1);
  }
  return fence;
}

void stub_fence_retain(stub_fence *fence) {
  stub_lock(&fence->lock);
  fence->references++;
  stub_unlock(&fence->lock);
}

void stub_fence_release(stub_fence *fence) {
  stub_lock(&fence->lock);
  bool last = --fence->references == 0;
  stub_unlock(&fence->lock);
  if (last) {
    stub_failures_free(&fence->failures);
    stub_host->threads->condition_destroy(&fence->changed);
    stub_host->threads->lock_destroy(&fence->lock);
    stub_host->free(fence);
    stub_count_add(STUB_COUNT_fences, -1);
  }
}

void stub_fence_signal(stub_fence *fence, stub_failures failures) {
  stub_lock(&fence->lock);
  fence->ready = true;
  fence->failures = failures;
  stub_host->threads->condition_broadcast(&fence->changed);
  stub_unlock(&fence->lock);
}

bool stub_fence_ready(stub_fence *fence) {
  stub_lock(&fence->lock);
  bool ready = fence->ready;
  stub_unlock(&fence->lock);
  return ready;
}

void stub_fence_block(stub_fence *fence) {
  const int64_t until = stub_host->threads->nanoseconds() + STUB_LOOK_NANOSECONDS;
  while (!stub_fence_ready(fence) && stub_host->threads->nanoseconds() < until) {
    stub_host->threads->yield();
  }
  stub_lock(&fence->lock);
  while (!fence->ready) {
    stub_host->threads->condition_wait(&fence->changed, &fence->lock);
  }
  stub_unlock(&fence->lock);
}

nd4c_status stub_fence_wait(stub_fence *fence, nd4c_failed_range *failed) {
  if (!stub_fence_ready(fence)) {
    stub_count_add(STUB_COUNT_host_waits, 1);
    stub_gate_host_waits();
    stub_fence_block(fence);
  }
  nd4c_failed_range all = {0, 0}, each = {0, 0};
  nd4c_status status = stub_failures_tell(&fence->failures, 0, &all); /* ready fences do not change */
  for (const stub_failure *failure = fence->failures.first; failure != NULL && all.first > 0; failure = failure->next) {
    each.first = failure->point < all.first ? failure->point : all.first;
    each.last = failure->point > all.last ? failure->point : all.last;
    all = failure->point > 0 ? each : (nd4c_failed_range){0, 0};
  }
  *failed = fence->failures.lost == ND4C_OK ? all : (nd4c_failed_range){0, 0};
  return status;
}

nd4c_status stub_fence_failure(const stub_fence *fence, int32_t index, nd4c_failed_range *failed) {
  return stub_failures_tell(&fence->failures, index, failed);
}
