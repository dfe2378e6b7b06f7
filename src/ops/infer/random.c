/* Inference rules of random numbers (op_table/random.h). nd4c_op_infer (infer.c) calls the rule that an op's row
 * names. */
#include <math.h>

#include "array/shape.h"
#include "base/status.h"
#include "ops/infer/rules.h"

/* -- what they share ----------------------------------------------------------------------------------------------- */

static nd4c_status check_state_at(const nd4c_inference *inference, int32_t position) {
  const nd4c_tensor *state = &inference->inputs[position];
  if (state->rank == 1 && nd4c_extents_has(inference->extents, state->shape[0])) {
    return nd4c_rule_needs_numbers(inference, position, "expected a number of elements");
  }
  if (state->rank == 1 && (state->shape[0] == 2 || state->shape[0] == 3)) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected a key and a counter of one or two elements");
}

static nd4c_status check_state(const nd4c_inference *inference) {
  return check_state_at(inference, 0);
}

static nd4c_status check_rank(const nd4c_inference *inference, const nd4c_attr_value *shape) {
  if (shape->count <= ND4C_MAX_RANK) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_SHAPE, "%s: shape has %d extents, expected at most %d", inference->op->name, (int)shape->count,
                   ND4C_MAX_RANK);
}

/* Kinds of dtypes that a result may have. */
enum { BOOLS = 1, INTEGERS = 2, FLOATS = 4 };

static nd4c_status check_dtype(const nd4c_inference *inference, const nd4c_attr_value *given, int kinds,
                               const char *expected, nd4c_dtype *dtype) {
  const nd4c_dtype_info *info =
      given->as.i > 0 && given->as.i < ND4C_DTYPE_END ? nd4c_dtype_get_info((nd4c_dtype)given->as.i) : NULL;
  nd4c_dtype_kind kind = info != NULL ? info->kind : ND4C_KIND_NONE;
  bool whole = kind == ND4C_KIND_INT || kind == ND4C_KIND_UINT;
  bool fits = info != NULL && info->block_elements == 1 && info->bits >= 8 &&
              ((kind == ND4C_KIND_BOOL && (kinds & BOOLS)) || (whole && (kinds & INTEGERS)) ||
               (kind == ND4C_KIND_FLOAT && info->bits >= 16 && (kinds & FLOATS)));
  if (!fits) {
    return nd4c_fail(ND4C_DTYPE, "%s: dtype is %s, expected %s", inference->op->name,
                     info != NULL ? info->name : "unknown", expected);
  }
  *dtype = (nd4c_dtype)given->as.i;
  return ND4C_OK;
}

static nd4c_status check_number(const nd4c_inference *inference, const char *name, double value, double least) {
  if (isfinite(value) && value >= least) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_ARGUMENT, "%s: %s is %g, expected a finite number%s", inference->op->name, name, value,
                   least == 0 ? " of at least 0" : "");
}

static nd4c_status require_real(const nd4c_inference *inference, int32_t position) {
  nd4c_dtype_kind kind = nd4c_dtype_get_info(inference->inputs[position].dtype)->kind;
  if (kind == ND4C_KIND_INT || kind == ND4C_KIND_UINT || kind == ND4C_KIND_FLOAT) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected a real dtype");
}

/* For ops whose signatures begin with state, shape, dtype. */
static nd4c_status shaped(nd4c_inference *inference, int kinds, const char *expected) {
  const nd4c_attr_value *shape = &inference->attrs[ND4C_ATTR_random_bits_shape];
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(check_state(inference));
  ND4C_TRY(check_rank(inference, shape));
  ND4C_TRY(check_dtype(inference, &inference->attrs[ND4C_ATTR_random_bits_dtype], kinds, expected, &dtype));
  nd4c_rule_output(inference, dtype, shape->count, shape->as.ints);
  return ND4C_OK;
}

/* The output has the attribute shape or, if that is empty, the shape to which `count` parameters broadcast. */
static nd4c_status shape_of_parameters(nd4c_inference *inference, int32_t count, const nd4c_attr_value *shape,
                                       nd4c_dtype dtype) {
  ND4C_TRY(check_state(inference));
  ND4C_TRY(check_rank(inference, shape));
  for (int32_t i = 1; i <= count; i++) {
    ND4C_TRY(require_real(inference, i));
  }
  if (shape->count == 0) {
    return nd4c_rule_broadcast(inference, 1, count, dtype);
  }
  nd4c_rule_output(inference, dtype, shape->count, shape->as.ints);
  for (int32_t i = 1; i <= count; i++) {
    ND4C_TRY(nd4c_rule_broadcasts_to_output(inference, i));
  }
  return ND4C_OK;
}

/* -- rules --------------------------------------------------------------------------------------------------------- */

/* Gives: the shape and dtype of state. */
nd4c_status nd4c_infer_random_advance(nd4c_inference *inference) {
  const nd4c_tensor *state = &inference->inputs[0];
  int64_t steps = inference->attrs[ND4C_ATTR_random_advance_steps].as.i;
  ND4C_TRY(check_state(inference));
  if (steps < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "random_advance: steps is %lld, expected at least 0", (long long)steps);
  }
  nd4c_rule_output(inference, state->dtype, 1, state->shape);
  return ND4C_OK;
}

/* Gives: the attribute shape, in the attribute dtype. */
nd4c_status nd4c_infer_random_bits(nd4c_inference *inference) {
  return shaped(inference, INTEGERS, "an integer dtype of at least 8 bits");
}

/* Gives: the attribute shape, in the attribute dtype. */
nd4c_status nd4c_infer_random_uniform(nd4c_inference *inference) {
  double low = inference->attrs[ND4C_ATTR_random_uniform_low].as.f;
  double high = inference->attrs[ND4C_ATTR_random_uniform_high].as.f;
  ND4C_TRY(check_number(inference, "low", low, -INFINITY));
  ND4C_TRY(check_number(inference, "high", high, -INFINITY));
  if (!(low <= high) || !isfinite(high - low)) {
    return nd4c_fail(ND4C_ARGUMENT, "random_uniform: low is %g and high %g, expected low <= high, not too far apart",
                     low, high);
  }
  return shaped(inference, FLOATS, "a real floating dtype of at least 16 bits");
}

/* Gives: the attribute shape, in the attribute dtype. */
nd4c_status nd4c_infer_random_normal(nd4c_inference *inference) {
  ND4C_TRY(check_number(inference, "mean", inference->attrs[ND4C_ATTR_random_normal_mean].as.f, -INFINITY));
  ND4C_TRY(check_number(inference, "scale", inference->attrs[ND4C_ATTR_random_normal_scale].as.f, 0));
  return shaped(inference, FLOATS, "a real floating dtype of at least 16 bits");
}

/* Refuses bounds between which a double cannot represent the probability. Gives: the attribute shape, in the attribute
 * dtype. */
nd4c_status nd4c_infer_random_truncated(nd4c_inference *inference) {
  double low = inference->attrs[ND4C_ATTR_random_truncated_normal_low].as.f;
  double high = inference->attrs[ND4C_ATTR_random_truncated_normal_high].as.f;
  double near = low > 0 ? low : high < 0 ? -high : 0;
  if (!(low < high) || near > 37) {
    return nd4c_fail(ND4C_ARGUMENT,
                     "random_truncated_normal: low is %g and high %g, expected low < high, neither beyond 37 on the "
                     "other's side",
                     low, high);
  }
  return nd4c_infer_random_normal(inference);
}

/* Gives: the attribute shape, in the attribute dtype. */
nd4c_status nd4c_infer_random_exponential(nd4c_inference *inference) {
  ND4C_TRY(check_number(inference, "scale", inference->attrs[ND4C_ATTR_random_exponential_scale].as.f, 0));
  return shaped(inference, FLOATS, "a real floating dtype of at least 16 bits");
}

/* Gives: the attribute shape, in the attribute dtype. */
nd4c_status nd4c_infer_random_integers(nd4c_inference *inference) {
  int64_t low = inference->attrs[ND4C_ATTR_random_integers_low].as.i;
  int64_t high = inference->attrs[ND4C_ATTR_random_integers_high].as.i;
  ND4C_TRY(shaped(inference, INTEGERS, "an integer dtype of at least 8 bits"));
  nd4c_dtype dtype = inference->outputs[0].dtype;
  if (low >= high || !nd4c_rule_holds(dtype, low) || !nd4c_rule_holds(dtype, high - 1)) {
    return nd4c_fail(ND4C_ARGUMENT, "random_integers: low is %lld and high %lld, expected low < high, values of %s",
                     (long long)low, (long long)high, nd4c_dtype_name(dtype));
  }
  return ND4C_OK;
}

/* Gives: the attribute shape, to which p broadcasts, by default p's; in the attribute dtype. */
nd4c_status nd4c_infer_random_bernoulli(nd4c_inference *inference) {
  const nd4c_attr_value *attrs = inference->attrs;
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(check_dtype(inference, &attrs[ND4C_ATTR_random_bernoulli_dtype], BOOLS | INTEGERS | FLOATS,
                       "bool, an integer or a real floating dtype", &dtype));
  return shape_of_parameters(inference, 1, &attrs[ND4C_ATTR_random_bernoulli_shape], dtype);
}

static nd4c_status counting_dtype(const nd4c_inference *inference, const nd4c_attr_value *given, nd4c_dtype *dtype) {
  return check_dtype(inference, given, INTEGERS | FLOATS, "an integer or a real floating dtype", dtype);
}

/* Gives: the attribute shape, to which n and p broadcast, by default the shape that they broadcast to; in the
 * attribute dtype. */
nd4c_status nd4c_infer_random_binomial(nd4c_inference *inference) {
  const nd4c_attr_value *attrs = inference->attrs;
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(counting_dtype(inference, &attrs[ND4C_ATTR_random_binomial_dtype], &dtype));
  return shape_of_parameters(inference, 2, &attrs[ND4C_ATTR_random_binomial_shape], dtype);
}

/* Gives: the attribute shape, to which rate broadcasts, by default rate's; in the attribute dtype. */
nd4c_status nd4c_infer_random_poisson(nd4c_inference *inference) {
  const nd4c_attr_value *attrs = inference->attrs;
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(counting_dtype(inference, &attrs[ND4C_ATTR_random_poisson_dtype], &dtype));
  return shape_of_parameters(inference, 1, &attrs[ND4C_ATTR_random_poisson_shape], dtype);
}

/* Gives: the attribute shape, to which alpha broadcasts, by default alpha's; in the attribute dtype. */
nd4c_status nd4c_infer_random_gamma(nd4c_inference *inference) {
  const nd4c_attr_value *attrs = inference->attrs;
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(check_number(inference, "scale", attrs[ND4C_ATTR_random_gamma_scale].as.f, 0));
  ND4C_TRY(check_dtype(inference, &attrs[ND4C_ATTR_random_gamma_dtype], FLOATS,
                       "a real floating dtype of at least 16 bits", &dtype));
  return shape_of_parameters(inference, 1, &attrs[ND4C_ATTR_random_gamma_shape], dtype);
}

/* Gives: p with its last axis replaced by samples, in the attribute dtype. */
nd4c_status nd4c_infer_random_categorical(nd4c_inference *inference) {
  const nd4c_attr_value *attrs = inference->attrs;
  const nd4c_tensor *p = &inference->inputs[1];
  int64_t samples = attrs[ND4C_ATTR_random_categorical_samples].as.i;
  bool replacement = attrs[ND4C_ATTR_random_categorical_replacement].as.i != 0;
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(check_state(inference));
  ND4C_TRY(require_real(inference, 1));
  ND4C_TRY(check_dtype(inference, &attrs[ND4C_ATTR_random_categorical_dtype], INTEGERS,
                       "an integer dtype of at least 8 bits", &dtype));
  if (p->rank > 0 && nd4c_extents_has(inference->extents, p->shape[p->rank - 1])) {
    return nd4c_rule_needs_numbers(inference, 1, "expected a number of classes");
  }
  if (p->rank < 1 || p->shape[p->rank - 1] < 1) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected a last axis of at least one class");
  }
  if (!nd4c_rule_holds(dtype, p->shape[p->rank - 1] - 1)) {
    return nd4c_fail(ND4C_DTYPE, "random_categorical: dtype is %s, expected one that holds %lld classes",
                     nd4c_dtype_name(dtype), (long long)p->shape[p->rank - 1]);
  }
  if (samples < 0 || (!replacement && samples > p->shape[p->rank - 1])) {
    return nd4c_fail(ND4C_ARGUMENT, "random_categorical: samples is %lld, expected at least 0%s", (long long)samples,
                     replacement ? "" : " and no more than classes, which are not replaced");
  }
  nd4c_rule_output(inference, dtype, p->rank, p->shape);
  inference->outputs[0].shape[p->rank - 1] = samples;
  return ND4C_OK;
}

/* Gives: a vector of n elements, in the attribute dtype. */
nd4c_status nd4c_infer_random_permutation(nd4c_inference *inference) {
  int64_t n = inference->attrs[ND4C_ATTR_random_permutation_n].as.i;
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  ND4C_TRY(check_state(inference));
  ND4C_TRY(check_dtype(inference, &inference->attrs[ND4C_ATTR_random_permutation_dtype], INTEGERS,
                       "an integer dtype of at least 8 bits", &dtype));
  if (n < 0 || (n > 0 && !nd4c_rule_holds(dtype, n - 1))) {
    return nd4c_fail(ND4C_ARGUMENT, "random_permutation: n is %lld, expected at least 0, values of %s", (long long)n,
                     nd4c_dtype_name(dtype));
  }
  nd4c_rule_output(inference, dtype, 1, &n);
  return ND4C_OK;
}

/* Gives: the shape and dtype of x. */
nd4c_status nd4c_infer_random_shuffle(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[1];
  int64_t axis = inference->attrs[ND4C_ATTR_random_shuffle_axis].as.i;
  ND4C_TRY(check_state(inference));
  if (nd4c_dtype_get_info(x->dtype)->kind == ND4C_KIND_STRING) {
    return nd4c_rule_refuse(inference, 1, ND4C_DTYPE, "expected numbers or bools");
  }
  if (axis < -x->rank || axis >= x->rank) {
    return nd4c_rule_refuse(inference, 1, ND4C_INDEX, "axis %lld is out of range, expected %d to %d", (long long)axis,
                            (int)-x->rank, (int)x->rank - 1);
  }
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: y: the shape and dtype of x; mask: bool, in x's shape. */
nd4c_status nd4c_infer_random_dropout(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[1];
  double rate = inference->attrs[ND4C_ATTR_random_dropout_rate].as.f;
  ND4C_TRY(check_state(inference));
  if (nd4c_dtype_get_info(x->dtype)->kind != ND4C_KIND_FLOAT) {
    return nd4c_rule_refuse(inference, 1, ND4C_DTYPE, "expected a real floating dtype");
  }
  if (!(rate >= 0 && rate <= 1)) {
    return nd4c_fail(ND4C_ARGUMENT, "random_dropout: rate is %g, expected 0 to 1", rate);
  }
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  nd4c_rule_output_at(inference, 1, ND4C_BOOL, x->rank, x->shape);
  return ND4C_OK;
}

/* Gives: the shape and dtype of x. */
nd4c_status nd4c_infer_rrelu(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *state = nd4c_rule_input(inference, ND4C_IN_rrelu_state);
  double low = inference->attrs[ND4C_ATTR_rrelu_low].as.f, high = inference->attrs[ND4C_ATTR_rrelu_high].as.f;
  if (!(isfinite(low) && isfinite(high) && low <= high && isfinite(high - low))) {
    return nd4c_fail(ND4C_ARGUMENT, "rrelu: low is %g and high %g, expected finite numbers, low <= high", low, high);
  }
  if (state != NULL) {
    if (state->dtype != ND4C_INT64 && state->dtype != ND4C_UINT64) {
      return nd4c_rule_refuse(inference, ND4C_IN_rrelu_state, ND4C_DTYPE, "expected int64 or uint64");
    }
    ND4C_TRY(check_state_at(inference, ND4C_IN_rrelu_state));
  }
  nd4c_rule_output(inference, x->dtype, x->rank, x->shape);
  return ND4C_OK;
}
