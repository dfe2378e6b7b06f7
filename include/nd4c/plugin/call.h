/* Tensors and calls: what kernels and compilers are given. nd4c fills them, backends read them. */
#ifndef ND4C_PLUGIN_CALL_H
#define ND4C_PLUGIN_CALL_H

#include "nd4c/dtype.h"
#include "nd4c/op_schema.h"
#include "nd4c/plugin/abi.h"
#include "nd4c/plugin/layout.h"

ND4C_EXTERN_C_BEGIN

/* Flags of a tensor. */
enum {
  ND4C_TENSOR_CONSTANT = 1, /* its contents will not change as long as the prepared state lives: may be packed */
  ND4C_TENSOR_READ_ONLY = 2,
  ND4C_TENSOR_CONTIGUOUS = 4 /* C order without gaps */
};

/* One operand of a call. Not versioned by struct_size: arrays of it cross the ABI, so its size is frozen (72 bytes). */
typedef struct nd4c_tensor {
  nd4c_dtype dtype; /* ND4C_DTYPE_NONE: an optional input left out */
  int32_t rank;
  uint32_t flags;
  int32_t layout; /* nd4c_layout_tag. A kernel that neither asks for another one nor reads others gets STRIDED */
  const int64_t *shape;
  const int64_t *strides; /* elements; NULL while inferring */
  int64_t size;           /* elements */
  void *data;             /* addressable devices: address of element 0; NULL on others and while choosing */
  nd4c_buffer buffer;     /* the storage's; may be NULL on synchronous devices that are host-readable */
  int64_t offset;         /* of element 0, in elements from the buffer's start; with another layout 0 */
  const nd4c_layout *arrangement; /* of another layout than STRIDED, which lies from the buffer's start on; else NULL */
} nd4c_tensor;

/* How much of the device's memory a call works in beside its operands: `least`, below which it cannot run, and `best`,
 * beyond which more is of no use to it; 0 <= least <= best. Not versioned by struct_size. */
typedef struct nd4c_scratch_range {
  int64_t least, best;
} nd4c_scratch_range;

/* Flags of a call. */
enum { ND4C_CALL_DETERMINISTIC = 1 };

/* The one call descriptor: what a kernel runs, what a node of a segment is. Borrowed for the duration of the function
 * that it is given to. */
typedef struct nd4c_call {
  uint32_t struct_size;
  uint32_t flags;
  const nd4c_op_info *op;
  int32_t input_count; /* as many as were given, trailing optional ones left out have dtype NONE or are missing */
  int32_t output_count;
  const nd4c_tensor *inputs;
  const nd4c_tensor *outputs;
  const nd4c_attr_value *attrs; /* in the order of the schema, defaults filled in */
  const void *data;             /* the kernel's own */
  void *state;                  /* what prepare made, NULL without prepare */
  void *scratch;                /* as many bytes as scratch_bytes asked for, 64-byte aligned; else NULL. The host's, for
                                 * the duration of `run`: work that `run` enqueues takes nothing from it later, unless
                                 * it is recorded (capture.h). `state` lives until unprepare, which comes when all work
                                 * that was enqueued with it has ended */
  nd4c_stream stream;           /* NULL on synchronous devices */
  void *device;                 /* the backend's own device pointer */
  int32_t width;                /* parallel width to use at most */
  /* For ops whose result's shape depends on data (nonzero, unique): one place of rank extents an output. The outputs'
   * tensors then have the largest shape possible and C order; run writes the elements in C order of the true shape and
   * the true shape here, before it returns. NULL for all other ops. */
  int64_t *const *true_shapes;
  /* A buffer of the device's with scratch_buffer_bytes, as device_scratch asked; else NULL. It belongs to the stream:
   * the calls before and behind this one there work in the same buffer, other streams' calls do not. What is in it is
   * undefined. Work that runs at once on one stream must not use it at once: a backend whose queues are out of order
   * orders its users as it does those of operands. Recorded calls are given it as they are given operands. */
  nd4c_buffer scratch_buffer;
  /* Number of the call on its stream, 1 or more, which no other call there has or will have. They grow in the order in
   * which nd4c began to enqueue the calls; threads that share a stream may overtake each other. 0: the call is not
   * numbered. A device that keeps it tells which calls failed, see fence_failure. */
  int64_t point;
  /* NULL: nothing will. nd4c asks before each call; a kernel that works for long asks again in between, from whatever
   * thread it works on, and returns what it is told. */
  const nd4c_cancellation_scope *cancellation;
  int64_t scratch_buffer_bytes; /* from `least` to `best` of what device_scratch answered; 0 without scratch_buffer */
} nd4c_call;

ND4C_EXTERN_C_END
#endif
