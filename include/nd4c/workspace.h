/* Workspaces: memory that the arrays of a repeated step allocate and free together.
 *
 * A thread opens a scope of a workspace with nd4c_workspace_enter and closes it with nd4c_workspace_leave. The
 * workspace has an arena on each device that the thread uses meanwhile. Every array that the thread allocates within
 * the scope, results of operations included, is placed in its device's arena, after the one before; closing the scope
 * frees them all at once. One use of the workspace, from the first scope opened until no scope is open, is a cycle.
 *
 * An arena learns how much a cycle needs. In the first cycle arrays are allocated individually; at its end the arena is
 * allocated with the total of all arrays, including released ones. From then on, a cycle allocates no device memory
 * unless it needs more than that. Arrays that do not fit are allocated individually, and the arena grows at the end of
 * that cycle. If the device's memory or its cap has no room for the arena, arrays are allocated individually, from the
 * device's cache, and the workspace tries again at the end of each cycle. An arena without live arrays is freed when
 * the device needs its memory, and is not allocated again.
 *
 * Scopes nest. Entering a workspace again begins an inner scope in the same arenas. Entering another workspace makes
 * that one current until it is left. Scopes are left in reverse order. One thread at a time may have entered a
 * workspace.
 *
 * A workspace does not serve host arrays of up to 256 bytes, which come from per-thread lists. Nor does it affect
 * arrays without elements, foreign memory or the internal memory of plans. Replicas on devices other than the one on
 * which the array was made are allocated individually: an array that nd4c_array_migrate moves to another device leaves
 * the workspace. */
#ifndef ND4C_WORKSPACE_H
#define ND4C_WORKSPACE_H

#include <stdint.h>

#include "nd4c/device.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

typedef struct nd4c_workspace nd4c_workspace;

/* What nd4c_workspace_leave does with arrays of the scope that are still alive. */
typedef enum nd4c_outliving {
  ND4C_OUTLIVING_REFUSED = 0,  /* it fails, naming them, and the scope stays open */
  ND4C_OUTLIVING_MOVED_OUT = 1 /* it copies them to individually allocated memory, on the host if their device has no
                                  room. Handles and views stay valid, addresses do not, and no other thread may use the
                                  arrays meanwhile */
} nd4c_outliving;

typedef struct nd4c_workspace_options {
  uint32_t struct_size; /* sizeof(nd4c_workspace_options) */
  nd4c_outliving outliving;
  const nd4c_device *device; /* serve allocations on this device only; NULL: on every device */
  int64_t initial_bytes;     /* of each arena in the first cycle; 0: none */
} nd4c_workspace_options;

/* Creates a workspace. options NULL: all zero. Any thread may use it, one at a time. */
ND4C_API nd4c_status nd4c_workspace_create(const nd4c_workspace_options *options, nd4c_workspace **workspace);
/* The calling thread's workspace of that name (and device, if options name one). The first call creates it with the
 * options; later calls ignore them. It is destroyed when the thread ends, or by nd4c_workspace_destroy. */
ND4C_API nd4c_status nd4c_workspace_named(const char *name, const nd4c_workspace_options *options,
                                          nd4c_workspace **workspace);
/* Frees the arenas. ARGUMENT while it is entered, HANDLE if it is not a workspace. NULL is fine. */
ND4C_API nd4c_status nd4c_workspace_destroy(nd4c_workspace *workspace);

/* Opens a scope for the calling thread. ARGUMENT if another thread has entered it, or at more than 16 scopes. */
ND4C_API nd4c_status nd4c_workspace_enter(nd4c_workspace *workspace);
/* Closes the calling thread's innermost scope, after pending work on its arrays. ARGUMENT, and the scope stays open, if
 * the innermost scope is another workspace's, or if arrays outlive it and the options refuse that. MEMORY, MEMORY_CAP
 * (the host has no memory for them either) or a device's failure if some arrays could not be moved out; those that were
 * moved stay moved. */
ND4C_API nd4c_status nd4c_workspace_leave(nd4c_workspace *workspace);
/* The workspace of the calling thread's innermost scope, NULL outside of any. */
ND4C_API nd4c_workspace *nd4c_workspace_current(void);

typedef struct nd4c_workspace_info {
  uint32_t struct_size;  /* set by the caller: sizeof(nd4c_workspace_info) */
  int64_t bytes;         /* size of the arena; 0: it is not allocated, for example because the device has no room */
  int64_t used_bytes;    /* used in open scopes, including arrays that did not fit */
  int64_t peak_bytes;    /* the most that a cycle has used */
  int64_t cycles;        /* completed by the workspace, on whatever devices */
  int64_t spilled_count; /* total of arrays that did not fit, and their bytes */
  int64_t spilled_bytes;
  int64_t moved_count; /* total of arrays that were moved out */
  int64_t live_count;  /* live arrays in open scopes */
  int32_t depth;       /* scopes open */
} nd4c_workspace_info;

/* The state of the workspace on a device (NULL: all devices together). HANDLE if it is not a device of an open
 * backend. */
ND4C_API nd4c_status nd4c_workspace_get_info(nd4c_workspace *workspace, const nd4c_device *device,
                                             nd4c_workspace_info *info);

ND4C_EXTERN_C_END
#endif
