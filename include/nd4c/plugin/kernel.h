/* Kernels: one way each to compute one op on a device. */
#ifndef ND4C_PLUGIN_KERNEL_H
#define ND4C_PLUGIN_KERNEL_H

#include "nd4c/plugin/call.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Flags of a kernel. */
enum {
  ND4C_KERNEL_CAPTURABLE = 1, /* run may be recorded, see capture.h: all that it does is enqueued on the stream */
  ND4C_KERNEL_SYNCHRONISES_HOST = 2, /* run waits for the stream, on an asynchronous device: it cannot be recorded */
  /* Is shown operands of layout QUANTISED as they are (plugin/blocks.h), and refuses in `usable` what it does not read:
   * then, and for kernels without this flag, nd4c decodes them. A kernel that reads them as they are goes before all
   * that do not, whatever its priority. Today the host's memory alone holds such operands, so that kernels of other
   * devices get them decoded. A device cannot say yet which formats it keeps: a field of nd4c_device_description that
   * names formats would do, appended in a later minor version. */
  ND4C_KERNEL_READS_QUANTISED = 4
};

/* Static. Any thread may call any function at any time, several at once.
 *
 * What of a call is set, besides op, attributes, dtypes, shapes, flags, `data` and `device`:
 *
 *     function                            strides  operands' data and buffers  state  scratch  stream
 *     usable, preferred_order             yes      no                          no     no       no
 *     wants_layout                        yes      no                          no     no       no
 *     pack                                yes      of the input to be packed   no     no       yes
 *     prepare                             yes      of CONSTANT inputs          no     no       yes
 *     scratch_bytes, device_scratch       yes      no                          yes    no       no
 *     run                                 yes      yes                         yes    yes      yes
 *
 * The call and all that it points to are the caller's, and gone when the function returns. */
typedef struct nd4c_kernel {
  uint32_t struct_size;
  uint32_t op_version;
  const char *op;        /* "add" */
  const char *engine;    /* one of the contribution's engines */
  const char *name;      /* of this variant, for people: "simd.add.avx512"; one line of 1 to 127 bytes of UTF-8 */
  int32_t priority;      /* candidates of an op are asked from the highest down; engine reference has 0 */
  nd4c_dtype_set dtypes; /* of the first input, or of the first output of ops without inputs; others are not asked */
  const void *data;      /* given to the functions as call->data: one function may serve a table of kernels */
  /* True if the kernel can compute the call. If not, writes why into reason. Must not block, but may open the engine's
   * library the first time. Optional; NULL: always. */
  bool (*usable)(const nd4c_call *call, char *reason, size_t reason_size);
  /* Makes what every run with the same signature uses again: packed constants, primitives. A failure but for MEMORY
   * passes the kernel over, with its text as the reason. May block. Optional; NULL: nothing to prepare. */
  nd4c_status (*prepare)(const nd4c_call *call, void **state);
  /* Frees what prepare made, once no run that uses it is under way. May block. Optional; NULL: prepare makes
   * nothing. */
  void (*unprepare)(void *state);
  /* Bytes of host memory that a run works in, 0 to 2^56; another number passes the kernel over. Does not block.
   * Optional; NULL: none. */
  int64_t (*scratch_bytes)(const nd4c_call *call);
  /* Leaves rounding and the handling of denormal numbers of the calling thread as they were.
   * Computes the outputs, or enqueues that on call->stream of an asynchronous device and returns at once. One state may
   * be run by several threads. An output of an element-wise op may be the very same view as an input; that of
   * scatter_update, scatter_nd, masked_fill and masked_scatter as the first one, of which the other elements then stay
   * as they are. A failure with a code of 200 to 299 means that nothing was written or enqueued. Required. */
  nd4c_status (*run)(const nd4c_call *call);
  /* The memory order that the kernel would like outputs to have, by axis from slowest to fastest; returns false for no
   * wish. The graph's layout pass asks. Does not block. Optional; NULL: no wish. */
  bool (*preferred_order)(const nd4c_call *call, int32_t *axes);
  /* Writes how much of the device's memory a run works in beside its operands; nd4c presets *range with zeros. `limit`
   * is what one call may have now: what the device and its cap can spare, its largest buffer, nd4c.device.scratch.
   * INT64_MAX: not known. Asked once for a signature: runs get between least and best bytes, best unless memory is
   * short when they are submitted; MEMORY or MEMORY_CAP is told for them where not even the least can be had. A failure
   * but for MEMORY passes the kernel over, with its text as the reason, and so does a range that makes no sense. Does
   * not block. Optional; NULL: none. */
  nd4c_status (*device_scratch)(const nd4c_call *call, int64_t limit, nd4c_scratch_range *range);
  uint32_t flags; /* ND4C_KERNEL_* */
  /* The layout in which the kernel would like to read a CONSTANT input, by its position: writes it into *layout, of
   * which struct_size is set and the rest is zero, and returns true. false: as it is, STRIDED. Asked after `usable`,
   * and before `prepare`; the same call must get the same answer. BLOCKED or OPAQUE. Must not block, but may open the
   * engine's library. Optional, and needs pack; NULL: no wish. */
  bool (*wants_layout)(const nd4c_call *call, int32_t input, nd4c_layout *layout);
  /* Writes the input, STRIDED in the call, in that layout to *to: its dtype and shape are the input's, its memory has
   * layout->bytes bytes. May block; on an asynchronous device it enqueues on call->stream what reads and writes, and
   * nd4c waits for that. nd4c keeps what was packed, in counted memory, for all calls whose kernels are of the same
   * engine and want the same array in the same layout: of other shapes, of other plans. prepare, scratch_bytes and run
   * then see the input in that layout, `arrangement` equal to the one asked for. After a failure with MEMORY or
   * MEMORY_CAP they see it STRIDED; any other failure passes the kernel over, with its text as the reason. */
  nd4c_status (*pack)(const nd4c_call *call, int32_t input, const nd4c_layout *layout, const nd4c_tensor *to);
} nd4c_kernel;

ND4C_EXTERN_C_END
#endif
