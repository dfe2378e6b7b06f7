/* Implements the part of table.h that looks at graphs: names of values, layers, and the fingerprint of their weights.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "graph/calibration/table.h"

/* -- layers -------------------------------------------------------------------------------------------------------- */

bool nd4c_calibration_is_layer(const nd4c_graph *graph, const nd4c_graph_node *node) {
  const nd4c_op op = node->def == NULL ? ND4C_OP_copy : node->def->info.op;
  if (op != ND4C_OP_conv && op != ND4C_OP_linear && op != ND4C_OP_matmul) {
    return false;
  }
  const nd4c_graph_value *x = &graph->values[node->inputs[0]], *w = &graph->values[node->inputs[1]];
  return x->dtype == ND4C_FLOAT32 && x->constant == NULL && w->dtype == ND4C_FLOAT32 && w->constant != NULL &&
         nd4c_graph_is_fixed(graph, node->inputs[1]) && (op == ND4C_OP_conv ? w->rank >= 3 : w->rank == 2) &&
         x->rank >= 2;
}

int32_t nd4c_calibration_output_axis(const nd4c_graph_node *node) {
  switch (node->def->info.op) {
    case ND4C_OP_conv:
      return 0;
    case ND4C_OP_linear:
      return node->attrs[ND4C_ATTR_linear_transpose_w].as.i != 0 ? 0 : 1;
    default:
      return 1;
  }
}

/* -- the fingerprint ----------------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t digest, uint64_t number) {
  digest = (digest ^ number) * UINT64_C(0x9e3779b97f4a7c15);
  return digest ^ (digest >> 29);
}

static nd4c_status digest_weights(const nd4c_array *array, uint64_t *digest) {
  enum { ELEMENTS = 16 };
  *digest = mix(1, (uint64_t)array->rank);
  for (int32_t i = 0; i < array->rank; i++) {
    *digest = mix(*digest, (uint64_t)array->shape[i]);
  }
  for (int64_t i = 0; i < ELEMENTS && array->size > 0; i++) {
    int64_t index[ND4C_MAX_RANK] = {0}, at = i * (array->size - 1) / (ELEMENTS - 1);
    for (int32_t axis = array->rank - 1; axis >= 0; axis--) {
      index[axis] = at % array->shape[axis];
      at /= array->shape[axis];
    }
    double number = 0;
    uint64_t bits = 0;
    ND4C_TRY(nd4c_array_item(array, index, &number));
    memcpy(&bits, &number, sizeof bits);
    *digest = mix(*digest, bits);
  }
  return ND4C_OK;
}

nd4c_status nd4c_calibration_fingerprint(const nd4c_graph *graph, uint64_t *fingerprint) {
  uint64_t sum = 0;
  for (int32_t i = 0; i < graph->node_count; i++) {
    const nd4c_graph_node *node = &graph->nodes[i];
    if (nd4c_calibration_is_layer(graph, node)) {
      uint64_t digest = 0;
      ND4C_TRY(digest_weights(graph->values[node->inputs[1]].constant, &digest));
      sum += mix(digest, (uint64_t)node->def->info.op);
    }
  }
  *fingerprint = sum;
  return ND4C_OK;
}

/* -- names --------------------------------------------------------------------------------------------------------- */

/* The names that are given: open addressing. */
typedef struct name_entry {
  const char *name; /* NULL: free */
  int32_t next;     /* the number to try for the next value of this name */
} name_entry;

typedef struct name_set {
  nd4c_region *region;
  name_entry *entries;
  uint32_t size; /* a power of two, more than twice the names */
} name_set;

static uint64_t digest_text(const char *text) {
  uint64_t digest = 1;
  for (const char *c = text; *c != '\0'; c++) {
    digest = mix(digest, (unsigned char)*c);
  }
  return digest;
}

static name_entry *find(const name_set *set, const char *name) {
  uint32_t at = (uint32_t)digest_text(name) & (set->size - 1);
  while (set->entries[at].name != NULL && strcmp(set->entries[at].name, name) != 0) {
    at = (at + 1) & (set->size - 1);
  }
  return &set->entries[at];
}

/* A copy of the text or, if it is given already, the text with the first free number behind it. */
static nd4c_status give_name(name_set *set, const char *text, const char **name) {
  name_entry *entry = find(set, text), *first = entry;
  const size_t size = strlen(text) + 16;
  char *made = NULL;
  ND4C_TRY(nd4c_region_make(set->region, (int64_t)size, 1, &made));
  (void)snprintf(made, size, "%s", text);
  while (entry->name != NULL) {
    (void)snprintf(made, size, "%s#%d", text, ++first->next);
    entry = find(set, made);
  }
  *entry = (name_entry){made, 1};
  *name = made;
  return ND4C_OK;
}

/* The name of a value of the recorded graph; NULL: a pass added the value, or it had none. */
static const char *recorded_name(const nd4c_calibration_recorded *recorded, nd4c_value value) {
  return recorded != NULL && value < recorded->count ? recorded->names[value] : NULL;
}

/* For a node that a pass added: its op with the name of the first value that it reads, "multiply(x)". A number would
 * depend on what else the passes did. */
static const char *describe_added(const nd4c_graph_node *node, const char *const *names, char *room, size_t size) {
  enum { SHOWN = 180 };
  for (int32_t i = 0; i < node->input_count; i++) {
    const char *read = node->inputs[i] < 0 ? NULL : names[node->inputs[i]];
    if (read != NULL && strlen(read) > SHOWN) {
      (void)snprintf(room, size, "%s(%016" PRIx64 ")", node->def->info.name, digest_text(read));
      return room;
    }
    if (read != NULL) {
      (void)snprintf(room, size, "%s(%s)", node->def->info.name, read);
      return room;
    }
  }
  return node->def->info.name;
}

static nd4c_status name_node(const nd4c_graph_node *node, const nd4c_calibration_recorded *recorded, name_set *set,
                             const char **names) {
  const nd4c_value value = node->outputs[0];
  const char *text = recorded_name(recorded, value);
  char room[256];
  if (text == NULL) {
    text = node->label[0] != '\0' ? node->label
           : recorded == NULL     ? node->def->info.name
                                  : describe_added(node, names, room, sizeof room);
  }
  return give_name(set, text, &names[value]);
}

static nd4c_status name_values(const nd4c_graph *graph, const nd4c_calibration_recorded *recorded, name_set *set,
                               const char **names) {
  for (int32_t i = 0; i < graph->inputs.count; i++) {
    const nd4c_value value = graph->inputs.items[i].value;
    if (graph->values[value].dtype == ND4C_FLOAT32) {
      ND4C_TRY(give_name(set, graph->inputs.items[i].name, &names[value]));
    }
  }
  for (int32_t added = 0; added < 2; added++) { /* added ones do not take the names of others away */
    for (int32_t i = 0; i < graph->node_count; i++) {
      const nd4c_graph_node *node = &graph->nodes[i];
      const nd4c_value value = node->def == NULL ? ND4C_VALUE_NONE : node->outputs[0];
      if (value >= 0 && graph->values[value].dtype == ND4C_FLOAT32 &&
          (recorded_name(recorded, value) == NULL) == (added == 1)) {
        ND4C_TRY(name_node(node, recorded, set, names));
      }
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_calibration_names(const nd4c_graph *graph, const nd4c_calibration_recorded *recorded,
                                   nd4c_region *region, const char ***names) {
  name_set set = {.region = region, .size = 16};
  while (set.size < 2 * ((uint32_t)graph->node_count + (uint32_t)graph->inputs.count) + 1) {
    set.size *= 2;
  }
  ND4C_TRY(nd4c_region_make(region, graph->value_count, sizeof **names, names));
  ND4C_TRY(nd4c_region_make(region, set.size, sizeof *set.entries, &set.entries));
  return name_values(graph, recorded, &set, *names);
}
