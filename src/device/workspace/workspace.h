/* Workspaces as src/device sees them: workspace.c has the arenas and the storages in them, workspace_scope.c the
 * scopes.
 */
#ifndef ND4C_DEVICE_WORKSPACE_H
#define ND4C_DEVICE_WORKSPACE_H

#include "device/storage/storage_body.h"
#include "device/storage/storage_source.h"
#include "device/stream/thread.h"
#include "nd4c/workspace.h"

enum { ND4C_WORKSPACE_DEPTH = 16, ND4C_WORKSPACE_NAME_SIZE = 64 };

/* The end of a storage in a workspace. It does not wait in the graves while its scope is open, because other threads
 * empty them: who leaves the scope must see what is still pending. */
typedef enum nd4c_workspace_stage {
  ND4C_STAGE_ALIVE,  /* or in the graves, its scope closed */
  ND4C_STAGE_ENDING, /* somebody is finding out whether work on it is pending, and ends it if not */
  ND4C_STAGE_ENDED   /* pending, or being moved out: who leaves the scope, needs memory or moved it ends it */
} nd4c_workspace_stage;

/* A storage in a workspace. Its first replica's block is a part of the arena's (node NULL), or its own if it did not
 * fit. */
typedef struct nd4c_workspace_storage {
  nd4c_storage_body body;
  struct nd4c_workspace *workspace;   /* NULL: moved out, an ordinary storage but for its end */
  int32_t depth;                      /* of the scope that it was made in */
  nd4c_workspace_stage stage;         /* this and the next: under the lock */
  struct nd4c_workspace_arena *arena; /* of which its block is, or was, a part; NULL: none. Under the lock */
  int32_t movers;                     /* threads that are just moving it out: it does not end meanwhile */
  const char *origin;
  struct nd4c_workspace_storage *next, *previous; /* alive; next also: unused records */
} nd4c_workspace_storage;

typedef struct nd4c_workspace_arena {
  nd4c_device *device;
  nd4c_block block; /* node NULL: none yet */
  int64_t used;     /* by the open scopes; beyond the block: what did not fit */
  int64_t cycle_peak, peak;
  int64_t spilled_count, spilled_bytes;
  int32_t pieces; /* storages whose `arena` it is; this and whether there is a block change under the lock */
  bool given_up;  /* its memory was needed, or not to be had: there is none any more */
  int64_t marks[ND4C_WORKSPACE_DEPTH]; /* `used` when each scope began */
  struct nd4c_workspace_arena *next;
} nd4c_workspace_arena;

/* One open scope of a thread. */
typedef struct nd4c_workspace_frame {
  struct nd4c_workspace *workspace;
  struct nd4c_workspace_frame *outer; /* the thread's next scope outwards */
} nd4c_workspace_frame;

/* Lists and counts of storages are guarded by one lock of workspace.c's, since any thread may release an array; the
 * rest is the entering thread's. */
struct nd4c_workspace {
  nd4c_outliving outliving;
  const nd4c_device *device;
  int64_t initial_bytes;
  char name[ND4C_WORKSPACE_NAME_SIZE]; /* "": not a named one */
  nd4c_workspace_arena *arenas;
  nd4c_workspace_storage *alive, *unused;
  int64_t storages; /* alive or just ending */
  bool gone;        /* the last storage frees it */
  int64_t cycles, moved_count;
  nd4c_thread *owner; /* who has entered it; under the lock */
  int32_t depth;
  nd4c_workspace_frame frames[ND4C_WORKSPACE_DEPTH];
  struct nd4c_workspace *next_named; /* of the thread */
  struct nd4c_workspace *next_known; /* all of them, under the lock */
};

void nd4c_workspace_lock(void);
void nd4c_workspace_unlock(void);
/* The first of all workspaces; next_known leads to the others. Under the lock. */
struct nd4c_workspace *nd4c_workspace_first(void);

/* A storage in the thread's innermost scope; *taken false: its workspace is not for that device, nothing was done. */
nd4c_status nd4c_workspace_allocate(nd4c_thread *thread, nd4c_device *device, nd4c_dtype dtype, int64_t bytes,
                                    const char *origin, bool *taken, nd4c_storage **storage);
/* Gives a storage that is in a workspace memory of its own; any other is left as it is. */
nd4c_status nd4c_workspace_move_out(nd4c_storage *storage);
/* Takes a storage out of the workspace that it is in, if any, once its contents are on other devices alone. */
void nd4c_workspace_part(nd4c_storage *storage);
/* One storage with references that was made in the innermost scope; NULL: none, and nothing there is pending: that was
 * waited for. `claim`: it is kept until nd4c_workspace_move_claimed, which must follow. */
nd4c_workspace_storage *nd4c_workspace_find_survivor(struct nd4c_workspace *workspace, bool claim);
nd4c_status nd4c_workspace_move_claimed(nd4c_workspace_storage *storage);
/* Waits for the work on one storage, made in a scope of `depth` or deeper, that has no references any more, and ends
 * it. False: there is none. Under the lock, which is let go of meanwhile if true. */
bool nd4c_workspace_end_one(struct nd4c_workspace *workspace, int32_t depth);
/* Makes the arenas as large as the cycle that ended needed. One for which there is no room goes: what it held would be
 * missing where arrays have memory of their own. */
void nd4c_workspace_grow(struct nd4c_workspace *workspace);
/* Frees it now, or with its last storage. */
void nd4c_workspace_free(struct nd4c_workspace *workspace);

#endif
