/* Devices that take no more work: the asynchronous ones of a process that is ending, and, in a child of fork, those
 * that the parent had opened. Synchronous devices never close. */
#ifndef ND4C_DEVICE_CLOSING_H
#define ND4C_DEVICE_CLOSING_H

#include "base/compiler.h"
#include "base/hook.h"
#include "device/device.h"

/* What runs in a child of fork when its asynchronous devices have been closed: locks that a thread of the parent held
 * are made anew, since that thread is not in the child. */
typedef struct nd4c_fork_hook {
  void (*in_child)(void);
} nd4c_fork_hook;
ND4C_HOOK_LIST(fork_hooks, nd4c_fork_hook);

/* What nd4c_device.closed says. */
enum {
  ND4C_DEVICE_TAKES_WORK = 0,
  ND4C_DEVICE_ENDS = 1,  /* the process ends: only the thread that ends it may submit, in its exit handlers */
  ND4C_DEVICE_FORKED = 2 /* this process is a child of fork: the driver's threads and queues are the parent's, and
                          * calling the driver may wait for ever */
};

/* Closes every open device of this kind when the process ends or forks, and lets the end wait for work in flight. For
 * each backend whose devices were just opened. */
void nd4c_closing_watch(const nd4c_device *device);

/* DEVICE, with a text that says why and what to do. OK for the thread that ends the process. */
nd4c_status nd4c_device_refuse(const nd4c_device *device);

/* OK unless the device is closed: every way of submitting to an asynchronous device asks first. */
static inline nd4c_status nd4c_device_admit(const nd4c_device *device) {
  return ND4C_LIKELY(atomic_load_explicit(&device->closed, memory_order_relaxed) == ND4C_DEVICE_TAKES_WORK)
             ? ND4C_OK
             : nd4c_device_refuse(device);
}

/* Whether no function of the driver may be called any more. Fences of the device never end, and what it holds for nd4c
 * is left to the end of the process. */
static inline bool nd4c_device_is_forked(const nd4c_device *device) {
  return ND4C_UNLIKELY(atomic_load_explicit(&device->closed, memory_order_relaxed) == ND4C_DEVICE_FORKED);
}

/* Whether what is in flight on the device is not waited for any more: in a child of fork, and in a process that ends
 * once nd4c.device.exit.wait is over. */
bool nd4c_device_is_given_up(const nd4c_device *device);

#endif
