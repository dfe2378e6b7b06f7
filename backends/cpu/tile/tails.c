/* Tails of chains: reductions over the innermost axes of a chain's values. A tile's values are reduced while they are
 * in the first cache, so that no memory holds them all. partition.c and program.c find tails here, run.c runs them.
 *
 * Short runs lie in one tile as a whole. Of a long run each tile makes one accumulator, and these are merged in pairs
 * in the end, so results do not depend on the number of threads. */
#include "backends/cpu/tile/tile.h"

/* The loop of engine simd's kernel for the op; ND4C_REDUCE_COUNT: none. */
static enum nd4c_reduce_index loop_of(const nd4c_call *call, bool *divides) {
  *divides = false;
  switch (call->op->op) {
    case ND4C_OP_mean:
      *divides = true;
      return ND4C_REDUCE_sum;
    case ND4C_OP_sum:
      return ND4C_INT_OF(call, sum_dtype) == ND4C_DTYPE_NONE ? ND4C_REDUCE_sum : ND4C_REDUCE_COUNT;
    case ND4C_OP_prod:
      return ND4C_INT_OF(call, sum_dtype) == ND4C_DTYPE_NONE ? ND4C_REDUCE_prod : ND4C_REDUCE_COUNT;
    case ND4C_OP_max:
      return ND4C_REDUCE_max;
    case ND4C_OP_min:
      return ND4C_REDUCE_min;
    case ND4C_OP_sum_square:
      return ND4C_REDUCE_sum_square;
    case ND4C_OP_norm1:
      return ND4C_REDUCE_norm1;
    default:
      return ND4C_REDUCE_COUNT;
  }
}

/* Elements of a run, if the reduced axes are the innermost ones; 0: they are not. */
static int64_t run_of(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  bool reduced[ND4C_CPU_MAX_RANK];
  int64_t run = 1;
  bool kept = false;
  nd4c_cpu_reduced_axes(x->rank, &call->attrs[ND4C_ATTR_sum_axes], reduced);
  for (int32_t axis = x->rank - 1; axis >= 0; axis--) {
    if (x->shape[axis] == 1) {
      continue;
    }
    if (reduced[axis] && kept) {
      return 0;
    }
    kept = !reduced[axis];
    run *= kept ? 1 : x->shape[axis];
  }
  return run;
}

bool nd4c_tile_find_tail(const nd4c_call *call, nd4c_tile_tail *tail) {
  *tail = (nd4c_tile_tail){.run = 0};
  if (call->input_count != 1 || call->output_count != 1 || call->inputs[0].size == 0) {
    return false;
  }
  bool divides;
  const enum nd4c_reduce_index loop = loop_of(call, &divides);
  const nd4c_dtype dtype = call->inputs[0].dtype;
  if (loop == ND4C_REDUCE_COUNT || (ND4C_DTYPE_BIT(dtype) & ND4C_CPU_FLOATS) == 0 || call->outputs[0].dtype != dtype ||
      nd4c_simd.reduction->loops[loop][dtype].run == NULL) {
    return false;
  }
  tail->run = run_of(call);
  tail->loops = &nd4c_simd.reduction->loops[loop][dtype];
  tail->divides = divides;
  return tail->run >= ND4C_TILE_LEAST_RUN;
}

/* -- tiles --------------------------------------------------------------------------------------------------------- */

static bool is_short(const nd4c_tile_program *program) {
  return program->run <= program->tile;
}

/* Tiles of one long run. */
static int64_t tiles_of_run(const nd4c_tile_program *program) {
  return (program->run + program->tile - 1) / program->tile;
}

int64_t nd4c_tile_count(const nd4c_tile_program *program, int64_t size) {
  if (program->run == 0) {
    return (size + program->tile - 1) / program->tile;
  }
  const int64_t runs = size / program->run, together = program->tile / program->run;
  return is_short(program) ? (runs + together - 1) / together : runs * tiles_of_run(program);
}

void nd4c_tile_place(const nd4c_tile_program *program, int64_t size, int64_t number, int64_t *begin, int64_t *count) {
  if (program->run != 0 && !is_short(program)) {
    const int64_t tiles = tiles_of_run(program), within = number % tiles * program->tile;
    *begin = number / tiles * program->run + within;
    *count = program->run - within < program->tile ? program->run - within : program->tile;
    return;
  }
  const int64_t most = program->run == 0 ? program->tile : program->tile / program->run * program->run;
  *begin = number * most;
  *count = size - *begin < most ? size - *begin : most;
}

int64_t nd4c_tile_partial_count(const nd4c_tile_program *program) {
  return program->run == 0 || is_short(program) ? 0 : program->tail_count * nd4c_tile_count(program, program->size);
}

static void store(const nd4c_tile_program *program, const nd4c_tile_step *step, int64_t count, const void *accumulators,
                  const nd4c_tile_operand *to, int64_t first) {
  const double divisor = step->tail.divides ? (double)program->run : 1;
  if (to->lie == ND4C_TILE_FLAT) {
    step->tail.loops->store(count, accumulators, divisor, to->data + first * to->bytes);
    return;
  }
  _Alignas(uint64_t) char results[ND4C_TILE_MOST / ND4C_TILE_LEAST_RUN * sizeof(uint64_t)];
  step->tail.loops->store(count, accumulators, divisor, results);
  nd4c_tile_scatter(to, first, count, results);
}

void nd4c_tile_reduce(const nd4c_tile_program *program, const nd4c_tile_step *step, int64_t number, int64_t begin,
                      int64_t count, const void *values, const nd4c_tile_operand *to, uint64_t *partials) {
  uint64_t all[ND4C_TILE_MOST / ND4C_TILE_LEAST_RUN];
  if (!is_short(program)) {
    const int64_t tiles = nd4c_tile_count(program, program->size);
    step->tail.loops->run(1, count, values, 0, &partials[step->tail.index * tiles + number]);
    return;
  }
  const int64_t runs = count / program->run;
  step->tail.loops->run(runs, program->run, values, program->run * step->tail.bytes, all);
  store(program, step, runs, all, to, begin / program->run);
}

typedef struct finishing {
  const nd4c_tile_program *program;
  const nd4c_tile_step *step;
  const nd4c_tile_operand *to;
  uint64_t *partials; /* of the step */
} finishing;

/* Merges the accumulators of each run in pairs. */
static void finish_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const finishing *work = user;
  const int64_t tiles = tiles_of_run(work->program);
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    uint64_t *run = work->partials + i * tiles;
    for (int64_t apart = 1; apart < tiles; apart *= 2) {
      for (int64_t k = 0; k + apart < tiles; k += 2 * apart) {
        work->step->tail.loops->merge(1, &run[k + apart], &run[k]);
      }
    }
    store(work->program, work->step, 1, run, work->to, i);
  }
}

void nd4c_tile_finish_runs(const nd4c_tile_program *program, const nd4c_tile_operand *operands, uint64_t *partials,
                           int32_t width) {
  if (nd4c_tile_partial_count(program) == 0) {
    return;
  }
  const int64_t tiles = nd4c_tile_count(program, program->size), each = tiles_of_run(program);
  for (int32_t i = 0; i < program->step_count; i++) {
    const nd4c_tile_step *step = &program->steps[i];
    if (step->action == ND4C_TILE_REDUCE) {
      finishing work = {program, step, &operands[step->slot], partials + step->tail.index * tiles};
      nd4c_cpu_parallel(program->size / program->run, 4096 / each + 1, width, finish_range, &work);
    }
  }
}
