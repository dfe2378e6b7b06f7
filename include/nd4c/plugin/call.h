/* Tensors and calls: the arguments of kernels and compilers. nd4c fills them, backends read them. */
#ifndef ND4C_PLUGIN_CALL_H
#define ND4C_PLUGIN_CALL_H

#include "nd4c/dtype.h"
#include "nd4c/op_schema.h"
#include "nd4c/plugin/abi.h"
#include "nd4c/plugin/layout.h"

ND4C_EXTERN_C_BEGIN

/* Flags of a tensor. */
enum {
  ND4C_TENSOR_CONSTANT = 1, /* its contents do not change while the prepared state lives, so prepare may pack them */
  ND4C_TENSOR_READ_ONLY = 2,
  ND4C_TENSOR_CONTIGUOUS = 4 /* C order without gaps */
};

/* One operand of a call. Not versioned by struct_size: arrays of it cross the ABI, so its size is frozen (72 bytes). */
typedef struct nd4c_tensor {
  nd4c_dtype dtype; /* ND4C_DTYPE_NONE: an omitted optional input */
  int32_t rank;
  uint32_t flags;
  int32_t layout; /* nd4c_layout_tag; STRIDED unless the kernel asked for another layout or reads it */
  const int64_t *shape;
  const int64_t *strides; /* in elements; NULL during inference */
  int64_t size;           /* elements */
  void *data;             /* addressable devices: address of element 0; NULL on others and while a kernel is chosen */
  nd4c_buffer buffer;     /* the storage's; may be NULL on synchronous devices that are host-readable */
  int64_t offset;         /* of element 0, in elements from the buffer's start; 0 if the layout is not STRIDED */
  const nd4c_layout *arrangement; /* the layout, if it is not STRIDED: elements then start at the buffer's start; else
                                     NULL */
} nd4c_tensor;

/* Device memory that a call needs as scratch, besides its operands. The call cannot run with less than `least` bytes,
 * and more than `best` bytes do not make it faster; 0 <= least <= best. Not versioned by struct_size. */
typedef struct nd4c_scratch_range {
  int64_t least, best;
} nd4c_scratch_range;

/* Flags of a call. REDUCED: the caller asked for less precision than the op has (nd4c_plan_options.precision), so the
 * kernel may round intermediate results to the dtype of its operands; sums stay float32. */
enum { ND4C_CALL_DETERMINISTIC = 1, ND4C_CALL_REDUCED = 2 };

/* The call descriptor: what a kernel runs, and how a segment describes a node. Borrowed for the duration of the
 * function call. */
typedef struct nd4c_call {
  uint32_t struct_size;
  uint32_t flags;
  const nd4c_op_info *op;
  int32_t input_count; /* number of inputs given; omitted trailing optional ones have dtype NONE or are missing */
  int32_t output_count;
  const nd4c_tensor *inputs;
  const nd4c_tensor *outputs;
  const nd4c_attr_value *attrs; /* in the schema's order, defaults filled in */
  const void *data;             /* nd4c_kernel.data */
  void *state;                  /* what prepare returned; NULL without prepare */
  void *scratch;                /* host memory, scratch_bytes long and 64-byte aligned; NULL if none was asked for.
                                   Valid for the duration of `run`: work that `run` enqueues must not read it later,
                                   unless the call is recorded (capture.h). `state` lives until unprepare, which nd4c
                                   calls when all work that was enqueued with it has ended */
  nd4c_stream stream;           /* NULL on synchronous devices */
  void *device;                 /* the pointer that device_open gave */
  int32_t width;                /* maximum parallel width */
  /* For ops whose output shape depends on data (nonzero, unique): for each output an array of rank extents. The output
   * tensors have the largest possible shape, in C order. Before run returns, it writes the true shape into these
   * arrays, and the elements into the tensor, in C order of the true shape. NULL for all other ops. */
  int64_t *const *true_shapes;
  /* A device buffer of scratch_buffer_bytes, as device_scratch asked; else NULL. Its contents are undefined. All calls
   * on a stream share one buffer; each stream has its own. A backend that runs the work of one stream concurrently
   * (out-of-order queues) must order users of this buffer, as it orders users of an operand. In recorded calls the
   * rules for operands hold for it, too (capture.h). */
  nd4c_buffer scratch_buffer;
  /* Number of the call on its stream, unique there, at least 1. Numbers grow in the order in which nd4c starts to
   * enqueue calls; threads that share a stream may overtake each other after that. 0: the call is not numbered. With
   * the number a device can report which calls failed: see fence_failure. */
  int64_t point;
  /* What may cancel the call; NULL: nothing can. nd4c checks it before each call. A long-running kernel passes it to
   * host->check_cancelled again while it runs, from any of its threads, and returns any status other than OK that it
   * gets. */
  const nd4c_cancellation_scope *cancellation;
  int64_t scratch_buffer_bytes; /* from `least` to `best` of device_scratch's answer; 0 without scratch_buffer */
} nd4c_call;

ND4C_EXTERN_C_END
#endif
