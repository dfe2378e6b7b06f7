/* The tracer's sums and its table. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/trace_text.h"
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
} op_row;

typedef struct memory_row {
  const nd4c_device *device;
  int64_t allocations, bytes, frees;
} memory_row;

typedef struct summary {
  copy_row *copies;
  op_row *ops;
  memory_row *memory;
  int32_t copy_count, op_count, memory_count;
  int64_t transitions, dropped;
  nd4c_trace_event *moves; /* copies and writes, by themselves for the round trips */
  int64_t move_count, move_capacity;
  nd4c_round_trip *trips;
  int32_t trip_count;
  bool failed; /* no memory */
} summary;

/* One more zeroed row at the end of a list; NULL without memory. */
static void *add_row(summary *s, void **rows, int32_t *count, size_t size) {
  void *grown = nd4c_reallocate(*rows, ((size_t)*count + 1) * size);
  if (grown == NULL) {
    s->failed = true;
    return NULL;
  }
  *rows = grown;
  void *row = (char *)grown + (size_t)*count * size;
  memset(row, 0, size);
  *count += 1;
  return row;
}

static copy_row *find_copy(summary *s, const nd4c_device *from, const nd4c_device *to) {
  for (int32_t i = 0; i < s->copy_count; ++i) {
    if (s->copies[i].from == from && s->copies[i].to == to) {
      return &s->copies[i];
    }
  }
  void *rows = s->copies;
  copy_row *row = add_row(s, &rows, &s->copy_count, sizeof *row);
  s->copies = rows;
  if (row != NULL) {
    row->from = from;
    row->to = to;
  }
  return row;
}

static op_row *find_op(summary *s, const nd4c_device *device, const char *op) {
  for (int32_t i = 0; i < s->op_count; ++i) {
    if (s->ops[i].device == device && strcmp(s->ops[i].op, op) == 0) {
      return &s->ops[i];
    }
  }
  void *rows = s->ops;
  op_row *row = add_row(s, &rows, &s->op_count, sizeof *row);
  s->ops = rows;
  if (row != NULL) {
    row->device = device;
    row->op = op;
  }
  return row;
}

static memory_row *find_memory(summary *s, const nd4c_device *device) {
  for (int32_t i = 0; i < s->memory_count; ++i) {
    if (s->memory[i].device == device) {
      return &s->memory[i];
    }
  }
  void *rows = s->memory;
  memory_row *row = add_row(s, &rows, &s->memory_count, sizeof *row);
  s->memory = rows;
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
  kept->call = event->call == 0 ? 0 : event->call | (uint64_t)thread << 32; /* calls of threads are told apart */
}

static void add_event(void *user, int32_t thread, const nd4c_trace_event *event) {
  summary *s = user;
  if (event->kind == ND4C_TRACE_TRANSITION) {
    s->transitions += 1;
  } else if (event->kind == ND4C_TRACE_EXECUTE) {
    op_row *row = find_op(s, event->to, event->op);
    if (row != NULL) {
      row->count += 1;
      row->nanoseconds += event->nanoseconds;
    }
  } else if (event->kind == ND4C_TRACE_COPY) {
    copy_row *row = find_copy(s, event->from, event->to);
    if (row != NULL) {
      row->count += 1;
      row->bytes += event->bytes;
      row->nanoseconds += event->nanoseconds;
    }
    keep_move(s, thread, event);
  } else if (event->kind == ND4C_TRACE_WRITE) {
    keep_move(s, thread, event);
  } else {
    memory_row *row = find_memory(s, event->to);
    if (row != NULL && event->kind == ND4C_TRACE_ALLOCATE) {
      row->allocations += 1;
      row->bytes += event->bytes;
    } else if (row != NULL) {
      row->frees += 1;
    }
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
  for (int64_t i = 0; i < s->move_count; ++i) {
    order[i] = &s->moves[i];
  }
  qsort(order, (size_t)s->move_count, sizeof *order, by_time);
  nd4c_status status = nd4c_trace_find_trips(order, s->move_count, &s->trips, &s->trip_count);
  nd4c_deallocate(order);
  return status;
}

static void free_summary(summary *s) {
  nd4c_deallocate(s->copies);
  nd4c_deallocate(s->ops);
  nd4c_deallocate(s->memory);
  nd4c_deallocate(s->moves);
  nd4c_deallocate(s->trips);
}

static nd4c_status gather(summary *s) {
  s->dropped = nd4c_tracer_visit(add_event, s);
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

static void print_copies(const summary *s, nd4c_text *text) {
  nd4c_text_print(text, "copies: from -> to                 count          bytes         ms\n");
  for (int32_t i = 0; i < s->copy_count; ++i) {
    const copy_row *row = &s->copies[i];
    nd4c_text_print(text, "  %-12s -> %-12s %11lld %14lld %10.3f\n", row->from->name, row->to->name,
                    (long long)row->count, (long long)row->bytes, (double)row->nanoseconds / 1e6);
  }
  if (s->copy_count == 0) {
    nd4c_text_print(text, "  none\n");
  }
}

static void print_ops(const summary *s, nd4c_text *text) {
  nd4c_text_print(text, "ops: device       op                       count         ms\n");
  for (int32_t i = 0; i < s->op_count; ++i) {
    const op_row *row = &s->ops[i];
    nd4c_text_print(text, "  %-15s %-20s %9lld %10.3f\n", row->device->name, row->op, (long long)row->count,
                    (double)row->nanoseconds / 1e6);
  }
  if (s->op_count == 0) {
    nd4c_text_print(text, "  none\n");
  }
}

static void print_rest(const summary *s, nd4c_text *text) {
  nd4c_text_print(text, "memory: device     allocations          bytes      frees\n");
  for (int32_t i = 0; i < s->memory_count; ++i) {
    const memory_row *row = &s->memory[i];
    nd4c_text_print(text, "  %-15s %12lld %14lld %10lld\n", row->device->name, (long long)row->allocations,
                    (long long)row->bytes, (long long)row->frees);
  }
  if (s->memory_count == 0) {
    nd4c_text_print(text, "  none\n");
  }
  nd4c_text_print(text, "device transitions: %lld\n", (long long)s->transitions);
  nd4c_text_print(text, "unexpected round trips:%s\n", s->trip_count == 0 ? " none" : "");
  for (int32_t i = 0; i < s->trip_count; ++i) {
    const nd4c_round_trip *trip = &s->trips[i];
    nd4c_text_print(text, "  %s -> %s -> %s, %s by %s: %lld times, %lld bytes\n", trip->home->name, trip->away->name,
                    trip->home->name, trip->kind, trip->op != NULL ? trip->op : "the host", (long long)trip->count,
                    (long long)trip->bytes);
  }
  if (s->dropped > 0) {
    nd4c_text_print(text, "events dropped for want of room: %lld\n", (long long)s->dropped);
  }
}

nd4c_status nd4c_trace_report(char **text) {
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_trace_report: text is NULL");
  }
  summary s = {0};
  ND4C_TRY(gather(&s));
  if (s.copy_count > 0) {
    qsort(s.copies, (size_t)s.copy_count, sizeof *s.copies, most_copied);
  }
  if (s.op_count > 0) {
    qsort(s.ops, (size_t)s.op_count, sizeof *s.ops, most_used);
  }
  nd4c_text report = {0};
  print_copies(&s, &report);
  print_ops(&s, &report);
  print_rest(&s, &report);
  free_summary(&s);
  return nd4c_text_take(&report, text);
}

/* -- sums ----------------------------------------------------------------------------------------------------- */

static bool is_wanted(const nd4c_device *wanted, const nd4c_device *device) {
  return wanted == NULL || wanted == device;
}

static void sum_up(const summary *s, const nd4c_device *from, const nd4c_device *to, nd4c_trace_totals *totals) {
  for (int32_t i = 0; i < s->copy_count; ++i) {
    const copy_row *row = &s->copies[i];
    bool counts = is_wanted(from, row->from) && is_wanted(to, row->to);
    totals->copies += counts ? row->count : 0;
    totals->copied_bytes += counts ? row->bytes : 0;
    totals->copy_nanoseconds += counts ? row->nanoseconds : 0;
  }
  for (int32_t i = 0; i < s->op_count; ++i) {
    totals->executions += is_wanted(to, s->ops[i].device) ? s->ops[i].count : 0;
  }
  for (int32_t i = 0; i < s->memory_count; ++i) {
    const memory_row *row = &s->memory[i];
    bool counts = is_wanted(to, row->device);
    totals->allocations += counts ? row->allocations : 0;
    totals->allocated_bytes += counts ? row->bytes : 0;
    totals->frees += counts ? row->frees : 0;
  }
  for (int32_t i = 0; i < s->trip_count; ++i) {
    totals->round_trips += s->trips[i].count;
  }
}

nd4c_status nd4c_trace_get_totals(const nd4c_device *from, const nd4c_device *to, nd4c_trace_totals *totals) {
  if (totals == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_trace_get_totals: totals is NULL");
  }
  if (totals->struct_size < ND4C_SIZE_OF(nd4c_trace_totals)) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_trace_totals)", totals->struct_size);
  }
  const nd4c_device *const named[] = {from, to};
  for (int i = 0; i < 2; ++i) {
    if (named[i] != NULL) {
      ND4C_TRY(nd4c_device_check(named[i], "nd4c_trace_get_totals"));
    }
  }
  summary s = {0};
  ND4C_TRY(gather(&s));
  *totals = (nd4c_trace_totals){.struct_size = totals->struct_size, .transitions = s.transitions, .dropped = s.dropped};
  sum_up(&s, from, to, totals);
  free_summary(&s);
  return ND4C_OK;
}
