/* Candidates of the registry: what is known of each backend before, while and after it is opened. */
#ifndef ND4C_DEVICE_CANDIDATE_H
#define ND4C_DEVICE_CANDIDATE_H

#include <stdbool.h>
#include <stdint.h>

#include "device/device.h"

enum { ND4C_REASON_SIZE = 1024, ND4C_BACKEND_NAME_SIZE = 32 };

/* Everything here is read and written under the registry's lock; devices and the backend's tables never change once
 * `opened` is true. */
typedef struct nd4c_candidate {
  char name[ND4C_BACKEND_NAME_SIZE];
  char *path; /* of the plug-in, NULL: built in */
  nd4c_plugin_entry_function entry;
  nd4c_device_type type;
  int32_t priority;
  nd4c_verdict verdict;
  char reason[ND4C_REASON_SIZE];
  bool requested; /* configuration names the plug-in */
  bool refused;   /* it could not be loaded, or its tables were not accepted */
  bool started;   /* the backend's own open succeeded: it is not called again */
  bool tried;     /* opening was attempted: the verdict is final */
  bool retries;   /* ABSENT for want of memory, which may come back: the next attempt goes on */
  bool opened;
  char by_request[256]; /* see nd4c_backend_status: as of the last question */
  nd4c_backend backend; /* a copy as long as this library's struct, absent fields zero */
  nd4c_device_ops ops;
  nd4c_device *devices;
  int32_t device_count;
  struct nd4c_kernel_index *kernels;
} nd4c_candidate;

/* Calls the entry function (loading the plug-in first), checks the ABI, copies the tables. On failure the verdict is
 * ABSENT with the reason; the thread's error is set. */
nd4c_status nd4c_candidate_load(nd4c_candidate *candidate);
/* Leaves nothing of it but name, path and reason, which is the thread's error; it is never tried again. */
void nd4c_candidate_refuse(nd4c_candidate *candidate);
/* Whether opening it may succeed: it is there, or lacked memory. */
bool nd4c_candidate_is_possible(const nd4c_candidate *candidate);
/* Loads, probes, opens, makes the devices and runs one op on the first. */
nd4c_status nd4c_candidate_open(nd4c_candidate *candidate);
/* Adds 1, 2, 3, 4 and 10, 20, 30, 40 on the device, by kernel or by one-node segment, and compares. */
nd4c_status nd4c_device_verify(nd4c_device *device);

/* The kernels of a backend, by op number, from the highest priority down. */
typedef struct nd4c_kernel_index nd4c_kernel_index;
nd4c_status nd4c_kernel_index_make(const nd4c_backend *backend, nd4c_kernel_index **index);
void nd4c_kernel_index_free(nd4c_kernel_index *index);
const nd4c_kernel *const *nd4c_kernel_index_get(const nd4c_kernel_index *index, nd4c_op op, int32_t *count);

#endif
