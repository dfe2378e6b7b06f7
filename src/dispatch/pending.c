/* Implements pending.h: checks and infers one eager call, and gives its results to the caller. call.c, explain.c,
 * routed.c and whole.c share it. */
#include "dispatch/pending.h"

#include "array/narrow.h"
#include "array/shape.h"
#include "base/alloc.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/storage/encoded.h"
#include "dispatch/execute.h"

enum { INPUT_LIMIT = 65536, SHAPE_TEXT_SIZE = 128 };

nd4c_status nd4c_pending_check(nd4c_op op, const nd4c_op_def *def, const nd4c_array *const *inputs, int32_t input_count,
                               nd4c_array **outputs) {
  if (def == NULL) {
    return nd4c_fail(ND4C_NAME, "op %u is not known", op);
  }
  if (input_count < 0 || input_count > INPUT_LIMIT) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %d inputs, expected 0 to %d", def->info.name, input_count, INPUT_LIMIT);
  }
  if (inputs == NULL && input_count > 0) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: inputs is NULL", def->info.name);
  }
  if (outputs == NULL) { /* the typed function of an op with one output passes on its parameter, which has that name */
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: %s is NULL: expected where to put the result", def->info.name,
                     def->info.output_count == 1 ? nd4c_op_output_name(op, 0) : "outputs");
  }
  return ND4C_OK;
}

nd4c_status nd4c_pending_attrs(const nd4c_op_def *def, const nd4c_attr *attrs, int32_t attr_count,
                               nd4c_attr_value **values) {
  *values = NULL;
  if (attrs == NULL && attr_count > 0) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: attrs is NULL", def->info.name);
  }
  nd4c_attr_value *resolved = nd4c_recycle_take((size_t)def->info.attr_count * sizeof *resolved);
  if (resolved == NULL) {
    return nd4c_fail_memory("attributes", (size_t)def->info.attr_count * sizeof *resolved);
  }
  nd4c_status status = nd4c_op_resolve_attrs(&def->info, attrs, attr_count, resolved);
  if (status != ND4C_OK) {
    nd4c_pending_attrs_free(def, resolved);
    return status;
  }
  *values = resolved;
  return ND4C_OK;
}

void nd4c_pending_attrs_free(const nd4c_op_def *def, nd4c_attr_value *values) {
  nd4c_recycle_give(values, (size_t)def->info.attr_count * sizeof *values);
}

static nd4c_status check_handles(const nd4c_pending *p) {
  const nd4c_op_info *op = &p->def->info;
  for (int32_t i = 0; i < p->input_count; i++) {
    if (p->inputs[i] != NULL) {
      nd4c_status status = nd4c_array_check(p->inputs[i], op->inputs[i < op->input_count ? i : 0].name);
      if (status != ND4C_OK) {
        return nd4c_fail_prefix(status, "%s", op->name);
      }
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_pending_infer(nd4c_pending *p, nd4c_inference *inference) {
  ND4C_TRY(check_handles(p));
  for (int32_t i = 0; i < p->input_count; i++) {
    nd4c_tensor_describe(p->inputs[i], &p->tensors[i]);
  }
  *inference = (nd4c_inference){.op = &p->def->info,
                                .input_count = p->input_count,
                                .inputs = p->tensors,
                                .attrs = p->attrs,
                                .outputs = p->inferred};
  return nd4c_op_infer(p->def, inference);
}

void nd4c_pending_order(const nd4c_pending *p, const nd4c_inferred *inferred, int64_t *strides) {
  const int64_t *like[ND4C_PENDING_INPUTS];
  int32_t count = 0;
  int32_t considered = p->def->order == ND4C_ORDER_INPUTS ? p->input_count : p->def->order == ND4C_ORDER_FIRST ? 1 : 0;
  considered = nd4c_dtype_is_packed(inferred->dtype) ? 0 : considered;
  for (int32_t i = 0; i < considered && i < p->input_count && count < ND4C_PENDING_INPUTS; i++) {
    if (p->inputs[i] != NULL && p->inputs[i]->rank == inferred->rank) {
      like[count++] = p->inputs[i]->strides;
    }
  }
  if (count > 0) {
    nd4c_shape_strides_like(inferred->rank, inferred->shape, count, like, strides);
  } else {
    nd4c_shape_strides(inferred->rank, inferred->shape, strides);
  }
}

void nd4c_pending_show_encoded(nd4c_pending *p) {
  for (int32_t i = 0; i < p->input_count; i++) {
    if (p->inputs[i] != NULL && (p->inputs[i]->storage->flags & ND4C_STORAGE_ENCODED) != 0) {
      (void)nd4c_encoded_show(p->inputs[i]->storage, p->inputs[i]->offset, p->context->device, &p->tensors[i]);
    }
  }
}

nd4c_call nd4c_pending_call(const nd4c_pending *p) {
  return (nd4c_call){.struct_size = ND4C_SIZE_OF(nd4c_call),
                     .flags = p->context->deterministic ? ND4C_CALL_DETERMINISTIC : 0U,
                     .op = &p->def->info,
                     .input_count = p->input_count,
                     .output_count = p->def->info.output_count,
                     .inputs = p->tensors,
                     .outputs = p->tensors + p->input_count,
                     .attrs = p->attrs,
                     .stream = p->context->stream,
                     .device = p->context->device->handle,
                     .width = p->context->width};
}

nd4c_status nd4c_pending_check_output(const nd4c_op_def *def, nd4c_array *const *outputs, int32_t at, nd4c_dtype dtype,
                                      int32_t rank, const int64_t *shape) {
  const nd4c_array *output = outputs[at];
  char given[SHAPE_TEXT_SIZE], expected[SHAPE_TEXT_SIZE];
  const char *name = def->info.name;
  nd4c_status status = nd4c_array_check(output, "the output given");
  if (status != ND4C_OK) {
    return nd4c_fail_prefix(status, "%s", name);
  }
  bool same = output->rank == rank;
  for (int32_t axis = 0; same && axis < output->rank; axis++) {
    same = output->shape[axis] == shape[axis];
  }
  if (!same) {
    return nd4c_fail(ND4C_SHAPE, "%s: the output given has shape %s, the result has %s", name,
                     nd4c_shape_text(output->rank, output->shape, given, sizeof given),
                     nd4c_shape_text(rank, shape, expected, sizeof expected));
  }
  if (output->dtype != dtype) {
    return nd4c_fail(ND4C_DTYPE, "%s: the output given is %s, the result is %s", name, nd4c_dtype_name(output->dtype),
                     nd4c_dtype_name(dtype));
  }
  if ((output->storage->flags & ND4C_STORAGE_READ_ONLY) != 0) {
    return nd4c_fail(ND4C_READ_ONLY, "%s: the output given is read-only", name);
  }
  for (int32_t axis = 0; axis < output->rank; axis++) {
    if (output->size > 0 && output->shape[axis] > 1 && output->strides[axis] == 0) {
      return nd4c_fail(ND4C_ALIAS, "%s: axis %d of the output given has stride 0: its elements share memory", name,
                       axis);
    }
  }
  for (int32_t other = 0; other < at; other++) {
    if (outputs[other] != NULL && nd4c_array_overlaps(outputs[other], output)) {
      return nd4c_fail(ND4C_ALIAS, "%s: outputs %d and %d share memory", name, other, at);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_pending_check_given(const nd4c_op_def *def, nd4c_array *const *given, nd4c_array *const *fresh) {
  for (int32_t i = 0; i < def->info.output_count; i++) {
    if (given[i] != NULL) {
      ND4C_TRY(nd4c_pending_check_output(def, given, i, fresh[i]->dtype, fresh[i]->rank, fresh[i]->shape));
    }
  }
  return ND4C_OK;
}

void nd4c_pending_hand_out(nd4c_array **outputs, nd4c_array *const *fresh, int32_t count, nd4c_status status) {
  for (int32_t i = 0; i < count; i++) {
    if (status == ND4C_OK && outputs[i] == NULL) {
      outputs[i] = fresh[i];
    } else {
      nd4c_array_release(fresh[i]);
    }
  }
}
