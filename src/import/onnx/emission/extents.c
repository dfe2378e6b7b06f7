/* Ops on lists of extents: what a model computes from the shapes of its inputs (Shape, Gather, Concat, Mul, ...), done
 * at import with the expressions of the graph's table. emission.c asks before it records an op; ops that are not here
 * get the list as data (extents_nodes.c). */
#include "array/array.h"
#include "array/shape.h"
#include "base/status.h"
#include "graph/ir/graph.h"
#include "import/onnx/importer.h"

/* Shapes are short; longer lists are data. */
enum { MOST_ELEMENTS = 1024, MOST_LISTS = 64, MOST_PARTS = 256 };

nd4c_extents *nd4c_onnx_extents(const nd4c_onnx_importer *importer) {
  return importer->graph != NULL ? importer->graph->extents : NULL;
}

/* -- lists ------------------------------------------------------------------------------------------------------- */

/* An operand as extents. Each counts so many `parts` of 1: 3 of 2 parts are 1.5. */
typedef struct list {
  nd4c_dtype dtype;
  int64_t parts;
  int32_t rank;
  const int64_t *shape;
  int64_t size;
  int64_t *values;
} list;

/* The largest integer up to which the dtype holds all; 0: no list has the dtype. */
static int64_t limit_of(nd4c_dtype dtype) {
  switch (dtype) {
    case ND4C_INT64:
      return INT64_MAX;
    case ND4C_INT32:
      return INT32_MAX;
    case ND4C_FLOAT32:
      return INT64_C(1) << 24;
    case ND4C_FLOAT64:
      return INT64_C(1) << 53;
    default:
      return 0;
  }
}

/* Whether all numbers are whole ones of so many parts of 1; if so, they become those. */
static bool count_parts(int64_t size, const double *numbers, int64_t parts, int64_t *values) {
  for (int64_t i = 0; i < size; i++) {
    const double number = numbers[i] * (double)parts;
    if (!(number > -0x1p53 && number < 0x1p53 && number == (double)(int64_t)number)) {
      return false;
    }
  }
  for (int64_t i = 0; i < size; i++) {
    values[i] = (int64_t)(numbers[i] * (double)parts);
  }
  return true;
}

/* Numbers of a constant; *known says whether they are extents, of as few parts as can be, and none looks like an extent
 * of the table. */
static nd4c_status read_constant(nd4c_onnx_emission *emission, const nd4c_array *array, list *made, bool *known) {
  nd4c_array *copy = NULL;
  double *numbers = NULL;
  nd4c_context *context = emission->importer->options->context;
  const bool is_float = nd4c_dtype_get_info(made->dtype)->kind == ND4C_KIND_FLOAT;
  const nd4c_attr attr = nd4c_attr_of_dtype("dtype", is_float ? ND4C_FLOAT64 : ND4C_INT64);
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)made->size + 1, sizeof *numbers, "extents", &numbers));
  ND4C_TRY(nd4c_op_call(context, ND4C_OP_cast, &array, 1, &attr, 1, &copy, 1));
  nd4c_status status = nd4c_array_read(copy, is_float ? (void *)numbers : made->values, (size_t)made->size * 8);
  nd4c_array_release(copy);
  *known = status == ND4C_OK && !is_float;
  for (int64_t parts = 1; status == ND4C_OK && parts <= MOST_PARTS && is_float && !*known; parts *= 2) {
    *known = count_parts(made->size, numbers, parts, made->values);
    made->parts = parts;
  }
  for (int64_t i = 0; i < made->size && *known; i++) {
    *known = !nd4c_extent_is_symbolic(made->values[i]);
  }
  return status;
}

/* An operand as a list; *known is false if it is missing or a value of the graph, or no list of whole numbers. */
static nd4c_status load(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, list *made, bool *known) {
  *known = false;
  if (operand == ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  const nd4c_onnx_operand_slot *slot = &emission->importer->slots[operand];
  const nd4c_array *array = slot->extents != NULL ? slot->extents : slot->array;
  *known = array != NULL && nd4c_array_size(array) <= MOST_ELEMENTS &&
           limit_of(slot->extents != NULL ? slot->dtype : nd4c_array_dtype(array)) > 0;
  if (!*known) {
    return ND4C_OK;
  }
  *made = (list){.dtype = slot->extents != NULL ? slot->dtype : nd4c_array_dtype(array),
                 .parts = slot->extents != NULL ? slot->parts : 1,
                 .rank = nd4c_array_rank(array),
                 .shape = nd4c_array_shape(array),
                 .size = nd4c_array_size(array)};
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)made->size + 1, sizeof *made->values, "extents", &made->values));
  return slot->extents != NULL ? nd4c_array_read(array, made->values, (size_t)made->size * sizeof *made->values)
                               : read_constant(emission, array, made, known);
}

static nd4c_status give_constant(nd4c_onnx_emission *emission, const list *made, nd4c_array *array,
                                 nd4c_onnx_operand *output) {
  nd4c_array *cast = NULL;
  const nd4c_array *given = array;
  const nd4c_attr attr = nd4c_attr_of_dtype("dtype", made->dtype);
  nd4c_status status = nd4c_op_call(emission->importer->options->context, ND4C_OP_cast, &given, 1, &attr, 1, &cast, 1);
  nd4c_array_release(array);
  ND4C_TRY(status);
  ND4C_TRY(nd4c_emit_constant(&emission->emitter, cast, output));
  return made->parts > 1
             ? nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_divide, *output, (double)made->parts, output)
             : ND4C_OK;
}

/* A list of numbers alone becomes a constant. */
static nd4c_status give(nd4c_onnx_emission *emission, const list *made, nd4c_onnx_operand *output) {
  bool symbolic = false;
  nd4c_array *array = NULL;
  static const int64_t nothing;
  for (int64_t i = 0; i < made->size; i++) {
    symbolic = symbolic || nd4c_extent_is_symbolic(made->values[i]);
  }
  const int64_t *values = made->size > 0 ? made->values : &nothing;
  ND4C_TRY(nd4c_onnx_host_array(ND4C_INT64, made->rank, made->shape, values, &array));
  if (symbolic) {
    return nd4c_onnx_add_extents(emission->importer, made->dtype, made->parts, array, output);
  }
  return made->dtype == ND4C_INT64 ? nd4c_emit_constant(&emission->emitter, array, output)
                                   : give_constant(emission, made, array, output);
}

/* Whether the dtype holds all elements; for extents that becomes a guard. */
static bool fits(nd4c_extents *extents, const list *made) {
  const int64_t limit = limit_of(made->dtype);
  for (int64_t i = 0; i < made->size && limit != INT64_MAX; i++) {
    const int64_t value = made->values[i];
    const bool inside = nd4c_extent_is_symbolic(value)
                            ? nd4c_extents_assume(extents, ND4C_RELATION_AT_LEAST, limit, value)
                            : value <= limit && value >= -limit;
    if (!inside) {
      return false;
    }
  }
  return true;
}

/* -- elements ---------------------------------------------------------------------------------------------------- */

/* A function of two extents; false if the table cannot tell, or the result is no whole number. */
typedef bool (*binary_function)(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result);

static bool is_extent(int64_t value) {
  return value >= 0 || nd4c_extent_is_symbolic(value);
}

static bool divide_down(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  return is_extent(a) && is_extent(b) && b != 0 && nd4c_extents_divide(extents, a, b, result);
}

static bool divide_evenly(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  return is_extent(a) && is_extent(b) && b != 0 &&
         nd4c_extents_ask(extents, ND4C_RELATION_MULTIPLE, a, b) == ND4C_CERTAINLY &&
         nd4c_extents_divide(extents, a, b, result);
}

static bool remainder_of(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  return is_extent(a) && is_extent(b) && b != 0 && nd4c_extents_remainder(extents, a, b, result);
}

/* An extent is larger than each negative number. */
static bool maximum(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  if (is_extent(a) && is_extent(b)) {
    return nd4c_extents_maximum(extents, a, b, result);
  }
  *result = is_extent(a) || (!is_extent(b) && a > b) ? a : b;
  return true;
}

static bool minimum(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  if (is_extent(a) && is_extent(b)) {
    return nd4c_extents_minimum(extents, a, b, result);
  }
  *result = is_extent(a) || (!is_extent(b) && a > b) ? b : a;
  return true;
}

/* The answer as 1 or 0. */
static bool answer(nd4c_certainty certainty, int64_t *result) {
  *result = certainty == ND4C_CERTAINLY;
  return certainty != ND4C_UNCERTAIN;
}

/* An extent that may be a number or not is taken to be another one: models compare with numbers that stand for special
 * cases. */
static bool equal(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  *result = a == b;
  if (*result != 0 || !is_extent(a) || !is_extent(b) || (a >= 0 && b >= 0)) {
    return true;
  }
  return answer(nd4c_extents_ask(extents, ND4C_RELATION_EQUAL, a, b), result) ||
         ((a >= 0 || b >= 0) && nd4c_extents_assume(extents, ND4C_RELATION_DIFFERENT, a < 0 ? a : b, a < 0 ? b : a));
}

static bool not_equal(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  const bool known = equal(extents, a, b, result);
  *result = *result == 0;
  return known;
}

static bool greater_equal(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  if (is_extent(a) && is_extent(b)) {
    return answer(nd4c_extents_ask(extents, ND4C_RELATION_AT_LEAST, a, b), result);
  }
  *result = is_extent(a) || (!is_extent(b) && a >= b);
  return true;
}

static bool less_equal(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  return greater_equal(extents, b, a, result);
}

static bool less(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  const bool known = greater_equal(extents, a, b, result);
  *result = *result == 0;
  return known;
}

static bool greater(nd4c_extents *extents, int64_t a, int64_t b, int64_t *result) {
  return less(extents, b, a, result);
}

/* What an op does with two elements; `compares`: the result is a bool. */
typedef struct element_op {
  nd4c_op op;
  binary_function of_integers, of_floats;
  bool compares;
} element_op;

static const element_op element_ops[] = {
    {ND4C_OP_add, nd4c_extents_add, nd4c_extents_add, false},
    {ND4C_OP_subtract, nd4c_extents_subtract, nd4c_extents_subtract, false},
    {ND4C_OP_multiply, nd4c_extents_multiply, nd4c_extents_multiply, false},
    {ND4C_OP_divide, divide_down, divide_evenly, false},
    {ND4C_OP_remainder, remainder_of, remainder_of, false},
    {ND4C_OP_fmod, remainder_of, remainder_of, false},
    {ND4C_OP_maximum, maximum, maximum, false},
    {ND4C_OP_minimum, minimum, minimum, false},
    {ND4C_OP_equal, equal, equal, true},
    {ND4C_OP_not_equal, not_equal, not_equal, true},
    {ND4C_OP_greater_equal, greater_equal, greater_equal, true},
    {ND4C_OP_less_equal, less_equal, less_equal, true},
    {ND4C_OP_greater, greater, greater, true},
    {ND4C_OP_less, less, less, true},
};

static const element_op *find_element_op(nd4c_op op) {
  for (size_t i = 0; i < sizeof element_ops / sizeof *element_ops; i++) {
    if (element_ops[i].op == op) {
      return &element_ops[i];
    }
  }
  return NULL;
}

/* Position in a list of the element that stands at `index` of the broadcast shape. */
static int64_t place_of(const list *x, int32_t rank, const int64_t *shape, int64_t index) {
  int64_t place = 0, stride = 1;
  for (int32_t axis = rank - 1; axis >= 0; axis--) {
    const int32_t own = axis - (rank - x->rank);
    const int64_t at = index % shape[axis];
    index /= shape[axis];
    place += own >= 0 && x->shape[own] != 1 ? at * stride : 0;
    stride *= own >= 0 ? x->shape[own] : 1;
  }
  return place;
}

/* The power of 2 that all elements of a list of floats are, whole ones; 0: they are not. */
static int64_t common_power(const list *x) {
  const int64_t power = x->size > 0 && x->parts == 1 ? x->values[0] : 0;
  for (int64_t i = 1; i < x->size; i++) {
    if (x->values[i] != power) {
      return 0;
    }
  }
  return power > 0 && power <= MOST_PARTS && (power & (power - 1)) == 0 ? power : 0;
}

/* The parts of a result; 0: its elements are no extents. Floats that are not whole only multiply. */
static int64_t parts_of(nd4c_op op, const list *x) {
  const int64_t product = x[0].parts * x[1].parts;
  return product == 1 || (op == ND4C_OP_multiply && product <= MOST_PARTS) ? product : 0;
}

static nd4c_status fold_elements(nd4c_onnx_emission *emission, const element_op *row, const list *x, bool *folded,
                                 nd4c_onnx_operand *output) {
  nd4c_extents *extents = nd4c_onnx_extents(emission->importer);
  int64_t shape[ND4C_MAX_RANK];
  list made = {.dtype = x[0].dtype, .parts = parts_of(row->op, x), .shape = shape};
  const bool is_float = nd4c_dtype_get_info(x[0].dtype)->kind == ND4C_KIND_FLOAT;
  const binary_function function = is_float ? row->of_floats : row->of_integers;
  ND4C_TRY(nd4c_shape_broadcast(x[0].rank, x[0].shape, x[1].rank, x[1].shape, &made.rank, shape));
  ND4C_TRY(nd4c_shape_size(ND4C_INT64, made.rank, shape, &made.size));
  *folded = made.size <= MOST_ELEMENTS && x[0].dtype == x[1].dtype && made.parts > 0;
  if (!*folded) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_claim(emission, (size_t)made.size + 1, sizeof *made.values, "extents", &made.values));
  for (int64_t i = 0; i < made.size && *folded; i++) {
    *folded = function(extents, x[0].values[place_of(&x[0], made.rank, shape, i)],
                       x[1].values[place_of(&x[1], made.rank, shape, i)], &made.values[i]);
  }
  *folded = *folded && (row->compares || fits(extents, &made));
  if (!*folded) {
    return ND4C_OK;
  }
  made.dtype = row->compares ? ND4C_BOOL : made.dtype;
  return give(emission, &made, output);
}

/* A quotient of floats by a power of 2, which has more parts where it is not whole. */
static nd4c_status fold_quotient(nd4c_onnx_emission *emission, const element_op *row, const list *x, bool *folded,
                                 nd4c_onnx_operand *output) {
  const int64_t power = common_power(&x[1]);
  list made = x[0];
  ND4C_TRY(fold_elements(emission, row, x, folded, output));
  if (*folded || power == 0 || x[1].size != 1 || x[1].rank > x[0].rank || x[0].dtype != x[1].dtype ||
      nd4c_dtype_get_info(x[0].dtype)->kind != ND4C_KIND_FLOAT || x[0].parts * power > MOST_PARTS) {
    return ND4C_OK;
  }
  *folded = true;
  made.parts = x[0].parts * power;
  return give(emission, &made, output);
}

/* -- one input --------------------------------------------------------------------------------------------------- */

/* Ops that give a whole number of at least 0 as it is. */
static bool keeps(nd4c_op op) {
  return op == ND4C_OP_floor || op == ND4C_OP_ceil || op == ND4C_OP_round || op == ND4C_OP_trunc || op == ND4C_OP_abs ||
         op == ND4C_OP_copy || op == ND4C_OP_positive || op == ND4C_OP_relu;
}

/* Extents of several parts as whole ones, rounded down or up; of a cast to integers down. False: the op does neither,
 * or the table cannot express it. */
static bool make_whole(nd4c_extents *extents, nd4c_op op, list *x) {
  bool made = op == ND4C_OP_floor || op == ND4C_OP_ceil || op == ND4C_OP_trunc || op == ND4C_OP_cast;
  const int64_t more = op == ND4C_OP_ceil ? x->parts - 1 : 0;
  for (int64_t i = 0; i < x->size && made; i++) {
    int64_t *value = &x->values[i];
    made = nd4c_extents_add(extents, *value, more, value) && nd4c_extents_divide(extents, *value, x->parts, value);
  }
  x->parts = 1;
  return made;
}

/* Whether the result of an op on floats may still have parts. */
static bool keeps_parts(nd4c_op op, nd4c_dtype dtype) {
  return op == ND4C_OP_cast ? nd4c_dtype_get_info(dtype)->kind == ND4C_KIND_FLOAT
                            : op == ND4C_OP_abs || op == ND4C_OP_copy || op == ND4C_OP_positive || op == ND4C_OP_relu;
}

/* One of the ops above, or a cast. */
static nd4c_status fold_same(nd4c_onnx_emission *emission, nd4c_op op, list x, nd4c_dtype dtype, bool *folded,
                             nd4c_onnx_operand *output) {
  nd4c_extents *extents = nd4c_onnx_extents(emission->importer);
  x.dtype = dtype;
  *folded = limit_of(dtype) > 0;
  for (int64_t i = 0; i < x.size && *folded; i++) {
    *folded = is_extent(x.values[i]);
  }
  *folded = *folded && (x.parts == 1 || keeps_parts(op, dtype) || make_whole(extents, op, &x)) && fits(extents, &x);
  return *folded ? give(emission, &x, output) : ND4C_OK;
}

/* What joins the elements of a list into one; NULL: the op does not. */
static binary_function joiner_of(nd4c_op op) {
  return op == ND4C_OP_prod  ? nd4c_extents_multiply
         : op == ND4C_OP_sum ? nd4c_extents_add
         : op == ND4C_OP_max ? maximum
         : op == ND4C_OP_min ? minimum
                             : NULL;
}

static nd4c_status fold_reduction(nd4c_onnx_emission *emission, const nd4c_op_def *def, const list *x,
                                  const nd4c_attr *attrs, int32_t attr_count, bool *folded, nd4c_onnx_operand *output) {
  nd4c_extents *extents = nd4c_onnx_extents(emission->importer);
  static const int64_t one = 1;
  nd4c_attr_value values[8] = {0};
  *folded = x->rank == 1 && x->size > 0 && x->parts == 1 && def->info.attr_count <= 8;
  if (!*folded) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_op_resolve_attrs(&def->info, attrs, attr_count, values));
  list made = {
      .dtype = x->dtype, .parts = 1, .rank = values[ND4C_ATTR_sum_keepdims].as.i != 0, .shape = &one, .size = 1};
  int64_t result = x->values[0];
  made.values = &result;
  for (int64_t i = 1; i < x->size && *folded; i++) {
    *folded = joiner_of(def->info.op)(extents, result, x->values[i], &result);
  }
  *folded = *folded && fits(extents, &made);
  return *folded ? give(emission, &made, output) : ND4C_OK;
}

/* -- ops that only move elements ----------------------------------------------------------------------------------- */

/* By a bit for each input: whether its elements are moved; the other inputs say where. 0: the op does more. */
static uint32_t moved_inputs(nd4c_op op) {
  switch (op) {
    case ND4C_OP_reshape:
    case ND4C_OP_transpose:
    case ND4C_OP_broadcast_to:
    case ND4C_OP_squeeze:
    case ND4C_OP_expand_dims:
    case ND4C_OP_flatten:
    case ND4C_OP_slice:
    case ND4C_OP_gather:
    case ND4C_OP_gather_elements:
    case ND4C_OP_gather_nd:
    case ND4C_OP_take:
    case ND4C_OP_flip:
    case ND4C_OP_tile:
      return 1;
    case ND4C_OP_where:
      return 6;
    case ND4C_OP_concat:
    case ND4C_OP_stack:
      return UINT32_MAX;
    default:
      return 0;
  }
}

static bool is_moved(uint32_t moved, int32_t input) {
  return (moved >> (input < 31 ? input : 31) & 1) != 0;
}

bool nd4c_onnx_has_symbolic(const nd4c_attr *attrs, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    const nd4c_attr_value *value = &attrs[i].value;
    if (value->kind == ND4C_ATTR_INT && nd4c_extent_is_symbolic(value->as.i)) {
      return true;
    }
    for (int32_t j = 0; value->kind == ND4C_ATTR_INTS && j < value->count; j++) {
      if (nd4c_extent_is_symbolic(value->as.ints[j])) {
        return true;
      }
    }
  }
  return false;
}

/* Calls the op on arrays of 64 bits that hold the extents, whatever they mean: those of a list like `of`. */
static nd4c_status move(nd4c_onnx_emission *emission, nd4c_op op, const nd4c_array *const *arrays, int32_t count,
                        const nd4c_attr *attrs, int32_t attr_count, const list *of, bool *folded,
                        nd4c_onnx_operand *output) {
  nd4c_array *result = NULL;
  ND4C_TRY(nd4c_op_call(emission->importer->options->context, op, arrays, count, attrs, attr_count, &result, 1));
  list made = {.dtype = of->dtype,
               .parts = of->parts,
               .rank = nd4c_array_rank(result),
               .shape = nd4c_array_shape(result),
               .size = nd4c_array_size(result)};
  nd4c_status status = ND4C_OK;
  *folded = made.size <= MOST_ELEMENTS;
  if (*folded) {
    status = nd4c_onnx_claim(emission, (size_t)made.size + 1, sizeof *made.values, "extents", &made.values);
    status = status == ND4C_OK ? nd4c_array_read(result, made.values, (size_t)made.size * sizeof *made.values) : status;
    status = status == ND4C_OK ? give(emission, &made, output) : status;
  }
  nd4c_array_release(result);
  return status;
}

static nd4c_status fold_moves(nd4c_onnx_emission *emission, nd4c_op op, const nd4c_onnx_operand *inputs, int32_t count,
                              const nd4c_attr *attrs, int32_t attr_count, bool *folded, nd4c_onnx_operand *output) {
  const uint32_t moved = moved_inputs(op);
  nd4c_array *own[MOST_LISTS] = {0};
  const nd4c_array *arrays[MOST_LISTS];
  list first = {.dtype = ND4C_DTYPE_NONE}; /* that is moved */
  nd4c_status status = ND4C_OK;
  *folded = !nd4c_onnx_has_symbolic(attrs, attr_count);
  for (int32_t i = 0; i < count && *folded && status == ND4C_OK; i++) {
    arrays[i] = nd4c_onnx_constant_array(emission, inputs[i]);
    if (!is_moved(moved, i)) {
      *folded = arrays[i] != NULL;
      continue;
    }
    list x = {.size = 0};
    status = load(emission, inputs[i], &x, folded);
    if (status == ND4C_OK && *folded) {
      *folded = first.dtype == ND4C_DTYPE_NONE || (first.dtype == x.dtype && first.parts == x.parts);
      first = x;
      status = nd4c_onnx_host_array(ND4C_INT64, x.rank, x.shape, x.values, &own[i]);
      arrays[i] = own[i];
    }
  }
  if (status == ND4C_OK && *folded) {
    status = move(emission, op, arrays, count, attrs, attr_count, &first, folded, output);
  }
  for (int32_t i = 0; i < count; i++) {
    nd4c_array_release(own[i]);
  }
  return status;
}

/* -- any op ------------------------------------------------------------------------------------------------------ */

static bool any_list(const nd4c_onnx_emission *emission, const nd4c_onnx_operand *inputs, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    if (inputs[i] != ND4C_ONNX_OPERAND_NONE && emission->importer->slots[inputs[i]].extents != NULL) {
      return true;
    }
  }
  return false;
}

static nd4c_status fold(nd4c_onnx_emission *emission, const nd4c_op_def *def, const nd4c_onnx_operand *inputs,
                        int32_t count, const nd4c_attr *attrs, int32_t attr_count, bool *folded,
                        nd4c_onnx_operand *output) {
  const nd4c_op op = def->info.op;
  const element_op *row = find_element_op(op);
  list x[2];
  if (moved_inputs(op) != 0) {
    return fold_moves(emission, op, inputs, count, attrs, attr_count, folded, output);
  }
  const bool casts = op == ND4C_OP_cast && attr_count == 1;
  const int32_t wanted = row != NULL ? 2 : casts || keeps(op) || joiner_of(op) != NULL ? 1 : 0;
  *folded = wanted > 0 && count == wanted;
  for (int32_t i = 0; i < wanted && *folded; i++) {
    ND4C_TRY(load(emission, inputs[i], &x[i], folded));
  }
  if (!*folded) {
    return ND4C_OK;
  }
  return op == ND4C_OP_divide    ? fold_quotient(emission, row, x, folded, output)
         : row != NULL           ? fold_elements(emission, row, x, folded, output)
         : casts                 ? fold_same(emission, op, x[0], (nd4c_dtype)attrs[0].value.as.i, folded, output)
         : joiner_of(op) != NULL ? fold_reduction(emission, def, x, attrs, attr_count, folded, output)
                                 : fold_same(emission, op, x[0], x[0].dtype, folded, output);
}

nd4c_status nd4c_onnx_fold_extents(nd4c_onnx_emission *emission, const nd4c_op_def *def,
                                   const nd4c_onnx_operand *inputs, int32_t input_count, const nd4c_attr *attrs,
                                   int32_t attr_count, bool *folded, nd4c_onnx_operand *outputs) {
  nd4c_extents *extents = nd4c_onnx_extents(emission->importer);
  *folded = false;
  if (extents == NULL || input_count > MOST_LISTS || def->info.output_count != 1 ||
      !any_list(emission, inputs, input_count)) {
    return ND4C_OK;
  }
  const int32_t guards = nd4c_extents_guard_count(extents);
  nd4c_extents_set_asker(extents, def->info.name);
  nd4c_status status = fold(emission, def, inputs, input_count, attrs, attr_count, folded, &outputs[0]);
  nd4c_extents_set_asker(extents, NULL);
  if (status != ND4C_OK || !*folded) {
    nd4c_extents_forget(extents, guards);
  }
  const nd4c_status failure = nd4c_extents_failure(extents); /* an expression of too many terms is data */
  return status == ND4C_OK && failure == ND4C_MEMORY ? failure : status;
}

/* -- for emit functions -------------------------------------------------------------------------------------------- */

nd4c_status nd4c_onnx_read_whole(nd4c_onnx_emission *emission, nd4c_onnx_operand operand, bool *known, int64_t *value) {
  list made = {0};
  ND4C_TRY(load(emission, operand, &made, known));
  *known = *known && made.size == 1 && made.parts == 1;
  *value = *known ? made.values[0] : 0;
  return ND4C_OK;
}

bool nd4c_onnx_assume(nd4c_onnx_emission *emission, nd4c_relation relation, int64_t a, int64_t b) {
  nd4c_extents *extents = nd4c_onnx_extents(emission->importer);
  if (extents == NULL) {
    return nd4c_extents_ask(NULL, relation, a, b) == ND4C_CERTAINLY;
  }
  nd4c_extents_set_asker(extents, emission->node->mapping->name);
  const bool holds = nd4c_extents_assume(extents, relation, a, b);
  nd4c_extents_set_asker(extents, NULL);
  return holds;
}

nd4c_status nd4c_onnx_extent_sum(nd4c_onnx_emission *emission, int64_t a, int64_t b, int64_t *sum) {
  return nd4c_extents_add(nd4c_onnx_extents(emission->importer), a, b, sum)
             ? ND4C_OK
             : nd4c_fail(ND4C_OVERFLOW, "a sum of extents is beyond 64 bits, or cannot be expressed");
}

nd4c_status nd4c_onnx_extent_part(nd4c_onnx_emission *emission, int64_t extent, int64_t parts, int64_t *part) {
  return nd4c_onnx_assume(emission, ND4C_RELATION_MULTIPLE, extent, parts) &&
                 nd4c_extents_divide(nd4c_onnx_extents(emission->importer), extent, parts, part)
             ? ND4C_OK
             : nd4c_fail(ND4C_SHAPE, "an axis does not split into %lld equal parts", (long long)parts);
}

nd4c_status nd4c_onnx_extent_size(nd4c_onnx_emission *emission, int32_t rank, const int64_t *shape, int64_t *size) {
  nd4c_extents *extents = nd4c_onnx_extents(emission->importer);
  return extents == NULL ? nd4c_shape_size(ND4C_INT8, rank, shape, size)
                         : nd4c_extents_size(extents, ND4C_INT8, rank, shape, size);
}

nd4c_status nd4c_onnx_extent_list(nd4c_onnx_emission *emission, int32_t rank, int64_t count, const int64_t *values,
                                  nd4c_onnx_operand *output) {
  const list made = {.dtype = ND4C_INT64,
                     .parts = 1,
                     .rank = rank,
                     .shape = &count,
                     .size = rank == 0 ? 1 : count,
                     .values = (int64_t *)(uintptr_t)values}; /* it is only read */
  static const int64_t nothing;
  return nd4c_onnx_extents(emission->importer) == NULL
             ? nd4c_onnx_int64s(emission, rank, count, made.size > 0 ? values : &nothing, output)
             : give(emission, &made, output);
}
