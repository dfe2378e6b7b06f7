/* Metadata of a model's graph (nd4c/names.h) from its file. import/model_graph.c calls it. */
#ifndef ND4C_IMPORT_ONNX_NOTES_H
#define ND4C_IMPORT_ONNX_NOTES_H

#include "import/onnx/model.h"
#include "nd4c/names.h"

/* Sets the file's metadata_props under their keys, and "onnx.producer_name", "onnx.producer_version", "onnx.domain",
 * "onnx.doc_string" and "onnx.graph_name" where the file has them. Texts that are too long, or not UTF-8, and pairs
 * beyond the limit are left out. */
nd4c_status nd4c_onnx_notes(const nd4c_onnx_model *model, nd4c_graph *graph);

#endif
