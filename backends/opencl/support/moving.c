/* Implements moving.h: steps of a call, walks, options of programs, moves of elements. Nearly every family calls it. */
#include "backends/opencl/support/moving.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

nd4c_status nd4c_cl_step_refuse(const nd4c_cl_step *step, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (nd4c_cl_is_dry(step)) {
    (void)snprintf(step->reason, step->reason_size, "%s", text);
    return ND4C_UNSUPPORTED;
  }
  return nd4c_cl_host->fail(ND4C_UNSUPPORTED, "%s: %s", step->call->op->name, text);
}

nd4c_status nd4c_cl_step_call(const nd4c_cl_step *step) {
  return nd4c_cl_call_usable(step->call, step->reason, step->reason_size) ? ND4C_OK : ND4C_UNSUPPORTED;
}

nd4c_status nd4c_cl_step_fp64(const nd4c_cl_step *step) {
  return nd4c_cl_fp64_usable(step->call->device, step->reason, step->reason_size) ? nd4c_cl_step_call(step)
                                                                                  : ND4C_UNSUPPORTED;
}

nd4c_status nd4c_cl_step_dtype(const nd4c_cl_step *step, nd4c_dtype dtype) {
  return nd4c_cl_dtype_usable(step->call->device, dtype, step->reason, step->reason_size) ? ND4C_OK : ND4C_UNSUPPORTED;
}

int32_t nd4c_cl_element_bytes(nd4c_dtype dtype) {
#define ELEMENT_BYTES(NAME, name, number, build, kind, bits, ...) \
  [number] = (bits) < 8 || ND4C_KIND_##kind == ND4C_KIND_STRING ? 0 : (bits) / 8,
  static const int32_t bytes[ND4C_DTYPE_END] = {ND4C_DTYPE_TABLE(ELEMENT_BYTES)};
#undef ELEMENT_BYTES
  return dtype > 0 && dtype < ND4C_DTYPE_END ? bytes[dtype] : 0;
}

static bool is_movable(const nd4c_tensor *tensor) {
  return tensor->dtype == ND4C_DTYPE_NONE || nd4c_cl_element_bytes(tensor->dtype) > 0;
}

bool nd4c_cl_step_dry(const nd4c_call *call, nd4c_cl_step_function function, char *reason, size_t reason_size) {
  char room[256];
  const nd4c_cl_step step = {call, reason != NULL ? reason : room, reason != NULL ? reason_size : sizeof room};
  return function(&step) == ND4C_OK;
}

bool nd4c_cl_step_usable(const nd4c_call *call, nd4c_cl_step_function function, char *reason, size_t reason_size) {
  for (int32_t i = 0; i < call->input_count + call->output_count; i++) {
    const nd4c_tensor *tensor = i < call->input_count ? &call->inputs[i] : &call->outputs[i - call->input_count];
    if (!is_movable(tensor)) {
      (void)snprintf(reason, reason_size, "strings and dtypes of less than a byte stay with the CPU");
      return false;
    }
    if (tensor->layout != ND4C_LAYOUT_STRIDED) {
      (void)snprintf(reason, reason_size, "operand %d is not strided", (int)i);
      return false;
    }
  }
  return nd4c_cl_step_dry(call, function, reason, reason_size);
}

/* -- launches ------------------------------------------------------------------------------------------------------ */

static const char *unit_of(nd4c_dtype dtype) {
  switch (nd4c_cl_element_bytes(dtype)) {
    case 1:
      return "uchar";
    case 2:
      return "ushort";
    case 4:
      return "uint";
    case 8:
      return "ulong";
    default:
      return "ulong2";
  }
}

nd4c_cl_options nd4c_cl_unit_options(const nd4c_call *call, nd4c_dtype dtype) {
  nd4c_cl_options options = {""};
  nd4c_cl_define_index(&options, call);
  if (dtype != ND4C_DTYPE_NONE) {
    nd4c_cl_define(&options, "UNIT", "%s", unit_of(dtype));
  }
  return options;
}

nd4c_cl_options nd4c_cl_typed_options(const nd4c_call *call, nd4c_dtype dtype) {
  nd4c_cl_options options = {""};
  nd4c_cl_define_index(&options, call);
  nd4c_cl_define_type(&options, 'A', dtype);
  return options;
}

nd4c_cl_options nd4c_cl_op_options(const nd4c_call *call) {
  nd4c_cl_options options = {""};
  ND4C_CL_TYPES(&options, "ABY", call->inputs[0].dtype, call->inputs[1].dtype, call->outputs[0].dtype);
  nd4c_cl_define_index(&options, call);
  return options;
}

/* -- moves --------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_cl_move(const nd4c_cl_step *step, int32_t rank, const int64_t *shape, const nd4c_tensor *from,
                         int64_t from_shift, const int64_t *from_strides, const nd4c_tensor *to, int64_t to_shift,
                         const int64_t *to_strides) {
  const int64_t *strides[2] = {from_strides, to_strides};
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &walk, rank, shape, 2, strides));
  return ND4C_CL_STEP_UNITS(step, "places+move", "move", to->dtype, walk.size, ND4C_CL_IN_AT(from, from_shift),
                            ND4C_CL_OUT_AT(to, to_shift), ND4C_CL_VALUE(walk));
}

nd4c_status nd4c_cl_copy(const nd4c_cl_step *step, const nd4c_tensor *x, const nd4c_tensor *y) {
  bool same = !nd4c_cl_is_dry(step) && x->buffer == y->buffer && x->offset == y->offset;
  return same ? ND4C_OK : nd4c_cl_move(step, y->rank, y->shape, x, 0, x->strides, y, 0, y->strides);
}

nd4c_status nd4c_cl_zero(const nd4c_cl_step *step, const nd4c_tensor *y) {
  nd4c_cl_walk walk;
  ND4C_BACKEND_TRY(nd4c_cl_step_walk_all(step, &walk, y));
  return ND4C_CL_STEP_UNITS(step, "places+move", "zero", y->dtype, walk.size, ND4C_CL_OUT(y), ND4C_CL_VALUE(walk));
}

/* -- windows ------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_cl_columns_make(const nd4c_cl_step *step, const nd4c_attr_value *attrs, const nd4c_tensor *image,
                                 const nd4c_tensor *column, nd4c_cl_columns *columns) {
  *columns = (nd4c_cl_columns){.spatial = attrs[0].count, .cells = 1, .all_windows = 1};
  if (columns->spatial > ND4C_CL_RANK) {
    return nd4c_cl_step_refuse(step, "more than %d axes of windows", (int)ND4C_CL_RANK);
  }
  for (int32_t i = 0; i < columns->spatial; i++) {
    columns->kernel[i] = attrs[0].as.ints[i];
    columns->stride[i] = attrs[1].count > 0 ? attrs[1].as.ints[i] : 1;
    columns->pad[i] = attrs[2].count > 0 ? attrs[2].as.ints[i] : 0;
    columns->dilation[i] = attrs[3].count > 0 ? attrs[3].as.ints[i] : 1;
    columns->extent[i] = image->shape[i + 2];
    columns->image_strides[i] = image->strides[i + 2];
    int64_t after = attrs[2].count > 0 ? attrs[2].as.ints[i + columns->spatial] : 0;
    int64_t free = columns->extent[i] + columns->pad[i] + after - (columns->kernel[i] - 1) * columns->dilation[i] - 1;
    columns->windows[i] = free / columns->stride[i] + 1;
    columns->cells *= columns->kernel[i];
    columns->all_windows *= columns->windows[i];
  }
  columns->channels = image->shape[1];
  columns->image_batch = image->strides[0];
  columns->image_channel = image->strides[1];
  memcpy(columns->column_strides, column->strides, sizeof columns->column_strides);
  return ND4C_OK;
}
