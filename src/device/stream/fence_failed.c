/* Lists of failed fences, and of failures that were not reported before their fence was freed. fence.c adds to them
 * when a fence fails, and reads them when a program waits for a device or a context. */
#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "device/stream/fence_body.h"

/* Live fences that are known to have failed, the newest first, for nd4c_fence_drain. */
static nd4c_lock failed_lock = ND4C_LOCK_INIT;
static nd4c_shared_fence *failed_list;

/* Failures of fences that were freed before any caller asked: the oldest of each device. */
enum { LOST_LIMIT = 16 };
static struct {
  const nd4c_device *device;
  nd4c_status status;
  char text[ND4C_FENCE_TEXT_SIZE];
} lost[LOST_LIMIT];

static void lock_failed(void) {
  nd4c_lock_acquire(&failed_lock);
}

static void unlock_failed(void) {
  nd4c_lock_release(&failed_lock);
}

/* The hook keeps the list consistent in a child of fork. */
static void watch_forks(void) {
  nd4c_os_around_fork(lock_failed, unlock_failed);
}

void nd4c_fence_list_failed(nd4c_shared_fence *fence) {
  static nd4c_once once = ND4C_ONCE_INIT;
  nd4c_once_run(&once, watch_forks);
  lock_failed();
  fence->next = failed_list;
  if (failed_list != NULL) {
    failed_list->previous = fence;
  }
  failed_list = fence;
  unlock_failed();
}

/* Under the lock. */
static void remember_lost(const nd4c_shared_fence *fence) {
  int free_slot = -1;
  for (int i = 0; i < LOST_LIMIT; i++) {
    if (lost[i].device == fence->device) {
      return;
    }
    free_slot = lost[i].device == NULL ? i : free_slot;
  }
  if (free_slot >= 0) {
    lost[free_slot].device = fence->device;
    lost[free_slot].status = fence->status;
    (void)snprintf(lost[free_slot].text, ND4C_FENCE_TEXT_SIZE, "%s", nd4c_fence_text(fence));
  }
}

void nd4c_fence_unlist_failed(nd4c_shared_fence *fence) {
  lock_failed();
  *(fence->previous != NULL ? &fence->previous->next : &failed_list) = fence->next;
  if (fence->next != NULL) {
    fence->next->previous = fence->previous;
  }
  if (!fence->seen) {
    remember_lost(fence);
  }
  unlock_failed();
}

nd4c_status nd4c_fence_take_lost(const nd4c_device *device, char *text) {
  nd4c_status status = ND4C_OK;
  lock_failed();
  for (int i = 0; i < LOST_LIMIT; i++) {
    if (lost[i].device == device) {
      status = lost[i].status;
      memcpy(text, lost[i].text, ND4C_FENCE_TEXT_SIZE);
      lost[i].device = NULL;
    }
  }
  unlock_failed();
  return status;
}

nd4c_shared_fence *nd4c_fence_next_failed(nd4c_shared_fence *newer, const nd4c_device *device) {
  nd4c_shared_fence *found = NULL;
  lock_failed();
  nd4c_shared_fence *fence = newer != NULL ? newer->next : failed_list;
  for (; fence != NULL && found == NULL; fence = fence->next) {
    int32_t references = atomic_load(&fence->entry.references);
    /* A fence whose last reference is being dropped may still be listed: it must not be retained again. */
    while (fence->device == device && !fence->seen && references > 0 && found == NULL) {
      if (atomic_compare_exchange_weak(&fence->entry.references, &references, references + 1)) {
        found = fence;
      }
    }
  }
  unlock_failed();
  nd4c_fence_release(newer);
  return found;
}
