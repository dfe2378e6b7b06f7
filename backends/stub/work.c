/* A call in the queue: a deep copy, independent of the caller's memory. kernels.c and compiler.c create it; the
 * stream's thread runs it. */
#include <string.h>

#include "stub.h"

static bool copy_list(nd4c_attr_value *attr) {
  size_t bytes = 0;
  const void *from = NULL;
  if (attr->kind == ND4C_ATTR_INTS) {
    bytes = (size_t)attr->count * sizeof(int64_t);
    from = attr->as.ints;
  } else if (attr->kind == ND4C_ATTR_FLOATS) {
    bytes = (size_t)attr->count * sizeof(double);
    from = attr->as.floats;
  } else {
    return true;
  }
  if (from == NULL) {
    return true; /* omitted, unlike an empty list */
  }
  void *copy = stub_host->allocate(bytes + 1);
  if (copy != NULL && bytes > 0) {
    memcpy(copy, from, bytes);
  }
  if (attr->kind == ND4C_ATTR_INTS) {
    attr->as.ints = copy;
  } else {
    attr->as.floats = copy;
  }
  return copy != NULL;
}

static void free_list(nd4c_attr_value *attr) {
  union {
    const void *read;
    void *memory;
  } list = {.read = attr->kind == ND4C_ATTR_INTS     ? (const void *)attr->as.ints
                    : attr->kind == ND4C_ATTR_FLOATS ? (const void *)attr->as.floats
                                                     : NULL};
  stub_host->free(list.memory);
}

void stub_work_loosen(void *argument) {
  stub_work *work = argument;
  for (int32_t i = 0; work->inputs != NULL && i < work->input_count; i++) {
    stub_operand_loosen(&work->inputs[i]);
  }
  stub_operand_loosen(&work->output);
  stub_scratch_loosen(&work->scratch);
}

void stub_work_destroy(void *argument) {
  stub_work *work = argument;
  if (work == NULL) {
    return;
  }
  stub_work_loosen(work);
  for (int32_t i = 0; work->attrs != NULL && i < work->attr_count; i++) {
    free_list(&work->attrs[i]);
  }
  stub_host->free(work->inputs);
  stub_host->free(work->attrs);
  stub_host->free(work);
}

static nd4c_status fill(const nd4c_call *call, stub_work *work) {
  work->op = call->op->op;
  work->name = call->op->name;
  work->inputs = stub_host->allocate((size_t)(call->input_count + 1) * sizeof *work->inputs);
  work->attrs = stub_host->allocate((size_t)(call->op->attr_count + 1) * sizeof *work->attrs);
  if (work->inputs == NULL || work->attrs == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a call of %s", call->op->name);
  }
  for (int32_t i = 0; i < call->op->attr_count; i++) {
    work->attrs[i] = call->attrs[i];
    work->attr_count = i + 1;
    if (!copy_list(&work->attrs[i])) {
      return stub_host->fail(ND4C_MEMORY, "stub: no memory for the attributes of %s", call->op->name);
    }
  }
  for (int32_t i = 0; i < call->input_count; i++) {
    work->input_count = i + 1;
    nd4c_status status = stub_operand_copy(&call->inputs[i], &work->inputs[i]);
    if (status != ND4C_OK) {
      return status;
    }
  }
  nd4c_status status = stub_scratch_bind(call->scratch_buffer, call->scratch_buffer_bytes, &work->scratch);
  return status == ND4C_OK ? stub_operand_copy(&call->outputs[0], &work->output) : status;
}

nd4c_status stub_work_create(const nd4c_call *call, stub_work **result) {
  stub_work *work = stub_host->allocate(sizeof *work);
  if (work == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a call of %s", call->op->name);
  }
  nd4c_status status = fill(call, work);
  if (status != ND4C_OK) {
    stub_work_destroy(work);
    return status;
  }
  *result = work;
  return ND4C_OK;
}

static nd4c_status copy_work(const stub_work *from, stub_work *work) {
  const int32_t inputs = from->input_count, attrs = from->attr_count;
  work->op = from->op;
  work->name = from->name;
  work->inputs = stub_host->allocate((size_t)(inputs + 1) * sizeof *work->inputs);
  work->attrs = stub_host->allocate((size_t)(attrs + 1) * sizeof *work->attrs);
  if (work->inputs == NULL || work->attrs == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a call of %s", from->name);
  }
  for (int32_t i = 0; i < attrs; i++) {
    work->attrs[i] = from->attrs[i];
    work->attr_count = i + 1;
    if (!copy_list(&work->attrs[i])) {
      return stub_host->fail(ND4C_MEMORY, "stub: no memory for the attributes of %s", from->name);
    }
  }
  for (int32_t i = 0; i < inputs; i++) {
    work->inputs[i] = from->inputs[i];
    work->inputs[i].buffer = NULL;
    work->input_count = i + 1;
    nd4c_status status = stub_operand_bind(&work->inputs[i]);
    if (status != ND4C_OK) {
      return status;
    }
  }
  nd4c_status bound = stub_scratch_bind(from->scratch.handle, from->scratch.bytes, &work->scratch);
  if (bound != ND4C_OK) {
    return bound;
  }
  work->output = from->output;
  work->output.buffer = NULL;
  return stub_operand_bind(&work->output);
}

nd4c_status stub_work_again(const void *argument, void **copy) {
  const stub_work *from = argument;
  stub_work *work = stub_host->allocate(sizeof *work);
  if (work == NULL) {
    return stub_host->fail(ND4C_MEMORY, "stub: no memory for a call of %s", from->name);
  }
  nd4c_status status = copy_work(from, work);
  if (status != ND4C_OK) {
    stub_work_destroy(work);
    return status;
  }
  *copy = work;
  return ND4C_OK;
}

static nd4c_status run_direct(const stub_work *work, stub_direct direct) {
  int64_t stamp = 0;
  nd4c_status status = stub_scratch_begin(&work->scratch, &stamp);
  status = status == ND4C_OK ? direct(work) : status;
  return status == ND4C_OK ? stub_scratch_end(&work->scratch, stamp) : status;
}

nd4c_status stub_work_run(void *argument) {
  const stub_work *work = argument;
  const stub_direct direct = stub_compute_direct(work->op);
  if (direct != NULL) {
    return run_direct(work, direct);
  }
  stub_value *values[STUB_INPUTS] = {NULL};
  stub_value *output = stub_host->allocate((size_t)(work->output.size + 1) * sizeof *output);
  int64_t stamp = 0;
  nd4c_status status = output != NULL
                           ? stub_scratch_begin(&work->scratch, &stamp)
                           : stub_host->fail(ND4C_MEMORY, "stub: no memory for the result of %s", work->name);
  for (int32_t i = 0; i < work->input_count && status == ND4C_OK; i++) {
    if (work->inputs[i].dtype != ND4C_DTYPE_NONE) {
      status = stub_operand_load(&work->inputs[i], &values[i]);
    }
  }
  if (status == ND4C_OK) {
    status = stub_compute_find(work->op)(work, values, output);
  }
  if (status == ND4C_OK) {
    status = stub_operand_store(&work->output, output);
  }
  if (status == ND4C_OK) {
    status = stub_scratch_end(&work->scratch, stamp);
  }
  for (int32_t i = 0; i < work->input_count; i++) {
    stub_host->free(values[i]);
  }
  stub_host->free(output);
  return status;
}
