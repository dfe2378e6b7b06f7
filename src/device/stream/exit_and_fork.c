/* Implements exit_and_fork.h: closes devices when the process forks, or ends while other threads may still submit. The
 * system calls it at exit and in a child of fork; device/registry registers each backend here.
 *
 *   exit begins -> devices refuse new work -> a helper thread waits for the work in flight -> exit goes on
 *                                              (at most nd4c.device.exit.wait seconds)
 *
 * This file never takes the registry's lock, because a thread that opens a backend may hold it for long; devices are
 * listed without it. */
#include "device/stream/exit_and_fork.h"

#include "base/config/config.h"
#include "base/config/log.h"
#include "base/os.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "device/stream/fence.h"
#include "device/stream/thread.h"
#include "device/trace/tracer.h"

enum { FIRST_NAP = 20000, LONGEST_NAP = 1000000, STRAGGLE = 2000000 }; /* nanoseconds */

static nd4c_once watch_once = ND4C_ONCE_INIT;
static _Atomic bool ending;
static _Thread_local bool ends_process; /* true in the thread that ends the process, before `ending` is */

nd4c_status nd4c_device_refuse(const nd4c_device *device) {
  if (nd4c_device_is_forked(device)) {
    return nd4c_fail(ND4C_DEVICE,
                     "%s was opened before this process was forked, and a child of fork cannot use its parent's "
                     "device: let the child call exec, or start it with posix_spawn (Python: multiprocessing's start "
                     "method spawn), or open the device in the child alone",
                     device->name);
  }
  if (ends_process) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_DEVICE,
                   "%s takes no more work, because the process is ending: exit was called, or main returned, while "
                   "this thread was still submitting; let the thread end first",
                   device->name);
}

static void close_all(int32_t reason) {
  int32_t position = 0;
  for (nd4c_device *device; (device = nd4c_devices_next(&position)) != NULL;) {
    int32_t before = ND4C_DEVICE_TAKES_WORK;
    if (device->description.asynchronous) {
      (void)atomic_compare_exchange_strong(&device->closed, &before, reason);
    }
  }
}

/* -- a child of fork ---------------------------------------------------------------------------------------------- */

static void fork_in_child(void) {
  close_all(ND4C_DEVICE_FORKED);
  ND4C_HOOK_EACH(fork_hooks, nd4c_fork_hook, hook) {
    hook->in_child();
  }
}

/* -- the end of the process ---------------------------------------------------------------------------------------- */

/* Waits for the work in flight on all devices. False: there was none. */
static bool settle_devices(void) {
  bool any = false;
  int32_t position = 0;
  for (nd4c_device *device; (device = nd4c_devices_next(&position)) != NULL;) {
    if (atomic_load(&device->closed) == ND4C_DEVICE_ENDS) {
      any = nd4c_fence_settle_all(device) || any;
      if (device->ops->synchronize != NULL) {
        (void)device->ops->synchronize(device->handle);
      }
    }
  }
  return any;
}

static _Atomic bool settled;
static _Atomic bool gave_up; /* it is waiting, or nd4c.device.exit.wait is 0 */

/* A thread that checked a device just before it closed may submit once more, so its work may appear a moment later. */
static void settle(void *others) {
  bool any = settle_devices() || others != NULL;
  while (any && others != NULL) {
    nd4c_os_sleep(STRAGGLE);
    any = settle_devices();
  }
  nd4c_tracer_settle();
  atomic_store(&settled, true);
}

static bool has_closing(void) {
  int32_t position = 0;
  nd4c_device *device;
  do {
    device = nd4c_devices_next(&position);
  } while (device != NULL && atomic_load(&device->closed) != ND4C_DEVICE_ENDS);
  return device != NULL;
}

static void end(void *unused) {
  (void)unused;
  if (!atomic_load(&ending)) {
    ends_process = true;
    atomic_store(&ending, true);
  }
  close_all(ND4C_DEVICE_ENDS);
  int64_t seconds = nd4c_config_int(ND4C_CONFIG_DEVICE_EXIT_WAIT);
  if (seconds == 0) {
    atomic_store(&gave_up, true);
  }
  if (atomic_load(&gave_up) || !has_closing()) {
    return;
  }
  atomic_store(&settled, false);
  void *others = nd4c_thread_has_others() ? &ending : NULL;
  if (!nd4c_os_thread_start(settle, others)) {
    settle(others);
  }
  const int64_t begin = nd4c_os_nanoseconds();
  for (int64_t nap = FIRST_NAP; !atomic_load(&settled); nap = nap < LONGEST_NAP ? 2 * nap : LONGEST_NAP) {
    if ((nd4c_os_nanoseconds() - begin) / 1000000000 >= seconds) {
      nd4c_log_write(ND4C_LOG_WARNING, "exit", "work in flight did not end in %lld s: the process ends without it",
                     (long long)seconds);
      atomic_store(&gave_up, true);
      return;
    }
    nd4c_os_sleep(nap);
  }
}

bool nd4c_device_is_given_up(const nd4c_device *device) {
  return nd4c_device_is_forked(device) || (atomic_load(&gave_up) && atomic_load(&device->closed) == ND4C_DEVICE_ENDS);
}

static void watch_forks(void) {
  nd4c_os_on_fork(fork_in_child);
}

void nd4c_closing_watch(const nd4c_device *device) {
  if (!device->description.asynchronous) {
    return;
  }
  nd4c_once_run(&watch_once, watch_forks);
  nd4c_os_call_at_exit(end);
  if (atomic_load(&ending)) {
    close_all(ND4C_DEVICE_ENDS);
  }
}
