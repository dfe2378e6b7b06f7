/* Implements quantization.h. plan.c, precision.c and samples/session.c call it. */
#include "graph/quantization.h"

#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "dispatch/choice.h"
#include "graph/ir/variables.h"
#include "graph/passes.h"

void nd4c_quantization_free(nd4c_quantization *quantization) {
  if (quantization != NULL) {
    nd4c_text_free(&quantization->left);
    nd4c_region_free(&quantization->region);
    nd4c_deallocate(quantization);
  }
}

nd4c_status nd4c_quantization_begin(nd4c_plan *plan, const nd4c_calibration *calibration) {
  if (calibration != NULL) {
    ND4C_TRY(nd4c_calibration_check_finished(calibration, "options.calibration"));
  }
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *plan->quantization, "a plan", &plan->quantization));
  plan->quantization->calibration = calibration;
  plan->quantization->is_static = calibration != NULL;
  return ND4C_OK;
}

nd4c_status nd4c_quantization_take_graph(const nd4c_plan *plan, const nd4c_graph *graph) {
  nd4c_quantization *q = plan->quantization;
  uint64_t fingerprint = 0;
  if (q == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_calibration_names(graph, NULL, &q->region, &q->recorded.names));
  q->recorded.count = graph->value_count;
  const nd4c_calibration *calibration = q->calibration;
  if (calibration == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_calibration_fingerprint(graph, &fingerprint));
  return fingerprint == calibration->fingerprint
             ? ND4C_OK
             : nd4c_fail(
                   ND4C_ARGUMENT,
                   "options.calibration: its ranges are of weights with the fingerprint %016llx, and this graph's "
                   "is %016llx: calibrate this model",
                   (unsigned long long)calibration->fingerprint, (unsigned long long)fingerprint);
}

/* A product large enough that only a kernel made for bytes takes it. */
nd4c_status nd4c_quantization_check_device(nd4c_context *context, const char *from) {
  enum { SIDE = 256 };
  static const int64_t shape[] = {SIDE, SIDE}, strides[] = {SIDE, 1};
  static const float scale = 1;
  static const uint8_t zero = 0;
  const nd4c_op_def *def = nd4c_op_get_def(ND4C_OP_linear_int8);
  const nd4c_tensor square = {.dtype = ND4C_UINT8,
                              .rank = 2,
                              .flags = ND4C_TENSOR_CONTIGUOUS,
                              .size = (int64_t)SIDE * SIDE,
                              .shape = shape,
                              .strides = strides};
  const nd4c_tensor number = {.dtype = ND4C_FLOAT32,
                              .flags = ND4C_TENSOR_CONTIGUOUS | ND4C_TENSOR_CONSTANT,
                              .size = 1,
                              .data = (void *)(uintptr_t)&scale};
  nd4c_tensor w = square, y = square, origin = number, inputs[ND4C_IN_linear_int8_count] = {{.rank = 0}};
  w.dtype = ND4C_INT8;
  w.flags |= ND4C_TENSOR_CONSTANT;
  y.dtype = ND4C_FLOAT32;
  origin.dtype = ND4C_UINT8;
  origin.data = (void *)(uintptr_t)&zero;
  inputs[ND4C_IN_linear_int8_x] = square;
  inputs[ND4C_IN_linear_int8_w] = w;
  inputs[ND4C_IN_linear_int8_x_scale] = inputs[ND4C_IN_linear_int8_w_scale] = number;
  inputs[ND4C_IN_linear_int8_x_zero_point] = origin;
  const nd4c_call call = {.struct_size = ND4C_SIZE_OF(nd4c_call),
                          .flags = context->deterministic ? ND4C_CALL_DETERMINISTIC : 0,
                          .op = &def->info,
                          .input_count = ND4C_IN_linear_int8_x_zero_point + 1,
                          .output_count = 1,
                          .inputs = inputs,
                          .outputs = &y,
                          .stream = context->stream,
                          .device = context->device->handle,
                          .width = context->width};
  return nd4c_choice_is_fast(context, &call)
             ? ND4C_OK
             : nd4c_fail(ND4C_UNSUPPORTED, "%s is int8: device %s has no fast product of bytes", from,
                         context->device->name);
}

void nd4c_quantization_print(const nd4c_plan *plan, nd4c_text *text) {
  const nd4c_quantization *q = plan->quantization;
  nd4c_text_print(text,
                  "precision: int8 (%s), %s; of %d layers with constant weights %d compute on bytes, and %d sums\n",
                  plan->precision_from, q->is_static ? "ranges of a calibration" : "ranges found in each run",
                  q->layers, q->bytes, q->sums);
  if (q->left.bytes != NULL) {
    nd4c_text_append(text, q->left.bytes, q->left.length);
  }
}

static nd4c_status capture(nd4c_plan *plan, const nd4c_graph *graph, nd4c_graph **caught) {
  ND4C_TRY(nd4c_quantization_begin(plan, NULL));
  ND4C_TRY(nd4c_quantization_take_graph(plan, graph));
  plan->quantization->caught = caught;
  ND4C_TRY(nd4c_graph_clone(graph, &plan->graph));
  ND4C_TRY(nd4c_variables_open(plan->graph, true)); /* else the passes would remove what variables need */
  ND4C_TRY(nd4c_passes_run(plan, NULL));
  return *caught != NULL ? ND4C_OK
                         : nd4c_fail(ND4C_UNSUPPORTED, "a calibration needs the pass quantize, which is switched off");
}

nd4c_status nd4c_quantization_capture(const nd4c_graph *graph, nd4c_context *context, nd4c_region *region,
                                      nd4c_graph **caught, const char ***names) {
  nd4c_plan *plan = NULL;
  ND4C_TRY(nd4c_plan_allocate(&plan));
  plan->context = nd4c_context_retain(context);
  plan->device = context->device;
  *caught = NULL;
  nd4c_status status = nd4c_passes_switch(NULL, &plan->switches);
  status = status == ND4C_OK ? capture(plan, graph, caught) : status;
  status = status == ND4C_OK ? nd4c_calibration_names(*caught, &plan->quantization->recorded, region, names) : status;
  if (status == ND4C_OK) {
    nd4c_variables_close(*caught);
  }
  nd4c_plan_destroy(plan);
  return status;
}
