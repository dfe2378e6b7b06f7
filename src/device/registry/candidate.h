/* Candidates of the registry: what is known of each backend before, while and after it is opened. */
#ifndef ND4C_DEVICE_CANDIDATE_H
#define ND4C_DEVICE_CANDIDATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os.h"
#include "device/compute.h"
#include "device/device.h"

enum { ND4C_REASON_SIZE = 1024, ND4C_BACKEND_NAME_SIZE = 32 }; /* a refused plug-in bears its file's name */

/* How opening one device of a backend ended. */
typedef struct nd4c_opening {
  bool usable;
  bool added; /* its check was an addition */
  bool retries;       /* what it lacked may come back: memory, or the device itself (DEVICE_LOST) */
  nd4c_status status; /* unless usable, with the words for it, which name the device */
  char reason[512];
} nd4c_opening;

/* Everything here is read and written under the registry's lock; devices that are usable and the backend's tables never
 * change once `opened` is true. */
typedef struct nd4c_candidate {
  char name[ND4C_BACKEND_NAME_SIZE];
  char *path; /* of the plug-in, NULL: built in */
  nd4c_os_file_id file; /* of the plug-in, as of when its path was given; `identified` false: there was none */
  bool identified;
  nd4c_plugin_entry_function entry;
  nd4c_device_type type;
  int32_t priority;
  nd4c_verdict verdict;
  char reason[ND4C_REASON_SIZE];
  bool requested; /* configuration names the plug-in */
  bool disabled;  /* nd4c.backend.disable names it: ABSENT, and no function of it is called */
  bool refused;   /* it could not be loaded, or its tables were not accepted */
  bool started;   /* the backend's own open succeeded: it is not called again */
  bool tried;     /* opening was attempted: the verdict is final */
  bool retries;   /* ABSENT for want of memory or of a device, which may come back: the next attempt goes on */
  bool opened;
  char by_request[256]; /* see nd4c_backend_status: as of the last question */
  /* Copies as long as this library's structs, absent fields zero. */
  nd4c_provider provider;
  nd4c_backend backend; /* all zero if the provider brings none */
  nd4c_device_ops ops;
  nd4c_buffer_ops buffers;
  nd4c_capture_ops capture; /* of ops; all zero: it has none */
  nd4c_timing_ops timing;   /* of ops; all zero: it has none */
  nd4c_collective_ops collective; /* of backend; all zero: it has none */
  nd4c_contribution *contributions; /* provider.contribution_count of them */
  nd4c_contribution *references; /* the reference kernels of its ops; NULL: it has none, or they wait for register */
  nd4c_device *devices; /* all of them: one that cannot be used keeps its place, and the others their numbers */
  nd4c_opening *openings;
  int32_t device_count;
  nd4c_device *targets; /* of one that only compiles, once asked for; as many as target_count, or NULL */
  int32_t target_count;
  char unusable[2048]; /* a line for each that cannot be used */
  nd4c_compute *compute;       /* what its devices compute with; NULL until it opens */
  char *left_out;              /* a line for each kernel and compiler that was not accepted; NULL: none */
} nd4c_candidate;

/* Whether it brings devices, rather than contributions alone. One that was not loaded yet is taken for a backend. */
static inline bool nd4c_candidate_has_devices(const nd4c_candidate *candidate) {
  return candidate->provider.struct_size == 0 || candidate->provider.backend != NULL;
}

/* Calls the entry function (loading the plug-in first), checks the ABI, copies the tables. On failure the verdict is
 * ABSENT with the reason; the thread's error is set. */
nd4c_status nd4c_candidate_load(nd4c_candidate *candidate);
/* Makes the ops and the properties of a candidate that was loaded and accepted known, once. NAME, ABI, MEMORY: none of
 * them is. */
nd4c_status nd4c_candidate_register(nd4c_candidate *candidate);
/* Makes the words the reason of its verdict: one line, cut where they are longer. */
void nd4c_candidate_say(nd4c_candidate *candidate, const char *words);
/* Logs (area "provider", level DEBUG) which function of the provider nd4c calls next: where that function ends the
 * process, the last such message names the provider. `nd4c info --probe` reads these messages. */
void nd4c_candidate_announce(const nd4c_candidate *candidate, const char *function);
/* Whether nd4c.backend.disable names the candidate, or the path of its plug-in. */
bool nd4c_candidate_is_disabled(const nd4c_candidate *candidate);
/* Gives a disabled candidate the verdict ABSENT with the reason. It is never opened. */
void nd4c_candidate_disable(nd4c_candidate *candidate);
/* Leaves nothing of it but name, path and reason, which is the thread's error; it is never tried again. */
void nd4c_candidate_refuse(nd4c_candidate *candidate);
/* Whether opening it may succeed: it is there, or lacked what may come back. */
bool nd4c_candidate_is_possible(const nd4c_candidate *candidate);
/* The provider's verdict with its reason, both made sense of: without a probe FOUND, an answer that is no verdict
 * ABSENT.
 */
nd4c_verdict nd4c_candidate_probe(const nd4c_candidate *candidate, bool verify, char *reason, size_t size);
/* Calls the provider's open unless that succeeded before. */
nd4c_status nd4c_candidate_start(nd4c_candidate *candidate);
/* Loads, probes, opens, makes the devices and runs one op on each; succeeds if one of them is usable. */
nd4c_status nd4c_candidate_open(nd4c_candidate *candidate);

/* -- candidate_compute.c ---------------------------------------------------------------------------------------- */

/* Merges what all providers contribute to the candidate's devices, its own contributions included, and lets its devices
 * show it. Providers that contribute are started; one that fails is ABSENT with the reason, and the others serve. */
nd4c_status nd4c_candidate_gather(nd4c_candidate *candidate);
/* Engines of all contributions to the candidate's devices, opened or not, in order of preference, without those of
 * disabled providers; NULL past the end. *brought_by: the provider. */
const nd4c_engine *nd4c_candidate_engine(const nd4c_candidate *candidate, int32_t index,
                                         const nd4c_candidate **brought_by);
/* A provider was loaded late: what it contributes reaches the devices that are open already. */
nd4c_status nd4c_candidate_spread(const nd4c_candidate *provider);

/* -- candidate_targets.c ---------------------------------------------------------------------------------------- */

/* A device to compile for, which `name` asks for: one that is here as nd4c_candidate_find_device does, or, of a
 * candidate that only compiles, a target, which has a handle for compilers, no memory and no streams. */
nd4c_status nd4c_candidate_find_target(nd4c_candidate *candidate, const char *name, int64_t index,
                                       nd4c_device **target);
/* HARDWARE: what a candidate that only compiles is for. */
nd4c_status nd4c_candidate_fail_compile_only(const nd4c_candidate *candidate);

/* -- candidate_devices.c ---------------------------------------------------------------------------------------- */

/* Opens each device by itself. On failure none is usable: the status of the first, the words of all. */
nd4c_status nd4c_candidate_open_devices(nd4c_candidate *candidate);
void nd4c_candidate_close_devices(nd4c_candidate *candidate);
/* Whether one of its devices may be usable later. */
bool nd4c_candidate_has_hope(const nd4c_candidate *candidate);
/* Writes the verdict's reason and `unusable` by what became of the devices. */
void nd4c_candidate_tell_devices(nd4c_candidate *candidate);
/* The device at an index, which `name` asks for, the candidate being opened for it, and the device again if what it
 * lacked may be back. INDEX; the status of its opening. */
nd4c_status nd4c_candidate_find_device(nd4c_candidate *candidate, const char *name, int64_t index,
                                       nd4c_device **device);
/* The first usable one of an open candidate. */
nd4c_device *nd4c_candidate_first_device(const nd4c_candidate *candidate);
/* Adds 1, 2, 3, 4 and 10, 20, 30, 40 on the device, by kernel or by one-node segment, and compares. *added false: the
 * device has kernels or compilers, and none for that; what was copied there is compared. */
nd4c_status nd4c_device_verify(nd4c_device *device, bool *added);

#endif
