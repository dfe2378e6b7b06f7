/* nd4c_op_infer, which dispatch, graphs and the importer call: checks what holds for every op, so that a rule sees
 * sound inputs, and calls the op's rule. Also the functions that rules share (rules.h). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "array/narrow.h"
#include "array/shape.h"
#include "base/status.h"
#include "device/driver.h"
#include "ops/infer/rules.h"
#include "ops/infer/symbolic.h"

enum { SHAPE_TEXT_SIZE = 256 };

/* -- texts ----------------------------------------------------------------------------------------------------- */

/* Name of an input: an array of a variadic one is "xs[2]". */
static const char *input_name(const nd4c_op_info *op, int32_t input, char *buffer, size_t size) {
  int32_t last = op->input_count - 1;
  if (last >= 0 && op->inputs[last].variadic && input >= last) {
    (void)snprintf(buffer, size, "%s[%d]", op->inputs[last].name, (int)(input - last));
    return buffer;
  }
  return op->inputs[input].name;
}

nd4c_status nd4c_rule_refuse(const nd4c_inference *inference, int32_t input, nd4c_status code, const char *format,
                             ...) {
  char rest[ND4C_RULE_TEXT_SIZE], shape[SHAPE_TEXT_SIZE], name[64];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(rest, sizeof rest, format, arguments);
  va_end(arguments);
  const nd4c_tensor *tensor = &inference->inputs[input];
  return nd4c_fail(code, "%s: input %s is %s %s: %s", inference->op->name,
                   input_name(inference->op, input, name, sizeof name), nd4c_dtype_name(tensor->dtype),
                   nd4c_shape_text(tensor->rank, tensor->shape, shape, sizeof shape), rest);
}

static const char *size_expectation(nd4c_status status) {
  return status == ND4C_OVERFLOW ? "expected a size in bytes that 64 bits hold" : "expected extents of at least 0";
}

/* -- what every call must satisfy -------------------------------------------------------------------------------- */

static nd4c_status check_input_count(const nd4c_inference *inference) {
  const nd4c_op_info *op = inference->op;
  bool variadic = op->input_count > 0 && op->inputs[op->input_count - 1].variadic;
  if (inference->input_count < 0 || (!variadic && inference->input_count > op->input_count)) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %d inputs given, expected %s%d", op->name, (int)inference->input_count,
                     variadic ? "at least " : "at most ", (int)op->input_count);
  }
  if (inference->input_count > 0 && inference->inputs == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: the list of inputs is NULL", op->name);
  }
  for (int32_t i = inference->input_count; i < op->input_count; i++) {
    if (!op->inputs[i].optional) {
      return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: input %s is missing: %d of %d inputs given", op->name,
                       op->inputs[i].name, (int)inference->input_count, (int)op->input_count);
    }
  }
  return ND4C_OK;
}

static nd4c_status check_input(const nd4c_inference *inference, int32_t input) {
  const nd4c_op_info *op = inference->op;
  const nd4c_tensor *tensor = &inference->inputs[input];
  char name[64];
  if (tensor->dtype == ND4C_DTYPE_NONE) {
    if (input < op->input_count && op->inputs[input].optional) {
      return ND4C_OK;
    }
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: input %s is missing", op->name, input_name(op, input, name, sizeof name));
  }
  const nd4c_dtype_info *dtype = nd4c_dtype_get_info(tensor->dtype);
  if (dtype == NULL || !dtype->available) {
    return nd4c_fail(ND4C_DTYPE, "%s: input %s has dtype %s (number %d), which this build does not have", op->name,
                     input_name(op, input, name, sizeof name), nd4c_dtype_name(tensor->dtype), (int)tensor->dtype);
  }
  if (tensor->rank < 0 || tensor->rank > ND4C_MAX_RANK || (tensor->rank > 0 && tensor->shape == NULL)) {
    return nd4c_fail(ND4C_SHAPE, "%s: input %s has rank %d%s, expected 0 to %d axes", op->name,
                     input_name(op, input, name, sizeof name), (int)tensor->rank,
                     tensor->rank > 0 && tensor->rank <= ND4C_MAX_RANK ? " without a shape" : "", ND4C_MAX_RANK);
  }
  int64_t size;
  nd4c_status status = nd4c_rule_size(inference, tensor->dtype, tensor->rank, tensor->shape, &size);
  return status == ND4C_OK ? ND4C_OK : nd4c_rule_refuse(inference, input, status, "%s", size_expectation(status));
}

/* Names of a set, "float32, float64", cut where the buffer ends. */
static const char *set_text(nd4c_dtype_set set, char *buffer, size_t size) {
  size_t length = 0;
  buffer[0] = '\0';
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END && length < size; dtype++) {
    if (set & ND4C_DTYPE_BIT(dtype)) {
      int written = snprintf(buffer + length, size - length, "%s%s", length > 0 ? ", " : "", nd4c_dtype_name(dtype));
      length += written > 0 ? (size_t)written : 0;
    }
  }
  return buffer;
}

static nd4c_status check_inputs(const nd4c_inference *inference) {
  ND4C_TRY(check_input_count(inference));
  for (int32_t i = 0; i < inference->input_count; i++) {
    ND4C_TRY(check_input(inference, i));
  }
  return inference->input_count > 0 ? nd4c_rule_accepted_dtype(inference, 0) : ND4C_OK;
}

/* Positional callers come from outside too: a wrong kind would be read as another member of the union. */
static nd4c_status check_attrs(const nd4c_inference *inference) {
  const nd4c_op_info *op = inference->op;
  if (op->attr_count > 0 && inference->attrs == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "%s: the list of attributes is NULL, expected %d", op->name,
                     (int)op->attr_count);
  }
  for (int32_t i = 0; i < op->attr_count; i++) {
    ND4C_TRY(nd4c_op_check_attr(op, i, &inference->attrs[i]));
  }
  return ND4C_OK;
}

static nd4c_status check_outputs(const nd4c_inference *inference) {
  for (int32_t i = 0; i < inference->op->output_count; i++) {
    const nd4c_inferred *output = &inference->outputs[i];
    const nd4c_dtype_info *dtype = nd4c_dtype_get_info(output->dtype);
    if (dtype == NULL || !dtype->available) {
      return nd4c_fail(ND4C_DTYPE, "%s: the result would be %s, which this build does not have", inference->op->name,
                       nd4c_dtype_name(output->dtype));
    }
    int64_t size;
    nd4c_status status = nd4c_rule_size(inference, output->dtype, output->rank, output->shape, &size);
    if (status != ND4C_OK) {
      char text[SHAPE_TEXT_SIZE];
      return nd4c_fail(status, "%s: the result would be %s %s: %s", inference->op->name, nd4c_dtype_name(output->dtype),
                       nd4c_shape_text(output->rank, output->shape, text, sizeof text), size_expectation(status));
    }
  }
  return ND4C_OK;
}

/* -- ops of plug-ins ---------------------------------------------------------------------------------------------- */

/* Strings are computed by the library alone, and packed elements have no address. */
static nd4c_status check_foreign_inputs(const nd4c_inference *inference) {
  for (int32_t i = 0; i < inference->input_count; i++) {
    if (!nd4c_provider_op_takes(inference->inputs[i].dtype)) {
      return nd4c_rule_refuse(inference, i, ND4C_DTYPE,
                              "cast first, ops of plug-ins take numbers of a byte or more and bool");
    }
  }
  return ND4C_OK;
}

static nd4c_status check_foreign_outputs(const nd4c_inference *inference) {
  const nd4c_op_info *op = inference->op;
  for (int32_t i = 0; i < op->output_count; i++) {
    const int32_t rank = inference->outputs[i].rank;
    if (rank < 0 || rank > ND4C_MAX_RANK) {
      return nd4c_fail(ND4C_SHAPE, "%s: its plug-in %s says that result %d has rank %d, expected 0 to %d", op->name,
                       op->provider, (int)i, (int)rank, ND4C_MAX_RANK);
    }
  }
  ND4C_TRY(check_outputs(inference));
  for (int32_t i = 0; i < op->output_count; i++) {
    if (!nd4c_provider_op_takes(inference->outputs[i].dtype)) {
      return nd4c_fail(ND4C_DTYPE,
                       "%s: its plug-in %s says that result %d is %s, expected a number of a byte or more or bool",
                       op->name, op->provider, (int)i, nd4c_dtype_name(inference->outputs[i].dtype));
    }
  }
  return ND4C_OK;
}

/* Results of an op that works element by element have the shape that its inputs broadcast to: memory orders and
 * outputs that are inputs rely on it. */
static nd4c_status check_elementwise(const nd4c_inference *inference) {
  const nd4c_op_info *op = inference->op;
  char text[SHAPE_TEXT_SIZE], expected[SHAPE_TEXT_SIZE];
  int64_t shape[ND4C_MAX_RANK] = {0};
  int32_t rank = 0, given = 0;
  for (int32_t i = 0; i < inference->input_count; i++) {
    const nd4c_tensor *input = &inference->inputs[i];
    if (input->dtype == ND4C_DTYPE_NONE) {
      continue;
    }
    given++;
    if (nd4c_shape_broadcast(rank, shape, input->rank, input->shape, &rank, shape) != ND4C_OK) {
      return nd4c_fail(ND4C_SHAPE,
                       "%s: its plug-in %s says that result 0 is %s, but the op is elementwise and its "
                       "inputs do not broadcast",
                       op->name, op->provider,
                       nd4c_shape_text(inference->outputs[0].rank, inference->outputs[0].shape, text, sizeof text));
    }
  }
  for (int32_t i = 0; i < op->output_count && given > 0; i++) {
    const nd4c_inferred *output = &inference->outputs[i];
    if (!nd4c_shape_equal(output->rank, output->shape, rank, shape)) {
      return nd4c_fail(ND4C_SHAPE,
                       "%s: its plug-in %s says that result %d is %s, but the op is elementwise and its "
                       "inputs broadcast to %s",
                       op->name, op->provider, (int)i, nd4c_shape_text(output->rank, output->shape, text, sizeof text),
                       nd4c_shape_text(rank, shape, expected, sizeof expected));
    }
  }
  return ND4C_OK;
}

/* Checks every output that the plug-in's function writes. */
static nd4c_status infer_foreign(const nd4c_op_def *def, nd4c_inference *inference) {
  ND4C_TRY(check_foreign_inputs(inference));
  memset(inference->outputs, 0, (size_t)def->info.output_count * sizeof *inference->outputs);
  inference->struct_size = ND4C_SIZE_OF(nd4c_inference);
  inference->data = def->data;
  nd4c_error_expect();
  ND4C_TRY(nd4c_driver_answer(def->infer(inference), "infer"));
  ND4C_TRY(check_foreign_outputs(inference));
  return def->alias == ND4C_ALIAS_SAME ? check_elementwise(inference) : ND4C_OK;
}

static nd4c_status infer(const nd4c_op_def *def, nd4c_inference *inference) {
  for (int32_t i = 0; i < def->info.output_count; i++) {
    inference->outputs[i].shape_depends_on_data = false;
  }
  ND4C_TRY(check_inputs(inference));
  ND4C_TRY(check_attrs(inference));
  if (nd4c_op_is_foreign(def)) {
    return infer_foreign(def, inference);
  }
  ND4C_TRY(def->infer(inference));
  return check_outputs(inference);
}

nd4c_status nd4c_op_infer(const nd4c_op_def *def, nd4c_inference *inference) {
  inference->op = &def->info;
  return inference->extents == NULL ? infer(def, inference) : nd4c_infer_symbolic(def, inference, infer);
}

/* -- shared by the rules --------------------------------------------------------------------------------------- */

const nd4c_tensor *nd4c_rule_input(const nd4c_inference *inference, int32_t position) {
  if (position >= inference->input_count || inference->inputs[position].dtype == ND4C_DTYPE_NONE) {
    return NULL;
  }
  return &inference->inputs[position];
}

void nd4c_rule_output(nd4c_inference *inference, nd4c_dtype dtype, int32_t rank, const int64_t *shape) {
  nd4c_rule_output_at(inference, 0, dtype, rank, shape);
}

void nd4c_rule_output_at(nd4c_inference *inference, int32_t position, nd4c_dtype dtype, int32_t rank,
                         const int64_t *shape) {
  nd4c_inferred *output = &inference->outputs[position];
  output->dtype = dtype;
  output->rank = rank;
  if (rank > 0) {
    memcpy(output->shape, shape, (size_t)rank * sizeof *shape);
  }
}

nd4c_status nd4c_rule_accepted_dtype(const nd4c_inference *inference, int32_t position) {
  if ((inference->op->dtypes & ND4C_DTYPE_BIT(inference->inputs[position].dtype)) != 0) {
    return ND4C_OK;
  }
  char expected[ND4C_RULE_TEXT_SIZE / 2];
  bool narrow = nd4c_dtype_is_narrow(inference->inputs[position].dtype);
  return nd4c_rule_refuse(inference, position, ND4C_DTYPE, "%sexpected one of %s", narrow ? "cast first, " : "",
                          set_text(inference->op->dtypes, expected, sizeof expected));
}

nd4c_status nd4c_rule_same_dtype(const nd4c_inference *inference, int32_t position) {
  const nd4c_tensor *tensor = nd4c_rule_input(inference, position);
  if (tensor == NULL || tensor->dtype == inference->inputs[0].dtype) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected %s, the dtype of input %s",
                          nd4c_dtype_name(inference->inputs[0].dtype), inference->op->inputs[0].name);
}

nd4c_status nd4c_rule_all_same_dtype(const nd4c_inference *inference) {
  for (int32_t i = 1; i < inference->input_count; i++) {
    ND4C_TRY(nd4c_rule_same_dtype(inference, i));
  }
  return ND4C_OK;
}

nd4c_status nd4c_rule_integers(const nd4c_inference *inference, int32_t position) {
  const nd4c_tensor *tensor = nd4c_rule_input(inference, position);
  const nd4c_dtype_info *dtype = tensor == NULL ? NULL : nd4c_dtype_get_info(tensor->dtype);
  bool narrow = tensor != NULL && nd4c_dtype_is_narrow(tensor->dtype);
  if (dtype == NULL || (!narrow && (dtype->kind == ND4C_KIND_INT || dtype->kind == ND4C_KIND_UINT))) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected integers");
}

bool nd4c_rule_holds(nd4c_dtype dtype, int64_t number) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  bool is_signed = info->kind == ND4C_KIND_INT;
  if (!is_signed && info->kind != ND4C_KIND_UINT) {
    return true;
  }
  int64_t most = info->bits == 64 ? INT64_MAX : (INT64_C(1) << (info->bits - is_signed)) - 1;
  return number <= most && number >= (is_signed ? -most - 1 : 0);
}

nd4c_status nd4c_rule_expect_rank(const nd4c_inference *inference, int32_t position, int32_t rank, const char *what) {
  const nd4c_tensor *tensor = nd4c_rule_input(inference, position);
  if (tensor == NULL || tensor->rank == rank) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected %s", what);
}

nd4c_status nd4c_rule_expect_shape(const nd4c_inference *inference, int32_t position, int32_t rank,
                                   const int64_t *shape, const char *what) {
  const nd4c_tensor *tensor = nd4c_rule_input(inference, position);
  if (tensor == NULL || nd4c_rule_same_shape(inference, tensor->rank, tensor->shape, rank, shape)) {
    return ND4C_OK;
  }
  char text[SHAPE_TEXT_SIZE];
  return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected %s, %s",
                          nd4c_shape_text(rank, shape, text, sizeof text), what);
}

nd4c_status nd4c_rule_broadcasts_to(const nd4c_inference *inference, int32_t position, const char *what, int32_t rank,
                                    const int64_t *shape) {
  const nd4c_tensor *tensor = nd4c_rule_input(inference, position);
  if (tensor == NULL) {
    return ND4C_OK;
  }
  bool fits = tensor->rank <= rank;
  for (int32_t i = 0; fits && i < tensor->rank; i++) {
    fits = nd4c_rule_broadcasts_into(inference, tensor->shape[i], shape[rank - tensor->rank + i]);
  }
  if (fits) {
    return ND4C_OK;
  }
  char text[SHAPE_TEXT_SIZE];
  return nd4c_rule_refuse(inference, position, ND4C_SHAPE, "expected a shape that broadcasts to %s %s", what,
                          nd4c_shape_text(rank, shape, text, sizeof text));
}

nd4c_status nd4c_rule_broadcasts_to_output(const nd4c_inference *inference, int32_t position) {
  const nd4c_inferred *output = &inference->outputs[0];
  return nd4c_rule_broadcasts_to(inference, position, "the result's", output->rank, output->shape);
}

nd4c_status nd4c_rule_broadcast(nd4c_inference *inference, int32_t a, int32_t b, nd4c_dtype dtype) {
  const nd4c_tensor *left = &inference->inputs[a], *right = &inference->inputs[b];
  nd4c_inferred *output = &inference->outputs[0];
  nd4c_status status = nd4c_rule_broadcast_shapes(inference, left->rank, left->shape, right->rank, right->shape,
                                                  &output->rank, output->shape);
  output->dtype = dtype;
  if (status == ND4C_OK) {
    return ND4C_OK;
  }
  char text[SHAPE_TEXT_SIZE];
  return nd4c_rule_refuse(inference, b, status, "expected a shape that broadcasts with input %s %s",
                          inference->op->inputs[a].name, nd4c_shape_text(left->rank, left->shape, text, sizeof text));
}

nd4c_status nd4c_rule_promote(const nd4c_inference *inference, int32_t a, int32_t b, nd4c_dtype *dtype) {
  nd4c_status status = nd4c_dtype_promote(inference->inputs[a].dtype, inference->inputs[b].dtype, dtype);
  if (status == ND4C_OK) {
    return ND4C_OK;
  }
  char name[64];
  nd4c_dtype first = inference->inputs[a].dtype;
  bool narrow = nd4c_dtype_is_narrow(first) || nd4c_dtype_is_narrow(inference->inputs[b].dtype);
  return nd4c_rule_refuse(inference, b, status, "%sexpected a dtype that mixes with %s of input %s",
                          narrow ? "cast first, " : "", nd4c_dtype_name(first),
                          input_name(inference->op, a, name, sizeof name));
}

nd4c_status nd4c_rule_mix(const nd4c_inference *inference, int32_t position, nd4c_dtype *dtype) {
  return nd4c_dtype_promote(*dtype, inference->inputs[position].dtype, dtype) == ND4C_OK
             ? ND4C_OK
             : nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected a dtype that mixes with %s of the others",
                                nd4c_dtype_name(*dtype));
}

nd4c_status nd4c_rule_axis(const nd4c_inference *inference, const char *attr, int64_t axis, int32_t rank,
                           int32_t *normalized) {
  if (axis >= -rank && axis < rank) {
    *normalized = nd4c_axis_index(axis, rank);
    return ND4C_OK;
  }
  if (rank == 0) {
    return nd4c_rule_refuse(inference, 0, ND4C_INDEX, "%s %lld given, but there is no axis", attr, (long long)axis);
  }
  return nd4c_rule_refuse(inference, 0, ND4C_INDEX, "%s %lld is out of range, expected %d to %d", attr, (long long)axis,
                          (int)-rank, (int)rank - 1);
}

nd4c_status nd4c_rule_axes_or_all(const nd4c_inference *inference, const char *attr, const nd4c_attr_value *axes,
                                  int32_t rank, bool *chosen) {
  ND4C_TRY(nd4c_rule_axes(inference, attr, axes, rank, chosen));
  for (int32_t i = 0; axes->as.ints == NULL && i < rank; i++) {
    chosen[i] = true;
  }
  return ND4C_OK;
}

nd4c_status nd4c_rule_axes(const nd4c_inference *inference, const char *attr, const nd4c_attr_value *axes, int32_t rank,
                           bool *chosen) {
  memset(chosen, 0, ND4C_MAX_RANK * sizeof *chosen);
  for (int32_t i = 0; i < axes->count; i++) {
    int32_t axis = 0;
    ND4C_TRY(nd4c_rule_axis(inference, attr, axes->as.ints[i], rank, &axis));
    if (chosen[axis]) {
      return nd4c_rule_refuse(inference, 0, ND4C_ARGUMENT, "%s names axis %d twice, expected each axis once", attr,
                              (int)axis);
    }
    chosen[axis] = true;
  }
  return ND4C_OK;
}

nd4c_status nd4c_rule_choice(const nd4c_inference *inference, int32_t attr) {
  int32_t count = 0;
  (void)nd4c_op_words(inference->op, attr, &count);
  return nd4c_rule_choice_below(inference, attr, count);
}

nd4c_status nd4c_rule_choice_below(const nd4c_inference *inference, int32_t attr, int32_t count) {
  const nd4c_attr_value *value = &inference->attrs[attr];
  const bool list = value->kind == ND4C_ATTR_INTS;
  for (int32_t i = 0; i < (list ? value->count : 1); i++) {
    const int64_t number = list ? value->as.ints[i] : value->as.i;
    if (number < 0 || number >= count) {
      return nd4c_fail(ND4C_ARGUMENT, "%s: %s is %lld, expected 0 to %d", inference->op->name,
                       inference->op->attrs[attr].name, (long long)number, (int)count - 1);
    }
  }
  return ND4C_OK;
}

nd4c_status nd4c_rule_index_dtype(const nd4c_inference *inference, int32_t position) {
  const nd4c_tensor *tensor = nd4c_rule_input(inference, position);
  if (tensor == NULL || tensor->dtype == ND4C_INT32 || tensor->dtype == ND4C_INT64) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected int32 or int64");
}

nd4c_status nd4c_rule_bool_dtype(const nd4c_inference *inference, int32_t position) {
  if (inference->inputs[position].dtype == ND4C_BOOL) {
    return ND4C_OK;
  }
  return nd4c_rule_refuse(inference, position, ND4C_DTYPE, "expected bool");
}

nd4c_status nd4c_rule_dtype_attr(const nd4c_inference *inference, int64_t dtype) {
  bool known = dtype > 0 && dtype < ND4C_DTYPE_END;
  if (known && (inference->op->dtypes & ND4C_DTYPE_BIT(dtype)) != 0) {
    return ND4C_OK;
  }
  char expected[ND4C_RULE_TEXT_SIZE / 2];
  return nd4c_fail(ND4C_DTYPE, "%s: dtype is %s, expected one of %s", inference->op->name,
                   known ? nd4c_dtype_name((nd4c_dtype)dtype) : "none that there is",
                   set_text(inference->op->dtypes, expected, sizeof expected));
}

nd4c_status nd4c_rule_shape_attr(nd4c_inference *inference, const nd4c_attr_value *shape, nd4c_dtype dtype) {
  if (shape->count > ND4C_MAX_RANK) {
    return nd4c_fail(ND4C_SHAPE, "%s: shape has %d axes, expected at most %d", inference->op->name, (int)shape->count,
                     ND4C_MAX_RANK);
  }
  for (int32_t i = 0; i < shape->count; i++) {
    if (shape->as.ints[i] < 0 && !nd4c_extents_has(inference->extents, shape->as.ints[i])) {
      return nd4c_fail(ND4C_SHAPE, "%s: shape has the extent %lld, expected at least 0", inference->op->name,
                       (long long)shape->as.ints[i]);
    }
  }
  nd4c_rule_output(inference, dtype, shape->count, shape->as.ints);
  return ND4C_OK;
}

nd4c_status nd4c_rule_rank(const nd4c_inference *inference, int64_t rank) {
  if (rank <= ND4C_MAX_RANK) {
    return ND4C_OK;
  }
  return nd4c_fail(ND4C_SHAPE, "%s: the result would have %lld axes, expected at most %d", inference->op->name,
                   (long long)rank, ND4C_MAX_RANK);
}
