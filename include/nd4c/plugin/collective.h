/* Collectives of a backend: nd4c_backend.collective points to one table for all its devices. The meaning of each
 * operation is that of nd4c/collective.h. */
#ifndef ND4C_PLUGIN_COLLECTIVE_H
#define ND4C_PLUGIN_COLLECTIVE_H

#include "nd4c/collective.h"
#include "nd4c/plugin/abi.h"
#include "nd4c/plugin/call.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* `device` is the pointer that device_open gave, `member` the handle that join gave for it. One thread at a time calls
 * operations, in the order in which the rank calls them. On an asynchronous device they enqueue on `stream` and return;
 * on a synchronous one (stream NULL) they block until every rank has joined. Tensors are in C order, with data or
 * buffer and offset as in a call, and valid until the work has ended. UNSUPPORTED: the dtype or operation is not
 * supported, and nothing was enqueued. If a rank is missing or lost, or its call differs from the others', the work
 * fails in flight (fence_wait). */
typedef struct nd4c_collective_ops {
  uint32_t struct_size;
  /* Required. Makes an id that is unique among all groups of all processes. May block. */
  nd4c_status (*make_id)(nd4c_collective_id *id);
  /* Required. Creates the rank's member of the group. May block until every rank has joined. */
  nd4c_status (*join)(void *device, const nd4c_collective_id *id, int32_t rank, int32_t count, nd4c_member *member);
  /* Required. Destroys a member; its work has ended. May block. */
  void (*leave)(void *device, nd4c_member member);
  /* Optional. Makes all work that waits for other ranks fail, and all later operations of the group, too. Any thread
   * may call it while another one is in a function of the member. NULL: nd4c_group_abort returns UNSUPPORTED. */
  void (*abort)(void *device, nd4c_member member);
  /* Required. `to` has the shape of `from`, and may be the same memory. */
  nd4c_status (*all_reduce)(void *device, nd4c_stream stream, nd4c_member member, nd4c_collective_reduction reduction,
                            const nd4c_tensor *from, const nd4c_tensor *to);
  /* Required. `to` has one axis more than `from`, in front of the others, with one entry for each rank. */
  nd4c_status (*all_gather)(void *device, nd4c_stream stream, nd4c_member member, const nd4c_tensor *from,
                            const nd4c_tensor *to);
  /* Required. `from` has one axis more than `to`, in front of the others, with one entry for each rank. */
  nd4c_status (*reduce_scatter)(void *device, nd4c_stream stream, nd4c_member member,
                                nd4c_collective_reduction reduction, const nd4c_tensor *from, const nd4c_tensor *to);
  /* Required. `tensor` is read on rank `root` and written on the others. */
  nd4c_status (*broadcast)(void *device, nd4c_stream stream, nd4c_member member, int32_t root,
                           const nd4c_tensor *tensor);
  /* Required. Between two ranks, sends match receives in order, whatever other operations run meanwhile. */
  nd4c_status (*send)(void *device, nd4c_stream stream, nd4c_member member, int32_t peer, const nd4c_tensor *from);
  nd4c_status (*receive)(void *device, nd4c_stream stream, nd4c_member member, int32_t peer, const nd4c_tensor *to);
} nd4c_collective_ops;

ND4C_EXTERN_C_END
#endif
