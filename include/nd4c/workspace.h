/* Workspaces: memory that arrays of a repeated step take and give back together.
 *
 * A workspace has an arena on each device that is used while it is entered. What is allocated between
 * nd4c_workspace_enter and nd4c_workspace_leave by the thread, results of operations included, comes from the arena of
 * its device, one piece after the other; leaving gives everything back at once. Leaving the outermost scope ends a
 * cycle. An arena learns how much a cycle needs: in the first one arrays have memory of their own, at its end the arena
 * is made as large as that (all arrays together, released ones included), and from then on a cycle that needs no more
 * allocates no memory of a device. What does not fit has memory of its own again, and the arena grows at the end of
 * that cycle. Where the device's memory or its cap has no room for such an arena there is none: arrays have memory of
 * their own, which they find in the cache; this is looked at again at the end of each cycle. An arena in which nothing
 * lies also goes where its memory is missing, and that one does not come back.
 *
 * Scopes nest: entering a workspace that is entered begins an inner scope of the same arenas, entering another one puts
 * that in front until it is left. Scopes are left in the opposite order. A workspace is entered by one thread at a
 * time.
 *
 * Arrays of up to 256 bytes on the host have lists of the thread's own and are not concerned, nor are arrays without
 * elements, foreign memory and what plans keep for themselves. An array's copies on other devices than the one it was
 * made on have memory of their own, too: one that nd4c_array_migrate took to another device is the workspace's no
 * longer. */
#ifndef ND4C_WORKSPACE_H
#define ND4C_WORKSPACE_H

#include <stdint.h>

#include "nd4c/device.h"
#include "nd4c/export.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

typedef struct nd4c_workspace nd4c_workspace;

/* What leaving does with arrays that were made in the scope and are still alive. */
typedef enum nd4c_outliving {
  ND4C_OUTLIVING_REFUSED = 0,  /* nd4c_workspace_leave fails, naming them, and the scope stays open */
  ND4C_OUTLIVING_MOVED_OUT = 1 /* they are copied to memory of their own, on the host if their device has none; handles
                                  and views stay good, addresses do not, and no other thread may be using them
                                  meanwhile */
} nd4c_outliving;

typedef struct nd4c_workspace_options {
  uint32_t struct_size; /* sizeof(nd4c_workspace_options) */
  nd4c_outliving outliving;
  const nd4c_device *device; /* only what is allocated there; NULL: on every device */
  int64_t initial_bytes;     /* of each arena, before it has learned; 0: none */
} nd4c_workspace_options;

/* options NULL: all zero. Any thread may use it, one at a time. */
ND4C_API nd4c_status nd4c_workspace_create(const nd4c_workspace_options *options, nd4c_workspace **workspace);
/* The calling thread's workspace of that name (for that device, if options name one), made with the options when it is
 * asked for the first time; later the options do not matter. It goes with the thread, or by nd4c_workspace_destroy. */
ND4C_API nd4c_status nd4c_workspace_named(const char *name, const nd4c_workspace_options *options,
                                          nd4c_workspace **workspace);
/* Frees the arenas. ARGUMENT while it is entered, HANDLE if it is none. NULL is fine. */
ND4C_API nd4c_status nd4c_workspace_destroy(nd4c_workspace *workspace);

/* Opens a scope for the calling thread. ARGUMENT if another thread has entered it, or at more than 16 scopes. */
ND4C_API nd4c_status nd4c_workspace_enter(nd4c_workspace *workspace);
/* Closes the calling thread's innermost scope, after the work on what was made in it. ARGUMENT, and the scope stays
 * open, if the innermost scope is another workspace's or if arrays outlive it and that is refused; MEMORY, MEMORY_CAP
 * (the host has no memory for them either) or a device's failure if they could not be moved out: those that were,
 * are. */
ND4C_API nd4c_status nd4c_workspace_leave(nd4c_workspace *workspace);
/* The workspace of the calling thread's innermost scope, NULL outside of any. */
ND4C_API nd4c_workspace *nd4c_workspace_current(void);

typedef struct nd4c_workspace_info {
  uint32_t struct_size;  /* set by the caller: sizeof(nd4c_workspace_info) */
  int64_t bytes;         /* of the arena; 0 after a cycle with a peak: it did not fit the device */
  int64_t used_bytes;    /* of it in the scopes that are open, with what did not fit */
  int64_t peak_bytes;    /* most that a cycle has used */
  int64_t cycles;        /* of the workspace */
  int64_t spilled_count; /* arrays ever that did not fit, and their bytes */
  int64_t spilled_bytes;
  int64_t moved_count; /* arrays of the workspace ever that were moved out */
  int64_t live_count;  /* arrays of the workspace alive in open scopes */
  int32_t depth;       /* scopes open */
} nd4c_workspace_info;

/* The state of the workspace on a device (NULL: all devices together). HANDLE if that is none of an open backend. */
ND4C_API nd4c_status nd4c_workspace_get_info(nd4c_workspace *workspace, const nd4c_device *device,
                                             nd4c_workspace_info *info);

ND4C_EXTERN_C_END
#endif
