/* External memory: buffers over memory that others allocated, and buffers' memory for others. A device that offers any
 * of it points nd4c_device_ops.external to one nd4c_external_ops. */
#ifndef ND4C_PLUGIN_EXTERNAL_H
#define ND4C_PLUGIN_EXTERNAL_H

#include "nd4c/external.h"
#include "nd4c/plugin/abi.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* `device` is the pointer that device_open gave. Functions may be called by several threads at once. */
typedef struct nd4c_external_ops {
  uint32_t struct_size;
  /* Makes a buffer over external memory, of a kind that the description's `imports` names, without a copy: what is
   * written to the buffer is in the memory when buffers->free has returned, and what was in the memory is in the
   * buffer. Copies, fills, kernels and `address` take the buffer as any other; a DEVICE_POINTER's `address` is that
   * pointer. nd4c writes to none that is read_only.
   *
   * `external` is nd4c's for the duration of the call, `bytes` at least 1, `alignment` true of the first byte. Its
   * release is NULL: nd4c calls the owner's after buffers->free, which ends the import and leaves the memory to its
   * owner. The work of others on the memory has ended. The device duplicates a descriptor and retains a handle that it
   * needs after this call. ARGUMENT, with a text that says what the device wants: an alignment or a size that it cannot
   * take. Required where `imports` is not 0. May block. A handle that is NULL after OK counts as a failure. */
  nd4c_status (*import_memory)(void *device, const nd4c_external *external, nd4c_buffer *buffer);
  /* Names the memory of a buffer to others: DESCRIPTOR or NATIVE, of which the description's `exports` has the bit;
   * nd4c itself gives pointers. Work on the buffer has ended, and the buffer lives until release was called. nd4c
   * presets *external with struct_size, kind and the buffer's bytes; the device fills pointer or descriptor, offset,
   * alignment, and release with user where something is to be given back. UNSUPPORTED: not this buffer's memory.
   * Required where `exports` is not 0. May block. */
  nd4c_status (*export_memory)(void *device, nd4c_buffer buffer, nd4c_external_kind kind, nd4c_external *external);
  /* Page-locks host memory for copies from and to it, until host_unregister is called with the same range. Ranges of a
   * device do not overlap. Copies of these bytes may be under way, or enqueued by other threads, as copies of any other
   * memory. Optional; NULL: none can be registered. May block. */
  nd4c_status (*host_register)(void *device, void *pointer, int64_t bytes);
  /* No work uses the range, and no thread enqueues a copy of it until this has returned. Required with host_register.
   * May block; does not fail. */
  void (*host_unregister)(void *device, void *pointer, int64_t bytes);
} nd4c_external_ops;

ND4C_EXTERN_C_END
#endif
