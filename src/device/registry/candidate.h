/* Candidates of the registry: the state of each provider before, while and after it is opened. registry.c and
 * candidate_list.c call these functions; the candidate_*.c implement them. */
#ifndef ND4C_DEVICE_REGISTRY_CANDIDATE_H
#define ND4C_DEVICE_REGISTRY_CANDIDATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os.h"
#include "device/compute.h"
#include "device/device.h"

enum { ND4C_REASON_SIZE = 1024, ND4C_BACKEND_NAME_SIZE = 32 }; /* a refused plug-in has its file's name */

/* The outcome of opening one device of a backend. */
typedef struct nd4c_opening {
  bool usable;
  bool added;         /* its check was an addition */
  bool retries;       /* the failure may be temporary: memory, or the device itself (DEVICE_LOST) */
  nd4c_status status; /* why it is not usable, with a text that names the device */
  char reason[512];
} nd4c_opening;

/* All fields are accessed under the registry's lock. Once `opened` is true, usable devices and the backend's tables
 * never change. */
typedef struct nd4c_candidate {
  char name[ND4C_BACKEND_NAME_SIZE];
  char *path;           /* of the plug-in, NULL: built in */
  nd4c_os_file_id file; /* identity of the plug-in's file when its path was given; `identified` false: there was no
                           file */
  bool identified;
  nd4c_plugin_entry_function entry;
  nd4c_device_type type;
  int32_t priority;
  nd4c_verdict verdict;
  char reason[ND4C_REASON_SIZE];
  bool requested; /* the configuration names the plug-in */
  bool disabled;  /* nd4c.backend.disable names it: ABSENT, and nd4c calls none of its functions */
  bool refused;   /* it could not be loaded, or its tables were refused */
  bool started;   /* the provider's open has succeeded and is not called again */
  bool tried;     /* opening was attempted, and the verdict is final */
  bool retries;   /* ABSENT for a temporary lack of memory or of a device: the next attempt continues */
  bool opened;
  char by_request[256]; /* see nd4c_backend_status; the last answer */
  /* Copies as long as this library's structs, absent fields zero. */
  nd4c_provider provider;
  nd4c_backend backend; /* all zero if the provider has none */
  nd4c_device_ops ops;
  nd4c_buffer_ops buffers;
  nd4c_capture_ops capture;         /* of ops; all zero: it has none */
  nd4c_timing_ops timing;           /* of ops; all zero: it has none */
  nd4c_collective_ops collective;   /* of backend; all zero: it has none */
  nd4c_contribution *contributions; /* provider.contribution_count of them */
  nd4c_contribution *references;    /* the reference kernels of its ops; NULL: it has no ops, or they are not registered
                                       yet */
  nd4c_device *devices;             /* all of them; an unusable one keeps its entry, so that numbers do not change */
  nd4c_opening *openings;
  int32_t device_count;
  nd4c_device *targets; /* target_count targets of a candidate that only compiles, opened on first use, or NULL */
  int32_t target_count;
  char unusable[2048];   /* a line for each unusable device */
  nd4c_compute *compute; /* kernels and compilers of its devices; NULL until it opens */
  char *left_out;        /* a line for each refused kernel and compiler; NULL: none */
} nd4c_candidate;

/* Whether it has devices, not only contributions. A candidate that is not loaded yet counts as a backend. */
static inline bool nd4c_candidate_has_devices(const nd4c_candidate *candidate) {
  return candidate->provider.struct_size == 0 || candidate->provider.backend != NULL;
}

/* Calls the entry function (loading the plug-in first), checks the ABI, copies the tables. On failure the verdict is
 * ABSENT with the reason; the thread's error is set. */
nd4c_status nd4c_candidate_load(nd4c_candidate *candidate);
/* Registers the ops and the properties of a loaded and accepted candidate, once. NAME, ABI, MEMORY: none of them is
 * registered. */
nd4c_status nd4c_candidate_register(nd4c_candidate *candidate);
/* Sets the reason of its verdict: one line, cut if it is longer. */
void nd4c_candidate_say(nd4c_candidate *candidate, const char *words);
/* Logs (area "provider", level DEBUG) which function of the provider nd4c calls next: if that function ends the
 * process, the last such message names the provider. `nd4c info --probe` reads these messages. */
void nd4c_candidate_announce(const nd4c_candidate *candidate, const char *function);
/* Whether nd4c.backend.disable names the candidate or its plug-in's path. */
bool nd4c_candidate_is_disabled(const nd4c_candidate *candidate);
/* Gives a disabled candidate the verdict ABSENT with the reason. It is never opened. */
void nd4c_candidate_disable(nd4c_candidate *candidate);
/* Clears everything except name, path and reason, which is the thread's error text; the candidate is never tried
 * again. */
void nd4c_candidate_refuse(nd4c_candidate *candidate);
/* Whether opening it may succeed: it was not refused, or its failure may be temporary. */
bool nd4c_candidate_is_possible(const nd4c_candidate *candidate);
/* The provider's verdict and reason, sanitised: FOUND if it has no probe, ABSENT if its answer is not a verdict. */
nd4c_verdict nd4c_candidate_probe(const nd4c_candidate *candidate, bool verify, char *reason, size_t size);
/* Calls the provider's open, unless it has succeeded before. */
nd4c_status nd4c_candidate_start(nd4c_candidate *candidate);
/* Loads, probes and opens the candidate and its devices, and runs one op on each; succeeds if a device is usable. */
nd4c_status nd4c_candidate_open(nd4c_candidate *candidate);

/* -- candidate_compute.c ---------------------------------------------------------------------------------------- */

/* Merges all contributions to the candidate's devices, including its own, and gives the result to the devices. Opens
 * the contributing providers; one that fails is ABSENT with the reason, and the others are used. */
nd4c_status nd4c_candidate_gather(nd4c_candidate *candidate);
/* The engine at an index, of all contributions to the candidate's devices, opened or not, in order of preference,
 * except those of disabled providers; NULL past the end. *brought_by: the provider. */
const nd4c_engine *nd4c_candidate_engine(const nd4c_candidate *candidate, int32_t index,
                                         const nd4c_candidate **brought_by);
/* After a provider was loaded late: adds its contributions to devices that are already open. */
nd4c_status nd4c_candidate_spread(const nd4c_candidate *provider);

/* -- candidate_targets.c ---------------------------------------------------------------------------------------- */

/* The device to compile for, by `name`: a device of this machine, as nd4c_candidate_find_device gives, or, for a
 * candidate that only compiles, a target, which has a handle for compilers but no memory and no streams. */
nd4c_status nd4c_candidate_find_target(nd4c_candidate *candidate, const char *name, int64_t index,
                                       nd4c_device **target);
/* Fails with HARDWARE and a text that says what a candidate that only compiles is for. */
nd4c_status nd4c_candidate_fail_compile_only(const nd4c_candidate *candidate);

/* -- candidate_devices.c ---------------------------------------------------------------------------------------- */

/* Opens each device separately. Fails if none is usable, with the first one's status and the texts of all. */
nd4c_status nd4c_candidate_open_devices(nd4c_candidate *candidate);
void nd4c_candidate_close_devices(nd4c_candidate *candidate);
/* Whether the failure of one of its devices may be temporary. */
bool nd4c_candidate_has_hope(const nd4c_candidate *candidate);
/* Writes the verdict's reason and `unusable` from the outcomes of the devices. */
void nd4c_candidate_tell_devices(nd4c_candidate *candidate);
/* The device at an index, by `name`. Opens the candidate if necessary, and tries a device again whose failure may have
 * been temporary. INDEX; the status of its opening. */
nd4c_status nd4c_candidate_find_device(nd4c_candidate *candidate, const char *name, int64_t index,
                                       nd4c_device **device);
/* The first usable device of an open candidate. */
nd4c_device *nd4c_candidate_first_device(const nd4c_candidate *candidate);
/* Adds 1, 2, 3, 4 and 10, 20, 30, 40 on the device, by kernel or by one-node segment, and compares. *added false: the
 * device has kernels or compilers, but none for this addition, so only the copied numbers are compared. */
nd4c_status nd4c_device_verify(nd4c_device *device, bool *added);

#endif
