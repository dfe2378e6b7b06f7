/* Implements scopes.h. ir/graph.c, ir/variables.c and labels.c call it. */
#include "graph/names/scopes.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

enum { SHOWN = 100 };

static nd4c_status fail_length(const nd4c_scopes *scopes, const char *name) {
  return nd4c_fail(ND4C_OVERFLOW, "graph: '%.*s' in scope '%.*s' is a name of more than %d bytes", SHOWN, name, SHOWN,
                   nd4c_scopes_path(scopes), ND4C_SCOPE_NAME);
}

nd4c_status nd4c_scopes_join(const nd4c_scopes *scopes, const char *name, nd4c_scoped *room, const char **joined) {
  *joined = name;
  if (scopes == NULL || scopes->depth == 0) {
    return ND4C_OK;
  }
  const int written = snprintf(room->text, sizeof room->text, "%s/%s", scopes->path, name);
  if (written < 0 || (size_t)written >= sizeof room->text) {
    return fail_length(scopes, name);
  }
  *joined = room->text;
  return ND4C_OK;
}

/* Adds a suffix to the name in `room` until it is not taken. */
static nd4c_status add_suffix(nd4c_scopes *scopes, const char *name, nd4c_scoped *room) {
  const int32_t taken = nd4c_ports_find(&scopes->used, room->text);
  const size_t length = strlen(room->text);
  while (taken >= 0 && nd4c_ports_find(&scopes->used, room->text) >= 0) {
    scopes->used.items[taken].value++;
    const int written =
        snprintf(room->text + length, sizeof room->text - length, "_%d", (int)scopes->used.items[taken].value);
    if (written < 0 || (size_t)written >= sizeof room->text - length) {
      return fail_length(scopes, name);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_scopes_unique(nd4c_scopes *scopes, const char *name, nd4c_scoped *room, const char **unique) {
  ND4C_TRY(nd4c_scopes_join(scopes, name, room, unique));
  return *unique == room->text ? add_suffix(scopes, name, room) : ND4C_OK;
}

nd4c_status nd4c_scopes_take(nd4c_scopes *scopes, nd4c_region *region, const char *name) {
  return name[0] == '\0' || nd4c_ports_find(&scopes->used, name) >= 0
             ? ND4C_OK
             : nd4c_ports_add(&scopes->used, region, "entry", name, 0);
}

nd4c_status nd4c_scopes_push(nd4c_scopes *scopes, nd4c_region *region, const char *name) {
  nd4c_scoped room;
  const char *path = NULL;
  const size_t length = strlen(name);
  if (scopes->depth >= ND4C_SCOPE_DEPTH) {
    return nd4c_fail(ND4C_OVERFLOW, "nd4c_graph_push_scope: %d scopes are open, and no more can be",
                     (int)scopes->depth);
  }
  ND4C_TRY(nd4c_scopes_join(scopes, name, &room, &path));
  if (path == name) { /* the first scope */
    if (length > ND4C_SCOPE_NAME) {
      return fail_length(scopes, name);
    }
    memcpy(room.text, name, length + 1);
  }
  ND4C_TRY(add_suffix(scopes, name, &room));
  ND4C_TRY(nd4c_scopes_take(scopes, region, room.text));
  scopes->ends[scopes->depth] = (int32_t)strlen(scopes->path);
  scopes->depth++;
  memcpy(scopes->path, room.text, sizeof scopes->path);
  return ND4C_OK;
}

void nd4c_scopes_cut(nd4c_scopes *scopes, int32_t count) {
  nd4c_ports_cut(&scopes->used, count);
  for (int32_t i = 0; i < scopes->used.count; i++) {
    scopes->used.items[i].value = 0; /* the next search finds the lowest free suffix, which is the one after the last */
  }
}

nd4c_status nd4c_scopes_pop(nd4c_scopes *scopes) {
  if (scopes == NULL || scopes->depth == 0) {
    return nd4c_fail(ND4C_ARGUMENT, "nd4c_graph_pop_scope: no scope is open");
  }
  scopes->depth--;
  scopes->path[scopes->ends[scopes->depth]] = '\0';
  return ND4C_OK;
}

void nd4c_scopes_free(nd4c_scopes *scopes) {
  if (scopes != NULL) {
    nd4c_ports_free(&scopes->used);
    nd4c_deallocate(scopes);
  }
}
