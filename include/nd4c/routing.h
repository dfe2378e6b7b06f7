/* Routing: which device an eager op runs on, when several are in use.
 *
 * Without routing an op runs on its context's device. A context may have a routing object. Then a vote among the
 * devices that may compute an op decides where it runs. nd4c_context_set_routing gives a context its routing object;
 * the threads' default contexts have the default one of the process. A device's score is the sum of four terms; the
 * policy gives their weights:
 *
 *   policy       local   free   rank   type
 *   vote           4       1      2      0
 *   prefer_gpu     4       1      2     16 for devices other than CPUs
 *   prefer_cpu     4       1      2     16   for CPUs
 *   follow_data   16       0      1      0
 *   memory         0      16      1      0
 *
 * local: the fraction of the inputs' bytes that is current on the device. On devices other than the one that wrote an
 * array last, the array's bytes count for seven eighths. So reading a value on the host does not move the next op to
 * the host. An array that is an input twice counts once (among the first 64 inputs). free: the device's remaining
 * memory as a fraction of the largest remaining one. rank: 1 for the first device of the list that applies (the op's,
 * else the category's, else the general one), less for each one after it. If the op or its category has its own list,
 * the order of that list outweighs everything else (the weight of rank is then 200). Small calls (all inputs together
 * at most small_bytes) are placed by follow_data where the policy is vote or memory: moving them costs more than
 * computing them. A device without room for as many bytes as the largest input gets 32 points less. If a device that
 * the lists or the policy ask for loses the vote for that reason, nd4c_report_applied says so; a strict context tries
 * that device first all the same and returns its failure.
 *
 * The devices in the order of their scores are the call's fallback chain. A device without a usable kernel is skipped.
 * nd4c_explain says why; so does nd4c_report_applied, if the op's or category's own list names the device, or if
 * prefer_gpu or prefer_cpu prefers it. A device that fails (DEVICE, DEVICE_LOST, MEMORY, MEMORY_CAP) when memory is
 * allocated, bytes are copied or the kernel is launched is skipped, too, and nd4c_report_applied says so; in a strict
 * context the call fails with that status. If the work fails after it was launched, reading the result reports that, as
 * without routing. If the routing waits (nd4c_routing_options.wait), each call returns when its device has finished,
 * and the chain covers those failures, too.
 *
 * Views stay on their input's device. Strings are computed on the host. Nodes of plans and models are not routed: they
 * have a placement (nd4c_plan_options). Each thread caches the decision for calls that are alike and whose inputs are
 * on the same devices, and votes again after 256 uses (4096 for a small call); nd4c_explain always votes. */
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

/* X(NAME, number, name): the property nd4c.routing takes the names. */
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

/* Where new arrays are allocated if the caller names no device (nd4c_array_zeros and the like with device NULL). */
typedef enum nd4c_routing_creation {
  ND4C_CREATE_ON_CONTEXT = 0, /* the context's device */
  ND4C_CREATE_ON_HOST = 1,    /* cpu:0 */
  ND4C_CREATE_ON_DEVICE = 2,  /* creation_device */
  ND4C_CREATE_ROUTED = 3      /* the device that wins a vote without inputs */
} nd4c_routing_creation;

typedef struct nd4c_routing_options {
  uint32_t struct_size; /* sizeof(nd4c_routing_options) */
  nd4c_routing_policy policy;
  nd4c_device *const *devices; /* devices that ops may run on, the preferred one first */
  int32_t device_count;        /* 0: the default device and cpu:0; at most 8 */
  bool no_transfer;            /* refuse an op unless all its inputs are current on one device */
  int64_t small_bytes;         /* see above; 0: 16 KiB; negative: no call is small */
  nd4c_routing_creation creation;
  nd4c_device *creation_device;
  /* Appended; a shorter struct_size leaves it out. true: a call returns when its device has finished; if the device
   * fails, the next one of the chain computes the call from the same inputs. An output that a failure could spoil (a
   * part of an array, or an array that is also an input) is written on the host. The host then no longer runs ahead of
   * the devices. false: a call returns when it is submitted. */
  bool wait;
} nd4c_routing_options;

/* Makes a routing object; options NULL: all defaults. ARGUMENT, NULL_ARGUMENT: the text names what is wrong. */
ND4C_API nd4c_status nd4c_routing_create(const nd4c_routing_options *options, nd4c_routing **routing);
/* Releases the caller's reference; contexts that use the object retain it. NULL is fine. */
ND4C_API void nd4c_routing_destroy(nd4c_routing *routing);

/* Sets the devices for ops of a category, or for one op: the preferred one first, then the fallbacks; no other device
 * is asked. count 0 restores the general list. ARGUMENT once a context uses the object: from then on it is
 * immutable. */
ND4C_API nd4c_status nd4c_routing_set_category(nd4c_routing *routing, nd4c_category category,
                                               nd4c_device *const *devices, int32_t count);
ND4C_API nd4c_status nd4c_routing_set_op(nd4c_routing *routing, nd4c_op op, nd4c_device *const *devices, int32_t count);

/* Routes the context's eager ops (routing NULL: stops routing them). The context retains the object; work already
 * submitted is not affected. A thread's default context keeps the routing that is set here. If NULL is set, the context
 * is not routed until the default routing or one of the properties changes; then it follows them again. */
ND4C_API nd4c_status nd4c_context_set_routing(nd4c_context *context, nd4c_routing *routing);

/* Sets the routing of the threads' default contexts from now on. It takes precedence over the properties nd4c.routing,
 * nd4c.routing.devices, nd4c.routing.transfer, nd4c.routing.creation and nd4c.routing.wait; NULL: the properties
 * decide. Contexts made with nd4c_context_create are routed only if nd4c_context_set_routing says so. */
ND4C_API nd4c_status nd4c_routing_set_default(nd4c_routing *routing);

ND4C_EXTERN_C_END
#endif
