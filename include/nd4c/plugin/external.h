/* External memory: buffers over memory that other libraries allocated, and buffers' memory exported to them. A device
 * that can do any of this points nd4c_device_ops.external to an nd4c_external_ops. */
#ifndef ND4C_PLUGIN_EXTERNAL_H
#define ND4C_PLUGIN_EXTERNAL_H

#include "nd4c/external.h"
#include "nd4c/plugin/abi.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* `device` is the pointer that device_open gave. Functions may be called by several threads at once. */
typedef struct nd4c_external_ops {
  uint32_t struct_size;
  /* Makes a buffer over external memory of a kind in the description's `imports`, without a copy. The buffer has the
   * memory's contents; what is written to the buffer is in the memory at the latest when buffers->free has returned.
   * Copies, fills, kernels and `address` take the buffer like any other; for a DEVICE_POINTER, `address` returns that
   * pointer. nd4c does not write to a read_only one.
   *
   * `external` is valid for the duration of the call. Its `bytes` is at least 1, and its `alignment` is the first
   * byte's. Its `release` is NULL: nd4c itself calls the owner's release after buffers->free, which ends the import but
   * does not free the memory. Other work on the memory has ended. The device duplicates a descriptor and retains a
   * handle if it needs them after this call. ARGUMENT, with a text that says what the device expects: it cannot take
   * the alignment or the size. Required if `imports` is not 0. May block. A NULL handle after OK counts as a
   * failure. */
  nd4c_status (*import_memory)(void *device, const nd4c_external *external, nd4c_buffer *buffer);
  /* Exports the memory of a buffer, as DESCRIPTOR or NATIVE, whichever the description's `exports` has; nd4c itself
   * exports pointers. Work on the buffer has ended, and the buffer lives until `release` is called. nd4c presets
   * *external with struct_size, kind and the buffer's bytes. The device fills in pointer or descriptor, offset,
   * alignment, and, if the export holds a resource, release and user. UNSUPPORTED: this buffer cannot be exported.
   * Required if `exports` is not 0. May block. */
  nd4c_status (*export_memory)(void *device, nd4c_buffer buffer, nd4c_external_kind kind, nd4c_external *external);
  /* Page-locks host memory for copies from and to it, until host_unregister is called with the same range. Registered
   * ranges of a device do not overlap. Copies of these bytes may be in flight, and other threads may enqueue more
   * meanwhile. Optional; NULL: the device cannot register host memory. May block. */
  nd4c_status (*host_register)(void *device, void *pointer, int64_t bytes);
  /* Unregisters a range. No work uses it, and no thread enqueues a copy of it until this has returned. Required with
   * host_register. May block; does not fail. */
  void (*host_unregister)(void *device, void *pointer, int64_t bytes);
} nd4c_external_ops;

ND4C_EXTERN_C_END
#endif
