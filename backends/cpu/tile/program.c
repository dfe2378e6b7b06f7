/* Compiles a piece to a program: a step for each node, and registers, each of which holds a tile of values, for its
 * intermediate results. compiler.c calls it. */
#include "backends/cpu/tile/tile.h"

enum { VALUES = ND4C_TILE_SLOTS };

typedef struct assembly {
  const nd4c_segment *piece;
  nd4c_tile_program *program;
  int32_t slot_of[VALUES];  /* by value */
  int32_t reg_of[VALUES];   /* by value: the register that holds it, -1: none */
  int32_t last_use[VALUES]; /* by value: the last node that reads it; -1: none */
  int32_t free[VALUES];     /* registers, the last one is the next to be taken */
  int32_t free_count;
  bool certain[VALUES]; /* by register: it is used however the operands lie */
} assembly;

/* The number of steps cannot exceed nodes and ports. */
static nd4c_tile_program *allocate(const nd4c_segment *piece) {
  const size_t ports = (size_t)piece->input_count + (size_t)piece->output_count;
  const size_t steps = (size_t)piece->node_count + ports;
  const size_t chain = 3 * (size_t)piece->node_count + 1; /* a load, a node, a store */
  nd4c_tile_program *program =
      nd4c_cpu_host->allocate(sizeof *program + steps * sizeof *program->steps + 2 * chain * sizeof **program->chains +
                              ports * sizeof *program->ports);
  if (program != NULL) {
    program->steps = (nd4c_tile_step *)(program + 1);
    program->chains[0] = (nd4c_chain_step *)(program->steps + steps);
    program->chains[1] = program->chains[0] + chain;
    program->ports = (nd4c_tile_port *)(program->chains[1] + chain); /* last: it needs the least alignment */
    program->input_count = piece->input_count;
    program->output_count = piece->output_count;
  }
  return program;
}

static const nd4c_tensor *output_of(const nd4c_segment *piece, int32_t node) {
  return &piece->nodes[node]->outputs[0];
}

/* -- registers ----------------------------------------------------------------------------------------------------- */

static int32_t take_register(assembly *work, int32_t value, bool certain) {
  const int32_t reg = work->free_count > 0 ? work->free[--work->free_count] : work->program->register_count++;
  work->reg_of[value] = reg;
  work->certain[reg] = work->certain[reg] || certain;
  return reg;
}

/* Frees the value's register if `node` is the last one to read it, or if no node does. */
static void let_go(assembly *work, int32_t value, int32_t node) {
  if (value >= 0 && work->last_use[value] <= node && work->reg_of[value] >= 0) {
    work->free[work->free_count++] = work->reg_of[value];
    work->reg_of[value] = -1;
  }
}

/* Whether the loop may write its result over this operand. */
static bool may_overwrite(const nd4c_segment *piece, int32_t node, const nd4c_simd_element *element, int32_t operand) {
  const nd4c_call *call = piece->nodes[node];
  const int32_t *values = piece->node_inputs[node];
  const int32_t most = element->kind == ND4C_SIMD_BINARY ? 2 : 1;
  if (element->kind == ND4C_SIMD_CAST || element->kind == ND4C_SIMD_WHERE || operand >= most) {
    return false;
  }
  for (int32_t k = most; k < call->input_count; k++) {
    if (values[k] == values[operand]) {
      return false; /* a bound, which is read for each element */
    }
  }
  return nd4c_cpu_dtype_bytes(call->inputs[operand].dtype) == nd4c_cpu_dtype_bytes(call->outputs[0].dtype);
}

/* -- steps --------------------------------------------------------------------------------------------------------- */

static nd4c_tile_step *add_step(nd4c_tile_program *program, nd4c_tile_action action, int32_t slot) {
  nd4c_tile_step *step = &program->steps[program->step_count++];
  step->action = action;
  step->slot = slot;
  return step;
}

/* Whether the loop cannot read operand `k` as one element that stands for all. */
static bool wants_elements(const nd4c_simd_element *element, const int32_t *values, int32_t k) {
  if (element->kind == ND4C_SIMD_BINARY) {
    return values[0] == values[1] || (k == 0 ? element->binary->second : element->binary->first) == NULL;
  }
  return element->kind != ND4C_SIMD_CLIP || k == 0;
}

static void add_loads(assembly *work, int32_t node, const nd4c_simd_element *element) {
  const nd4c_call *call = work->piece->nodes[node];
  const int32_t *values = work->piece->node_inputs[node];
  for (int32_t k = 0; k < call->input_count; k++) {
    const int32_t value = values[k];
    if (value < 0 || value >= work->program->input_count) {
      continue;
    }
    nd4c_tile_port *port = &work->program->ports[value];
    port->needs_elements = port->needs_elements || wants_elements(element, values, k);
    if (port->bytes == 0) { /* the first node that reads it */
      port->bytes = nd4c_cpu_dtype_bytes(call->inputs[k].dtype);
      port->reach = nd4c_tile_reach_of(&call->inputs[k], work->program->size);
      const bool gathered = port->reach == ND4C_TILE_PART || (port->reach == ND4C_TILE_ONE && port->needs_elements);
      port->reg = take_register(work, value, gathered);
      add_step(work->program, ND4C_TILE_LOAD, value);
    }
  }
}

/* A tail writes its result itself, once it has the whole run. */
static void add_tail(assembly *work, int32_t node, const nd4c_tile_tail *tail) {
  nd4c_tile_program *program = work->program;
  const nd4c_call *call = work->piece->nodes[node];
  const int32_t value = work->piece->node_inputs[node][0], result = work->piece->node_outputs[node][0];
  const int32_t bytes = nd4c_cpu_dtype_bytes(call->inputs[0].dtype);
  if (work->slot_of[result] < 0) {
    let_go(work, value, node);
    return; /* nothing reads it */
  }
  if (value < program->input_count) {
    nd4c_tile_port *port = &program->ports[value];
    port->needs_elements = true;
    if (port->bytes == 0) { /* the first node that reads it */
      port->bytes = bytes;
      port->reg = take_register(work, value, false);
      add_step(program, ND4C_TILE_LOAD, value);
    }
  }
  nd4c_tile_step *step = add_step(program, ND4C_TILE_REDUCE, work->slot_of[result]);
  step->tail = *tail;
  step->tail.index = program->tail_count++;
  step->tail.bytes = bytes;
  step->operands[0] = work->slot_of[value];
  program->ports[step->slot] = (nd4c_tile_port){.bytes = bytes, .is_total = true};
  program->cost += ND4C_TILE_TAIL_COST;
  let_go(work, value, node);
}

static nd4c_status add_node(assembly *work, int32_t node) {
  const nd4c_segment *piece = work->piece;
  nd4c_tile_tail tail;
  if (nd4c_tile_find_tail(piece->nodes[node], &tail)) {
    add_tail(work, node, &tail);
    return ND4C_OK;
  }
  nd4c_tile_program *program = work->program;
  const nd4c_call *call = piece->nodes[node];
  const int32_t *values = piece->node_inputs[node];
  const int32_t result = piece->node_outputs[node][0];
  const bool leaves = work->slot_of[result] >= 0;
  nd4c_simd_element element;
  char reason[128];
  ND4C_CPU_FAIL_IF(!nd4c_simd_find_element(call, &element, reason, sizeof reason), ND4C_UNSUPPORTED, "tile: %s: %s",
                   call->op->name, reason);
  add_loads(work, node, &element);
  nd4c_tile_step *step = add_step(program, ND4C_TILE_COMPUTE, 0);
  step->element = element;
  for (int32_t k = 0; k < ND4C_TILE_OPERANDS; k++) {
    const bool given = k < call->input_count && values[k] >= 0;
    step->operands[k] = given ? work->slot_of[values[k]] : -1;
    if (given && may_overwrite(piece, node, &element, k)) {
      let_go(work, values[k], node);
    }
  }
  const int32_t reg = take_register(work, result, true);
  for (int32_t k = 0; k < call->input_count; k++) {
    let_go(work, values[k], node);
  }
  if (leaves) {
    nd4c_tile_port *port = &program->ports[work->slot_of[result]];
    *port = (nd4c_tile_port){.bytes = nd4c_cpu_dtype_bytes(call->outputs[0].dtype), .reg = reg};
    add_step(program, ND4C_TILE_STORE, work->slot_of[result]);
  } else {
    work->slot_of[result] = program->input_count + program->output_count + reg;
  }
  step->slot = work->slot_of[result];
  program->cost += element.cost;
  let_go(work, result, node);
  return ND4C_OK;
}

/* -- all of it ----------------------------------------------------------------------------------------------------- */

static void find_uses(assembly *work) {
  const nd4c_segment *piece = work->piece;
  for (int32_t i = 0; i < piece->value_count; i++) {
    work->slot_of[i] = i < piece->input_count ? i : -1;
    work->reg_of[i] = work->last_use[i] = -1;
  }
  for (int32_t i = 0; i < piece->output_count; i++) {
    work->slot_of[piece->outputs[i]] = piece->input_count + i;
  }
  for (int32_t i = 0; i < piece->node_count; i++) {
    for (int32_t k = 0; k < piece->nodes[i]->input_count; k++) {
      if (piece->node_inputs[i][k] >= 0) {
        work->last_use[piece->node_inputs[i][k]] = i;
      }
    }
  }
}

/* Elements of a tile: many, so that the start of a loop costs little, but so few that what the program works on stays
 * in the first cache. */
static nd4c_status choose_tile(const assembly *work) {
  nd4c_tile_program *program = work->program;
  int32_t widest = 1, certain = 1;
  for (int32_t i = 0; i < work->piece->node_count; i++) {
    const nd4c_call *call = work->piece->nodes[i];
    for (int32_t k = 0; k <= call->input_count; k++) {
      const nd4c_tensor *x = k < call->input_count ? &call->inputs[k] : output_of(work->piece, i);
      const int32_t bytes = x->dtype == ND4C_DTYPE_NONE ? 0 : nd4c_cpu_dtype_bytes(x->dtype);
      widest = bytes > widest ? bytes : widest;
    }
  }
  for (int32_t i = 0; i < program->register_count; i++) {
    certain += work->certain[i];
  }
  int32_t tile = ND4C_TILE_WORKING_SET / (certain * widest);
  const int32_t most = ND4C_TILE_MEMORY / (program->register_count * widest);
  tile = tile < ND4C_TILE_LEAST ? ND4C_TILE_LEAST : tile > ND4C_TILE_MOST ? ND4C_TILE_MOST : tile;
  tile = tile < most ? tile : most;
  ND4C_CPU_FAIL_IF(tile < ND4C_TILE_LEAST, ND4C_UNSUPPORTED,
                   "tile: %d intermediate results at once, which do not fit the first cache",
                   (int)program->register_count);
  const int32_t block = nd4c_simd.chain->block,
                unit = program->chain_count > 0 && tile >= block ? block : ND4C_TILE_LEAST;
  program->tile = tile - tile % unit;
  program->register_bytes = program->tile * widest;
  return ND4C_OK;
}

/* Whether node `index` gives an output of the piece. */
static bool leaves(const nd4c_segment *piece, int32_t index) {
  bool found = false;
  for (int32_t i = 0; i < piece->output_count && !found; i++) {
    found = piece->outputs[i] == piece->node_outputs[index][0];
  }
  return found;
}

static bool has_tails(const nd4c_segment *piece) {
  bool found = false;
  nd4c_tile_tail tail;
  for (int32_t i = 0; i < piece->node_count && !found; i++) {
    found = nd4c_tile_find_tail(piece->nodes[i], &tail);
  }
  return found;
}

/* The shape of the chain's values, and the length of its tails' runs. partition.c has compared them, but for a plan
 * with dims only in the first binding: in another one, [n, 1] and [n, m] may differ. Values that stay inside are then
 * repeated along m; those that leave the chain cannot be, nor those that tails reduce. */
static nd4c_status find_shape(assembly *work) {
  nd4c_tile_program *program = work->program;
  const nd4c_segment *piece = work->piece;
  const bool tails = has_tails(piece);
  const nd4c_tensor *whole = NULL;
  for (int32_t i = 0; i < piece->node_count; i++) {
    nd4c_tile_tail tail;
    const bool reduces = tails && nd4c_tile_find_tail(piece->nodes[i], &tail);
    const nd4c_tensor *x = reduces ? &piece->nodes[i]->inputs[0] : output_of(piece, i);
    if (!tails && !leaves(piece, i)) {
      continue;
    }
    const int64_t run = reduces ? tail.run : program->run;
    const bool alike = (whole == NULL || nd4c_cpu_same_shape(x, whole)) && (program->run == 0 || program->run == run);
    ND4C_CPU_FAIL_IF(!alike, ND4C_UNSUPPORTED, "tile: values of different shapes leave the chain");
    program->run = run;
    whole = x;
  }
  whole = whole != NULL ? whole : output_of(piece, piece->node_count - 1);
  program->size = whole->size;
  program->rank = whole->rank;
  memcpy(program->shape, whole->shape, (size_t)whole->rank * sizeof *whole->shape);
  return ND4C_OK;
}

static nd4c_status assemble(assembly *work) {
  ND4C_BACKEND_TRY(find_shape(work));
  find_uses(work);
  for (int32_t i = 0; i < work->piece->node_count; i++) {
    ND4C_BACKEND_TRY(add_node(work, i));
  }
  nd4c_tile_list_chain(work->piece, work->program);
  return choose_tile(work);
}

nd4c_status nd4c_tile_compile(const nd4c_segment *piece, nd4c_tile_program **program) {
  assembly work = {.piece = piece};
  const int32_t slots = piece->value_count + piece->output_count;
  ND4C_CPU_FAIL_IF(slots > ND4C_TILE_SLOTS, ND4C_UNSUPPORTED, "tile: %d values, expected %d at most", (int)slots,
                   (int)ND4C_TILE_SLOTS);
  work.program = allocate(piece);
  ND4C_CPU_FAIL_IF(work.program == NULL, ND4C_MEMORY, "tile: no memory for a program of %d nodes",
                   (int)piece->node_count);
  const nd4c_status status = assemble(&work);
  if (status != ND4C_OK) {
    nd4c_tile_release(work.program);
    return status;
  }
  *program = work.program;
  return ND4C_OK;
}

void nd4c_tile_release(nd4c_tile_program *program) {
  nd4c_cpu_host->free(program);
}
