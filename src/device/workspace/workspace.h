/* Workspaces inside src/device (nd4c/workspace.h): workspace.c has the arenas and the storages in them,
 * workspace_scope.c the scopes. Only these two include it; storages reach workspaces through storage_source.h. */
#ifndef ND4C_DEVICE_WORKSPACE_WORKSPACE_H
#define ND4C_DEVICE_WORKSPACE_WORKSPACE_H

#include "device/storage/storage_body.h"
#include "device/storage/storage_source.h"
#include "device/stream/thread.h"
#include "nd4c/workspace.h"

enum { ND4C_WORKSPACE_DEPTH = 16, ND4C_WORKSPACE_NAME_SIZE = 64 };

/* How a storage in a workspace is freed. While its scope is open it is not queued with other buried storages, because
 * other threads empty that queue, and the thread that leaves the scope must see which storages are pending. */
typedef enum nd4c_workspace_stage {
  ND4C_STAGE_ALIVE,  /* or buried, after its scope was closed */
  ND4C_STAGE_ENDING, /* a thread is checking whether work on it is pending, and frees it if not */
  ND4C_STAGE_ENDED   /* pending, or being moved out: the thread that leaves the scope, needs memory or has moved it
                        frees it */
} nd4c_workspace_stage;

/* A storage in a workspace. Its first replica's block is part of the arena's (node NULL), or a separate one if it did
 * not fit. */
typedef struct nd4c_workspace_storage {
  nd4c_storage_body body;
  struct nd4c_workspace *workspace;   /* NULL: moved out; only its freeing differs from an ordinary storage's */
  int32_t depth;                      /* of the scope that it was made in */
  nd4c_workspace_stage stage;         /* this and the next: under the lock */
  struct nd4c_workspace_arena *arena; /* the arena that has or had its block; NULL: none. Under the lock */
  int32_t movers;                     /* number of threads that are moving it out: it is not freed meanwhile */
  const char *origin;
  struct nd4c_workspace_storage *next, *previous; /* alive; next also: unused records */
} nd4c_workspace_storage;

typedef struct nd4c_workspace_arena {
  nd4c_device *device;
  nd4c_block block; /* node NULL: none yet */
  int64_t used;     /* bytes used by open scopes; more than the block has if arrays did not fit */
  int64_t cycle_peak, peak;
  int64_t spilled_count, spilled_bytes;
  int32_t pieces; /* number of storages with this `arena`; it and the presence of a block change under the lock */
  bool given_up;  /* its memory was taken or could not be allocated; it stays without */
  int64_t marks[ND4C_WORKSPACE_DEPTH]; /* `used` when each scope began */
  struct nd4c_workspace_arena *next;
} nd4c_workspace_arena;

/* One open scope of a thread. */
typedef struct nd4c_workspace_frame {
  struct nd4c_workspace *workspace;
  struct nd4c_workspace_frame *outer; /* the thread's next scope outwards */
} nd4c_workspace_frame;

/* One lock in workspace.c guards lists and counts of storages, since any thread may release an array; only the entering
 * thread uses the rest. */
struct nd4c_workspace {
  nd4c_outliving outliving;
  const nd4c_device *device;
  int64_t initial_bytes;
  char name[ND4C_WORKSPACE_NAME_SIZE]; /* "": not a named one */
  nd4c_workspace_arena *arenas;
  nd4c_workspace_storage *alive, *unused;
  int64_t storages; /* alive or being freed */
  bool gone;        /* the last storage frees it */
  int64_t cycles, moved_count;
  nd4c_thread *owner; /* the thread that has entered it; under the lock */
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
                                    const char *origin, bool *taken, nd4c_storage **out);
/* Moves a storage of a workspace to separate memory; leaves any other unchanged. */
nd4c_status nd4c_workspace_move_out(nd4c_storage *base);
/* Removes a storage from its workspace, if it is in one, after its contents have moved to other devices. */
void nd4c_workspace_part(nd4c_storage *base);
/* A storage with references that was made in the innermost scope; NULL: there is none, and all pending work there has
 * been waited for. `claim`: keeps it until nd4c_workspace_move_claimed, which must follow. */
nd4c_workspace_storage *nd4c_workspace_find_survivor(struct nd4c_workspace *workspace, bool claim);
nd4c_status nd4c_workspace_move_claimed(nd4c_workspace_storage *storage);
/* Waits for the work on one storage without references, made in a scope of `depth` or deeper, and frees it. False:
 * there is none. Under the lock, which it releases meanwhile if it returns true. */
bool nd4c_workspace_end_one(struct nd4c_workspace *workspace, int32_t depth);
/* Resizes the arenas to the needs of the cycle that ended. An arena for which there is no room is freed, so that its
 * memory is available for individual allocations. */
void nd4c_workspace_grow(struct nd4c_workspace *workspace);
/* Frees the workspace now, or with its last storage. */
void nd4c_workspace_free(struct nd4c_workspace *workspace);

#endif
