/* Rules for the gradients of norms. gradient.c looks rules up in this list. They compute again what the op computed on
 * the way; passes merge what several inputs need. */
#include "base/status.h"
#include "ops/gradient/gradient.h"

/* Axes over which a norm takes its statistics. */
typedef struct axes {
  int64_t items[ND4C_MAX_RANK];
  int32_t count;
} axes;

/* r = 1 / sqrt(mean of c^2 + epsilon) and h = r c, where c is x, without its mean if it is `centred`. */
typedef struct normal {
  nd4c_emitted h, r;
} normal;

static axes axes_from(int32_t first, int32_t rank) {
  axes made = {.count = 0};
  for (int32_t i = first; i < rank; i++) {
    made.items[made.count++] = i;
  }
  return made;
}

static nd4c_status mean_over(nd4c_emitter *e, nd4c_emitted x, const axes *over, nd4c_emitted *mean) {
  return nd4c_emit_reduce(e, ND4C_OP_mean, x, over->count, over->items, true, mean);
}

static nd4c_status normalize(nd4c_emitter *e, nd4c_emitted x, const axes *over, bool centred, double epsilon,
                             normal *n) {
  nd4c_emitted c = x, mean = ND4C_EMITTED_NONE;
  if (centred) {
    ND4C_TRY(mean_over(e, x, over, &mean));
    BINARY(subtract, x, mean, &c);
  }
  UNARY(square, c, &n->r);
  ND4C_TRY(mean_over(e, n->r, over, &n->r));
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_add, n->r, epsilon, &n->r));
  UNARY(sqrt, n->r, &n->r);
  UNARY(reciprocal, n->r, &n->r);
  return nd4c_emit_binary(e, ND4C_OP_multiply, c, n->r, &n->h);
}

/* r (g - h mean of g h), without the mean of g if x was centred */
static nd4c_status go_back(nd4c_emitter *e, const normal *n, nd4c_emitted given, const axes *over, bool centred,
                           nd4c_emitted *gradient) {
  nd4c_emitted part = ND4C_EMITTED_NONE;
  BINARY(multiply, given, n->h, &part);
  ND4C_TRY(mean_over(e, part, over, &part));
  BINARY(multiply, part, n->h, &part);
  BINARY(subtract, given, part, gradient);
  if (centred) {
    ND4C_TRY(mean_over(e, given, over, &part));
    BINARY(subtract, *gradient, part, gradient);
  }
  return nd4c_emit_binary(e, ND4C_OP_multiply, *gradient, n->r, gradient);
}

enum { OPERANDS = 5 }; /* of a norm, at most */

/* Goes by a rule in float32 if an operand has a dtype of 16 bits: its squares and sums may leave that one's range. */
static nd4c_status widened(nd4c_emitter *e, const nd4c_gradient_step *step, int32_t index, nd4c_gradient_rule rule,
                           nd4c_emitted *gradient) {
  nd4c_emitted inputs[OPERANDS];
  nd4c_gradient_step wide = *step;
  const nd4c_dtype given = nd4c_emitted_get(e, step->given).dtype;
  wide.inputs = inputs;
  for (int32_t i = 0; i < step->input_count; i++) {
    inputs[i] = step->inputs[i];
    if (inputs[i] != ND4C_EMITTED_NONE) {
      ND4C_TRY(nd4c_emit_cast(e, inputs[i], nd4c_gradient_wide(nd4c_emitted_get(e, inputs[i]).dtype), &inputs[i]));
    }
  }
  ND4C_TRY(nd4c_emit_cast(e, step->given, nd4c_gradient_wide(given), &wide.given));
  ND4C_TRY(rule(e, &wide, index, gradient));
  return nd4c_emit_cast(e, *gradient, nd4c_emitted_get(e, step->inputs[index]).dtype, gradient);
}

/* A norm's rule, by one that is written for wide operands. */
#define NORM(name)                                                                               \
  static nd4c_status wide_##name(nd4c_emitter *e, const nd4c_gradient_step *step, int32_t index, \
                                 nd4c_emitted *gradient);                                        \
  ND4C_GRADIENT(name) {                                                                          \
    return widened(e, step, index, wide_##name, gradient);                                       \
  }                                                                                              \
  ND4C_GRADIENT(wide_##name)

/* -- norms over the last axes -------------------------------------------------------------------------------------- */

/* What scale and bias were broadcast to is summed by nd4c_gradient_emit. */
static nd4c_status norm_of_rows(nd4c_emitter *e, const nd4c_gradient_step *step, int32_t index, bool centred,
                                int64_t axis, double epsilon, nd4c_emitted *gradient) {
  const int32_t rank = nd4c_emitted_get(e, step->inputs[0]).rank;
  const nd4c_emitted scale = nd4c_gradient_input(step, 1);
  const axes over = axes_from((int32_t)(axis < 0 ? axis + rank : axis), rank);
  nd4c_emitted given = step->given;
  normal n;
  if (index == 2) {
    *gradient = given;
    return ND4C_OK;
  }
  ND4C_TRY(normalize(e, step->inputs[0], &over, centred, epsilon, &n));
  if (index == 1) {
    return nd4c_emit_binary(e, ND4C_OP_multiply, given, n.h, gradient);
  }
  if (scale != ND4C_EMITTED_NONE) {
    BINARY(multiply, given, scale, &given);
  }
  return go_back(e, &n, given, &over, centred, gradient);
}

NORM(layer_norm) {
  return norm_of_rows(e, step, index, true, step->attrs[ND4C_ATTR_layer_norm_axis].as.i,
                      step->attrs[ND4C_ATTR_layer_norm_epsilon].as.f, gradient);
}

NORM(rms_norm) {
  return norm_of_rows(e, step, index, false, step->attrs[ND4C_ATTR_rms_norm_axis].as.i,
                      step->attrs[ND4C_ATTR_rms_norm_epsilon].as.f, gradient);
}

/* -- norms with one scale a channel -------------------------------------------------------------------------------- */

nd4c_status nd4c_gradient_sum_apart(nd4c_emitter *e, nd4c_emitted x, int32_t axis, nd4c_emitted *sum) {
  const int32_t rank = nd4c_emitted_get(e, x).rank;
  axes others = {.count = 0};
  for (int32_t i = 0; i < rank; i++) {
    if (i != axis) {
      others.items[others.count++] = i;
    }
  }
  *sum = x;
  return others.count == 0 ? ND4C_OK : nd4c_emit_reduce(e, ND4C_OP_sum, x, others.count, others.items, false, sum);
}

/* A list of one number a channel for x [n, channels, ...]. */
static nd4c_status by_channel(nd4c_emitter *e, nd4c_emitted list, int32_t rank, nd4c_emitted *y) {
  int64_t shape[ND4C_MAX_RANK] = {nd4c_emitted_get(e, list).shape[0]};
  for (int32_t i = 1; i < rank - 1; i++) {
    shape[i] = 1;
  }
  return nd4c_emit_reshape(e, list, rank - 1, shape, y);
}

static nd4c_status times_channel(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted list, nd4c_emitted *y) {
  nd4c_emitted spread = ND4C_EMITTED_NONE;
  if (list == ND4C_EMITTED_NONE) {
    *y = x;
    return ND4C_OK;
  }
  ND4C_TRY(by_channel(e, list, nd4c_emitted_get(e, x).rank, &spread));
  return nd4c_emit_binary(e, ND4C_OP_multiply, x, spread, y);
}

/* y = (x - mean) r scale + bias with r = 1 / sqrt(variance + epsilon); mean and variance are given. */
NORM(batch_norm) {
  const nd4c_emitted x = step->inputs[0], scale = step->inputs[ND4C_IN_batch_norm_scale];
  nd4c_emitted r = ND4C_EMITTED_NONE, part = ND4C_EMITTED_NONE;
  if (index == ND4C_IN_batch_norm_bias) {
    return nd4c_gradient_sum_apart(e, step->given, 1, gradient);
  }
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_add, step->inputs[ND4C_IN_batch_norm_variance],
                                 step->attrs[ND4C_ATTR_batch_norm_epsilon].as.f, &r));
  UNARY(sqrt, r, &r);
  UNARY(reciprocal, r, &r);
  if (index == ND4C_IN_batch_norm_x) {
    BINARY(multiply, scale, r, &r);
    return times_channel(e, step->given, r, gradient);
  }
  if (index == ND4C_IN_batch_norm_mean) {
    ND4C_TRY(nd4c_gradient_sum_apart(e, step->given, 1, gradient));
    BINARY(multiply, *gradient, r, gradient);
    BINARY(multiply, *gradient, scale, gradient);
    return nd4c_emit_unary(e, ND4C_OP_negative, *gradient, gradient);
  }
  ND4C_TRY(by_channel(e, step->inputs[ND4C_IN_batch_norm_mean], nd4c_emitted_get(e, x).rank, &part));
  BINARY(subtract, x, part, &part);
  BINARY(multiply, step->given, part, &part);
  ND4C_TRY(nd4c_gradient_sum_apart(e, part, 1, &part)); /* sum of g (x - mean) */
  BINARY(multiply, part, r, gradient);
  if (index == ND4C_IN_batch_norm_variance) { /* -1/2 scale r^3 times it */
    UNARY(square, r, &part);
    BINARY(multiply, *gradient, part, gradient);
    BINARY(multiply, *gradient, scale, gradient);
    return nd4c_emit_with_scalar(e, ND4C_OP_multiply, *gradient, -0.5, gradient);
  }
  return ND4C_OK;
}

/* The gradients of x, scale and bias from h, which has x's shape. `given` is times the scale already for x. */
static nd4c_status scale_or_bias(nd4c_emitter *e, nd4c_emitted given, nd4c_emitted h, int32_t index,
                                 nd4c_emitted *gradient) {
  *gradient = given;
  if (index == 1) {
    BINARY(multiply, given, h, gradient);
  }
  return nd4c_gradient_sum_apart(e, *gradient, 1, gradient);
}

/* Statistics of x itself over all axes but the channels'; y does not depend on the running ones. */
NORM(training_norm) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[index]);
  const int32_t rank = nd4c_emitted_get(e, step->inputs[0]).rank;
  axes over = axes_from(1, rank);
  nd4c_emitted given = step->given;
  normal n = {.h = ND4C_EMITTED_NONE};
  over.items[0] = 0; /* in place of the channels */
  if (index >= ND4C_IN_batch_norm_training_mean) {
    return nd4c_emit_full(e, info.dtype, 0, info.rank, info.shape, gradient);
  }
  if (index != ND4C_IN_batch_norm_training_bias) {
    ND4C_TRY(normalize(e, step->inputs[0], &over, true, step->attrs[ND4C_ATTR_batch_norm_training_epsilon].as.f, &n));
  }
  if (index > 0) {
    return scale_or_bias(e, given, n.h, index, gradient);
  }
  ND4C_TRY(times_channel(e, given, step->inputs[ND4C_IN_batch_norm_training_scale], &given));
  return go_back(e, &n, given, &over, true, gradient);
}

/* x [n, c, ...] as [n, groups, all of a group]; the statistics are over the last axis. */
static nd4c_status norm_of_groups(nd4c_emitter *e, const nd4c_gradient_step *step, int32_t index, int64_t groups,
                                  double epsilon, nd4c_emitted *gradient) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, step->inputs[0]);
  const int64_t all = nd4c_gradient_join_extents(info.shape + 1, info.rank - 1);
  const int64_t grouped[] = {info.shape[0], groups, all < 0 ? -1 : all / groups};
  const axes over = {.items = {2}, .count = 1};
  nd4c_emitted x = ND4C_EMITTED_NONE, given = step->given;
  normal n = {.h = ND4C_EMITTED_NONE};
  if (index != 2) {
    ND4C_TRY(nd4c_emit_reshape(e, step->inputs[0], 3, grouped, &x));
    ND4C_TRY(normalize(e, x, &over, true, epsilon, &n));
  }
  if (index > 0) {
    ND4C_TRY(index == 2 ? ND4C_OK : nd4c_emit_reshape(e, n.h, info.rank, info.shape, &n.h));
    return scale_or_bias(e, given, n.h, index, gradient);
  }
  ND4C_TRY(times_channel(e, given, nd4c_gradient_input(step, 1), &given));
  ND4C_TRY(nd4c_emit_reshape(e, given, 3, grouped, &given));
  ND4C_TRY(go_back(e, &n, given, &over, true, gradient));
  return nd4c_emit_reshape(e, *gradient, info.rank, info.shape, gradient);
}

NORM(group_norm) {
  return norm_of_groups(e, step, index, step->attrs[ND4C_ATTR_group_norm_groups].as.i,
                        step->attrs[ND4C_ATTR_group_norm_epsilon].as.f, gradient);
}

NORM(instance_norm) {
  return norm_of_groups(e, step, index, nd4c_emitted_get(e, step->inputs[0]).shape[1],
                        step->attrs[ND4C_ATTR_instance_norm_epsilon].as.f, gradient);
}

const nd4c_gradient_row nd4c_gradient_normalization[] = {ND4C_GRADIENT_NORMALIZATION(ROW){ND4C_OP_NONE, NULL}};
