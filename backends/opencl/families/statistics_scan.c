/* Running sums, products and extremes along an axis; differences. dispatch/choice.c asks these kernels for arrays on
 * OpenCL devices. */
#include <string.h>

#include "backends/opencl/support/reduction.h"

enum { MOST_DIFFERENCES = 16 };

/* Walk over all axes but one. */
static nd4c_status lines_walk(const nd4c_cl_step *step, int32_t axis, nd4c_cl_walk *walk) {
  const nd4c_tensor *x = &step->call->inputs[0], *y = step->call->outputs;
  const int64_t *const strides[] = {x->strides, y->strides, y[step->call->output_count - 1].strides};
  int64_t shape[ND4C_CL_MAX_RANK];
  memcpy(shape, x->shape, (size_t)x->rank * sizeof *shape);
  shape[axis] = 1;
  return nd4c_cl_step_walk(step, walk, x->rank, shape, 3, strides);
}

static int32_t scan_axis(const nd4c_call *call) {
  return nd4c_axis(ND4C_INT_OF(call, cumulative_sum_axis), call->inputs[0].rank);
}

/* -- pieces -------------------------------------------------------------------------------------------------------- */

enum {
  STATE_BYTES = 64,   /* at least what a state of scan.cl takes */
  LEAST_PIECE = 4096, /* elements */
  MOST_PIECES = 1024, /* of a line: one work item goes over them */
  GPU_ITEMS = 512,    /* for each compute unit: with fewer lines, lines are cut */
  CPU_ITEMS = 2,      /* the same on processors, where one work item fills a thread */
  CPU_UNITS = 4,      /* of a processor at least: with two, going through lines twice costs more than it saves */
  LAUNCH_GROUP = 64   /* work items of a group by default */
};

typedef struct cut {
  int64_t pieces, lines, length;
  int64_t group; /* work items of a group; 0: whatever */
} cut;

/* Cut lines are read twice, so a cut pays only with several work items. A processor runs the items of a group one after
 * the other: there, each of few lines or pieces is a group, except for neighbouring lines, which share cache lines. */
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

/* What the launches of a scan have in common. */
typedef struct along {
  const nd4c_call *call;
  const char *source;
  nd4c_cl_options options;
  nd4c_cl_walk walk;
  cut cut;
  int32_t reverse; /* -1: the kernels have no such argument */
} along;

/* A launch of one of scan.cl's kernels that go along lines: their first arguments, then those of the list. */
static nd4c_status go_along(const along *a, const char *function, nd4c_cl_access access, int64_t items,
                            const nd4c_cl_given *list) {
  const nd4c_tensor *x = &a->call->inputs[0];
  bool in_pieces = a->cut.pieces > 1; /* without pieces nothing looks at their states */
  const nd4c_cl_given reverse = ND4C_CL_INT(a->reverse), none = {0};
  nd4c_cl_launch launch;
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, a->call, a->source, function, &a->options));
  ND4C_CL_ARGS(&launch, ND4C_CL_VALUE(a->walk), ND4C_CL_IN(x),
               ND4C_CL_LONG(x->strides[scan_axis(a->call)], a->cut.length), a->reverse >= 0 ? reverse : none);
  ND4C_CL_ARGS(&launch, ND4C_CL_LONG(a->cut.pieces),
               ND4C_CL_BUFFER(in_pieces ? a->call->scratch_buffer : x->buffer, in_pieces ? access : ND4C_CL_READ));
  nd4c_cl_launch_give(&launch, list);
  return nd4c_cl_launch_run(&launch, 1, &items, a->cut.group > 0 ? &a->cut.group : NULL);
}

/* What comes before each piece, into the scratch buffer. */
static nd4c_status prepare_pieces(const along *a, const char *gather, const char *chain) {
  const nd4c_cl_given none[] = {{0}};
  if (a->cut.pieces == 1) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(go_along(a, gather, ND4C_CL_WRITE, a->cut.lines * a->cut.pieces, none));
  return go_along(a, chain, ND4C_CL_READ_WRITE, a->cut.lines, none);
}

/* -- running sums, products and extremes --------------------------------------------------------------------------- */

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
  nd4c_cl_define(&options, "VALUE", "%s", real ? "REAL" : nd4c_cl_wrapping(y, "COMPUTE(Y)"));
  nd4c_cl_define_if(&options, real && !wide && op == ND4C_OP_cumulative_sum, "COMPENSATED");
  nd4c_cl_define_if(&options, !real, "WHOLE");
  nd4c_cl_define_if(&options, cast, "CAST");
  return options;
}

static nd4c_status cumulate(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *y = &call->outputs[0];
  bool initial = call->op->op != ND4C_OP_cumulative_logsumexp;
  bool cast = nd4c_cl_must_cast(call->inputs[0].dtype, y->dtype);
  along a = {.call = call, .source = cast ? "convert+scan" : "scan", .cut = cut_lines(call)};
  ND4C_BACKEND_TRY(lines_walk(step, scan_axis(call), &a.walk));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  a.options = cumulative_options(call, cast);
  a.reverse = ND4C_FLAG_OF(call, cumulative_sum_reverse);
  ND4C_BACKEND_TRY(prepare_pieces(&a, "gather_pieces", "chain_pieces"));
  return go_along(&a, "cumulate", ND4C_CL_READ, a.walk.size * a.cut.pieces,
                  ND4C_CL_GIVEN_LIST(ND4C_CL_OUT(y), ND4C_CL_LONG(y->strides[scan_axis(call)]),
                                     ND4C_CL_INT(ND4C_FLAG_OF(call, cumulative_sum_exclusive),
                                                 initial && ND4C_FLAG_OF(call, cumulative_sum_include_initial))));
}

static nd4c_status running_best(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0], *places = &call->outputs[1];
  const int32_t axis = scan_axis(call);
  along a = {.call = call, .source = "scan", .cut = cut_lines(call), .reverse = -1};
  ND4C_BACKEND_TRY(lines_walk(step, axis, &a.walk));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  nd4c_cl_define(&a.options, "SCAN_best", "1");
  ND4C_CL_TYPES(&a.options, "AY", x->dtype, y->dtype);
  nd4c_cl_define(&a.options, "VALUE", "COMPUTE(A)");
  nd4c_cl_define_if(&a.options, call->op->op == ND4C_OP_cumulative_min, "LEAST");
  nd4c_cl_define_if(&a.options, !nd4c_cl_is_float(x->dtype), "WHOLE");
  ND4C_BACKEND_TRY(prepare_pieces(&a, "gather_best", "chain_best"));
  return go_along(&a, "running_best", ND4C_CL_READ, a.walk.size * a.cut.pieces,
                  ND4C_CL_GIVEN_LIST(ND4C_CL_OUT(y), ND4C_CL_LONG(y->strides[axis]), ND4C_CL_OUT(places),
                                     ND4C_CL_LONG(places->strides[axis])));
}

/* -- diff ---------------------------------------------------------------------------------------------------------- */

static nd4c_status diff(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const nd4c_tensor *arrays[3] = {x, nd4c_cl_input(call, ND4C_IN_diff_prepend),
                                  nd4c_cl_input(call, ND4C_IN_diff_append)};
  const int32_t along_axis = nd4c_axis(ND4C_INT_OF(call, diff_axis), x->rank);
  int64_t strides[5][ND4C_CL_MAX_RANK], lengths[3], steps[3];
  const int64_t *const walked[] = {strides[3], strides[4]}, *const parts[] = {strides[0], strides[1], strides[2]};
  nd4c_cl_walk walk, pieces;
  for (int i = 0; i < 3; i++) {
    lengths[i] = arrays[i] != NULL ? arrays[i]->shape[along_axis] : 0;
    arrays[i] = lengths[i] > 0 ? arrays[i] : NULL;
    steps[i] = nd4c_cl_stride_of(arrays[i], along_axis);
  }
  for (int32_t axis = 0; axis < y->rank; axis++) {
    for (int i = 0; i < 3; i++) {
      strides[i][axis] = axis == along_axis ? 0 : nd4c_cl_stride_of(arrays[i], axis);
    }
    strides[3][axis] = y->strides[axis];
    strides[4][axis] = axis == along_axis;
  }
  if (ND4C_INT_OF(call, diff_order) > MOST_DIFFERENCES) {
    return nd4c_cl_step_refuse(step, "differences of an order above %d", MOST_DIFFERENCES);
  }
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, y->rank, y->shape, 2, walked));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &pieces, y->rank, y->shape, 3, parts));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  const bool real = nd4c_cl_is_float(x->dtype);
  nd4c_cl_options options = {{0}};
  ND4C_CL_TYPES(&options, "ABCY", x->dtype, nd4c_cl_dtype_of(nd4c_cl_input(call, ND4C_IN_diff_prepend), x->dtype),
                nd4c_cl_dtype_of(nd4c_cl_input(call, ND4C_IN_diff_append), x->dtype), y->dtype);
  if (real) {
    nd4c_cl_define_pair(&options, call);
  }
  nd4c_cl_define(&options, "VALUE", "%s", real ? "REAL" : nd4c_cl_wrapping(x->dtype, "COMPUTE(A)"));
  nd4c_cl_define(&options, "MOST", "%d", MOST_DIFFERENCES);
  nd4c_cl_define_if(&options, !real, "WHOLE");
  return ND4C_CL_RUN(call, real ? ND4C_CL_BY_PAIRS(call, "scan") : "scan", "differences", options, walk.size,
                     ND4C_CL_VALUE(walk), ND4C_CL_VALUE(pieces), ND4C_CL_IN(arrays[0]),
                     ND4C_CL_LONG(steps[0], lengths[0]), ND4C_CL_IN(arrays[1]), ND4C_CL_LONG(steps[1], lengths[1]),
                     ND4C_CL_IN(arrays[2]), ND4C_CL_LONG(steps[2]), ND4C_CL_OUT(y),
                     ND4C_CL_INT((int32_t)ND4C_INT_OF(call, diff_order)));
}

#define OPS(X)                                                         \
  X(cumulative_sum, ND4C_CL_ALL, cumulate(step), cut_scratch)          \
  X(cumulative_prod, ND4C_CL_ALL, cumulate(step), cut_scratch)         \
  X(cumulative_logsumexp, ND4C_CL_FLOATS, cumulate(step), cut_scratch) \
  X(cumulative_max, ND4C_CL_REALS, running_best(step), cut_scratch)    \
  X(cumulative_min, ND4C_CL_REALS, running_best(step), cut_scratch)    \
  X(diff, ND4C_CL_REALS, diff(step), NULL)
OPS(ND4C_CL_STEP_KERNEL)

const nd4c_kernel *const nd4c_cl_statistics_scan_kernels[] = {OPS(ND4C_CL_LISTED) NULL};
