/* Rounds of a body that has a plan of its own: a loop of which only its run says how long its results are, so that no
 * plan around it can hold it. import/onnx/ops/control_rounds.c runs such loops of a model.
 *
 * Inputs of the body: the number of the round (int64, 0-d); carried and captured values. Outputs: whether another round
 * follows, if it decides; carried and collected values. */
#ifndef ND4C_GRAPH_ROUNDS_H
#define ND4C_GRAPH_ROUNDS_H

#include "graph/plan.h"

typedef struct nd4c_rounds {
  int32_t carried, captured, collected;
  bool decides;         /* the body's first output, a bool, says whether another round follows */
  int64_t most, limit;  /* the most rounds, 1 or more; how many of them are allowed (OVERFLOW) */
  const int32_t *front; /* by carried value: its axis that the body, a plan with dims, has first (ir/growing.h); 0: none
                           is moved. NULL: no value's */
} nd4c_rounds;

/* Runs at least one round. `body`: moved to no context. given: the first carried values, then captured ones, in any
 * layout. results: gets fresh arrays, the last carried values, then the collected ones, along a new first axis. A
 * failure leaves results as they were; its text names the round.
 *
 * A plan in mode direct computes on addresses: carried values have two places in turn, and collected ones lie one
 * behind the other in memory that doubles when it is full. Other plans, and those with dims, get arrays. A value that
 * such a plan grows by rows has room for more of them, so that none is copied from round to round. */
nd4c_status nd4c_rounds_run(nd4c_plan *body, nd4c_context *context, const nd4c_rounds *rounds,
                            const nd4c_array *const *given, nd4c_array **results);

/* -- between the files of it --------------------------------------------------------------------------------------- */

/* Elements of a collected value; the rows from `done` on mean nothing yet. */
typedef struct nd4c_rounds_rows {
  nd4c_array *array; /* [room, shape of an element]; NULL: no round was run yet */
  int64_t room;
} nd4c_rounds_rows;

/* Makes room for one more element behind `done`, of at most rounds->most: `array` is replaced if it is full. */
nd4c_status nd4c_rounds_make_room(const nd4c_rounds *rounds, nd4c_context *context, nd4c_dtype dtype, int32_t rank,
                                  const int64_t *shape, int64_t done, nd4c_rounds_rows *rows);
/* The elements that were written, as an array of their own. */
nd4c_status nd4c_rounds_take_rows(nd4c_context *context, int64_t done, nd4c_rounds_rows *rows, nd4c_array **array);
/* A carried value to which each round appends rows: its result is a concat whose first operand it is. It lies in memory
 * that doubles when it is full, and the rows are written behind it. */
typedef struct nd4c_rounds_growth {
  bool grows;
  int32_t axis;  /* extents before it are 1 */
  int64_t rows;  /* of each round */
  int32_t front; /* as the rounds say */
  nd4c_array *room;
} nd4c_rounds_growth;

/* rounds_growing.c: finds the growing values of a plan with dims that has run a round, by carried value. */
void nd4c_rounds_find_growth(const nd4c_plan *body, const nd4c_rounds *rounds, nd4c_rounds_growth *growth);
/* The array for the next value, which begins with `past` or gets a copy of it in larger memory. done: rounds. */
nd4c_status nd4c_rounds_grow(const nd4c_rounds *rounds, nd4c_context *context, const nd4c_array *past, int64_t done,
                             nd4c_rounds_growth *growth, nd4c_array **next);
/* The value as the body takes it. */
nd4c_status nd4c_rounds_turn(const nd4c_array *given, int32_t front, nd4c_array **view);
/* Gives up the memory; a last value that has more than it needs, or whose axes are moved, becomes an array of its own.
 */
nd4c_status nd4c_rounds_end_growth(nd4c_context *context, nd4c_rounds_growth *growth, nd4c_array **last);

/* What ends a round or keeps it from beginning: the limit, a cancellation. */
nd4c_status nd4c_rounds_may_begin(const nd4c_rounds *rounds, int64_t done);
/* rounds_arrays.c: on arrays. */
nd4c_status nd4c_rounds_run_arrays(nd4c_plan *body, nd4c_context *context, const nd4c_rounds *rounds,
                                   const nd4c_array *const *given, nd4c_array **results);

#endif
