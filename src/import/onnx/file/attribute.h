/* Parsing of AttributeProto, for node.c and onnx/function.c. */
#ifndef ND4C_IMPORT_ONNX_FILE_ATTRIBUTE_H
#define ND4C_IMPORT_ONNX_FILE_ATTRIBUTE_H

#include "import/onnx/model.h"

nd4c_status nd4c_onnx_attribute_parse(nd4c_onnx_model *model, const nd4c_wire *wire, const nd4c_wire_field *field,
                                      nd4c_onnx_attribute *attribute);

#endif
