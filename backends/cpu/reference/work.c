#include "backends/cpu/reference/work.h"

static void *take(nd4c_cpu_work *work, int64_t count) {
  if (work->failed || count < 0 || count > INT64_MAX / 16 || work->count == ND4C_CPU_WORK_BLOCKS) {
    work->failed = true;
    return NULL;
  }
  const size_t wanted = (size_t)nd4c_cpu_work_bytes(count);
  if (wanted <= work->left) {
    char *part = work->scratch;
    work->scratch += wanted;
    work->left -= wanted;
    return part;
  }
  size_t bytes = (size_t)(count > 0 ? count : 1) * sizeof(double);
  void *memory = nd4c_cpu_host->allocate_pages(bytes);
  if (memory == NULL) {
    work->failed = true;
    return NULL;
  }
  work->blocks[work->count].memory = memory;
  work->blocks[work->count++].bytes = bytes;
  return memory;
}

double *nd4c_cpu_work_make(nd4c_cpu_work *work, int64_t count) {
  double *numbers = take(work, count);
  return numbers == NULL ? NULL : memset(numbers, 0, (size_t)count * sizeof *numbers);
}

int64_t *nd4c_cpu_work_make_integers(nd4c_cpu_work *work, int64_t count) {
  int64_t *integers = take(work, count);
  return integers == NULL ? NULL : memset(integers, 0, (size_t)count * sizeof *integers);
}

static double *load(nd4c_cpu_work *work, const nd4c_call *call, int32_t input, int32_t rank, const int64_t *shape) {
  nd4c_ref_tensor tensor = nd4c_cpu_ref_tensor(nd4c_cpu_input(call, input));
  double *numbers = tensor.dtype == ND4C_DTYPE_NONE ? NULL : take(work, nd4c_ref_extent(rank, shape));
  if (numbers != NULL)
    nd4c_ref_numbers_load(&tensor, rank, shape, numbers);
  return numbers;
}

const double *nd4c_cpu_work_load_as(nd4c_cpu_work *work, const nd4c_call *call, int32_t input, int32_t rank,
                                    const int64_t *shape) {
  return load(work, call, input, rank, shape);
}

double *nd4c_cpu_work_copy(nd4c_cpu_work *work, const nd4c_call *call, int32_t input) {
  return load(work, call, input, call->inputs[input].rank, call->inputs[input].shape);
}

const double *nd4c_cpu_work_load(nd4c_cpu_work *work, const nd4c_call *call, int32_t input) {
  const nd4c_tensor *tensor = nd4c_cpu_input(call, input);
  return tensor == NULL ? NULL : nd4c_cpu_work_load_as(work, call, input, tensor->rank, tensor->shape);
}

const double *nd4c_cpu_work_load_like(nd4c_cpu_work *work, const nd4c_call *call, int32_t input,
                                      const nd4c_tensor *like) {
  return nd4c_cpu_work_load_as(work, call, input, like->rank, like->shape);
}

const int64_t *nd4c_cpu_work_load_integers(nd4c_cpu_work *work, const nd4c_call *call, int32_t input) {
  const nd4c_tensor *tensor = nd4c_cpu_input(call, input);
  int64_t *integers = tensor == NULL ? NULL : take(work, tensor->size);
  if (integers != NULL) {
    nd4c_ref_tensor x = nd4c_cpu_ref_tensor(tensor);
    nd4c_ref_integers_load(&x, integers);
  }
  return integers;
}

void nd4c_cpu_work_store(const nd4c_call *call, int32_t output, const double *numbers) {
  nd4c_ref_tensor y = nd4c_cpu_ref_tensor(&call->outputs[output]);
  if (y.data != NULL)
    nd4c_ref_numbers_store(&y, numbers);
}

void nd4c_cpu_work_store_integers(const nd4c_call *call, int32_t output, const int64_t *integers) {
  nd4c_ref_tensor y = nd4c_cpu_ref_tensor(&call->outputs[output]);
  if (y.data != NULL)
    nd4c_ref_integers_store(&y, integers);
}

nd4c_status nd4c_cpu_work_end(nd4c_cpu_work *work, const nd4c_call *call, nd4c_status status) {
  for (int32_t i = 0; i < work->count; i++)
    nd4c_cpu_host->free_pages(work->blocks[i].memory, work->blocks[i].bytes);
  work->count = 0;
  return work->failed ? nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory to compute in", call->op->name) : status;
}
