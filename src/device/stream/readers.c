/* Implements readers.h: a list with room for a few fences in the replica itself. device/storage/coherence.c adds a
 * reader for each use and lets writers wait for them; pending_blocks.c in device/memory asks when all have ended. */
#include "device/stream/readers.h"

#include <string.h>

#include "base/recycle.h"
#include "base/status.h"

static inline nd4c_shared_fence **fences_of(nd4c_readers *readers) {
  return readers->many != NULL ? readers->many : readers->few;
}

static inline int32_t room_of(const nd4c_readers *readers) {
  return readers->many != NULL ? readers->room : ND4C_READERS_FEW;
}

static inline size_t bytes_of(int32_t room) {
  return (size_t)room * sizeof(nd4c_shared_fence *);
}

static void give_back(nd4c_readers *readers) {
  nd4c_recycle_give(readers->many, bytes_of(readers->room));
  readers->many = NULL;
  readers->room = 0;
}

static void forget_first(nd4c_readers *readers, int32_t count) {
  nd4c_shared_fence **fences = fences_of(readers);
  for (int32_t i = 0; i < count; i++) {
    nd4c_fence_release(fences[i]);
  }
  readers->count -= count;
  readers->replaced = 0;
  memmove(fences, fences + count, bytes_of(readers->count));
  if (readers->count == 0) {
    give_back(readers);
  }
}

/* Work of one stream ends in order, so this usually finds all. `ask`: also queries fences that are not known to be
 * ready. */
static void forget_ready_first(nd4c_readers *readers, bool ask) {
  nd4c_shared_fence **fences = fences_of(readers);
  int32_t ready = 0;
  while (ready < readers->count && (ask ? nd4c_fence_is_ready(fences[ready]) : nd4c_fence_is_known(fences[ready]))) {
    ready++;
  }
  if (ready > 0) {
    forget_first(readers, ready);
  }
}

/* Also finds those listed after a fence of a slower stream. */
static void forget_ready(nd4c_readers *readers) {
  nd4c_shared_fence **fences = fences_of(readers);
  int32_t kept = 0;
  for (int32_t i = 0; i < readers->count; i++) {
    if (nd4c_fence_is_ready(fences[i])) {
      nd4c_fence_release(fences[i]);
    } else {
      fences[kept++] = fences[i];
    }
  }
  readers->count = kept;
}

/* If memory is exhausted, the existing room must suffice. */
static void grow(nd4c_readers *readers) {
  const int32_t room = room_of(readers);
  nd4c_shared_fence **made = nd4c_recycle_take_raw(bytes_of(2 * room));
  if (made != NULL) {
    memcpy(made, fences_of(readers), bytes_of(readers->count));
    give_back(readers);
    readers->many = made;
    readers->room = 2 * room;
  }
}

static inline bool is_full(const nd4c_readers *readers, int32_t most) {
  return readers->count >= most || readers->count == room_of(readers);
}

/* Replaces an older fence of the same timeline by the fence; false: there is none. */
static bool replace(nd4c_readers *readers, nd4c_shared_fence *fence) {
  nd4c_shared_fence **fences = fences_of(readers);
  for (int32_t i = readers->count - 1; i >= 0; i--) {
    if (nd4c_fence_covers(fences[i], fence)) {
      return true;
    }
    if (nd4c_fence_covers(fence, fences[i])) {
      nd4c_fence_release(fences[i]);
      fences[i] = nd4c_fence_retain(fence);
      readers->replaced += readers->replaced < ND4C_READERS_MOST;
      return true;
    }
  }
  return false;
}

static inline bool is_over(const nd4c_readers *readers, int32_t most) {
  return is_full(readers, most) || (most == ND4C_READERS_FEW && readers->count + readers->replaced >= most);
}

nd4c_shared_fence *nd4c_readers_find_excess(nd4c_readers *readers, int32_t most) {
  forget_ready_first(readers, false);
  if (is_full(readers, most)) {
    forget_ready(readers);
    /* Sweeps when half full, so that the next sweep is far away. */
    if (most > room_of(readers) && readers->count > room_of(readers) / 2) {
      grow(readers);
    }
  }
  return is_over(readers, most) ? fences_of(readers)[0] : NULL;
}

nd4c_shared_fence *nd4c_readers_try_add(nd4c_readers *readers, nd4c_shared_fence *fence, int32_t most) {
  if (most > ND4C_READERS_FEW && replace(readers, fence)) {
    return NULL;
  }
  if (most == ND4C_READERS_FEW) {
    nd4c_fence_mark(fence);
  }
  nd4c_shared_fence *oldest = nd4c_readers_find_excess(readers, most);
  if (oldest == NULL) {
    fences_of(readers)[readers->count++] = nd4c_fence_retain(fence);
  }
  return oldest;
}

void nd4c_readers_add(nd4c_readers *readers, nd4c_shared_fence *fence, int32_t most) {
  for (nd4c_shared_fence *oldest; (oldest = nd4c_readers_try_add(readers, fence, most)) != NULL;) {
    nd4c_fence_settle(oldest);
    forget_first(readers, 1);
  }
}

bool nd4c_readers_are_known(nd4c_readers *readers) {
  forget_ready_first(readers, false);
  return readers->count == 0;
}

bool nd4c_readers_are_done(nd4c_readers *readers) {
  forget_ready_first(readers, true);
  return readers->count == 0;
}

void nd4c_readers_settle(const nd4c_readers *readers) {
  nd4c_shared_fence *const *fences = readers->many != NULL ? readers->many : readers->few;
  for (int32_t i = 0; i < readers->count; i++) {
    nd4c_fence_settle(fences[i]);
  }
}

nd4c_status nd4c_readers_enqueue_wait(const nd4c_readers *readers, nd4c_device *device, nd4c_stream stream,
                                      nd4c_shared_fence **on_host) {
  nd4c_shared_fence *const *fences = readers->many != NULL ? readers->many : readers->few;
  *on_host = NULL;
  for (int32_t i = 0; i < readers->count; i++) {
    bool waits = false;
    ND4C_TRY(nd4c_fence_enqueue_wait(fences[i], device, stream, &waits));
    *on_host = waits ? fences[i] : *on_host;
  }
  return ND4C_OK;
}

nd4c_shared_fence *nd4c_readers_find_pending(const nd4c_readers *readers) {
  nd4c_shared_fence *const *fences = readers->many != NULL ? readers->many : readers->few;
  for (int32_t i = 0; i < readers->count; i++) {
    if (!nd4c_fence_is_known(fences[i])) {
      return fences[i];
    }
  }
  return NULL;
}

bool nd4c_readers_are_on(const nd4c_readers *readers, const nd4c_device *device, nd4c_stream stream) {
  nd4c_shared_fence *const *fences = readers->many != NULL ? readers->many : readers->few;
  bool on = true;
  for (int32_t i = 0; i < readers->count && on; i++) {
    on = nd4c_fence_is_on(fences[i], device, stream);
  }
  return on;
}

void nd4c_readers_forget(nd4c_readers *readers) {
  forget_first(readers, readers->count);
}
