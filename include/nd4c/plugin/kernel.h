/* Kernels: each computes one op on a device in one way. Backends and contributions list them in tables (provider.h). */
#ifndef ND4C_PLUGIN_KERNEL_H
#define ND4C_PLUGIN_KERNEL_H

#include "nd4c/plugin/call.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Flags of a kernel. */
enum {
  ND4C_KERNEL_CAPTURABLE = 1,        /* run only enqueues on the stream, so calls may be recorded (capture.h) */
  ND4C_KERNEL_SYNCHRONISES_HOST = 2, /* on an asynchronous device run waits for the stream, so calls cannot be
                                        recorded */
  /* The kernel gets operands of layout QUANTISED undecoded (plugin/blocks.h), and `usable` refuses those that it cannot
   * read. nd4c then decodes them, as it does for kernels without this flag. A kernel that reads them undecoded comes
   * before all others, whatever its priority. Only the host's memory holds such operands, so kernels of other devices
   * get them decoded. */
  ND4C_KERNEL_READS_QUANTISED = 4,
  /* The kernel converts its operands to another dtype in each call, and its results back, so that a plan does better to
   * compute in that dtype: passes take such a kernel as they take the reference's. */
  ND4C_KERNEL_CONVERTS = 8,
  /* A state that was prepared while each input that wants_layout asks for was packed, at least one, serves all calls
   * that differ from that one in the arrays of their CONSTANT inputs alone: prepare has read none of them. nd4c then
   * prepares once for nodes that are alike. */
  ND4C_KERNEL_SHARES_STATE = 16,
  /* Of a kernel of concat: the first input may lie where its elements are in the output, with the output's strides. run
   * then leaves these elements, and writes those of the other inputs alone. */
  ND4C_KERNEL_EXTENDS = 32
};

/* A kernel. Static. Several threads may call its functions at once.
 *
 * In every call that a function gets, op, attributes, dtypes, shapes, flags, `data` and `device` are set. Of the other
 * fields these are set:
 *
 *     function                            strides  operands' data and buffers  state  scratch  stream
 *     usable, preferred_order             yes      no                          no     no       no
 *     wants_layout                        yes      no                          no     no       no
 *     pack                                yes      of the input to be packed   no     no       yes
 *     prepare                             yes      of CONSTANT inputs          no     no       yes
 *     scratch_bytes, device_scratch       yes      no                          yes    no       no
 *     run                                 yes      yes                         yes    yes      yes
 *
 * The call and everything it points to are valid until the function returns. */
typedef struct nd4c_kernel {
  uint32_t struct_size;
  uint32_t op_version;
  const char *op;        /* "add" */
  const char *engine;    /* one of the contribution's engines */
  const char *name;      /* of this variant, for reports: "simd.add.avx512"; one line of 1 to 127 bytes of UTF-8 */
  int32_t priority;      /* nd4c asks kernels from the highest down; those of the engine "reference" have 0 */
  nd4c_dtype_set dtypes; /* of the first input, or of the first output if the op has no inputs; the kernel is asked only
                            for these */
  const void *data;      /* passed to the functions as call->data, so that several kernels may share functions */
  /* True if the kernel can compute the call; else it writes the reason. reason_size is 1 or more, and 1 where nd4c does
   * not read the reason: it asks so first, and again if no kernel takes the call. Must not block, except to open the
   * engine's library the first time. Optional; NULL: always true. */
  bool (*usable)(const nd4c_call *call, char *reason, size_t reason_size);
  /* Makes state that all runs with one signature reuse: packed constants, primitives. Calls have one signature if they
   * agree in op, attributes, CONSTANT inputs, and the dtypes, shapes and strides of all operands. After any failure
   * except MEMORY, nd4c skips the kernel, with the failure's text as the reason. May block. Optional; NULL: no
   * state. */
  nd4c_status (*prepare)(const nd4c_call *call, void **state);
  /* Frees the state, when all runs that use it have ended. May block. Optional; NULL: prepare makes no state. */
  void (*unprepare)(void *state);
  /* Bytes of host scratch that a run needs, 0 to 2^56; for any other number nd4c skips the kernel. Does not block.
   * Optional; NULL: none. */
  int64_t (*scratch_bytes)(const nd4c_call *call);
  /* Computes the outputs or, on an asynchronous device, enqueues the work on call->stream and returns. Several threads
   * may run with one state at once. An output of an element-wise op may be the same view as an input. The output of
   * scatter_update, scatter_nd, masked_fill and masked_scatter may be the same view as the first input, whose other
   * elements must then keep their values. A failure with a code from 200 to 299 means that nothing was written or
   * enqueued. Must leave the calling thread's rounding mode and handling of denormal numbers unchanged. Required. */
  nd4c_status (*run)(const nd4c_call *call);
  /* Writes the memory order that the kernel prefers for its outputs: the axes from slowest to fastest. False: no
   * preference. The layout pass of graphs calls it. Does not block. Optional; NULL: no preference. */
  bool (*preferred_order)(const nd4c_call *call, int32_t *axes);
  /* Writes how much device scratch a run needs, besides its operands; nd4c presets *range with zeros. `limit` is the
   * most that one call can get now, given the device's free memory and cap, its largest buffer and nd4c.device.scratch;
   * INT64_MAX: unknown. nd4c asks once for each signature. Each run gets `best` bytes or, if memory is short when it is
   * submitted, fewer, down to `least`; if even that fails, the run fails with MEMORY or MEMORY_CAP. After any failure
   * except MEMORY, and for an invalid range, nd4c skips the kernel, with the failure's text as the reason. Does not
   * block. Optional; NULL: none. */
  nd4c_status (*device_scratch)(const nd4c_call *call, int64_t limit, nd4c_scratch_range *range);
  uint32_t flags; /* ND4C_KERNEL_* */
  /* Writes the layout, BLOCKED or OPAQUE, in which the kernel prefers to read the CONSTANT input at position `input`,
   * and returns true. False: the input as it is, STRIDED. nd4c sets layout->struct_size and zeroes the rest. It asks
   * after `usable` and before `prepare`; equal calls must get equal answers. Must not block, except to open the
   * engine's library. Optional, and requires pack; NULL: no preference. */
  bool (*wants_layout)(const nd4c_call *call, int32_t input, nd4c_layout *layout);
  /* Writes the input, which is STRIDED in the call, to *to in that layout. `to` has the input's dtype and shape, and
   * its memory has layout->bytes bytes. May block; on an asynchronous device it enqueues the work on call->stream, and
   * nd4c waits for it. nd4c keeps the packed copy in counted memory and reuses it for all calls, also of other shapes
   * and plans, whose kernels want the same array in the same layout and have the same engine, or name the same owner of
   * a BLOCKED layout. prepare, scratch_bytes and run then see the input in that layout, with an equal `arrangement`.
   * After MEMORY or MEMORY_CAP they see it STRIDED; after any other failure nd4c skips the kernel, with the failure's
   * text as the reason. */
  nd4c_status (*pack)(const nd4c_call *call, int32_t input, const nd4c_layout *layout, const nd4c_tensor *to);
  /* For kernels with ND4C_KERNEL_SHARES_STATE: true if prepare has read no CONSTANT input although none of them was
   * packed, as it wants them as they are; the state then serves the calls that the flag names, too. Does not block.
   * Optional; NULL: false. */
  bool (*shares_unpacked)(const void *state);
} nd4c_kernel;

ND4C_EXTERN_C_END
#endif
