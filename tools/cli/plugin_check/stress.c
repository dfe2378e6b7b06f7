/* Sections `threads`, `faults` and `exit`: concurrent calls, refused memory, and a process that ends with work in
 * flight. The section table of plugin_check.c lists these. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { THREADS = 4, CASES = 24, ROUNDS = 40, PLACES = 400, FAULT_CASES = 16, PENDING = 300 };

/* -- threads ------------------------------------------------------------------------------------------------------- */

/* A thread computes the case over and over in a separate context; every second thread has the other numbers. Findings
 * are reported after all threads have ended: only one thread writes a section's lines. */
typedef struct worker {
  const plugin_round *round;
  const plugin_case *p;
  nd4c_status status;
  char text[256];
} worker;

static void note_failure(worker *w, nd4c_status status) {
  if (w->text[0] == '\0') {
    w->status = status;
    (void)snprintf(w->text, sizeof w->text, "%.250s", nd4c_error_message());
  }
}

static void compute_once(worker *w, nd4c_context *context, nd4c_context *host, nd4c_array *const *inputs) {
  nd4c_array *got[SELFTEST_OUTPUTS] = {NULL};
  char text[256] = "";
  const nd4c_status status = plugin_case_call(w->p, inputs, context, got);
  if (status != ND4C_OK && !plugin_declined(status)) {
    note_failure(w, status);
  }
  for (int32_t i = 0; status == ND4C_OK && i < w->p->c->op->output_count; i++) {
    if (selftest_difference(host, w->p->wanted[i], got[i], text, sizeof text) != NULL && w->text[0] == '\0') {
      w->status = ND4C_INTERNAL;
      (void)snprintf(w->text, sizeof w->text, "%s", text);
    }
  }
  plugin_arrays_release(got, SELFTEST_OUTPUTS);
}

static void *work(void *user) {
  worker *w = user;
  nd4c_context_options there = {
      .struct_size = sizeof there, .strict = true, .device = nd4c_context_device(w->round->context)};
  nd4c_context_options here = {.struct_size = sizeof here, .device = nd4c_context_device(w->round->host)};
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL};
  nd4c_context *context = NULL, *host = NULL;
  bool differs = false;
  nd4c_status status = nd4c_context_create(&there, &context);
  status = status == ND4C_OK ? nd4c_context_create(&here, &host) : status;
  status = status == ND4C_OK ? plugin_case_inputs(w->p, PLUGIN_CONTIGUOUS, context, inputs, &differs) : status;
  if (status != ND4C_OK) {
    note_failure(w, status);
  }
  for (int32_t i = 0; i < ROUNDS && status == ND4C_OK && w->text[0] == '\0'; i++) {
    compute_once(w, context, host, inputs);
  }
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
  (void)nd4c_context_destroy(context);
  (void)nd4c_context_destroy(host);
  return NULL;
}

static void compute_at_once(plugin_round *round, const plugin_case *p) {
  worker workers[THREADS];
  pthread_t threads[THREADS];
  plugin_pair pair;
  const bool paired = plugin_pair_make(p, round->host, &pair);
  if (!plugin_check_status(round->check, plugin_target_force(round->target), "%s", p->label)) {
    return;
  }
  int32_t started = 0;
  for (; started < THREADS; started++) {
    workers[started] = (worker){.round = round, .p = paired ? &pair.cases[started % 2].p : p};
    if (pthread_create(&threads[started], NULL, work, &workers[started]) != 0) {
      break;
    }
  }
  (void)plugin_check_that(round->check, started == THREADS, "no thread can be started");
  for (int32_t i = 0; i < started; i++) {
    (void)pthread_join(threads[i], NULL);
    (void)plugin_check_that(round->check, workers[i].text[0] == '\0', "%s, %d threads at once: %s: %s", p->label,
                            THREADS, nd4c_status_name(workers[i].status), workers[i].text);
  }
  if (paired) {
    plugin_pair_clear(&pair);
  }
}

void plugin_section_threads(plugin_check *check) {
  (void)plugin_cases_each(check, PLUGIN_EAGER, CASES, compute_at_once, NULL);
}

/* -- faults -------------------------------------------------------------------------------------------------------- */

static const nd4c_host *real;
static _Atomic int32_t countdown; /* allocations until the one that fails; 0: none does */
static _Atomic int32_t hits;

static bool refuses(void) {
  int32_t left = atomic_load(&countdown);
  while (left > 0 && !atomic_compare_exchange_weak(&countdown, &left, left - 1)) {
  }
  if (left == 1) {
    atomic_fetch_add(&hits, 1);
  }
  return left == 1;
}

static void *refusing_allocate(size_t bytes) {
  return refuses() ? NULL : real->allocate(bytes);
}
static void *refusing_pages(size_t bytes) {
  return refuses() ? NULL : real->allocate_pages(bytes);
}
static void *refusing_buffer(size_t bytes) {
  return refuses() ? NULL : real->allocate_buffer(bytes);
}

static nd4c_status refuse_device(void) {
  return real->fail(ND4C_MEMORY, "memory of a device is refused by the check");
}
static nd4c_status refusing_count(const nd4c_device_memory_request *request, nd4c_device_memory **memory) {
  return refuses() ? refuse_device() : real->device_memory->count(request, memory);
}
static nd4c_status refusing_device(const nd4c_device_memory_request *request, nd4c_device_memory **memory,
                                   nd4c_buffer *buffer, void **address) {
  return refuses() ? refuse_device() : real->device_memory->allocate(request, memory, buffer, address);
}

static bool arm(int32_t place) {
  atomic_store(&hits, 0);
  atomic_store(&countdown, place);
  return true;
}
/* Whether a request was refused since. */
static bool disarm(void) {
  atomic_store(&countdown, 0);
  return atomic_load(&hits) > 0;
}

/* The first run makes the state that kernels keep between calls, so each place gets a new context and new states. */
static bool compute_refused(plugin_round *round, const plugin_case *p, int32_t place) {
  nd4c_context_options options = {
      .struct_size = sizeof options, .strict = true, .device = nd4c_context_device(round->context)};
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL}, *got[SELFTEST_OUTPUTS] = {NULL};
  nd4c_context *context = NULL;
  bool differs = false;
  char how[64];
  (void)snprintf(how, sizeof how, "with allocation %d refused", (int)place);
  plugin_check_at("%s, %s", p->label, how);
  nd4c_error_clear();
  (void)arm(place);
  nd4c_status status = nd4c_context_create(&options, &context);
  status = status == ND4C_OK ? plugin_case_inputs(p, PLUGIN_CONTIGUOUS, context, inputs, &differs) : status;
  status = status == ND4C_OK ? plugin_case_call(p, inputs, context, got) : status;
  const bool hit = disarm();
  if (status == ND4C_OK) {
    (void)plugin_case_compare(round->check, p, round->host, got, how);
  } else {
    (void)plugin_check_that(round->check, nd4c_error_message()[0] != '\0', "%s, %s: %s without a text", p->label, how,
                            nd4c_status_name(status));
    (void)plugin_check_that(round->check, hit || plugin_declined(status), "%s, %s: %s, though nothing was refused",
                            p->label, how, nd4c_status_name(status));
  }
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
  plugin_arrays_release(got, SELFTEST_OUTPUTS);
  (void)nd4c_context_destroy(context);
  return hit;
}

static void compute_faults(plugin_round *round, const plugin_case *p) {
  int32_t *total = round->user, place = 1;
  while (place <= PLACES && compute_refused(round, p, place)) {
    place++;
  }
  *total += place - 1;
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL}, *got[SELFTEST_OUTPUTS] = {NULL};
  bool differs = false;
  nd4c_status status = plugin_case_inputs(p, PLUGIN_CONTIGUOUS, round->context, inputs, &differs);
  status = status == ND4C_OK ? plugin_case_call(p, inputs, round->context, got) : status;
  if (!plugin_declined(status) &&
      plugin_check_status(round->check, status, "%s behind refused allocations", p->label)) {
    (void)plugin_case_compare(round->check, p, round->host, got, "behind refused allocations");
  }
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
  plugin_arrays_release(got, SELFTEST_OUTPUTS);
}

void plugin_section_faults(plugin_check *check) {
  static nd4c_host table;
  int32_t total = 0;
  real = nd4c_plugin_get_host();
  table = *real;
  table.allocate = refusing_allocate;
  table.allocate_pages = refusing_pages;
  table.allocate_buffer = refusing_buffer;
  static nd4c_host_device_memory device_memory;
  device_memory = *real->device_memory;
  device_memory.count = refusing_count;
  device_memory.allocate = refusing_device;
  table.device_memory = &device_memory;
  if (plugin_check_status(check, nd4c_plugin_set_host(&table), "a host table that refuses memory")) {
    (void)plugin_cases_each(check, PLUGIN_EAGER, FAULT_CASES, compute_faults, &total);
    plugin_check_note("%d allocations of the plug-in's were refused", (int)total);
  }
}

/* -- exit ---------------------------------------------------------------------------------------------------------- */

/* Submits and ends: what is under way must neither hold the process nor fail in it. The parent process sees how it
 * ends. */
void plugin_section_exit(plugin_check *check) {
  plugin_targets targets;
  nd4c_context *context = NULL;
  if (plugin_targets_find(check, &targets)) {
    for (int32_t i = 0; i < targets.count; i++) {
      nd4c_array *one = NULL, *sum = NULL;
      const int64_t size = 100000;
      const nd4c_op_info *add = NULL;
      nd4c_status status = plugin_target_enter(&targets.items[i], &context);
      status = status == ND4C_OK ? nd4c_op_find("add", &add) : status;
      status =
          status == ND4C_OK ? nd4c_array_full(ND4C_FLOAT32, 1, &size, 1, nd4c_context_device(context), &one) : status;
      plugin_check_at("ending the process with work under way on %s", targets.items[i].device);
      for (int32_t k = 0; k < PENDING && status == ND4C_OK; k++) {
        const nd4c_array *inputs[] = {one, one};
        nd4c_array_release(sum);
        sum = NULL;
        status = nd4c_op_call(context, add->op, inputs, 2, NULL, 0, &sum, 1);
      }
      (void)plugin_check_status(check, plugin_declined(status) ? ND4C_OK : status, "additions on %s",
                                targets.items[i].device);
    }
  }
  plugin_targets_free(&targets);
}
