/* Collectives of a backend: one table for its devices, which nd4c_backend.collective points to. The meaning of each
 * operation is that of nd4c/collective.h. */
#ifndef ND4C_PLUGIN_COLLECTIVE_H
#define ND4C_PLUGIN_COLLECTIVE_H

#include "nd4c/collective.h"
#include "nd4c/plugin/abi.h"
#include "nd4c/plugin/call.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* `device` is the pointer that device_open gave, `member` what join gave for it. Operations are called in the order in
 * which the rank calls them, by one thread at a time; on an asynchronous device they enqueue on `stream` and return, on
 * a synchronous one (stream NULL) they block until every rank has come. Tensors are in C order, with data or buffer and
 * offset as in a call, valid until the work has ended. UNSUPPORTED: this dtype or this operation; nothing was enqueued.
 * Where a rank is missing, lost, or gives something else than the others, the work fails in flight (fence_wait). */
typedef struct nd4c_collective_ops {
  uint32_t struct_size;
  /* Required. An id that no other group has, in whatever process. May block. */
  nd4c_status (*make_id)(nd4c_collective_id *id);
  /* Required. The rank's member of the group. May block until every rank has joined. */
  nd4c_status (*join)(void *device, const nd4c_collective_id *id, int32_t rank, int32_t count, nd4c_member *member);
  /* Required. The member's work has ended. May block. */
  void (*leave)(void *device, nd4c_member member);
  /* Optional. Lets work that waits for other ranks fail, and later operations of the group. Called by any thread, also
   * while another one is in a function of the member. NULL: nd4c tells the caller that it cannot be done. */
  void (*abort)(void *device, nd4c_member member);
  /* Required. `to` has the shape of `from`, and may be the same memory. */
  nd4c_status (*all_reduce)(void *device, nd4c_stream stream, nd4c_member member, nd4c_collective_reduction reduction,
                            const nd4c_tensor *from, const nd4c_tensor *to);
  /* Required. `to` has the ranks as a first axis before those of `from`. */
  nd4c_status (*all_gather)(void *device, nd4c_stream stream, nd4c_member member, const nd4c_tensor *from,
                            const nd4c_tensor *to);
  /* Required. `from` has the ranks as a first axis before those of `to`. */
  nd4c_status (*reduce_scatter)(void *device, nd4c_stream stream, nd4c_member member,
                                nd4c_collective_reduction reduction, const nd4c_tensor *from, const nd4c_tensor *to);
  /* Required. Read on rank `root`, written on the others. */
  nd4c_status (*broadcast)(void *device, nd4c_stream stream, nd4c_member member, int32_t root,
                           const nd4c_tensor *tensor);
  /* Required. Pairs of ranks match sends and receives in their order, whatever else they do meanwhile. */
  nd4c_status (*send)(void *device, nd4c_stream stream, nd4c_member member, int32_t peer, const nd4c_tensor *from);
  nd4c_status (*receive)(void *device, nd4c_stream stream, nd4c_member member, int32_t peer, const nd4c_tensor *to);
} nd4c_collective_ops;

ND4C_EXTERN_C_END
#endif
