/* What computes on the devices of one backend: the engines, kernels and compilers of all contributions to it, merged
 * and in order. The registry makes one when the backend opens, and another when a plug-in adds to it later. One never
 * changes and lives as long as the process, so that a device may show it to any thread without a lock. */
#ifndef ND4C_DEVICE_COMPUTE_H
#define ND4C_DEVICE_COMPUTE_H

#include "base/text.h"
#include "device/device.h"

typedef struct nd4c_compute nd4c_compute;

/* One contribution that takes part. */
typedef struct nd4c_compute_source {
  const char *provider;                   /* for texts */
  const nd4c_contribution *contribution; /* checked, as long as this library's struct */
  bool own;                              /* of the provider that brings the devices */
} nd4c_compute_source;

/* Merges what the sources bring; `left_out` gets a line for each kernel and compiler that is not accepted. `before`:
 * the one whose place it takes, which it refers to from now on and which stays; NULL: none. */
nd4c_status nd4c_compute_make(const nd4c_compute_source *sources, int32_t count, const nd4c_compute *before,
                              nd4c_text *left_out, nd4c_compute **compute);
/* Of one that no device has shown yet. NULL is fine. */
void nd4c_compute_free(nd4c_compute *compute);

/* Kernels of an op, from the highest priority down. */
const nd4c_kernel *const *nd4c_compute_kernels(const nd4c_compute *compute, nd4c_op op, int32_t *count);
/* How many kernels were left out; *first: why the first of them was, "" without one. */
int32_t nd4c_compute_dropped(const nd4c_compute *compute, const char **first);
/* Compilers, from the highest priority down. */
const nd4c_compiler *const *nd4c_compute_compilers(const nd4c_compute *compute, int32_t *count);
/* Whether the compiler came with the devices: it knows how they allocate buffers. */
bool nd4c_compute_owns(const nd4c_compute *compute, const nd4c_compiler *compiler);
/* Every dtype of some kernel's first input; 0 without kernels. */
nd4c_dtype_set nd4c_compute_dtypes(const nd4c_compute *compute);

#endif
