/* Serialised executables: numbers of 8 bytes and lists of them, in the order in which they are read. compiler.c lists
 * these functions in its table. */
#include <stdio.h>
#include <string.h>

#include "stub.h"

enum { MAGIC = 0x73747562, NODES = 65536, VALUES = 1 << 20, ATTRS = 64, LIST = 4096 };

nd4c_status stub_fingerprint(void *data, void *device, const nd4c_compile_options *options, char *text, size_t size) {
  (void)data;
  (void)device;
  (void)options;
  (void)snprintf(text, size, "stub_compiler 2.0, generation %d%s", stub_settings.generation,
                 stub_settings.returns ? ", outputs returned" : "");
  return stub_attempt(STUB_CALL_fingerprint);
}

/* -- writing ------------------------------------------------------------------------------------------------------- */

/* After a failure, calls continue without writing. */
typedef struct writer {
  nd4c_sink *sink;
  nd4c_status status;
} writer;

static void write_list(writer *w, const void *bytes, int64_t count) {
  if (w->status == ND4C_OK) {
    w->status = w->sink->write(w->sink, bytes, count * (int64_t)sizeof(int64_t));
  }
}

static void write_number(writer *w, int64_t number) {
  write_list(w, &number, 1);
}

static void write_operand(writer *w, const stub_operand *operand) {
  write_number(w, operand->dtype);
  write_number(w, operand->rank);
  write_list(w, operand->shape, operand->rank);
  write_list(w, operand->strides, operand->rank);
}

static void write_attr(writer *w, const nd4c_attr_value *attr) {
  write_number(w, attr->kind);
  switch (attr->kind) {
    case ND4C_ATTR_UNSET:
      break;
    case ND4C_ATTR_INT:
    case ND4C_ATTR_BOOL:
    case ND4C_ATTR_DTYPE:
    case ND4C_ATTR_FLOAT:
      write_list(w, &attr->as, 1);
      break;
    case ND4C_ATTR_INTS:
    case ND4C_ATTR_FLOATS:
      write_number(w, attr->as.ints != NULL ? attr->count : -1);
      write_list(w, attr->as.ints, attr->as.ints != NULL ? attr->count : 0);
      break;
    default:
      w->status = stub_host->fail(ND4C_UNSUPPORTED, "stub: an attribute of kind %d is not written", (int)attr->kind);
  }
}

static void write_node(writer *w, const stub_step *node) {
  const stub_work *work = node->work;
  write_number(w, work->op);
  write_number(w, work->attr_count);
  for (int32_t i = 0; i < work->attr_count; i++) {
    write_attr(w, &work->attrs[i]);
  }
  write_number(w, work->input_count);
  for (int32_t i = 0; i < work->input_count; i++) {
    write_number(w, node->inputs[i]);
    write_operand(w, &work->inputs[i]);
  }
  write_number(w, node->output);
  write_operand(w, &work->output);
}

nd4c_status stub_serialise(void *data, nd4c_executable handle, nd4c_sink *sink) {
  (void)data;
  const stub_executable *executable = (const stub_executable *)handle;
  writer w = {sink, stub_attempt(STUB_CALL_serialise)};
  write_number(&w, MAGIC);
  write_number(&w, executable->node_count);
  write_number(&w, executable->value_count);
  write_number(&w, executable->input_count);
  write_number(&w, executable->output_count);
  write_number(&w, executable->dynamic);
  for (int32_t i = 0; i < executable->output_count; i++) {
    write_number(&w, executable->outputs[i]);
  }
  for (int32_t i = 0; i < executable->node_count; i++) {
    write_node(&w, &executable->nodes[i]);
  }
  return w.status;
}

/* -- loading ------------------------------------------------------------------------------------------------------- */

/* After a failure, reading continues and gives the number `low`. */
typedef struct reader {
  const unsigned char *at;
  int64_t left; /* bytes */
  nd4c_status status;
} reader;

static void fail(reader *r, const char *what) {
  if (r->status == ND4C_OK) {
    r->status = stub_host->fail(ND4C_FORMAT, "stub: an executable's bytes: expected %s", what);
  }
}

static void read_list(reader *r, void *to, int64_t count) {
  const int64_t bytes = count * (int64_t)sizeof(int64_t);
  if (bytes > r->left) {
    fail(r, "more bytes");
  }
  if (r->status == ND4C_OK && bytes > 0) {
    memcpy(to, r->at, (size_t)bytes);
    r->at += bytes;
    r->left -= bytes;
  }
}

static int32_t read_number(reader *r, int64_t low, int64_t high, const char *what) {
  int64_t number = low;
  read_list(r, &number, 1);
  if (number < low || number > high) {
    fail(r, what);
    number = low;
  }
  return (int32_t)number;
}

static void read_operand(reader *r, stub_operand *operand) {
  operand->dtype = (nd4c_dtype)read_number(r, 0, INT16_MAX, "a dtype");
  operand->rank = read_number(r, 0, STUB_RANK, "a rank");
  read_list(r, operand->shape, operand->rank);
  read_list(r, operand->strides, operand->rank);
  if (operand->dtype != ND4C_DTYPE_NONE && stub_class_of(operand->dtype) == STUB_NONE) {
    fail(r, "a dtype that the stub has");
  }
  operand->size = operand->dtype == ND4C_DTYPE_NONE ? 0 : 1;
  for (int32_t i = 0; i < operand->rank && r->status == ND4C_OK; i++) {
    if (operand->shape[i] < 0 || (operand->shape[i] > 0 && operand->size > (INT64_C(1) << 40) / operand->shape[i])) {
      fail(r, "extents");
    }
    operand->size *= r->status == ND4C_OK ? operand->shape[i] : 0;
  }
}

static void read_attr(reader *r, nd4c_attr_value *attr) {
  attr->kind = (nd4c_attr_kind)read_number(r, ND4C_ATTR_UNSET, INT16_MAX, "a kind");
  if (attr->kind == ND4C_ATTR_INTS || attr->kind == ND4C_ATTR_FLOATS) {
    const int32_t count = read_number(r, -1, LIST, "a list's length");
    int64_t *list = count >= 0 ? stub_host->allocate((size_t)(count + 1) * sizeof *list) : NULL;
    if (count >= 0 && list == NULL && r->status == ND4C_OK) {
      r->status = stub_host->fail(ND4C_MEMORY, "stub: no memory for an attribute");
    }
    read_list(r, list, count > 0 ? count : 0);
    attr->count = count > 0 ? count : 0;
    attr->as.ints = list;
  } else if (attr->kind == ND4C_ATTR_INT || attr->kind == ND4C_ATTR_BOOL || attr->kind == ND4C_ATTR_DTYPE ||
             attr->kind == ND4C_ATTR_FLOAT) {
    read_list(r, &attr->as, 1);
  } else if (attr->kind != ND4C_ATTR_UNSET) {
    attr->kind = ND4C_ATTR_UNSET;
    fail(r, "an attribute of a kind that the stub writes");
  }
}

/* Allocates a node so that it can be released wherever reading fails. */
static bool make_room(reader *r, stub_step *node, int32_t attrs) {
  node->work = stub_host->allocate(sizeof *node->work);
  if (node->work != NULL) {
    node->work->name = "a loaded op";
    node->work->attrs = stub_host->allocate((size_t)(attrs + 1) * sizeof *node->work->attrs);
    node->work->inputs = stub_host->allocate((STUB_INPUTS + 1) * sizeof *node->work->inputs);
  }
  node->inputs = stub_host->allocate((STUB_INPUTS + 1) * sizeof *node->inputs);
  const bool made =
      node->work != NULL && node->work->attrs != NULL && node->work->inputs != NULL && node->inputs != NULL;
  if (!made && r->status == ND4C_OK) {
    r->status = stub_host->fail(ND4C_MEMORY, "stub: no memory for a node");
  }
  return made;
}

/* `first`: the number of values that are there when the node runs. */
static void read_node(reader *r, const stub_executable *executable, stub_step *node) {
  const int32_t op = read_number(r, 1, INT32_MAX, "an op"), attrs = read_number(r, 0, ATTRS, "a number of attributes");
  if (!make_room(r, node, attrs)) {
    return;
  }
  stub_work *work = node->work;
  work->op = (nd4c_op)op;
  if (!stub_compute_knows(work->op)) {
    fail(r, "an op that the stub has");
  }
  for (; work->attr_count < attrs && r->status == ND4C_OK; work->attr_count++) {
    read_attr(r, &work->attrs[work->attr_count]);
  }
  work->input_count = read_number(r, 0, STUB_INPUTS, "a number of inputs");
  for (int32_t i = 0; i < work->input_count; i++) {
    node->inputs[i] = read_number(r, -1, executable->value_count - 1, "a value");
    read_operand(r, &work->inputs[i]);
  }
  node->output = read_number(r, executable->input_count, executable->value_count - 1, "a value that is no input");
  read_operand(r, &work->output);
}

static void read_body(reader *r, stub_executable *executable) {
  for (int32_t i = 0; i < executable->output_count; i++) {
    executable->outputs[i] = read_number(r, executable->input_count, executable->value_count - 1, "an output's value");
  }
  for (int32_t i = 0; i < executable->node_count && r->status == ND4C_OK; i++) {
    read_node(r, executable, &executable->nodes[i]);
  }
  if (r->left != 0) {
    fail(r, "no more bytes");
  }
}

nd4c_status stub_load(void *data, void *device, const void *bytes, int64_t size, nd4c_executable *result) {
  (void)data;
  reader r = {bytes, size, stub_attempt(STUB_CALL_load)};
  (void)read_number(&r, MAGIC, MAGIC, "what the stub writes");
  stub_executable counts = {.device = stub_device_index(device)};
  counts.node_count = read_number(&r, 1, NODES, "a number of nodes");
  counts.value_count = read_number(&r, 1, VALUES, "a number of values");
  counts.input_count = read_number(&r, 0, counts.value_count - 1, "a number of inputs");
  counts.output_count = read_number(&r, 1, counts.value_count, "a number of outputs");
  counts.dynamic = read_number(&r, 0, 1, "a flag") != 0;
  stub_executable *executable = NULL;
  nd4c_status status = r.status == ND4C_OK ? stub_executable_create(&counts, &executable) : r.status;
  if (status != ND4C_OK) {
    return status;
  }
  executable->dynamic = counts.dynamic;
  read_body(&r, executable);
  if (r.status != ND4C_OK && !stub_lies("loads_junk")) {
    stub_executable_release(executable);
    return r.status;
  }
  *result = (nd4c_executable)executable;
  return ND4C_OK;
}
