/* Engine reference: plain loops, every op, any strides. */
#include <stdio.h>

#include "backends/cpu/cpu.h"

static bool state(bool verify, char *text, size_t text_size) {
  (void)verify;
  snprintf(text, text_size, "plain loops, part of this library");
  return true;
}

const nd4c_cpu_engine nd4c_cpu_reference_engine = {.name = "reference", .state = state};
