/* Implements loops.h: the list of plans, and what they were made for. */
#include "import/onnx/emission/loops.h"

#include <inttypes.h>
#include <string.h>

#include "array/array.h"
#include "array/shape.h"
#include "base/alloc.h"
#include "base/config/config.h"
#include "base/status.h"
#include "graph/modes/mode.h"
#include "import/onnx/importer.h"

/* Loops that have other shapes in nearly every run get this many times as many plans as are kept of one; then one for
 * so many runs, since shapes may settle. */
enum { FRUITLESS = 4, PATIENCE = 64 };

void nd4c_onnx_loops_init(nd4c_onnx_loops *loops,
                          nd4c_status (*make)(void *, nd4c_context *, const nd4c_graph *, nd4c_plan **), void *user) {
  *loops = (nd4c_onnx_loops){.make = make, .user = user};
  nd4c_lock_init(&loops->lock);
}

void nd4c_onnx_loop_free(nd4c_onnx_loop *loop) {
  nd4c_plan_destroy(loop->plan);
  nd4c_region_free(&loop->region);
  nd4c_deallocate(loop);
}

void nd4c_onnx_loops_free(nd4c_onnx_loops *loops) {
  while (loops->first != NULL) {
    nd4c_onnx_loop *next = loops->first->next;
    nd4c_onnx_loop_free(loops->first);
    loops->first = next;
  }
  nd4c_lock_destroy(&loops->lock);
}

/* -- what a plan serves -------------------------------------------------------------------------------------------- */

bool nd4c_onnx_loop_calls(const nd4c_onnx_emission *emission, nd4c_onnx_loop *loop) {
  const nd4c_onnx_call *call = emission->scope->call;
  for (loop->call_count = 0; call != NULL; call = call->scope->call) {
    if (loop->call_count == ND4C_ONNX_LOOP_CALLS) {
      return false;
    }
    loop->calls[loop->call_count++] = call->node;
  }
  return true;
}

nd4c_array *nd4c_onnx_loop_array(const nd4c_onnx_emission *emission, const nd4c_onnx_loop_read *read) {
  const nd4c_onnx_scope *scope = emission->scope;
  for (int32_t i = read->levels; i > 0; i--) {
    scope = scope->outer;
  }
  return nd4c_onnx_constant_array(emission, scope->environment[read->number]);
}

bool nd4c_onnx_loop_numbers(const nd4c_array *array, nd4c_onnx_loop_read *read) {
  union {
    int64_t i64[ND4C_ONNX_LOOP_NUMBERS];
    int32_t i32[ND4C_ONNX_LOOP_NUMBERS];
    uint8_t bools[ND4C_ONNX_LOOP_NUMBERS];
  } data;
  const int64_t size = array->size;
  const bool taken = array->dtype == ND4C_INT64 || array->dtype == ND4C_INT32 || array->dtype == ND4C_BOOL;
  if (!taken || size > ND4C_ONNX_LOOP_NUMBERS ||
      nd4c_array_read(array, &data, (size_t)nd4c_dtype_bytes(array->dtype, size)) != ND4C_OK) {
    return false;
  }
  for (int64_t i = 0; i < size; i++) {
    read->numbers[i] = array->dtype == ND4C_INT64   ? data.i64[i]
                       : array->dtype == ND4C_INT32 ? data.i32[i]
                                                    : data.bools[i];
  }
  read->count = (int32_t)size;
  return true;
}

static bool is_at(const nd4c_onnx_loop *loop, const nd4c_onnx_loop *place) {
  return loop->node == place->node && loop->call_count == place->call_count &&
         memcmp((const void *)loop->calls, (const void *)place->calls,
                (size_t)loop->call_count * sizeof *loop->calls) == 0;
}

static bool port_fits(const nd4c_onnx_loop_port *port, const nd4c_array *array) {
  bool fits = array != NULL && array->dtype == port->dtype && array->rank == port->rank;
  for (int32_t i = 0; fits && i < port->rank; i++) {
    fits = (port->free >> i & 1) != 0 || array->shape[i] == port->shape[i];
  }
  return fits;
}

static bool serves(const nd4c_onnx_loop *loop, const nd4c_onnx_emission *emission) {
  bool fits = true;
  for (int32_t i = 0; i < loop->carried && fits; i++) {
    fits = port_fits(&loop->ports[i], nd4c_onnx_constant_array(emission, emission->inputs[2 + i]));
  }
  for (int32_t i = 0; i < loop->read_count && fits; i++) {
    const nd4c_onnx_loop_read *read = &loop->reads[i];
    const nd4c_array *array = nd4c_onnx_loop_array(emission, read);
    nd4c_onnx_loop_read now;
    fits = port_fits(&loop->ports[loop->carried + i], array);
    fits = fits &&
           (!read->is_baked || (nd4c_onnx_loop_numbers(array, &now) &&
                                memcmp(now.numbers, read->numbers, (size_t)read->count * sizeof *now.numbers) == 0));
  }
  return fits;
}

/* -- the list ------------------------------------------------------------------------------------------------------ */

/* An entry that serves, which moves to the front and has one user more; NULL: there is none. Under the lock. */
static nd4c_onnx_loop *take(nd4c_onnx_loops *loops, const nd4c_onnx_emission *emission, const nd4c_onnx_loop *place) {
  nd4c_onnx_loop **link = &loops->first;
  while (*link != NULL && !(is_at(*link, place) && serves(*link, emission))) {
    link = &(*link)->next;
  }
  nd4c_onnx_loop *found = *link;
  if (found != NULL) {
    *link = found->next;
    found->next = loops->first;
    loops->first = found;
    found->users++;
  }
  return found;
}

nd4c_onnx_loop *nd4c_onnx_loops_find(nd4c_onnx_loops *loops, const nd4c_onnx_emission *emission, bool *refused) {
  nd4c_onnx_loop place = {.node = emission->node};
  *refused = !nd4c_onnx_loop_calls(emission, &place);
  if (*refused) {
    return NULL;
  }
  const int64_t most = FRUITLESS * nd4c_config_int(ND4C_CONFIG_PLAN_CACHE);
  nd4c_lock_acquire(&loops->lock);
  nd4c_onnx_loop *found = take(loops, emission, &place);
  loops->found += found != NULL;
  *refused = found == NULL && loops->made >= most && loops->found < loops->made;
  loops->refused += *refused;
  *refused = *refused && loops->refused % PATIENCE != 0;
  nd4c_lock_release(&loops->lock);
  return found;
}

/* Keeps as many plans of one node as a model keeps for its shapes; returns the others that no thread uses, as a list.
 * Under the lock. */
static nd4c_onnx_loop *trim(nd4c_onnx_loops *loops, const nd4c_onnx_loop *added) {
  const int64_t most = nd4c_config_int(ND4C_CONFIG_PLAN_CACHE);
  int64_t seen = 0;
  nd4c_onnx_loop *unused = NULL;
  for (nd4c_onnx_loop **link = &loops->first; *link != NULL;) {
    nd4c_onnx_loop *loop = *link;
    seen += is_at(loop, added);
    if (!is_at(loop, added) || seen <= most || loop == added) {
      link = &loop->next;
      continue;
    }
    *link = loop->next;
    loop->dropped = true;
    if (loop->users == 0) {
      loop->next = unused;
      unused = loop;
    }
  }
  return unused;
}

nd4c_onnx_loop *nd4c_onnx_loops_add(nd4c_onnx_loops *loops, const nd4c_onnx_emission *emission, nd4c_onnx_loop *loop) {
  nd4c_onnx_loop *unused = loop;
  nd4c_lock_acquire(&loops->lock);
  nd4c_onnx_loop *kept = take(loops, emission, loop);
  loops->made++;
  if (kept == NULL) {
    kept = loop;
    loop->users = 1;
    loop->next = loops->first;
    loops->first = loop;
    unused = trim(loops, loop);
  }
  nd4c_lock_release(&loops->lock);
  while (unused != NULL) {
    nd4c_onnx_loop *next = unused->next;
    nd4c_onnx_loop_free(unused);
    unused = next;
  }
  return kept;
}

void nd4c_onnx_loops_leave(nd4c_onnx_loops *loops, nd4c_onnx_loop *loop) {
  nd4c_lock_acquire(&loops->lock);
  const bool last = --loop->users == 0 && loop->dropped;
  nd4c_lock_release(&loops->lock);
  if (last) {
    nd4c_onnx_loop_free(loop);
  }
}

/* -- the report ---------------------------------------------------------------------------------------------------- */

static void tell_ports(const nd4c_onnx_loop *loop, nd4c_text *text) {
  enum { SHOWN = 4 };
  for (int32_t i = 0; i < loop->carried && i < SHOWN; i++) {
    const nd4c_onnx_loop_port *port = &loop->ports[i];
    nd4c_text_print(text, "%s%s [", i == 0 ? ", carries " : ", ", nd4c_dtype_name(port->dtype));
    for (int32_t k = 0; k < port->rank; k++) {
      nd4c_text_print(text, "%s", k == 0 ? "" : ", ");
      if ((port->free >> k & 1) != 0) {
        nd4c_text_print(text, "?");
      } else {
        nd4c_text_print(text, "%" PRId64, port->shape[k]);
      }
    }
    nd4c_text_print(text, "]");
  }
  if (loop->carried > SHOWN) {
    nd4c_text_print(text, " and %d more", (int)(loop->carried - SHOWN));
  }
}

static void tell_loop(const nd4c_onnx_loop *loop, nd4c_text *text) {
  const nd4c_onnx_node_text node = nd4c_onnx_node_show(loop->node);
  if (loop->plan == NULL) {
    const bool named = strncmp(loop->why, node.text, strlen(node.text)) == 0;
    nd4c_text_print(text, "rounds interpreted: %s%s%s\n", named ? "" : node.text, named ? "" : ": ", loop->why);
    return;
  }
  nd4c_text_print(text, "rounds in a plan: %s: ", node.text);
  if (loop->plan->dynamic != NULL) {
    nd4c_text_print(text, "%d nodes a round, bound anew when a shape changes", (int)loop->plan->graph->node_count);
  } else {
    nd4c_text_print(text, "%d steps a round in mode %s", (int)loop->plan->step_count, nd4c_plan_mode_name(loop->plan));
  }
  tell_ports(loop, text);
  const int64_t unserved = atomic_load(&loop->unserved);
  if (unserved > 0) {
    nd4c_text_print(text, "; runs that it did not serve, which were interpreted: %" PRId64, unserved);
  }
  nd4c_text_print(text, "\n");
}

void nd4c_onnx_loops_tell(nd4c_onnx_loops *loops, nd4c_text *text) {
  nd4c_lock_acquire(&loops->lock);
  for (const nd4c_onnx_loop *loop = loops->first; loop != NULL; loop = loop->next) {
    tell_loop(loop, text);
  }
  if (loops->refused > 0) {
    nd4c_text_print(text, "loops were interpreted in so many runs, since nearly each had other shapes: %" PRId64 "\n",
                    loops->refused);
  }
  nd4c_lock_release(&loops->lock);
}
