/* Scopes of workspaces: entering and leaving, and threads' named workspaces. Implements nd4c/workspace.h, which
 * programs call, and the source of memory that device/storage asks (storage_source.h). */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "device/storage/storage.h"
#include "device/workspace/workspace.h"

static struct nd4c_workspace *known; /* under the workspaces' lock */

struct nd4c_workspace *nd4c_workspace_first(void) {
  return known;
}

enum { DESCRIBED = ND4C_WORKSPACE_NAME_SIZE + 64 };

/* "workspace 'step' of opencl:0" as far as that is known, in `text`. */
static const char *describe(const nd4c_workspace *workspace, char text[DESCRIBED]) {
  const char *device = workspace->device != NULL ? workspace->device->name : "";
  (void)snprintf(text, DESCRIBED, "%s%s%s%s%s",
                 workspace->name[0] != '\0' ? "workspace '" : "a workspace without a name", workspace->name,
                 workspace->name[0] != '\0' ? "'" : "", device[0] != '\0' ? " of " : "", device);
  return text;
}

/* Never dereferences an unknown pointer. */
static nd4c_status check(const nd4c_workspace *workspace, const char *function) {
  if (workspace == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: workspace is NULL", function);
  }
  nd4c_workspace_lock();
  const nd4c_workspace *found = known;
  while (found != NULL && found != workspace) {
    found = found->next_known;
  }
  nd4c_workspace_unlock();
  return found != NULL ? ND4C_OK : nd4c_fail(ND4C_HANDLE, "%s: this is not a workspace, or it was destroyed", function);
}

nd4c_status nd4c_workspace_create(const nd4c_workspace_options *options, nd4c_workspace **out) {
  if (out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_workspace_create: workspace is NULL");
  }
  if (options != NULL && options->struct_size < ND4C_SIZE_OF(nd4c_workspace_options)) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_workspace_options)",
                     options->struct_size);
  }
  if (options != NULL && (options->initial_bytes < 0 || options->outliving < ND4C_OUTLIVING_REFUSED ||
                          options->outliving > ND4C_OUTLIVING_MOVED_OUT)) {
    return nd4c_fail(ND4C_ARGUMENT,
                     "nd4c_workspace_create: initial_bytes is %lld, outliving is %d: expected 0 or more "
                     "bytes and an nd4c_outliving",
                     (long long)options->initial_bytes, (int)options->outliving);
  }
  if (options != NULL && options->device != NULL) {
    ND4C_TRY(nd4c_device_check(options->device, "nd4c_workspace_create"));
  }
  nd4c_workspace *workspace = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *workspace, "a workspace", &workspace));
  if (options != NULL) {
    workspace->outliving = options->outliving;
    workspace->device = options->device;
    workspace->initial_bytes = options->initial_bytes;
  }
  nd4c_workspace_lock();
  workspace->next_known = known;
  known = workspace;
  nd4c_workspace_unlock();
  *out = workspace;
  return ND4C_OK;
}

nd4c_status nd4c_workspace_named(const char *name, const nd4c_workspace_options *options, nd4c_workspace **out) {
  if (name == NULL || out == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_workspace_named: %s is NULL", name == NULL ? "name" : "workspace");
  }
  size_t length = strlen(name);
  if (length == 0 || length >= ND4C_WORKSPACE_NAME_SIZE) {
    return nd4c_fail(ND4C_NAME, "nd4c_workspace_named: a name of %zu bytes, expected 1 to %d", length,
                     ND4C_WORKSPACE_NAME_SIZE - 1);
  }
  if (options != NULL && options->struct_size < ND4C_SIZE_OF(nd4c_workspace_options)) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_workspace_options)",
                     options->struct_size);
  }
  nd4c_thread *thread = NULL;
  ND4C_TRY(nd4c_thread_find(&thread));
  const nd4c_device *device = options != NULL ? options->device : NULL;
  nd4c_workspace *found = thread->named_workspaces;
  while (found != NULL && (strcmp(found->name, name) != 0 || found->device != device)) {
    found = found->next_named;
  }
  if (found == NULL) {
    ND4C_TRY(nd4c_workspace_create(options, &found));
    memcpy(found->name, name, length + 1);
    found->next_named = thread->named_workspaces;
    thread->named_workspaces = found;
  }
  *out = found;
  return ND4C_OK;
}

/* Waits for the work on storages without references, and frees them. Called without the lock. */
static void collect(void) {
  nd4c_workspace_lock();
  for (nd4c_workspace *workspace = known; workspace != NULL;) {
    workspace = nd4c_workspace_end_one(workspace, 0) ? known : workspace->next_known;
  }
  nd4c_workspace_unlock();
}

static const nd4c_storage_source arenas = {.allocate = nd4c_workspace_allocate,
                                           .move_out = nd4c_workspace_move_out,
                                           .part = nd4c_workspace_part,
                                           .collect = collect};
ND4C_HOOK(storage_sources, nd4c_storage_source, arenas);

static void forget(nd4c_workspace *workspace) {
  nd4c_workspace_lock();
  nd4c_workspace **link = &known;
  while (*link != workspace) {
    link = &(*link)->next_known;
  }
  *link = workspace->next_known;
  nd4c_workspace_unlock();
  nd4c_workspace_free(workspace);
}

nd4c_status nd4c_workspace_destroy(nd4c_workspace *workspace) {
  if (workspace == NULL) {
    return ND4C_OK;
  }
  ND4C_TRY(check(workspace, "nd4c_workspace_destroy"));
  nd4c_thread *thread = NULL;
  ND4C_TRY(nd4c_thread_find(&thread));
  nd4c_workspace_lock();
  int32_t depth = workspace->depth;
  nd4c_workspace_unlock();
  if (depth > 0) {
    char text[DESCRIBED];
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_workspace_destroy: %s: %d scope(s) of it are open: they must be left first",
                     describe(workspace, text), depth);
  }
  if (workspace->name[0] != '\0') {
    nd4c_workspace **link = &thread->named_workspaces;
    while (*link != NULL && *link != workspace) {
      link = &(*link)->next_named;
    }
    if (*link == NULL) {
      return nd4c_fail(ND4C_ARGUMENT, "nd4c_workspace_destroy: workspace '%s' is another thread's", workspace->name);
    }
    *link = workspace->next_named;
  }
  forget(workspace);
  return ND4C_OK;
}

nd4c_status nd4c_workspace_enter(nd4c_workspace *workspace) {
  ND4C_TRY(check(workspace, "nd4c_workspace_enter"));
  nd4c_thread *thread = NULL;
  ND4C_TRY(nd4c_thread_find(&thread));
  nd4c_workspace_lock();
  bool mine = workspace->owner == NULL || workspace->owner == thread;
  int32_t depth = workspace->depth;
  if (mine && depth < ND4C_WORKSPACE_DEPTH) {
    workspace->owner = thread;
    workspace->depth = depth + 1;
  }
  nd4c_workspace_unlock();
  if (!mine || depth == ND4C_WORKSPACE_DEPTH) {
    char text[DESCRIBED];
    (void)describe(workspace, text);
    return mine ? nd4c_fail(ND4C_ARGUMENT, "nd4c_workspace_enter: %s: %d scopes of it are open already", text, depth)
                : nd4c_fail(ND4C_ARGUMENT, "nd4c_workspace_enter: %s: another thread has entered it", text);
  }
  for (nd4c_workspace_arena *arena = workspace->arenas; arena != NULL; arena = arena->next) {
    arena->marks[depth] = arena->used;
  }
  nd4c_workspace_frame *frame = &workspace->frames[depth];
  *frame = (nd4c_workspace_frame){.workspace = workspace, .outer = thread->workspace};
  thread->workspace = frame;
  return ND4C_OK;
}

static nd4c_status refuse_survivors(const nd4c_workspace *workspace) {
  enum { NAMED = 5 };
  nd4c_text text = {0};
  int64_t count = 0;
  nd4c_workspace_lock();
  for (const nd4c_workspace_storage *s = workspace->alive; s != NULL; s = s->next) {
    if (s->depth == workspace->depth - 1 && s->stage == ND4C_STAGE_ALIVE && ++count <= NAMED) {
      nd4c_text_print(&text, "%s%lld bytes on %s from %s", count == 1 ? "" : ", ", (long long)s->body.base.bytes,
                      s->body.first.device->name, s->origin != NULL ? s->origin : "?");
    }
  }
  nd4c_workspace_unlock();
  char described[DESCRIBED];
  nd4c_status status =
      nd4c_fail(ND4C_ARGUMENT, "nd4c_workspace_leave: %s: %lld array(s) made in the scope are still alive: %s%s",
                describe(workspace, described), (long long)count, text.bytes != NULL ? text.bytes : "",
                count > NAMED ? ", ..." : "");
  nd4c_text_free(&text);
  return status;
}

/* Handles arrays that outlive the innermost scope. */
static nd4c_status clear_scope(nd4c_workspace *workspace) {
  nd4c_storage_collect(false);
  if (workspace->outliving == ND4C_OUTLIVING_REFUSED) {
    return nd4c_workspace_find_survivor(workspace, false) != NULL ? refuse_survivors(workspace) : ND4C_OK;
  }
  nd4c_workspace_storage *survivor = NULL;
  while ((survivor = nd4c_workspace_find_survivor(workspace, true)) != NULL) {
    int64_t bytes = survivor->body.base.bytes;
    const char *origin = survivor->origin;
    nd4c_status status = nd4c_workspace_move_claimed(survivor); /* may free the survivor */
    if (status != ND4C_OK) {
      char text[DESCRIBED];
      return nd4c_fail_prefix(status, "nd4c_workspace_leave: %s: moving an array of %lld bytes from %s out",
                              describe(workspace, text), (long long)bytes, origin != NULL ? origin : "?");
    }
  }
  return ND4C_OK;
}

/* Closes the innermost scope, which has no live arrays any more. */
static void close_scope(nd4c_thread *thread, nd4c_workspace *workspace) {
  thread->workspace = workspace->frames[workspace->depth - 1].outer;
  for (nd4c_workspace_arena *arena = workspace->arenas; arena != NULL; arena = arena->next) {
    arena->used = arena->marks[workspace->depth - 1];
    arena->marks[workspace->depth - 1] = 0;
  }
  if (workspace->depth == 1) {
    workspace->cycles++;
    nd4c_workspace_grow(workspace);
  }
  nd4c_workspace_lock();
  workspace->depth--;
  workspace->owner = workspace->depth > 0 ? thread : NULL;
  nd4c_workspace_unlock();
}

nd4c_status nd4c_workspace_leave(nd4c_workspace *workspace) {
  ND4C_TRY(check(workspace, "nd4c_workspace_leave"));
  nd4c_thread *thread = NULL;
  ND4C_TRY(nd4c_thread_find(&thread));
  if (thread->workspace == NULL || thread->workspace->workspace != workspace) {
    bool inside = false;
    for (const nd4c_workspace_frame *frame = thread->workspace; frame != NULL; frame = frame->outer) {
      inside = inside || frame->workspace == workspace;
    }
    char text[DESCRIBED], front[DESCRIBED];
    (void)describe(workspace, text);
    return inside ? nd4c_fail(ND4C_ARGUMENT, "nd4c_workspace_leave: %s: %s was entered after it and must be left first",
                              text, describe(thread->workspace->workspace, front))
                  : nd4c_fail(ND4C_ARGUMENT, "nd4c_workspace_leave: %s: this thread has not entered it", text);
  }
  ND4C_TRY(clear_scope(workspace));
  close_scope(thread, workspace);
  return ND4C_OK;
}

nd4c_workspace *nd4c_workspace_current(void) {
  nd4c_thread *thread = nd4c_thread_get();
  return thread != NULL && thread->workspace != NULL ? thread->workspace->workspace : NULL;
}

/* When a thread ends: leaves its scopes and destroys its named workspaces. */
static void abandon(nd4c_thread *thread) {
  while (thread->workspace != NULL) {
    nd4c_workspace *workspace = thread->workspace->workspace;
    workspace->outliving = ND4C_OUTLIVING_MOVED_OUT; /* there is no caller to report a refusal to */
    if (clear_scope(workspace) == ND4C_OK) {
      close_scope(thread, workspace);
    } else { /* no memory: the arenas stay until their last array goes */
      thread->workspace = thread->workspace->outer;
      nd4c_workspace_lock();
      workspace->owner = --workspace->depth > 0 ? thread : NULL;
      while (nd4c_workspace_end_one(workspace, workspace->depth)) { /* no thread will leave this scope */
      }
      nd4c_workspace_unlock();
    }
  }
  while (thread->named_workspaces != NULL) {
    nd4c_workspace *workspace = thread->named_workspaces;
    thread->named_workspaces = workspace->next_named;
    forget(workspace);
  }
}

static const nd4c_thread_hook scopes_and_names = {ND4C_THREAD_END_WORKSPACES, abandon};
ND4C_HOOK(thread_hooks, nd4c_thread_hook, scopes_and_names);

nd4c_status nd4c_workspace_get_info(nd4c_workspace *workspace, const nd4c_device *device, nd4c_workspace_info *info) {
  ND4C_TRY(check(workspace, "nd4c_workspace_get_info"));
  if (device != NULL) {
    ND4C_TRY(nd4c_device_check(device, "nd4c_workspace_get_info"));
  }
  if (info == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_workspace_get_info: info is NULL");
  }
  if (info->struct_size < ND4C_SIZE_OF(nd4c_workspace_info)) {
    return nd4c_fail(ND4C_ARGUMENT, "struct_size is %u: set it to sizeof(nd4c_workspace_info)", info->struct_size);
  }
  *info = (nd4c_workspace_info){.struct_size = info->struct_size, .cycles = workspace->cycles};
  nd4c_workspace_lock();
  info->depth = workspace->depth;
  info->moved_count = workspace->moved_count;
  for (const nd4c_workspace_storage *storage = workspace->alive; storage != NULL; storage = storage->next) {
    info->live_count += device == NULL || storage->body.first.device == device;
  }
  for (const nd4c_workspace_arena *arena = workspace->arenas; arena != NULL; arena = arena->next) {
    if (device == NULL || arena->device == device) {
      info->bytes += arena->block.bytes;
      info->used_bytes += arena->used;
      info->peak_bytes += arena->cycle_peak > arena->peak ? arena->cycle_peak : arena->peak;
      info->spilled_count += arena->spilled_count;
      info->spilled_bytes += arena->spilled_bytes;
    }
  }
  nd4c_workspace_unlock();
  return ND4C_OK;
}
