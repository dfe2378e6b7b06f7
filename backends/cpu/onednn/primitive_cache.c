/* oneDNN's own cache of primitives, which keeps their code after nd4c has released them, for the next primitive of the
 * same kind. nd4c asks for the memory when a device is short of it, and when a program trims the device or closes its
 * last model. The files that make primitives tell when there is
 * something to ask for. */
#include "backends/cpu/onednn/onednn.h"

/* oneDNN does not say how much it keeps, so one byte is counted: enough to be asked. NULL: nothing is in the cache. */
static _Atomic(nd4c_device_memory *) counted;

/* Primitives that are in use stay, since their owners have references. */
static void empty_cache(const nd4c_onednn *dnn) {
  int capacity = 0;
  if (dnn->dnnl_get_primitive_cache_capacity(&capacity) == DNN_SUCCESS) {
    (void)dnn->dnnl_set_primitive_cache_capacity(0);
    (void)dnn->dnnl_set_primitive_cache_capacity(capacity);
  }
}

static void give_way(void *owner, int64_t bytes) {
  (void)owner;
  (void)bytes;
  nd4c_device_memory *memory = atomic_exchange(&counted, NULL);
  const nd4c_onednn *dnn = nd4c_onednn_get();
  if (memory != NULL && dnn != NULL && dnn->ready) {
    empty_cache(dnn);
  }
  nd4c_cpu_host->device_memory->give(memory);
}

void nd4c_onednn_cache_count(const nd4c_call *call) {
  const nd4c_device_memory_request request = {.struct_size = ND4C_SIZE_OF(nd4c_device_memory_request),
                                              .backend = "cpu",
                                              .device = call->device,
                                              .bytes = 1,
                                              .origin = "oneDNN's primitives",
                                              .give_way = give_way};
  nd4c_device_memory *memory = NULL, *none = NULL;
  /* Without room for the byte, oneDNN keeps its cache until the next primitive is counted. */
  if (atomic_load(&counted) == NULL && nd4c_cpu_host->device_memory->count(&request, &memory) == ND4C_OK &&
      !atomic_compare_exchange_strong(&counted, &none, memory)) {
    nd4c_cpu_host->device_memory->give(memory);
  }
}

void nd4c_onednn_cache_close(void) {
  nd4c_cpu_host->device_memory->give(atomic_exchange(&counted, NULL));
}
