/* A model in parts, for models that no graph can express: where the shape of a result depends on data, or values are
 * sequences or strings. The nodes that need this are interpreted in each run, and those between them are parts: graphs
 * that can be planned. Extents that data decides are dims of the parts behind, bound by the arrays that the interpreted
 * nodes gave. Levels run in order; each is a part, or nothing, and then some interpreted nodes. A node stands as early
 * as it can, so there are as few parts as possible.
 *
 * split.c makes the levels, demand.c decides what each gives to later ones, run.c runs them. import/model_parts.c has
 * the plans. */
#ifndef ND4C_IMPORT_ONNX_PARTS_PARTS_H
#define ND4C_IMPORT_ONNX_PARTS_PARTS_H

#include "base/text.h"
#include "import/onnx/import.h"

/* Values of the model's graph that a node, or a graph inside it, reads. */
typedef struct nd4c_onnx_reads {
  const int32_t *numbers;
  int32_t count;
} nd4c_onnx_reads;

typedef struct nd4c_onnx_gap {
  int32_t node;
  const char *why; /* it is interpreted: names the node; NULL: it could be planned, but does little */
} nd4c_onnx_gap;

typedef struct nd4c_onnx_level {
  nd4c_graph *graph; /* of the part; its outputs may be none. NULL: nothing is planned, or the owner has its plan */
  int32_t input_count, output_count;
  int32_t *inputs, *outputs; /* numbers of values, in the order of the graph's */
  int32_t node_count;        /* nodes of the model in the part */
  int32_t gap_count, dead_count;
  nd4c_onnx_gap *gaps; /* interpreted behind the part, in order */
  int32_t *dead;       /* values that nothing reads after this level */
} nd4c_onnx_level;

/* What the parts behind an interpreted node take one of its results for. A run checks it. */
typedef struct nd4c_onnx_foreseen {
  nd4c_dtype dtype;
  int32_t rank;
  int64_t shape[]; /* -1: data decides */
} nd4c_onnx_foreseen;

/* A value that the import computed from constants alone, so that it is the same in all runs, and that a run reads
 * outside the parts. */
typedef struct nd4c_onnx_preset {
  int32_t number;
  nd4c_array *array; /* one reference */
} nd4c_onnx_preset;

/* Immutable once made, so that runs on several threads share it. Refers to the model, and to the initializers that the
 * import's options gave. */
typedef struct nd4c_onnx_parts {
  nd4c_region region;
  const nd4c_onnx_model *model;
  nd4c_onnx_level *levels;
  int32_t level_count;
  int32_t part_count;            /* levels whose part has outputs */
  nd4c_onnx_reads *reads;        /* by node */
  int32_t *last;                 /* by value: the last level that reads it; INT32_MAX: an output; -1: none */
  nd4c_onnx_foreseen **foreseen; /* by value: NULL: nothing, or no interpreted node makes it */
  nd4c_onnx_preset *presets;
  int32_t preset_count;
} nd4c_onnx_parts;

/* Splits a model. Loads every initializer that an interpreted node might read, so that runs change nothing. *parts
 * NULL: no part is worth a plan. Inputs have the shapes that the options give, or those that the model declares. */
nd4c_status nd4c_onnx_parts_make(const nd4c_onnx_model *model, const nd4c_onnx_import_options *options,
                                 nd4c_onnx_parts **parts);
/* NULL is fine. */
void nd4c_onnx_parts_free(nd4c_onnx_parts *parts);
/* Lists the levels: the parts, and what is interpreted between them and why. */
void nd4c_onnx_parts_tell(const nd4c_onnx_parts *parts, nd4c_text *text);

/* Runs the part of a level, and fills outputs with fresh arrays. *served false: its plan does not serve these inputs,
 * and its nodes are interpreted. inputs NULL: they are, since a result before it is not what was foreseen. */
typedef nd4c_status (*nd4c_onnx_part_run)(void *user, int32_t level, const nd4c_array *const *inputs,
                                          nd4c_array **outputs, bool *served);
/* As nd4c_onnx_interpret, with the parts run by `run`. Any thread may call it, and several may at once. */
nd4c_status nd4c_onnx_parts_run(const nd4c_onnx_parts *parts, const nd4c_onnx_import_options *options,
                                nd4c_onnx_part_run run, void *user, const nd4c_datum *const *inputs,
                                nd4c_datum **outputs);

#endif
