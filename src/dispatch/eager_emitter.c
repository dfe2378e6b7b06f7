/* Implements eager_emitter.h with nd4c_op_call. The functions of ops/emitter.c call it through the emitter's
 * pointers. */
#include "dispatch/eager_emitter.h"

#include <string.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/region.h"
#include "base/status.h"

/* Takes over the reference, also when it fails. */
static nd4c_status add_constant(nd4c_emitter *emitter, nd4c_array *array, nd4c_emitted *output) {
  nd4c_eager_emitter *eager = (nd4c_eager_emitter *)emitter;
  nd4c_status status =
      nd4c_grow(&eager->arrays, &eager->capacity, eager->count + 1, sizeof *eager->arrays, "the values of an emitter");
  if (status != ND4C_OK) {
    nd4c_array_release(array);
    return status;
  }
  eager->arrays[eager->count] = array;
  *output = eager->count++;
  return ND4C_OK;
}

static nd4c_status add_results(nd4c_emitter *emitter, nd4c_array *const *results, int32_t count,
                               nd4c_emitted *outputs) {
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < count; i++) {
    if (status == ND4C_OK) {
      status = add_constant(emitter, results[i], &outputs[i]);
    } else {
      nd4c_array_release(results[i]);
    }
  }
  return status;
}

static nd4c_status emit(nd4c_emitter *emitter, const nd4c_op_def *def, const nd4c_emitted *inputs, int32_t input_count,
                        const nd4c_attr *attrs, int32_t attr_count, nd4c_emitted *outputs) {
  const nd4c_eager_emitter *eager = (const nd4c_eager_emitter *)emitter;
  const int32_t output_count = def->info.output_count;
  const size_t room = (size_t)input_count + (size_t)output_count;
  nd4c_array **arrays = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(room + 1, sizeof *arrays, "the operands of an op", &arrays));
  for (int32_t i = 0; i < input_count; i++) {
    arrays[i] = nd4c_eager_emitter_array(eager, inputs[i]);
  }
  nd4c_array **results = arrays + input_count;
  nd4c_status status = nd4c_op_call(eager->context, def->info.op, (const nd4c_array *const *)arrays, input_count, attrs,
                                    attr_count, results, output_count);
  if (status == ND4C_OK) {
    status = add_results(emitter, results, output_count, outputs);
  }
  nd4c_deallocate((void *)arrays);
  return status;
}

static nd4c_emitted_info describe(const nd4c_emitter *emitter, nd4c_emitted value) {
  const nd4c_array *array = nd4c_eager_emitter_array((const nd4c_eager_emitter *)emitter, value);
  nd4c_emitted_info info = {.dtype = array->dtype, .rank = array->rank};
  memcpy(info.shape, array->shape, (size_t)array->rank * sizeof *array->shape);
  return info;
}

void nd4c_eager_emitter_open(nd4c_eager_emitter *eager, nd4c_context *context) {
  *eager = (nd4c_eager_emitter){.emitter = {.emit = emit, .constant = add_constant, .describe = describe},
                                .context = context};
}

nd4c_status nd4c_eager_emitter_add(nd4c_eager_emitter *eager, nd4c_array *array, nd4c_emitted *value) {
  return add_constant(&eager->emitter, nd4c_array_retain(array), value);
}

nd4c_array *nd4c_eager_emitter_array(const nd4c_eager_emitter *eager, nd4c_emitted value) {
  return value == ND4C_EMITTED_NONE ? NULL : eager->arrays[value];
}

void nd4c_eager_emitter_close(nd4c_eager_emitter *eager) {
  for (int32_t i = 0; i < eager->count; i++) {
    nd4c_array_release(eager->arrays[i]);
  }
  nd4c_deallocate((void *)eager->arrays);
  eager->arrays = NULL;
  eager->count = eager->capacity = 0;
}
