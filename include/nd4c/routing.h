/* Routing: which device an eager op runs on, when several are in use.
 *
 * Without routing an op runs on its context's device. A context with a routing object (nd4c_context_set_routing, or the
 * default one of the process for the threads' own contexts) lets each op be placed by a vote among the devices that may
 * compute it. Each device's score is
 *
 *   policy       local   free   rank   type
 *   vote           4       1      2      0
 *   prefer_gpu     4       1      2     16   for devices that are no CPU
 *   prefer_cpu     4       1      2     16   for CPUs
 *   follow_data   16       0      1      0
 *   memory         0      16      1      0
 *
 * local: the part of the inputs' bytes that is current on the device; a copy of what was written elsewhere counts seven
 * eighths, so that reading a value on the host does not move the next op there. An array that is given twice counts
 * once (among the first 64 inputs). free: its remaining memory as a part of the largest remaining; rank: 1 for the
 * first device of the list that applies (the op's, else the category's, else the general one), less behind it. The
 * order of a list of the op's or of its category's own comes before everything else (200 for rank). Small calls (all
 * inputs together at most small_bytes) go by follow_data, whatever the policy of type "vote" or "memory" says: moving
 * them costs more than computing them. A device without room for as many bytes as the largest input loses 32; one that
 * was asked for and loses by that is told by nd4c_report_applied, and a strict context tries it first and gives its
 * failure.
 *
 * The devices in the order of their scores are the call's fallback chain. One that has no usable kernel is passed over
 * (nd4c_explain tells why; nd4c_report_applied, too, if a list of the op's or category's own names it or prefer_gpu or
 * prefer_cpu means it). One that fails (DEVICE, DEVICE_LOST, MEMORY, MEMORY_CAP) when memory is taken, bytes are
 * copied or the kernel is launched is passed over, too, and nd4c_report_applied tells; a strict context gives that
 * failure as the call's. What an operation in flight fails with afterwards is told by its result, as always, unless the
 * routing waits (wait): then each call ends when its device has finished, and the chain covers those failures, too.
 *
 * Ops that are views stay where their input is. Strings are computed on the host. Plans and models are not routed node
 * by node: they have a placement (nd4c_plan_options). Each thread remembers decisions for the same
 * call with its inputs in the same places, and votes again every 256 uses, every 4096 of a small call; nd4c_explain
 * always votes anew. */
#ifndef ND4C_ROUTING_H
#define ND4C_ROUTING_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/context.h"
#include "nd4c/device.h"
#include "nd4c/export.h"
#include "nd4c/op_schema.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

typedef struct nd4c_routing nd4c_routing;

/* X(NAME, number, name): the names are those of the property nd4c.routing. */
#define ND4C_ROUTING_POLICY_TABLE(X) \
  X(VOTE, 0, "vote")                 \
  X(PREFER_GPU, 1, "prefer_gpu")     \
  X(PREFER_CPU, 2, "prefer_cpu")     \
  X(FOLLOW_DATA, 3, "follow_data")   \
  X(MEMORY, 4, "memory")

typedef enum nd4c_routing_policy {
#define ND4C_ROUTING_POLICY_ENUM(NAME, number, name) ND4C_ROUTING_##NAME = number,
  ND4C_ROUTING_POLICY_TABLE(ND4C_ROUTING_POLICY_ENUM)
#undef ND4C_ROUTING_POLICY_ENUM
} nd4c_routing_policy;

/* Where arrays are made that name no device (nd4c_array_zeros and its like with device NULL). */
typedef enum nd4c_routing_creation {
  ND4C_CREATE_ON_CONTEXT = 0, /* the context's device */
  ND4C_CREATE_ON_HOST = 1,    /* cpu:0 */
  ND4C_CREATE_ON_DEVICE = 2,  /* creation_device */
  ND4C_CREATE_ROUTED = 3      /* the winner of a vote without inputs */
} nd4c_routing_creation;

typedef struct nd4c_routing_options {
  uint32_t struct_size; /* sizeof(nd4c_routing_options) */
  nd4c_routing_policy policy;
  nd4c_device *const *devices; /* that ops may run on, the preferred one first */
  int32_t device_count;        /* 0: the default device and cpu:0; at most 8 */
  bool no_transfer;            /* an op runs only where all its inputs are; else it is refused */
  int64_t small_bytes;         /* see above; 0: 16 KiB; negative: no call is small */
  nd4c_routing_creation creation;
  nd4c_device *creation_device;
  /* Appended; a shorter struct_size leaves it out. A call returns when its device has finished: should that fail, the
   * next one of the chain computes it from the same inputs. A given output that a failure could spoil, part of an array
   * or one that is an input, too, is written on the host. Costs what runs beside the host otherwise. false: a call
   * returns when it is submitted. */
  bool wait;
} nd4c_routing_options;

/* Makes a routing object; options NULL: all defaults. ARGUMENT, NULL_ARGUMENT name what is wrong. */
ND4C_API nd4c_status nd4c_routing_create(const nd4c_routing_options *options, nd4c_routing **routing);
/* Gives the caller's hold back; contexts that use the object keep it. NULL is fine. */
ND4C_API void nd4c_routing_destroy(nd4c_routing *routing);

/* The devices for ops of a category, or for one op: preferred first, then fallbacks; no other is asked. count 0: the
 * general list again. ARGUMENT once the object is in use: it does not change any more. */
ND4C_API nd4c_status nd4c_routing_set_category(nd4c_routing *routing, nd4c_category category,
                                               nd4c_device *const *devices, int32_t count);
ND4C_API nd4c_status nd4c_routing_set_op(nd4c_routing *routing, nd4c_op op, nd4c_device *const *devices, int32_t count);

/* Lets the context's eager ops be routed (routing NULL: no longer). The context keeps the object; work that was
 * submitted through it goes on. A thread's own context keeps what is chosen here; after NULL it follows
 * nd4c_routing_set_default and the properties again, from their next change on. */
ND4C_API nd4c_status nd4c_context_set_routing(nd4c_context *context, nd4c_routing *routing);

/* Routing of the threads' own contexts from now on, before the properties nd4c.routing, nd4c.routing.devices,
 * nd4c.routing.transfer, nd4c.routing.creation and nd4c.routing.wait; NULL: by the properties. Contexts made with
 * nd4c_context_create are routed only if nd4c_context_set_routing says so. */
ND4C_API nd4c_status nd4c_routing_set_default(nd4c_routing *routing);

ND4C_EXTERN_C_END
#endif
