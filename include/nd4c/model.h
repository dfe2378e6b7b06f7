/* Models read from files: ONNX today. Weights are used in place from the mapped file where they are aligned: the file
 * must not be changed or cut while the model or an array from it lives. Any thread may run a model:
 * runs of one model wait for each other. Who closes it is the last. */
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
  bool all_intermediates; /* every named value becomes an output too, after the model's own outputs; not optimised */
  bool no_optimization;
  const nd4c_placement *placement; /* of the model's plans (nd4c_plan_options), copied; NULL: one device. A model that
                                    * is interpreted has no plan: it runs on the context. A strict context refuses what
                                    * a plan cannot place (UNSUPPORTED) */
  const nd4c_compile_request *compile; /* of the model's plans (nd4c_plan_options), copied */
  const char *compiled; /* a file of nd4c_model_compile, for the model's plans (nd4c_plan_options); copied; read when a
                         * plan is made. NULL: none */
} nd4c_model_options;

/* Opens a model file and checks it whole: wire format, sizes, graph order, ops and opsets known. options NULL:
 * defaults. IO, FORMAT (with the byte offset), UNSUPPORTED (an op or opset that nd4c lacks: the text lists all of
 * them), MEMORY. External data is read from beside the model file only. */
ND4C_API nd4c_status nd4c_model_open(const char *path, const nd4c_model_options *options, nd4c_model **model);
/* As nd4c_model_open from memory, which must stay valid and unchanged until `release` is called (NULL: until the model
 * and all arrays from it are gone). */
ND4C_API nd4c_status nd4c_model_open_memory(const void *bytes, size_t size, const nd4c_model_options *options,
                                            nd4c_release_callback release, void *user, nd4c_model **model);
ND4C_API void nd4c_model_close(nd4c_model *model);

/* An ONNX operator that models may hold and no op is by itself: the import makes it of several, or the interpreter of
 * models does it. All others stand among the names of the ops. */
typedef struct nd4c_onnx_composite {
  const char *domain; /* "": ONNX's own */
  const char *name;
  const char *composed_of;
} nd4c_onnx_composite;

ND4C_API int32_t nd4c_onnx_composite_count(void);
/* NULL outside 0 .. count - 1. */
ND4C_API const nd4c_onnx_composite *nd4c_onnx_composite_at(int32_t index);

/* One input or output. A dimension of -1 is free; its symbol is in `symbols` ("batch"), NULL if it has none. rank -1:
 * unknown. Owned by the model. */
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

/* Receives progress of long work: done of total steps of `what` ("importing", "preparing", "running"), on the running
 * thread. It must not run the model, ask for its report or change its callback: ARGUMENT, or without effect. */
typedef void (*nd4c_progress_callback)(void *user, const char *what, int64_t done, int64_t total);
ND4C_API void nd4c_model_set_progress(nd4c_model *model, nd4c_progress_callback callback, void *user);

/* Runs the model on the context (NULL: current). Inputs are matched by name, any order, each exactly once. A plan is
 * made for each new combination of device, settings of the context (width, deterministic, strict, transfer) and input
 * shapes, kept (the last few), and run on every context like that. outputs in the order of the model's outputs; NULL
 * entries receive fresh arrays. NAME, DTYPE, SHAPE name the input and what was expected. */
ND4C_API nd4c_status nd4c_model_run(nd4c_model *model, nd4c_context *context, const char *const *input_names,
                                    const nd4c_array *const *inputs, int32_t input_count, nd4c_array **outputs,
                                    int32_t output_count);

/* Compiles the model ahead of time for inputs of these shapes, in the order of the model's inputs, as nd4c_plan_compile
 * does. shapes NULL: as declared; SHAPE names an input of which something is free. UNSUPPORTED, too, where the model is
 * no graph: the text says why. */
ND4C_API nd4c_status nd4c_model_compile(nd4c_model *model, const char *target, const int32_t *ranks,
                                        const int64_t *const *shapes, const char *path, char **report);

/* As nd4c_model_run for models whose inputs and outputs may be sequences and optionals. outputs receive fresh data,
 * each to be released. ARGUMENT and DTYPE name an input that is of another kind or dtype than declared. */
ND4C_API nd4c_status nd4c_model_run_data(nd4c_model *model, nd4c_context *context, const char *const *input_names,
                                         const nd4c_datum *const *inputs, int32_t input_count, nd4c_datum **outputs,
                                         int32_t output_count);

/* Report of the run before, as nd4c_plan_report, or which node kept the model from being a graph; "" before the first
 * run. */
ND4C_API nd4c_status nd4c_model_report(const nd4c_model *model, char **text);

ND4C_EXTERN_C_END
#endif
