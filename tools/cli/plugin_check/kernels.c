/* Section `kernels`: kernels for the plug-in's own devices, called by their tables, with guards behind the scratch that
 * they ask for. Operands are cases of `nd4c selftest`, results are compared with the reference's. The section table of
 * plugin_check.c lists it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "direct.h"

enum { GUARD = 256, GUARD_BYTE = 0x5b, CASES = 2, REASON = 512, ALIGNMENT = 64, MOST_SCRATCH = 1 << 28 };

typedef struct tally {
  int32_t computed, declined, scratch;
  int64_t points;
} tally;

/* -- a run --------------------------------------------------------------------------------------------------------- */

static unsigned char guard[GUARD], guard_back[GUARD]; /* as long as the process: copies may be late */

/* Host memory: ALIGNMENT guards before, GUARD behind. */
static bool give_scratch(plugin_job *j) {
  j->scratch_bytes = j->kernel->scratch_bytes != NULL ? j->kernel->scratch_bytes(&j->call) : 0;
  if (!plugin_check_that(j->d->check, j->scratch_bytes >= 0 && j->scratch_bytes < MOST_SCRATCH,
                         "%s: scratch_bytes of %s is %" PRId64, j->p->label, j->kernel->name, j->scratch_bytes)) {
    return false;
  }
  const size_t whole = ((size_t)j->scratch_bytes + ALIGNMENT + GUARD + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  j->scratch = j->scratch_bytes > 0 ? aligned_alloc(ALIGNMENT, whole) : NULL;
  if (j->scratch != NULL) {
    memset(j->scratch, GUARD_BYTE, whole);
    j->call.scratch = j->scratch + ALIGNMENT;
  }
  return true;
}

static void check_scratch(plugin_job *j) {
  bool kept = true;
  for (int64_t i = 0; j->scratch != NULL && i < GUARD; i++) {
    kept = kept && j->scratch[ALIGNMENT + j->scratch_bytes + i] == GUARD_BYTE &&
           (i >= ALIGNMENT || j->scratch[i] == GUARD_BYTE);
  }
  (void)plugin_check_that(j->d->check, kept, "%s: %s wrote beside the %" PRId64 " bytes of scratch that it asked for",
                          j->p->label, j->kernel->name, j->scratch_bytes);
}

/* Runs the job with a scratch buffer that is longer than the call is told: a guard lies behind it. */
static void run_in(plugin_job *j, int64_t bytes, tally *t) {
  plugin_direct *d = j->d;
  nd4c_buffer scratch = NULL;
  if (bytes > 0) {
    if (!plugin_direct_may_fail(d, plugin_direct_buffer(d, bytes + GUARD, &scratch), "allocate for scratch") ||
        !plugin_direct_status(d, d->ops->copy_from_host(d->device, j->stream, scratch, bytes, guard, GUARD),
                              "copy_from_host") ||
        !plugin_direct_wait(d, j->stream, "a copy")) {
      return;
    }
    t->scratch++;
  }
  j->call.scratch_buffer = scratch;
  j->call.scratch_buffer_bytes = bytes;
  j->call.stream = j->stream;
  j->call.point = ++t->points;
  const nd4c_status status = j->kernel->run(&j->call);
  const bool refused = status >= 200 && status < 300;
  const bool good =
      refused ? plugin_direct_may_fail(d, status, j->p->label) : plugin_direct_status(d, status, j->p->label);
  if (good && plugin_direct_wait(d, j->stream, j->p->label)) {
    char text[REASON] = "";
    const char *differs = NULL;
    if (plugin_job_read(j, text, sizeof text, &differs)) {
      t->computed++;
      (void)plugin_check_that(d->check, differs == NULL, "%s, %s called by its table: %s", j->p->label, j->kernel->name,
                              text);
    }
  }
  if (scratch != NULL &&
      plugin_direct_status(d, d->ops->copy_to_host(d->device, j->stream, guard_back, scratch, bytes, GUARD),
                           "copy_to_host") &&
      plugin_direct_wait(d, j->stream, "a copy")) {
    (void)plugin_check_that(d->check, memcmp(guard, guard_back, GUARD) == 0,
                            "%s: %s wrote beyond the %" PRId64 " bytes of the device's scratch that it was given",
                            j->p->label, j->kernel->name, bytes);
    d->ops->buffers->free(d->device, scratch);
  }
}

static void run_prepared(plugin_job *j, tally *t) {
  const nd4c_kernel *k = j->kernel;
  nd4c_scratch_range range = {0, 0};
  bool good = give_scratch(j);
  if (good && ND4C_HAS_FIELD(k, device_scratch) && k->device_scratch != NULL) {
    good = plugin_direct_may_fail(j->d, k->device_scratch(&j->call, INT64_MAX, &range), k->name);
    (void)plugin_check_that(j->d->check, !good || (range.least >= 0 && range.least <= range.best),
                            "%s: %s asks for %" PRId64 " to %" PRId64 " bytes of scratch", j->p->label, k->name,
                            range.least, range.best);
  }
  good = good && plugin_job_place(j);
  if (good && range.least >= 0 && range.best < MOST_SCRATCH) {
    run_in(j, range.best, t);
    if (range.least < range.best) {
      run_in(j, range.least, t);
    }
    check_scratch(j);
  }
  free(j->scratch);
}

static void run_job(plugin_job *j, tally *t) {
  const nd4c_kernel *k = j->kernel;
  char reason[REASON] = "";
  plugin_check_at("%s by its table, kernel %s", j->p->label, k->name);
  nd4c_error_clear();
  if (k->usable != NULL && !k->usable(&j->call, reason, sizeof reason)) {
    (void)plugin_check_that(j->d->check, reason[0] != '\0', "%s: %s declines without a reason", j->p->label, k->name);
    t->declined++;
    return;
  }
  j->call.stream = j->stream;
  if (k->prepare == NULL || plugin_direct_may_fail(j->d, k->prepare(&j->call, &j->call.state), k->name)) {
    run_prepared(j, t);
    if (k->prepare != NULL && k->unprepare != NULL) {
      k->unprepare(j->call.state);
    }
  }
}

/* -- cases --------------------------------------------------------------------------------------------------------- */

static nd4c_dtype first_dtype(const nd4c_kernel *k, const nd4c_op_info *op) {
  for (int32_t i = 0; i < PLUGIN_DTYPES; i++) {
    if ((k->dtypes & op->dtypes & ND4C_DTYPE_BIT(plugin_dtypes[i])) != 0) {
      return plugin_dtypes[i];
    }
  }
  return ND4C_DTYPE_NONE;
}

/* Whether the case was one. */
static bool run_case(plugin_direct *d, const nd4c_kernel *k, const selftest_case *c, nd4c_context *host,
                     nd4c_stream stream, tally *t) {
  plugin_case p = {.c = c, .dtype = first_dtype(k, c->op)};
  (void)snprintf(p.label, sizeof p.label, "%s of %s on %s", c->op->name, nd4c_dtype_name(p.dtype), d->name);
  bool possible = p.dtype != ND4C_DTYPE_NONE && c->op->version == k->op_version && plugin_case_is_fixed(&p) &&
                  plugin_case_wanted(&p, host) == ND4C_OK;
  plugin_job *j = possible ? calloc(1, sizeof *j) : NULL;
  if (j != NULL) {
    *j = (plugin_job){.d = d, .kernel = k, .p = &p, .host = host, .stream = stream};
    possible = plugin_job_make(j);
    if (possible) {
      run_job(j, t);
    }
    plugin_job_free(j);
  }
  free(j);
  plugin_arrays_release(p.wanted, SELFTEST_OUTPUTS);
  return possible;
}

static void run_kernel(plugin_direct *d, const nd4c_kernel *k, nd4c_context *host, nd4c_stream stream, tally *t) {
  const char *position = selftest_cases;
  nd4c_status status = ND4C_OK;
  selftest_case c;
  int32_t done = 0;
  while (done < CASES && plugin_is_asked(d->check, k->op) && selftest_case_next(&position, &c, &status)) {
    if (strcmp(c.op->name, k->op) == 0) {
      done += run_case(d, k, &c, host, stream, t);
    }
    selftest_case_clear(&c);
  }
}

static void run_all(plugin_direct *d, nd4c_context *host, nd4c_stream stream, tally *t) {
  const nd4c_provider *provider = plugin_direct_provider();
  for (int32_t i = 0; i < provider->contribution_count; i++) {
    const nd4c_contribution *of = provider->contributions[i];
    const bool own = of->backend == NULL || strcmp(of->backend, provider->name) == 0;
    char reason[REASON] = "";
    if (!own || (of->usable != NULL && !of->usable(of->data, reason, sizeof reason))) {
      continue;
    }
    for (int32_t f = 0; f < of->family_count; f++) {
      for (const nd4c_kernel *const *k = of->families[f]; *k != NULL; k++) {
        run_kernel(d, *k, host, stream, t);
      }
    }
  }
}

static void check_kernels(plugin_direct *d, plugin_direct *other) {
  nd4c_context_options options = {.struct_size = sizeof options};
  nd4c_context *host = NULL;
  nd4c_stream stream = NULL;
  tally t = {.computed = 0};
  (void)other;
  memset(guard, GUARD_BYTE, GUARD);
  if (!plugin_check_status(d->check, nd4c_device_find("cpu:0", &options.device), "cpu:0") ||
      !plugin_check_status(d->check, nd4c_context_create(&options, &host), "a context of cpu:0") ||
      !plugin_direct_stream(d, &stream)) {
    return;
  }
  run_all(d, host, stream, &t);
  plugin_direct_ask(d);
  plugin_check_note("%s: %d calls computed, %d of them in scratch of the device's, %d declined", d->name,
                    (int)t.computed, (int)t.scratch, (int)t.declined);
  if (d->about.asynchronous) {
    d->ops->stream_destroy(d->device, stream);
  }
  (void)nd4c_context_destroy(host);
}

void plugin_section_kernels(plugin_check *check) {
  plugin_direct_each(check, check_kernels);
}
