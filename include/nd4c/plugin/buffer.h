/* Buffers: a device's memory. A backend fills nd4c_buffer_ops once; nd4c_device_ops points to it. */
#ifndef ND4C_PLUGIN_BUFFER_H
#define ND4C_PLUGIN_BUFFER_H

#include "nd4c/dtype.h"
#include "nd4c/plugin/abi.h"
#include "nd4c/plugin/call.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Where the bytes of a buffer are. Copies and kernels take buffers of kind MANAGED and HOST_MAPPED by their handle,
 * like those of kind DEVICE. When work has ended, the host sees in them what the work wrote; work that is enqueued
 * later sees what the host wrote. */
typedef enum nd4c_memory_kind {
  ND4C_MEMORY_KIND_DEVICE = 0,      /* the device's own memory */
  ND4C_MEMORY_KIND_HOST_PINNED = 1, /* page-locked host memory, from which the device copies fastest */
  ND4C_MEMORY_KIND_MANAGED = 2,     /* pages that the driver migrates between host and device */
  ND4C_MEMORY_KIND_HOST_MAPPED = 3, /* host memory that kernels access in place */
  ND4C_MEMORY_KINDS                 /* number of kinds */
} nd4c_memory_kind;
/* Sets of kinds. */
#define ND4C_MEMORY_KIND_BIT(kind) (UINT32_C(1) << (kind))

/* What nd4c is going to do with a buffer. */
typedef enum nd4c_buffer_usage {
  ND4C_BUFFER_ARRAY = 0,   /* the elements of an array */
  ND4C_BUFFER_ARENA = 1,   /* holds arrays of any dtype, for a plan or a workspace */
  ND4C_BUFFER_SCRATCH = 2, /* scratch of kernels and executables */
  ND4C_BUFFER_STAGING = 3  /* copies between the host and the device pass through it */
} nd4c_buffer_usage;

/* What a buffer is for; valid for the duration of the call. nd4c caches free buffers and reuses them for any request
 * that fits, so dtype, shape and usage describe the first use only. */
typedef struct nd4c_buffer_descriptor {
  uint32_t struct_size;
  nd4c_memory_kind kind; /* DEVICE, or one of the description's memory_kinds */
  nd4c_buffer_usage usage;
  nd4c_dtype dtype;  /* NONE unless usage is ARRAY */
  int64_t bytes;     /* > 0; may exceed what the elements need */
  int64_t alignment; /* of the address: a power of two, as the device's description says */
  int32_t layout;    /* nd4c_layout_tag: STRIDED */
  int32_t rank;      /* 0 with dtype NONE, else 1: a storage is one row of elements; arrays are views of it */
  const int64_t *shape;
  nd4c_stream stream; /* the stream that uses the buffer first; NULL: unknown, or the host uses it first */
} nd4c_buffer_descriptor;

/* `device` is the pointer that device_open gave. Functions may be called by several threads at once. */
typedef struct nd4c_buffer_ops {
  uint32_t struct_size;
  /* Makes a buffer, contents undefined. It lives until it is freed. Required. May block. MEMORY if the device has none
   * left: nd4c then frees its cache and calls again. nd4c asks only for DEVICE and for kinds in memory_kinds. A NULL
   * handle after OK counts as a failure. */
  nd4c_status (*allocate)(void *device, const nd4c_buffer_descriptor *descriptor, nd4c_buffer *buffer);
  /* Frees a buffer that free_on has not freed. All work that used it has ended. Required. May block; does not fail. */
  void (*free)(void *device, nd4c_buffer buffer);
  /* Address of the first byte, constant for the buffer's life: on the device for kind DEVICE, on the host for the other
   * kinds. Never NULL. Required of addressable devices and of those with memory_kinds; not called for DEVICE on a
   * device that is not addressable. Does not block. */
  void *(*address)(void *device, nd4c_buffer buffer);
  /* Frees a buffer in stream order, on asynchronous devices. All work that uses the buffer was enqueued on `stream`
   * before this call. The memory becomes free when the stream reaches this point; an allocation for the same stream may
   * reuse it at once. Optional. Does not fail, and should not block. NULL: nd4c waits for the work and calls free. */
  void (*free_on)(void *device, nd4c_buffer buffer, nd4c_stream stream);
} nd4c_buffer_ops;

ND4C_EXTERN_C_END
#endif
