/* Files beside a model that hold the data of its tensors: maps each once, and never leaves the model's directory.
 * tensor.c asks for ranges of them. */
#include <inttypes.h>
#include <stdio.h>

#include "base/status.h"
#include "import/onnx/file/tensor.h"

void nd4c_onnx_files_close(nd4c_onnx_files *files) {
  nd4c_onnx_external *opened = files->opened.items;
  for (int32_t i = 0; i < files->opened.count; i++) {
    nd4c_blob_release(opened[i].blob);
  }
  files->opened = (nd4c_region_list){0};
}

/* Refuses a path that could name a file outside the directory, before it opens any file. */
static nd4c_status check_location(nd4c_span location) {
  const char *problem = NULL;
  size_t start = 0;
  if (location.size == 0) {
    problem = "is empty";
  } else if (location.bytes[0] == '/' || memchr(location.bytes, '\\', location.size) != NULL ||
             memchr(location.bytes, ':', location.size) != NULL) {
    problem = "is not a relative path";
  }
  for (size_t i = 0; problem == NULL && i <= location.size; i++) {
    if (i == location.size || location.bytes[i] == '/') {
      if (i - start == 2 && memcmp(location.bytes + start, "..", 2) == 0) {
        problem = "leaves the model's directory";
      }
      start = i + 1;
    }
  }
  if (problem != NULL) {
    return nd4c_fail(ND4C_FORMAT, "external data location %s %s; expected a path inside the model's directory",
                     nd4c_span_show(location).text, problem);
  }
  return ND4C_OK;
}

static nd4c_status open_external(nd4c_onnx_files *files, nd4c_span location, nd4c_blob **blob) {
  nd4c_onnx_external *opened = files->opened.items;
  for (int32_t i = 0; i < files->opened.count; i++) {
    if (nd4c_span_equal(opened[i].location, location)) {
      *blob = opened[i].blob;
      return ND4C_OK;
    }
  }
  ND4C_TRY(check_location(location));
  if (files->directory == NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "external data in %s: a model read from memory has no directory to find it in",
                     nd4c_span_show(location).text);
  }
  char *name = NULL;
  ND4C_TRY(nd4c_region_claim(files->region, location.size + 1, 1, "an external file's name", &name));
  memcpy(name, location.bytes, location.size);
  char path[4096];
  ND4C_TRY(nd4c_os_path_inside(files->directory, name, path, sizeof path));
  ND4C_TRY(nd4c_blob_map(path, blob));
  nd4c_onnx_external *item = NULL;
  nd4c_status status = nd4c_region_append(files->region, &files->opened, sizeof *item, "external files", &item);
  if (status != ND4C_OK) {
    nd4c_blob_release(*blob);
    return status;
  }
  *item = (nd4c_onnx_external){location, *blob};
  return ND4C_OK;
}

nd4c_status nd4c_onnx_files_range(nd4c_onnx_files *files, nd4c_span location, uint64_t offset, int64_t length,
                                  nd4c_span *range, nd4c_blob **blob) {
  ND4C_TRY(open_external(files, location, blob));
  uint64_t size = (*blob)->bytes.size;
  if (offset > size && length < 0) {
    return nd4c_fail(ND4C_FORMAT, "external data: offset %" PRIu64 " lies outside %s, which has %" PRIu64 " bytes",
                     offset, nd4c_span_show(location).text, size);
  }
  if (offset > size || (length >= 0 && (uint64_t)length > size - offset)) {
    return nd4c_fail(ND4C_FORMAT,
                     "external data: offset %" PRIu64 " and length %" PRId64 " reach outside %s, which has %" PRIu64
                     " bytes",
                     offset, length, nd4c_span_show(location).text, size);
  }
  *range = (nd4c_span){NULL, length >= 0 ? (size_t)length : (size_t)(size - offset)};
  if (range->size > 0) {
    range->bytes = (*blob)->bytes.bytes + offset;
  }
  return ND4C_OK;
}
