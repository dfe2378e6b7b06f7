/* nd4c_random_graphs: makes random graphs and checks that plans with and without passes give the same results. This
 * header is what its files share:
 *
 *   sketch.c    a graph as data: grows op by op, and can be copied and computed again
 *   build.c     the nd4c_graph of a sketch, with bodies around runs of its nodes
 *   operands.c  leaves: inputs and constants with random elements
 *   motifs*.c   chains of ops that passes look for
 *   bound.c     runs with bound and donated arrays, and with a variable
 *   supply.c    single ops: from the op table, from the cases of `nd4c selftest`, duplicates
 *   dims.c      the same graph with dims in place of numbers, and with other numbers for these
 *   moved.c     a graph computed again, from operands that are moved a little
 *   judge.c     how far two results may be apart
 *   trial.c     runs one graph in the modes asked for
 *   shrink.c    the smallest graph and the fewest passes that still fail
 *   main.c      options, totals, the line that reproduces a failure */
#ifndef RANDOM_GRAPHS_H
#define RANDOM_GRAPHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/plan.h"
#include "nd4c/nd4c.h"

enum { RG_RANK = 8, RG_INPUTS = 24, RG_OUTPUTS = 8, RG_ATTRS = 24 };
enum { RG_VALUES = 320, RG_NODES = 128, RG_PORTS = 8, RG_OWNED = 1024 };
enum { RG_LIMIT_ELEMENTS = 6000, RG_LIMIT_CONSTANT = 20000 };
enum { RG_DIMS = 2, RG_BODIES = 6 };

/* A value that could not be made. Functions that get it as an input give it back. */
enum { RG_NONE = -1 };
/* An optional input that is left out. */
enum { RG_OMITTED = -2 };

typedef struct rg_value {
  nd4c_array *array; /* a leaf's elements, or what an eager call computed */
  int32_t node;      /* which computes it; RG_NONE: a leaf */
  bool is_constant;  /* of a leaf; the other leaves are inputs */
} rg_value;

typedef struct rg_node {
  const nd4c_op_info *op;
  int32_t input_count;
  int32_t inputs[RG_INPUTS];
  int32_t outputs[RG_OUTPUTS];
  nd4c_attr_value attrs[RG_ATTRS]; /* in the schema's order; lists and texts are in the sketch's `owned` */
  bool removed;
} rg_node;

/* Which extents of a sketch are dims: those of inputs with these numbers, and attributes with them. */
typedef struct rg_dims {
  int32_t count; /* 0: none */
  int64_t numbers[RG_DIMS], others[RG_DIMS];
  bool low, high; /* the dims have their least number and their greatest one as bounds */
  bool leading;   /* only first axes of inputs */
  bool attrs;     /* also numbers in attributes that may hold extents */
} rg_dims;

/* A run of nodes that the graph has in a body. */
typedef enum rg_body_kind { RG_CALL, RG_IF, RG_KNOWN_IF, RG_LOOP, RG_SCAN, RG_BODY_KINDS } rg_body_kind;
typedef struct rg_body {
  int32_t first, last; /* nodes first to last - 1 */
  rg_body_kind kind;
  int64_t rounds; /* of a loop or scan; of a known if, whether its first branch is taken: if odd */
} rg_body;

typedef struct rg_sketch {
  uint64_t seed, random;
  rg_dims dims;
  rg_body bodies[RG_BODIES]; /* disjoint, or one in another; outer ones come first */
  int32_t body_count;
  int32_t variable;  /* a leaf that the graph has as a variable; RG_NONE: none */
  int32_t assigned;  /* the value that runs assign to it, if it is among the outputs; RG_NONE: none */
  nd4c_graph *tried; /* infers and refuses; holds more nodes than the sketch */
  nd4c_value tried_values[RG_VALUES];
  rg_value values[RG_VALUES];
  rg_node nodes[RG_NODES];
  int32_t outputs[RG_PORTS];
  void *owned[RG_OWNED];
  int32_t value_count, node_count, output_count, owned_count;
  bool borrows; /* a copy: `owned` belongs to another sketch, and there is no graph to try ops in */
} rg_sketch;

/* What plans are asked for. */
typedef struct rg_precision {
  nd4c_dtype dtype; /* ND4C_DTYPE_NONE: none, results are as exact as float32 */
  bool calibrated;  /* of int8: with the ranges that a calibration saw in the graph's inputs */
} rg_precision;

/* Whether the plans with passes may compute sums and products in another order. */
static inline bool rg_reorders(const rg_sketch *sketch) {
  return sketch->seed % 4 == 3;
}

/* Whether leaves may have any dtype of real numbers, up to six axes, and more often no element. */
static inline bool rg_is_wide(const rg_sketch *sketch) {
  return sketch->seed % 6 == 2;
}

/* -- random.c-like helpers, in sketch.c ---------------------------------------------------------------------------- */

uint64_t rg_random(uint64_t *state);
int32_t rg_pick(rg_sketch *sketch, int32_t limit); /* 0 .. limit - 1 */
bool rg_chance(rg_sketch *sketch, int32_t one_in);
double rg_number(rg_sketch *sketch, double low, double high);
void *rg_need(size_t bytes); /* zeroed; ends the program if there is no memory */
/* Ends the program if the status is not OK: something failed that has no reason to. */
void rg_must(nd4c_status status, const char *what);

/* -- sketch.c ------------------------------------------------------------------------------------------------------ */

void rg_sketch_begin(rg_sketch *sketch, uint64_t seed);
void rg_sketch_clear(rg_sketch *sketch);
/* A copy that shares arrays and attributes with the original, which must live longer. */
rg_sketch *rg_sketch_copy(const rg_sketch *sketch);
void rg_sketch_free(rg_sketch *copy);

nd4c_dtype rg_dtype(const rg_sketch *sketch, int32_t value);
int32_t rg_rank(const rg_sketch *sketch, int32_t value);
const int64_t *rg_shape(const rg_sketch *sketch, int32_t value);
int64_t rg_size(const rg_sketch *sketch, int32_t value);
bool rg_is_float(nd4c_dtype dtype);
bool rg_same_shape(const rg_sketch *sketch, int32_t a, int32_t b);

/* Takes over the array's reference. */
int32_t rg_leaf(rg_sketch *sketch, nd4c_array *array, bool is_constant);
/* Records an op and computes it with an eager call. Gives its first output, or RG_NONE if an input is RG_NONE, the op
 * refuses the operands, or the result is of no use: too large, or mostly NaN. */
int32_t rg_op(rg_sketch *sketch, nd4c_op op, const int32_t *inputs, int32_t input_count, const nd4c_attr *attrs,
              int32_t attr_count);
/* The same with all attributes in the schema's order. */
int32_t rg_op_positional(rg_sketch *sketch, const nd4c_op_info *op, const int32_t *inputs, int32_t input_count,
                         const nd4c_attr_value *attrs);
int32_t rg_unary(rg_sketch *sketch, nd4c_op op, int32_t x);
int32_t rg_binary(rg_sketch *sketch, nd4c_op op, int32_t a, int32_t b);
/* An op with one attribute, an INT (also BOOL and DTYPE) or a list. */
int32_t rg_op_int(rg_sketch *sketch, nd4c_op op, int32_t x, const char *name, int64_t number);
int32_t rg_op_ints(rg_sketch *sketch, nd4c_op op, int32_t x, const char *name, const int64_t *numbers, int32_t count);
nd4c_attr rg_attr_int(const char *name, int64_t number);
nd4c_attr rg_attr_ints(const char *name, const int64_t *numbers, int32_t count);

/* Picks outputs: the values that nothing reads, then some others. Removes what no output needs. */
void rg_choose_outputs(rg_sketch *sketch);
void rg_prune(rg_sketch *sketch);
int32_t rg_count_nodes(const rg_sketch *sketch);
/* Computes all nodes again, after leaves have changed. */
nd4c_status rg_recompute(rg_sketch *sketch);
/* Marks the values that the nodes and the outputs read. */
void rg_find_read(const rg_sketch *sketch, bool *read);
/* The leaves that are inputs of the graph, in order; a variable is none. */
int32_t rg_graph_inputs(const rg_sketch *sketch, int32_t *values);

/* Attributes of a node as the eager call takes them; with `wide`, floating dtypes become float64. */
void rg_node_attrs(const rg_node *node, bool wide, nd4c_attr_value *attrs);

/* -- build.c, print.c ---------------------------------------------------------------------------------------------- */

nd4c_graph *rg_build(const rg_sketch *sketch);
/* The same with dims; NULL if an op does not take them, or assumes what the sketch's sizes contradict. */
nd4c_graph *rg_build_with_dims(const rg_sketch *sketch);
/* Puts runs of nodes of a whole sketch into bodies. */
void rg_bodies_choose(rg_sketch *sketch);
/* Makes an input of a whole sketch a variable, if it has one that an output fits. */
void rg_variable_choose(rg_sketch *sketch);
/* The number of the output that runs assign to the variable; -1: none. */
int32_t rg_assigned_output(const rg_sketch *sketch);
void rg_print(const rg_sketch *sketch);

/* -- operands.c ---------------------------------------------------------------------------------------------------- */

/* A value of a floating dtype, of any, or of a rank; recent ones are likelier. Made if there is none. */
int32_t rg_any(rg_sketch *sketch);
int32_t rg_any_float(rg_sketch *sketch);
int32_t rg_of_rank(rg_sketch *sketch, int32_t rank);
/* A leaf with random elements. */
int32_t rg_filled(rg_sketch *sketch, nd4c_dtype dtype, int32_t rank, const int64_t *shape, bool is_constant);
int32_t rg_constant(rg_sketch *sketch, nd4c_dtype dtype, int32_t rank, const int64_t *shape);
/* A value of float32 with finite elements of ordinary size; an input if there is none. */
int32_t rg_finite(rg_sketch *sketch, int32_t rank);
/* An input of float32 with elements between -2 and 2. */
int32_t rg_plain_input(rg_sketch *sketch, int32_t rank, const int64_t *shape);
/* The largest magnitude of an element; infinite if one is NaN or infinite. */
double rg_largest(const rg_sketch *sketch, int32_t value);
/* A constant whose elements are ordinary numbers; mostly: small ones are sometimes inputs. */
int32_t rg_between(rg_sketch *sketch, nd4c_dtype dtype, int32_t rank, const int64_t *shape, double low, double high);
/* A constant of the dtype of `like`: one number, as a scalar or in a shape that broadcasts to that of `like`. */
int32_t rg_scalar(rg_sketch *sketch, int32_t like, double number);
/* A number that passes look at: 0, -0.0, 1, -1, powers of two, others; rarely NaN or infinite. */
double rg_special(rg_sketch *sketch);
int32_t rg_input(rg_sketch *sketch);
/* A dtype that few models have. */
nd4c_dtype rg_rare_dtype(rg_sketch *sketch);

/* -- motifs*.c, supply.c ---------------------------------------------------------------------------- */

typedef int32_t (*rg_motif)(rg_sketch *sketch);
extern const rg_motif rg_motifs_network[];
extern const int32_t rg_motifs_network_count;
extern const rg_motif rg_motifs_shape[];
extern const int32_t rg_motifs_shape_count;
extern const rg_motif rg_motifs_bytes[];
extern const int32_t rg_motifs_bytes_count;

/* Reads the cases of `nd4c selftest`, a file. False with a message on stderr. */
bool rg_cases_load(const char *path);
void rg_cases_free(void);
int32_t rg_from_case(rg_sketch *sketch);
int32_t rg_from_table(rg_sketch *sketch);
int32_t rg_duplicate(rg_sketch *sketch);

/* A whole random graph. */
void rg_generate(rg_sketch *sketch, uint64_t seed);

/* -- dims.c -------------------------------------------------------------------------------------------------------- */

/* Chooses dims of a whole sketch, or none if its ops take none. */
void rg_dims_choose(rg_sketch *sketch);
const char *rg_dims_name(int32_t dim);
/* Of the dim in the graph; high -1: none. */
void rg_dims_bounds(const rg_dims *dims, int32_t dim, int64_t *low, int64_t *high);
/* A graph with these sizes for its dims. */
nd4c_status rg_bind(const nd4c_graph *graph, const rg_dims *dims, const int64_t *sizes, nd4c_graph **bound);
/* Replaces the numbers of dims by `to`, one for each dim: in the shape of an input, in a node's attributes. Lists are
 * made in `region`. */
void rg_dims_shape(const rg_dims *dims, const int64_t *to, int32_t rank, int64_t *shape);
void rg_dims_attrs(const rg_dims *dims, const int64_t *to, const rg_node *node, nd4c_region *region,
                   nd4c_attr_value *attrs);
/* A copy with the other numbers, computed anew; NULL if an op refuses it. Its lists are in `region`. */
rg_sketch *rg_dims_resize(const rg_sketch *sketch, nd4c_region *region);

/* -- moved.c ------------------------------------------------------------------------------------------------------- */

/* The elements, two numbers for each complex one; and their bytes. The caller frees both. */
double *rg_numbers(const nd4c_array *array, int64_t *count);
void *rg_bytes(const nd4c_array *array, size_t *bytes);
/* Mantissa bits; 0 if the dtype is not a floating one. */
int rg_mantissa_bits(nd4c_dtype dtype);
/* The distance of neighbours near a number; nearly so among subnormal ones. */
double rg_last_place(nd4c_dtype dtype, double number);
/* Engines may flush smaller results to 0. */
double rg_least_normal(nd4c_dtype dtype);
bool rg_is_product(nd4c_op op);

/* How operands are moved: floating ones by at most 2 * reach units in the last place, or by the roundings of the
 * precision. */
typedef struct rg_moves {
  uint64_t random;
  rg_precision precision;
  int64_t reach;
} rg_moves;
/* Fills the outputs of the graph, in float64 if `wide`; moves NULL: from the operands as they are. False if an op
 * refused its changed operands. */
bool rg_compute_again(const rg_sketch *sketch, bool wide, rg_moves *moves, nd4c_array **outputs);

/* -- judge.c ------------------------------------------------------------------------------------------------------- */

/* What one graph's results are compared with. */
typedef struct rg_judge rg_judge;
/* `base` are the results of the plan without passes; the judge retains them. The precision says how coarse the results
 * may be. */
rg_judge *rg_judge_make(const rg_sketch *sketch, nd4c_array *const *base, rg_precision precision);
void rg_judge_free(rg_judge *judge);
/* NULL if the output may be what a plan gave, else what is wrong, written into `text`. */
const char *rg_judge_output(rg_judge *judge, int32_t output, const nd4c_array *got, bool exact, char *text,
                            size_t size);

/* -- bound.c ------------------------------------------------------------------------------------------------------- */

/* Runs a plan of the sketch by a runner: copies of the inputs are bound, donated, or bound to an output as well.
 * `outputs` receives references. */
nd4c_status rg_run_bound(const rg_sketch *sketch, nd4c_plan *plan, nd4c_array *const *inputs, uint64_t *random,
                         nd4c_array **outputs);
/* Gives the variable of a graph of the sketch its initial value again. */
void rg_variable_reset(const rg_sketch *sketch, const nd4c_graph *graph);
nd4c_array *rg_variable_get(const rg_sketch *sketch, const nd4c_graph *graph);

/* -- trial.c ------------------------------------------------------------------------------------------------------- */

enum { RG_LIST = 512, RG_TEXT = 768 };

typedef struct rg_failure {
  char passes[RG_LIST]; /* as nd4c_plan_options.passes takes them */
  rg_precision precision;
  bool plain; /* without passes the results differ already */
  char what[RG_TEXT];
} rg_failure;

typedef struct rg_trial_options {
  const char *passes;     /* only this list; NULL: the modes below */
  rg_precision precision; /* with `passes`: this precision */
  bool thorough;          /* each pass alone and four subsets, instead of one of each */
} rg_trial_options;

/* True if all plans agree. `runs` counts them. */
bool rg_trial(const rg_sketch *sketch, const rg_trial_options *options, int64_t *runs, rg_failure *failure);
/* How many graphs plans computed on bytes by a calibration so far. */
int64_t rg_trial_calibrated(void);
/* How many were to be calibrated, but have NaN or values that no byte can stand for: they were tried without
 * one. */
int64_t rg_trial_uncalibrated(void);
/* Numbers of rewrites by pass over all trials so far, and of graphs with dims at other sizes. */
void rg_trial_print_changes(void);
/* Prints the passes that have not rewritten anything, and returns how many: without those that only a kernel makes
 * worth while which this machine does not have. */
int32_t rg_trial_print_idle(void);

/* -- shrink.c ------------------------------------------------------------------------------------------------------ */

/* The smallest graph found that still fails, with the fewest passes; `failure` is that of the result. */
rg_sketch *rg_shrink(const rg_sketch *sketch, rg_failure *failure);

#endif
