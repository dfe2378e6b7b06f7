/* Ops of plug-ins in models. check_ops.c binds nodes to them. */
#ifndef ND4C_IMPORT_ONNX_OPS_FOREIGN_H
#define ND4C_IMPORT_ONNX_OPS_FOREIGN_H

#include "import/onnx/ops/mapping.h"

/* Binds a node to the op of a plug-in whose namespace is the node's domain: makes its row in the model's region.
 * `problem` is "", or says why the node cannot be bound. Loads the plug-ins of nd4c.backend.plugins. */
nd4c_status nd4c_onnx_foreign_bind(nd4c_onnx_model *model, nd4c_onnx_node *node, char *problem, size_t size);

/* The emit function of such a row: attributes by the names of the op's schema, presets if the node has none. */
nd4c_status nd4c_onnx_emit_foreign(struct nd4c_onnx_emission *emission);

#endif
