/* Names and notes of graphs: scopes, which give nodes and variables names such as "encoder/layer0/matmul"; labels of
 * nodes; and metadata, which are pairs of texts on a graph and on its nodes. Labels are shown in errors, reports,
 * profiles, traces and by `nd4c graph`. One thread builds a graph. */
#ifndef ND4C_NAMES_H
#define ND4C_NAMES_H

#include "nd4c/graph.h"

ND4C_EXTERN_C_BEGIN

/* -- scopes -------------------------------------------------------------------------------------------------------- */

/* Scopes in scopes: so deep at most. */
#define ND4C_SCOPE_DEPTH 64
/* The most bytes of a label or variable's name inside a scope, with the scopes' names. */
#define ND4C_SCOPE_NAME 1023

/* Opens a scope. While it is open, nodes that are recorded, also by nd4c/control.h, get a label that begins with the
 * names of all open scopes, "encoder/layer0/", and variables get such a name. A node that is recorded without a label
 * has that of its op there. Labels given in scopes are unique: where one is taken, "_1", "_2" and so on follow it. The
 * same holds for scopes: a second "layer" beside the first one is "layer_1". A variable whose name is taken is refused
 * instead. Names of inputs and outputs, and labels outside scopes, stay as they are given. NAME: the name is empty, or
 * has a '/'. OVERFLOW: ND4C_SCOPE_DEPTH or ND4C_SCOPE_NAME is exceeded. A refused call changes nothing. */
ND4C_API nd4c_status nd4c_graph_push_scope(nd4c_graph *graph, const char *name);
/* Closes the scope that was opened last. ARGUMENT: no scope is open. */
ND4C_API nd4c_status nd4c_graph_pop_scope(nd4c_graph *graph);
/* The names of the open scopes, "encoder/layer0"; "" if none is open. The graph's: valid until the next call that opens
 * or closes one. */
ND4C_API const char *nd4c_graph_scope(const nd4c_graph *graph);

/* -- labels -------------------------------------------------------------------------------------------------------- */

/* Gives node `index` another label, just as it is; "" for none. nd4c_graph_get_node reads it. INDEX; NAME: another node
 * has this label. */
ND4C_API nd4c_status nd4c_graph_set_label(nd4c_graph *graph, int32_t index, const char *label);
/* The first node with this label; -1: there is none. Looks at each node. */
ND4C_API int32_t nd4c_graph_find_node(const nd4c_graph *graph, const char *label);

/* -- metadata ------------------------------------------------------------------------------------------------------ */

/* In place of a node's number: the graph itself. */
#define ND4C_GRAPH_ITSELF (-1)
/* The most bytes of a key and of a value, and the most pairs of a graph or a node. */
#define ND4C_METADATA_KEY 255
#define ND4C_METADATA_VALUE (1 << 20)
#define ND4C_METADATA_COUNT 1024

/* Sets what `key` says about node number `node`, or about the graph (ND4C_GRAPH_ITSELF). Texts are copied. A NULL value
 * takes the pair away. Copies of the graph have the metadata, too, and a plan's nodes keep them; a node that a pass has
 * made of several has those of the node whose output it gives. The graph of a model (nd4c_model_graph) has the file's
 * metadata_props, and "onnx.producer_name", "onnx.producer_version", "onnx.domain", "onnx.doc_string" and
 * "onnx.graph_name"; what exceeds the limits, or is not UTF-8, is left out. INDEX: there is no such node. NAME: the key
 * is empty. OVERFLOW: a text or the number of pairs exceeds its limit. A refused call changes nothing. */
ND4C_API nd4c_status nd4c_graph_set_metadata(nd4c_graph *graph, int32_t node, const char *key, const char *value);
/* The value of a key; NULL: there is none. The graph's: valid until the next call that changes its metadata. */
ND4C_API const char *nd4c_graph_metadata(const nd4c_graph *graph, int32_t node, const char *key);
/* The number of pairs; 0 if there is no such node. */
ND4C_API int32_t nd4c_graph_metadata_count(const nd4c_graph *graph, int32_t node);
/* Pair number `index`, from 0, in the order in which keys were first set. INDEX outside 0 .. count - 1. */
ND4C_API nd4c_status nd4c_graph_metadata_at(const nd4c_graph *graph, int32_t node, int32_t index, const char **key,
                                            const char **value);

ND4C_EXTERN_C_END
#endif
