/* The table of ONNX's element types and nd4c's dtypes, for the parsers of tensors and the emit functions of
 * import/onnx/ops. */
#ifndef ND4C_IMPORT_ONNX_FILE_DTYPE_H
#define ND4C_IMPORT_ONNX_FILE_DTYPE_H

#include <stdint.h>

#include "nd4c/dtype.h"

/* X(number of TensorProto.DataType, name, nd4c dtype or NONE, field of TensorProto that holds typed data, values of
 * that field an element) */
#define ND4C_ONNX_DTYPE_TABLE(X)                             \
  X(1, FLOAT, ND4C_FLOAT32, FLOAT_DATA, 1)                   \
  X(2, UINT8, ND4C_UINT8, INT32_DATA, 1)                     \
  X(3, INT8, ND4C_INT8, INT32_DATA, 1)                       \
  X(4, UINT16, ND4C_UINT16, INT32_DATA, 1)                   \
  X(5, INT16, ND4C_INT16, INT32_DATA, 1)                     \
  X(6, INT32, ND4C_INT32, INT32_DATA, 1)                     \
  X(7, INT64, ND4C_INT64, INT64_DATA, 1)                     \
  X(8, STRING, ND4C_UTF8, STRING_DATA, 1)                    \
  X(9, BOOL, ND4C_BOOL, INT32_DATA, 1)                       \
  X(10, FLOAT16, ND4C_FLOAT16, INT32_DATA, 1)                \
  X(11, DOUBLE, ND4C_FLOAT64, DOUBLE_DATA, 1)                \
  X(12, UINT32, ND4C_UINT32, UINT64_DATA, 1)                 \
  X(13, UINT64, ND4C_UINT64, UINT64_DATA, 1)                 \
  X(14, COMPLEX64, ND4C_COMPLEX64, FLOAT_DATA, 2)            \
  X(15, COMPLEX128, ND4C_COMPLEX128, DOUBLE_DATA, 2)         \
  X(16, BFLOAT16, ND4C_BFLOAT16, INT32_DATA, 1)              \
  X(17, FLOAT8E4M3FN, ND4C_FLOAT8_E4M3FN, INT32_DATA, 1)     \
  X(18, FLOAT8E4M3FNUZ, ND4C_FLOAT8_E4M3FNUZ, INT32_DATA, 1) \
  X(19, FLOAT8E5M2, ND4C_FLOAT8_E5M2, INT32_DATA, 1)         \
  X(20, FLOAT8E5M2FNUZ, ND4C_FLOAT8_E5M2FNUZ, INT32_DATA, 1) \
  X(21, UINT4, ND4C_UINT4, INT32_DATA, 1)                    \
  X(22, INT4, ND4C_INT4, INT32_DATA, 1)                      \
  X(23, FLOAT4E2M1, ND4C_FLOAT4_E2M1FN, INT32_DATA, 1)       \
  X(24, FLOAT8E8M0, ND4C_FLOAT8_E8M0FNU, INT32_DATA, 1)      \
  X(25, UINT2, ND4C_UINT2, INT32_DATA, 1)                    \
  X(26, INT2, ND4C_INT2, INT32_DATA, 1)

/* Field numbers of TensorProto. */
enum {
  ND4C_ONNX_TENSOR_DIMS = 1,
  ND4C_ONNX_TENSOR_DATA_TYPE = 2,
  ND4C_ONNX_TENSOR_SEGMENT = 3,
  ND4C_ONNX_TENSOR_FLOAT_DATA = 4,
  ND4C_ONNX_TENSOR_INT32_DATA = 5,
  ND4C_ONNX_TENSOR_STRING_DATA = 6,
  ND4C_ONNX_TENSOR_INT64_DATA = 7,
  ND4C_ONNX_TENSOR_NAME = 8,
  ND4C_ONNX_TENSOR_RAW_DATA = 9,
  ND4C_ONNX_TENSOR_DOUBLE_DATA = 10,
  ND4C_ONNX_TENSOR_UINT64_DATA = 11,
  ND4C_ONNX_TENSOR_EXTERNAL_DATA = 13,
  ND4C_ONNX_TENSOR_DATA_LOCATION = 14
};

typedef struct nd4c_onnx_dtype {
  const char *name;       /* "FLOAT16" */
  nd4c_dtype dtype;       /* ND4C_DTYPE_NONE: nd4c has none, or this build leaves it out */
  uint32_t typed_field;   /* where its values stand if not in raw_data */
  int32_t typed_elements; /* values of that field an element */
} nd4c_onnx_dtype;

/* The row of TensorProto.DataType `number`, or NULL. */
const nd4c_onnx_dtype *nd4c_onnx_dtype_get(int64_t number);
/* The number for an nd4c dtype, 0 if there is none. */
int32_t nd4c_onnx_dtype_number(nd4c_dtype dtype);
/* nd4c's dtype for `number`; FORMAT if it is none of ONNX's, UNSUPPORTED if nd4c lacks it. */
nd4c_status nd4c_onnx_dtype_resolve(int64_t number, nd4c_dtype *dtype);

#endif
