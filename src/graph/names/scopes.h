/* Open scopes of a graph, and the names that are taken in it (nd4c/names.h). ir/graph.c names nodes by it,
 * ir/variables.c variables, and labels.c opens and closes scopes. */
#ifndef ND4C_GRAPH_NAMES_SCOPES_H
#define ND4C_GRAPH_NAMES_SCOPES_H

#include "graph/names/ports.h"
#include "nd4c/names.h"

typedef struct nd4c_scopes {
  int32_t depth;
  int32_t ends[ND4C_SCOPE_DEPTH]; /* by scope: the length of the path before it was opened */
  char path[ND4C_SCOPE_NAME + 1]; /* of the open scopes, "" if there are none */
  nd4c_graph_ports used;          /* labels and paths; their values are the suffixes that were tried last */
} nd4c_scopes;

/* The path, "" for NULL. */
static inline const char *nd4c_scopes_path(const nd4c_scopes *scopes) {
  return scopes != NULL ? scopes->path : "";
}
/* Room for a name in a scope. */
typedef struct nd4c_scoped {
  char text[ND4C_SCOPE_NAME + 1];
} nd4c_scoped;

/* "path/name", or the name itself if no scope is open; borrowed from `room` or the caller. OVERFLOW: it is too long. */
nd4c_status nd4c_scopes_join(const nd4c_scopes *scopes, const char *name, nd4c_scoped *room, const char **joined);
/* As nd4c_scopes_join; inside a scope, a suffix makes the name unique. */
nd4c_status nd4c_scopes_unique(nd4c_scopes *scopes, const char *name, nd4c_scoped *room, const char **unique);
/* Notes that a name is taken; nothing if it is already. Names are copied into the region. */
nd4c_status nd4c_scopes_take(nd4c_scopes *scopes, nd4c_region *region, const char *name);

nd4c_status nd4c_scopes_push(nd4c_scopes *scopes, nd4c_region *region, const char *name);
/* Keeps the first `count` names, and forgets the others and which suffixes were tried for them. */
void nd4c_scopes_cut(nd4c_scopes *scopes, int32_t count);
nd4c_status nd4c_scopes_pop(nd4c_scopes *scopes);
void nd4c_scopes_free(nd4c_scopes *scopes);

#endif
