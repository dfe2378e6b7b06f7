/* Device memory that backends and contributions hold besides arrays: packed weights, workspaces and plans of vendors'
 * libraries. The device's memory manager counts it towards the device's cap, and asks the holders to free it when
 * memory is short. */
#ifndef ND4C_PLUGIN_MEMORY_H
#define ND4C_PLUGIN_MEMORY_H

#include "nd4c/plugin/abi.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* nd4c's record of one piece of memory. */
typedef struct nd4c_device_memory nd4c_device_memory;

/* A request; borrowed for the duration of the call, except `owner`. */
typedef struct nd4c_device_memory_request {
  uint32_t struct_size;
  const char *backend; /* name of the device's backend: "cpu" */
  void *device;        /* the pointer that the backend's device_open gave (nd4c_call.device) */
  int64_t bytes;       /* > 0 */
  const char *origin;  /* required: its purpose, for reports: "packed weights"; nd4c keeps a copy */
  /* Asks the holder to free memory, because `bytes` more are needed on the device. The function may free this piece,
   * other pieces of the same device, or none if they are in use; it calls `give` for each before it returns. nd4c calls
   * it on the thread that needs the memory, and runs one such function at a time in the process. nd4c then holds none
   * of the locks that functions of the host table take, but the thread may hold locks of arrays: the function must not
   * wait for work of the device or for other computing threads. A request for device memory from within it fails with
   * MEMORY. nd4c does not call it after `give` has returned for the piece. Optional; NULL: the piece stays until the
   * holder gives it. */
  void (*give_way)(void *owner, int64_t bytes);
  void *owner; /* the argument of give_way */
} nd4c_device_memory_request;

/* Any thread. A caller must not hold a lock that a give_way takes. Static for the life of the process. */
typedef struct nd4c_host_device_memory {
  uint32_t struct_size;
  /* Counts memory that the caller has allocated, or is about to allocate, elsewhere: from the vendor's allocator, or by
   * host->allocate_pages if the device's memory is the host's. May block: if the cap is reached, nd4c frees its cache,
   * waits for work in flight and asks other holders to free memory. ARGUMENT: there is no such device, or the request
   * is invalid; MEMORY_CAP: the cap leaves no room. A failure counts nothing. */
  nd4c_status (*count)(const nd4c_device_memory_request *request, nd4c_device_memory **memory);
  /* As count, and also gives a device buffer of at least that size, from the cache or by the device's buffers.allocate;
   * contents undefined. *address is the result of buffers.address, or NULL if the device's memory has no addresses;
   * `address` may be NULL. MEMORY: the device is out of memory. */
  nd4c_status (*allocate)(const nd4c_device_memory_request *request, nd4c_device_memory **memory, nd4c_buffer *buffer,
                          void **address);
  /* Gives a piece back: nd4c no longer counts it, and takes over its buffer, if it has one. All work that used the
   * piece has ended. Call it exactly once for each piece, at the latest in device_close. Blocks while another thread is
   * in the piece's give_way. NULL is fine. */
  void (*give)(nd4c_device_memory *memory);
} nd4c_host_device_memory;

ND4C_EXTERN_C_END
#endif
