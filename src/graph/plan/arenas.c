/* Implements arenas.h. */
#include "graph/plan/arenas.h"

#include "base/status.h"
#include "nd4c/device.h"

enum { SPARE = 4 }; /* an arena has at most so many times the bytes that the largest binding wants */

void nd4c_arenas_init(nd4c_plan_arenas *arenas, nd4c_device *device) {
  *arenas = (nd4c_plan_arenas){.device = device};
  nd4c_lock_init(&arenas->lock);
}

/* Frees an arena that is off the list. The device would keep the memory for an array of the same size, of which there
 * may be none, so as many bytes of its cache go, the oldest first. */
static void drop(nd4c_plan_arenas *arenas, nd4c_storage *arena) {
  nd4c_memory_info before = {.struct_size = sizeof before};
  const bool known = nd4c_memory_get_info(arenas->device, &before) == ND4C_OK;
  nd4c_storage_release(arena);
  if (known) { /* keeping nothing would also free idle streams */
    (void)nd4c_memory_trim(arenas->device, before.cached_bytes > 0 ? before.cached_bytes : 1);
  }
}

void nd4c_arenas_free(nd4c_plan_arenas *arenas) {
  for (int32_t i = 0; i < arenas->idle_count; i++) {
    nd4c_storage_release(arenas->idle[i]);
  }
  nd4c_lock_destroy(&arenas->lock);
}

static nd4c_storage *remove_at(nd4c_plan_arenas *arenas, int32_t index) {
  nd4c_storage *removed = arenas->idle[index];
  arenas->idle_count--;
  for (int32_t i = index; i < arenas->idle_count; i++) {
    arenas->idle[i] = arenas->idle[i + 1];
  }
  return removed;
}

/* The arena given back last that is large enough, whose pages are warm; NULL: none is. *smaller: then one that is too
 * small, for which the larger one is made; NULL: none is idle. Under the lock. */
static nd4c_storage *find(nd4c_plan_arenas *arenas, int64_t bytes, nd4c_storage **smaller) {
  int32_t at = arenas->idle_count - 1;
  while (at >= 0 && arenas->idle[at]->bytes < bytes) {
    at--;
  }
  *smaller = at < 0 && arenas->idle_count > 0 ? remove_at(arenas, arenas->idle_count - 1) : NULL;
  arenas->bytes -= *smaller == NULL ? 0 : (*smaller)->bytes;
  return at < 0 ? NULL : remove_at(arenas, at);
}

/* `earlier`: the size of the arena that this one replaces; 0: none. Sizes that grow run by run would replace it each
 * time, and to give back its pages takes the host longer than all else of a binding, so it grows by SPARE at least.
 * Pages that no run writes to take no memory of the host. */
static nd4c_status make(nd4c_plan_arenas *arenas, int64_t bytes, int64_t wanted, int64_t earlier,
                        nd4c_storage **arena) {
  const int64_t grown = earlier < INT64_MAX / SPARE ? SPARE * earlier : earlier;
  const int64_t best = wanted > grown ? wanted : grown;
  nd4c_status status = ND4C_MEMORY;
  if (best > bytes) {
    status = nd4c_storage_create_own(arenas->device, NULL, ND4C_DTYPE_NONE, best, "plan arena", arena);
  }
  if (status != ND4C_OK) {
    ND4C_TRY(nd4c_storage_create_own(arenas->device, NULL, ND4C_DTYPE_NONE, bytes, "plan arena", arena));
  }
  nd4c_lock_acquire(&arenas->lock);
  arenas->bytes += (*arena)->bytes;
  nd4c_lock_release(&arenas->lock);
  return ND4C_OK;
}

nd4c_status nd4c_arenas_take(nd4c_plan_arenas *arenas, int64_t bytes, nd4c_storage **arena) {
  nd4c_storage *smaller = NULL;
  nd4c_lock_acquire(&arenas->lock);
  *arena = find(arenas, bytes, &smaller);
  const int64_t wanted = arenas->wanted, earlier = smaller == NULL ? 0 : smaller->bytes;
  nd4c_lock_release(&arenas->lock);
  if (*arena != NULL) {
    return ND4C_OK;
  }
  if (smaller != NULL) {
    drop(arenas, smaller);
  }
  return make(arenas, bytes, wanted, earlier, arena);
}

/* Under the lock. */
static bool is_too_large(const nd4c_plan_arenas *arenas, const nd4c_storage *arena) {
  return arena->bytes / SPARE > arenas->wanted;
}

void nd4c_arenas_give(nd4c_plan_arenas *arenas, nd4c_storage *arena) {
  nd4c_lock_acquire(&arenas->lock);
  const bool kept = arenas->idle_count < ND4C_ARENAS_IDLE && !is_too_large(arenas, arena);
  if (kept) {
    arenas->idle[arenas->idle_count++] = arena;
  } else {
    arenas->bytes -= arena->bytes;
  }
  nd4c_lock_release(&arenas->lock);
  if (!kept) {
    drop(arenas, arena);
  }
}

void nd4c_arenas_want(nd4c_plan_arenas *arenas, int64_t bytes) {
  nd4c_lock_acquire(&arenas->lock);
  arenas->wanted = bytes;
  nd4c_lock_release(&arenas->lock);
}

void nd4c_arenas_want_too(nd4c_plan_arenas *arenas, int64_t bytes) {
  nd4c_lock_acquire(&arenas->lock);
  arenas->wanted = arenas->wanted > bytes ? arenas->wanted : bytes;
  nd4c_lock_release(&arenas->lock);
}

void nd4c_arenas_shrink(nd4c_plan_arenas *arenas) {
  nd4c_storage *large = NULL;
  do {
    nd4c_lock_acquire(&arenas->lock);
    int32_t at = arenas->idle_count - 1;
    while (at >= 0 && !is_too_large(arenas, arenas->idle[at])) {
      at--;
    }
    large = at < 0 ? NULL : remove_at(arenas, at);
    arenas->bytes -= large == NULL ? 0 : large->bytes;
    nd4c_lock_release(&arenas->lock);
    if (large != NULL) {
      drop(arenas, large);
    }
  } while (large != NULL);
}

int64_t nd4c_arenas_bytes(nd4c_plan_arenas *arenas) {
  nd4c_lock_acquire(&arenas->lock);
  const int64_t bytes = arenas->bytes;
  nd4c_lock_release(&arenas->lock);
  return bytes;
}

nd4c_status nd4c_arenas_reserve(nd4c_plan_arenas *arenas, int64_t bytes) {
  nd4c_storage *arena = NULL;
  nd4c_arenas_want_too(arenas, bytes);
  ND4C_TRY(nd4c_arenas_take(arenas, bytes, &arena));
  nd4c_arenas_give(arenas, arena);
  return ND4C_OK;
}
