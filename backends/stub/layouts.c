/* The layout that the stub asks for a constant b of matmul: blocks of four columns, the blocks of one row far apart.
 * kernels.c uses it for the kernel of matmul, and checks the operands' layouts of all kernels. */
#include <string.h>

#include "stub.h"

enum { BLOCK = 4 };

static void describe(const nd4c_tensor *b, nd4c_layout *layout) {
  const int32_t last = b->rank - 1;
  int64_t stride = BLOCK;
  layout->tag = ND4C_LAYOUT_BLOCKED;
  layout->dtype = b->dtype;
  layout->rank = b->rank;
  layout->block_count = 1;
  layout->block_axes[0] = last;
  layout->block_extents[0] = BLOCK;
  for (int32_t i = last; i >= 0; i--) {
    layout->shape[i] = layout->padded[i] = b->shape[i];
    if (i != last) {
      layout->strides[i] = stride;
      stride *= b->shape[i];
    }
  }
  layout->padded[last] = (b->shape[last] + BLOCK - 1) / BLOCK * BLOCK;
  layout->strides[last] = stride;
  layout->bytes = layout->padded[last] / BLOCK * stride * stub_size_of(b->dtype);
  if (strcmp(stub_settings.lie, "layout") == 0) {
    layout->bytes--;
  }
}

static bool is_wanted(const nd4c_call *call, int32_t input) {
  const nd4c_tensor *b = &call->inputs[input];
  return call->op->op == ND4C_OP_matmul && input == 1 && (b->flags & ND4C_TENSOR_CONSTANT) != 0 && b->rank >= 1 &&
         b->rank <= ND4C_LAYOUT_AXES && b->size > 0 && stub_elements_of(b->dtype) == 1;
}

bool stub_wants_layout(const nd4c_call *call, int32_t input, nd4c_layout *layout) {
  if (!is_wanted(call, input)) {
    return false;
  }
  if (layout->struct_size < ND4C_SIZE_OF(nd4c_layout) || call->inputs[input].layout != ND4C_LAYOUT_STRIDED) {
    (void)stub_violation("wants_layout asked with a layout that is not as kernel.h says");
    return false;
  }
  describe(&call->inputs[input], layout);
  return true;
}

/* -- packing ------------------------------------------------------------------------------------------------------ */

typedef struct packing {
  stub_operand from, to;
} packing;

static nd4c_status run_packing(void *argument) {
  const packing *p = argument;
  stub_value *values = NULL;
  nd4c_status status = stub_attempt(STUB_CALL_in_flight);
  if (status == ND4C_OK) {
    status = stub_operand_load(&p->from, &values);
  }
  if (status == ND4C_OK) {
    status = stub_operand_store(&p->to, values);
    stub_host->free(values);
  }
  return status;
}

static void dispose_packing(void *argument) {
  packing *p = argument;
  stub_operand_loosen(&p->from);
  stub_operand_loosen(&p->to);
  stub_host->free(p);
}

nd4c_status stub_pack(const nd4c_call *call, int32_t input, const nd4c_layout *layout, const nd4c_tensor *to) {
  nd4c_layout wanted = {.struct_size = ND4C_SIZE_OF(nd4c_layout)};
  nd4c_status status = stub_attempt(STUB_CALL_pack);
  if (status != ND4C_OK) {
    return status;
  }
  if (!stub_wants_layout(call, input, &wanted) || !nd4c_layout_equal(layout, &wanted) ||
      !nd4c_layout_equal(to->arrangement, &wanted)) {
    return stub_violation("pack called for a layout that was not asked for");
  }
  packing *p = stub_host->allocate(sizeof *p);
  if (p == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for packing");
  }
  status = stub_operand_copy(&call->inputs[input], &p->from);
  if (status == ND4C_OK) {
    status = stub_operand_copy(to, &p->to);
  }
  if (status != ND4C_OK) {
    dispose_packing(p);
    return status;
  }
  return stub_stream_submit((stub_stream *)call->stream,
                            (stub_task){.run = run_packing, .dispose = dispose_packing, .work = p});
}

/* -- what runs are given ------------------------------------------------------------------------------------------- */

nd4c_status stub_check_layouts(const nd4c_call *call) {
  for (int32_t i = 0; i < call->input_count + call->output_count; i++) {
    const bool input = i < call->input_count;
    const nd4c_tensor *tensor = input ? &call->inputs[i] : &call->outputs[i - call->input_count];
    if (tensor->dtype == ND4C_DTYPE_NONE) {
      continue;
    }
    if ((tensor->layout == ND4C_LAYOUT_STRIDED) != (tensor->arrangement == NULL)) {
      return stub_violation("an operand whose layout and arrangement do not belong together");
    }
    nd4c_layout wanted = {.struct_size = ND4C_SIZE_OF(nd4c_layout)};
    if (tensor->layout != ND4C_LAYOUT_STRIDED) {
      if (!input || !is_wanted(call, i)) {
        return stub_violation("an operand in a layout that no kernel of the stub asked for");
      }
      describe(tensor, &wanted);
      if (!nd4c_layout_equal(tensor->arrangement, &wanted)) {
        return stub_violation("an operand in another layout than the kernel asked for");
      }
    }
  }
  return ND4C_OK;
}
