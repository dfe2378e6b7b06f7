/* From a parsed model to a graph, for given input shapes or with dims, or to its outputs for given inputs. Values that
 * depend on constants only are computed at once; interpreting a model is importing it with its inputs as constants.
 * import/model_plans.c and import/model_run.c call it. */
#ifndef ND4C_IMPORT_ONNX_IMPORT_H
#define ND4C_IMPORT_ONNX_IMPORT_H

#include <stdatomic.h>

#include "import/onnx/emission/dense.h"
#include "import/onnx/model.h"
#include "import/onnx/ops/mapping.h"
#include "nd4c/datum.h"
#include "nd4c/graph.h"
#include "nd4c/model.h"

/* An initializer as an array, one reference; NULL until a thread first needs it. Imports and interpreted runs fill it,
 * on several threads at once. */
typedef _Atomic(nd4c_array *) nd4c_onnx_initializer_slot;

/* A text about an output, or NULL; set once, by the first import or interpreted run that finds something. */
typedef _Atomic(char *) nd4c_onnx_remark;

/* What an import needs beside the parsed model. */
typedef struct nd4c_onnx_import_options {
  nd4c_context *context;                    /* where constants are computed */
  nd4c_onnx_initializer_slot *initializers; /* by initializer; the caller keeps them for later imports and runs */
  nd4c_onnx_dense *dense;     /* copies of views of them, likewise; only imports change it, one at a time */
  const int32_t *input_ranks; /* of the model's inputs; NULL: as declared, where free extents become dims */
  const int64_t *const *input_shapes;
  nd4c_onnx_remark *contradictions; /* by output: how its shape contradicts the declared one; the caller frees
 them. NULL: not compared */
  bool frees_all;                   /* for tests: without input_ranks, every extent becomes a dim */
  bool all_intermediates;
  int64_t loop_limit;              /* rounds after which a Loop fails */
  struct nd4c_onnx_loops *loops;   /* emission/loops.h: plans of Loops' rounds, for runs that interpret; NULL: none */
  nd4c_progress_callback progress; /* may be NULL */
  void *user;
} nd4c_onnx_import_options;

/* Builds the graph: its inputs in the order of the model's, its outputs likewise, followed by those that
 * nd4c_onnx_intermediates lists if all_intermediates is set. UNSUPPORTED if the model cannot be a graph, because a node
 * needs values that are known only in a run: *need says which, and the caller frees it with nd4c_deallocate. A graph
 * with dims may be refused for other reasons, where one for given shapes is not: the thread's error names the node. */
nd4c_status nd4c_onnx_import(const nd4c_onnx_model *model, const nd4c_onnx_import_options *options, nd4c_graph **graph,
                             char **need);

/* Computes the outputs, in the same order, node after node from the inputs in the order of the model's. Any thread may
 * call it, and several may at once. */
nd4c_status nd4c_onnx_interpret(const nd4c_onnx_model *model, const nd4c_onnx_import_options *options,
                                const nd4c_datum *const *inputs, nd4c_datum **outputs);

/* Numbers of the values that all_intermediates adds to the model's outputs: every named output of a node that the
 * import makes, in order. `numbers` has room for all values of the model; NULL only counts. */
int32_t nd4c_onnx_intermediates(const nd4c_onnx_model *model, int32_t *numbers);

#endif
