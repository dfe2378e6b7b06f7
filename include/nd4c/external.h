/* External memory: arrays over memory that nd4c did not allocate, memory of arrays for others, and host memory that a
 * device copies from directly.
 *
 * Nothing here orders work of others. A caller that gives memory to nd4c has waited for the work of others on it; nd4c
 * does not wait for that. A caller that is given memory of an array finds nd4c's work on it ended, and so does the
 * owner whose release callback is called. The same memory given twice is two arrays to nd4c, which does not order work
 * on the one after work on the other. */
#ifndef ND4C_EXTERNAL_H
#define ND4C_EXTERNAL_H

#include "nd4c/array.h"

ND4C_EXTERN_C_BEGIN

/* How external memory is named. */
typedef enum nd4c_external_kind {
  ND4C_EXTERNAL_HOST_POINTER = 1,   /* an address at which the host reads and writes */
  ND4C_EXTERNAL_DEVICE_POINTER = 2, /* an address of the device's (CUdeviceptr): not one that the host may follow */
  ND4C_EXTERNAL_DESCRIPTOR = 3,     /* a file descriptor of memory that can be mapped (memfd, a file, a dma-buf) */
  ND4C_EXTERNAL_NATIVE = 4          /* the vendor's handle of memory (cl_mem) */
} nd4c_external_kind;
/* Sets of kinds. */
#define ND4C_EXTERNAL_BIT(kind) (UINT32_C(1) << (kind))

/* "host pointer", "device pointer", "descriptor", "native handle"; "?" for another number. Static. Any thread. */
ND4C_API const char *nd4c_external_kind_name(nd4c_external_kind kind);

typedef struct nd4c_external {
  uint32_t struct_size; /* sizeof(nd4c_external) */
  nd4c_external_kind kind;
  void *pointer;      /* HOST_POINTER, DEVICE_POINTER: the address of the first byte; NATIVE: the handle; else NULL */
  int32_t descriptor; /* DESCRIPTOR; else -1 */
  bool read_only;     /* must not be written */
  int64_t offset;     /* DESCRIPTOR, NATIVE: of the first byte in what it names; else 0 */
  int64_t bytes;      /* from the first byte on */
  int64_t alignment;  /* of the first byte, a power of two of at most 1 GiB; 0: what address or offset show */
  /* The receiver of the memory calls it once, with `user`, when its last use has ended; nd4c does so from any thread
   * and with none of its locks held. NULL: the owner need not know. */
  nd4c_release_callback release;
  void *user;
} nd4c_external;

/* An array on `device` over external memory, without a copy. `offset` counts elements from the memory's first byte to
 * element 0; strides (NULL: C order) count elements and may be negative or zero; every element lies within the memory.
 *
 * The memory stays where it is: migration copies contents away from it and back into it, spilling leaves it alone, and
 * the device's cap does not count it (nd4c_memory_info.imported_bytes does). It is the array's alone until
 * `external->release` is called, after the last reference and the last work are gone: at once, or, where work was under
 * way then, in a later call of nd4c's; nd4c_memory_trim behind nd4c_device_synchronize is one. Then it holds the
 * contents, unless they were written on another device since: nd4c_array_migrate or nd4c_array_prefetch brings them
 * back before.
 *
 * A descriptor stays the caller's, who may close it when this returns: nd4c keeps a duplicate. Memory behind one must
 * not shrink. A vendor's handle is retained by the device.
 *
 * A failure leaves the memory to the caller; `release` is not called. Any thread; may block for as long as the driver
 * takes. Errors: UNSUPPORTED: the text says which kinds the device imports (nd4c_device_info.imports); ARGUMENT:
 * numbers or alignment that do not fit, by dtype or for the device; INDEX: an element outside the memory; SHAPE,
 * OVERFLOW, DTYPE (utf8), NULL_ARGUMENT, HANDLE, MEMORY, IO (a descriptor that cannot be mapped), DEVICE. */
ND4C_API nd4c_status nd4c_array_from_external(nd4c_device *device, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                                              const int64_t *strides, int64_t offset, const nd4c_external *external,
                                              nd4c_array **out);

/* The memory of an array on `device` for others: fills *external, whose struct_size the caller has set, for the whole
 * storage of which the array is a view, and *offset (NULL: not wanted) with the elements from its first byte to the
 * array's element 0. dtype, shape and strides are the array's.
 *
 * The contents are brought to the device first if they are elsewhere, work on them is waited for, and they stay there
 * as long as the array lives; where the array may be written, replicas elsewhere become invalid, because the caller may
 * write. The caller calls external->release, from any thread, when it no longer needs the memory: until then the array
 * lives. A descriptor is the export's, and `release` closes it: duplicate it to keep it for longer.
 *
 * Any thread; blocks until the contents are there. UNSUPPORTED: the device does not export that kind
 * (nd4c_device_info.exports), or not of this memory: a descriptor is to be had of what was made of one. DTYPE for utf8;
 * NULL_ARGUMENT, HANDLE, ARGUMENT (struct_size), MEMORY, what copying fails with. Nothing is kept after a failure. */
ND4C_API nd4c_status nd4c_array_to_external(nd4c_array *array, nd4c_device *device, nd4c_external_kind kind,
                                            nd4c_external *external, int64_t *offset);

/* Lets `device` copy directly from and to `bytes` bytes of host memory at `pointer`, which the caller owns: the driver
 * page-locks them, and nd4c's copies of what lies there do not pass through staging buffers. The memory stays valid
 * until nd4c_host_unregister. May block. UNSUPPORTED: the device registers none (nd4c_device_info.registers_host).
 * ARGUMENT: no bytes, or some of them are registered for the device already. NULL_ARGUMENT, HANDLE, MEMORY, DEVICE. */
ND4C_API nd4c_status nd4c_host_register(nd4c_device *device, void *pointer, int64_t bytes);
/* Ends that, by the pointer that was registered. Blocks until the work of the device that is under way has ended, and
 * the copies that other threads are beginning. Other threads may go on using arrays whose memory lies there: copies
 * that they begin meanwhile pass through other memory. In a process that ends, work for which nd4c.device.exit.wait was
 * too short is not waited for, and the memory stays registered. Any thread. INDEX: nothing is registered there, or
 * another thread is unregistering it. NULL_ARGUMENT, HANDLE. */
ND4C_API nd4c_status nd4c_host_unregister(nd4c_device *device, void *pointer);

ND4C_EXTERN_C_END
#endif
