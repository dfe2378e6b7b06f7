/* Random calls with invalid arguments: inference refuses them or gives a sound result, and never crashes. Most useful
 * under the sanitizers. ND4C_TEST_SEED repeats a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "array/shape.h"
#include "ops/op.h"

enum { ROUNDS = 200000, INPUTS = 24, ATTRS = 24, OUTPUTS = 8, LIST = 40 };

static uint64_t generator;

static uint64_t draw(void) {
  generator ^= generator << 13;
  generator ^= generator >> 7;
  generator ^= generator << 17;
  return generator;
}

static int64_t below(int64_t bound) {
  return (int64_t)(draw() % (uint64_t)bound);
}

static int64_t number(void) {
  static const int64_t edges[] = {
      INT64_MIN,        INT64_MIN + 1,    INT64_MAX,           INT64_MAX - 1,      -1, 0, INT32_MAX, INT32_MIN,
      INT64_C(1) << 32, INT64_C(1) << 62, -(INT64_C(1) << 62), INT64_C(3037000500)};
  int64_t kind = below(16);
  return kind == 0   ? edges[below(sizeof edges / sizeof *edges)]
         : kind == 1 ? (int64_t)draw()
         : kind < 5  ? below(9) - 4
                     : below(5);
}

typedef struct call {
  nd4c_tensor inputs[INPUTS];
  int64_t shapes[INPUTS][LIST], strides[INPUTS][LIST], lists[ATTRS][LIST];
  nd4c_attr_value attrs[ATTRS];
  int32_t input_count;
} call;

static void draw_input(call *self, int32_t i, const nd4c_tensor *like) {
  nd4c_tensor *tensor = &self->inputs[i];
  *tensor = (nd4c_tensor){.shape = self->shapes[i], .strides = self->strides[i]};
  tensor->dtype = like != NULL && below(8) > 0 ? like->dtype : (nd4c_dtype)below(ND4C_DTYPE_END + 1);
  tensor->rank = (int32_t)(below(30) == 0 ? below(36) - 1 : like != NULL && below(3) > 0 ? like->rank : below(6));
  for (int32_t axis = 0; axis < tensor->rank && axis < LIST; axis++) {
    bool same = like != NULL && axis < like->rank && below(4) > 0;
    self->shapes[i][axis] = same ? like->shape[axis] : number();
    self->strides[i][axis] = 1;
  }
  /* As every caller sets it; the library does not read it in calls that it refuses at once. */
  int64_t size = 0;
  tensor->size = nd4c_shape_size(tensor->dtype, tensor->rank, tensor->shape, &size) == ND4C_OK ? size : 0;
}

static void draw_attr(call *self, int32_t i, const nd4c_attr_value *preset) {
  nd4c_attr_value *value = &self->attrs[i];
  *value = *preset;
  if (below(3) == 0) {
    return;
  }
  if (preset->kind == ND4C_ATTR_INTS) {
    value->count = (int32_t)(below(40) == 0 ? below(LIST) : below(7));
    value->as.ints = self->lists[i];
    for (int32_t j = 0; j < value->count; j++) {
      self->lists[i][j] = number();
    }
  } else if (preset->kind == ND4C_ATTR_FLOATS) {
    value->count = 0;
  } else if (preset->kind == ND4C_ATTR_STRING) {
    value->as.string = below(2) == 0 ? "" : "no such thing";
  } else if (preset->kind == ND4C_ATTR_FLOAT) {
    value->as.f = (double)number();
  } else if (preset->kind == ND4C_ATTR_BOOL) {
    value->as.i = below(2);
  } else {
    value->as.i = number();
  }
}

static void draw_call(call *self, const nd4c_op_info *op) {
  bool variadic = op->input_count > 0 && op->inputs[op->input_count - 1].variadic;
  self->input_count = below(20) == 0 || variadic ? (int32_t)below(7) : op->input_count;
  for (int32_t i = 0; i < self->input_count; i++) {
    draw_input(self, i, i > 0 && below(4) > 0 ? &self->inputs[0] : NULL);
  }
  for (int32_t i = 0; i < op->attr_count; i++) {
    draw_attr(self, i, &op->attrs[i].preset);
  }
}

/* An accepted result has a dtype of this build and a size that fits. */
static bool sound(const nd4c_inferred *output) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(output->dtype);
  int64_t size;
  return info != NULL && info->available &&
         nd4c_shape_size(output->dtype, output->rank, output->shape, &size) == ND4C_OK;
}

/* A view of a gap-free input stays inside it. */
static bool view_inside(const nd4c_op_def *def, call *self, nd4c_inference *inference) {
  int64_t strides[ND4C_MAX_RANK], offset = 0, low, high, size;
  const nd4c_tensor *x = &self->inputs[0];
  if (nd4c_shape_size(x->dtype, x->rank, x->shape, &size) != ND4C_OK) {
    return false;
  }
  nd4c_shape_strides(x->rank, x->shape, self->strides[0]);
  const nd4c_inferred *output = &inference->outputs[0];
  if (!def->view(inference, strides, &offset)) {
    return true;
  }
  if (!nd4c_layout_bounds(output->rank, output->shape, strides, &low, &high)) {
    return false;
  }
  return low > high || (offset + low >= 0 && offset + high < size);
}

static void report(const nd4c_op_info *op, uint64_t seed, int round) {
  fail_msg("%s: result is unsound; ND4C_TEST_SEED=%llu, round %d", op->name, (unsigned long long)seed, round);
}

static void nothing_crashes(void **state) {
  (void)state;
  const char *text = getenv("ND4C_TEST_SEED");
  uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : UINT64_C(88172645463325252);
  int accepted = 0, views = 0;
  generator = seed;
  for (int round = 0; round < ROUNDS; round++) {
    call self;
    nd4c_inferred outputs[OUTPUTS];
    const nd4c_op_info *op = nd4c_op_at((int32_t)below(nd4c_op_count()));
    const nd4c_op_def *def = nd4c_op_get_def(op->op);
    draw_call(&self, op);
    nd4c_inference inference = {
        .input_count = self.input_count, .inputs = self.inputs, .attrs = self.attrs, .outputs = outputs};
    nd4c_error_clear();
    nd4c_status status = nd4c_op_infer(def, &inference);
    if (status != ND4C_OK) {
      assert_int_equal(nd4c_error_code(), status);
      assert_true(nd4c_error_message()[0] != '\0');
      continue;
    }
    accepted++;
    views += def->view != NULL;
    if (!sound(&outputs[0]) || (def->view != NULL && !view_inside(def, &self, &inference))) {
      report(op, seed, round);
    }
  }
  /* The generator must also make calls that pass the first checks. */
  assert_true(accepted > ROUNDS / 20);
  assert_true(views > ROUNDS / 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_crashes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
