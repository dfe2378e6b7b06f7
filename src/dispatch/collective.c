/* Implements nd4c/collective.h, which programs call: each operation of a group's member is a submission to its
 * context. */
#include "nd4c/collective.h"

#include <stdatomic.h>
#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/status.h"
#include "device/driver.h"
#include "device/stream/exit_and_fork.h"
#include "submit/submit.h"

enum { ALIVE = 0x47726f70, DEAD = 0x64656164 };

struct nd4c_group {
  _Atomic uint32_t magic;
  _Atomic int32_t references; /* the owner's reference, and one for each operation in flight */
  nd4c_context *context;      /* one reference */
  nd4c_member member;
  int32_t rank, count;
};

static const nd4c_collective_ops *ops_of(const nd4c_device *device) {
  return device->backend->collective;
}

static nd4c_status check_device(const nd4c_device *device, const char *function) {
  return ops_of(device) != NULL
             ? ND4C_OK
             : nd4c_fail(ND4C_UNSUPPORTED, "%s: the backend of %s has no collectives", function, device->name);
}

static nd4c_status check_group(const nd4c_group *group, const char *function) {
  if (group == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: group is NULL", function);
  }
  return atomic_load_explicit(&group->magic, memory_order_relaxed) == ALIVE
             ? ND4C_OK
             : nd4c_fail(ND4C_HANDLE, "%s: no group, or one that was destroyed", function);
}

/* -- members ------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_collective_make_id(nd4c_device *device, nd4c_collective_id *id) {
  if (id == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_collective_make_id: id is NULL");
  }
  ND4C_TRY(nd4c_device_check(device, "nd4c_collective_make_id"));
  ND4C_TRY(check_device(device, "nd4c_collective_make_id"));
  nd4c_error_expect();
  return nd4c_driver_answer(ops_of(device)->make_id(id), "collective.make_id");
}

nd4c_status nd4c_group_create(nd4c_context *context, const nd4c_collective_id *id, int32_t rank, int32_t count,
                              nd4c_group **group) {
  if (id == NULL || group == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_group_create: %s is NULL", id == NULL ? "id" : "group");
  }
  if (count < 1 || rank < 0 || rank >= count) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_group_create: rank %d of %d ranks, expected 0 to %d", rank, count,
                     count < 1 ? 0 : count - 1);
  }
  ND4C_TRY(nd4c_context_resolve(context, &context));
  const nd4c_device *device = context->device;
  ND4C_TRY(check_device(device, "nd4c_group_create"));
  ND4C_TRY(nd4c_device_admit(device));
  nd4c_group *made = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *made, "a group", &made));
  nd4c_error_expect();
  nd4c_status status = ops_of(device)->join(device->handle, id, rank, count, &made->member);
  status = nd4c_driver_handle(status, made->member, "collective.join");
  if (status != ND4C_OK) {
    nd4c_deallocate(made);
    return nd4c_fail_prefix(status, "nd4c_group_create on %s", device->name);
  }
  atomic_init(&made->magic, ALIVE);
  atomic_init(&made->references, 1);
  made->context = nd4c_context_retain(context);
  made->rank = rank;
  made->count = count;
  *group = made;
  return ND4C_OK;
}

static void drop(void *argument) {
  nd4c_group *group = argument;
  if (atomic_fetch_sub_explicit(&group->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  const nd4c_device *device = group->context->device;
  if (!nd4c_device_is_forked(device)) {
    ops_of(device)->leave(device->handle, group->member);
  }
  nd4c_context_drop(group->context);
  nd4c_deallocate(group);
}

nd4c_status nd4c_group_destroy(nd4c_group *group) {
  if (group == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(check_group(group, "nd4c_group_destroy"));
  atomic_store(&group->magic, DEAD);
  drop(group);
  return ND4C_OK;
}

nd4c_status nd4c_group_abort(nd4c_group *group) {
  ND4C_TRY(check_group(group, "nd4c_group_abort"));
  const nd4c_device *device = group->context->device;
  if (ops_of(device)->abort == NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "nd4c_group_abort: the backend of %s cannot", device->name);
  }
  ops_of(device)->abort(device->handle, group->member);
  return ND4C_OK;
}

int32_t nd4c_group_rank(const nd4c_group *group) {
  return group == NULL ? -1 : group->rank;
}

int32_t nd4c_group_size(const nd4c_group *group) {
  return group == NULL ? -1 : group->count;
}

/* -- submissions --------------------------------------------------------------------------------------------------- */

typedef enum collective { ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BROADCAST, SEND, RECEIVE } collective;

static const char *const names[] = {"all_reduce", "all_gather", "reduce_scatter", "broadcast", "send", "receive"};

/* One operation, with the arrays that it reads and writes; NULL: none. */
typedef struct operation {
  collective kind;
  nd4c_collective_reduction reduction;
  int32_t peer; /* or root */
  const nd4c_array *from;
  nd4c_array *to;
} operation;

static nd4c_tensor describe(const nd4c_array *array) {
  return (nd4c_tensor){.dtype = array->dtype,
                       .rank = array->rank,
                       .flags = ND4C_TENSOR_CONTIGUOUS,
                       .layout = ND4C_LAYOUT_STRIDED,
                       .shape = array->shape,
                       .strides = array->strides,
                       .size = array->size};
}

static nd4c_status enqueue(const nd4c_group *group, const operation *o, const nd4c_tensor *from,
                           const nd4c_tensor *to) {
  const nd4c_device *device = group->context->device;
  const nd4c_collective_ops *ops = ops_of(device);
  nd4c_stream stream = group->context->stream;
  switch (o->kind) {
    case ALL_REDUCE:
      return ops->all_reduce(device->handle, stream, group->member, o->reduction, from, to);
    case ALL_GATHER:
      return ops->all_gather(device->handle, stream, group->member, from, to);
    case REDUCE_SCATTER:
      return ops->reduce_scatter(device->handle, stream, group->member, o->reduction, from, to);
    case BROADCAST:
      return ops->broadcast(device->handle, stream, group->member, o->peer, from != NULL ? from : to);
    case SEND:
      return ops->send(device->handle, stream, group->member, o->peer, from);
    case RECEIVE:
      return ops->receive(device->handle, stream, group->member, o->peer, to);
  }
  return ND4C_INTERNAL;
}

static nd4c_status acquire(nd4c_submission *submission, const nd4c_array *array, nd4c_access access,
                           nd4c_tensor *tensor) {
  *tensor = describe(array);
  nd4c_status status = nd4c_submission_acquire_array(submission, array, access, tensor);
  return status == ND4C_OK ? status
                           : nd4c_submission_name_operand(submission, status, array,
                                                          access == ND4C_ACCESS_READ ? "input" : "output", 0, access);
}

/* A failure after the first command may have written part of the result. */
static nd4c_status fail_result(const operation *o, nd4c_status status) {
  const bool refused = status >= 200 && status < 300;
  if (!refused && o->to != NULL) {
    nd4c_storage_poison(o->to->storage, status, nd4c_error_message());
  }
  return status;
}

static nd4c_status submit(nd4c_group *group, const operation *o, nd4c_submission *submission) {
  nd4c_tensor from, to;
  nd4c_shared_fence *fence = NULL;
  if (o->from != NULL) {
    ND4C_TRY(acquire(submission, o->from, ND4C_ACCESS_READ, &from));
  }
  if (o->to != NULL) {
    ND4C_TRY(acquire(submission, o->to, nd4c_submission_output_access(o->to), &to));
  }
  if (group->context->timeline != NULL) { /* so that waiting for earlier work does not wait for other ranks */
    nd4c_timeline_stand_apart(group->context->timeline);
  }
  nd4c_error_expect();
  nd4c_status status = enqueue(group, o, o->from != NULL ? &from : NULL, o->to != NULL ? &to : NULL);
  if (status != ND4C_OK) {
    nd4c_submission_settle(group->context, status);
    status = nd4c_fail_prefix(nd4c_driver_answer(status, submission->name), "%s on %s", submission->name,
                              group->context->device->name);
    return fail_result(o, status);
  }
  status = nd4c_submission_record(submission, NULL, &fence);
  if (status != ND4C_OK) {
    return fail_result(o, status);
  }
  if (fence != NULL) {
    atomic_fetch_add_explicit(&group->references, 1, memory_order_relaxed);
    nd4c_fence_keep(fence, group, 0, drop);
  }
  nd4c_submission_commit(submission, fence);
  nd4c_fence_release(fence);
  return ND4C_OK;
}

static nd4c_status run(nd4c_group *group, const operation *o) {
  nd4c_submission submission;
  nd4c_status status = nd4c_submission_start(&submission, group->context, names[o->kind], 2);
  status = status == ND4C_OK ? submit(group, o, &submission) : status;
  nd4c_submission_end(&submission);
  return status;
}

/* -- operations ---------------------------------------------------------------------------------------------------- */

static nd4c_status check_call(const nd4c_group *group, const nd4c_array *array, collective kind) {
  ND4C_TRY(check_group(group, names[kind]));
  ND4C_TRY(nd4c_array_check(array, names[kind]));
  return array->dtype != ND4C_UTF8 ? ND4C_OK : nd4c_fail(ND4C_DTYPE, "%s: strings live on the host", names[kind]);
}

static nd4c_status check_reduction(nd4c_collective_reduction reduction, collective kind) {
  return reduction >= ND4C_COLLECTIVE_SUM && reduction <= ND4C_COLLECTIVE_MEAN
             ? ND4C_OK
             : nd4c_fail(ND4C_ARGUMENT, "%s: reduction %d, expected an nd4c_collective_reduction", names[kind],
                         (int)reduction);
}

static nd4c_status check_peer(const nd4c_group *group, int32_t peer, collective kind) {
  const bool itself = kind != BROADCAST && peer == group->rank;
  return peer >= 0 && peer < group->count && !itself
             ? ND4C_OK
             : nd4c_fail(ND4C_ARGUMENT, "%s: rank %d%s, the group has ranks 0 to %d", names[kind], peer,
                         itself ? " is the calling one" : "", group->count - 1);
}

/* Checks an array that is written in place or given for a result. */
static nd4c_status check_written(const nd4c_array *array, collective kind) {
  if ((array->storage->flags & ND4C_STORAGE_READ_ONLY) != 0) {
    return nd4c_fail(ND4C_READ_ONLY, "%s: the array to be written is read-only", names[kind]);
  }
  return nd4c_array_is_whole(array)
             ? ND4C_OK
             : nd4c_fail(ND4C_ARGUMENT,
                         "%s: the array to be written is a view, expected one in C order that begins "
                         "with its storage",
                         names[kind]);
}

/* `shape`: of the result. *made: a fresh array, else what was given. */
static nd4c_status find_result(const nd4c_group *group, collective kind, nd4c_dtype dtype, int32_t rank,
                               const int64_t *shape, nd4c_array **result, nd4c_array **made) {
  if (result == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: result is NULL", names[kind]);
  }
  *made = *result;
  if (*result == NULL) {
    return nd4c_array_empty(dtype, rank, shape, group->context->device, made);
  }
  ND4C_TRY(nd4c_array_check(*result, names[kind]));
  ND4C_TRY(check_written(*result, kind));
  if ((*result)->dtype != dtype) {
    return nd4c_fail(ND4C_DTYPE, "%s: result has dtype %s, expected %s", names[kind], nd4c_dtype_name((*result)->dtype),
                     nd4c_dtype_name(dtype));
  }
  return nd4c_shape_equal((*result)->rank, (*result)->shape, rank, shape)
             ? ND4C_OK
             : nd4c_fail(ND4C_SHAPE, "%s: result has %d axes and %lld elements, which is not the shape of the result",
                         names[kind], (*result)->rank, (long long)(*result)->size);
}

/* Runs with an input in C order. Returns a fresh result only after success. */
static nd4c_status run_into(nd4c_group *group, operation *o, const nd4c_array *array, nd4c_array **result) {
  nd4c_array *copy = NULL;
  nd4c_status status = ND4C_OK;
  if (!nd4c_array_is_whole(array)) {
    status = nd4c_array_to_device(array, group->context->device, &copy);
  }
  o->from = copy != NULL ? copy : array;
  status = status == ND4C_OK ? run(group, o) : status;
  nd4c_array_release(copy);
  if (result != NULL && o->to != *result) {
    if (status == ND4C_OK) {
      *result = o->to;
    } else {
      nd4c_array_release(o->to);
    }
  }
  return status;
}

nd4c_status nd4c_group_all_reduce(nd4c_group *group, nd4c_collective_reduction reduction, const nd4c_array *array,
                                  nd4c_array **result) {
  operation o = {.kind = ALL_REDUCE, .reduction = reduction};
  ND4C_TRY(check_call(group, array, o.kind));
  ND4C_TRY(check_reduction(reduction, o.kind));
  ND4C_TRY(find_result(group, o.kind, array->dtype, array->rank, array->shape, result, &o.to));
  return run_into(group, &o, array, result);
}

nd4c_status nd4c_group_all_gather(nd4c_group *group, const nd4c_array *array, nd4c_array **result) {
  operation o = {.kind = ALL_GATHER};
  ND4C_TRY(check_call(group, array, o.kind));
  int64_t shape[ND4C_MAX_RANK] = {group->count};
  if (array->rank == ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_SHAPE, "all_gather: %d axes and the ranks' are more than %d", array->rank, ND4C_MAX_RANK);
  }
  memcpy(shape + 1, array->shape, (size_t)array->rank * sizeof *shape);
  ND4C_TRY(find_result(group, o.kind, array->dtype, array->rank + 1, shape, result, &o.to));
  return run_into(group, &o, array, result);
}

nd4c_status nd4c_group_reduce_scatter(nd4c_group *group, nd4c_collective_reduction reduction, const nd4c_array *array,
                                      nd4c_array **result) {
  operation o = {.kind = REDUCE_SCATTER, .reduction = reduction};
  ND4C_TRY(check_call(group, array, o.kind));
  ND4C_TRY(check_reduction(reduction, o.kind));
  if (array->rank < 1 || array->shape[0] != group->count) {
    return nd4c_fail(ND4C_SHAPE, "reduce_scatter: the first axis has %lld elements, expected one for each of %d ranks",
                     array->rank < 1 ? 0LL : (long long)array->shape[0], group->count);
  }
  ND4C_TRY(find_result(group, o.kind, array->dtype, array->rank - 1, array->shape + 1, result, &o.to));
  return run_into(group, &o, array, result);
}

nd4c_status nd4c_group_broadcast(nd4c_group *group, int32_t root, nd4c_array *array) {
  operation o = {.kind = BROADCAST, .peer = root};
  ND4C_TRY(check_call(group, array, o.kind));
  ND4C_TRY(check_peer(group, root, o.kind));
  if (root == group->rank) {
    return run_into(group, &o, array, NULL);
  }
  ND4C_TRY(check_written(array, o.kind));
  o.to = array;
  return run(group, &o);
}

nd4c_status nd4c_group_send(nd4c_group *group, int32_t peer, const nd4c_array *array) {
  operation o = {.kind = SEND, .peer = peer};
  ND4C_TRY(check_call(group, array, o.kind));
  ND4C_TRY(check_peer(group, peer, o.kind));
  return run_into(group, &o, array, NULL);
}

nd4c_status nd4c_group_receive(nd4c_group *group, int32_t peer, nd4c_array *array) {
  operation o = {.kind = RECEIVE, .peer = peer, .to = array};
  ND4C_TRY(check_call(group, array, o.kind));
  ND4C_TRY(check_peer(group, peer, o.kind));
  ND4C_TRY(check_written(array, o.kind));
  return run(group, &o);
}
