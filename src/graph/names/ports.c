/* Implements ports.h. graph.c adds a port for each input and output, variables.c one for each
 * variable, and clone.c copies them. */
#include "graph/names/ports.h"

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

static uint32_t name_hash(const char *name) {
  uint32_t hash = 2166136261u;
  for (; *name != '\0'; name++) {
    hash = (hash ^ (unsigned char)*name) * 16777619u;
  }
  return hash;
}

/* The cell that holds `name`, or the free cell where it belongs. */
static int32_t *find_cell(const nd4c_graph_ports *ports, const char *name) {
  uint32_t mask = (uint32_t)ports->table_size - 1;
  uint32_t cell = name_hash(name) & mask;
  while (ports->table[cell] != 0 && strcmp(ports->items[ports->table[cell] - 1].name, name) != 0) {
    cell = (cell + 1) & mask;
  }
  return &ports->table[cell];
}

static void fill_table(nd4c_graph_ports *ports) {
  for (int32_t i = 0; i < ports->count; i++) {
    *find_cell(ports, ports->items[i].name) = i + 1;
  }
}

static nd4c_status grow_table(nd4c_graph_ports *ports) {
  if (ports->count < ports->table_size / 2) {
    return ND4C_OK;
  }
  int32_t size = ports->table_size == 0 ? 32 : ports->table_size * 2;
  int32_t *table = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)size, sizeof *table, "names of a graph", &table));
  nd4c_deallocate(ports->table);
  ports->table = table;
  ports->table_size = size;
  fill_table(ports);
  return ND4C_OK;
}

nd4c_status nd4c_ports_add(nd4c_graph_ports *ports, nd4c_region *region, const char *what, const char *name,
                           nd4c_value value) {
  if (name == NULL || name[0] == '\0') {
    return nd4c_fail(name == NULL ? ND4C_NULL_ARGUMENT : ND4C_NAME, "graph: an %s needs a name", what);
  }
  if (ports->count >= INT32_MAX / 4) {
    return nd4c_fail(ND4C_OVERFLOW, "graph: too many %ss", what);
  }
  ND4C_TRY(grow_table(ports));
  int32_t *cell = find_cell(ports, name);
  if (*cell != 0) {
    return nd4c_fail(ND4C_NAME, "graph: there is already an %s named '%s'", what, name);
  }
  ND4C_TRY(nd4c_grow(&ports->items, &ports->capacity, ports->count + 1, sizeof *ports->items, "names of a graph"));
  const char *copy = nd4c_region_text(region, name);
  if (copy == NULL) {
    return nd4c_error_code();
  }
  ports->items[ports->count] = (nd4c_graph_port){.name = copy, .value = value};
  ports->count++;
  *cell = ports->count;
  return ND4C_OK;
}

int32_t nd4c_ports_find(const nd4c_graph_ports *ports, const char *name) {
  return ports->count == 0 ? -1 : *find_cell(ports, name) - 1;
}

void nd4c_ports_cut(nd4c_graph_ports *ports, int32_t count) {
  if (count < ports->count) {
    ports->count = count;
    memset(ports->table, 0, (size_t)ports->table_size * sizeof *ports->table);
    fill_table(ports);
  }
}

void nd4c_ports_free(nd4c_graph_ports *ports) {
  nd4c_deallocate(ports->items);
  nd4c_deallocate(ports->table);
}
