/* Device memory that backends and contributions hold beside arrays: packed weights, workspaces and plans of vendors'
 * libraries. The device's memory manager counts it, under the device's cap, and asks for it where memory is short. */
#ifndef ND4C_PLUGIN_MEMORY_H
#define ND4C_PLUGIN_MEMORY_H

#include "nd4c/plugin/abi.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* nd4c's record of one piece that was taken. */
typedef struct nd4c_device_memory nd4c_device_memory;

/* What is asked for; borrowed for the duration of the call, but for `owner`. */
typedef struct nd4c_device_memory_request {
  uint32_t struct_size;
  const char *backend; /* name of the backend whose device it is: "cpu" */
  void *device;        /* the backend's own pointer (nd4c_call.device); device_open has returned it */
  int64_t bytes;       /* > 0 */
  const char *origin;  /* required: what it is for, for people: "packed weights"; nd4c keeps a copy */
  /* Asks for memory to be given back, because `bytes` more are needed on the device: this piece, others of the same
   * device, or none if they are in use. The function calls `give` for what it gives back, before it returns. It is
   * called by whatever thread needs the memory, one such function at a time in the process, while nd4c holds none of
   * the locks that functions of the host table take; the thread may hold locks of arrays: the function must wait for no
   * work of the device and for no other thread that computes. A request for device memory from within it fails with
   * MEMORY. It is not called any more once `give` has returned for the piece. Optional; NULL: the piece stays until it
   * is given. */
  void (*give_way)(void *owner, int64_t bytes);
  void *owner; /* for give_way */
} nd4c_device_memory_request;

/* Any thread. Neither function is called while holding a lock that a give_way takes. Static for the life of the
 * process. */
typedef struct nd4c_host_device_memory {
  uint32_t struct_size;
  /* Counts memory that the caller has from elsewhere, or is about to have: the vendor's allocator, host->allocate_pages
   * for a device whose memory is the host's. May block: where the cap is reached nd4c gives back what is cached, waits
   * for work under way and asks others to give way. ARGUMENT: no such device, or a request that makes no sense;
   * MEMORY_CAP: the cap leaves no room. Nothing is counted after a failure. */
  nd4c_status (*count)(const nd4c_device_memory_request *request, nd4c_device_memory **memory);
  /* The same, and makes a buffer of the device of at least so many bytes, by its buffers.allocate or from the cache;
   * contents undefined. *address: as buffers.address tells it, NULL on a device whose memory has none; `address` may be
   * NULL. MEMORY: the device has no more. */
  nd4c_status (*allocate)(const nd4c_device_memory_request *request, nd4c_device_memory **memory, nd4c_buffer *buffer,
                          void **address);
  /* Ends a piece: it is not counted any more, and its buffer, if it has one, is nd4c's; the work that used it has
   * ended. Exactly once for each piece, at the latest in device_close. Blocks while another thread is in the piece's
   * give_way. NULL is fine. */
  void (*give)(nd4c_device_memory *memory);
} nd4c_host_device_memory;

ND4C_EXTERN_C_END
#endif
