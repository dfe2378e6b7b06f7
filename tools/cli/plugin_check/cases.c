/* Runs the cases of `nd4c selftest` on the plug-in's devices and engines, also in layouts that `nd4c selftest` does not
 * use, and compares the results with the reference. Most sections that compute call plugin_cases_each. */
#include <fenv.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

const char *const plugin_layout_names[PLUGIN_LAYOUTS] = {"contiguous", "behind an offset", "transposed", "reversed",
                                                         "every second element"};

const nd4c_dtype plugin_dtypes[PLUGIN_DTYPES] = {ND4C_FLOAT32, ND4C_FLOAT64, ND4C_FLOAT16, ND4C_BFLOAT16, ND4C_INT8,
                                                 ND4C_INT16,   ND4C_INT32,   ND4C_INT64,   ND4C_UINT8,    ND4C_UINT16,
                                                 ND4C_UINT32,  ND4C_UINT64,  ND4C_BOOL};
enum { TEXT = 512, PADDING = 3 };

void plugin_arrays_release(nd4c_array **arrays, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    nd4c_array_release(arrays[i]);
    arrays[i] = NULL;
  }
}

bool plugin_declined(nd4c_status status) {
  return status == ND4C_UNSUPPORTED || status == ND4C_STRICT;
}

/* -- layouts ------------------------------------------------------------------------------------------------------- */

/* Where the elements of an array lie in a larger array of one axis. */
typedef struct arrangement {
  int64_t elements, offset;
  int64_t strides[SELFTEST_RANK];
} arrangement;

static arrangement arrange(plugin_layout layout, int32_t rank, const int64_t *shape) {
  arrangement a = {.elements = 1};
  const int64_t step = layout == PLUGIN_SPREAD ? 2 : 1;
  for (int32_t i = 0; i < rank; i++) {
    const int32_t axis = layout == PLUGIN_TRANSPOSED ? i : rank - 1 - i;
    a.strides[axis] = a.elements * step;
    a.elements *= shape[axis];
  }
  if (layout == PLUGIN_REVERSED) {
    a.offset = a.elements - 1;
    for (int32_t axis = 0; axis < rank; axis++) {
      a.strides[axis] = -a.strides[axis];
    }
  }
  a.elements *= step;
  if (layout == PLUGIN_OFFSET) {
    a.offset = PADDING;
    a.elements += 2 * PADDING;
  }
  return a;
}

/* Copies elements of `width` bytes from C order to their places in the arrangement. */
static void scatter(const arrangement *a, int32_t rank, const int64_t *shape, size_t width, const char *from,
                    char *to) {
  int64_t index[SELFTEST_RANK] = {0}, size = 1;
  for (int32_t axis = 0; axis < rank; axis++) {
    size *= shape[axis];
  }
  for (int64_t i = 0; i < size; i++) {
    int64_t at = a->offset;
    for (int32_t axis = 0; axis < rank; axis++) {
      at += index[axis] * a->strides[axis];
    }
    memcpy(to + (size_t)at * width, from + (size_t)i * width, width);
    for (int32_t axis = rank - 1; axis >= 0 && ++index[axis] == shape[axis]; axis--) {
      index[axis] = 0;
    }
  }
}

/* *view: a view with the layout and the values of `plain`, into a larger array on the device. */
static nd4c_status lay_out(const nd4c_array *plain, plugin_layout layout, nd4c_device *device, nd4c_array **view) {
  const int32_t rank = nd4c_array_rank(plain);
  const int64_t *shape = nd4c_array_shape(plain);
  const size_t width = (size_t)nd4c_dtype_size(nd4c_array_dtype(plain));
  const arrangement a = arrange(layout, rank, shape);
  const size_t bytes = (size_t)nd4c_array_size(plain) * width;
  char *from = malloc(bytes), *to = calloc((size_t)a.elements, width);
  nd4c_array *large = NULL;
  nd4c_status status = from != NULL && to != NULL ? nd4c_array_read(plain, from, bytes) : ND4C_MEMORY;
  if (status == ND4C_OK) {
    scatter(&a, rank, shape, width, from, to);
    status = nd4c_array_from_data(nd4c_array_dtype(plain), 1, (const int64_t[]){a.elements}, to, device, &large);
  }
  if (status == ND4C_OK) {
    status = nd4c_array_as_strided(large, rank, shape, a.strides, a.offset, view);
  }
  nd4c_array_release(large);
  free(from);
  free(to);
  return status;
}

nd4c_status plugin_case_inputs(const plugin_case *p, plugin_layout layout, nd4c_context *context, nd4c_array **inputs,
                               bool *differs) {
  nd4c_device *device = nd4c_context_device(context);
  nd4c_status status = ND4C_OK;
  *differs = false;
  for (int32_t i = 0; i < p->c->input_count && status == ND4C_OK; i++) {
    if (p->c->inputs[i].dtype == ND4C_DTYPE_NONE) {
      continue;
    }
    nd4c_array *plain = NULL;
    status = selftest_array(&p->c->inputs[i], p->dtype, device, &plain);
    if (status == ND4C_OK && layout != PLUGIN_CONTIGUOUS && nd4c_array_rank(plain) > 0 && nd4c_array_size(plain) > 1 &&
        nd4c_dtype_size(nd4c_array_dtype(plain)) > 0) {
      status = lay_out(plain, layout, device, &inputs[i]);
      nd4c_array_release(plain);
      *differs = true;
    } else {
      inputs[i] = plain;
    }
  }
  return status;
}

/* -- calls --------------------------------------------------------------------------------------------------------- */

nd4c_status plugin_case_call(const plugin_case *p, nd4c_array *const *inputs, nd4c_context *context,
                             nd4c_array **outputs) {
  nd4c_status status = nd4c_op_call(context, p->c->op->op, (const nd4c_array *const *)inputs, p->c->input_count,
                                    p->c->attrs, p->c->attr_count, outputs, p->c->op->output_count);
  for (int32_t i = 0; i < p->c->op->output_count && status == ND4C_OK; i++) {
    status = nd4c_array_wait(outputs[i]);
  }
  return status;
}

bool plugin_case_compare(plugin_check *check, const plugin_case *p, nd4c_context *host, nd4c_array *const *outputs,
                         const char *how) {
  char text[TEXT] = "";
  bool right = true;
  for (int32_t i = 0; i < p->c->op->output_count && right; i++) {
    right = selftest_difference(host, p->wanted[i], outputs[i], text, sizeof text) == NULL;
  }
  return plugin_check_that(check, right, "%s, %s: %s", p->label, how, text);
}

static nd4c_status force_engine(const char *engine) {
  return nd4c_config_set("SD_KERNEL_FORCE_ENGINE", engine[0] != '\0' ? engine : NULL);
}

nd4c_status plugin_case_wanted(plugin_case *p, nd4c_context *host) {
  nd4c_array *inputs[SELFTEST_INPUTS] = {NULL};
  bool differs = false;
  nd4c_status status = force_engine("reference");
  status = status == ND4C_OK ? plugin_case_inputs(p, PLUGIN_CONTIGUOUS, host, inputs, &differs) : status;
  status = status == ND4C_OK ? plugin_case_call(p, inputs, host, p->wanted) : status;
  plugin_arrays_release(inputs, SELFTEST_INPUTS);
  return status;
}

bool plugin_is_asked(const plugin_check *check, const char *name) {
  char pattern[256];
  bool asked = check->pattern == NULL;
  for (const char *at = check->pattern; at != NULL && !asked; at = strchr(at, ',')) {
    at += *at == ',';
    const size_t length = strcspn(at, ",");
    if (length < sizeof pattern) {
      memcpy(pattern, at, length);
      pattern[length] = '\0';
      asked = fnmatch(pattern, name, 0) == 0;
    }
  }
  return asked;
}

/* -- rounds -------------------------------------------------------------------------------------------------------- */

static int32_t position_of(const nd4c_op_info *op) {
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    if (nd4c_op_at(i)->op == op->op) {
      return i;
    }
  }
  return -1;
}

/* A number for the thread's rounding mode and for whether it keeps denormal numbers. A kernel must not change them:
 * nd4c's kernels compute on the same thread. */
static int float_state(void) {
  volatile float tiny = 1e-38f, product = tiny * 0.01f;
  return 2 * fegetround() + (product != 0);
}

static void check_float_state(const plugin_round *round, const plugin_case *p, int before) {
  if (!plugin_check_that(round->check, float_state() == before,
                         "%s: the kernel changed the rounding mode, or turned denormal numbers off", p->label)) {
    (void)fesetenv(FE_DFL_ENV);
  }
}

/* Runs one case in one dtype on the round's target. Returns false if the reference refuses the dtype. */
static bool run_case(plugin_round *round, const selftest_case *c, nd4c_dtype dtype, plugin_case_function function) {
  char target[2 * PLUGIN_NAME + 16];
  plugin_case p = {.c = c, .dtype = dtype};
  (void)snprintf(p.label, sizeof p.label, "%s of %s on %s", c->op->name, nd4c_dtype_name(dtype),
                 plugin_target_text(round->target, target, sizeof target));
  /* If the reference refuses, the case has elements that this dtype does not allow. */
  bool computes = plugin_case_wanted(&p, round->host) == ND4C_OK && nd4c_array_size(p.wanted[0]) > 0;
  if (computes && plugin_check_status(round->check, force_engine(round->target->engine), "%s", p.label)) {
    plugin_check_at("%s", p.label);
    const int before = float_state();
    function(round, &p);
    check_float_state(round, &p, before);
  }
  plugin_arrays_release(p.wanted, SELFTEST_OUTPUTS);
  return computes;
}

/* State of run_target, for run_dtypes. */
typedef struct progress {
  plugin_round *round;
  const plugin_targets *targets;
  plugin_case_function function;
  int32_t limit, done;
} progress;

/* Runs the case in each dtype that the plug-in offers; returns whether any was run. */
static bool run_dtypes(void *user, const selftest_case *c) {
  progress *of = user;
  const int32_t index = position_of(c->op), before = of->done;
  const bool any = of->targets->compiles && (of->round->scope == PLUGIN_PLANS || of->round->target->engine[0] == '\0');
  const nd4c_dtype_set offered = index < 0 ? 0 : any ? c->op->dtypes : of->targets->offered[index];
  for (int32_t i = 0; i < PLUGIN_DTYPES && (of->limit == 0 || of->done < of->limit); i++) {
    if ((offered & c->op->dtypes & ND4C_DTYPE_BIT(plugin_dtypes[i])) != 0) {
      of->done += run_case(of->round, c, plugin_dtypes[i], of->function);
    }
  }
  return of->done > before;
}

/* Runs all cases on one target, and returns how many were run. Cases of the plug-in's ops are made from their schemas.
 */
static int32_t run_target(plugin_round *round, const plugin_targets *targets, int32_t limit,
                          plugin_case_function function) {
  progress of = {.round = round, .targets = targets, .function = function, .limit = limit};
  const char *position = selftest_cases;
  nd4c_status status = ND4C_OK;
  selftest_case c;
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    const nd4c_op_info *op = nd4c_op_at(i);
    if (strcmp(op->provider, targets->name) == 0 && targets->offered[i] != 0 &&
        plugin_is_asked(round->check, op->name)) {
      (void)plugin_samples_each(op, run_dtypes, &of);
    }
  }
  while (selftest_case_next(&position, &c, &status) && status == ND4C_OK) {
    if (plugin_is_asked(round->check, c.op->name)) {
      (void)run_dtypes(&of, &c);
    }
    selftest_case_clear(&c);
  }
  (void)plugin_check_status(round->check, status, "the cases of selftest");
  return of.done;
}

static nd4c_status create_relaxed(plugin_round *round) {
  nd4c_context_options options = {.struct_size = sizeof options, .device = nd4c_context_device(round->context)};
  return nd4c_context_create(&options, &round->relaxed);
}

bool plugin_cases_each(plugin_check *check, plugin_scope scope, int32_t limit, plugin_case_function function,
                       void *user) {
  plugin_targets targets;
  nd4c_context_options options = {.struct_size = sizeof options};
  if (!plugin_targets_find(check, &targets) ||
      !plugin_check_status(check, nd4c_device_find("cpu:0", &options.device), "cpu:0")) {
    plugin_targets_free(&targets);
    return false;
  }
  int32_t done = 0;
  for (int32_t i = 0; i < targets.count; i++) {
    plugin_round round = {.check = check, .target = &targets.items[i], .scope = scope, .user = user};
    if (plugin_check_status(check, plugin_target_enter(round.target, &round.context), "%s", round.target->device) &&
        plugin_check_status(check, nd4c_context_create(&options, &round.host), "a context of cpu:0") &&
        plugin_check_status(check, create_relaxed(&round), "%s", round.target->device)) {
      done += run_target(&round, &targets, limit, function);
    }
    (void)plugin_check_status(check, nd4c_context_destroy(round.context), "destroying a context of %s",
                              round.target->device);
    (void)nd4c_context_destroy(round.relaxed);
    (void)nd4c_context_destroy(round.host);
  }
  if (check->pattern != NULL && targets.count > 0) {
    (void)plugin_check_that(check, done > 0,
                            "nothing was checked: no op that the plug-in offers and that --ops %s names has a case",
                            check->pattern);
  }
  if (done == 0 && targets.count > 0 && check->pattern == NULL) {
    plugin_check_skip("no case of the ops that the plug-in offers is one that this section calls");
  }
  plugin_targets_free(&targets);
  return targets.compiles;
}
