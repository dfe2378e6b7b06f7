/* Routing inside the library: the object, the vote, the contexts on which routed calls run. dispatch/routed.c calls it
 * for eager calls, graph/plan for the nodes of a plan. */
#ifndef ND4C_DEVICE_CONTEXT_ROUTING_H
#define ND4C_DEVICE_CONTEXT_ROUTING_H

#include <stdatomic.h>

#include "array/array.h"
#include "base/text.h"
#include "device/context/context.h"
#include "nd4c/routing.h"

enum { ND4C_ROUTING_DEVICES = 8, ND4C_ROUTING_CATEGORIES = 17, ND4C_ROUTING_OPS = 64 };

typedef struct nd4c_route_list {
  int32_t count;
  nd4c_device *devices[ND4C_ROUTING_DEVICES];
} nd4c_route_list;

/* Immutable once `in_use`: read without a lock. */
struct nd4c_routing {
  struct nd4c_routing *next_known; /* under the lock of the known routing objects, as is `held` */
  bool held;                       /* by the caller that created it, until nd4c_routing_destroy */
  uint32_t number;                 /* unique in the process: part of cached decisions */
  _Atomic int32_t references;
  _Atomic bool in_use;
  nd4c_routing_policy policy;
  bool transfer, wait;
  bool by_property; /* made from the properties, not by a call */
  int64_t small_bytes;
  nd4c_routing_creation creation;
  nd4c_device *creation_device;
  nd4c_route_list devices, categories[ND4C_ROUTING_CATEGORIES];
  nd4c_route_list op_lists[ND4C_ROUTING_OPS];
  nd4c_op ops[ND4C_ROUTING_OPS];
  int32_t op_count;
  /* One line for each device that a property names and that cannot be used; the others are used. */
  char absent[2048];
  bool absent_told; /* reported to nd4c_report_applied; under the lock of the default */
};

/* Looks the pointer up before dereferencing it. */
nd4c_status nd4c_routing_check(const nd4c_routing *routing, const char *function);
/* References besides the caller's. */
nd4c_routing *nd4c_routing_retain(nd4c_routing *routing);
void nd4c_routing_release(nd4c_routing *routing);

/* nd4c_routing_set_op for a valid op. */
nd4c_status nd4c_routing_list_op(nd4c_routing *routing, nd4c_op op, nd4c_device *const *devices, int32_t count);

/* The process's default: one reference, NULL: none. Fails if a property names an unknown device. */
nd4c_status nd4c_routing_get_default(nd4c_routing **routing);

/* Reports the devices that the property lists and this machine lacks, once. */
void nd4c_routing_tell_absent(nd4c_text *text);

/* One device in a vote. */
typedef struct nd4c_vote {
  nd4c_device *device;
  int32_t rank;         /* position in its list */
  double score, wanted; /* score; score if it had room */
  int64_t local_bytes;  /* bytes of the inputs that are current there */
  int64_t beside_bytes; /* of these, replicas of arrays last written on other devices */
  int64_t free_bytes;   /* -1: unknown */
  bool fits, has_all;   /* it has room for the largest input; every input is current there */
} nd4c_vote;

typedef struct nd4c_ballot {
  nd4c_vote votes[ND4C_ROUTING_DEVICES]; /* the highest score first */
  int32_t count;
  int64_t input_bytes;
  bool small, own_list;
} nd4c_ballot;

/* Votes. op NULL: for a new array of `bytes`, without inputs. */
void nd4c_routing_vote(const nd4c_routing *routing, const nd4c_op_info *op, const nd4c_array *const *inputs,
                       int32_t input_count, int64_t bytes, nd4c_ballot *ballot);

/* The device of a fresh array in this context. */
nd4c_status nd4c_routing_place(const nd4c_context *context, int64_t bytes, nd4c_device **device);

/* The context on `device` to which `context` routes calls; created when first needed. */
nd4c_status nd4c_routing_context(nd4c_context *context, nd4c_device *device, nd4c_context **routed);

/* Waits for work that was routed from the context; returns the first unreported failure. */
nd4c_status nd4c_routing_synchronize(nd4c_context *context);
/* Releases the context's routing and the contexts to which it routed. */
void nd4c_routing_forget(nd4c_context *context);

const char *nd4c_routing_policy_name(nd4c_routing_policy policy);

#endif
