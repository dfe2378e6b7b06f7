/* Segments as bytes: the pattern, equal for segments that differ only in extents, and the identity (compiled.h).
 * device/compiled.c looks for a live executable by the pattern, device/kept.c for a file by the identity. */
#include <string.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "device/compiled.h"
#include "device/provider/contents.h"

static void add(nd4c_text *text, const void *bytes, size_t size) {
  if (size > 0) {
    nd4c_text_append(text, bytes, size);
  }
}

static void add_number(nd4c_text *text, int64_t number) {
  add(text, &number, sizeof number);
}

static void add_string(nd4c_text *text, const char *string) {
  add_number(text, string != NULL ? (int64_t)strlen(string) : -1);
  add(text, string, string != NULL ? strlen(string) : 0);
}

/* False if the value is of a kind that is not compared. */
static bool add_attr(nd4c_text *text, const nd4c_attr_value *attr) {
  add_number(text, attr->kind);
  add_number(text, attr->count);
  switch (attr->kind) {
    case ND4C_ATTR_UNSET:
      return true;
    case ND4C_ATTR_INT:
    case ND4C_ATTR_BOOL:
    case ND4C_ATTR_DTYPE:
    case ND4C_ATTR_FLOAT:
      add(text, &attr->as, sizeof attr->as.i);
      return true;
    case ND4C_ATTR_INTS:
    case ND4C_ATTR_FLOATS:
      add_number(text, attr->as.ints != NULL);
      add(text, attr->as.ints, attr->as.ints != NULL && attr->count > 0 ? sizeof(int64_t) * (size_t)attr->count : 0);
      return true;
    case ND4C_ATTR_STRING:
      add_string(text, attr->as.string);
      return true;
    default:
      return false;
  }
}

/* What is written of segments. */
typedef enum segment_detail {
  PATTERN,      /* no extents; constants are compared with nothing, since they may have been compiled in */
  OPEN_PATTERN, /* no extents; constants are like other values, because the compiler does not look at them */
  IDENTITY      /* all but the contents of constants */
} segment_detail;

/* False if the value cannot be compared. */
static bool add_tensor(nd4c_text *text, const nd4c_tensor *tensor, int32_t value, segment_detail detail) {
  const bool constant = (tensor->flags & ND4C_TENSOR_CONSTANT) != 0;
  add_number(text, value);
  add_number(text, tensor->dtype);
  add_number(text, tensor->rank);
  if (detail == IDENTITY && tensor->dtype != ND4C_DTYPE_NONE) {
    add_number(text, constant);
    add(text, tensor->shape, (size_t)tensor->rank * sizeof *tensor->shape);
    add(text, tensor->strides, (size_t)tensor->rank * sizeof *tensor->strides);
  }
  return !constant || detail != PATTERN;
}

static bool add_node(nd4c_text *text, const nd4c_segment *segment, int32_t index, segment_detail detail) {
  const nd4c_call *node = segment->nodes[index];
  bool shared = true;
  add_string(text, node->op->name);
  add_number(text, node->op->version);
  add_number(text, node->flags);
  add_number(text, node->input_count);
  for (int32_t i = 0; i < node->input_count; i++) {
    shared = add_tensor(text, &node->inputs[i], segment->node_inputs[index][i], detail) && shared;
  }
  for (int32_t i = 0; i < node->output_count; i++) {
    shared = add_tensor(text, &node->outputs[i], segment->node_outputs[index][i], detail) && shared;
  }
  for (int32_t i = 0; node->attrs != NULL && i < node->op->attr_count; i++) {
    shared = add_attr(text, &node->attrs[i]) && shared;
  }
  return shared;
}

static void add_options(nd4c_text *text, const nd4c_compile_options *options, segment_detail detail) {
  add_number(text, options->deterministic);
  add_number(text, options->math);
  add_number(text, detail == IDENTITY ? 0 : options->width);
  add_number(text, options->memory_bytes);
  add_number(text, options->option_count);
  for (int32_t i = 0; i < options->option_count; i++) {
    add_string(text, options->options[i].key);
    add_string(text, options->options[i].value);
  }
}

/* False if a part of the segment cannot be compared. */
static bool add_segment(nd4c_text *text, const nd4c_segment *segment, const nd4c_compile_options *options,
                        segment_detail detail) {
  bool shared = true;
  add_options(text, options, detail);
  add_number(text, segment->node_count);
  add_number(text, segment->input_count);
  for (int32_t i = 0; i < segment->output_count; i++) {
    add_number(text, segment->outputs[i]);
  }
  for (int32_t i = 0; i < segment->node_count && shared; i++) {
    shared = add_node(text, segment, i, detail);
  }
  return shared;
}

nd4c_status nd4c_segment_pattern(const nd4c_segment *segment, const nd4c_compile_options *options, bool reads_constants,
                                 unsigned char **pattern, size_t *bytes) {
  nd4c_text text = {0};
  const bool shared = add_segment(&text, segment, options, reads_constants ? PATTERN : OPEN_PATTERN);
  *pattern = NULL;
  *bytes = text.length;
  nd4c_status status = text.failed ? nd4c_fail_memory("a segment's pattern", text.capacity) : ND4C_OK;
  if (status == ND4C_OK && shared) {
    *pattern = nd4c_allocate(text.length);
    status = *pattern != NULL ? ND4C_OK : nd4c_fail_memory("a segment's pattern", text.length);
  }
  if (*pattern != NULL) {
    memcpy(*pattern, text.bytes, text.length);
  }
  nd4c_text_free(&text);
  return status;
}

/* -- identity ------------------------------------------------------------------------------------------------------ */

static bool is_constant(const nd4c_segment *segment, int32_t value) {
  for (int32_t i = 0; i < segment->node_count; i++) {
    for (int32_t k = 0; k < segment->nodes[i]->input_count; k++) {
      if (segment->node_inputs[i][k] == value) {
        return (segment->nodes[i]->inputs[k].flags & ND4C_TENSOR_CONSTANT) != 0;
      }
    }
  }
  return false;
}

/* Reads the elements in C order, from any device. */
static nd4c_status hash_contents(nd4c_hasher *hasher, const nd4c_array *array) {
  const size_t bytes = (size_t)nd4c_dtype_bytes(array->dtype, array->size);
  const void *ready = atomic_load(&array->storage->address);
  if (ready != NULL && array->contiguous) {
    nd4c_hasher_add(hasher, (const char *)ready + nd4c_array_offset_bytes(array), bytes);
    return ND4C_OK;
  }
  void *copy = nd4c_allocate(bytes + 1);
  if (copy == NULL) {
    return nd4c_fail_memory("a constant's contents", bytes);
  }
  nd4c_status status = nd4c_contents_read(array, copy, bytes);
  if (status == ND4C_OK) {
    nd4c_hasher_add(hasher, copy, bytes);
  }
  nd4c_deallocate(copy);
  return status;
}

nd4c_status nd4c_segment_identity(const nd4c_segment *segment, const nd4c_compile_options *options,
                                  const nd4c_array *const *constants, nd4c_digest *identity, bool *known) {
  nd4c_text text = {0};
  nd4c_hasher hasher;
  *known = add_segment(&text, segment, options, IDENTITY);
  nd4c_status status = text.failed ? nd4c_fail_memory("a segment's identity", text.capacity) : ND4C_OK;
  nd4c_hasher_begin(&hasher);
  if (status == ND4C_OK) {
    nd4c_hasher_add(&hasher, text.bytes, text.length);
  }
  for (int32_t i = 0; i < segment->input_count && status == ND4C_OK && *known; i++) {
    const bool constant = is_constant(segment, i);
    *known = !constant || (constants != NULL && constants[i] != NULL);
    status = constant && *known ? hash_contents(&hasher, constants[i]) : ND4C_OK;
  }
  *identity = nd4c_hasher_end(&hasher);
  nd4c_text_free(&text);
  return status;
}
