/* One graph in several plans: without passes, with all, with each alone, with subsets. Inputs lie in memory in random
 * ways, outputs are fresh or given. If the sketch has dims, the passes run on a graph of them, which is then bound to
 * the sketch's sizes and to others. main.c and shrink.c call rg_trial. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/array.h"
#include "device/context/context.h"
#include "dispatch/choice.h"
#include "graph/passes.h"
#include "graph/precision.h"
#include "nd4c/calibration.h"
#include "random_graphs.h"

/* Passes after which the results of element-wise ops and moves are the same bits; after the others they may be rounded
 * otherwise. */
static const char *const exact_passes[] = {"dead",   "identity",  "fold_constants", "cse",
                                           "casts",  "peephole",  "algebra",        "select",
                                           "slices", "transpose", "fold_chain",     "recompute"};

typedef struct trial {
  const rg_sketch *sketch;
  nd4c_graph *graph;
  nd4c_graph *with_dims;         /* NULL: without */
  struct trial *resized;         /* the same with the dims' other sizes; NULL: a guard or an op refuses them */
  rg_judge *judge, *coarse;      /* coarse: of plans with a precision; NULL: there are none */
  rg_precision precision;        /* of the plans that are tried now */
  rg_precision chosen;           /* the precision of some plans */
  nd4c_calibration *calibration; /* of the graph; NULL: none */
  nd4c_array *inputs[RG_VALUES]; /* as the sketch has them */
  nd4c_array *placed[RG_VALUES]; /* the same elements, in other places */
  int32_t input_count;
  bool reorders; /* the request allows sums and products in another order, so no pass is exact */
  uint64_t random;
  int64_t *runs;
  rg_failure *failure;
} trial;

/* -- places in memory ---------------------------------------------------------------------------------------------- */

typedef enum place { CONTIGUOUS, REVERSED_AXES, EVERY_SECOND, BACKWARDS, PLACES } place;

/* Strides of a view, the place of its first element and the length of the block below it. */
static int64_t lay_out(place how, int32_t rank, const int64_t *shape, int64_t *strides, int64_t *offset) {
  int64_t step = how == EVERY_SECOND ? 2 : 1;
  *offset = 0;
  for (int32_t i = 0; i < rank; i++) {
    const int32_t axis = how == REVERSED_AXES ? i : rank - 1 - i;
    strides[axis] = step;
    step *= shape[axis] < 1 ? 1 : shape[axis];
  }
  if (how == BACKWARDS && rank > 0 && shape[0] > 0) {
    *offset = (shape[0] - 1) * strides[0];
    strides[0] = -strides[0];
  }
  return step;
}

static nd4c_array *make_view(nd4c_dtype dtype, int32_t rank, const int64_t *shape, place how) {
  int64_t strides[RG_RANK], offset = 0;
  const int64_t total = lay_out(how, rank, shape, strides, &offset);
  nd4c_array *block = NULL, *view = NULL;
  rg_must(nd4c_array_empty(dtype, 1, &total, NULL, &block), "block");
  void *data = NULL;
  rg_must(nd4c_array_data_mutable(block, &data), "block");
  memset(data, 0x5a, (size_t)(total * nd4c_dtype_size(dtype)));
  rg_must(nd4c_array_as_strided(block, rank, shape, strides, offset, &view), "view");
  nd4c_array_release(block);
  return view;
}

static nd4c_array *placed_copy(trial *t, nd4c_array *array) {
  const place how = (place)(rg_random(&t->random) % PLACES);
  if (how == CONTIGUOUS) {
    return nd4c_array_retain(array);
  }
  nd4c_array *view = make_view(nd4c_array_dtype(array), nd4c_array_rank(array), nd4c_array_shape(array), how);
  rg_must(nd4c_op_call_positional(NULL, ND4C_OP_copy, (const nd4c_array *const[]){array}, 1, NULL, &view), "copy");
  return view;
}

/* -- running ------------------------------------------------------------------------------------------------------- */

static void release_all(nd4c_array **arrays, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    nd4c_array_release(arrays[i]);
    arrays[i] = NULL;
  }
}

static bool fail(trial *t, const char *passes, const char *what) {
  t->failure->precision = t->precision;
  (void)snprintf(t->failure->passes, sizeof t->failure->passes, "%s", passes);
  (void)snprintf(t->failure->what, sizeof t->failure->what, "%s", what);
  t->failure->plain = t->judge == NULL;
  return false;
}

static bool fail_status(trial *t, const char *passes, const char *what, nd4c_status status) {
  char text[RG_TEXT];
  (void)snprintf(text, sizeof text, "%s: %s: %s", what, nd4c_status_name(status), nd4c_error_message());
  return fail(t, passes, text);
}

static nd4c_status run(trial *t, nd4c_plan *plan, nd4c_array *const *inputs, nd4c_array **outputs) {
  (*t->runs)++;
  rg_variable_reset(t->sketch, t->graph);
  return nd4c_plan_run(plan, (const nd4c_array *const *)inputs, t->input_count, outputs, t->sketch->output_count);
}

/* Judges what a run has given, and releases it. */
static bool judge_outputs(trial *t, const char *passes, bool exact, nd4c_array **outputs) {
  rg_judge *judge = t->precision.dtype == ND4C_DTYPE_NONE ? t->judge : t->coarse;
  const int32_t assigned = rg_assigned_output(t->sketch);
  char text[RG_TEXT];
  bool right = true;
  for (int32_t i = 0; i < t->sketch->output_count && right; i++) {
    const char *what = rg_judge_output(judge, i, outputs[i], exact, text, sizeof text);
    right = what == NULL || fail(t, passes, what);
  }
  if (right && assigned >= 0 && nd4c_graph_variable_count(t->graph) > 0) {
    nd4c_array *value = rg_variable_get(t->sketch, t->graph);
    const char *what = rg_judge_output(judge, assigned, value, exact, text, sizeof text);
    char variable[RG_TEXT];
    (void)snprintf(variable, sizeof variable, "the variable: %.700s", what == NULL ? "" : what);
    right = what == NULL || fail(t, passes, variable);
    nd4c_array_release(value);
  }
  release_all(outputs, t->sketch->output_count);
  return right;
}

/* A run by a runner, with arrays that are bound or donated. */
static bool check_bound(trial *t, nd4c_plan *plan, const char *passes, bool exact) {
  nd4c_array *outputs[RG_PORTS] = {NULL};
  (*t->runs)++;
  rg_variable_reset(t->sketch, t->graph);
  const nd4c_status status = rg_run_bound(t->sketch, plan, t->inputs, &t->random, outputs);
  return status == ND4C_OK ? judge_outputs(t, passes, exact, outputs) : fail_status(t, passes, "runner", status);
}

/* Judges one run; `given`: into arrays that lie somehow. */
static bool check_run(trial *t, nd4c_plan *plan, const char *passes, bool exact, bool given) {
  nd4c_array *outputs[RG_PORTS] = {NULL};
  for (int32_t i = 0; i < t->sketch->output_count && given; i++) {
    const nd4c_array *like = t->sketch->values[t->sketch->outputs[i]].array;
    outputs[i] = make_view(nd4c_array_dtype(like), nd4c_array_rank(like), nd4c_array_shape(like),
                           (place)(rg_random(&t->random) % PLACES));
  }
  const nd4c_status status = run(t, plan, given ? t->placed : t->inputs, outputs);
  if (status != ND4C_OK) {
    release_all(outputs, t->sketch->output_count);
    return fail_status(t, passes, "run", status);
  }
  for (int32_t i = 0; i < t->sketch->output_count && !given; i++) {
    if (!nd4c_array_is_contiguous(outputs[i])) {
      release_all(outputs, t->sketch->output_count);
      return fail(t, passes, "a fresh output is not in C order");
    }
  }
  return judge_outputs(t, passes, exact, outputs);
}

/* -- passes -------------------------------------------------------------------------------------------------------- */

enum { PASSES = ND4C_PASS_RECORDS, OPS = 1024 };
static int64_t changes[PASSES], graphs_changed[PASSES], bound_to_others;
static bool served[OPS]; /* by op: a step had another kernel than the reference's */
static bool reduces;     /* the device has products of bfloat16 */
static int64_t calibrated, uncalibrated;

/* Passes that make an op only where another kernel than the reference's computes it. */
static const struct {
  const char *pass;
  nd4c_op op;
} made_for[] = {
    {"attention", ND4C_OP_attention},
    {"attention_cache", ND4C_OP_attention},
    {"group_norm", ND4C_OP_group_norm},
    {"skip_norm", ND4C_OP_skip_layer_norm},
    {"swiglu", ND4C_OP_swiglu},
    {"quantized_conv", ND4C_OP_qlinear_conv},
    {"quantized_add", ND4C_OP_qlinear_add},
    {"quantized_linear", ND4C_OP_linear_int8},
    {"quantize", ND4C_OP_linear_int8},
    {"dynamic_quantization", ND4C_OP_linear_int8},
};

static bool is_exact(const char *pass) {
  for (size_t i = 0; i < sizeof exact_passes / sizeof exact_passes[0]; i++) {
    if (strcmp(exact_passes[i], pass) == 0) {
      return true;
    }
  }
  return false;
}

/* Element-wise ops and moves give the same bits wherever their operands lie. */
static bool is_pointwise(const rg_sketch *sketch) {
  bool pointwise = true;
  for (int32_t i = 0; i < sketch->node_count; i++) {
    const nd4c_category category = sketch->nodes[i].op->category;
    pointwise = pointwise && (sketch->nodes[i].removed || category == ND4C_CATEGORY_UNARY ||
                              category == ND4C_CATEGORY_BINARY || category == ND4C_CATEGORY_TERNARY ||
                              category == ND4C_CATEGORY_SHAPE || category == ND4C_CATEGORY_INDEXING);
  }
  return pointwise;
}

/* The plans of bodies run passes of their own. */
static bool only_exact(const rg_sketch *sketch, const nd4c_plan *plan) {
  bool exact = is_pointwise(sketch) && sketch->body_count == 0;
  for (int32_t i = 0; i < plan->pass_count; i++) {
    exact = exact && (plan->passes[i].changes == 0 || is_exact(plan->passes[i].name));
  }
  return exact;
}

static void count_changes(const nd4c_plan *plan) {
  for (int32_t i = 0; i < plan->pass_count; i++) {
    for (int32_t k = 0; k < nd4c_passes_count(); k++) {
      if (plan->passes[i].changes > 0 && strcmp(plan->passes[i].name, nd4c_passes_at(k)->name) == 0) {
        changes[k] += plan->passes[i].changes;
        graphs_changed[k]++;
      }
    }
  }
}

void rg_trial_print_changes(void) {
  (void)printf("  %lld graphs with dims bound to other sizes\n", (long long)bound_to_others);
  for (int32_t i = 0; i < nd4c_passes_count(); i++) {
    (void)printf("  %-24s %lld rewrites in %lld plans\n", nd4c_passes_at(i)->name, (long long)changes[i],
                 (long long)graphs_changed[i]);
  }
}

/* Notes the ops that passes may prefer here: nd4c_choice_is_fast takes no kernel that converts its operands. */
static void note_kernels(const nd4c_plan *plan) {
  for (int32_t i = 0; i < plan->step_count; i++) {
    nd4c_step_info info = {.struct_size = sizeof info};
    const nd4c_op_info *op = plan->steps[i].call.op;
    const nd4c_kernel *kernel = plan->steps[i].choice != NULL ? plan->steps[i].choice->kernel : NULL;
    if (op != NULL && (int32_t)op->op < OPS && nd4c_plan_get_step(plan, i, &info) == ND4C_OK && info.engine != NULL &&
        (kernel == NULL || (kernel->flags & ND4C_KERNEL_CONVERTS) == 0)) {
      served[op->op] = served[op->op] || strcmp(info.engine, "reference") != 0;
    }
  }
}

/* Whether this machine gives the pass a reason to rewrite anything. */
static bool is_worth_while(const char *pass) {
  for (size_t i = 0; i < sizeof made_for / sizeof made_for[0]; i++) {
    if (strcmp(made_for[i].pass, pass) == 0) {
      return served[made_for[i].op];
    }
  }
  return reduces || strcmp(pass, "reduced_precision") != 0;
}

int32_t rg_trial_print_idle(void) {
  int32_t idle = 0;
  for (int32_t i = 0; i < nd4c_passes_count(); i++) {
    if (changes[i] == 0 && is_worth_while(nd4c_passes_at(i)->name)) {
      (void)printf("pass %s rewrote nothing\n", nd4c_passes_at(i)->name);
      idle++;
    }
  }
  return idle;
}

/* Passes that may make the graph dearer by the estimate: recompute saves memory, the caller chose a precision,
 * hoist_quantize prepares what the passes of bytes do, attention_cache leaves an op that only the reference has, and
 * widen asks which kernels the device has. Of a graph with dims also inline_calls: the estimate of a body knows nothing
 * of what guards say around it. */
static bool may_raise(const char *pass, const rg_sketch *sketch) {
  static const char *const passes[] = {"recompute",      "reduced_precision", "quantize",
                                       "hoist_quantize", "attention_cache",   "widen"};
  for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
    if (strcmp(passes[i], pass) == 0) {
      return true;
    }
  }
  return sketch->dims.count > 0 && strcmp(pass, "inline_calls") == 0;
}

/* No other pass may make the graph dearer by the estimate, and all come to an end. */
static bool check_passes(trial *t, const nd4c_plan *plan, const char *passes) {
  const double rounding = 1e-9;
  for (int32_t i = 0; i < plan->pass_count; i++) {
    if (plan->passes[i].raised > rounding && !may_raise(plan->passes[i].name, t->sketch)) {
      char text[RG_TEXT];
      (void)snprintf(text, sizeof text, "pass %s raised the estimated time by %.3g %%", plan->passes[i].name,
                     100 * plan->passes[i].raised);
      return fail(t, passes, text);
    }
  }
  return plan->unsettled == 0 || fail(t, passes, "the passes were stopped, and would change the graph again");
}

/* The graph that passes left, with numbers for its dims: a plan of it without further passes. */
static bool try_bound(trial *t, const nd4c_graph *optimized, const int64_t *sizes, const char *passes, bool exact) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  nd4c_graph *bound = NULL;
  nd4c_plan *plan = NULL;
  nd4c_status status = rg_bind(optimized, &t->sketch->dims, sizes, &bound);
  if (status != ND4C_OK) {
    return fail_status(t, passes, "bind", status);
  }
  status = nd4c_plan_create(bound, NULL, &options, &plan);
  nd4c_graph_destroy(bound);
  if (status != ND4C_OK) {
    return fail_status(t, passes, "plan of a bound graph", status);
  }
  const bool right = check_run(t, plan, passes, exact, rg_random(&t->random) % 2 == 0);
  nd4c_plan_destroy(plan);
  return right;
}

/* One plan for both sizes: the second binding takes from the first one what does not depend on sizes, and the first
 * size is found again. In a third of the trials sizes of a bucket share a binding, whose kernels may round otherwise.
 */
static bool try_bindings(trial *t, const char *passes, const nd4c_plan_options *given, bool exact) {
  nd4c_plan *plan = NULL;
  nd4c_plan_options options = *given;
  options.buckets = t->sketch->seed % 3 == 0 ? "powers" : NULL;
  exact = exact && options.buckets == NULL;
  const nd4c_status status = nd4c_plan_create(t->with_dims, NULL, &options, &plan);
  if (status == ND4C_UNSUPPORTED && strstr(nd4c_error_message(), "does not follow from the inputs") != NULL) {
    return true; /* only constants or attributes have the dim: such a graph must be bound */
  }
  if (status != ND4C_OK) {
    return fail_status(t, passes, "plan with dims", status);
  }
  bool right = check_run(t, plan, passes, exact, false);
  right = right && (t->resized == NULL || check_run(t->resized, plan, passes, exact, false));
  right = right && check_run(t, plan, passes, exact, true);
  right = right && (t->resized == NULL || check_run(t->resized, plan, passes, exact, true));
  right = right && check_bound(t->resized != NULL ? t->resized : t, plan, passes, exact);
  nd4c_plan_destroy(plan);
  return right;
}

static bool try_with_dims(trial *t, const char *passes, const nd4c_plan_options *options) {
  const rg_dims *dims = &t->sketch->dims;
  nd4c_plan *plan = NULL;
  rg_must(nd4c_plan_begin("nd4c_random_graphs", t->with_dims, NULL, options, &plan), "plan");
  rg_must(nd4c_graph_clone(t->with_dims, &plan->graph), "clone");
  const nd4c_status status = nd4c_passes_run(plan, NULL);
  bool right = status == ND4C_OK || fail_status(t, passes, "passes on a graph with dims", status);
  if (right) {
    const bool exact = !t->reorders && only_exact(t->sketch, plan);
    count_changes(plan);
    right = check_passes(t, plan, passes) && try_bound(t, plan->graph, dims->numbers, passes, exact) &&
            (t->resized == NULL || try_bound(t->resized, plan->graph, dims->others, passes, exact)) &&
            try_bindings(t, passes, options, exact);
  }
  nd4c_plan_destroy(plan);
  return right;
}

static bool try_passes(trial *t, const char *passes) {
  const nd4c_compile_request request = {.struct_size = sizeof request,
                                        .math = t->reorders ? ND4C_MATH_REORDER : ND4C_MATH_EXACT};
  const nd4c_plan_options options = {.struct_size = sizeof options,
                                     .passes = passes,
                                     .compile = &request,
                                     .precision = t->precision.dtype,
                                     .calibration = t->precision.calibrated ? t->calibration : NULL,
                                     .arena_bytes = t->sketch->seed % 5 == 0 ? 1 : 0};
  nd4c_plan *plan = NULL;
  if (t->with_dims != NULL) {
    return try_with_dims(t, passes, &options);
  }
  const nd4c_status status = nd4c_plan_create(t->graph, NULL, &options, &plan);
  if (status != ND4C_OK) {
    return fail_status(t, passes, "plan", status);
  }
  const bool exact = !t->reorders && only_exact(t->sketch, plan);
  count_changes(plan);
  note_kernels(plan);
  const bool right = check_passes(t, plan, passes) && check_run(t, plan, passes, exact, false) &&
                     check_run(t, plan, passes, exact, true) && check_bound(t, plan, passes, exact);
  nd4c_plan_destroy(plan);
  return right;
}

/* Also of the same graph with other sizes. */
static void set_precision(trial *t, rg_precision precision) {
  t->precision = precision;
  if (t->resized != NULL) {
    t->resized->precision = precision;
  }
}

/* About half of the passes, at least one. */
static void make_subset(trial *t, char *list, size_t size) {
  const int32_t count = nd4c_passes_count(), sure = (int32_t)(rg_random(&t->random) % (uint64_t)count);
  list[0] = '\0';
  for (int32_t i = 0; i < count; i++) {
    if (i == sure || rg_random(&t->random) % 2 == 0) {
      const size_t length = strlen(list);
      (void)snprintf(list + length, size - length, "%s%s", length > 0 ? "," : "", nd4c_passes_at(i)->name);
    }
  }
}

static bool try_modes(trial *t, const rg_trial_options *options) {
  if (options->passes != NULL) {
    set_precision(t, t->chosen);
    return try_passes(t, options->passes);
  }
  bool right = try_passes(t, "");
  const int32_t count = nd4c_passes_count(), one = (int32_t)(rg_random(&t->random) % (uint64_t)count);
  for (int32_t i = 0; i < count && right; i++) {
    right = (!options->thorough && i != one) || try_passes(t, nd4c_passes_at(i)->name);
  }
  for (int32_t i = 0; i < (options->thorough ? 4 : 1) && right; i++) {
    char list[RG_LIST];
    make_subset(t, list, sizeof list);
    right = try_passes(t, list);
  }
  if (right && t->coarse != NULL) { /* all passes, and some of them, so that those of the precision are among them */
    char list[RG_LIST], more[2 * RG_LIST];
    set_precision(t, t->chosen);
    make_subset(t, list, sizeof list);
    (void)snprintf(more, sizeof more, "%s,%s", t->chosen.dtype == ND4C_INT8 ? "quantize" : "reduced_precision", list);
    right = try_passes(t, "") && (!options->thorough || try_passes(t, more));
  }
  return right;
}

/* -- one graph ----------------------------------------------------------------------------------------------------- */

/* Without passes: the results with which all others are compared. They agree with eager calls. */
static bool try_plain(trial *t, nd4c_array **base) {
  const nd4c_plan_options options = {.struct_size = sizeof options, .no_optimization = true};
  nd4c_plan *plan = NULL;
  nd4c_status status = nd4c_plan_create(t->graph, NULL, &options, &plan);
  if (status != ND4C_OK) {
    return fail_status(t, "", "plan without passes", status);
  }
  status = run(t, plan, t->inputs, base);
  bool right = status == ND4C_OK ? true : fail_status(t, "", "run without passes", status);
  if (right) {
    note_kernels(plan);
    t->judge = rg_judge_make(t->sketch, base, (rg_precision){.calibrated = false});
    t->coarse = t->chosen.dtype == ND4C_DTYPE_NONE ? NULL : rg_judge_make(t->sketch, base, t->chosen);
    right = check_run(t, plan, "", true, true);
    for (int32_t i = 0; i < t->sketch->output_count && right; i++) {
      char text[RG_TEXT];
      const nd4c_array *eager = t->sketch->values[t->sketch->outputs[i]].array;
      const char *what = rg_judge_output(t->judge, i, eager, false, text, sizeof text);
      right = what == NULL || fail(t, "", what);
    }
    t->failure->plain = !right;
  }
  nd4c_plan_destroy(plan);
  return right;
}

/* Takes over the graph. */
static void open_trial(trial *t, nd4c_graph *graph) {
  int32_t leaves[RG_VALUES];
  t->graph = graph;
  t->reorders = rg_reorders(t->sketch);
  t->input_count = rg_graph_inputs(t->sketch, leaves);
  for (int32_t i = 0; i < t->input_count; i++) {
    t->inputs[i] = nd4c_array_retain(t->sketch->values[leaves[i]].array);
    t->placed[i] = placed_copy(t, t->inputs[i]);
  }
}

static void close_trial(trial *t) {
  if (t->judge != NULL) {
    rg_judge_free(t->judge);
  }
  if (t->coarse != NULL) {
    rg_judge_free(t->coarse);
  }
  release_all(t->inputs, t->input_count);
  release_all(t->placed, t->input_count);
  nd4c_calibration_release(t->calibration);
  nd4c_graph_destroy(t->graph);
}

static bool prepare(trial *t) {
  nd4c_array *base[RG_PORTS] = {NULL};
  const bool right = try_plain(t, base);
  release_all(base, t->sketch->output_count);
  return right;
}

/* With dims, and with their other sizes where the graph takes them. */
static bool try_dims(trial *t, const rg_trial_options *options) {
  nd4c_region region = {0};
  nd4c_graph *bound = NULL;
  trial other = {.random = t->random, .runs = t->runs, .failure = t->failure};
  const rg_dims *dims = &t->sketch->dims;
  rg_sketch *resized =
      rg_bind(t->with_dims, dims, dims->others, &bound) == ND4C_OK ? rg_dims_resize(t->sketch, &region) : NULL;
  bool right = true;
  if (resized != NULL) {
    other.sketch = resized;
    other.chosen = t->chosen;
    open_trial(&other, bound);
    bound = NULL;
    right = prepare(&other);
    t->resized = &other;
    bound_to_others++;
  }
  right = right && try_modes(t, options);
  close_trial(&other);
  nd4c_graph_destroy(bound);
  if (resized != NULL) {
    rg_sketch_free(resized);
  }
  nd4c_region_free(&region);
  return right;
}

/* Finite numbers of ordinary size, which bytes can stand for. */
static bool is_finite(const rg_sketch *sketch) {
  bool finite = true;
  for (int32_t i = 0; i < sketch->value_count && finite; i++) {
    finite = !rg_is_float(rg_dtype(sketch, i)) || rg_largest(sketch, i) < 1e30;
  }
  return finite;
}

/* The precision that some plans of the graph are asked for, if the device has it. */
static rg_precision choose_precision(const rg_sketch *sketch) {
  const uint64_t kind = sketch->seed % 7;
  rg_precision wanted = {.dtype = kind == 2 ? ND4C_BFLOAT16 : kind == 5 ? ND4C_INT8 : ND4C_DTYPE_NONE};
  nd4c_context *context = NULL;
  rg_must(nd4c_context_resolve(NULL, &context), "context");
  if (nd4c_precision_check_device(context, wanted.dtype, "nd4c_random_graphs") != ND4C_OK) {
    return (rg_precision){.calibrated = false};
  }
  reduces = reduces || wanted.dtype == ND4C_BFLOAT16;
  if (wanted.dtype == ND4C_INT8 && (sketch->dims.count > 0 || !is_finite(sketch))) {
    return (rg_precision){.calibrated = false};
  }
  wanted.calibrated = wanted.dtype == ND4C_INT8 && sketch->seed / 7 % 3 != 0;
  return wanted;
}

/* Ranges of the graph's own inputs. A graph without layers for bytes has none, and is tried as one without a
 * calibration. */
static void calibrate(trial *t) {
  const nd4c_status status = nd4c_calibration_create(t->graph, NULL, NULL, &t->calibration);
  t->chosen.calibrated = status == ND4C_OK;
  if (status == ND4C_UNSUPPORTED) {
    return;
  }
  rg_must(status, "calibration");
  rg_variable_reset(t->sketch, t->graph);
  rg_must(nd4c_calibration_observe(t->calibration, (const nd4c_array *const *)t->inputs, t->input_count),
          "calibration");
  rg_must(nd4c_calibration_finish(t->calibration), "calibration");
  calibrated++;
}

int64_t rg_trial_calibrated(void) {
  return calibrated;
}

int64_t rg_trial_uncalibrated(void) {
  return uncalibrated;
}

bool rg_trial(const rg_sketch *sketch, const rg_trial_options *options, int64_t *runs, rg_failure *failure) {
  trial t = {.sketch = sketch, .random = sketch->seed ^ UINT64_C(0x5eed), .runs = runs, .failure = failure};
  *failure = (rg_failure){.plain = false};
  t.chosen = options->passes != NULL ? options->precision : choose_precision(sketch);
  open_trial(&t, rg_build(sketch));
  if (t.chosen.calibrated && !is_finite(sketch)) {
    t.chosen.calibrated = false;
    uncalibrated++;
  } else if (t.chosen.calibrated) {
    calibrate(&t);
  }
  t.with_dims = sketch->dims.count > 0 ? rg_build_with_dims(sketch) : NULL;
  const bool right = prepare(&t) && (t.with_dims != NULL ? try_dims(&t, options) : try_modes(&t, options));
  close_trial(&t);
  nd4c_graph_destroy(t.with_dims);
  return right;
}
