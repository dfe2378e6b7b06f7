/* Implements grouping.h by a depth-first visit. graph/plan/partition.c and device/provider/answer.c call its one
 * function. */
#include "base/grouping.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

/* A unit is a group or a node by itself: groups first, then nodes. Units are visited depth first, with an explicit
 * stack because a graph may be as deep as it has nodes. */
typedef enum unit_state { NEW, OPEN, DONE } unit_state;

typedef struct walk {
  const nd4c_grouping *grouping;
  int32_t *first_member, *next_member; /* by unit, by node; -1: the end */
  int32_t *member, *edge;              /* by unit: how far the visit is */
  int32_t *stack;
  unsigned char *state;
  int32_t depth, written;
  int32_t *order;
} walk;

static int32_t unit_of(const nd4c_grouping *grouping, int32_t node) {
  return grouping->group_of[node] >= 0 ? grouping->group_of[node] : grouping->group_count + node;
}

/* Units' members, each list in the order of the nodes. */
static void list_members(const walk *w) {
  int32_t units = w->grouping->group_count + w->grouping->count;
  for (int32_t i = 0; i < units; i++) {
    w->first_member[i] = -1;
  }
  for (int32_t i = w->grouping->count - 1; i >= 0; i--) {
    int32_t unit = unit_of(w->grouping, i);
    w->next_member[i] = w->first_member[unit];
    w->first_member[unit] = i;
  }
}

static void open_unit(walk *w, int32_t unit) {
  w->state[unit] = OPEN;
  w->member[unit] = w->first_member[unit];
  w->edge[unit] = w->grouping->first_before[w->member[unit]];
  w->stack[w->depth++] = unit;
}

/* The next unfinished unit that must come before this one; -1: none is left. */
static int32_t next_before(walk *w, int32_t unit) {
  const nd4c_grouping *g = w->grouping;
  while (w->member[unit] >= 0) {
    int32_t node = w->member[unit];
    while (w->edge[unit] < g->first_before[node + 1]) {
      int32_t other = unit_of(g, g->before[w->edge[unit]++]);
      if (other != unit && w->state[other] != DONE) {
        return other;
      }
    }
    w->member[unit] = w->next_member[node];
    if (w->member[unit] >= 0) {
      w->edge[unit] = g->first_before[w->member[unit]];
    }
  }
  return -1;
}

static void close_unit(walk *w, int32_t unit) {
  for (int32_t node = w->first_member[unit]; node >= 0; node = w->next_member[node]) {
    w->order[w->written++] = node;
  }
  w->state[unit] = DONE;
  w->depth--;
}

/* The open group that the visit has met again; it is further up the stack. */
static int32_t find_crossed(const walk *w, int32_t unit) {
  for (int32_t i = w->depth - 1; i >= 0; i--) {
    if (w->stack[i] < w->grouping->group_count) {
      return w->stack[i];
    }
    if (w->stack[i] == unit) {
      break;
    }
  }
  return unit < w->grouping->group_count ? unit : 0;
}

static int32_t visit_all(walk *w) {
  for (int32_t i = 0; i < w->grouping->count; i++) {
    int32_t root = unit_of(w->grouping, i);
    if (w->state[root] == NEW) {
      open_unit(w, root);
    }
    while (w->depth > 0) {
      int32_t unit = w->stack[w->depth - 1], before = next_before(w, unit);
      if (before < 0) {
        close_unit(w, unit);
      } else if (w->state[before] == OPEN) {
        return find_crossed(w, before);
      } else {
        open_unit(w, before);
      }
    }
  }
  return -1;
}

nd4c_status nd4c_grouping_order(const nd4c_grouping *grouping, int32_t *order, int32_t *crossed) {
  *crossed = -1;
  size_t units = (size_t)grouping->group_count + (size_t)grouping->count;
  size_t bytes = (4 * units + (size_t)grouping->count + 1) * sizeof(int32_t) + units;
  int32_t *memory = nd4c_allocate(bytes);
  if (memory == NULL) {
    return nd4c_fail_memory("an order of nodes", bytes);
  }
  walk w = {.grouping = grouping,
            .first_member = memory,
            .member = memory + units,
            .edge = memory + 2 * units,
            .stack = memory + 3 * units,
            .next_member = memory + 4 * units,
            .order = order};
  w.state = (unsigned char *)(w.next_member + grouping->count + 1);
  memset(w.state, NEW, units);
  list_members(&w);
  *crossed = visit_all(&w);
  nd4c_deallocate(memory);
  return ND4C_OK;
}
