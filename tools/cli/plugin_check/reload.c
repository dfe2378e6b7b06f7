/* Section `loads`: bytes of executables (whole, cut, longer, changed, none), given to `load` as a file that anyone may
 * have made. Bytes that are cut or longer must be refused, or compute the same. A changed bit may be another
 * executable: there a crash alone is a failure. Only compilers for the plug-in's own devices are checked.
 * plugin_check.c lists it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "direct.h"

enum { CASES = 6, FLIPS = 48, TAIL = 24, TEXT = 512, MOST_SCRATCH = 1 << 28 };

/* A case's call as a segment of one node, and what is made of it. */
typedef struct piece {
  nd4c_partition answer; /* first: the plug-in's calls come with its address */
  const nd4c_compiler *compiler;
  plugin_job *job;
  nd4c_segment segment;
  const nd4c_call *nodes[1];
  const int32_t *node_inputs[1], *node_outputs[1];
  int32_t inputs[SELFTEST_INPUTS], outputs[SELFTEST_OUTPUTS];
  bool taken;
} piece;

typedef struct sink {
  nd4c_sink sink; /* first */
  unsigned char *bytes;
  int64_t size;
} sink;

typedef struct tally {
  int32_t executables, refused, same, other;
  int64_t points;
} tally;

static nd4c_status take(nd4c_partition *answer, const int32_t *nodes, int32_t count, int64_t nanoseconds,
                        uint32_t flags) {
  (void)nanoseconds;
  (void)flags;
  ((piece *)answer)->taken = count == 1 && nodes[0] == 0;
  return ND4C_OK;
}

static nd4c_status decline(nd4c_partition *answer, int32_t node, const char *reason) {
  (void)answer;
  (void)node;
  (void)reason;
  return ND4C_OK;
}

static nd4c_status write_bytes(nd4c_sink *to, const void *bytes, int64_t size) {
  sink *s = (sink *)to;
  unsigned char *grown = realloc(s->bytes, (size_t)(s->size + size) + 1);
  if (grown == NULL) {
    return nd4c_plugin_get_host()->fail(ND4C_MEMORY, "no memory for an executable's bytes");
  }
  if (size > 0) {
    memcpy(grown + s->size, bytes, (size_t)size);
  }
  s->bytes = grown;
  s->size += size;
  return ND4C_OK;
}

/* Inputs that are left out are none of the segment's values. */
static void make_segment(piece *p) {
  const nd4c_call *call = &p->job->call;
  int32_t values = 0;
  for (int32_t i = 0; i < call->input_count; i++) {
    p->inputs[i] = call->inputs[i].dtype == ND4C_DTYPE_NONE ? -1 : values++;
  }
  p->segment = (nd4c_segment){.struct_size = sizeof p->segment, .node_count = 1, .input_count = values};
  for (int32_t i = 0; i < call->output_count; i++) {
    p->outputs[i] = values++;
  }
  p->nodes[0] = call;
  p->node_inputs[0] = p->inputs;
  p->node_outputs[0] = p->outputs;
  p->segment.nodes = p->nodes;
  p->segment.node_inputs = p->node_inputs;
  p->segment.node_outputs = p->node_outputs;
  p->segment.value_count = values;
  p->segment.output_count = call->output_count;
  p->segment.outputs = p->outputs;
  p->answer = (nd4c_partition){.struct_size = sizeof p->answer, .take = take, .decline = decline};
}

/* -- a run --------------------------------------------------------------------------------------------------------- */

/* Whether the executable ran to its end and made something; *differs as of plugin_job_read. */
static bool execute(piece *p, nd4c_executable executable, tally *t, char *text, const char **differs) {
  plugin_job *j = p->job;
  plugin_direct *d = j->d;
  nd4c_executable_info info = {.struct_size = sizeof info};
  nd4c_tensor inputs[SELFTEST_INPUTS];
  nd4c_execution run = {.struct_size = sizeof run, .device = d->device, .stream = j->stream, .width = 1};
  for (int32_t i = 0; i < j->call.input_count; i++) {
    if (p->inputs[i] >= 0) {
      inputs[run.input_count++] = j->call.inputs[i];
    }
  }
  run.inputs = inputs;
  run.outputs = j->call.outputs;
  run.output_count = j->call.output_count;
  run.point = ++t->points;
  bool good = p->compiler->describe == NULL ||
              plugin_direct_may_fail(d, p->compiler->describe(p->compiler->data, executable, &info), "describe");
  good = good && (info.flags & ND4C_EXECUTABLE_RETURNS_OUTPUTS) == 0 && info.scratch_bytes >= 0 &&
         info.scratch_bytes < MOST_SCRATCH && info.device_scratch_bytes >= 0 &&
         info.device_scratch_bytes < MOST_SCRATCH;
  run.scratch = good && info.scratch_bytes > 0 ? aligned_alloc(64, (size_t)(info.scratch_bytes + 63) / 64 * 64) : NULL;
  if (good && info.device_scratch_bytes > 0) {
    good = plugin_direct_status(d, plugin_direct_buffer(d, info.device_scratch_bytes, &run.scratch_buffer), "allocate");
    run.scratch_buffer_bytes = info.device_scratch_bytes;
  }
  good = good && plugin_direct_may_fail(d, p->compiler->execute(p->compiler->data, executable, &run), "execute");
  if (good && d->about.asynchronous) {
    nd4c_failed_range failed = {0, 0};
    nd4c_fence fence = NULL;
    good = plugin_direct_status(d, d->ops->fence_record(d->device, j->stream, &fence), "fence_record") &&
           plugin_direct_may_fail(d, d->ops->fence_wait(d->device, fence, &failed), "the work of an executable");
    d->ops->fence_destroy(d->device, fence);
  }
  free(run.scratch);
  if (run.scratch_buffer != NULL) {
    d->ops->buffers->free(d->device, run.scratch_buffer);
  }
  return good && plugin_job_read(j, text, TEXT, differs);
}

/* -- bytes --------------------------------------------------------------------------------------------------------- */

/* Loads them: refused with a text, or what it makes is looked at. strict: it must be the same. */
static void load(piece *p, const void *bytes, int64_t size, bool strict, const char *how, tally *t) {
  plugin_direct *d = p->job->d;
  nd4c_executable executable = NULL;
  char text[TEXT] = "", what[TEXT];
  const char *differs = NULL;
  /* Overwritten and freed after load returns: the plug-in must not keep pointers into it. */
  void *aligned = aligned_alloc(16, (size_t)(size + 31) / 16 * 16);
  if (aligned == NULL) {
    (void)plugin_check_that(d->check, false, "no memory");
    return;
  }
  if (size > 0) {
    memcpy(aligned, bytes, (size_t)size);
  }
  (void)snprintf(what, sizeof what, "%.200s: load of %.100s", p->job->p->label, how);
  plugin_check_at("%s", what);
  nd4c_error_clear();
  const nd4c_status status = p->compiler->load(p->compiler->data, d->device, aligned, size, &executable);
  memset(aligned, 0xa5, (size_t)size);
  free(aligned);
  if (!plugin_direct_may_fail(d, status, what)) {
    t->refused++;
    return;
  }
  if (!plugin_check_that(d->check, executable != NULL, "%s gave NULL and OK", what)) {
    return;
  }
  const bool ran = execute(p, executable, t, text, &differs);
  t->same += ran && differs == NULL;
  t->other += !ran || differs != NULL;
  (void)plugin_check_that(d->check, !strict || (ran && differs == NULL),
                          "%s: it is neither refused nor what was written: %s", what, ran ? text : "it does not run");
  p->compiler->release(p->compiler->data, executable);
}

static void load_all(piece *p, const sink *from, tally *t) {
  static const unsigned char tail[TAIL] = {1, 2, 3};
  const int64_t size = from->size, cuts[] = {size - 1, size / 2, size / 3, 8, 1};
  unsigned char *bytes = malloc((size_t)size + TAIL);
  if (bytes == NULL) {
    return;
  }
  memcpy(bytes, from->bytes, (size_t)size);
  memcpy(bytes + size, tail, TAIL);
  load(p, bytes, size, true, "the bytes that were written", t);
  load(p, bytes, size + TAIL, true, "bytes with more behind them", t);
  load(p, bytes, 0, true, "no bytes", t);
  for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
    if (cuts[i] > 0 && cuts[i] < size) {
      load(p, bytes, cuts[i], true, "bytes that were cut", t);
    }
  }
  for (int32_t i = 0; i < FLIPS; i++) {
    const int64_t at = size * i / FLIPS;
    const unsigned char bit = (unsigned char)(1U << (i % 8));
    char how[64];
    (void)snprintf(how, sizeof how, "bytes with bit %d of byte %" PRId64 " changed", (int)(i % 8), at);
    bytes[at] ^= bit;
    load(p, bytes, size, false, how, t);
    bytes[at] ^= bit;
  }
  free(bytes);
}

/* -- cases --------------------------------------------------------------------------------------------------------- */

/* Whether an executable was made of it. */
static bool compile(piece *p, tally *t) {
  plugin_direct *d = p->job->d;
  const nd4c_compile_options options = {.struct_size = sizeof options, .width = 1};
  nd4c_executable executable = NULL;
  const nd4c_compiler *c = p->compiler;
  sink to = {.sink = {.struct_size = sizeof to.sink, .write = write_bytes}};
  plugin_check_at("compiling %s by %s", p->job->p->label, c->engine);
  nd4c_error_clear();
  make_segment(p);
  if (!plugin_direct_may_fail(d, c->partition(c->data, d->device, &p->segment, &options, &p->answer), "partition") ||
      !p->taken ||
      !plugin_direct_may_fail(d, c->compile(c->data, d->device, &p->segment, &options, &executable), "compile")) {
    return false;
  }
  /* Executables that return their outputs are left to section `kept`: nothing here could take over their buffers. */
  nd4c_executable_info info = {.struct_size = sizeof info};
  const bool plain =
      c->describe == NULL || (plugin_direct_may_fail(d, c->describe(c->data, executable, &info), "describe") &&
                              (info.flags & ND4C_EXECUTABLE_RETURNS_OUTPUTS) == 0);
  const bool written = plain && plugin_direct_may_fail(d, c->serialise(c->data, executable, &to.sink), "serialise") &&
                       plugin_job_place(p->job);
  c->release(c->data, executable);
  if (written && plugin_check_that(d->check, to.size > 0, "%s: serialise writes nothing", p->job->p->label)) {
    load_all(p, &to, t);
  }
  free(to.bytes);
  return written;
}

static bool run_case(plugin_direct *d, const nd4c_compiler *compiler, const selftest_case *c, nd4c_context *host,
                     nd4c_stream stream, tally *t) {
  plugin_case p = {.c = c, .dtype = ND4C_FLOAT32};
  bool made = false;
  (void)snprintf(p.label, sizeof p.label, "%s of float32 on %s", c->op->name, d->name);
  plugin_job *j = calloc(1, sizeof *j);
  piece *of = calloc(1, sizeof *of);
  if (j != NULL && of != NULL && (c->op->dtypes & ND4C_DTYPE_BIT(ND4C_FLOAT32)) != 0 && plugin_case_is_fixed(&p) &&
      plugin_case_wanted(&p, host) == ND4C_OK) {
    *j = (plugin_job){.d = d, .p = &p, .host = host, .stream = stream};
    *of = (piece){.compiler = compiler, .job = j};
    made = plugin_job_make(j) && compile(of, t);
    plugin_job_free(j);
  }
  free(of);
  free(j);
  plugin_arrays_release(p.wanted, SELFTEST_OUTPUTS);
  return made;
}

static void run_compiler(plugin_direct *d, const nd4c_compiler *compiler, nd4c_context *host, nd4c_stream stream,
                         tally *t) {
  const char *position = selftest_cases;
  nd4c_status status = ND4C_OK;
  selftest_case c;
  int32_t made = 0;
  while (made < CASES && selftest_case_next(&position, &c, &status)) {
    made += plugin_is_asked(d->check, c.op->name) && run_case(d, compiler, &c, host, stream, t);
    selftest_case_clear(&c);
  }
  t->executables += made;
}

static void check_loads(plugin_direct *d, plugin_direct *other) {
  const nd4c_provider *provider = plugin_direct_provider();
  nd4c_context_options options = {.struct_size = sizeof options};
  nd4c_context *host = NULL;
  nd4c_stream stream = NULL;
  tally t = {.executables = 0};
  (void)other;
  if (!plugin_check_status(d->check, nd4c_device_find("cpu:0", &options.device), "cpu:0") ||
      !plugin_check_status(d->check, nd4c_context_create(&options, &host), "a context of cpu:0") ||
      !plugin_direct_stream(d, &stream)) {
    return;
  }
  for (int32_t i = 0; i < provider->contribution_count; i++) {
    const nd4c_contribution *of = provider->contributions[i];
    const bool own = of->backend == NULL || strcmp(of->backend, provider->name) == 0;
    for (int32_t k = 0; own && k < of->compiler_count; k++) {
      const nd4c_compiler *c = of->compilers[k];
      if (ND4C_HAS_FIELD(c, load) && c->load != NULL && c->serialise != NULL) {
        run_compiler(d, c, host, stream, &t);
      }
    }
  }
  plugin_check_note(
      "%s: %d executables were written; of their bytes, changed, %d were refused, %d computed the same, "
      "%d something else",
      d->name, (int)t.executables, (int)t.refused, (int)t.same, (int)t.other);
  if (d->about.asynchronous) {
    d->ops->stream_destroy(d->device, stream);
  }
  (void)nd4c_context_destroy(host);
}

void plugin_section_loads(plugin_check *check) {
  plugin_direct_each(check, check_loads);
}
