/* Collectives: operations that combine and exchange arrays among devices, run by the threads of one process or by
 * several processes.
 *
 * A **group** is a set of ranks, numbered from 0. Each rank is a context, and all their devices belong to one backend.
 * The backend must have collectives: no built-in one has them; a plug-in may (the stub backend of the tests does). One
 * rank makes an id and the program sends it to the other ranks; each rank then creates its member of the group from the
 * id.
 *
 *     nd4c_collective_id id; nd4c_collective_make_id(device, &id); // on one rank; send it to the others
 *     nd4c_group_create(context, &id, rank, 4, &group); // on every rank, each in its own thread
 *     nd4c_group_all_reduce(group, ND4C_COLLECTIVE_SUM, gradient, &sum); nd4c_group_destroy(group);
 *
 * Every rank calls the same operations in the same order with arrays of the same dtype and shape. The call of an
 * operation enqueues it on the context's stream and returns; the result is ready when every rank has joined the
 * operation. If a rank cannot take part or its call differs, the results report DEVICE. nd4c_group_abort ends the wait
 * for a rank that will not join.
 *
 * One thread at a time uses a group. Functions fail with HANDLE for a destroyed group, UNSUPPORTED where the device's
 * backend lacks collectives or the dtype, READ_ONLY, MEMORY, or the failure of enqueuing. An array that the caller
 * gives for a result must have its dtype and shape (DTYPE, SHAPE) and lie in C order from the beginning of its storage
 * (ARGUMENT). If *result is NULL, it receives a fresh array on the context's device. */
#ifndef ND4C_COLLECTIVE_H
#define ND4C_COLLECTIVE_H

#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Identifies a group among all processes. Send the bytes unchanged. */
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

/* Makes a new id, for a group on devices of this device's backend. Any thread. */
ND4C_API nd4c_status nd4c_collective_make_id(nd4c_device *device, nd4c_collective_id *id);

/* Creates the calling rank's member of a group of `count` ranks. The member retains the context (NULL: the thread's)
 * until nd4c_group_destroy. May block until every rank has called this function. ARGUMENT: rank is below 0, or not
 * below count. */
ND4C_API nd4c_status nd4c_group_create(nd4c_context *context, const nd4c_collective_id *id, int32_t rank, int32_t count,
                                       nd4c_group **group);
/* Destroys the calling rank's member; operations in flight run to completion. NULL is fine. */
ND4C_API nd4c_status nd4c_group_destroy(nd4c_group *group);
/* Makes this rank's waiting operations and all later operations of the group fail. Does not block. May be called from
 * any thread while another thread uses the group. */
ND4C_API nd4c_status nd4c_group_abort(nd4c_group *group);
/* -1 for NULL. */
ND4C_API int32_t nd4c_group_rank(const nd4c_group *group);
ND4C_API int32_t nd4c_group_size(const nd4c_group *group);

/* Combines the arrays of all ranks, element by element, and gives every rank the result. *result may be the array
 * itself. */
ND4C_API nd4c_status nd4c_group_all_reduce(nd4c_group *group, nd4c_collective_reduction reduction,
                                           const nd4c_array *array, nd4c_array **result);
/* Stacks the arrays of all ranks by rank along a new first axis, and gives every rank the result. */
ND4C_API nd4c_status nd4c_group_all_gather(nd4c_group *group, const nd4c_array *array, nd4c_array **result);
/* Combines the arrays of all ranks, whose first axis has one entry for each rank, and gives each rank its own entry of
 * the result, without that axis. */
ND4C_API nd4c_status nd4c_group_reduce_scatter(nd4c_group *group, nd4c_collective_reduction reduction,
                                               const nd4c_array *array, nd4c_array **result);
/* Copies the value of `array` on rank `root` into `array` on every other rank, in place. */
ND4C_API nd4c_status nd4c_group_broadcast(nd4c_group *group, int32_t root, nd4c_array *array);
/* Sends an array to rank `peer`, which receives it with its next nd4c_group_receive from this rank. ARGUMENT: `peer` is
 * not a rank of the group, or is the calling rank. */
ND4C_API nd4c_status nd4c_group_send(nd4c_group *group, int32_t peer, const nd4c_array *array);
ND4C_API nd4c_status nd4c_group_receive(nd4c_group *group, int32_t peer, nd4c_array *array);

ND4C_EXTERN_C_END
#endif
