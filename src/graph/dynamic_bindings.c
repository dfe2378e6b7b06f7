/* The bindings that a plan keeps: found by the dims' numbers, made if they are new, and dropped by bytes, the least
 * recently used first. Each run of a plan with dims (dynamic.c) takes one and gives it back. */
#include <string.h>

#include "base/alloc.h"
#include "base/os.h"
#include "base/status.h"
#include "graph/dynamic.h"

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
  return dropped;
}

static void free_list(nd4c_plan_binding *list) {
  while (list != NULL) {
    nd4c_plan_binding *next = list->next;
    free_binding(list);
    list = next;
  }
}

void nd4c_bindings_free(nd4c_plan *plan) {
  for (int32_t i = 0; i < ND4C_DYNAMIC_BUCKETS; i++) {
    free_list(plan->dynamic->buckets[i]);
    plan->dynamic->buckets[i] = NULL;
  }
}

/* -- taking -------------------------------------------------------------------------------------------------------- */

static nd4c_status make(nd4c_plan *plan, nd4c_context *context, const int64_t *dims, uint64_t hash,
                        nd4c_plan_binding **out) {
  const int32_t count = plan->dynamic->dim_count;
  nd4c_plan_binding *made = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *made + (size_t)count * sizeof *dims, "a binding of a plan", &made));
  int64_t *copy = (int64_t *)(made + 1);
  memcpy(copy, dims, (size_t)count * sizeof *dims);
  *made = (nd4c_plan_binding){.dims = copy, .hash = hash};
  const nd4c_status status = nd4c_dynamic_bind(plan, context, dims, &made->plan);
  if (status != ND4C_OK) {
    nd4c_deallocate(made);
    return status;
  }
  made->bytes = nd4c_dynamic_bytes(made->plan);
  *out = made;
  return ND4C_OK;
}

/* Adds a binding and takes it; returns what must be dropped for it. A profile may have begun or ended while the binding
 * was made. */
static nd4c_plan_binding *add(nd4c_plan *plan, nd4c_plan_binding *binding, bool run, int64_t nanoseconds,
                              int64_t preparation) {
  nd4c_dynamic *dynamic = plan->dynamic;
  nd4c_lock_acquire(&dynamic->lock);
  const bool profiled = atomic_load_explicit(&plan->profiled, memory_order_relaxed);
  nd4c_plan_set_profiled(binding->plan, profiled);
  nd4c_plan_binding **bucket = bucket_of(dynamic, binding->hash);
  binding->next = *bucket;
  *bucket = binding;
  dynamic->counts.made++;
  dynamic->counts.kept++;
  dynamic->counts.bytes += binding->bytes;
  dynamic->counts.nanoseconds += nanoseconds;
  dynamic->counts.prepare_nanoseconds += preparation;
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
  nd4c_lock_acquire(&dynamic->making);
  nd4c_status status = ND4C_OK;
  nd4c_plan_binding *dropped = NULL;
  *binding = look(dynamic, dims, hash, run); /* another thread may have made it meanwhile */
  if (*binding == NULL) {
    const int64_t begin = nd4c_os_nanoseconds(), preparation = nd4c_choice_preparation_time();
    status = make(plan, context, dims, hash, binding);
    if (status == ND4C_OK) {
      dropped = add(plan, *binding, run, nd4c_os_nanoseconds() - begin, nd4c_choice_preparation_time() - preparation);
    }
  }
  nd4c_lock_release(&dynamic->making);
  free_list(dropped);
  return status;
}

void nd4c_bindings_give(const nd4c_plan *plan, nd4c_plan_binding *binding) {
  nd4c_dynamic *dynamic = plan->dynamic;
  nd4c_lock_acquire(&dynamic->lock);
  binding->users--;
  nd4c_plan_binding *dropped = trim(dynamic); /* it may have been over the limit, and could not be dropped */
  nd4c_lock_release(&dynamic->lock);
  free_list(dropped);
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
