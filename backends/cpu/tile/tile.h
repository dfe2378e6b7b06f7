/* Engine tile: a compiler that computes chains of element-wise ops in one loop over tiles. A tile is so short that the
 * chain's intermediate results stay in the first cache; only inputs and outputs of the chain pass through memory. The
 * loops are those of engine simd, so results have the same bits as those of its kernels, one op at a time, except sums
 * and products of long tails. Where the instruction-set level has steps for all ops of a chain, its values even stay in
 * registers. A chain may end with tails: reductions over its innermost axes.
 *
 * partition.c chooses the chains, program.c compiles a chain to a program, extents.c says which other extents a program
 * serves, layout.c finds out how operands lie along the chain's elements, run.c runs programs, registers.c those in
 * registers, tails.c reduces. compiler.c has the table.
 */
#ifndef ND4C_BACKENDS_CPU_TILE_TILE_H
#define ND4C_BACKENDS_CPU_TILE_TILE_H

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/nest.h"

enum {
  ND4C_TILE_NODES = 64,             /* at most in one chain */
  ND4C_TILE_OPERANDS = 3,           /* of one node */
  ND4C_TILE_SLOTS = 512,            /* inputs, outputs and registers of a program, together */
  ND4C_TILE_MEMORY = 48 * 1024,     /* of all registers of a worker; on its stack */
  ND4C_TILE_WORKING_SET = 8 * 1024, /* of the registers that a program uses for sure: half of a small first cache */
  ND4C_TILE_LEAST = 64,             /* elements of a tile */
  ND4C_TILE_MOST = 4096,
  ND4C_TILE_LEAST_RUN = 8, /* elements that a tail reduces to one: shorter runs gain nothing */
  ND4C_TILE_TAIL_COST = 3, /* of an element that a tail reduces, in the unit of cost of nd4c_nest_run */
  /* Worth another thread, in the unit of cost of nd4c_nest_run: what stays in a cache takes a third of the time. */
  ND4C_TILE_PIECE_COST = 3 * ND4C_NEST_PIECE_COST
};

/* -- programs ----------------------------------------------------------------------------------------------------- */

typedef enum nd4c_tile_action {
  ND4C_TILE_LOAD,    /* brings an input, unless it is read in place, into its register */
  ND4C_TILE_COMPUTE, /* one node */
  ND4C_TILE_REDUCE,  /* a tail: reduces what the tile holds of a value */
  ND4C_TILE_STORE    /* takes an output, unless it is written in place, from its register to its memory */
} nd4c_tile_action;

/* A reduction over the innermost axes, whose elements lie side by side in the order of the chain. */
typedef struct nd4c_tile_tail {
  int64_t run; /* elements that become one */
  const nd4c_reduction_loops *loops;
  bool divides;         /* by the length of the run */
  int32_t index, bytes; /* among the tails of a program; of an element */
} nd4c_tile_tail;

/* Operands and results are slots. Slots are numbered: inputs, then outputs, then registers. */
typedef struct nd4c_tile_step {
  nd4c_tile_action action;
  int32_t slot;                         /* LOAD, STORE: the input or output. Others: the result */
  int32_t operands[ND4C_TILE_OPERANDS]; /* -1: omitted */
  nd4c_simd_element element;
  nd4c_tile_tail tail; /* REDUCE */
} nd4c_tile_step;

/* How many of the chain's elements an input has. */
typedef enum nd4c_tile_reach {
  ND4C_TILE_WHOLE, /* all */
  ND4C_TILE_PART,  /* several, which are repeated */
  ND4C_TILE_ONE    /* one for all */
} nd4c_tile_reach;

/* An input or output. */
typedef struct nd4c_tile_port {
  int32_t bytes;         /* an element */
  int32_t reg;           /* register that holds its elements where it cannot be read or written in place */
  bool needs_elements;   /* an input that some node cannot read as one repeated element */
  nd4c_tile_reach reach; /* of an input */
  bool is_total;         /* the output of a tail */
} nd4c_tile_port;

typedef struct nd4c_tile_program {
  int32_t input_count, output_count, register_count, step_count;
  int32_t tile;           /* elements */
  int32_t register_bytes; /* of one register */
  int32_t cost;           /* of one element, in the unit of nd4c_nest_run */
  nd4c_tile_port *ports;  /* inputs, then outputs */
  nd4c_tile_step *steps;
  nd4c_chain_step *chains[2]; /* the program in registers: outputs are stored, or streamed */
  int32_t chain_count;        /* its steps; 0: there is no such program */
  bool reads_outputs;         /* it reads outputs again, so they should not be streamed */
  int32_t tail_count;
  int64_t run;  /* elements that tails reduce to one; 0: there are no tails */
  int64_t size; /* elements of the chain's values, and their shape */
  int32_t rank;
  int64_t shape[ND4C_CPU_MAX_RANK];
} nd4c_tile_program;

/* Compiles a piece of nodes whose outputs have one shape. UNSUPPORTED if its intermediate results need too much memory.
 */
nd4c_status nd4c_tile_compile(const nd4c_segment *piece, nd4c_tile_program **program);
void nd4c_tile_release(nd4c_tile_program *program);
/* Whether the program, which has no tails, computes the same ops on operands of these extents, as if it had been
 * compiled for them. */
bool nd4c_tile_accepts(const nd4c_tile_program *program, const nd4c_tensor *inputs, int32_t input_count,
                       const nd4c_tensor *outputs, int32_t output_count);
/* `size`: elements of the chain's values. */
static inline nd4c_tile_reach nd4c_tile_reach_of(const nd4c_tensor *input, int64_t size) {
  return input->size == size ? ND4C_TILE_WHOLE : input->size == 1 ? ND4C_TILE_ONE : ND4C_TILE_PART;
}
/* Writes the program's steps in registers, if there are any for all its nodes. */
void nd4c_tile_list_chain(const nd4c_segment *piece, nd4c_tile_program *program);

/* -- operands ------------------------------------------------------------------------------------------------------ */

typedef enum nd4c_tile_lie {
  ND4C_TILE_FLAT,     /* neighbours of the chain are neighbours in memory */
  ND4C_TILE_REPEATED, /* one element for all */
  ND4C_TILE_WALK      /* any other way */
} nd4c_tile_lie;

/* How an operand lies along the elements of a chain, counted in the order in which the first output has them. */
typedef struct nd4c_tile_operand {
  nd4c_tile_lie lie;
  int32_t bytes; /* an element */
  char *data;
  int32_t rank; /* WALK: the fewest axes */
  int64_t shape[ND4C_CPU_MAX_RANK], strides[ND4C_CPU_MAX_RANK];
} nd4c_tile_operand;

/* Finds it for each operand. With tails, elements are counted in C order, whatever order the outputs have. */
void nd4c_tile_lay_out(const nd4c_tile_program *program, const nd4c_execution *execution, nd4c_tile_operand *operands);
/* Copies elements [begin, begin + count) of a WALK operand to a register, or from there to the operand. */
void nd4c_tile_gather(const nd4c_tile_operand *operand, int64_t begin, int64_t count, char *to);
void nd4c_tile_scatter(const nd4c_tile_operand *operand, int64_t begin, int64_t count, char *from);

/* -- running and choosing ------------------------------------------------------------------------------------------ */

int64_t nd4c_tile_scratch_bytes(const nd4c_tile_program *program);
nd4c_status nd4c_tile_run(const nd4c_tile_program *program, const nd4c_execution *execution);

/* Whether the program has steps in registers, and the operands lie as these expect them. */
bool nd4c_tile_can_chain(const nd4c_tile_program *program, const nd4c_tile_operand *operands, bool stream);
/* Computes the first elements in registers, if that is possible and there are no tails; returns how many. */
int64_t nd4c_tile_run_chain(const nd4c_tile_program *program, const nd4c_tile_operand *operands, int64_t size,
                            int32_t width, bool stream);
/* The same for whole blocks of the `count` elements of one tile, whose addresses are in `slots`: the values that tails
 * reduce are in memory then. */
int64_t nd4c_tile_chain_tile(const nd4c_tile_program *program, const nd4c_tile_operand *operands, char *const *slots,
                             int64_t count);

/* -- tails --------------------------------------------------------------------------------------------------------- */

/* Whether the call reduces the innermost axes of floats by a loop of engine simd. Tails of one chain have equal runs.
 */
bool nd4c_tile_find_tail(const nd4c_call *call, nd4c_tile_tail *tail);

/* Tiles of `size` elements, and where one begins. A tile has whole short runs, or a part of a long one. */
int64_t nd4c_tile_count(const nd4c_tile_program *program, int64_t size);
void nd4c_tile_place(const nd4c_tile_program *program, int64_t size, int64_t number, int64_t *begin, int64_t *count);

/* Accumulators of long runs that a run of the program keeps until its end. */
int64_t nd4c_tile_partial_count(const nd4c_tile_program *program);
/* Reduces one tile's values: stores the results of short runs, or an accumulator of a long one. */
void nd4c_tile_reduce(const nd4c_tile_program *program, const nd4c_tile_step *step, int64_t number, int64_t begin,
                      int64_t count, const void *values, const nd4c_tile_operand *to, uint64_t *partials);
/* Stores the results of long runs. */
void nd4c_tile_finish_runs(const nd4c_tile_program *program, const nd4c_tile_operand *operands, uint64_t *partials,
                           int32_t width);

nd4c_status nd4c_tile_partition(const nd4c_segment *region, const nd4c_compile_options *options,
                                nd4c_partition *answer);

extern const nd4c_compiler nd4c_cpu_tile_compiler;
extern const nd4c_engine nd4c_cpu_tile_engine;

#endif
