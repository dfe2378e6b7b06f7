/* Collectives: arrays combined and exchanged among devices, by threads of one process or by several processes.
 *
 * A **group** is a set of ranks, numbered from 0, each a context on a device of one backend that has collectives
 * (`nd4c info` names none today but backends from elsewhere; the stub of the tests is one). One rank makes an id and
 * tells it to the others by a way of the program's own; each creates its member of the group with it.
 *
 *     nd4c_collective_id id;
 *     nd4c_collective_make_id(device, &id);                     // one rank; the others are told
 *     nd4c_group_create(context, &id, rank, 4, &group);         // every rank, from a thread of its own
 *     nd4c_group_all_reduce(group, ND4C_COLLECTIVE_SUM, gradient, &sum);
 *     nd4c_group_destroy(group);
 *
 * Every rank calls the same operations in the same order with arrays of the same dtype and shape. An operation is
 * enqueued on the context's stream and returns; its result is ready when every rank has come to it. What one rank lacks
 * or gives differently is told by the results: DEVICE. nd4c_group_abort ends the wait for a rank that will not come.
 *
 * One thread at a time uses a group. Functions fail with HANDLE for a group that was destroyed, UNSUPPORTED where the
 * device's backend lacks collectives, or the dtype, READ_ONLY, MEMORY, and what enqueuing fails with. Arrays that are
 * given for results must be on no other dtype and shape (DTYPE, SHAPE) and in C order from the beginning of their
 * storage (ARGUMENT); *result NULL: a fresh array on the context's device. */
#ifndef ND4C_COLLECTIVE_H
#define ND4C_COLLECTIVE_H

#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Names a group among all processes; bytes to be sent as they are. */
#define ND4C_COLLECTIVE_ID_BYTES 128
typedef struct nd4c_collective_id {
  unsigned char bytes[ND4C_COLLECTIVE_ID_BYTES];
} nd4c_collective_id;

/* X(NAME, number, text) */
#define ND4C_COLLECTIVE_REDUCTION_TABLE(X) \
  X(SUM, 0, "sum")                         \
  X(PRODUCT, 1, "product")                 \
  X(MIN, 2, "min")                         \
  X(MAX, 3, "max")                         \
  X(MEAN, 4, "mean") /* the sum divided by the number of ranks */

typedef enum nd4c_collective_reduction {
#define ND4C_COLLECTIVE_ENUM(NAME, number, text) ND4C_COLLECTIVE_##NAME = number,
  ND4C_COLLECTIVE_REDUCTION_TABLE(ND4C_COLLECTIVE_ENUM)
#undef ND4C_COLLECTIVE_ENUM
} nd4c_collective_reduction;

typedef struct nd4c_group nd4c_group;

/* A new id for a group on devices of this one's backend. Any thread. */
ND4C_API nd4c_status nd4c_collective_make_id(nd4c_device *device, nd4c_collective_id *id);

/* Makes the calling rank's member of a group of `count` ranks. The context, NULL: the thread's, is kept until the group
 * is destroyed. May block until every rank has called it. ARGUMENT: rank is not one of 0 .. count - 1. */
ND4C_API nd4c_status nd4c_group_create(nd4c_context *context, const nd4c_collective_id *id, int32_t rank, int32_t count,
                                       nd4c_group **group);
/* Ends the member; what is under way goes on to its end. NULL is fine. */
ND4C_API nd4c_status nd4c_group_destroy(nd4c_group *group);
/* Lets operations of this rank that wait for others fail, and all later ones of the group. Does not block. Any thread,
 * while another one uses the group. */
ND4C_API nd4c_status nd4c_group_abort(nd4c_group *group);
/* -1 for NULL. */
ND4C_API int32_t nd4c_group_rank(const nd4c_group *group);
ND4C_API int32_t nd4c_group_size(const nd4c_group *group);

/* Combines the arrays of all ranks, element by element, for each of them. *result may be the array itself. */
ND4C_API nd4c_status nd4c_group_all_reduce(nd4c_group *group, nd4c_collective_reduction reduction,
                                           const nd4c_array *array, nd4c_array **result);
/* The arrays of all ranks, stacked by rank along a new first axis, for each of them. */
ND4C_API nd4c_status nd4c_group_all_gather(nd4c_group *group, const nd4c_array *array, nd4c_array **result);
/* Combines arrays whose first axis has an extent of `count` ranks, and gives each rank its part: without that axis. */
ND4C_API nd4c_status nd4c_group_reduce_scatter(nd4c_group *group, nd4c_collective_reduction reduction,
                                               const nd4c_array *array, nd4c_array **result);
/* Gives every rank the value that `array` has on rank `root`; written in place on the others. */
ND4C_API nd4c_status nd4c_group_broadcast(nd4c_group *group, int32_t root, nd4c_array *array);
/* Sends an array to rank `peer`, which receives it by its next nd4c_group_receive from this rank. ARGUMENT: no rank of
 * the group, or the calling one. */
ND4C_API nd4c_status nd4c_group_send(nd4c_group *group, int32_t peer, const nd4c_array *array);
ND4C_API nd4c_status nd4c_group_receive(nd4c_group *group, int32_t peer, nd4c_array *array);

ND4C_EXTERN_C_END
#endif
