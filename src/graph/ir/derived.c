/* Implements derived.h: one list for the process, under a lock. passes/fold_affine.c looks up and adds constants;
 * ir/graph.c drops the uses of a graph that is destroyed, ir/rewrite.c those of constants that no node reads any
 * more. */
#include "graph/ir/derived.h"

#include <string.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/os.h"
#include "base/os_lock.h"
#include "device/storage/forms.h"

typedef struct entry {
  struct entry *next;
  nd4c_array *from, *array; /* one reference each: while the entry exists no other storage has the address of that of
                               `from` */
  nd4c_form *mark;          /* marks the contents of `from` from which `array` was computed */
  int32_t uses;
  int64_t channels;
  bool scales, shifts;
  nd4c_dtype dtype;
  double numbers[]; /* scale, then shift, if they are given */
} entry;

static nd4c_lock entries_lock = ND4C_LOCK_INIT;
static entry *entries;
static nd4c_once fork_once = ND4C_ONCE_INIT;

/* In a child of fork, a thread of the parent may have held the lock. */
static void fork_in_child(void) {
  nd4c_lock_init(&entries_lock);
}

static void watch_forks(void) {
  nd4c_os_on_fork(fork_in_child);
}

static bool matches(const entry *e, const nd4c_derived_key *key) {
  const size_t bytes = (size_t)key->channels * sizeof(double);
  const double *shift = e->numbers + (e->scales ? e->channels : 0);
  return e->channels == key->channels && e->dtype == key->dtype && e->scales == (key->scale != NULL) &&
         e->shifts == (key->shift != NULL) && nd4c_array_is_same_view(e->from, key->from) &&
         (!e->scales || memcmp(e->numbers, key->scale, bytes) == 0) &&
         (!e->shifts || memcmp(shift, key->shift, bytes) == 0);
}

nd4c_array *nd4c_derived_find(const nd4c_derived_key *key) {
  nd4c_lock_acquire(&entries_lock);
  entry *e = entries;
  while (e != NULL && !matches(e, key)) {
    e = e->next;
  }
  nd4c_array *array = e != NULL ? nd4c_array_retain(e->array) : NULL;
  if (e != NULL) {
    e->uses++;
  }
  nd4c_lock_release(&entries_lock);
  if (array != NULL && !nd4c_mark_holds(e->mark, e->from)) { /* our use keeps the entry */
    nd4c_derived_drop(array);
    nd4c_array_release(array);
    return NULL;
  }
  return array;
}

bool nd4c_derived_add(const nd4c_derived_key *key, nd4c_array *array) {
  const size_t bytes = (size_t)key->channels * sizeof(double);
  const size_t lists = (key->scale != NULL ? 1U : 0U) + (key->shift != NULL ? 1U : 0U);
  nd4c_array *from = NULL; /* a new handle, because the caller's may be const */
  entry *e = nd4c_allocate(sizeof *e + lists * bytes);
  nd4c_form *mark = e == NULL ? NULL : nd4c_mark_make(key->from);
  if (mark == NULL || nd4c_array_view(key->from, key->from->rank, key->from->shape, key->from->strides,
                                      key->from->offset, &from) != ND4C_OK) {
    nd4c_form_release(mark);
    nd4c_deallocate(e);
    return false;
  }
  *e = (entry){.from = from,
               .array = nd4c_array_retain(array),
               .mark = mark,
               .uses = 1,
               .channels = key->channels,
               .scales = key->scale != NULL,
               .shifts = key->shift != NULL,
               .dtype = key->dtype};
  double *to = e->numbers;
  if (e->scales) {
    memcpy(to, key->scale, bytes);
    to += key->channels;
  }
  if (e->shifts) {
    memcpy(to, key->shift, bytes);
  }
  nd4c_once_run(&fork_once, watch_forks);
  nd4c_lock_acquire(&entries_lock);
  e->next = entries;
  entries = e;
  nd4c_lock_release(&entries_lock);
  return true;
}

void nd4c_derived_drop(const nd4c_array *array) {
  nd4c_lock_acquire(&entries_lock);
  entry **link = &entries;
  while (*link != NULL && (*link)->array != array) {
    link = &(*link)->next;
  }
  entry *e = *link;
  const bool last = e != NULL && --e->uses == 0;
  if (last) {
    *link = e->next;
  }
  nd4c_lock_release(&entries_lock);
  if (last) {
    nd4c_form_release(e->mark); /* before its storage */
    nd4c_array_release(e->from);
    nd4c_array_release(e->array);
    nd4c_deallocate(e);
  }
}
