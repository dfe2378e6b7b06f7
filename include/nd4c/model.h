/* Models read from ONNX files. Aligned weights are used in place from the mapped file: the file must not be changed or
 * truncated while the model, or an array from it, is alive. Any thread may run a model, and several may at once: they
 * share the constants, and each run has memory of its own. A thread that needs a new plan, or a new binding of a plan,
 * makes it while others go on; a model that is interpreted runs on several threads likewise. Only these wait for each
 * other: threads that make plans, threads that make bindings of one plan, and runs of a plan in another mode than
 * direct. The caller closes a model after all other calls on it have returned. */
#ifndef ND4C_MODEL_H
#define ND4C_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nd4c/datum.h"
#include "nd4c/graph.h"

ND4C_EXTERN_C_BEGIN

typedef struct nd4c_model nd4c_model;

typedef struct nd4c_model_options {
  uint32_t struct_size;   /* sizeof(nd4c_model_options) */
  bool all_intermediates; /* every named value becomes an output too, after the model's own; the graph is not
                             optimised */
  bool no_optimization;
  const nd4c_placement *placement;     /* for the model's plans (nd4c_plan_options), copied; NULL: one device. An
                                          interpreted model has no plan and runs on the context's device; a strict
                                          context refuses to interpret a model with a placement (UNSUPPORTED) */
  const nd4c_compile_request *compile; /* for the model's plans (nd4c_plan_options), copied */
  const char *compiled; /* path of a file from nd4c_model_compile, for the model's plans (nd4c_plan_options); copied;
                           read when a plan is created. NULL: none */
  const char *passes; /* which passes run, for the model's plans (nd4c_plan_options); copied, and checked when the model
                         is opened. NULL: as nd4c.plan.passes says when a plan is created */
  nd4c_dtype precision; /* the dtype in which nodes of float32 compute, for the model's plans (nd4c_plan_options);
                           checked when a plan is created. A model that is interpreted computes in its own dtypes, and
                           its report says so (strict context: UNSUPPORTED) */
  nd4c_calibration *calibration; /* for precision ND4C_INT8, for the model's plans (nd4c_plan_options), which hold one
                                    reference; NULL: none. ARGUMENT: the precision is another one */
  const char *const *overridden; /* names of inputs with defaults (nd4c_model_default), which become inputs without, in
                                    the file's order: each run gives them. Read when the model is opened. Nothing that
                                    depends on them is folded. ARGUMENT: a name is none of a default. NULL: none */
  int32_t overridden_count;
  int64_t loop_limit; /* a Loop of the model that wants more rounds than this fails (OVERFLOW), in a plan as when it is
                         interpreted; 0: ND4C_LOOP_LIMIT (nd4c/control.h). ARGUMENT: negative */
} nd4c_model_options;

/* Opens a model file and checks all of it: wire format, sizes, the order of the graph, ops and opsets. options NULL:
 * defaults. ARGUMENT (the options' struct_size is too small), IO, FORMAT (with the byte offset), UNSUPPORTED (ops or
 * opsets that nd4c lacks: the text lists them all), MEMORY. External data is read only from the model file's directory.
 */
ND4C_API nd4c_status nd4c_model_open(const char *path, const nd4c_model_options *options, nd4c_model **model);
/* As nd4c_model_open, but from memory, which must stay valid and unchanged until nd4c calls `release` (if `release` is
 * NULL: until the model is closed and all arrays from it are released). */
ND4C_API nd4c_status nd4c_model_open_memory(const void *bytes, size_t size, const nd4c_model_options *options,
                                            nd4c_release_callback release, void *user, nd4c_model **model);
/* Closes the model, and trims the memory of its devices: to 1 MiB each while other models are open, else to 0
 * (nd4c_memory_trim). NULL is fine. */
ND4C_API void nd4c_model_close(nd4c_model *model);

/* An ONNX operator that no single op implements: the import composes it from several ops, or the interpreter runs it.
 * All other operators are listed with the ops. */
typedef struct nd4c_onnx_composite {
  const char *domain; /* "": ONNX's own */
  const char *name;
  const char *composed_of;
} nd4c_onnx_composite;

ND4C_API int32_t nd4c_onnx_composite_count(void);
/* NULL outside 0 .. count - 1. */
ND4C_API const nd4c_onnx_composite *nd4c_onnx_composite_at(int32_t index);

/* One input or output. A dimension of -1 is free; `symbols` has its symbol ("batch"), or NULL. rank -1: unknown. Owned
 * by the model. */
typedef struct nd4c_model_value {
  uint32_t struct_size; /* set by the caller: sizeof(nd4c_model_value) */
  const char *name;
  nd4c_dtype dtype;
  int32_t rank;
  const int64_t *shape;
  const char *const *symbols;
  /* From the outside in: {ARRAY} for an array, {OPTIONAL, SEQUENCE, ARRAY} for an optional sequence of arrays; dtype,
   * rank and shape are those of the arrays. kind_count 0: not declared. */
  const nd4c_datum_kind *kinds;
  int32_t kind_count;
} nd4c_model_value;

ND4C_API int32_t nd4c_model_input_count(const nd4c_model *model);
ND4C_API int32_t nd4c_model_output_count(const nd4c_model *model);
ND4C_API nd4c_status nd4c_model_input(const nd4c_model *model, int32_t index, nd4c_model_value *value);
ND4C_API nd4c_status nd4c_model_output(const nd4c_model *model, int32_t index, nd4c_model_value *value);

/* The classes of an output that ZipMap of ai.onnx.ml makes, as classifiers of scikit-learn have: a new 1-D array of
 * int64 or utf8, which the caller releases. nd4c has no maps, so such an output is the tensor of probabilities
 * [n, classes] that the node reads, and column i is that of class i. *classes is NULL for any other output. INDEX
 * outside 0 .. nd4c_model_output_count - 1. */
ND4C_API nd4c_status nd4c_model_classes(const nd4c_model *model, int32_t index, nd4c_array **classes);

/* Inputs with defaults: those that have an initializer in the file, which nd4c takes as a constant, so that runs do not
 * give them. Files of IR version 3 and older list all their initializers so. A model that is opened with
 * nd4c_model_options.overridden has the named ones as inputs instead. INDEX outside 0 .. count - 1. */
ND4C_API int32_t nd4c_model_default_count(const nd4c_model *model);
ND4C_API nd4c_status nd4c_model_default(const nd4c_model *model, int32_t index, nd4c_model_value *value);

/* Reports progress of long work: `done` of `total` steps of `what`, before each step and at the end. In a first run:
 *
 * "importing": nodes of the model
 * "optimizing": passes; `done` is the last one that has begun, since passes run again after others
 * "compiling": segments, for each compiler
 * "preparing": nodes of the optimised graph, whose kernels are chosen and whose weights are packed
 * "placing": values, which get their places in the arena
 *
 * and in every run
 *
 * "running": steps of the plan, or of each part's plan, or nodes of an interpreted model; of a plan on an asynchronous
 *            device as they are submitted, or all at once
 * "looping": rounds of a loop among these steps, at most every 20 ms; `total` is 0 if the loop itself ends it
 *
 * nd4c calls it on the running thread, on several at once if they run the model at once. It must not run the model or
 * ask for its report (ARGUMENT), or change its callback (no effect), nor do so through another model whose callback it
 * runs. It must not wait for another thread that runs the model: that thread may wait for this one, which imports it
 * or makes a plan of it. A run without a callback takes no longer than one of a model that never had one; a callback
 * takes its own time at each step. */
typedef void (*nd4c_progress_callback)(void *user, const char *what, int64_t done, int64_t total);
ND4C_API void nd4c_model_set_progress(nd4c_model *model, nd4c_progress_callback callback, void *user);

/* Runs the model on the context (NULL: current). Inputs are matched by name, in any order, each exactly once. Each
 * combination of device and the context's settings (width, deterministic, strict, transfer) gets a plan. If the model
 * leaves extents free, this plan is of a graph with dims and serves all shapes. Shapes that it cannot serve are
 * imported by themselves, and each combination of them gets a plan, too; so do all shapes of a model that no graph with
 * dims can express (nd4c.model.dims, nd4c_model_report). The model keeps the last few plans and reuses them on all
 * contexts with equal settings. outputs are in the order of the model's outputs; a NULL entry receives a fresh array.
 * NAME, DTYPE, SHAPE: the text names the input and what was expected. */
ND4C_API nd4c_status nd4c_model_run(nd4c_model *model, nd4c_context *context, const char *const *input_names,
                                    const nd4c_array *const *inputs, int32_t input_count, nd4c_array **outputs,
                                    int32_t output_count);

/* The model's graph for inputs of these shapes, in the order of the model's inputs, before any pass: for looking at it
 * and for plans of one's own. shapes NULL: as the model declares them; extents that it leaves free become dims of the
 * graph, named after their symbols, or after the input and the axis ("x.0"). The caller destroys the graph, which may
 * outlive the model. Constants are computed on `context` (NULL: current). UNSUPPORTED if the model cannot become a
 * graph, or one with dims: the text says why. */
ND4C_API nd4c_status nd4c_model_graph(nd4c_model *model, nd4c_context *context, const int32_t *ranks,
                                      const int64_t *const *shapes, nd4c_graph **graph);

/* The parts of a model that cannot become a graph, because the shapes of some results depend on data, or values are
 * sequences or strings: graphs that are planned as in nd4c_model_run, between nodes that are interpreted. The text has
 * a line for each part and for each interpreted node, with the reason, in the order in which they run. *count receives
 * the number of parts; 0: none is worth a plan. graphs has `room` entries (0: may be NULL) and receives the graphs of
 * as many parts as it has room for, before any pass: inputs and outputs are named after the model's values, and extents
 * that data decides are dims, named after a value and its axis. The caller destroys the graphs, and frees the text with
 * nd4c_free. ranks, shapes and context: as in nd4c_model_graph. A model that can become a graph has one part. After a
 * failure nothing is given. NULL_ARGUMENT, ARGUMENT, SHAPE, MEMORY; UNSUPPORTED: an input or output is a
 * sequence or optional, or the model leaves the rank of an input free and no shapes are given. Any thread. */
ND4C_API nd4c_status nd4c_model_parts(nd4c_model *model, nd4c_context *context, const int32_t *ranks,
                                      const int64_t *const *shapes, nd4c_graph **graphs, int32_t room, int32_t *count,
                                      char **text);

/* Compiles the model ahead of time for inputs of these shapes, in the order of the model's inputs, as nd4c_plan_compile
 * does. shapes NULL: as the model declares them; SHAPE if a declared dimension is free, and the text names the input.
 * UNSUPPORTED also if the model cannot become a graph: the text says why. */
ND4C_API nd4c_status nd4c_model_compile(nd4c_model *model, const char *target, const int32_t *ranks,
                                        const int64_t *const *shapes, const char *path, char **report);

/* As nd4c_model_run, but for models whose inputs and outputs may be sequences and optionals. Each entry of outputs
 * receives a new datum, which the caller releases. ARGUMENT or DTYPE if the kind or dtype of an input differs from the
 * declared one; the text names the input. */
ND4C_API nd4c_status nd4c_model_run_data(nd4c_model *model, nd4c_context *context, const char *const *input_names,
                                         const nd4c_datum *const *inputs, int32_t input_count, nd4c_datum **outputs,
                                         int32_t output_count);

/* The report of the last run: that of its plan, as nd4c_plan_report gives it; if the model leaves extents free and the
 * plan is for these shapes alone, a last line says why. If the model could not become a graph, the report names the
 * nodes that prevented it, and has the reports of the parts between them (nd4c_model_parts). The last lines are about
 * outputs: those that are probabilities in place of maps (nd4c_model_classes), and a warning for each whose shape
 * contradicts the declared one. "" before the first run. Free with nd4c_free. */
ND4C_API nd4c_status nd4c_model_report(const nd4c_model *model, char **text);

/* As nd4c_plan_profile, _get_step, _get_body and _get_node for the plan of the last run, whose texts and bodies are
 * valid until the model runs again or is closed. If the model has parts, the steps and nodes of their plans follow one
 * another. UNSUPPORTED if that run had no plan: the text says why. ARGUMENT
 * before the first run. *count receives the number of steps. */
ND4C_API nd4c_status nd4c_model_profile(nd4c_model *model, bool on);
ND4C_API nd4c_status nd4c_model_step_count(const nd4c_model *model, int32_t *count);
ND4C_API nd4c_status nd4c_model_get_step(const nd4c_model *model, int32_t index, nd4c_step_info *info);
ND4C_API nd4c_status nd4c_model_get_body(const nd4c_model *model, int32_t index, int32_t body, const nd4c_plan **found);
ND4C_API nd4c_status nd4c_model_get_node(const nd4c_model *model, int32_t index, nd4c_node_info *info);

ND4C_EXTERN_C_END
#endif
