/* Implements workspace.h: the arenas, the storages in them, and moving a storage out. workspace_scope.c calls it for a
 * thread that has entered a workspace; memory.c asks for idle arenas when memory is short. */
#include "device/workspace/workspace.h"

#include "base/alloc.h"
#include "base/config/log.h"
#include "base/os_lock.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/memory/reclaim.h"
#include "device/storage/storage.h"
#include "device/storage/transfer_stream.h"

/* Guards lists only: no array is made, copied or waited for under it. */
static nd4c_lock lists_lock = ND4C_LOCK_INIT;
static nd4c_condition stage_changed = ND4C_CONDITION_INIT;

void nd4c_workspace_lock(void) {
  nd4c_lock_acquire(&lists_lock);
}

void nd4c_workspace_unlock(void) {
  nd4c_lock_release(&lists_lock);
}

/* -- storages ---------------------------------------------------------------------------------------------------- */

/* Under the lock. */
static void link_alive(struct nd4c_workspace *workspace, nd4c_workspace_storage *storage) {
  storage->previous = NULL;
  storage->next = workspace->alive;
  if (workspace->alive != NULL) {
    workspace->alive->previous = storage;
  }
  workspace->alive = storage;
}

static void unlink_alive(struct nd4c_workspace *workspace, nd4c_workspace_storage *storage) {
  *(storage->previous != NULL ? &storage->previous->next : &workspace->alive) = storage->next;
  if (storage->next != NULL) {
    storage->next->previous = storage->previous;
  }
}

static void free_block(nd4c_device *device, nd4c_block *block) {
  if (block->node != NULL) {
    nd4c_memory_count_arena(device, -block->bytes);
    nd4c_memory_free(device, block);
  }
}

/* Notes that its block is no longer part of an arena. Under the lock. */
static void leave_arena(nd4c_workspace_storage *storage) {
  if (storage->arena != NULL) {
    storage->arena->pieces--;
    storage->arena = NULL;
  }
}

static void free_all(struct nd4c_workspace *workspace) {
  for (nd4c_workspace_storage *storage = workspace->unused, *next; storage != NULL; storage = next) {
    next = storage->next;
    nd4c_recycle_give(storage, sizeof *storage);
  }
  for (nd4c_workspace_arena *arena = workspace->arenas, *next; arena != NULL; arena = next) {
    next = arena->next;
    free_block(arena->device, &arena->block);
    nd4c_deallocate(arena);
  }
  nd4c_deallocate(workspace);
}

/* Returns the record to its workspace, or frees it with the workspace. */
static void return_record(struct nd4c_workspace *workspace, nd4c_workspace_storage *storage) {
  nd4c_workspace_lock();
  storage->next = workspace->unused;
  workspace->unused = storage;
  bool last = --workspace->storages == 0 && workspace->gone;
  nd4c_workspace_unlock();
  if (last) {
    free_all(workspace);
  }
}

/* Frees a storage whose stage the caller has set to ENDING, or queues it until its work has ended. */
static void end(nd4c_workspace_storage *storage) {
  nd4c_storage_body *body = &storage->body;
  nd4c_storage_unlist(body);
  bool idle = nd4c_storage_body_let_go(body);
  nd4c_workspace_lock();
  struct nd4c_workspace *workspace = storage->workspace;
  bool waits = !idle && workspace != NULL && storage->depth < workspace->depth;
  storage->stage = waits ? ND4C_STAGE_ENDED : ND4C_STAGE_ALIVE;
  if (idle && workspace != NULL) {
    leave_arena(storage);
    unlink_alive(workspace, storage);
  }
  nd4c_condition_wake_all(&stage_changed);
  nd4c_workspace_unlock();
  if (!idle) {
    if (!waits) {
      nd4c_storage_bury(body);
    }
    return;
  }
  nd4c_storage_body_reset(body);
  if (body->first.block.node != NULL) {
    nd4c_memory_free(body->first.device, &body->first.block);
  }
  if (workspace != NULL) {
    return_record(workspace, storage);
  } else {
    nd4c_recycle_give(storage, sizeof *storage);
  }
}

static void destroy_in_workspace(nd4c_storage *base) {
  nd4c_workspace_storage *storage = (nd4c_workspace_storage *)base;
  nd4c_workspace_lock();
  bool moving = storage->movers > 0;
  storage->stage = moving ? ND4C_STAGE_ENDED : ND4C_STAGE_ENDING;
  nd4c_workspace_unlock();
  if (!moving) {
    end(storage);
  }
}

bool nd4c_workspace_end_one(struct nd4c_workspace *workspace, int32_t depth) {
  nd4c_workspace_storage *storage = workspace->alive;
  while (storage != NULL && (storage->depth < depth || storage->stage != ND4C_STAGE_ENDED || storage->movers > 0)) {
    storage = storage->next;
  }
  if (storage == NULL) {
    return false;
  }
  storage->stage = ND4C_STAGE_ENDING;
  nd4c_workspace_unlock();
  nd4c_storage_unlist(&storage->body);
  nd4c_storage_body_settle(&storage->body);
  end(storage);
  nd4c_workspace_lock();
  return true;
}

nd4c_workspace_storage *nd4c_workspace_find_survivor(struct nd4c_workspace *workspace, bool claim) {
  nd4c_workspace_storage *found = NULL;
  nd4c_workspace_lock();
  for (;;) {
    bool ending = false;
    int32_t depth = workspace->depth - 1;
    while (nd4c_workspace_end_one(workspace, depth)) {
    }
    for (nd4c_workspace_storage *storage = workspace->alive; storage != NULL; storage = storage->next) {
      bool inside = storage->depth == depth, alive = storage->stage == ND4C_STAGE_ALIVE;
      found = inside && alive ? storage : found;
      ending = ending || (inside && !alive);
    }
    if (found != NULL || !ending) {
      break;
    }
    nd4c_condition_wait(&stage_changed, &lists_lock); /* another thread is handling it */
  }
  if (found != NULL && claim) {
    found->movers++;
  }
  nd4c_workspace_unlock();
  return found;
}

static nd4c_workspace_storage *take_record(struct nd4c_workspace *workspace) {
  nd4c_workspace_lock();
  nd4c_workspace_storage *storage = workspace->unused;
  if (storage != NULL) {
    workspace->unused = storage->next;
  }
  nd4c_workspace_unlock();
  if (storage == NULL) {
    storage = nd4c_recycle_take(sizeof *storage);
    if (storage == NULL) {
      (void)nd4c_fail_memory("a storage in a workspace", sizeof *storage);
    }
  }
  return storage;
}

/* -- arenas ------------------------------------------------------------------------------------------------------ */

/* Takes the arena's memory away permanently. Under the lock; the caller frees it without the lock. */
static nd4c_block give_up(nd4c_workspace_arena *arena) {
  nd4c_block block = arena->block;
  arena->block = (nd4c_block){0};
  arena->given_up = true;
  return block;
}

/* For a workspace that this thread has entered. */
static void make_block(nd4c_workspace_arena *arena, int64_t bytes) {
  nd4c_block block = {0};
  if (bytes == 0 || arena->given_up || !nd4c_memory_has_room(arena->device, bytes)) {
    return;
  }
  const nd4c_memory_request request = {.bytes = bytes, .origin = "a workspace", .usage = ND4C_BUFFER_ARENA};
  bool made = nd4c_memory_allocate(arena->device, &request, &block) == ND4C_OK;
  if (made) {
    nd4c_memory_count_arena(arena->device, block.bytes);
  } else {
    nd4c_log_write(ND4C_LOG_INFO, "workspace", "no arena of %lld bytes on %s, arrays have memory of their own: %s",
                   (long long)bytes, arena->device->name, nd4c_error_message());
  }
  nd4c_workspace_lock();
  arena->block = block;
  arena->given_up = !made;
  nd4c_workspace_unlock();
}

/* Frees the arenas on the device of all workspaces that no thread has entered. False: there were none. */
static bool give_way(const nd4c_device *device, int64_t bytes) {
  (void)bytes;
  bool given = false;
  for (;;) {
    nd4c_device *owner = NULL;
    nd4c_block block = {0};
    nd4c_workspace_lock();
    for (struct nd4c_workspace *w = nd4c_workspace_first(); w != NULL && owner == NULL; w = w->next_known) {
      nd4c_workspace_arena *arena = w->depth == 0 ? w->arenas : NULL;
      while (arena != NULL && (arena->device != device || arena->block.node == NULL || arena->pieces > 0)) {
        arena = arena->next;
      }
      if (arena != NULL) {
        block = give_up(arena);
        owner = arena->device;
      }
    }
    nd4c_workspace_unlock();
    if (owner == NULL) {
      return given;
    }
    free_block(owner, &block);
    given = true;
  }
}

static const nd4c_reclaimer arenas = {.order = ND4C_RECLAIM_ARENAS, .give_way = give_way};
ND4C_HOOK(reclaimers, nd4c_reclaimer, arenas);

static nd4c_workspace_arena *find_arena(struct nd4c_workspace *workspace, nd4c_device *device) {
  nd4c_workspace_arena *arena = workspace->arenas;
  while (arena != NULL && arena->device != device) {
    arena = arena->next;
  }
  if (arena == NULL && (arena = nd4c_allocate_zeroed(1, sizeof *arena)) != NULL) {
    arena->device = device;
    make_block(arena, workspace->initial_bytes);
    arena->next = workspace->arenas;
    workspace->arenas = arena;
  }
  return arena;
}

/* Pieces have the device's alignment and do not share cache lines. */
static int64_t round_up(const nd4c_device *device, int64_t bytes) {
  int64_t step = device->description.alignment > 64 ? device->description.alignment : 64;
  return (bytes / step + 1) * step;
}

/* Allocates individually. An empty arena is freed if that is necessary. */
static nd4c_status place_outside(nd4c_workspace_arena *arena, nd4c_storage_body *body, const char *origin) {
  nd4c_block empty = {0};
  const nd4c_memory_request request = {.bytes = body->base.bytes, .origin = origin, .dtype = body->base.dtype};
  nd4c_status status = nd4c_memory_allocate(arena->device, &request, &body->first.block);
  if (status == ND4C_MEMORY || status == ND4C_MEMORY_CAP) {
    nd4c_workspace_lock();
    if (arena->block.node != NULL && arena->pieces == 0) {
      empty = give_up(arena);
    }
    nd4c_workspace_unlock();
  }
  if (empty.node != NULL) {
    free_block(arena->device, &empty);
    status = nd4c_memory_allocate(arena->device, &request, &body->first.block);
  }
  ND4C_TRY(status);
  nd4c_replica_list(body, &body->first);
  arena->spilled_count++;
  arena->spilled_bytes += body->base.bytes;
  return ND4C_OK;
}

static nd4c_status place(nd4c_workspace_arena *arena, nd4c_workspace_storage *storage, const char *origin) {
  nd4c_storage_body *body = &storage->body;
  int64_t bytes = body->base.bytes, offset = arena->used, step = round_up(arena->device, bytes);
  storage->arena = NULL;
  if (arena->block.node != NULL && step <= arena->block.bytes - offset) {
    char *address = arena->block.address;
    body->first.block = (nd4c_block){.buffer = arena->block.buffer,
                                     .address = address != NULL ? address + offset : NULL,
                                     .bytes = bytes,
                                     .offset = arena->block.offset + offset};
    storage->arena = arena;
  } else {
    ND4C_TRY(place_outside(arena, body, origin));
  }
  arena->used += step;
  arena->cycle_peak = arena->used > arena->cycle_peak ? arena->used : arena->cycle_peak;
  return ND4C_OK;
}

nd4c_status nd4c_workspace_allocate(nd4c_thread *thread, nd4c_device *device, nd4c_dtype dtype, int64_t bytes,
                                    const char *origin, bool *taken, nd4c_storage **out) {
  struct nd4c_workspace *workspace = thread->workspace->workspace;
  *taken = (workspace->device == NULL || workspace->device == device) && bytes > 0 && bytes <= INT64_C(1) << 56 &&
           !device->description.whole_buffers; /* such a device cannot address a part of a buffer */
  if (!*taken) {
    return ND4C_OK;
  }
  nd4c_workspace_arena *arena = find_arena(workspace, device);
  nd4c_workspace_storage *storage = arena != NULL ? take_record(workspace) : NULL;
  if (storage == NULL) {
    return arena != NULL ? ND4C_MEMORY : nd4c_fail_memory("an arena", sizeof *arena);
  }
  nd4c_storage_body_start(&storage->body, device, dtype, bytes, 0, destroy_in_workspace);
  nd4c_status status = place(arena, storage, origin);
  if (status != ND4C_OK) {
    nd4c_recycle_give(storage, sizeof *storage);
    return status;
  }
  if (nd4c_device_is_immediate(device)) {
    storage->body.base.address = storage->body.first.block.address;
  }
  storage->origin = origin;
  storage->depth = workspace->depth - 1;
  storage->stage = ND4C_STAGE_ALIVE;
  storage->movers = 0;
  nd4c_workspace_lock();
  storage->workspace = workspace;
  link_alive(workspace, storage);
  if (storage->arena != NULL) {
    arena->pieces++;
  }
  workspace->storages++;
  nd4c_workspace_unlock();
  *out = &storage->body.base;
  return ND4C_OK;
}

void nd4c_workspace_grow(struct nd4c_workspace *workspace) {
  for (nd4c_workspace_arena *arena = workspace->arenas; arena != NULL; arena = arena->next) {
    arena->peak = arena->cycle_peak > arena->peak ? arena->cycle_peak : arena->peak;
    arena->cycle_peak = 0;
    if (arena->peak > arena->block.bytes) {
      nd4c_workspace_lock();
      nd4c_block old = arena->block;
      arena->block = (nd4c_block){0};
      nd4c_workspace_unlock();
      free_block(arena->device, &old);
      make_block(arena, arena->peak);
    }
  }
}

void nd4c_workspace_free(struct nd4c_workspace *workspace) {
  nd4c_workspace_lock();
  workspace->gone = true;
  bool last = workspace->storages == 0;
  nd4c_workspace_unlock();
  if (last) {
    free_all(workspace);
  }
}

/* -- moving out -------------------------------------------------------------------------------------------------- */

/* The device has no memory for contents that leave the arena: moves them to the host. Under the storage's lock. */
static nd4c_status move_home(nd4c_storage_body *body, nd4c_status refused) {
  nd4c_device *host = NULL;
  nd4c_replica *first = &body->first;
  if (nd4c_device_host(&host) != ND4C_OK || first->device == host) {
    return refused;
  }
  nd4c_error_clear();
  nd4c_status status = nd4c_replica_evict(body, first);
  if (status != ND4C_OK && body->poison != ND4C_OK) { /* the write had failed: there are no contents to save */
    status = nd4c_replica_evict(body, first);
  }
  return status;
}

/* Replaces a block in the arena by the separate block `own`. *lacks: the caller must allocate `own` first. `refused`:
 * the failure of that allocation; the contents then move to the host. Under the storage's lock. */
static nd4c_status replace_block(nd4c_storage_body *body, nd4c_status refused, nd4c_block *own, bool *lacks) {
  nd4c_replica *first = &body->first;
  if (first->block.node != NULL || !nd4c_replica_is_there(first)) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_storage_await_all(body));
  nd4c_storage_body_settle(body);
  if (first->state == 'I') {
    nd4c_replica_drop(body, first); /* the contents are on another device */
    return ND4C_OK;
  }
  if (refused != ND4C_OK) {
    return move_home(body, refused);
  }
  *lacks = own->node == NULL;
  if (*lacks) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_transfer_copy(first->device, &first->block, first->device, own, body->base.bytes));
  first->block = *own;
  *own = (nd4c_block){0};
  nd4c_replica_list(body, first);
  nd4c_storage_update_address(body);
  return ND4C_OK;
}

/* Ends a claim. `out`: the storage is no longer in the arena; `counts`: it was moved. */
static void end_claim(nd4c_workspace_storage *storage, bool out, bool counts) {
  nd4c_workspace_lock();
  struct nd4c_workspace *workspace = storage->workspace;
  bool last = false;
  if (out && workspace != NULL) { /* else another thread has moved it meanwhile */
    leave_arena(storage);
    unlink_alive(workspace, storage);
    workspace->moved_count += counts;
    storage->workspace = NULL;
    last = --workspace->storages == 0 && workspace->gone;
  }
  bool ended = --storage->movers == 0 && storage->stage == ND4C_STAGE_ENDED;
  if (ended) { /* the last reference was released meanwhile */
    storage->stage = ND4C_STAGE_ENDING;
  }
  nd4c_condition_wake_all(&stage_changed);
  nd4c_workspace_unlock();
  if (last) {
    free_all(workspace);
  }
  if (ended) {
    end(storage);
  }
}

/* Moves a replica from its block in the arena to a separate block. That block is allocated without the storage's lock,
 * since a device that is full may wait for work. */
static nd4c_status leave_arena_block(nd4c_workspace_storage *storage) {
  nd4c_storage_body *body = &storage->body;
  nd4c_device *device = body->first.device;
  const nd4c_memory_request request = {.bytes = body->base.bytes, .origin = storage->origin, .dtype = body->base.dtype};
  nd4c_block own = {0};
  nd4c_status status, refused = ND4C_OK;
  bool lacks;
  do {
    lacks = false;
    nd4c_storage_lock(body);
    do {
      status = replace_block(body, refused, &own, &lacks);
    } while (nd4c_storage_resume(body, &status));
    nd4c_storage_unlock(body);
    refused = lacks ? nd4c_memory_allocate(device, &request, &own) : ND4C_OK;
  } while (lacks && (refused == ND4C_OK || refused == ND4C_MEMORY || refused == ND4C_MEMORY_CAP));
  if (own.node != NULL) {
    nd4c_memory_free(device, &own);
  }
  return refused != ND4C_OK ? refused : status;
}

nd4c_status nd4c_workspace_move_claimed(nd4c_workspace_storage *storage) {
  const nd4c_status status = leave_arena_block(storage);
  end_claim(storage, status == ND4C_OK, true);
  return status;
}

/* The record of a storage in a workspace, claimed; NULL: it is in none. */
static nd4c_workspace_storage *claim(nd4c_storage *base) {
  nd4c_workspace_storage *storage = (nd4c_workspace_storage *)base;
  if (base->destroy != destroy_in_workspace) {
    return NULL;
  }
  nd4c_workspace_lock();
  bool inside = storage->workspace != NULL;
  storage->movers += inside;
  nd4c_workspace_unlock();
  return inside ? storage : NULL;
}

nd4c_status nd4c_workspace_move_out(nd4c_storage *base) {
  nd4c_workspace_storage *storage = claim(base);
  return storage != NULL ? nd4c_workspace_move_claimed(storage) : ND4C_OK;
}

/* *out: the contents are on other devices alone, and nothing of the storage is in the arena. Under its lock. */
static nd4c_status drop_stale(nd4c_storage_body *body, bool *out) {
  nd4c_replica *first = &body->first;
  *out = first->state == 'I' && first->holds == 0 && !first->pinned;
  if (*out && nd4c_replica_is_there(first)) {
    ND4C_TRY(nd4c_storage_await_all(body));
    nd4c_storage_body_settle(body);
    nd4c_replica_drop(body, first);
  }
  return ND4C_OK;
}

void nd4c_workspace_part(nd4c_storage *base) {
  nd4c_workspace_storage *storage = claim(base);
  if (storage == NULL) {
    return;
  }
  nd4c_storage_body *body = &storage->body;
  nd4c_status status;
  bool out = false;
  nd4c_storage_lock(body);
  do {
    status = drop_stale(body, &out);
  } while (nd4c_storage_resume(body, &status));
  nd4c_storage_unlock(body);
  end_claim(storage, out, false);
}
