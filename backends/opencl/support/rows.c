/* Launches of rows.cl, for families/normalization.c: how a row is shared among work items. */
#include <stdio.h>
#include <string.h>

#include "backends/opencl/support/rows.h"

enum { GROUP = 128, LONG_ROW = 256, ROWS_OF_EIGHT = 16 };

/* Operands of a row's elements: x, y, scale, bias; of the rows: x, y, and scale and bias or the statistics. */
static nd4c_status make_walks(const nd4c_cl_step *step, const nd4c_cl_rows *r, nd4c_cl_walk *kept,
                              nd4c_cl_walk *inner) {
  int64_t strides[2][ND4C_CL_AXES];
  const int64_t *const all[] = {r->x_strides, r->y_strides, strides[0], strides[1]};
  for (int32_t axis = 0; axis < r->rank; axis++) {
    bool statistics = r->extra == ND4C_CL_ROWS_STATISTICS && !r->inner[axis];
    strides[0][axis] = statistics ? r->statistics_strides[0][axis] : r->scale_strides[axis];
    strides[1][axis] = statistics ? r->statistics_strides[1][axis] : r->bias_strides[axis];
  }
  return nd4c_cl_step_walk_split(step, kept, inner, r->rank, r->shape, r->inner, (const int32_t[]){4, 4}, all);
}

/* What is compared and exponentials, which need no more than float where there is no float64. */
static bool is_plain(const nd4c_cl_rows *r) {
  return strcmp(r->what, "softmax") == 0 || strcmp(r->what, "log_softmax") == 0 || strcmp(r->what, "hardmax") == 0;
}

/* Dense rows of float32 that a processor's vectors go through (EIGHT of rows.cl). */
static bool by_eight(const nd4c_call *call, const nd4c_cl_rows *r, const nd4c_cl_walk *inner) {
  bool what = strcmp(r->what, "softmax") == 0 || strcmp(r->what, "log_softmax") == 0;
  return what && nd4c_cl_device_limits(call->device)->is_cpu && r->x->dtype == ND4C_FLOAT32 &&
         r->y->dtype == ND4C_FLOAT32 && inner->rank == 1 && inner->strides[0][0] == 1 && inner->strides[1][0] == 1;
}

static nd4c_cl_options options_of(const nd4c_call *call, const nd4c_cl_rows *r, bool eight) {
  nd4c_cl_options options = {{0}};
  char name[64];
  (void)snprintf(name, sizeof name, "ROW_%s", r->what);
  nd4c_cl_define(&options, name, "1");
  (is_plain(r) ? nd4c_cl_define_real : nd4c_cl_define_pair)(&options, call);
  nd4c_cl_define_type(&options, 'A', r->x->dtype);
  nd4c_cl_define_if(&options, r->of_pairs, "OF_PAIRS");
  ND4C_CL_TYPES(&options, "BCY", nd4c_cl_dtype_of(r->scale, r->x->dtype), nd4c_cl_dtype_of(r->bias, r->x->dtype),
                r->y->dtype);
  if (r->extra == ND4C_CL_ROWS_RUNNING || r->extra == ND4C_CL_ROWS_STATISTICS) {
    nd4c_cl_define_type(&options, 'D', r->statistics[0]->dtype);
    nd4c_cl_define(&options, r->extra == ND4C_CL_ROWS_RUNNING ? "RUNNING" : "STATISTICS", "1");
  }
  if (r->extra == ND4C_CL_ROWS_RUNNING) {
    nd4c_cl_define_type(&options, 'E', r->running[0]->dtype);
  }
  if (eight) {
    nd4c_cl_define(&options, "EIGHT", "%s", nd4c_cl_wide(call) ? "double8" : "float8");
    nd4c_cl_define(&options, "CAST_EIGHT", "%s", nd4c_cl_wide(call) ? "convert_double8" : "convert_float8");
  }
  nd4c_cl_define_index(&options, call);
  return options;
}

/* A number of the kernel's type. */
static nd4c_cl_given number_of(const nd4c_cl_rows *r, const double *value) {
  return (nd4c_cl_given){.kind = is_plain(r) ? ND4C_CL_GIVEN_REALS : ND4C_CL_GIVEN_PAIRS, .at = value, .count = 1};
}

static void extras(nd4c_cl_launch *launch, const nd4c_cl_rows *r) {
  if (r->extra == ND4C_CL_ROWS_RUNNING) {
    ND4C_CL_ARGS(launch, ND4C_CL_STRIDED(r->running[0], READ), ND4C_CL_STRIDED(r->running[1], READ),
                 ND4C_CL_STRIDED(r->statistics[0], WRITE), ND4C_CL_STRIDED(r->statistics[1], WRITE));
  }
  if (r->extra == ND4C_CL_ROWS_STATISTICS) {
    ND4C_CL_ARGS(launch, ND4C_CL_OUT(r->statistics[0]), ND4C_CL_OUT(r->statistics[1]));
  }
  if (r->extra == ND4C_CL_ROWS_RUNNING || r->extra == ND4C_CL_ROWS_LIMIT) {
    ND4C_CL_ARGS(launch, number_of(r, &r->limit));
  }
}

nd4c_status nd4c_cl_rows_step(const nd4c_cl_step *step, const nd4c_cl_rows *r) {
  const nd4c_call *call = step->call;
  nd4c_cl_walk kept, inner;
  nd4c_cl_launch launch;
  int64_t group = nd4c_cl_group_within(call, GROUP, sizeof(double)), lanes = 1;
  ND4C_BACKEND_TRY(make_walks(step, r, &kept, &inner));
  if (nd4c_cl_is_dry(step)) {
    return nd4c_cl_step_call(step);
  }
  const bool eight = by_eight(call, r, &inner);
  nd4c_cl_options options = options_of(call, r, eight);
  const char *source = is_plain(r) ? "real+share+rows" : ND4C_CL_BY_PAIRS(call, "share+rows");
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, source, "rows", &options));
  group = eight ? (inner.size < LONG_ROW ? ROWS_OF_EIGHT : 1) : group;
  group = nd4c_cl_kernel_fit(launch.kernel, group);
  bool rows_next = kept.rank > 0 && nd4c_cl_walk_step(&kept) < nd4c_cl_walk_step(&inner);
  while (!eight && lanes < group && lanes < inner.size / (rows_next ? 16 : 4)) {
    lanes *= 2;
  }
  int64_t rows = group / lanes, global = (kept.size + rows - 1) / rows * group;
  ND4C_CL_ARGS(&launch, ND4C_CL_VALUE(kept), ND4C_CL_VALUE(inner), ND4C_CL_IN(r->x), ND4C_CL_OUT(r->y),
               ND4C_CL_IN(r->scale), ND4C_CL_IN(r->bias), ND4C_CL_INT(r->scale != NULL, r->bias != NULL),
               number_of(r, &r->parameter), ND4C_CL_INT((int32_t)lanes, rows_next),
               ND4C_CL_LOCAL((size_t)group * sizeof(double)));
  extras(&launch, r);
  return nd4c_cl_launch_run(&launch, 1, &global, &group);
}
