/* The state of one import, shared by import.c and the files of emission. Emit functions see only emission.h. */
#ifndef ND4C_IMPORT_ONNX_IMPORTER_H
#define ND4C_IMPORT_ONNX_IMPORTER_H

#include "import/onnx/emission/emission.h"
#include "ops/extents/extents.h"

enum { ND4C_ONNX_OUTPUTS = 16, ND4C_ONNX_NEED_SIZE = 512 };

/* An array that is there when a part of a model runs (parts/parts.h): an input of the model, a result of an interpreted
 * node, or of an earlier part. The import of later parts knows its dtype and shape. Lives as long as the import. */
typedef struct nd4c_onnx_known {
  int32_t number;   /* of the model's value that has it */
  int32_t part;     /* that gives it; -1: none does */
  nd4c_value value; /* in that part's graph */
  nd4c_dtype dtype;
  int32_t rank;
  int64_t shape[]; /* numbers, and extents of the graph's dims */
} nd4c_onnx_known;

/* An operand. An array is a constant, a list of extents, an array that is known, or a value of the graph; one of the
 * first three that the graph uses is both. */
typedef struct nd4c_onnx_operand_slot {
  nd4c_onnx_kind kind; /* NONE: free */
  int32_t references;  /* names bound to it, sequences that hold it, nd4c_onnx_hold */
  nd4c_array *array;   /* one reference */
  nd4c_array *extents; /* one reference to an int64 array on the host: numbers, and extents of the graph's dims */
  int64_t parts;       /* the extents count parts of 1, a power of 2; 1 unless the dtype is a float */
  const nd4c_onnx_known *known;
  nd4c_value value;
  nd4c_dtype dtype; /* of a list of extents; of the arrays of a sequence or optional */
  int32_t count;    /* free: the next free slot */
  nd4c_onnx_operand *items;
} nd4c_onnx_operand_slot;

/* A call of one of the model's functions. */
typedef struct nd4c_onnx_call {
  const nd4c_onnx_function *function;
  const nd4c_onnx_node *node;
  const struct nd4c_onnx_scope *scope; /* where the node stands */
} nd4c_onnx_call;

/* A graph whose nodes are being imported. */
typedef struct nd4c_onnx_scope {
  const nd4c_onnx_graph *graph;
  const struct nd4c_onnx_scope *outer; /* of the graph around it */
  const nd4c_onnx_call *call;          /* the function that it belongs to; NULL: none */
  nd4c_onnx_operand *environment;      /* the operand of each value of the graph */
} nd4c_onnx_scope;

typedef struct nd4c_onnx_importer {
  const nd4c_onnx_model *model;
  const nd4c_onnx_import_options *options;
  nd4c_graph *graph;                     /* NULL: values are computed */
  struct nd4c_onnx_splitting *splitting; /* the graph is a part of the model; NULL: all of it, or nothing is recorded */
  /* Of a split: makes an array that is known an input of the part that is recorded. */
  nd4c_status (*take_known)(struct nd4c_onnx_importer *importer, const nd4c_onnx_known *known, nd4c_value *value);
  nd4c_onnx_operand_slot *slots;
  int32_t slot_count, slot_capacity, free_slot; /* free_slot: the first free one, ND4C_ONNX_OPERAND_NONE: none */
  nd4c_onnx_operand *created;                   /* operands made since the outermost node began, some of them freed */
  int32_t created_count, created_capacity;
  int32_t depth;   /* how deep graphs and calls are nested */
  int64_t emitted; /* nodes, over all graphs and calls */
  int32_t
      unrolled; /* product of the rounds of all loops around that are imported round by round; 0 or 1: there are none */
  bool may_miss; /* runs of the graph may fail where its indices are outside: its nodes are then interpreted */
  bool misses;   /* ... and some nodes count on it (emission/cuts.h) */
  bool needs_values;
  char need[ND4C_ONNX_NEED_SIZE]; /* which node needs what values */
} nd4c_onnx_importer;

/* -- operands.c -- */

/* Takes over the reference, also when it fails. */
nd4c_status nd4c_onnx_add_array(nd4c_onnx_importer *importer, nd4c_array *array, nd4c_onnx_operand *operand);
nd4c_status nd4c_onnx_add_value(nd4c_onnx_importer *importer, nd4c_value value, nd4c_onnx_operand *operand);
nd4c_status nd4c_onnx_add_known(nd4c_onnx_importer *importer, const nd4c_onnx_known *known, nd4c_onnx_operand *operand);
nd4c_status nd4c_onnx_add_list(nd4c_onnx_importer *importer, nd4c_onnx_kind kind, nd4c_dtype dtype,
                               const nd4c_onnx_operand *items, int32_t count, nd4c_onnx_operand *operand);
void nd4c_onnx_operand_hold(nd4c_onnx_importer *importer, nd4c_onnx_operand operand);
void nd4c_onnx_operand_release(nd4c_onnx_importer *importer, nd4c_onnx_operand operand);
nd4c_status nd4c_onnx_operand_pass(nd4c_onnx_importer *importer, nd4c_onnx_operand operand);
/* Frees operands that were made since the mark and are not held. */
void nd4c_onnx_operands_sweep(nd4c_onnx_importer *importer, int32_t mark);
void nd4c_onnx_operands_free(nd4c_onnx_importer *importer);
/* A list of extents, at least one of them symbolic, that the model has as numbers of the dtype: so many parts of 1
 * each. Takes over the reference, also when it fails. */
nd4c_status nd4c_onnx_add_extents(nd4c_onnx_importer *importer, nd4c_dtype dtype, int64_t parts, nd4c_array *extents,
                                  nd4c_onnx_operand *operand);
/* The value of an array in the graph, recording a constant, or nodes that give extents, at its first use there. */
nd4c_status nd4c_onnx_value_of(nd4c_onnx_importer *importer, nd4c_onnx_operand operand, nd4c_value *value);
/* Convert between operands and the caller's data. */
nd4c_status nd4c_onnx_operand_of_datum(nd4c_onnx_importer *importer, const nd4c_datum *datum,
                                       nd4c_onnx_operand *operand);
nd4c_status nd4c_onnx_datum_of_operand(nd4c_onnx_importer *importer, nd4c_onnx_operand operand, nd4c_datum **datum);

/* -- dims.c -- */

/* The shape of an input in a graph of dims; declares those that are new. UNSUPPORTED: the model leaves its rank free.
 */
nd4c_status nd4c_onnx_declare_shape(nd4c_onnx_importer *importer, const nd4c_onnx_value_info *info,
                                    int64_t shape[ND4C_MAX_RANK]);

/* -- extents.c, extents_nodes.c -- */

/* The table of the graph's dims; NULL: there are none. */
nd4c_extents *nd4c_onnx_extents(const nd4c_onnx_importer *importer);
/* Computes an op on lists of extents and constants, if it can be done; *folded says whether. */
nd4c_status nd4c_onnx_fold_extents(nd4c_onnx_emission *emission, const nd4c_op_def *def,
                                   const nd4c_onnx_operand *inputs, int32_t input_count, const nd4c_attr *attrs,
                                   int32_t attr_count, bool *folded, nd4c_onnx_operand *outputs);
/* Whether an attribute holds an extent of the graph's dims. */
bool nd4c_onnx_has_symbolic(const nd4c_attr *attrs, int32_t count);
/* Records nodes that give a slot's list of extents as data. */
nd4c_status nd4c_onnx_record_extents(nd4c_graph *graph, const nd4c_onnx_operand_slot *slot, nd4c_value *value);

/* -- scope.c -- */

nd4c_status nd4c_onnx_scope_open(nd4c_onnx_importer *importer, nd4c_onnx_scope *scope);
void nd4c_onnx_scope_close(nd4c_onnx_importer *importer, nd4c_onnx_scope *scope);
/* Binds an operand to a value of the scope's graph. */
void nd4c_onnx_scope_bind(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope, int32_t number,
                          nd4c_onnx_operand operand);
/* An initializer as an array, which the options keep. Borrowed. Of threads that need it at once each makes an array,
 * and one is kept: none waits for another. */
nd4c_status nd4c_onnx_load_initializer(const nd4c_onnx_import_options *options, const nd4c_onnx_graph *graph,
                                       int32_t index, nd4c_array **array);
/* The operand of a value of this graph or of a graph around it; NONE if its node does not make it, or it was left out.
 * An initializer becomes an array when it is first read. */
nd4c_status nd4c_onnx_scope_read(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope, int32_t number,
                                 nd4c_onnx_operand *operand);
/* Imports all nodes. */
nd4c_status nd4c_onnx_scope_run(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope);
/* Imports one node, whose inputs are there, and binds its outputs. emit: what gives them; NULL: what the node says. */
nd4c_status nd4c_onnx_scope_emit(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope, const nd4c_onnx_node *node,
                                 nd4c_onnx_emit_function emit);

/* -- dims.c, for inputs and for what depends on data -- */

/* A new dim of the graph, named after a value and an axis: "x.0". */
nd4c_status nd4c_onnx_free_dim(nd4c_onnx_importer *importer, nd4c_span value, int32_t axis, int64_t least,
                               int64_t *extent);

/* -- import.c -- */

/* A NUL-terminated copy of a name, to be freed with nd4c_deallocate. */
nd4c_status nd4c_onnx_copy_name(nd4c_span name, char **copy);
/* Dtype and shape of an input of the graph, as given or as declared. */
nd4c_status nd4c_onnx_describe_input(nd4c_onnx_importer *importer, int32_t index, nd4c_dtype *dtype, int32_t *rank,
                                     int64_t shape[ND4C_MAX_RANK]);
/* Binds a run's inputs. */
nd4c_status nd4c_onnx_bind_inputs(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope,
                                  const nd4c_datum *const *inputs);
/* Checks a run's outputs against their declarations, and gives them to the caller. */
nd4c_status nd4c_onnx_give_outputs(nd4c_onnx_importer *importer, const nd4c_onnx_scope *scope, nd4c_datum **outputs);

/* -- attribute_read.c -- */

/* The attribute itself or, if it refers to one of the enclosing function, the one that the function's call gives; NULL
 * if the call gives none. */
const nd4c_onnx_attribute *nd4c_onnx_attribute_resolve(const nd4c_onnx_scope *scope,
                                                       const nd4c_onnx_attribute *attribute);

#endif
