/* Running sums, products and extremes along an axis; differences. */
#include <stdio.h>

#include "backends/opencl/support/reduction.h"

enum { MOST_DIFFERENCES = 16 };

/* Walk over all axes but one. */
static bool lines_walk(const nd4c_call *call, int32_t axis, nd4c_cl_walk *walk, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0];
  const nd4c_tensor *arrays[3] = {x, &call->outputs[0], call->output_count > 1 ? &call->outputs[1] : x};
  int64_t shape[ND4C_CL_MAX_RANK], strides[3][ND4C_CL_MAX_RANK];
  int32_t rank = 0;
  for (int32_t i = 0; i < x->rank; i++) {
    if (i == axis)
      continue;
    shape[rank] = x->shape[i];
    for (int k = 0; k < 3; k++)
      strides[k][rank] = arrays[k]->strides[i];
    rank++;
  }
  const int64_t *const all[] = {strides[0], strides[1], strides[2]};
  return nd4c_cl_walk_strides(walk, rank, shape, 3, all, reason, reason_size);
}

static int32_t scan_axis(const nd4c_call *call) {
  return nd4c_axis(call->attrs[ND4C_ATTR_cumulative_sum_axis].as.i, call->inputs[0].rank);
}

/* -- pieces -------------------------------------------------------------------------------------------------------- */

enum {
  STATE_BYTES = 64,   /* at least what a state of scan.cl takes */
  LEAST_PIECE = 4096, /* elements */
  MOST_PIECES = 1024, /* of a line: one work item goes over them */
  GPU_ITEMS = 512,    /* for each compute unit: fewer lines are cut */
  CPU_ITEMS = 2,      /* the same where a work item is a thread's whole work */
  CPU_UNITS = 4,      /* of a processor at least: with two, going through lines twice costs more than it saves */
  LAUNCH_GROUP = 64   /* work items of a group where nothing is said */
};

typedef struct cut {
  int64_t pieces, lines, length;
  int64_t group; /* work items of a group; 0: whatever */
} cut;

/* Lines are gone through twice where they are cut, which takes several work items to be worth it. A processor runs the
 * items of a group one after the other: few lines or pieces are groups of their own there, but for lines side by side,
 * which share what is fetched. */
static cut cut_lines(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  const nd4c_cl_limits *limits = nd4c_cl_device_limits(call->device);
  int64_t units = limits->compute_units > 0 ? limits->compute_units : 1, length = x->shape[scan_axis(call)];
  int64_t wanted = units * (limits->is_cpu ? CPU_ITEMS : GPU_ITEMS), most = length / LEAST_PIECE;
  cut c = {.pieces = 1, .lines = length > 0 ? x->size / length : 0, .length = length};
  if (c.lines > 0 && c.lines < wanted && most > 1 && !(limits->is_cpu && units < CPU_UNITS)) {
    c.pieces = limits->is_cpu ? (4 * wanted + c.lines - 1) / c.lines : (wanted + c.lines - 1) / c.lines;
    c.pieces = c.pieces > most ? most : c.pieces;
    c.pieces = c.pieces > MOST_PIECES ? MOST_PIECES : c.pieces;
  }
  bool apart = c.lines == 1 || x->strides[scan_axis(call)] == 1 || x->strides[scan_axis(call)] == -1;
  c.group = limits->is_cpu && apart && length >= LEAST_PIECE && c.lines < LAUNCH_GROUP * wanted ? 1 : 0;
  return c;
}

static int64_t cut_scratch(const nd4c_call *call) {
  cut c = cut_lines(call);
  return c.pieces > 1 ? c.pieces * c.lines * STATE_BYTES : 0;
}

/* A launch of one of scan.cl's kernels that go along lines: their first arguments. */
typedef struct along {
  const nd4c_call *call;
  const nd4c_cl_options *options;
  const nd4c_cl_walk *walk;
  const cut *cut;
  const char *source;
  int32_t reverse; /* -1: the kernels have no such argument */
} along;

static nd4c_status begin_along(const along *a, const char *function, nd4c_cl_access access, nd4c_cl_launch *launch) {
  const nd4c_tensor *x = &a->call->inputs[0];
  ND4C_BACKEND_TRY(nd4c_cl_begin(launch, a->call, a->source, function, a->options));
  ND4C_CL_ARGS(launch, ND4C_CL_VALUE(*a->walk), ND4C_CL_IN(x),
               ND4C_CL_LONG(x->strides[scan_axis(a->call)], a->cut->length));
  if (a->reverse >= 0)
    nd4c_cl_arg_int(launch, a->reverse);
  nd4c_cl_arg_long(launch, a->cut->pieces);
  if (a->cut->pieces > 1) /* without pieces nothing looks at the states */
    nd4c_cl_arg_buffer(launch, a->call->scratch_buffer, access);
  else
    nd4c_cl_arg_buffer(launch, x->buffer, ND4C_CL_READ);
  return ND4C_OK;
}

static nd4c_status run_items(const cut *c, nd4c_cl_launch *launch, int64_t items) {
  return nd4c_cl_launch_run(launch, 1, &items, c->group > 0 ? &c->group : NULL);
}

/* What comes before each piece, into the scratch buffer. */
static nd4c_status prepare_pieces(const along *a, const char *gather, const char *chain) {
  nd4c_cl_launch launch;
  if (a->cut->pieces == 1)
    return ND4C_OK;
  nd4c_status status = begin_along(a, gather, ND4C_CL_WRITE, &launch);
  if (status == ND4C_OK)
    status = run_items(a->cut, &launch, a->cut->lines * a->cut->pieces);
  if (status == ND4C_OK)
    status = begin_along(a, chain, ND4C_CL_READ_WRITE, &launch);
  return status == ND4C_OK ? run_items(a->cut, &launch, a->cut->lines) : status;
}

/* -- running sums, products and extremes --------------------------------------------------------------------------- */

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_cl_walk walk;
  return nd4c_cl_call_usable(call, reason, reason_size) &&
         lines_walk(call, scan_axis(call), &walk, reason, reason_size);
}

static nd4c_cl_options cumulative_options(const nd4c_call *call, bool cast) {
  nd4c_op op = call->op->op;
  nd4c_dtype x = call->inputs[0].dtype, y = call->outputs[0].dtype;
  nd4c_cl_options options = {{0}};
  bool real = nd4c_cl_is_float(y), wide = nd4c_cl_wide(call) && y != ND4C_FLOAT64;
  nd4c_cl_define(&options,
                 op == ND4C_OP_cumulative_sum    ? "SCAN_sum"
                 : op == ND4C_OP_cumulative_prod ? "SCAN_prod"
                                                 : "SCAN_logsumexp",
                 "1");
  ND4C_CL_TYPES(&options, "AY", x, y);
  nd4c_cl_define_real(&options, call);
  nd4c_cl_define(&options, "VALUE", "%s", real ? "REAL" : nd4c_cl_wrapping(y, "COMPUTE_Y"));
  if (real && !wide && op == ND4C_OP_cumulative_sum)
    nd4c_cl_define(&options, "COMPENSATED", "1");
  if (!real)
    nd4c_cl_define(&options, "WHOLE", "1");
  if (cast)
    nd4c_cl_define(&options, "CAST", "1");
  return options;
}

static nd4c_status cumulative_run(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  bool initial = call->op->op != ND4C_OP_cumulative_logsumexp;
  bool cast = nd4c_cl_must_cast(call->inputs[0].dtype, y->dtype);
  int32_t axis = scan_axis(call);
  char reason[128];
  nd4c_cl_walk walk;
  nd4c_cl_launch launch;
  if (!lines_walk(call, axis, &walk, reason, sizeof reason))
    return nd4c_cl_host->fail(ND4C_INTERNAL, "%s: %s", call->op->name, reason);
  nd4c_cl_options options = cumulative_options(call, cast);
  cut c = cut_lines(call);
  along a = {.call = call, .options = &options, .walk = &walk, .cut = &c, .source = cast ? "convert+scan" : "scan"};
  a.reverse = call->attrs[ND4C_ATTR_cumulative_sum_reverse].as.i != 0;
  nd4c_status status = prepare_pieces(&a, "gather_pieces", "chain_pieces");
  if (status == ND4C_OK)
    status = begin_along(&a, "cumulate", ND4C_CL_READ, &launch);
  if (status != ND4C_OK)
    return status;
  ND4C_CL_ARGS(&launch, ND4C_CL_OUT(y), ND4C_CL_LONG(y->strides[axis]),
               ND4C_CL_INT(call->attrs[ND4C_ATTR_cumulative_sum_exclusive].as.i != 0,
                           initial && call->attrs[ND4C_ATTR_cumulative_sum_include_initial].as.i != 0));
  return run_items(&c, &launch, walk.size * c.pieces);
}

static nd4c_status best_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  int32_t axis = scan_axis(call);
  char reason[128];
  nd4c_cl_walk walk;
  nd4c_cl_options options = {{0}};
  nd4c_cl_launch launch;
  if (!lines_walk(call, axis, &walk, reason, sizeof reason))
    return nd4c_cl_host->fail(ND4C_INTERNAL, "%s: %s", call->op->name, reason);
  nd4c_cl_define(&options, "SCAN_best", "1");
  ND4C_CL_TYPES(&options, "AY", x->dtype, call->outputs[0].dtype);
  nd4c_cl_define(&options, "VALUE", "COMPUTE_A");
  if (call->op->op == ND4C_OP_cumulative_min)
    nd4c_cl_define(&options, "LEAST", "1");
  if (!nd4c_cl_is_float(x->dtype))
    nd4c_cl_define(&options, "WHOLE", "1");
  cut c = cut_lines(call);
  along a = {.call = call, .options = &options, .walk = &walk, .cut = &c, .source = "scan", .reverse = -1};
  nd4c_status status = prepare_pieces(&a, "gather_best", "chain_best");
  if (status == ND4C_OK)
    status = begin_along(&a, "running_best", ND4C_CL_READ, &launch);
  if (status != ND4C_OK)
    return status;
  for (int i = 0; i < 2; i++) {
    ND4C_CL_ARGS(&launch, ND4C_CL_OUT(&call->outputs[i]), ND4C_CL_LONG(call->outputs[i].strides[axis]));
  }
  return run_items(&c, &launch, walk.size * c.pieces);
}

/* -- diff ---------------------------------------------------------------------------------------------------------- */

typedef struct diff {
  nd4c_cl_walk walk, pieces;
  const nd4c_tensor *arrays[3]; /* x, prepend, append */
  int64_t lengths[3];
  int32_t axis;
} diff;

static bool diff_plan(const nd4c_call *call, diff *d, char *reason, size_t reason_size) {
  const nd4c_tensor *y = &call->outputs[0];
  int64_t strides[5][ND4C_CL_MAX_RANK];
  d->axis = nd4c_axis(call->attrs[ND4C_ATTR_diff_axis].as.i, call->inputs[0].rank);
  d->arrays[0] = &call->inputs[0];
  d->arrays[1] = nd4c_cl_input(call, ND4C_IN_diff_prepend);
  d->arrays[2] = nd4c_cl_input(call, ND4C_IN_diff_append);
  for (int i = 0; i < 3; i++)
    d->lengths[i] = d->arrays[i] != NULL ? d->arrays[i]->shape[d->axis] : 0;
  for (int32_t axis = 0; axis < y->rank; axis++) {
    for (int i = 0; i < 3; i++)
      strides[i][axis] = axis == d->axis || d->lengths[i] == 0 ? 0 : d->arrays[i]->strides[axis];
    strides[3][axis] = y->strides[axis];
    strides[4][axis] = axis == d->axis;
  }
  const int64_t *const walked[] = {strides[3], strides[4]}, *const pieces[] = {strides[0], strides[1], strides[2]};
  if (call->attrs[ND4C_ATTR_diff_order].as.i > MOST_DIFFERENCES) {
    (void)snprintf(reason, reason_size, "differences of an order above %d", MOST_DIFFERENCES);
    return false;
  }
  return nd4c_cl_walk_strides(&d->walk, y->rank, y->shape, 2, walked, reason, reason_size) &&
         nd4c_cl_walk_strides(&d->pieces, y->rank, y->shape, 3, pieces, reason, reason_size);
}

static bool diff_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  diff d;
  return nd4c_cl_call_usable(call, reason, reason_size) && diff_plan(call, &d, reason, reason_size);
}

static nd4c_status diff_run(const nd4c_call *call) {
  static const char letters[] = {'A', 'B', 'C'};
  const nd4c_tensor *x = &call->inputs[0];
  char reason[128];
  diff d;
  nd4c_cl_options options = {{0}};
  nd4c_cl_launch launch;
  if (!diff_plan(call, &d, reason, sizeof reason))
    return nd4c_cl_host->fail(ND4C_INTERNAL, "diff: %s", reason);
  for (int i = 0; i < 3; i++)
    nd4c_cl_define_type(&options, letters[i], d.arrays[i] != NULL ? d.arrays[i]->dtype : x->dtype);
  nd4c_cl_define_type(&options, 'Y', call->outputs[0].dtype);
  const bool real = nd4c_cl_is_float(x->dtype);
  if (real)
    nd4c_cl_define_pair(&options, call);
  nd4c_cl_define(&options, "VALUE", "%s", real ? "REAL" : nd4c_cl_wrapping(x->dtype, "COMPUTE_A"));
  nd4c_cl_define(&options, "MOST", "%d", MOST_DIFFERENCES);
  if (!real)
    nd4c_cl_define(&options, "WHOLE", "1");
  nd4c_status status =
      nd4c_cl_begin(&launch, call, real ? ND4C_CL_BY_PAIRS(call, "scan") : "scan", "differences", &options);
  if (status != ND4C_OK)
    return status;
  ND4C_CL_ARGS(&launch, ND4C_CL_VALUE(d.walk), ND4C_CL_VALUE(d.pieces));
  for (int i = 0; i < 3; i++) {
    ND4C_CL_ARGS(&launch, ND4C_CL_IN(d.lengths[i] > 0 ? d.arrays[i] : x),
                 ND4C_CL_LONG(d.lengths[i] > 0 ? d.arrays[i]->strides[d.axis] : 0));
    if (i < 2)
      nd4c_cl_arg_long(&launch, d.lengths[i]);
  }
  ND4C_CL_ARGS(&launch, ND4C_CL_OUT(&call->outputs[0]), ND4C_CL_INT((int32_t)call->attrs[ND4C_ATTR_diff_order].as.i));
  return nd4c_cl_launch_run(&launch, 1, &d.walk.size, NULL);
}

ND4C_CL_KERNEL(cumulative_sum, ND4C_CL_ALL, usable, cumulative_run, cut_scratch)
ND4C_CL_KERNEL(cumulative_prod, ND4C_CL_ALL, usable, cumulative_run, cut_scratch)
ND4C_CL_KERNEL(cumulative_logsumexp, ND4C_CL_FLOATS, usable, cumulative_run, cut_scratch)
ND4C_CL_KERNEL(cumulative_max, ND4C_CL_REALS, usable, best_run, cut_scratch)
ND4C_CL_KERNEL(cumulative_min, ND4C_CL_REALS, usable, best_run, cut_scratch)
ND4C_CL_KERNEL(diff, ND4C_CL_REALS, diff_usable, diff_run, NULL)

const nd4c_kernel *const nd4c_cl_statistics_scan_kernels[] = {&opencl_cumulative_sum,
                                                              &opencl_cumulative_prod,
                                                              &opencl_cumulative_logsumexp,
                                                              &opencl_cumulative_max,
                                                              &opencl_cumulative_min,
                                                              &opencl_diff,
                                                              NULL};
