/* A model handle: the parsed file, its constants as arrays, and the plans made for the shapes it was run with. The
 * model files of this folder include it. */
#ifndef ND4C_IMPORT_MODEL_INTERNAL_H
#define ND4C_IMPORT_MODEL_INTERNAL_H

#include <stdatomic.h>

#include "base/os_lock.h"
#include "graph/callers.h"
#include "graph/plan.h"
#include "import/onnx/emission/loops.h"
#include "import/onnx/import.h"
#include "nd4c/calibration.h"
#include "nd4c/model.h"

/* A declared input or output as nd4c_model_value shows it; everything in the model's region. */
typedef struct nd4c_model_port {
  const char *name;
  nd4c_dtype dtype; /* ND4C_DTYPE_NONE: not declared */
  int32_t rank;     /* -1: unknown */
  int64_t *shape;
  const char **symbols;
  int32_t kind_count; /* 0: not declared; 1: an array */
  nd4c_datum_kind kinds[ND4C_ONNX_KINDS];
} nd4c_model_port;

/* What a plan was made for. */
typedef struct nd4c_model_key {
  nd4c_device *device;
  uint32_t epoch;         /* of the configuration */
  const int64_t *numbers; /* the context's settings, then rank and extents of each input unless the plan has dims */
} nd4c_model_key;

enum { ND4C_MODEL_SETTINGS = 4 };

/* The model's graph with dims, and for what context it was made. */
typedef struct nd4c_model_dims {
  bool tried, frees_all;
  nd4c_graph *graph; /* NULL: the model is no such graph */
  char *why;
  char *unplanned; /* why no plan can be made of the graph, so that it is bound to each combination of shapes; NULL: one
                      can, or it was not tried */
  nd4c_device *device;
  uint32_t epoch; /* of the configuration */
  int64_t settings[ND4C_MODEL_SETTINGS];
} nd4c_model_dims;

/* Plans of the parts of a model that no graph can express (model_parts.c). */
typedef struct nd4c_model_split nd4c_model_split;

/* A plan serves one combination of input shapes or, if it is of the graph with dims, all that this graph allows. The
 * same for the plans of parts. */
typedef struct nd4c_model_plan {
  struct nd4c_model_plan *next; /* the next most recently used */
  int32_t users;                /* runs and reports that use it now */
  bool dropped;                 /* no longer in the list: the last user frees it */
  bool has_dims;                /* its graph has, or its parts serve all shapes */
  nd4c_plan *plan;              /* NULL: the model is interpreted, all of it or between its parts */
  nd4c_model_split *parts;      /* NULL: it has none */
  nd4c_onnx_loops loops;        /* of interpreted runs */
  char *need;                   /* why the model is interpreted; else NULL */
  char *alone;                  /* why the graph is not from the one with dims, for the report; else NULL */
  nd4c_model_key key;           /* numbers follow the struct */
} nd4c_model_plan;

/* The turn is a thread's right to import the model. Runs need none, whether of a plan or interpreted. */
typedef struct nd4c_model_turn {
  nd4c_lock lock;
  _Atomic(const char *) thread; /* that has the turn; NULL: none */
  nd4c_lock list;               /* guards the list of plans, their users, what ran last and the callback; briefly held,
                                   and after `lock` */
} nd4c_model_turn;

struct nd4c_model {
  uint32_t magic;
  nd4c_model_turn *turn;
  nd4c_onnx_model onnx;
  nd4c_region region;
  bool all_intermediates, no_optimization;
  const nd4c_placement *placement; /* the model's copy, NULL: none */
  nd4c_compile_request *compile;   /* the model's copy, NULL: none */
  char *compiled;                  /* path of a file of executables, NULL: none */
  char *passes;                    /* which passes run, NULL: as the property says */
  nd4c_dtype precision;            /* of nodes of float32; ND4C_DTYPE_NONE: as the property says */
  nd4c_calibration *calibration;   /* one reference, for precision int8; NULL: none */
  int64_t loop_limit;              /* of rounds */
  int32_t input_count, output_count, default_count;
  nd4c_model_port *inputs, *outputs, *defaults;
  nd4c_onnx_initializer_slot *initializers;
  nd4c_onnx_remark *contradictions; /* by output of the file */
  nd4c_onnx_dense dense;            /* copies of views of them; changed by the thread that has the turn */
  nd4c_model_dims dims;             /* likewise */
  nd4c_model_plan *plans;           /* the most recently used first; this and what follows under the list's lock */
  bool ran;
  bool interpreted; /* the latest run had no plan */
  nd4c_progress_callback progress;
  void *user;
  nd4c_plan_progress telling; /* its plans tell nd4c_model_progress; on: there is a callback */
};

void nd4c_model_turn_init(nd4c_model_turn *turn);
void nd4c_model_turn_destroy(nd4c_model_turn *turn);
/* ARGUMENT if the model's progress callback, on this thread, called `what`. */
nd4c_status nd4c_model_turn_check(const nd4c_model_turn *turn, const char *what);
/* The same, then waits for the turn. */
nd4c_status nd4c_model_turn_take(nd4c_model_turn *turn, const char *what);
void nd4c_model_turn_give(nd4c_model_turn *turn);
/* Calls the model's progress callback, if it has one; for imports, `user` is the model. */
void nd4c_model_progress(void *user, const char *what, int64_t done, int64_t total);
/* HANDLE or NULL_ARGUMENT. */
nd4c_status nd4c_model_check(const nd4c_model *model);
/* Fills inputs, outputs and defaults from the parsed model. */
nd4c_status nd4c_model_describe(nd4c_model *model);
/* The plan for these inputs, made if there is none, with one more user. It has dims if the model can have such a plan,
 * and none of its own was made for these shapes. */
nd4c_status nd4c_model_find_plan(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                                 nd4c_model_plan **found);
/* The plan for these shapes alone, after the one with dims was refused: the thread's error says why. */
nd4c_status nd4c_model_find_alone(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                                  nd4c_model_plan **found);
/* What the model keeps for its runs on such contexts, if an input or output is no array, so that all of it is
 * interpreted. With one more user. */
nd4c_status nd4c_model_find_interpreted(nd4c_model *model, nd4c_context *context, nd4c_model_plan **found);
/* Ends a use. */
void nd4c_model_plan_leave(const nd4c_model *model, nd4c_model_plan *plan);
void nd4c_model_plan_drop(nd4c_model_plan *plan);
/* A graph of the model for inputs of these shapes. UNSUPPORTED if the model cannot be a graph: *need says why, and the
 * caller frees it. */
nd4c_status nd4c_model_import(nd4c_model *model, nd4c_context *context, const int32_t *ranks,
                              const int64_t *const *shapes, nd4c_graph **graph, char **need);
/* -- model_parts.c -- */

/* Splits the model, and makes plans of the parts. *parts stays NULL if no part is worth a plan. The shapes are for a
 * model that cannot be split for all of them. By the thread that has the turn. */
nd4c_status nd4c_model_split_make(nd4c_model *model, nd4c_context *context, const int32_t *ranks,
                                  const int64_t *const *shapes, nd4c_model_split **parts);
/* NULL is fine. */
void nd4c_model_split_drop(nd4c_model_split *parts);
/* Whether they serve all shapes that the model declares. */
bool nd4c_model_split_serve_all(const nd4c_model_split *parts);
/* Whether an array shares memory with a constant that all runs read. */
bool nd4c_model_split_owns(const nd4c_model_split *parts, const nd4c_array *array);
/* Any thread, several at once: needs no turn. */
nd4c_status nd4c_model_split_run(const nd4c_onnx_import_options *options, nd4c_model_split *parts,
                                 const nd4c_datum *const *inputs, nd4c_datum **outputs);
/* Their plans in order, some NULL; returns how many. */
int32_t nd4c_model_split_plans(const nd4c_model_split *parts, nd4c_plan *const **plans);
nd4c_status nd4c_model_split_report(const nd4c_model_split *parts, char **text);

/* -- model_outputs.c -- */

/* Appends what the report says about outputs to *text, which it replaces; after a failure *text is freed. */
nd4c_status nd4c_model_tell_outputs(const nd4c_model *model, char **text);

/* -- others -- */

/* The context's settings that a plan depends on. */
void nd4c_model_settings(const nd4c_context *context, int64_t settings[ND4C_MODEL_SETTINGS]);
/* A graph of the model with dims; NULL if it cannot be one: *why says so, and the caller frees it. */
nd4c_status nd4c_model_import_dims(nd4c_model *model, nd4c_context *context, bool frees_all, nd4c_graph **graph,
                                   char **why);
/* The model's graph with dims, which the model keeps; NULL: it has none. By the thread that has the turn. */
nd4c_status nd4c_model_dims_graph(nd4c_model *model, nd4c_context *context, const nd4c_graph **graph);
/* The model's graph with dims, bound to the shapes of the inputs. NULL: the shapes must be imported by themselves.
 * *alone says in a line why no plan with dims serves, or is NULL if the model has no dims. The caller frees it. */
nd4c_status nd4c_model_bind(nd4c_model *model, nd4c_context *context, const nd4c_array *const *inputs,
                            nd4c_graph **bound, char **alone);
/* The report's line about a plan whose graph was imported for its shapes alone. */
nd4c_status nd4c_model_tell_alone(const char *why, char **alone);
/* Notes that the thread's error says why the graph with dims makes no plan. By the thread that has the turn. */
nd4c_status nd4c_model_dims_unplanned(nd4c_model *model);
void nd4c_model_dims_drop(nd4c_model *model);
/* Shapes of all inputs. */
typedef struct nd4c_model_shapes {
  int32_t *ranks;
  const int64_t **shapes; /* each the caller's or the model's */
} nd4c_model_shapes;
/* Takes the given shapes, or, if given_ranks is NULL, the declared ones. SHAPE if a given shape is not one that the
 * model declares, or a declared one is free; `function` names the caller in the text. */
nd4c_status nd4c_model_shapes_take(const char *function, const nd4c_model *model, const int32_t *given_ranks,
                                   const int64_t *const *given_shapes, nd4c_model_shapes *shapes);
void nd4c_model_shapes_free(nd4c_model_shapes *shapes);
/* What the model's options say for each of its plans; callers that can add its placement and its file. */
nd4c_plan_options nd4c_model_plan_options(const nd4c_model *model);
nd4c_onnx_import_options nd4c_model_import_options(nd4c_model *model, nd4c_context *context);
/* The first input or output that is a sequence or an optional; NULL: all are arrays. */
const nd4c_model_port *nd4c_model_odd_port(const nd4c_model *model);
/* As nd4c_model_match for data of the declared kinds. */
nd4c_status nd4c_model_match_data(const nd4c_model *model, const char *const *names, const nd4c_datum *const *inputs,
                                  int32_t count, const nd4c_datum **ordered);
/* As nd4c_model_run, for arrays in the order of the model's inputs that nd4c_model_match has checked (model_run.c). */
nd4c_status nd4c_model_run_request(nd4c_model *model, nd4c_context *context, const nd4c_run_request *request);
/* Dtype, rank and the extents that the model declares. */
nd4c_status nd4c_model_check_port(const char *what, const nd4c_model_port *port, const nd4c_array *array);
/* Extents that have one symbol are equal. */
nd4c_status nd4c_model_check_symbols(const nd4c_model *model, const nd4c_array *const *ordered);
/* Puts the given arrays into the order of the model's inputs, checked against what is declared. */
nd4c_status nd4c_model_match(const nd4c_model *model, const char *const *names, const nd4c_array *const *inputs,
                             int32_t count, const nd4c_array **ordered);

#endif
