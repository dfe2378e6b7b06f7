/* Implements dtype.h. The parsers of tensors and the importer look dtypes up here. */
#include "import/onnx/file/dtype.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/status.h"

enum { ROWS = 27 };

static const nd4c_onnx_dtype rows[ROWS] = {
#define ROW(number, onnx, nd4c, field, elements) [number] = {#onnx, nd4c, ND4C_ONNX_TENSOR_##field, elements},
    ND4C_ONNX_DTYPE_TABLE(ROW)
#undef ROW
};

const nd4c_onnx_dtype *nd4c_onnx_dtype_get(int64_t number) {
  return number > 0 && number < ROWS ? &rows[number] : NULL;
}

int32_t nd4c_onnx_dtype_number(nd4c_dtype dtype) {
  for (int32_t number = 1; number < ROWS; number++) {
    if (rows[number].dtype == dtype && dtype != ND4C_DTYPE_NONE) {
      return number;
    }
  }
  return 0;
}

nd4c_status nd4c_onnx_dtype_resolve(int64_t number, nd4c_dtype *dtype) {
  const nd4c_onnx_dtype *row = nd4c_onnx_dtype_get(number);
  if (row == NULL) {
    return nd4c_fail(ND4C_FORMAT, "element type %" PRId64 " is none of ONNX's", number);
  }
  const nd4c_dtype_info *info = nd4c_dtype_get_info(row->dtype);
  if (info == NULL || !info->available) {
    return nd4c_fail(ND4C_UNSUPPORTED, "element type %s is not in this build of nd4c", row->name);
  }
  *dtype = row->dtype;
  return ND4C_OK;
}
