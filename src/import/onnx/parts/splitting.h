/* A split in the making, shared by split.c, results.c and demand.c. */
#ifndef ND4C_IMPORT_ONNX_PARTS_SPLITTING_H
#define ND4C_IMPORT_ONNX_PARTS_SPLITTING_H

#include "import/onnx/importer.h"
#include "import/onnx/parts/parts.h"

/* Nodes that are left after this many levels are interpreted: each level looks at all nodes again. */
enum { ND4C_ONNX_LEVELS = 64 };

typedef enum nd4c_onnx_node_state {
  ND4C_ONNX_UNSEEN = 0,
  ND4C_ONNX_PLANNED, /* recorded in the part of its level, or computed by the import */
  ND4C_ONNX_GAP      /* interpreted */
} nd4c_onnx_node_state;

typedef struct nd4c_onnx_split_node {
  nd4c_onnx_node_state state;
  int32_t level;
  bool settled; /* a gap: what is known of its results is noted */
  bool is_pure; /* planned, and it depends on constants alone */
  bool runs;    /* it is interpreted in each run */
  const char *why;
} nd4c_onnx_split_node;

typedef struct nd4c_onnx_splitting {
  nd4c_onnx_importer importer;
  nd4c_onnx_scope scope; /* of the model's graph; every value keeps its operand until the end */
  nd4c_onnx_parts *parts;
  nd4c_region region;                    /* of this struct's lists */
  nd4c_graph *graph;                     /* of the part that is recorded */
  int32_t level;                         /* its number */
  nd4c_onnx_split_node *nodes;           /* by node */
  const nd4c_onnx_value_info **declared; /* by value: what the file says about it; NULL: nothing */
  bool *unknown;                         /* by value: its dtype or rank is known in a run alone */
  nd4c_region_list inputs;               /* of the part: int32_t, numbers of values */
  nd4c_region_list sources;              /* by dim: int32_t, the value that has it as an extent by itself */
  int32_t imported;                      /* nodes, for the progress */
} nd4c_onnx_splitting;

/* Notes an array of a run, which is none of a part's, as the operand of a value. */
nd4c_status nd4c_onnx_note_known(nd4c_onnx_splitting *splitting, int32_t number, nd4c_dtype dtype, int32_t rank,
                                 const int64_t *shape, nd4c_onnx_operand *operand);
/* Notes that the dims of the graph that have no source yet stand alone in the shape of a value. */
nd4c_status nd4c_onnx_note_dims(nd4c_onnx_splitting *splitting, int32_t number);

/* -- reads.c -- */

nd4c_status nd4c_onnx_list_reads(const nd4c_onnx_model *model, nd4c_region *region, nd4c_onnx_reads **reads);
/* Loads the initializers that nodes, and the graphs inside them, read. */
nd4c_status nd4c_onnx_load_read(const nd4c_onnx_parts *parts, const nd4c_onnx_import_options *options);

/* -- results.c -- */

/* The outputs of a gap as far as they are known without running it: those that are not stay NONE. For
 * nd4c_onnx_scope_emit. */
nd4c_status nd4c_onnx_foresee_results(nd4c_onnx_emission *emission);

/* -- demand.c -- */

/* Decides what each level gives and which nodes are interpreted, once all levels are there. */
nd4c_status nd4c_onnx_settle_demand(nd4c_onnx_splitting *splitting);

#endif
