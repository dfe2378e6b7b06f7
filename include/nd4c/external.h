/* External memory. Memory that nd4c did not allocate can be imported as arrays, the memory of arrays can be exported to
 * other libraries, and host memory can be page-locked so that a device copies from and to it directly.
 *
 * None of these functions orders work that other libraries enqueue. Before a caller imports memory, it waits for all
 * other work on it. When memory is exported, and when an import's release callback runs, nd4c's work on the memory has
 * ended. If the same memory is imported twice, nd4c treats it as two unrelated arrays and does not order work on one
 * after work on the other. */
#ifndef ND4C_EXTERNAL_H
#define ND4C_EXTERNAL_H

#include "nd4c/array.h"

ND4C_EXTERN_C_BEGIN

/* How external memory is identified. */
typedef enum nd4c_external_kind {
  ND4C_EXTERNAL_HOST_POINTER = 1,   /* an address at which the host reads and writes */
  ND4C_EXTERNAL_DEVICE_POINTER = 2, /* an address on the device (CUdeviceptr), which the host must not dereference */
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
  int64_t offset;     /* DESCRIPTOR, NATIVE: of the first byte within the descriptor or handle; else 0 */
  int64_t bytes;      /* from the first byte on */
  int64_t alignment;  /* of the first byte, a power of two up to 1 GiB; 0: derived from the address or the offset */
  /* The receiver of the memory calls this once, with `user`, after the last use of the memory. If the receiver is nd4c,
   * it calls from any thread and holds no lock. NULL: the owner does not need the call. */
  nd4c_release_callback release;
  void *user;
} nd4c_external;

/* An array on `device` over external memory, without a copy. `offset` counts elements from the memory's first byte to
 * element 0; strides (NULL: C order) count elements and may be negative or zero; every element must lie within the
 * memory.
 *
 * The array stays bound to the memory: migration copies contents out of it and back into it, spilling skips it, and the
 * device's cap does not count it (nd4c_memory_info.imported_bytes does). The array owns the memory until nd4c calls
 * `external->release`. nd4c calls `release` while the last reference is being released. If work is still in flight at
 * that time, a later call of nd4c calls `release`, after the work has ended (for example nd4c_memory_trim after
 * nd4c_device_synchronize). The memory then holds the contents, unless they were last written on another device: to get
 * them back, call nd4c_array_migrate or nd4c_array_prefetch before releasing the array.
 *
 * The caller keeps a descriptor and may close it when this returns: nd4c duplicates it. The file behind it must not
 * shrink. The device retains a vendor's handle.
 *
 * After a failure the caller still owns the memory, and `release` is not called. Any thread; may block for as long as
 * the driver takes. Errors: UNSUPPORTED: the text says which kinds the device imports (nd4c_device_info.imports);
 * ARGUMENT: a size, offset or alignment that does not fit the dtype or the device; INDEX: an element outside the
 * memory; SHAPE, OVERFLOW, DTYPE (utf8), NULL_ARGUMENT, HANDLE, MEMORY, IO (a descriptor that cannot be mapped),
 * DEVICE. */
ND4C_API nd4c_status nd4c_array_from_external(nd4c_device *device, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                                              const int64_t *strides, int64_t offset, const nd4c_external *external,
                                              nd4c_array **out);

/* Exports the memory of an array on `device` to other libraries. Fills *external, whose struct_size the caller has set,
 * for the array's whole storage, and *offset (may be NULL) with the number of elements from its first byte to the
 * array's element 0. Dtype, shape and strides are the array's.
 *
 * nd4c first copies the contents to the device if necessary and waits for work on them; they then stay there as long as
 * the array lives. Unless the array is read-only, replicas on other devices become invalid, because the caller may
 * write. The export retains the array until the caller calls external->release, from any thread. `release` also closes
 * an exported descriptor: duplicate it to keep it longer.
 *
 * Any thread; blocks until the contents are on the device. UNSUPPORTED: the device does not export that kind
 * (nd4c_device_info.exports), or not this memory: only memory that was imported from a descriptor can be exported as
 * one. DTYPE for utf8; NULL_ARGUMENT, HANDLE, ARGUMENT (struct_size), MEMORY, the failure of the copy. A failure leaves
 * nothing to release. */
ND4C_API nd4c_status nd4c_array_to_external(nd4c_array *array, nd4c_device *device, nd4c_external_kind kind,
                                            nd4c_external *external, int64_t *offset);

/* Lets `device` copy directly from and to `bytes` bytes of the caller's host memory at `pointer`: the driver page-locks
 * the memory, and nd4c copies to and from it without staging buffers. The memory must stay valid until
 * nd4c_host_unregister. May block. UNSUPPORTED: the device registers no host memory (nd4c_device_info.registers_host).
 * ARGUMENT: `bytes` is less than 1, or some of the bytes are already registered for the device. NULL_ARGUMENT, HANDLE,
 * MEMORY, DEVICE. */
ND4C_API nd4c_status nd4c_host_register(nd4c_device *device, void *pointer, int64_t bytes);
/* Unregisters host memory, by the pointer that was registered. Blocks until the device's work in flight has ended,
 * including copies that other threads are starting. Other threads may keep using arrays in that memory: the copies that
 * they start meanwhile use staging buffers. At process exit, if nd4c.device.exit.wait is too short for the work in
 * flight, the memory stays registered. Any thread. INDEX: nothing is registered at that pointer, or another thread is
 * unregistering it. NULL_ARGUMENT, HANDLE. */
ND4C_API nd4c_status nd4c_host_unregister(nd4c_device *device, void *pointer);

ND4C_EXTERN_C_END
#endif
