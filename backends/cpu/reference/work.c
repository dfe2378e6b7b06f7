/* Implements work.h: takes the memory of a call from its scratch, then from the host, and frees it at the end. The
 * families of engine reference that compute in double call it. */
#include "backends/cpu/reference/work.h"

int64_t nd4c_cpu_work_operand_bytes(const nd4c_call *call) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < call->input_count; i++) {
    bytes += nd4c_cpu_work_bytes(call->inputs[i].size);
  }
  for (int32_t i = 0; i < call->output_count; i++) {
    bytes += nd4c_cpu_work_bytes(call->outputs[i].size);
  }
  return bytes;
}

static void *take(nd4c_cpu_work *work, int64_t count) {
  if (work->failed || count < 0 || count > INT64_MAX / 16 || work->count == ND4C_CPU_WORK_BLOCKS) {
    work->failed = true;
    return NULL;
  }
  static double empty; /* never written: memcpy takes no NULL, not even for zero bytes */
  if (count == 0) {
    return &empty;
  }
  const size_t wanted = (size_t)nd4c_cpu_work_bytes(count);
  if (wanted <= work->left) {
    char *part = work->scratch;
    work->scratch += wanted;
    work->left -= wanted;
    return part;
  }
  size_t bytes = (size_t)count * sizeof(double);
  void *memory = nd4c_cpu_host->allocate_pages(bytes);
  work->failed = memory == NULL;
  if (memory != NULL) {
    work->blocks[work->count].memory = memory;
    work->blocks[work->count++].bytes = bytes;
  }
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

static void *output(nd4c_cpu_work *work, int32_t index, bool integers) {
  void *numbers = index < work->call->output_count ? take(work, work->call->outputs[index].size) : NULL;
  if (numbers != NULL) {
    memset(numbers, 0, (size_t)work->call->outputs[index].size * sizeof(double));
    nd4c_cpu_work_result(work, index, numbers);
    work->results[work->result_count - 1].integers = integers;
  }
  return numbers;
}

double *nd4c_cpu_work_output(nd4c_cpu_work *work, int32_t index) {
  return output(work, index, false);
}

int64_t *nd4c_cpu_work_output_integers(nd4c_cpu_work *work, int32_t index) {
  return output(work, index, true);
}

void nd4c_cpu_work_result(nd4c_cpu_work *work, int32_t index, const double *numbers) {
  work->results[work->result_count].output = index;
  work->results[work->result_count].integers = false;
  work->results[work->result_count++].numbers = numbers;
}

double *nd4c_cpu_work_load_as(nd4c_cpu_work *work, int32_t input, int32_t rank, const int64_t *shape) {
  nd4c_ref_tensor tensor = nd4c_cpu_ref_input(work->call, input);
  double *numbers = tensor.dtype == ND4C_DTYPE_NONE ? NULL : take(work, nd4c_ref_extent(rank, shape));
  if (numbers != NULL) {
    nd4c_ref_numbers_load(&tensor, rank, shape, numbers);
  }
  return numbers;
}

double *nd4c_cpu_work_load(nd4c_cpu_work *work, int32_t input) {
  const nd4c_tensor *tensor = nd4c_cpu_input(work->call, input);
  return tensor == NULL ? NULL : nd4c_cpu_work_load_as(work, input, tensor->rank, tensor->shape);
}

int64_t *nd4c_cpu_work_load_integers(nd4c_cpu_work *work, int32_t input) {
  nd4c_ref_tensor x = nd4c_cpu_ref_input(work->call, input);
  int64_t *integers = x.dtype == ND4C_DTYPE_NONE ? NULL : take(work, work->call->inputs[input].size);
  if (integers != NULL) {
    nd4c_ref_integers_load(&x, integers);
  }
  return integers;
}

void nd4c_cpu_work_store(const nd4c_call *call, int32_t index, const double *numbers) {
  nd4c_ref_tensor y = nd4c_cpu_ref_output(call, index);
  if (y.data != NULL) {
    nd4c_ref_numbers_store(&y, numbers);
  }
}

nd4c_status nd4c_cpu_work_check(const nd4c_cpu_work *work) {
  return work->failed ? nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory to compute in", work->call->op->name) : ND4C_OK;
}

nd4c_status nd4c_cpu_work_parallel(const nd4c_cpu_work *work, int64_t count, int64_t work_per_item,
                                   nd4c_range_function range, void *user) {
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  return nd4c_cpu_reference_parallel(work->call, count, work_per_item, range, user);
}

nd4c_status nd4c_cpu_work_end(nd4c_cpu_work *work, nd4c_status status) {
  for (int32_t i = 0; status == ND4C_OK && i < work->result_count; i++) {
    nd4c_ref_tensor y = nd4c_cpu_ref_tensor(&work->call->outputs[work->results[i].output]);
    if (y.data != NULL) {
      (work->results[i].integers ? nd4c_ref_integers_store(&y, work->results[i].numbers)
                                 : nd4c_ref_numbers_store(&y, work->results[i].numbers));
    }
  }
  for (int32_t i = 0; i < work->count; i++) {
    nd4c_cpu_host->free_pages(work->blocks[i].memory, work->blocks[i].bytes);
  }
  return status;
}

nd4c_status nd4c_cpu_check_integers(const nd4c_call *call, const char *what, const int64_t *values, int64_t count,
                                    int64_t least, int64_t most) {
  for (int64_t i = 0; values != NULL && i < count; i++) {
    ND4C_CPU_FAIL_IF(values[i] < least || values[i] > most, ND4C_INDEX, "%s: %s is %lld, expected %lld to %lld",
                     call->op->name, what, (long long)values[i], (long long)least, (long long)most);
  }
  return ND4C_OK;
}
