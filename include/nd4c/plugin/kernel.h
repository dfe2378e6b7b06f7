/* Kernels: one way each to compute one op on a device. */
#ifndef ND4C_PLUGIN_KERNEL_H
#define ND4C_PLUGIN_KERNEL_H

#include "nd4c/plugin/call.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* One way to compute one op. Static. */
typedef struct nd4c_kernel {
  uint32_t struct_size;
  uint32_t op_version;
  const char *op;        /* "add" */
  const char *engine;    /* one of the backend's engines */
  const char *name;      /* of this variant, for people: "simd.add.avx512" */
  int32_t priority;      /* candidates of an op are asked from the highest down; engine reference has 0 */
  nd4c_dtype_set dtypes; /* of the first input; others are not asked */
  /* True if the kernel can compute the call: shapes, strides, dtypes and attributes are set, data is not. If not,
   * writes why into reason. NULL: always. */
  bool (*usable)(const nd4c_call *call, char *reason, size_t reason_size);
  /* Makes what is reused by every run with the same signature: packed constants, primitives. The data of inputs
   * flagged CONSTANT is set. NULL: nothing to prepare. */
  nd4c_status (*prepare)(const nd4c_call *call, void **state);
  void (*unprepare)(void *state);
  /* Bytes of scratch a run needs. NULL: none. */
  int64_t (*scratch_bytes)(const nd4c_call *call);
  /* Computes the outputs, or enqueues that on call->stream. One prepared state may be run by several threads. The
   * output of an element-wise op may be the very same view as an input; that of scatter_update, scatter_nd, masked_fill
   * and masked_scatter as the first one, of which the other elements then stay as they are. */
  nd4c_status (*run)(const nd4c_call *call);
  /* Appended fields follow. */
  /* The memory order that the kernel would like outputs to have, by axis from slowest to fastest; returns false for no
   * wish. The graph's layout pass asks. NULL: no wish. */
  bool (*preferred_order)(const nd4c_call *call, int32_t *axes);
  /* Since ABI 1.1: bytes of the device's memory that a run needs beside its operands (scratch_bytes is host memory).
   * NULL: none. */
  int64_t (*device_scratch_bytes)(const nd4c_call *call);
} nd4c_kernel;

ND4C_EXTERN_C_END
#endif
