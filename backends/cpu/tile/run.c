/* Runs a program over tiles, in parallel where that pays. compiler.c calls it. */
#include "backends/cpu/tile/tile.h"
#include "kernels/cpu/support/level.h"

typedef struct run {
  const nd4c_tile_program *program;
  const nd4c_tile_operand *operands; /* inputs, then outputs */
  int64_t first, size;               /* elements of the chain: those before the first are computed */
  bool stream;                       /* outputs are written past the caches */
  bool chained;                      /* the nodes of a tile are computed in registers, then its tails */
  uint64_t *partials;                /* accumulators of long runs */
  int32_t widest_input;              /* bytes an element, of those inputs that are read in place */
} run;

/* A worker's tile. */
typedef struct tile {
  char *slots[ND4C_TILE_SLOTS];    /* addresses of the tile's elements */
  bool repeated[ND4C_TILE_SLOTS];  /* one element stands for all */
  int32_t moving[ND4C_TILE_SLOTS]; /* ports that are read or written in place */
  int32_t moving_count;
  int64_t number, begin, count;
  int64_t next_count; /* elements of the next tile, 0: this is the last one */
  int64_t ahead;      /* bytes of each input of the next tile that were prefetched */
} tile;

int64_t nd4c_tile_scratch_bytes(const nd4c_tile_program *program) {
  return (int64_t)sizeof(nd4c_tile_operand) * (program->input_count + program->output_count) +
         nd4c_tile_partial_count(program) * (int64_t)sizeof(uint64_t);
}

static void prepare(const run *work, char *memory, tile *now) {
  const nd4c_tile_program *program = work->program;
  const int32_t ports = program->input_count + program->output_count;
  now->moving_count = 0;
  for (int32_t i = 0; i < ports; i++) {
    const nd4c_tile_operand *operand = &work->operands[i];
    const bool input = i < program->input_count;
    if (program->ports[i].is_total) {
      now->repeated[i] = false;
      continue;
    }
    /* A loop takes one repeated operand at most. Of two operands, both may be views that repeat an element
     * (broadcast_to of a number), but not both can have one element, since the result has more. So such views are
     * written out. */
    const nd4c_tile_port *port = &program->ports[i];
    now->repeated[i] =
        input && operand->lie == ND4C_TILE_REPEATED && port->reach == ND4C_TILE_ONE && !port->needs_elements;
    if (now->repeated[i]) {
      now->slots[i] = operand->data;
    } else if (operand->lie == ND4C_TILE_FLAT && (input || !work->stream)) {
      now->moving[now->moving_count++] = i;
    } else {
      now->slots[i] = memory + (int64_t)program->ports[i].reg * program->register_bytes;
    }
  }
  for (int32_t i = 0; i < program->register_count; i++) {
    now->slots[ports + i] = memory + (int64_t)i * program->register_bytes;
    now->repeated[ports + i] = false;
  }
}

static void load(const run *work, const tile *now, int32_t slot) {
  const nd4c_tile_operand *operand = &work->operands[slot];
  if (operand->lie == ND4C_TILE_WALK) {
    nd4c_tile_gather(operand, now->begin, now->count, now->slots[slot]);
  } else if (operand->lie == ND4C_TILE_REPEATED && !now->repeated[slot]) {
    nd4c_simd.move->move[operand->bytes](1, now->count, operand->data, 0, 0, now->slots[slot], 0, 1);
  }
}

static void store(const run *work, const tile *now, int32_t slot) {
  const nd4c_tile_operand *operand = &work->operands[slot];
  if (operand->lie == ND4C_TILE_WALK) {
    nd4c_tile_scatter(operand, now->begin, now->count, now->slots[slot]);
  } else if (work->stream) {
    nd4c_simd.move->stream(now->count * operand->bytes, now->slots[slot], operand->data + now->begin * operand->bytes);
  }
}

static void compute_binary(const nd4c_tile_step *step, const tile *now) {
  const nd4c_binary_loops *loops = step->element.binary;
  const int32_t a = step->operands[0], b = step->operands[1];
  nd4c_binary_loop loop = now->repeated[b] ? loops->first : now->repeated[a] ? loops->second : loops->both;
  loop(now->count, now->slots[a], now->slots[b], now->slots[step->slot]);
}

static void compute_clip(const nd4c_tile_step *step, const tile *now) {
  const int32_t low = step->operands[1], high = step->operands[2];
  const nd4c_unary_parameters parameters = {.low = low < 0 ? NULL : now->slots[low],
                                            .high = high < 0 ? NULL : now->slots[high]};
  step->element.unary(now->count, now->slots[step->operands[0]], now->slots[step->slot], &parameters);
}

static void compute(const nd4c_tile_step *step, const tile *now) {
  char *const *slots = now->slots;
  const int32_t *operands = step->operands;
  switch (step->element.kind) {
    case ND4C_SIMD_BINARY:
      compute_binary(step, now);
      break;
    case ND4C_SIMD_UNARY:
      step->element.unary(now->count, slots[operands[0]], slots[step->slot], &step->element.parameters);
      break;
    case ND4C_SIMD_CLIP:
      compute_clip(step, now);
      break;
    case ND4C_SIMD_CAST:
      step->element.cast(now->count, slots[operands[0]], slots[step->slot]);
      break;
    case ND4C_SIMD_WHERE:
      step->element.where(now->count, (const uint8_t *)slots[operands[0]], slots[operands[1]], slots[operands[2]],
                          slots[step->slot]);
      break;
  }
}

/* Asks for a share of the inputs of the next tile: between the nodes, because a burst for all of it would have to wait
 * for the memory, as would the first nodes of the next tile. */
static void prefetch(const run *work, tile *now) {
  const int64_t share = (now->count * work->widest_input / work->program->step_count + ND4C_CPU_CACHE_LINE) &
                        -(int64_t)ND4C_CPU_CACHE_LINE;
  for (int32_t i = 0; i < now->moving_count && now->moving[i] < work->program->input_count; i++) {
    const nd4c_tile_operand *operand = &work->operands[now->moving[i]];
    const int64_t bytes = now->next_count * operand->bytes;
    const char *next = operand->data + (now->begin + now->count) * operand->bytes;
    for (int64_t at = now->ahead; at < now->ahead + share && at < bytes; at += ND4C_CPU_CACHE_LINE) {
      ND4C_PREFETCH((uintptr_t)(next + at));
    }
  }
  now->ahead += share;
}

static void reduce(const run *work, const tile *now, const nd4c_tile_step *step) {
  nd4c_tile_reduce(work->program, step, now->number, now->begin, now->count, now->slots[step->operands[0]],
                   &work->operands[step->slot], work->partials);
}

/* A tile of float32 without gaps: whole blocks in registers, the rest by loops, then the tails. */
static void run_chained(const run *work, const tile *now) {
  const nd4c_tile_program *program = work->program;
  const int64_t done = nd4c_tile_chain_tile(program, work->operands, now->slots, now->count);
  tile rest = *now;
  rest.count -= done;
  for (int32_t i = 0; i < program->input_count + program->output_count + program->register_count; i++) {
    const bool fixed = rest.repeated[i] || (i < program->input_count && program->ports[i].reach == ND4C_TILE_ONE);
    rest.slots[i] += fixed ? 0 : done * (int64_t)sizeof(float);
  }
  for (int32_t i = 0; i < program->step_count; i++) {
    const nd4c_tile_step *step = &program->steps[i];
    if (step->action == ND4C_TILE_COMPUTE && rest.count > 0) {
      compute(step, &rest);
    } else if (step->action == ND4C_TILE_LOAD && rest.count > 0) {
      load(work, &rest, step->slot);
    }
  }
  for (int32_t i = 0; i < program->step_count; i++) {
    if (program->steps[i].action == ND4C_TILE_REDUCE) {
      reduce(work, now, &program->steps[i]);
    }
  }
}

static void run_steps(const run *work, tile *now) {
  const nd4c_tile_program *program = work->program;
  for (int32_t i = 0; i < program->step_count; i++) {
    const nd4c_tile_step *step = &program->steps[i];
    if (step->action == ND4C_TILE_COMPUTE) {
      compute(step, now);
      prefetch(work, now);
    } else if (step->action == ND4C_TILE_REDUCE) {
      reduce(work, now, step);
    } else if (step->action == ND4C_TILE_LOAD) {
      load(work, now, step->slot);
    } else {
      store(work, now, step->slot);
    }
  }
}

static void run_tiles(void *user, int64_t begin, int64_t end, int32_t worker) {
  const run *work = user;
  const int64_t left = work->size - work->first;
  _Alignas(64) char memory[ND4C_TILE_MEMORY];
  tile now;
  (void)worker;
  prepare(work, memory, &now);
  for (int64_t number = begin; number < end; number++) {
    int64_t next = 0;
    now.number = number;
    nd4c_tile_place(work->program, left, number, &now.begin, &now.count);
    now.next_count = 0;
    if (number + 1 < end) {
      nd4c_tile_place(work->program, left, number + 1, &next, &now.next_count);
    }
    now.begin += work->first;
    now.ahead = 0;
    for (int32_t i = 0; i < now.moving_count; i++) {
      const nd4c_tile_operand *operand = &work->operands[now.moving[i]];
      now.slots[now.moving[i]] = operand->data + now.begin * operand->bytes;
      now.repeated[now.moving[i]] = false;
    }
    if (work->chained) {
      run_chained(work, &now);
    } else {
      run_steps(work, &now);
    }
  }
  if (work->stream) {
    nd4c_simd.move->stream_fence();
  }
}

/* As should_stream of support/nest.c: the results will not stay in the caches, and no operand is written over. */
static bool should_stream(const run *work) {
  const nd4c_tile_program *program = work->program;
  int64_t bytes[2] = {0, 0}; /* read, written */
  for (int32_t i = 0; i < program->input_count + program->output_count; i++) {
    const bool output = i >= program->input_count;
    const nd4c_tile_operand *operand = &work->operands[i];
    if (program->ports[i].is_total) {
      continue;
    }
    bytes[output] += operand->lie == ND4C_TILE_FLAT ? work->size * operand->bytes : 0;
    for (int32_t k = program->input_count; !output && k < program->input_count + program->output_count; k++) {
      if (work->operands[k].data == operand->data) {
        return false;
      }
    }
  }
  const bool large = bytes[1] > nd4c_simd_stream_bytes || (bytes[0] + bytes[1]) / 3 > nd4c_simd_stream_bytes;
  return large && bytes[1] > 0 && bytes[0] >= bytes[1] / 8;
}

nd4c_status nd4c_tile_run(const nd4c_tile_program *program, const nd4c_execution *execution) {
  nd4c_tile_operand *operands = execution->scratch;
  if (execution->output_count == 0 || execution->outputs[0].size == 0) {
    return ND4C_OK; /* in a graph without passes, a chain may have no reader */
  }
  run work = {.program = program,
              .operands = operands,
              .size = program->run != 0 ? program->size : execution->outputs[0].size,
              .partials = (uint64_t *)(void *)(operands + program->input_count + program->output_count)};
  nd4c_tile_lay_out(program, execution, operands);
  work.stream = should_stream(&work);
  work.chained = program->run != 0 && !work.stream && nd4c_tile_can_chain(program, operands, false);
  for (int32_t i = 0; i < program->input_count; i++) {
    const bool wider = operands[i].lie == ND4C_TILE_FLAT && operands[i].bytes > work.widest_input;
    work.widest_input = wider ? operands[i].bytes : work.widest_input;
  }
  work.first = nd4c_tile_run_chain(program, operands, work.size, execution->width, work.stream);
  const int64_t tiles = nd4c_tile_count(program, work.size - work.first);
  const int64_t grain = ND4C_TILE_PIECE_COST / ((int64_t)program->cost * program->tile);
  nd4c_cpu_parallel(tiles, grain > 0 ? grain : 1, execution->width, run_tiles, &work);
  nd4c_tile_finish_runs(program, operands, work.partials, execution->width);
  return ND4C_OK;
}
