/* The bindings that a plan keeps: found by the dims' numbers, made if they are new, and dropped by bytes, the least
 * recently used first. Each run of a plan with dims (dynamic.c) takes one and gives it back. */
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "base/status.h"
#include "device/memory/held.h"
#include "device/stream/cancellation.h"
#include "graph/dynamic.h"
#include "graph/plan/common.h"

/* STATE_BYTES: what a kernel's library keeps for a call of new extents, as far as the limit counts it: code above all.
 * No library tells; primitives of oneDNN took 96 to 180 KB each (bench/memory.py, case shapes, with and without that
 * engine). LEAST_DROPPED, LEAST_STATES: so many bindings, whose choices may still be of use, and so many states in the
 * caches of libraries, are not worth freeing. */
enum { STATE_BYTES = 160 << 10, LEAST_DROPPED = 8, LEAST_STATES = 64 };

static uint64_t hash_dims(const int64_t *dims, int32_t count) {
  uint64_t hash = UINT64_C(0x9e3779b97f4a7c15);
  for (int32_t i = 0; i < count; i++) {
    hash = (hash ^ (uint64_t)dims[i]) * UINT64_C(0xff51afd7ed558ccd);
    hash ^= hash >> 32;
  }
  return hash;
}

static nd4c_plan_binding **bucket_of(nd4c_dynamic *dynamic, uint64_t hash) {
  return &dynamic->buckets[hash % ND4C_DYNAMIC_BUCKETS];
}

/* The binding of these numbers; NULL: it is not kept. Under the lock. */
static nd4c_plan_binding *find(nd4c_dynamic *dynamic, const int64_t *dims, uint64_t hash) {
  const size_t bytes = (size_t)dynamic->dim_count * sizeof *dims;
  nd4c_plan_binding *at = *bucket_of(dynamic, hash);
  while (at != NULL && (at->hash != hash || memcmp(at->dims, dims, bytes) != 0)) {
    at = at->next;
  }
  return at;
}

/* Under the lock. */
static void use(nd4c_dynamic *dynamic, nd4c_plan_binding *binding, bool run, bool made) {
  if (run) {
    nd4c_phase_note(dynamic, binding->dims);
    dynamic->counts.reused += !made;
    binding->run = dynamic->phase.runs;
  }
  binding->users++;
  binding->used = ++dynamic->uses;
}

/* -- dropping ------------------------------------------------------------------------------------------------------ */

static void free_binding(nd4c_plan_binding *binding) {
  nd4c_plan_destroy(binding->plan);
  nd4c_deallocate(binding);
}

static bool can_drop(const nd4c_dynamic *dynamic, const nd4c_plan_binding *binding) {
  return binding->users == 0 && binding->used != dynamic->uses;
}

/* Where the link to the least recently used binding is that no thread runs; NULL: there is none but the one used last.
 */
static nd4c_plan_binding **find_oldest(nd4c_dynamic *dynamic) {
  nd4c_plan_binding **oldest = NULL;
  for (int32_t i = 0; i < ND4C_DYNAMIC_BUCKETS; i++) {
    for (nd4c_plan_binding **link = &dynamic->buckets[i]; *link != NULL; link = &(*link)->next) {
      const bool older = oldest == NULL || (*link)->used < (*oldest)->used;
      oldest = can_drop(dynamic, *link) && older ? link : oldest;
    }
  }
  return oldest;
}

/* What the binding needs of the arenas that bindings share. */
static int64_t shared_arena(const nd4c_plan_binding *binding) {
  return binding->plan->arenas == NULL ? 0 : binding->plan->arena_bytes;
}

/* Says how large shared arenas must be for the bindings that are kept. Under the lock. */
static void size_arenas(nd4c_dynamic *dynamic) {
  int64_t most = 0;
  for (int32_t i = 0; i < ND4C_DYNAMIC_BUCKETS; i++) {
    for (const nd4c_plan_binding *at = dynamic->buckets[i]; at != NULL; at = at->next) {
      most = shared_arena(at) > most ? shared_arena(at) : most;
    }
  }
  nd4c_arenas_want(&dynamic->arenas, most);
}

/* Takes bindings off the table until the rest fits into the limit, or none can be dropped; returns them as a list,
 * which the caller frees without the lock. */
static nd4c_plan_binding *trim(nd4c_dynamic *dynamic) {
  nd4c_plan_binding *dropped = NULL;
  nd4c_plan_binding **link = NULL;
  while (dynamic->counts.bytes > dynamic->counts.byte_limit && (link = find_oldest(dynamic)) != NULL) {
    nd4c_plan_binding *binding = *link;
    *link = binding->next;
    binding->next = dropped;
    dropped = binding;
    dynamic->counts.bytes -= binding->bytes;
    dynamic->counts.kept--;
    dynamic->counts.dropped++;
  }
  if (dropped != NULL) {
    size_arenas(dynamic);
  }
  return dropped;
}

static void free_list(nd4c_plan_binding *list) {
  while (list != NULL) {
    nd4c_plan_binding *next = list->next;
    free_binding(list);
    list = next;
  }
}

/* Frees bindings that were dropped to save memory. The device would keep arenas of their own for reuse, but the next
 * sizes want other arenas, so as many bytes of its cache go, the oldest first. */
static void free_dropped(nd4c_dynamic *dynamic, nd4c_plan_binding *dropped) {
  if (dropped == NULL) {
    return;
  }
  if (dropped->plan->arenas != NULL) {
    free_list(dropped);
    nd4c_arenas_shrink(&dynamic->arenas);
    return;
  }
  nd4c_device *device = dropped->plan->device;
  nd4c_memory_info before = {.struct_size = sizeof before};
  const bool known = nd4c_memory_get_info(device, &before) == ND4C_OK;
  free_list(dropped);
  if (known) { /* keeping nothing would also free idle streams */
    (void)nd4c_memory_trim(device, before.cached_bytes > 0 ? before.cached_bytes : 1);
  }
}

/* Frees the kernel choices of bindings that were dropped, and what libraries keep for them. Until some were dropped,
 * their sizes may come again. The thread makes bindings. */
static void free_choices(nd4c_dynamic *dynamic, const nd4c_plan *plan) {
  const nd4c_plan_bindings *counts = &dynamic->counts;
  nd4c_lock_acquire(&dynamic->lock);
  const int64_t prepared = counts->prepared + counts->patch_prepared;
  const bool due = counts->dropped - dynamic->swept > LEAST_DROPPED + counts->kept / 8;
  const bool cached = due && prepared - dynamic->emptied > LEAST_STATES;
  dynamic->swept = due ? counts->dropped : dynamic->swept;
  dynamic->emptied = cached ? prepared : dynamic->emptied;
  nd4c_lock_release(&dynamic->lock);
  if (due) {
    nd4c_common_sweep(dynamic->common);
  }
  if (cached) {
    (void)nd4c_held_give_way(plan->device, INT64_MAX);
  }
}

void nd4c_bindings_free(nd4c_plan *plan) {
  for (int32_t i = 0; i < ND4C_DYNAMIC_BUCKETS; i++) {
    free_list(plan->dynamic->buckets[i]);
    plan->dynamic->buckets[i] = NULL;
  }
}

/* -- taking -------------------------------------------------------------------------------------------------------- */

/* Counts a binding with what it took since `begin`, when the thread had `before` behind it, and shared choices had
 * taken `choices` bytes. */
static void count_made(nd4c_dynamic *dynamic, nd4c_plan_binding *made, int64_t begin, nd4c_preparation before,
                       int64_t choices) {
  nd4c_plan_bindings *counts = &dynamic->counts;
  const nd4c_preparation now = nd4c_choice_preparation();
  const bool patched = made->plan->kept_layout;
  const int64_t taken = nd4c_os_nanoseconds() - begin;
  made->bytes = nd4c_dynamic_bytes(made->plan) + (now.states - before.states) * STATE_BYTES +
                nd4c_common_choice_bytes(dynamic->common) - choices;
  nd4c_lock_acquire(&dynamic->lock);
  *(patched ? &counts->patched : &counts->made) += 1;
  *(patched ? &counts->patch_nanoseconds : &counts->nanoseconds) += taken;
  *(patched ? &counts->patch_prepare_nanoseconds : &counts->prepare_nanoseconds) +=
      now.nanoseconds - before.nanoseconds;
  *(patched ? &counts->patch_prepared : &counts->prepared) += now.states - before.states;
  nd4c_lock_release(&dynamic->lock);
}

/* `top`, `previous`: of the bucket; NULL: none. */
static nd4c_status make(nd4c_plan *plan, nd4c_context *context, const int64_t *dims, const int64_t *top,
                        const nd4c_plan *previous, nd4c_plan_binding **out) {
  const int32_t count = plan->dynamic->dim_count;
  const int64_t begin = nd4c_os_nanoseconds();
  const nd4c_preparation before = nd4c_choice_preparation();
  const int64_t choices = nd4c_common_choice_bytes(plan->dynamic->common);
  nd4c_plan_binding *made = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *made + 2 * (size_t)count * sizeof *dims, "a binding of a plan", &made));
  int64_t *copy = (int64_t *)(made + 1);
  memcpy(copy, dims, (size_t)count * sizeof *dims);
  *made = (nd4c_plan_binding){.dims = copy, .hash = hash_dims(dims, count)};
  if (top != NULL) {
    memcpy(copy + count, top, (size_t)count * sizeof *top);
    made->top = copy + count;
  }
  const nd4c_status status = nd4c_dynamic_bind(plan, context, dims, previous, &made->plan);
  if (status != ND4C_OK) {
    nd4c_deallocate(made);
    return status;
  }
  made->top = made->plan->keeps_layout ? made->top : NULL;
  count_made(plan->dynamic, made, begin, before, choices);
  *out = made;
  return ND4C_OK;
}

/* Puts a binding into the table. Under the lock. */
static void attach(nd4c_dynamic *dynamic, nd4c_plan_binding *binding) {
  nd4c_plan_binding **bucket = bucket_of(dynamic, binding->hash);
  binding->next = *bucket;
  *bucket = binding;
  dynamic->counts.kept++;
  dynamic->counts.bytes += binding->bytes;
  nd4c_arenas_want_too(&dynamic->arenas, shared_arena(binding)); /* others may have been dropped since it was made */
}

/* -- buckets ---------------------------------------------------------------------------------------------------------
 */

/* Takes a binding of the bucket off the table that no thread runs; NULL: there is none. */
static nd4c_plan_binding *detach(nd4c_dynamic *dynamic, const int64_t *top) {
  const size_t bytes = (size_t)dynamic->dim_count * sizeof *top;
  nd4c_plan_binding *found = NULL;
  nd4c_lock_acquire(&dynamic->lock);
  for (int32_t i = 0; i < ND4C_DYNAMIC_BUCKETS && found == NULL; i++) {
    nd4c_plan_binding **link = &dynamic->buckets[i];
    while (*link != NULL && ((*link)->top == NULL || (*link)->users > 0 || memcmp((*link)->top, top, bytes) != 0)) {
      link = &(*link)->next;
    }
    found = *link;
    if (found != NULL) {
      *link = found->next;
      dynamic->counts.kept--;
      dynamic->counts.bytes -= found->bytes;
    }
  }
  nd4c_lock_release(&dynamic->lock);
  return found;
}

/* Puts the bucket's binding back. */
static void reattach(nd4c_dynamic *dynamic, nd4c_plan_binding *old) {
  nd4c_lock_acquire(&dynamic->lock);
  attach(dynamic, old);
  nd4c_lock_release(&dynamic->lock);
}

/* Makes a binding in place of the bucket's, or of one for the bucket's largest numbers, which is made for its layout.
 * If these cannot be bound, because of a guard or for lack of memory, or if the layout does not serve, as extents of 1
 * may make other views, the binding is one by itself. */
static nd4c_status make_in_bucket(nd4c_plan *plan, nd4c_context *context, const int64_t *dims,
                                  nd4c_plan_binding **out) {
  nd4c_dynamic *dynamic = plan->dynamic;
  int64_t top[ND4C_DYNAMIC_DIMS];
  nd4c_buckets_top(plan, dims, top);
  const bool largest = memcmp(top, dims, (size_t)dynamic->dim_count * sizeof *top) == 0;
  nd4c_plan_binding *old = detach(dynamic, top);
  if (old == NULL && !largest && make(plan, context, top, top, NULL, &old) != ND4C_OK) {
    return make(plan, context, dims, NULL, NULL, out);
  }
  if (old == NULL) {
    return make(plan, context, dims, top, NULL, out);
  }
  const nd4c_status status = make(plan, context, dims, top, old->plan, out);
  if (status == ND4C_OK && (*out)->plan->kept_layout) {
    free_binding(old);
    return ND4C_OK;
  }
  if (status == ND4C_OK) {
    (*out)->top = NULL;
  }
  reattach(dynamic, old);
  return status;
}

static nd4c_status make_any(nd4c_plan *plan, nd4c_context *context, const int64_t *dims, nd4c_plan_binding **out) {
  return plan->buckets != NULL && nd4c_dynamic_shares(plan) ? make_in_bucket(plan, context, dims, out)
                                                            : make(plan, context, dims, NULL, NULL, out);
}

/* -- taking one of them ----------------------------------------------------------------------------------------------
 */

/* Adds a binding and takes it; returns what must be dropped for it. A profile may have begun or ended while the binding
 * was made. */
static nd4c_plan_binding *add(nd4c_plan *plan, nd4c_plan_binding *binding, bool run) {
  nd4c_dynamic *dynamic = plan->dynamic;
  nd4c_lock_acquire(&dynamic->lock);
  const bool profiled = atomic_load_explicit(&plan->profiled, memory_order_relaxed);
  nd4c_plan_set_profiled(binding->plan, profiled);
  attach(dynamic, binding);
  use(dynamic, binding, run, true);
  nd4c_plan_binding *dropped = trim(dynamic);
  nd4c_lock_release(&dynamic->lock);
  return dropped;
}

static nd4c_plan_binding *look(nd4c_dynamic *dynamic, const int64_t *dims, uint64_t hash, bool run) {
  nd4c_lock_acquire(&dynamic->lock);
  nd4c_plan_binding *found = find(dynamic, dims, hash);
  if (found != NULL) {
    use(dynamic, found, run, false);
  }
  nd4c_lock_release(&dynamic->lock);
  return found;
}

nd4c_status nd4c_bindings_take(nd4c_plan *plan, nd4c_context *context, const int64_t *dims, bool run,
                               nd4c_plan_binding **binding) {
  nd4c_dynamic *dynamic = plan->dynamic;
  const uint64_t hash = hash_dims(dims, dynamic->dim_count);
  *binding = look(dynamic, dims, hash, run);
  if (*binding != NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_cancellation_acquire(&dynamic->making));
  nd4c_status status = ND4C_OK;
  *binding = look(dynamic, dims, hash, run); /* another thread may have made it meanwhile */
  if (*binding == NULL) {
    status = make_any(plan, context, dims, binding);
    if (status == ND4C_OK) {
      free_dropped(dynamic, add(plan, *binding, run));
      free_choices(dynamic, plan);
    }
  }
  nd4c_lock_release(&dynamic->making);
  return status;
}

void nd4c_bindings_give(const nd4c_plan *plan, nd4c_plan_binding *binding) {
  nd4c_dynamic *dynamic = plan->dynamic;
  nd4c_lock_acquire(&dynamic->lock);
  binding->users--;
  nd4c_plan_binding *dropped = trim(dynamic); /* it may have been over the limit, and could not be dropped */
  nd4c_lock_release(&dynamic->lock);
  free_dropped(dynamic, dropped);
}

/* -- the latest one ------------------------------------------------------------------------------------------------ */

nd4c_plan_binding *nd4c_bindings_latest(const nd4c_dynamic *dynamic) {
  nd4c_plan_binding *latest = NULL;
  for (int32_t i = 0; i < ND4C_DYNAMIC_BUCKETS; i++) {
    for (nd4c_plan_binding *at = dynamic->buckets[i]; at != NULL; at = at->next) {
      latest = latest == NULL || at->used > latest->used ? at : latest;
    }
  }
  return latest;
}

nd4c_plan_binding *nd4c_bindings_take_latest(const nd4c_plan *plan) {
  nd4c_dynamic *dynamic = plan->dynamic;
  nd4c_lock_acquire(&dynamic->lock);
  nd4c_plan_binding *latest = nd4c_bindings_latest(dynamic);
  if (latest != NULL) {
    latest->users++;
  }
  nd4c_lock_release(&dynamic->lock);
  return latest;
}
