/* A parsed ONNX model: structures in one region that point into the bytes of the file. Immutable after parsing. The
 * parsers of this folder and of file fill it; the importer reads it. */
#ifndef ND4C_IMPORT_ONNX_MODEL_H
#define ND4C_IMPORT_ONNX_MODEL_H

#include "import/onnx/file/tensor.h"

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
  struct nd4c_onnx_graph *graph;
  int32_t count; /* of the list that `type` names */
  const int64_t *ints;
  const double *floats;
  const nd4c_span *strings;
} nd4c_onnx_attribute;

struct nd4c_onnx_mapping;
struct nd4c_onnx_function;

typedef struct nd4c_onnx_node {
  nd4c_span name, op, domain, overload;
  int32_t input_count, output_count, attribute_count;
  int32_t number;                  /* its place in the file's list of nodes, which order.c may sort */
  const int32_t *inputs, *outputs; /* numbers of values, ND4C_ONNX_NONE: left out */
  const nd4c_onnx_attribute *attributes;
  const struct nd4c_onnx_mapping *mapping;   /* the row that imports it; NULL: `function` does */
  const struct nd4c_onnx_function *function; /* the model's function that it calls */
  int64_t opset;                             /* of the node's domain */
  uint64_t offset;
} nd4c_onnx_node;

/* An entry of opset_import. */
typedef struct nd4c_onnx_opset {
  nd4c_span domain; /* size 0: ONNX's own */
  int64_t version;
} nd4c_onnx_opset;

/* Limits of the nesting of graphs and calls, and of the nodes of a model with all calls inlined. The importer, which
 * also inlines loops, has the same limit for what it adds to a graph. */
enum { ND4C_ONNX_DEPTH_MOST = 64, ND4C_ONNX_NODES_MOST = 1 << 20 };

/* Where a value comes from. */
typedef enum nd4c_onnx_source {
  ND4C_ONNX_FROM_NOWHERE = 0,
  ND4C_ONNX_FROM_INITIALIZER,
  ND4C_ONNX_FROM_INPUT,
  ND4C_ONNX_FROM_NODE,
  ND4C_ONNX_FROM_OUTSIDE /* of a graph around this one */
} nd4c_onnx_source;

typedef struct nd4c_onnx_value {
  nd4c_span name;
  nd4c_onnx_source source;
  int32_t index;    /* of the initializer, input or node; FROM_OUTSIDE: its number there */
  int32_t levels;   /* FROM_OUTSIDE: how many graphs further out */
  int32_t last_use; /* last node of its graph that reads it, also in an inner graph; INT32_MAX: a graph's output */
  int32_t maker;    /* order.c: place in the file, + 1, of the first node that writes it; or one of nd4c_onnx_made */
} nd4c_onnx_value;

/* Makers that are no nodes. */
typedef enum nd4c_onnx_made {
  ND4C_ONNX_MADE_BEFORE = -1, /* an input or initializer */
  ND4C_ONNX_MADE_NOWHERE = 0  /* not by the value's own graph */
} nd4c_onnx_made;

/* A graph in a node reads a value of the graph that has the node. */
typedef struct nd4c_onnx_capture {
  int32_t node, value;
} nd4c_onnx_capture;

/* The kinds of a declared type, from the outermost in: optionals and sequences, and at last an array. */
typedef enum nd4c_onnx_kind {
  ND4C_ONNX_KIND_NONE = 0, /* not declared, or a kind that nd4c lacks */
  ND4C_ONNX_KIND_ARRAY = 1,
  ND4C_ONNX_KIND_SEQUENCE = 2,
  ND4C_ONNX_KIND_OPTIONAL = 3
} nd4c_onnx_kind;

enum { ND4C_ONNX_KINDS = 4 }; /* deepest type */

/* A declared input, output or intermediate value. */
typedef struct nd4c_onnx_value_info {
  nd4c_span name;
  int32_t value;      /* its number */
  int64_t type;       /* TensorProto.DataType of the arrays; 0: not given */
  int32_t kind_count; /* 0: no type is given, or one that nd4c lacks (map, sparse tensor) */
  nd4c_onnx_kind kinds[ND4C_ONNX_KINDS];
  int32_t rank;             /* -1: unknown */
  const int64_t *shape;     /* -1: free */
  const nd4c_span *symbols; /* size 0: none */
  uint64_t offset;
} nd4c_onnx_value_info;

/* A table of values by name, open addressing. */
typedef struct nd4c_onnx_names {
  int32_t *slots; /* numbers + 1, 0: empty */
  uint32_t capacity;
  uint64_t seed;
} nd4c_onnx_names;

/* A GraphProto: the model's, or one inside a node's attribute; or the body of a function. */
typedef struct nd4c_onnx_graph {
  nd4c_span name;
  const struct nd4c_onnx_graph *outer; /* the graph of the node that holds this one; NULL: none */
  nd4c_region_list nodes;              /* nd4c_onnx_node */
  nd4c_region_list initializers;       /* nd4c_onnx_tensor */
  nd4c_region_list inputs;             /* nd4c_onnx_value_info, those of `defaults` left out */
  nd4c_region_list defaults;           /* nd4c_onnx_value_info: of the model's graph, inputs with an initializer */
  nd4c_region_list outputs;            /* nd4c_onnx_value_info */
  nd4c_region_list value_infos;        /* nd4c_onnx_value_info */
  nd4c_region_list values;             /* nd4c_onnx_value */
  nd4c_region_list captures;           /* order.c: nd4c_onnx_capture, in the order of the nodes in the file */
  nd4c_onnx_names names;
  int32_t first_initializer; /* number of its first initializer among those of the whole model */
  int32_t current;           /* the node that is being checked */
  bool disordered;           /* order.c: a value is read before it is made */
  bool keeps_values;         /* a node (Gradient) reads values that it does not name as inputs */
  uint64_t offset;
} nd4c_onnx_graph;

/* A function that the model defines. */
typedef struct nd4c_onnx_function {
  nd4c_span domain, name, overload;
  nd4c_onnx_graph body;
  nd4c_region_list opsets;     /* nd4c_onnx_opset */
  nd4c_region_list attributes; /* nd4c_onnx_attribute: those with a default */
  int64_t nodes_expanded;      /* check_calls.c: of the body with all calls inlined; 0: not counted */
  uint64_t offset;
} nd4c_onnx_function;

typedef struct nd4c_onnx_model {
  nd4c_region region;
  nd4c_onnx_files files; /* holds a reference to the file */
  int64_t ir_version;
  nd4c_region_list opsets;    /* nd4c_onnx_opset, one a domain */
  nd4c_region_list functions; /* nd4c_onnx_function, after parsing in the order of their keys */
  nd4c_onnx_graph graph;
  int32_t initializer_count; /* of all graphs */
} nd4c_onnx_model;

/* Inputs that have an initializer, and that each run gives nevertheless. */
typedef struct nd4c_onnx_overrides {
  const char *const *names;
  int32_t count;
} nd4c_onnx_overrides;

/* Parses and checks a model whole. Takes over the reference to `blob` and a copy of `directory` (NULL: none), also when
 * it fails; then nothing is left to free. ARGUMENT: an override is no input with an initializer. */
nd4c_status nd4c_onnx_model_parse(nd4c_blob *blob, const char *directory, const nd4c_onnx_overrides *overrides,
                                  nd4c_onnx_model *model);
void nd4c_onnx_model_free(nd4c_onnx_model *model);

/* The classes, integers or texts, of an output that ZipMap makes; NULL for any other. */
const nd4c_onnx_attribute *nd4c_onnx_map_classes(const nd4c_onnx_model *model, int32_t output);

/* The domain, with "" in place of "ai.onnx". */
static inline nd4c_span nd4c_onnx_domain(nd4c_span domain) {
  return nd4c_span_is(domain, "ai.onnx") ? (nd4c_span){0} : domain;
}

static inline const nd4c_onnx_node *nd4c_onnx_graph_node(const nd4c_onnx_graph *graph, int32_t index) {
  return (const nd4c_onnx_node *)graph->nodes.items + index;
}
static inline const nd4c_onnx_tensor *nd4c_onnx_graph_initializer(const nd4c_onnx_graph *graph, int32_t index) {
  return (const nd4c_onnx_tensor *)graph->initializers.items + index;
}
static inline const nd4c_onnx_value_info *nd4c_onnx_graph_input(const nd4c_onnx_graph *graph, int32_t index) {
  return (const nd4c_onnx_value_info *)graph->inputs.items + index;
}
static inline const nd4c_onnx_value_info *nd4c_onnx_graph_output(const nd4c_onnx_graph *graph, int32_t index) {
  return (const nd4c_onnx_value_info *)graph->outputs.items + index;
}
static inline nd4c_onnx_value *nd4c_onnx_graph_value(const nd4c_onnx_graph *graph, int32_t number) {
  return (nd4c_onnx_value *)graph->values.items + number;
}

/* -- between the files of the parser ----------------------------------------------------------------------------- */

/* The number of the value with this name, a new one if there is none yet. */
nd4c_status nd4c_onnx_names_intern(nd4c_onnx_model *model, nd4c_onnx_graph *graph, nd4c_span name, int32_t *number);
/* The number, or ND4C_ONNX_NONE. */
int32_t nd4c_onnx_names_find(const nd4c_onnx_graph *graph, nd4c_span name);
nd4c_status nd4c_onnx_graph_parse(nd4c_onnx_model *model, const nd4c_wire *wire, const nd4c_wire_field *outer,
                                  nd4c_onnx_graph *graph);
nd4c_status nd4c_onnx_function_parse(nd4c_onnx_model *model, const nd4c_wire *wire, const nd4c_wire_field *outer);
/* An OperatorSetIdProto; the last entry for a domain is the valid one. */
nd4c_status nd4c_onnx_opset_parse(nd4c_onnx_model *model, const nd4c_wire *wire, const nd4c_wire_field *outer,
                                  nd4c_region_list *opsets);
nd4c_status nd4c_onnx_node_parse(nd4c_onnx_model *model, nd4c_onnx_graph *graph, const nd4c_wire *wire,
                                 const nd4c_wire_field *field);
nd4c_status nd4c_onnx_value_info_parse(nd4c_onnx_model *model, nd4c_onnx_graph *graph, const nd4c_wire *wire,
                                       const nd4c_wire_field *outer, nd4c_region_list *list);
/* Sorts the nodes of a graph, and of the graphs inside it, so that values are made before they are read. FORMAT: there
 * is no such order. */
nd4c_status nd4c_onnx_graph_order(nd4c_onnx_model *model, nd4c_onnx_graph *graph);
/* Checks definitions and order in every graph; finds captured values and last uses. */
nd4c_status nd4c_onnx_model_check(nd4c_onnx_model *model, const nd4c_onnx_overrides *overrides);
/* Sorts the functions by their keys; FORMAT if two have one key. */
nd4c_status nd4c_onnx_functions_sort(nd4c_onnx_model *model);
/* The function with this key, NULL if the model has none. */
const nd4c_onnx_function *nd4c_onnx_function_find(const nd4c_onnx_model *model, const nd4c_onnx_node *node);
/* Checks that each op, opset and function is known, and that nodes have the numbers of inputs that they take. */
nd4c_status nd4c_onnx_model_check_ops(nd4c_onnx_model *model);
/* Refuses maps that another node reads, and declares outputs that are maps as arrays. */
nd4c_status nd4c_onnx_model_check_maps(nd4c_onnx_model *model);
/* Refuses functions that call themselves, and more nodes than ND4C_ONNX_NODES_MOST with all calls inlined (FORMAT). */
nd4c_status nd4c_onnx_model_check_calls(nd4c_onnx_model *model);

/* Whether the node, its function or its branches may draw random numbers. Opening a model bounds how deep graphs and
 * calls lie, and how many nodes all calls have. */
bool nd4c_onnx_node_draws(const nd4c_onnx_node *node);

/* "node 'name' (Conv)", or "node 12 (Conv)" if it has no name. */
typedef struct nd4c_onnx_node_text {
  char text[2 * ND4C_SPAN_TEXT_SIZE + 32];
} nd4c_onnx_node_text;
nd4c_onnx_node_text nd4c_onnx_node_show(const nd4c_onnx_node *node);

#endif
