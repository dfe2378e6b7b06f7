/* SparseTensorProto, which nd4c turns into a dense array. graph.c and attribute.c parse with it; tensor_array.c makes
 * the array. */
#include <inttypes.h>

#include "array/shape.h"
#include "base/status.h"
#include "device/access/write.h"
#include "import/onnx/file/tensor.h"

enum { FIELD_VALUES = 1, FIELD_INDICES = 2, FIELD_DIMS = 3 };

/* A few values may have a shape of any size, so the size of the dense array is limited. */
#define DENSE_BYTES_MOST (INT64_C(1) << 30)

struct nd4c_onnx_sparse {
  nd4c_onnx_tensor values, indices;
};

static nd4c_status parse_fields(nd4c_wire *wire, nd4c_onnx_files *files, struct nd4c_onnx_sparse *sparse,
                                int64_t *shape, int32_t *rank) {
  while (nd4c_wire_more(wire)) {
    nd4c_wire_field field;
    nd4c_wire inner;
    ND4C_TRY(nd4c_wire_next(wire, &field));
    if (field.number == FIELD_DIMS) {
      ND4C_TRY(nd4c_onnx_dims_parse(wire, &field, "a sparse tensor", shape, rank));
    } else if (field.number == FIELD_VALUES || field.number == FIELD_INDICES) {
      ND4C_TRY(nd4c_wire_enter(wire, &field, "TensorProto", &inner));
      ND4C_TRY(
          nd4c_onnx_tensor_parse(&inner, files, field.number == FIELD_VALUES ? &sparse->values : &sparse->indices));
    }
  }
  return ND4C_OK;
}

/* Checks the indices: one for each value, or one for each axis of each value. */
static nd4c_status check_parts(const struct nd4c_onnx_sparse *sparse, const nd4c_onnx_tensor *tensor) {
  const nd4c_onnx_tensor *indices = &sparse->indices;
  int64_t count = sparse->values.size;
  bool linear = indices->rank == 1 && indices->shape[0] == count;
  bool by_axis = indices->rank == 2 && indices->shape[0] == count && indices->shape[1] == tensor->rank;
  if (sparse->values.shape == NULL || sparse->values.rank != 1 || indices->dtype != ND4C_INT64 ||
      !(linear || by_axis)) {
    return nd4c_fail(ND4C_FORMAT,
                     "a sparse tensor needs n values and n int64 indices, or n by %d of them; it has %" PRId64
                     " values and %" PRId64 " indices of rank %d",
                     (int)tensor->rank, count, indices->size, (int)indices->rank);
  }
  int64_t bytes = nd4c_dtype_size(tensor->dtype);
  if (tensor->dtype == ND4C_UTF8 || bytes == 0 || tensor->size > DENSE_BYTES_MOST / bytes) {
    return nd4c_fail(ND4C_UNSUPPORTED, "a sparse tensor of %" PRId64 " elements of %s", tensor->size,
                     nd4c_dtype_name(tensor->dtype));
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_sparse_parse(nd4c_wire *wire, nd4c_onnx_files *files, nd4c_onnx_tensor *tensor) {
  int64_t shape[ND4C_MAX_RANK];
  int64_t *kept = NULL;
  struct nd4c_onnx_sparse *sparse = NULL;
  uint64_t offset = (uint64_t)(wire->at - wire->file);
  *tensor = (nd4c_onnx_tensor){.file = wire->file, .blob = files->blob, .offset = offset};
  ND4C_TRY(nd4c_region_claim(files->region, 1, sizeof *sparse, "a sparse tensor", &sparse));
  ND4C_TRY(parse_fields(wire, files, sparse, shape, &tensor->rank));
  ND4C_TRY(nd4c_region_claim(files->region, (size_t)tensor->rank, sizeof *kept, "a tensor's shape", &kept));
  memcpy(kept, shape, (size_t)tensor->rank * sizeof *kept);
  tensor->name = sparse->values.name;
  tensor->dtype = sparse->values.dtype;
  tensor->shape = kept;
  tensor->sparse = sparse;
  nd4c_status status = nd4c_shape_size(tensor->dtype, tensor->rank, tensor->shape, &tensor->size);
  status = status == ND4C_OK ? check_parts(sparse, tensor) : nd4c_fail_prefix(ND4C_FORMAT, "shape refused");
  return status == ND4C_OK
             ? status
             : nd4c_fail_prefix(status, "sparse tensor %s at byte %" PRIu64, nd4c_span_show(tensor->name).text, offset);
}

/* Where a value stands in C order. */
static nd4c_status place_of(const nd4c_onnx_tensor *tensor, const int64_t *index, bool linear, int64_t *place) {
  *place = 0;
  for (int32_t i = 0; i < (linear ? 1 : tensor->rank); i++) {
    int64_t extent = linear ? tensor->size : tensor->shape[i];
    if (index[i] < 0 || index[i] >= extent) {
      return nd4c_fail(ND4C_FORMAT, "sparse tensor %s at byte %" PRIu64 ": index %" PRId64 " of %" PRId64,
                       nd4c_span_show(tensor->name).text, tensor->offset, index[i], extent);
    }
    *place = *place * extent + index[i];
  }
  return ND4C_OK;
}

static nd4c_status fill(const nd4c_onnx_tensor *tensor, const nd4c_array *values, const nd4c_array *indices,
                        nd4c_array *dense) {
  const void *from = NULL;
  const void *where = NULL;
  void *to = NULL;
  bool linear = nd4c_array_rank(indices) == 1;
  size_t bytes = (size_t)nd4c_dtype_size(tensor->dtype);
  ND4C_TRY(nd4c_array_data(values, &from));
  ND4C_TRY(nd4c_array_data(indices, &where));
  ND4C_TRY(nd4c_array_host_address(dense, true, &to));
  for (int64_t i = 0; i < nd4c_array_size(values); i++) {
    int64_t place = 0;
    ND4C_TRY(place_of(tensor, (const int64_t *)where + i * (linear ? 1 : tensor->rank), linear, &place));
    memcpy((unsigned char *)to + (size_t)place * bytes, (const unsigned char *)from + (size_t)i * bytes, bytes);
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_sparse_array(const nd4c_onnx_tensor *tensor, nd4c_array **array) {
  nd4c_array *values = NULL;
  nd4c_array *indices = NULL;
  nd4c_array *dense = NULL;
  nd4c_status status = nd4c_onnx_tensor_array(&tensor->sparse->values, false, &values);
  if (status == ND4C_OK) {
    status = nd4c_onnx_tensor_array(&tensor->sparse->indices, false, &indices);
  }
  if (status == ND4C_OK) {
    status = nd4c_onnx_host_array(tensor->dtype, tensor->rank, tensor->shape, NULL, &dense);
  }
  if (status == ND4C_OK) {
    status = fill(tensor, values, indices, dense);
  }
  nd4c_array_release(values);
  nd4c_array_release(indices);
  if (status != ND4C_OK) {
    nd4c_array_release(dense);
    return status;
  }
  *array = dense;
  return ND4C_OK;
}
