/* nd4c_explain, which programs call: where a call would run, and why. It computes nothing. */
#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "dispatch/host_ops.h"
#include "dispatch/routed.h"
#include "dispatch/whole.h"

/* The vote, then the devices in its order until one takes the call. */
static nd4c_status explain_route(nd4c_pending *p, nd4c_text *text) {
  nd4c_context *context = p->context;
  nd4c_ballot ballot;
  nd4c_routing_vote(context->routing, &p->def->info, p->inputs, p->input_count, 0, &ballot);
  nd4c_routing_print_ballot(context->routing, &p->def->info, &ballot, text);
  bool taken = false;
  for (int32_t i = 0; i < ballot.count && !taken; i++) {
    if (!context->routing->transfer && !ballot.votes[i].has_all) {
      continue;
    }
    ND4C_TRY(nd4c_routing_context(context, ballot.votes[i].device, &p->context));
    nd4c_call call = nd4c_pending_call(p);
    ND4C_TRY(nd4c_choice_explain(p->context, &call, NULL, text, &taken));
    if (taken) {
      nd4c_text_print(text, "%s wins: it has the highest score of those that compute this call\n",
                      ballot.votes[i].device->name);
    }
  }
  if (!taken) {
    nd4c_text_print(text, "no device takes this call\n");
  }
  return ND4C_OK;
}

static nd4c_status explain(nd4c_pending *p, nd4c_text *text) {
  nd4c_inference inference;
  ND4C_TRY(nd4c_pending_infer(p, &inference));
  int64_t strides[ND4C_PENDING_OUTPUTS][ND4C_MAX_RANK];
  int64_t offset = 0;
  if (p->def->view != NULL && p->def->view(&inference, strides[0], &offset)) {
    nd4c_text_print(text, "%s: a view, no kernel\n", p->def->info.name);
    return ND4C_OK;
  }
  if (nd4c_host_op_find(p) != NULL) {
    nd4c_text_print(text, "%s: computed by the library itself, no kernel\n", p->def->info.name);
    return ND4C_OK;
  }
  for (int32_t i = 0; i < p->def->info.output_count; i++) {
    const nd4c_inferred *inferred = &p->inferred[i];
    nd4c_tensor *tensor = &p->tensors[p->input_count + i];
    nd4c_pending_order(p, inferred, strides[i]);
    *tensor = (nd4c_tensor){
        .dtype = inferred->dtype,
        .rank = inferred->rank,
        .shape = inferred->shape,
        .strides = strides[i],
        .flags = nd4c_shape_is_contiguous(inferred->rank, inferred->shape, strides[i]) ? ND4C_TENSOR_CONTIGUOUS : 0U};
    ND4C_TRY(nd4c_shape_size(inferred->dtype, inferred->rank, inferred->shape, &tensor->size));
  }
  if (p->context->routing != NULL) {
    return explain_route(p, text);
  }
  bool taken = false;
  nd4c_pending_show_encoded(p);
  nd4c_call call = nd4c_pending_call(p);
  ND4C_TRY(nd4c_choice_explain(p->context, &call, NULL, text, &taken));
  if (!taken && !p->context->strict && p->context->device->description.type != ND4C_DEVICE_CPU &&
      nd4c_whole_would_help(p->context, &call)) {
    nd4c_text_print(text, "so the operands are put in C order first, and what takes them then computes the call\n");
  }
  return ND4C_OK;
}

nd4c_status nd4c_explain(nd4c_context *context, nd4c_op op, const nd4c_array *const *inputs, int32_t input_count,
                         const nd4c_attr *attrs, int32_t attr_count, char **text) {
  const nd4c_op_def *def = nd4c_op_get_def(op);
  nd4c_array *none[ND4C_PENDING_OUTPUTS] = {NULL};
  ND4C_TRY(nd4c_pending_check(op, def, inputs, input_count, none));
  if (text == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "text is NULL");
  }
  ND4C_TRY(nd4c_context_resolve(context, &context));
  nd4c_attr_value *values = NULL;
  ND4C_TRY(nd4c_pending_attrs(def, attrs, attr_count, &values));
  nd4c_pending p = {.context = context,
                    .def = def,
                    .inputs = inputs,
                    .input_count = input_count,
                    .attrs = values,
                    .outputs = none,
                    .tensors = nd4c_allocate_zeroed((size_t)(input_count + ND4C_PENDING_OUTPUTS), sizeof(nd4c_tensor))};
  nd4c_text explanation = {0};
  nd4c_status status =
      p.tensors == NULL ? nd4c_fail_memory("an explanation", (size_t)input_count) : explain(&p, &explanation);
  nd4c_deallocate(p.tensors);
  nd4c_pending_attrs_free(def, values);
  if (status != ND4C_OK) {
    nd4c_text_free(&explanation);
    return status;
  }
  if (explanation.length > 0 && explanation.bytes[explanation.length - 1] == '\n') {
    explanation.bytes[--explanation.length] = '\0';
  }
  return nd4c_text_take(&explanation, text);
}
