/* Section `own`: the plug-in's own ops. Their reference kernels on cpu:0 compute samples that inference accepts; other
 * sections compare the results of devices and engines on the same samples (cases.c). The section table of
 * plugin_check.c lists it. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

enum { FIRST = 0x5b, SECOND = 0xa4, THREADS = 2, ROUNDS = 16, REASON = 256 };

/* The op and dtype at work. */
typedef struct state {
  plugin_check *check;
  nd4c_context *host;
  const nd4c_op_info *op;
  nd4c_dtype dtype;
  int32_t computed, filled; /* samples, and those of them with elements in a result */
  bool threaded;            /* this op was called by several threads */
  char reason[REASON];      /* of the latest refusal */
} state;

/* -- one sample ---------------------------------------------------------------------------------------------------- */

/* A graph infers the same dtype and shape as the call. */
static void check_inference(const state *s, const plugin_case *p) {
  nd4c_graph *graph = NULL;
  nd4c_value values[SELFTEST_INPUTS], results[SELFTEST_OUTPUTS];
  char name[16];
  nd4c_status status = nd4c_graph_create(&graph);
  for (int32_t i = 0; i < p->c->input_count && status == ND4C_OK; i++) {
    const selftest_input *input = &p->c->inputs[i];
    (void)snprintf(name, sizeof name, "x%d", (int)i);
    status =
        nd4c_graph_input(graph, name, input->varies ? p->dtype : input->dtype, input->rank, input->shape, &values[i]);
  }
  status = status == ND4C_OK ? nd4c_graph_op(graph, p->c->op->op, values, p->c->input_count, p->c->attrs,
                                             p->c->attr_count, NULL, results, p->c->op->output_count)
                             : status;
  /* An op whose shape depends on data is refused in graphs. */
  for (int32_t i = 0; i < p->c->op->output_count && status == ND4C_OK; i++) {
    nd4c_dtype dtype = ND4C_DTYPE_NONE;
    int32_t rank = 0;
    const int64_t *shape = NULL;
    const nd4c_array *y = p->wanted[i];
    status = nd4c_graph_value_info(graph, results[i], &dtype, &rank, &shape);
    (void)plugin_check_that(s->check,
                            status == ND4C_OK && dtype == nd4c_array_dtype(y) && rank == nd4c_array_rank(y) &&
                                memcmp(shape, nd4c_array_shape(y), (size_t)rank * sizeof *shape) == 0,
                            "%s: output %d of a call has another dtype or shape than inference told a graph", p->label,
                            (int)i);
  }
  nd4c_graph_destroy(graph);
}

/* Computes into arrays that hold a filler. large[i]: the array around output i, with the bytes left beside it. */
static nd4c_status compute_into(const state *s, const plugin_case *p, unsigned char filler, plugin_layout layout,
                                nd4c_array **large, nd4c_array **views) {
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL};
  bool differs = false;
  nd4c_status status = plugin_case_inputs(p, layout, s->host, inputs, &differs);
  for (int32_t i = 0; i < p->c->op->output_count && status == ND4C_OK; i++) {
    status = plugin_output_make(p->wanted[i], nd4c_context_device(s->host), filler,
                                layout == PLUGIN_SPREAD ? PLUGIN_EVERY_SECOND : PLUGIN_PART, &large[i], &views[i]);
  }
  status = status == ND4C_OK ? plugin_case_call(p, inputs, s->host, views) : status;
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
  return status;
}

/* The reference writes each element that inference announces and nothing beside it, whatever the filler. */
static void check_outputs(const state *s, const plugin_case *p, unsigned char filler, plugin_layout layout) {
  nd4c_array *large[SELFTEST_OUTPUTS] = {NULL}, *views[SELFTEST_OUTPUTS] = {NULL};
  char how[96];
  (void)snprintf(how, sizeof how, "inputs %s, into an array that holds 0x%02x", plugin_layout_names[layout], filler);
  const nd4c_status status = compute_into(s, p, filler, layout, large, views);
  if (plugin_check_status(s->check, status, "%s, %s", p->label, how)) {
    (void)plugin_case_compare(s->check, p, s->host, views, how);
    for (int32_t i = 0; i < p->c->op->output_count; i++) {
      (void)plugin_check_that(s->check, plugin_output_beside(large[i], views[i], filler) == 0,
                              "%s, %s: something beside output %d was written: inference tells another shape", p->label,
                              how, (int)i);
    }
  }
  plugin_arrays_release(views, SELFTEST_OUTPUTS);
  plugin_arrays_release(large, SELFTEST_OUTPUTS);
}

/* -- threads ------------------------------------------------------------------------------------------------------- */

/* A thread's findings are reported after it has ended: only one thread writes a section's lines. */
typedef struct worker {
  const plugin_case *p;
  char text[REASON];
} worker;

static void *work(void *user) {
  worker *w = user;
  nd4c_context_options options = {.struct_size = sizeof options};
  nd4c_context *host = NULL;
  nd4c_status status = nd4c_device_find("cpu:0", &options.device);
  status = status == ND4C_OK ? nd4c_context_create(&options, &host) : status;
  for (int32_t i = 0; i < ROUNDS && status == ND4C_OK && w->text[0] == '\0'; i++) {
    nd4c_array *inputs[SELFTEST_INPUTS] = {NULL}, *got[SELFTEST_OUTPUTS] = {NULL};
    bool differs = false;
    status = plugin_case_inputs(w->p, PLUGIN_CONTIGUOUS, host, inputs, &differs);
    status = status == ND4C_OK ? plugin_case_call(w->p, inputs, host, got) : status;
    for (int32_t k = 0; k < w->p->c->op->output_count && status == ND4C_OK && w->text[0] == '\0'; k++) {
      (void)selftest_difference(host, w->p->wanted[k], got[k], w->text, sizeof w->text);
    }
    plugin_arrays_release(inputs, SELFTEST_INPUTS);
    plugin_arrays_release(got, SELFTEST_OUTPUTS);
  }
  if (status != ND4C_OK) {
    (void)snprintf(w->text, sizeof w->text, "%.250s", nd4c_error_message());
  }
  (void)nd4c_context_destroy(host);
  return NULL;
}

static void check_threads(const state *s, const plugin_case *p) {
  plugin_pair pair;
  const bool paired = plugin_pair_make(p, s->host, &pair);
  worker workers[THREADS] = {{.p = paired ? &pair.cases[0].p : p}, {.p = paired ? &pair.cases[1].p : p}};
  pthread_t threads[THREADS];
  int32_t started = 0;
  while (started < THREADS && pthread_create(&threads[started], NULL, work, &workers[started]) == 0) {
    started++;
  }
  (void)plugin_check_that(s->check, started == THREADS, "no thread can be started");
  for (int32_t i = 0; i < started; i++) {
    (void)pthread_join(threads[i], NULL);
    (void)plugin_check_that(s->check, workers[i].text[0] == '\0', "%s, %d threads at once: %s", p->label, THREADS,
                            workers[i].text);
  }
  if (paired) {
    plugin_pair_clear(&pair);
  }
}

/* -- refusals ------------------------------------------------------------------------------------------------------ */

/* Inference must refuse with the code of an argument error and a text that names the op. */
static void check_refusal(state *s, nd4c_status status, const char *what) {
  const char *text = nd4c_error_message();
  (void)plugin_check_that(s->check, status >= 200 && status < 300,
                          "%s, %s: refused with %s (%d), expected a code of 200 to 299: %s", s->op->name, what,
                          nd4c_status_name(status), (int)status, text);
  (void)plugin_check_that(s->check, text[0] != '\0' && strstr(text, "failed without a text") == NULL,
                          "%s, %s: refused with %s and without a text", s->op->name, what, nd4c_status_name(status));
  /* This is nd4c's text if inference accepts a sample and answers nonsense. */
  (void)plugin_check_that(s->check,
                          strstr(text, " says that result ") == NULL && strstr(text, "the result would ") == NULL,
                          "%s, %s: inference answers nonsense: %s", s->op->name, what, text);
  (void)plugin_check_that(s->check, text[0] == '\0' || strstr(text, s->op->name) != NULL,
                          "%s, %s: the text does not name the op: %s", s->op->name, what, text);
}

/* Calls that no op of the schema can take. */
static void check_counts(state *s, const plugin_case *p) {
  const nd4c_op_info *op = s->op;
  nd4c_array *inputs[SELFTEST_INPUTS + 1] = {NULL}, *outputs[SELFTEST_OUTPUTS] = {NULL};
  bool differs = false;
  const int32_t count = p->c->input_count;
  const bool variadic = op->input_count > 0 && op->inputs[op->input_count - 1].variadic;
  if (plugin_case_inputs(p, PLUGIN_CONTIGUOUS, s->host, inputs, &differs) == ND4C_OK && count > 0) {
    nd4c_error_clear();
    inputs[count] = inputs[0];
    if (!op->inputs[0].optional) {
      check_refusal(s, nd4c_op_call(s->host, op->op, NULL, 0, p->c->attrs, p->c->attr_count, outputs, op->output_count),
                    "called without inputs");
    }
    if (!variadic && count == op->input_count) {
      nd4c_error_clear();
      check_refusal(s,
                    nd4c_op_call(s->host, op->op, (const nd4c_array *const *)inputs, count + 1, p->c->attrs,
                                 p->c->attr_count, outputs, op->output_count),
                    "called with an input too many");
    }
    inputs[count] = NULL;
  }
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
}

/* -- samples ------------------------------------------------------------------------------------------------------- */

static bool try_sample(void *user, const selftest_case *c) {
  state *s = user;
  plugin_case p = {.c = c, .dtype = s->dtype};
  (void)snprintf(p.label, sizeof p.label, "%s of %s", s->op->name, nd4c_dtype_name(s->dtype));
  plugin_check_at("%s: a sample with %d inputs", p.label, (int)c->input_count);
  nd4c_error_clear();
  const nd4c_status status = plugin_case_wanted(&p, s->host);
  if (status != ND4C_OK) {
    check_refusal(s, status, "a sample that inference does not accept");
    (void)snprintf(s->reason, sizeof s->reason, "%.250s", nd4c_error_message());
  } else {
    bool filled = false;
    for (int32_t i = 0; i < s->op->output_count; i++) {
      filled = filled || nd4c_array_size(p.wanted[i]) > 0;
    }
    s->computed++;
    s->filled += filled;
    check_inference(s, &p);
    check_outputs(s, &p, FIRST, PLUGIN_CONTIGUOUS);
    for (plugin_layout layout = PLUGIN_OFFSET; layout < PLUGIN_LAYOUTS; layout++) {
      check_outputs(s, &p, SECOND, layout);
    }
    if (!s->threaded) {
      s->threaded = true;
      check_threads(s, &p);
      check_counts(s, &p);
    }
  }
  plugin_arrays_release(p.wanted, SELFTEST_OUTPUTS);
  return status == ND4C_OK;
}

/* A dtype that the schema does not list. */
static void check_dtype(state *s) {
  for (int32_t i = 0; i < PLUGIN_DTYPES && s->op->input_count > 0; i++) {
    if ((s->op->dtypes & ND4C_DTYPE_BIT(plugin_dtypes[i])) == 0) {
      const selftest_input input = {.varies = true, .rank = 0, .count = 1, .reals = (double[]){1}};
      nd4c_array *inputs[SELFTEST_INPUTS] = {NULL}, *outputs[SELFTEST_OUTPUTS] = {NULL};
      const int32_t count = s->op->input_count < SELFTEST_INPUTS ? s->op->input_count : SELFTEST_INPUTS;
      nd4c_status status = selftest_array(&input, plugin_dtypes[i], nd4c_context_device(s->host), &inputs[0]);
      for (int32_t k = 1; k < count; k++) {
        inputs[k] = inputs[0];
      }
      nd4c_error_clear();
      plugin_check_at("%s of %s, which it does not take", s->op->name, nd4c_dtype_name(plugin_dtypes[i]));
      if (status == ND4C_OK) {
        check_refusal(s,
                      nd4c_op_call(s->host, s->op->op, (const nd4c_array *const *)inputs, count, NULL, 0, outputs,
                                   s->op->output_count),
                      "a dtype that its schema does not list");
      }
      plugin_arrays_release(outputs, SELFTEST_OUTPUTS);
      plugin_arrays_release(inputs, 1);
      return;
    }
  }
}

static void check_op(state *s, const nd4c_op_info *op) {
  s->op = op;
  s->threaded = false;
  const int32_t before = s->computed, filled = s->filled;
  for (int32_t i = 0; i < PLUGIN_DTYPES; i++) {
    if ((op->dtypes & ND4C_DTYPE_BIT(plugin_dtypes[i])) != 0) {
      const int32_t of_dtype = s->computed;
      s->dtype = plugin_dtypes[i];
      (void)plugin_samples_each(op, try_sample, s);
      if (s->computed == of_dtype) {
        plugin_check_note("%s of %s was not checked: inference accepts none of the samples; the last one: %s", op->name,
                          nd4c_dtype_name(s->dtype), s->reason);
      }
    }
  }
  check_dtype(s);
  plugin_check_note("%s: %d samples", op->name, (int)(s->computed - before));
  if (s->computed > before && s->filled == filled) {
    plugin_check_note("%s: no result of these samples has an element: what its kernels compute was not checked",
                      op->name);
  }
}

/* How many ops there are of its own, and all of them with a name that is asked for. */
static void check_ops(state *s, const char *provider) {
  int32_t all = 0, asked = 0;
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    const nd4c_op_info *op = nd4c_op_at(i);
    if (strcmp(op->provider, provider) == 0) {
      all++;
      if (plugin_is_asked(s->check, op->name)) {
        asked++;
        check_op(s, op);
      }
    }
  }
  if (all == 0) {
    plugin_check_note("it brings no ops of its own");
  } else if (asked > 0) {
    (void)plugin_check_that(s->check, s->computed > 0,
                            "nothing was computed: inference of its own ops accepts none of the samples: %s",
                            s->reason);
  }
}

void plugin_section_own(plugin_check *check) {
  state s = {.check = check};
  plugin_targets targets;
  nd4c_context_options options = {.struct_size = sizeof options};
  if (plugin_targets_find(check, &targets) &&
      plugin_check_status(check, nd4c_device_find("cpu:0", &options.device), "cpu:0") &&
      plugin_check_status(check, nd4c_context_create(&options, &s.host), "a context of cpu:0")) {
    check_ops(&s, targets.name);
    (void)nd4c_context_destroy(s.host);
  }
  plugin_targets_free(&targets);
}
