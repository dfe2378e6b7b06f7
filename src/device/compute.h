/* The engines, kernels and compilers of all contributions to one backend, merged and ordered. The registry builds one
 * when the backend opens, and another when a plug-in adds to it later; opened.c reads it. It is immutable and lives as
 * long as the process, so threads read it from the device without a lock. */
#ifndef ND4C_DEVICE_COMPUTE_H
#define ND4C_DEVICE_COMPUTE_H

#include "base/text.h"
#include "device/device.h"

typedef struct nd4c_compute nd4c_compute;

/* One contribution to merge. */
typedef struct nd4c_compute_source {
  const char *provider;                  /* for texts */
  const nd4c_contribution *contribution; /* checked, with the size of this library's struct */
  bool own;                              /* from the provider that brings the devices */
} nd4c_compute_source;

/* Merges the sources; `left_out` gets a line for each refused kernel and compiler. `before`: the one that it replaces,
 * which it refers to and which stays alive; NULL: none. */
nd4c_status nd4c_compute_make(const nd4c_compute_source *sources, int32_t count, const nd4c_compute *before,
                              nd4c_text *left_out, nd4c_compute **out);
/* Frees one that no device uses yet. NULL is fine. */
void nd4c_compute_free(nd4c_compute *compute);

/* Kernels of an op, from the highest priority down. */
const nd4c_kernel *const *nd4c_compute_kernels(const nd4c_compute *compute, nd4c_op op, int32_t *count);
/* Number of refused kernels; *first: the reason of the first one, "" if there is none. */
int32_t nd4c_compute_dropped(const nd4c_compute *compute, const char **first);
/* Compilers, from the highest priority down. */
const nd4c_compiler *const *nd4c_compute_compilers(const nd4c_compute *compute, int32_t *count);
/* Whether the devices' own provider brings the compiler, which then knows how they allocate buffers. */
bool nd4c_compute_owns(const nd4c_compute *compute, const nd4c_compiler *compiler);
/* The dtypes of all kernels' first inputs; 0 without kernels. */
nd4c_dtype_set nd4c_compute_dtypes(const nd4c_compute *compute);

#endif
