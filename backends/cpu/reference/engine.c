/* Engine reference: plain loops for every op and any strides. cpu/backend.c lists the engine; its kernels' rows name
 * the `usable` functions defined here. */
#include <stdio.h>

#include "backends/cpu/cpu.h"

/* Whether all operands are of a set; inputs left out are of any. */
static bool operands_are(const nd4c_call *call, nd4c_dtype_set set, char *reason, size_t reason_size) {
  nd4c_dtype_set seen = 0;
  for (int32_t i = 0; i < call->input_count; i++) {
    seen |= call->inputs[i].dtype == ND4C_DTYPE_NONE ? 0 : ND4C_DTYPE_BIT(call->inputs[i].dtype);
  }
  for (int32_t i = 0; i < call->output_count; i++) {
    seen |= ND4C_DTYPE_BIT(call->outputs[i].dtype);
  }
  if ((seen & ~set) == 0) {
    return true;
  }
  bool strings = (seen & ~set & ND4C_DTYPE_BIT(ND4C_UTF8)) != 0;
  (void)snprintf(reason, reason_size, strings ? ND4C_CPU_NO_STRINGS : ND4C_CPU_NO_NARROW);
  return false;
}

bool nd4c_cpu_reference_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  return operands_are(call, ND4C_CPU_ALL, reason, reason_size);
}

bool nd4c_cpu_reference_stored(const nd4c_call *call, char *reason, size_t reason_size) {
  return operands_are(call, ND4C_CPU_STORED, reason, reason_size);
}

static bool state(bool verify, char *text, size_t text_size) {
  (void)verify;
  snprintf(text, text_size, "plain loops, part of this library");
  return true;
}

const nd4c_engine nd4c_cpu_reference_engine = {
    .struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "reference", .state = state};
