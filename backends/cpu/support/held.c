/* Memory that a prepared state keeps, counted as the device's (cpu.h). The kernels that pack weights call it in prepare
 * and unprepare: recurrent layers and products of bytes. */
#include "backends/cpu/cpu.h"

nd4c_status nd4c_cpu_hold(const nd4c_call *call, size_t bytes, const char *origin, nd4c_cpu_held *held) {
  const nd4c_device_memory_request request = {.struct_size = ND4C_SIZE_OF(nd4c_device_memory_request),
                                              .backend = "cpu",
                                              .device = call->device,
                                              .bytes = (int64_t)bytes,
                                              .origin = origin};
  *held = (nd4c_cpu_held){NULL, bytes, NULL};
  ND4C_BACKEND_TRY(nd4c_cpu_host->device_memory->count(&request, &held->counted));
  held->memory = nd4c_cpu_host->allocate_pages(bytes);
  if (held->memory == NULL) {
    nd4c_cpu_let_go(held);
    return nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory for %zu bytes of %s", call->op->name, bytes, origin);
  }
  return ND4C_OK;
}

void nd4c_cpu_let_go(nd4c_cpu_held *held) {
  if (held->memory != NULL) {
    nd4c_cpu_host->free_pages(held->memory, held->bytes);
  }
  nd4c_cpu_host->device_memory->give(held->counted);
  *held = (nd4c_cpu_held){NULL, 0, NULL};
}
