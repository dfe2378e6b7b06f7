/* Plans of the rounds of Loops that an interpreted model runs. A node with a body in a graph around must say how long
 * its results are; such a loop finds out only in its run. So its body has a plan of its own, for inputs of certain
 * dtypes and shapes, made when a run first needs it and kept with what the model keeps for its shapes
 * (import/model_plans.c). ops/control_rounds.c makes and runs them. */
#ifndef ND4C_IMPORT_ONNX_EMISSION_LOOPS_H
#define ND4C_IMPORT_ONNX_EMISSION_LOOPS_H

#include <stdatomic.h>

#include "base/os_lock.h"
#include "base/text.h"
#include "graph/rounds.h"
#include "import/onnx/emission/emission.h"

enum { ND4C_ONNX_LOOP_CALLS = 8, ND4C_ONNX_LOOP_NUMBERS = 16 };

/* A value of the graphs around that a body reads and that a run knows: which one, seen from the node, and what it is.
 */
typedef struct nd4c_onnx_loop_read {
  int32_t levels, number; /* how many graphs further out it is; its number there */
  nd4c_onnx_operand operand;
  bool is_baked; /* its numbers are constants of the plan: other ones need another plan */
  int32_t count; /* of them */
  int64_t numbers[ND4C_ONNX_LOOP_NUMBERS];
} nd4c_onnx_loop_read;

/* Dtype and shape of an input of the body. */
typedef struct nd4c_onnx_loop_port {
  nd4c_dtype dtype;
  int32_t rank;
  int64_t shape[ND4C_MAX_RANK];
  uint64_t free; /* by axis: the plan takes any extent */
} nd4c_onnx_loop_port;

typedef struct nd4c_onnx_loop {
  struct nd4c_onnx_loop *next; /* the next most recently used */
  int32_t users;
  bool dropped; /* no longer in the list: the last user frees it */
  nd4c_region region;
  const nd4c_onnx_node *node;
  const nd4c_onnx_node *calls[ND4C_ONNX_LOOP_CALLS]; /* of functions, from the node outwards */
  int32_t call_count;
  int32_t carried, read_count;
  nd4c_onnx_loop_port *ports; /* of carried values, then of what is read */
  nd4c_onnx_loop_read *reads;
  nd4c_plan *plan;          /* NULL: the rounds are interpreted */
  nd4c_rounds rounds;       /* its `most` as the body says: 1 or INT64_MAX */
  char *why;                /* they are interpreted; in the region */
  bool misses;              /* its plan may fail where the interpreter does not (cuts.h) */
  _Atomic int64_t runs;     /* with an entry that has a plan */
  _Atomic int64_t unserved; /* those that failed in a plan with dims or one that misses, and were interpreted */
} nd4c_onnx_loop;

/* The plans that a model keeps; several threads use it at once. */
typedef struct nd4c_onnx_loops {
  nd4c_lock lock;        /* guards the rest of the struct, and what the entries say about their use; briefly held */
  nd4c_onnx_loop *first; /* the most recently used */
  int64_t made, found, refused;
  /* Makes a plan of a body. */
  nd4c_status (*make)(void *user, nd4c_context *context, const nd4c_graph *body, nd4c_plan **plan);
  void *user;
} nd4c_onnx_loops;

void nd4c_onnx_loops_init(nd4c_onnx_loops *loops,
                          nd4c_status (*make)(void *, nd4c_context *, const nd4c_graph *, nd4c_plan **), void *user);
void nd4c_onnx_loops_free(nd4c_onnx_loops *loops);

/* The entry that serves the node with the operands that it has in this run, with one more user; NULL: there is none.
 * *refused: there is none, and none should be made, since the loop's shapes change all the time. */
nd4c_onnx_loop *nd4c_onnx_loops_find(nd4c_onnx_loops *loops, const nd4c_onnx_emission *emission, bool *refused);
/* Takes over an entry without users, and gives it one. Another thread may have added one that serves meanwhile: that
 * one is returned. */
nd4c_onnx_loop *nd4c_onnx_loops_add(nd4c_onnx_loops *loops, const nd4c_onnx_emission *emission, nd4c_onnx_loop *loop);
void nd4c_onnx_loops_leave(nd4c_onnx_loops *loops, nd4c_onnx_loop *loop);
/* Frees an entry that was not added. */
void nd4c_onnx_loop_free(nd4c_onnx_loop *loop);
/* The functions whose call the node stands in; false if there are too many. */
bool nd4c_onnx_loop_calls(const nd4c_onnx_emission *emission, nd4c_onnx_loop *loop);
/* The array that a read has in this run; NULL: it is none. */
nd4c_array *nd4c_onnx_loop_array(const nd4c_onnx_emission *emission, const nd4c_onnx_loop_read *read);
/* The numbers of an array of few integers or bools; false: it is none. */
bool nd4c_onnx_loop_numbers(const nd4c_array *array, nd4c_onnx_loop_read *read);
/* Lines of the report, one for each entry. */
void nd4c_onnx_loops_tell(nd4c_onnx_loops *loops, nd4c_text *text);

#endif
