/* nd4c_trace_report and _get_totals: sums and the table. Programs call them; tracer.c takes the table when a recording
 * ends. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/trace/trace_text.h"
#include "nd4c/array.h"
#include "nd4c/trace.h"

/* -- gathering ------------------------------------------------------------------------------------------------ */

typedef struct copy_row {
  const nd4c_device *from, *to;
  int64_t count, bytes, nanoseconds;
} copy_row;

typedef struct op_row {
  const nd4c_device *device;
  const char *op;
  int64_t count, nanoseconds;
  int64_t told, device_nanoseconds; /* of executions for which the device reported its time */
} op_row;

typedef struct memory_row {
  const nd4c_device *device;
  int64_t allocations, bytes, frees;
} memory_row;

typedef struct thread_row {
  int32_t number;
  int64_t executions, transitions, copies, copied_bytes, copy_nanoseconds, allocations, allocated_bytes, frees;
} thread_row;

typedef struct summary {
  copy_row *copies, *transitions; /* transitions have only a count */
  op_row *ops;
  memory_row *memory;
  thread_row *threads;
  int32_t copy_count, transition_count, op_count, memory_count, thread_count;
  int64_t dropped;
  nd4c_trace_event *moves; /* copies and writes, kept separately for round trips */
  int64_t move_count, move_capacity;
  nd4c_round_trip *trips;
  int32_t trip_count;
  bool failed; /* no memory */
} summary;

/* Appends a zeroed row to a list, whose pointer is at `rows`; NULL if memory is exhausted. */
static void *add_row(summary *s, void *rows, int32_t *count, size_t size) {
  void *grown = NULL;
  memcpy(&grown, rows, sizeof grown);
  grown = nd4c_reallocate(grown, ((size_t)*count + 1) * size);
  if (grown == NULL) {
    s->failed = true;
    return NULL;
  }
  memcpy(rows, &grown, sizeof grown);
  void *row = (char *)grown + (size_t)*count * size;
  memset(row, 0, size);
  (*count)++;
  return row;
}

/* The row of a pair of devices among copies or transitions. */
static copy_row *find_pair(summary *s, copy_row **pairs, int32_t *count, const nd4c_trace_event *event) {
  for (int32_t i = 0; i < *count; i++) {
    if ((*pairs)[i].from == event->from && (*pairs)[i].to == event->to) {
      return &(*pairs)[i];
    }
  }
  copy_row *row = add_row(s, pairs, count, sizeof *row);
  if (row != NULL) {
    row->from = event->from;
    row->to = event->to;
  }
  return row;
}

/* Threads are visited one after the other, so the thread's row is the last one or does not exist yet. */
static thread_row *find_thread(summary *s, int32_t number) {
  if (s->thread_count > 0 && s->threads[s->thread_count - 1].number == number) {
    return &s->threads[s->thread_count - 1];
  }
  thread_row *row = add_row(s, &s->threads, &s->thread_count, sizeof *row);
  if (row != NULL) {
    row->number = number;
  }
  return row;
}

static op_row *find_op(summary *s, const nd4c_device *device, const char *op) {
  for (int32_t i = 0; i < s->op_count; i++) {
    if (s->ops[i].device == device && strcmp(s->ops[i].op, op) == 0) {
      return &s->ops[i];
    }
  }
  op_row *row = add_row(s, &s->ops, &s->op_count, sizeof *row);
  if (row != NULL) {
    row->device = device;
    row->op = op;
  }
  return row;
}

static memory_row *find_memory(summary *s, const nd4c_device *device) {
  for (int32_t i = 0; i < s->memory_count; i++) {
    if (s->memory[i].device == device) {
      return &s->memory[i];
    }
  }
  memory_row *row = add_row(s, &s->memory, &s->memory_count, sizeof *row);
  if (row != NULL) {
    row->device = device;
  }
  return row;
}

static void keep_move(summary *s, int32_t thread, const nd4c_trace_event *event) {
  if (s->move_count == s->move_capacity) {
    int64_t capacity = s->move_capacity < 256 ? 256 : 2 * s->move_capacity;
    nd4c_trace_event *grown = nd4c_reallocate(s->moves, (size_t)capacity * sizeof *grown);
    if (grown == NULL) {
      s->failed = true;
      return;
    }
    s->moves = grown;
    s->move_capacity = capacity;
  }
  nd4c_trace_event *kept = &s->moves[s->move_count++];
  *kept = *event;
  kept->call = event->call == 0 ? 0 : event->call | (uint64_t)thread << 32; /* so that calls of different threads are
                                                                               distinguished */
}

static void add_to_thread(thread_row *row, const nd4c_trace_event *event) {
  row->executions += event->kind == ND4C_TRACE_EXECUTE;
  row->transitions += event->kind == ND4C_TRACE_TRANSITION;
  row->frees += event->kind == ND4C_TRACE_FREE;
  if (event->kind == ND4C_TRACE_COPY) {
    row->copies++;
    row->copied_bytes += event->bytes;
    row->copy_nanoseconds += event->nanoseconds;
  } else if (event->kind == ND4C_TRACE_ALLOCATE) {
    row->allocations++;
    row->allocated_bytes += event->bytes;
  }
}

static void add_execution(summary *s, const nd4c_trace_event *event) {
  op_row *row = find_op(s, event->to, event->op);
  if (row != NULL) {
    row->count++;
    row->nanoseconds += event->nanoseconds;
    row->told += event->time == ND4C_TRACE_DEVICE_TIME;
    row->device_nanoseconds += event->time == ND4C_TRACE_DEVICE_TIME ? event->device_nanoseconds : 0;
  }
}

static void add_pair(summary *s, copy_row **pairs, int32_t *count, const nd4c_trace_event *event) {
  copy_row *row = find_pair(s, pairs, count, event);
  if (row != NULL) {
    row->count++;
    row->bytes += event->bytes;
    row->nanoseconds += event->nanoseconds;
  }
}

static void add_memory(summary *s, const nd4c_trace_event *event) {
  memory_row *row = find_memory(s, event->to);
  if (row != NULL && event->kind == ND4C_TRACE_ALLOCATE) {
    row->allocations++;
    row->bytes += event->bytes;
  } else if (row != NULL) {
    row->frees++;
  }
}

static void add_event(void *user, int32_t thread, const nd4c_trace_event *event) {
  summary *s = user;
  thread_row *row = find_thread(s, thread);
  if (row == NULL) {
    return;
  }
  add_to_thread(row, event);
  switch (event->kind) {
    case ND4C_TRACE_TRANSITION:
      add_pair(s, &s->transitions, &s->transition_count, event);
      break;
    case ND4C_TRACE_EXECUTE:
      add_execution(s, event);
      break;
    case ND4C_TRACE_COPY:
      add_pair(s, &s->copies, &s->copy_count, event);
      keep_move(s, thread, event);
      break;
    case ND4C_TRACE_WRITE:
      keep_move(s, thread, event);
      break;
    case ND4C_TRACE_ALLOCATE:
    case ND4C_TRACE_FREE:
      add_memory(s, event);
      break;
  }
}

static int by_time(const void *a, const void *b) {
  const nd4c_trace_event *left = *(const nd4c_trace_event *const *)a, *right = *(const nd4c_trace_event *const *)b;
  int64_t left_end = left->begin + left->nanoseconds, right_end = right->begin + right->nanoseconds;
  if (left_end != right_end) {
    return left_end < right_end ? -1 : 1;
  }
  return left < right ? -1 : left > right;
}

static nd4c_status find_trips(summary *s) {
  const nd4c_trace_event **order = nd4c_allocate((size_t)(s->move_count + 1) * sizeof *order);
  if (order == NULL) {
    return nd4c_fail_memory("a trace's report", (size_t)s->move_count * sizeof *order);
  }
  for (int64_t i = 0; i < s->move_count; i++) {
    order[i] = &s->moves[i];
  }
  qsort(order, (size_t)s->move_count, sizeof *order, by_time);
  nd4c_status status = nd4c_trace_find_trips(order, s->move_count, &s->trips, &s->trip_count);
  nd4c_deallocate(order);
  return status;
}

static void free_summary(summary *s) {
  nd4c_deallocate(s->copies);
  nd4c_deallocate(s->transitions);
  nd4c_deallocate(s->threads);
  nd4c_deallocate(s->ops);
  nd4c_deallocate(s->memory);
  nd4c_deallocate(s->moves);
  nd4c_deallocate(s->trips);
}

/* thread 0: of all. */
static nd4c_status gather(summary *s, nd4c_trace_recording recording, int32_t thread) {
  s->dropped = nd4c_tracer_visit(recording, thread, add_event, s);
  nd4c_status status = s->failed ? nd4c_fail_memory("a trace's report", sizeof *s) : find_trips(s);
  if (status != ND4C_OK) {
    free_summary(s);
  }
  return status;
}

/* -- table ---------------------------------------------------------------------------------------------------- */

static int most_copied(const void *a, const void *b) {
  int64_t left = ((const copy_row *)a)->bytes, right = ((const copy_row *)b)->bytes;
  return (right > left) - (right < left);
}

static int most_used(const void *a, const void *b) {
  const op_row *left = a, *right = b;
  int device = strcmp(left->device->name, right->device->name);
  return device != 0 ? device : (right->count > left->count) - (right->count < left->count);
}

/* The busiest threads first. */
static int most_events(const void *a, const void *b) {
  const thread_row *left = a, *right = b;
  int64_t lefts = left->executions + left->copies + left->allocations;
  int64_t rights = right->executions + right->copies + right->allocations;
  return lefts != rights ? (rights > lefts ? 1 : -1) : (left->number > right->number) - (left->number < right->number);
}

static int64_t count_transitions(const summary *s) {
  int64_t count = 0;
  for (int32_t i = 0; i < s->transition_count; i++) {
    count += s->transitions[i].count;
  }
  return count;
}

static void print_copies(const summary *s, nd4c_text *text) {
  nd4c_text_print(text, "copies: from -> to                 count          bytes         ms\n");
  for (int32_t i = 0; i < s->copy_count; i++) {
    const copy_row *row = &s->copies[i];
    nd4c_text_print(text, "  %-12s -> %-12s %11lld %14lld %10.3f\n", row->from->name, row->to->name,
                    (long long)row->count, (long long)row->bytes, (double)row->nanoseconds / 1e6);
  }
  if (s->copy_count == 0) {
    nd4c_text_print(text, "  none\n");
  }
}

/* Says what a row's milliseconds measure, if not the work itself. */
static void print_what_that_is(const op_row *row, nd4c_text *text) {
  if (row->told > 0) {
    nd4c_text_print(text, " on the device");
    if (row->told < row->count) {
      nd4c_text_print(text, " (of %lld; the device reported none for the others)", (long long)row->told);
    }
    nd4c_text_print(text, ", %.3f to submit", (double)row->nanoseconds / 1e6);
  } else if (row->device->description.asynchronous) {
    nd4c_text_print(text, " to submit; the device reported no time");
  }
  nd4c_text_print(text, "\n");
}

static void print_ops(const summary *s, nd4c_text *text) {
  nd4c_text_print(text, "ops: device       op                       count         ms\n");
  for (int32_t i = 0; i < s->op_count; i++) {
    const op_row *row = &s->ops[i];
    nd4c_text_print(text, "  %-15s %-20s %9lld %10.3f", row->device->name, row->op, (long long)row->count,
                    (double)(row->told > 0 ? row->device_nanoseconds : row->nanoseconds) / 1e6);
    print_what_that_is(row, text);
  }
  if (s->op_count == 0) {
    nd4c_text_print(text, "  none\n");
  }
}

static void print_memory(const summary *s, nd4c_text *text) {
  nd4c_text_print(text, "memory: device     allocations          bytes      frees\n");
  for (int32_t i = 0; i < s->memory_count; i++) {
    const memory_row *row = &s->memory[i];
    nd4c_text_print(text, "  %-15s %12lld %14lld %10lld\n", row->device->name, (long long)row->allocations,
                    (long long)row->bytes, (long long)row->frees);
  }
  if (s->memory_count == 0) {
    nd4c_text_print(text, "  none\n");
  }
}

static void print_thread(const thread_row *row, nd4c_text *text, const char *name) {
  nd4c_text_print(text, "  %-14s %9lld %11lld %9lld %14lld %10.3f %11lld %14lld %9lld\n", name,
                  (long long)row->executions, (long long)row->transitions, (long long)row->copies,
                  (long long)row->copied_bytes, (double)row->copy_nanoseconds / 1e6, (long long)row->allocations,
                  (long long)row->allocated_bytes, (long long)row->frees);
}

/* The busiest threads, and the sum of the others. */
static void print_threads(const summary *s, nd4c_text *text) {
  enum { SHOWN = 16, NAME_SIZE = 32 };
  char name[NAME_SIZE];
  nd4c_text_print(text,
                  "by thread             ops transitions    copies          bytes         ms allocations          "
                  "bytes     frees\n");
  int32_t shown = s->thread_count <= SHOWN ? s->thread_count : SHOWN - 1;
  for (int32_t i = 0; i < shown; i++) {
    (void)snprintf(name, sizeof name, "thread %d", (int)s->threads[i].number);
    print_thread(&s->threads[i], text, name);
  }
  thread_row others = {0};
  for (int32_t i = shown; i < s->thread_count; i++) {
    const thread_row *row = &s->threads[i];
    others.executions += row->executions;
    others.transitions += row->transitions;
    others.copies += row->copies;
    others.copied_bytes += row->copied_bytes;
    others.copy_nanoseconds += row->copy_nanoseconds;
    others.allocations += row->allocations;
    others.allocated_bytes += row->allocated_bytes;
    others.frees += row->frees;
  }
  if (shown < s->thread_count) {
    (void)snprintf(name, sizeof name, "%d others", (int)(s->thread_count - shown));
    print_thread(&others, text, name);
  }
  if (s->thread_count == 0) {
    nd4c_text_print(text, "  none\n");
  }
}

static void print_trips(const summary *s, nd4c_text *text) {
  nd4c_text_print(text, "unexpected round trips:%s\n", s->trip_count == 0 ? " none" : "");
  for (int32_t i = 0; i < s->trip_count; i++) {
    const nd4c_round_trip *trip = &s->trips[i];
    nd4c_text_print(text, "  %s -> %s -> %s, %s by %s: %lld times, %lld bytes\n", trip->home->name, trip->away->name,
                    trip->home->name, trip->kind, trip->op != NULL ? trip->op : "the host", (long long)trip->count,
                    (long long)trip->bytes);
  }
}

static void print_transitions(const summary *s, nd4c_text *text) {
  nd4c_text_print(text, "device transitions: %lld\n", (long long)count_transitions(s));
  for (int32_t i = 0; i < s->transition_count; i++) {
    const copy_row *row = &s->transitions[i];
    nd4c_text_print(text, "  %-12s -> %-12s %11lld\n", row->from->name, row->to->name, (long long)row->count);
  }
}

static void sort_rows(summary *s) {
  if (s->copy_count > 0) {
    qsort(s->copies, (size_t)s->copy_count, sizeof *s->copies, most_copied);
  }
  if (s->op_count > 0) {
    qsort(s->ops, (size_t)s->op_count, sizeof *s->ops, most_used);
  }
  if (s->thread_count > 0) {
    qsort(s->threads, (size_t)s->thread_count, sizeof *s->threads, most_events);
  }
}

nd4c_status nd4c_trace_table(nd4c_trace_recording recording, char **text) {
  summary s = {0};
  ND4C_TRY(gather(&s, recording, 0));
  sort_rows(&s);
  nd4c_text report = {0};
  print_copies(&s, &report);
  print_ops(&s, &report);
  print_memory(&s, &report);
  print_threads(&s, &report);
  print_transitions(&s, &report);
  print_trips(&s, &report);
  if (s.dropped > 0) {
    nd4c_text_print(&report, "events dropped for want of room: %lld\n", (long long)s.dropped);
  }
  free_summary(&s);
  return nd4c_text_take(&report, text);
}

nd4c_status nd4c_trace_report(char **text) {
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_trace_report: text is NULL");
  }
  return nd4c_trace_table(nd4c_tracer_shown(), text);
}

/* -- sums ----------------------------------------------------------------------------------------------------- */

static bool is_wanted(const nd4c_device *wanted, const nd4c_device *device) {
  return wanted == NULL || wanted == device;
}

static void sum_up(const summary *s, const nd4c_device *from, const nd4c_device *to, nd4c_trace_totals *totals) {
  for (int32_t i = 0; i < s->copy_count; i++) {
    const copy_row *row = &s->copies[i];
    bool counts = is_wanted(from, row->from) && is_wanted(to, row->to);
    totals->copies += counts ? row->count : 0;
    totals->copied_bytes += counts ? row->bytes : 0;
    totals->copy_nanoseconds += counts ? row->nanoseconds : 0;
  }
  for (int32_t i = 0; i < s->op_count; i++) {
    const op_row *row = &s->ops[i];
    bool counts = is_wanted(to, row->device);
    totals->executions += counts ? row->count : 0;
    totals->execute_nanoseconds += counts ? row->nanoseconds : 0;
    totals->device_timed += counts ? row->told : 0;
    totals->device_nanoseconds += counts ? row->device_nanoseconds : 0;
  }
  for (int32_t i = 0; i < s->memory_count; i++) {
    const memory_row *row = &s->memory[i];
    bool counts = is_wanted(to, row->device);
    totals->allocations += counts ? row->allocations : 0;
    totals->allocated_bytes += counts ? row->bytes : 0;
    totals->frees += counts ? row->frees : 0;
  }
  for (int32_t i = 0; i < s->trip_count; i++) {
    totals->round_trips += s->trips[i].count;
  }
}

static nd4c_status get_totals(const char *function, int32_t thread, const nd4c_device *from, const nd4c_device *to,
                              nd4c_trace_totals *totals) {
  enum { FIRST_SIZE = offsetof(nd4c_trace_totals, threads) }; /* the struct's size in version 0.1 */
  if (totals == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: totals is NULL", function);
  }
  if (totals->struct_size < FIRST_SIZE) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_trace_totals)", totals->struct_size);
  }
  const nd4c_device *const named[] = {from, to};
  for (int i = 0; i < 2; i++) {
    if (named[i] != NULL) {
      ND4C_TRY(nd4c_device_check(named[i], function));
    }
  }
  summary s = {0};
  ND4C_TRY(gather(&s, nd4c_tracer_shown(), thread));
  nd4c_trace_totals sums = {.struct_size = totals->struct_size,
                            .transitions = count_transitions(&s),
                            .dropped = s.dropped,
                            .threads = nd4c_tracer_threads()};
  sum_up(&s, from, to, &sums);
  free_summary(&s);
  size_t size = totals->struct_size < sizeof sums ? totals->struct_size : sizeof sums;
  memcpy(totals, &sums, size);
  return ND4C_OK;
}

nd4c_status nd4c_trace_get_totals(const nd4c_device *from, const nd4c_device *to, nd4c_trace_totals *totals) {
  return get_totals("nd4c_trace_get_totals", 0, from, to, totals);
}

nd4c_status nd4c_trace_get_thread_totals(int32_t thread, const nd4c_device *from, const nd4c_device *to,
                                         nd4c_trace_totals *totals) {
  int32_t count = nd4c_tracer_threads();
  if (thread < 1 || thread > count) {
    return nd4c_fail(ND4C_INDEX, "nd4c_trace_get_thread_totals: thread %d, but %d recorded: they are numbered from 1",
                     (int)thread, (int)count);
  }
  return get_totals("nd4c_trace_get_thread_totals", thread, from, to, totals);
}
