/* Buffers: a device's memory. A backend fills nd4c_buffer_ops once; nd4c_device_ops points to it. */
#ifndef ND4C_PLUGIN_BUFFER_H
#define ND4C_PLUGIN_BUFFER_H

#include "nd4c/dtype.h"
#include "nd4c/plugin/abi.h"
#include "nd4c/plugin/call.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Where the bytes of a buffer are. Buffers of kind MANAGED and HOST_MAPPED are operands of copies and kernels by their
 * handle, as those of kind DEVICE are, and the host sees in them what work has written that has ended, and the other
 * way round. */
typedef enum nd4c_memory_kind {
  ND4C_MEMORY_KIND_DEVICE = 0,      /* the device's own memory */
  ND4C_MEMORY_KIND_HOST_PINNED = 1, /* host memory from which the device copies fastest: page-locked */
  ND4C_MEMORY_KIND_MANAGED = 2,     /* pages that move between the host and the device by themselves */
  ND4C_MEMORY_KIND_HOST_MAPPED = 3, /* host memory that kernels reach where it is */
  ND4C_MEMORY_KINDS                 /* how many there are */
} nd4c_memory_kind;
/* Sets of kinds. */
#define ND4C_MEMORY_KIND_BIT(kind) (UINT32_C(1) << (kind))

/* What nd4c is going to do with a buffer. */
typedef enum nd4c_buffer_usage {
  ND4C_BUFFER_ARRAY = 0,   /* the elements of an array */
  ND4C_BUFFER_ARENA = 1,   /* parts of it are arrays of any dtype: those of a plan, of a workspace */
  ND4C_BUFFER_SCRATCH = 2, /* what kernels and executables work in */
  ND4C_BUFFER_STAGING = 3  /* copies between the host and the device go by way of it */
} nd4c_buffer_usage;

/* What a buffer is wanted for; nd4c's for the duration of the call. nd4c keeps buffers that are free, and uses one
 * again for whatever fits: dtype, shape and usage are those of its first use. */
typedef struct nd4c_buffer_descriptor {
  uint32_t struct_size;
  nd4c_memory_kind kind; /* DEVICE, or one of the description's memory_kinds */
  nd4c_buffer_usage usage;
  nd4c_dtype dtype; /* NONE unless usage is ARRAY */
  int64_t bytes;     /* > 0; may exceed what the elements need */
  int64_t alignment; /* of the address: a power of two, the description's */
  int32_t layout;    /* nd4c_layout_tag: STRIDED */
  int32_t rank;      /* 0 with dtype NONE, else 1: a storage is a row of elements, of which arrays are views */
  const int64_t *shape;
  nd4c_stream stream; /* whose work uses the buffer first; NULL: it is not known, or the host does */
} nd4c_buffer_descriptor;

/* `device` is the pointer that device_open gave. Functions may be called by several threads at once. */
typedef struct nd4c_buffer_ops {
  uint32_t struct_size;
  /* Makes a buffer, contents undefined. It lives until it is freed. Required. May block.
   * MEMORY where there is none: nd4c gives back what it has cached and asks again. It asks for no kind that
   * memory_kinds does not name. A handle that is NULL after OK counts as a failure. */
  nd4c_status (*allocate)(void *device, const nd4c_buffer_descriptor *descriptor, nd4c_buffer *buffer);
  /* Ends a buffer; the work that used it has ended. Of a buffer that free_on did not end. Required. May block; does not
   * fail. */
  void (*free)(void *device, nd4c_buffer buffer);
  /* Address of the first byte, the same as long as the buffer lives: the device's for kind DEVICE, one that the host
   * reads and writes for the others. Never NULL. Required of addressable devices and of those with memory_kinds; not
   * called for DEVICE on a device that is not addressable. Does not block. */
  void *(*address)(void *device, nd4c_buffer buffer);
  /* As free, for a buffer whose work has not ended: all of it was enqueued on `stream` of the device before this call,
   * and nothing uses the buffer after it. The memory is free when the stream has passed this point; a buffer that is
   * allocated for the same stream may have it at once. Of asynchronous devices. Optional. Does not fail; blocks only
   * where it would have to. NULL: nd4c waits for the work and calls free. */
  void (*free_on)(void *device, nd4c_buffer buffer, nd4c_stream stream);
} nd4c_buffer_ops;

ND4C_EXTERN_C_END
#endif
