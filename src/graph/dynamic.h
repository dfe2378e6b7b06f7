/* Plans of graphs with dims. Such a plan has the graph as its passes leave it, and computes nothing itself: each
 * combination of the dims' numbers that a run brings gets a binding, a plan of its own, which is kept for later runs.
 * A run reads the dims from its inputs (dynamic_solve.c) and takes the binding (dynamic_bindings.c), which is made if
 * it is new (dynamic_bind.c).
 *
 * plan.c creates and destroys these plans, run.c runs them, report.c prints them. */
#ifndef ND4C_GRAPH_DYNAMIC_DYNAMIC_H
#define ND4C_GRAPH_DYNAMIC_DYNAMIC_H

#include "graph/callers.h"
#include "graph/plan.h"
#include "graph/plan/arenas.h"

enum {
  ND4C_DYNAMIC_DIMS = 64,       /* of one graph */
  ND4C_DYNAMIC_FREEZE_RUNS = 8, /* so many runs with the same extents freeze a plan */
  ND4C_DYNAMIC_BUCKETS = 256
};

/* An extent of an input that depends on dims. */
typedef struct nd4c_dim_place {
  int32_t input, axis;
  int32_t dim;            /* the extent is factor * dim + offset; -1: it is another expression */
  int64_t factor, offset; /* factor is not 0 */
} nd4c_dim_place;

/* A plan for one combination of numbers. */
typedef struct nd4c_plan_binding {
  struct nd4c_plan_binding *next; /* of the same bucket */
  nd4c_plan *plan;
  const int64_t *dims;
  const int64_t *top; /* the largest numbers of its bucket; NULL: it has no bucket */
  uint64_t hash;
  int64_t bytes;
  int64_t used;  /* the number of its latest use, by a run or by nd4c_plan_prepare */
  int64_t run;   /* the number of the latest run that took it; 0: none did */
  int32_t users; /* runs in progress */
} nd4c_plan_binding;

/* Which phase a plan is in, from the extents of its latest runs. */
typedef struct nd4c_dynamic_phase {
  nd4c_plan_phase phase;
  int64_t same;                   /* runs in a row with the extents of `latest` */
  int64_t runs;                   /* all of them */
  int64_t thaws, thawed_at;       /* how often it thawed; the latest such run */
  int32_t thawed_by;              /* the dim that changed then */
  int64_t thawed_from, thawed_to; /* its numbers */
  int64_t latest[ND4C_DYNAMIC_DIMS];
} nd4c_dynamic_phase;

struct nd4c_dynamic {
  bool optimize;
  nd4c_plan_common *common; /* plan/common.h; NULL: bindings share nothing */
  nd4c_plan_arenas arenas;  /* of runs in mode direct; device NULL: bindings have their own */
  nd4c_context *helper;     /* one reference: the context that computes what the plan's device cannot; NULL: none */
  int32_t dim_count, place_count;
  nd4c_dim_place *places; /* of the inputs, in their order */
  const int32_t *sources; /* by dim: the place that its number is read from */
  nd4c_lock making;       /* held while a binding is made */
  nd4c_lock lock;         /* guards the rest, and what changes in bindings */
  nd4c_plan_binding *buckets[ND4C_DYNAMIC_BUCKETS];
  int64_t uses;              /* of all bindings; the binding used last has this number */
  nd4c_plan_bindings counts; /* what programs ask for */
  int64_t swept;             /* counts.dropped when the choices of dropped bindings were freed last */
  int64_t emptied;           /* states prepared until libraries were asked to empty their caches last */
  nd4c_dynamic_phase phase;
};

/* -- dynamic.c: life of such a plan -------------------------------------------------------------------------------- */

/* The rest of nd4c_plan_create for a plan whose graph has dims. UNSUPPORTED: a dim's number does not follow from the
 * inputs' shapes, the plan is placed on several devices, or it has a file of executables. */
nd4c_status nd4c_dynamic_make(nd4c_plan *plan, const nd4c_plan_options *options, bool optimize);
void nd4c_dynamic_free(nd4c_plan *plan);
/* nd4c_plan_run_request, whose counts and dtypes were checked. */
nd4c_status nd4c_dynamic_run(nd4c_plan *plan, nd4c_context *context, const nd4c_run_request *request);
/* The plan has left its context: so do its bindings. */
nd4c_status nd4c_dynamic_leave(nd4c_plan *plan);

/* -- dynamic_solve.c: the dims of a run ---------------------------------------------------------------------------- */

/* Finds the places of dims in the inputs. UNSUPPORTED if a dim has none from which it follows. */
nd4c_status nd4c_dims_find(nd4c_plan *plan);
/* The dims' numbers. SHAPE if the shapes do not fit, or contradict each other. */
nd4c_status nd4c_dims_solve(const nd4c_plan *plan, const nd4c_array *const *inputs, int64_t *dims);
/* Extents that are no multiple of one dim, which nd4c_dims_solve does not check, against the shapes of a graph of
 * numbers. SHAPE. */
nd4c_status nd4c_dims_check(const nd4c_plan *plan, const nd4c_graph *bound, const nd4c_array *const *inputs);

/* -- dynamic_bindings.c: the bindings that a plan keeps ------------------------------------------------------------ */

/* The binding of these numbers, made if there is none. The thread must give it back. `run`: a run takes it, which
 * counts for the phase. */
nd4c_status nd4c_bindings_take(nd4c_plan *plan, nd4c_context *context, const int64_t *dims, bool run,
                               nd4c_plan_binding **binding);
void nd4c_bindings_give(const nd4c_plan *plan, nd4c_plan_binding *binding);
/* The binding that was used last; NULL: none is kept. The first one is for threads that hold the plan's lock; with the
 * second one, the thread must give the binding back. */
nd4c_plan_binding *nd4c_bindings_latest(const nd4c_dynamic *dynamic);
nd4c_plan_binding *nd4c_bindings_take_latest(const nd4c_plan *plan);
void nd4c_bindings_free(nd4c_plan *plan);

/* -- dynamic_bind.c: making a binding ------------------------------------------------------------------------------ */

/* A plan for these numbers on `context` (NULL: the plan's own). `previous`: the plan of a binding of the same bucket,
 * which no thread runs; NULL: none. SHAPE: a bound or a guard does not hold. */
nd4c_status nd4c_dynamic_bind(nd4c_plan *plan, nd4c_context *context, const int64_t *dims, const nd4c_plan *previous,
                              nd4c_plan **bound);
/* Whether bindings share choices now, without which buckets are of no use. */
bool nd4c_dynamic_shares(const nd4c_plan *plan);
/* Memory that a plan without dims and the plans of its bodies hold, except for constants and their packed forms, arenas
 * of further callers and staging arrays. */
int64_t nd4c_dynamic_bytes(const nd4c_plan *bound);

/* -- dynamic_buckets.c: sizes that share a binding -------------------------------------------------------------------
 */

/* Reads what the options or the property say of the graph's dims into plan->buckets. ARGUMENT, NAME, CONFIG. */
nd4c_status nd4c_buckets_read(const char *function, const nd4c_graph *graph, const nd4c_plan_options *options,
                              nd4c_plan *plan);
/* The largest numbers of the bucket of `dims`, within the dims' bounds. */
void nd4c_buckets_top(const nd4c_plan *plan, const int64_t *dims, int64_t *top);
void nd4c_buckets_print(const nd4c_plan *plan, nd4c_text *text);

/* -- dynamic_graph.c ----------------------------------------------------------------------------------------------- */

/* The graph of a binding, which borrows names and attributes from the plan's graph. OVERFLOW: a shape has no size in 64
 * bits. */
nd4c_status nd4c_graph_number(const nd4c_plan_common *common, const nd4c_binding *binding, nd4c_graph **graph);
/* NULL is fine. */
void nd4c_graph_free_numbers(nd4c_graph *graph);

/* -- dynamic_phase.c ----------------------------------------------------------------------------------------------- */

/* Notes the extents of a run; under the plan's lock. */
void nd4c_phase_note(nd4c_dynamic *dynamic, const int64_t *dims);
/* The report's line about what bindings took, each of them; `preparing`, `prepared`: in kernels. */
void nd4c_dynamic_print_time(int64_t count, int64_t nanoseconds, int64_t preparing, int64_t prepared, nd4c_text *text);
/* The report's lines about dims and bindings; `print` adds those of the binding that ran last. */
void nd4c_dynamic_print(const nd4c_plan *plan, void (*print)(const nd4c_plan *bound, nd4c_text *text), nd4c_text *text);

#endif
