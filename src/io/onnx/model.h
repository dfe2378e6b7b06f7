/* A parsed ONNX model: structures in one arena that point into the bytes of the file. Immutable after parsing. */
#ifndef ND4C_IO_ONNX_MODEL_H
#define ND4C_IO_ONNX_MODEL_H

#include "io/onnx/tensor.h"

enum {
  ND4C_ONNX_OPSET_LAST = 28, /* the newest opset that the mapping knows about */
  ND4C_ONNX_NONE = -1        /* an input or output left out */
};

typedef enum nd4c_onnx_attribute_type {
  ND4C_ONNX_ATTR_UNDEFINED = 0,
  ND4C_ONNX_ATTR_FLOAT = 1,
  ND4C_ONNX_ATTR_INT = 2,
  ND4C_ONNX_ATTR_STRING = 3,
  ND4C_ONNX_ATTR_TENSOR = 4,
  ND4C_ONNX_ATTR_GRAPH = 5,
  ND4C_ONNX_ATTR_FLOATS = 6,
  ND4C_ONNX_ATTR_INTS = 7,
  ND4C_ONNX_ATTR_STRINGS = 8,
  ND4C_ONNX_ATTR_OTHER = 9 /* lists of tensors and graphs, sparse tensors, types */
} nd4c_onnx_attribute_type;

typedef struct nd4c_onnx_attribute {
  nd4c_span name;
  nd4c_span reference; /* of the enclosing function's attribute; size 0: none */
  nd4c_onnx_attribute_type type;
  float f;
  int64_t i;
  nd4c_span s;
  const nd4c_onnx_tensor *tensor;
  int32_t count; /* of the list that `type` names */
  const int64_t *ints;
  const double *floats;
  const nd4c_span *strings;
} nd4c_onnx_attribute;

struct nd4c_onnx_mapping;

typedef struct nd4c_onnx_node {
  nd4c_span name, op, domain;
  int32_t input_count, output_count, attribute_count;
  const int32_t *inputs, *outputs; /* numbers of values, ND4C_ONNX_NONE: left out */
  const nd4c_onnx_attribute *attributes;
  const struct nd4c_onnx_mapping *mapping;
  int64_t opset; /* of the node's domain */
  uint64_t offset;
} nd4c_onnx_node;

/* An entry of opset_import. */
typedef struct nd4c_onnx_opset {
  nd4c_span domain; /* size 0: ONNX's own */
  int64_t version;
} nd4c_onnx_opset;

/* Where a value comes from. */
typedef enum nd4c_onnx_source {
  ND4C_ONNX_FROM_NOWHERE = 0,
  ND4C_ONNX_FROM_INITIALIZER,
  ND4C_ONNX_FROM_INPUT,
  ND4C_ONNX_FROM_NODE
} nd4c_onnx_source;

typedef struct nd4c_onnx_value {
  nd4c_span name;
  nd4c_onnx_source source;
  int32_t index; /* of the initializer, input or node */
} nd4c_onnx_value;

/* A declared input, output or intermediate value. */
typedef struct nd4c_onnx_value_info {
  nd4c_span name;
  int32_t value;            /* its number */
  int64_t type;             /* TensorProto.DataType; 0: not given */
  bool is_tensor;           /* false: a sequence, map, optional or sparse tensor */
  int32_t rank;             /* -1: unknown */
  const int64_t *shape;     /* -1: free */
  const nd4c_span *symbols; /* size 0: none */
  uint64_t offset;
} nd4c_onnx_value_info;

/* A table of values by name, open addressing. */
typedef struct nd4c_onnx_names {
  int32_t *slots; /* numbers + 1, 0: empty */
  uint32_t capacity;
} nd4c_onnx_names;

typedef struct nd4c_onnx_model {
  nd4c_arena arena;
  nd4c_onnx_files files; /* holds a reference to the file */
  int64_t ir_version;
  nd4c_arena_list opsets;    /* nd4c_onnx_opset, one a domain */
  nd4c_arena_list functions; /* nd4c_span: names of functions that the model brings */
  nd4c_span graph_name;
  nd4c_arena_list nodes;        /* nd4c_onnx_node */
  nd4c_arena_list initializers; /* nd4c_onnx_tensor */
  nd4c_arena_list inputs;       /* nd4c_onnx_value_info, those with an initializer left out */
  nd4c_arena_list outputs;      /* nd4c_onnx_value_info */
  nd4c_arena_list value_infos;  /* nd4c_onnx_value_info */
  nd4c_arena_list values;       /* nd4c_onnx_value */
  nd4c_onnx_names names;
} nd4c_onnx_model;

/* Parses and checks a model whole. Takes over the reference to `blob` and a copy of `directory` (NULL: none), also when
 * it fails; then nothing is left to free. */
nd4c_status nd4c_onnx_model_parse(nd4c_blob *blob, const char *directory, nd4c_onnx_model *model);
void nd4c_onnx_model_free(nd4c_onnx_model *model);

/* A domain with the long name of ONNX's own made the short one. */
static inline nd4c_span nd4c_onnx_domain(nd4c_span domain) {
  return nd4c_span_is(domain, "ai.onnx") ? (nd4c_span){0} : domain;
}

static inline const nd4c_onnx_node *nd4c_onnx_model_node(const nd4c_onnx_model *model, int32_t index) {
  return (const nd4c_onnx_node *)model->nodes.items + index;
}
static inline const nd4c_onnx_tensor *nd4c_onnx_model_initializer(const nd4c_onnx_model *model, int32_t index) {
  return (const nd4c_onnx_tensor *)model->initializers.items + index;
}
static inline const nd4c_onnx_value_info *nd4c_onnx_model_input(const nd4c_onnx_model *model, int32_t index) {
  return (const nd4c_onnx_value_info *)model->inputs.items + index;
}
static inline const nd4c_onnx_value_info *nd4c_onnx_model_output(const nd4c_onnx_model *model, int32_t index) {
  return (const nd4c_onnx_value_info *)model->outputs.items + index;
}
static inline nd4c_onnx_value *nd4c_onnx_model_value(const nd4c_onnx_model *model, int32_t number) {
  return (nd4c_onnx_value *)model->values.items + number;
}

/* -- between the files of the parser ----------------------------------------------------------------------------- */

/* The number of the value with this name, a new one if there is none yet. */
nd4c_status nd4c_onnx_names_intern(nd4c_onnx_model *model, nd4c_span name, int32_t *number);
/* The number, or ND4C_ONNX_NONE. */
int32_t nd4c_onnx_names_find(const nd4c_onnx_model *model, nd4c_span name);
nd4c_status nd4c_onnx_node_parse(nd4c_onnx_model *model, const nd4c_wire *wire, const nd4c_wire_field *field);
nd4c_status nd4c_onnx_value_info_parse(nd4c_onnx_model *model, const nd4c_wire *wire, const nd4c_wire_field *field,
                                       nd4c_arena_list *list);
/* Definitions, order, and that each op and opset is known. */
nd4c_status nd4c_onnx_model_check(nd4c_onnx_model *model);

/* "node 'name' (Conv)", or "node 12 (Conv)" if it has no name. */
typedef struct nd4c_onnx_node_text {
  char text[2 * ND4C_SPAN_TEXT_SIZE + 32];
} nd4c_onnx_node_text;
nd4c_onnx_node_text nd4c_onnx_node_show(const nd4c_onnx_model *model, const nd4c_onnx_node *node);

#endif
