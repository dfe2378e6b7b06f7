/* Implements cancellation.h and nd4c/cancellation.h. Programs request and enter cancellations; submit, graph/modes and
 * the host table check them. */
#include "device/stream/cancellation.h"

#include "base/alloc.h"
#include "base/os.h"
#include "base/status.h"

enum { ALIVE = 0x43616e63, DEAD = 0x64656164 };

struct nd4c_cancellation {
  _Atomic uint32_t magic;
  _Atomic int32_t references; /* the owner's reference, and one for each time that it is entered */
  _Atomic bool requested;
  _Atomic int64_t deadline; /* nd4c_os_nanoseconds; 0: none */
};

_Atomic int32_t nd4c_cancellations_entered;

static nd4c_status check_handle(const nd4c_cancellation *cancellation, const char *function) {
  if (cancellation == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: cancellation is NULL", function);
  }
  return atomic_load_explicit(&cancellation->magic, memory_order_relaxed) == ALIVE
             ? ND4C_OK
             : nd4c_fail(ND4C_HANDLE, "%s: no cancellation, or one that was destroyed", function);
}

nd4c_status nd4c_cancellation_create(nd4c_cancellation **cancellation) {
  if (cancellation == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_cancellation_create: cancellation is NULL");
  }
  nd4c_cancellation *made = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *made, "a cancellation", &made));
  atomic_init(&made->magic, ALIVE);
  atomic_init(&made->references, 1);
  *cancellation = made;
  return ND4C_OK;
}

static void drop(nd4c_cancellation *cancellation) {
  if (atomic_fetch_sub_explicit(&cancellation->references, 1, memory_order_acq_rel) == 1) {
    nd4c_deallocate(cancellation);
  }
}

void nd4c_cancellation_destroy(nd4c_cancellation *cancellation) {
  if (cancellation != NULL && check_handle(cancellation, "nd4c_cancellation_destroy") == ND4C_OK) {
    atomic_store(&cancellation->magic, DEAD);
    drop(cancellation);
  }
}

nd4c_status nd4c_cancellation_request(nd4c_cancellation *cancellation) {
  ND4C_TRY(check_handle(cancellation, "nd4c_cancellation_request"));
  atomic_store(&cancellation->requested, true);
  return ND4C_OK;
}

nd4c_status nd4c_cancellation_set_timeout(nd4c_cancellation *cancellation, int64_t nanoseconds) {
  ND4C_TRY(check_handle(cancellation, "nd4c_cancellation_set_timeout"));
  if (nanoseconds < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_cancellation_set_timeout: %lld nanoseconds, expected 0 (none) or more",
                     (long long)nanoseconds);
  }
  const int64_t now = nd4c_os_nanoseconds();
  const int64_t deadline = nanoseconds > INT64_MAX - now ? INT64_MAX : now + nanoseconds;
  atomic_store(&cancellation->deadline, nanoseconds == 0 ? 0 : deadline);
  return ND4C_OK;
}

nd4c_status nd4c_cancellation_reset(nd4c_cancellation *cancellation) {
  ND4C_TRY(check_handle(cancellation, "nd4c_cancellation_reset"));
  atomic_store(&cancellation->requested, false);
  atomic_store(&cancellation->deadline, 0);
  return ND4C_OK;
}

static nd4c_status check(const nd4c_cancellation *cancellation) {
  if (atomic_load_explicit(&cancellation->requested, memory_order_relaxed)) {
    return nd4c_fail(ND4C_CANCELLED, "cancelled by nd4c_cancellation_request");
  }
  const int64_t deadline = atomic_load_explicit(&cancellation->deadline, memory_order_relaxed);
  const int64_t now = deadline != 0 ? nd4c_os_nanoseconds() : 0;
  return deadline == 0 || now < deadline
             ? ND4C_OK
             : nd4c_fail(ND4C_DEADLINE, "the deadline of nd4c_cancellation_set_timeout passed %.3f ms ago",
                         (double)(now - deadline) * 1e-6);
}

nd4c_status nd4c_cancellation_check(const nd4c_cancellation *cancellation) {
  ND4C_TRY(check_handle(cancellation, "nd4c_cancellation_check"));
  return check(cancellation);
}

nd4c_status nd4c_cancellation_check_scope(const nd4c_cancellation_scope *scope) {
  for (int32_t i = 0; scope != NULL && i < scope->count; i++) {
    ND4C_TRY(check(scope->entered[i]));
  }
  return ND4C_OK;
}

nd4c_status nd4c_cancellation_acquire(nd4c_lock *lock) {
  enum { LOOK_NANOSECONDS = 1000000 };
  if (nd4c_lock_try(lock)) {
    return ND4C_OK;
  }
  if (nd4c_cancellation_current() == NULL) {
    nd4c_lock_acquire(lock);
    return ND4C_OK;
  }
  do {
    ND4C_TRY(nd4c_cancellation_poll());
    nd4c_os_sleep(LOOK_NANOSECONDS);
  } while (!nd4c_lock_try(lock));
  return ND4C_OK;
}

/* -- threads ------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_cancellation_enter(nd4c_cancellation *cancellation) {
  ND4C_TRY(check_handle(cancellation, "nd4c_cancellation_enter"));
  nd4c_thread *thread = NULL;
  ND4C_TRY(nd4c_thread_find(&thread));
  if (thread->cancellations == NULL) {
    ND4C_TRY(
        nd4c_allocate_or_fail(1, sizeof *thread->cancellations, "a thread's cancellations", &thread->cancellations));
  }
  nd4c_cancellation_scope *scope = thread->cancellations;
  if (scope->count == ND4C_CANCELLATION_DEPTH) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_cancellation_enter: the thread has entered %d cancellations, the limit",
                     ND4C_CANCELLATION_DEPTH);
  }
  atomic_fetch_add_explicit(&cancellation->references, 1, memory_order_relaxed);
  scope->entered[scope->count++] = cancellation;
  atomic_fetch_add(&nd4c_cancellations_entered, 1);
  return ND4C_OK;
}

static void leave_last(nd4c_cancellation_scope *scope) {
  atomic_fetch_sub(&nd4c_cancellations_entered, 1);
  drop(scope->entered[--scope->count]);
}

/* Leaves a destroyed cancellation, too: the thread holds a reference. */
nd4c_status nd4c_cancellation_leave(nd4c_cancellation *cancellation) {
  const nd4c_thread *thread = nd4c_thread_current;
  nd4c_cancellation_scope *scope = thread != NULL ? thread->cancellations : NULL;
  if (cancellation == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_cancellation_leave: cancellation is NULL");
  }
  if (scope == NULL || scope->count == 0 || scope->entered[scope->count - 1] != cancellation) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_cancellation_leave: the thread did not enter this one last");
  }
  leave_last(scope);
  return ND4C_OK;
}

void nd4c_cancellation_abandon(nd4c_thread *thread) {
  while (thread->cancellations != NULL && thread->cancellations->count > 0) {
    leave_last(thread->cancellations);
  }
  nd4c_deallocate(thread->cancellations);
  thread->cancellations = NULL;
}
