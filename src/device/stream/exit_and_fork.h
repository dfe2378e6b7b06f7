/* Closed devices accept no more work: the asynchronous devices of a process that is ending and, in a child of fork,
 * those that the parent had opened. Synchronous devices never close. Every path to a backend checks this: submit,
 * device/storage, device/memory and graph. */
#ifndef ND4C_DEVICE_STREAM_EXIT_AND_FORK_H
#define ND4C_DEVICE_STREAM_EXIT_AND_FORK_H

#include "base/compiler.h"
#include "base/hook.h"
#include "device/device.h"

/* Hooks that run in a child of fork after its asynchronous devices were closed. They reinitialise locks, since the
 * thread of the parent that held one does not exist in the child. */
typedef struct nd4c_fork_hook {
  void (*in_child)(void);
} nd4c_fork_hook;
ND4C_HOOK_LIST(fork_hooks, nd4c_fork_hook);

/* Values of nd4c_device.closed. */
enum {
  ND4C_DEVICE_TAKES_WORK = 0,
  ND4C_DEVICE_ENDS = 1,  /* the process is ending: only the thread that ends it may submit, in its exit handlers */
  ND4C_DEVICE_FORKED = 2 /* this process is a child of fork: the driver's threads and queues are the parent's, and
                          * calling the driver may wait for ever */
};

/* Called for each backend after its devices were opened: arranges that they are closed when the process ends or forks,
 * and that process exit waits for work in flight. */
void nd4c_closing_watch(const nd4c_device *device);

/* DEVICE, with a text that says why and what to do. OK for the thread that ends the process. */
nd4c_status nd4c_device_refuse(const nd4c_device *device);

/* OK unless the device is closed. Every submission to an asynchronous device calls this first. */
static inline nd4c_status nd4c_device_admit(const nd4c_device *device) {
  return ND4C_LIKELY(atomic_load_explicit(&device->closed, memory_order_relaxed) == ND4C_DEVICE_TAKES_WORK)
             ? ND4C_OK
             : nd4c_device_refuse(device);
}

/* Whether no function of the driver may be called any more. The device's fences are then never signalled, and its
 * resources are freed by the end of the process. */
static inline bool nd4c_device_is_forked(const nd4c_device *device) {
  return ND4C_UNLIKELY(atomic_load_explicit(&device->closed, memory_order_relaxed) == ND4C_DEVICE_FORKED);
}

/* Whether nd4c no longer waits for work in flight on the device: in a child of fork, and in a process that is ending
 * after nd4c.device.exit.wait has passed. */
bool nd4c_device_is_given_up(const nd4c_device *device);

#endif
