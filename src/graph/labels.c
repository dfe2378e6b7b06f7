/* The functions of nd4c/names.h, which programs call; import/model_graph.c sets metadata by them. */
#include "base/alloc.h"
#include "base/status.h"
#include "graph/ir/graph.h"
#include "graph/names/notes.h"
#include "graph/names/scopes.h"

#include <string.h>

enum { SHOWN = 200 };

/* -- scopes -------------------------------------------------------------------------------------------------------- */

/* Takes the labels that the graph has already. */
static nd4c_status make_scopes(nd4c_graph *graph) {
  nd4c_scopes *made = NULL;
  nd4c_status status = nd4c_allocate_or_fail(1, sizeof *made, "scopes of a graph", &made);
  for (int32_t i = 0; i < graph->node_count && status == ND4C_OK; i++) {
    status = nd4c_scopes_take(made, &graph->region, graph->nodes[i].label);
  }
  if (status != ND4C_OK) {
    nd4c_scopes_free(made);
    return status;
  }
  graph->scopes = made;
  return ND4C_OK;
}

nd4c_status nd4c_graph_push_scope(nd4c_graph *graph, const char *name) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (name == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_push_scope: name is NULL");
  }
  if (name[0] == '\0' || strchr(name, '/') != NULL) {
    return nd4c_fail(ND4C_NAME, "nd4c_graph_push_scope: '%.*s' is no name of a scope: it %s", SHOWN, name,
                     name[0] == '\0' ? "is empty" : "has a '/'");
  }
  if (graph->scopes == NULL) {
    ND4C_TRY(make_scopes(graph));
  }
  return nd4c_scopes_push(graph->scopes, &graph->region, name);
}

nd4c_status nd4c_graph_pop_scope(nd4c_graph *graph) {
  ND4C_TRY(nd4c_graph_check(graph));
  return nd4c_scopes_pop(graph->scopes);
}

const char *nd4c_graph_scope(const nd4c_graph *graph) {
  return graph == NULL || nd4c_graph_check(graph) != ND4C_OK ? "" : nd4c_scopes_path(graph->scopes);
}

/* -- labels -------------------------------------------------------------------------------------------------------- */

static nd4c_status check_node(const nd4c_graph *graph, int32_t index, const char *what) {
  return index >= 0 && index < graph->node_count
             ? ND4C_OK
             : nd4c_fail(ND4C_INDEX, "%s: the graph has %d nodes, not one number %d", what, (int)graph->node_count,
                         (int)index);
}

int32_t nd4c_graph_find_node(const nd4c_graph *graph, const char *label) {
  if (graph == NULL || label == NULL || nd4c_graph_check(graph) != ND4C_OK) {
    return -1;
  }
  for (int32_t i = 0; i < graph->node_count; i++) {
    if (strcmp(graph->nodes[i].label, label) == 0) {
      return i;
    }
  }
  return -1;
}

nd4c_status nd4c_graph_set_label(nd4c_graph *graph, int32_t index, const char *label) {
  ND4C_TRY(nd4c_graph_check(graph));
  ND4C_TRY(check_node(graph, index, "nd4c_graph_set_label"));
  if (label == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_set_label: label is NULL");
  }
  for (int32_t i = 0; i < graph->node_count && label[0] != '\0'; i++) {
    if (i != index && strcmp(graph->nodes[i].label, label) == 0) {
      return nd4c_fail(ND4C_NAME, "nd4c_graph_set_label: node %d (%s) has the label '%.*s'", (int)i,
                       graph->nodes[i].def->info.name, SHOWN, label);
    }
  }
  const char *copy = nd4c_region_text(&graph->region, label);
  if (copy == NULL) {
    return nd4c_error_code();
  }
  if (graph->scopes != NULL) {
    ND4C_TRY(nd4c_scopes_take(graph->scopes, &graph->region, copy));
  }
  graph->nodes[index].label = copy;
  return ND4C_OK;
}

/* -- metadata ------------------------------------------------------------------------------------------------------ */

nd4c_status nd4c_graph_set_metadata(nd4c_graph *graph, int32_t node, const char *key, const char *value) {
  static const char what[] = "nd4c_graph_set_metadata";
  ND4C_TRY(nd4c_graph_check(graph));
  if (key == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: key is NULL", what);
  }
  if (node != ND4C_GRAPH_ITSELF) {
    ND4C_TRY(check_node(graph, node, what));
  }
  return nd4c_notes_set(node == ND4C_GRAPH_ITSELF ? &graph->notes : &graph->nodes[node].notes, &graph->region, what,
                        key, value);
}

static const nd4c_note *notes_of(const nd4c_graph *graph, int32_t node) {
  if (graph == NULL || nd4c_graph_check(graph) != ND4C_OK || node < ND4C_GRAPH_ITSELF || node >= graph->node_count) {
    return NULL;
  }
  return node == ND4C_GRAPH_ITSELF ? graph->notes : graph->nodes[node].notes;
}

const char *nd4c_graph_metadata(const nd4c_graph *graph, int32_t node, const char *key) {
  const nd4c_note *found = key == NULL ? NULL : nd4c_notes_find(notes_of(graph, node), key);
  return found != NULL ? found->value : NULL;
}

int32_t nd4c_graph_metadata_count(const nd4c_graph *graph, int32_t node) {
  int32_t count = 0;
  for (const nd4c_note *note = notes_of(graph, node); note != NULL; note = note->next) {
    count++;
  }
  return count;
}

nd4c_status nd4c_graph_metadata_at(const nd4c_graph *graph, int32_t node, int32_t index, const char **key,
                                   const char **value) {
  ND4C_TRY(nd4c_graph_check(graph));
  if (key == NULL || value == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_graph_metadata_at: %s is NULL", key == NULL ? "key" : "value");
  }
  const nd4c_note *note = notes_of(graph, node);
  for (int32_t i = 0; i < index && note != NULL; i++) {
    note = note->next;
  }
  if (index < 0 || note == NULL) {
    return nd4c_fail(ND4C_INDEX, "nd4c_graph_metadata_at: there are %d pairs, not one number %d",
                     (int)nd4c_graph_metadata_count(graph, node), (int)index);
  }
  *key = note->key;
  *value = note->value;
  return ND4C_OK;
}
