/* Engine reference: plain loops, every op, any strides. */
#include <stdio.h>

#include "backends/cpu/cpu.h"

bool nd4c_cpu_reference_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  bool known = true;
  for (int32_t i = 0; i < call->input_count; i++)
    known = known && (call->inputs[i].dtype == ND4C_DTYPE_NONE || nd4c_cpu_dtype_bytes(call->inputs[i].dtype) > 0);
  for (int32_t i = 0; i < call->output_count; i++)
    known = known && nd4c_cpu_dtype_bytes(call->outputs[i].dtype) > 0;
  if (!known)
    (void)snprintf(reason, reason_size, ND4C_CPU_NO_STRINGS);
  return known;
}

static bool state(bool verify, char *text, size_t text_size) {
  (void)verify;
  snprintf(text, text_size, "plain loops, part of this library");
  return true;
}

const nd4c_cpu_engine nd4c_cpu_reference_engine = {.name = "reference", .state = state};
