/* TensorProto: parsed in place, checked, and turned into an array. onnx/model.h includes it for the parsers and the
 * importer, import/tensor.c and import/datum_file.c for single files. */
#ifndef ND4C_IMPORT_ONNX_FILE_TENSOR_H
#define ND4C_IMPORT_ONNX_FILE_TENSOR_H

#include "base/region.h"
#include "import/onnx/file/dtype.h"
#include "io/blob.h"
#include "io/wire.h"
#include "nd4c/array.h"

/* A tensor whose bytes stay in the file. Its size is known to agree with its shape and dtype. */
typedef struct nd4c_onnx_tensor {
  nd4c_span name;
  nd4c_dtype dtype;
  int32_t rank;
  const int64_t *shape; /* in the region */
  int64_t size;         /* elements */
  bool has_raw;
  nd4c_span raw;                         /* raw_data, or the range of the external file */
  nd4c_span message;                     /* all of the TensorProto: typed data are read from it again */
  const unsigned char *file;             /* what offsets in errors count from */
  nd4c_blob *blob;                       /* owns `raw` or, without raw data, `message`; borrowed */
  uint64_t offset;                       /* of the message in its file */
  const struct nd4c_onnx_sparse *sparse; /* its values and their places, if it is a SparseTensorProto; NULL else */
} nd4c_onnx_tensor;

/* The files that a model or tensor may refer to: those beside it. */
typedef struct nd4c_onnx_files {
  nd4c_region *region;
  nd4c_blob *blob;         /* the file itself; borrowed */
  const char *directory;   /* of the file; NULL: it came from memory, and there is no external data */
  nd4c_region_list opened; /* of nd4c_onnx_external, each with its own reference */
} nd4c_onnx_files;

typedef struct nd4c_onnx_external {
  nd4c_span location;
  nd4c_blob *blob;
} nd4c_onnx_external;

/* Drops the external files. The owner frees the region. */
void nd4c_onnx_files_close(nd4c_onnx_files *files);
/* The range of the file `location` beside the model. FORMAT for a path that leaves the directory (absolute, "..", a
 * symbolic link) or a range outside the file; IO if it cannot be read. length < 0: to the end. */
nd4c_status nd4c_onnx_files_range(nd4c_onnx_files *files, nd4c_span location, uint64_t offset, int64_t length,
                                  nd4c_span *range, nd4c_blob **blob);

/* Parses one occurrence of a repeated extent into shape, which has room for ND4C_MAX_RANK, and counts in *rank; `what`
 * for the text. */
nd4c_status nd4c_onnx_dims_parse(const nd4c_wire *wire, const nd4c_wire_field *field, const char *what, int64_t *shape,
                                 int32_t *rank);

/* Parses and checks one TensorProto. */
nd4c_status nd4c_onnx_tensor_parse(nd4c_wire *wire, nd4c_onnx_files *files, nd4c_onnx_tensor *tensor);

/* The same for a SparseTensorProto. UNSUPPORTED if it would be larger than a GiB. */
nd4c_status nd4c_onnx_sparse_parse(nd4c_wire *wire, nd4c_onnx_files *files, nd4c_onnx_tensor *tensor);
/* The dense array of a sparse tensor; FORMAT if an index is out of range. */
nd4c_status nd4c_onnx_sparse_array(const nd4c_onnx_tensor *tensor, nd4c_array **array);

/* An array that belongs to a model, on the host: plans copy it to the devices that need it. data NULL: zeros. */
nd4c_status nd4c_onnx_host_array(nd4c_dtype dtype, int32_t rank, const int64_t *shape, const void *data,
                                 nd4c_array **array);

/* The tensor as an array on the host: read-only and in place, keeping its file alive, if its bytes are raw and aligned;
 * else a copy. copy: always a copy, on the device on which the calling program makes its arrays (a sparse one on the
 * host). */
nd4c_status nd4c_onnx_tensor_array(const nd4c_onnx_tensor *tensor, bool copy, nd4c_array **array);

#endif
