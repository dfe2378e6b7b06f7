/* Every allocation fails once, one at a time: each run gives a status, and nothing is left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "nd4c/nd4c.h"

enum { MOST_ALLOCATIONS = 20000 };
#define CORPUS ND4C_TEST_SOURCE_DIR "/tests/fuzz/corpus/"

static nd4c_status run_model(const char *path) {
  nd4c_model *model = NULL;
  nd4c_array *inputs[4] = {0};
  nd4c_array *outputs[4] = {0};
  const char *names[4] = {0};
  const nd4c_array *given[4] = {0};
  nd4c_status status = nd4c_model_open(path, NULL, &model);
  int32_t input_count = status == ND4C_OK ? nd4c_model_input_count(model) : 0;
  for (int32_t i = 0; i < input_count && status == ND4C_OK; i++) {
    nd4c_model_value value = {.struct_size = sizeof value};
    int64_t shape[8];
    status = nd4c_model_input(model, i, &value);
    for (int32_t j = 0; j < value.rank; j++) {
      shape[j] = value.shape[j] < 0 ? 2 : value.shape[j];
    }
    names[i] = value.name;
    if (status == ND4C_OK) {
      status = nd4c_array_zeros(value.dtype, value.rank, shape, NULL, &inputs[i]);
    }
    given[i] = inputs[i];
  }
  if (status == ND4C_OK) {
    status = nd4c_model_run(model, NULL, names, given, input_count, outputs, nd4c_model_output_count(model));
  }
  for (int i = 0; i < 4; i++) {
    assert_true(status == ND4C_OK || outputs[i] == NULL);
    nd4c_array_release(inputs[i]);
    nd4c_array_release(outputs[i]);
  }
  nd4c_model_close(model);
  return status;
}

static nd4c_status read_npy(const char *path) {
  nd4c_array *array = NULL;
  nd4c_status status = nd4c_npy_read(path, &array);
  assert_true((status == ND4C_OK) == (array != NULL));
  nd4c_array_release(array);
  return status;
}

static nd4c_status read_tensor(const char *path) {
  nd4c_array *array = NULL;
  char *name = NULL;
  nd4c_status status = nd4c_tensor_read(path, &array, &name);
  assert_true((status == ND4C_OK) == (array != NULL) && (status == ND4C_OK) == (name != NULL));
  nd4c_array_release(array);
  nd4c_free(name);
  return status;
}

static nd4c_status read_datum(const char *path) {
  nd4c_datum *datum = NULL;
  nd4c_status status = nd4c_datum_read(path, ND4C_DATUM_OPTIONAL, &datum);
  assert_true((status == ND4C_OK) == (datum != NULL));
  nd4c_datum_release(datum);
  return status;
}

typedef struct memory_case {
  nd4c_status (*run)(const char *path);
  const char *path;
} memory_case;

static const memory_case cases[] = {{run_model, CORPUS "onnx/conv.onnx"},     {run_model, CORPUS "onnx/gemm.onnx"},
                                    {run_model, CORPUS "onnx/shapes.onnx"},   {run_model, CORPUS "onnx/filled.onnx"},
                                    {run_model, CORPUS "onnx/norms.onnx"},    {run_model, CORPUS "onnx/constants.onnx"},
                                    {run_model, CORPUS "onnx/parts.onnx"},    {run_model, CORPUS "onnx/lookup.onnx"},
                                    {read_npy, CORPUS "npy/float32.npy"},     {read_npy, CORPUS "npy/fortran.npy"},
                                    {read_npy, CORPUS "npy/text.npy"},        {read_tensor, CORPUS "tensor/raw.pb"},
                                    {read_tensor, CORPUS "tensor/int64.pb"},  {read_tensor, CORPUS "tensor/string.pb"},
                                    {run_model, CORPUS "onnx/if.onnx"},       {run_model, CORPUS "onnx/loop.onnx"},
                                    {run_model, CORPUS "onnx/scan.onnx"},     {run_model, CORPUS "onnx/sequences.onnx"},
                                    {run_model, CORPUS "onnx/function.onnx"}, {read_datum, CORPUS "datum/optional.pb"}};

static int64_t live_bytes(void) {
  nd4c_memory_info info = {.struct_size = sizeof info};
  assert_int_equal(nd4c_memory_get_info(nd4c_context_device(nd4c_context_current()), &info), ND4C_OK);
  return info.live_bytes;
}

/* How often an allocation failed before a run succeeded without a failure; fails the test if a status is missing. */
static void fail_each(const memory_case *memory) {
  int64_t skip = 0;
  for (; skip < MOST_ALLOCATIONS; skip++) {
    int64_t before = nd4c_allocation_count();
    int64_t live = live_bytes();
    nd4c_allocation_fail_at(skip);
    nd4c_status status = memory->run(memory->path);
    nd4c_allocation_fail_at(-1);
    if (live_bytes() != live) {
      fail_msg("%s, allocation %lld fails: %lld bytes are left", memory->path, (long long)skip,
               (long long)(live_bytes() - live));
    }
    if (nd4c_allocation_count() - before <= skip) {
      assert_int_equal(status, ND4C_OK);
      break; /* the run needed fewer allocations: none failed */
    }
    /* The library may succeed without an allocation (a cache); otherwise the call reports the failure. */
    if (status != ND4C_OK && status != ND4C_MEMORY) {
      fail_msg("%s, allocation %lld fails: %s: %s", memory->path, (long long)skip, nd4c_status_name(status),
               nd4c_error_message());
    }
  }
  assert_in_range(skip, 1, MOST_ALLOCATIONS - 1);
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(cases[i].run(cases[i].path), ND4C_OK); /* fills caches and opens the backend */
    fail_each(&cases[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
