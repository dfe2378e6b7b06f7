/* Where the ops of a random graph come from: motifs, the op table, the cases of `nd4c selftest` with their attributes
 * and operands, and copies of nodes that are there. main.c calls rg_generate. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_graphs.h"
#include "tools/cli/selftest.h"

/* -- cases of the selftest ----------------------------------------------------------------------------------------- */

enum { CASES = 2048 };
static char *cases_text;
static const char *cases[CASES];
static int32_t case_count;

bool rg_cases_load(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    (void)fprintf(stderr, "nd4c_random_graphs: %s: cannot be read\n", path);
    return false;
  }
  const long size = ftell(file);
  rewind(file);
  cases_text = rg_need((size_t)size);
  const bool complete = fread(cases_text, 1, (size_t)size, file) == (size_t)size;
  (void)fclose(file);
  for (const char *line = cases_text; complete && *line != '\0' && case_count < CASES;) {
    if (*line != '?') { /* a sample, which need not be computable */
      cases[case_count++] = line;
    }
    const char *end = strchr(line, '\n');
    line = end == NULL ? "" : end + 1;
  }
  if (case_count == 0) {
    (void)fprintf(stderr, "nd4c_random_graphs: %s: no cases\n", path);
  }
  return case_count > 0;
}

void rg_cases_free(void) {
  free(cases_text);
}

/* Draws of random numbers have no right result, texts no tolerance, and eigenvalues of any matrix no order. */
static bool is_left_out(const nd4c_op_info *op) {
  return op->category == ND4C_CATEGORY_RANDOM || op->category == ND4C_CATEGORY_TEXT || op->op == ND4C_OP_eig ||
         op->op == ND4C_OP_eigvals;
}

static nd4c_dtype dtype_for(rg_sketch *sketch, const nd4c_op_info *op) {
  static const nd4c_dtype dtypes[] = {ND4C_FLOAT32,  ND4C_FLOAT32, ND4C_FLOAT32, ND4C_FLOAT64, ND4C_FLOAT16,
                                      ND4C_BFLOAT16, ND4C_INT32,   ND4C_INT64,   ND4C_UINT8,   ND4C_BOOL};
  for (int32_t i = 0; i < 12; i++) {
    const nd4c_dtype dtype = rg_is_wide(sketch) && rg_chance(sketch, 2)
                                 ? rg_rare_dtype(sketch)
                                 : dtypes[rg_pick(sketch, sizeof dtypes / sizeof dtypes[0])];
    if ((op->dtypes >> dtype & 1) != 0) {
      return dtype;
    }
  }
  return ND4C_FLOAT32;
}

/* A value of the graph, brought to the dtype and shape by slice, reshape and cast; RG_NONE if it has too few elements.
 */
static int32_t adapted(rg_sketch *sketch, int32_t value, nd4c_dtype dtype, int32_t rank, const int64_t *shape,
                       int64_t size) {
  const int64_t flat = -1, start = 0, axis = 0;
  if (rg_size(sketch, value) < size || size == 0) {
    return RG_NONE;
  }
  if (rg_size(sketch, value) > size) {
    const int32_t all = rg_op_ints(sketch, ND4C_OP_reshape, value, "shape", &flat, 1);
    const nd4c_attr attrs[] = {rg_attr_ints("starts", &start, 1), rg_attr_ints("stops", &size, 1),
                               rg_attr_ints("axes", &axis, 1)};
    value = rg_op(sketch, ND4C_OP_slice, &all, 1, attrs, 3);
  }
  value = rank == 0 && value >= 0 ? rg_op_ints(sketch, ND4C_OP_squeeze, value, "axes", NULL, 0)
                                  : rg_op_ints(sketch, ND4C_OP_reshape, value, "shape", shape, rank);
  return value < 0 || rg_dtype(sketch, value) == dtype ? value : rg_op_int(sketch, ND4C_OP_cast, value, "dtype", dtype);
}

static int32_t case_leaf(rg_sketch *sketch, const selftest_input *input, nd4c_dtype dtype, bool is_constant) {
  const bool whole = input->integers != NULL;
  nd4c_array *wide = NULL, *array = NULL;
  rg_must(nd4c_array_from_data(whole ? ND4C_INT64 : ND4C_FLOAT64, input->rank, input->shape,
                               whole ? (const void *)input->integers : (const void *)input->reals, NULL, &wide),
          "case");
  const nd4c_status status = nd4c_cast(wide, dtype, &array);
  nd4c_array_release(wide);
  return status == ND4C_OK ? rg_leaf(sketch, array, is_constant) : RG_NONE;
}

static int32_t case_operand(rg_sketch *sketch, const selftest_input *input, nd4c_dtype dtype, bool first) {
  if (input->dtype == ND4C_DTYPE_NONE) {
    return RG_OMITTED;
  }
  if (input->dtype == ND4C_UTF8 || input->count > RG_LIMIT_ELEMENTS) {
    return RG_NONE;
  }
  if (input->varies && rg_chance(sketch, first ? 1 : 3)) {
    const int32_t value = adapted(sketch, rg_any(sketch), dtype, input->rank, input->shape, input->count);
    if (value >= 0) {
      return value;
    }
  }
  return case_leaf(sketch, input, input->varies ? dtype : input->dtype, rg_chance(sketch, first ? 6 : 2));
}

int32_t rg_from_case(rg_sketch *sketch) {
  if (case_count == 0) {
    return RG_NONE;
  }
  const char *position = cases[rg_pick(sketch, case_count)];
  selftest_case c;
  nd4c_status status = ND4C_OK;
  int32_t made = RG_NONE;
  if (selftest_case_next(&position, &c, &status) && status == ND4C_OK && !is_left_out(c.op)) {
    int32_t inputs[RG_INPUTS];
    const nd4c_dtype dtype = dtype_for(sketch, c.op);
    for (int32_t i = 0; i < c.input_count && i < RG_INPUTS; i++) {
      inputs[i] = case_operand(sketch, &c.inputs[i], dtype, i == 0);
    }
    made = rg_op(sketch, c.op->op, inputs, c.input_count, c.attrs, c.attr_count);
  }
  selftest_case_clear(&c);
  return made;
}

/* -- the op table -------------------------------------------------------------------------------------------------- */

/* An operand that is likely to go with x: x's shape, or one that broadcasts. */
static int32_t companion(rg_sketch *sketch, int32_t x) {
  const nd4c_dtype dtype = rg_dtype(sketch, x);
  for (int32_t i = 0; i < 6; i++) {
    const int32_t other = rg_any(sketch);
    if (other >= 0 && rg_dtype(sketch, other) == dtype &&
        (rg_same_shape(sketch, other, x) || rg_rank(sketch, other) == 0)) {
      return other;
    }
  }
  if (rg_chance(sketch, 3)) {
    return rg_scalar(sketch, x, rg_special(sketch));
  }
  const int32_t rank = rg_rank(sketch, x), from = rank > 0 ? rg_pick(sketch, rank) : 0;
  return rg_chance(sketch, 2) ? rg_constant(sketch, dtype, rank, rg_shape(sketch, x))
                              : rg_constant(sketch, dtype, rank - from, rg_shape(sketch, x) + from);
}

static bool has_end(const char *name, const char *end) {
  const size_t length = strlen(name), tail = strlen(end);
  return length >= tail && strcmp(name + length - tail, end) == 0;
}

/* A value for an attribute whose name or kind says what fits; else its default stays. `list` lives until the call. */
static void vary(rg_sketch *sketch, const nd4c_op_info *op, int32_t position, int32_t rank, nd4c_attr_value *value,
                 int64_t *list) {
  const char *name = op->attrs[position].name;
  int32_t words = 0;
  const nd4c_attr_word *word = nd4c_op_attr_words(op->op, position, &words);
  if (word != NULL && value->kind == ND4C_ATTR_INT) {
    value->as.i = rg_chance(sketch, 2) ? value->as.i : word[rg_pick(sketch, words)].value;
  } else if (value->kind == ND4C_ATTR_BOOL) {
    value->as.i = rg_pick(sketch, 2);
  } else if (value->kind == ND4C_ATTR_INT && strncmp(name, "axis", 4) == 0 && rank > 0) {
    value->as.i = rg_pick(sketch, 2 * rank) - rank;
  } else if (value->kind == ND4C_ATTR_INTS && has_end(name, "axes") && rank > 0 && rg_chance(sketch, 2)) {
    list[0] = rg_pick(sketch, 2 * rank) - rank;
    value->count = 1;
    value->as.ints = list;
  }
}

int32_t rg_from_table(rg_sketch *sketch) {
  const nd4c_op_info *op = nd4c_op_at(rg_pick(sketch, nd4c_op_count()));
  if (op == NULL || is_left_out(op) || op->input_count == 0 || op->attr_count > RG_ATTRS ||
      op->input_count > RG_INPUTS) {
    return RG_NONE;
  }
  int32_t inputs[RG_INPUTS];
  int32_t x = rg_any(sketch);
  for (int32_t i = 0; i < 8 && x >= 0 && (op->dtypes >> rg_dtype(sketch, x) & 1) == 0; i++) {
    x = rg_any(sketch);
  }
  if (x < 0) {
    return RG_NONE;
  }
  inputs[0] = x;
  for (int32_t i = 1; i < op->input_count; i++) {
    inputs[i] = op->inputs[i].optional && rg_chance(sketch, 2) ? RG_OMITTED : companion(sketch, x);
  }
  int32_t count = op->input_count;
  while (count > 1 && inputs[count - 1] == RG_OMITTED) {
    count--;
  }
  nd4c_attr_value values[RG_ATTRS];
  int64_t lists[RG_ATTRS][1];
  if (nd4c_op_resolve_attrs(op, NULL, 0, values) != ND4C_OK) {
    return RG_NONE;
  }
  for (int32_t i = 0; i < op->attr_count; i++) {
    vary(sketch, op, i, rg_rank(sketch, x), &values[i], lists[i]);
  }
  return rg_op_positional(sketch, op, inputs, count, values);
}

/* -- copies -------------------------------------------------------------------------------------------------------- */

/* A node once more, so that common subexpressions occur; its operands may be copies, too. */
int32_t rg_duplicate(rg_sketch *sketch) {
  if (sketch->node_count == 0) {
    return RG_NONE;
  }
  const rg_node *node = &sketch->nodes[rg_pick(sketch, sketch->node_count)];
  int32_t inputs[RG_INPUTS];
  nd4c_attr_value attrs[RG_ATTRS];
  memcpy(inputs, node->inputs, sizeof inputs);
  rg_node_attrs(node, false, attrs);
  const nd4c_op_info *op = node->op;
  const int32_t count = node->input_count, first = count > 0 ? inputs[0] : RG_NONE;
  if (first >= 0 && sketch->values[first].node >= 0 && rg_chance(sketch, 2)) {
    const rg_node *before = &sketch->nodes[sketch->values[first].node];
    if (before->outputs[0] == first) {
      nd4c_attr_value before_attrs[RG_ATTRS];
      rg_node_attrs(before, false, before_attrs);
      const int32_t again = rg_op_positional(sketch, before->op, before->inputs, before->input_count, before_attrs);
      inputs[0] = again >= 0 ? again : first;
    }
  }
  const int32_t copy = rg_op_positional(sketch, op, inputs, count, attrs);
  const int32_t twin = node->outputs[0];
  return copy >= 0 && rg_chance(sketch, 2) ? rg_binary(sketch, ND4C_OP_add, copy, twin) : copy;
}

/* -- whole graphs -------------------------------------------------------------------------------------------------- */

static void grow(rg_sketch *sketch) {
  const int32_t kind = rg_pick(sketch, 17);
  if (kind == 16) {
    (void)rg_motifs_bytes[rg_pick(sketch, rg_motifs_bytes_count)](sketch);
  } else if (kind < 5) {
    (void)rg_motifs_network[rg_pick(sketch, rg_motifs_network_count)](sketch);
  } else if (kind < 10) {
    (void)rg_motifs_shape[rg_pick(sketch, rg_motifs_shape_count)](sketch);
  } else if (kind < 13) {
    (void)rg_from_table(sketch);
  } else if (kind < 15) {
    (void)rg_from_case(sketch);
  } else {
    (void)rg_duplicate(sketch);
  }
}

void rg_generate(rg_sketch *sketch, uint64_t seed) {
  rg_sketch_begin(sketch, seed);
  const int32_t inputs = 1 + rg_pick(sketch, 3), steps = 2 + rg_pick(sketch, 9);
  for (int32_t i = 0; i < inputs; i++) {
    (void)rg_input(sketch);
  }
  for (int32_t i = 0; i < 3 * steps && (i < steps || sketch->node_count < 2); i++) {
    grow(sketch);
  }
  rg_choose_outputs(sketch);
  if (!rg_chance(sketch, 4)) { /* else the pass `dead` has work */
    rg_prune(sketch);
  }
  if (seed % 3 == 0) {
    rg_dims_choose(sketch);
  }
  if (seed % 5 == 0) {
    rg_bodies_choose(sketch);
  }
  if (seed % 4 == 1 && sketch->dims.count == 0) {
    rg_variable_choose(sketch);
  }
}
