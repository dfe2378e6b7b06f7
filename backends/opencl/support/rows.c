/* Launches of rows.cl. */
#include <stdio.h>
#include <string.h>

#include "backends/opencl/support/rows.h"

enum { GROUP = 128, LONG_ROW = 256, ROWS_OF_EIGHT = 16 };

static bool make_walks(const nd4c_cl_rows *r, nd4c_cl_walk *kept, nd4c_cl_walk *inner, char *reason,
                       size_t reason_size) {
  int64_t shape[2][ND4C_CL_AXES], strides[2][4][ND4C_CL_AXES];
  int32_t rank[2] = {0, 0};
  bool statistics = r->extra == ND4C_CL_ROWS_STATISTICS;
  for (int32_t axis = 0; axis < r->rank; axis++) {
    int side = r->inner[axis] ? 1 : 0;
    int32_t place = rank[side]++;
    shape[side][place] = r->shape[axis];
    strides[side][0][place] = r->x_strides[axis];
    strides[side][1][place] = r->y_strides[axis];
    strides[side][2][place] = side == 0 && statistics ? r->statistics_strides[0][axis] : r->scale_strides[axis];
    strides[side][3][place] = side == 0 && statistics ? r->statistics_strides[1][axis] : r->bias_strides[axis];
  }
  const int64_t *const outer_strides[] = {strides[0][0], strides[0][1], strides[0][2], strides[0][3]};
  const int64_t *const inner_strides[] = {strides[1][0], strides[1][1], strides[1][2], strides[1][3]};
  return nd4c_cl_walk_strides(kept, rank[0], shape[0], 4, outer_strides, reason, reason_size) &&
         nd4c_cl_walk_strides(inner, rank[1], shape[1], 4, inner_strides, reason, reason_size);
}

bool nd4c_cl_rows_usable(const nd4c_cl_rows *rows, char *reason, size_t reason_size) {
  nd4c_cl_walk kept, inner;
  return make_walks(rows, &kept, &inner, reason, reason_size);
}

static int64_t step_of(const nd4c_cl_walk *walk) {
  int64_t step = walk->rank > 0 ? walk->strides[0][walk->rank - 1] : INT64_MAX;
  return step < 0 ? -step : step;
}

/* What is compared and exponentials, which need no more than float where there is no float64. */
static bool is_plain(const nd4c_cl_rows *r) {
  return strcmp(r->what, "softmax") == 0 || strcmp(r->what, "log_softmax") == 0 || strcmp(r->what, "hardmax") == 0;
}

static void arg_number(nd4c_cl_launch *launch, const nd4c_cl_rows *r, double value) {
  if (is_plain(r))
    nd4c_cl_arg_real(launch, value);
  else
    nd4c_cl_arg_pair(launch, value);
}

static void extras(nd4c_cl_launch *launch, const nd4c_cl_rows *r) {
  if (r->extra == ND4C_CL_ROWS_RUNNING) {
    for (int i = 0; i < 2; i++) {
      nd4c_cl_arg_tensor(launch, r->running[i], ND4C_CL_READ);
      nd4c_cl_arg_long(launch, r->running[i]->strides[0]);
    }
    for (int i = 0; i < 2; i++) {
      nd4c_cl_arg_tensor(launch, r->statistics[i], ND4C_CL_WRITE);
      nd4c_cl_arg_long(launch, r->statistics[i]->strides[0]);
    }
  } else if (r->extra == ND4C_CL_ROWS_STATISTICS) {
    nd4c_cl_arg_tensor(launch, r->statistics[0], ND4C_CL_WRITE);
    nd4c_cl_arg_tensor(launch, r->statistics[1], ND4C_CL_WRITE);
  }
  if (r->extra == ND4C_CL_ROWS_RUNNING || r->extra == ND4C_CL_ROWS_LIMIT)
    arg_number(launch, r, r->limit);
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
  if (is_plain(r))
    nd4c_cl_define_real(&options, call);
  else
    nd4c_cl_define_pair(&options, call);
  nd4c_cl_define_type(&options, 'A', r->x->dtype);
  if (r->of_pairs)
    nd4c_cl_define(&options, "OF_PAIRS", "1");
  nd4c_cl_define_type(&options, 'B', r->scale != NULL ? r->scale->dtype : r->x->dtype);
  nd4c_cl_define_type(&options, 'C', r->bias != NULL ? r->bias->dtype : r->x->dtype);
  nd4c_cl_define_type(&options, 'Y', r->y->dtype);
  if (r->extra == ND4C_CL_ROWS_RUNNING || r->extra == ND4C_CL_ROWS_STATISTICS) {
    nd4c_cl_define_type(&options, 'D', r->statistics[0]->dtype);
    nd4c_cl_define(&options, r->extra == ND4C_CL_ROWS_RUNNING ? "RUNNING" : "STATISTICS", "1");
  }
  if (r->extra == ND4C_CL_ROWS_RUNNING)
    nd4c_cl_define_type(&options, 'E', r->running[0]->dtype);
  if (eight) {
    nd4c_cl_define(&options, "EIGHT", "%s", nd4c_cl_wide(call) ? "double8" : "float8");
    nd4c_cl_define(&options, "CAST_EIGHT", "%s", nd4c_cl_wide(call) ? "convert_double8" : "convert_float8");
  }
  nd4c_cl_define_index(&options, call);
  return options;
}

nd4c_status nd4c_cl_rows_run(const nd4c_call *call, const nd4c_cl_rows *r) {
  const nd4c_cl_limits *limits = nd4c_cl_device_limits(call->device);
  char reason[128];
  nd4c_cl_walk kept, inner;
  nd4c_cl_launch launch;
  int64_t group = GROUP, lanes = 1;
  if (!make_walks(r, &kept, &inner, reason, sizeof reason))
    return nd4c_cl_host->fail(ND4C_INTERNAL, "%s: %s", call->op->name, reason);
  while (group > 1 && (group > limits->group_size || group * (int64_t)sizeof(double) > limits->local_bytes))
    group /= 2;
  const bool eight = by_eight(call, r, &inner);
  nd4c_cl_options options = options_of(call, r, eight);
  const char *source = is_plain(r) ? "real+share+rows" : ND4C_CL_BY_PAIRS(call, "share+rows");
  ND4C_BACKEND_TRY(nd4c_cl_begin(&launch, call, source, "rows", &options));
  group = eight ? (inner.size < LONG_ROW ? ROWS_OF_EIGHT : 1) : group;
  group = nd4c_cl_kernel_fit(launch.kernel, group);
  bool rows_next = kept.rank > 0 && step_of(&kept) < step_of(&inner);
  while (!eight && lanes < group && lanes < inner.size / (rows_next ? 16 : 4))
    lanes *= 2;
  int64_t rows = group / lanes, global = (kept.size + rows - 1) / rows * group;
  nd4c_cl_arg_bytes(&launch, &kept, sizeof kept);
  nd4c_cl_arg_bytes(&launch, &inner, sizeof inner);
  nd4c_cl_arg_tensor(&launch, r->x, ND4C_CL_READ);
  nd4c_cl_arg_tensor(&launch, r->y, ND4C_CL_WRITE);
  nd4c_cl_arg_tensor(&launch, r->scale != NULL ? r->scale : r->x, ND4C_CL_READ);
  nd4c_cl_arg_tensor(&launch, r->bias != NULL ? r->bias : r->x, ND4C_CL_READ);
  nd4c_cl_arg_int(&launch, r->scale != NULL);
  nd4c_cl_arg_int(&launch, r->bias != NULL);
  arg_number(&launch, r, r->parameter);
  nd4c_cl_arg_int(&launch, (int32_t)lanes);
  nd4c_cl_arg_int(&launch, rows_next);
  nd4c_cl_arg_local(&launch, (size_t)group * sizeof(double));
  extras(&launch, r);
  return nd4c_cl_launch_run(&launch, 1, &global, &group);
}
