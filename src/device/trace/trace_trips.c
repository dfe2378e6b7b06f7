/* Finds round trips, as nd4c/trace.h defines them, in copies and writes in order of time. trace_report.c calls it for
 * the report and the totals. */
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/trace/trace_text.h"

/* State of a storage: how its bytes came to `away`. */
typedef struct visit {
  const void *storage; /* NULL: empty */
  const nd4c_device *home, *away;
  const char *op;
  const char *kind; /* "bounce": copied there; "spill": copied to make room; "detour": computed there from copied
                       inputs; NULL: none */
  int64_t bytes;    /* bytes copied from home to away */
} visit;

/* Storages by address. The first event of a new storage is a write, which resets the state of an earlier one at its
 * address. */
typedef struct visits {
  visit *rows;
  int64_t capacity; /* a power of two, at least twice as many as there are storages */
} visits;

static visit *find(const visits *all, const void *storage) {
  uint64_t at = ((uint64_t)(uintptr_t)storage >> 4) * UINT64_C(0x9fb21c651e98df25) >> 20;
  for (;; at++) {
    visit *row = &all->rows[at & (uint64_t)(all->capacity - 1)];
    if (row->storage == storage || row->storage == NULL) {
      row->storage = storage;
      return row;
    }
  }
}

static bool same_text(const char *a, const char *b) {
  return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Adds a round trip, merged with equal ones; false if memory is exhausted. */
static bool add_trip(nd4c_round_trip **trips, int32_t *count, const visit *trip, int64_t bytes) {
  for (int32_t i = 0; i < *count; i++) {
    nd4c_round_trip *known = &(*trips)[i];
    if (known->home == trip->home && known->away == trip->away && same_text(known->kind, trip->kind) &&
        same_text(known->op, trip->op)) {
      known->bytes += bytes;
      known->count++;
      return true;
    }
  }
  nd4c_round_trip *grown = nd4c_reallocate(*trips, ((size_t)*count + 1) * sizeof *grown);
  if (grown == NULL) {
    return false;
  }
  grown[*count] = (nd4c_round_trip){
      .kind = trip->kind, .op = trip->op, .home = trip->home, .away = trip->away, .bytes = bytes, .count = 1};
  *trips = grown;
  (*count)++;
  return true;
}

/* The implicit copy of an input, from another device to where it ran, for the execution that ends in the write at
 * `index`; NULL: none. The events of one execution are close together. */
static const nd4c_trace_event *copy_for(const nd4c_trace_event *const *events, int64_t index) {
  enum { NEAR = 256 };
  const nd4c_trace_event *write = events[index];
  for (int64_t i = index - 1; i >= 0 && i > index - NEAR && write->call != 0; i--) {
    const nd4c_trace_event *event = events[i];
    if (event->kind == ND4C_TRACE_COPY && event->call == write->call && event->op == write->op && !event->placed &&
        !event->room && event->to == write->to && event->storage != write->storage) {
      return event;
    }
  }
  return NULL;
}

static bool is_host(const nd4c_device *device) {
  return device->description.type == ND4C_DEVICE_CPU;
}

static bool take_event(const visits *all, const nd4c_trace_event *const *events, int64_t index, nd4c_round_trip **trips,
                       int32_t *count) {
  const nd4c_trace_event *event = events[index];
  visit *row = find(all, event->storage);
  if (event->kind == ND4C_TRACE_WRITE) {
    const nd4c_trace_event *copy = copy_for(events, index);
    *row = (visit){.storage = event->storage};
    if (copy != NULL && is_host(copy->to)) {
      *row = (visit){.storage = event->storage,
                     .home = copy->from,
                     .away = copy->to,
                     .op = event->op,
                     .kind = "detour",
                     .bytes = copy->bytes};
    }
    return true;
  }
  if (event->asked) {
    *row = (visit){.storage = event->storage}; /* from here on it is where the program wants it */
    return true;
  }
  if (row->kind != NULL && row->away == event->from && row->home == event->to) {
    bool added = add_trip(trips, count, row, row->bytes + event->bytes);
    *row = (visit){.storage = event->storage};
    return added;
  }
  if (row->kind == NULL && !event->placed && is_host(event->to) && !is_host(event->from)) {
    *row = (visit){.storage = event->storage,
                   .home = event->from,
                   .away = event->to,
                   .op = event->op,
                   .kind = event->room ? "spill" : "bounce",
                   .bytes = event->bytes};
  }
  return true;
}

nd4c_status nd4c_trace_find_trips(const nd4c_trace_event *const *events, int64_t count, nd4c_round_trip **trips,
                                  int32_t *trip_count) {
  *trips = NULL;
  *trip_count = 0;
  visits all = {.capacity = 16};
  while (all.capacity < 2 * count) {
    all.capacity *= 2;
  }
  ND4C_TRY(nd4c_allocate_or_fail((size_t)all.capacity, sizeof *all.rows, "round trips of a trace", &all.rows));
  bool done = true;
  for (int64_t i = 0; i < count && done; i++) {
    done = take_event(&all, events, i, trips, trip_count);
  }
  nd4c_deallocate(all.rows);
  if (!done) {
    nd4c_deallocate(*trips);
    *trips = NULL;
    return nd4c_fail_memory("round trips of a trace", sizeof(nd4c_round_trip));
  }
  return ND4C_OK;
}
