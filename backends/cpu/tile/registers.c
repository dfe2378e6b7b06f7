/* Chains in registers: if kernels/cpu/elementwise/chain.c has steps for all nodes of a program, its values stay in
 * registers from node to node, and only those that are needed again later pass through a small buffer. program.c calls
 * it when it compiles, run.c when a program runs on operands without gaps. */
#include "backends/cpu/tile/tile.h"

typedef struct listing {
  nd4c_tile_program *program;
  int32_t count, running; /* steps; the slot whose value is in the registers, -1: none */
  int32_t outputs;        /* where the slots of outputs begin */
} listing;

static void add(listing *work, nd4c_chain_code code, int32_t slot) {
  const bool output = code == nd4c_simd.chain->store && slot < work->outputs + work->program->output_count;
  work->program->chains[0][work->count] = (nd4c_chain_step){.code = code, .slot = slot};
  work->program->chains[1][work->count] =
      (nd4c_chain_step){.code = output ? nd4c_simd.chain->stream : code, .slot = slot};
  work->count++;
}

static bool is_one(const nd4c_tile_program *program, int32_t slot) {
  return slot < program->input_count && program->ports[slot].reach == ND4C_TILE_ONE;
}

static int32_t unary_index(nd4c_unary_loop loop) {
  for (int32_t i = 0; i < ND4C_UNARY_COUNT; i++) {
    if (nd4c_simd.unary->loops[i][ND4C_FLOAT32] == loop) {
      return i;
    }
  }
  return -1;
}

/* The step for a node; NULL: there is none. */
static nd4c_chain_code code_of(const nd4c_tile_step *step, nd4c_chain_form form) {
  const nd4c_simd_element *element = &step->element;
  if (element->kind == ND4C_SIMD_UNARY) {
    const int32_t op = unary_index(element->unary);
    return op < 0 ? NULL : nd4c_simd.chain->unary[op];
  }
  if (element->kind != ND4C_SIMD_BINARY) {
    return NULL;
  }
  for (int32_t op = 0; op < ND4C_BINARY_COUNT; op++) {
    if (&nd4c_simd.binary->loops[op][ND4C_FLOAT32] == element->binary) {
      return nd4c_simd.chain->binary[op][form];
    }
  }
  return NULL;
}

/* Whether the value of node `from` is needed in memory: a tail or a later node than the next one reads it, or the next
 * one does so twice. */
static bool is_kept(const nd4c_tile_program *program, int32_t from, int32_t slot) {
  bool next = true;
  for (int32_t i = from + 1; i < program->step_count; i++) {
    const nd4c_tile_step *step = &program->steps[i];
    if (step->action == ND4C_TILE_REDUCE && step->operands[0] == slot) {
      return true;
    }
    if (step->action != ND4C_TILE_COMPUTE) {
      continue;
    }
    const int32_t reads = (step->operands[0] == slot) + (step->operands[1] == slot) + (step->operands[2] == slot);
    if (reads > (next ? 1 : 0)) {
      return true;
    }
    if (step->slot == slot) { /* the slot gets another value */
      return false;
    }
    next = false;
  }
  return false;
}

static bool add_node(listing *work, int32_t index) {
  nd4c_tile_program *program = work->program;
  const nd4c_tile_step *step = &program->steps[index];
  const nd4c_chain_table *table = nd4c_simd.chain;
  const bool binary = step->element.kind == ND4C_SIMD_BINARY;
  const int32_t a = step->operands[0], b = binary ? step->operands[1] : -1;
  const bool reversed = binary && b == work->running && a != b;
  const int32_t other = reversed ? a : b;
  const int32_t one = binary && is_one(program, other) ? ND4C_CHAIN_ONE - ND4C_CHAIN_BLOCK : 0;
  nd4c_chain_code code =
      code_of(step, (nd4c_chain_form)((reversed ? ND4C_CHAIN_BLOCK_REVERSED : ND4C_CHAIN_BLOCK) + one));
  if (code == NULL) {
    return false;
  }
  if (!reversed && a != work->running) {
    add(work, is_one(program, a) ? table->load_one : table->load, a);
  }
  add(work, code, binary ? other : 0);
  work->running = step->slot;
  const bool leaves = step->slot < work->outputs + program->output_count, kept = is_kept(program, index, step->slot);
  if (leaves || kept) {
    add(work, table->store, step->slot);
  }
  program->reads_outputs = program->reads_outputs || (leaves && kept);
  return true;
}

static bool is_float32(const nd4c_segment *piece) {
  for (int32_t i = 0; i < piece->node_count; i++) {
    const nd4c_call *call = piece->nodes[i];
    for (int32_t k = 0; k <= call->input_count; k++) {
      const nd4c_tensor *x = k < call->input_count ? &call->inputs[k] : &call->outputs[0];
      if (x->dtype != ND4C_FLOAT32) {
        return false;
      }
    }
  }
  return true;
}

/* Tails come after all nodes: whether each still finds the value that it reduces in its slot. */
static bool tails_can_wait(const nd4c_tile_program *program) {
  for (int32_t i = 0; i < program->step_count; i++) {
    for (int32_t k = i + 1; k < program->step_count && program->steps[i].action == ND4C_TILE_REDUCE; k++) {
      if (program->steps[k].action == ND4C_TILE_COMPUTE && program->steps[k].slot == program->steps[i].operands[0]) {
        return false;
      }
    }
  }
  return true;
}

void nd4c_tile_list_chain(const nd4c_segment *piece, nd4c_tile_program *program) {
  listing work = {.program = program, .running = -1, .outputs = program->input_count};
  program->chain_count = 0;
  const int64_t buffers = (int64_t)program->register_count * nd4c_simd.chain->block * (int64_t)sizeof(float);
  if (nd4c_simd.chain->block == 0 || buffers > ND4C_TILE_MEMORY || !is_float32(piece) || !tails_can_wait(program)) {
    return;
  }
  for (int32_t i = 0; i < program->step_count; i++) {
    if (program->steps[i].action == ND4C_TILE_COMPUTE && !add_node(&work, i)) {
      return;
    }
  }
  add(&work, nd4c_simd.chain->end, 0);
  program->chain_count = work.count;
}

/* -- running ------------------------------------------------------------------------------------------------------- */

typedef struct job {
  const nd4c_tile_program *program;
  const nd4c_tile_operand *operands;
  bool stream;
} job;

static void run_blocks(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *work = user;
  const nd4c_tile_program *program = work->program;
  const int32_t ports = program->input_count + program->output_count;
  const int64_t buffer_bytes = nd4c_simd.chain->block * (int64_t)sizeof(float);
  _Alignas(64) char memory[ND4C_TILE_MEMORY];
  nd4c_chain_slot slots[ND4C_TILE_SLOTS];
  (void)worker;
  for (int32_t i = 0; i < ports; i++) {
    slots[i] = (nd4c_chain_slot){work->operands[i].data, is_one(program, i) ? 0 : -1};
  }
  for (int32_t i = 0; i < program->register_count; i++) {
    slots[ports + i] = (nd4c_chain_slot){memory + i * buffer_bytes, 0};
  }
  nd4c_simd.chain->run(program->chains[work->stream], slots, program->input_count, begin, end);
  if (work->stream) {
    nd4c_simd.move->stream_fence();
  }
}

bool nd4c_tile_can_chain(const nd4c_tile_program *program, const nd4c_tile_operand *operands, bool stream) {
  if (program->chain_count == 0 || (stream && program->reads_outputs)) {
    return false;
  }
  for (int32_t i = 0; i < program->input_count + program->output_count; i++) {
    if (program->ports[i].is_total) {
      continue;
    }
    const bool one = is_one(program, i);
    const bool aligned = (uintptr_t)operands[i].data % ND4C_CPU_CACHE_LINE == 0;
    if (operands[i].lie != (one ? ND4C_TILE_REPEATED : ND4C_TILE_FLAT) ||
        (stream && i >= program->input_count && !aligned)) {
      return false;
    }
  }
  return true;
}

int64_t nd4c_tile_chain_tile(const nd4c_tile_program *program, const nd4c_tile_operand *operands, char *const *slots,
                             int64_t count) {
  const int32_t ports = program->input_count + program->output_count;
  const int64_t blocks = count / nd4c_simd.chain->block;
  nd4c_chain_slot chained[ND4C_TILE_SLOTS];
  for (int32_t i = 0; i < ports + program->register_count; i++) {
    const bool one = is_one(program, i);
    chained[i] = (nd4c_chain_slot){one ? operands[i].data : slots[i], one ? 0 : -1};
  }
  nd4c_simd.chain->run(program->chains[0], chained, program->input_count, 0, blocks);
  return blocks * nd4c_simd.chain->block;
}

int64_t nd4c_tile_run_chain(const nd4c_tile_program *program, const nd4c_tile_operand *operands, int64_t size,
                            int32_t width, bool stream) {
  job work = {.program = program, .operands = operands, .stream = stream};
  if (program->run != 0 || !nd4c_tile_can_chain(program, operands, stream)) {
    return 0;
  }
  const int64_t block = nd4c_simd.chain->block, grain = ND4C_TILE_PIECE_COST / (program->cost * block);
  nd4c_cpu_parallel(size / block, grain > 0 ? grain : 1, width, run_blocks, &work);
  return size / block * block;
}
