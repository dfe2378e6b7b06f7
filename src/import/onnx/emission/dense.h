/* Dense copies of constants that are views, such as transposed weights. One copy of a view serves all nodes of a model
 * and all imports of it for other shapes, so that kernels find the packed form of an earlier plan again. emission.c
 * asks for copies; import/model.c keeps them as long as the model. */
#ifndef ND4C_IMPORT_ONNX_EMISSION_DENSE_H
#define ND4C_IMPORT_ONNX_EMISSION_DENSE_H

#include "nd4c/array.h"
#include "nd4c/context.h"

/* The copies of one model; zero: none. */
typedef struct nd4c_onnx_dense {
  struct nd4c_onnx_dense_copy *first;
} nd4c_onnx_dense;

/* The copy of the view, with one reference for the caller; made on the context if there is none yet. */
nd4c_status nd4c_onnx_dense_get(nd4c_onnx_dense *dense, nd4c_context *context, const nd4c_array *view,
                                nd4c_array **copy);
void nd4c_onnx_dense_free(nd4c_onnx_dense *dense);

#endif
