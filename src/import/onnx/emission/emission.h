/* What emit functions, which import one node each, work with: operands, ops on them, and the node's attributes. The
 * files of import/onnx/ops include it; scope.c makes the emission and calls the emit function.
 *
 * An operand is a value of the import: an array, known now (a constant), a list of extents (below) or a value of the
 * graph; a sequence of operands; an optional operand. An op whose inputs are all constants is computed at once, unless
 * its result is large; otherwise it is recorded in the graph. When a model is interpreted, its inputs are constants,
 * and everything is computed at once. An emit function that needs the values of an array asks with nd4c_onnx_read_*: if
 * they are not known, the model is interpreted instead.
 *
 * In a graph with dims, the extents of an operand's shape may be symbolic (nd4c/extent.h): an emit function that
 * computes with them asks nd4c_onnx_check_number first, or uses the functions for extents. What a model computes from
 * shapes is a list of extents: nd4c_onnx_read_extents reads it for attributes that take them (nd4c_op_takes_symbolic).
 * Operands belong to the importer. Those that a node makes and does not give
 * as outputs are freed after the node. */
#ifndef ND4C_IMPORT_ONNX_EMISSION_EMISSION_H
#define ND4C_IMPORT_ONNX_EMISSION_EMISSION_H

#include "base/region.h"
#include "import/onnx/import.h"
#include "ops/emitter.h"
#include "ops/extents/extents.h"

typedef nd4c_emitted nd4c_onnx_operand;
#define ND4C_ONNX_OPERAND_NONE ND4C_EMITTED_NONE

struct nd4c_onnx_importer;

/* One node being imported. Ops are made with the functions of ops/emitter.h. */
typedef struct nd4c_onnx_emission {
  nd4c_emitter emitter; /* nd4c_onnx_emitter; its values are operands */
  struct nd4c_onnx_importer *importer;
  const struct nd4c_onnx_scope *scope; /* the graph that the node stands in, and its values */
  const nd4c_onnx_node *node;
  int64_t opset; /* of the node's domain */
  int32_t input_count;
  const nd4c_onnx_operand *inputs; /* ND4C_ONNX_OPERAND_NONE: left out */
  nd4c_onnx_operand *outputs;      /* to be filled; room for all of the node's and of any op */
  uint64_t used[4];                /* bit n: attribute n was read; attributes that are not read are refused */
  nd4c_region region;              /* memory that nd4c_onnx_claim gives */
} nd4c_onnx_emission;

/* The emitter of every emission, whose first member it is. */
extern const nd4c_emitter nd4c_onnx_emitter;

/* Zeroed memory until the node is imported: *block points to `count` items of `size` bytes. MEMORY, with `what`. */
nd4c_status nd4c_onnx_claim(nd4c_onnx_emission *emission, size_t count, size_t size, const char *what, void *block);

/* Input `index` of the node, ND4C_ONNX_OPERAND_NONE if left out or missing. */
nd4c_onnx_operand nd4c_onnx_input(const nd4c_onnx_emission *emission, int32_t index);

/* The node's graph, and the operand of any of its values that an earlier node makes; NONE if there is none. */
const nd4c_onnx_graph *nd4c_onnx_emission_graph(const nd4c_onnx_emission *emission);
nd4c_status nd4c_onnx_read_value(nd4c_onnx_emission *emission, int32_t number, nd4c_onnx_operand *operand);
/* An axis of an operand, -rank .. rank - 1, as 0 .. rank - 1; INDEX for another. */
nd4c_status nd4c_onnx_fix_axis(const nd4c_onnx_emission *emission, nd4c_onnx_operand operand, int64_t axis,
                               int32_t *fixed);
/* The name of input `index`, for errors. */
nd4c_span_text nd4c_onnx_input_name(const nd4c_onnx_emission *emission, int32_t index);
/* Whether output `index` is to be made: the node names it, and another node, a graph's output or the caller may read
 * it. Many exporters name outputs that nothing reads. */
bool nd4c_onnx_wants(const nd4c_onnx_emission *emission, int32_t index);
nd4c_onnx_kind nd4c_onnx_operand_kind(const nd4c_onnx_emission *emission, nd4c_onnx_operand operand);

/* A constant of int64, 0-d or 1-d. */
nd4c_status nd4c_onnx_int64s(nd4c_onnx_emission *emission, int32_t rank, int64_t count, const int64_t *values,
                             nd4c_onnx_operand *output);

/* The same of values that may be extents of the graph's dims. */
nd4c_status nd4c_onnx_extent_list(nd4c_onnx_emission *emission, int32_t rank, int64_t count, const int64_t *values,
                                  nd4c_onnx_operand *output);
/* Number of elements of a shape. */
nd4c_status nd4c_onnx_extent_size(nd4c_onnx_emission *emission, int32_t rank, const int64_t *shape, int64_t *size);
/* Whether a relation of extents holds. What the table cannot decide becomes a guard. */
bool nd4c_onnx_assume(nd4c_onnx_emission *emission, nd4c_relation relation, int64_t a, int64_t b);
nd4c_status nd4c_onnx_extent_sum(nd4c_onnx_emission *emission, int64_t a, int64_t b, int64_t *sum);
/* One of so many equal parts; SHAPE if the extent is no multiple. */
nd4c_status nd4c_onnx_extent_part(nd4c_onnx_emission *emission, int64_t extent, int64_t parts, int64_t *part);

/* Integers of an array whose values are known, at most `limit`. `what` names it. If the values are not known, the model
 * must be interpreted: the status is UNSUPPORTED, and the emit function returns it. */
nd4c_status nd4c_onnx_read_ints(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, const char *what,
                                int32_t limit, int64_t *values, int32_t *count);
/* The same of integers that may be extents of the graph's dims, for attributes that take them. */
nd4c_status nd4c_onnx_read_extents(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, const char *what,
                                   int32_t limit, int64_t *values, int32_t *count);
/* The number of an array of one element, of any dtype that lists of extents have, if it is an extent or known and
 * whole; *known says whether. */
nd4c_status nd4c_onnx_read_whole(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, bool *known, int64_t *value);
/* Whether an operand is a list of extents, at least one of them symbolic. */
bool nd4c_onnx_is_extents(const nd4c_onnx_emission *emission, nd4c_onnx_operand operand);
/* UNSUPPORTED if the extent is no number. */
nd4c_status nd4c_onnx_check_number(nd4c_onnx_emission *emission, int64_t extent, const char *what);
/* UNSUPPORTED if the graph has dims. */
nd4c_status nd4c_onnx_check_no_dims(nd4c_onnx_emission *emission, const char *what);
/* The integer of input `index`, likewise; the preset if it is left out. */
nd4c_status nd4c_onnx_read_int(nd4c_onnx_emission *emission, int32_t index, const char *what, int64_t preset,
                               int64_t *value);
/* One number of an array of one element, likewise. */
nd4c_status nd4c_onnx_read_number(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, const char *what,
                                  double *value);
/* The array itself, borrowed, likewise. */
nd4c_status nd4c_onnx_read_array(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, const char *what,
                                 nd4c_array **array);
/* Notes that the model must be interpreted, because `what` is not known at import; returns UNSUPPORTED. */
nd4c_status nd4c_onnx_need_values(nd4c_onnx_emission *emission, const char *what);
/* The array of a constant operand, NULL if it is none. Borrowed. */
nd4c_array *nd4c_onnx_constant_array(const nd4c_onnx_emission *emission, nd4c_onnx_operand operand);

/* Attributes: the default if there is none, FORMAT if it has another type. Lists are owned by the model. */
const nd4c_onnx_attribute *nd4c_onnx_attribute_find(nd4c_onnx_emission *emission, const char *name);
nd4c_status nd4c_onnx_get_int(nd4c_onnx_emission *emission, const char *name, int64_t preset, int64_t *value);
nd4c_status nd4c_onnx_get_float(nd4c_onnx_emission *emission, const char *name, double preset, double *value);
nd4c_status nd4c_onnx_get_text(nd4c_onnx_emission *emission, const char *name, const char *preset, nd4c_span *value);
/* *values is NULL if there is no such attribute. */
nd4c_status nd4c_onnx_get_ints(nd4c_onnx_emission *emission, const char *name, const int64_t **values, int32_t *count);
nd4c_status nd4c_onnx_get_floats(nd4c_onnx_emission *emission, const char *name, const double **values, int32_t *count);
nd4c_status nd4c_onnx_get_strings(nd4c_onnx_emission *emission, const char *name, const nd4c_span **values,
                                  int32_t *count);
/* A graph, to be run with nd4c_onnx_emit_graph; FORMAT if it is missing. */
nd4c_status nd4c_onnx_get_graph(nd4c_onnx_emission *emission, const char *name, const nd4c_onnx_graph **graph);
/* *tensor is NULL if there is no such attribute. */
nd4c_status nd4c_onnx_get_tensor(nd4c_onnx_emission *emission, const char *name, const nd4c_onnx_tensor **tensor);
/* An attribute that does not change what is computed. */
void nd4c_onnx_ignore(nd4c_onnx_emission *emission, const char *name);
/* Axes from the attribute or, from opset `input_since` on, from input `index`. *given is false if there are none. */
nd4c_status nd4c_onnx_get_axes(nd4c_onnx_emission *emission, int64_t input_since, int32_t index, int64_t *axes,
                               int32_t *count, bool *given);

/* -- sequences, optionals and graphs --------------------------------------------------------------------------- */

/* A sequence of items; dtype: of its arrays, for an empty one (NONE: not known). */
nd4c_status nd4c_onnx_sequence(nd4c_onnx_emission *emission, nd4c_dtype dtype, const nd4c_onnx_operand *items,
                               int32_t count, nd4c_onnx_operand *output);
/* An optional of an item or, with ND4C_ONNX_OPERAND_NONE, of nothing. */
nd4c_status nd4c_onnx_optional(nd4c_onnx_emission *emission, nd4c_onnx_operand item, nd4c_onnx_operand *output);
/* The items of a sequence or optional; *items holds until the next operand is made. FORMAT if it is no `kind`. */
nd4c_status nd4c_onnx_items(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, nd4c_onnx_kind kind,
                            const nd4c_onnx_operand **items, int32_t *count);
/* Imports the nodes of a graph inside this node, once. FORMAT if it has other numbers of inputs or outputs. */
nd4c_status nd4c_onnx_emit_graph(nd4c_onnx_emission *emission, const nd4c_onnx_graph *graph,
                                 const nd4c_onnx_operand *inputs, int32_t input_count, nd4c_onnx_operand *outputs,
                                 int32_t output_count);
/* Whether the model is interpreted: then every op is computed at once, and loops are not unrolled into a graph. */
bool nd4c_onnx_is_interpreting(const nd4c_onnx_emission *emission);
/* The product of the rounds of all loops around that are imported round by round; 1: there are none. The importer of
 * another one sets it, and sets it back afterwards. */
int32_t nd4c_onnx_unrolled(const nd4c_onnx_emission *emission);
void nd4c_onnx_set_unrolled(const nd4c_onnx_emission *emission, int32_t rounds);

/* Rounds after which a Loop of the model fails, as its program says. */
int64_t nd4c_onnx_loop_limit(const nd4c_onnx_emission *emission);

/* Operands across the rounds of a loop: hold keeps one from being swept, release ends that (and frees the operand if it
 * is not held elsewhere), pass hands it to the node's other operands. Between mark and sweep every operand that is not
 * held is freed. */
void nd4c_onnx_hold(nd4c_onnx_emission *emission, nd4c_onnx_operand operand);
void nd4c_onnx_release(nd4c_onnx_emission *emission, nd4c_onnx_operand operand);
nd4c_status nd4c_onnx_pass(nd4c_onnx_emission *emission, nd4c_onnx_operand operand);
int32_t nd4c_onnx_mark(const nd4c_onnx_emission *emission);
void nd4c_onnx_sweep(nd4c_onnx_emission *emission, int32_t mark);

#endif
