/* Implements decisions.h: looks up and adds rows of the thread's table, and grows it. routed.c is its only caller. */
#include "dispatch/decisions.h"

#include <stddef.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/config/config.h"
#include "device/stream/thread.h"

/* A decision is in one of the WINDOW rows that start at its key's index. */
enum { FEWEST = 256, MOST = 4096, WINDOW = 8 };

typedef struct table {
  uint32_t mask; /* rows - 1 */
  nd4c_decision rows[];
} table;

static inline nd4c_decision *row_of(table *t, uint64_t key, uint32_t at) {
  return &t->rows[((uint32_t)(key >> 7) + at) & t->mask];
}

static inline uint32_t epoch_now(void) {
  return atomic_load_explicit(&nd4c_config_epoch, memory_order_relaxed);
}

nd4c_decision *nd4c_decisions_find(uint64_t key, uint32_t routing) {
  const nd4c_thread *thread = nd4c_thread_get();
  table *t = ND4C_LIKELY(thread != NULL) ? thread->decisions : NULL;
  for (uint32_t i = 0; t != NULL && i < WINDOW; i++) {
    nd4c_decision *row = row_of(t, key, i);
    if (row->key == key && row->routing == routing && row->uses > 0 && row->epoch == epoch_now()) {
      return row;
    }
  }
  return NULL;
}

void nd4c_decisions_forget(uint64_t key, uint32_t routing) {
  nd4c_decision *row = nd4c_decisions_find(key, routing);
  if (row != NULL) {
    row->uses = 0;
  }
}

/* The row for a decision: its current one, or one without a valid decision; NULL: all are taken. */
static nd4c_decision *find_place(table *t, uint64_t key, uint32_t routing) {
  nd4c_decision *place = NULL;
  for (uint32_t i = 0; i < WINDOW; i++) {
    nd4c_decision *row = row_of(t, key, i);
    if (row->key == key && row->routing == routing) {
      return row;
    }
    place = place == NULL && (row->uses <= 0 || row->epoch != epoch_now()) ? row : place;
  }
  return place;
}

static nd4c_decision *find_least_used(table *t, uint64_t key) {
  nd4c_decision *least = row_of(t, key, 0);
  for (uint32_t i = 1; i < WINDOW; i++) {
    nd4c_decision *row = row_of(t, key, i);
    least = row->uses < least->uses ? row : least;
  }
  return least;
}

/* Grows to four times as many rows, keeping valid decisions; leaves the table unchanged if memory is exhausted. */
static table *grow(nd4c_thread *thread) {
  table *old = thread->decisions;
  size_t rows = old != NULL ? ((size_t)old->mask + 1) * 4 : FEWEST;
  table *made = nd4c_allocate_zeroed(1, sizeof *made + rows * sizeof made->rows[0]);
  if (made == NULL) {
    return old;
  }
  made->mask = (uint32_t)rows - 1;
  for (uint32_t i = 0; old != NULL && i <= old->mask; i++) {
    const nd4c_decision *row = &old->rows[i];
    bool of_use = row->uses > 0 && row->epoch == epoch_now();
    nd4c_decision *place = of_use ? find_place(made, row->key, row->routing) : NULL;
    if (place != NULL) {
      *place = *row;
    }
  }
  nd4c_deallocate(old);
  thread->decisions = made;
  return made;
}

void nd4c_decisions_add(uint64_t key, uint32_t routing, nd4c_device *device, int32_t uses) {
  nd4c_thread *thread = nd4c_thread_get();
  if (ND4C_UNLIKELY(thread == NULL)) {
    return;
  }
  table *t = thread->decisions;
  nd4c_decision *place = t != NULL ? find_place(t, key, routing) : NULL;
  if (place == NULL && (t == NULL || t->mask + 1 < MOST)) {
    t = grow(thread);
    place = t != NULL ? find_place(t, key, routing) : NULL;
  }
  if (place == NULL && t != NULL) {
    place = find_least_used(t, key);
  }
  if (place != NULL) {
    *place = (nd4c_decision){.key = key, .epoch = epoch_now(), .routing = routing, .uses = uses, .device = device};
  }
}
