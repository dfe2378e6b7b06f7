/* Implements os.h for Linux: the processor that a thread runs on, and those that it may run on. threads/placement.c
 * calls it. */
#define _GNU_SOURCE /* sched_getcpu, sched_setaffinity, gettid */

#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"

_Static_assert(sizeof(cpu_set_t) <= sizeof((nd4c_os_placement){0}.allowed), "a placement holds a cpu_set_t");

int32_t nd4c_os_processor(void) {
  return sched_getcpu();
}

bool nd4c_os_placement_read(nd4c_os_placement *placement) {
  cpu_set_t allowed;
  placement->thread = gettid();
  placement->avoided = -1;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    return false; /* the machine has more processors than a cpu_set_t */
  }
  memcpy(placement->allowed, &allowed, sizeof allowed);
  return CPU_COUNT(&allowed) > 1;
}

static cpu_set_t without(cpu_set_t set, int32_t processor) {
  if (processor >= 0 && processor < CPU_SETSIZE) {
    CPU_CLR((size_t)processor, &set);
  }
  return set;
}

void nd4c_os_placement_avoid(nd4c_os_placement *placement, int32_t processor) {
  const pid_t thread = (pid_t)placement->thread;
  cpu_set_t allowed, now;
  memcpy(&allowed, placement->allowed, sizeof allowed);
  if (sched_getaffinity(thread, sizeof now, &now) != 0) {
    return;
  }
  const cpu_set_t own = without(allowed, placement->avoided);
  if (!CPU_EQUAL(&now, &own)) { /* taskset or another program has changed them */
    allowed = now;
    memcpy(placement->allowed, &allowed, sizeof allowed);
  }
  cpu_set_t wanted = without(allowed, processor);
  if (CPU_COUNT(&wanted) == 0) {
    wanted = allowed;
    processor = -1;
  }
  if (sched_setaffinity(thread, sizeof wanted, &wanted) == 0) {
    placement->avoided = processor;
  }
}
