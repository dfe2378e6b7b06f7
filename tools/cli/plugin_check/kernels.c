/* Section `kernels`: kernels for the plug-in's own devices, called by their tables, with guards behind the scratch that
 * they ask for. Operands are cases of `nd4c selftest`, results are compared with the reference's. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "direct.h"

enum { GUARD = 256, GUARD_BYTE = 0x5b, CASES = 2, REASON = 512, ALIGNMENT = 64, MOST_SCRATCH = 1 << 28 };

/* One call, with what it points to. */
typedef struct job {
  plugin_direct *d;
  const nd4c_kernel *kernel;
  const plugin_case *p;
  nd4c_context *host;
  nd4c_stream stream;
  nd4c_call call;
  nd4c_tensor operands[SELFTEST_INPUTS + SELFTEST_OUTPUTS]; /* inputs, then outputs */
  int64_t strides[SELFTEST_INPUTS + SELFTEST_OUTPUTS][SELFTEST_RANK];
  nd4c_array *inputs[SELFTEST_INPUTS];
  nd4c_attr_value attrs[SELFTEST_ATTRS];
  unsigned char *scratch; /* of the host's, with guards on both sides */
  int64_t scratch_bytes;
} job;

typedef struct tally {
  int32_t computed, declined, scratch;
  int64_t points;
} tally;

/* -- operands ------------------------------------------------------------------------------------------------------ */

static bool describe(job *j, nd4c_tensor *t, const nd4c_array *array, int64_t *strides) {
  *t = (nd4c_tensor){.dtype = array != NULL ? nd4c_array_dtype(array) : ND4C_DTYPE_NONE};
  if (array == NULL) {
    return true;
  }
  t->rank = nd4c_array_rank(array);
  t->flags = ND4C_TENSOR_CONTIGUOUS;
  t->layout = ND4C_LAYOUT_STRIDED;
  t->shape = nd4c_array_shape(array);
  t->strides = strides;
  t->size = nd4c_array_size(array);
  int64_t step = 1;
  for (int32_t axis = t->rank - 1; axis >= 0; axis--) {
    strides[axis] = step;
    step *= t->shape[axis];
  }
  (void)j;
  return t->size > 0 && t->rank <= SELFTEST_RANK;
}

static int64_t bytes_of(const nd4c_tensor *t) {
  return t->size * nd4c_dtype_size(t->dtype);
}

/* Gives an operand its memory, filled from `array`, or left as it is. The bytes sent live as long as the process. */
static bool place(job *j, nd4c_tensor *t, const nd4c_array *array) {
  plugin_direct *d = j->d;
  const int64_t bytes = bytes_of(t);
  if (t->dtype == ND4C_DTYPE_NONE) {
    return true;
  }
  if (!plugin_direct_status(d, plugin_direct_buffer(d, bytes, &t->buffer), "allocate")) {
    return false;
  }
  t->data = d->about.addressable ? d->ops->buffers->address(d->device, t->buffer) : NULL;
  void *sent = array != NULL ? malloc((size_t)bytes) : NULL;
  return array == NULL ||
         (plugin_check_that(d->check, sent != NULL, "no memory") &&
          plugin_check_status(d->check, nd4c_array_read(array, sent, (size_t)bytes), "a case's input") &&
          plugin_direct_status(d, d->ops->copy_from_host(d->device, j->stream, t->buffer, 0, sent, bytes),
                               "copy_from_host") &&
          plugin_direct_wait(d, j->stream, "a copy"));
}

static bool set_attrs(job *j) {
  const nd4c_op_info *op = j->p->c->op;
  bool known = op->attr_count <= SELFTEST_ATTRS;
  for (int32_t i = 0; known && i < op->attr_count; i++) {
    j->attrs[i] = op->attrs[i].preset;
    for (int32_t k = 0; k < j->p->c->attr_count; k++) {
      if (strcmp(j->p->c->attrs[k].name, op->attrs[i].name) == 0) {
        known = j->p->c->attrs[k].value.kind == op->attrs[i].preset.kind;
        j->attrs[i] = j->p->c->attrs[k].value;
      }
    }
  }
  return known;
}

/* False: the case cannot be put so. */
static bool make_call(job *j) {
  const selftest_case *c = j->p->c;
  bool differs = false, possible = set_attrs(j);
  possible = possible && plugin_case_inputs(j->p, PLUGIN_CONTIGUOUS, j->host, j->inputs, &differs) == ND4C_OK;
  for (int32_t i = 0; i < c->input_count && possible; i++) {
    possible = describe(j, &j->operands[i], j->inputs[i], j->strides[i]);
  }
  for (int32_t i = 0; i < c->op->output_count && possible; i++) {
    const int32_t at = SELFTEST_INPUTS + i;
    possible = describe(j, &j->operands[at], j->p->wanted[i], j->strides[at]);
  }
  j->call = (nd4c_call){.struct_size = sizeof j->call,
                        .op = c->op,
                        .input_count = c->input_count,
                        .output_count = c->op->output_count,
                        .inputs = j->operands,
                        .outputs = &j->operands[SELFTEST_INPUTS],
                        .attrs = j->attrs,
                        .data = j->kernel->data,
                        .device = j->d->device,
                        .width = 1};
  return possible;
}

/* An op whose result's shape depends on data is none for graphs, and is called in another way. */
static bool has_fixed_shape(const plugin_case *p) {
  nd4c_graph *graph = NULL;
  nd4c_value values[SELFTEST_INPUTS], results[SELFTEST_OUTPUTS];
  char name[16];
  nd4c_status status = nd4c_graph_create(&graph);
  for (int32_t i = 0; i < p->c->input_count && status == ND4C_OK; i++) {
    const selftest_input *input = &p->c->inputs[i];
    values[i] = ND4C_VALUE_NONE;
    (void)snprintf(name, sizeof name, "x%d", (int)i);
    if (input->dtype != ND4C_DTYPE_NONE) {
      status =
          nd4c_graph_input(graph, name, input->varies ? p->dtype : input->dtype, input->rank, input->shape, &values[i]);
    }
  }
  status = status == ND4C_OK ? nd4c_graph_op(graph, p->c->op->op, values, p->c->input_count, p->c->attrs,
                                             p->c->attr_count, NULL, results, p->c->op->output_count)
                             : status;
  nd4c_graph_destroy(graph);
  nd4c_error_clear();
  return status == ND4C_OK;
}

/* -- a run --------------------------------------------------------------------------------------------------------- */

static unsigned char guard[GUARD], guard_back[GUARD]; /* as long as the process: copies may be late */

static bool read_outputs(job *j, const char *how) {
  plugin_direct *d = j->d;
  nd4c_array *got[SELFTEST_OUTPUTS] = {NULL};
  bool good = true;
  for (int32_t i = 0; i < j->call.output_count && good; i++) {
    const nd4c_tensor *y = &j->call.outputs[i];
    void *bytes = malloc((size_t)bytes_of(y));
    good =
        plugin_check_that(d->check, bytes != NULL, "no memory") &&
        plugin_direct_status(d, d->ops->copy_to_host(d->device, j->stream, bytes, y->buffer, 0, bytes_of(y)),
                             "copy_to_host") &&
        plugin_direct_wait(d, j->stream, j->p->label) &&
        plugin_check_status(
            d->check, nd4c_array_from_data(y->dtype, y->rank, y->shape, bytes, nd4c_context_device(j->host), &got[i]),
            "%s", j->p->label);
  }
  good = good && plugin_case_compare(d->check, j->p, j->host, got, how);
  plugin_arrays_release(got, SELFTEST_OUTPUTS);
  return good;
}

/* Host memory: ALIGNMENT guards before, GUARD behind. */
static bool give_scratch(job *j) {
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

static void check_scratch(job *j) {
  bool kept = true;
  for (int64_t i = 0; j->scratch != NULL && i < GUARD; i++) {
    kept = kept && j->scratch[ALIGNMENT + j->scratch_bytes + i] == GUARD_BYTE &&
           (i >= ALIGNMENT || j->scratch[i] == GUARD_BYTE);
  }
  (void)plugin_check_that(j->d->check, kept, "%s: %s wrote beside the %" PRId64 " bytes of scratch that it asked for",
                          j->p->label, j->kernel->name, j->scratch_bytes);
}

/* In a buffer that is longer than what the call is told. */
static void run_in(job *j, int64_t bytes, tally *t) {
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
    t->computed += read_outputs(j, "called by its table");
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

static void run_prepared(job *j, tally *t) {
  const nd4c_kernel *k = j->kernel;
  nd4c_scratch_range range = {0, 0};
  bool good = give_scratch(j);
  if (good && k->device_scratch != NULL) {
    good = plugin_direct_may_fail(j->d, k->device_scratch(&j->call, INT64_MAX, &range), k->name);
    (void)plugin_check_that(j->d->check, !good || (range.least >= 0 && range.least <= range.best),
                            "%s: %s asks for %" PRId64 " to %" PRId64 " bytes of scratch", j->p->label, k->name,
                            range.least, range.best);
  }
  for (int32_t i = 0; i < j->p->c->input_count && good; i++) {
    good = place(j, &j->operands[i], j->inputs[i]);
  }
  for (int32_t i = 0; i < j->call.output_count && good; i++) {
    good = place(j, &j->operands[SELFTEST_INPUTS + i], NULL);
  }
  if (good && range.least >= 0 && range.best < MOST_SCRATCH) {
    run_in(j, range.best, t);
    if (range.least < range.best) {
      run_in(j, range.least, t);
    }
    check_scratch(j);
  }
  for (int32_t i = 0; i < SELFTEST_INPUTS + SELFTEST_OUTPUTS; i++) {
    if (j->operands[i].buffer != NULL) {
      j->d->ops->buffers->free(j->d->device, j->operands[i].buffer);
    }
  }
  free(j->scratch);
}

static void run_job(job *j, tally *t) {
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
  bool possible = p.dtype != ND4C_DTYPE_NONE && c->op->version == k->op_version && has_fixed_shape(&p) &&
                  plugin_case_wanted(&p, host) == ND4C_OK;
  job *j = possible ? calloc(1, sizeof *j) : NULL;
  if (j != NULL) {
    *j = (job){.d = d, .kernel = k, .p = &p, .host = host, .stream = stream};
    possible = make_call(j);
    if (possible) {
      run_job(j, t);
    }
    plugin_arrays_release(j->inputs, SELFTEST_INPUTS);
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
