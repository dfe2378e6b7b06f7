/* States: the arrays of variables (nd4c/variable.h). graph/variables.c adds variables and lets runs read and assign
 * them; the functions of nd4c/variable.h on states are in state.c, too.
 *
 * A state's lock guards the list of its items and what they point to, and is held for a moment only. A run that
 * assigns, and nd4c_state_set, also hold the state's turn, from before they read until they have committed. Only who
 * has the turn changes an item. */
#ifndef ND4C_GRAPH_STATE_STATE_H
#define ND4C_GRAPH_STATE_STATE_H

#include <stdatomic.h>

#include "array/array.h"
#include "base/os_lock.h"
#include "base/region.h"
#include "nd4c/variable.h"

/* A variable. Lives as long as its state, at one address. */
typedef struct nd4c_state_item {
  const char *name;
  nd4c_dtype dtype;
  int32_t rank;
  const int64_t *shape;
  bool trainable;
  nd4c_array *current; /* one reference; never written while it is current */
  nd4c_array *spare;   /* what the next run that assigns the variable writes, if no run reads it any more; may be NULL.
                          Only for who has the turn */
  bool own;            /* the memory of `current` is the state's alone, so that it may become spare */
  int64_t changes;
} nd4c_state_item;

struct nd4c_state {
  uint32_t magic;
  _Atomic int32_t references;
  nd4c_lock lock;
  nd4c_condition given; /* the turn is free again */
  bool taken;
  nd4c_region region;
  nd4c_state_item **items;
  int32_t count, capacity;
};

nd4c_state *nd4c_state_retain(nd4c_state *state);
/* HANDLE or NULL_ARGUMENT. */
nd4c_status nd4c_state_check(const nd4c_state *state);

/* Waits for the turn. CANCELLED, DEADLINE: the thread does not have it. */
nd4c_status nd4c_state_begin(nd4c_state *state);
void nd4c_state_end(nd4c_state *state);

/* The variable with this name, NULL: there is none. The caller holds the lock. */
nd4c_state_item *nd4c_state_find(const nd4c_state *state, const char *name);
/* Adds a variable whose first value is `current`, of which the state takes a reference; its contents do not change.
 * `own`: no other array has its memory. The caller holds the lock. */
nd4c_status nd4c_state_add(nd4c_state *state, const char *name, bool trainable, nd4c_array *current, bool own);

/* A state with the same variables, which share their arrays until one of the two assigns: none is written while both
 * have it. The caller releases it. */
nd4c_status nd4c_state_fork(nd4c_state *state, nd4c_state **forked);

/* An array for the variable's next value, borrowed from the item. The caller has the turn. */
nd4c_status nd4c_state_prepare(nd4c_state_item *item, nd4c_device *device, nd4c_array **next);
/* Makes the prepared array current. The caller has the turn and holds the lock. */
void nd4c_state_commit(nd4c_state_item *item);
/* Forgets the prepared array, whose contents are undefined or poisoned. The caller has the turn. */
void nd4c_state_abandon(nd4c_state_item *item);

#endif
