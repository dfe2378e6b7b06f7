/* Implements resize.h. */
#include "backends/cpu/support/resize.h"

#include "backends/cpu/reference/reference.h"

/* How one axis is resized. */
typedef struct axis_setting {
  nd4c_ref_resize_setting setting;
  double scale, width, bounds[2];
} axis_setting;

static nd4c_ref_resize_setting setting_of(const nd4c_call *call) {
  return (nd4c_ref_resize_setting){.mode = ND4C_INT_OF(call, resize_mode),
                                   .coordinates = ND4C_INT_OF(call, resize_coordinates),
                                   .nearest = ND4C_INT_OF(call, resize_nearest),
                                   .cubic_a = ND4C_REAL_OF(call, resize_cubic_a),
                                   .exclude_outside = ND4C_FLAG_OF(call, resize_exclude_outside),
                                   .antialias = ND4C_FLAG_OF(call, resize_antialias)};
}

static axis_setting axis_of(const nd4c_call *call, int32_t axis, nd4c_ref_resize_axis *table) {
  const nd4c_resize_lists lists = nd4c_resize_lists_of(call);
  const int32_t entry = nd4c_resize_entry(&lists, axis);
  axis_setting a = {.setting = setting_of(call), .scale = 1, .bounds = {0, 1}};
  *table = (nd4c_ref_resize_axis){.in = call->inputs[0].shape[axis], .out = call->outputs[0].shape[axis]};
  if (entry < 0 || table->out == 0) {
    a.setting = (nd4c_ref_resize_setting){.mode = a.setting.mode, .coordinates = ND4C_RESIZE_COORDINATES_ASYMMETRIC};
  } else {
    a.scale = nd4c_resize_scale(&lists, entry);
  }
  a.width = nd4c_resize_width(&lists, a.scale, table->in, table->out);
  table->taps = nd4c_ref_resize_taps(&a.setting, a.scale);
  return a;
}

void nd4c_cpu_resize_describe(const nd4c_call *call, int32_t axis, nd4c_ref_resize_axis *table) {
  (void)axis_of(call, axis, table);
}

/* The box of an axis that is cropped. */
static void read_bounds(const nd4c_call *call, int32_t axis, axis_setting *a) {
  const nd4c_resize_lists lists = nd4c_resize_lists_of(call);
  const int32_t entry = nd4c_resize_entry(&lists, axis);
  if (entry >= 0 && ND4C_INT_OF(call, resize_coordinates) == ND4C_RESIZE_COORDINATES_TF_CROP_AND_RESIZE) {
    const nd4c_ref_tensor list = nd4c_cpu_ref_tensor(nd4c_cpu_input(call, ND4C_IN_resize_roi));
    a->bounds[0] = nd4c_ref_load(&list, entry * list.strides[0]);
    a->bounds[1] = nd4c_ref_load(&list, (entry + list.shape[0] / 2) * list.strides[0]);
  }
}

static int64_t flag_bytes(const nd4c_ref_resize_axis *table) {
  return (table->out * (int64_t)sizeof(bool) + 7) & ~(int64_t)7;
}

int64_t nd4c_cpu_resize_bytes(const nd4c_call *call) {
  int64_t bytes = 0;
  for (int32_t axis = 0; axis < call->inputs[0].rank; axis++) {
    nd4c_ref_resize_axis table;
    nd4c_cpu_resize_describe(call, axis, &table);
    bytes += table.out * table.taps * (int64_t)(sizeof(int64_t) + sizeof(double)) + flag_bytes(&table);
  }
  return bytes;
}

void nd4c_cpu_resize_fill(const nd4c_call *call, void *memory, nd4c_ref_resize_axis *axes) {
  char *at = memory;
  for (int32_t axis = 0; axis < call->inputs[0].rank; axis++) {
    nd4c_ref_resize_axis *table = &axes[axis];
    axis_setting a = axis_of(call, axis, table);
    const int64_t taps = table->out * table->taps;
    table->index = (int64_t *)(void *)at;
    table->weight = (double *)(void *)(table->index + taps);
    table->outside = (bool *)(table->weight + taps);
    at = (char *)table->outside + flag_bytes(table);
    memset(table->index, 0, (size_t)(at - (char *)table->index));
    read_bounds(call, axis, &a);
    nd4c_ref_resize_fill(&a.setting, a.scale, a.width, a.bounds, table);
  }
}
