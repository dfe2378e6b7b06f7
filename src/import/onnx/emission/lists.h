/* Constants made from lists in attributes, for the emit functions of several families (constant.c, text.c, learning.c,
 * trees.c, vectors.c). */
#ifndef ND4C_IMPORT_ONNX_EMISSION_LISTS_H
#define ND4C_IMPORT_ONNX_EMISSION_LISTS_H

#include "import/onnx/emission/attributes.h"

/* 1-D constants. */
nd4c_status nd4c_onnx_float_list(nd4c_onnx_emission *emission, const double *values, int64_t count, nd4c_dtype dtype,
                                 nd4c_onnx_operand *operand);
nd4c_status nd4c_onnx_string_list(nd4c_onnx_emission *emission, const nd4c_span *spans, int32_t count,
                                  nd4c_onnx_operand *operand);
/* Strings as a constant of rank 1, or of rank 0 for a count of 1. */
nd4c_status nd4c_onnx_strings(nd4c_onnx_emission *emission, const nd4c_span *spans, int32_t rank, int64_t count,
                              nd4c_onnx_operand *operand);

/* The tensor that an attribute holds, as a constant, and its number of elements (`size` may be NULL); NONE if the
 * node lacks the attribute. */
nd4c_status nd4c_onnx_tensor_constant(nd4c_onnx_emission *emission, const char *name, nd4c_onnx_operand *operand,
                                      int64_t *size);

/* The labels of a classifier: classlabels_strings, or integers in an attribute of the given name. FORMAT without. */
nd4c_status nd4c_onnx_class_labels(nd4c_onnx_emission *emission, const char *integers, nd4c_onnx_operand *labels,
                                   int64_t *count);
#endif
